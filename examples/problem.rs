//! A problem of your own under the solvers of the paper: multi-label classification with Hamming loss, whose oracle decides each
//! label on its own.
//!
//! ```sh
//! cargo run --release --example problem -- reproduce examples/problem.toml --out results/problem
//! ```

use ssvm_bench::dataset::Argument;
use ssvm_bench::{DatasetInfo, DatasetRow, Fault, Harness, Loaded, MaxOracle, Request, Result, Simple, SparsePlane};

struct MultiLabel {
    /// Features, and which labels are on.
    examples: Vec<(Vec<f64>, Vec<bool>)>,
    labels: usize,
    lambda: f64,
}

impl MaxOracle for MultiLabel {
    fn terms(&self) -> usize {
        self.examples.len()
    }

    fn dim(&self) -> usize {
        self.labels * self.examples[0].0.len()
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn max_plane(&self, i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, Fault> {
        let (x, truth) = &self.examples[i];
        let (n, p) = (self.terms() as f64, x.len());
        plane.entries.clear();
        plane.offset = 0.0;
        for (k, on) in truth.iter().enumerate() {
            // Flipping label k gains 1/K loss and changes the score by ∓⟨w_k, x⟩.
            let score: f64 = x.iter().zip(&w[k * p..]).map(|(x, w)| x * w).sum();
            let sign = if *on { -1.0 } else { 1.0 };
            let loss = 1.0 / self.labels as f64;
            if loss + sign * score > 0.0 {
                plane.entries.extend(x.iter().enumerate().map(|(f, x)| (k * p + f, sign * x / n)));
                plane.offset += loss / n;
            }
        }
        Ok((self.labels * p) as u64)
    }
}

/// The data set: points on a circle with noise; a label is on in its own half-plane.
struct HalfPlanes;

impl DatasetRow for HalfPlanes {
    type Problem = Simple<'static>;

    fn info(&self) -> DatasetInfo {
        DatasetInfo {
            name: "half-planes",
            title: "half-planes",
            about: "multi-label toy: each label is on in a half-plane of its own",
            argument: Argument::Parameters(&["n", "labels"]),
            ..DatasetInfo::PLAIN
        }
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<Self::Problem>> {
        let n = request.count("n", 1..=100_000)?.unwrap_or(200) as usize;
        let labels = request.count("labels", 1..=64)?.unwrap_or(5) as usize;
        let example = |i: usize| {
            // The golden angle spreads points evenly; every tenth label is wrong, so that the optimum is not 0.
            let (angle, turn) = (2.399_963_229_728_653 * i as f64, std::f64::consts::TAU / labels as f64);
            let on = |k: usize| (angle - turn * k as f64).cos() > 0.0;
            let truth = (0..labels).map(|k| on(k) != (i * labels + k).is_multiple_of(10)).collect();
            (vec![angle.cos(), angle.sin(), 1.0], truth)
        };
        let problem = MultiLabel { examples: (0..n).map(example).collect(), labels, lambda: request.lambda_for(n)? };
        Ok(Loaded::new(Simple::new(problem), 24 * n as u64, format!("half-planes {n} {labels}")))
    }
}

fn main() -> std::process::ExitCode {
    Harness::standard().problem(HalfPlanes).main()
}
