//! `slurm submit`: a config in, a job array and the job that gathers its results in the queue of a cluster out.
//! `slurm status`: a result folder in, the state of every shard out.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::engines::{self, EngineArgs};
use super::format::table_or_json;
use super::run::{ConfigArgs, costs_of};
use super::{note, print};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, Plan, RunSpec, plan_memory};
use crate::run::cluster::cost::SubmissionCost;
use crate::run::cluster::jobs::{Jobs, Submission, Submitted};
use crate::run::cluster::scripts::{self, merge_command, quoted};
use crate::run::cluster::slurm::{self, ArrayCall, DEFAULT_ARRAY_SIZE, Phase, QueueTask};
use crate::run::cluster::status::{self, FoundRuns, ShardState, ShardStatus};
use crate::run::cluster::{ClusterJob, SLURM_FOLDER, id_file, script_path, script_word};
use crate::run::existing::Existing;
use crate::run::shard::list::IdFile;
use crate::run::shard::{self, MOST_SHARDS, part};
use crate::run::{host, oracle_cost};
use crate::store::files;
use crate::table::Format;

/// The shards of a config on a SLURM cluster
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench slurm submit --config quick --out results/quick --shards 16 --time 1:00:00 --dry-run\n  \
    ssvm-bench slurm status results/quick"
)]
pub struct SlurmArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Action {
    /// Submits an array with a task per shard, and a job that gathers the results; again for what is missing.
    Submit(Box<SubmitArgs>),
    /// Which shards are done, running, waiting or failed, and why.
    Status(StatusArgs),
}

/// Arguments of `slurm submit`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench slurm submit --config quick --out results/quick --shards 16 --time 1:00:00 --dry-run\n  \
    ssvm-bench slurm submit --config league --out results/league --shards 200 --at-once 20 --exclusive -- --account=mine\n\n\
    The result folder must be one that all nodes share. The same command again submits the shards that are neither done nor \
    in the queue."
)]
struct SubmitArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Parts of about the same cost, a task each [default: those of the last submission]
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=MOST_SHARDS as u64))]
    shards: Option<usize>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Write the scripts but no id file, say what would be done and what it would cost, and submit nothing
    #[arg(long)]
    dry_run: bool,
    /// Further options of sbatch, for all jobs, such as --account=NAME
    #[arg(last = true, value_name = "SBATCH OPTION")]
    more: Vec<String>,
}

/// Arguments of `slurm status`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench slurm status results/quick")]
struct StatusArgs {
    /// Result folder
    results: PathBuf,
    /// Output: a table, or one JSON object
    #[arg(long, value_parser = table_or_json(), default_value = "table")]
    format: Format,
    /// A row for every shard
    #[arg(long, short)]
    verbose: bool,
}

/// Runs the command.
pub fn run(args: &SlurmArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    match &args.action {
        Action::Submit(args) => submit(args, catalog, data),
        Action::Status(args) => status(args),
    }
}

/// A submission that is worked out and not done yet.
struct Submittable {
    job: ClusterJob,
    jobs: Jobs,
    cost: SubmissionCost,
    arrays: Vec<ArrayCall>,
    /// Jobs of earlier submissions that are still in the queue.
    before: BTreeSet<u64>,
    /// Text of the config.
    config: String,
    /// Text of a new id file.
    ids: Option<String>,
    submitted_before: bool,
}

