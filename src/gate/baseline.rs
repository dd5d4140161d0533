//! The baseline file ↔ [`Baseline`]: one metric a line, every line readable on its own in a diff, sorted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::measure::{self, Runs, Values};
use super::{Cell, Metric, Quantity};
use crate::error::{Error, Result};
use crate::gate;
use crate::store::files;
use crate::store::manifest::{Code, ConfigText, Manifest};

/// Layout of the file.
const FORMAT: u32 = 1;

const HEADER: &str = "\
# What every solver needed on every data set under the virtual clock: the baseline of `ssvm-bench check`.
# A line: \"DATASET SOLVER GAP QUANTITY\" = [a value for each repeat], read at the first evaluation at or below the gap.
# Accept a change of one cell:  ssvm-bench check RESULTS --baseline FILE --update DATASET/SOLVER
# Make it anew:                 ssvm-bench check RESULTS --save FILE
";

/// Which program made the numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Name of the config.
    pub config: String,
    /// Crate version and hash of the sources that results depend on.
    pub code: String,
    pub commit: String,
    pub rustc: String,
    /// Target and flags.
    pub flags: String,
    /// Features of the CPU, for instruction counts: the program and its libraries choose code by them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cpu: String,
    /// Version of valgrind, for instruction counts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub valgrind: String,
}

impl Provenance {
    pub fn new(config: &str, code: &Code) -> Self {
        let Code { version, commit, rustc, flags } = code.clone();
        Self { config: config.to_owned(), code: version, commit, rustc, flags, ..Self::default() }
    }

    /// Of a result folder: its last session.
    pub fn of_results(manifest: &Manifest) -> Self {
        let Some(session) = manifest.sessions.last() else { return Self::default() };
        Self::new(last_config(manifest).map_or("", |config| &config.name), &session.code)
    }

    fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

/// The config that was run last into a result folder.
pub fn last_config(manifest: &Manifest) -> Option<&ConfigText> {
    let session = manifest.sessions.last()?;
    manifest.configs.iter().find(|config| config.sha256 == session.config)
}

/// Counted instructions of solver work, and what they hold for: one compiler, one kind of CPU, one valgrind.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    pub provenance: Provenance,
    pub counts: BTreeMap<Cell, u64>,
}

/// What a baseline file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    pub provenance: Provenance,
    /// The metrics of every cell; no value is missing.
    pub cells: BTreeMap<Cell, Values>,
    /// Instruction counts, when they were saved.
    pub instructions: Option<Counts>,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    format: u32,
    provenance: Provenance,
    inputs: BTreeMap<Cell, Vec<String>>,
    values: BTreeMap<String, Vec<f64>>,
    instructions: Option<Counts>,
}

impl Baseline {
    /// The baseline that these runs make; `wanted` as in [`measure::targets`]. Every run must have ended well.
    pub fn of(cells: &BTreeMap<Cell, Runs<'_>>, wanted: &[f64], provenance: Provenance) -> Result<Self> {
        let mut baseline = Self { provenance, ..Self::default() };
        for (cell, runs) in cells {
            baseline.set(cell, runs, wanted)?;
        }
        Ok(baseline)
    }

    /// Takes the numbers of one cell from its runs; gap targets are chosen again.
    pub fn set(&mut self, cell: &Cell, runs: &Runs<'_>, wanted: &[f64]) -> Result<()> {
        let values = measure::values(runs, &measure::targets(runs, wanted, 1.0));
        for (metric, per_repeat) in &values.metrics {
            if let Some(repeat) = per_repeat.iter().position(Option::is_none) {
                return Err(gate::Error::Unmeasured { cell: cell.clone(), repeat, metric: *metric }.into());
            }
        }
        self.cells.insert(cell.clone(), values);
        Ok(())
    }

    /// Takes in the cells that `name` names; one that is not in the results any more leaves.
    pub fn accept(
        &mut self,
        name: &str,
        cells: &BTreeMap<Cell, Runs<'_>>,
        wanted: &[f64],
        counts: Option<&Counts>,
    ) -> Result<()> {
        let mut known: BTreeSet<Cell> = self.cells.keys().chain(cells.keys()).cloned().collect();
        if let (Some(old), Some(new)) = (&mut self.instructions, counts) {
            known.extend(new.counts.keys().cloned());
            let counted = new.counts.iter().filter(|(cell, _)| cell.is_named(name));
            old.counts.extend(counted.map(|(cell, count)| (cell.clone(), *count)));
        }
        if !known.iter().any(|cell| cell.is_named(name)) {
            let known: Vec<String> = known.iter().map(Cell::to_string).collect();
            return Err(gate::Error::UnknownCell { name: name.to_owned(), known: known.join(", ") }.into());
        }
        for cell in known.iter().filter(|cell| cell.is_named(name)) {
            match cells.get(cell) {
                Some(runs) => self.set(cell, runs, wanted)?,
                None => drop(self.cells.remove(cell)),
            }
        }
        Ok(())
    }

