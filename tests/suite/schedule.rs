//! The order of the queue, the watch on interference and timeouts: nothing here depends on how fast the machine is.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::sessions::{self, experiment};
use ssvm::clock::latency_histogram;
use ssvm_bench::experiment::{Estimator, Plan, RunSpec};
use ssvm_bench::run::interference::{self, Probing};
use ssvm_bench::run::pause::PauseGate;
use ssvm_bench::run::progress::{BatchProgress, Verbosity};
use ssvm_bench::run::scheduler::{self, RunBatch, run_batch};
use ssvm_bench::run::worker::{StopSignal, Worker, WorkerContext};
use ssvm_bench::store::RunRecord;
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::keys::ProblemKey;
use ssvm_bench::store::manifest::{Inflation, Manifest};
use ssvm_bench::{DataDir, Error, Execution, Harness, Observer, Outcome, Result, StopReason, TracePoint};

const CONFIG: &str = "name = \"order\"\nrepeats = 4\n[budget]\niterations = 2\n\
    [[dataset]]\nname = \"usps-synth:n=20\"\n[[dataset]]\nname = \"ocr-synth:n=20\"\n\
    [[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n[[solver]]\nname = \"fw\"\n";

fn plan(text: &str) -> Plan {
    Plan::new(&experiment(text), &Harness::standard(), &DataDir::resolve(None)).unwrap()
}

/// `repeat set solver` in the order of the queue; the second data set takes longer.
fn order(runs: &[RunSpec], planned: &[RunSpec]) -> Vec<String> {
    let seconds = |run: &RunSpec| 1.0 + run.set as f64;
    let name = |run: &RunSpec| format!("{} {} {}", run.repeat, run.set, run.settings().solver.name);
    scheduler::order(runs, planned, seconds).into_iter().map(|index| name(&runs[index])).collect()
}

#[test]
fn solvers_of_a_data_set_and_repeat_are_neighbours_and_take_turns_at_the_front() {
    let plan = plan(CONFIG);
    let found = order(&plan.runs, &plan.runs);
    assert_eq!(found.len(), 24);
    let expected: Vec<String> =
        [["bcfw", "mp-bcfw", "fw"], ["mp-bcfw", "fw", "bcfw"], ["fw", "bcfw", "mp-bcfw"], ["bcfw", "mp-bcfw", "fw"]]
            .iter()
            .zip(0..)
            .flat_map(|(solvers, repeat)| [1, 0].map(|set| (set, solvers, repeat)))
            .flat_map(|(set, solvers, repeat): (usize, &[&str; 3], u64)| {
                solvers.map(|solver| format!("{repeat} {set} {solver}"))
            })
            .collect();
    assert_eq!(found, expected);
    // Over three repeats every solver has every place once.
    for place in 0..3 {
        let mut at: Vec<&str> = (0..3).map(|repeat| found[6 * repeat + place].rsplit(' ').next().unwrap()).collect();
        at.sort_unstable();
        assert_eq!(at, ["bcfw", "fw", "mp-bcfw"]);
    }
}

#[test]
fn what_is_already_done_does_not_shift_the_turns() {
    let plan = plan(CONFIG);
    let left: Vec<RunSpec> = plan.runs.iter().filter(|run| run.settings().solver.name != "bcfw").cloned().collect();
    let all = order(&plan.runs, &plan.runs);
    let without: Vec<&String> = all.iter().filter(|run| !run.ends_with(" bcfw")).collect();
    assert_eq!(order(&left, &plan.runs).iter().collect::<Vec<_>>(), without);
}

#[test]
fn a_drift_of_the_machine_is_no_interference() {
    // Ten measurements on a machine that gets slower by 4 % with every piece: as in one block at the end it would look
    // like a difference, in turns it does not.
    for inflation in [1.0, 1.12] {
        for start in 0..10 {
            let speed = Cell::new(1.04f64.powi(start));
            let piece = |factor: f64| {
                speed.set(speed.get() * 1.04);
                Some(factor * speed.get())
            };
            let ratio = interference::ratio(|| piece(1.0), || piece(inflation)).unwrap();
            assert!((ratio - inflation).abs() < 1e-12, "{ratio}");
        }
    }
    assert_eq!(interference::ratio(|| Some(1.0), || None), None);
    assert_eq!(interference::ratio(|| Some(0.0), || Some(1.0)), None);
}

