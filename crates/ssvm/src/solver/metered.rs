//! A problem as solvers see it: its oracle is reachable only through the meter, so that no solver can forget to time or
//! count a call.

use super::Meter;
use super::batch::Slot;
use crate::clock::{Call, Interrupt};
use crate::problem::Problem;

/// A problem whose oracle is metered. It dereferences to the problem; its own `oracle` and `oracle_among` hide those of the
/// problem.
pub struct Metered<'p, P>(&'p P);

impl<P> Clone for Metered<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Metered<'_, P> {}

impl<P> std::ops::Deref for Metered<'_, P> {
    type Target = P;

    #[inline(always)]
    fn deref(&self) -> &P {
        self.0
    }
}

impl<'p, P: Problem> Metered<'p, P> {
    /// Puts the problem behind the meter.
    pub fn new(problem: &'p P) -> Self {
        Self(problem)
    }

    /// The problem itself.
    pub(super) fn bare(self) -> &'p P {
        self.0
    }

    /// The max-oracle of term i at w; see [`Problem::oracle`]. Fails without a call when the run must stop.
    #[inline(always)]
    pub fn oracle(
        self,
        meter: &mut Meter<'_>,
        i: usize,
        w: &[f64],
        work: &mut P::Work,
        plane: &mut P::Plane,
    ) -> Result<(), Interrupt> {
        self.oracle_among(meter, i, w, std::iter::empty(), work, plane)
    }

    /// [`Metered::oracle`] with the known planes of term i; see [`Problem::oracle_among`].
    #[inline(always)]
    pub fn oracle_among<'a>(
        self,
        meter: &mut Meter<'_>,
        i: usize,
        w: &[f64],
        known: impl Iterator<Item = &'a P::Plane>,
        work: &mut P::Work,
        plane: &mut P::Plane,
    ) -> Result<(), Interrupt>
    where
        P::Plane: 'a,
    {
        meter.exact_call(|| self.0.oracle_among(i, w, known, work, plane))?;
        meter.was_away(self.away(work));
        Ok(())
    }

    /// [`Metered::oracle_among`] of several terms at one w, on this many lanes of the virtual clock, as many as
    /// [`Meter::may_call_some`] allows.
    pub(super) fn oracles_among<'a, I>(
        self,
        meter: &mut Meter<'_>,
        lanes: usize,
        w: &[f64],
        known: impl Fn(usize) -> I + Sync,
        calls: &mut [Call<Slot<P>>],
    ) -> Result<(), Interrupt>
    where
        I: Iterator<Item = &'a P::Plane>,
        P::Plane: 'a,
    {
        let oracle = |Slot { term, work, hat }: &mut Slot<P>| self.0.oracle_among(*term, w, known(*term), work, hat);
        meter.exact_calls(calls, lanes, oracle)?;
        meter.were_away(calls.iter().map(|call| self.away(&call.item.work)));
        Ok(())
    }

    /// Position of the highest of these planes of term i at w, the last of equals. Needs what [`Problem::value`] needs.
    #[inline(always)]
    pub fn highest<'a>(self, i: usize, planes: impl Iterator<Item = &'a P::Plane>, w: &[f64], work: &P::Work) -> usize
    where
        P::Plane: 'a,
    {
        let (mut best, mut best_value) = (0, f64::NEG_INFINITY);
        for (at, plane) in planes.enumerate() {
            let value = self.value(i, plane, w, work);
            if value >= best_value {
                (best, best_value) = (at, value);
            }
        }
        best
    }
}