fn submit(args: &SubmitArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let Some(mut ready) = prepare(args, catalog, data)? else { return Ok(()) };
    let out = PathBuf::from(&ready.job.out);
    let [array, gather] = write_files(args, &ready, &out)?;
    print(&ready.cost.text(&ready.job))?;
    print(&format!("scripts   {array}\n          {gather}\n"))?;
    for line in ready.cost.warnings(&ready.job) {
        note(&line);
    }
    if args.dry_run {
        return print("nothing was submitted (--dry-run)\n");
    }
    let mut submission = Submission { unix_s: host::unix_time(), ..Submission::default() };
    let mut after: Vec<u64> = ready.before.iter().copied().collect();
    let before = std::mem::take(&mut ready.jobs.submissions);
    let mut save = |submission: &Submission| {
        ready.jobs.submissions = before.iter().chain([submission]).cloned().collect();
        ready.jobs.write(&out)
    };
    for call in &ready.arrays {
        let mut words = vec![format!("--array={}", call.list(ready.job.at_once))];
        // %P holds within one array: the next one waits, so that no more run at once.
        if let (Some(last), Some(_)) = (submission.arrays.last(), ready.job.at_once) {
            words.push(format!("--dependency=afterany:{}", last.job));
        }
        words.extend([array.clone(), call.offset.to_string()]);
        let job = slurm::submit(words).with_context(|| refused(&submission, &out))?;
        after.push(job);
        submission.arrays.push(Submitted { job, offset: call.offset, indices: call.list(None) });
        // After each call: what is in the queue must never be forgotten.
        save(&submission)?;
        print(&format!("submitted array {job}: {} tasks\n", call.indices.len()))?;
    }
    let after: Vec<String> = after.iter().map(u64::to_string).collect();
    // afterany: however they end.
    let words = vec![format!("--dependency=afterany:{}", after.join(":")), gather];
    let job = slurm::submit(words).with_context(|| refused(&submission, &out))?;
    submission.gather = Some(job);
    save(&submission)?;
    print(&format!("submitted job {job}: merge, figures, report\n"))?;
    print(&format!("see       ssvm-bench slurm status {}\n", quoted(&ready.job.out)))
}

/// Writes config, id file and scripts; the paths of the scripts.
fn write_files(args: &SubmitArgs, ready: &Submittable, out: &Path) -> anyhow::Result<[String; 2]> {
    let job = &ready.job;
    files::write_bytes(Path::new(&job.config), ready.config.as_bytes())?;
    if let (Some(text), false) = (&ready.ids, args.dry_run) {
        let ids = id_file(out);
        if !ready.submitted_before && files::read_text_if_there(&ids)?.is_some_and(|there| there != *text) {
            bail!(
                "{} exists and is not of a submission; another engine may be using it: remove it, or choose another --out",
                ids.display()
            );
        }
        files::write_bytes(&ids, text.as_bytes())?;
    }
    let [array, gather] = ["array.sbatch", "gather.sbatch"].map(|name| out.join(SLURM_FOLDER).join(name));
    files::write_bytes(&array, scripts::slurm_array(job).as_bytes())?;
    files::write_bytes(&gather, scripts::slurm_gather(job).as_bytes())?;
    Ok([script_path(&array)?, script_path(&gather)?])
}

/// What to add to the error when sbatch refuses a job.
fn refused(submission: &Submission, out: &Path) -> String {
    if submission.arrays.is_empty() {
        return "no array is known to be submitted".to_owned();
    }
    let ids: Vec<String> = submission.arrays.iter().map(|array| array.job.to_string()).collect();
    format!(
        "only array {} was submitted; the same command later submits what is missing; when all is done, gather with: {}",
        ids.join(", "),
        merge_command(out)
    )
}

