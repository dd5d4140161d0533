//! LIBSVM text (`label index:value …`, plain, gz or bz2) → multiclass data, dense when that is no waste.

use std::path::Path;

use super::text;
use crate::error::{Error, Result};
use ssvm::data::multiclass::{Features, MulticlassData};
use ssvm::linalg::zeros;
use ssvm::problem::LARGEST_FEATURE;

/// Rows fuller than this are stored dense.
const DENSE_FROM: f64 = 0.25;
/// Files with fewer labels than this are never taken for a regression.
const FEW_LABELS: usize = 10;
/// Largest feature index; more is a damaged file.
const LARGEST_INDEX: u32 = 1 << 28;

/// Reads a file; labels are numbered in ascending order.
pub fn read(path: &Path) -> Result<MulticlassData> {
    let mut raw_labels = Vec::new();
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    text::lines(path, |_, line| {
        let mut fields = line.split('#').next().unwrap_or("").split_ascii_whitespace();
        let Some(label) = fields.next() else { return Ok(()) };
        if label.contains(':') {
            return Err(format!("starts with '{}', expected a label", text::shorten(label)));
        }
        raw_labels.push(text::number(label, "label")? + 0.0);
        let mut previous = 0;
        for field in fields {
            let (index, value) = entry(field, previous)?;
            previous = index;
            if value != 0.0 {
                indices.push(index - 1);
                values.push(value);
            }
        }
        offsets.push(indices.len());
        Ok(())
    })?;
    let (labels, label_names) = number_labels(&raw_labels).map_err(|message| Error::file(path, message))?;
    let dim = indices.iter().max().map_or(1, |largest| *largest as usize + 1);
    let n = labels.len();
    let features = if values.len() as f64 >= DENSE_FROM * n as f64 * dim as f64 {
        let mut table = zeros(n * dim);
        for i in 0..n {
            for at in offsets[i]..offsets[i + 1] {
                table[i * dim + indices[at] as usize] = values[at];
            }
        }
        Features::Dense(table)
    } else {
        Features::Sparse { offsets, indices, values }
    };
    Ok(MulticlassData { num_labels: label_names.len(), dim, labels, label_names, features })
}

/// One `index:value` after the index `previous`.
fn entry(field: &str, previous: u32) -> Result<(u32, f64), String> {
    let Some((index, value)) = field.split_once(':') else {
        return Err(format!("'{}' is not index:value", text::shorten(field)));
    };
    let index: u32 = text::whole(index, "feature index")?;
    if index == 0 || index > LARGEST_INDEX {
        return Err(format!("feature index {index}, expected 1..{LARGEST_INDEX}"));
    }
    if index <= previous {
        return Err(format!("feature index {index} after {previous}: indices must increase"));
    }
    let value = text::number(value, &format!("value of feature {index}"))?;
    if value.abs() > LARGEST_FEATURE {
        return Err(format!(
            "value {value:e} of feature {index} is too large to compute with (at most {LARGEST_FEATURE:e}); scale the \
             features, for example to [−1, 1]"
        ));
    }
    Ok((index, value))
}

/// The number of each label in ascending order, and the names of the labels.
fn number_labels(raw: &[f64]) -> Result<(Vec<u32>, Vec<String>), String> {
    if raw.is_empty() {
        return Err("no example in the file, expected lines like '3 1:0.5 7:1'".into());
    }
    let mut different = raw.to_vec();
    different.sort_unstable_by(f64::total_cmp);
    different.dedup();
    if different.len() < 2 {
        return Err("all examples have the same label: nothing to learn".into());
    }
    if let Some(target) = regression_target(raw, different.len()) {
        return Err(format!(
            "{} different labels in {} examples, such as {target}: these look like the targets of a regression, and this \
             program learns classes; put them into a few classes first, for example by rounding",
            different.len(),
            raw.len()
        ));
    }
    let number = |label: &f64| different.partition_point(|other| other < label) as u32;
    Ok((raw.iter().map(number).collect(), different.iter().map(f64::to_string).collect()))
}

/// An example of a label that is no class, when labels are many and have fewer than two examples each, or fewer than ten
/// when labels are not whole numbers.
fn regression_target(labels: &[f64], different: usize) -> Option<f64> {
    let fraction = labels.iter().copied().find(|label| label.fract() != 0.0);
    let enough = if fraction.is_some() { 10 } else { 2 };
    (different >= FEW_LABELS && different * enough > labels.len()).then(|| fraction.unwrap_or(labels[0]))
}
