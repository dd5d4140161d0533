//! Engines that run shards: scripts that hold hostile names, what `squeue --json` of several versions says, submissions to
//! a SLURM of small scripts (`sbatch` that runs the tasks at once, or refuses), GNU parallel where it is installed.
//! `scripts/slurm_box.sh` does the same with a real SLURM.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::trials::{self, Skipped};
use ssvm_bench::run::cluster::jobs::{Jobs, Submission, Submitted};
use ssvm_bench::run::cluster::slurm::{self, Phase, QueueTask};
use ssvm_bench::run::cluster::status::{self, FoundRuns, ShardState};
use ssvm_bench::run::cluster::{ClusterJob, scripts};
use ssvm_bench::store::files::SharedFile;

const CONFIG: &str = r#"name = "cluster"
repeats = 2
clock = "virtual"
[budget]
iterations = 3
[[dataset]]
name = "usps-synth:n=30"
[[solver]]
name = "fw"
[[solver]]
name = "bcfw"
[[solver]]
name = "mp-bcfw"
"#;
const RUNS: usize = 6;

/// Takes calls down; runs the tasks of an array, or the job, at once when there is a file `run`; refuses the call whose
/// number is in the file `refuse`.
const SBATCH: &str = r#"#!/bin/bash
printf '%s\n' "$*" >>"$FAKE/calls"
count=$(wc -l <"$FAKE/calls")
if [ "$(cat "$FAKE/refuse" 2>/dev/null)" = "$count" ]; then
    echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2
    exit 1
fi
list=
script=()
for word in "$@"; do
    case "$word" in
        --array=*) list="${word#--array=}"; list="${list%%%*}" ;;
        --*) ;;
        *) script+=("$word") ;;
    esac
done
if [ -e "$FAKE/run" ]; then
    if [ -n "$list" ]; then
        for part in ${list//,/ }; do
            for index in $(seq "${part%-*}" "${part#*-}"); do
                SLURM_ARRAY_TASK_ID=$index bash "${script[@]}" >>"$FAKE/log" 2>&1
            done
        done
    else
        bash "${script[@]}" >>"$FAKE/log" 2>&1
    fi
fi
echo "$((100 + count));box"
"#;
const SQUEUE: &str = "#!/bin/bash\ncat \"$FAKE/queue.json\" 2>/dev/null || echo '{\"jobs\": []}'\n";
const SCONTROL: &str = "#!/bin/bash\n[ \"$*\" = 'show config' ] && cat \"$FAKE/config\"\n";

/// A folder with a config, and a SLURM of scripts.
struct Cluster {
    dir: tempfile::TempDir,
}

impl Cluster {
    fn new(max_array_size: usize) -> Self {
        let cluster = Self { dir: tempfile::tempdir().unwrap() };
        cluster.write("config.toml", CONFIG);
        cluster.write("fake/config", &format!("X = 1\nMaxArraySize            = {max_array_size}\n"));
        for (name, text) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scontrol", SCONTROL)] {
            cluster.program(name, text);
        }
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, name: &str, text: &str) {
        let name = format!("fake/{name}");
        self.write(&name, text);
        fs::set_permissions(self.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:{}", self.path("fake").display(), std::env::var("PATH").unwrap());
        command
            .env("COLUMNS", "1000")
            .current_dir(self.dir.path())
            .env("FAKE", self.path("fake"))
            .env("PATH", path)
            .stdin(Stdio::null());
        command
    }

    fn bench(&self, arguments: &[&str]) -> (i32, String, String) {
        said(self.command(env!("CARGO_BIN_EXE_ssvm-bench")).args(arguments))
    }

    fn submit(&self, more: &[&str]) -> (i32, String, String) {
        self.bench(&[&["cluster", "submit", "config.toml"], more].concat())
    }

    /// The arguments of every call of sbatch, without the comment, which differs from submission to submission.
    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("fake/calls")).unwrap_or_default();
        let kept = |line: &str| -> Vec<String> {
            line.split(' ').filter(|word| !word.starts_with("--comment=")).map(str::to_owned).collect()
        };
        text.lines().map(|line| kept(line).join(" ")).collect()
    }

    fn runs(&self, out: &str) -> usize {
        fs::read_dir(self.path(out).join("runs")).map_or(0, Iterator::count)
    }
}

