//! What was found in a result folder, computed once: the numbers that figures, tables, report and texts quote.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::store::files;
use crate::study::Study;
use crate::study::break_even::BreakEven;
use crate::study::claims::thresholds::Sensitivity;
use crate::study::claims::{self, Claim};
use crate::study::league::League;
use crate::study::profile::ProfileRow;
use crate::study::regime::Regime;

/// The numbers of a result folder: `summary.json`, small enough to be committed.
#[derive(Serialize, Deserialize)]
pub struct Summary {
    pub name: String,
    pub code: String,
    pub host: String,
    pub claims: Vec<Claim>,
    /// What each threshold of the claims decides; computed only for pages and for those who ask.
    #[serde(default)]
    pub sensitivities: Vec<Sensitivity>,
    pub profile: Vec<ProfileRow>,
    #[serde(default)]
    pub league: League,
    #[serde(default)]
    pub regimes: Vec<Regime>,
    #[serde(default)]
    pub breakeven: BreakEven,
}

impl Summary {
    /// Of results; the last config names them, or their folder where no config is known.
    pub fn of(results: &Study, folder: &Path) -> Result<Self> {
        let session = results.manifest.sessions.last();
        let folder = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        Ok(Self {
            name: results.manifest.configs.last().map_or(folder.into_owned(), |config| config.name.clone()),
            code: session.map_or_else(String::new, |s| format!("{} {}", s.code.version, s.code.commit)),
            host: session.map_or_else(String::new, |s| format!("{}, {} cores", s.host.cpu, s.host.cores)),
            claims: claims::check(results)?,
            sensitivities: Vec::new(),
            profile: results.profile.clone(),
            league: League::of(&results.own),
            regimes: results.regimes.clone(),
            breakeven: BreakEven::of(results),
        })
    }

    pub fn with_sensitivities(self, results: &Study) -> Result<Self> {
        Ok(Self { sensitivities: claims::sensitivity(results)?, ..self })
    }

    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)?;
        serde_json::from_str(&text)
            .map_err(|error| Error::file(path, format!("is not a summary.json of this program: {error}")))
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::file(path, format!("the summary cannot be written: {error}")))?;
        files::write_bytes(path, (text + "\n").as_bytes())
    }
}
