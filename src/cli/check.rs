//! `check`: the regression gates on a result folder; saves and updates baselines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use super::findings::{OutputArgs, records};
use super::terminal::{other_name, own_name};
use super::{Exit, note};
use crate::dataset::DataDir;
use crate::error::Error;
use crate::experiment::Experiment;
use crate::experiment::catalog::Catalog;
use crate::gate::baseline::{self, Counts, Provenance};
use crate::gate::measure::Runs;
use crate::gate::{Baseline, CellKey, Finding, Judgement, counters, instructions, measure, workload};
use crate::run::host;
use crate::store::RunRecord;
use crate::store::files::{self, SharedFile};
use crate::store::folder::Store;
use crate::store::identity::{CODE_VERSION, Identity};
use crate::store::keys::CellPattern;
use crate::store::manifest::Manifest;

/// Compare a result folder with a baseline and fail on a regression
///
/// Needs runs under the virtual clock. Exit code 2 means that a metric is worse, has changed or is missing; the command
/// that accepts the change is then printed last.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  ssvm-bench check target/ci --save results/baseline/ci.toml\n  \
    ssvm-bench check target/ci\n  ssvm-bench check target/ci --update 'usps-synth*/mp-bcfw'")]
pub struct CheckArgs {
    /// Result folder of a config with the virtual clock
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    /// Baseline to compare with
    #[arg(long, value_name = "FILE", default_value = "results/baseline/ci.toml")]
    baseline: PathBuf,
    /// Save the results as a baseline instead of comparing them; - prints it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "update", "junit", "github_benchmark", "bencher"])]
    save: Option<PathBuf>,
    /// Accept the results of the cells DATASET/SOLVER that match as the new baseline, then compare; repeatable
    #[arg(long, value_name = "GLOB")]
    update: Vec<String>,
    /// Also count instructions with valgrind; skipped without valgrind, and if another compiler, CPU or valgrind made
    /// the baseline
    #[arg(long)]
    instructions: bool,
    /// Judge only cells DATASET/SOLVER that match; repeatable
    #[arg(long, value_name = "GLOB", conflicts_with = "save")]
    only: Vec<String>,
    #[command(flatten)]
    outputs: OutputArgs,
}

