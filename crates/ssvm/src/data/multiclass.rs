//! Labelled vectors, stored dense or sparse, whichever is smaller.

/// n labelled vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct MulticlassData {
    /// K.
    pub num_labels: usize,
    /// p.
    pub dim: usize,
    /// One label in 0..K per example.
    pub labels: Vec<u32>,
    /// The labels as the file names them, ascending.
    pub label_names: Vec<String>,
    /// The vectors.
    pub features: Features,
}

/// Storage of the vectors.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// n × p, row-major.
    Dense(Vec<f64>),
    /// Compressed rows.
    Sparse {
        /// n + 1 offsets.
        offsets: Vec<usize>,
        /// Feature of each stored value, from 0, increasing inside a row.
        indices: Vec<u32>,
        /// The values.
        values: Vec<f64>,
    },
}

/// One vector.
#[derive(Clone, Copy, Debug)]
pub enum FeatureRow<'a> {
    /// All p values.
    Dense(&'a [f64]),
    /// Indices and values.
    Sparse(&'a [u32], &'a [f64]),
}

impl MulticlassData {
    /// Number of examples n.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Vector i.
    // Left to the compiler, a change elsewhere made this a call: 2 % of the instructions of an exact step.
    #[inline(always)]
    pub fn row(&self, i: usize) -> FeatureRow<'_> {
        match &self.features {
            Features::Dense(values) => FeatureRow::Dense(&values[i * self.dim..(i + 1) * self.dim]),
            Features::Sparse { offsets, indices, values } => {
                let range = offsets[i]..offsets[i + 1];
                FeatureRow::Sparse(&indices[range.clone()], &values[range])
            }
        }
    }
}
