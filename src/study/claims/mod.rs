//! The claims of the paper: one row per claim and data set with the paper's value, the measured value, a verdict and the
//! evidence. A claim that does not hold is a result.
//!
//! Every number is one of curves over log-iterations or log-time, so that it does not depend on how often runs were evaluated,
//! and has an interval over seeds; one that covers its threshold decides nothing. Every threshold stands in [`THRESHOLDS`].

mod busy;
mod convergence;
mod equal_iterations;
mod gaps;
mod parameters;
pub mod thresholds;
mod time;
mod verdict;

pub use super::estimate::Estimate;

use serde::{Deserialize, Serialize};

use super::align::End;
use super::curve::Curve;
use super::profile::{self, ProfileRow};
use super::{Series, Study, View};
use crate::error::Result;
use ssvm::problem::Paper;
use thresholds::{Bar, Bars, Sensitivity, THRESHOLDS};

/// Evidence of the row of a data set that the folder does not have.
const ABSENT: &str = "no data set of this family in the folder";

/// The same of one that was run at other oracle costs.
const ELSEWHERE: &str = "no run at the oracle's own cost";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Holds,
    DoesNotHold,
    /// For a [`Reason`].
    Undecided,
    NotMeasured,
    /// The runs were made so that it holds: it says nothing, and is not counted.
    ByConstruction,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        ["holds", "does not hold", "undecided", "not measured", "by construction"][self as usize]
    }

    pub fn mark(self) -> char {
        ['✓', '✗', '?', '–', '='][self as usize]
    }
}

/// Why nothing is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The interval of the measured value covers the threshold.
    Interval,
    /// There are too few repeats for an interval.
    FewRepeats,
    /// Neither end of the interval is known: too many draws of the repeats have no value.
    OpenInterval,
    /// The same of a ratio to a gap that too many runs did not reach.
    RunsEnded,
    /// All ratios are bounds.
    NoCommonGap,
    /// Iterations that the claim needs, and those that the runs have.
    TooShort { needed: u64, present: u64 },
    /// The whole run and its last half say different things.
    DependsOnLength,
    /// A gap that only one solver reached may say otherwise.
    OpenBound,
    /// The curves begin too late.
    NotSeen,
    /// The machine did something else meanwhile.
    Busy,
}

