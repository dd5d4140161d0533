//! Reads LIBSVM text (`label index:value …`, plain, gz or bz2) as multiclass data, stored dense where that wastes no
//! memory. A short file can have features of any index: ids that no example has are then left out of w.

use std::path::Path;

use super::text;
use crate::error::{Error, Result};
use ssvm::data::multiclass::{Features, MulticlassData};
use ssvm::linalg::zeros;
use ssvm::problem::LARGEST_FEATURE;

/// Rows fuller than this are stored dense.
const DENSE_FROM: f64 = 0.25;
/// Files with fewer labels than this are never suspected to be a regression.
const FEW_LABELS: usize = 10;
/// Largest feature index; a larger one indicates a damaged file.
const LARGEST_INDEX: u32 = 1 << 28;
/// From this many weights on, ids that no example has are left out when at most a quarter is in use. Fewer weights cost
/// little, and leaving some out adds sums in another order, so that runs would differ from earlier ones in their last
/// bits.
const MANY_WEIGHTS: usize = 1 << 20;

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct LibsvmData {
    pub data: MulticlassData,
    /// The ids of the features of `data` as in the file, ascending, if others were left out.
    pub ids: Option<Vec<u32>>,
}

/// Reads a file; labels are numbered in ascending order.
pub fn read(path: &Path) -> Result<LibsvmData> {
    let mut raw_labels = Vec::new();
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    text::lines(path, |_, line| {
        let mut fields = line.split('#').next().unwrap_or("").split_ascii_whitespace();
        let Some(label) = fields.next() else { return Ok(()) };
        if label.contains(':') {
            return Err(format!("starts with '{}', expected a label", text::shorten(label)));
        }
        raw_labels.push(class(label)?);
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
    let mut dim = indices.iter().max().map_or(1, |largest| *largest as usize + 1);
    let (n, num_labels) = (labels.len(), label_names.len());
    let mut ids = None;
    let features = if values.len() as f64 >= DENSE_FROM * n as f64 * dim as f64 {
        let mut table = zeros(n * dim);
        for i in 0..n {
            for at in offsets[i]..offsets[i + 1] {
                table[i * dim + indices[at] as usize] = values[at];
            }
        }
        Features::Dense(table)
    } else {
        if dim.saturating_mul(num_labels) >= MANY_WEIGHTS {
            ids = renumber(&mut indices, dim);
            dim = ids.as_ref().map_or(dim, Vec::len);
        }
        Features::Sparse { offsets, indices, values }
    };
    let data = MulticlassData { num_labels, dim, labels, label_names, features };
    Ok(LibsvmData { data, ids })
}

/// Renumbers the features that occur from 0 if they are at most a quarter of all, and returns their ids.
fn renumber(indices: &mut [u32], dim: usize) -> Option<Vec<u32>> {
    let mut used = indices.to_vec();
    used.sort_unstable();
    used.dedup();
    if 4 * used.len() > dim {
        return None;
    }
    for index in indices {
        *index = used.partition_point(|other| other < index) as u32;
    }
    Some(used.into_iter().map(|index| index + 1).collect())
}

/// Parses a label: classes are whole numbers.
fn class(label: &str) -> Result<f64, String> {
    // −0 is 0.
    let value = text::number(label, "label")? + 0.0;
    if value.fract() == 0.0 {
        return Ok(value);
    }
    Err(format!(
        "label {value} is not a whole number; this looks like a regression target, and labels must be classes: put targets \
         into a few classes first, for example by rounding"
    ))
}

/// Parses one `index:value` after the index `previous`.
fn entry(field: &str, previous: u32) -> Result<(u32, f64), String> {
    let Some((index, value)) = field.split_once(':') else {
        return Err(format!("'{}' is not index:value", text::shorten(field)));
    };
    let index: u32 = text::whole(index, "feature index")?;
    if index == 0 || index > LARGEST_INDEX {
        let advice = if index == 0 { "; indices count from 1: write the file with zero_based = false" } else { "" };
        return Err(format!("feature index {index}, expected 1..{LARGEST_INDEX}{advice}"));
    }
    if index <= previous {
        return Err(format!("feature index {index} after {previous}: indices must increase"));
    }
    let value = text::number(value, &format!("value of feature {index}"))?;
    if value.abs() > LARGEST_FEATURE {
        return Err(format!(
            "value {value:e} of feature {index} is above the limit of {LARGEST_FEATURE:e}; scale the \
             features, for example to [−1, 1]"
        ));
    }
    Ok((index, value))
}

/// The number of each label in ascending order, and the names of the labels.
fn number_labels(raw: &[f64]) -> Result<(Vec<u32>, Vec<String>), String> {
    if raw.is_empty() {
        return Err("no examples in the file; expected lines like '3 1:0.5 7:1'".into());
    }
    let mut different = raw.to_vec();
    different.sort_unstable_by(f64::total_cmp);
    different.dedup();
    if different.len() < 2 {
        return Err("all examples have the same label; training needs at least two".into());
    }
    if different.len() >= FEW_LABELS && 2 * different.len() > raw.len() {
        return Err(format!(
            "{} different labels in {} examples, such as {}; these look like regression targets, and labels must be classes: \
             put them into a few classes first, for example by rounding",
            different.len(),
            raw.len(),
            raw[0]
        ));
    }
    let number = |label: &f64| different.partition_point(|other| other < label) as u32;
    Ok((raw.iter().map(number).collect(), different.iter().map(f64::to_string).collect()))
}
