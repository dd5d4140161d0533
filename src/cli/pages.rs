//! Result folders as commands read them.

use std::path::{Path, PathBuf};

use super::args::OnlyArgs;
use super::{note, readme};
use crate::experiment::catalog::Catalog;
use crate::render::figure::FigureRow;
use crate::study::{Study, Summary};
use crate::text::Pattern;

/// The results that a command reads.
#[derive(Clone, Debug, clap::Args)]
pub struct FoundIn {
    /// Result folder, or the summary.json of one
    pub results: PathBuf,
    #[command(flatten)]
    only: OnlyArgs,
}

impl FoundIn {
    pub fn summary(&self, catalog: &dyn Catalog) -> anyhow::Result<Summary> {
        summary(&self.results, catalog, &self.only.only)
    }

    /// The same, with the effect of each threshold on the claims, which takes longer.
    pub fn explained(&self, catalog: &dyn Catalog) -> anyhow::Result<Summary> {
        if self.results.is_file() {
            return self.summary(catalog);
        }
        let study = open(&self.results, catalog, &self.only.only)?;
        Ok(Summary::of(&study, &self.results).with_sensitivities(&study))
    }
}

/// The numbers of a result folder, or those of a `summary.json`.
pub fn summary(path: &Path, catalog: &dyn Catalog, only: &[String]) -> anyhow::Result<Summary> {
    if !path.is_file() {
        return Ok(Summary::of(&open(path, catalog, only)?, path));
    }
    let summary = Summary::read(path)?;
    if readme::publishing() {
        readme::publishable(path, &summary)?;
    }
    if only.is_empty() { Ok(summary) } else { only_datasets(summary, path, only) }
}

/// A summary without the data sets that match none of the patterns.
fn only_datasets(mut summary: Summary, path: &Path, only: &[String]) -> anyhow::Result<Summary> {
    if let Some(pattern) = only.iter().find(|pattern| pattern.contains('/')) {
        anyhow::bail!("--only '{pattern}' needs the runs: give the result folder instead of {}", path.display());
    }
    let patterns = only.iter().map(|text| Pattern::new(text)).collect::<Result<Vec<_>, _>>();
    let patterns = patterns.map_err(|error| anyhow::anyhow!("--only: {error}"))?;
    let wanted = |dataset: &str| patterns.iter().any(|pattern| pattern.matches(&format!("{dataset}/")));
    let names: Vec<String> = summary.league.standings.iter().map(|standing| standing.dataset.clone()).collect();
    let (kept, others): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| wanted(name));
    if kept.is_empty() {
        anyhow::bail!(
            "{}: no data set matches --only {}; it has: {}",
            path.display(),
            only.join(", "),
            others.join(", ")
        );
    }
    summary.league = summary.league.only(&kept);
    summary.claims.retain(|claim| wanted(&claim.dataset));
    summary.profile.retain(|row| wanted(&row.dataset));
    summary.regimes.retain(|regime| wanted(&regime.dataset));
    summary.breakeven.sets.retain(|set| wanted(&set.dataset));
    Ok(summary)
}

/// Reads a result folder and warns about what is wrong in it.
pub fn open(folder: &Path, catalog: &dyn Catalog, only: &[String]) -> anyhow::Result<Study> {
    if readme::publishing() {
        anyhow::bail!("{}: is a result folder, but pages show committed summaries", folder.display());
    }
    let results = Study::open(folder, catalog, only)?;
    warn(&results);
    Ok(results)
}

/// Damaged files and failed runs, once.
pub fn warn(results: &Study) {
    for line in results.warnings() {
        note(&format!("warning: {line}"));
    }
}

/// Figures that were not drawn, and why, and the solvers that the figures of the paper do not show.
pub fn note_left_out(rows: &[&FigureRow], results: &Study, solvers: &[String]) {
    for row in rows {
        note(&format!("note: {} is left out: {}", row.name, row.missing));
    }
    let hidden = results.own.hidden(solvers);
    if !hidden.is_empty() {
        let names = hidden.into_iter().collect::<Vec<_>>().join(", ");
        note(&format!(
            "note: the convergence figures do not show {names}, because no more than eight lines are distinct; the figures of \
             the league do, and `ssvm-bench figures RESULTS --only '*/SOLVER'` draws the solvers that it names"
        ));
    }
}
