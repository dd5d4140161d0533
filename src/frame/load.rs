//! A result folder in, its manifest, records and tables out.

use std::path::Path;

use super::Frames;
use crate::error::{Error, Result};
use crate::trace::RunRecord;
use crate::trace::manifest::Manifest;
use crate::trace::store::{Damage, Shelf, Store};

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
}

impl Results {
    /// Reads a folder. One without a single sound run is an error that says what to do.
    pub fn open(dir: &Path) -> Result<Self> {
        let store = Store::open(dir)?;
        let manifest = store.manifest()?;
        let contents = store.scan(Shelf::Runs)?;
        if contents.records.is_empty() {
            let first =
                contents.damaged.first().map_or(String::new(), |d| format!(" (first damaged file: {})", d.error));
            return Err(Error::file(
                dir,
                format!(
                    "no run to show, {} damaged files{first}; `ssvm-bench run --config C --out {}` makes them",
                    contents.damaged.len(),
                    dir.display()
                ),
            ));
        }
        let frames = Frames::new(&contents.records)?;
        Ok(Self { manifest, records: contents.records, damaged: contents.damaged, frames })
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
