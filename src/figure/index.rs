//! A folder of figures in; a page that shows each with a sentence on what to see, and the paper's words below its own, out.

use std::fmt::Write as _;
use std::path::Path;

use super::{FIGURES, FigureRow};
use crate::error::{Error, Result};

/// The file of a figure in a folder, the one that pages show best first.
fn file(dir: &Path, row: &FigureRow) -> Option<String> {
    let names = ["svg", "png", "pdf"].map(|extension| format!("{}.{extension}", row.name));
    names.into_iter().find(|name| dir.join(name).is_file())
}

/// Markdown about the figures over all data sets that are in a folder; links are relative to it.
pub fn page(dir: &Path) -> Result<String> {
    let found: Vec<(&FigureRow, String)> = FIGURES.iter().filter_map(|row| Some((row, file(dir, row)?))).collect();
    if found.is_empty() {
        let message = "no figure is in it; `ssvm-bench figures RESULTS --out DIR` draws them";
        return Err(Error::file(dir, message));
    }
    let mut page = String::from("| figure | what to see |\n| --- | --- |\n");
    for (row, _) in &found {
        let anchor = row.title.to_lowercase().replace(' ', "-").replace(|c: char| !c.is_alphanumeric() && c != '-', "");
        let _ = writeln!(page, "| [{}](#{anchor}) | {} |", row.title, row.about);
    }
    for (row, file) in &found {
        let _ = write!(page, "\n## {}\n\n{}\n\n", row.title, row.about);
        // A PDF cannot stand in a page.
        let show = if file.ends_with(".pdf") { "" } else { "!" };
        let _ = writeln!(page, "{show}[{}]({file})", row.title);
        if let Some(quote) = row.paper {
            let _ = write!(page, "\n> “{}”\n> ({})\n", quote.words, quote.source());
        }
    }
    Ok(page)
}
