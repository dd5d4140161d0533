//! The five checks. Every threshold that the paper leaves to the reader is a constant here and is named in the
//! evidence of its row.

use super::{Claim, Study, Verdict};
use crate::config::SolverKind;
use crate::error::Result;
use crate::frame::layout::{number, percent, seconds};
use crate::frame::names::Family;
use crate::frame::profile::{ProfileRow, Spread};
use crate::frame::{Bands, Quantity, median_of_sorted, target};

/// Share of the common iterations at which MP-BCFW must be lower for "always" to hold; the last one must be among them.
const ALWAYS: f64 = 0.9;
/// "About x %": within so many percentage points.
const ABOUT: f64 = 0.10;
/// "99 %" is at least this.
const NEARLY_ALL: f64 = 0.95;
/// "Not slower": at most this factor.
const NOT_SLOWER: f64 = 1.1;
/// "Substantially faster": at least this factor.
const SUBSTANTIALLY: f64 = 1.5;
/// "Small" working sets and pass counts: at most this.
const SMALL: f64 = 5.0;

/// The two pairs the paper compares: single-plane and multi-plane.
const PAIRS: [(SolverKind, SolverKind); 2] =
    [(SolverKind::Bcfw, SolverKind::MpBcfw), (SolverKind::BcfwAvg, SolverKind::MpBcfwAvg)];

pub(super) fn paper_share(family: Family) -> &'static str {
    match family {
        Family::Usps => "about 15 %",
        Family::Ocr => "about 70 %",
        Family::HorseSeg | Family::Stanford => "almost 99 %",
    }
}

pub(super) fn paper_runtime(family: Family) -> &'static str {
    match family {
        Family::Usps | Family::Ocr => "not slower",
        Family::HorseSeg | Family::Stanford => "substantially faster",
    }
}

pub(super) fn paper_parameters(family: Family) -> &'static str {
    match family {
        Family::Usps => "planes and passes stay small",
        Family::Ocr => "10 to 15 passes",
        Family::HorseSeg => "planes settle low, passes grow to hundreds",
        Family::Stanford => "planes grow to a stable state, passes grow slowly",
    }
}

/// Median primal suboptimality of the two at one iteration.
struct Compared {
    iteration: f64,
    single: f64,
    multi: f64,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&values)
}

