//! The baseline file ↔ [`Baseline`]: one metric per sorted line, and every line is readable on its own in a diff.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};
use toml::{Spanned, Value};

use super::measure::{self, CellValues, Runs};
use super::{CellKey, Metric, TraceColumn, instructions};
use crate::error::{Error, Result};
use crate::gate;
use crate::store::keys::CellPattern;
use crate::store::manifest::{Code, ConfigText, Manifest};
use crate::store::{RunRecord, files};
use ssvm::clock::{COST_MODEL, OracleCost};
use ssvm::settings::SolverSpec;

/// Layout of the file.
const FORMAT: u32 = 2;

const HEADER: &str = "\
# What every solver needed on every data set under the virtual clock: the baseline of `ssvm-bench check`.
# A line of values has one for each repeat, read at the first evaluation at or below the gap, without a gap at the last.
# Accept a change of one cell:  ssvm-bench check RESULTS --baseline FILE --update DATASET/SOLVER
# Make it again:                ssvm-bench check RESULTS --save FILE
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
    /// [`COST_MODEL`].
    pub cost_model: u32,
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
        Self {
            config: config.to_owned(),
            code: version,
            commit,
            rustc,
            flags,
            cost_model: COST_MODEL,
            ..Self::default()
        }
    }

    /// Of a result folder: its last session. An error when runs were made under another cost model than this program's.
    pub fn of_results(manifest: &Manifest, records: &[RunRecord]) -> Result<Self, gate::Error> {
        let config = last_config(manifest).map_or("", |config| &config.name);
        let alike = |record: &&RunRecord| record.identity.cost_model == record.settings().clock.cost_model();
        if let Some(other) = records.iter().find(|record| !alike(record)) {
            let (run, found, config) = (other.label(), other.identity.cost_model, config.to_owned());
            return Err(gate::Error::RunCostModel { run, found, here: COST_MODEL, config });
        }
        Ok(manifest.sessions.last().map_or_else(Self::default, |session| Self::new(config, &session.code)))
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    pub provenance: Provenance,
    pub counts: BTreeMap<CellKey, u64>,
}

/// What a baseline file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    pub provenance: Provenance,
    /// The metrics of every cell; no value is missing.
    pub cells: BTreeMap<CellKey, CellValues>,
    /// Instruction counts, when they were saved.
    pub instructions: Option<Counts>,
}