pub fn run(args: &CheckArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<Exit> {
    args.outputs.check(Some(&args.baseline))?;
    let patterns = CellPattern::parse_all(&args.only)?;
    let store = Store::open(&args.results)?;
    let records = records(&store)?;
    let manifest = store.manifest()?;
    let provenance = Provenance::of_results(&manifest, &records).map_err(|error| Error::file(&args.results, error))?;
    let cells = measure::cells(&records)?;
    check_versions(&args.results, &records, catalog)?;
    let config = last_config(&manifest, catalog);
    if let Some(config) = &config {
        note_others(config, &cells);
    }
    let wanted = config.map_or(Vec::new(), |config| config.gap_targets);
    if let Some(path) = &args.save {
        files::try_folder(path)?;
        let mut baseline = Baseline::of(&cells, &wanted, provenance)?;
        let counted = instructions(args, None, data)?;
        let shared = SharedFile::lock(path)?;
        baseline.instructions = match (counted, shared.text()?) {
            (Some(Ok(counts)), _) => Some(counts),
            // Counters and instruction counts are saved independently: saving one keeps the other.
            (_, Some(old)) => Baseline::read(path, Some(old)).map_or_else(
                |error| {
                    note(&format!("warning: the instruction counts of the old baseline are not kept: {error}"));
                    None
                },
                |old| old.instructions,
            ),
            _ => None,
        };
        shared.write(&own_name(&baseline.text()))?;
        note(&format!("saved {} cells of {} to {}", cells.len(), args.results.display(), path.display()));
        return Ok(Exit::Fine);
    }

    let mut baseline = Baseline::load(&args.baseline)?;
    let counted = instructions(args, Some(&baseline), data)?;
    if !args.update.is_empty() {
        let counts = counted.as_ref().and_then(|counted| counted.as_ref().ok());
        let shared = SharedFile::lock(&args.baseline)?;
        // Read again: another process may have accepted something in the meantime.
        baseline = Baseline::read(&args.baseline, shared.text()?)?;
        let before: Vec<CellKey> = baseline.cells.keys().cloned().collect();
        for name in &args.update {
            baseline.accept(name, &cells, &wanted, counts, &provenance)?;
        }
        for cell in before.iter().filter(|cell| !baseline.cells.contains_key(*cell)) {
            note(&format!("removed {cell}, which the results do not have"));
        }
        shared.write(&own_name(&baseline.text()))?;
        note(&format!("updated {}", args.baseline.display()));
    }
    let mut findings = counters::judge(&baseline, &cells, &wanted);
    match (counted, &baseline.instructions) {
        (Some(Ok(new)), Some(old)) => findings.extend(instructions::judge(&old.counts, &new.counts)),
        (Some(Err(reason)), old) => findings.extend(instructions::not_judged(old.as_ref(), &reason)),
        _ => {}
    }
    if !patterns.is_empty() {
        let wanted = |cell: &CellKey| {
            patterns.iter().any(|pattern| pattern.matches(&cell.dataset, &cell.solver, Some(cell.oracle_cost)))
        };
        findings.retain(|finding| wanted(&finding.cell));
        if findings.is_empty() {
            let known: BTreeSet<String> = cells.keys().map(ToString::to_string).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            bail!(
                "--only '{}' matches no DATASET/SOLVER of the baseline or the results, which have {known}",
                args.only.join(", ")
            );
        }
    }
    let verdict = args.outputs.write("Regression gate", &findings, None)?;
    advise(args, &baseline, &cells, &findings);
    Ok(verdict)
}

/// Fails when runs of one data set and solver were made by several versions of the code. Warns when that version is not this
/// program's.
fn check_versions(results: &Path, records: &[RunRecord], catalog: &dyn Catalog) -> anyhow::Result<()> {
    let mut versions: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    let mut other = None;
    for record in records {
        let (identity, dataset, solver) = (&record.identity, record.dataset(), record.solver());
        versions.entry((dataset, solver)).or_default().insert(identity.code());
        // All cells must come from one version of the library: numbers of two versions are not comparable.
        versions.entry(("", "")).or_default().insert(identity.code_version.clone());
        let here = Identity {
            code_version: CODE_VERSION.to_owned(),
            solver_version: catalog.solver_version(solver)?,
            problem_version: catalog.problem_version(dataset)?,
            ..identity.clone()
        };
        if here.code() != identity.code() {
            other = Some((identity.code(), here.code()));
        }
    }
    if let Some(several) = versions.into_values().find(|versions| versions.len() > 1) {
        bail!(
            "{}: its runs were made by {} versions of the code ({}); run the config again into this folder",
            results.display(),
            several.len(),
            several.into_iter().collect::<Vec<_>>().join("; ")
        );
    }
    if let Some((made_by, here)) = other {
        note(&format!("warning: the results were made by code {made_by}, this program is {here}"));
    }
    Ok(())
}

/// The config that was run last into a result folder.
fn last_config(manifest: &Manifest, catalog: &dyn Catalog) -> Option<Experiment> {
    let config = baseline::last_config(manifest)?;
    Experiment::parse(Path::new(&config.name), &config.text, catalog.solvers()).ok()
}

/// Names the cells whose data set or solver is not in this config: their runs are of an earlier one, and are judged as they are.
fn note_others(config: &Experiment, cells: &BTreeMap<CellKey, Runs<'_>>) {
    let has_dataset =
        |name: &str| config.datasets.iter().any(|set| set.name == name || set.otherwise.as_deref() == Some(name));
    let has_solver = |name: &str| config.solvers.iter().any(|solver| solver.name == name);
    let others = cells.keys().filter(|cell| !has_dataset(&cell.dataset) || !has_solver(&cell.solver.name));
    let others: Vec<String> = others.map(ToString::to_string).collect();
    if !others.is_empty() {
        note(&format!(
            "warning: these runs are not of the config that was run last, {}, and were not made again: {}; \
             `ssvm-bench run CONFIG --prune` moves them away",
            config.name,
            others.join(", ")
        ));
    }
}

/// Instruction counts of this program if requested, or the reason why they cannot be counted or compared with the baseline.
fn instructions(
    args: &CheckArgs,
    baseline: Option<&Baseline>,
    data: &DataDir,
) -> anyhow::Result<Option<Result<Counts, String>>> {
    if !args.instructions {
        return Ok(None);
    }
    let valgrind = instructions::version();
    let mut provenance = Provenance::new("solve", &host::code());
    provenance.cpu = host::cpu_features();
    provenance.valgrind = valgrind.clone().unwrap_or_default();
    let refused = match (valgrind, baseline) {
        (None, _) => Some("valgrind is not installed".to_owned()),
        (_, Some(baseline)) => instructions::unlike(baseline.instructions.as_ref(), &provenance),
        (_, None) => None,
    };
    if let Some(reason) = refused {
        note(&format!("instruction counts skipped: {reason}"));
        return Ok(Some(Err(reason)));
    }
    let program = std::env::current_exe().context("cannot locate the executable of this program")?;
    let say = |cell: &CellKey| note(&format!("counting instructions: {cell}"));
    let counts = instructions::count(&program, &data.arguments(), &workload::standard(), say)?;
    Ok(Some(Ok(Counts { provenance, counts })))
}

/// Prints the exact command that accepts the findings.
fn advise(args: &CheckArgs, baseline: &Baseline, cells: &BTreeMap<CellKey, Runs<'_>>, findings: &[Finding]) {
    let failed = findings.iter().filter(|finding| finding.judgement.fails()).count();
    let worth = |finding: &&Finding| finding.judgement.fails() || finding.judgement == Judgement::Better;
    let accepted: BTreeSet<&CellKey> = findings.iter().filter(worth).map(|finding| &finding.cell).collect();
    if accepted.is_empty() {
        return;
    }
    if failed == 0 {
        note("Better than the baseline. Accept it with:");
    } else {
        let Provenance { code, commit, .. } = &baseline.provenance;
        let metrics = if failed == 1 { "metric" } else { "metrics" };
        // The commit is that of the library.
        let saved = match other_name() {
            Some(_) => format!("that was saved with version {code} of the library"),
            None => format!("saved by commit {commit} (code {code})"),
        };
        note(&format!("The gate failed: {failed} {metrics} against the baseline {saved}."));
        note("If the change is intended, accept it:");
    }
    let (results, file) = (args.results.display(), args.baseline.display());
    let counting = if args.instructions { " --instructions" } else { "" };
    // A folder of `run --only` must not replace the whole baseline, nor remove the cells that it lacks.
    let lacks = |cell: &&&CellKey| baseline.cells.contains_key(**cell) && !cells.contains_key(**cell);
    let lacking = accepted.iter().filter(lacks).count();
    if accepted.len() > 5 && lacking == 0 {
        note(&format!("  ssvm-bench check {results}{counting} --save {file}"));
        return;
    }
    let updates: String =
        accepted.iter().filter(|cell| !lacks(cell)).map(|cell| format!(" --update '{cell}'")).collect();
    if !updates.is_empty() {
        note(&format!("  ssvm-bench check {results} --baseline {file}{counting}{updates}"));
    }
    if lacking > 0 {
        let plural = if lacking == 1 { "" } else { "s" };
        note(&format!(
            "The folder lacks {lacking} cell{plural} of the baseline: run the whole config, compare the others alone with              --only, or remove a cell from the baseline with --update and its full name."
        ));
    }
}
