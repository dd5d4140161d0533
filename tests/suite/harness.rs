//! Plans, the scheduler and sessions: failures become rows, the same bits at any number of workers, nothing done twice.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::runs;
use crate::common::sessions::{self, experiment, options};
use ssvm::clock::latency_histogram;
use ssvm_bench::experiment::{Estimator, Plan, RunSpec};
use ssvm_bench::run::existing::Existing;
use ssvm_bench::run::progress::{BatchProgress, Verbosity};
use ssvm_bench::run::scheduler::{RunBatch, run_batch};
use ssvm_bench::run::session::{Finished, Options, Report};
use ssvm_bench::run::worker::StopSignal;
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::identity::order_seed;
use ssvm_bench::store::{Measured, RunRecord, Status};
use ssvm_bench::{DataDir, Error, Execution, Harness, Observer, Outcome, Result, StopReason, TracePoint};

const CONFIG: &str = r#"name = "test"
seed = 3
repeats = 2
clock = "virtual"
[budget]
iterations = 5
[[dataset]]
name = "usps-synth:n=40"
[[dataset]]
name = "ocr-synth:n=20"
[[dataset]]
name = "horseseg-synth:n=4"
lambda = 0.5
[dataset.budget]
iterations = 3
[[dataset]]
name = "stanford-synth:n=3"
[[solver]]
name = "fw"
[[solver]]
name = "bcfw"
[[solver]]
name = "bcfw-avg"
[[solver]]
name = "mp-bcfw"
[[solver]]
name = "mp-bcfw-avg"
"#;

fn plan(text: &str) -> Result<Plan> {
    Plan::new(&experiment(text), &Harness::standard(), &DataDir::resolve(None))
}

fn run_with(text: &str, options: &Options) -> Finished {
    sessions::run_with(text, options, &Harness::standard()).unwrap()
}

fn run(text: &str, out: &Path, jobs: usize) -> Report {
    run_with(text, &options(out, jobs)).report
}

/// Everything that the virtual clock promises, floats as bits: all but CPU time, worker and core.
fn bits(out: &Path) -> Vec<String> {
    let contents = Store::open(out).unwrap().scan(Folder::Runs).unwrap();
    assert!(contents.damaged.is_empty());
    let point = |p: &TracePoint| {
        let floats =
            [p.time_s, p.oracle_time_s, p.approx_time_s, p.primal, p.dual, p.dual_solution, p.gap, p.planes_mean];
        let counts = [p.iteration, p.oracle_calls, p.approx_steps, p.approx_passes, p.planes_max];
        format!("{:x?}{counts:?}", floats.map(f64::to_bits))
    };
    let record = |r: &RunRecord| {
        let points: Vec<String> = r.points().iter().map(point).collect();
        format!("{} {} {} {:?} {points:?}", r.run_id(), r.label(), r.settings().seed, r.status)
    };
    contents.records.iter().map(record).collect()
}

#[test]
fn the_virtual_clock_gives_the_same_bits_at_any_number_of_workers() {
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str| dir.path().join(name);
    let report = run(CONFIG, &out("one"), 1);
    assert_eq!((report.planned, report.finished, report.already, report.complete()), (40, 40, 0, true));
    run(CONFIG, &out("two"), 2);
    // The same experiment written in another order.
    let (head, tail) = CONFIG.split_once("[[solver]]\nname = \"fw\"\n").unwrap();
    let (first, sets) = head.split_at(head.find("[[dataset]]\nname = \"ocr").unwrap());
    let (first, usps) = first.split_at(first.find("[[dataset]]").unwrap());
    let shuffled = format!("{first}{sets}{usps}{tail}[[solver]]\nname = \"fw\"\n");
    assert_ne!(shuffled, CONFIG);
    run(&shuffled, &out("seven"), 7);
    // In two parts: first one data set less, then the rest.
    let part = CONFIG.replace("[[dataset]]\nname = \"stanford-synth:n=3\"\n", "");
    run(&part, &out("resumed"), 2);
    let report = run(CONFIG, &out("resumed"), 1);
    assert_eq!((report.already, report.finished), (30, 10));

    let expected = bits(&out("one"));
    assert_eq!(expected.len(), 40);
    for name in ["two", "seven", "resumed"] {
        assert!(bits(&out(name)) == expected, "{name} differs");
    }
}

