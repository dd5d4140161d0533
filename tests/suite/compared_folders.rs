//! Result folders compared: only like with like, nothing lost in silence, one error rate for the whole comparison.

use std::path::Path;

use assert_cmd::Command;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use ssvm_bench::gate::rounds::Design;
use ssvm_bench::gate::{Finding, Judgement, folders, measure};
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::identity::Identity;
use ssvm_bench::store::keys::ProblemKey;
use ssvm_bench::store::{Environment, Measured, RunRecord, Status};
use ssvm_bench::study::curve::spent;
use ssvm_bench::study::paired::Spent;
use ssvm_bench::{Budget, Cadence, ClockKind, RunSettings, SolverSpec, StopReason, TracePoint};

/// A run of 12 iterations that take `time_s` each on the clock and half of it on the CPU; the gap after t of them is 1/t.
fn run(dataset: &str, repeat: u64, clock: ClockKind, time_s: f64) -> RunRecord {
    let point = |t: u64| TracePoint {
        iteration: t,
        time_s: time_s * t as f64,
        cpu_s: 0.5 * time_s * t as f64,
        oracle_calls: 10 * t,
        primal: 2.0 + 1.0 / t as f64,
        dual: 2.0,
        gap: 1.0 / t as f64,
        ..TracePoint::default()
    };
    RunRecord {
        identity: Identity {
            problem: ProblemKey {
                dataset: dataset.to_owned(),
                checksum: "checksum".to_owned(),
                lambda: 0.1,
                pairwise_weight: None,
            },
            settings: RunSettings {
                solver: SolverSpec::new("mp-bcfw"),
                seed: 100 + repeat,
                clock,
                oracle_cost: ssvm_bench::OracleCost::ONE,
                budget: Budget::iterations(12),
                evaluate: Cadence::Every(1),
            },
            cost_model: None,
            code_version: "0".to_owned(),
            solver_version: None,
            problem_version: None,
        },
        repeat,
        environment: Environment { jobs: 2, ..Environment::default() },
        status: Status::Done(StopReason::Iterations),
        measured: Measured { points: (1..=12).map(point).collect(), ..Measured::default() },
    }
}

fn side(repeats: u64, clock: ClockKind, time_s: f64) -> Vec<RunRecord> {
    (0..repeats).map(|repeat| run("set", repeat, clock, time_s)).collect()
}

fn compared(old: &[RunRecord], new: &[RunRecord]) -> Vec<Finding> {
    let (old, new) = (measure::by_cell(old).unwrap(), measure::by_cell(new).unwrap());
    folders::compare(&old, &new, &Design::default()).unwrap().findings
}

fn verdict(findings: &[Finding], metric: &str) -> Judgement {
    findings.iter().find(|finding| finding.metric == metric).unwrap_or_else(|| panic!("{findings:#?}")).judgement
}

fn alarms(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.judgement.fails())
}

