//! A solver of your own among the others: BCFW with a plane cache that walks through one permutation forth and back.
//!
//! `ssvm-bench init --crate DIR --solver NAME` writes this file into a crate of its own; docs/adding.md explains it.
//!
//! ```sh
//! cargo run --release --example solver -- reproduce examples/solver.toml --out results/solver
//! ```

use ssvm_bench::ssvm::clock::{Charge, Operations};
use ssvm_bench::ssvm::solver::order::{Order, Orders};
use ssvm_bench::ssvm::solver::{PlaneCache, State};
use ssvm_bench::{
    Harness, Interrupt, Iteration, Meter, Metered, Param, Params, Problem, Solution, Solver, SolverInfo, SolverRow,
};

const KEEP: Param = Param::count("keep", "20", 1, "planes kept per term");
const SWEEPS: Param = Param::count("sweeps", "4", 0, "cached passes per iteration");

/// The row of the solver: its name in configs, tables and figures, its parameters, and how it is built.
struct Row;

impl SolverRow for Row {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "bcfw-zigzag",
            about: "BCFW with cached passes that go back and forth through one permutation, as in symmetric Gauss–Seidel",
            params: &[KEEP, SWEEPS],
            // Planes per term, for the estimate of memory.
            planes: Some(|params| params.count(KEEP.key)),
            // Nothing here depends on time: one run serves every oracle cost.
            reads_clock: |_| false,
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        Box::new(Zigzag {
            cache: PlaneCache::new(problem),
            orders: Orders::new(Order::PERMUTATION, problem.terms(), seed),
            keep: params.count(KEEP.key) as usize,
            sweeps: params.count(SWEEPS.key),
            iteration: 0,
        })
    }
}

struct Zigzag<'p, P: Problem> {
    /// φ, all φ^i, and per term the working set W_i of planes that the oracle has returned.
    cache: PlaneCache<'p, P>,
    orders: Orders,
    keep: usize,
    sweeps: u64,
    iteration: u64,
}

impl<P: Problem> Zigzag<'_, P> {
    /// One oracle call and one step for term i; its plane enters W_i.
    fn exact_step(&mut self, i: usize, meter: &mut Meter<'_>) -> Result<(), Interrupt> {
        let PlaneCache { now, sets, spare } = &mut self.cache;
        // The call is timed and counted in here. `?` ends the iteration when the budget is used up or the oracle fails.
        now.exact_step_among(i, sets[i].planes(), meter, None)?;
        // Beyond `keep` planes, the one that was inactive for longest goes.
        sets[i].insert(&now.hat, self.iteration, self.keep, spare);
        Ok(())
    }

    /// One step for term i towards the best plane of W_i: no oracle call.
    fn cached_step(&mut self, i: usize, meter: &mut Meter<'_>) -> Result<(), Interrupt> {
        let PlaneCache { now, sets, .. } = &mut self.cache;
        let set = &mut sets[i];
        meter.approximate_step(|| {
            now.problem.load(i, &now.w, &now.blocks, set.planes(), &mut now.work);
            let best = now.problem.highest(i, set.planes(), &now.w, &now.work);
            set.activate(best, self.iteration);
            let (step, _) = now.step(i, set.plane(best), None);
            // What the virtual clock charges: one product per plane beside those of the step.
            Operations { scored: set.len() as u64 * now.problem.product_ops(i), ..step }
        })
    }
}

impl<P: Problem> Solver for Zigzag<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
        self.iteration += 1;
        self.orders.draw();
        let mut order = self.orders.list().to_vec();
        for i in &order {
            self.exact_step(*i as usize, meter)?;
        }
        for _ in 0..self.sweeps {
            // Back, then forth, then back.
            order.reverse();
            meter.begin_approx_pass();
            let made = order.iter().try_for_each(|i| self.cached_step(*i as usize, meter));
            meter.end_approx_pass(made.is_ok());
            if made.is_err() {
                return Ok(Iteration::Shortened);
            }
        }
        // Every 10 iterations φ is summed from the φ^i, against drift of rounding.
        if self.iteration.is_multiple_of(10) {
            let operations = self.cache.resum();
            meter.charge(Charge::ExactProduct, operations);
        }
        Ok(Iteration::Complete)
    }

    fn solution(&self) -> Solution {
        self.cache.solution()
    }

    fn dual(&self) -> f64 {
        self.cache.dual()
    }

    fn state(&self) -> Option<&dyn State> {
        Some(&self.cache)
    }
}

fn main() -> std::process::ExitCode {
    Harness::standard().solver(Row).main()
}