#[test]
fn threads_change_no_bit_and_no_identity() {
    let text = "name = \"t\"\nclock = \"virtual\"\nrepeats = 2\n[budget]\niterations = 4\n\
        [[dataset]]\nname = \"horseseg-synth:n=9\"\n[[solver]]\nname = \"bcfw\"\ntau = 4\n\
        [[solver]]\nname = \"mp-bcfw-avg\"\ntau = 3\nlanes = 2\n";
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str| dir.path().join(name);
    run(text, &out("one"), 2);
    run(&text.replace("repeats", "threads = 3\nrepeats"), &out("three"), 1);
    let expected = bits(&out("one"));
    assert_eq!(expected.len(), 4);
    assert!(bits(&out("three")) == expected);
    let records = Store::open(out("three")).unwrap().scan(Folder::Runs).unwrap().records;
    assert!(records.iter().all(|record| record.environment.threads == 3));
}

#[test]
fn more_calls_at_one_w_than_terms_are_refused_by_the_plan() {
    let text = "name = \"t\"\n[budget]\niterations = 4\n[[dataset]]\nname = \"usps-synth:n=30\"\n\
        [[dataset]]\nname = \"horseseg-synth:n=9\"\n[[solver]]\nname = \"mp-bcfw\"\ntau = 10\n";
    let message = plan(text).err().unwrap().to_string();
    let expected =
        ":7: mp-bcfw on horseseg-synth:n=9: tau = 10 is more than the 9 examples of the data set; make it smaller";
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn all_solvers_see_the_same_orders() {
    let runs = plan(CONFIG).unwrap().runs;
    for run in &runs {
        assert_eq!(run.settings().seed, order_seed(3, run.repeat));
    }
    assert_eq!(
        runs.iter().map(|run| run.label()).take(2).collect::<Vec<_>>(),
        ["usps-synth:n=40 fw #0", "usps-synth:n=40 fw #1"]
    );
    let horses = runs.iter().find(|run| run.identity.problem.dataset.starts_with("horse")).unwrap();
    assert_eq!((horses.identity.problem.lambda, horses.settings().budget.iterations), (0.5, Some(3)));
    assert_eq!(runs[0].identity.problem.lambda, 1.0 / 40.0);
}

#[test]
fn bad_data_sets_are_refused_with_the_line_of_the_config() {
    let cases = [
        ("usps-synth:n=40", "usps-sinth:n=40", "test.toml:8: unknown data set 'usps-sinth"),
        ("usps-synth:n=40", "usps-synth:k=40", "test.toml:8: data set 'usps-synth:k=40': unknown parameter 'k=40'"),
        ("usps-synth:n=40", "libsvm:/nowhere/x", "test.toml:8: "),
        (
            "name = \"ocr-synth:n=20\"",
            "name = \"ocr-synth:n=20\"\npairwise_weight = 1",
            "test.toml:10: 'ocr-synth:n=20' is a chain problem",
        ),
    ];
    for (from, to, expected) in cases {
        let message = plan(&CONFIG.replace(from, to)).err().expect("a refusal").to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// The same through the program: nothing is written before everything is checked.
#[test]
fn a_refused_config_leaves_no_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (config, out) = (dir.path().join("test.toml"), dir.path().join("out"));
    std::fs::write(&config, CONFIG.replace("stanford-synth:n=3", "stanford-sinth:n=3")).unwrap();
    let mut command = crate::common::program();
    let output = command.arg("run").arg(&config).arg("--out").arg(&out).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && message.contains("test.toml:17: unknown data set"), "{message}");
    assert!(!out.exists(), "something was written before everything was checked");
}

#[test]
fn damaged_failed_and_stale_runs_are_redone_and_the_rest_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path();
    let text = CONFIG.replace("repeats = 2", "repeats = 1");
    run(&text, out, 2);
    let expected = bits(out);
    let store = Store::open(out).unwrap();
    let records = store.scan(Folder::Runs).unwrap().records;
    let path = |k: usize| store.path(Folder::Runs, &records[k].run_id());
    let kept = std::fs::read(path(5)).unwrap();
    // One file damaged, one run failed, one made by older code.
    let mut bytes = std::fs::read(path(0)).unwrap();
    bytes[40] ^= 1;
    std::fs::write(path(0), bytes).unwrap();
    let failed = RunRecord { status: Status::Failed("no".into()), measured: Measured::default(), ..records[1].clone() };
    store.write(Folder::Runs, &failed).unwrap();
    let mut old = records[2].clone();
    old.identity.code_version = "0.0.1+0".into();
    std::fs::remove_file(path(2)).unwrap();
    store.write(Folder::Runs, &old).unwrap();

    let existing = Existing::of(store.scan(Folder::Runs).unwrap(), &plan(&text).unwrap());
    assert_eq!((existing.done.len(), existing.failed, existing.damaged.len()), (17, 1, 1));
    assert_eq!((existing.stale, existing.foreign), (vec![old.run_id()], Vec::<RunRecord>::new()));

    let report = run(&text, out, 2);
    assert_eq!((report.already, report.finished), (17, 3));
    assert!(bits(out) == expected);
    assert!(std::fs::read(path(5)).unwrap() == kept, "a finished run was redone");
    assert!(store.path(Folder::Stale, &old.run_id()).exists());

    // A smaller plan warns of what it does not know, and moves it away when asked.
    let small = text.replace("[[dataset]]\nname = \"stanford-synth:n=3\"\n", "");
    run(&small, out, 1);
    assert_eq!(bits(out).len(), 20);
    let pruned = Options { prune: true, ..options(out, 1) };
    run_with(&small, &pruned);
    assert_eq!(bits(out).len(), 15);
    let forced = Options { force: true, ..options(out, 1) };
    let report = run_with(&small, &forced).report;
    assert_eq!((report.already, report.finished), (0, 15));
    let manifest = store.manifest().unwrap();
    assert_eq!((manifest.sessions.len(), manifest.configs.len()), (5, 2));
    assert!(manifest.sessions.iter().all(|session| session.ended_unix_s.is_some() && session.host.cores > 0));
}