fn said(command: &mut Command) -> (i32, String, String) {
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

/// A job with plain names, as docs/cluster.md shows it.
fn example() -> ClusterJob {
    ClusterJob {
        name: "quick".into(),
        program: "/home/me/bin/ssvm-bench".into(),
        config: "/scratch/quick/slurm/config.toml".into(),
        out: "/scratch/quick".into(),
        data_dir: Some("/scratch/data".into()),
        folder: "/home/me".into(),
        shards: 16,
        longest_s: 40.0,
        partition: Some("batch".into()),
        time: Some(3600.0),
        exclusive: true,
        at_once: Some(8),
        threads: 1,
        more: vec!["--account=mine".into()],
        ..ClusterJob::default()
    }
}

/// A job whose names mean something to a shell.
fn hostile() -> ClusterJob {
    let name = r#"it's "a" $(touch x) `y` #1 100% ;&|*?~ {} {#}"#;
    ClusterJob {
        name: name.into(),
        program: format!("/tmp/{name}/ssvm-bench"),
        config: format!("/tmp/{name}/c.toml"),
        out: format!("/tmp/{name}"),
        folder: format!("/tmp/{name}"),
        shards: 3,
        only: vec!["usps*/mp-bcfw (T=5)".into()],
        partition: Some(name.into()),
        ..example()
    }
}

fn the_page_shows_what_is_emitted() {
    let page = fs::read_to_string("docs/cluster.md").unwrap();
    let parallel_job = ClusterJob { time: None, exclusive: false, jobs: Some(2), at_once: None, ..example() };
    for text in [
        example().script(scripts::SLURM_ARRAY),
        example().script(scripts::SLURM_GATHER),
        (ClusterJob { data_dir: None, ..example() }).script(scripts::HYPERQUEUE),
        (ClusterJob { data_dir: None, ..parallel_job }).script(scripts::PARALLEL),
    ] {
        assert!(page.contains(&format!("```bash\n{text}```\n")), "docs/cluster.md does not have:\n{text}");
    }
}

fn every_script_is_one_that_bash_reads() {
    for job in [example(), hostile(), ClusterJob { time: None, exclusive: false, isolated: true, ..example() }] {
        for text in [
            job.script(scripts::SLURM_ARRAY),
            job.script(scripts::SLURM_GATHER),
            job.script(scripts::HYPERQUEUE),
            job.script(scripts::PARALLEL),
        ] {
            let (code, _, error) = said(Command::new("bash").args(["-n", "-c", &text]));
            assert_eq!((code, error.as_str()), (0, ""), "{text}");
            let options = text.lines().filter(|line| line.starts_with("#SBATCH"));
            assert!(options.clone().count() == 0 || text.find("#SBATCH") < text.find("\ncd "), "{text}");
        }
    }
    // A path that ends in a percent sign and a letter is no pattern.
    let text = (ClusterJob { out: "/tmp/100%j".into(), ..example() }).script(scripts::SLURM_ARRAY);
    assert!(text.contains("#SBATCH --output=/tmp/100%%j/slurm/%A_%a.log\n"), "{text}");
}

/// The words that bash makes of the last command of the array's script are those of the job.
fn hostile_names_stay_words() {
    let job = hostile();
    let text = job.script(scripts::SLURM_ARRAY).replace("exec ", "printf '%s\\n' ").replace("cd ", ": ");
    let (code, printed, error) =
        said(Command::new("bash").args(["-c", &text, "array", "4"]).env("SLURM_ARRAY_TASK_ID", "2"));
    assert_eq!((code, error.as_str()), (0, ""));
    let expected = [
        job.program.as_str(),
        "--data-dir",
        "/scratch/data",
        "run",
        &job.config,
        "--out",
        &job.out,
        "--ids",
        &format!("{}/shards.txt", job.out),
        "--only",
        "usps*/mp-bcfw (T=5)",
        "--shard",
        "6/3",
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    let option = text.lines().find(|line| line.starts_with("#SBATCH --partition")).unwrap();
    assert_eq!(option, r#"#SBATCH --partition="it's \"a\" $(touch x) `y` #1 100% ;&|*?~ {} {#}""#);
}

/// The same tasks as versions 21.08, 22.05, 23.02 and 24.05 write them.
fn every_version_of_squeue_says_the_same() {
    let old = r#"{"jobs": [
        {"job_id": 3, "array_job_id": 2, "array_task_id": 1, "array_task_string": "", "job_state": "RUNNING",
         "state_reason": "None", "nodes": "n1", "end_time": 1000, "time_limit": 2},
        {"job_id": 2, "array_job_id": 2, "array_task_id": null, "array_task_string": "3-5%2", "job_state": "PENDING",
         "state_reason": "JobArrayTaskLimit", "nodes": "", "end_time": 0},
        {"job_id": 4, "array_job_id": 2, "array_task_id": 2, "array_task_string": "", "job_state": "TIMEOUT",
         "state_reason": "TimeLimit", "nodes": "n2", "end_time": 900},
        {"job_id": 9, "array_job_id": 0, "array_task_id": null, "job_state": "PENDING", "state_reason": "Dependency"}]}"#;
    let number = |set: bool, n: u64| format!(r#"{{"set": {set}, "infinite": false, "number": {n}}}"#);
    let new = |state: &dyn Fn(&str) -> String| {
        format!(
            r#"warning: a plugin says hello
            {{"meta": {{"plugin": {{}}}}, "errors": [], "jobs": [
            {{"job_id": 3, "array_job_id": {two}, "array_task_id": {one}, "array_task_string": "", "job_state": {running},
              "state_reason": "None", "nodes": "n1", "end_time": {at}, "exit_code": {{"status": ["SUCCESS"]}}}},
            {{"job_id": 2, "array_job_id": {two}, "array_task_id": {unset}, "array_task_string": "3-5%2",
              "job_state": {pending}, "state_reason": "JobArrayTaskLimit", "nodes": "", "end_time": {unset}}},
            {{"job_id": 4, "array_job_id": {two}, "array_task_id": {two}, "array_task_string": "", "job_state": {timeout},
              "state_reason": "TimeLimit", "nodes": "n2", "end_time": {before}}},
            {{"job_id": 9, "array_job_id": {zero}, "array_task_id": {unset}, "array_task_string": "",
              "job_state": {pending}, "state_reason": "Dependency", "nodes": ""}}], "warnings": []}}"#,
            two = number(true, 2),
            one = number(true, 1),
            zero = number(true, 0),
            unset = number(false, 0),
            at = number(true, 1000),
            before = number(true, 900),
            running = state("RUNNING"),
            pending = state("PENDING"),
            timeout = state("TIMEOUT"),
        )
    };
    let plain = |word: &str| format!("\"{word}\"");
    let list = |word: &str| format!("[\"{word}\"]");
    let unset = old.replace("null", "4294967294");
    let expected = slurm::parse_queue(old).unwrap();
    assert_eq!(expected.len(), 4);
    assert_eq!(expected[0].indices, Some(vec![1]));
    assert_eq!(
        (expected[0].phase, expected[0].ends_unix_s, expected[0].nodes.as_str()),
        (Phase::Running, Some(1000), "n1")
    );
    assert_eq!((expected[1].job, expected[1].indices.clone()), (2, Some(vec![3, 4, 5])));
    assert_eq!((expected[1].phase, expected[1].reason.as_str()), (Phase::Pending, "JobArrayTaskLimit"));
    assert_eq!((expected[2].phase, expected[2].state.as_str()), (Phase::Ended, "TIMEOUT"));
    assert_eq!((expected[3].job, expected[3].indices.clone()), (9, None));
    for text in [unset, new(&plain), new(&list)] {
        assert_eq!(slurm::parse_queue(&text).unwrap(), expected, "{text}");
    }
    let both = r#"{"jobs": [{"job_id": 1, "job_state": ["CANCELLED", "COMPLETING"]}, {"job_id": 2, "job_state": ["PENDING",
        "REQUEUED"]}, {"job_id": 3, "job_state": "SOMETHING_NEW"}, {"job_id": 4}, 7]}"#;
    let phases: Vec<Phase> = slurm::parse_queue(both).unwrap().iter().map(|task| task.phase).collect();
    assert_eq!(phases, [Phase::Ended, Phase::Pending, Phase::Running]);
    for wrong in ["", "slurm_load_jobs error", "{}", "{\"jobs\": 3}", "{\"jobs\": [", "[]"] {
        assert!(slurm::parse_queue(wrong).unwrap_err().to_string().contains("squeue --json"), "{wrong}");
    }
}

