//! An oracle that cannot answer ends what asked it with a typed error, wherever the call is made.

use std::sync::atomic::{AtomicU64, Ordering};

use ssvm::solver::{SolverTable, Standard};
use ssvm::{Error, Fault, MaxOracle, Simple, Solve, SolverSpec, SparsePlane, Value};

/// Two terms max(0, 1 − w)/2 whose oracle answers some calls only.
struct Dying(AtomicU64);

impl MaxOracle for Dying {
    fn terms(&self) -> usize {
        2
    }

    fn dim(&self) -> usize {
        1
    }

    fn max_plane(&self, _i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, Fault> {
        if self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
            return Err(Fault::new("the oracle is gone"));
        }
        let violated = w[0] < 1.0;
        plane.entries.clear();
        plane.entries.extend(violated.then_some((0, -0.5)));
        plane.offset = if violated { 0.5 } else { 0.0 };
        Ok(1)
    }
}

fn dying(calls: u64) -> Simple<'static> {
    Simple::new(Dying(AtomicU64::new(calls)))
}

fn gone() -> Error {
    Error::OracleFailed(Fault::new("the oracle is gone"))
}

#[test]
fn a_run_ends_with_the_fault_of_its_oracle() {
    let specs = Standard.infos().iter().map(|info| SolverSpec::new(info.name));
    let batched = SolverSpec::new("mp-bcfw").with("tau", Value::Count(2));
    for spec in specs.chain([batched]) {
        // In the first pass, in the first evaluation, later.
        for calls in [0, 1, 2, 3, 9] {
            let ended = Solve::new(&dying(calls)).solver(spec.clone()).iterations(50).run();
            assert_eq!(ended.err(), Some(gone()), "{spec}: {calls} calls");
        }
    }
}

#[test]
fn a_bracket_ends_with_the_fault_of_its_oracle() {
    use ssvm::Problem as _;
    for calls in [0, 1, 2] {
        let ended = dying(calls).as_dyn().bracket(1e-9, &|| false, &mut |_| {});
        assert_eq!(ended, Err(gone()), "{calls} calls");
    }
}

/// A plane above the maximum that an exact oracle found is a bug, and not a reason to raise the maximum.
#[test]
fn a_plane_above_a_proven_maximum_is_a_fault() {
    use ssvm::Problem as _;
    let problem = Simple::new(ssvm::Hinge);
    let evaluate = |known: f64| problem.as_dyn().evaluate(&[0.25], &[known], false, &|| false);
    assert_eq!(evaluate(0.5).unwrap().unwrap().primal, 0.75 + 0.5 * 0.0625);
    assert!(evaluate(0.75 + 1e-16).is_ok(), "rounding");
    let fault = evaluate(0.76).unwrap_err().to_string();
    assert!(fault.contains("term 0") && fault.contains("7.6e-1") && fault.contains("7.5e-1"), "{fault}");
}