impl Study<'_> {
    /// The first series of a solver on a data set with a run that ended well.
    fn series(&self, dataset: &str, solver: SolverKind) -> Option<usize> {
        self.frames.series_of(dataset).find(|s| {
            let series = &self.frames.series[*s];
            series.solver == solver && series.completed > 0 && !self.iterations[*s].x.is_empty()
        })
    }

    fn profile_of(&self, dataset: &str, solver: SolverKind) -> Option<&ProfileRow> {
        self.series(dataset, solver).map(|s| &self.profile[s])
    }

    /// "10 and 9 repeats, 1 failed".
    fn repeats(&self, series: &[usize]) -> String {
        let counts: Vec<String> = series.iter().map(|s| self.frames.series[*s].completed.to_string()).collect();
        let failed: usize = series.iter().map(|s| self.frames.series[*s].failed).sum();
        let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        format!("{} repeats{failures}", counts.join(" and "))
    }

    /// Both medians at the common iterations where both are positive (below that the plots are interrupted).
    fn compare(&self, single: usize, multi: usize) -> Vec<Compared> {
        let (a, b) = (&self.iterations[single], &self.iterations[multi]);
        let (pa, pb) = (&a.of(Quantity::PrimalSub).median, &b.of(Quantity::PrimalSub).median);
        let mut common = Vec::new();
        let mut j = 0;
        for (i, x) in a.x.iter().enumerate() {
            while j < b.x.len() && b.x[j] < *x {
                j += 1;
            }
            if j < b.x.len() && b.x[j] == *x && pa[i] > 0.0 && pb[j] > 0.0 {
                common.push(Compared { iteration: *x, single: pa[i], multi: pb[j] });
            }
        }
        common
    }

    /// Claim 1.
    pub(super) fn lower_suboptimality(&self, dataset: &str, claims: &mut Vec<Claim>) {
        for (single, multi) in PAIRS {
            let claim = format!("{multi} below {single} in primal suboptimality at equal iterations");
            let pair = self.series(dataset, single).zip(self.series(dataset, multi));
            let common = pair.map_or(Vec::new(), |(a, b)| self.compare(a, b));
            let row = |measured: String, verdict, evidence| Claim {
                number: 1,
                dataset: dataset.to_owned(),
                solver: multi,
                claim: claim.clone(),
                paper: "always lower".to_owned(),
                measured,
                verdict,
                evidence,
            };
            let (Some((a, b)), Some(last)) = (pair, common.last()) else {
                let why = if pair.is_none() { "runs of both solvers are needed" } else { "no common iteration" };
                claims.push(row("–".to_owned(), Verdict::NotMeasured, why.to_owned()));
                continue;
            };
            let lower = common.iter().filter(|c| c.multi < c.single).count();
            let holds = lower as f64 >= ALWAYS * common.len() as f64 && last.multi < last.single;
            let mut evidence = format!(
                "medians of {}; at iteration {} {} against {}; holds from {} of the iterations with the last one",
                self.repeats(&[a, b]),
                last.iteration,
                number(last.multi),
                number(last.single),
                percent(ALWAYS)
            );
            let above: Vec<String> =
                common.iter().filter(|c| c.multi >= c.single).map(|c| c.iteration.to_string()).collect();
            if !above.is_empty() {
                let more = if above.len() > 6 { ", …" } else { "" };
                evidence.push_str(&format!("; not lower at {}{more}", above[..above.len().min(6)].join(", ")));
            }
            let measured = format!("lower at {lower} of {} common iterations", common.len());
            claims.push(row(measured, Verdict::of(holds), evidence));
        }
    }

    /// Median over common iterations of log10(suboptimality of BCFW / of MP-BCFW).
    fn effect(&self, dataset: &str) -> Option<(f64, usize)> {
        let (single, multi) = PAIRS[0];
        let common = self.compare(self.series(dataset, single)?, self.series(dataset, multi)?);
        let ratios: Vec<f64> = common.iter().map(|c| (c.single / c.multi).log10()).collect();
        let count = ratios.len();
        (count > 0).then(|| (median(ratios), count))
    }

    /// Claim 2: against the USPS set of the same kind (real or synthetic), else any.
    pub(super) fn larger_effect(&self, family: Family, dataset: &str, claims: &mut Vec<Claim>) {
        if family == Family::Usps {
            return;
        }
        let usps = || self.frames.datasets().into_iter().filter(|d| Family::of(d) == Some(Family::Usps));
        let twin = |d: &str| d.contains("-synth");
        let reference = usps().find(|d| twin(d) == twin(dataset)).or_else(|| usps().next());
        let values = reference.and_then(|usps| Some((usps, self.effect(usps)?, self.effect(dataset)?)));
        let (measured, verdict, evidence) = match values {
            Some((usps, (there, _), (here, count))) => (
                format!("factor {} against {}", number(10f64.powf(here)), number(10f64.powf(there))),
                Verdict::of(here > there),
                format!(
                    "median over {count} common iterations of the ratio of primal suboptimality bcfw / mp-bcfw \
                     (log10: {here:.3}); {there:.3} on {usps}"
                ),
            ),
            None => (
                "–".to_owned(),
                Verdict::NotMeasured,
                "needs bcfw and mp-bcfw here and on a USPS data set, at common iterations".to_owned(),
            ),
        };
        claims.push(Claim {
            number: 2,
            dataset: dataset.to_owned(),
            solver: SolverKind::MpBcfw,
            claim: "larger effect than on USPS".to_owned(),
            paper: "larger".to_owned(),
            measured,
            verdict,
            evidence,
        });
    }

    /// Claim 3.
    pub(super) fn oracle_share(&self, family: Family, dataset: &str, claims: &mut Vec<Claim>) {
        let mut push = |solver: SolverKind, paper: &str, rule: &str, holds: &dyn Fn(f64) -> bool| {
            let found = self.profile_of(dataset, solver).and_then(|row| Some((row, row.share?)));
            let (measured, verdict, evidence) = match found {
                Some((row, share)) => {
                    (percent(share.median), Verdict::of(holds(share.median)), share_text(row, share, rule))
                }
                None => ("–".to_owned(), Verdict::NotMeasured, format!("no {solver} run with solver time")),
            };
            let claim = format!("oracle share of {solver}");
            let (dataset, paper) = (dataset.to_owned(), paper.to_owned());
            claims.push(Claim { number: 3, dataset, solver, claim, paper, measured, verdict, evidence });
        };
        let paper = paper_share(family);
        let points = format!("holds within {:.0} points", 100.0 * ABOUT);
        match family {
            Family::Usps => push(SolverKind::Bcfw, paper, &points, &|s| (s - 0.15).abs() <= ABOUT),
            Family::Ocr => push(SolverKind::Bcfw, paper, &points, &|s| (s - 0.70).abs() <= ABOUT),
            Family::HorseSeg | Family::Stanford => {
                let least = format!("holds from {}", percent(NEARLY_ALL));
                push(SolverKind::Bcfw, paper, &least, &|s| s >= NEARLY_ALL);
                push(SolverKind::MpBcfw, "below 25 %", "holds below 25 %", &|s| s < 0.25);
            }
        }
    }

    /// Claim 4.
    pub(super) fn runtime(&self, family: Family, dataset: &str, claims: &mut Vec<Claim>) -> Result<()> {
        let table = target::time_to_gap(self.frames, dataset)?;
        let faster = matches!(family, Family::HorseSeg | Family::Stanford);
        for (single, multi) in PAIRS {
            let pair = self.series(dataset, single).zip(self.series(dataset, multi));
            let time = |row: &target::TargetRow, s: usize| row.cells.iter().find(|c| c.series == s)?.time_s;
            let times: Vec<(f64, Option<f64>, Option<f64>)> = pair.map_or(Vec::new(), |(a, b)| {
                table.iter().map(|row| (row.target, time(row, a), time(row, b))).collect()
            });
            let ratios: Vec<(f64, f64)> = times
                .iter()
                .filter_map(|(gap, a, b)| Some((*gap, (*a)? / (*b)?)))
                .filter(|r| r.1.is_finite())
                .collect();
            let only = |multi: bool| {
                let alone = times
                    .iter()
                    .filter(|(_, a, b)| if multi { a.is_none() && b.is_some() } else { a.is_some() && b.is_none() });
                alone.map(|(gap, ..)| format!("{gap:e}")).collect::<Vec<_>>().join(", ")
            };
            let (measured, verdict, evidence) = match (pair, ratios.is_empty()) {
                (Some((a, b)), false) => {
                    let typical = median(ratios.iter().map(|r| r.1).collect());
                    let list: Vec<String> = ratios.iter().map(|(gap, r)| format!("{gap:e}: {r:.2}")).collect();
                    let rule = if faster {
                        format!("holds from {SUBSTANTIALLY}×")
                    } else {
                        format!("holds from {:.2}×", 1.0 / NOT_SLOWER)
                    };
                    let mut evidence = format!(
                        "time of {single} / time of {multi} to each gap both reached ({}), medians of {} on the {} \
                         clock; {rule}",
                        list.join("; "),
                        self.repeats(&[a, b]),
                        self.profile[a].clock
                    );
                    for (name, gaps) in [(multi, only(true)), (single, only(false))] {
                        if !gaps.is_empty() {
                            evidence.push_str(&format!("; only {name} reached {gaps}"));
                        }
                    }
                    let bar = if faster { SUBSTANTIALLY } else { 1.0 / NOT_SLOWER };
                    (format!("{typical:.2}× as fast (median over gaps)"), Verdict::of(typical >= bar), evidence)
                }
                (Some(_), true) => {
                    ("–".to_owned(), Verdict::NotMeasured, "no gap target was reached by both in the median".to_owned())
                }
                (None, _) => ("–".to_owned(), Verdict::NotMeasured, "runs of both solvers are needed".to_owned()),
            };
            claims.push(Claim {
                number: 4,
                dataset: dataset.to_owned(),
                solver: multi,
                claim: format!("runtime of {multi} against {single}"),
                paper: paper_runtime(family).to_owned(),
                measured,
                verdict,
                evidence,
            });
        }
        Ok(())
    }

    /// Claim 5, on mp-bcfw.
    pub(super) fn parameters(&self, family: Family, dataset: &str, claims: &mut Vec<Claim>) {
        let found = self.series(dataset, SolverKind::MpBcfw);
        let (measured, verdict, evidence) = match found.map(|s| (s, Course::of(&self.iterations[s]))) {
            Some((series, course)) => {
                let (holds, rule) = course.judge(family);
                let [planes, passes] = [&course.planes, &course.passes].map(Shape::text);
                let evidence = format!(
                    "median curves of {} up to iteration {}: planes per term {planes}; passes {passes}; {rule}",
                    self.repeats(&[series]),
                    course.last_iteration
                );
                let measured =
                    format!("{} planes, {} passes (late)", number(course.planes.late), number(course.passes.late));
                (measured, Verdict::of(holds), evidence)
            }
            None => ("–".to_owned(), Verdict::NotMeasured, "no mp-bcfw run with an evaluation".to_owned()),
        };
        claims.push(Claim {
            number: 5,
            dataset: dataset.to_owned(),
            solver: SolverKind::MpBcfw,
            claim: "working set and approximate passes of mp-bcfw".to_owned(),
            paper: paper_parameters(family).to_owned(),
            measured,
            verdict,
            evidence,
        });
    }
}

