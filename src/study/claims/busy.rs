//! Data sets that were timed while the machine did something else: nothing that depends on their wall time is decided.

use super::thresholds::{Bar, Bars};
use super::{Claim, Reason, Verdict};
use crate::store::RunRecord;
use crate::study::View;
use ssvm::problem::Paper;

/// Takes back the verdicts that rest on a disturbed data set. Passes are chosen by the clock, so this concerns every claim;
/// claim 2 compares with USPS.
pub(super) fn take_back(claims: &mut [Claim], view: &View, bars: &Bars) {
    for (dataset, few, runs) in disturbed(view, bars) {
        let usps = view.paper(dataset) == Some(Paper::Usps);
        for claim in claims.iter_mut().filter(|claim| claim.dataset == dataset || claim.number == 2 && usps) {
            if matches!(claim.verdict, Verdict::Holds | Verdict::DoesNotHold) {
                (claim.verdict, claim.reason) = (Verdict::Undecided, Some(Reason::Busy));
                claim.evidence += &format!(
                    "; the machine was busy: {few} of {runs} runs on {} got less than {:.0} % of a core; measure again when it \
                     is quiet",
                    view.title(dataset),
                    100.0 * bars[Bar::WholeCore]
                );
            }
        }
    }
}

/// The data sets that were disturbed, with how many of how many runs.
pub(super) fn disturbed<'a>(view: &'a View, bars: &Bars) -> Vec<(&'a str, usize, usize)> {
    let mut sets = Vec::new();
    for dataset in view.datasets() {
        let shares = shares(view, dataset);
        let few = shares.iter().filter(|share| **share < bars[Bar::WholeCore]).count();
        if few as f64 > bars[Bar::Disturbed] * shares.len() as f64 {
            sets.push((dataset, few, shares.len()));
        }
    }
    sets
}

/// What part of a core each run got, where that is known.
pub(super) fn shares(view: &View, dataset: &str) -> Vec<f64> {
    view.series_of(dataset).flat_map(|series| view.records_of(series)).filter_map(RunRecord::core_share).collect()
}
