//! The number of verdicts that change with each threshold.

use serde::{Deserialize, Serialize};

use super::rows::{CLAIMS, ClaimRow, MULTI};
use super::thresholds::{Bars, THRESHOLDS};
use super::{Claim, Verdict, busy, check_rows};
use crate::study::Study;

/// The number of verdicts that change when a threshold is halved or doubled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensitivity {
    pub key: String,
    /// Verdicts that depend on it, on this machine and in the paper's regime.
    pub verdicts: usize,
    pub halved: usize,
    pub doubled: usize,
}

/// For each threshold that is varied, the number of verdicts that change when it is halved or doubled.
pub fn sensitivity(study: &Study) -> Vec<Sensitivity> {
    let judged = |row: &'static ClaimRow, bars: &Bars| check_rows(study, std::slice::from_ref(row), bars);
    let now: Vec<(&'static ClaimRow, Vec<Claim>)> =
        CLAIMS.iter().map(|row| (row, judged(row, &Bars::default()))).collect();
    // Bootstraps take long: rows that a threshold cannot change are not judged again.
    let disturbed = |bars: &Bars| -> Vec<Vec<&str>> {
        let names = |view| busy::busy(view, bars).into_iter().map(|(dataset, _)| dataset).collect();
        std::iter::once(&study.own).chain(&study.regime).map(names).collect()
    };
    let mut all = Vec::new();
    for threshold in &THRESHOLDS {
        let Some(values) = threshold.halved_and_doubled() else { continue };
        let rows: Vec<_> = now.iter().filter(|(row, _)| row.turns_on(threshold.bar)).collect();
        let [halved, doubled] = values.map(|value| {
            let bars = Bars::default().with(threshold.bar, value);
            if threshold.paper.is_empty() && disturbed(&bars) == disturbed(&Bars::default()) {
                return 0;
            }
            let changed = |(row, now): &&(&'static ClaimRow, Vec<Claim>)| {
                let then = judged(row, &bars);
                now.iter()
                    .flat_map(Claim::verdicts)
                    .zip(then.iter().flat_map(Claim::verdicts))
                    .filter(|(a, b)| a != b)
                    .count()
            };
            rows.iter().map(changed).sum()
        });
        let concerned = |claim: &&Claim| {
            let timed = || study.own.disturbed(&claim.dataset, &Bars::default()).runs > 0;
            let multi = claim.solver.starts_with(MULTI);
            threshold.bar.concerns(study.own.paper(&claim.dataset), multi) && (!threshold.paper.is_empty() || timed())
        };
        let concerned = rows.iter().flat_map(|(_, now)| now).filter(concerned);
        let without = [Verdict::NotMeasured, Verdict::ByConstruction];
        let verdicts = concerned.flat_map(Claim::verdicts).filter(|verdict| !without.contains(verdict)).count();
        all.push(Sensitivity { key: threshold.key.to_owned(), verdicts, halved, doubled });
    }
    all
}
