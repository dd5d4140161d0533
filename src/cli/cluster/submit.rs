//! `cluster submit`: a config in, a job array and the job that gathers its results in the queue of a SLURM cluster out.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::super::args::shard_count;
use super::super::run::{found_runs, name_programs};
use super::super::{note, print, say};
use super::{ConfigArgs, EngineArgs, known_plan, split_command, unknown_runs, whole_plan, write_ids};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, RunSpec, plan_memory};
use crate::run::cluster::cost::SubmissionCost;
use crate::run::cluster::jobs::{Asked, Jobs, Submission, Submitted, ranges};
use crate::run::cluster::scripts::{self, merge_command, quoted};
use crate::run::cluster::slurm::{self, DEFAULT_ARRAY_SIZE, Phase, QueueTask};
use crate::run::cluster::status::{self, FoundRuns, ShardState, ShardStatus};
use crate::run::cluster::{ClusterJob, SLURM_FOLDER, id_file, script_path, script_word};
use crate::run::existing::Existing;
use crate::run::shard::list::IdFile;
use crate::run::shard::{self, part};
use crate::run::worker::StopSignal;
use crate::run::{Error, host};
use crate::store::files::{self, NewFolders, SharedFile};

/// Submit the shards of a config to a SLURM cluster
///
/// Submits an array with a task per shard, and a job that gathers the results. All nodes must share the result folder.
/// Run the same command again to submit the shards that are neither done nor in the queue. Options of sbatch follow
/// `--`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench cluster submit smoke --out results/slurm --shards 2 --time 1h --dry-run\n  \
    ssvm-bench cluster submit league --shards 200 --at-once 20 -- --account=mine"
)]
pub struct SubmitArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Number of shards of about the same cost, one task each [default: that of the last submission]
    #[arg(long, value_name = "N", value_parser = shard_count)]
    shards: Option<usize>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print what would be done, its cost and the scripts; write nothing, submit nothing and do not contact the cluster
    #[arg(long)]
    dry_run: bool,
    /// Further options of sbatch, for all jobs, such as --account=NAME
    #[arg(last = true, value_name = "SBATCH OPTION")]
    more: Vec<String>,
}

