//! The findings in a result folder, computed once: the numbers in figures, tables, report and texts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Study;
use super::break_even::BreakEven;
use super::busy::Disturbed;
use super::claims::Sensitivity;
use super::claims::thresholds::{Bar, Bars};
use super::claims::{self, Claim};
use super::league::League;
use super::profile::ProfileRow;
use super::regime::Regime;
use crate::error::{Error, Result};
use crate::store::keys::SeriesKey;
use crate::store::manifest::{Manifest, is_committed};
use crate::store::{RunRecord, files};
use crate::text::number;
use ssvm::clock::ClockKind;

/// Version of the rules by which verdicts and intervals are made; raised when the same runs would be judged differently.
const RULES: u32 = 3;

/// The numbers of a result folder: `summary.json`, small enough to be committed.
#[derive(Serialize, Deserialize)]
pub struct Summary {
    pub name: String,
    pub code: String,
    pub host: String,
    /// [`RULES`] of the program that judged them; 0 in a file of an older one.
    #[serde(default)]
    pub rules: u32,
    /// `None` in a file of an older program.
    #[serde(default)]
    pub origin: Option<Origin>,
    pub claims: Vec<Claim>,
    /// How many verdicts each threshold changes; computed only for pages and on request.
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
    /// The summary of a study. Its name is that of the last config, or of the folder if no config is known.
    pub fn of(results: &Study, folder: &Path) -> Self {
        let session = results.manifest.sessions.last();
        let folder = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        Self {
            name: results.manifest.configs.last().map_or(folder.into_owned(), |config| config.name.clone()),
            code: session.map_or_else(String::new, |s| s.code.version.clone()),
            host: session.map_or_else(String::new, |s| format!("{}, {} cores", s.host.cpu, s.host.cores)),
            rules: RULES,
            origin: Some(Origin::of(&results.own.points.records, &results.manifest)),
            claims: claims::check(results),
            sensitivities: Vec::new(),
            profile: results.profile.clone(),
            league: League::of(&results.own),
            regimes: results.regimes.clone(),
            breakeven: BreakEven::of(results),
        }
    }

    #[must_use]
    pub fn with_sensitivities(self, results: &Study) -> Self {
        Self { sensitivities: claims::sensitivity(results), ..self }
    }

    /// Whether it has runs on a data set of the paper, or on a synthetic stand-in of one.
    pub fn has_paper_data(&self) -> bool {
        self.claims.iter().any(|claim| claim.paper != claims::NOT_OF_PAPER && claim.evidence != claims::ABSENT)
    }

    /// Whether it has runs of a solver or on data of one's own. Then the first question is who is fastest.
    pub fn has_own(&self) -> bool {
        self.league.standings.iter().any(|standing| standing.own)
    }

    /// A remark if verdicts and intervals are those of another version of this program.
    pub fn remark(&self) -> Option<String> {
        let code = &self.code;
        (self.rules != RULES).then(|| {
            format!(
                "Verdicts and intervals are those of an earlier version (code {code}), which had other rules or \
                 thresholds; they have not been computed again."
            )
        })
    }

    /// Why its numbers must not be published, as far as the file itself shows it.
    pub fn objections(&self) -> Vec<String> {
        let origin = self.origin.clone().unwrap_or_default();
        let mut objections = origin.objections();
        if self.code.ends_with("-dirty") {
            objections.push(format!("it was made by code that is not committed ({})", self.code));
        }
        let timed =
            |row: &&ProfileRow| ClockKind::ALL.iter().any(|clock| clock.name() == row.clock && !clock.repeatable());
        if let Some(row) = self.profile.iter().find(timed).filter(|_| !origin.timed) {
            objections.push(format!("it says that nothing was timed, and shows times of the {} clock", row.clock));
        }
        objections
    }

    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)?;
        serde_json::from_str(&text).map_err(|error| {
            let message = format!(
                "is not a summary.json of this program: {error}; if an older version wrote it, write it again with \
                     `ssvm-bench report`"
            );
            Error::file(path, message)
        })
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::file(path, format!("the summary cannot be written: {error}")))?;
        files::write_bytes(path, (text + "\n").as_bytes())
    }
}

