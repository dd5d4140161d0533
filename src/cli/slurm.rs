//! `slurm submit`: a config in, a job array and the job that gathers its results in the queue of a cluster out.
//! `slurm status`: a result folder in, the state of every shard out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};

use super::engines::{self, EngineArgs};
use super::run::{ConfigArgs, costs_of};
use super::{TextOrJson, note, print};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Plan, RunSpec, plan_memory};
use crate::run::cluster::cost::{self, Cost};
use crate::run::cluster::jobs::{Jobs, Submission, Submitted};
use crate::run::cluster::squeue::{Phase, Task};
use crate::run::cluster::status::{self, Found, ShardStatus, State};
use crate::run::cluster::{Job, programs, sbatch, shell};
use crate::run::existing::Existing;
use crate::run::oracle_cost;
use crate::run::shard::list::IdFile;
use crate::run::shard::{self, MOST_SHARDS, part};
use crate::store::files;

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
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
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

/// What is to be submitted.
struct Submittable {
    job: Job,
    jobs: Jobs,
    cost: Cost,
    arrays: Vec<sbatch::Array>,
    /// Jobs of earlier submissions that are still in the queue.
    before: Vec<u64>,
    config: String,
    ids: Option<String>,
    submitted_before: bool,
}

fn submit(args: &SubmitArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let Some(mut ready) = prepare(args, catalog, data)? else { return Ok(()) };
    let out = PathBuf::from(&ready.job.out);
    let folder = out.join(sbatch::FOLDER);
    let (array, gather) = (folder.join("array.sbatch"), folder.join("gather.sbatch"));
    files::write_bytes(Path::new(&ready.job.config), ready.config.as_bytes())?;
    if let (Some(text), false) = (&ready.ids, args.dry_run) {
        let ids = Path::new(&ready.job.ids);
        if !ready.submitted_before && files::read_text_if_there(ids)?.is_some_and(|there| there != *text) {
            bail!(
                "{} is there and is not of a submission; another engine may be using it: remove it, or choose another --out",
                ids.display()
            );
        }
        files::write_bytes(ids, text.as_bytes())?;
    }
    files::write_bytes(&array, sbatch::text(&ready.job).as_bytes())?;
    files::write_bytes(&gather, sbatch::gather(&ready.job).as_bytes())?;
    print(&cost::text(&ready.job, &ready.cost))?;
    print(&format!("scripts   {}\n          {}\n", array.display(), gather.display()))?;
    for line in cost::warnings(&ready.job, &ready.cost) {
        note(&line);
    }
    if args.dry_run {
        return print("nothing was submitted (--dry-run)\n");
    }
    ready.jobs.submissions.push(Submission { unix_s: now(), ..Submission::default() });
    let (at_once, mut after) = (ready.job.at_once, ready.before.clone());
    let mut last: Option<u64> = None;
    for array_of in &ready.arrays {
        let mut call = vec![format!("--array={}", array_of.list(at_once))];
        // %P holds within one array: the next one waits, so that no more run at once.
        if let (Some(job), Some(_)) = (last, at_once) {
            call.push(format!("--dependency=afterany:{job}"));
        }
        call.extend([shell::path(&array)?, array_of.offset.to_string()]);
        let job = programs::submit(&call).with_context(|| refused(&ready.jobs))?;
        let indices = array_of.list(None);
        last = Some(job);
        after.push(job);
        if let Some(submission) = ready.jobs.submissions.last_mut() {
            submission.arrays.push(Submitted { job, offset: array_of.offset, indices });
        }
        // After each call: what is in the queue must never be forgotten.
        ready.jobs.write(&out)?;
        print(&format!("submitted array {job}: {} tasks\n", array_of.indices.len()))?;
    }
    let ids: Vec<String> = after.iter().map(u64::to_string).collect();
    // afterany: however they end.
    let call = [format!("--dependency=afterany:{}", ids.join(":")), shell::path(&gather)?];
    let job = programs::submit(&call).with_context(|| refused(&ready.jobs))?;
    if let Some(submission) = ready.jobs.submissions.last_mut() {
        submission.gather = Some(job);
    }
    ready.jobs.write(&out)?;
    print(&format!("submitted job {job}: merge, figures, report\n"))?;
    print(&format!("see       ssvm-bench slurm status {}\n", shell::quoted(&out.to_string_lossy())))
}

