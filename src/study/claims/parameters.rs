//! Claim 5: how working sets and approximate passes develop over log-iterations.

use std::ops::RangeInclusive;

use super::equal_iterations::quarter;
use super::thresholds::{Bar, Bars};
use super::verdict::{all, at_least, at_most, of_curves};
use super::{Claim, MULTI, Reason, Subject, Verdict, common_end};
use crate::study::align::{End, locate};
use crate::study::curve::Curve;
use crate::study::estimate::{Estimate, estimates_of};
use crate::text::number;
use ssvm::problem::Paper;
use ssvm::stats::median;

/// Positions, evenly spaced over log-iterations, at which a curve is looked at.
const POSITIONS: usize = 64;

/// A number that describes a curve, and the range that the paper states for it.
type Test = (&'static str, fn(&Development) -> f64, RangeInclusive<f64>);

/// Statements about a level use the median over log-iterations; statements about a trend use the last quarter.
fn tests(paper: Paper, bars: &Bars) -> Vec<Test> {
    let clearly = bars[Bar::Clearly];
    match paper {
        Paper::Usps => vec![
            ("median planes", |c| c.planes.typical, at_most(bars[Bar::Small])),
            ("median passes", |c| c.passes.typical, at_most(bars[Bar::Small])),
        ],
        Paper::Ocr => {
            vec![("median passes", |c| c.passes.typical, bars[Bar::LeastPasses]..=bars[Bar::MostPasses])]
        }
        Paper::HorseSeg => vec![
            ("late planes / peak planes", |c| c.planes.late / c.planes.peak, at_most(1.0 / clearly)),
            ("late planes", |c| c.planes.late, at_most(bars[Bar::Low])),
            ("late passes", |c| c.passes.late, at_least(bars[Bar::SeveralHundred])),
        ],
        Paper::Stanford => vec![
            ("late planes over first planes", |c| c.planes.late / c.planes.first, at_least(clearly)),
            (
                "late planes over those of the quarter before",
                |c| c.planes.late / c.planes.before,
                1.0 / bars[Bar::Stable]..=bars[Bar::Stable],
            ),
            ("late passes over first passes", |c| c.passes.late / c.passes.first, at_least(clearly)),
            ("late passes", |c| c.passes.late, at_most(bars[Bar::SeveralHundred])),
        ],
    }
}

/// Claim 5, on every setting of mp-bcfw.
pub(super) fn parameters(subject: &Subject<'_>) -> Vec<Claim> {
    let Some(paper) = subject.paper else { return Vec::new() };
    let claim = "working set and passes";
    subject.each_setting(MULTI, claim, "no mp-bcfw run with an evaluation", |at, row| judge(subject, at, paper, row))
}

fn judge(subject: &Subject<'_>, at: usize, paper: Paper, row: Claim) -> Claim {
    let curves: Vec<&Curve> = subject.view.curves(at).iter().filter(|curve| curve.range().is_some()).collect();
    let Some(grid) = Positions::new(&curves) else {
        return Claim { evidence: "no common iteration of the runs".to_owned(), ..row };
    };
    let tests = tests(paper, subject.bars);
    let numbers = estimates_of(&[curves.len()], |draw| {
        let development = grid.development(&draw[0]);
        let late = [development.planes.late, development.passes.late];
        tests.iter().map(|(_, value, _)| value(&development)).chain(late).collect()
    });
    let decide = |((.., range), number): (&Test, &Estimate)| number.decide(range, curves.len());
    let decided: Vec<(Verdict, Option<Reason>)> = tests.iter().zip(&numbers).map(decide).collect();
    let mut verdict = all(&decided.iter().map(|(verdict, _)| *verdict).collect::<Vec<_>>());
    // The number shown: the first one outside its range, else the first one.
    let turns = decided.iter().position(|(one, _)| *one == verdict);
    let (estimate, mut reason) = (turns.map(|at| numbers[at]), turns.and_then(|at| decided[at].1));
    let Development { planes, passes } = grid.development(&(0..curves.len()).collect::<Vec<_>>());
    let mut evidence = format!(
        "median curves over log-iterations {} to {}: planes per term {}; passes {}; {}; {}{}",
        grid.first,
        grid.last,
        planes.text(),
        passes.text(),
        tests.iter().zip(&numbers).map(|(test, number)| requirement(test, number)).collect::<Vec<_>>().join("; "),
        of_curves(curves.len(), false),
        subject.failures(&[at]),
    );
    // Curves that begin after the first quarter do not show the development.
    if grid.first > quarter(grid.last) && verdict != Verdict::NotMeasured {
        (verdict, reason) = (Verdict::Undecided, Some(Reason::NotSeen));
        evidence += "; undecided because nothing was evaluated in the first quarter of the log-iterations";
    } else if curves.iter().any(|curve| curve.seen.contains(&false)) && verdict != Verdict::NotMeasured {
        (verdict, reason) = (Verdict::Undecided, Some(Reason::NotSeen));
        evidence += super::convergence::UNSEEN;
    }
    let [late_planes, late_passes] = [0, 1].map(|at| numbers[tests.len() + at].text(number));
    let measured = format!("{late_planes} planes, {late_passes} passes (late)");
    Claim { measured, estimate, verdict, reason, evidence, ..row }
}

/// `most passes 12 (11 to 13), must be at least 100`.
fn requirement((name, _, range): &Test, estimate: &Estimate) -> String {
    let rule = match (*range.start(), *range.end()) {
        (least, f64::INFINITY) => format!("at least {}", number(least)),
        (f64::NEG_INFINITY, most) => format!("at most {}", number(most)),
        (least, most) => format!("{} to {}", number(least), number(most)),
    };
    format!("{name} {}, must be {rule}", estimate.text(number))
}

/// Planes and passes of every repeat at positions evenly spaced over the log-iterations they have in common.
struct Positions {
    first: f64,
    last: f64,
    planes: Vec<Vec<f64>>,
    passes: Vec<Vec<f64>>,
}

impl Positions {
    fn new(curves: &[&Curve]) -> Option<Self> {
        let first = curves.iter().filter_map(|curve| curve.range()).map(|(first, _)| first).reduce(f64::max)?;
        // Passes end where a run ends, for whatever reason.
        let last = common_end(curves.iter().copied())?;
        if last < first {
            return None;
        }
        let step = (last / first).ln() / (POSITIONS - 1) as f64;
        let position = |k: usize| if k + 1 == POSITIONS { last } else { first * (step * k as f64).exp() };
        let positions: Vec<f64> = (0..POSITIONS).map(position).collect();
        let read = |column: fn(&Curve) -> &[f64]| -> Vec<Vec<f64>> {
            let value = |curve: &Curve, x: f64| Some(locate(&curve.iteration, End::Budget, x)?.value(column(curve)));
            let of = |curve: &&Curve| positions.iter().map(|x| value(curve, *x).unwrap_or(f64::NAN)).collect();
            curves.iter().map(of).collect()
        };
        Some(Self { first, last, planes: read(|curve| &curve.planes), passes: read(|curve| &curve.passes) })
    }

    fn development(&self, draw: &[usize]) -> Development {
        let shape = |values: &[Vec<f64>]| {
            let mut curve = Vec::new();
            for k in 0..POSITIONS {
                let here: Vec<f64> = draw.iter().map(|run| values[*run][k]).filter(|value| value.is_finite()).collect();
                curve.push(median(&here));
            }
            curve.retain(|value| value.is_finite());
            Shape::of(&curve)
        };
        Development { planes: shape(&self.planes), passes: shape(&self.passes) }
    }
}

struct Development {
    planes: Shape,
    passes: Shape,
}

/// The shape of a median curve over log-iterations: its first, largest and late value (median of the last quarter), the median of the
/// quarter before, and the median of all.
struct Shape {
    first: f64,
    peak: f64,
    late: f64,
    before: f64,
    typical: f64,
}

impl Shape {
    fn of(curve: &[f64]) -> Self {
        let (end, quarter) = (curve.len(), curve.len().div_ceil(4));
        let part = |from: usize, to: usize| median(&curve[from.min(to)..to]);
        Self {
            first: curve.first().copied().unwrap_or(f64::NAN),
            peak: curve.iter().copied().fold(f64::NAN, f64::max),
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