fn task(job: u64, indices: Option<Vec<usize>>, phase: Phase, state: &str) -> QueueTask {
    let (reason, nodes) = (String::new(), "n1".to_owned());
    QueueTask {
        job,
        indices,
        phase,
        state: state.to_owned(),
        reason,
        nodes,
        comment: String::new(),
        ends_unix_s: Some(1600),
    }
}

fn every_shard_has_one_state() {
    let lists: Vec<Vec<String>> = (0..8).map(|k| vec![format!("a{k}"), format!("b{k}")]).collect();
    let array = |job, offset, indices: &str| Submitted { job, offset, indices: indices.to_owned() };
    let jobs = Jobs {
        name: "x".into(),
        seconds: vec![100.0; 8],
        submissions: vec![
            Submission {
                unix_s: 1,
                arrays: vec![array(10, 0, "1-4"), array(11, 4, "1-3")],
                gather: Some(12),
                asked: None,
            },
            Submission { unix_s: 2, arrays: vec![array(20, 0, "2")], gather: Some(21), asked: None },
        ],
        ..Jobs::default()
    };
    let found = FoundRuns {
        done: ["a0", "b0", "a1", "a4"].map(str::to_owned).into(),
        failed: BTreeMap::from([("b2".to_owned(), "diverged".to_owned())]),
    };
    let queue = [
        task(10, Some(vec![1]), Phase::Running, "RUNNING"), // done already: an orphan
        task(10, Some(vec![2]), Phase::Ended, "NODE_FAIL"),
        task(10, Some(vec![3]), Phase::Ended, "FAILED"),
        task(20, Some(vec![2]), Phase::Pending, "PENDING"),
        task(10, Some(vec![4]), Phase::Ended, "TIMEOUT"),
        task(11, Some(vec![1]), Phase::Running, "RUNNING"),
        task(11, None, Phase::Pending, "PENDING"), // the rest of a list that was cut
    ];
    let log = |job, index| Some(format!("words of {job}_{index}"));
    let shards = status::shards(&lists, &found, &jobs, Some(&queue), log, 1000);
    let states: Vec<ShardState> = shards.iter().map(|shard| shard.state).collect();
    use ShardState::{Done, Failed, Open, Pending, Running};
    assert_eq!(states, [Done, Pending, Failed, Failed, Running, Pending, Pending, Open]);
    assert_eq!(shards[2].reason, "FAILED: run b2 failed: diverged");
    assert_eq!(shards[3].reason, "TIMEOUT: words of 10_4");
    assert_eq!((shards[4].task.as_str(), shards[4].limit_s, shards[4].seconds_left), ("11_1", Some(600), 50.0));
    assert_eq!(shards[1].task, "20_2");
    assert_eq!(status::due(&shards), [3, 4, 8]);
    let summary = status::summary(&shards);
    assert!(summary.starts_with("8 shards: 1 done, 1 running, 3 pending, 2 failed, 1 open; 4 of 16 runs"), "{summary}");
    let table = status::table(&shards, false).text(100);
    assert!(table.contains("\n2,6-7  pending   1/6"), "{table}");
    // The queue cannot be asked: what failed is known, what runs is not.
    let shards = status::shards(&lists, &found, &jobs, None, |_, _| None, 1000);
    let states: Vec<ShardState> = shards.iter().map(|shard| shard.state).collect();
    assert_eq!(states, [Done, Open, Failed, Open, Open, Open, Open, Open]);
    assert_eq!(found.complete(&lists[..1]).ok(), Some(()));
    let missing = found.complete(&lists[..4]).unwrap_err().to_string();
    assert!(
        missing.starts_with("5 of 8 runs are missing, in shards 2-4; 1 of them failed, such as b2: diverged"),
        "{missing}"
    );
}

