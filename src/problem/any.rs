//! A loaded data set → one of the built-in problems, behind one type.

use super::{ChainProblem, GraphProblem, MulticlassProblem, Problem};
use crate::dataset::{Data, Dataset};
use crate::error::{Error, Result};

/// One of the built-in problems.
pub enum AnyProblem {
    /// Explicit argmax over labels.
    Multiclass(MulticlassProblem),
    /// Viterbi.
    Chain(ChainProblem),
    /// Min-cut or α-expansion.
    Graph(GraphProblem),
}

/// A computation that works for every problem type.
pub trait WithProblem {
    /// What it gives.
    type Output;
    /// The computation.
    fn with<P: Problem>(self, problem: &P) -> Self::Output;
}

impl AnyProblem {
    /// The problem of a data set; λ = 1/n and the data's own pairwise weight unless given.
    pub fn new(dataset: &Dataset, lambda: Option<f64>, pairwise_weight: Option<f64>) -> Result<Self> {
        let n = dataset.data.len();
        if n == 0 {
            return Err(Error::invalid(format!("data set '{}' has no example", dataset.name)));
        }
        let lambda = lambda.unwrap_or(1.0 / n as f64);
        if !(lambda.is_finite() && lambda > 0.0) {
            return Err(Error::invalid(format!("lambda must be positive and finite, not {lambda}")));
        }
        if let Some(weight) = pairwise_weight {
            if !matches!(dataset.data, Data::Graph(_)) {
                return Err(Error::invalid(format!("data set '{}' has no pairwise weight to set", dataset.name)));
            }
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(Error::invalid(format!("pairwise_weight must be finite and not negative, not {weight}")));
            }
        }
        Ok(match &dataset.data {
            Data::Multiclass(data) => Self::Multiclass(MulticlassProblem::new(data.clone(), lambda)),
            Data::Letters(data) => Self::Chain(ChainProblem::new(data.clone(), lambda)),
            Data::Graph(data) => {
                let pairwise = pairwise_weight.unwrap_or(data.pairwise_weight);
                Self::Graph(GraphProblem::new(data.clone(), lambda, pairwise)?)
            }
        })
    }

    /// Runs a computation on the problem inside.
    pub fn with<W: WithProblem>(&self, computation: W) -> W::Output {
        match self {
            Self::Multiclass(problem) => computation.with(problem),
            Self::Chain(problem) => computation.with(problem),
            Self::Graph(problem) => computation.with(problem),
        }
    }

    /// n, d (length of the exported weights) and λ.
    pub fn facts(&self) -> (usize, usize, f64) {
        struct Facts;
        impl WithProblem for Facts {
            type Output = (usize, usize, f64);
            fn with<P: Problem>(self, problem: &P) -> Self::Output {
                (problem.terms(), problem.weights(&vec![0.0; problem.dim()]).len(), problem.lambda())
            }
        }
        self.with(Facts)
    }
}
