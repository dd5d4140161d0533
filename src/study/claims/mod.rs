//! The claims of the paper: one row per claim and data set with the paper's value, the measured value, a verdict and the
//! evidence. A claim that does not hold is a result.
//!
//! Every number is one of curves over log-iterations or log-time, so that it does not depend on how often runs were evaluated,
//! and has an interval over seeds; one that covers its threshold decides nothing. Every threshold that the paper leaves to the
//! reader is a constant beside its check and is named in the evidence.

mod busy;
mod convergence;
mod equal_iterations;
mod parameters;
mod time;
mod verdict;

pub use super::estimate::Estimate;

use serde::{Deserialize, Serialize};

use super::profile::{self, ProfileRow};
use super::{Study, View};
use crate::error::Result;
use ssvm::problem::Paper;

/// Evidence of the row of a data set that the folder does not have.
const ABSENT: &str = "no data set of this family in the folder";

/// The same of one that was run at other oracle costs.
const ELSEWHERE: &str = "no run at the oracle's own price";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Holds,
    DoesNotHold,
    /// The interval of the measured value covers the threshold, there are too few repeats for one, or the machine was busy.
    Undecided,
    NotMeasured,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
        }
    }

    pub fn mark(self) -> char {
        match self {
            Self::Holds => '✓',
            Self::DoesNotHold => '✗',
            Self::Undecided => '?',
            Self::NotMeasured => '–',
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Number in section 5 of the specification: its place in [`CLAIMS`] from 1.
    pub number: u8,
    /// Data set; the paper's name for it when the folder has none of it.
    pub dataset: String,
    pub title: String,
    /// The solver it is about, with its settings where a folder has several.
    pub solver: String,
    pub claim: String,
    pub paper: String,
    /// The measured value in words, with its interval.
    pub measured: String,
    /// The number that the verdict turns on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    /// How the value was taken, over how many runs, and what limits it.
    pub evidence: String,
    /// The same at the oracle cost of the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regime: Option<InRegime>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InRegime {
    pub oracle_cost: f64,
    /// The measured value in words, with its interval.
    pub measured: String,
    /// The number that the verdict turns on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    pub evidence: String,
}

impl Claim {
    pub fn in_regime(&self) -> Verdict {
        self.regime.as_ref().map_or(Verdict::NotMeasured, |regime| regime.verdict)
    }

    /// The evidence on this machine and, where that is another one, in the paper's regime.
    pub fn evidence(&self) -> String {
        match &self.regime {
            Some(regime) => format!("{} | in the paper's regime: {}", self.evidence, regime.evidence),
            None => self.evidence.clone(),
        }
    }

    /// One sign, or two where there are runs in the paper's regime.
    pub fn marks(&self) -> String {
        match &self.regime {
            Some(regime) => format!("{}{}", self.verdict.mark(), regime.verdict.mark()),
            None => self.verdict.mark().to_string(),
        }
    }
}

pub struct ClaimRow {
    /// What the paper says, in a line.
    pub title: &'static str,
    /// What a table says when a folder has no data set to check it on.
    pub short: &'static str,
    /// The solver it is mainly about.
    pub solver: &'static str,
    /// The paper's value for one of its data sets; `None` when it says nothing about that one.
    pub paper: fn(Paper) -> Option<&'static str>,
    check: fn(&Subject<'_>) -> Vec<Claim>,
    /// Whether it makes sense on data sets that the paper does not have.
    anywhere: bool,
}

/// The table of claims. Their numbers are their places.
pub const CLAIMS: &[ClaimRow] = &[
    convergence::LOWER_SUBOPTIMALITY,
    convergence::LARGER_EFFECT,
    time::ORACLE_SHARE,
    time::RUNTIME,
    parameters::PARAMETERS,
];

/// The solvers that claims 2, 3 and 5 are about.
const SINGLE: &str = Paper::SOLVER;
const MULTI: &str = "mp-bcfw";

struct Subject<'a> {
    view: &'a View,
    profile: &'a [ProfileRow],
    number: u8,
    dataset: &'a str,
    /// `None` for a data set that the paper does not have.
    paper: Option<Paper>,
}

impl Subject<'_> {
    /// A row of the claim that is not measured; its check fills in the rest.
    fn row(&self, solver: &str, claim: String, evidence: &str) -> Claim {
        let words = self.paper.and_then(CLAIMS[usize::from(self.number) - 1].paper);
        Claim {
            number: self.number,
            dataset: self.dataset.to_owned(),
            title: self.view.title(self.dataset).to_owned(),
            solver: solver.to_owned(),
            claim,
            paper: words.unwrap_or("–").to_owned(),
            measured: "–".to_owned(),
            estimate: None,
            verdict: Verdict::NotMeasured,
            evidence: evidence.to_owned(),
            regime: None,
        }
    }

    /// The series of a solver on a data set that have evaluations, even if all its runs timed out: a solver may have several
    /// settings.
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

    /// A row for every setting of a solver, or one that says why there is none.
    fn each_setting(
        &self,
        solver: &str,
        claim: impl Fn(&str) -> String,
        missing: &str,
        judge: impl Fn(usize, Claim) -> Claim,
    ) -> Vec<Claim> {
        let settings = self.settings(self.dataset, solver);
        if settings.is_empty() {
            return vec![self.row(solver, claim(solver), missing)];
        }
        let row = |at: usize| {
            let label = &self.view.series[at].label;
            judge(at, self.row(label, claim(label), ""))
        };
        settings.into_iter().map(row).collect()
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
        let failed: usize = series.iter().map(|s| self.view.series[*s].failed).sum();
        let censored: usize = series.iter().map(|s| self.view.series[*s].censored).sum();
        match (failed, censored) {
            (0, _) => String::new(),
            (_, 0) => format!("; {failed} failed"),
            _ => format!("; {failed} failed, {censored} of them counted as far as they went"),
        }
    }
}

