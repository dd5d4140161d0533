//! The claims of the paper: tables in; one row per claim and data set with the paper's value, the measured value, a
//! verdict and the evidence out. Pure: printing is elsewhere, and a claim that does not hold is a result.
//!
//! Every number is one of curves over log-iterations or log-time, so that it does not depend on how often runs were
//! evaluated, and has an interval over seeds; one that covers its threshold decides nothing. Every threshold that the
//! paper leaves to the reader is a constant beside its check and is named in the evidence.

mod busy;
mod convergence;
mod pairs;
mod parameters;
mod time;
mod verdict;

pub use crate::study::estimate::Estimate;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::store::RunRecord;
use crate::study::frame::curve::{self, Curve};
use crate::study::frame::load::Results;
use crate::study::frame::profile::ProfileRow;
use crate::study::frame::{Frames, names};
use ssvm::problem::Paper;

/// Evidence of the row of a data set that is not there.
const ABSENT: &str = "no data set of this family in the folder";

/// The same of one that was run at other prices.
const ELSEWHERE: &str = "no run at the oracle's own price";

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The measured value agrees.
    Holds,
    /// It does not.
    DoesNotHold,
    /// The interval of the measured value covers the threshold, there are too few repeats for one, or the machine was busy.
    Undecided,
    /// The folder has no runs that could tell.
    NotMeasured,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
        }
    }

    /// One sign for tables.
    pub fn mark(self) -> char {
        match self {
            Self::Holds => '✓',
            Self::DoesNotHold => '✗',
            Self::Undecided => '?',
            Self::NotMeasured => '–',
        }
    }
}

/// One claim on one data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Number in section 5 of the specification: its place in [`CLAIMS`] from 1.
    pub number: u8,
    /// Data set; the paper's name for it when the folder has none of it.
    pub dataset: String,
    /// Its heading.
    pub title: String,
    /// The solver it is about, with its settings where a folder has several.
    pub solver: String,
    /// What is claimed.
    pub claim: String,
    /// The paper's value.
    pub paper: String,
    /// The measured value in words, with its interval.
    pub measured: String,
    /// The number that the verdict turns on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// What came out.
    pub verdict: Verdict,
    /// How the value was taken, over how many runs, and what limits it.
    pub evidence: String,
    /// The same where the oracle costs what it did in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regime: Option<InRegime>,
}

/// What came out in the paper's regime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InRegime {
    /// The price of the oracle.
    pub oracle_cost: f64,
    /// The measured value in words, with its interval.
    pub measured: String,
    /// The number that the verdict turns on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// What came out.
    pub verdict: Verdict,
    /// How the value was taken.
    pub evidence: String,
}

impl Claim {
    /// The verdict in the paper's regime.
    pub fn in_regime(&self) -> Verdict {
        self.regime.as_ref().map_or(Verdict::NotMeasured, |regime| regime.verdict)
    }
}

/// One row of the table of claims.
pub struct ClaimRow {
    /// What the paper says, in a line.
    pub title: &'static str,
    /// What a table says when a folder has no data set to check it on.
    pub short: &'static str,
    /// The solver it is mainly about.
    pub solver: &'static str,
    /// The paper's value for one of its data sets; `None` when it says nothing about that one.
    pub paper: fn(Paper) -> Option<&'static str>,
    /// Checks it on one data set.
    check: fn(&Study<'_>, &Subject<'_>, &mut Vec<Claim>),
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

/// The part of a result folder the checks read.
struct Study<'a> {
    frames: &'a Frames,
    profile: &'a [ProfileRow],
    /// Per series.
    curves: &'a [Vec<Curve>],
    /// Oracle shares of the repeats per series.
    shares: Vec<Vec<f64>>,
}

/// What is checked: a claim on a data set.
struct Subject<'a> {
    number: u8,
    dataset: &'a str,
    /// `None` for a data set that the paper does not have.
    paper: Option<Paper>,
}

impl Subject<'_> {
    /// A row of the claim; the rest is filled in by its check.
    fn row(&self, frames: &Frames, solver: &str, claim: String) -> Claim {
        let words = self.paper.and_then(CLAIMS[usize::from(self.number) - 1].paper);
        Claim {
            number: self.number,
            dataset: self.dataset.to_owned(),
            title: frames.title(self.dataset).to_owned(),
            solver: solver.to_owned(),
            claim,
            paper: words.unwrap_or("–").to_owned(),
            measured: "–".to_owned(),
            estimate: None,
            verdict: Verdict::NotMeasured,
            evidence: String::new(),
            regime: None,
        }
    }
}

