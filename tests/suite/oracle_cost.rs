//! The oracle cost: a run counts k seconds for each second inside the oracle. A solver that never reads the clock is run once
//! and projected to every other cost. Tables of ratios have the same bits wherever they are made.

use std::path::Path;

use crate::common::records;
use crate::common::sessions::{self, experiment};
use ssvm::drive::AnyProblem;
use ssvm_bench::dataset::Request;
use ssvm_bench::experiment::Experiment;
use ssvm_bench::experiment::Plan;
use ssvm_bench::run::session::Finished;
use ssvm_bench::store::identity::Identity;
use ssvm_bench::store::keys::ProblemKey;
use ssvm_bench::store::{Environment, Measured, RunRecord, Status};
use ssvm_bench::study::Study;
use ssvm_bench::study::break_even::BreakEven;
use ssvm_bench::{
    Budget, Cadence, Catalog, ClockKind, DataDir, Execution, Harness, OracleCost, Quiet, RunSettings, SolverSpec,
    TracePoint,
};

fn run(text: &str, out: &Path, jobs: usize) -> Finished {
    sessions::run(text, out, jobs).unwrap()
}

fn cost(text: &str) -> OracleCost {
    text.parse().unwrap()
}

fn open(name: &str) -> std::sync::Arc<dyn AnyProblem> {
    Harness::standard().open(&Request::new(name, &DataDir::resolve(None))).unwrap().problem
}

fn settings(solver: &str, clock: ClockKind, at: &str, budget: &Budget) -> RunSettings {
    RunSettings {
        solver: SolverSpec::new(solver),
        seed: 3,
        clock,
        oracle_cost: cost(at),
        budget: budget.clone(),
        evaluate: Cadence::Every(1),
    }
}

/// A run as a record.
fn record(problem: &dyn AnyProblem, settings: &RunSettings) -> RunRecord {
    let outcome = problem.run(settings, &Execution::default(), &mut Quiet).unwrap();
    RunRecord {
        identity: Identity {
            problem: ProblemKey {
                dataset: "d".to_owned(),
                checksum: "c".to_owned(),
                lambda: problem.lambda(),
                pairwise_weight: None,
            },
            settings: settings.clone(),
            cost_model: None,
            code_version: "0".to_owned(),
            solver_version: None,
            problem_version: None,
        },
        repeat: 0,
        environment: Environment::default(),
        status: Status::Done(outcome.stop),
        measured: Measured::of(outcome, 0.0, Vec::new()).unwrap(),
    }
}

/// What must not differ between a run and a projection: everything but the CPU's time.
fn points(record: &RunRecord) -> Vec<TracePoint> {
    record.points().iter().map(|point| TracePoint { cpu_s: 0.0, ..point.clone() }).collect()
}

#[test]
fn a_projection_has_the_bits_of_a_run() {
    let catalog = Harness::standard();
    let clockless = |info: &&ssvm_bench::SolverInfo| {
        let spec = SolverSpec::new(info.name);
        !(info.reads_clock)(&info.resolve(&spec, catalog.solvers()).unwrap())
    };
    let names: Vec<&str> = catalog.solvers().iter().filter(clockless).map(|info| info.name).collect();
    assert!(names.contains(&"fw") && names.contains(&"bcfw-avg") && names.contains(&"one-slack"), "{names:?}");
    assert!(!names.contains(&"mp-bcfw") && !names.contains(&"mp-bcfw-gap"), "{names:?}");
    let prices = ["1/16", "0.07", "1", "3.7", "1024"];
    for dataset in ["usps-synth:n=40", "ocr-synth:n=15", "horseseg-synth:n=6", "stanford-synth:n=3"] {
        let problem = open(dataset);
        for solver in &names {
            let run = |at: &str| record(&*problem, &settings(solver, ClockKind::VIRTUAL, at, &Budget::iterations(4)));
            for from in ["1/16", "1", "3.7"] {
                let base = run(from);
                for to in prices {
                    let made = run(to);
                    let projected = base.projected(made.identity.clone());
                    assert_eq!(points(&projected), points(&made), "{dataset} {solver} from {from} to {to}");
                    assert_eq!((&projected.status, projected.run_id()), (&made.status, made.run_id()));
                }
            }
        }
    }
}

#[test]
fn a_fixed_number_of_passes_never_reads_the_clock() {
    let catalog = Harness::standard();
    let info = catalog.solvers().iter().find(|info| info.name == "mp-bcfw").unwrap();
    let spec = |passes: &str| info.spec(&[("passes", passes.to_owned())], catalog.solvers()).unwrap();
    let reads = |passes: &str| (info.reads_clock)(&info.resolve(&spec(passes), catalog.solvers()).unwrap());
    assert!(reads("auto") && !reads("3") && !reads("0"));
}

#[test]
fn a_limit_of_time_is_run_at_every_oracle_cost() {
    let limited = CONFIG.replace("iterations = 30", "iterations = 30\ntime_s = 0.01\nuntil = 'all'");
    let plan = Plan::new(&experiment(&limited), &Harness::standard(), &DataDir::resolve(None)).unwrap();
    assert!(plan.runs.iter().all(|run| run.projected_from.is_none()), "it ends the same steps elsewhere");
}

