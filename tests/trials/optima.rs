//! Certified optima against independent solutions, the kernel of weights against its formulas, and the store's promises.

use std::path::Path;

use crate::common;
use crate::common::trials::{Skipped, official};
use assert_cmd::Command;
use ssvm::solver::weights::{Vertex, Weights};
use ssvm::solver::{Bracket, Weighted, step};
use ssvm_bench::experiment::Experiment;
use ssvm_bench::store::files;
use ssvm_bench::store::optimum::{Optima, Optimum};
use ssvm_bench::{
    Catalog, ClockKind, DataDir, Fault, Harness, MaxOracle, Metered, Problem, Request, Simple, Solve, SparsePlane,
    dataset::Described,
};

const GAP: f64 = 1e-9;

/// Every term has a list of planes; the oracle looks at all of them.
struct Listed {
    planes: Vec<Vec<SparsePlane>>,
    dim: usize,
    lambda: f64,
}

impl Listed {
    /// Dense random planes, the first one of each term 0.
    fn random(seed: u64, terms: usize, count: usize, dim: usize) -> Self {
        let mut dice = common::Dice::new(seed);
        let scale = 1.0 / terms as f64;
        let mut plane = |at: usize| SparsePlane {
            entries: if at == 0 { Vec::new() } else { (0..dim).map(|j| (j, scale * dice.signed())).collect() },
            offset: if at == 0 { 0.0 } else { scale * dice.unit() },
        };
        let planes = (0..terms).map(|_| (0..count).map(&mut plane).collect()).collect();
        Self { planes, dim, lambda: scale }
    }

    fn value(plane: &SparsePlane, w: &[f64]) -> f64 {
        plane.entries.iter().map(|(j, v)| v * w[*j]).sum::<f64>() + plane.offset
    }

    /// (φ⋆, φ∘) of weights over all planes.
    fn sum(&self, alpha: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let (mut phi, mut offset) = (vec![0.0; self.dim], 0.0);
        for (plane, alpha) in self.planes.iter().flatten().zip(alpha.iter().flatten()) {
            offset += alpha * plane.offset;
            for (j, v) in &plane.entries {
                phi[*j] += alpha * v;
            }
        }
        (phi, offset)
    }

    fn dual(&self, alpha: &[Vec<f64>]) -> f64 {
        let (phi, offset) = self.sum(alpha);
        offset - phi.iter().map(|v| v * v).sum::<f64>() / (2.0 * self.lambda)
    }

    fn primal(&self, w: &[f64]) -> f64 {
        let most = |list: &Vec<SparsePlane>| list.iter().map(|p| Self::value(p, w)).fold(f64::NEG_INFINITY, f64::max);
        0.5 * self.lambda * w.iter().map(|v| v * v).sum::<f64>() + self.planes.iter().map(most).sum::<f64>()
    }

    /// Projected gradients over the weights of all planes: (F, P) at the end.
    fn projected_gradient(&self, steps: u32) -> (f64, f64) {
        let mut alpha: Vec<Vec<f64>> =
            self.planes.iter().map(|list| vec![1.0 / list.len() as f64; list.len()]).collect();
        let size: f64 = self.planes.iter().flatten().flat_map(|p| &p.entries).map(|(_, v)| v * v).sum();
        let length = self.lambda / size;
        let weights = |alpha: &[Vec<f64>]| -> Vec<f64> { self.sum(alpha).0.iter().map(|v| -v / self.lambda).collect() };
        for _ in 0..steps {
            let w = weights(&alpha);
            for (list, alpha) in self.planes.iter().zip(&mut alpha) {
                for (plane, alpha) in list.iter().zip(alpha.iter_mut()) {
                    *alpha += length * Self::value(plane, &w);
                }
                onto_simplex(alpha);
            }
        }
        (self.dual(&alpha), self.primal(&weights(&alpha)))
    }
}

/// The nearest point with Σ = 1 and nothing below 0, by bisection over the level.
fn onto_simplex(point: &mut [f64]) {
    let (mut low, mut high) = (-2.0 - point.len() as f64, 2.0 + point.len() as f64);
    for _ in 0..100 {
        let level = 0.5 * (low + high);
        if point.iter().map(|v| (v - level).max(0.0)).sum::<f64>() > 1.0 { low = level } else { high = level }
    }
    for value in point {
        *value = (*value - high).max(0.0);
    }
}