impl Reason {
    pub fn text(self) -> String {
        match self {
            Self::Interval => "the interval covers the threshold".to_owned(),
            Self::FewRepeats => "too few repeats".to_owned(),
            Self::OpenInterval => "the interval is open".to_owned(),
            Self::RunsEnded => "runs ended before the gap".to_owned(),
            Self::NoCommonGap => "no gap that both reached".to_owned(),
            Self::TooShort { needed, present } => format!("too short, {present} of {needed} iterations"),
            Self::DependsOnLength => "depends on the length of the run".to_owned(),
            Self::OpenBound => "only one solver reached the tighter gaps".to_owned(),
            Self::NotSeen => "the first iterations were not evaluated".to_owned(),
            Self::Busy => "the machine was busy".to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub number: u8,
    /// Which of several statements of that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<char>,
    /// The paper's name for the data set when the folder has none of it.
    pub dataset: String,
    pub title: String,
    /// The solver it is about, with its settings where a folder has several.
    pub solver: String,
    pub claim: String,
    /// The paper's value.
    pub paper: String,
    /// The measured value in words, with its interval.
    pub measured: String,
    /// The number that the verdict turns on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    /// Of an undecided one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// How the value was taken, over how many runs, and what limits it.
    pub evidence: String,
    /// The same at the oracle cost of the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regime: Option<InRegime>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InRegime {
    pub oracle_cost: f64,
    pub measured: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    pub evidence: String,
}

impl Claim {
    /// `1a`; summaries of former versions have no parts.
    pub fn id(&self) -> String {
        self.number.to_string() + &self.part.map_or(String::new(), String::from)
    }

    /// The evidence on this machine and, where that is another one, in the paper's regime.
    pub fn evidence(&self) -> String {
        match &self.regime {
            Some(regime) => format!("{} | in the paper's regime: {}", self.evidence, regime.evidence),
            None => self.evidence.clone(),
        }
    }

    /// On this machine, and where there are runs in the paper's regime there.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> + use<> {
        std::iter::once(self.verdict).chain(self.regime.as_ref().map(|regime| regime.verdict))
    }
}

pub struct ClaimRow {
    number: u8,
    part: Option<char>,
    /// What the paper says, in a line.
    pub title: &'static str,
    /// What a table says when a folder has no data set to check it on.
    short: &'static str,
    solver: &'static str,
    /// The paper's value for its data sets, in the order of [`Paper::ALL`]; empty when it says nothing about that one.
    paper: [&'static str; 4],
    check: fn(&Subject<'_>) -> Vec<Claim>,
    /// Whether it makes sense on data sets that the paper does not have.
    anywhere: bool,
    /// Whether a verdict about a solver that keeps planes needs a length of [`Bar::Lifetimes`].
    lifetimes: bool,
    /// The thresholds that it turns on.
    bars: &'static [Bar],
}

impl ClaimRow {
    /// Whether a threshold may change its verdicts; a busy machine changes all.
    fn turns_on(&self, bar: Bar) -> bool {
        self.bars.contains(&bar) || matches!(bar, Bar::WholeCore | Bar::Disturbed)
    }

    /// Whether a claim is one of this row. Those of former versions were about the first part.
    pub fn has(&self, claim: &Claim) -> bool {
        self.number == claim.number && self.part == claim.part.or(self.part.filter(|part| *part == 'a'))
    }
}

const LOWER: ClaimRow = ClaimRow {
    number: 1,
    part: Some('a'),
    title: "At equal iterations the multi-plane solvers are closer to the optimum",
    short: "lower primal suboptimality at every iteration",
    solver: MULTI,
    paper: ["always lower"; 4],
    check: convergence::always_lower,
    anywhere: true,
    lifetimes: false,
    bars: &[Bar::AlwaysFrom],
};

const EFFECT: ClaimRow = ClaimRow {
    number: 2,
    part: Some('a'),
    title: "The effect is larger where the label space is larger",
    short: "larger effect than on USPS on average",
    solver: MULTI,
    paper: ["", "larger", "larger", "larger"],
    check: convergence::larger_mean_effect,
    anywhere: false,
    lifetimes: false,
    bars: &[Bar::Stronger],
};

/// The table of claims.
pub const CLAIMS: &[ClaimRow] = &[
    LOWER,
    ClaimRow {
        part: Some('b'),
        title: "The multi-plane solvers need fewer oracle calls to a given quality",
        short: "fewer oracle calls to a gap",
        paper: ["fewer iterations"; 4],
        check: convergence::fewer_calls,
        bars: &[Bar::FewerCalls],
        ..LOWER
    },
    ClaimRow {
        part: Some('c'),
        title: "At the last common iteration the multi-plane solvers are closer to the optimum",
        short: "lower primal suboptimality at the last iteration",
        paper: ["lower"; 4],
        check: convergence::lower_at_end,
        bars: &[Bar::LowerAtEnd],
        ..LOWER
    },
    EFFECT,
    ClaimRow {
        part: Some('b'),
        title: "The effect at the last common iteration is larger where the label space is larger",
        short: "larger effect than on USPS at the last iteration",
        check: convergence::larger_effect_at_end,
        ..EFFECT
    },
    ClaimRow {
        number: 3,
        part: None,
        title: "Share of the time spent in the max-oracle",
        short: "oracle share of BCFW",
        solver: SINGLE,
        paper: ["about 15 %", "about 70 %", "almost 99 %", "almost 99 %"],
        check: time::oracle_share,
        anywhere: false,
        lifetimes: true,
        bars: &[Bar::About, Bar::NearlyAll, Bar::Quarter, Bar::Lifetimes],
    },
    ClaimRow {
        number: 4,
        part: None,
        title: "Convergence against runtime",
        short: "runtime of MP-BCFW against BCFW",
        solver: MULTI,
        paper: ["not slower", "not slower", "substantially faster", "substantially faster"],
        check: time::runtime,
        anywhere: false,
        lifetimes: false,
        bars: &[Bar::NotSlower, Bar::Substantially],
    },
    ClaimRow {
        number: 5,
        part: None,
        title: "Automatic choice of working set and passes",
        short: "working set and passes",
        solver: MULTI,
        paper: [
            "planes and passes stay small",
            "10 to 15 passes",
            "planes settle low, passes grow to hundreds",
            "planes grow to a stable state, passes grow slowly",
        ],
        check: parameters::parameters,
        anywhere: false,
        lifetimes: true,
        bars: &[
            Bar::Lifetimes,
            Bar::Small,
            Bar::LeastPasses,
            Bar::MostPasses,
            Bar::Low,
            Bar::SeveralHundred,
            Bar::Stable,
            Bar::Clearly,
        ],
    },
];

/// The solvers that claims 2, 3 and 5 are about.
const SINGLE: &str = Paper::SOLVER;
const MULTI: &str = "mp-bcfw";

struct Subject<'a> {
    view: &'a View,
    /// Whether the view is that of the paper's regime.
    in_regime: bool,
    profile: &'a [ProfileRow],
    bars: &'a Bars,
    row: &'static ClaimRow,
    dataset: &'a str,
    /// `None` for a data set that the paper does not have.
    paper: Option<Paper>,
}

impl Subject<'_> {
    fn row(&self, solver: &str, claim: String, evidence: &str) -> Claim {
        let of_paper = |paper: Paper| self.row.paper[paper as usize];
        Claim {
            number: self.row.number,
            part: self.row.part,
            dataset: self.dataset.to_owned(),
            title: self.view.title(self.dataset).to_owned(),
            solver: solver.to_owned(),
            claim,
            paper: self.paper.map_or("–", of_paper).to_owned(),
            measured: "–".to_owned(),
            estimate: None,
            verdict: Verdict::NotMeasured,
            reason: None,
            evidence: evidence.to_owned(),
            regime: None,
        }
    }

