//! A folder of figures → a page that shows each with a sentence on what to see, and the paper's caption below its own.

use std::fmt::Write as _;
use std::path::Path;

use super::{FIGURES, FigureRow};
use crate::error::{Error, Result};
use crate::table::Kind::Text;
use crate::table::{Table, cells};

/// How a figure in a folder is linked, the file that pages show best first; a PDF cannot stand in a page.
fn link(dir: &Path, row: &FigureRow) -> Option<String> {
    let kinds = [("svg", "!"), ("png", "!"), ("pdf", "")];
    let (extension, show) = kinds.into_iter().find(|(e, _)| dir.join(format!("{}.{e}", row.name)).is_file())?;
    Some(format!("{show}[{}]({}.{extension})", row.title, row.name))
}

/// Markdown about the figures over all data sets that are in a folder; links are relative to it.
pub fn page(dir: &Path) -> Result<String> {
    let found: Vec<(&FigureRow, String)> = FIGURES.iter().filter_map(|row| Some((row, link(dir, row)?))).collect();
    if found.is_empty() {
        return Err(Error::file(dir, "contains no figures; draw them with `ssvm-bench figures RESULTS --out DIR`"));
    }
    let mut contents = Table::new("", [("figure", Text), ("what to see", Text)]);
    for (row, _) in &found {
        let anchor = row.title.to_lowercase().replace(' ', "-").replace(|c: char| !c.is_alphanumeric() && c != '-', "");
        contents.push(cells![format!("[{}](#{anchor})", row.title), &row.about]);
    }
    let mut page = contents.markdown();
    for (row, link) in &found {
        let _ = write!(page, "\n## {}\n\n{}\n\n{link}\n", row.title, row.about);
        if let Some((words, source)) = row.quote() {
            let _ = write!(page, "\n> “{words}”\n> ({source})\n");
        }
    }
    Ok(page)
}