impl MaxOracle for Listed {
    fn terms(&self) -> usize {
        self.planes.len()
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn max_plane(&self, i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, Fault> {
        let best = self.planes[i].iter().max_by(|a, b| Self::value(a, w).total_cmp(&Self::value(b, w)));
        plane.clone_from(best.unwrap());
        Ok(1)
    }
}

fn found<P: Problem>(problem: &P, gap: f64) -> Bracket {
    // A number of rounds that no test here needs: a solver that never ends must not hang the tests.
    let rounds = std::cell::Cell::new(0);
    problem.as_dyn().bracket(gap, &|| rounds.get() > 2000, &mut |_| rounds.set(rounds.get() + 1)).unwrap()
}

fn one_term_meets_its_closed_form() {
    // H(w) = max(0, b − a·w): the optimum is b²λ/(2a²) below the kink, else b − a²/(2λ).
    for (a, b, lambda) in [(1.0, 1.0, 1.0), (2.0, 1.0, 0.1), (0.1, 3.0, 0.7)] {
        let planes = vec![vec![
            SparsePlane { entries: Vec::new(), offset: 0.0 },
            SparsePlane { entries: vec![(0, -a)], offset: b },
        ]];
        let truth = if b * lambda <= a * a { b * b * lambda / (2.0 * a * a) } else { b - a * a / (2.0 * lambda) };
        let Bracket { lower, upper } = found(&Simple::new(Listed { planes, dim: 1, lambda }), GAP);
        assert!(lower <= truth && truth <= upper, "{truth} is not between {lower} and {upper}");
        assert!(upper - lower <= GAP, "{}", upper - lower);
    }
}

fn tiny_problems_meet_projected_gradients_over_all_planes() {
    for seed in 0..6 {
        let problem = Listed::random(seed, 6, 5, 4);
        let (dual, primal) = problem.projected_gradient(20_000);
        let Bracket { lower, upper } = found(&Simple::new(problem), GAP);
        assert!(upper - lower <= GAP, "seed {seed}: {}", upper - lower);
        assert!(dual <= upper && lower <= primal, "seed {seed}: {dual} {primal} against {lower} {upper}");
        assert!(primal - dual < 1e-4, "seed {seed}: the reference did not converge: {dual} {primal}");
    }
}

/// Bounds of other solvers on the same problem never cross the bracket.
fn never_crossed<P: Problem>(what: &str, problem: &P, bracket: Bracket) {
    for solver in ["fw", "bcfw", "mp-bcfw", "mp-bcfw-avg"] {
        let outcome = Solve::new(problem).solver(solver).iterations(30).clock(ClockKind::VIRTUAL).run().unwrap();
        for point in &outcome.points {
            // The solvers' own numbers have no allowance for rounding.
            let slack = 1e-12 * (1.0 + point.primal.abs());
            assert!(point.dual <= bracket.upper + slack, "{what}, {solver}: {} > {}", point.dual, bracket.upper);
            assert!(point.primal >= bracket.lower - slack, "{what}, {solver}: {} < {}", point.primal, bracket.lower);
        }
    }
}

fn every_family_is_bracketed_and_no_solver_crosses() {
    for seed in 1..3 {
        let problem = common::multiclass(seed, 20);
        let bracket = found(&problem, GAP);
        assert!(bracket.width() <= GAP, "multiclass {seed}: {}", bracket.width());
        never_crossed("multiclass", &problem, bracket);
        let problem = common::chain(seed, 6);
        let bracket = found(&problem, GAP);
        assert!(bracket.width() <= GAP, "chain {seed}: {}", bracket.width());
        never_crossed("chain", &problem, bracket);
        let problem = common::graph(seed, 8, 2);
        let bracket = found(&problem, GAP);
        assert!(bracket.width() <= GAP, "binary graph {seed}: {}", bracket.width());
        never_crossed("binary graph", &problem, bracket);
        let problem = common::graph(seed, 8, 4);
        let bracket = found(&problem, GAP);
        assert!(bracket.lower <= bracket.upper);
        never_crossed("Potts graph", &problem, bracket);
    }
}

fn a_bracket_that_is_stopped_is_still_one() {
    let problem = common::multiclass(1, 20);
    let tight = found(&problem, GAP);
    let loose = problem.as_dyn().bracket(GAP, &|| true, &mut |_| {}).unwrap();
    assert!(loose.lower <= tight.upper && tight.lower <= loose.upper && loose.width() > tight.width());
}

fn every_step_of_the_kernel_gains_what_its_formula_says() {
    let listed = Listed::random(3, 1, 6, 4);
    let problem = Simple::new(&listed);
    let lambda = problem.lambda();
    let list = &listed.planes[0];
    let mut now = Weighted::new(Metered::new(&problem), usize::MAX);
    for plane in list {
        now.insert(0, plane, 1);
    }
    let mut weights = now.sets[0].clone();
    assert_eq!(weights.len(), list.len(), "the zero plane is place 0, not a second one");
    let dual = |weights: &Weights<SparsePlane>| listed.dual(&[weights.alpha().to_vec()]);
    let at = |weights: &Weights<SparsePlane>| -> Vec<f64> {
        listed.sum(&[weights.alpha().to_vec()]).0.iter().map(|v| -v / lambda).collect()
    };
    let mut seen = 0;
    for count in 0..60 {
        now.w = at(&weights);
        let mut values = now.scored(0).1.to_vec();
        let order = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        let best = (0..values.len()).max_by(order).unwrap();
        let worst = (0..values.len()).filter(|at| weights.alpha()[*at] > 0.0).min_by(order).unwrap();
        let (t, o) = match count % 3 {
            0 => (Vertex::Plane(best), Vertex::Mix),
            1 => (Vertex::Plane(best), Vertex::Plane(worst)),
            _ => (Vertex::Mix, Vertex::Plane(worst)),
        };
        let (gain, norm2) = weights.direction(t, o, &values);
        let gamma = step::gamma_within(gain, norm2, lambda, weights.cap(t, o));
        let before = dual(&weights);
        weights.step(t, o, gamma, &mut values, lambda);
        let promised = gamma * gain - gamma * gamma * norm2 / (2.0 * lambda);
        assert!((dual(&weights) - before - promised).abs() < 1e-12, "step {count}: {promised}");
        assert!(weights.alpha().iter().all(|alpha| *alpha >= 0.0));
        assert!((weights.alpha().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        now.w = at(&weights);
        let fresh = now.scored(0).1;
        assert!(values.iter().zip(fresh).all(|(a, b)| (a - b).abs() < 1e-10), "values follow the step");
        seen += u32::from(promised > 1e-9);
    }
    assert!(seen > 5, "only {seen} steps moved anything");
}

fn planes_of_weight_0_leave_and_products_stay_right() {
    let listed = Listed::random(5, 1, 8, 4);
    let problem = Simple::new(&listed);
    let mut state = Weighted::new(Metered::new(&problem), usize::MAX);
    for (now, plane) in listed.planes[0].iter().enumerate() {
        state.insert(0, plane, now as u64);
    }
    let mut weights = state.sets[0].clone();
    let all = weights.clone();
    weights.expire(8, 3, 100);
    assert_eq!(weights.len(), 4, "places 0, and those seen at 5, 6 and 7");
    for a in 1..4 {
        for b in 1..4 {
            assert_eq!(weights.product(a, b), all.product(a + 4, b + 4));
        }
    }
    weights.expire(8, 100, 1);
    assert_eq!(weights.len(), 2);
}

fn optimum(checksum: &str, lower: f64, upper: f64) -> Optimum {
    Optimum {
        dataset: "usps".into(),
        checksum: checksum.into(),
        lambda: 1.0 / 7291.0,
        pairwise_weight: None,
        lower,
        upper,
        solver: "test".into(),
        code: "0".into(),
    }
}

fn a_store_comes_back_from_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/optima.toml");
    assert_eq!(Optima::read(&path).unwrap(), Optima::default());
    let mut store = Optima::default();
    store.add(optimum("a", 1.0 / 3.0, 0.333_333_333_333_4)).unwrap();
    store.add(Optimum { pairwise_weight: Some(0.1), ..optimum("a", 0.1, 0.2) }).unwrap();
    store.add(Optimum { lambda: 0.1, ..optimum("a", 0.3, 0.4) }).unwrap();
    files::write_bytes(&path, store.text().unwrap().as_bytes()).unwrap();
    let back = Optima::read(&path).unwrap();
    assert_eq!(back, store);
    assert_eq!(back.find("a", 1.0 / 7291.0, None).map(|b| b.lower), Some(1.0 / 3.0));
    assert_eq!(back.find("a", 1.0 / 7291.0, Some(0.1)).map(|b| b.upper), Some(0.2));
    assert_eq!(back.find("a", 0.1, None).map(|b| b.lower), Some(0.3));
    assert_eq!(back.find("b", 0.1, None), None);
}

fn a_bracket_is_never_worsened() {
    let mut store = Optima::default();
    store.add(optimum("a", 1.0, 2.0)).unwrap();
    assert_eq!(store.add(optimum("a", 0.5, 1.8)).unwrap(), Bracket { lower: 1.0, upper: 1.8 });
    assert_eq!(store.add(optimum("a", 1.1, 9.0)).unwrap(), Bracket { lower: 1.1, upper: 1.8 });
    assert_eq!(store.entries.len(), 1);
    let error = store.add(optimum("a", 1.9, 2.5)).unwrap_err().to_string();
    assert!(error.contains("exclude each other"), "{error}");
    assert_eq!(store.find("a", 1.0 / 7291.0, None), Some(Bracket { lower: 1.1, upper: 1.8 }));
}

fn a_damaged_store_is_an_error_with_its_line() {
    let mut store = Optima::default();
    store.add(optimum("a", 1.0, 2.0)).unwrap();
    let text = store.text().unwrap();
    let line_of = |text: &str, part: &str| 1 + text.lines().position(|line| line.contains(part)).unwrap();
    for (from, to, at) in [
        ("lower = 1.0", "lower = one", "lower = one"),
        ("lower = 1.0", "lowest = 1.0", "lowest"),
        ("upper = 2.0", "upper = 0.5", "[[optimum]]"),
        ("upper = 2.0", "upper = nan", "[[optimum]]"),
        ("lambda = ", "lambda = -", "[[optimum]]"),
        ("code = \"0\"\n", "", "[[optimum]]"),
    ] {
        let broken = text.replace(from, to);
        let error = Optima::parse(Path::new("some/optima.toml"), &broken).unwrap_err().to_string();
        let place = format!("some/optima.toml:{}:", line_of(&broken, at));
        assert!(error.starts_with(&place), "{to:?}: {error}");
        assert!(error.contains("ssvm-bench data optimum"), "{error}");
    }
}

fn command(store: &Path, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("ssvm-bench").unwrap();
    command.env("COLUMNS", "1000");
    command.args(["data", "optimum", "usps-synth:n=30"]).args(arguments).arg("--store").arg(store).output().unwrap()
}

fn the_command_fills_the_store_and_never_worsens_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("optima.toml");
    let output = command(&path, &["--gap", "1e-9"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("gap") && told.contains("left"), "{told}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("lower "));
    let first = Optima::read(&path).unwrap();
    let [entry] = &first.entries[..] else { panic!("{first:?}") };
    assert!(entry.bracket().width() <= 1e-9 && entry.dataset == "usps-synth:n=30" && entry.lambda == 1.0 / 30.0);
    assert!(command(&path, &["--gap", "0.5"]).status.success());
    assert_eq!(Optima::read(&path).unwrap(), first, "a wider bracket changes nothing");
    assert!(command(&path, &["--gap", "0.5", "--lambda", "0.5"]).status.success());
    assert_eq!(Optima::read(&path).unwrap().entries.len(), 2, "another λ is another problem");
}

fn a_bracket_wider_than_asked_is_told_by_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("optima.toml");
    let output = command(&path, &["--gap", "1e-9", "--time", "1e-9"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("wide, wider than 1e-9 (the time limit was reached; set a longer --time)"), "{told}");
    assert_eq!(Optima::read(&path).unwrap().entries.len(), 1, "what is certain is kept");
    // Numbers whose rounding is more than what is asked for.
    let file = dir.path().join("large.libsvm");
    let rows: String = (0..20).map(|k| format!("{} 1:{}e9 2:{}e8\n", k % 2 + 1, k + 3, (k * 7) % 11 + 1)).collect();
    std::fs::write(&file, rows).unwrap();
    let mut command = Command::cargo_bin("ssvm-bench").unwrap();
    command.env("COLUMNS", "1000");
    command.args([
        "data",
        "optimum",
        &format!("libsvm:{}", file.display()),
        "--gap",
        "1e-12",
        "--time",
        "60",
        "--store",
    ]);
    let output = command.arg(&path).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("wide, wider than 1e-12 (it cannot become narrower: the rest is the allowance for rounding"),
        "{told}"
    );
    assert!(told.contains("scale them"), "{told}");
}

fn the_command_leaves_a_damaged_store_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("optima.toml");
    std::fs::write(&path, "[[optimum]]\ndataset = 3\n").unwrap();
    let output = command(&path, &[]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(told.contains("optima.toml:2:"), "{told}");
    assert!(!told.contains("round"), "no work before the store is known to be sound: {told}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[[optimum]]\ndataset = 3\n");
}

fn the_shipped_store_is_sound_and_has_the_built_in_sets() {
    let path = Path::new("results/optima.toml");
    let shipped = Optima::parse(path, &std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(&shipped, Optima::shipped());
    let (harness, data) = (Harness::standard(), DataDir::resolve(None));
    for config in ["quick", "ci", "smoke"] {
        for set in Experiment::load(config, harness.solvers()).unwrap().datasets {
            let request = Request::new(&set.name, &data);
            let description = match harness.describe(&request).unwrap() {
                Described::Known(description) => description,
                Described::Unread | Described::Pending { .. } => harness.open(&request).unwrap().description,
            };
            let lambda = set.lambda.unwrap_or(1.0 / description.size.n as f64);
            let bracket = shipped.find(&description.checksum, lambda, set.pairwise_weight);
            assert!(bracket.is_some(), "no optimum of {} ({config}): just optima", set.name);
        }
    }
}

fn the_bracket_of_usps_overlaps_the_known_one() -> Result<(), Skipped> {
    const KNOWN: Bracket = Bracket { lower: 0.016_587_734_792, upper: 0.016_587_739_933 };
    let data = official("usps")?;
    let opened = Harness::standard().open(&Request::new("usps", &data)).unwrap();
    let shipped = Optima::shipped().find(&opened.description.checksum, opened.problem.lambda(), None).unwrap();
    let found = opened.problem.problem().bracket(1e-4, &|| false, &mut |_| {}).unwrap();
    for bracket in [shipped, found] {
        assert!(bracket.lower <= KNOWN.upper && KNOWN.lower <= bracket.upper, "{bracket:?}");
    }
    assert!(found.width() <= 1e-4 && shipped.width() <= 1e-9, "{found:?} {shipped:?}");
    Ok(())
}

crate::trials![
    one_term_meets_its_closed_form,
    tiny_problems_meet_projected_gradients_over_all_planes,
    every_family_is_bracketed_and_no_solver_crosses,
    a_bracket_that_is_stopped_is_still_one,
    every_step_of_the_kernel_gains_what_its_formula_says,
    planes_of_weight_0_leave_and_products_stay_right,
    a_store_comes_back_from_its_file,
    a_bracket_is_never_worsened,
    a_damaged_store_is_an_error_with_its_line,
    the_command_fills_the_store_and_never_worsens_it,
    a_bracket_wider_than_asked_is_told_by_the_exit_code,
    the_command_leaves_a_damaged_store_alone,
    the_shipped_store_is_sound_and_has_the_built_in_sets,
    the_bracket_of_usps_overlaps_the_known_one,
];