    fn settings(&self, dataset: &str, solver: &str) -> Vec<usize> {
        let of_solver = |s: &usize| self.view.series[*s].solver == solver && !self.view.curves(*s).is_empty();
        self.view.series_of(dataset).filter(of_solver).collect()
    }

    /// Series of two solvers to be compared: for every setting of the multi-plane solver, the settings of the other that were
    /// timed in the same environment and have most else in common.
    fn pairs(&self, dataset: &str, single: &str, multi: &str) -> Vec<[usize; 2]> {
        let singles = self.settings(dataset, single);
        let partners = |b: usize| self.view.partners(b, &singles).into_iter().map(move |a| [a, b]);
        self.settings(dataset, multi).into_iter().flat_map(partners).collect()
    }

    /// A row for every setting of a solver, or one that says why there is none. `claim` is what is claimed of the solver.
    fn each_setting(
        &self,
        solver: &str,
        claim: &str,
        missing: &str,
        judge: impl Fn(usize, Claim) -> Claim,
    ) -> Vec<Claim> {
        let row = |label: &str, evidence: &str| self.row(label, format!("{claim} of {label}"), evidence);
        let settings = self.settings(self.dataset, solver);
        if settings.is_empty() {
            return vec![row(solver, missing)];
        }
        let judged = |at: usize| self.long_enough(at, judge(at, row(&self.view.series[at].label, "")));
        settings.into_iter().map(judged).collect()
    }

    /// Takes back a verdict about runs that are shorter than the claim needs: several lifetimes of a plane, in iterations of
    /// the shortest run of the series itself.
    fn long_enough(&self, at: usize, claim: Claim) -> Claim {
        let lifetime = self.view.series[at].lifetime.filter(|_| self.row.lifetimes);
        let (Some(lifetime), Some(present)) = (lifetime, common_end(self.view.curves(at))) else { return claim };
        let needed = self.bars[Bar::Lifetimes] * lifetime as f64;
        if present >= needed || claim.verdict == Verdict::NotMeasured {
            return claim;
        }
        let reason = Reason::TooShort { needed: needed as u64, present: present as u64 };
        let evidence = format!("{}; undecided: {} (T = {lifetime})", claim.evidence, reason.text());
        Claim { verdict: Verdict::Undecided, reason: Some(reason), evidence, ..claim }
    }

    /// A row for every pair of settings of the solvers that the paper compares, or one that says why there is none. `claim`
    /// gets the multi-plane solver and the other.
    fn each_pair(
        &self,
        claim: impl Fn(&str, &str) -> String,
        judge: impl Fn([usize; 2], Claim) -> Claim,
    ) -> Vec<Claim> {
        let mut claims = Vec::new();
        for (single, multi) in &self.view.pairs {
            let pairs = self.pairs(self.dataset, single, multi);
            if pairs.is_empty() {
                let missing = [single, multi].iter().any(|solver| self.settings(self.dataset, solver).is_empty());
                let why = if missing {
                    "runs of both solvers are needed"
                } else {
                    "no runs of both under the same clock, host, jobs and build"
                };
                claims.push(self.row(multi, claim(multi, single), why));
            }
            for pair in pairs {
                let [one, other] = pair.map(|at| self.view.series[at].label.as_str());
                claims.push(judge(pair, self.row(other, claim(other, one), "")));
            }
        }
        claims
    }

