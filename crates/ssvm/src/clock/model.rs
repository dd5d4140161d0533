//! The cost model of the virtual clock: kinds of work, and the cost of one operation of each kind per family of
//! problems.

use super::weights;
use crate::problem::{BINARY_GRAPH, CHAIN, Family, MULTICLASS, POTTS_GRAPH};

/// A kind of work that the virtual clock charges for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Operations that an exact oracle call reports.
    OracleOperation,
    /// Exact oracle calls: the cost of each beside its operations.
    OracleCall,
    /// Operations of plane products in the step after an oracle call.
    ExactProduct,
    /// The rest of each step after an oracle call: loops, readings, the order of terms.
    ExactStep,
    /// Operations that evaluate known planes without an oracle call before them.
    Score,
    /// Operations of plane products in an approximate step.
    ApproximateProduct,
    /// The rest of each approximate step.
    ApproximateStep,
    /// Terms that an approximate pass skips.
    SkippedStep,
    /// Operations on the accumulator of an average.
    Averaging,
    /// Operations of products between planes.
    GramOperation,
    /// Planes that pair steps look at: each step goes through the values and weights of all planes. This loop is the
    /// same in every family, unlike a product between planes.
    WeightOperation,
    /// Operations on vectors as long as w.
    VectorOperation,
}

impl Charge {
    /// All kinds, in the order of the table of weights.
    pub const ALL: [Self; 12] = [
        Self::OracleOperation,
        Self::OracleCall,
        Self::ExactProduct,
        Self::ExactStep,
        Self::Score,
        Self::ApproximateProduct,
        Self::ApproximateStep,
        Self::SkippedStep,
        Self::Averaging,
        Self::GramOperation,
        Self::WeightOperation,
        Self::VectorOperation,
    ];
}

/// Operations of one step, or the cost of one operation, for each of [`Charge::ALL`].
pub type PerCharge = [u64; Charge::ALL.len()];

/// Operations of one step, by kind. Only the meter knows whether its products belong to an exact or an approximate
/// step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Operations that evaluate known planes.
    pub scored: u64,
    /// Operations of plane products: directions and moves of w.
    pub products: u64,
    /// Operations on the accumulator of an average.
    pub averaged: u64,
    /// Operations of products between planes.
    pub gram: u64,
    /// Planes that pair steps look at.
    pub weighed: u64,
}

impl std::ops::AddAssign for Operations {
    fn add_assign(&mut self, other: Self) {
        self.scored += other.scored;
        self.products += other.products;
        self.averaged += other.averaged;
        self.gram += other.gram;
        self.weighed += other.weighed;
    }
}

/// The weights of a family, in units of [`super::UNIT_NS`].
pub fn cost_weights(family: &Family) -> &'static PerCharge {
    let known = [
        (&MULTICLASS, &weights::MULTICLASS),
        (&CHAIN, &weights::CHAIN),
        (&BINARY_GRAPH, &weights::BINARY_GRAPH),
        (&POTTS_GRAPH, &weights::POTTS_GRAPH),
    ];
    known.into_iter().find(|(other, _)| *other == family).map_or(&weights::GENERIC, |(_, weights)| weights)
}

/// Work so far, by kind, and its cost. Only integers, so that the same work costs the same on every machine.
pub(super) struct Tally {
    weights: PerCharge,
    pub counts: PerCharge,
    /// Cost of all work.
    pub units: u64,
    /// Cost of the work inside exact oracle calls.
    pub oracle_units: u64,
}

impl Tally {
    pub fn new(weights: PerCharge) -> Self {
        Self { weights, counts: PerCharge::default(), units: 0, oracle_units: 0 }
    }

    #[inline(always)]
    pub fn add(&mut self, charge: Charge, amount: u64) {
        self.counts[charge as usize] += amount;
        self.units += self.weights[charge as usize] * amount;
    }

    /// Units of an oracle call with this many operations.
    #[inline(always)]
    pub fn call_units(&self, operations: u64) -> u64 {
        self.weights[Charge::OracleOperation as usize] * operations + self.weights[Charge::OracleCall as usize]
    }

    /// Adds exact oracle calls with this many operations together, which take `units` on the clock.
    #[inline(always)]
    pub fn add_calls(&mut self, calls: u64, operations: u64, units: u64) {
        self.counts[Charge::OracleOperation as usize] += operations;
        self.counts[Charge::OracleCall as usize] += calls;
        self.units += units;
        self.oracle_units += units;
        self.add(Charge::ExactStep, calls);
    }

    #[inline(always)]
    pub fn add_exact(&mut self, done: Operations) {
        self.add(Charge::Score, done.scored);
        self.add(Charge::ExactProduct, done.products);
        self.add(Charge::Averaging, done.averaged);
        self.add(Charge::GramOperation, done.gram);
        self.add(Charge::WeightOperation, done.weighed);
    }

    #[inline(always)]
    pub fn add_approximate(&mut self, done: Operations) {
        self.add(Charge::Score, done.scored);
        self.add(Charge::ApproximateProduct, done.products);
        self.add(Charge::Averaging, done.averaged);
        self.add(Charge::GramOperation, done.gram);
        self.add(Charge::WeightOperation, done.weighed);
        self.add(Charge::ApproximateStep, 1);
    }
}