pub fn run(args: &SubmitArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let (mut experiment, given) = args.config.select.experiment(&args.config.config, catalog)?;
    let out = PathBuf::from(script_path(&given)?);
    // A submission that is refused leaves no empty folders.
    let _new = if args.dry_run { None } else { Some(NewFolders::make(&out.join(SLURM_FOLDER))?) };
    // Held until the end, because two simultaneous submissions would submit everything twice.
    let file = if args.dry_run { None } else { Some(Jobs::lock(&out)?) };
    find_a_cluster(args, &experiment)?;
    let mut before = Jobs::read(&out)?;
    let list = written_shards(args, &out, before.as_ref())?;
    let known = found_runs(&mut experiment, &out, catalog)?;
    experiment.paper_costs.0.extend(list.iter().flat_map(|list| list.costs.0.clone()));
    let command = split_command(&args.config.config, &args.config.select, &given, args.shards);
    let plan = if args.dry_run {
        known_plan(&experiment, catalog, data, ["a dry run", "cluster submit"], &command)?
    } else {
        name_programs(&experiment, catalog);
        // A signal ends this command at once, so no stop signal is checked here.
        whole_plan(&experiment, catalog, data, &StopSignal::default())?
    };
    if !plan.pending.is_empty() {
        let shards = list.map_or_else(|| wanted_shards(args, before.as_ref()), |list| Ok(list.shards.len()))?;
        print(&unknown_runs(&plan, &command))?;
        return show_scripts(&scripts_of(&job_of(args, &experiment, &out, data, shards)?)?);
    }
    let list = list.filter(|list| list.belongs_to(&shard::digest(&plan)).is_ok());
    let existing = Existing::of(known, &plan);
    let seconds = |run: &RunSpec| existing.estimator.seconds(run);
    // The text of a new id file, where the plan is split again.
    let (lists, new_ids): (Vec<Vec<String>>, Option<String>) = if let Some(list) = list {
        (list.shards, None)
    } else {
        let split = shard::split(&plan, wanted_shards(args, before.as_ref())?, |run| !existing.has(run), seconds);
        let text = split.lines();
        (split.shards.into_iter().map(|shard| shard.runs).collect(), Some(text))
    };

    let mut job = job_of(args, &experiment, &out, data, lists.len())?;
    let tasks = queue(args, before.as_mut(), &out)?;
    let live: BTreeSet<u64> = tasks.iter().filter(|task| task.phase != Phase::Ended).map(|task| task.job).collect();
    if let (Some(_), Some(job)) = (&new_ids, live.first()) {
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
        seconds: lists.iter().map(|ids| of(ids).into_iter().map(seconds).sum()).collect(),
        submissions: before.filter(|_| new_ids.is_none()).unwrap_or_default().submissions,
    };
    let found = FoundRuns { done: existing.done.keys().cloned().collect(), ..FoundRuns::default() };
    let shards = status::shards(&lists, &found, &jobs, Some(&tasks), |_, _| None, 0);
    let due = status::due(&shards);
    let in_queue = |shard: &&ShardStatus| matches!(shard.state, ShardState::Running | ShardState::Pending);
    let queued = shards.iter().filter(in_queue).count();
    if due.is_empty() {
        return nothing_to_submit(&out, queued, &jobs);
    }
    let left_of =
        |shard: &usize| of(&lists[shard - 1]).into_iter().filter(|run| !existing.has(run)).map(seconds).collect();
    let left: Vec<Vec<f64>> = due.iter().map(left_of).collect();
    job.longest_s = left.iter().flatten().copied().fold(0.0, f64::max);
    let arrays = slurm::arrays(&due, max_array_size(args)?)?;
    let cost = SubmissionCost {
        runs: plan.runs.len(),
        done: existing.done.len(),
        left,
        queued,
        arrays: arrays.len(),
        memory: plan_memory(&plan, job.workers()),
        timed: !experiment.clock.repeatable(),
    };
    let scripts = scripts_of(&job)?;
    if !args.dry_run {
        write_files(&job, &experiment.text, new_ids.as_deref(), submitted_before, &scripts)?;
    }
    show_cost(&cost, &job, &scripts)?;
    let Some(file) = file else {
        return show_scripts(&scripts);
    };
    send(&job, jobs, &file, &scripts, &arrays, live)
}

/// The job of a submission; its longest run is not known yet.
fn job_of(
    args: &SubmitArgs,
    experiment: &Experiment,
    out: &Path,
    data: &DataDir,
    shards: usize,
) -> anyhow::Result<ClusterJob> {
    let mut job = args.engine.job(experiment, &args.config.select, out, data, shards)?;
    job.config = script_path(&out.join(SLURM_FOLDER).join("config.toml"))?;
    job.more = args.more.iter().map(|word| script_word(word, "the option")).collect::<Result<_, _>>()?;
    Ok(job)
}

fn show_cost(cost: &SubmissionCost, job: &ClusterJob, scripts: &JobScripts) -> anyhow::Result<()> {
    say(&cost.text(job))?;
    print(&format!("scripts   {}\n          {}\n", scripts[0].0, scripts[1].0))?;
    cost.warnings(job).iter().for_each(|line| note(line));
    Ok(())
}

/// The end of a dry run.
fn show_scripts(scripts: &JobScripts) -> anyhow::Result<()> {
    scripts.iter().try_for_each(|(path, text)| print(&format!("\n{path} would be:\n\n{text}")))?;
    print("\nnothing was written or submitted (--dry-run)\n")
}

/// Path and text of the scripts of the array and of the job that gathers.
type JobScripts = [(String, String); 2];