/// All claims, ordered by number and data set: on this machine, and in the paper's regime where there are runs in it.
pub fn check(study: &Study) -> Result<Vec<Claim>> {
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
    let mut claims = judge(view, &study.profile, &own, &without);
    let Some(regime) = &study.regime else { return Ok(claims) };
    for claim in judge(regime, &profile::profile(regime)?, &|_| true, &|_| None) {
        let of_set = study.regimes.iter().find(|regime| regime.dataset == claim.dataset);
        let Some((cost, _)) = of_set.and_then(|regime| regime.runs) else { continue };
        let Claim { measured, estimate, verdict, evidence, .. } = claim.clone();
        let there = Some(InRegime { oracle_cost: cost.factor(), measured, estimate, verdict, evidence });
        let same = |other: &&mut Claim| {
            (other.number, &other.dataset, &other.claim) == (claim.number, &claim.dataset, &claim.claim)
        };
        if let Some(own) = claims.iter_mut().find(same) {
            own.regime = there;
            continue;
        }
        let (measured, evidence) = ("–".to_owned(), ELSEWHERE.to_owned());
        let row = Claim { measured, estimate: None, verdict: Verdict::NotMeasured, evidence, regime: there, ..claim };
        let before = |other: &Claim| (other.number, other.dataset != row.dataset) <= (row.number, false);
        let at = claims.iter().rposition(before).map_or(claims.len(), |at| at + 1);
        claims.insert(at, row);
    }
    Ok(claims)
}

/// All claims on the data sets of a view that are wanted; one of the paper that it does not have gets a row that says why,
/// unless `without` has no words for it.
fn judge(
    view: &View,
    profile: &[ProfileRow],
    wanted: &dyn Fn(&str) -> bool,
    without: &dyn Fn(Paper) -> Option<&'static str>,
) -> Vec<Claim> {
    let datasets: Vec<&str> = view.datasets().into_iter().filter(|dataset| wanted(dataset)).collect();
    let mut claims = Vec::new();
    for (number, row) in (1..).zip(CLAIMS) {
        let subject = |dataset, paper| Subject { view, profile, number, dataset, paper };
        for paper in Paper::ALL.into_iter().filter(|paper| (row.paper)(*paper).is_some()) {
            let members = || datasets.iter().filter(|dataset| view.paper(dataset) == Some(paper));
            if members().next().is_none() {
                let absent = |why| subject(paper.name(), Some(paper)).row(row.solver, row.short.to_owned(), why);
                claims.extend(without(paper).map(absent));
            }
            members().for_each(|dataset| claims.extend((row.check)(&subject(dataset, Some(paper)))));
        }
        for dataset in datasets.iter().filter(|dataset| row.anywhere && view.paper(dataset).is_none()) {
            claims.extend((row.check)(&subject(dataset, None)));
        }
    }
    busy::take_back(&mut claims, view);
    claims
}
