//! Claims 1 and 2: primal suboptimality at equal iterations, and oracle calls to equal gaps.

use super::equal_iterations::{EqualIterations, lower_from, quarter};
use super::gaps::GapRatios;
use super::thresholds::Bar;
use super::verdict::{at_most, of_curves, of_median};
use super::{Claim, MULTI, Reason, SINGLE, Subject, Verdict};
use crate::study::estimate::estimates;
use crate::study::paired::{LogBounds, Measure, Paired};
use crate::text::{number, number_beside};
use ssvm::problem::Paper;
use ssvm::stats::FEWEST_PAIRS;

const NOTHING_IN_COMMON: &str = "no two runs with the same seed have an iteration in common";
pub(super) const UNSEEN: &str = "; undecided because evaluations are more than a factor of 4 apart in places";
const BELOW_FLOOR: &str = "all medians are below the uncertainty of the optimum";

/// Claim 1a.
pub(super) fn always_lower(subject: &Subject<'_>) -> Vec<Claim> {
    let claim = |multi: &str, single: &str| format!("{multi} below {single} at every iteration");
    at_equal_iterations(subject, claim, judge_always)
}

/// Claim 1c.
pub(super) fn lower_at_end(subject: &Subject<'_>) -> Vec<Claim> {
    let claim = |multi: &str, single: &str| format!("{multi} below {single} at the last iteration");
    at_equal_iterations(subject, claim, judge_end)
}

fn at_equal_iterations(
    subject: &Subject<'_>,
    claim: impl Fn(&str, &str) -> String,
    judge: impl Fn(&Subject<'_>, &EqualIterations, Claim) -> Claim,
) -> Vec<Claim> {
    subject.each_pair(claim, |pair, row| match EqualIterations::new(subject.view, pair, f64::INFINITY) {
        Some(paired) => {
            let judged = enough_pairs(paired.fewest(), judge(subject, &paired, row));
            let judged = subject.long_enough(&pair, paired.shortest, judged);
            Claim { evidence: judged.evidence + &subject.failures(&pair), ..judged }
        }
        None => Claim { evidence: NOTHING_IN_COMMON.to_owned(), ..row },
    })
}

/// Undecided where failed runs leave too few pairs for an interval, however many begin.
fn enough_pairs(fewest: usize, claim: Claim) -> Claim {
    if fewest >= FEWEST_PAIRS || !matches!(claim.verdict, Verdict::Holds | Verdict::DoesNotHold) {
        return claim;
    }
    let pairs = if fewest == 1 { "pair is" } else { "pairs are" };
    let evidence = format!("{}; undecided because {fewest} {pairs} left in places", claim.evidence);
    Claim { verdict: Verdict::Undecided, reason: Some(Reason::FewRepeats), evidence, ..claim }
}

fn judge_always(subject: &Subject<'_>, paired: &EqualIterations, row: Claim) -> Claim {
    let [from] = estimates(&[paired.repeats()], |draw| [lower_from(&paired.x, &paired.differences(&draw[0]))]);
    if !from.value.is_finite() {
        return Claim { evidence: BELOW_FLOOR.to_owned(), ..row };
    }
    let (first, bar) = (paired.x[0], subject.bars[Bar::AlwaysFrom]);
    let (mut verdict, mut reason) = from.decide(&at_most(bar), paired.repeats());
    let mut evidence = described(subject, paired);
    evidence += &format!("; holds when it is lower from iteration {} on, crossings interpolated", number(bar));
    if first > 1.0 && from.low.is_some_and(|low| low <= first) && verdict != Verdict::Holds {
        // Curves that begin later cannot show "always".
        (verdict, reason) = (Verdict::Undecided, Some(Reason::NotSeen));
        evidence += "; undecided because nothing was evaluated before";
    }
    if !paired.seen && verdict != Verdict::NotMeasured {
        (verdict, reason) = (Verdict::Undecided, Some(Reason::NotSeen));
        evidence += UNSEEN;
    }
    let last = paired.x[paired.x.len() - 1];
    let measured = if from.value > last {
        format!("not lower at iteration {last}")
    } else {
        format!("from iteration {}", from.text(|from| number_beside(from, bar)))
    };
    Claim { measured, verdict, reason, evidence, estimate: Some(from), ..row }
}

fn judge_end(subject: &Subject<'_>, paired: &EqualIterations, row: Claim) -> Claim {
    let [ratio] = Paired::of_draws(&[paired.repeats()], |draw| [paired.last_ratio(&draw[0])]);
    let Some(ratio) = ratio else { return Claim { evidence: BELOW_FLOOR.to_owned(), ..row } };
    let bar = subject.bars[Bar::LowerAtEnd];
    let (verdict, reason) = decide(&ratio, bar);
    let evidence = format!(
        "{}; holds above {}{}{}",
        described(subject, paired),
        number(bar),
        anywhere(subject, &[subject.dataset]),
        narrowed(reason)
    );
    let measured = format!("factor {}", ratio.shown(|ratio| number_beside(ratio, bar)));
    Claim { measured, verdict, reason, evidence, estimate: ratio.estimate(), ..row }
}

/// Whether a ratio is above the threshold for every position of the optimum between its bounds.
fn decide(ratio: &Paired, bar: f64) -> (Verdict, Option<Reason>) {
    if ratio.is_above(bar) {
        (Verdict::Holds, None)
    } else if ratio.has_interval() && ratio.high.is_some_and(|high| high <= bar) {
        (Verdict::DoesNotHold, None)
    } else if !ratio.has_interval() {
        (Verdict::Undecided, Some(Reason::FewRepeats))
    } else if ratio.least.is_none_or(|least| least <= bar) && ratio.most.is_none_or(|most| most > bar) {
        // Not even the value itself is on one side of it.
        (Verdict::Undecided, Some(Reason::Optimum))
    } else {
        (Verdict::Undecided, Some(Reason::Interval))
    }
}

/// The evidence text about ratios that are bounded because the optima of these data sets are only known within bounds.
fn anywhere(subject: &Subject<'_>, datasets: &[&str]) -> String {
    let widths = datasets.iter().map(|dataset| (*dataset, subject.view.floor(dataset)));
    let open: Vec<String> = widths
        .filter(|(_, width)| *width > 0.0)
        .map(|(dataset, width)| format!("{} of {}", number(width), subject.view.title(dataset)))
        .collect();
    match open[..] {
        [] => String::new(),
        _ => format!("; for every position of the optimum between its bounds, which are {} apart", open.join(" and ")),
    }
}

fn narrowed(reason: Option<Reason>) -> &'static str {
    match reason {
        Some(Reason::Optimum) => {
            "; undecided: the optimum is not known well enough; `ssvm-bench data optimum` narrows it"
        }
        _ => "",
    }
}