    /// The text of the file: numbers as they are read back exactly.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{HEADER}format = {FORMAT}\n\n[provenance]\n{}\n# Data and settings of every run, hashed: numbers are only compared \
             with numbers made from the same.\n[inputs]\n",
            self.provenance.text()
        );
        for (cell, values) in &self.cells {
            let inputs: Vec<String> = values.inputs.iter().map(|input| quoted(input)).collect();
            text += &format!("{} = [{}]\n", quoted(&cell_key(cell)), inputs.join(", "));
        }
        text += "\n[values]\n";
        for (cell, values) in &self.cells {
            for (Metric { gap, quantity }, per_repeat) in &values.metrics {
                let numbers: Vec<String> = per_repeat.iter().flatten().map(|value| number(*value)).collect();
                let place = gap.map_or("end".to_owned(), |gap| gap.to_string());
                let name = format!("{} {place} {}", cell_key(cell), quantity.name());
                text += &format!("{} = [{}]\n", quoted(&name), numbers.join(", "));
            }
        }
        if let Some(Counts { provenance, counts }) = &self.instructions {
            text += "\n# Instructions of solver work; compared only under the same compiler, flags, CPU features and valgrind.\n";
            text += &format!("[instructions.provenance]\n{}\n[instructions.counts]\n", provenance.text());
            for (cell, count) in counts {
                text += &format!("{} = {count}\n", quoted(&cell_key(cell)));
            }
        }
        text
    }

    pub fn load(path: &Path) -> Result<Self> {
        let text = files::read_text_if_there(path)?.ok_or_else(|| Error::file(path, gate::Error::NoBaseline))?;
        Self::parse(path, &text)
    }

    /// Parses the text of a file; `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let wire: Wire = toml::from_str(text).map_err(|error| {
            let reason = gate::Error::NotABaseline(error.message().trim().replace('\n', ", "));
            Error::offset(path, text, error.span().map_or(0, |span| span.start), reason)
        })?;
        if wire.format != FORMAT {
            return Err(Error::file(path, gate::Error::Layout { found: wire.format, read: FORMAT }));
        }
        let at = |name: &str, reason: gate::Error| {
            let line = text.lines().position(|line| line.starts_with(&quoted(name))).map_or(0, |line| line + 1);
            Error::line(path, line, reason)
        };
        let values = |(cell, inputs)| (cell, Values { inputs, metrics: BTreeMap::new() });
        let cells = wire.inputs.into_iter().map(values).collect();
        let mut baseline = Self { provenance: wire.provenance, cells, instructions: wire.instructions };
        for (name, numbers) in wire.values {
            let metric = metric_of(&name).ok_or_else(|| at(&name, gate::Error::NotAMetric(name.clone())));
            let (cell, metric) = metric?;
            let Some(values) = baseline.cells.get_mut(&cell) else {
                return Err(at(&name, gate::Error::NoInputs(cell)));
            };
            let (values, repeats) = (&mut values.metrics, values.inputs.len());
            if numbers.len() != repeats {
                return Err(at(&name, gate::Error::Repeats { values: numbers.len(), repeats }));
            }
            values.insert(metric, numbers.into_iter().map(Some).collect());
        }
        Ok(baseline)
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        files::write_bytes(path, self.text().as_bytes())
    }
}

/// `DATASET SOLVER`, as the file names a cell: names may hold slashes, so a space stands before the solver.
fn cell_key(cell: &Cell) -> String {
    format!("{} {}", cell.dataset, cell.solver)
}

/// The cell and metric of a line of `[values]`: `DATASET SOLVER 0.03 oracle_calls` or `DATASET SOLVER end primal`.
fn metric_of(line: &str) -> Option<(Cell, Metric)> {
    let (rest, name) = line.rsplit_once(' ')?;
    let (cell, place) = rest.rsplit_once(' ')?;
    let gap = match place {
        "end" => None,
        gap => Some(gap.parse().ok().filter(|gap: &f64| gap.is_finite())?),
    };
    let quantity = Quantity::COSTS.into_iter().chain(Quantity::OBJECTIVES).find(|quantity| quantity.name() == name)?;
    Some((Cell::parse(cell)?, Metric { gap, quantity }))
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Whole numbers without a point, others with every digit they need to be read back exactly.
fn number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:?}") }
}
