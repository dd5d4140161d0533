//! P(w), off the clock. Every term is certified, and the bounds are summed in order, whatever the number of threads.
//! With an exact oracle the result is P(w); otherwise it is an upper bound of P(w).

use rayon::prelude::*;

use super::{Certificate, Fault, Problem};
use crate::clock::Cancelled;
use crate::linalg::norm2;

/// Bounds on P(w).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// λ/2 ‖w‖² + Σ U_i with U_i ≥ H_i(w): an upper bound of P(w), and equal to it when all terms are proven.
    pub primal: f64,
    /// Σ (U_i − H̃_i) with H̃_i the best plane known: P(w) is at least `primal` − `slack`.
    pub slack: f64,
    /// Terms whose maximiser is proven.
    pub proven: u64,
    /// Operations of the oracle.
    pub operations: u64,
}

/// A plane that exceeds a proven maximum by a smaller part than this is put down to rounding without a closer look.
const CROSSING: f64 = 1e-9;

/// A plane of term i above its proven maximum: a fault, unless rounding explains it.
#[cold]
fn refuse_crossing<P: Problem>(problem: &P, i: usize, w: &[f64], known: f64) -> Result<(), Fault> {
    let (mut work, mut plane) = (problem.work(), P::Plane::default());
    let Certificate { upper, hidden, .. } = problem.certify(i, w, &mut work, &mut plane)?;
    let rounding = problem.sizes(i, &plane, &mut work).rounding(known, norm2(w).sqrt()) + hidden;
    if known - upper <= rounding {
        return Ok(());
    }
    Err(Fault::new(format!(
        "term {i}: a kept plane has the value {known:e}, above the maximum {upper:e} that the oracle proved; \
         the oracle, its bound or the plane is wrong"
    )))
}

pub(super) fn evaluate<P: Problem>(
    problem: &P,
    w: &[f64],
    known: &[f64],
    parallel: bool,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Evaluation>, Fault> {
    const CHUNK: usize = 64;
    let mut terms = vec![Certificate::default(); problem.terms()];
    let memory = || (problem.work(), P::Plane::default());
    // The error is a fault, or `None` when the run is cancelled.
    let certify = |(work, plane): &mut (P::Work, P::Plane), (chunk, terms): (usize, &mut [Certificate])| {
        if cancelled() {
            return Err(None);
        }
        problem.certify_all(chunk * CHUNK, w, work, plane, terms).map_err(Some)
    };
    let ended = if parallel {
        terms.par_chunks_mut(CHUNK).enumerate().try_for_each_init(memory, certify)
    } else {
        let mut memory = memory();
        terms.chunks_mut(CHUNK).enumerate().try_for_each(|chunk| certify(&mut memory, chunk))
    };
    match ended {
        Ok(()) => {}
        Err(None) => return Ok(None),
        Err(Some(fault)) => return Err(fault),
    }
    for (i, (term, known)) in terms.iter_mut().zip(known).enumerate() {
        if term.proven && *known - term.upper > CROSSING * known.abs().max(term.upper.abs()) {
            refuse_crossing(problem, i, w, *known)?;
        }
        // A known plane is a lower bound of H_i. It can exceed an upper bound by rounding, because a plane's value and
        // a bound round differently. It can also do so where the maximiser is not proven: an inexact oracle without a
        // bound reports the value of the plane that it found, and a plane that a solver keeps may be above it.
        term.lower = term.lower.max(*known);
        term.upper = term.upper.max(term.lower);
    }
    Ok(Some(Evaluation {
        primal: 0.5 * problem.lambda() * norm2(w) + terms.iter().map(|term| term.upper).sum::<f64>(),
        slack: terms.iter().map(|term| term.upper - term.lower).sum(),
        proven: terms.iter().filter(|term| term.proven).count() as u64,
        operations: terms.iter().map(|term| term.operations).sum(),
    }))
}
