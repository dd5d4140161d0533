//! A solver of one's own among the others: BCFW that walks a permutation forth and back before it draws a new one.
//!
//! ```sh
//! cargo run --release --example solver -- reproduce examples/solver.toml
//! ```

use ssvm_bench::solver::order::{Order, Orders};
use ssvm_bench::{
    Domain, Harness, Interrupt, Iterate, Iteration, Meter, Metered, Param, Params, Problem, Solution, Solver,
    SolverInfo, SolverRow,
};

/// Everything a reader should know of it.
struct ZigZag;

impl SolverRow for ZigZag {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "bcfw-zigzag",
            about: "BCFW whose passes go forth and back through one permutation, as in symmetric Gauss–Seidel",
            params: &[Param {
                key: "keep",
                about: "iterations before a new permutation is drawn",
                default: "2",
                domain: Domain::Count(1, 1_000_000),
            }],
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        Box::new(State {
            now: Iterate::new(problem),
            orders: Orders::new(Order::PERMUTATION, problem.terms(), seed),
            keep: params.count("keep"),
            iteration: 0,
        })
    }
}

struct State<'p, P: Problem> {
    now: Iterate<'p, P>,
    orders: Orders,
    keep: u64,
    iteration: u64,
}

impl<P: Problem> Solver for State<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
        if self.iteration.is_multiple_of(self.keep) {
            self.orders.draw();
        }
        self.iteration += 1;
        let n = self.orders.list().len();
        for at in 0..n {
            let at = if self.iteration.is_multiple_of(2) { n - 1 - at } else { at };
            // The oracle is called, timed and counted in here; a used-up budget ends the iteration.
            self.now.exact_step(self.orders.list()[at] as usize, meter, None)?;
        }
        if self.iteration.is_multiple_of(10) {
            self.now.resum();
        }
        Ok(Iteration::Complete)
    }

    fn solution(&self) -> Solution {
        self.now.solution()
    }

    fn dual(&self) -> f64 {
        self.now.dual()
    }
}

fn main() -> std::process::ExitCode {
    Harness::standard().solver(ZigZag).main()
}