#[test]
fn isolated_runs_have_no_company() {
    let text = "name = \"t\"\nclock = \"wall\"\nrepeats = 3\nprobes = 2\n[budget]\niterations = 4\n\
        [[dataset]]\nname = \"usps-synth:n=40\"\n[[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n";
    let alone = tempfile::tempdir().unwrap();
    run_with(text, &Options { isolated: true, ..options(alone.path(), 2) });
    let store = Store::open(alone.path()).unwrap();
    assert!(store.scan(Folder::Runs).unwrap().records.iter().all(|record| record.environment.jobs == 1));
    assert!(store.manifest().unwrap().interference.is_empty());
}

/// A batch of fake runs, distinguished by their repeat.
struct Fake {
    _dir: tempfile::TempDir,
    store: Store,
    runs: Vec<RunSpec>,
    plan: Arc<Plan>,
}

impl Fake {
    fn new(iterations: &[u64]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = Store::create(dir.path()).unwrap();
        let plans = iterations.iter().zip(1..).map(|(count, repeats)| {
            let text = format!(
                "name = \"x\"\nrepeats = {repeats}\n[budget]\niterations = {count}\n[[dataset]]\n\
                 name = \"usps-synth:n=10\"\n[[solver]]\nname = \"bcfw\""
            );
            plan(&text).unwrap()
        });
        let mut plans: Vec<Plan> = plans.collect();
        let runs = plans.iter_mut().map(|plan| plan.runs.pop().unwrap()).collect();
        Self { _dir: dir, store, runs, plan: Arc::new(plans.remove(0)) }
    }