fn row(solver: &str, ratios: &[f64]) -> Inflation {
    let earlier = Inflation {
        dataset: "set".into(),
        solver: solver.into(),
        jobs: 2,
        ratios: ratios.to_vec(),
        ..Inflation::default()
    };
    Probing::new(3, 2, &[earlier]).rows(2).pop().unwrap()
}

#[test]
fn probes_of_two_lambdas_of_a_data_set_are_two_rows() {
    let at = |lambda: f64| Inflation {
        problem: Some(ProblemKey { dataset: "set".into(), checksum: "c".into(), lambda, pairwise_weight: None }),
        ..row("bcfw", &[1.0 + lambda; 3])
    };
    let ratios = |rows: Vec<Inflation>| rows.iter().map(|row| row.ratio).collect::<Vec<_>>();
    assert_eq!(ratios(Probing::new(3, 2, &[at(0.5), at(0.1)]).rows(2)), [1.1, 1.5]);
    let mut manifest = Manifest { interference: vec![at(0.5)], ..Manifest::default() };
    manifest.join(Manifest { interference: vec![at(0.1)], ..Manifest::default() }).unwrap();
    assert_eq!(ratios(manifest.interference), [1.1, 1.5]);
}

#[test]
fn inflation_has_an_interval_and_warns_when_all_of_it_is_above_five_percent() {
    let wide = row("fw", &[1.0, 1.12, 1.2]);
    assert_eq!((wide.ratio, wide.low, wide.high, wide.probes), (1.12, 1.0, 1.2, 3));
    assert!(interference::summary(&[], 2.0).is_empty());
    let lines = interference::summary(&[wide.clone(), row("bcfw", &[1.0, 1.01])], 9.0);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("parallel timing is 1.01× isolated (1.00–"), "{lines:?}");
    assert!(lines[0].contains("5 probes of 2 data sets and solvers"), "{lines:?}");
    let high = row("bcfw", &[1.1, 1.2, 1.15, 1.13, 1.16]);
    let lines = interference::summary(&[wide, high.clone()], 2.0);
    assert!(lines[1].contains("set bcfw 1.15× (1.1") && !lines[1].contains(" fw "), "{lines:?}");
    assert!(lines[1].contains("--isolated"));
    assert_eq!(interference::summary(&[high], 5.0).len(), 3);
    // Two or three values have no interval to speak of.
    assert_eq!(interference::summary(&[row("bcfw", &[1.2, 1.3, 1.2])], 2.0).len(), 1);
}

fn outcome(stop: StopReason, wall_s: f64) -> Outcome {
    let point = TracePoint { iteration: 1, time_s: wall_s, gap: 0.5, primal: 1.0, dual: 0.5, ..TracePoint::default() };
    Outcome {
        points: vec![TracePoint { time_s: 0.5 * wall_s, ..point.clone() }, TracePoint { iteration: 2, ..point }],
        stop,
        oracle_ns: latency_histogram(),
        approx_ns: latency_histogram(),
        wall_s,
        cpu_s: 0.25 * wall_s,
        oracle_wall_s: 0.0,
        pipe_s: 0.0,
        idle_s: 0.0,
        instrument_s: 0.0,
        work: Default::default(),
        notes: Vec::new(),
        weights: Vec::new(),
    }
}

