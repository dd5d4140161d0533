//! Findings → tables and text for people, and long tables for programs: one file per subject.

pub mod breakeven;
pub mod claims;
pub mod findings;
pub mod league;
pub mod long;
pub mod profile;

use crate::study::Summary;
use crate::text::wrapped;

/// Why a text about a folder without data of the paper has no claims.
pub const NO_CLAIMS: &str = "The paper's claims are left out: none of its data sets was run.";

/// The first text about a result folder, for a terminal of this width: the verdicts on the paper's claims or, if no data set of the
/// paper was run, the fastest solver on each data set.
pub fn opening(summary: &Summary, width: usize, color: bool) -> String {
    if !summary.has_paper_data() {
        let leads = league::leads(&summary.league).iter().map(|table| table.text(width) + "\n").collect::<String>();
        return leads + &wrapped(NO_CLAIMS, width, 0);
    }
    let mut text = claims::text(&summary.claims, width, false, color);
    if !summary.regimes.is_empty() {
        text.push('\n');
    }
    summary.regimes.iter().fold(text, |text, regime| text + &wrapped(&regime.text(), width, 0))
}
