//! A result folder in, its manifest, records and tables out.

use std::path::Path;

use super::Frames;
use super::profile::{self, ProfileRow};
use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::optimum;
use crate::settings::Identity;
use crate::text::fits;
use crate::trace::RunRecord;
use crate::trace::manifest::Manifest;
use crate::trace::store::{Contents, Damage, Folder, Store};

/// A result folder in memory.
#[derive(Debug)]
pub struct Results {
    /// Configs, sessions, host, interference.
    pub manifest: Manifest,
    /// The runs of the plan.
    pub records: Vec<RunRecord>,
    /// Files that could not be used, each with what is wrong.
    pub damaged: Vec<Damage>,
    /// The tables of the records.
    pub frames: Frames,
    /// Where the time went.
    pub profile: Vec<ProfileRow>,
}

impl Results {
    /// Reads a folder. One without a single sound run is an error that says what to do. With patterns, only runs whose
    /// `DATASET/SOLVER (PARAMETERS)` fits one of them.
    pub fn open(dir: &Path, catalog: &dyn Catalog, only: &[String]) -> Result<Self> {
        let store = Store::open(dir)?;
        let manifest = store.manifest()?;
        Self::of(dir, manifest, store.scan(Folder::Runs)?, catalog, only)
    }

    /// From what is in memory already; `dir` is for messages.
    pub fn of(
        dir: &Path,
        manifest: Manifest,
        contents: Contents,
        catalog: &dyn Catalog,
        only: &[String],
    ) -> Result<Self> {
        let Contents { mut records, damaged } = contents;
        if records.is_empty() {
            let first = damaged.first().map_or(String::new(), |d| format!(" (first damaged file: {})", d.error));
            return Err(Error::file(
                dir,
                format!(
                    "no run to show, {} damaged files{first}; `ssvm-bench run --config C --out {}` makes them",
                    damaged.len(),
                    dir.display()
                ),
            ));
        }
        if !only.is_empty() {
            records.retain(|record| {
                let cell = record.cell();
                only.iter().any(|pattern| fits(pattern, &cell))
            });
            if records.is_empty() {
                return Err(Error::file(dir, format!("--only {} fits no DATASET/SOLVER in it", only.join(", "))));
            }
        }
        let optima = optimum::Store::known()?;
        let known = |identity: &Identity| {
            let found = optima.find(&identity.data_checksum, identity.lambda, identity.pairwise_weight)?;
            Some((found.lower, found.upper))
        };
        let frames = Frames::with_bounds(&records, catalog, &known)?;
        let profile = profile::profile(&records, &frames)?;
        Ok(Self { manifest, records, damaged, frames, profile })
    }

    /// Lines for stderr: damaged files and failed runs, so that no output hides them.
    pub fn warnings(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.damaged.iter().map(|d| format!("left out: {}", d.error)).collect();
        for series in self.frames.series.iter().filter(|s| s.failed > 0) {
            let all = series.failed + series.completed;
            lines.push(format!("{} of {all} runs failed: {} on {}", series.failed, series.label, series.dataset));
        }
        lines
    }
}
