//! Approximate steps that cannot change anything are skipped: the same bits, planes and counters as of a solver that takes
//! them all, and less virtual time where steps are skipped.

use crate::common::{chain, graph, multiclass};
use ssvm::clock::{Charge, Limits, Operations};
use ssvm::solver::WorkingSet;
use ssvm::solver::order::{Order, Orders};
use ssvm::solver::{Batching, MultiPlane, MultiPlaneParams, Schedule};
use ssvm::{ClockKind, Iterate, Meter, Metered, Problem, Solver};

const SEED: u64 = 3;
const PASSES: u32 = 3;

/// MP-BCFW as in the paper: every step of every pass.
struct EveryStep<'p, P: Problem> {
    now: Iterate<'p, P>,
    sets: Vec<WorkingSet<P::Plane>>,
    orders: Orders,
    spare: Vec<P::Plane>,
    iteration: u64,
}

impl<'p, P: Problem> EveryStep<'p, P> {
    fn new(problem: &'p P, order: Order) -> Self {
        let n = problem.terms();
        Self {
            now: Iterate::new(Metered::new(problem)),
            sets: (0..n).map(|_| WorkingSet::default()).collect(),
            orders: Orders::new(order, n, SEED),
            spare: Vec::new(),
            iteration: 0,
        }
    }

    fn iterate(&mut self, params: &MultiPlaneParams, meter: &mut Meter<'_>) {
        self.iteration += 1;
        self.orders.draw();
        let order: Vec<usize> = self.orders.list().iter().map(|i| *i as usize).collect();
        for &i in &order {
            assert!(self.now.exact_step_among(i, self.sets[i].planes(), meter, None).is_ok());
            self.sets[i].insert(&self.now.hat, self.iteration, params.n, &mut self.spare);
        }
        for _ in 0..PASSES {
            for &i in order.iter().filter(|i| !self.sets[**i].is_empty()).collect::<Vec<_>>() {
                meter.approximate_step(|| self.approximate_step(i, params.t)).unwrap();
            }
        }
        if self.iteration.is_multiple_of(10) {
            let operations = self.now.resum();
            meter.charge(Charge::ExactProduct, operations);
        }
    }

    fn approximate_step(&mut self, i: usize, t: u64) -> Operations {
        let (now, set) = (&mut self.now, &mut self.sets[i]);
        let count = set.len();
        now.problem.load(i, &now.w, &now.blocks, set.planes(), &mut now.work);
        let values: Vec<f64> = set.planes().map(|plane| now.problem.value(i, plane, &now.w, &now.work)).collect();
        let best = (0..count).rev().max_by(|a, b| values[*a].total_cmp(&values[*b]).then(a.cmp(b))).unwrap();
        let (mut done, _) = now.step(i, set.plane(best), None);
        set.activate(best, self.iteration);
        set.expire(self.iteration, t, &mut self.spare);
        done.scored = count as u64 * now.problem.product_ops(i);
        done
    }
}

fn check<P: Problem>(problem: &P, order: Order) -> u64 {
    let schedule = Schedule { order, m: 0, fixed_passes: Some(PASSES), averaged: false };
    let params = MultiPlaneParams { t: 2, n: 3, batching: Batching::NONE, schedule };
    let never = || false;
    let meter = || Meter::new(ClockKind::VIRTUAL, Limits::default(), &never);
    let (mut all, mut all_meter) = (EveryStep::new(problem, order), meter());
    let (mut ours, mut our_meter) = (MultiPlane::new(Metered::new(problem), &params, SEED), meter());
    for iteration in 1..=60 {
        all_meter.resume();
        all.iterate(&params, &mut all_meter);
        all_meter.pause();
        our_meter.resume();
        ours.iterate(&mut our_meter).unwrap();
        our_meter.pause();
        let bits = |w: &[f64]| w.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&ours.solution().w), bits(&all.now.w), "iteration {iteration}");
        for (ours, all) in ours.working_sets().iter().zip(&all.sets) {
            assert!(ours.planes().eq(all.planes()), "iteration {iteration}: other planes");
        }
    }
    let (our, all) = (our_meter.counters(), all_meter.counters());
    assert_eq!((our.oracle_calls, our.approx_steps, all.skipped_steps), (all.oracle_calls, all.approx_steps, 0));
    assert!(our.skipped_steps <= our.approx_steps);
    // A step that is skipped is charged as such and as nothing else.
    let count = |meter: &Meter<'_>, charge: Charge| meter.work()[charge as usize];
    assert_eq!(count(&our_meter, Charge::SkippedStep), our.skipped_steps);
    assert_eq!(count(&our_meter, Charge::ApproximateStep), our.approx_steps - our.skipped_steps);
    assert_eq!(count(&our_meter, Charge::OracleOperation), count(&all_meter, Charge::OracleOperation));
    assert!(our.skipped_steps == 0 || our_meter.now_ns() < all_meter.now_ns());
    our.skipped_steps
}

#[test]
fn skipped_steps_change_no_bit() {
    for order in [Order::PERMUTATION, Order::SEQUENTIAL, Order::UNIFORM] {
        let mut skipped = [0; 3];
        for seed in 0..5 {
            skipped[0] += check(&multiclass(seed, 40), order);
            // Words of random letters keep several planes each.
            check(&chain(seed, 15), order);
            skipped[1] += check(&graph(seed, 15, 2), order);
            skipped[2] += check(&graph(seed, 10, 4), order);
        }
        assert!(skipped.iter().all(|skipped| *skipped > 0), "{order:?}: {skipped:?}");
    }
}