/// A batch of the runs of a plan, executed by this.
fn batch(
    plan: Plan,
    store: Store,
    jobs: usize,
    execute: impl Fn(&RunSpec, &Execution<'_>, &mut dyn Observer) -> Result<Outcome> + Send + Sync + 'static,
) -> RunBatch {
    RunBatch {
        runs: plan.runs.clone(),
        plan: Arc::new(plan),
        execute: Box::new(execute),
        store,
        jobs,
        threads: 1,
        timeout: None,
        grace: Duration::from_mins(1),
        stop: StopSignal::default(),
        shard: String::new(),
        gate: Arc::default(),
        probing: None,
    }
}

#[test]
fn a_probe_is_timed_with_the_neighbours_standing_still_and_with_them_at_work() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create_private(dir.path()).unwrap();
    let end = AtomicBool::new(false);
    let gate = Arc::new(PauseGate::default());
    // The work takes a second alone and 1.3 in company; it sees who is there.
    let seen = gate.clone();
    let runner = move |run: &RunSpec, _: &Execution<'_>, _: &mut dyn Observer| -> Result<Outcome> {
        assert!(run.settings().clock.repeatable() && run.settings().budget.iterations.is_some(), "equal work");
        Ok(outcome(StopReason::Iterations, if seen.running() == 0 { 1.0 } else { 1.3 }))
    };
    let probed = RunBatch { gate: gate.clone(), ..batch(plan(CONFIG), store.clone(), 2, runner) };
    let first = batch(plan(CONFIG), store, 2, |_, _, _| Ok(outcome(StopReason::Iterations, 0.1)));
    let shared = Worker::default();
    let worker = |batch| WorkerContext { batch, worker: &shared, core: None, helpers: None };
    let probing = Probing::new(2, 2, &[]);
    let record = |index: usize| -> RunRecord { worker(&first).execute(index).unwrap() };
    // No other worker is busy: no probe.
    probing.after(worker(&probed), &probed.runs[0], &record(0));
    std::thread::scope(|scope| {
        let neighbour = scope.spawn(|| {
            let _inside = gate.enter();
            while !end.load(Ordering::Relaxed) {
                gate.pass();
                std::thread::yield_now();
            }
        });
        while gate.running() == 0 {
            std::thread::yield_now();
        }
        // Two probes of two ratios each are wanted. On a busy machine the neighbour may come by too late: then there is
        // none this time. A probe begins only while the neighbour runs, and a released one takes a moment to wake up.
        for attempt in 0..100 {
            let index = attempt % 4;
            gate.await_running(1, Duration::from_mins(1));
            probing.after(worker(&probed), &probed.runs[index], &record(index));
        }
        end.store(true, Ordering::Relaxed);
        neighbour.join().unwrap();
    });
    let rows = probing.rows(2);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((rows[0].dataset.as_str(), rows[0].solver.as_str(), rows[0].jobs), ("usps-synth:n=20", "bcfw", 2));
    assert!(
        (4..6).contains(&rows[0].ratios.len()) && rows[0].ratios.iter().all(|ratio| (ratio - 1.3).abs() < 1e-12),
        "{rows:?}"
    );
}

#[test]
fn sessions_probe_timed_runs_in_company_only() {
    let text = "name = \"t\"\nclock = \"wall\"\nrepeats = 3\nprobes = 2\nevaluate = \"every:1\"\n[budget]\niterations = 20\n\
        [[dataset]]\nname = \"usps-synth:n=150\"\n[[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n";
    let interference = |text: &str, jobs: usize| {
        let dir = tempfile::tempdir().unwrap();
        let finished = sessions::run(text, dir.path(), jobs).unwrap();
        assert!(finished.report.complete() && finished.contents.records.len() == 6);
        finished.manifest.interference
    };
    // How many come about depends on who is at work when; what there is has an interval around its median.
    for row in interference(text, 2) {
        assert!(row.jobs == 2 && row.probes as usize == row.ratios.len() && row.probes <= 5, "{row:?}");
        assert!(row.low <= row.ratio && row.ratio <= row.high && row.low > 0.0, "{row:?}");
    }
    assert!(interference(text, 1).is_empty());
    assert!(interference(&text.replace("\"wall\"", "\"virtual\""), 2).is_empty());
}