fn scripts_of(job: &ClusterJob) -> anyhow::Result<JobScripts> {
    let script = |name: &str, template: &str| -> anyhow::Result<(String, String)> {
        let path = Path::new(&job.out).join(SLURM_FOLDER).join(name);
        Ok((script_path(&path)?, job.script(template)))
    };
    Ok([script("array.sbatch", scripts::SLURM_ARRAY)?, script("gather.sbatch", scripts::SLURM_GATHER)?])
}

/// Writes config, id file and scripts.
fn write_files(
    job: &ClusterJob,
    config: &str,
    new_ids: Option<&str>,
    submitted_before: bool,
    scripts: &JobScripts,
) -> anyhow::Result<()> {
    files::write_bytes(Path::new(&job.config), config.as_bytes())?;
    if let Some(text) = new_ids {
        write_ids(Path::new(&job.out), text, submitted_before)?;
    }
    scripts.iter().try_for_each(|(path, text)| files::write_bytes(Path::new(path), text.as_bytes()))?;
    Ok(())
}

/// Submits the arrays, and the job that gathers after these and after those of `live`, which are still in the queue.
fn send(
    job: &ClusterJob,
    mut jobs: Jobs,
    file: &SharedFile,
    [(array, _), (gather, _)]: &JobScripts,
    arrays: &[(usize, Vec<usize>)],
    live: BTreeSet<u64>,
) -> anyhow::Result<()> {
    let out = Path::new(&job.out);
    let mut after: Vec<String> = live.iter().map(u64::to_string).collect();
    let mut last: Option<u64> = None;
    let now = host::unix_time();
    let comment = format!("ssvm-bench-{now}-{}", std::process::id());
    jobs.submissions.push(Submission { unix_s: now, ..Submission::default() });
    let at = jobs.submissions.len() - 1;
    for (offset, indices) in arrays {
        let (list, most) = (ranges(indices), job.at_once.map_or(String::new(), |count| format!("%{count}")));
        let (array_option, offset_word) = (format!("--array={list}{most}"), offset.to_string());
        // %P holds within one array: the next one waits, so that no more run at once.
        let wait = last.filter(|_| job.at_once.is_some()).map(|last| format!("--dependency=afterany:{last}"));
        // Written first: if this command is interrupted while SLURM accepts the array, the next one finds the array by its comment.
        let comment = format!("{comment}-{offset}");
        let (unix_s, indices_asked) = (host::unix_time(), list.clone());
        jobs.submissions[at].asked =
            Some(Asked { comment: comment.clone(), offset: *offset, indices: indices_asked, unix_s });
        jobs.write(file)?;
        let comment_option = format!("--comment={comment}");
        let words: Vec<&str> = [array_option.as_str(), &comment_option]
            .into_iter()
            .chain(wait.as_deref())
            .chain([array.as_str(), &offset_word])
            .collect();
        let answer = slurm::submit(&words);
        if answer.as_ref().is_err_and(Error::is_refusal) {
            jobs.submissions[at].asked = None;
            jobs.write(file)?;
        }
        let id = answer.with_context(|| refused(&jobs.submissions[at], out))?;
        last = Some(id);
        after.push(id.to_string());
        jobs.submissions[at].asked = None;
        jobs.submissions[at].arrays.push(Submitted { job: id, offset: *offset, indices: list });
        // Written after each call, so that no job in the queue is lost.
        jobs.write(file)?;
        print(&format!("submitted array {id}: {} tasks\n", indices.len()))?;
    }
    // afterany: however they end.
    let dependency = format!("--dependency=afterany:{}", after.join(":"));
    let id = slurm::submit(&[&dependency, gather]).with_context(|| refused(&jobs.submissions[at], out))?;
    jobs.submissions[at].gather = Some(id);
    jobs.write(file)?;
    print(&format!("submitted job {id}: merge, figures, report\n"))?;
    print(&format!("see       ssvm-bench cluster status {}\n", quoted(&job.out)))
}

