//! Solvers broken on purpose must fail the gate of counters, with a message that names data set, solver and metric;
//! the same solvers whole must pass it. The faults sit in a wrapper around a problem, not in the program. The same
//! faults in patched copies of the whole program: `scripts/sabotage.py verify`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::common;
use crate::common::runs;
use ssvm_bench::gate::baseline::Provenance;
use ssvm_bench::gate::{Baseline, Finding, Judgement, counters, measure};
use ssvm_bench::store::RunRecord;
use ssvm_bench::{Direction, Problem, Sink, SolverSpec, Value};

const REPEATS: u64 = 2;
const ITERATIONS: u64 = 25;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Nothing is wrong.
    None,
    /// One step in ten is not taken.
    ForgottenSteps,
    /// A plane that is already in the working set is not recognised.
    NoDuplicatesCheck,
    /// Planes leave after two inactive iterations instead of ten.
    EarlyEviction,
    /// A plane product does a tenth more work.
    SlowProduct,
}

/// A problem with a fault.
struct Broken<'p, P> {
    inner: &'p P,
    fault: Fault,
    steps: AtomicU64,
}

/// A plane that may refuse to be recognised.
#[derive(Clone, Default)]
struct Plane<T> {
    plane: T,
    unique: bool,
}

impl<T: PartialEq> PartialEq for Plane<T> {
    fn eq(&self, other: &Self) -> bool {
        !self.unique && !other.unique && self.plane == other.plane
    }
}

impl<P: Problem<Plane: 'static>> Problem for Broken<'_, P> {
    type Plane = Plane<P::Plane>;
    type Blocks = P::Blocks;
    type Work = P::Work;

    fn family(&self) -> &'static ssvm::problem::Family {
        self.inner.family()
    }
    fn terms(&self) -> usize {
        self.inner.terms()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn lambda(&self) -> f64 {
        self.inner.lambda()
    }

    fn blocks(&self) -> P::Blocks {
        self.inner.blocks()
    }

    fn work(&self) -> P::Work {
        self.inner.work()
    }

    fn oracle(&self, i: usize, w: &[f64], work: &mut P::Work, plane: &mut Self::Plane) -> Result<u64, ssvm::Fault> {
        plane.unique = self.fault == Fault::NoDuplicatesCheck;
        self.inner.oracle(i, w, work, &mut plane.plane)
    }

    fn load<'a>(
        &self,
        i: usize,
        w: &[f64],
        blocks: &P::Blocks,
        planes: impl Iterator<Item = &'a Self::Plane>,
        work: &mut P::Work,
    ) where
        Self::Plane: 'a,
    {
        self.inner.load(i, w, blocks, planes.map(|plane| &plane.plane), work);
    }

    fn value(&self, i: usize, plane: &Self::Plane, w: &[f64], work: &P::Work) -> f64 {
        self.inner.value(i, &plane.plane, w, work)
    }

    fn direction(&self, i: usize, blocks: &P::Blocks, plane: &Self::Plane, w: &[f64], work: &mut P::Work) -> Direction {
        let direction = self.inner.direction(i, blocks, &plane.plane, w, work);
        let forget = self.fault == Fault::ForgottenSteps && self.steps.fetch_add(1, Ordering::Relaxed) % 10 == 9;
        if forget { Direction { gain: 0.0, ..direction } } else { direction }
    }

    fn advance(
        &self,
        i: usize,
        blocks: &mut P::Blocks,
        plane: &Self::Plane,
        gamma: f64,
        work: &mut P::Work,
        sink: &mut Sink<'_>,
    ) {
        self.inner.advance(i, blocks, &plane.plane, gamma, work, sink);
    }

    fn add_block(&self, i: usize, blocks: &P::Blocks, scale: f64, out: &mut [f64]) -> f64 {
        self.inner.add_block(i, blocks, scale, out)
    }

    fn add_plane(&self, i: usize, plane: &Self::Plane, scale: f64, out: &mut [f64]) -> f64 {
        self.inner.add_plane(i, &plane.plane, scale, out)
    }

    fn offset(&self, i: usize, plane: &Self::Plane) -> f64 {
        self.inner.offset(i, &plane.plane)
    }

    fn product(&self, i: usize, p: &Self::Plane, q: &Self::Plane, work: &mut P::Work) -> f64 {
        self.inner.product(i, &p.plane, &q.plane, work)
    }

    fn product_ops(&self, i: usize) -> u64 {
        let ops = self.inner.product_ops(i);
        if self.fault == Fault::SlowProduct { ops + ops.div_ceil(10) } else { ops }
    }
}

