//! Options that several commands share, and the parsers of their values.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::terminal;
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{BUILTIN, Experiment};
use crate::run::session::Options;
use crate::run::shard::MOST_SHARDS;
use crate::table::Format;
use ssvm::settings::{time_limit, whole};

/// Selects cells.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct OnlyArgs {
    /// Only cells DATASET/SOLVER that match, such as 'usps*' or '*/mp-bcfw (T=5)'; repeatable
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
}

/// Which runs of a config to make, where, and how many at once. All commands that plan runs share these options.
#[derive(Clone, Debug, clap::Args)]
pub struct SelectArgs {
    /// Result folder [default: results/NAME of the (first) config]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Concurrent runs, each pinned to a core [default: that of the config, else the number of cores; on a cluster 1,
    /// unless nodes are exclusive]
    #[arg(long, value_name = "N", value_parser = workers)]
    pub jobs: Option<u16>,
    /// Run timed runs one at a time whatever --jobs is, for numbers to publish
    #[arg(long)]
    pub isolated: bool,
    #[command(flatten)]
    pub only: OnlyArgs,
}

impl SelectArgs {
    pub fn jobs(&self) -> Option<usize> {
        self.jobs.map(usize::from)
    }

    /// The checked experiments, narrowed to what was selected, and the result folder that takes them all.
    pub fn experiments(
        &self,
        configs: &[PathBuf],
        catalog: &dyn Catalog,
    ) -> anyhow::Result<(Vec<Experiment>, PathBuf)> {
        let read = configs.iter().map(|config| self.experiment(config, catalog)).collect::<anyhow::Result<Vec<_>>>()?;
        let out = read.first().map(|(_, out)| out.clone()).unwrap_or_default();
        Ok((read.into_iter().map(|(experiment, _)| experiment).collect(), out))
    }

    /// The same for one config.
    pub fn experiment(&self, config: &Path, catalog: &dyn Catalog) -> anyhow::Result<(Experiment, PathBuf)> {
        let mut experiment = Experiment::load(config, catalog.solvers())?;
        experiment.narrow(&self.only.only)?;
        let out = self.out.clone().unwrap_or_else(|| experiment.folder());
        Ok((experiment, out))
    }

    /// Options of a session that executes a whole plan into this folder.
    pub fn options(&self, out: PathBuf, data: &DataDir) -> Options {
        Options {
            out,
            data_dir: data.clone(),
            jobs: self.jobs(),
            isolated: self.isolated,
            force: false,
            prune: false,
            warn_of_others: self.only.only.is_empty(),
            verbosity: terminal::verbosity(),
            part: None,
            stop: super::interrupt::stop_signal(),
        }
    }
}

/// How a command prints one table.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct FormatArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// A value as JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

pub fn config_help() -> String {
    format!("Config file, or a built-in config: {}", BUILTIN.map(|(name, _)| name).join(", "))
}

/// A number of shards.
pub fn shard_count(text: &str) -> Result<usize, String> {
    up_to(text, MOST_SHARDS as u64)
}

/// A number of workers or threads.
pub fn workers(text: &str) -> Result<u16, String> {
    up_to(text, 1024)
}

fn up_to<T: TryFrom<u64>>(text: &str, most: u64) -> Result<T, String> {
    let number = count(text).ok().filter(|number| *number <= most).and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("must be a whole number from 1 to {most}"))
}

/// A seed: a whole number from 0, such as 7 or 1e3.
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text).ok_or_else(|| "must be a whole number from 0, such as 7 or 1e3".to_owned())
}

/// A positive finite number.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("must be a positive number".into()),
    }
}

/// A number between 0 and 1.
pub fn fraction(text: &str) -> Result<f64, String> {
    positive(text).ok().filter(|value| *value < 1.0).ok_or_else(|| "must lie between 0 and 1".to_owned())
}

/// A whole number from 1, such as 1000 or 1e6.
pub fn count(text: &str) -> Result<u64, String> {
    whole(text)
        .filter(|number| *number > 0)
        .ok_or_else(|| "must be a whole number from 1, such as 1000 or 1e6".to_owned())
}

/// Seconds of a duration such as `90s`, `5m`, `1h30m` or `250ms`; a plain number is seconds.
pub fn duration(text: &str) -> Result<f64, String> {
    let wrong = || "must be a duration such as 90s, 5m, 1h30m or 250ms; a plain number is seconds".to_owned();
    let mut seconds = match text.parse::<f64>() {
        Ok(number) => return limited(number),
        Err(_) => 0.0,
    };
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
        let (number, after) = rest.split_at(end);
        let unit = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let scale = match &after[..unit] {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => return Err(wrong()),
        };
        seconds += scale * positive(number).map_err(|_| wrong())?;
        rest = &after[unit..];
    }
    limited(seconds)
}

/// A number of seconds that a clock can count.
fn limited(seconds: f64) -> Result<f64, String> {
    if !(seconds.is_finite() && seconds > 0.0) {
        return Err("must be a positive duration".to_owned());
    }
    time_limit(seconds).map(|_| seconds).map_err(|error| error.to_string())
}

/// `KEY=VALUE`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
    parts.map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| "must be KEY=VALUE".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, seconds) in [
            ("90", 90.0),
            ("1e-3", 1e-3),
            ("90s", 90.0),
            ("5m", 300.0),
            ("1h30m", 5400.0),
            ("1.5h", 5400.0),
            ("250ms", 0.25),
            ("2d", 172_800.0),
        ] {
            assert_eq!(duration(text), Ok(seconds), "{text}");
        }
        for wrong in ["", "0", "-5", "1:00:00", "1-0", "5x", "h", "5m3", "nan", "inf", "1e300h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_may_have_an_exponent() {
        assert_eq!(["1", "1e6", "2.5e3"].map(count), [Ok(1), Ok(1_000_000), Ok(2500)]);
        for wrong in ["0", "-1", "1.5", "1e99", "x", ""] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }
}