/// What to say when sbatch does not take a job.
fn refused(jobs: &Jobs) -> String {
    let ids: Vec<String> =
        jobs.submissions.last().into_iter().flat_map(|s| &s.arrays).map(|a| a.job.to_string()).collect();
    match &ids[..] {
        [] => "no array is known to be submitted".to_owned(),
        ids => format!(
            "only array {} was submitted; the same command later submits what is missing; when all is done, gather with: {}",
            ids.join(", "),
            gather(Path::new(&jobs.ids).parent().unwrap_or(Path::new(".")))
        ),
    }
}

/// Plan, shards and queue → what is to be submitted; `None` when there is nothing.
fn prepare(args: &SubmitArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<Option<Submittable>> {
    let (mut experiment, out) = args.config.read(catalog)?;
    let out = PathBuf::from(shell::path(&out)?);
    let (before, ids) = (Jobs::read(&out)?, engines::ids(&out));
    let list = before.as_ref().filter(|_| ids.exists()).map(|_| IdFile::read(&ids)).transpose()?;
    let list = list.filter(|list| args.shards.is_none_or(|shards| shards == list.shards().len()));
    let known = part::scan(&out, |_| true)?;
    experiment.paper_costs = costs_of(&out, &known.records, catalog);
    experiment.paper_costs.extend(list.iter().flat_map(|list| list.prices.clone()));
    let plan = if args.dry_run { Plan::outline } else { Plan::new }(&experiment, catalog, data)?;
    if let Some(set) = plan.pending.first() {
        bail!("the runs of {} are known only after the work that a dry run leaves out: {}", set.dataset, set.work);
    }
    let plan = oracle_cost::complete(plan, &experiment, catalog, data, note)?;
    let existing = Existing::of(known, &plan);
    let estimator = existing.estimator(&plan);
    let seconds = |run: &RunSpec| estimator.seconds(run, plan.description(run));
    let is_done = |run: &RunSpec| existing.done.contains_key(&run.run_id);
    // The shards of the last submission, when they are of this plan: what is in the queue knows them by their number.
    let mine = list.filter(|list| list.belongs_to(&shard::digest(&plan)).is_ok());
    let (lists, new) = if let Some(list) = mine {
        (list.shards().to_vec(), None)
    } else {
        let shards = args.shards.with_context(|| match &before {
            Some(_) => {
                "the plan is not that of the last submission, so it is split anew; into how many parts? --shards N"
            }
            None => "into how many parts? --shards N",
        })?;
        let split = shard::split(&plan, shards, |run| !is_done(run), seconds);
        let text = split.lines();
        (split.shards.into_iter().map(|shard| shard.runs).collect(), Some(text))
    };
    let mut job = engines::job(&args.engine, &experiment, &args.config.select, &out, data, lists.len())?;
    job.config = shell::path(&out.join(sbatch::FOLDER).join("config.toml"))?;
    job.more = args.more.iter().map(|word| shell::checked(word, "the option")).collect::<Result<_, _>>()?;
    let tasks = match before.as_ref().map(programs::queue) {
        None => Vec::new(),
        Some(Err(error)) if args.dry_run => {
            note(&format!("note: {error}; earlier submissions are not looked for in the queue"));
            Vec::new()
        }
        Some(asked) => asked.with_context(|| {
            format!(
                "cannot tell which shards are still in the queue; when none is, delete {} and give --shards",
                out.join(sbatch::FOLDER).join("jobs.json").display()
            )
        })?,
    };
    let live: Vec<&Task> = tasks.iter().filter(|task| task.phase != Phase::Ended).collect();
    if let (true, Some(task)) = (new.is_some(), live.first()) {
        bail!(
            "job {} of an earlier submission with other shards is still in the queue; wait for it, or end it with: scancel {}",
            task.job,
            task.job
        );
    }
    let runs: HashMap<&str, &RunSpec> = plan.runs.iter().map(|run| (run.run_id.as_str(), run)).collect();
    let of =
        |ids: &'_ [String]| -> Vec<&RunSpec> { ids.iter().filter_map(|id| runs.get(id.as_str()).copied()).collect() };
    let left = |shard: &usize| of(&lists[shard - 1]).into_iter().filter(|run| !is_done(run));
    let submitted_before = before.is_some();
    let kept = before.filter(|_| new.is_none()).unwrap_or_default();
    let jobs = Jobs {
        name: experiment.name.clone(),
        config: job.config.clone(),
        ids: job.ids.clone(),
        shards: lists.len(),
        seconds: lists.iter().map(|ids| of(ids).into_iter().map(seconds).sum()).collect(),
        submissions: kept.submissions,
    };
    let found = Found { done: existing.done.keys().cloned().collect(), ..Found::default() };
    let shards = status::shards(&lists, &found, &jobs, Some(&tasks), |_, _| None, now());
    let due = status::due(&shards);
    let count = |state: State| shards.iter().filter(|shard| shard.state == state).count();
    let queued = count(State::Running) + count(State::Pending);
    if due.is_empty() {
        let words =
            if queued > 0 { format!("{queued} shards are in the queue") } else { "every run is done".to_owned() };
        print(&format!("nothing to submit: {words}; see ssvm-bench slurm status {}\n", shell::quoted(&job.out)))?;
        if queued == 0 && part::not_merged(&out)? > 0 {
            print(&format!("join the shards: {}\n", gather(&out)))?;
        }
        return Ok(None);
    }
    job.longest = due.iter().flat_map(left).map(seconds).fold(0.0, f64::max);
    let largest = match programs::max_array_size() {
        Err(error) if args.dry_run => {
            note(&format!("note: {error}; MaxArraySize is taken to be 1001"));
            1001
        }
        other => other?,
    };
    let arrays = sbatch::arrays(&due, largest)?;
    let workers = if args.config.select.isolated { 1 } else { job.jobs.unwrap_or(1) };
    let cost = Cost {
        runs: plan.runs.len(),
        done: existing.done.len(),
        due_runs: due.iter().flat_map(left).count(),
        seconds: due.iter().map(|shard| left(shard).map(seconds).sum()).collect(),
        queued,
        arrays: arrays.len(),
        workers,
        memory: plan_memory(&plan, workers),
        timed: !experiment.clock.repeatable(),
    };
    let mut before: Vec<u64> = live.iter().map(|task| task.job).collect();
    before.sort_unstable();
    before.dedup();
    Ok(Some(Submittable { job, jobs, cost, arrays, before, config: experiment.text, ids: new, submitted_before }))
}

/// The call that joins the shards of a result folder.
fn gather(out: &Path) -> String {
    let [folder, ids] = [out.to_owned(), engines::ids(out)].map(|path| shell::quoted(&path.to_string_lossy()));
    format!("ssvm-bench merge {folder} --out {folder} --ids {ids}")
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
    let list = IdFile::read(&engines::ids(out))?;
    let wanted = list.ids(None)?;
    let folders: Vec<PathBuf> = std::iter::once(out.clone()).chain(part::folders(out)?).collect();
    let (found, damaged) = Found::read(&folders, &wanted)?;
    let queue = programs::queue(&jobs)
        .map_err(|error| note(&format!("note: {error}; only the result folder is looked at")))
        .ok();
    let log = |job, index| last_words(&sbatch::log(out, job, index));
    let shards = status::shards(list.shards(), &found, &jobs, queue.as_deref(), log, now());
    match args.format {
        TextOrJson::Json => {
            let rows: Vec<serde_json::Value> =
                shards.iter().map(|shard: &ShardStatus| serde_json::to_value(shard)).collect::<Result<_, _>>()?;
            let whole = serde_json::json!({"name": jobs.name, "queue": queue.is_some(), "shards": rows});
            print(&format!("{whole}\n"))?;
        }
        TextOrJson::Table => {
            print(&status::table(&shards, args.verbose))?;
            print(&format!("\n{}: {}\n", jobs.name, status::summary(&shards)))?;
            if !status::due(&shards).is_empty() && queue.is_some() {
                let (config, out) = (shell::quoted(&jobs.config), shell::quoted(&out.to_string_lossy()));
                print(&format!("submit what is missing: ssvm-bench slurm submit --config {config} --out {out}\n"))?;
            }
            if shards.iter().all(|shard| shard.state == State::Done) && part::not_merged(out)? > 0 {
                print(&format!("join the shards, unless the last job is about to: {}\n", gather(out)))?;
            }
        }
    }
    for line in damaged {
        note(&format!("warning: {line}"));
    }
    Ok(())
}

/// The last line of a log that says something.
fn last_words(path: &Path) -> Option<String> {
    const MOST: u64 = 1 << 24;
    let bytes = files::plain(path).and_then(|()| files::read(path, MOST)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // SLURM's word on the end comes before the program's own; an older one is about an earlier attempt.
    let mut near = lines.iter().rev().take(6);
    let line = near.find(|line| line.contains("CANCELLED AT")).or(lines.last())?;
    Some(line.chars().take(200).collect())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