    fn failures(&self, series: &[usize]) -> String {
        let sum = |count: fn(&Series) -> usize| series.iter().map(|s| count(&self.view.series[*s])).sum();
        match (sum(|series| series.failed), sum(|series| series.censored)) {
            (0usize, _) => String::new(),
            (failed, 0usize) => format!("; {failed} failed"),
            (failed, censored) => format!("; {failed} failed, {censored} of them counted as far as they went"),
        }
    }
}

/// The last iteration that all runs of a series have; only failed runs may be shorter, unless all failed.
fn common_end<'c>(curves: impl IntoIterator<Item = &'c Curve>) -> Option<f64> {
    let ends: Vec<(End, f64)> =
        curves.into_iter().filter_map(|curve| curve.range().map(|(_, last)| (curve.end, last))).collect();
    let sound = ends.iter().filter(|(end, _)| matches!(end, End::Budget | End::Gap)).map(|(_, last)| *last);
    sound.reduce(f64::min).or_else(|| ends.iter().map(|(_, last)| *last).reduce(f64::min))
}

/// All claims, ordered by number and data set: on this machine, and in the paper's regime where there are runs in it.
pub fn check(study: &Study) -> Result<Vec<Claim>> {
    Ok(check_rows(study, &Profiles::of(study)?, CLAIMS, &Bars::default()))
}

/// For each threshold, how many verdicts are others when it is halved or doubled.
pub fn sensitivity(study: &Study) -> Result<Vec<Sensitivity>> {
    let profiles = Profiles::of(study)?;
    let judged = |row: &'static ClaimRow, bars: &Bars| check_rows(study, &profiles, std::slice::from_ref(row), bars);
    let now: Vec<(&'static ClaimRow, Vec<Claim>)> =
        CLAIMS.iter().map(|row| (row, judged(row, &Bars::default()))).collect();
    // Bootstraps take long: rows that a threshold cannot change are not judged again.
    let disturbed = |bars: &Bars| -> Vec<Vec<&str>> {
        let names = |view| busy::disturbed(view, bars).into_iter().map(|(dataset, ..)| dataset).collect();
        std::iter::once(&study.own).chain(&study.regime).map(names).collect()
    };
    let mut all = Vec::new();
    for threshold in &THRESHOLDS {
        let rows: Vec<_> = now.iter().filter(|(row, _)| row.turns_on(threshold.bar)).collect();
        let [halved, doubled] = threshold.halved_and_doubled().map(|value| {
            let bars = Bars::default().with(threshold.bar, value);
            if threshold.paper.is_empty() && disturbed(&bars) == disturbed(&Bars::default()) {
                return 0;
            }
            let changed = |(row, now): &&(&'static ClaimRow, Vec<Claim>)| {
                let then = judged(row, &bars);
                now.iter()
                    .flat_map(Claim::verdicts)
                    .zip(then.iter().flat_map(Claim::verdicts))
                    .filter(|(a, b)| a != b)
                    .count()
            };
            rows.iter().map(changed).sum()
        });
        let concerned = |claim: &&Claim| {
            let timed = || !busy::shares(&study.own, &claim.dataset).is_empty();
            let multi = claim.solver.starts_with(MULTI);
            threshold.bar.concerns(study.own.paper(&claim.dataset), multi) && (!threshold.paper.is_empty() || timed())
        };
        let concerned = rows.iter().flat_map(|(_, now)| now).filter(concerned);
        let without = [Verdict::NotMeasured, Verdict::ByConstruction];
        let verdicts = concerned.flat_map(Claim::verdicts).filter(|verdict| !without.contains(verdict)).count();
        all.push(Sensitivity { key: threshold.key.to_owned(), verdicts, halved, doubled });
    }
    Ok(all)
}

/// Where the time of both views goes.
struct Profiles<'a> {
    own: &'a [ProfileRow],
    regime: Vec<ProfileRow>,
}

impl<'a> Profiles<'a> {
    fn of(study: &'a Study) -> Result<Self> {
        let regime = study.regime.as_ref().map(profile::profile).transpose()?.unwrap_or_default();
        Ok(Self { own: &study.profile, regime })
    }
}