fn share_text(row: &ProfileRow, share: Spread, rule: &str) -> String {
    let latency = row.oracle_ns.map_or(String::new(), |l| format!(", median call {}", seconds(l.p50 as f64 * 1e-9)));
    format!(
        "median of {} repeats, {} to {}, on the {} clock{latency}; {rule}",
        row.completed,
        percent(share.min),
        percent(share.max),
        row.clock
    )
}

/// How a median curve goes: its first, largest and late value (median of the last quarter), and the quarter before.
struct Shape {
    first: f64,
    peak: f64,
    late: f64,
    before: f64,
    typical: f64,
}

impl Shape {
    fn of(curve: &[f64]) -> Self {
        let finite: Vec<f64> = curve.iter().copied().filter(|v| v.is_finite()).collect();
        let quarter = finite.len().div_ceil(4);
        let end = finite.len();
        let part = |from: usize, to: usize| median(finite[from.min(to)..to].to_vec());
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

struct Course {
    planes: Shape,
    passes: Shape,
    last_iteration: f64,
}

impl Course {
    fn of(bands: &Bands) -> Self {
        Self {
            planes: Shape::of(&bands.of(Quantity::Planes).median),
            passes: Shape::of(&bands.of(Quantity::Passes).median),
            last_iteration: bands.x.last().copied().unwrap_or(f64::NAN),
        }
    }

    fn judge(&self, family: Family) -> (bool, String) {
        let (planes, passes) = (&self.planes, &self.passes);
        match family {
            Family::Usps => (
                planes.peak <= SMALL && passes.typical <= SMALL,
                format!("holds when planes never exceed {SMALL} and passes have a median of at most {SMALL}"),
            ),
            Family::Ocr => (
                (10.0..=15.0).contains(&passes.typical),
                "holds when the median number of passes is between 10 and 15".to_owned(),
            ),
            Family::HorseSeg => (
                planes.late < planes.peak && planes.late <= 2.0 * SMALL && passes.peak >= 100.0,
                format!(
                    "holds when late planes are below their peak and at most {}, and passes reach 100",
                    2.0 * SMALL
                ),
            ),
            Family::Stanford => (
                planes.late > planes.first
                    && (planes.late / planes.before - 1.0).abs() <= 0.1
                    && passes.late > passes.first
                    && passes.peak < 100.0,
                "holds when late planes exceed the first and changed at most 10 % since the quarter before, and \
                 passes rise but stay below 100"
                    .to_owned(),
            ),
        }
    }
}
