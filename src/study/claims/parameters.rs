//! Claim 5: how working sets and approximate passes develop over log-iterations.

use super::verdict::{Range, all, basis};
use super::{Claim, ClaimRow, MULTI, Subject};
use crate::study::align::{End, locate};
use crate::study::curve::Curve;
use crate::study::estimate::{Estimate, estimates_of};
use crate::text::number;
use ssvm::problem::Paper;
use ssvm::stats::median;

/// "Small" working sets and pass counts: at most this.
const SMALL: f64 = 5.0;
/// "Hundreds" of passes begin here.
const HUNDRED: f64 = 100.0;
/// "Stable": changed by at most this much.
const STABLE: f64 = 0.1;
/// "Below" and "above" another value of the curve: by at least this share.
const CLEARLY: f64 = 0.01;
/// Positions, evenly spaced over log-iterations, at which a curve is looked at.
const POSITIONS: usize = 64;

pub(super) const PARAMETERS: ClaimRow = ClaimRow {
    title: "Automatic choice of working set and passes",
    short: "working set and passes",
    solver: MULTI,
    paper: |paper| {
        Some(match paper {
            Paper::Usps => "planes and passes stay small",
            Paper::Ocr => "10 to 15 passes",
            Paper::HorseSeg => "planes settle low, passes grow to hundreds",
            Paper::Stanford => "planes grow to a stable state, passes grow slowly",
        })
    },
    check: parameters,
    anywhere: false,
};

/// Claim 5, on every setting of mp-bcfw.
fn parameters(subject: &Subject<'_>) -> Vec<Claim> {
    let Some(paper) = subject.paper else { return Vec::new() };
    let claim = |solver: &str| format!("working set and approximate passes of {solver}");
    let judge = |at: usize, row: Claim| judge_parameters(subject, at, paper, row);
    subject.each_setting(MULTI, claim, "no mp-bcfw run with an evaluation", judge)
}

fn judge_parameters(subject: &Subject<'_>, at: usize, paper: Paper, row: Claim) -> Claim {
    let curves: Vec<&Curve> = subject.view.curves(at).iter().filter(|curve| curve.range().is_some()).collect();
    let Some(grid) = Grid::new(&curves) else {
        return Claim { evidence: "no common iteration of the runs".to_owned(), ..row };
    };
    let tests = tests(paper);
    let numbers = estimates_of(&[curves.len()], |draw| {
        let development = grid.development(&draw[0]);
        tests.iter().map(|test| (test.value)(&development)).collect()
    });
    let judged: Vec<(&Test, &Estimate)> = tests.iter().zip(&numbers).collect();
    let verdict = all(judged.iter().map(|(test, number)| number.verdict(&test.range)));
    // The number that the verdict turns on: the first that is not where it must be, else the first.
    let turns = |(test, number): &&(&Test, &Estimate)| number.verdict(&test.range) == verdict;
    let deciding = judged.iter().find(turns).map(|(_, number)| **number);
    let told: Vec<String> = judged
        .iter()
        .map(|(test, estimate)| format!("{} {}, must be {}", test.name, estimate.text(number), test.rule()))
        .collect();
    let Development { planes, passes } = grid.development(&(0..curves.len()).collect::<Vec<_>>());
    let evidence = format!(
        "median curves over log-iterations 1 to {}: planes per term {}; passes {}; {}; {}{}",
        grid.last,
        planes.text(),
        passes.text(),
        told.join("; "),
        basis(curves.len(), false),
        subject.failures(&[at]),
    );
    let measured = format!("{} planes, {} passes (late)", number(planes.late), number(passes.late));
    Claim { measured, verdict, evidence, estimate: deciding, ..row }
}

/// A number of a development and where the paper has it.
struct Test {
    name: &'static str,
    value: fn(&Development) -> f64,
    range: Range,
}

impl Test {
    fn rule(&self) -> String {
        match (self.range.least, self.range.most) {
            (least, most) if most == f64::INFINITY => format!("at least {}", number(least)),
            (least, most) if least == f64::NEG_INFINITY => format!("at most {}", number(most)),
            (least, most) => format!("{} to {}", number(least), number(most)),
        }
    }
}

