//! The five checks. Every threshold that the paper leaves to the reader is a constant here and is named in the
//! evidence of its row.

use super::{Claim, ClaimRow, Study, Subject, Verdict};
use crate::error::Result;
use crate::frame::profile::ProfileRow;
use crate::frame::{Bands, Quantity, target};
use crate::problem::Paper;
use crate::stats::{Spread, median};
use crate::text::{number, percent, seconds};

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

/// The solvers that claims 2, 3 and 5 are about.
const SINGLE: &str = "bcfw";
const MULTI: &str = "mp-bcfw";

pub(super) const LOWER_SUBOPTIMALITY: ClaimRow = ClaimRow {
    title: "At equal iterations the multi-plane solvers are closer to the optimum",
    short: "lower primal suboptimality at equal iterations",
    solver: MULTI,
    paper: |_| Some("always lower"),
    check: |study, subject, claims| {
        study.lower_suboptimality(subject, claims);
        Ok(())
    },
    anywhere: true,
};

pub(super) const LARGER_EFFECT: ClaimRow = ClaimRow {
    title: "The effect is larger where the label space is larger",
    short: "larger effect than on USPS",
    solver: MULTI,
    paper: |paper| (paper != Paper::Usps).then_some("larger"),
    check: |study, subject, claims| {
        study.larger_effect(subject, claims);
        Ok(())
    },
    anywhere: false,
};

pub(super) const ORACLE_SHARE: ClaimRow = ClaimRow {
    title: "Share of the time spent in the max-oracle",
    short: "oracle share of BCFW",
    solver: SINGLE,
    paper: |paper| {
        Some(match paper {
            Paper::Usps => "about 15 %",
            Paper::Ocr => "about 70 %",
            Paper::HorseSeg | Paper::Stanford => "almost 99 %",
        })
    },
    check: |study, subject, claims| {
        study.oracle_share(subject, claims);
        Ok(())
    },
    anywhere: false,
};

pub(super) const RUNTIME: ClaimRow = ClaimRow {
    title: "Convergence against runtime",
    short: "runtime of MP-BCFW against BCFW",
    solver: MULTI,
    paper: |paper| Some(if substantially(paper) { "substantially faster" } else { "not slower" }),
    check: |study, subject, claims| study.runtime(subject, claims),
    anywhere: false,
};

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
    check: |study, subject, claims| {
        study.parameters(subject, claims);
        Ok(())
    },
    anywhere: false,
};

fn substantially(paper: Paper) -> bool {
    matches!(paper, Paper::HorseSeg | Paper::Stanford)
}

/// Median primal suboptimality of the two at one iteration.
struct Compared {
    iteration: f64,
    single: f64,
    multi: f64,
}

