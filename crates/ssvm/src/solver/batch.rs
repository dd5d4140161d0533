//! Batches of τ exact oracle calls at one w, whose steps follow one by one: parameters and memory.

use super::{Interrupt, Meter, Metered, Refusal};
use crate::clock::Call;
use crate::problem::Problem;
use crate::settings::{Domain, Param, Params, Value};

pub const TAU: Param = Param::count(
    "tau",
    "1",
    1,
    "exact oracle calls made at one w in parallel, before their steps are taken one after another",
);

pub const LANES: Param = Param {
    key: "lanes",
    about: "calls that the virtual clock counts as parallel: tau, or fewer",
    default: "tau",
    domain: Domain::CountOr(1, u32::MAX as u64, &["tau"]),
};

/// τ and the lanes of the virtual clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// τ.
    pub tau: usize,
    /// Calls that the virtual clock counts as parallel.
    pub lanes: usize,
}

impl Batching {
    /// One call at a time.
    pub const NONE: Self = Self { tau: 1, lanes: 1 };

    pub(super) fn of(params: &Params) -> Self {
        let tau = params.count(TAU.key) as usize;
        let lanes = match params.get(LANES.key) {
            Some(Value::Count(lanes)) => *lanes as usize,
            _ => tau,
        };
        Self { tau, lanes }
    }
}

/// `lanes` must be below τ: τ lanes are the default, and more would stay empty.
pub fn lanes_rule(params: &Params) -> Result<(), Refusal> {
    if let (Some(Value::Count(lanes)), tau) = (params.get(LANES.key), params.count(TAU.key))
        && *lanes >= tau
    {
        let message = format!("lanes = {lanes} must be below tau = {tau}; leave it out for as many lanes as calls");
        return Err(Refusal::new(LANES.key, message));
    }
    Ok(())
}

/// τ is at most n.
pub fn tau_fits(params: &Params, terms: u64) -> Result<(), Refusal> {
    let tau = params.count(TAU.key);
    if tau > terms {
        let message = format!("tau = {tau} is more than the {terms} examples of the data set; make it smaller");
        return Err(Refusal::new(TAU.key, message));
    }
    Ok(())
}

/// Input and output of one call. The memory belongs to a slot of the batch and not to a thread, so that a call finds
/// the same contents at any number of threads.
pub struct Slot<P: Problem> {
    pub(super) term: usize,
    pub(super) work: P::Work,
    pub(super) hat: P::Plane,
}

pub struct Batch<P: Problem> {
    calls: Vec<Call<Slot<P>>>,
    lanes: usize,
}

impl<P: Problem> Batch<P> {
    /// For batches of τ calls; nothing when calls are made one at a time.
    pub fn new(problem: Metered<'_, P>, batching: Batching) -> Self {
        let Batching { tau, lanes } = batching;
        let place = || Slot { term: 0, work: problem.work(), hat: P::Plane::default() };
        let count = if tau > 1 { tau } else { 0 };
        Self { calls: (0..count).map(|_| Call::new(place())).collect(), lanes }
    }

    /// Most calls of a batch; 0 when calls are made one at a time.
    pub fn most(&self) -> usize {
        self.calls.len()
    }

    /// Calls the oracles of these terms, at most τ, at w. `known` has the planes that the solver keeps of a term.
    pub fn call<'a, I>(
        &mut self,
        problem: Metered<'_, P>,
        meter: &mut Meter<'_>,
        w: &[f64],
        terms: &[u32],
        known: impl Fn(usize) -> I + Sync,
    ) -> Result<(), Interrupt>
    where
        I: Iterator<Item = &'a P::Plane>,
        P::Plane: 'a,
    {
        let calls = &mut self.calls[..terms.len()];
        for (call, term) in calls.iter_mut().zip(terms) {
            call.item.term = *term as usize;
        }
        problem.oracles_among(meter, self.lanes, w, known, calls)
    }

    /// The plane that the oracle returned in this slot of the last batch.
    pub fn hat(&self, at: usize) -> &P::Plane {
        &self.calls[at].item.hat
    }
}
