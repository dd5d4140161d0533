//! Instructions of solver work, counted by callgrind: workloads in, counts and findings out. No noise, no clock; the
//! price is that the numbers hold for one compiler and its flags only.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use super::baseline::{Counts, Provenance};
use super::workload::{self, Workload};
use super::{Cell, Finding, Judgement};
use crate::error::{Error, Result};

/// Relative change of a count that passes: the clock is polled by real time, about a millisecond apart.
pub const TOLERANCE: f64 = 0.01;

/// Counting is on inside the iterations of a solver only: not for loading, evaluating and printing.
const SOLVER_WORK: &str = "*as ssvm_bench::solver::Solver>::iterate*";

/// Whether callgrind can be used here.
pub fn available() -> bool {
    let status = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Counts every workload with a build of this program.
pub fn count(program: &Path, workloads: &[Workload], mut progress: impl FnMut(&Cell)) -> Result<BTreeMap<Cell, u64>> {
    let folder = tempfile::tempdir().map_err(Error::io("make a folder in", std::env::temp_dir()))?;
    let file = folder.path().join("callgrind.out");
    let mut counts = BTreeMap::new();
    for workload in workloads {
        progress(&workload.cell);
        let mut command = Command::new("valgrind");
        command.arg("--tool=callgrind").arg(format!("--toggle-collect={SOLVER_WORK}"));
        command.arg(format!("--callgrind-out-file={}", file.display())).arg(program).args(workload.arguments());
        workload::output(command, program)?;
        let text = std::fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let total = parse_total(&text).filter(|total| *total > 0).ok_or_else(|| {
            Error::file(
                program,
                "callgrind counted no instruction of solver work; was the program stripped of its symbols?",
            )
        })?;
        counts.insert(workload.cell.clone(), total);
    }
    Ok(counts)
}

fn parse_total(text: &str) -> Option<u64> {
    let line =
        text.lines().find_map(|line| line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Why counts cannot be compared with a baseline, if so.
pub fn unlike(baseline: Option<&Counts>, here: &Provenance) -> Option<String> {
    let Some(Counts { provenance, .. }) = baseline else {
        return Some("the baseline holds no instruction counts; save them with --instructions --save FILE".into());
    };
    if (&provenance.rustc, &provenance.flags) == (&here.rustc, &here.flags) {
        return None;
    }
    let (there, here) = ([&provenance.rustc, &provenance.flags], [&here.rustc, &here.flags]);
    Some(format!("the baseline's counts are of {} {}, this build is of {} {}", there[0], there[1], here[0], here[1]))
}

/// Compares counts with those of the baseline, within [`TOLERANCE`]. What is on one side only fails.
pub fn judge(baseline: &BTreeMap<Cell, u64>, counts: &BTreeMap<Cell, u64>) -> Vec<Finding> {
    let mut cells: Vec<&Cell> = baseline.keys().chain(counts.keys()).collect();
    cells.sort();
    cells.dedup();
    let finding = |cell: &Cell| {
        let (old, new) = (baseline.get(cell), counts.get(cell));
        let (judgement, note) = match (old, new) {
            (Some(&old), Some(&new)) => {
                let ratio = new as f64 / (old as f64).max(1.0);
                let judgement = if ratio > 1.0 + TOLERANCE {
                    Judgement::Worse
                } else if ratio < 1.0 - TOLERANCE {
                    Judgement::Better
                } else {
                    Judgement::Same
                };
                (judgement, String::new())
            }
            (None, _) => (Judgement::Missing, "not in the baseline".to_owned()),
            (_, None) => (Judgement::Missing, "not counted".to_owned()),
        };
        Finding {
            unit: "instructions",
            old: old.map(|count| *count as f64),
            new: new.map(|count| *count as f64),
            ..Finding::bare(cell, "instructions of solver work", judgement, note)
        }
    };
    cells.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_and_verdicts() {
        assert_eq!(parse_total("events: Ir\nfn=(1) x\nsummary: 12\ntotals: 12\n"), Some(12));
        assert_eq!(parse_total("events: Ir\n"), None);
        let cell = |dataset: &str| Cell { dataset: dataset.to_owned(), solver: "bcfw".to_owned() };
        let old = BTreeMap::from([(cell("a"), 1000), (cell("b"), 1000), (cell("c"), 1000), (cell("d"), 1000)]);
        let new = BTreeMap::from([(cell("a"), 1009), (cell("b"), 1011), (cell("c"), 900), (cell("e"), 5)]);
        let verdicts: Vec<Judgement> = judge(&old, &new).iter().map(|finding| finding.judgement).collect();
        use Judgement::{Better, Missing, Same, Worse};
        assert_eq!(verdicts, [Same, Worse, Better, Missing, Missing]);
    }

    #[test]
    fn counts_of_another_compiler_are_not_compared() {
        let here = Provenance { rustc: "rustc 1".into(), flags: "x86".into(), ..Provenance::default() };
        let counts =
            Counts { provenance: Provenance { commit: "abc".into(), ..here.clone() }, counts: BTreeMap::new() };
        assert_eq!(unlike(Some(&counts), &here), None);
        let other = Provenance { rustc: "rustc 2".into(), ..here };
        assert!(unlike(Some(&counts), &other).unwrap().contains("rustc 2"));
        assert!(unlike(None, &other).is_some());
    }
}
