//! [`Experiment`] and facts about its data sets → ordered [`RunSpec`]s, each with a stable identity and an estimate.

mod estimate;
mod identity;

pub use estimate::{Estimator, plan_memory};
pub use identity::{CODE_VERSION, Identity, order_seed};

use crate::config::{DatasetSpec, Experiment, RunSettings};
use crate::dataset::{self, DataDir, Description};
use crate::error::{Error, Result};

/// One run to be done.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Identity of the run: [`Identity::run_id`].
    pub run_id: String,
    /// Everything the result depends on.
    pub identity: Identity,
    /// Index of the data set in the experiment.
    pub set: usize,
    /// Repeat number from 0.
    pub repeat: u64,
}

impl RunSpec {
    /// The settings the executor gets.
    pub fn settings(&self) -> &RunSettings {
        &self.identity.settings
    }

    /// `usps-synth mp-bcfw #3`.
    pub fn label(&self) -> String {
        format!("{} {} #{}", self.identity.dataset, self.settings().solver.kind, self.repeat)
    }
}

/// Validates every data set of an experiment; errors name the config's line.
pub fn describe(experiment: &Experiment, dir: &DataDir) -> Result<Vec<Description>> {
    let describe = |spec: &DatasetSpec| {
        let facts = dataset::describe(&spec.name, dir).map_err(|error| at_line(experiment, spec, &error))?;
        if spec.pairwise_weight.is_some() && !facts.family.contains("graph") {
            let message = format!("'{}' is a {} problem: it has no pairwise_weight", spec.name, facts.family);
            return Err(Error::line(&experiment.path, spec.line, message));
        }
        Ok(facts)
    };
    experiment.datasets.iter().map(describe).collect()
}

/// An error of a data set, at the line of the config that asks for it.
pub fn at_line(experiment: &Experiment, spec: &DatasetSpec, error: &Error) -> Error {
    Error::line(&experiment.path, spec.line, error.to_string())
}

/// All runs of an experiment: data set × solver × repeat, in that order.
pub fn runs(experiment: &Experiment, facts: &[Description]) -> Vec<RunSpec> {
    let mut runs = Vec::new();
    for (set, (spec, facts)) in experiment.datasets.iter().zip(facts).enumerate() {
        for solver in &experiment.solvers {
            for repeat in 0..experiment.repeats {
                let identity = Identity {
                    dataset: spec.name.clone(),
                    data_checksum: facts.checksum.clone(),
                    lambda: spec.lambda.unwrap_or(1.0 / facts.n as f64),
                    pairwise_weight: spec.pairwise_weight,
                    settings: RunSettings {
                        solver: solver.clone(),
                        seed: order_seed(experiment.seed, repeat),
                        clock: experiment.clock,
                        budget: spec.budget.clone(),
                        evaluate: experiment.evaluate.clone(),
                    },
                    code_version: CODE_VERSION.to_owned(),
                };
                runs.push(RunSpec { run_id: identity.run_id(), identity, set, repeat });
            }
        }
    }
    runs
}
