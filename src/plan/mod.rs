//! [`Experiment`] and facts about its data sets → ordered [`RunSpec`]s, each with a stable identity and an estimate.

mod estimate;
mod identity;

pub use estimate::{Estimator, plan_memory};
pub use identity::{CODE_VERSION, Identity, order_seed};

use crate::config::{DatasetSpec, Experiment, RunSettings};
use crate::error::{Error, Result};

/// What the planner must know of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct SetFacts {
    /// Terms.
    pub n: u64,
    /// Dimension of w.
    pub d: u64,
    /// Memory of the loaded data, bytes.
    pub bytes: u64,
    /// Problem family: `multiclass`, `chain`, `binary graph`, `potts graph`.
    pub family: String,
    /// Content checksum.
    pub checksum: String,
}

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

/// All runs of an experiment: data set × solver × repeat, in that order.
pub fn runs(experiment: &Experiment, facts: &[SetFacts]) -> Result<Vec<RunSpec>> {
    let mut runs = Vec::new();
    for (set, (spec, facts)) in experiment.datasets.iter().zip(facts).enumerate() {
        check_family(experiment, spec, &facts.family)?;
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
    Ok(runs)
}

/// What only the data set's family can tell.
pub fn check_family(experiment: &Experiment, spec: &DatasetSpec, family: &str) -> Result<()> {
    if spec.pairwise_weight.is_some() && !family.contains("graph") {
        let message = format!("'{}' is a {family} problem: it has no pairwise_weight", spec.name);
        return Err(Error::line(&experiment.path, spec.line, message));
    }
    Ok(())
}