/// Where the records behind a summary come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Number of records by the commit of the program that made them.
    pub commits: BTreeMap<String, u64>,
    /// Whether some were timed by a clock of the machine.
    pub timed: bool,
    /// Whether each timed run was isolated.
    pub isolated: bool,
    /// The measured interference that is furthest from 1; `None` when none was measured.
    pub interference: Option<f64>,
    /// The data sets of which runs got less than a whole core. Empty in a file of an older program, which did not count them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub disturbed: BTreeMap<String, Disturbed>,
}

impl Origin {
    pub fn of<'r>(records: impl IntoIterator<Item = &'r RunRecord>, manifest: &Manifest) -> Self {
        let away = |ratio: &f64| if *ratio > 0.0 { ratio.ln().abs() } else { f64::INFINITY };
        let ratios = manifest.interference.iter().map(|row| row.ratio);
        let interference = ratios.max_by(|a, b| away(a).total_cmp(&away(b)));
        let mut origin = Self { isolated: true, interference, ..Self::default() };
        let mut of_set: BTreeMap<&str, BTreeMap<_, Vec<&RunRecord>>> = BTreeMap::new();
        for record in records {
            let series = of_set.entry(record.dataset()).or_default().entry(record.series()).or_default();
            series.push(record);
            *origin.commits.entry(record.environment.commit.clone()).or_default() += 1;
            let timed = !record.settings().clock.repeatable();
            origin.timed |= timed;
            origin.isolated &= !timed || record.environment.jobs <= 1;
        }
        let sets = of_set.into_iter().map(|(name, series)| {
            let named = |(key, records): (SeriesKey, _)| (key.solver.to_string(), records);
            let series: Vec<_> = series.into_iter().map(named).collect();
            (name.to_owned(), Disturbed::worst(&series, &Bars::default()))
        });
        origin.disturbed = sets.filter(|(_, disturbed)| disturbed.few > 0).collect();
        origin
    }

    /// Whether the records are not all of one commit, or one of them is of no commit.
    pub fn is_mixed(&self) -> bool {
        self.commits.len() != 1 || !self.commits.keys().all(|commit| is_committed(commit))
    }

    /// Why its numbers must not be published. At least one reason where the commits are mixed.
    pub fn objections(&self) -> Vec<String> {
        let uncommitted = self.commits.iter().filter(|(commit, _)| !is_committed(commit));
        let mut objections: Vec<String> = uncommitted
            .map(|(commit, runs)| format!("{runs} runs were made by code that is not committed ({commit})"))
            .collect();
        let commits: Vec<&str> = self.commits.keys().map(String::as_str).collect();
        match commits[..] {
            [] => objections.push("it does not say which commit made it".to_owned()),
            [_] => {}
            _ => objections.push(format!("its runs were made by {} commits ({})", commits.len(), commits.join(", "))),
        }
        let bars = &Bars::default();
        for (name, disturbed) in self.disturbed.iter().filter(|(_, disturbed)| disturbed.is_busy(bars)) {
            objections.push(disturbed.text(&format!("on {name}"), bars));
        }
        if self.timed && !self.isolated {
            let (least, most) = (Bar::LeastInterference.value(), Bar::MostInterference.value());
            let advice = format!("run with --isolated, or with a measured interference between {least} and {most}");
            match self.interference {
                Some(ratio) if (least..=most).contains(&ratio) => {}
                Some(ratio) if !(ratio >= least && ratio.is_finite()) => objections.push(format!(
                    "concurrent runs took {} times as long as isolated ones, so the measurement was disturbed; {advice}",
                    number(ratio)
                )),
                Some(ratio) => objections.push(format!(
                    "it shows times of concurrent runs, which took up to {} times as long as isolated ones; {advice}",
                    number(ratio)
                )),
                None => objections.push(format!(
                    "it shows times of concurrent runs whose interference was not measured; {advice}"
                )),
            }
        }
        objections
    }
}
