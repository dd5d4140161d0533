//! Brackets of optima where large numbers cancel, against the optimum in exact arithmetic.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::BigInt;
use ssvm::data::multiclass::Features;
use ssvm::data::{GraphData, MulticlassData};
use ssvm::problem::{GraphProblem, MulticlassProblem};
use ssvm::{Problem, Solve, SolverSpec};

use crate::common::Dice;

/// A fraction with a positive denominator.
#[derive(Clone, Debug)]
struct Ratio(BigInt, BigInt);

impl Ratio {
    /// The number itself, no rounding.
    fn of(value: f64) -> Self {
        assert!(value.is_finite());
        let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1075).max(-1074);
        let whole = (value / 2f64.powi(exponent.max(-1000)) / 2f64.powi((exponent + 1000).min(0))) as i64;
        match exponent {
            0.. => Self(BigInt::from(whole) << exponent, 1.into()),
            _ => Self(whole.into(), BigInt::from(1) << -exponent),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        Self(&self.0 * &other.1 + &other.0 * &self.1, &self.1 * &other.1)
    }

    fn times(&self, other: &Self) -> Self {
        Self(&self.0 * &other.0, &self.1 * &other.1)
    }

    fn over(&self, other: &Self) -> Self {
        let sign = BigInt::from(if other.0 < 0.into() { -1 } else { 1 });
        Self(&self.0 * &other.1 * &sign, &self.1 * &other.0 * sign)
    }

    fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(&Self::of(-1.0)))
    }

    fn compare(&self, other: &Self) -> Ordering {
        (&self.0 * &other.1).cmp(&(&other.0 * &self.1))
    }
}

/// A line a·t + b.
#[derive(Clone, Debug)]
struct Line(Ratio, Ratio);

impl Line {
    fn at(&self, t: &Ratio) -> Ratio {
        self.0.times(t).plus(&self.1)
    }
}

/// The least λt² + Σ max over the lines of a term: cuts from the left and from the right until they meet the function.
fn least(terms: &[Vec<Line>], lambda: f64) -> Ratio {
    let (lambda, twice) = (Ratio::of(lambda), Ratio::of(2.0 * lambda));
    let lowest = |cut: &Line| cut.0.over(&twice).times(&Ratio::of(-1.0));
    let (mut left, mut right): (Option<Line>, Option<Line>) = (None, None);
    let mut t = Ratio::of(0.0);
    loop {
        let mut cut = Line(Ratio::of(0.0), Ratio::of(0.0));
        for lines in terms {
            let best = lines.iter().max_by(|a, b| a.at(&t).compare(&b.at(&t))).unwrap();
            cut = Line(cut.0.plus(&best.0), cut.1.plus(&best.1));
        }
        let square = lambda.times(&t).times(&t);
        let value = square.plus(&cut.at(&t));
        let met = [&left, &right].into_iter().flatten().any(|known| known.at(&t).compare(&cut.at(&t)).is_eq());
        match twice.times(&t).plus(&cut.0).0.cmp(&0.into()) {
            Ordering::Equal => return value,
            _ if met => return value,
            Ordering::Less => left = Some(cut),
            Ordering::Greater => right = Some(cut),
        }
        t = match (&left, &right) {
            (Some(l), Some(r)) => {
                let (of_l, of_r) = (lowest(l), lowest(r));
                match () {
                    () if l.at(&of_l).compare(&r.at(&of_l)).is_ge() => of_l,
                    () if r.at(&of_r).compare(&l.at(&of_r)).is_ge() => of_r,
                    () => r.1.minus(&l.1).over(&l.0.minus(&r.0)),
                }
            }
            (Some(one), None) | (None, Some(one)) => lowest(one),
            (None, None) => unreachable!("a cut was made"),
        };
    }
}

/// Graphs with one feature and two labels: by symmetry w = (−t, t).
struct Instance {
    /// Features and labels of the nodes of each graph, which is a path.
    graphs: Vec<Vec<(f32, u16)>>,
    theta: f64,
    lambda: f64,
}

impl Instance {
    fn disagreements(labels: impl Iterator<Item = u16> + Clone) -> f64 {
        labels.clone().zip(labels.skip(1)).filter(|(a, b)| a != b).count() as f64
    }

