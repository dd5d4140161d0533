//! Claims on data sets that were timed on a busy machine.

use super::thresholds::Bars;
use super::{Claim, Reason, Verdict};
use crate::study::View;
use crate::study::busy::Disturbed;
use ssvm::problem::Paper;

/// Makes verdicts on disturbed data sets undecided. This affects every claim, because the slope rule reads the clock, and claim 2 also
/// if USPS was disturbed.
pub(super) fn take_back(claims: &mut [Claim], view: &View, bars: &Bars) {
    for (dataset, disturbed) in busy(view, bars) {
        let usps = view.paper(dataset) == Some(Paper::Usps);
        for claim in claims.iter_mut().filter(|claim| claim.dataset == dataset || claim.number == 2 && usps) {
            if matches!(claim.verdict, Verdict::Holds | Verdict::DoesNotHold) {
                (claim.verdict, claim.reason) = (Verdict::Undecided, Some(Reason::Busy));
                claim.evidence += &format!("; {}", disturbed.text(&format!("on {}", view.title(dataset)), bars));
            }
        }
    }
}

/// The disturbed data sets, with their numbers of disturbed and of all runs.
pub(super) fn busy<'a>(view: &'a View, bars: &Bars) -> Vec<(&'a str, Disturbed)> {
    let all = view.datasets().into_iter().map(|dataset| (dataset, view.disturbed(dataset, bars)));
    all.filter(|(_, disturbed)| disturbed.is_busy(bars)).collect()
}