fn an_array_from_end_to_end() {
    let cluster = Cluster::new(4);
    cluster.write("fake/run", "");
    let out = "it's \"one\" 100% #1";
    let (code, printed, error) = cluster.submit(&["--out", out, "--shards", "5", "--time", "30m", "--jobs", "1"]);
    assert_eq!(code, 0, "{error}");
    let calls = cluster.calls();
    let script = |name: &str| format!("{}/slurm/{name}.sbatch", cluster.path(out).canonicalize().unwrap().display());
    assert_eq!(calls[0], format!("--parsable --array=1-3 {} 0", script("array")));
    assert_eq!(calls[1], format!("--parsable --array=1-2 {} 3", script("array")));
    assert_eq!(calls[2], format!("--parsable --dependency=afterany:101:102 {}", script("gather")));
    assert_eq!(calls.len(), 3);
    // The cost is printed before the first job is submitted.
    let (cost, first) =
        (printed.find("at most   2.5 core hours: 5 × 30 min;").unwrap(), printed.find("submitted array").unwrap());
    assert!(
        cost < first && printed.contains("6 runs in 5 shards, 0 runs done; 5 shards to submit with 6 runs"),
        "{printed}"
    );
    assert_eq!(cluster.runs(out), RUNS, "{}", fs::read_to_string(cluster.path("fake/log")).unwrap());
    for made in ["report.html", "figures/oracle_convergence.svg"] {
        assert!(cluster.path(out).join(made).is_file(), "{made}");
    }
    let (code, printed, _) = cluster.bench(&["cluster", "status", out]);
    assert!(code == 0 && printed.contains("5 shards: 5 done; 6 of 6 runs are done\n"), "{printed}");
    let (code, printed, _) = cluster.bench(&["cluster", "status", out, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, json["shards"][4]["state"].as_str(), json["queue"].as_bool()), (0, Some("done"), Some(true)));
    let (code, printed, _) = cluster.submit(&["--out", out]);
    assert!(code == 0 && printed.starts_with("nothing to submit: every run is done"), "{printed}");
    assert_eq!(cluster.calls().len(), 3);
}