    /// The line of one labelling, a bit per node.
    fn line(&self, graph: &[(f32, u16)], labelling: u128) -> Line {
        let one = Ratio::of(1.0);
        let label = |l: usize| (labelling >> l & 1) as u16;
        let (mut slope, mut wrong) = (Ratio::of(0.0), 0.0);
        for (l, (feature, _)) in graph.iter().enumerate().filter(|(l, (_, truth))| label(*l) != *truth) {
            slope = slope.plus(&Ratio::of(f64::from(*feature) * if label(l) == 1 { 2.0 } else { -2.0 }));
            wrong += 1.0;
        }
        let cuts = Self::disagreements(graph.iter().map(|(_, truth)| *truth))
            - Self::disagreements((0..graph.len()).map(label));
        let loss = Ratio::of(wrong).over(&Ratio::of(graph.len() as f64));
        let offset = loss.plus(&Ratio::of(self.theta).times(&Ratio::of(cuts)));
        let scale = one.over(&Ratio::of(self.graphs.len() as f64));
        Line(slope.times(&scale), offset.times(&scale))
    }

    /// All labellings, or where θ is so large that no cut pays, the two that have none.
    fn optimum(&self) -> Ratio {
        let labellings = |graph: &[(f32, u16)]| -> Vec<u128> {
            let all = (1u128 << graph.len()) - 1;
            if graph.len() > 8 { vec![0, all] } else { (0..=all).collect() }
        };
        let lines = |graph: &Vec<(f32, u16)>| labellings(graph).into_iter().map(|y| self.line(graph, y)).collect();
        least(&self.graphs.iter().map(lines).collect::<Vec<_>>(), self.lambda)
    }

    fn problem(&self) -> GraphProblem {
        let nodes: Vec<(f32, u16)> = self.graphs.concat();
        let (mut node_offsets, mut edge_offsets, mut edges) = (vec![0], vec![0], Vec::new());
        for graph in &self.graphs {
            edges.extend((1..graph.len() as u32).map(|l| [l - 1, l]));
            node_offsets.push(node_offsets[node_offsets.len() - 1] + graph.len());
            edge_offsets.push(edges.len());
        }
        let data = GraphData {
            num_labels: 2,
            features_per_node: 1,
            features: nodes.iter().map(|(feature, _)| *feature).collect::<Vec<f32>>().into(),
            labels: nodes.iter().map(|(_, label)| *label).collect(),
            node_offsets,
            edges,
            edge_offsets,
            pairwise_weight: self.theta,
        };
        GraphProblem::new(Arc::new(data), self.lambda, self.theta).unwrap()
    }

    /// The same problem, where every graph is one node.
    fn multiclass(&self) -> Option<MulticlassProblem> {
        let nodes: Vec<(f32, u16)> = self.graphs.concat();
        let data = MulticlassData {
            num_labels: 2,
            dim: 1,
            labels: nodes.iter().map(|(_, label)| u32::from(*label)).collect(),
            label_names: vec!["0".into(), "1".into()],
            features: Features::Dense(nodes.iter().map(|(feature, _)| f64::from(*feature)).collect()),
        };
        (nodes.len() == self.graphs.len()).then(|| MulticlassProblem::new(data.into(), self.lambda))
    }
}

/// Lower end, upper end, and whether the optimum lies between them.
fn bracket<P: Problem>(problem: &P, optimum: &Ratio) -> (f64, f64, bool) {
    let rounds = std::cell::Cell::new(0);
    let found = problem.as_dyn().bracket(1e-15, &|| rounds.get() > 500, &mut |_| rounds.set(rounds.get() + 1)).unwrap();
    let holds = Ratio::of(found.lower).compare(optimum).is_le() && Ratio::of(found.upper).compare(optimum).is_ge();
    (found.lower, found.upper, holds)
}

#[test]
fn two_nodes_that_cancel_are_bracketed() {
    let graph = vec![(1e8, 0), (-(1e8 + 8.0), 0)];
    let instance = Instance { graphs: vec![graph], theta: 1e12, lambda: 1.0 };
    let optimum = instance.optimum();
    assert!(optimum.compare(&Ratio::of(0.003_906_25)).is_eq());
    let (lower, upper, holds) = bracket(&instance.problem(), &optimum);
    assert!(holds, "{lower:.17} to {upper:.17}, the optimum is 0.00390625");
    assert!(upper - lower < 1e-5, "{lower:.17} to {upper:.17}");
}

#[test]
fn a_hundred_nodes_that_cancel_are_bracketed() {
    let missed = (0..12).filter(|seed| {
        let mut dice = Dice::new(*seed);
        let mut graph: Vec<(f32, u16)> = Vec::new();
        for at in 0..99 {
            graph.push(((if at % 2 == 0 { 1000.0 } else { -1000.0 } + dice.signed()) as f32, 0));
        }
        let sum: f64 = graph.iter().map(|(feature, _)| f64::from(*feature)).sum();
        graph.push(((1.0 - sum) as f32, 0));
        let instance = Instance { graphs: vec![graph], theta: 1e7, lambda: 1.0 };
        let (lower, upper, holds) = bracket(&instance.problem(), &instance.optimum());
        assert!(upper - lower < 1e-7, "seed {seed}: {lower:.17} to {upper:.17}");
        !holds
    });
    assert_eq!(missed.collect::<Vec<_>>(), [] as [u64; 0], "seeds whose bracket misses the optimum");
}