fn tests(paper: Paper) -> Vec<Test> {
    let test = |name, value: fn(&Development) -> f64, range| Test { name, value, range };
    match paper {
        Paper::Usps => vec![
            test("most planes", |c| c.planes.peak, Range::to(SMALL)),
            test("median passes", |c| c.passes.typical, Range::to(SMALL)),
        ],
        Paper::Ocr => vec![test("median passes", |c| c.passes.typical, Range { least: 10.0, most: 15.0 })],
        Paper::HorseSeg => vec![
            test("late planes over most planes", |c| c.planes.late / c.planes.peak, Range::to(1.0 - CLEARLY)),
            test("late planes", |c| c.planes.late, Range::to(2.0 * SMALL)),
            test("most passes", |c| c.passes.peak, Range::from(HUNDRED)),
        ],
        Paper::Stanford => vec![
            test("late planes over first planes", |c| c.planes.late / c.planes.first, Range::from(1.0 + CLEARLY)),
            test(
                "late planes over those of the quarter before",
                |c| c.planes.late / c.planes.before,
                Range { least: 1.0 - STABLE, most: 1.0 + STABLE },
            ),
            test("late passes over first passes", |c| c.passes.late / c.passes.first, Range::from(1.0 + CLEARLY)),
            test("most passes", |c| c.passes.peak, Range::to(HUNDRED)),
        ],
    }
}

/// Planes and passes of every repeat at positions evenly spaced over the log-iterations they have in common.
struct Grid {
    last: f64,
    planes: Vec<Vec<f64>>,
    passes: Vec<Vec<f64>>,
}

impl Grid {
    fn new(curves: &[&Curve]) -> Option<Self> {
        let ranges = || curves.iter().filter_map(|curve| curve.range().map(|range| (curve, range)));
        let first = ranges().map(|(_, (first, _))| first).fold(f64::NAN, f64::max);
        // Passes end where a run ends, for whatever reason; only failed runs may be shorter, unless all
        // failed.
        let sound =
            ranges().filter(|(curve, _)| matches!(curve.end, End::Budget | End::Gap)).map(|(_, (_, last))| last);
        let last = sound.fold(f64::NAN, f64::min);
        let last = if last.is_nan() { ranges().map(|(_, (_, last))| last).fold(f64::NAN, f64::min) } else { last };
        if first.is_nan() || last.is_nan() || last < first {
            return None;
        }
        let step = (last / first).ln() / (POSITIONS - 1) as f64;
        let at = |k: usize| if k + 1 == POSITIONS { last } else { first * (step * k as f64).exp() };
        let read = |curve: &Curve, column: &[f64]| -> Vec<f64> {
            let value = |x: f64| locate(&curve.iteration, End::Budget, x);
            (0..POSITIONS).map(|k| value(at(k)).map_or(f64::NAN, |at| at.value(column))).collect()
        };
        let planes = curves.iter().map(|curve| read(curve, &curve.planes)).collect();
        let passes = curves.iter().map(|curve| read(curve, &curve.passes)).collect();
        Some(Self { last, planes, passes })
    }

    fn development(&self, draw: &[usize]) -> Development {
        let curve = |values: &[Vec<f64>]| -> Vec<f64> {
            let at = |k: usize| draw.iter().map(move |run| values[*run][k]).filter(|value| value.is_finite());
            (0..POSITIONS).map(|k| median(&at(k).collect::<Vec<_>>())).collect()
        };
        Development { planes: Shape::of(&curve(&self.planes)), passes: Shape::of(&curve(&self.passes)) }
    }
}

struct Development {
    planes: Shape,
    passes: Shape,
}

/// How a median curve goes over log-iterations: its first, largest and late value (median of the last quarter), the
/// quarter before, the median of all.
struct Shape {
    first: f64,
    peak: f64,
    late: f64,
    before: f64,
    typical: f64,
}

impl Shape {
    fn of(curve: &[f64]) -> Self {
        let finite: Vec<f64> = curve.iter().copied().filter(|value| value.is_finite()).collect();
        let (end, quarter) = (finite.len(), finite.len().div_ceil(4));
        let part = |from: usize, to: usize| median(&finite[from.min(to)..to]);
        Self {
            first: finite.first().copied().unwrap_or(f64::NAN),
            peak: finite.iter().copied().fold(f64::NAN, f64::max),
            late: part(end - quarter, end),
            before: part(end.saturating_sub(2 * quarter), end - quarter),
            typical: part(0, end),
        }
    }

    fn text(&self) -> String {
        let [first, peak, late, typical] = [self.first, self.peak, self.late, self.typical].map(number);
        format!("first {first}, peak {peak}, late {late}, median {typical}")
    }
}
