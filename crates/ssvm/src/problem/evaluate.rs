//! P(w), off the clock: every term is certified, and the bounds are summed in order, whatever the thread
//! count. With an exact oracle this is P(w) itself; otherwise it is a number that P(w) does not exceed.

use rayon::prelude::*;

use super::{Certificate, Fault, Problem};
use crate::clock::Cancelled;
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

/// A plane above a proven maximum by a smaller part than this is rounding and not looked at again.
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
        "term {i}: a plane that is kept has the value {known:e}, but the oracle proved that none is above {upper:e} there; \
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
    // The error is a fault, or nothing when the run is cancelled.
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
        // H_i is not less than a plane that is known. That raises an upper bound by rounding: a plane's value and a bound
        // round differently. And where the maximiser is not proven: an oracle that is not exact and has no bound can only
        // report the value of the plane that it found, and one that a solver keeps may be above it.
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
