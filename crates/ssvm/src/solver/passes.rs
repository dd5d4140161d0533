//! An iteration of a multi-plane solver: an exact pass, then approximate passes while they pay off. A form of φ
//! ([`State`]) and the passes of one solver over it ([`Body`]) make a [`Solver`], raw or averaged.

use super::average::{Average, Solution};
use super::order::{ORDER, Order, Orders};
use super::slope::{Moment, another_pass};
use super::{Interrupt, Iteration, Meter, Refusal, Solver, State};
use crate::clock::Charge;
use crate::settings::{Domain, Param, Params, Value};

/// φ is summed afresh from the φ^i after this many iterations, against drift.
pub const RESUM_EVERY: u64 = 10;

/// T of the paper.
pub const T: Param = Param {
    key: "T",
    about: "planes inactive for more than T iterations leave the working set",
    default: "10",
    domain: Domain::Count(0, u64::MAX),
};

/// M of the paper.
pub const M: Param = Param::count("M", "1000", 0, "most approximate passes per iteration when the slope rule decides");

pub const PASSES: Param = Param {
    key: "passes",
    about: "approximate passes per iteration: auto (slope rule) or their exact number",
    default: "auto",
    domain: Domain::CountOr(0, u32::MAX as u64, &["auto"]),
};

/// Refuses a value of [`M`] beside a fixed number of passes, where it has no meaning.
pub fn passes_rule(params: &Params, given: &dyn Fn(&str) -> bool) -> Result<(), Refusal> {
    if Schedule::of(params).fixed_passes.is_some() && given(M.key) {
        let message = "M limits passes = \"auto\"; with a fixed number of passes leave it out";
        return Err(Refusal::new(M.key, message));
    }
    Ok(())
}

/// Rough number of planes per term of a solver that drops those inactive for more than [`T`] iterations and keeps at
/// most `most`: an iteration brings one from the oracle, and old ones become active again about as often.
pub fn kept_planes(most: u64, params: &Params) -> u64 {
    most.min(2 * params.count(T.key).saturating_add(1))
}

/// Whether the slope rule decides, which reads the clock.
pub fn by_slope(params: &Params) -> bool {
    let schedule = Schedule::of(params);
    schedule.fixed_passes.is_none() && schedule.m > 0
}

/// Which passes an iteration has, and in which order they visit the terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Order of the terms.
    pub order: Order,
    /// M.
    pub m: u32,
    /// Exactly this many approximate passes; the slope rule when absent.
    pub fixed_passes: Option<u32>,
    /// Whether the solution is read from the averages.
    pub averaged: bool,
}

impl Schedule {
    /// The schedule of these parameters, without averages.
    pub(super) fn of(params: &Params) -> Self {
        Self {
            order: Order::of(params),
            m: params.count(M.key) as u32,
            fixed_passes: match params.get(PASSES.key) {
                Some(Value::Count(count)) => Some(*count as u32),
                _ => None,
            },
            averaged: false,
        }
    }

    /// Exact passes only; the parameters are those of a solver with [`ORDER`] and without [`PASSES`].
    pub(super) fn exact(params: &Params) -> Self {
        debug_assert!(params.get(ORDER.key).is_some());
        Self { order: Order::of(params), m: 0, fixed_passes: None, averaged: false }
    }

    /// Most approximate passes.
    pub(super) fn most(&self) -> u32 {
        self.fixed_passes.unwrap_or(self.m)
    }
}

/// A pass to be made.
pub struct Pass<'a> {
    /// The terms, in order.
    pub order: &'a [u32],
    /// Which iteration this is, from 1.
    pub iteration: u64,
    /// The average that follows the steps of this pass.
    pub average: Option<&'a mut Average>,
}

/// The passes of a solver, with φ kept as `S`. A pass fails when the run must stop.
pub trait Body<S> {
    fn exact_pass(&mut self, state: &mut S, pass: Pass<'_>, meter: &mut Meter<'_>) -> Result<(), Interrupt>;
    fn approximate_pass(&mut self, state: &mut S, pass: Pass<'_>, meter: &mut Meter<'_>) -> Result<(), Interrupt>;
}

/// Which average follows the steps of a pass.
#[derive(Clone, Copy)]
enum PassKind {
    Exact = 0,
    Approximate = 1,
}