    fn run(
        &self,
        jobs: usize,
        timeout: Option<Duration>,
        stop: &StopSignal,
        runner: impl Fn(&RunSpec, &Execution<'_>, &mut dyn Observer) -> Result<Outcome> + Send + Sync + 'static,
    ) -> Result<Vec<RunRecord>> {
        self.run_within(Duration::from_mins(1), jobs, timeout, stop, runner)
    }

    /// The same with another time to stop before a run is given up.
    fn run_within(
        &self,
        grace: Duration,
        jobs: usize,
        timeout: Option<Duration>,
        stop: &StopSignal,
        runner: impl Fn(&RunSpec, &Execution<'_>, &mut dyn Observer) -> Result<Outcome> + Send + Sync + 'static,
    ) -> Result<Vec<RunRecord>> {
        let batch = RunBatch {
            runs: self.runs.clone(),
            plan: self.plan.clone(),
            execute: Box::new(runner),
            store: self.store.clone(),
            jobs,
            threads: 1,
            timeout,
            grace,
            stop: stop.clone(),
            shard: String::new(),
            gate: Arc::default(),
            probing: None,
        };
        run_batch(batch, &mut Estimator::default(), &mut BatchProgress::new(Verbosity::Quiet))
    }
}

fn outcome(stop: StopReason, gap: f64) -> Outcome {
    Outcome {
        points: vec![runs::point(1, 1.0, gap, 0.0)],
        stop,
        oracle_ns: latency_histogram(),
        approx_ns: latency_histogram(),
        wall_s: 1.0,
        cpu_s: 1.0,
        oracle_wall_s: 0.5,
        pipe_s: 0.0,
        idle_s: 0.0,
        instrument_s: 0.0,
        work: Default::default(),
        notes: Vec::new(),
        weights: Vec::new(),
    }
}

/// Runs until it is cancelled.
fn endless(execution: &Execution<'_>) -> Outcome {
    while !(execution.cancelled)() {
        std::thread::yield_now();
    }
    outcome(StopReason::Cancelled, 1.0)
}

#[test]
fn what_goes_wrong_in_a_run_becomes_its_record_and_the_others_go_on() {
    let fake = Fake::new(&[1; 7]);
    let executed = fake
        .run(2, Some(Duration::from_millis(20)), &StopSignal::default(), |run, execution, _| match run.repeat {
            1 => panic!("index 7 out of range"),
            2 => Ok(endless(execution)),
            3 => Ok(outcome(StopReason::Iterations, f64::NAN)),
            4 => Err(Error::invalid("bad example 3")),
            _ => Ok(outcome(StopReason::Iterations, 0.5)),
        })
        .unwrap();
    let done = executed.iter().filter(|record| record.status.is_done()).count();
    assert_eq!((done, executed.len()), (3, 7));
    let records = fake.store.scan(Folder::Runs).unwrap().records;
    let status: Vec<String> = records.iter().map(|record| record.status.text()).collect();
    let expected = [
        "iterations",
        "failed: panicked: index 7 out of range at tests/suite/harness.rs:",
        "failed: timed out after ",
        "failed: diverged: the objective is not finite at iteration 1",
        "failed: bad example 3",
        "iterations",
        "iterations",
    ];
    for (status, expected) in status.iter().zip(expected) {
        assert!(status.starts_with(expected), "{status} instead of {expected}");
    }
    // What a run measured before its time was over is kept: it is censored, not a hole.
    let evaluated: Vec<bool> = records.iter().map(|record| !record.points().is_empty()).collect();
    assert_eq!(evaluated, [true, false, true, false, false, true, true]);
    assert!(records.iter().all(|record| record.environment.jobs == 2));
}

/// A thread cannot be stopped: a run that never comes back becomes a failed record, and another worker takes the next.
#[test]
fn a_run_that_hangs_inside_one_call_is_given_up_and_the_others_go_on() {
    const GRACE: Duration = Duration::from_millis(800);
    for jobs in [1, 2] {
        let fake = Fake::new(&[1; 5]);
        let executed = fake
            .run_within(GRACE, jobs, Some(Duration::from_millis(200)), &StopSignal::default(), |run, _, _| {
                if [1, 3].contains(&run.repeat) {
                    loop {
                        std::thread::park();
                    }
                }
                Ok(outcome(StopReason::Iterations, 0.5))
            })
            .unwrap();
        assert_eq!(executed.len(), 5);
        let mut records = fake.store.scan(Folder::Runs).unwrap().records;
        records.sort_by_key(|record| record.repeat);
        let hung: Vec<bool> = records.iter().map(|record| record.status.reason().starts_with("hung: ")).collect();
        assert_eq!(hung, [false, true, false, true, false]);
        // The next call tries them again; this time they answer.
        let again = fake.run(jobs, None, &StopSignal::default(), |_, _, _| Ok(outcome(StopReason::Iterations, 0.5)));
        assert!(again.unwrap().iter().all(|record| record.status.is_done()));
    }
}

#[test]
fn cancelling_does_not_wait_for_a_run_that_hangs() {
    let fake = Fake::new(&[1, 1]);
    let cancel = StopSignal::default();
    let stop = cancel.clone();
    let records = fake.run_within(Duration::from_millis(50), 1, None, &cancel, move |_, _, _| {
        stop.cancel();
        loop {
            std::thread::park();
        }
    });
    let records = records.unwrap();
    assert!(records.is_empty() && fake.store.scan(Folder::Runs).unwrap().records.is_empty());
}

#[test]
fn runs_go_by_repeat_whatever_they_cost() {
    let fake = Fake::new(&[10, 1000, 100]);
    let order = Arc::new(Mutex::new(Vec::new()));
    let noted = order.clone();
    fake.run(1, None, &StopSignal::default(), move |run, _, _| {
        noted.lock().unwrap().push(run.repeat);
        Ok(outcome(StopReason::Iterations, 0.5))
    })
    .unwrap();
    assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
}

#[test]
fn cancelled_runs_leave_no_record() {
    let fake = Fake::new(&[3, 2, 1]);
    let cancel = StopSignal::default();
    let stop = cancel.clone();
    let executed = fake.run(1, None, &cancel, move |run, execution, _| {
        if run.repeat == 1 {
            stop.cancel();
            return Ok(endless(execution));
        }
        Ok(outcome(StopReason::Iterations, 0.5))
    });
    let on_disk = fake.store.scan(Folder::Runs).unwrap().records;
    assert_eq!((executed.unwrap(), on_disk.len()), (on_disk.clone(), 1));
}

#[test]
fn a_record_that_cannot_be_written_stops_the_batch() {
    let fake = Fake::new(&[4, 3, 2, 1]);
    // A folder under the name of the second run: no file can take its place.
    let taken = fake.store.path(Folder::Runs, &fake.runs[1].run_id);
    std::fs::create_dir(&taken).unwrap();
    let result = fake.run(1, None, &StopSignal::default(), |_, _, _| Ok(outcome(StopReason::Iterations, 0.5)));
    let message = result.unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}: is a folder", taken.display())), "{message}");
    std::fs::remove_dir(&taken).unwrap();
    let contents = fake.store.scan(Folder::Runs).unwrap();
    assert_eq!((contents.records.len(), contents.damaged.len()), (1, 0));
}

/// The text that people see before they spend hours; the estimate comes from the model alone, so it is repeatable.
#[test]
fn the_plan_is_printed_before_and_after() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("test.toml");
    std::fs::write(&config, CONFIG.replace("[[solver]]\nname = \"bcfw-avg\"\n", "")).unwrap();
    let call = |arguments: &[&str]| {
        let mut command = crate::common::program();
        command.args(arguments).arg(&config).arg("--out").arg(dir.path().join("out"));
        let output = command.args(["--jobs", "2"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = call(&["run", "--dry-run"]);
    let (table, summary) = text.split_once("\n\n").unwrap();
    assert_eq!(table.lines().count(), 17);
    insta::assert_snapshot!(table.lines().take(5).collect::<Vec<_>>().join("\n"), @r"
    data set             n     d    data  solver       runs  done   each   left
    usps-synth:n=40     40  2560  80 KiB  fw              2     0  ~<1 s  ~<1 s
    usps-synth:n=40     40  2560  80 KiB  bcfw            2     0  ~<1 s  ~<1 s
    usps-synth:n=40     40  2560  80 KiB  mp-bcfw         2     0  ~<1 s  ~<1 s
    usps-synth:n=40     40  2560  80 KiB  mp-bcfw-avg     2     0  ~<1 s  ~<1 s
    ");
    assert!(summary.starts_with("test: 32 runs, 0 done, 32 to do with 2 workers: about <1 s"), "{summary}");
    let report: serde_json::Value = serde_json::from_str(&call(&["run", "--quiet", "--format", "json"])).unwrap();
    assert_eq!((&report["planned"], &report["finished"]), (&32.into(), &32.into()));
    assert!(call(&["run", "--dry-run"]).contains("test: 32 runs, 32 done, 0 to do"));
    let json = call(&["run", "--dry-run", "--format", "json"]);
    let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["kind"], &lines[32]["kind"]), (33, &"run".into(), &"plan".into()));
    assert!(lines[..32].iter().all(|line| line["done"] == true));
}

/// `reproduce` hands the records of its sessions on to the pages: it decodes none twice, and those it has made not at all.
#[test]
fn reproduce_decodes_every_record_at_most_once() {
    let dir = tempfile::tempdir().unwrap();
    let decoded = |configs: &[&str]| -> usize {
        let mut command = crate::common::program();
        command.current_dir(dir.path()).args(["reproduce", "--verbose", "--out", "out", "--jobs", "1"]);
        for config in configs {
            command.arg(config);
        }
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        let count = errors.lines().find_map(|line| line.strip_suffix(" records were read")?.parse().ok());
        count.unwrap_or_else(|| panic!("no number of records: {errors}"))
    };
    // The second config asks for the paper's oracle cost, which is read from the records of the folder.
    let paper = "name = \"paper-cost\"\nclock = \"wall\"\noracle_cost = [1, \"paper\"]\nprobes = 0\n[budget]\niterations = 2\n\
        [[dataset]]\nname = \"usps-synth:n=40\"\n[[solver]]\nname = \"bcfw\"\n";
    std::fs::write(dir.path().join("paper.toml"), paper).unwrap();
    assert_eq!(decoded(&["smoke", "paper.toml"]), 0, "what was made just now is in memory");
    let records = Store::open(dir.path().join("out")).unwrap().files(Folder::Runs).unwrap().len();
    assert_eq!(decoded(&["smoke", "paper.toml"]), records);
}
