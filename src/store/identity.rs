//! The identity of a run: a hash of everything its result depends on, and of nothing else.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::store::files::{sha256_file, sha256_hex};
use crate::store::keys::{CellKey, ProblemKey};
use ssvm::settings::RunSettings;

/// Version of the library: crate version and digest of the sources that results depend on, or the older version that
/// gives the same numbers (`SAME_NUMBERS` in build.rs).
pub const CODE_VERSION: &str = env!("SSVM_CODE");

/// Everything the result of a run depends on. Repeat and base seed act through `settings.seed` alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    #[serde(flatten)]
    pub problem: ProblemKey,
    pub settings: RunSettings,
    /// Version of the cost model, on the virtual clock ([`ssvm::ClockKind::cost_model`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_model: Option<u32>,
    pub code_version: String,
    /// Version of a solver that is not the library's: [`program_version`], unless its row states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver_version: Option<String>,
    /// The same for the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem_version: Option<String>,
}

/// Version of everything that the running program adds to the library: the digest of its executable, so that every new
/// build counts as a change. Fails when the executable cannot be read.
pub fn program_version() -> Result<String> {
    static DIGEST: OnceLock<String> = OnceLock::new();
    if let Some(known) = DIGEST.get() {
        return Ok(known.clone());
    }
    // The file that is running, even if a new build has replaced it in the meantime.
    let mut path = PathBuf::from("/proc/self/exe");
    if !path.exists() {
        path = std::env::current_exe().map_err(Error::io("find", "the program's own file"))?;
    }
    let digest = sha256_file(&path)?;
    Ok(DIGEST.get_or_init(|| digest[..16].to_owned()).clone())
}

impl Identity {
    /// 20 hex digits of the SHA-256 of [`Identity::canonical`].
    pub fn run_id(&self) -> String {
        sha256_hex(self.canonical().as_bytes())[..20].to_owned()
    }

    /// JSON with sorted keys: the same text whatever the order of fields in the source.
    pub fn canonical(&self) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value.sort_all_objects();
        value.to_string()
    }

    /// Hash of everything but the code: numbers may be compared when it is equal.
    pub fn inputs(&self) -> String {
        sha256_hex(self.without_code().canonical().as_bytes())[..12].to_owned()
    }

    fn without_code(&self) -> Self {
        Self { code_version: String::new(), solver_version: None, problem_version: None, ..self.clone() }
    }

    /// The code that the result depends on: version of the library, and of a solver or a problem that is the caller's.
    pub fn code(&self) -> String {
        let own = [("solver", &self.solver_version), ("problem", &self.problem_version)];
        let own = own.into_iter().filter_map(|(what, version)| Some(format!(", {what} {}", version.as_ref()?)));
        self.code_version.clone() + &own.collect::<String>()
    }

    pub fn cell(&self) -> CellKey {
        let RunSettings { solver, oracle_cost, .. } = &self.settings;
        CellKey { dataset: self.problem.dataset.clone(), solver: solver.clone(), oracle_cost: *oracle_cost }
    }

    /// `usps-synth mp-bcfw (T=5) #3`.
    pub fn label(&self, repeat: u64) -> String {
        format!("{} {} #{repeat}", self.problem.dataset, self.cell().setting())
    }

    /// A text that is equal for the same experiment, whatever the code, its cost model and the content of the data.
    pub fn experiment(&self) -> String {
        let mut identity = Self { cost_model: None, ..self.without_code() };
        identity.problem.checksum.clear();
        identity.canonical()
    }
}