fn described(subject: &Subject<'_>, paired: &EqualIterations) -> String {
    let end = paired.x.len() - 1;
    let (one, other) = paired.medians(&(0..paired.repeats()).collect::<Vec<_>>(), end);
    let mut text = format!(
        "medians of iterations {} to {}, at the end {} against {}; {}",
        paired.x[0],
        paired.x[end],
        number(other),
        number(one),
        of_curves(paired.repeats(), true),
    );
    let floor = subject.view.floor(subject.dataset);
    if floor > 0.0 {
        text += &format!("; nothing below {} is compared", number(floor));
    }
    text + &paired.changes()
}

/// Claim 1b: oracle calls to the tightest gap that both reach.
pub(super) fn fewer_calls(subject: &Subject<'_>) -> Vec<Claim> {
    let claim = |multi: &str, single: &str| format!("{multi} with fewer calls than {single} to a gap");
    subject.each_pair(claim, |pair, row| {
        let view = subject.view;
        let gaps = GapRatios::new(view, pair, Measure::Calls);
        let tightest = gaps.tightest().and_then(|(gap, paired)| Some((gap, paired, paired.estimate()?)));
        let Some((gap, paired, estimate)) = tightest else {
            let row = gaps.apart(view, row);
            return Claim { evidence: row.evidence + &subject.failures(&pair), ..row };
        };
        let bar = subject.bars[Bar::FewerCalls];
        let (verdict, reason) = gaps.decide(&paired, bar);
        let evidence = format!(
            "calls of {} / calls of {} to each gap, crossings interpolated ({}), medians over pairs; {}; holds above {} at the \
             tightest gap that both reached{}{}{}",
            view.series[pair[0]].label,
            view.series[pair[1]].label,
            gaps.text(),
            of_median(paired.pairs, true),
            number(bar),
            gaps.alone(view),
            subject.failures(&pair),
            reason.map_or(String::new(), |reason| format!("; undecided: {}", reason.text())),
        );
        let measured = format!("{}× to gap {gap:e}", paired.shown(|ratio| number_beside(ratio, bar)));
        Claim { measured, verdict, reason, evidence, estimate: Some(estimate), ..row }
    })
}

/// The iterations over which an effect is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    /// The last three quarters of the log-iterations, so that the first evaluation does not affect the mean.
    Iterations,
    Last,
}

impl Over {
    /// Where it begins, of as many iterations.
    fn first(self, last: f64) -> f64 {
        match self {
            Self::Iterations => quarter(last),
            Self::Last => last,
        }
    }

    /// Bounds of the logarithm of a ratio.
    fn effect(self, paired: &EqualIterations, draw: &[usize], last: f64) -> LogBounds {
        match self {
            Self::Iterations => paired.mean_ratio(draw, self.first(last)),
            Self::Last => paired.last_ratio(draw),
        }
    }
}

/// Claim 2a.
pub(super) fn larger_mean_effect(subject: &Subject<'_>) -> Vec<Claim> {
    larger_effect(subject, "on average", Over::Iterations)
}

