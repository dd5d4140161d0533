//! Solvers and problems of the caller's crate: an edited one is run again in the same folder, and the gate sees the change.

use std::path::Path;
use std::process::Command;

use crate::common::sessions::{options, run_with};
use ssvm_bench::experiment::{Experiment, Plan};
use ssvm_bench::gate::baseline::Provenance;
use ssvm_bench::gate::{Baseline, counters, measure};
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::identity::program_version;
use ssvm_bench::{
    Catalog, DataDir, Harness, Iterate, Iteration, Meter, Metered, Params, Problem, Solution, Solver, SolverInfo,
    SolverRow,
};

/// BCFW in file order that leaves out every `skip`-th term, as an author might edit it.
struct Cyclic {
    version: Option<&'static str>,
    skip: usize,
}

impl SolverRow for Cyclic {
    fn info(&self) -> SolverInfo {
        SolverInfo { name: "cyclic", about: "BCFW in file order", ..SolverInfo::PLAIN }
    }

    fn version(&self) -> Option<String> {
        self.version.map(str::to_owned)
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, _: &Params, _: u64) -> Box<dyn Solver + 'p> {
        Box::new(State { now: Iterate::new(problem), skip: self.skip })
    }
}

struct State<'p, P: Problem> {
    now: Iterate<'p, P>,
    skip: usize,
}

impl<P: Problem> Solver for State<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> std::result::Result<Iteration, ssvm_bench::Interrupt> {
        for i in (0..self.now.problem.terms()).filter(|i| (i + 1) % self.skip != 0) {
            self.now.exact_step(i, meter, None)?;
        }
        Ok(Iteration::Complete)
    }

    fn solution(&self) -> Solution {
        self.now.solution()
    }

    fn dual(&self) -> f64 {
        self.now.dual()
    }
}

const CONFIG: &str = "name = 'own'\nrepeats = 2\nclock = 'virtual'\n[budget]\niterations = 20\n[[dataset]]\n\
    name = 'usps-synth:n=30'\n[[solver]]\nname = 'cyclic'\n[[solver]]\nname = 'bcfw'\n";

/// Runs a first build into a folder and then a second; the runs that the second made, and whether the gate fails.
fn edited(first: Cyclic, second: Cyclic) -> (u64, bool) {
    let dir = tempfile::tempdir().unwrap();
    run_with(CONFIG, &options(dir.path(), 1), &Harness::standard().solver(first)).unwrap();
    let records = || Store::open(dir.path()).unwrap().scan(Folder::Runs).unwrap().records;
    let before = records();
    let baseline = Baseline::of(&measure::cells(&before).unwrap(), &[], Provenance::default()).unwrap();
    let finished = run_with(CONFIG, &options(dir.path(), 1), &Harness::standard().solver(second)).unwrap();
    let after = records();
    assert_eq!(after.len(), 4);
    let findings = counters::judge(&baseline, &measure::cells(&after).unwrap(), &[]);
    (finished.report.finished, findings.iter().any(|finding| finding.judgement.fails()))
}

#[test]
fn an_edited_solver_is_run_again_and_fails_the_gate_in_the_same_folder() {
    let row = |version, skip| Cyclic { version: Some(version), skip };
    assert_eq!(edited(row("1", 100), row("2", 10)), (2, true), "its own runs only, and the gate sees them");
    assert_eq!(edited(row("1", 100), row("2", 100)), (2, false), "the same numbers pass");
    // What every edit came to before versions were part of the identity.
    assert_eq!(edited(row("1", 100), row("1", 10)), (0, false));
}

#[test]
fn a_solver_without_a_version_has_that_of_the_executable_and_the_others_have_none() {
    let harness = Harness::standard().solver(Cyclic { version: None, skip: 100 });
    let experiment = Experiment::parse(Path::new("own.toml"), CONFIG, harness.solvers()).unwrap();
    let plan = Plan::new(&experiment, &harness, &DataDir::resolve(None)).unwrap();
    for run in &plan.runs {
        let own = run.settings().solver.name == "cyclic";
        assert_eq!(run.identity.solver_version, own.then(|| program_version().unwrap()));
        assert_eq!(run.identity.problem_version, None);
    }
}

/// A byte behind the end of an executable makes it another build that does the same.
#[test]
fn another_build_of_a_program_runs_its_own_solver_again() {
    let dir = tempfile::tempdir().unwrap();
    let program = crate::examples::example("solver");
    let other = dir.path().join("other");
    std::fs::copy(&program, &other).unwrap();
    let run = |program: &Path| {
        let run = Command::new(program)
            .args(["run", "examples/solver.toml", "--jobs", "1", "--only", "*/bcfw*", "--format", "json", "--out"])
            .arg(dir.path().join("out"))
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        (report["planned"].as_u64().unwrap(), report["finished"].as_u64().unwrap())
    };
    let (planned, finished) = run(&program);
    assert_eq!(planned, finished);
    assert_eq!(run(&other), (planned, 0), "the same executable under another name");
    let mut bytes = std::fs::read(&program).unwrap();
    bytes.push(0);
    std::fs::write(&other, bytes).unwrap();
    let (_, again) = run(&other);
    assert!(0 < again && again < planned, "{again} of {planned}: only those of its own solver");
}