fn only_what_is_missing_is_submitted_again() {
    let cluster = Cluster::new(1001);
    let (code, _, error) = cluster.submit(&["--out", "out", "--shards", "6", "--at-once", "2", "--", "--account=a b"]);
    assert_eq!(code, 0, "{error}");
    let text = fs::read_to_string(cluster.path("out/slurm/array.sbatch")).unwrap();
    assert!(text.contains("#SBATCH --array=1-6%2\n") && text.contains("#SBATCH \"--account=a b\"\n"), "{text}");
    let gather = fs::read_to_string(cluster.path("out/slurm/gather.sbatch")).unwrap();
    assert!(gather.contains("#SBATCH \"--account=a b\"\n"), "{gather}");
    let ids = fs::read_to_string(cluster.path("out/shards.txt")).unwrap();
    for shard in ["2", "5"] {
        let shard = format!("{shard}/6");
        let run = ["run", "config.toml", "--out", "out", "--ids", "out/shards.txt", "--quiet", "--shard", &shard];
        assert_eq!(cluster.bench(&run).0, 0);
    }
    // One of them waits, one runs, one came to its end without an end.
    cluster.write(
        "fake/queue.json",
        r#"{"jobs": [{"job_id": 101, "array_job_id": 101, "array_task_string": "6", "job_state": "PENDING"},
        {"job_id": 130, "array_job_id": 101, "array_task_id": 1, "job_state": "RUNNING", "nodes": "n7"},
        {"job_id": 131, "array_job_id": 101, "array_task_id": 3, "job_state": "NODE_FAIL"},
        {"job_id": 102, "job_state": "PENDING"}, {"job_id": 999, "job_state": "RUNNING"}]}"#,
    );
    cluster.write(
        "out/slurm/101_4.log",
        "first\nslurmstepd: error: *** JOB 7 ON n1 CANCELLED AT x DUE TO TIME LIMIT ***\nlast\n",
    );
    let (_, shown, _) = cluster.bench(&["cluster", "status", "out"]);
    for expected in
        ["1      running   0/1  101_1  n7", "NODE_FAIL", "DUE TO TIME LIMIT", "2 done, 1 running, 1 pending, 2 failed"]
    {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let (code, printed, error) = cluster.submit(&["--out", "out", "--at-once", "2"]);
    assert_eq!(code, 0, "{error}");
    assert!(printed.contains("2 shards to submit with 2 runs, 2 in the queue"), "{printed}");
    let calls = cluster.calls();
    assert!(calls[2].starts_with("--parsable --array=3-4%2 "), "{calls:?}");
    // What is still in the queue is waited for, the job that gathers first included; jobs of others are not.
    assert!(calls[3].starts_with("--parsable --dependency=afterany:101:102:103 "), "{calls:?}");
    assert_eq!(fs::read_to_string(cluster.path("out/shards.txt")).unwrap(), ids);
    // Who cannot ask the queue does not submit what may be in it.
    cluster.program("squeue", "#!/bin/bash\necho 'squeue: error: no serializer' >&2\nexit 1\n");
    let (code, _, error) = cluster.submit(&["--out", "out"]);
    assert!(code == 1 && error.contains("no serializer") && error.contains("out/slurm/jobs.json and pass"), "{error}");
    cluster.program("squeue", SQUEUE);
    // Other shards while some of these are in the queue would be taken for the same.
    let (code, _, error) = cluster.submit(&["--out", "out", "--shards", "3"]);
    assert!(code == 1 && error.contains("still in the queue") && error.contains("scancel 101"), "{error}");
    assert_eq!(fs::read_to_string(cluster.path("out/shards.txt")).unwrap(), ids);
    fs::remove_file(cluster.path("fake/queue.json")).unwrap();
    let (code, printed, _) = cluster.submit(&["--out", "out", "--shards", "3"]);
    assert!(code == 0 && printed.contains("2 runs done; 3 shards to submit with 4 runs"), "{printed}");
    // Another plan is split again, and says so.
    cluster.write("config.toml", &CONFIG.replace("repeats = 2", "repeats = 3"));
    let (code, _, error) = cluster.submit(&["--out", "out"]);
    assert!(code == 1 && error.contains("the plan has changed since the last submission"), "{error}");
    let (code, printed, _) = cluster.submit(&["--out", "out", "--shards", "3"]);
    assert!(
        code == 0 && printed.contains("9 runs in 3 shards, 2 runs done; 3 shards to submit with 7 runs"),
        "{printed}"
    );
}

fn refusals_are_shown_and_lose_nothing() {
    let cluster = Cluster::new(4);
    cluster.write("fake/refuse", "2");
    let (code, printed, error) = cluster.submit(&["--out", "out", "--shards", "5"]);
    assert_eq!(code, 1);
    assert!(error.contains("QOSMaxSubmitJobPerUserLimit") && error.contains("only array 101 was submitted"), "{error}");
    assert!(printed.contains("submitted array 101"), "{printed}");
    cluster.write(
        "fake/queue.json",
        r#"{"jobs": [{"job_id": 101, "array_job_id": 101, "array_task_string": "1-3", "job_state": "PENDING"}]}"#,
    );
    let (code, _, error) = cluster.submit(&["--out", "out"]);
    assert_eq!(code, 0, "{error}");
    let calls = cluster.calls();
    assert!(calls[2].starts_with("--parsable --array=1-2 ") && calls[2].ends_with(" 3"), "{calls:?}");
    assert!(calls[3].contains("--dependency=afterany:101:103 "), "{calls:?}");
    // No more than P at once, also over several arrays.
    let other = Cluster::new(4);
    assert_eq!(other.submit(&["--out", "out", "--shards", "5", "--at-once", "2"]).0, 0);
    assert!(other.calls()[1].starts_with("--parsable --array=1-2%2 --dependency=afterany:101 "), "{:?}", other.calls());
}

/// A queue that knows every job that was submitted, after the time that a call takes.
fn with_a_queue(cluster: &Cluster) {
    cluster.program(
        "sbatch",
        r#"#!/bin/bash
printf '%s\n' "$*" >>"$FAKE/calls"
job=$((100 + $(wc -l <"$FAKE/calls")))
while [ -e "$FAKE/hold" ]; do sleep 0.02; done
sleep 0.2
list=$(sed -n 's/.*--array=\([^ ]*\).*/\1/p' <<<"$*")
comment=$(sed -n 's/.*--comment=\([^ ]*\).*/\1/p' <<<"$*")
array=${list:+", \"array_job_id\": $job, \"array_task_string\": \"$list\""}
printf '{"job_id": %s, "comment": "%s", "job_state": "PENDING"%s}\n' "$job" "$comment" "$array" >>"$FAKE/entries"
echo "$job"
"#,
    );
    cluster.program("squeue", "#!/bin/bash\necho \"{\\\"jobs\\\": [$(paste -sd, \"$FAKE/entries\" 2>/dev/null)]}\"\n");
}

