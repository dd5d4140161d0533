//! Results → what people look at: figures, tables, report, claims, summary. Everything is computed once.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::note;
use crate::experiment::catalog::Catalog;
use crate::gate::folders;
use crate::gate::measure::by_cell;
use crate::gate::rounds::Design;
use crate::render::figure::{self, FileFormat};
use crate::render::report::{self, Beside, Input};
use crate::render::tables::long;
use crate::store::files;
use crate::study::claims::{self, Claim};
use crate::study::frame::export;
use crate::study::frame::load::Results;
use crate::study::frame::profile::ProfileRow;
use crate::study::frame::regime::Regime;
use crate::study::league::League;
use crate::study::price::BreakEven;

/// The numbers of a result folder that texts quote: small enough to be committed.
#[derive(Serialize, Deserialize)]
pub struct Summary {
    /// Name of the config.
    pub name: String,
    /// The program that made it.
    pub code: String,
    /// The machine it was made on.
    pub host: String,
    /// The claims of the paper.
    pub claims: Vec<Claim>,
    /// Where the time went.
    pub profile: Vec<ProfileRow>,
    /// Everybody against everybody.
    #[serde(default)]
    pub league: League,
    /// What the oracle costs in the paper.
    #[serde(default)]
    pub regimes: Vec<Regime>,
    /// Solvers over the price of the oracle.
    #[serde(default)]
    pub breakeven: BreakEven,
}

impl Summary {
    /// Of results.
    pub fn of(results: &Results, folder: &Path) -> crate::Result<Self> {
        let session = results.manifest.sessions.last();
        Ok(Self {
            name: name(results, folder),
            code: session.map_or_else(String::new, |s| format!("{} {}", s.code.version, s.code.commit)),
            host: session.map_or_else(String::new, |s| format!("{}, {} cores", s.host.cpu, s.host.cores)),
            claims: claims::check(results)?,
            profile: results.profile.clone(),
            league: League::of(&results.frames)?,
            regimes: results.regimes.clone(),
            breakeven: BreakEven::of(results)?,
        })
    }

    /// Of a result folder, or read from a `summary.json`.
    pub fn open(path: &Path, catalog: &dyn Catalog, only: &[String]) -> anyhow::Result<Self> {
        if path.is_file() && !only.is_empty() {
            anyhow::bail!("--only needs the runs: give the result folder instead of {}", path.display());
        }
        if path.is_file() {
            let text = files::read_text(path)?;
            return serde_json::from_str(&text)
                .with_context(|| format!("{} is not a summary.json of this program", path.display()));
        }
        Ok(Self::of(&open(path, catalog, only)?, path)?)
    }
}

/// The last config names the results better than a folder does.
fn name(results: &Results, folder: &Path) -> String {
    let folder = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
    results.manifest.configs.last().map_or(folder.into_owned(), |config| config.name.clone())
}

/// Reads a result folder and says what is wrong in it.
pub fn open(folder: &Path, catalog: &dyn Catalog, only: &[String]) -> anyhow::Result<Results> {
    let results = Results::open(folder, catalog, only)?;
    warn(&results);
    Ok(results)
}

/// Damaged files and failed runs, once.
pub fn warn(results: &Results) {
    results.warnings().iter().for_each(|line| note(&format!("warning: {line}")));
}

/// Writes the figures, those of the paper with these solvers; returns the files.
pub fn figures(
    results: &Results,
    out: &Path,
    formats: &[FileFormat],
    solvers: &[String],
) -> crate::Result<Vec<PathBuf>> {
    let (figures, left_out) = figure::all(results, solvers)?;
    for row in left_out {
        note(&format!("note: {}, {} is left out", row.missing, row.name));
    }
    figure::write(&figures, out, formats)
}

/// Writes the tables behind figures and league as Parquet and CSV; returns the files.
pub fn tables(results: &Results, league: &League, dir: &Path) -> crate::Result<Vec<PathBuf>> {
    let mut tables = export::tables(&results.frames)?;
    tables.extend(long::tables(league)?);
    let names = [export::write_parquet(&tables, dir)?, export::write_csv(&tables, dir)?].concat();
    Ok(names.into_iter().map(|name| dir.join(name)).collect())
}

/// Writes the page.
pub fn report(results: &Results, summary: &Summary, out: &Path) -> crate::Result<()> {
    let Summary { name, claims, league, breakeven, .. } = summary;
    let html = report::html(&Input { name, results, claims, league, breakeven })?;
    files::write_bytes(out, html.as_bytes())
}

/// Writes the page about two folders, called by these names.
pub fn report_of_two(
    names: [String; 2],
    results: [&Results; 2],
    summaries: [&Summary; 2],
    out: &Path,
) -> crate::Result<()> {
    let findings = by_cell(&results[0].records).and_then(|old| {
        let new = by_cell(&results[1].records)?;
        folders::compare(&old, &new, &Design::default())
    });
    let side = |at: usize| Input {
        name: &names[at],
        results: results[at],
        claims: &summaries[at].claims,
        league: &summaries[at].league,
        breakeven: &summaries[at].breakeven,
    };
    let findings = findings.map_err(|error| error.to_string());
    let html = report::side_by_side(&Beside { sides: [side(0), side(1)], findings })?;
    files::write_bytes(out, html.as_bytes())
}

/// Writes `summary.json` into the result folder.
pub fn summary(summary: &Summary, folder: &Path) -> anyhow::Result<PathBuf> {
    let path = folder.join("summary.json");
    files::write_bytes(&path, (serde_json::to_string_pretty(summary)? + "\n").as_bytes())?;
    Ok(path)
}
