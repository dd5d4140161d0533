//! The figures as HTML: a result folder in; an index with a sentence on what to see in each, and every figure with that
//! sentence and the words of the paper below its own, out.

use std::fmt::Write as _;

use super::Input;
use crate::error::Result;
use crate::render::figure::{FIGURES, FigureRow, Source};
use crate::text::escape;

/// A figure of a folder: its row and its drawing over all data sets.
pub(super) type Drawing = (&'static FigureRow, String);

/// All figures over all data sets that the results have something for.
pub(super) fn drawings(input: &Input) -> Result<Vec<Drawing>> {
    let source = Source::new(input.results, &[]).knowing(input.league, input.breakeven);
    let datasets = input.results.frames.datasets();
    let mut drawings = Vec::new();
    for row in FIGURES {
        drawings.extend((row.draw)(&source, &datasets)?.map(|svg| (row, svg)));
    }
    Ok(drawings)
}

/// The list of figures with a link to each.
pub(super) fn index<'a>(rows: impl Iterator<Item = &'a FigureRow>) -> String {
    let mut out = String::from("<ul class=\"index\">");
    for row in rows {
        let _ = write!(out, "<li><a href=\"#figure-{}\">{}</a>: {}</li>", row.name, row.title, escape(row.about));
    }
    out + "</ul>"
}

/// What stands below a figure.
pub(super) fn caption(row: &FigureRow) -> String {
    let mut out = format!("<figcaption><p>{}</p>", escape(row.about));
    if let Some(quote) = row.paper {
        let _ =
            write!(out, "<blockquote>“{}” <cite>{}</cite></blockquote>", escape(quote.words), escape(&quote.source()));
    }
    out + "</figcaption>"
}

/// The section.
pub(super) fn html(input: &Input) -> Result<String> {
    let drawings = drawings(input)?;
    let mut out = index(drawings.iter().map(|(row, _)| *row));
    for (row, svg) in &drawings {
        let _ = write!(
            out,
            "<h3 id=\"figure-{}\">{}</h3><figure class=\"drawing\"><div class=\"paper\">{svg}</div>{}</figure>",
            row.name,
            row.title,
            caption(row)
        );
    }
    Ok(out)
}
