//! Errors of turning records into tables.

use polars::prelude::PolarsError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("result tables do not fit together: {0}")]
    Table(PolarsError),
    #[error("latency histograms cannot be merged: {0}")]
    Histograms(hdrhistogram::AdditionError),
    #[error("no run to show, {damaged} damaged files{first}; make runs with `ssvm-bench run CONFIG --out {folder}`")]
    NoRun { damaged: usize, first: String, folder: String },
    #[error(
        "the bounds of {dataset} exclude each other: {low_of} has the lower bound {low:e}, {high_of} the certified upper bound \
         {high:e}; one of the two is wrong: delete it and run it again"
    )]
    Crossing { dataset: String, low: f64, low_of: String, high: f64, high_of: String },
    #[error("--only {0} matches no DATASET/SOLVER of these results")]
    NothingSelected(String),
}

impl From<PolarsError> for crate::Error {
    fn from(error: PolarsError) -> Self {
        Error::Table(error).into()
    }
}