fn submitting_at_once_submits_once() {
    let cluster = Cluster::new(1001);
    with_a_queue(&cluster);
    let submit = || {
        let mut command = cluster.command(env!("CARGO_BIN_EXE_ssvm-bench"));
        command.args(["cluster", "submit", "config.toml", "--out", "out", "--shards", "3"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children = [submit(), submit(), submit()];
    let outputs = children.map(|child| child.wait_with_output().unwrap());
    let texts = outputs.map(|output| {
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    });
    // An array and the job that gathers.
    let calls = cluster.calls();
    assert_eq!(calls.len(), 2, "{calls:?}");
    let refused = texts.iter().filter(|text| text.contains("nothing to submit: 3 shards are in the queue")).count();
    assert_eq!(refused, 2, "{texts:?}");
    assert_eq!(Jobs::read(&cluster.path("out")).unwrap().unwrap().submissions.len(), 1);
}

fn a_killed_submission_leaves_no_lock() {
    let cluster = Cluster::new(1001);
    with_a_queue(&cluster);
    cluster.write("fake/hold", "");
    let submit = ["cluster", "submit", "config.toml", "--out", "out", "--shards", "3"];
    let mut command = cluster.command(env!("CARGO_BIN_EXE_ssvm-bench"));
    let mut child = command.args(submit).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while cluster.calls().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it submitted");
        std::thread::sleep(Duration::from_millis(20));
    }
    // It waits for sbatch; another submission in the meantime learns which process holds the list.
    let path = Jobs::path(&cluster.path("out"));
    let message = SharedFile::lock_within(&path, Duration::ZERO).unwrap_err().to_string();
    let (pid, command) = (format!("process {} on ", child.id()), "cluster submit config.toml");
    assert!(message.contains(&pid) && message.contains(command), "{message}");
    child.kill().unwrap();
    child.wait().unwrap();
    SharedFile::lock_within(&path, Duration::ZERO).unwrap();
    fs::remove_file(cluster.path("fake/hold")).unwrap();
    // sbatch accepts the array although the process that would read its number has ended.
    while fs::read_to_string(cluster.path("fake/entries")).unwrap_or_default().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, printed, _) = cluster.submit(&submit[3..]);
    assert_eq!((code, cluster.calls().len()), (0, 1), "{:?}", cluster.calls());
    assert!(printed.contains("nothing to submit: 3 shards are in the queue"), "{printed}");
}

fn a_dry_run_submits_nothing() {
    let cluster = Cluster::new(1001);
    let (code, printed, _) = cluster.submit(&["--out", "out", "--shards", "4", "--dry-run"]);
    assert!(code == 0 && printed.ends_with("nothing was written or submitted (--dry-run)\n"), "{printed}");
    assert!(printed.contains("out/slurm/array.sbatch would be:\n\n#!/bin/bash\n"), "{printed}");
    assert!(printed.contains("out/slurm/gather.sbatch would be:\n\n#!/bin/bash\n"), "{printed}");
    assert!(cluster.calls().is_empty() && !cluster.path("out").exists());
    fs::create_dir(cluster.path("out")).unwrap();
    // An id file that another engine may be using is not replaced, neither now nor later.
    cluster.write("out/shards.txt", "of another engine");
    assert_eq!(cluster.submit(&["--out", "out", "--shards", "5", "--dry-run"]).0, 0);
    let (code, _, error) = cluster.submit(&["--out", "out", "--shards", "5"]);
    assert!(code == 1 && error.contains("was not written by `cluster submit`"), "{error}");
    assert_eq!(std::fs::read_to_string(cluster.path("out/shards.txt")).unwrap(), "of another engine");
    assert!(cluster.calls().is_empty());
}

/// What a dry run leaves out is done by `cluster plan --write`, and its list is the one that is submitted.
fn a_list_that_was_written_is_submitted() {
    let cluster = Cluster::new(1001);
    cluster.write("config.toml", &CONFIG.replace("repeats = 2", "repeats = 2\noracle_cost = \"paper\""));
    let dry = ["--out", "out", "--shards", "3", "--dry-run"];
    let (code, _, error) = cluster.submit(&dry);
    assert!(code == 1 && error.contains("that a dry run does not do: solve the paper's oracle cost"), "{error}");
    let (code, _, error) =
        cluster.bench(&["cluster", "plan", "config.toml", "--out", "out", "--shards", "3", "--write"]);
    assert_eq!(code, 0, "{error}");
    let ids = fs::read_to_string(cluster.path("out/shards.txt")).unwrap();
    let (code, printed, error) = cluster.submit(&dry);
    assert!(code == 0 && printed.contains("3 shards to submit with 6 runs"), "{printed}{error}");
    assert_eq!(cluster.submit(&["--out", "out"]).0, 0);
    assert_eq!(fs::read_to_string(cluster.path("out/shards.txt")).unwrap(), ids);
    assert!(cluster.calls()[0].starts_with("--parsable --array=1-3 "), "{:?}", cluster.calls());
}

fn what_cannot_be_done_says_what_to_do() {
    let cluster = Cluster::new(1001);
    let without = |arguments: &[&str]| {
        let mut command = cluster.command(env!("CARGO_BIN_EXE_ssvm-bench"));
        said(command.args(arguments).env("PATH", cluster.path("nothing")))
    };
    let submit = ["cluster", "submit", "config.toml", "--out", "out", "--shards", "2"];
    let (code, _, error) = without(&submit);
    assert!(
        code == 1 && error.contains("scontrol is not installed here") && error.contains("plan --emit hq"),
        "{error}"
    );
    let (code, printed, error) = without(&[&submit[..], &["--dry-run"]].concat());
    assert!(code == 0 && printed.contains("2 shards to submit") && error.contains("MaxArraySize is taken to be 1001"));
    assert_eq!(cluster.submit(&["--out", "out", "--shards", "2"]).0, 0);
    let (code, printed, error) = without(&["cluster", "status", "out"]);
    assert!(
        code == 0 && printed.contains("2 open") && error.contains("the status is that of the result folder alone"),
        "{printed}{error}"
    );
    for (arguments, expected) in [
        (&["--out", "other"][..], "--shards N"),
        (&["--out", "a\nb", "--shards", "2"], "line break"),
        (&["--out", "a\\b", "--shards", "2"], "backslash"),
        (&["--out", "x", "--shards", "2", "--partition", "a\nb"], "line break"),
        (&["--out", "x", "--shards", "2", "--time", "soon"], "must be a duration"),
        (&["--out", "x", "--shards", "0"], "must be a whole number from 1 to"),
        (&["--out", "x", "--shards", "2", "--", "a\nb"], "line break"),
    ] {
        let (code, _, error) = cluster.submit(arguments);
        assert!(code == 1 && error.contains(expected), "{expected}: {error}");
    }
    let (code, _, error) = cluster.bench(&["cluster", "status", "nowhere"]);
    assert!(code == 1 && error.contains("nothing was submitted from this folder"), "{error}");
    cluster.write("out/slurm/jobs.json", "{");
    let (code, _, error) = cluster.bench(&["cluster", "status", "out"]);
    assert!(code == 1 && error.contains("jobs.json:1:") && error.contains("delete it"), "{error}");
    let none = Cluster::new(0);
    let (code, _, error) = none.submit(&["--out", "out", "--shards", "2"]);
    assert!(code == 1 && error.contains("no job arrays"), "{error}");
}

/// The script of an engine, with its id file in place.
fn emitted(cluster: &Cluster, out: &str, engine: &str, more: &[&str]) -> PathBuf {
    let plan = ["cluster", "plan", "config.toml", "--out", out, "--shards", "3", "--emit"];
    let (code, lines, error) = cluster.bench(&[&plan[..], &["lines"]].concat());
    assert_eq!(code, 0, "{error}");
    cluster.write(&format!("{out}/shards.txt"), &lines);
    let (code, text, error) = cluster.bench(&[&plan[..], &[engine, "--jobs", "1"], more].concat());
    assert_eq!(code, 0, "{error}");
    let script = cluster.path("script.sh");
    fs::write(&script, text).unwrap();
    script
}

fn run(cluster: &Cluster, script: &Path, more: &[&str]) -> (i32, String, String) {
    said(cluster.command("bash").arg(script).args(more))
}

/// `hq` may lie in both directions; the folder does not.
fn the_exit_code_of_hq_is_not_trusted() {
    let cluster = Cluster::new(1001);
    let out = "a 'b' #c";
    let script = emitted(&cluster, out, "hq", &["--time", "10m"]);
    let (code, _, error) = run(&cluster, &script, &[]);
    assert!(code == 1 && error.contains("hq is not in $PATH"), "{error}");
    cluster.program("hq", "#!/bin/bash\nexit 0\n");
    let (code, _, error) = run(&cluster, &script, &[]);
    assert!(code == 1 && !cluster.path(out).join("runs").exists(), "{error}");
    // Two of three tasks, and success.
    let does = |tasks: &str, code: u8| {
        format!(
            "#!/bin/bash\nprintf '%s\\n' \"$@\" >\"$FAKE/hq.words\"\nwhile [ \"$1\" != -- ]; do shift; done; shift\n\
             for HQ_TASK_ID in {tasks}; do export HQ_TASK_ID; \"$@\" >/dev/null 2>&1; done\nexit {code}\n"
        )
    };
    cluster.program("hq", &does("1 3", 0));
    let (code, _, error) = run(&cluster, &script, &[]);
    assert!(code == 1 && error.contains("2 of 6 runs are missing, in shards 2;"), "{error}");
    cluster.program("hq", &does("1 2 3", 1));
    let (code, _, error) = run(&cluster, &script, &["--priority", "3"]);
    assert_eq!((code, cluster.runs(out)), (0, RUNS), "{error}");
    let words = fs::read_to_string(cluster.path("fake/hq.words")).unwrap();
    assert!(
        words.contains("--array\n1-3\n") && words.contains("--time-limit=600s\n") && words.contains("--priority\n3\n"),
        "{words}"
    );
}

fn gnu_parallel_runs_the_shards() -> Result<(), Skipped> {
    trials::program(&["parallel"])?;
    let cluster = Cluster::new(1001);
    let out = "it's {} {#} \"b\" $x";
    let script = emitted(&cluster, out, "parallel", &["--at-once", "2", "--time", "10m"]);
    let (code, printed, error) = run(&cluster, &script, &["--will-cite"]);
    assert_eq!((code, cluster.runs(out)), (0, RUNS), "{printed}{error}");
    assert!(cluster.path(out).join("parallel.log").is_file());
    // One shard that cannot be done does not block the others.
    let (other, script) = ("other", emitted(&cluster, "other", "parallel", &[]));
    let text = fs::read_to_string(&script).unwrap().replace("\"$shard/3\"", "\"${shard/2/9}/3\"");
    fs::write(&script, text).unwrap();
    let (code, _, error) = run(&cluster, &script, &["--will-cite"]);
    assert!(code == 1 && error.contains("2 of 6 runs are missing, in shards 2;"), "{error}");
    assert_eq!(cluster.runs(other), 4);
    Ok(())
}

/// While sbatch may still be at work for a submission that was killed, nothing is submitted a second time.
fn a_killed_submission_is_not_repeated_while_sbatch_may_be_at_work() {
    let cluster = Cluster::new(1001);
    with_a_queue(&cluster);
    cluster.write("fake/hold", "");
    let submit = ["cluster", "submit", "config.toml", "--out", "out", "--shards", "3"];
    let mut command = cluster.command(env!("CARGO_BIN_EXE_ssvm-bench"));
    let mut child = command.args(submit).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while cluster.calls().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it submitted");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, _, error) = cluster.submit(&submit[3..]);
    assert!(code == 1 && error.contains("sbatch may still be at work") && error.contains("shards 1-3"), "{error}");
    assert!(error.contains("repeat this command in"), "{error}");
    assert_eq!(cluster.calls().len(), 1);
    let (code, _, error) = cluster.bench(&["cluster", "status", "out"]);
    assert!(code == 0 && error.contains("sbatch may still be at work"), "{error}");
    fs::remove_file(cluster.path("fake/hold")).unwrap();
    while fs::read_to_string(cluster.path("fake/entries")).unwrap_or_default().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, printed, _) = cluster.submit(&submit[3..]);
    assert!(code == 0 && printed.contains("nothing to submit: 3 shards are in the queue"), "{printed}");
    assert!(printed.contains("no job joins the shards; when they are done, run: "), "{printed}");
    // What was asked for long ago and is in no queue was not submitted.
    fs::remove_file(cluster.path("fake/entries")).unwrap();
    let jobs = fs::read_to_string(cluster.path("out/slurm/jobs.json")).unwrap();
    let mut jobs: serde_json::Value = serde_json::from_str(&jobs).unwrap();
    jobs["submissions"][0]["asked"]["unix_s"] = 1.into();
    cluster.write("out/slurm/jobs.json", &jobs.to_string());
    let (code, printed, error) = cluster.submit(&submit[3..]);
    assert!(code == 0 && printed.contains("3 shards to submit"), "{printed}{error}");
}

