//! What `check` and `compare` share: the records they judge, and where their findings go.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;

use super::args::{FormatArgs, json};
use super::terminal::print_width;
use super::{Exit, print, say};
use crate::gate::{Finding, output};
use crate::render::tables::findings;
use crate::store::folder::{Folder, Store};
use crate::store::{RunRecord, files};
use crate::table::Format;

/// Files for other tools.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// Write the verdicts as JUnit XML; - is standard output here and in the next two options
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the values as JSON for github-action-benchmark (customSmallerIsBetter)
    #[arg(long, value_name = "FILE")]
    github_benchmark: Option<PathBuf>,
    /// Write the values in Bencher Metric Format
    #[arg(long, value_name = "FILE")]
    bencher: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

impl OutputArgs {
    /// Tries the folder of every file: a wrong path must not cost the measurement. Fails when one file would replace
    /// another of them, or `other`.
    pub fn check(&self, other: Option<&Path>) -> anyhow::Result<()> {
        let outputs = [&self.junit, &self.github_benchmark, &self.bencher].into_iter().flatten();
        outputs.clone().try_for_each(|path| files::try_folder(path))?;
        let mut seen: Vec<&Path> = other.into_iter().collect();
        for path in outputs {
            if seen.iter().any(|earlier| files::is_same(earlier, path)) {
                bail!("{} is named twice; give every output a file of its own", path.display());
            }
            seen.push(path);
        }
        Ok(())
    }

    /// Writes the files and the step summary, prints the table, gives the verdict.
    pub fn write(&self, title: &str, findings: &[Finding], remark: Option<&str>) -> anyhow::Result<Exit> {
        if let Some(path) = &self.junit {
            files::write_bytes(path, output::junit(title, findings, remark).as_bytes())?;
        }
        if let Some(path) = &self.github_benchmark {
            files::write_bytes(path, output::github_benchmark(findings).as_bytes())?;
        }
        if let Some(path) = &self.bencher {
            files::write_bytes(path, output::bencher(findings).as_bytes())?;
        }
        if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
            files::append(path.as_ref(), format!("{}\n", findings::markdown(title, findings, remark)).as_bytes())?;
        }
        match self.format.format {
            Format::Table => say(&findings::text(findings, remark, print_width()))?,
            Format::Json => print(&json(&output::values(findings, remark))?)?,
            format => print(&findings::table(findings, usize::MAX).render(format, print_width(), &())?)?,
        }
        let failed = findings.iter().any(|finding| finding.judgement.fails());
        Ok(if failed { Exit::GateFailed } else { Exit::Fine })
    }
}

/// The sound records of a folder. Fails if a file is damaged or no record exists.
pub fn records(store: &Store) -> anyhow::Result<Vec<RunRecord>> {
    let contents = store.scan(Folder::Runs)?;
    if let Some(damage) = contents.damaged.into_iter().next() {
        return Err(damage.error.into());
    }
    if contents.records.is_empty() {
        let dir = store.dir().display();
        bail!("{dir}: contains no runs; make them with `ssvm-bench run ci --out {dir}`");
    }
    Ok(contents.records)
}