#[test]
fn a_run_that_times_out_keeps_its_points() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _lock) = Store::create(dir.path()).unwrap();
    let plan = plan(
        "name = \"x\"\n[budget]\niterations = 9\n[[dataset]]\nname = \"usps-synth:n=10\"\n[[solver]]\nname = \"bcfw\"\n",
    );
    let runner = |_: &RunSpec, execution: &Execution<'_>, _: &mut dyn Observer| -> Result<Outcome> {
        while !(execution.cancelled)() {
            std::thread::yield_now();
        }
        Ok(outcome(StopReason::Cancelled, 3.0))
    };
    let batch = RunBatch { timeout: Some(Duration::ZERO), ..batch(plan, store.clone(), 1, runner) };
    run_batch(batch, &mut Estimator::default(), &mut BatchProgress::new(Verbosity::Quiet)).unwrap();
    let records = store.scan(Folder::Runs).unwrap().records;
    assert_eq!(records.len(), 1);
    assert!(
        matches!(records[0].status, ssvm_bench::store::Status::TimedOut { .. })
            && records[0].status.reason().starts_with("timed out after "),
        "{:?}",
        records[0].status
    );
    assert_eq!(records[0].points().iter().map(|point| point.iteration).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(records[0].measured.totals.wall_s, 3.0);
}

/// Ctrl-C while a run ends whose time is over: it is as slow as it was, with its points or without them.
#[test]
fn a_run_that_is_cancelled_after_its_time_is_over_has_timed_out() {
    for answers in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let (store, _lock) = Store::create(dir.path()).unwrap();
        let plan = plan(
            "name = \"x\"\n[budget]\niterations = 9\n[[dataset]]\nname = \"usps-synth:n=10\"\n[[solver]]\nname = \"bcfw\"\n",
        );
        let stop = StopSignal::default();
        let cancel = stop.clone();
        let runner = move |_: &RunSpec, execution: &Execution<'_>, _: &mut dyn Observer| -> Result<Outcome> {
            while !(execution.cancelled)() {
                std::thread::yield_now();
            }
            cancel.cancel();
            // An oracle program is killed when everything is cancelled.
            if answers { Ok(outcome(StopReason::Cancelled, 3.0)) } else { Err(Error::invalid("the program has ended")) }
        };
        let batch = RunBatch { timeout: Some(Duration::ZERO), stop, ..batch(plan, store.clone(), 1, runner) };
        run_batch(batch, &mut Estimator::default(), &mut BatchProgress::new(Verbosity::Quiet)).unwrap();
        let records = store.scan(Folder::Runs).unwrap().records;
        assert_eq!(records.len(), 1);
        assert!(matches!(records[0].status, ssvm_bench::store::Status::TimedOut { .. }), "{:?}", records[0].status);
        assert_eq!(records[0].points().len(), if answers { 2 } else { 0 });
    }
}

#[test]
fn a_run_that_another_build_timed_is_not_done() {
    let text = "name = \"t\"\nclock = \"wall\"\nprobes = 0\n[budget]\niterations = 2\n\
        [[dataset]]\nname = \"usps-synth:n=20\"\n[[solver]]\nname = \"fw\"\n[[solver]]\nname = \"bcfw\"\n";
    let dir = tempfile::tempdir().unwrap();
    let run = |text: &str| sessions::run(text, dir.path(), 1).unwrap().report;
    assert_eq!((run(text).finished, run(text).already), (2, 2));
    let other_build = |clock: &str| {
        let (store, _lock) = Store::create(dir.path()).unwrap();
        let records = store.scan(Folder::Runs).unwrap().records;
        let mut record = records.into_iter().find(|r| r.settings().clock.name() == clock).unwrap();
        record.environment.build = "x86_64 opt-level=0".into();
        store.write(Folder::Runs, &record).unwrap();
    };
    other_build("wall");
    let report = run(text);
    assert_eq!((report.already, report.finished), (1, 1), "a debug build's times are no times of this one");
    // The virtual clock does not know what a build is.
    let text = text.replace("wall", "virtual");
    run(&text);
    other_build("virtual");
    assert_eq!(run(&text).finished, 0);
}
