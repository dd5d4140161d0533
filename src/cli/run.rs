//! `run`: executes the runs that are not yet in the result folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::args::{FormatArgs, SelectArgs, config_help};
use super::terminal::{print_width, same_command};
use super::{cluster, dry_run, note, print};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, Plan};
use crate::run::cluster::id_file;
use crate::run::oracle_cost;
use crate::run::session::{self, Options, Report};
use crate::run::shard::list::IdFile;
use crate::run::shard::part::{self, ShardRuns};
use crate::run::shard::{self, ShardIndex};
use crate::store::RunRecord;
use crate::store::folder::{Contents, Folder, Store};
use crate::store::manifest::{Manifest, PaperCosts};
use crate::study::regime::regimes;
use crate::table::Kind::{Count, Seconds, Text};
use crate::table::{Format, Table, cells};
use crate::text::duration;
use ssvm::clock::{ClockKind, OracleCost};

/// Execute the missing runs of a config
///
/// You may kill the command at any time: the same command continues it, keeps finished runs and tries failed ones
/// again. Several configs go into one folder, one after the other. --dry-run checks everything and shows the runs with
/// estimates of time and memory, but computes and starts nothing. For several machines, see `cluster`. On SIGUSR1 the
/// command finishes the runs in progress and starts no more.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench run paper --dry-run\n  ssvm-bench run smoke --out results/smoke --jobs 2\n  \
    ssvm-bench run smoke --out results/shards --shard 1/2"
)]
pub struct RunArgs {
    #[arg(value_name = "CONFIG", required = true, help = config_help())]
    config: Vec<PathBuf>,
    #[command(flatten)]
    select: SelectArgs,
    /// Show the runs with estimates of time and memory, but compute and start nothing; with -v, list every run
    #[arg(long, conflicts_with_all = ["force", "prune", "shard", "ids"])]
    dry_run: bool,
    /// Redo finished runs
    #[arg(long, conflicts_with_all = ["shard", "ids"])]
    force: bool,
    /// Move runs that are not in this config's plan to DIR/stale
    #[arg(long, conflicts_with_all = ["only", "shard", "ids"])]
    prune: bool,
    /// Only the I-th of N parts of the plan, into a folder of its own under DIR/shards; `cluster merge` joins them
    #[arg(long, value_name = "I/N")]
    shard: Option<ShardIndex>,
    /// Only the runs of an id file (`cluster plan --write`); with --shard I/N, only those of its I-th shard
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

/// Executes what is missing and prints the outcome; an error when a run failed or was left out.
pub fn run(args: &RunArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let (experiments, out) = args.select.experiments(&args.config, catalog)?;
    let format = args.format.format;
    if args.dry_run {
        return experiments
            .into_iter()
            .try_for_each(|experiment| dry_run::show(experiment, &out, &args.select, format, catalog, data));
    }
    if let [_, _, ..] = experiments[..] {
        let alone = [("--shard", args.shard.is_some()), ("--ids", args.ids.is_some()), ("--prune", args.prune)];
        if let Some((option, _)) = alone.into_iter().find(|(_, given)| *given) {
            bail!("{option} takes one config, not {}", experiments.len());
        }
    }
    let mut options = args.select.options(out, data);
    (options.force, options.prune) = (args.force, args.prune);
    let Executed { reports, .. } = match (&experiments[..], args.shard.is_some() || args.ids.is_some()) {
        ([experiment], true) => {
            let mut experiment = experiment.clone();
            name_programs(&experiment, catalog);
            let (plan, part) = plan_part(args, &mut experiment, &options, catalog)?;
            options.part = Some(part);
            let finished = session::run(&experiment, plan, catalog, &options, Contents::default())?;
            Executed { reports: vec![finished.report], ..Executed::default() }
        }
        _ => execute(experiments, options, catalog)?,
    };
    // Output for programs comes first: it is complete whatever is printed below.
    match format {
        // What is said below is the table.
        Format::Table => {}
        Format::Json => reports.iter().try_for_each(|report| print(&(serde_json::to_string(report)? + "\n")))?,
        _ => print(&table(&reports).render(format, print_width(), &())?)?,
    }
    reports.iter().try_for_each(complete)
}

/// A row for each config.
fn table(reports: &[Report]) -> Table {
    let mut table = Table::new("", [("folder", Text), ("planned", Count), ("done before", Count), ("finished", Count)]);
    table.widen(Count, ["failed"]);
    table.widen(Seconds, ["time"]);
    for report in reports {
        let Report { out, planned, already, finished, failed, seconds, .. } = report;
        table.push(cells![out, *planned, *already, *finished, failed.len(), *seconds]);
    }
    table
}

/// What a folder holds after its sessions, one report for each.
#[derive(Default)]
pub struct Executed {
    pub manifest: Manifest,
    pub contents: Contents,
    pub reports: Vec<Report>,
}

/// Runs experiments one after the other into one folder; an interruption is an error. Each record is read at most once, because the
/// contents of the folder are passed from session to session.
pub fn execute(experiments: Vec<Experiment>, mut options: Options, catalog: &dyn Catalog) -> anyhow::Result<Executed> {
    let mut executed = Executed::default();
    for experiment in &experiments {
        name_programs(experiment, catalog);
    }
    for mut experiment in experiments {
        let known = known_costs(&mut experiment, &options.out, executed.contents, catalog);
        let plan = Plan::new(&experiment, catalog, &options.data_dir)?;
        let finished = session::run(&experiment, plan, catalog, &options, known)?;
        if finished.report.interrupted {
            complete(&finished.report)?;
        }
        (executed.manifest, executed.contents) = (finished.manifest, finished.contents);
        executed.reports.push(finished.report);
        // Runs of the earlier configs belong in this folder.
        options.warn_of_others = false;
    }
    Ok(executed)
}

/// Prints the programs that a config will start, because a config from someone else may run anything.
pub fn name_programs(experiment: &Experiment, catalog: &dyn Catalog) {
    let programs = experiment.programs(catalog);
    if !programs.is_empty() {
        let (config, programs) = (experiment.path.display(), programs.join("\n  "));
        // A warning, so that --quiet shows it too.
        note(&format!("warning: {config} starts programs on this machine; --no-programs refuses them:\n  {programs}"));
    }
}

/// The plan restricted to the runs of a shard or an id file, and the identities of these runs.
fn plan_part(
    args: &RunArgs,
    experiment: &mut Experiment,
    options: &Options,
    catalog: &dyn Catalog,
) -> anyhow::Result<(Plan, ShardRuns)> {
    let config = &args.config[0];
    let split = cluster::split_command(config, &args.select, &options.out, args.shard.map(|index| index.of));
    if let Some(missing) = args.ids.as_deref().filter(|path| !path.exists()) {
        bail!("{}: no such id file; `{split}` writes {}", missing.display(), id_file(&options.out).display());
    }
    let list = args.ids.as_deref().map(IdFile::read).transpose()?;
    let timed = !experiment.clock.repeatable();
    if let Some(list) = &list {
        experiment.paper_costs.clone_from(&list.costs);
    } else if timed
        && experiment.wants_paper_cost()
        && let Ok(begun) = Store::open(&options.out)
    {
        experiment.paper_costs = begun.manifest()?.paper_costs;
    }
    let plan = Plan::new(experiment, catalog, &options.data_dir)?;
    if timed && !plan.undetermined.is_empty() {
        bail!(
            "each machine would solve the paper's oracle cost for itself; store it in an id file with `{split}`, \
             then run with --ids {}",
            id_file(&options.out).display()
        );
    }
    let mut plan = oracle_cost::complete(plan, experiment, catalog, &options.data_dir, &options.stop, |_| ())?;
    let digest = shard::digest(&plan);
    let mut ids = BTreeSet::new();
    if let Some(list) = &list {
        list.belongs_to(&digest)?;
        ids = list.ids(args.shard)?;
    } else if let Some(index) = args.shard {
        // Every node must compute the same shards, so they depend on the plan only.
        let mut split = shard::split(&plan, index.of, |_| true, |run| run.model_s);
        ids.extend(split.shards.swap_remove(index.shard - 1).runs);
    }
    let known: BTreeSet<&str> = plan.runs.iter().map(|run| run.run_id.as_str()).collect();
    if let Some(id) = ids.iter().find(|id| !known.contains(id.as_str())) {
        bail!("run {id} is not in the plan of {}; run --dry-run -v lists its runs", config.display());
    }
    let name = args.shard.map_or("some".to_owned(), |index| format!("{}-of-{}", index.shard, index.of));
    let mut part = ShardRuns { name, ids, plan: digest };
    part.narrow(&mut plan);
    Ok((plan, part))
}

/// Copies the paper's oracle costs of a folder into the experiment. `known` are records that were read before; returns them with
/// those that had to be read. A folder that cannot be read is reported by the session.
pub fn known_costs(experiment: &mut Experiment, out: &Path, known: Contents, catalog: &dyn Catalog) -> Contents {
    let Some(store) = Store::open(out).ok().filter(|_| experiment.wants_paper_cost()) else { return known };
    let known = store.refresh(Folder::Runs, known).unwrap_or_default();
    experiment.paper_costs = costs_of(out, &known.records, catalog);
    known
}

/// The runs of a folder and of its shards. Copies the paper's oracle costs of the folder into the experiment.
pub fn found_runs(experiment: &mut Experiment, out: &Path, catalog: &dyn Catalog) -> crate::Result<Contents> {
    let known = part::scan(out, |_| true)?;
    experiment.paper_costs = costs_of(out, &known.records, catalog);
    Ok(known)
}

/// The paper's oracle costs in a folder with these records.
fn costs_of(out: &Path, records: &[RunRecord], catalog: &dyn Catalog) -> PaperCosts {
    let manifest = Store::open(out).and_then(|store| store.manifest());
    let mut costs = manifest.map(|manifest| manifest.paper_costs).unwrap_or_default();
    // What a session has stored stays, then what `cluster plan --write` has solved.
    let split = Some(id_file(out)).filter(|path| path.is_file()).and_then(|path| IdFile::read(&path).ok());
    for (key, cost) in split.into_iter().flat_map(|list| list.costs.0) {
        costs.0.entry(key).or_insert(cost);
    }
    // Without these, whole runs of BCFW measure it better than the first iterations of new ones.
    for clock in ClockKind::ALL.into_iter().filter(|clock| !clock.repeatable()) {
        for regime in regimes(records.iter().filter(|record| record.settings().clock == clock), catalog) {
            let solved = OracleCost::new(regime.solved).and_then(OracleCost::rounded);
            if let (Ok(cost), Some(_), Some(problem)) = (solved, regime.own_share, regime.problem) {
                costs.0.entry((problem, clock)).or_insert(cost);
            }
        }
    }
    costs
}

/// Prints what was done; an error when a run failed or was left out, with the command that continues.
pub fn complete(report: &Report) -> anyhow::Result<()> {
    let (planned, now, before) = (report.planned, report.finished, report.already);
    let (failed, again) = (report.failed.len() as u64, same_command());
    if report.interrupted {
        bail!("stopped: {} of {planned} runs are left; continue with: {again}", planned - before - now - failed);
    }
    if report.gone > 0 {
        bail!(
            "{} of {} finished runs are no longer in {}: their files were removed or changed while this command ran; \
             make them again with: {again}",
            report.gone,
            before + now + report.gone,
            report.out
        );
    }
    if let Some((label, message)) = report.failed.first() {
        bail!(
            "{failed} of {planned} runs failed, such as {label}: {message}; after fixing this, continue with: {again}"
        );
    }
    let (took, out) = (duration(report.seconds), &report.out);
    note(&format!("{now} runs finished in {took}, {before} were done before: {out}"));
    Ok(())
}