/// What to add to the error when sbatch refuses a job.
fn refused(submission: &Submission, out: &Path) -> String {
    if submission.arrays.is_empty() {
        return "no array was submitted, as far as known".to_owned();
    }
    let ids: Vec<String> = submission.arrays.iter().map(|array| array.job.to_string()).collect();
    format!(
        "only array {} was submitted; run the same command later to submit the rest; when all tasks are done, gather with: {}",
        ids.join(", "),
        merge_command(out)
    )
}

/// The shards of the last submission or of `cluster plan --write`; tasks in the queue refer to them by number. A file from another
/// source is not replaced, see `write_ids`.
fn written_shards(args: &SubmitArgs, out: &Path, before: Option<&Jobs>) -> anyhow::Result<Option<IdFile>> {
    let ids = id_file(out);
    let list = match ids.exists().then(|| IdFile::read(&ids)).transpose() {
        Err(error) if before.is_some() => return Err(error.into()),
        list => list.unwrap_or_default(),
    };
    let Some(other) =
        list.as_ref().map(|list| list.shards.len()).filter(|count| args.shards.is_some_and(|n| n != *count))
    else {
        return Ok(list);
    };
    if before.is_none() {
        bail!("{} has {other} shards: give --shards {other}, or remove it to split the plan again", ids.display());
    }
    Ok(None)
}

fn wanted_shards(args: &SubmitArgs, before: Option<&Jobs>) -> anyhow::Result<usize> {
    let changed = match before {
        Some(_) => "the plan has changed since the last submission, so it is split again; ",
        None => "",
    };
    args.shards.with_context(|| format!("{changed}give the number of shards: --shards N"))
}

/// The tasks of earlier submissions in the queue. If the queue does not answer, nothing is submitted, because it may already be there.
fn queue(args: &SubmitArgs, before: Option<&mut Jobs>, out: &Path) -> anyhow::Result<Vec<QueueTask>> {
    let Some(jobs) = before else { return Ok(Vec::new()) };
    if args.dry_run {
        note("note: a dry run does not ask the queue: shards of earlier submissions that are in it count as missing");
        return Ok(Vec::new());
    }
    let tasks = slurm::queue(jobs).with_context(|| {
        let file = Jobs::path(out);
        let file = file.display();
        format!("cannot determine which shards are still in the queue; if none is, delete {file} and pass --shards")
    })?;
    if let Some((asked, left)) = jobs.unanswered(host::unix_time()) {
        bail!("{}; repeat this command in {left} s: it submits what the queue does not show then", asked.text());
    }
    Ok(tasks)
}

/// Without a cluster the oracle costs would be solved for nothing.
fn find_a_cluster(args: &SubmitArgs, experiment: &Experiment) -> anyhow::Result<()> {
    if !args.dry_run && experiment.wants_paper_cost() {
        slurm::max_array_size()?;
    }
    Ok(())
}

fn max_array_size(args: &SubmitArgs) -> Result<usize, Error> {
    if args.dry_run {
        note(&format!("note: a dry run does not ask the cluster: MaxArraySize is taken to be {DEFAULT_ARRAY_SIZE}"));
        return Ok(DEFAULT_ARRAY_SIZE);
    }
    slurm::max_array_size()
}

fn nothing_to_submit(out: &Path, queued: usize, jobs: &Jobs) -> anyhow::Result<()> {
    let why = if queued > 0 { format!("{queued} shards are in the queue") } else { "every run is done".to_owned() };
    let folder = quoted(&out.to_string_lossy());
    say(&format!("nothing to submit: {why}; see `ssvm-bench cluster status {folder}`"))?;
    if queued > 0 && jobs.submissions.last().is_some_and(|last| last.gather.is_none()) {
        say(&format!("no job joins the shards; when they are done, run: `{}`", merge_command(out)))?;
    }
    if queued == 0 && part::not_merged(out)? > 0 {
        say(&format!("join the shards: `{}`", merge_command(out)))?;
    }
    Ok(())
}