/// What every layout has.
#[derive(Deserialize)]
struct FormatNumber {
    format: u32,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(rename = "format")]
    _format: u32,
    provenance: Provenance,
    counters: CounterLines,
    instructions: Option<Instructions>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CounterLines {
    inputs: Vec<Spanned<CellLine<Inputs>>>,
    values: Vec<Spanned<CellLine<Readings>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Instructions {
    provenance: Provenance,
    counts: Vec<Spanned<CellLine<Count>>>,
}

/// The line of a cell in the file.
///
/// A key that no field takes is an error as long as neither `T` nor what it holds has flattened fields.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellLine<T> {
    dataset: String,
    #[serde(with = "SolverFields")]
    solver: SolverSpec,
    #[serde(default, skip_serializing_if = "OracleCost::is_one")]
    oracle_cost: OracleCost,
    #[serde(flatten)]
    of: T,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SolverSpec", deny_unknown_fields)]
struct SolverFields {
    name: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    params: BTreeMap<String, ssvm::settings::Value>,
}

impl<T> CellLine<T> {
    fn into_parts(self) -> (CellKey, T) {
        let Self { dataset, solver, oracle_cost, of } = self;
        (CellKey { dataset, solver, oracle_cost }, of)
    }
}

#[derive(Serialize, Deserialize)]
struct Inputs {
    inputs: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made_by: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Readings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
    column: TraceColumn,
    #[serde(serialize_with = "short")]
    values: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct Count {
    count: u64,
}

impl Baseline {
    /// The baseline that these runs make; `wanted` as in [`measure::targets`]. Every run must have ended well.
    pub fn of(cells: &BTreeMap<CellKey, Runs<'_>>, wanted: &[f64], provenance: Provenance) -> Result<Self> {
        let mut baseline = Self { provenance, ..Self::default() };
        for (cell, runs) in cells {
            baseline.set(cell, runs, wanted)?;
        }
        Ok(baseline)
    }

    /// Takes the numbers of one cell from its runs; gap targets are chosen again.
    pub fn set(&mut self, cell: &CellKey, runs: &Runs<'_>, wanted: &[f64]) -> Result<()> {
        let values = measure::values(runs, &measure::targets(runs, wanted, 1.0));
        for (metric, per_repeat) in &values.metrics {
            if let Some(repeat) = per_repeat.iter().position(|value| value.is_none_or(|value| !value.is_finite())) {
                return Err(gate::Error::Unmeasured { cell: cell.clone(), repeat, metric: *metric }.into());
            }
        }
        self.cells.insert(cell.clone(), values);
        Ok(())
    }

    /// Accepts the cells that `name` selects. One that the results do not have is removed if `name` is its full name; a pattern
    /// removes nothing, because a folder of `run --only` lacks what it was not asked for. The provenance of the file stays that of
    /// the other cells; an accepted cell from other code records its own (`made_by`).
    pub fn accept(
        &mut self,
        name: &str,
        cells: &BTreeMap<CellKey, Runs<'_>>,
        wanted: &[f64],
        counts: Option<&Counts>,
        from: &Provenance,
    ) -> Result<()> {
        let pattern: CellPattern = name.parse()?;
        let is_named = |cell: &CellKey| pattern.matches(&cell.dataset, &cell.solver, Some(cell.oracle_cost));
        let mut known: BTreeSet<CellKey> = self.cells.keys().chain(cells.keys()).cloned().collect();
        if let (Some(old), Some(new)) = (&mut self.instructions, counts) {
            known.extend(new.counts.keys().cloned());
            let counted = new.counts.iter().filter(|(cell, _)| is_named(cell));
            old.counts.extend(counted.map(|(cell, count)| (cell.clone(), *count)));
        }
        if !known.iter().any(&is_named) {
            let known: Vec<String> = known.iter().map(CellKey::to_string).collect();
            return Err(gate::Error::UnknownCell { name: name.to_owned(), known: known.join(", ") }.into());
        }
        let saved_by = (&self.provenance.code, &self.provenance.commit);
        let made_by =
            ((&from.code, &from.commit) != saved_by).then(|| format!("{}, commit {}", from.code, from.commit));
        for cell in known.iter().filter(|cell| is_named(cell)) {
            let Some(runs) = cells.get(cell) else {
                if cell.to_string() == name {
                    self.cells.remove(cell);
                }
                continue;
            };
            self.cells.remove(cell);
            self.set(cell, runs, wanted)?;
            if let Some(values) = self.cells.get_mut(cell) {
                values.made_by.clone_from(&made_by);
            }
        }
        Ok(())
    }

    /// The text of the file: numbers as they are read back exactly.
    pub fn text(&self) -> String {
        let mut text = format!("{HEADER}format = {FORMAT}\n\n[provenance]\n{}\n[counters]\n", self.provenance.text());
        text +=
            "# Data and settings of every run, hashed: numbers are only compared with numbers made from the same.\n";
        text += &array("inputs", &self.cells, |values| {
            vec![Inputs { inputs: values.inputs.clone(), made_by: values.made_by.clone() }]
        });
        text += &array("values", &self.cells, |values| {
            let costs = |(metric, values): (&Metric, &Vec<Option<f64>>)| Readings {
                gap: metric.gap,
                column: metric.column,
                values: values.iter().copied().flatten().collect(),
            };
            values.metrics.iter().map(costs).collect()
        });
        if let Some(Counts { provenance, counts }) = &self.instructions {
            text += "\n# Instructions of solver work; compared only under the same compiler, flags, CPU features and valgrind.\n";
            text += &format!("[instructions.provenance]\n{}\n[instructions]\n", provenance.text());
            text += &array("counts", counts, |count| vec![Count { count: *count }]);
        }
        text
    }

    /// Reads a file whose numbers can be compared with those of this program.
    pub fn load(path: &Path) -> Result<Self> {
        Self::read(path, files::read_text_if_there(path)?)
    }

    /// The same of a text that was read already; `path` is for messages.
    pub fn read(path: &Path, text: Option<String>) -> Result<Self> {
        let text = text.ok_or_else(|| Error::file(path, gate::Error::NoBaseline))?;
        let baseline = Self::parse(path, &text)?;
        let found = baseline.provenance.cost_model;
        if found != COST_MODEL {
            let (config, file) = (baseline.provenance.config, path.display().to_string());
            return Err(Error::file(path, gate::Error::CostModel { found, here: COST_MODEL, config, file }));
        }
        Ok(baseline)
    }

    /// Parses the text of a file, whatever its cost model; `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let wrong = |error: toml::de::Error| {
            let reason = gate::Error::NotABaseline(error.message().trim().replace('\n', ", "));
            Error::offset(path, text, error.span().map_or(0, |span| span.start), reason)
        };
        let FormatNumber { format: found } = toml::from_str(text).map_err(wrong)?;
        if found != FORMAT {
            return Err(Error::file(path, gate::Error::Layout { found, read: FORMAT }));
        }
        let wire: Wire = toml::from_str(text).map_err(wrong)?;
        let at = |start: usize, reason: gate::Error| Error::offset(path, text, start, reason);
        let twice = |start, cell, what: String| at(start, gate::Error::TwoLines { cell, what });
        let mut baseline = Self { provenance: wire.provenance, ..Self::default() };
        for line in wire.counters.inputs {
            let start = line.span().start;
            let (cell, Inputs { inputs, made_by }) = line.into_inner().into_parts();
            let values = CellValues { inputs, made_by, metrics: BTreeMap::new() };
            if baseline.cells.insert(cell.clone(), values).is_some() {
                return Err(twice(start, cell, "inputs".to_owned()));
            }
        }
        for line in wire.counters.values {
            let start = line.span().start;
            let (cell, Readings { gap, column, values }) = line.into_inner().into_parts();
            let metric = Metric { gap, column };
            let Some(known) = baseline.cells.get_mut(&cell) else {
                return Err(at(start, gate::Error::NoInputs(cell)));
            };
            let (found, repeats) = (values.len(), known.inputs.len());
            if found != repeats {
                return Err(at(start, gate::Error::Repeats { cell, metric, values: found, repeats }));
            }
            if !values.iter().chain(&gap).all(|number| number.is_finite()) {
                return Err(at(start, gate::Error::NoNumber { cell, metric }));
            }
            if known.metrics.insert(metric, values.into_iter().map(Some).collect()).is_some() {
                return Err(twice(start, cell, metric.to_string()));
            }
        }
        if let Some(Instructions { provenance, counts: lines }) = wire.instructions {
            let mut counts = BTreeMap::new();
            for line in lines {
                let start = line.span().start;
                let (cell, Count { count }) = line.into_inner().into_parts();
                if counts.insert(cell.clone(), count).is_some() {
                    return Err(twice(start, cell, instructions::METRIC.to_owned()));
                }
            }
            baseline.instructions = Some(Counts { provenance, counts });
        }
        Ok(baseline)
    }
}

/// An array with one line for everything that `of` makes of a cell.
fn array<V, T: Serialize>(name: &str, cells: &BTreeMap<CellKey, V>, of: impl Fn(&V) -> Vec<T>) -> String {
    let mut text = format!("{name} = [\n");
    for (cell, value) in cells {
        for of in of(value) {
            text += "  ";
            // Text and numbers always serialise.
            let CellKey { dataset, solver, oracle_cost } = cell.clone();
            let _ = CellLine { dataset, solver, oracle_cost, of }.serialize(toml::ser::ValueSerializer::new(&mut text));
            text += ",\n";
        }
    }
    text + "]\n"
}

/// Whole numbers without a point, others with every digit they need to be read back exactly.
fn short<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let whole = |value: f64| value == value.trunc() && value.abs() < 1e15;
    serializer.collect_seq(
        values.iter().map(|value| if whole(*value) { Value::Integer(*value as i64) } else { Value::Float(*value) }),
    )
}
