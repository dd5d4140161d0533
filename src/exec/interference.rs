//! How much concurrent runs disturb each other: some runs of every data set and solver are repeated alone, a little
//! way, and the ratio of their times per iteration is the inflation. Records in, repetitions and [`Inflation`] out.

use std::collections::BTreeMap;

use crate::drive::TracePoint;
use crate::plan::RunSpec;
use crate::settings::{Budget, Cadence};
use crate::stats::{Spread, median};
use crate::trace::RunRecord;
use crate::trace::manifest::Inflation;

/// A repetition goes this far into its run: long enough to time, short enough not to matter.
const PROBE_S: f64 = 0.25;
/// Shorter ones tell nothing.
const LEAST_S: f64 = 2e-3;
/// Above this inflation people are warned.
pub const TOLERATED: f64 = 1.05;

/// The first iterations of some of the runs that were timed in company, to be repeated alone.
pub fn probes(runs: &[RunSpec], records: &[RunRecord], per_cell: u32) -> Vec<RunSpec> {
    let by_id: BTreeMap<String, &RunRecord> = records.iter().map(|record| (record.run_id(), record)).collect();
    let mut taken: BTreeMap<_, u32> = BTreeMap::new();
    let mut probes = Vec::new();
    for run in runs {
        let Some(record) = by_id.get(&run.run_id).filter(|record| timed_in_parallel(record)) else { continue };
        let Some(point) = record.points().iter().find(|p| p.time_s >= PROBE_S).or(record.points().last()) else {
            continue;
        };
        let count = taken.entry((run.set, run.settings().solver.name.clone())).or_default();
        if *count < per_cell && point.iteration > 0 {
            *count += 1;
            let mut identity = run.identity.clone();
            identity.settings.budget = Budget::iterations(point.iteration);
            identity.settings.evaluate = Cadence::At(vec![point.iteration]);
            let probe_of = Some(run.run_id.clone());
            probes.push(RunSpec { run_id: identity.run_id(), identity, probe_of, ..run.clone() });
        }
    }
    probes
}

fn timed_in_parallel(record: &RunRecord) -> bool {
    record.circumstances.jobs > 1 && !record.settings().clock.repeatable() && record.status.is_done()
}

/// One row per data set and solver that has repetitions.
pub fn inflation(records: &[RunRecord], probes: &[RunRecord]) -> Vec<Inflation> {
    let by_id: BTreeMap<String, &RunRecord> = records.iter().map(|record| (record.run_id(), record)).collect();
    let mut cells: BTreeMap<(String, String, u64), Vec<f64>> = BTreeMap::new();
    for probe in probes {
        let Some(of) = &probe.circumstances.probe_of else { continue };
        let Some(record) = by_id.get(of).filter(|record| timed_in_parallel(record)) else { continue };
        let Some(alone) = probe.points().last() else { continue };
        let Some(company) = record.points().iter().find(|point| point.iteration == alone.iteration) else { continue };
        if let Some(ratio) = ratio(company, alone) {
            let cell = (record.dataset().to_owned(), record.solver().to_owned(), record.circumstances.jobs);
            cells.entry(cell).or_default().push(ratio);
        }
    }
    let row = |((dataset, solver, jobs), ratios): ((String, String, u64), Vec<f64>)| {
        let probes = ratios.len() as u64;
        let Spread { median, min, max } = Spread::of(ratios)?;
        Some(Inflation { dataset, solver, jobs, ratio: median, low: min, high: max, probes })
    };
    cells.into_iter().filter_map(row).collect()
}

/// Time of the run in company over the time that the same work takes alone. The slope rule reads the clock, so the two
/// differ in approximate steps; the repetition's cost per exact and per approximate step is applied to the run's counts.
fn ratio(company: &TracePoint, alone: &TracePoint) -> Option<f64> {
    if alone.time_s < LEAST_S || alone.oracle_calls == 0 {
        return None;
    }
    let exact = (alone.time_s - alone.approx_time_s) * company.oracle_calls as f64 / alone.oracle_calls as f64;
    let approximate = match (company.approx_steps, alone.approx_steps) {
        (0, _) => 0.0,
        (_, 0) => return None,
        (steps, per) => alone.approx_time_s * steps as f64 / per as f64,
    };
    Some(company.time_s / (exact + approximate))
}

/// What to print: the overall figure, then a warning for every cell above [`TOLERATED`]. `load` is the highest load
/// average during the runs: above the number of workers, somebody else was busy too.
pub fn summary(rows: &[Inflation], load: f64) -> Vec<String> {
    let Some(worst) = rows.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio)) else { return Vec::new() };
    let median = median(&rows.iter().map(|row| row.ratio).collect::<Vec<f64>>());
    let mut lines = vec![format!(
        "parallel timing is {median:.2}× isolated (median of {} data sets and solvers; largest {:.2}×: {} {})",
        rows.len(),
        worst.ratio,
        worst.dataset,
        worst.solver
    )];
    let above: Vec<String> = rows
        .iter()
        .filter(|row| row.ratio > TOLERATED)
        .map(|row| format!("{} {} {:.2}× ({:.2}–{:.2})", row.dataset, row.solver, row.ratio, row.low, row.high))
        .collect();
    if !above.is_empty() {
        lines.push(format!(
            "warning: times per iteration are inflated by more than 5 %: {}; for times to publish run with --isolated \
             (add --force to redo finished runs), or use fewer --jobs",
            above.join(", ")
        ));
        if load > worst.jobs as f64 + 1.0 {
            lines.push(format!(
                "other programs were busy as well: the load was up to {load:.1} for {} workers",
                worst.jobs
            ));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(time_s: f64, approx_time_s: f64, oracle_calls: u64, approx_steps: u64) -> TracePoint {
        TracePoint { iteration: 4, time_s, approx_time_s, oracle_calls, approx_steps, ..TracePoint::default() }
    }

    #[test]
    fn ratios_compare_equal_work() {
        assert_eq!(ratio(&point(1.2, 0.0, 100, 0), &point(1.0, 0.0, 100, 0)), Some(1.2));
        // Alone: 0.5 s exact, 0.5 s for 1000 approximate steps. In company twice the steps: 1.5 s alone, 1.8 s taken.
        assert_eq!(ratio(&point(1.8, 1.3, 100, 2000), &point(1.0, 0.5, 100, 1000)), Some(1.8 / 1.5));
        assert_eq!(ratio(&point(1e-3, 0.0, 100, 0), &point(1e-3, 0.0, 100, 0)), None, "too short to tell");
        assert_eq!(ratio(&point(1.0, 0.5, 100, 9), &point(1.0, 0.0, 100, 0)), None, "nothing to compare with");
    }

    #[test]
    fn the_summary_warns_above_five_percent() {
        let row = |ratio: f64| Inflation {
            dataset: "usps".into(),
            solver: "fw".into(),
            jobs: 2,
            ratio,
            low: ratio,
            high: ratio,
            probes: 3,
        };
        assert!(summary(&[], 2.0).is_empty());
        assert_eq!(summary(&[row(1.04), row(1.01)], 9.0).len(), 1);
        let lines = summary(&[row(1.04), row(1.2)], 2.0);
        assert!(lines[0].starts_with("parallel timing is 1.12× isolated"), "{lines:?}");
        assert!(lines[1].contains("usps fw 1.20×") && lines[1].contains("--isolated"), "{lines:?}");
        assert_eq!(summary(&[row(1.2)], 5.0).len(), 3);
    }
}