/// Claim 2b: at the last iteration that all have.
pub(super) fn larger_effect_at_end(subject: &Subject<'_>) -> Vec<Claim> {
    larger_effect(subject, "at the last iteration", Over::Last)
}

/// Against the USPS set of the same kind (real or synthetic), else any.
fn larger_effect(subject: &Subject<'_>, when: &str, over: Over) -> Vec<Claim> {
    let claim = |multi: &str, single: &str| format!("larger effect of {multi} over {single} than on USPS {when}");
    let view = subject.view;
    let twin = |dataset: &str| view.series.iter().any(|s| s.dataset == dataset && s.twin);
    let usps = || view.datasets().into_iter().filter(|d| view.paper(d) == Some(Paper::Usps));
    let reference = usps().find(|d| twin(d) == twin(subject.dataset)).or_else(|| usps().next());
    let there = reference.map_or(Vec::new(), |usps| subject.pairs(usps, SINGLE, MULTI));
    let here = subject.pairs(subject.dataset, SINGLE, MULTI);
    if here.is_empty() || there.is_empty() {
        let why = "needs bcfw and mp-bcfw here and on a USPS data set, in the same environment";
        return vec![subject.row(MULTI, claim(MULTI, SINGLE), why)];
    }
    let mut claims = Vec::new();
    for pair in here {
        // The first of the most alike.
        let alike = |other: &[usize; 2]| view.alike(other[1], pair[1]);
        if let Some(other) = there.iter().copied().rev().max_by_key(alike) {
            let [single, multi] = pair.map(|at| view.series[at].label.as_str());
            let row = subject.row(multi, claim(multi, single), "");
            claims.push(judge_effect(subject, [pair, other], over, row));
        }
    }
    claims
}

fn judge_effect(subject: &Subject<'_>, [here, there]: [[usize; 2]; 2], over: Over, row: Claim) -> Claim {
    let read = |pair: [usize; 2], most: f64| EqualIterations::new(subject.view, pair, most);
    let end = |pair| read(pair, f64::INFINITY).and_then(|paired| paired.x.last().copied()).unwrap_or(0.0);
    let most = end(here).min(end(there));
    let (Some(paired), Some(usps)) = (read(here, most), read(there, most)) else {
        return Claim { evidence: NOTHING_IN_COMMON.to_owned(), ..row };
    };
    // Both data sets have the same seeds, but orders of different terms, so the groups are drawn separately.
    let [more, own, usual] = Paired::of_draws(&[paired.repeats(), usps.repeats()], |draw| {
        let (own, usual) = (over.effect(&paired, &draw[0], most), over.effect(&usps, &draw[1], most));
        [(own.0 - usual.1, own.1 - usual.0), own, usual]
    });
    let (Some(more), Some(own), Some(usual)) = (more, own, usual) else {
        return Claim { evidence: BELOW_FLOOR.to_owned(), ..row };
    };
    let (series, bar) = (&subject.view.series, subject.bars[Bar::Stronger]);
    let repeats = paired.repeats().min(usps.repeats());
    let (from, seen) = (over.first(most), paired.x[0].max(usps.x[0]));
    let what = match over {
        Over::Iterations => format!("mean over log-iterations {} to {most}", number(from)),
        Over::Last => format!("median at iteration {most}"),
    };
    let mut evidence = format!(
        "{what} of the ratio of primal suboptimality {} / {}, over that on {} with {}; {}; holds above {}{}{}",
        series[here[0]].label,
        series[here[1]].label,
        series[there[1]].dataset,
        series[there[1]].label,
        of_curves(repeats, true),
        number(bar),
        anywhere(subject, &[subject.dataset, &series[there[0]].dataset]),
        subject.failures(&[here, there].concat()),
    );
    let (mut verdict, mut reason) = decide(&more, bar);
    let ratio = match more.least.or(more.most) {
        Some(_) => format!("{}× as large", more.shown(|ratio| number_beside(ratio, bar))),
        None => "not known".to_owned(),
    };
    let [own, usual] = [own, usual].map(|ratio| ratio.shown(number));
    let measured = format!("{ratio}: factor {own} against {usual} on USPS");
    evidence += narrowed(reason);
    if seen > from {
        (verdict, reason) = (Verdict::Undecided, Some(Reason::NotSeen));
        evidence += &format!("; undecided because the curves begin at iteration {seen}");
    } else if over == Over::Iterations && !(paired.seen && usps.seen) {
        (verdict, reason) = (Verdict::Undecided, Some(Reason::NotSeen));
        evidence += UNSEEN;
    }
    let claim = Claim { measured, verdict, reason, evidence, estimate: more.estimate(), ..row };
    let claim = enough_pairs(paired.fewest().min(usps.fewest()), claim);
    subject.long_enough(&[here, there].concat(), paired.shortest.min(usps.shortest), claim)
}
