//! (problem, w) → P(w), off the clock: n oracle calls whose values are summed in order, whatever the thread count.

use rayon::prelude::*;

use super::Problem;
use crate::linalg::norm2;

/// P(w) = λ/2 ‖w‖² + Σ H_i(w). Runs on the current rayon pool when `parallel`. `None` when `cancelled` says so.
pub fn primal<P: Problem>(
    problem: &P,
    w: &[f64],
    work: &mut P::Work,
    parallel: bool,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<f64> {
    const CHUNK: usize = 64;
    let chunk_values = |work: &mut P::Work, plane: &mut P::Plane, chunk: usize, values: &mut [f64]| {
        for (at, value) in values.iter_mut().enumerate() {
            let i = chunk * CHUNK + at;
            problem.oracle(i, w, work, plane);
            *value = problem.value(i, plane, w, work);
        }
    };
    let mut values = vec![0.0; problem.terms()];
    if parallel {
        values.par_chunks_mut(CHUNK).enumerate().try_for_each_init(
            || (problem.work(), P::Plane::default()),
            |(work, plane), (chunk, values)| {
                if cancelled() {
                    return None;
                }
                chunk_values(work, plane, chunk, values);
                Some(())
            },
        )?;
    } else {
        let mut plane = P::Plane::default();
        for (chunk, values) in values.chunks_mut(CHUNK).enumerate() {
            if cancelled() {
                return None;
            }
            chunk_values(work, &mut plane, chunk, values);
        }
    }
    Some(0.5 * problem.lambda() * norm2(w) + values.iter().sum::<f64>())
}
