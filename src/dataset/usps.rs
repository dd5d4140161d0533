//! `zip.train` of USPS: label and 256 grey values a line → multiclass data, values as in the file.

use std::path::Path;

use super::multiclass::{Features, MulticlassData};
use super::text;
use crate::error::{Error, Result};

const PIXELS: usize = 256;
const DIGITS: usize = 10;

/// Reads the official layout.
pub fn read(path: &Path) -> Result<MulticlassData> {
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
        return Err(Error::file(path, "the file is empty, expected the digits of zip.train"));
    }
    let label_names = (0..DIGITS).map(|digit| digit.to_string()).collect();
    Ok(MulticlassData { num_labels: DIGITS, dim: PIXELS, labels, label_names, features: Features::Dense(values) })
}
