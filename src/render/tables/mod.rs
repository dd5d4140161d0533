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

/// The first text about a result folder, for a terminal of this width: the verdicts on the paper's claims or, if a solver or data of
/// one's own was run, the fastest solver on each data set, and where the claims are found.
pub fn opening(summary: &Summary, folder: &str, width: usize, color: bool) -> String {
    if !summary.has_paper_data() || summary.has_own() {
        let leads = league::leads(&summary.league).iter().map(|table| table.text(width) + "\n").collect::<String>();
        let claims = if summary.has_paper_data() {
            let found = claims::summary(&summary.claims).replace('\n', "; ");
            format!("The paper's claims: {found}. `ssvm-bench show {folder} claims` shows them.")
        } else {
            NO_CLAIMS.to_owned()
        };
        return leads + &wrapped(&claims, width, 0);
    }
    let mut text = claims::text(&summary.claims, width, false, color);
    if !summary.regimes.is_empty() {
        text.push('\n');
    }
    summary.regimes.iter().fold(text, |text, regime| text + &wrapped(&regime.text(), width, 0))
}
