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
const ELSEWHERE: &str = "no run at the oracle's own cost";

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
        ["holds", "does not hold", "undecided", "not measured"][self as usize]
    }

    pub fn mark(self) -> char {
        ['✓', '✗', '?', '–'][self as usize]
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Its place in [`CLAIMS`], from 1.
    pub number: u8,
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
        let regime = self.regime.as_ref().map(|regime| regime.verdict.mark());
        std::iter::once(self.verdict.mark()).chain(regime).collect()
    }
}

pub struct ClaimRow {
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
}

/// The table of claims. Their numbers are their places.
pub const CLAIMS: &[ClaimRow] = &[
    ClaimRow {
        title: "At equal iterations the multi-plane solvers are closer to the optimum",
        short: "lower primal suboptimality at equal iterations",
        solver: MULTI,
        paper: ["always lower"; 4],
        check: convergence::lower_suboptimality,
        anywhere: true,
    },
    ClaimRow {
        title: "The effect is larger where the label space is larger",
        short: "larger effect than on USPS",
        solver: MULTI,
        paper: ["", "larger", "larger", "larger"],
        check: convergence::larger_effect,
        anywhere: false,
    },
    ClaimRow {
        title: "Share of the time spent in the max-oracle",
        short: "oracle share of BCFW",
        solver: SINGLE,
        paper: ["about 15 %", "about 70 %", "almost 99 %", "almost 99 %"],
        check: time::oracle_share,
        anywhere: false,
    },
    ClaimRow {
        title: "Convergence against runtime",
        short: "runtime of MP-BCFW against BCFW",
        solver: MULTI,
        paper: ["not slower", "not slower", "substantially faster", "substantially faster"],
        check: time::runtime,
        anywhere: false,
    },
    ClaimRow {
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
    },
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
    fn row(&self, solver: &str, claim: String, evidence: &str) -> Claim {
        let of_paper = |paper: Paper| CLAIMS[usize::from(self.number) - 1].paper[paper as usize];
        Claim {
            number: self.number,
            dataset: self.dataset.to_owned(),
            title: self.view.title(self.dataset).to_owned(),
            solver: solver.to_owned(),
            claim,
            paper: self.paper.map_or("–", of_paper).to_owned(),
            measured: "–".to_owned(),
            estimate: None,
            verdict: Verdict::NotMeasured,
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
        settings.into_iter().map(|at| judge(at, row(&self.view.series[at].label, ""))).collect()
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
        let sum = |count: fn(&super::Series) -> usize| series.iter().map(|s| count(&self.view.series[*s])).sum();
        match (sum(|series| series.failed), sum(|series| series.censored)) {
            (0usize, _) => String::new(),
            (failed, 0usize) => format!("; {failed} failed"),
            (failed, censored) => format!("; {failed} failed, {censored} of them counted as far as they went"),
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
    for there in judge(regime, &profile::profile(regime)?, &|_| true, &|_| None) {
        // All series of a data set in this view were run at one oracle cost.
        let Some(first) = regime.series_of(&there.dataset).next() else { continue };
        let cost = regime.series[first].key.oracle_cost;
        let key = |claim: &Claim| (claim.number, claim.dataset.clone(), claim.claim.clone());
        let own = claims.iter().position(|own| key(own) == key(&there)).unwrap_or_else(|| {
            // It follows the claims of its number on its data set.
            let before = |own: &Claim| (own.number, own.dataset != there.dataset) <= (there.number, false);
            let at = claims.iter().rposition(before).map_or(claims.len(), |at| at + 1);
            let (measured, evidence) = ("–".to_owned(), ELSEWHERE.to_owned());
            let verdict = Verdict::NotMeasured;
            claims.insert(at, Claim { measured, estimate: None, verdict, evidence, ..there.clone() });
            at
        });
        let Claim { measured, estimate, verdict, evidence, .. } = there;
        claims[own].regime = Some(InRegime { oracle_cost: cost.factor(), measured, estimate, verdict, evidence });
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
    busy::take_back(&mut claims, view);
    claims
}