/// A multi-plane solver.
pub struct Passes<S, B> {
    pub(super) state: S,
    body: B,
    schedule: Schedule,
    orders: Orders,
    iteration: u64,
    /// φ̄ over exact steps and φ̿ over approximate steps.
    averages: Option<[Average; 2]>,
    before: (Vec<f64>, f64),
    moments: Vec<Moment>,
}

impl<S: State, B: Body<S>> Passes<S, B> {
    /// The solver over a φ and a body at their start.
    pub fn over(state: S, body: B, terms: usize, schedule: Schedule, seed: u64) -> Self {
        let dim = state.phi().0.len();
        Self {
            state,
            body,
            orders: Orders::new(schedule.order, terms, seed),
            iteration: 0,
            averages: schedule.averaged.then(|| [Average::new(dim), Average::new(dim)]),
            before: (if schedule.averaged { vec![0.0; dim] } else { Vec::new() }, 0.0),
            moments: Vec::with_capacity(64),
            schedule,
        }
    }

    fn moment(&self, meter: &mut Meter<'_>) -> Moment {
        meter.charge(Charge::VectorOperation, self.state.phi().0.len() as u64);
        Moment { time: meter.now_ns(), dual: self.dual() }
    }

    fn pass(&mut self, kind: PassKind, meter: &mut Meter<'_>) -> Result<(), Interrupt> {
        let average = self.averages.as_mut().map(|averages| &mut averages[kind as usize]);
        let pass = Pass { order: self.orders.list(), iteration: self.iteration, average };
        match kind {
            PassKind::Exact => self.body.exact_pass(&mut self.state, pass, meter),
            PassKind::Approximate => self.body.approximate_pass(&mut self.state, pass, meter),
        }
    }

    /// Adds the steps since the last call to the average that does not count them.
    fn share_steps(&mut self, counted: PassKind, meter: &mut Meter<'_>) {
        if let Some(averages) = &mut self.averages {
            let (w, offset) = self.state.phi();
            averages[1 - counted as usize].shift(w, &self.before.0, offset - self.before.1);
            self.before.0.copy_from_slice(w);
            self.before.1 = offset;
            meter.charge(Charge::VectorOperation, 2 * w.len() as u64);
        }
    }

    /// Makes the approximate passes; returns how the iteration ends.
    fn approximate_passes(&mut self, meter: &mut Meter<'_>) -> Iteration {
        for _ in 0..self.schedule.most() {
            meter.begin_approx_pass();
            let complete = self.pass(PassKind::Approximate, meter).is_ok();
            meter.end_approx_pass(complete);
            let now = self.moment(meter);
            self.moments.push(now);
            if !complete {
                return Iteration::Shortened;
            }
            let by_slope = self.schedule.fixed_passes.is_none();
            if by_slope && !another_pass(self.moments[0], self.moments[self.moments.len() - 2], now) {
                break;
            }
        }
        Iteration::Complete
    }
}

impl<S: State, B: Body<S>> Solver for Passes<S, B> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
        self.iteration += 1;
        self.orders.draw();
        self.moments.clear();
        self.moments.push(self.moment(meter));
        let exact = self.pass(PassKind::Exact, meter);
        self.share_steps(PassKind::Exact, meter);
        self.moments.push(self.moment(meter));
        exact?;
        let ended = self.approximate_passes(meter);
        self.share_steps(PassKind::Approximate, meter);
        if self.iteration.is_multiple_of(RESUM_EVERY) {
            let operations = self.state.resum();
            meter.charge(Charge::ExactProduct, operations);
        }
        Ok(ended)
    }

    fn solution(&self) -> Solution {
        let (w, offset) = self.state.phi();
        let Some([exact, approximate]) = &self.averages else { return self.state.solution() };
        match (exact.read(w, offset), approximate.read(w, offset)) {
            (Some(exact), Some(approximate)) => exact.best_between(&approximate, self.state.lambda()),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.state.solution(),
        }
    }

    fn dual(&self) -> f64 {
        self.state.dual()
    }

    fn state(&self) -> Option<&dyn State> {
        Some(&self.state)
    }

    fn moments(&self) -> &[Moment] {
        &self.moments
    }
}