/// All claims, ordered by number and data set: on this machine, and in the paper's regime where there are runs in it.
pub fn check(results: &Results) -> Result<Vec<Claim>> {
    let Results { records, frames, profile, .. } = results;
    // A data set that was only run at other prices says nothing about the machine as it is.
    let own = |dataset: &str| frames.series_of(dataset).all(|s| !frames.series[s].facts.contains_key(names::PRICE));
    let regime = results.regime.as_deref();
    // What the folder has of a data set of the paper when it has no run at the oracle's own price.
    let without = |paper: Paper| match regime {
        Some(regime) if has(&regime.frames, paper) => None,
        _ if has(frames, paper) => Some(ELSEWHERE),
        _ => Some(ABSENT),
    };
    let mut claims = judge(records, frames, profile, &own, &without)?;
    let Some(Results { records, frames, profile, .. }) = regime else { return Ok(claims) };
    for claim in judge(records, frames, profile, &|_| true, &|_| None)? {
        let price = results.regimes.iter().find(|regime| regime.dataset == claim.dataset).and_then(|r| r.runs);
        let Some((cost, _)) = price else { continue };
        let Claim { measured, estimate, verdict, evidence, .. } = claim.clone();
        let regime = Some(InRegime { oracle_cost: cost.factor(), measured, estimate, verdict, evidence });
        let same = |other: &&mut Claim| {
            (other.number, &other.dataset, &other.claim) == (claim.number, &claim.dataset, &claim.claim)
        };
        if let Some(own) = claims.iter_mut().find(same) {
            own.regime = regime;
            continue;
        }
        let evidence = ELSEWHERE.to_owned();
        let (measured, verdict, estimate) = ("–".to_owned(), Verdict::NotMeasured, None);
        let row = Claim { measured, estimate, verdict, evidence, regime, ..claim };
        let before = |other: &Claim| (other.number, other.dataset != row.dataset) <= (row.number, false);
        let at = claims.iter().rposition(before).map_or(claims.len(), |at| at + 1);
        claims.insert(at, row);
    }
    Ok(claims)
}

fn has(frames: &Frames, paper: Paper) -> bool {
    frames.datasets().into_iter().any(|dataset| frames.paper(dataset) == Some(paper))
}

/// All claims on some runs and the data sets that are wanted; one of the paper that is not there gets a row that says why,
/// unless `without` has no words for it.
fn judge(
    records: &[RunRecord],
    frames: &Frames,
    profile: &[ProfileRow],
    wanted: &dyn Fn(&str) -> bool,
    without: &dyn Fn(Paper) -> Option<&'static str>,
) -> Result<Vec<Claim>> {
    let curves = curve::curves(frames)?;
    let study = Study { frames, profile, curves: &curves, shares: time::shares(frames)? };
    let datasets: Vec<&str> = frames.datasets().into_iter().filter(|dataset| wanted(dataset)).collect();
    let mut claims = Vec::new();
    for (number, row) in (1..).zip(CLAIMS) {
        for paper in Paper::ALL {
            let Some(words) = (row.paper)(paper) else { continue };
            let mut members = datasets.iter().filter(|dataset| frames.paper(dataset) == Some(paper)).peekable();
            if members.peek().is_none() {
                claims.extend(without(paper).map(|evidence| absent(number, row, paper, words, evidence)));
            }
            for dataset in members {
                (row.check)(&study, &Subject { number, dataset, paper: Some(paper) }, &mut claims);
            }
        }
        for dataset in datasets.iter().filter(|dataset| row.anywhere && frames.paper(dataset).is_none()) {
            (row.check)(&study, &Subject { number, dataset, paper: None }, &mut claims);
        }
    }
    let busy = busy::busy(records, frames);
    for claim in &mut claims {
        busy::take_back(claim, frames, &busy);
    }
    Ok(claims)
}

/// The row of a data set of the paper that the folder has nothing of.
fn absent(number: u8, row: &ClaimRow, paper: Paper, words: &str, evidence: &str) -> Claim {
    Claim {
        number,
        dataset: paper.name().to_owned(),
        title: paper.name().to_owned(),
        solver: row.solver.to_owned(),
        claim: row.short.to_owned(),
        paper: words.to_owned(),
        measured: "–".to_owned(),
        estimate: None,
        verdict: Verdict::NotMeasured,
        evidence: evidence.to_owned(),
        regime: None,
    }
}

impl Claim {
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