fn check_rows(study: &Study, profiles: &Profiles<'_>, rows: &'static [ClaimRow], bars: &Bars) -> Vec<Claim> {
    let view = &study.own;
    // A data set that was only run at other oracle costs tells nothing about the machine as it is.
    let own = |dataset: &str| view.series_of(dataset).all(|s| view.series[s].key.oracle_cost.is_one());
    let has = |view: &View, paper| view.series.iter().any(|series| series.paper == Some(paper));
    // What the folder has of a data set of the paper when it has no run at the oracle's own cost.
    let without = |paper: Paper| match &study.regime {
        Some(regime) if has(regime, paper) => None,
        _ if has(view, paper) => Some(ELSEWHERE),
        _ => Some(ABSENT),
    };
    let here = Circumstances { view, profile: profiles.own, in_regime: false, rows, bars };
    let mut claims = here.judge(&own, &without);
    let Some(regime) = &study.regime else { return claims };
    let there = Circumstances { view: regime, profile: &profiles.regime, in_regime: true, rows, bars };
    for there in there.judge(&|_| true, &|_| None) {
        // All series of a data set in this view were run at one oracle cost.
        let Some(first) = regime.series_of(&there.dataset).next() else { continue };
        let cost = regime.series[first].key.oracle_cost;
        // Runs at the oracle's own cost are judged already, but for an effect that is compared with USPS at another one.
        let usps = |series: &&Series| series.paper == Some(Paper::Usps);
        let compared = || regime.series.iter().filter(usps).any(|series| !series.key.oracle_cost.is_one());
        if cost.is_one() && own(&there.dataset) && !(there.number == 2 && compared()) {
            continue;
        }
        let rank = |claim: &Claim| (claim.number, claim.part);
        let key = |claim: &Claim| (rank(claim), claim.dataset.clone(), claim.claim.clone());
        let own = claims.iter().position(|own| key(own) == key(&there)).unwrap_or_else(|| {
            // It follows the claims of its number on its data set.
            let before = |own: &Claim| (rank(own), own.dataset != there.dataset) <= (rank(&there), false);
            let at = claims.iter().rposition(before).map_or(claims.len(), |at| at + 1);
            let (measured, evidence) = ("–".to_owned(), ELSEWHERE.to_owned());
            let verdict = Verdict::NotMeasured;
            claims.insert(at, Claim { measured, estimate: None, verdict, reason: None, evidence, ..there.clone() });
            at
        });
        let Claim { measured, estimate, verdict, reason, evidence, .. } = there;
        let oracle_cost = cost.factor();
        claims[own].regime = Some(InRegime { oracle_cost, measured, estimate, verdict, reason, evidence });
    }
    claims
}

/// A view, and what it is judged by.
struct Circumstances<'a> {
    view: &'a View,
    profile: &'a [ProfileRow],
    in_regime: bool,
    rows: &'static [ClaimRow],
    bars: &'a Bars,
}

impl Circumstances<'_> {
    /// All claims on the data sets of the view that are wanted; one of the paper that it does not have gets a row that says
    /// why, unless `without` has no words for it.
    fn judge(&self, wanted: &dyn Fn(&str) -> bool, without: &dyn Fn(Paper) -> Option<&'static str>) -> Vec<Claim> {
        let Self { view, profile, in_regime, rows, bars } = *self;
        let datasets: Vec<&str> = view.datasets().into_iter().filter(|dataset| wanted(dataset)).collect();
        let mut claims = Vec::new();
        for row in rows {
            let subject = |dataset, paper| Subject { view, in_regime, profile, bars, row, dataset, paper };
            let of = |paper: Option<Paper>| datasets.iter().filter(move |dataset| view.paper(dataset) == paper);
            for paper in Paper::ALL.into_iter().filter(|paper| !row.paper[*paper as usize].is_empty()) {
                if of(Some(paper)).next().is_none() {
                    let absent = |why| subject(paper.name(), Some(paper)).row(row.solver, row.short.to_owned(), why);
                    claims.extend(without(paper).map(absent));
                }
                claims.extend(of(Some(paper)).flat_map(|dataset| (row.check)(&subject(dataset, Some(paper)))));
            }
            if row.anywhere {
                claims.extend(of(None).flat_map(|dataset| (row.check)(&subject(dataset, None))));
            }
        }
        busy::take_back(&mut claims, view, bars);
        claims
    }
}