fn what_is_refused_leaves_no_empty_folder() {
    let cluster = Cluster::new(1001);
    for arguments in [&["--out", "out"][..], &["--out", "deep/out"], &["--out", "out", "--shards", "2", "--", "a\nb"]] {
        assert_eq!(cluster.submit(arguments).0, 1);
        assert!(!cluster.path("out").exists() && !cluster.path("deep").exists(), "{arguments:?}");
    }
}

/// Every task reads the id file again, so that it is no stream.
fn an_id_file_that_is_a_stream_is_refused() {
    let cluster = Cluster::new(1001);
    fs::create_dir(cluster.path("out")).unwrap();
    let ids = cluster.path("out/shards.txt");
    let plan = ["cluster", "plan", "config.toml", "--out", "out", "--shards", "2", "--write"];
    nix::unistd::mkfifo(&ids, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for link in [false, true] {
        if link {
            fs::remove_file(&ids).unwrap();
            std::os::unix::fs::symlink("/dev/stdout", &ids).unwrap();
        }
        let (code, printed, error) = cluster.bench(&plan);
        assert!(code == 1 && error.contains("shards.txt is not a plain file; remove it"), "{printed}{error}");
        assert!(!ids.symlink_metadata().unwrap().is_file());
    }
}

crate::trials![
    the_page_shows_what_is_emitted,
    every_script_is_one_that_bash_reads,
    hostile_names_stay_words,
    every_version_of_squeue_says_the_same,
    every_shard_has_one_state,
    an_array_from_end_to_end,
    only_what_is_missing_is_submitted_again,
    refusals_are_shown_and_lose_nothing,
    submitting_at_once_submits_once,
    a_killed_submission_leaves_no_lock,
    a_dry_run_submits_nothing,
    a_list_that_was_written_is_submitted,
    what_cannot_be_done_says_what_to_do,
    the_exit_code_of_hq_is_not_trusted,
    gnu_parallel_runs_the_shards,
    a_killed_submission_is_not_repeated_while_sbatch_may_be_at_work,
    what_is_refused_leaves_no_empty_folder,
    an_id_file_that_is_a_stream_is_refused,
];