/// Plan, shards and queue → what is to be submitted; `None` when there is nothing.
fn prepare(args: &SubmitArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<Option<Submittable>> {
    let (mut experiment, out) = args.config.read(catalog)?;
    let out = PathBuf::from(script_path(&out)?);
    let before = Jobs::read(&out)?;
    // The shards of the last submission, when they are of this plan: tasks in the queue know them by their number.
    let mut list = None;
    if before.is_some() && id_file(&out).exists() {
        list = Some(IdFile::read(&id_file(&out))?);
        list = list.filter(|list| args.shards.is_none_or(|shards| shards == list.shards().len()));
    }
    let known = part::scan(&out, |_| true)?;
    experiment.paper_costs = costs_of(&out, &known.records, catalog);
    experiment.paper_costs.extend(list.iter().flat_map(|list| list.prices.clone()));
    let plan = complete_plan(args, &experiment, catalog, data)?;
    let list = list.filter(|list| list.belongs_to(&shard::digest(&plan)).is_ok());
    let existing = Existing::of(known, &plan);
    let estimator = existing.estimator(&plan);
    let seconds = |run: &RunSpec| estimator.seconds(run);
    let split = match &list {
        Some(_) => None,
        None => Some(shard::split(&plan, shard_count(args, before.as_ref())?, |run| !existing.has(run), seconds)),
    };
    let lists: Vec<Vec<String>> = match &split {
        Some(split) => split.shards.iter().map(|shard| shard.runs.clone()).collect(),
        None => list.iter().flat_map(|list| list.shards().to_vec()).collect(),
    };

    let mut job = engines::job(&args.engine, &experiment, &args.config.select, &out, data, lists.len())?;
    job.config = script_path(&out.join(SLURM_FOLDER).join("config.toml"))?;
    job.more = args.more.iter().map(|word| script_word(word, "the option")).collect::<Result<_, _>>()?;
    let tasks = queue(args, before.as_ref(), &out)?;
    let live: BTreeSet<u64> = tasks.iter().filter(|task| task.phase != Phase::Ended).map(|task| task.job).collect();
    if let (true, Some(job)) = (split.is_some(), live.first()) {
        bail!(
            "job {job} of an earlier submission with other shards is still in the queue; wait for it, or end it with: scancel {job}"
        );
    }
    let runs: HashMap<&str, &RunSpec> = plan.runs.iter().map(|run| (run.run_id.as_str(), run)).collect();
    let of = |ids: &[String]| -> Vec<&RunSpec> { ids.iter().filter_map(|id| runs.get(id.as_str()).copied()).collect() };
    let submitted_before = before.is_some();
    let jobs = Jobs {
        name: experiment.name.clone(),
        config: job.config.clone(),
        ids: id_file(&out).to_string_lossy().into_owned(),
        shards: lists.len(),
        seconds: lists.iter().map(|ids| of(ids).into_iter().map(seconds).sum()).collect(),
        submissions: before.filter(|_| split.is_none()).unwrap_or_default().submissions,
    };
    let found = FoundRuns { done: existing.done.keys().cloned().collect(), ..FoundRuns::default() };
    let shards = status::shards(&lists, &found, &jobs, Some(&tasks), |_, _| None, 0);
    let due = status::due(&shards);
    let in_queue = |shard: &&ShardStatus| matches!(shard.state, ShardState::Running | ShardState::Pending);
    let queued = shards.iter().filter(in_queue).count();
    if due.is_empty() {
        return nothing_to_submit(&out, queued).map(|()| None);
    }
    let left: Vec<Vec<f64>> = due
        .iter()
        .map(|shard| of(&lists[shard - 1]).into_iter().filter(|run| !existing.has(run)).map(seconds).collect())
        .collect();
    job.longest_s = left.iter().flatten().copied().fold(0.0, f64::max);
    let arrays = slurm::array_calls(&due, max_array_size(args)?)?;
    let workers = if job.isolated { 1 } else { job.jobs.unwrap_or(1) };
    let cost = SubmissionCost {
        runs: plan.runs.len(),
        done: existing.done.len(),
        due_runs: left.iter().map(Vec::len).sum(),
        seconds: left.iter().map(|seconds| seconds.iter().sum()).collect(),
        queued,
        arrays: arrays.len(),
        workers,
        memory: plan_memory(&plan, workers),
        timed: !experiment.clock.repeatable(),
    };
    let ids = split.map(|split| split.lines());
    Ok(Some(Submittable { job, jobs, cost, arrays, before: live, config: experiment.text, ids, submitted_before }))
}

/// The plan with every oracle cost. A dry run prepares nothing.
fn complete_plan(
    args: &SubmitArgs,
    experiment: &Experiment,
    catalog: &dyn Catalog,
    data: &DataDir,
) -> anyhow::Result<Plan> {
    let plan = if args.dry_run { Plan::outline } else { Plan::new }(experiment, catalog, data)?;
    if let Some(set) = plan.pending.first() {
        bail!("the runs of {} are known only after the work that a dry run leaves out: {}", set.dataset, set.work);
    }
    Ok(oracle_cost::complete(plan, experiment, catalog, data, note)?)
}

fn shard_count(args: &SubmitArgs, before: Option<&Jobs>) -> anyhow::Result<usize> {
    let changed = match before {
        Some(_) => "the plan is not that of the last submission, so it is split again; ",
        None => "",
    };
    args.shards.with_context(|| format!("{changed}give the number of parts: --shards N"))
}

/// The tasks of earlier submissions in the queue. Without an answer nothing is submitted: it may be in the queue already.
fn queue(args: &SubmitArgs, before: Option<&Jobs>, out: &Path) -> anyhow::Result<Vec<QueueTask>> {
    match before.map(slurm::queue) {
        None => Ok(Vec::new()),
        Some(Err(error)) if args.dry_run => {
            note(&format!("note: {error}; earlier submissions are not looked for in the queue"));
            Ok(Vec::new())
        }
        Some(answer) => answer.with_context(|| {
            format!(
                "cannot tell which shards are still in the queue; when none is, delete {} and give --shards",
                Jobs::path(out).display()
            )
        }),
    }
}

fn max_array_size(args: &SubmitArgs) -> anyhow::Result<usize> {
    match slurm::max_array_size() {
        Err(error) if args.dry_run => {
            note(&format!("note: {error}; MaxArraySize is taken to be {DEFAULT_ARRAY_SIZE}"));
            Ok(DEFAULT_ARRAY_SIZE)
        }
        answer => Ok(answer?),
    }
}

fn nothing_to_submit(out: &Path, queued: usize) -> anyhow::Result<()> {
    let why = if queued > 0 { format!("{queued} shards are in the queue") } else { "every run is done".to_owned() };
    let folder = quoted(&out.to_string_lossy());
    print(&format!("nothing to submit: {why}; see ssvm-bench slurm status {folder}\n"))?;
    if queued == 0 && part::not_merged(out)? > 0 {
        print(&format!("join the shards: {}\n", merge_command(out)))?;
    }
    Ok(())
}

fn status(args: &StatusArgs) -> anyhow::Result<()> {
    let out = &args.results;
    let Some(jobs) = Jobs::read(out)? else {
        bail!(
            "{}: nothing was submitted from here; ssvm-bench slurm submit --config C --out {} --shards N does",
            out.display(),
            out.display()
        );
    };
    let list = IdFile::read(&id_file(out))?;
    let wanted = list.ids(None)?;
    let (found, damaged) = FoundRuns::read(&part::stores(out)?, &wanted)?;
    let queue =
        slurm::queue(&jobs).map_err(|error| note(&format!("note: {error}; only the result folder is looked at"))).ok();
    let log = |job, index| last_line(&out.join(SLURM_FOLDER).join(format!("{job}_{index}.log")));
    let shards = status::shards(list.shards(), &found, &jobs, queue.as_deref(), log, host::unix_time());
    if args.format == Format::Json {
        let whole = serde_json::json!({"name": jobs.name, "queue": queue.is_some(), "shards": shards});
        print(&format!("{whole}\n"))?;
    } else {
        print(&status::table(&shards, args.verbose))?;
        print(&format!("\n{}: {}\n", jobs.name, status::summary(&shards)))?;
        if !status::due(&shards).is_empty() && queue.is_some() {
            let (config, out) = (quoted(&jobs.config), quoted(&out.to_string_lossy()));
            print(&format!("submit what is missing: ssvm-bench slurm submit --config {config} --out {out}\n"))?;
        }
        if shards.iter().all(|shard| shard.state == ShardState::Done) && part::not_merged(out)? > 0 {
            print(&format!("join the shards, unless the last job is about to: {}\n", merge_command(out)))?;
        }
    }
    for line in damaged {
        note(&format!("warning: {line}"));
    }
    Ok(())
}

/// The line of a log with the reason why a task ended.
fn last_line(path: &Path) -> Option<String> {
    const MOST: u64 = 1 << 24;
    let bytes = files::plain(path).and_then(|()| files::read(path, MOST)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // SLURM's message about the end precedes the program's own; an older one is about an earlier attempt.
    let mut near = lines.iter().rev().take(6);
    let line = near.find(|line| line.contains("CANCELLED AT")).or(lines.last())?;
    Some(line.chars().take(200).collect())
}
