//! Result tables → one self-contained HTML page: tables and figures rendered here, plots drawn in the page by its own
//! script from JSON inside it. Two result folders → one page with both side by side. No network, no file beside it.

mod beside;
mod certified;
mod data;
mod figures;
mod league;
mod price;
mod sections;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub use beside::{Beside, html as side_by_side};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::study::Study;
use crate::study::claims::Claim;
use crate::study::league::League;
use crate::study::price::BreakEven;
use crate::text::escape;

const PAGE: &str = concat!(include_str!("head.html"), include_str!("page.html"));
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// What every page with tables needs.
const TABLES: &str = include_str!("tables.js");

/// What the page shows.
pub struct Input<'a> {
    /// Heading, such as the name of the result folder.
    pub name: &'a str,
    /// Records, tables, manifest, files that were left out.
    pub results: &'a Study,
    /// The verdicts.
    pub claims: &'a [Claim],
    /// Everybody against everybody.
    pub league: &'a League,
    /// Solvers over the price of the oracle.
    pub breakeven: &'a BreakEven,
}

/// The page.
pub fn html(input: &Input) -> Result<String> {
    // Inside a script element only `<` can end it or open a comment.
    let json = data::json(&input.results.frames)?.replace('<', "\\u003c");
    let script = format!("{TABLES}{SCRIPT}");
    let parts = [
        ("{{policy}}", policy(&script)),
        ("{{title}}", escape(input.name)),
        ("{{style}}", STYLE.to_owned()),
        ("{{summary}}", sections::summary(input)),
        ("{{claims}}", sections::claims(input.claims)),
        ("{{oracle}}", sections::oracle(input)),
        ("{{targets}}", sections::targets(&input.results.frames)?),
        ("{{figures}}", figures::html(input)?),
        ("{{league}}", league::html(input)),
        ("{{price}}", price::html(input)),
        ("{{certified}}", certified::html(&input.results.frames)?),
        ("{{runs}}", sections::runs(input)?),
        ("{{environment}}", sections::environment(input)),
        ("{{data}}", json),
        ("{{script}}", script),
    ];
    Ok(fill(PAGE, &parts))
}

/// A page runs its own script and nothing else, and asks nobody for anything: what a name might smuggle in is dead.
/// Attributes may have a style of their own: the figures do.
fn policy(script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src-elem 'sha256-{}'; style-src-attr 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

/// Replaces each mark once, in the order of the page, so that text put in is never searched for marks.
fn fill(page: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((at, mark, text)) =
        parts.iter().filter_map(|(mark, text)| rest.find(mark).map(|at| (at, *mark, text))).min_by_key(|(at, ..)| *at)
    {
        out.push_str(&rest[..at]);
        out.push_str(text);
        rest = &rest[at + mark.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_put_in_is_not_searched_for_marks() {
        let parts = [("{{a}}", "<{{b}}>".to_owned()), ("{{b}}", "B".to_owned())];
        assert_eq!(fill("1{{a}}2{{b}}3{{a}}", &parts), "1<{{b}}>2B3<{{b}}>");
    }

    #[test]
    fn every_mark_of_the_page_is_known() {
        let known = [
            "policy",
            "title",
            "style",
            "summary",
            "claims",
            "oracle",
            "targets",
            "figures",
            "league",
            "price",
            "certified",
            "runs",
            "environment",
            "data",
            "script",
        ];
        for part in PAGE.split("{{").skip(1) {
            let mark = part.split("}}").next().unwrap_or_default();
            assert!(known.contains(&mark), "{mark}");
        }
    }
}