#[test]
fn a_cheap_oracle_on_the_cpu_clock_never_turns_it_back() {
    let problem = open("horseseg-synth:n=20");
    let busy = std::sync::atomic::AtomicBool::new(true);
    std::thread::scope(|scope| {
        // Others on the machine: what they take inside calls is no time of the run.
        for _ in 0..4 {
            scope.spawn(|| {
                while busy.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for at in ["1/16", "1/1024", "1"] {
            let run = record(&*problem, &settings("bcfw", ClockKind::CPU, at, &Budget::iterations(20)));
            let mut before = 0.0;
            for point in run.points() {
                assert!(point.time_s > before && point.oracle_time_s >= 0.0, "{at}: {} after {before}", point.time_s);
                assert!(point.oracle_time_s <= point.time_s, "{at}: {} of {}", point.oracle_time_s, point.time_s);
                before = point.time_s;
            }
        }
        busy.store(false, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn the_slope_rule_and_budgets_read_the_clock_with_its_oracle_cost() {
    let problem = open("ocr-synth:n=30");
    let run = |at: &str, budget: &Budget| record(&*problem, &settings("mp-bcfw", ClockKind::VIRTUAL, at, budget));
    let passes = |at: &str| run(at, &Budget::iterations(6)).points().last().unwrap().approx_passes;
    assert!(passes("1/16") < passes("16") && passes("16") < passes("1024"), "a costly oracle makes passes worth more");
    let limit = Budget { time_s: Some(2e-3), ..Budget::default() };
    let (cheap, costly) = (run("1/4", &limit), run("64", &limit));
    let last = |record: &RunRecord| record.points().last().unwrap().clone();
    assert!(last(&cheap).oracle_calls > 4 * last(&costly).oracle_calls);
    for record in [&cheap, &costly] {
        assert!(last(record).time_s >= 2e-3 && last(record).time_s < 2.5e-3, "{}", last(record).time_s);
    }
}

#[test]
fn wall_and_cpu_clocks_are_charged_too() {
    let problem = open("horseseg-synth:n=20");
    for clock in [ClockKind::WALL, ClockKind::CPU] {
        let budget = Budget::iterations(12);
        let costly = record(&*problem, &settings("mp-bcfw", clock, "1000", &budget));
        let mut before = 0.0;
        for point in costly.points() {
            assert!(point.time_s > before, "{} never goes back", clock.name());
            assert!(point.oracle_time_s <= point.time_s * (1.0 + 1e-12));
            before = point.time_s;
        }
        let last = costly.points().last().unwrap();
        let own = costly.measured.totals.oracle_wall_s;
        let ratio = last.oracle_time_s / own;
        // CPU time is less than wall time on a busy machine, and its readings are inside the calls.
        assert!(
            ratio > if clock == ClockKind::WALL { 999.0 } else { 10.0 } && ratio < 1200.0,
            "{}: {ratio} times the time that was measured",
            clock.name()
        );
    }
}

const CONFIG: &str = "name = 'prices'\nrepeats = 5\nclock = 'virtual'\noracle_cost = ['1/16', 1, 16, 256]\n\
    [budget]\niterations = 30\n[[dataset]]\nname = 'usps-synth:n=60'\n[[dataset]]\nname = 'ocr-synth:n=20'\n\
    oracle_cost = [1, 64]\n[[solver]]\nname = 'bcfw'\n[[solver]]\nname = 'mp-bcfw'\n[[solver]]\nname = 'bcfw-gap'\n";

fn table(out: &Path) -> BreakEven {
    BreakEven::of(&Study::open(out, &Harness::standard(), &[]).unwrap())
}

#[test]
fn a_list_of_oracle_costs_is_a_cell_each_and_only_clock_readers_are_run() {
    let plan = Plan::new(&experiment(CONFIG), &Harness::standard(), &DataDir::resolve(None)).unwrap();
    assert_eq!(plan.runs.len(), 5 * 3 * (4 + 2));
    let made: Vec<String> =
        plan.runs.iter().filter(|run| run.projected_from.is_none()).map(|run| run.label()).collect();
    assert_eq!(made.len(), 5 * (2 + 4 + 2 + 2), "{made:?}");
    let own = plan.runs.iter().find(|run| run.settings().oracle_cost == OracleCost::ONE).unwrap();
    let alone = CONFIG.replace("oracle_cost = ['1/16', 1, 16, 256]\n", "").replace("oracle_cost = [1, 64]\n", "");
    let without = Plan::new(&experiment(&alone), &Harness::standard(), &DataDir::resolve(None)).unwrap();
    assert!(without.runs.iter().any(|run| run.run_id == own.run_id), "price 1 keeps its identity");
}

#[test]
fn tables_have_the_same_bits_at_any_number_of_workers_and_after_a_break() {
    let dir = tempfile::tempdir().unwrap();
    let (one, three) = (dir.path().join("one"), dir.path().join("three"));
    let finished = run(CONFIG, &one, 1);
    assert!(finished.report.complete() && finished.report.finished == 90);
    run(CONFIG, &three, 3);
    assert_eq!(table(&one), table(&three));
    let before = table(&one);
    assert_eq!(before.sets.len(), 2);
    assert_eq!(before.sets[0].costs, [1.0 / 16.0, 1.0, 16.0, 256.0]);
    // Every second file is lost, also of projections whose run is still there: the next call makes them again.
    let mut files: Vec<_> = std::fs::read_dir(one.join("runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 90);
    files.iter().step_by(2).for_each(|file| std::fs::remove_file(file).unwrap());
    let again = run(CONFIG, &one, 2);
    assert!(again.report.complete() && again.report.already == 45 && again.report.finished == 45);
    assert_eq!(table(&one), before);
}

#[test]
fn ratios_of_a_solver_that_never_reads_the_clock_follow_from_its_times() {
    let dir = tempfile::tempdir().unwrap();
    run(&CONFIG.replace("iterations = 30", "iterations = 400"), dir.path(), 2);
    let results = Study::open(dir.path(), &Harness::standard(), &[]).unwrap();
    assert!(results.own.records().all(|record| record.settings().oracle_cost == OracleCost::ONE));
    let table = BreakEven::of(&results);
    let row = table.sets[0].rows.iter().find(|row| row.solver == "bcfw-gap").unwrap();
    // As the oracle becomes all that counts, the ratio of times becomes that of calls: it must level off.
    let values: Vec<f64> = row.ratios.iter().map(|ratio| ratio.unwrap().exact().unwrap()).collect();
    let change = |a: usize, b: usize| (values[a] / values[b]).ln().abs();
    assert!(change(2, 3) < 0.2 * change(0, 1).max(0.05), "{values:?}");
    let share = table.sets[0].share;
    assert!(share > 0.3 && share < 0.95, "{share}");
}

#[test]
fn the_papers_oracle_cost_gives_bcfw_the_papers_share() {
    let text = "name = 'regime'\nrepeats = 5\nclock = 'virtual'\noracle_cost = [1, 'paper']\n[budget]\niterations = 12\n\
        [[dataset]]\nname = 'usps-synth:n=60'\n[[dataset]]\nname = 'ocr-synth:n=20'\n\
        [[dataset]]\nname = 'horseseg-synth:n=10'\n[[solver]]\nname = 'bcfw'\n[[solver]]\nname = 'mp-bcfw'\n";
    let dir = tempfile::tempdir().unwrap();
    run(text, dir.path(), 2);
    let results = Study::open(dir.path(), &Harness::standard(), &[]).unwrap();
    assert_eq!(results.regimes.len(), 3);
    for (regime, paper) in results.regimes.iter().zip([0.15, 0.70, 0.99]) {
        let (price, share) = regime.runs.expect("runs at the paper's price");
        assert!((share / (1.0 - share) / (paper / (1.0 - paper)) - 1.0).abs() < 0.3, "{}: {share}", regime.dataset);
        assert!((price.factor() / regime.solved).ln().abs() < 0.3 && !price.is_one());
    }
    let claims = ssvm_bench::study::claims::check(&results);
    for claim in claims.iter().filter(|claim| claim.dataset.contains("synth")) {
        let regime = claim
            .regime
            .as_ref()
            .unwrap_or_else(|| panic!("{} on {} has no second column", claim.claim, claim.dataset));
        assert!(regime.oracle_cost != 1.0);
    }
    let share =
        claims.iter().find(|c| c.number == 3 && c.dataset.starts_with("horseseg") && c.solver == "bcfw").unwrap();
    assert_eq!(share.regime.as_ref().unwrap().verdict, ssvm_bench::study::claims::Verdict::ByConstruction, "{share:?}");
    let text = ssvm_bench::render::tables::claims::summary(&claims);
    assert!(text.contains("(3 by construction, not counted)\nby the cost model"), "{text}");
    assert!(text.contains("in the paper's regime:") && text.contains("on this machine:"), "{text}");
    let program = env!("CARGO_BIN_EXE_ssvm-bench");
    let made = std::process::Command::new(program).arg("report").arg(dir.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    // Two sentences of the terminal are one on the page.
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains("not measured; in the paper's regime: "));
}

/// At another λ the solver takes other steps, and spends another share of its time in the oracle.
#[test]
fn every_lambda_has_the_paper_s_cost_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    for lambda in ["1.0", "0.0001"] {
        let text = format!(
            "name = 'two'\nrepeats = 1\nclock = 'virtual'\noracle_cost = 'paper'\n[budget]\niterations = 3\n\
             [[dataset]]\nname = 'usps-synth:n=60'\nlambda = {lambda}\n[[solver]]\nname = 'bcfw'\n"
        );
        let config = dir.path().join("c.toml");
        std::fs::write(&config, text).unwrap();
        let mut run = crate::common::program();
        let output = run.arg("run").arg(&config).arg("--out").arg(dir.path().join("out")).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("the paper's oracle cost on the virtual clock is"), "λ = {lambda}: {told}");
    }
    let manifest = ssvm_bench::store::folder::Store::open(dir.path().join("out")).unwrap().manifest().unwrap();
    assert_eq!(manifest.paper_costs.0.len(), 2);
}

/// BCFW's share of a whole run is not that of its first ten iterations.
#[test]
fn the_papers_cost_is_that_of_runs_of_the_same_length() {
    let text = "name = 'regime'\nrepeats = 2\nclock = 'virtual'\noracle_cost = 'paper'\n[budget]\niterations = 100\n\
        [[dataset]]\nname = 'stanford-synth:n=10'\n[[solver]]\nname = 'bcfw'\n";
    let dir = tempfile::tempdir().unwrap();
    run(text, dir.path(), 2);
    let regimes = Study::open(dir.path(), &Harness::standard(), &[]).unwrap().regimes;
    let (cost, _) = regimes[0].runs.expect("the runs are in the regime");
    // The cost of the runs has two digits.
    let off = (cost.factor() / regimes[0].solved).ln().abs();
    assert!(off < 0.06, "the runs have k = {cost}, and say {}", regimes[0].solved);
}

#[test]
fn nothing_is_solved_for_a_folder_in_which_another_session_works() {
    let text = "name = 'regime'\nrepeats = 1\nclock = 'virtual'\noracle_cost = 'paper'\n[budget]\niterations = 3\n\
        [[dataset]]\nname = 'usps-synth:n=60'\n[[solver]]\nname = 'bcfw'\n";
    let dir = tempfile::tempdir().unwrap();
    let (config, out) = (dir.path().join("c.toml"), dir.path().join("out"));
    std::fs::write(&config, text).unwrap();
    let (_, _lock) = ssvm_bench::store::folder::Store::create(&out).unwrap();
    let mut run = crate::common::program();
    let output = run.arg("run").arg(&config).arg("--out").arg(&out).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{errors}");
    assert!(!errors.contains("the paper's oracle cost"), "{errors}");
}

#[test]
fn planning_solves_no_cost_and_says_that_the_first_run_does() {
    let text = "name = 'regime'\nrepeats = 2\nclock = 'virtual'\noracle_cost = [1, 'paper']\n[budget]\niterations = 3\n\
        [[dataset]]\nname = 'usps-synth:n=60'\n[[solver]]\nname = 'bcfw'\n[[solver]]\nname = 'mp-bcfw'\n";
    let dir = tempfile::tempdir().unwrap();
    let (config, out) = (dir.path().join("c.toml"), dir.path().join("out"));
    std::fs::write(&config, text).unwrap();
    let plan = Plan::new(&experiment(text), &Harness::standard(), &DataDir::resolve(None)).unwrap();
    assert_eq!((plan.runs.len(), plan.undetermined.len(), plan.paper_costs.0.len()), (4, 4, 0));
    let program = |command: &str| {
        let program = env!("CARGO_BIN_EXE_ssvm-bench");
        let mut run = std::process::Command::new(program);
        let output =
            run.env("COLUMNS", "1000").args(command.split(' ')).arg(&config).arg("--out").arg(&out).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let before = program("run --dry-run");
    assert!(
        before.contains("not known yet: solved by the first run") && before.contains("mp-bcfw k=paper"),
        "{before}"
    );
    assert!(before.contains("8 runs, 0 done, 8 to do"), "{before}");
    let json = program("run --dry-run --format json");
    assert!(json.contains("\"pending\":8,\"planned\":8,"), "{json}");
    assert!(program("run").contains("the paper's oracle cost on the virtual clock is"));
    let after = program("run --dry-run");
    assert!(!after.contains("not known yet") && after.contains("8 runs, 8 done"), "{after}");
}

#[test]
fn bad_oracle_costs_are_refused_at_their_line() {
    let refusal = |value: &str| {
        let text = format!(
            "name = 'x'\noracle_cost = {value}\n[budget]\niterations = 1\n[[dataset]]\nname = 'usps-synth'\n[[solver]]\nname = 'bcfw'\n"
        );
        Experiment::parse(Path::new("x.toml"), &text, Harness::standard().solvers()).unwrap_err().to_string()
    };
    for bad in ["0", "-1", "1e300", "1e-300", "'x'", "nan", "inf", "true", "[1, 0]", "'1/0'", "{ a = 1 }"] {
        let message = refusal(bad);
        assert!(message.starts_with("x.toml:2") && message.contains("oracle_cost must be between"), "{bad}: {message}");
    }
    assert!(refusal("[]").contains("no value") && refusal("[4, 4]").contains("twice"));
    let own = "name = 'x'\noracle_cost = 'paper'\n[budget]\niterations = 1\n[[dataset]]\nname = 'libsvm:tests/fixtures/none'\n[[solver]]\nname = 'bcfw'\n";
    assert!(Plan::new(&experiment(own), &Harness::standard(), &DataDir::resolve(None)).is_err());
}

/// Five seeds of a solver at an oracle cost. The relative gap falls a decade in ten iterations, from 1 down to `least`; an
/// iteration takes `seconds`.
fn falling(solver: &str, at: &str, seconds: f64, least: f64) -> Vec<RunRecord> {
    let run = |repeat: u64| {
        let gap = |k: u64| 10f64.powf(-(k as f64) / 10.0);
        let whole = (0..=40).filter(|k| gap(*k) >= 0.999 * least);
        let pace = seconds * (1.0 + 0.01 * repeat as f64);
        let points = whole.map(|k| records::point(k + 1, pace * (k + 1) as f64, 1.0 + gap(k), 1.0));
        let mut record = records::run("usps", solver, repeat, points.collect());
        record.identity.settings.clock = ClockKind::VIRTUAL;
        record.identity.settings.oracle_cost = cost(at);
        record
    };
    (0..5).map(run).collect()
}

/// BCFW reaches 1e-3 in 31 iterations at any oracle cost; FW ends at 1e-1 after 11, each of them twice as long at cost 1 and
/// half as long at cost 16.
fn never_reached() -> BreakEven {
    let mut all = [falling("bcfw", "1", 1.0, 1e-3), falling("bcfw", "16", 1.0, 1e-3)].concat();
    all.extend([falling("fw", "1", 4.0, 1e-1), falling("fw", "16", 0.25, 1e-1)].concat());
    all.extend([falling("mp-bcfw", "1", 2.0, 1e-3), falling("mp-bcfw", "16", 0.5, 1e-3)].concat());
    BreakEven::of(&records::results(all))
}

#[test]
fn a_solver_that_never_reaches_a_gap_is_not_called_faster() {
    let table = never_reached();
    let words = |solver: &str, target: f64| {
        let row = table.sets[0].rows.iter().find(|row| row.solver == solver && row.target == target).unwrap();
        (ssvm_bench::render::tables::breakeven::crossings(&table.sets[0].costs, row), row.crossings.len())
    };
    let (fw, crossings) = words("fw", 1e-3);
    assert!(!fw.contains("faster") && crossings == 0, "FW ended before 1e-3: {fw}");
    let (multi, crossings) = words("mp-bcfw", 1e-3);
    assert!(multi.starts_with("slower at 1, faster at 16; equal at 4") && crossings == 1, "both reached it: {multi}");
}

#[test]
fn a_busy_machine_makes_no_solver_faster() {
    use ssvm_bench::render::tables::breakeven;
    use ssvm_bench::study::break_even::{CostGiven, advise};
    let table = |core: f64| {
        let mut all = [falling("bcfw", "1", 1.0, 1e-3), falling("bcfw", "16", 1.0, 1e-3)].concat();
        all.extend([falling("mp-bcfw", "1", 2.0, 1e-3), falling("mp-bcfw", "16", 0.5, 1e-3)].concat());
        for record in &mut all {
            record.identity.settings.clock = ClockKind::WALL;
            (record.measured.totals.wall_s, record.measured.totals.cpu_s) = (2.0, 2.0 * core);
        }
        BreakEven::of(&records::results(all))
    };
    let (quiet, busy) = (table(1.0), table(0.5));
    assert!(printed(&quiet, "MP-BCFW", "1e-3").contains("slower at 1, faster at 16; equal at 4"));
    let row = printed(&busy, "MP-BCFW", "1e-3");
    assert!(row.contains("not judged") && !row.contains("faster") && !row.contains("equal"), "{row}");
    let reason = "the machine was busy: 20 of 20 runs on USPS got less than 90 % of a core";
    let told = |text: String| text.replace('\n', " ").contains(reason);
    assert!(told(breakeven::text(&busy, 2000)) && !told(breakeven::text(&quiet, 2000)));
    let advice = breakeven::advice(&advise(&busy.sets[0], CostGiven::Factor(16.0)), 2000);
    assert!(advice.contains("1e-3: not judged") && told(advice.clone()), "{advice}");
    let advice = breakeven::advice(&advise(&quiet.sets[0], CostGiven::Factor(16.0)), 2000);
    assert!(advice.contains("1e-3: MP-BCFW\n"), "{advice}");
}

#[test]
fn the_confidence_and_the_number_of_comparisons_are_stated() {
    let text = ssvm_bench::render::tables::breakeven::table(&never_reached()).text(2000).replace('\n', " ");
    let note = " comparisons, each with a 93.75 % interval (smallest to largest of 5); not corrected for their number.";
    assert!(text.contains(note), "{text}");
    let shown = assert_cmd::Command::cargo_bin("ssvm-bench").unwrap();
    let output = { shown }.args(["advise", "--dataset", "ocr-synth", "--share", "0.7"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace('\n', " ");
    assert!(text.contains("not corrected for their number"), "{text}");
    assert!(text.contains("Verdicts and intervals are those of an earlier version"), "{text}");
}

#[test]
fn advice_ranks_solvers_that_ended_before_the_gap_after_the_others_and_says_so() {
    use ssvm_bench::render::tables::breakeven;
    use ssvm_bench::study::break_even::{CostGiven, advise};
    let advice = advise(&never_reached().sets[0], CostGiven::Factor(16.0));
    let choice = advice.targets.iter().find(|choice| choice.target == 1e-3).unwrap();
    let names: Vec<&str> = choice.solvers.iter().map(|one| one.solver.as_str()).collect();
    assert_eq!(names, ["mp-bcfw", "bcfw", "fw"]);
    // FW was stopped before MP-BCFW reached the gap: nothing shows it to be slower.
    let text = breakeven::advice(&advice, 2000);
    assert!(text.contains("1e-3: undecided: MP-BCFW reached it, 1 other ended too early to be compared\n"), "{text}");
    assert!(text.contains("only a bound is known: FW"), "{text}");
}

/// The row of a solver and a gap in the printed table.
fn printed(table: &BreakEven, solver: &str, target: &str) -> String {
    let text = ssvm_bench::render::tables::breakeven::table(table).markdown();
    let is_row = |line: &&str| line.contains(&format!("| {solver} ")) && line.contains(&format!("| {target} "));
    text.lines().find(is_row).unwrap_or_else(|| panic!("no row of {solver} to {target}:\n{text}")).to_owned()
}

/// Five seeds of BCFW and FW per oracle cost; FW takes `pace` of BCFW's time per iteration, another one for each seed.
fn table_of(costs: &[(&str, Option<[f64; 5]>, f64)]) -> BreakEven {
    let mut all = Vec::new();
    for (at, paces, least) in costs {
        all.extend(falling("bcfw", at, 1.0, 1e-3));
        let Some(paces) = paces else { continue };
        for (record, pace) in falling("fw", at, 1.0, *least).into_iter().zip(paces) {
            let mut record = record;
            record.measured.points.iter_mut().for_each(|point| point.time_s *= pace);
            all.push(record);
        }
    }
    BreakEven::of(&records::results(all))
}

#[test]
fn one_measured_cost_of_three_says_nothing_about_the_others() {
    let row = printed(&table_of(&[("1", None, 1e-3), ("4", Some([2.0; 5]), 1e-3), ("16", None, 1e-3)]), "FW", "1e-3");
    assert!(row.contains("slower at 4") && !row.contains("every"), "{row}");
}

#[test]
fn bounds_that_prove_a_crossing_show_it() {
    // FW ends at 1e-1 after ten times BCFW's whole time at cost 1, and reaches 1e-3 in half of BCFW's time at cost 16.
    let row = printed(&table_of(&[("1", Some([10.0; 5]), 1e-1), ("16", Some([0.5; 5]), 1e-3)]), "FW", "1e-3");
    assert!(row.contains("slower at 1, faster at 16") && !row.contains("no crossing"), "{row}");
}

#[test]
fn a_cost_whose_interval_covers_one_is_not_called_faster() {
    let paces = [[2.0; 5], [0.7, 0.8, 0.9, 1.2, 1.3], [0.5; 5]];
    let [one, four, sixteen] = paces.map(Some);
    let row = printed(&table_of(&[("1", one, 1e-3), ("4", four, 1e-3), ("16", sixteen, 1e-3)]), "FW", "1e-3");
    assert!(row.contains("slower at 1, undecided at 4, faster at 16") && !row.contains("faster from"), "{row}");
    assert!(row.contains("equal at "), "the crossing is estimated all the same: {row}");
}

#[test]
fn a_bound_and_its_interval_never_contradict_each_other() {
    let text = ssvm_bench::render::tables::breakeven::table(&never_reached()).text(2000);
    let bounds: Vec<&str> =
        text.split('≥').skip(1).map(|rest| rest.split_once(')').map_or(rest, |(cell, _)| cell)).collect();
    assert!(bounds.len() >= 2, "{text}");
    for bound in bounds {
        assert!([" (from ", " (open"].iter().any(|open| bound.contains(open)), "≥{bound}) has no interval");
        assert!(!bound.contains(" to "), "≥{bound}) has an upper end");
    }
}

#[test]
fn bounds_are_no_medians_in_the_figure() {
    let mut all = [falling("bcfw", "1", 1.0, 1e-3), falling("bcfw", "16", 1.0, 1e-3)].concat();
    all.extend([falling("fw", "1", 4.0, 1e-1), falling("fw", "16", 0.25, 1e-1)].concat());
    let (figures, _) = crate::common::hand::figures(&records::results(all), &[]).unwrap();
    let svg = &figures.iter().find(|figure| figure.name == "breakeven").unwrap().svg;
    assert!(svg.contains("triangle = bound"), "the legend explains bounds");
}

#[test]
fn advice_names_the_fastest_by_pairs_and_not_by_overlap() {
    use ssvm_bench::study::break_even::{CostGiven, advise};
    // Seeds differ by a factor of 3, and in each of them MP-BCFW takes 0.8 of FW's time: the intervals over BCFW overlap.
    let mut all = Vec::new();
    for at in ["1", "16"] {
        all.extend(falling("bcfw", at, 1.0, 1e-3));
        for (solver, factor) in [("fw", 0.5), ("mp-bcfw", 0.4)] {
            for (record, seed) in falling(solver, at, factor, 1e-3).into_iter().zip([0.4, 0.6, 0.8, 1.0, 1.2]) {
                let mut record = record;
                record.measured.points.iter_mut().for_each(|point| point.time_s *= seed);
                all.push(record);
            }
        }
    }
    let table = BreakEven::of(&records::results(all));
    let advice = advise(&table.sets[0], CostGiven::Factor(16.0));
    let text = ssvm_bench::render::tables::breakeven::advice(&advice, 2000);
    assert!(text.contains("1e-3: MP-BCFW\n"), "MP-BCFW is faster than FW in every pair:\n{text}");
}

#[test]
fn nothing_is_advised_for_a_cost_far_beyond_the_table() {
    use ssvm_bench::render::tables::breakeven;
    use ssvm_bench::study::break_even::{CostGiven, advise};
    let mut all = Vec::new();
    for at in ["1", "16"] {
        all.extend(falling("bcfw", at, 1.0, 1e-3));
        all.extend(falling("mp-bcfw", at, 0.4, 1e-3));
    }
    let table = BreakEven::of(&records::results(all));
    let text = |factor: f64| breakeven::advice(&advise(&table.sets[0], CostGiven::Factor(factor)), 2000);
    for near in [0.95, 1.0, 4.0, 16.0, 17.0] {
        assert!(text(near).contains("1e-3: MP-BCFW"), "{near}:\n{}", text(near));
    }
    for far in [1e-6, 0.5, 20.0, 1e6] {
        assert!(
            text(far).contains("1e-3: not judged") && text(far).contains("not judged: nothing was run at this cost"),
            "{}",
            text(far)
        );
    }
}

#[test]
fn the_costs_of_a_verdict_are_named() {
    let row = printed(&table_of(&[("1", Some([0.5; 5]), 1e-3), ("16", Some([0.4; 5]), 1e-3)]), "FW", "1e-3");
    assert!(row.contains("faster at 1 to 16") && !row.contains("every oracle cost"), "{row}");
}

#[test]
fn three_repeats_are_not_judged() {
    use ssvm_bench::render::tables::breakeven;
    use ssvm_bench::study::break_even::{CostGiven, advise};
    let mut all = Vec::new();
    for (at, pace) in [("1", 2.0), ("16", 0.5)] {
        all.extend(falling("bcfw", at, 1.0, 1e-3).into_iter().take(3));
        all.extend(falling("fw", at, pace, 1e-3).into_iter().take(3));
    }
    let table = BreakEven::of(&records::results(all));
    let few = "too few repeats for an interval (3 of at least 5)";
    let text = breakeven::table(&table).text(2000);
    assert!(text.matches(few).count() == 1 && !text.contains("undecided") && !text.contains("equal"), "{text}");
    let text = breakeven::advice(&advise(&table.sets[0], CostGiven::Factor(16.0)), 2000);
    assert!(text.matches(few).count() == 1 && !text.contains("significant"), "{text}");
}

#[test]
fn the_league_and_the_break_even_table_have_one_interval_for_the_same_pairs() {
    let paces = [1.56, 1.97, 1.61, 2.01, 1.75, 1.87];
    for turned in 0..paces.len() {
        let mut all = Vec::new();
        for (solver, at) in [("bcfw", "1"), ("mp-bcfw", "1"), ("bcfw", "16"), ("mp-bcfw", "16")] {
            // Seeds do not rise with the repeat.
            for (repeat, seed) in [17, 3, 11, 5, 29, 2].into_iter().enumerate() {
                let mut record = falling(solver, at, 1.0, 1e-3).remove(0);
                (record.repeat, record.identity.settings.seed) = (repeat as u64, seed);
                let pace = if solver == "bcfw" { 1.0 } else { paces[(repeat + turned) % paces.len()] };
                record.measured.points.iter_mut().for_each(|point| point.time_s *= pace);
                all.push(record);
            }
        }
        let study = records::results(all);
        let table = BreakEven::of(&study);
        let row = table.sets[0].rows.iter().find(|row| row.target == 1e-3).unwrap();
        // MP-BCFW's time over BCFW's is BCFW's speed-up over MP-BCFW, the reference of the league.
        let standing = ssvm_bench::study::league::League::of(&study.own).standings.remove(0);
        let at = standing.targets.iter().position(|target| *target == 1e-3).unwrap();
        let bcfw = standing.members.iter().find(|member| member.label == "bcfw").unwrap();
        assert_eq!(row.ratios[0], bcfw.scores[0].cells[at].speedup);
    }
}

#[test]
fn a_summary_file_gives_the_advice_of_its_folder() {
    use ssvm_bench::render::tables::breakeven;
    use ssvm_bench::study::Summary;
    use ssvm_bench::study::break_even::{CostGiven, advise};
    let mut all = [falling("bcfw", "1", 1.0, 1e-3), falling("bcfw", "16", 1.0, 1e-3)].concat();
    all.extend([falling("fw", "1", 4.0, 1e-1), falling("fw", "16", 0.25, 1e-1)].concat());
    all.extend([falling("mp-bcfw", "1", 2.0, 1e-3), falling("mp-bcfw", "16", 0.5, 1e-3)].concat());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("summary.json");
    let summary = Summary::of(&records::results(all), dir.path());
    summary.write(&path).unwrap();
    let read = Summary::read(&path).unwrap().breakeven;
    let text = |table: &BreakEven| {
        let advice = |cost: f64| breakeven::advice(&advise(&table.sets[0], CostGiven::Factor(cost)), 2000);
        breakeven::text(table, 2000) + &advice(1.0) + &advice(4.0) + &advice(16.0)
    };
    assert_eq!(text(&read), text(&summary.breakeven));
    assert!(text(&read).contains("1e-3: BCFW\n"), "{}", text(&read));

    // The format of ratios that had one value and a word for its bound.
    let json = std::fs::read_to_string(&path).unwrap();
    let mut old: serde_json::Value = serde_json::from_str(&json).unwrap();
    old["breakeven"]["sets"][0]["rows"][0]["ratios"][0] =
        serde_json::json!({ "time": { "value": 1.2, "low": 1.1, "high": 1.3 }, "bound": "none" });
    std::fs::write(&path, old.to_string()).unwrap();
    let error = Summary::read(&path).map(drop).unwrap_err().to_string();
    assert!(error.contains("older version") && error.contains("`ssvm-bench report`"), "{error}");
}

/// A solver that never reads the clock is run at one cost. At cost 1 the CPU clock does not measure the time inside the oracle.
#[test]
fn nothing_is_projected_from_what_the_cpu_clock_estimates() {
    let projected = |clock: &str| -> Vec<(String, Option<String>)> {
        let text = format!(
            "name = 'x'\nclock = '{clock}'\nrepeats = 1\noracle_cost = [1, 4, 16]\n[budget]\niterations = 2\n[[dataset]]\n\
             name = 'usps-synth:n=10'\n[[solver]]\nname = 'bcfw'\n"
        );
        let plan = Plan::new(&experiment(&text), &Harness::standard(), &DataDir::resolve(None)).unwrap();
        let base = |id: &String| plan.runs.iter().find(|run| run.run_id == *id).unwrap().settings().oracle_cost;
        let of = |run: &ssvm_bench::experiment::RunSpec| {
            (run.settings().oracle_cost.to_string(), run.projected_from.as_ref().map(|id| base(id).to_string()))
        };
        plan.runs.iter().map(of).collect()
    };
    let told = |pairs: &[(&str, Option<&str>)]| -> Vec<(String, Option<String>)> {
        pairs.iter().map(|(at, from)| ((*at).to_owned(), from.map(str::to_owned))).collect()
    };
    assert_eq!(projected("virtual"), told(&[("1", None), ("4", Some("1")), ("16", Some("1"))]));
    assert_eq!(projected("cpu"), told(&[("1", None), ("4", None), ("16", Some("4"))]));
}

#[test]
fn a_failed_run_is_a_row_at_every_oracle_cost() {
    let dir = tempfile::tempdir().unwrap();
    let text = "name = 'x'\nclock = 'virtual'\nrepeats = 2\noracle_cost = [1, 16]\ntimeout_s = 1e-9\n[budget]\n\
                iterations = 400\n[[dataset]]\nname = 'horseseg-synth:n=6'\n[[solver]]\nname = 'bcfw'\n";
    let finished = run(text, dir.path(), 1);
    let records = &finished.contents.records;
    let at = |k: &str| records.iter().filter(|record| record.settings().oracle_cost == cost(k)).count();
    assert_eq!((at("1"), at("16"), finished.report.failed.len()), (2, 2, 4), "{:?}", finished.report.failed);
    assert!(records.iter().all(|record| matches!(record.status, Status::TimedOut { .. })));
}

/// Five seeds in all, three at each cost: too few for an interval at any of them.
#[test]
fn pairs_of_different_oracle_costs_do_not_add_up() {
    let mut all = [falling("bcfw", "1", 1.0, 1e-3), falling("bcfw", "16", 1.0, 1e-3)].concat();
    all.extend(falling("fw", "1", 4.0, 1e-3).into_iter().take(3));
    all.extend(falling("fw", "16", 0.25, 1e-3).into_iter().skip(2));
    let table = BreakEven::of(&records::results(all));
    assert!(table.sets[0].rows.iter().all(|row| row.pairs == 3), "{:?}", table.sets[0].rows);
    let shown = ssvm_bench::render::tables::breakeven::table(&table);
    assert!(shown.note.contains("Not judged: too few repeats for an interval (3 of at least 5)"), "{}", shown.note);
    assert!(printed(&table, "FW", "1e-3").contains("not judged"));
}