/// Seed of the order of the terms. It depends only on base seed and repeat, so that all solvers see the same orders,
/// and fits 53 bits, so that JSON and data frames keep it exactly.
pub fn order_seed(base: u64, repeat: u64) -> u64 {
    splitmix(splitmix(base).wrapping_add(repeat)) >> 11
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014).
fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssvm::clock::{ClockKind, OracleCost};
    use ssvm::settings::{Budget, Cadence, SolverSpec, Value};

    fn identity() -> Identity {
        Identity {
            problem: ProblemKey { dataset: "usps".into(), checksum: "abc".into(), lambda: 0.1, pairwise_weight: None },
            settings: RunSettings {
                solver: SolverSpec::new("mp-bcfw"),
                seed: 7,
                clock: ClockKind::VIRTUAL,
                oracle_cost: OracleCost::ONE,
                budget: Budget::iterations(3),
                evaluate: Cadence::Log,
            },
            cost_model: Some(1),
            code_version: "0.1.0+0".into(),
            solver_version: None,
            problem_version: None,
        }
    }

    /// SplitMix64 from seed 0 yields 0xe220a8397b1dcdaf first; the seeds of a config must never change.
    #[test]
    fn seeds_are_pinned() {
        assert_eq!(splitmix(0), 0xe220_a839_7b1d_cdaf);
        let seeds: Vec<u64> = (0..3).map(|repeat| order_seed(1, repeat)).collect();
        assert_eq!(seeds, [3316356330981164, 4744253937173237, 6644604159053408]);
        assert_ne!(order_seed(0, 1), order_seed(1, 0));
    }

    #[test]
    fn identity_is_pinned_and_reads_back() {
        let identity = identity();
        assert_eq!(
            identity.canonical(),
            r#"{"code_version":"0.1.0+0","cost_model":1,"data_checksum":"abc","dataset":"usps","lambda":0.1,"settings":{"budget":{"iterations":3},"clock":"virtual","evaluate":"log","seed":7,"solver":{"name":"mp-bcfw"}}}"#
        );
        assert_eq!(identity.run_id(), "d083eb85b840b7f86bd9");
        let back: Identity = serde_json::from_str(&identity.canonical()).unwrap();
        assert_eq!(back, identity);
    }

    /// λ = 1/n is rarely a short decimal: it must be read back to the last bit, or the identity would change.
    #[test]
    fn every_lambda_survives_the_text() {
        for n in 1..5000 {
            let mut one = identity();
            one.problem.lambda = 1.0 / f64::from(n);
            let back: Identity = serde_json::from_str(&one.canonical()).unwrap();
            assert_eq!((back.problem.lambda.to_bits(), back.run_id()), (one.problem.lambda.to_bits(), one.run_id()));
        }
    }

    #[test]
    fn everything_that_matters_changes_it() {
        let base = identity();
        let mut ids = vec![base.run_id()];
        let mut add = |change: &dyn Fn(&mut Identity)| {
            let mut other = identity();
            change(&mut other);
            ids.push(other.run_id());
        };
        add(&|i| i.problem.dataset = "ocr".into());
        add(&|i| i.problem.checksum = "abd".into());
        add(&|i| i.problem.lambda = 0.5);
        add(&|i| i.problem.pairwise_weight = Some(1.0));
        add(&|i| i.settings.seed = 8);
        add(&|i| i.settings.clock = ClockKind::WALL);
        add(&|i| i.settings.budget.gap = Some(0.1));
        add(&|i| i.settings.evaluate = Cadence::Every(2));
        add(&|i| i.settings.solver = SolverSpec::new("mp-bcfw").with("T", Value::Count(11)));
        add(&|i| i.cost_model = Some(2));
        add(&|i| i.code_version = "0.1.0+1".into());
        add(&|i| i.solver_version = Some("1".into()));
        add(&|i| i.problem_version = Some("1".into()));
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
        let mut newer = Identity { code_version: "0.2.0+9".into(), cost_model: Some(9), ..identity() };
        newer.problem.checksum = "x".into();
        assert_eq!(base.experiment(), newer.experiment());
        let mut other = newer.clone();
        other.problem.lambda = 0.5;
        assert_ne!(base.experiment(), other.experiment());
        let code = Identity { code_version: "9".into(), solver_version: Some("2".into()), ..identity() };
        assert!(base.inputs() == code.inputs() && base.inputs() != newer.inputs());
    }
}