/// Pairs of opposite features of sizes up to 1e12 beside features of size 1, inside a graph and between graphs.
#[test]
fn any_condition_is_bracketed() {
    let (mut missed, mut narrow, mut count) = (Vec::new(), 0, 0);
    for seed in 0..100 {
        let mut dice = Dice::new(seed);
        let size = 10f64.powf(12.0 * dice.unit());
        let terms = 1 + dice.below(3);
        let nodes = [1, 2, 3, 5][dice.below(4)];
        let mut graphs: Vec<Vec<(f32, u16)>> = Vec::new();
        let (mut before, mut sign) = (0.0, 1.0);
        for _ in 0..terms {
            let mut graph = Vec::new();
            // With one label for all nodes and a large θ only the sum of all features counts.
            let (label, mixed) = (dice.below(2) as u16, dice.below(4) == 0);
            for _ in 0..nodes {
                // Every second large feature cancels the one before it, almost or to the last digit.
                let large = if sign > 0.0 { size * (1.0 + dice.unit()) } else { -before };
                let feature = if dice.below(3) == 0 { dice.signed() } else { large + dice.signed() };
                if feature.abs() > 1.0 {
                    (before, sign) = (large, -sign);
                }
                graph.push((feature as f32, if mixed { dice.below(2) as u16 } else { label }));
            }
            graphs.push(graph);
        }
        let theta = [0.0, 1.0, 10.0 * size, 10.0 * size, 1e14][dice.below(5)];
        let instance = Instance { graphs, theta, lambda: [1.0, 1.0 / terms as f64, 1e-3][dice.below(3)] };
        let optimum = instance.optimum();
        let mut check = |kind: &str, (lower, upper, holds): (f64, f64, bool)| {
            if !holds {
                missed.push(format!("{seed} {kind}: {lower:.17} to {upper:.17}"));
            }
            count += 1;
            narrow += usize::from(upper - lower <= 1e-6 * upper.abs());
        };
        check("graph", bracket(&instance.problem(), &optimum));
        if let Some(problem) = instance.multiclass() {
            check("multiclass", bracket(&problem, &optimum));
        }
    }
    assert!(missed.is_empty(), "{} of {count} brackets miss the optimum: {missed:#?}", missed.len());
    // An allowance that hides everything would hold, too.
    assert!(2 * narrow > count, "{narrow} of {count} brackets are narrow");
}

/// With a weight that no unary can outweigh all nodes have one label. φ⋆ is spread over the other labels:
/// F = α − α²s²K/(2λ(K − 1)), with s the sum of the features.
#[test]
fn a_weight_of_any_size_leaves_the_same_problem() {
    let features = [0.5f32, -0.25, 1.0, 0.75];
    let (labels, lambda): (u16, f64) = (3, 1.0);
    let square = features.iter().map(|feature| f64::from(*feature)).sum::<f64>().powi(2);
    let optimum = lambda * f64::from(labels - 1) / (2.0 * square * f64::from(labels));
    for theta in [1e2, 1e6, 1e12, 1e18, 1e100] {
        let data = GraphData {
            num_labels: labels.into(),
            features_per_node: 1,
            features: features.to_vec().into(),
            labels: vec![1; 4],
            node_offsets: vec![0, 4],
            edges: vec![[0, 1], [1, 2], [2, 3], [3, 0]],
            edge_offsets: vec![0, 4],
            pairwise_weight: theta,
        };
        let problem = GraphProblem::new(Arc::new(data), lambda, theta).unwrap();
        let (lower, upper, holds) = bracket(&problem, &Ratio::of(optimum));
        assert!(holds || (lower - optimum).abs() < 1e-15, "θ = {theta:e}: {lower:.17} to {upper:.17}, not {optimum}");
        for solver in ["bcfw", "mp-bcfw"] {
            let outcome = Solve::new(&problem).solver(SolverSpec::new(solver)).iterations(2000).run().unwrap();
            let dual = outcome.points.last().unwrap().dual;
            assert!((dual - optimum).abs() < 1e-3, "θ = {theta:e}, {solver}: F is {dual}, the optimum {optimum}");
        }
    }
}
