//! Reads `zip.train` of USPS: a label and 256 grey values per line, kept as they are in the file.

use std::path::Path;

use super::known::{Expected, KnownFile, KnownSet};
use super::text;
use crate::error::{Error, Result};
use ssvm::data::multiclass::{Features, MulticlassData};
use ssvm::linalg::zeros;

const PIXELS: usize = 256;
const DIGITS: usize = 10;

pub(super) const FILES: KnownSet = KnownSet {
    name: "usps",
    examples: 7291,
    size: "2 MB",
    terms: "authors' terms; cite LeCun et al. 1989 and Hastie, Tibshirani, Friedman",
    page: "https://hastie.su.domains/ElemStatLearn/",
    files: &[
        KnownFile {
            path: "usps/zip.train.gz",
            url: "https://hastie.su.domains/ElemStatLearn/datasets/zip.train.gz",
            expected: Expected::Content("abc9f5c75b997cabe66b5d01727d5a681c69298e1641a8d37b55433a52129dc0"),
        },
        KnownFile {
            path: "usps/zip.test.gz",
            url: "https://hastie.su.domains/ElemStatLearn/datasets/zip.test.gz",
            expected: Expected::Content("6bde17b4f1cd68e0630cd2751d6495b5795d9165ab2dc4a0be8b7002b732f4cc"),
        },
    ],
    alternatives: &["usps/zip.train"],
    below: None,
};

pub(super) fn read(path: &Path) -> Result<MulticlassData> {
    let (mut labels, mut values) = (Vec::new(), Vec::new());
    text::lines(path, |_, line| {
        let mut fields = line.split_ascii_whitespace();
        let Some(label) = fields.next() else { return Err("empty line".into()) };
        let label = text::number(label, "label")?;
        if label.fract() != 0.0 || !(0.0..DIGITS as f64).contains(&label) {
            return Err(format!("label {label} is not a digit 0..9"));
        }
        let before = values.len();
        for (at, field) in fields.enumerate() {
            values.push(text::number(field, &format!("value {}", at + 1))?);
        }
        if values.len() - before != PIXELS {
            return Err(format!("{} values after the label, expected {PIXELS}", values.len() - before));
        }
        labels.push(label as u32);
        Ok(())
    })?;
    if labels.is_empty() {
        return Err(Error::file(path, "the file is empty; expected the digits of zip.train"));
    }
    let mut table = zeros(values.len());
    table.copy_from_slice(&values);
    let label_names = (0..DIGITS).map(|digit| digit.to_string()).collect();
    Ok(MulticlassData { num_labels: DIGITS, dim: PIXELS, labels, label_names, features: Features::Dense(table) })
}