#[test]
fn runs_with_other_settings_are_a_finding_and_no_number_of_theirs_is_compared() {
    let old = side(6, ClockKind::WALL, 0.1);
    let changed = |change: &dyn Fn(&mut Identity)| {
        let mut new = side(6, ClockKind::WALL, 0.1);
        for run in &mut new {
            change(&mut run.identity);
        }
        let findings = compared(&old, &new);
        assert_eq!(findings.len(), 1, "{findings:#?}");
        assert_eq!((findings[0].metric.as_str(), findings[0].judgement), ("inputs", Judgement::Changed));
        findings[0].note.clone()
    };
    let note = changed(&|identity| identity.settings.budget = Budget::iterations(3));
    assert!(note.contains(r#"budget {"iterations":12} → {"iterations":3}"#), "{note}");
    assert!(changed(&|identity| identity.problem.lambda = 0.2).contains("λ 0.1 → 0.2"));
    assert!(changed(&|identity| identity.problem.checksum = "other".into()).contains("data checksum → other"));
    assert!(changed(&|identity| identity.settings.clock = ClockKind::CPU).contains("clock wall → cpu"));
    assert!(changed(&|identity| identity.settings.evaluate = Cadence::Log).contains("evaluation"));
    assert!(changed(&|identity| identity.problem.pairwise_weight = Some(2.0)).contains("pairwise weight default → 2"));
    // Other code is what a comparison is for.
    let mut newer = side(6, ClockKind::WALL, 0.1);
    for run in &mut newer {
        run.identity.code_version = "1".into();
    }
    assert!(!alarms(&compared(&old, &newer)));
}

#[test]
fn a_target_that_is_not_reached_any_more_is_a_finding() {
    for (clock, repeats) in [(ClockKind::WALL, 6), (ClockKind::WALL, 2), (ClockKind::VIRTUAL, 1)] {
        let old = side(repeats, clock, 0.1);
        let mut new = old.clone();
        for run in &mut new {
            run.measured.points.truncate(3);
        }
        let time = if clock == ClockKind::WALL { "cpu_s" } else { "time_s" };
        let findings = compared(&old, &new);
        let lost = findings.iter().find(|finding| finding.metric == format!("{time} to gap 0.3")).unwrap();
        assert_eq!(lost.judgement, Judgement::Missing, "{}", lost.message());
        assert!(lost.note.contains(&format!("{repeats} of {repeats} repeats no longer reach it")));
        // The other way round they are gained, at the price of longer runs.
        let gained = compared(&new, &old);
        assert!(gained.iter().filter(|f| f.metric.contains("to gap")).all(|f| !f.judgement.fails()), "{gained:#?}");
        assert!(gained.iter().any(|finding| finding.note.contains("did not reach it before")));
    }
    // Without noise one repeat is enough; with it one of six is said, and judged with the others.
    let old = side(6, ClockKind::VIRTUAL, 0.1);
    let mut new = old.clone();
    new[4].measured.points.truncate(3);
    assert_eq!(verdict(&compared(&old, &new), "time_s to gap 0.1"), Judgement::Missing);
    let old = side(6, ClockKind::WALL, 0.1);
    let mut new = old.clone();
    new[4].measured.points.truncate(3);
    let findings = compared(&old, &new);
    assert_eq!(verdict(&findings, "cpu_s to gap 0.3"), Judgement::Undecided);
    assert!(findings.iter().any(|finding| finding.note == "1 of 6 repeats no longer reach it"));
}

#[test]
fn lost_runs_and_cells_fail_and_new_ones_are_named() {
    let old = [side(6, ClockKind::WALL, 0.1), vec![run("other", 0, ClockKind::WALL, 0.1)]].concat();
    let new = side(5, ClockKind::WALL, 0.1);
    let findings = compared(&old, &new);
    let word = |finding: &Finding| (finding.metric.clone(), finding.judgement, finding.note.clone());
    let words: Vec<_> = findings.iter().filter(|finding| !finding.note.is_empty()).map(word).collect();
    assert_eq!(
        words,
        [
            ("all metrics".into(), Judgement::Missing, "only in the first folder".into()),
            ("repeats".into(), Judgement::Missing, "only in the first folder: 5".into()),
        ]
    );
    assert!(!alarms(&compared(&new, &old)));
    let mut failed = side(6, ClockKind::WALL, 0.1);
    failed[2].status = Status::TimedOut { after_s: 9.0 };
    let findings = compared(&side(6, ClockKind::WALL, 0.1), &failed);
    assert!(
        findings.iter().any(|f| f.judgement == Judgement::Missing && f.note.contains("repeat 2 failed: timed out"))
    );
}

#[test]
fn wall_clock_runs_are_compared_by_cpu_time() {
    let old = side(9, ClockKind::WALL, 0.1);
    let mut new = old.clone();
    let points = |runs: &mut [RunRecord], change: &dyn Fn(&mut TracePoint)| {
        runs.iter_mut().flat_map(|run| &mut run.measured.points).for_each(change);
    };
    points(&mut new, &|point| point.time_s *= 3.0);
    let findings = compared(&old, &new);
    assert!(!alarms(&findings) && findings.iter().all(|finding| !finding.metric.starts_with("time_s")), "{findings:?}");
    points(&mut new, &|point| point.cpu_s *= 1.2);
    assert_eq!(verdict(&compared(&old, &new), "cpu_s at the end"), Judgement::Worse);
    // Beside other numbers of workers times are shown and not judged.
    for run in &mut new {
        run.environment.jobs = 1;
    }
    let findings = compared(&old, &new);
    assert_eq!(verdict(&findings, "cpu_s at the end"), Judgement::NotJudged);
    assert_eq!(verdict(&findings, "oracle_calls to gap 0.3"), Judgement::Same);
}

#[test]
fn times_of_different_kinds_of_machines_are_not_judged() {
    let old = side(9, ClockKind::WALL, 0.1);
    let mut new = side(9, ClockKind::WALL, 0.3);
    assert_eq!(verdict(&compared(&old, &new), "cpu_s at the end"), Judgement::Worse);
    for run in &mut new {
        run.environment.host_class = "another CPU, 64 cores".into();
    }
    let findings = compared(&old, &new);
    for finding in findings.iter().filter(|finding| finding.metric.starts_with("cpu_s")) {
        assert_eq!(finding.judgement, Judgement::NotJudged, "{}", finding.message());
        assert!(finding.note.contains("another CPU, 64 cores") && finding.note.contains("run both on one machine"));
    }
    assert_eq!(verdict(&findings, "oracle_calls to gap 0.3"), Judgement::Same, "counters know no machine");
    new.iter_mut().flat_map(|run| &mut run.measured.points).for_each(|point| point.oracle_calls *= 2);
    assert_eq!(verdict(&compared(&old, &new), "oracle_calls to gap 0.3"), Judgement::Worse);
    // What the virtual clock counts is the same everywhere.
    let mut elsewhere = side(2, ClockKind::VIRTUAL, 0.3);
    for run in &mut elsewhere {
        run.environment.host_class = "another CPU, 64 cores".into();
    }
    assert_eq!(
        verdict(&compared(&side(2, ClockKind::VIRTUAL, 0.1), &elsewhere), "time_s at the end"),
        Judgement::Worse
    );
}

#[test]
fn costs_are_read_where_the_curve_crosses_the_gap() {
    let one = run("set", 0, ClockKind::WALL, 0.1);
    let at = |run: &RunRecord, gap| spent(run.points().iter().map(|point| (point.time_s, point.gap)), gap);
    assert_eq!(at(&one, 1.0), Spent { least: 0.0, most: 0.1 }, "there at its first evaluation");
    assert!((at(&one, 0.5).least - 0.2).abs() < 1e-12);
    // Half way between 1/2 and 1/4 on a logarithmic axis, had the run not been evaluated at 1/3.
    let mut thin = one.clone();
    thin.measured.points.retain(|point| point.iteration != 3);
    let crossing = at(&thin, 0.125_f64.sqrt());
    assert!((crossing.most - 0.08_f64.sqrt()).abs() < 1e-12, "straight in log-log: {crossing:?}");
    assert_eq!(at(&one, 0.01).most, f64::INFINITY);
    // An evaluation at or below zero says only that it is there.
    thin.measured.points[1].gap = 0.0;
    assert_eq!(at(&thin, 0.6), Spent::exactly(0.2));
}

/// A folder of six data sets made on a noisy machine: every run 3 % off, one in ten disturbed by up to a half.
fn noisy_folder(seed: u64, factor: f64) -> Vec<RunRecord> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut runs = Vec::new();
    for set in 0..6 {
        for repeat in 0..16 {
            let spike = if unit() < 0.1 { 1.0 + 0.5 * unit() } else { 1.0 };
            let noise = 1.0 + 0.06 * (unit() - 0.5);
            runs.push(run(&format!("set{set}"), repeat, ClockKind::WALL, 0.1 * factor * noise * spike));
        }
    }
    runs
}

#[test]
fn one_error_rate_holds_for_all_metrics_together() {
    let trial = |seed: u64, factor: f64| compared(&noisy_folder(2 * seed, 1.0), &noisy_folder(2 * seed + 1, factor));
    let same = (0..40).filter(|seed| alarms(&trial(*seed, 1.0))).count();
    assert!(same <= 2, "{same} alarms in 40 trials of the same program");
    let found = (0..40).filter(|seed| alarms(&trial(*seed, 1.1))).count();
    assert!(found >= 38, "10 % more time found in {found} of 40 trials");
    // Six repeats cannot support a verdict on that many metrics, and that is said.
    let six = |runs: Vec<RunRecord>| runs.into_iter().filter(|run| run.repeat < 6).collect::<Vec<_>>();
    let few = compared(&six(noisy_folder(1, 1.0)), &six(noisy_folder(2, 1.1)));
    assert!(
        !alarms(&few) && few.iter().any(|f| f.note.contains("6 repeats are too few for the confidence; ")),
        "{few:#?}"
    );
    // The more is looked at, the wider is the interval of each.
    let (old, new) = (noisy_folder(1, 1.0), noisy_folder(2, 1.0));
    let one = |runs: &[RunRecord]| -> Vec<RunRecord> {
        (0..20)
            .map(|k| RunRecord { repeat: k, ..runs[k as usize].clone() })
            .map(|mut run| {
                run.identity.problem.dataset = "set0".into();
                run.identity.settings.seed = run.repeat;
                run
            })
            .collect()
    };
    let many =
        |runs: &[RunRecord]| [one(runs), runs.iter().filter(|run| run.dataset() != "set0").cloned().collect()].concat();
    let width = |findings: Vec<Finding>| {
        let finding = findings.iter().find(|f| f.cell.dataset == "set0" && f.metric == "cpu_s at the end").cloned();
        let ratio = finding.unwrap().ratio.unwrap();
        ratio.high.unwrap() / ratio.low.unwrap()
    };
    assert!(width(compared(&many(&old), &many(&new))) > width(compared(&one(&old), &one(&new))));
}

fn stored(dir: &Path, records: &[RunRecord]) {
    let (store, _lock) = Store::create(dir).unwrap();
    for record in records {
        store.write(Folder::Runs, record).unwrap();
    }
}

#[test]
fn the_command_fails_for_other_inputs_and_lost_targets() {
    let dir = tempfile::tempdir().unwrap();
    let folder = |name: &str, records: &[RunRecord]| {
        let path = dir.path().join(name);
        let mut all = Vec::new();
        for dataset in ["set", "set:2", "set:3"] {
            all.extend(records.iter().cloned().map(|mut run| {
                run.identity.problem.dataset = dataset.to_owned();
                run
            }));
        }
        stored(&path, &all);
        path
    };
    let long = side(5, ClockKind::WALL, 0.1);
    let mut short = side(5, ClockKind::WALL, 0.1);
    for run in &mut short {
        run.identity.settings.budget = Budget::iterations(3);
        run.measured.points.truncate(3);
    }
    let mut stuck = long.clone();
    for run in &mut stuck {
        run.measured.points.truncate(3);
    }
    let (long, short, stuck) = (folder("long", &long), folder("short", &short), folder("stuck", &stuck));
    let compare = |new: &Path, code: i32| {
        let mut command = Command::cargo_bin("ssvm-bench").unwrap();
        command.env_remove("GITHUB_STEP_SUMMARY").env("COLUMNS", "1000").arg("compare").args([long.as_path(), new]);
        String::from_utf8(command.assert().code(code).get_output().stdout.clone()).unwrap()
    };
    compare(&long, 0);
    let text = compare(&short, 2);
    assert!(text.contains("CHANGED") && text.contains("budget") && text.contains("inputs"), "{text}");
    assert!(text.contains("set/mp-bcfw and 2 more"), "{text}");
    assert_eq!(text.matches("made from other inputs").count(), 1, "{text}");
    let text = compare(&stuck, 2);
    assert!(text.contains("MISSING") && text.contains("no longer reach it"), "{text}");
}

#[test]
fn a_run_that_ended_before_a_gap_spent_at_least_its_whole_time() {
    // The new runs stop after a third of the old ones' time and one of them still reaches the gap: the others may have been
    // as fast, so nothing says that they are slower.
    let old = side(6, ClockKind::WALL, 0.1);
    let mut new = old.clone();
    for run in new.iter_mut().skip(1) {
        run.measured.points.truncate(3);
    }
    let findings = compared(&old, &new);
    let lost = findings.iter().find(|finding| finding.metric == "cpu_s to gap 0.3").unwrap();
    assert_eq!(lost.judgement, Judgement::Undecided, "{}", lost.message());
    assert!(lost.note.contains("5 of 6 repeats no longer reach it"), "{}", lost.note);
}

#[test]
fn the_command_says_when_repeats_cannot_support_its_confidence() {
    let dir = tempfile::tempdir().unwrap();
    let text = |repeats: u64| {
        let [old, new] = ["old", "new"].map(|name| dir.path().join(format!("{name}{repeats}")));
        stored(&old, &side(repeats, ClockKind::WALL, 0.1));
        stored(&new, &side(repeats, ClockKind::WALL, 0.101));
        let [summary, junit] = ["md", "xml"].map(|kind| dir.path().join(format!("{repeats}.{kind}")));
        let mut command = Command::cargo_bin("ssvm-bench").unwrap();
        command.env("GITHUB_STEP_SUMMARY", &summary).arg("compare").args([&old, &new]).arg("--junit").arg(&junit);
        let printed = String::from_utf8(command.assert().code(0).get_output().stdout.clone()).unwrap();
        (printed, std::fs::read_to_string(summary).unwrap())
    };
    // Time to a gap and at the end, while the calls are equal in all pairs: two metrics need 1 − 2 · 2^(1 − n) ≥ 0.95.
    let (few, summary) = text(5);
    let remark = "5 repeats cannot support a confidence of 95 % over 2 metrics; 7 are needed";
    for text in [few, summary, std::fs::read_to_string(dir.path().join("5.xml")).unwrap()] {
        assert!(text.contains(remark), "{text}");
    }
    let (enough, _) = text(7);
    assert!(!enough.contains("cannot support"), "{enough}");
}

/// The gap after t iterations is 4/t² instead: 4, 1, …, so gaps of at least 4 are reached at the first evaluation.
fn steep(repeats: u64, time_s: f64) -> Vec<RunRecord> {
    let mut runs = side(repeats, ClockKind::WALL, time_s);
    runs.iter_mut().flat_map(|run| &mut run.measured.points).for_each(|point| point.gap = 4.0 * point.gap.powi(2));
    runs
}

#[test]
fn a_gap_reached_at_the_first_evaluation_has_no_ratio_and_is_not_judged() {
    // All but one, or the gap would be no target.
    let first = |runs: &mut [RunRecord]| runs[1..].iter_mut().for_each(|run| run.measured.points[0].gap = 0.9);
    let (mut old, mut new) = (steep(12, 0.1), steep(12, 0.101));
    let metrics = |findings: &[Finding]| findings.iter().map(|f| (f.metric.clone(), f.judgement)).collect::<Vec<_>>();
    let before = metrics(&compared(&old, &new));
    assert!(before.contains(&("cpu_s to gap 1".into(), Judgement::Same)), "{before:?}");
    first(&mut old);
    first(&mut new);
    let findings = compared(&old, &new);
    let of = |metric: &str| findings.iter().find(|finding| finding.metric == metric).unwrap();
    let finding = of("cpu_s to gap 1");
    assert_eq!((finding.judgement, finding.ratio), (Judgement::NotJudged, None), "{}", finding.message());
    assert_eq!((finding.old, finding.new), (None, None));
    assert_eq!(finding.note, "most repeats reach it at the first evaluation, so no ratio is known");
    // Equal counters of all pairs are the same, although what they bound is not known.
    assert_eq!(of("oracle_calls to gap 1").judgement, Judgement::Same);
}

#[test]
fn only_metrics_that_differ_share_the_error_rate() {
    let (old, new) = (steep(5, 0.1), steep(5, 0.101));
    let compare = |old: &[RunRecord], new: &[RunRecord]| {
        let (old, new) = (measure::by_cell(old).unwrap(), measure::by_cell(new).unwrap());
        folders::compare(&old, &new, &Design::default()).unwrap()
    };
    let compared = compare(&old, &new);
    let (calls, times): (Vec<&Finding>, Vec<&Finding>) =
        compared.findings.iter().partition(|finding| finding.metric.starts_with("oracle_calls"));
    assert!(calls.iter().all(|finding| finding.judgement == Judgement::Same && finding.ratio.is_none()), "{calls:?}");
    assert!(times.len() > 2 && times.iter().all(|finding| finding.ratio.is_some()), "{times:?}");
    let remark = compared.remark.unwrap();
    assert!(remark.contains(&format!("over {} metrics", times.len())), "{remark}");
    assert_eq!(compare(&old, &old).remark, None, "equal values need no confidence");
}

#[test]
fn an_interval_that_reaches_beyond_the_threshold_is_undecided() {
    let old = side(6, ClockKind::WALL, 0.1);
    let new: Vec<_> = (0..6).map(|k| run("set", k, ClockKind::WALL, 0.1 * (0.8 + 0.08 * k as f64))).collect();
    let findings = compared(&old, &new);
    assert_eq!(verdict(&findings, "cpu_s at the end"), Judgement::Undecided);
    assert!(!alarms(&findings));
    let dir = tempfile::tempdir().unwrap();
    let [a, b, junit] = ["a", "b", "junit.xml"].map(|name| dir.path().join(name));
    stored(&a, &old);
    stored(&b, &new);
    let mut command = Command::cargo_bin("ssvm-bench").unwrap();
    command.env_remove("GITHUB_STEP_SUMMARY").arg("compare").args([&a, &b]).arg("--junit").arg(&junit);
    let text = String::from_utf8(command.assert().code(0).get_output().stdout.clone()).unwrap();
    assert!(text.contains("metrics: 1 same, 2 undecided"), "{text}");
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains(r#"failures="0" errors="0" skipped="2""#) && xml.contains("undecided: set"), "{xml}");
}
