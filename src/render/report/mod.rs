//! Results → one self-contained HTML page: tables and figures as they are elsewhere, and plots that a script of the page draws
//! from JSON inside it. Two result folders → one page with both side by side. No network, no file beside it.

mod beside;
mod data;
mod sections;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

pub use beside::{Beside, html as side_by_side};

use super::figure::{Figure, FigureRow};
use crate::error::Result;
use crate::study::{Study, Summary};

const STYLE: &str = include_str!("page.css");
const TABLES: &str = include_str!("tables.js");
const PLOTS: &str = include_str!("page.js");

#[derive(Clone, Copy)]
pub struct Page<'a> {
    /// Heading, such as the name of the result folder.
    pub name: &'a str,
    pub results: &'a Study,
    pub summary: &'a Summary,
    /// Drawings; the page shows those over all data sets.
    pub figures: &'a [Figure],
}

/// A section of a page with a link to it at the top.
struct PageSection {
    id: &'static str,
    title: &'static str,
    /// How to read it; may be empty.
    hint: &'static str,
    body: Markup,
}

/// The page about one folder.
pub fn html(page: &Page) -> Result<String> {
    // Inside a script element only `<` can end it or open a comment.
    let json = data::json(&page.results.own)?.replace('<', "\\u003c");
    let header = sections::summary(page);
    Ok(shell(page.name, &header, &sections::all(page), Some(&json)))
}

/// A whole page: header, links to the sections, the sections. With data for plots also the script that draws them.
fn shell(title: &str, header: &Markup, sections: &[PageSection], data: Option<&str>) -> String {
    let script = if data.is_some() { format!("{TABLES}{PLOTS}") } else { TABLES.to_owned() };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – ssvm-bench" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    (header)
                    nav aria-label="Sections" {
                        @for section in sections { a href={ "#" (section.id) } { (section.title) } " " }
                    }
                }
                main {
                    @for section in sections {
                        section id=(section.id) {
                            h2 { (section.title) }
                            @if !section.hint.is_empty() { p.hint { (PreEscaped(section.hint)) } }
                            (section.body)
                        }
                    }
                }
                @if let Some(json) = data { script type="application/json" id="data" { (PreEscaped(json)) } }
                script { (PreEscaped(&script)) }
            }
        }
    };
    page.into_string()
}

/// A page runs its own script only and loads nothing, so a script hidden in a name cannot run. Style attributes are allowed, because
/// the figures have them.
fn policy(script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src-elem 'sha256-{}'; style-src-attr 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

fn index<'a>(rows: impl Iterator<Item = &'a FigureRow>) -> Markup {
    html! {
        ul.index { @for row in rows { li { a href={ "#figure-" (row.name) } { (row.title) } ": " (row.about) } } }
    }
}

/// What to see; with `paper`, also the caption of the paper's figure.
fn caption(row: &FigureRow, paper: bool) -> Markup {
    html! {
        figcaption {
            p { (row.about) }
            @if let Some((words, source)) = row.quote().filter(|_| paper) { blockquote { "“" (words) "” " cite { (source) } } }
        }
    }
}
