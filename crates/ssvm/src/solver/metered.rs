//! A problem as a solver sees it: everything but the oracle as it is, the oracle only through the meter. A solver cannot
//! forget to time or to count a call.

use super::Meter;
use super::batch::Place;
use crate::clock::Call;
use crate::problem::{Away, Direction, Family, Problem, Sink};

/// A problem whose oracle is metered.
pub struct Metered<'p, P>(&'p P);

/// As the meter, which knows no problems, takes it.
#[inline(always)]
fn pair(away: Away) -> (u64, u64) {
    (away.spent_ns, away.pipe_ns)
}

impl<P> Clone for Metered<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Metered<'_, P> {}

impl<'p, P: Problem> Metered<'p, P> {
    /// Puts the problem behind the meter.
    pub fn new(problem: &'p P) -> Self {
        Self(problem)
    }

    /// The problem itself.
    pub(super) fn bare(self) -> &'p P {
        self.0
    }

    /// The max-oracle of term i at w, see [`Problem::oracle`]. Ask [`Meter::may_call`] first.
    #[inline(always)]
    pub fn oracle(self, meter: &mut Meter<'_>, i: usize, w: &[f64], work: &mut P::Work, plane: &mut P::Plane) {
        meter.exact_call(self.0.product_ops(i), || self.0.oracle(i, w, work, plane));
        meter.was_away(pair(self.0.away(work)));
    }

    /// [`Metered::oracle`] with planes of term i that are known, see [`Problem::oracle_among`].
    #[inline(always)]
    pub fn oracle_among<'a>(
        self,
        meter: &mut Meter<'_>,
        i: usize,
        w: &[f64],
        known: impl Iterator<Item = &'a P::Plane>,
        work: &mut P::Work,
        plane: &mut P::Plane,
    ) where
        P::Plane: 'a,
    {
        meter.exact_call(self.0.product_ops(i), || self.0.oracle_among(i, w, known, work, plane));
        meter.was_away(pair(self.0.away(work)));
    }

    /// [`Metered::oracle_among`] of several terms at one w, on so many lanes of the virtual clock. Ask
    /// [`Meter::may_call_some`] first.
    pub fn oracles_among<'a, I>(
        self,
        meter: &mut Meter<'_>,
        lanes: usize,
        w: &[f64],
        known: impl Fn(usize) -> I + Sync,
        calls: &mut [Call<Place<P>>],
    ) where
        I: Iterator<Item = &'a P::Plane>,
        P::Plane: 'a,
    {
        let oracle = |Place { term, work, hat }: &mut Place<P>| self.0.oracle_among(*term, w, known(*term), work, hat);
        meter.exact_calls(calls, lanes, |place| self.0.product_ops(place.term), oracle);
        meter.were_away(calls.iter().map(|call| pair(self.0.away(&call.item.work))));
    }

    /// [`Problem::announce`].
    pub fn announce(self, terms: &[u32], w: &[f64], work: &mut P::Work) {
        self.0.announce(terms, w, work);
    }

    /// [`Problem::exact`].
    pub fn exact(self) -> bool {
        self.0.exact()
    }

    /// [`Problem::family`].
    pub fn family(self) -> &'static Family {
        self.0.family()
    }

    /// [`Problem::terms`].
    pub fn terms(self) -> usize {
        self.0.terms()
    }

    /// [`Problem::dim`].
    pub fn dim(self) -> usize {
        self.0.dim()
    }

    /// [`Problem::lambda`].
    #[inline(always)]
    pub fn lambda(self) -> f64 {
        self.0.lambda()
    }

    /// [`Problem::blocks`].
    pub fn blocks(self) -> P::Blocks {
        self.0.blocks()
    }

    /// [`Problem::work`].
    pub fn work(self) -> P::Work {
        self.0.work()
    }

    /// [`Problem::load`].
    #[inline(always)]
    pub fn load<'a>(
        self,
        i: usize,
        w: &[f64],
        blocks: &P::Blocks,
        planes: impl Iterator<Item = &'a P::Plane>,
        work: &mut P::Work,
    ) where
        P::Plane: 'a,
    {
        self.0.load(i, w, blocks, planes, work);
    }

    /// [`Problem::value`].
    #[inline(always)]
    pub fn value(self, i: usize, plane: &P::Plane, w: &[f64], work: &P::Work) -> f64 {
        self.0.value(i, plane, w, work)
    }

    /// Which of these planes of term i is the highest at w, the last of equals. Needs what [`Problem::value`] needs.
    #[inline(always)]
    pub fn highest<'a>(self, i: usize, planes: impl Iterator<Item = &'a P::Plane>, w: &[f64], work: &P::Work) -> usize
    where
        P::Plane: 'a,
    {
        let (mut best, mut best_value) = (0, f64::NEG_INFINITY);
        for (at, plane) in planes.enumerate() {
            let value = self.0.value(i, plane, w, work);
            if value >= best_value {
                (best, best_value) = (at, value);
            }
        }
        best
    }

    /// [`Problem::direction`].
    #[inline(always)]
    pub fn direction(self, i: usize, blocks: &P::Blocks, plane: &P::Plane, w: &[f64], work: &mut P::Work) -> Direction {
        self.0.direction(i, blocks, plane, w, work)
    }

    /// [`Problem::advance`].
    #[inline(always)]
    pub fn advance(
        self,
        i: usize,
        blocks: &mut P::Blocks,
        plane: &P::Plane,
        gamma: f64,
        work: &mut P::Work,
        sink: &mut Sink<'_>,
    ) {
        self.0.advance(i, blocks, plane, gamma, work, sink);
    }

    /// [`Problem::add_block`].
    pub fn add_block(self, i: usize, blocks: &P::Blocks, scale: f64, out: &mut [f64]) -> f64 {
        self.0.add_block(i, blocks, scale, out)
    }

    /// [`Problem::add_plane`].
    #[inline(always)]
    pub fn add_plane(self, i: usize, plane: &P::Plane, scale: f64, out: &mut [f64]) -> f64 {
        self.0.add_plane(i, plane, scale, out)
    }

    /// [`Problem::product_ops`].
    #[inline(always)]
    pub fn product_ops(self, i: usize) -> u64 {
        self.0.product_ops(i)
    }

    /// [`Problem::offset`].
    pub fn offset(self, i: usize, plane: &P::Plane) -> f64 {
        self.0.offset(i, plane)
    }

    /// [`Problem::product`].
    #[inline(always)]
    pub fn product(self, i: usize, p: &P::Plane, q: &P::Plane, work: &mut P::Work) -> f64 {
        self.0.product(i, p, q, work)
    }

    /// [`Problem::gram_ops`].
    pub fn gram_ops(self, i: usize) -> u64 {
        self.0.gram_ops(i)
    }

    /// [`Problem::values`].
    #[inline(always)]
    pub fn values<'a>(
        self,
        i: usize,
        w: &[f64],
        planes: impl Iterator<Item = &'a P::Plane> + Clone,
        work: &mut P::Work,
        values: &mut Vec<f64>,
    ) where
        P::Plane: 'a,
    {
        self.0.values(i, w, planes, work, values);
    }

    /// [`Problem::add_planes`].
    #[inline(always)]
    pub fn add_planes<'a>(
        self,
        i: usize,
        planes: impl Iterator<Item = (f64, &'a P::Plane)>,
        work: &mut P::Work,
        sink: &mut Sink<'_>,
    ) -> f64
    where
        P::Plane: 'a,
    {
        self.0.add_planes(i, planes, work, sink)
    }

    /// [`Problem::approach`].
    #[inline(always)]
    pub fn approach(self, i: usize, blocks: &P::Blocks) {
        self.0.approach(i, blocks);
    }

    /// [`Problem::prefetch`].
    #[inline(always)]
    pub fn prefetch(self, i: usize, blocks: &P::Blocks, work: &mut P::Work) {
        self.0.prefetch(i, blocks, work);
    }
}
