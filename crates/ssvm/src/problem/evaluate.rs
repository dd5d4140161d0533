//! (problem, w) → P(w), off the clock: every term is certified, and the bounds are summed in order, whatever the thread
//! count. With an exact oracle this is P(w) itself; otherwise it is a number that P(w) does not exceed.

use rayon::prelude::*;

use super::{Certificate, Problem};
use crate::linalg::norm2;

/// What is certain about P(w).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// λ/2 ‖w‖² + Σ U_i with U_i ≥ H_i(w): P(w) is not more. Equal to it when all terms are proven.
    pub primal: f64,
    /// Σ (U_i − H̃_i) with H̃_i the best plane known: P(w) is not less than `primal` − `slack`.
    pub slack: f64,
    /// Terms whose maximiser is proven.
    pub proven: u64,
    /// What it took, in operations of the oracle.
    pub operations: u64,
}

/// See [`super::DynProblem::evaluate`].
pub(super) fn evaluate<P: Problem>(
    problem: &P,
    w: &[f64],
    known: &[f64],
    parallel: bool,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Evaluation> {
    const CHUNK: usize = 64;
    let certify = |work: &mut P::Work, plane: &mut P::Plane, chunk: usize, terms: &mut [Certificate]| {
        problem.certify_all(chunk * CHUNK, w, work, plane, terms);
    };
    let mut terms = vec![Certificate::default(); problem.terms()];
    if parallel {
        terms.par_chunks_mut(CHUNK).enumerate().try_for_each_init(
            || (problem.work(), P::Plane::default()),
            |(work, plane), (chunk, terms)| {
                if cancelled() {
                    return None;
                }
                certify(work, plane, chunk, terms);
                Some(())
            },
        )?;
    } else {
        let (mut work, mut plane) = (problem.work(), P::Plane::default());
        for (chunk, terms) in terms.chunks_mut(CHUNK).enumerate() {
            if cancelled() {
                return None;
            }
            certify(&mut work, &mut plane, chunk, terms);
        }
    }
    for (term, known) in terms.iter_mut().zip(known) {
        term.lower = term.lower.max(*known);
        // A plane's value and a bound round differently.
        term.upper = term.upper.max(term.lower);
    }
    Some(Evaluation {
        primal: 0.5 * problem.lambda() * norm2(w) + terms.iter().map(|term| term.upper).sum::<f64>(),
        slack: terms.iter().map(|term| term.upper - term.lower).sum(),
        proven: terms.iter().filter(|term| term.proven).count() as u64,
        operations: terms.iter().map(|term| term.operations).sum(),
    })
}
