//! The claims of the paper: one row per claim and data set with the paper's value, the measured value, a verdict and the
//! evidence. A claim that does not hold is a result.
//!
//! Every number is computed from curves over log-iterations or log-time, so that it does not depend on how often runs were evaluated.
//! It has an interval over seeds; if the interval contains the threshold, the claim is undecided. [`thresholds::THRESHOLDS`] lists all
//! thresholds.

mod busy;
mod claim;
mod convergence;
mod equal_iterations;
mod gaps;
mod parameters;
mod rows;
mod sensitivity;
mod subject;
pub mod thresholds;
mod time;
mod verdict;

pub use super::estimate::Estimate;
pub use claim::{Claim, InRegime, Reason, Verdict};
pub use rows::{CLAIMS, ClaimRow};
pub use sensitivity::{Sensitivity, sensitivity};

use super::profile::ProfileRow;
use super::{Series, Study, View};
use rows::{MULTI, SINGLE};
use ssvm::problem::Paper;
use subject::{Subject, common_end};
use thresholds::Bars;

/// Shown as the paper's value for a data set that is not in the paper.
pub const NOT_OF_PAPER: &str = "–";

/// Evidence of the row of a data set that the folder does not have.
pub const ABSENT: &str = "no data set of this family in the folder";

/// The same for a data set that was run only at other oracle costs.
const ELSEWHERE: &str = "no run at the oracle's own cost";

/// All claims, ordered by number and data set: on this machine, and in the paper's regime where it was run.
pub fn check(study: &Study) -> Vec<Claim> {
    check_rows(study, CLAIMS, &Bars::default())
}

fn check_rows(study: &Study, rows: &'static [ClaimRow], bars: &Bars) -> Vec<Claim> {
    let view = &study.own;
    // Runs at other oracle costs are no evidence about the machine as it is.
    let own = |dataset: &str| view.series_of(dataset).all(|s| view.series[s].key.oracle_cost.is_one());
    let has = |view: &View, paper| view.series.iter().any(|series| series.paper == Some(paper));
    // Data sets of the paper without a run at oracle cost 1.
    let without = |paper: Paper| match &study.regime {
        Some(regime) if has(regime, paper) => None,
        _ if has(view, paper) => Some(ELSEWHERE),
        _ => Some(ABSENT),
    };
    let here = Circumstances { view, profile: &study.profile, in_regime: false, rows, bars };
    let mut claims = here.judge(&own, &without);
    let Some(regime) = &study.regime else { return claims };
    let there = Circumstances { view: regime, profile: &study.regime_profile, in_regime: true, rows, bars };
    for there in there.judge(&|_| true, &|_| None) {
        // All series of a data set in this view were run at one oracle cost.
        let Some(first) = regime.series_of(&there.dataset).next() else { continue };
        let cost = regime.series[first].key.oracle_cost;
        // Runs at oracle cost 1 are judged already, except for an effect that is compared with USPS at another cost.
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
            claims.insert(
                at,
                Claim { measured, estimate: None, verdict, reason: None, circular: false, evidence, ..there.clone() },
            );
            at
        });
        let Claim { measured, estimate, verdict, reason, circular, evidence, .. } = there;
        let oracle_cost = cost.factor();
        claims[own].regime = Some(InRegime { oracle_cost, measured, estimate, verdict, reason, circular, evidence });
    }
    claims
}

/// A view, and the settings by which it is judged.
struct Circumstances<'a> {
    view: &'a View,
    profile: &'a [ProfileRow],
    in_regime: bool,
    rows: &'static [ClaimRow],
    bars: &'a Bars,
}

impl Circumstances<'_> {
    /// All claims on the data sets of the view that are wanted; one of the paper that it does not have gets a row with
    /// the reason, unless `without` has no words for it.
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