fn records_of<P: Problem<Plane: 'static>>(dataset: &str, problem: &P, fault: Fault, records: &mut Vec<RunRecord>) {
    for solver in ["bcfw", "mp-bcfw", "mp-bcfw-avg"] {
        for repeat in 0..REPEATS {
            let said = runs::settings(solver, repeat, ITERATIONS);
            let mut done = said.clone();
            if fault == Fault::EarlyEviction && solver != "bcfw" {
                done.solver = SolverSpec::new(solver).with("T", Value::Count(2));
            }
            let broken = Broken { inner: problem, fault, steps: AtomicU64::new(0) };
            let mut record = runs::executed(dataset, &broken, &done, repeat);
            // A broken program does not know that it is.
            record.identity.settings = said;
            records.push(record);
        }
    }
}

/// Two families: the ones whose working sets grow beyond a few planes.
fn results(fault: Fault) -> Vec<RunRecord> {
    let mut records = Vec::new();
    records_of("chains", &common::chain(5, 40), fault, &mut records);
    records_of("graphs", &common::graph(6, 30, 3), fault, &mut records);
    records
}

fn judged(fault: Fault) -> Vec<Finding> {
    let honest = results(Fault::None);
    let baseline = Baseline::of(&measure::cells(&honest).unwrap(), &[], Provenance::default()).unwrap();
    // Through its text, as in life.
    let baseline = Baseline::parse("baseline.toml".as_ref(), &baseline.text()).unwrap();
    let broken = results(fault);
    counters::judge(&baseline, &measure::cells(&broken).unwrap(), &[])
}

/// The messages of a fault's failures.
fn failures(fault: Fault) -> Vec<String> {
    let messages: Vec<String> =
        judged(fault).iter().filter(|finding| finding.judgement.fails()).map(Finding::message).collect();
    assert!(!messages.is_empty(), "{fault:?} went unnoticed");
    messages
}

fn names(messages: &[String], words: [&str; 3]) -> bool {
    messages.iter().any(|message| words.iter().all(|word| message.contains(word)))
}

#[test]
fn whole_solvers_pass() {
    let findings = judged(Fault::None);
    assert!(findings.len() > 60, "{}", findings.len());
    assert!(findings.iter().all(|finding| finding.judgement == Judgement::Same));
    // The wrapper itself changes nothing.
    let direct = runs::executed("chains", &common::chain(5, 40), &runs::settings("mp-bcfw", 0, ITERATIONS), 0);
    let wrapped = results(Fault::None).into_iter().find(|r| r.solver() == "mp-bcfw" && r.repeat == 0);
    let key =
        |record: &RunRecord| record.points().last().map(|p| (p.dual.to_bits(), p.time_s.to_bits(), p.approx_steps));
    assert_eq!(key(&direct), wrapped.as_ref().and_then(key));
}

#[test]
fn a_forgotten_step_in_ten_fails() {
    let messages = failures(Fault::ForgottenSteps);
    for solver in [" bcfw:", " mp-bcfw:", " mp-bcfw-avg:"] {
        assert!(names(&messages, ["chains", solver, "primal at the end"]), "{messages:#?}");
    }
    // Not only other iterates: slower ones.
    assert!(names(&messages, ["chains", " bcfw:", "oracle_calls to gap"]), "{messages:#?}");
}

#[test]
fn a_skipped_duplicates_check_fails() {
    let messages = failures(Fault::NoDuplicatesCheck);
    for (dataset, solver) in [("chains", " mp-bcfw:"), ("graphs", " mp-bcfw:"), ("graphs", " mp-bcfw-avg:")] {
        assert!(names(&messages, [dataset, solver, "planes_mean to gap"]), "{messages:#?}");
        assert!(names(&messages, [dataset, solver, "time_s to gap"]), "{messages:#?}");
    }
    // Solvers without working sets do not care.
    assert!(!messages.iter().any(|message| message.contains(" bcfw:")), "{messages:#?}");
}

#[test]
fn an_early_eviction_fails() {
    let messages = failures(Fault::EarlyEviction);
    assert!(names(&messages, ["chains", " mp-bcfw:", "at the end"]), "{messages:#?}");
    assert!(!messages.iter().any(|message| message.contains(" bcfw:")), "{messages:#?}");
}

#[test]
fn a_slower_plane_product_fails() {
    let messages = failures(Fault::SlowProduct);
    for (dataset, solver) in [("chains", " bcfw:"), ("chains", " mp-bcfw:"), ("graphs", " mp-bcfw:")] {
        assert!(names(&messages, [dataset, solver, "time_s to gap"]), "{messages:#?}");
    }
}
