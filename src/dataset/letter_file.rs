//! Reads words from the `letter.data` layout of OCR: one letter per line, tab-separated.

use std::path::Path;

use super::known::{Expected, KnownFile, KnownSet};
use super::text;
use crate::error::{Error, Result};
use ssvm::data::letters::{LetterData, PIXELS};

/// Fields before the pixels: id, letter, next_id, word_id, position, fold.
const HEAD: usize = 6;

pub(super) const FILES: KnownSet = KnownSet {
    name: "ocr",
    examples: 6877,
    size: "1 MB",
    terms: "authors' terms; cite Kassel 1995 and Taskar, Guestrin, Koller 2003",
    page: "https://ai.stanford.edu/~btaskar/ocr/",
    files: &[KnownFile {
        path: "ocr/letter.data.gz",
        url: "https://ai.stanford.edu/~btaskar/ocr/letter.data.gz",
        expected: Expected::Content("535363d0b7bc34246b1f8731719540f526b6807b12dda5d430d011d160bc7882"),
    }],
    alternatives: &["ocr/letter.data"],
    below: None,
};

/// Reads words in file order, all of them or those of one fold; a word ends where next_id is −1.
pub(super) fn read(path: &Path, fold: Option<u64>) -> Result<LetterData> {
    let mut data = LetterData { pixels: Vec::new(), labels: Vec::new(), offsets: vec![0] };
    let mut word: Option<String> = None;
    let mut last = 0;
    text::lines(path, |number, line| {
        last = number;
        let mut fields = line.split('\t');
        let mut head = [""; HEAD];
        for (at, slot) in head.iter_mut().enumerate() {
            *slot = fields.next().ok_or_else(|| {
                format!(
                    "{at} tab-separated fields, expected {} (id letter next_id word_id position fold, pixels)",
                    HEAD + PIXELS
                )
            })?;
        }
        let [_, letter, next, word_id, position, of_fold] = head;
        let &[letter @ b'a'..=b'z'] = letter.as_bytes() else {
            return Err(format!("letter '{}' is not one of a..z", text::shorten(letter)));
        };
        let next: i64 = text::whole(next, "next_id")?;
        let position: usize = text::whole(position, "position")?;
        let expected = data.labels.len() - data.offsets[data.offsets.len() - 1] + 1;
        if position != expected {
            return Err(format!("position {position}, expected {expected}: a letter is missing or a word has no end"));
        }
        match &word {
            Some(open) if open != word_id => {
                return Err(format!("word_id {} inside word {open}, which has not ended", text::shorten(word_id)));
            }
            _ => word = Some(word_id.to_owned()),
        }
        let mut mask = 0u128;
        for p in 0..PIXELS {
            match fields.next() {
                Some("0") => {}
                Some("1") => mask |= 1 << p,
                Some("") | None => return Err(format!("{p} pixels, expected {PIXELS}")),
                Some(other) => return Err(format!("pixel {p} is '{}', expected 0 or 1", text::shorten(other))),
            }
        }
        if fields.any(|field| !field.trim().is_empty()) {
            return Err(format!("more than {PIXELS} pixels"));
        }
        data.pixels.push(mask);
        data.labels.push(letter - b'a');
        if next == -1 {
            let start = data.offsets[data.offsets.len() - 1];
            if fold.is_none_or(|fold| of_fold.trim().parse() == Ok(fold)) {
                data.offsets.push(data.labels.len());
            } else {
                data.labels.truncate(start);
                data.pixels.truncate(start);
            }
            word = None;
        }
        Ok(())
    })?;
    if word.is_some() {
        return Err(Error::line(path, last, "the file ends inside a word (next_id is not -1)"));
    }
    if data.is_empty() && last > 0 {
        return Err(Error::file(path, format!("has no words of fold {}", fold.unwrap_or_default())));
    }
    if data.is_empty() {
        return Err(Error::file(path, "the file is empty; expected letters"));
    }
    Ok(data)
}