impl Study<'_> {
    /// The first series of a solver on a data set with a run that ended well.
    fn series(&self, dataset: &str, solver: &str) -> Option<usize> {
        self.frames.series_of(dataset).find(|s| {
            let series = &self.frames.series[*s];
            series.solver == solver && series.completed > 0 && !self.iterations[*s].x.is_empty()
        })
    }

    fn profile_of(&self, dataset: &str, solver: &str) -> Option<&ProfileRow> {
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
    fn lower_suboptimality(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) {
        for (single, multi) in &self.frames.pairs {
            let claim = format!("{multi} below {single} in primal suboptimality at equal iterations");
            let row = subject.row(self.frames, multi, claim);
            let pair = self.series(subject.dataset, single).zip(self.series(subject.dataset, multi));
            let common = pair.map_or(Vec::new(), |(a, b)| self.compare(a, b));
            let (Some((a, b)), Some(last)) = (pair, common.last()) else {
                let why = if pair.is_none() { "runs of both solvers are needed" } else { "no common iteration" };
                claims.push(Claim { evidence: why.to_owned(), ..row });
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
            claims.push(Claim { measured, verdict: Verdict::of(holds), evidence, ..row });
        }
    }

    /// Median over common iterations of log10(suboptimality of BCFW / of MP-BCFW).
    fn effect(&self, dataset: &str) -> Option<(f64, usize)> {
        let common = self.compare(self.series(dataset, SINGLE)?, self.series(dataset, MULTI)?);
        let ratios: Vec<f64> = common.iter().map(|c| (c.single / c.multi).log10()).collect();
        let count = ratios.len();
        (count > 0).then(|| (median(&ratios), count))
    }

    /// Claim 2: against the USPS set of the same kind (real or synthetic), else any.
    fn larger_effect(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) {
        let dataset = subject.dataset;
        let twin = |dataset: &str| self.frames.series.iter().any(|s| s.dataset == dataset && s.twin);
        let usps = || self.frames.datasets().into_iter().filter(|d| self.frames.paper(d) == Some(Paper::Usps));
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
        let row = subject.row(self.frames, MULTI, "larger effect than on USPS".to_owned());
        claims.push(Claim { measured, verdict, evidence, ..row });
    }

    /// Claim 3.
    fn oracle_share(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) {
        let mut push = |solver: &str, paper: Option<&str>, rule: &str, holds: &dyn Fn(f64) -> bool| {
            let mut row = subject.row(self.frames, solver, format!("oracle share of {solver}"));
            row.paper = paper.map_or(row.paper, str::to_owned);
            row.evidence = format!("no {solver} run with solver time");
            if let Some((profile, share)) = self.profile_of(subject.dataset, solver).and_then(|p| Some((p, p.share?))) {
                row.measured = percent(share.median);
                row.verdict = Verdict::of(holds(share.median));
                row.evidence = share_text(profile, share, rule);
            }
            claims.push(row);
        };
        let points = format!("holds within {:.0} points", 100.0 * ABOUT);
        match subject.paper {
            Some(Paper::Usps) => push(SINGLE, None, &points, &|s| (s - 0.15).abs() <= ABOUT),
            Some(Paper::Ocr) => push(SINGLE, None, &points, &|s| (s - 0.70).abs() <= ABOUT),
            Some(Paper::HorseSeg | Paper::Stanford) => {
                let least = format!("holds from {}", percent(NEARLY_ALL));
                push(SINGLE, None, &least, &|s| s >= NEARLY_ALL);
                push(MULTI, Some("below 25 %"), "holds below 25 %", &|s| s < 0.25);
            }
            None => {}
        }
    }

    /// Claim 4.
    fn runtime(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) -> Result<()> {
        let dataset = subject.dataset;
        let table = target::time_to_gap(self.frames, dataset)?;
        let faster = subject.paper.is_some_and(substantially);
        for (single, multi) in &self.frames.pairs {
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
            let alone: String = [(multi, only(true)), (single, only(false))]
                .into_iter()
                .filter(|(_, gaps)| !gaps.is_empty())
                .map(|(name, gaps)| format!("; only {name} reached {gaps}"))
                .collect::<Vec<_>>()
                .concat();
            let (measured, verdict, evidence) = match (pair, ratios.is_empty()) {
                (Some((a, b)), false) => {
                    let typical = median(&ratios.iter().map(|r| r.1).collect::<Vec<_>>());
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
                    evidence.push_str(&alone);
                    let bar = if faster { SUBSTANTIALLY } else { 1.0 / NOT_SLOWER };
                    (format!("{typical:.2}× as fast (median over gaps)"), Verdict::of(typical >= bar), evidence)
                }
                (Some(_), true) => {
                    let why = format!("no gap target was reached by both in the median{alone}");
                    ("–".to_owned(), Verdict::NotMeasured, why)
                }
                (None, _) => ("–".to_owned(), Verdict::NotMeasured, "runs of both solvers are needed".to_owned()),
            };
            let row = subject.row(self.frames, multi, format!("runtime of {multi} against {single}"));
            claims.push(Claim { measured, verdict, evidence, ..row });
        }
        Ok(())
    }

    /// Claim 5, on mp-bcfw.
    fn parameters(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) {
        let Some(paper) = subject.paper else { return };
        let found = self.series(subject.dataset, MULTI);
        let (measured, verdict, evidence) = match found.map(|s| (s, Course::of(&self.iterations[s]))) {
            Some((series, course)) => {
                let (holds, rule) = course.judge(paper);
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
        let row = subject.row(self.frames, MULTI, format!("working set and approximate passes of {MULTI}"));
        claims.push(Claim { measured, verdict, evidence, ..row });
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

    fn judge(&self, paper: Paper) -> (bool, String) {
        let (planes, passes) = (&self.planes, &self.passes);
        match paper {
            Paper::Usps => (
                planes.peak <= SMALL && passes.typical <= SMALL,
                format!("holds when planes never exceed {SMALL} and passes have a median of at most {SMALL}"),
            ),
            Paper::Ocr => (
                (10.0..=15.0).contains(&passes.typical),
                "holds when the median number of passes is between 10 and 15".to_owned(),
            ),
            Paper::HorseSeg => (
                planes.late < planes.peak && planes.late <= 2.0 * SMALL && passes.peak >= 100.0,
                format!(
                    "holds when late planes are below their peak and at most {}, and passes reach 100",
                    2.0 * SMALL
                ),
            ),
            Paper::Stanford => (
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
