//! Instructions of solver work, counted by callgrind: workloads → counts and findings. The counts do not depend on a clock and have
//! almost no noise, but are valid for one compiler with its flags, one set of CPU features and one version of valgrind only.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::baseline::{Counts, Provenance};
use super::workload::{self, Workload};
use super::{CellKey, Finding, Judgement, both};
use crate::error::{Error, Result};
use crate::gate;

/// Relative change of a count that passes. Counts vary slightly because the clock is polled about every millisecond of real time.
pub const TOLERANCE: f64 = 0.01;

pub(super) const METRIC: &str = "instructions of solver work";

/// Counting is on inside the iterations of a solver only: not for loading, evaluating and printing.
const SOLVER_WORK: &str = "*as ssvm::solver::Solver>::iterate*";

/// The version of valgrind, such as `valgrind-3.19.0`; `None` where it is not installed.
pub fn version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Counts every workload with a build of this program, with these options before its own.
pub fn count(
    program: &Path,
    options: &[OsString],
    workloads: &[Workload],
    mut progress: impl FnMut(&CellKey),
) -> Result<BTreeMap<CellKey, u64>> {
    let folder = tempfile::tempdir().map_err(Error::io("make a folder in", std::env::temp_dir()))?;
    let file = folder.path().join("callgrind.out");
    let mut counts = BTreeMap::new();
    for workload in workloads {
        progress(&workload.cell);
        let mut command = Command::new("valgrind");
        command.arg("--tool=callgrind").arg(format!("--toggle-collect={SOLVER_WORK}"));
        command.arg(format!("--callgrind-out-file={}", file.display())).arg(program);
        command.args(options).args(workload.arguments());
        workload::output(command, program)?;
        let text = std::fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let total = parse_total(&text)
            .filter(|total| *total > 0)
            .ok_or_else(|| Error::file(program, gate::Error::NothingCounted))?;
        counts.insert(workload.cell.clone(), total);
    }
    Ok(counts)
}

fn parse_total(text: &str) -> Option<u64> {
    let line =
        text.lines().find_map(|line| line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The reason if counts cannot be compared with a baseline.
pub fn unlike(baseline: Option<&Counts>, here: &Provenance) -> Option<String> {
    let Some(Counts { provenance, .. }) = baseline else {
        return Some("the baseline holds no instruction counts; save them with --instructions --save FILE".into());
    };
    if provenance.cpu.is_empty() || provenance.valgrind.is_empty() {
        return Some(
            "the baseline does not say for which CPU features and which valgrind its counts hold; \
             save them again with --instructions --save FILE"
                .into(),
        );
    }
    // The slope rule reads the virtual clock, so under another cost model the workloads do different work.
    let model = |provenance: &Provenance| provenance.cost_model.to_string();
    let facts = [
        ("compiler", &provenance.rustc, &here.rustc),
        ("flags", &provenance.flags, &here.flags),
        ("CPU", &provenance.cpu, &here.cpu),
        ("valgrind", &provenance.valgrind, &here.valgrind),
        ("cost model of the virtual clock", &model(provenance), &model(here)),
    ];
    let unlike = facts.into_iter().filter(|(_, there, here)| there != here);
    let unlike: Vec<String> =
        unlike.map(|(what, there, here)| format!("{what}: baseline '{there}', here '{here}'")).collect();
    (!unlike.is_empty()).then(|| format!("the counts were made under other conditions ({})", unlike.join("; ")))
}

/// Findings that show that nothing was compared, so that every report mentions it.
pub fn not_judged(baseline: Option<&Counts>, reason: &str) -> Vec<Finding> {
    let cells = baseline.into_iter().flat_map(|counts| counts.counts.keys());
    cells.map(|cell| Finding::bare(cell, METRIC, Judgement::NotJudged, reason)).collect()
}

/// Compares counts with those of the baseline, within [`TOLERANCE`]. What is on one side only fails.
pub fn judge(baseline: &BTreeMap<CellKey, u64>, counts: &BTreeMap<CellKey, u64>) -> Vec<Finding> {
    let judge = |(cell, old, new): (&CellKey, Option<&u64>, Option<&u64>)| {
        let (old, new) = (old.map(|count| *count as f64), new.map(|count| *count as f64));
        let (judgement, note) = match (old, new) {
            (Some(old), Some(new)) if new > old.max(1.0) * (1.0 + TOLERANCE) => (Judgement::Worse, ""),
            (Some(old), Some(new)) if new < old.max(1.0) * (1.0 - TOLERANCE) => (Judgement::Better, ""),
            (Some(_), Some(_)) => (Judgement::Same, ""),
            (None, _) => (Judgement::Missing, "not in the baseline"),
            (_, None) => (Judgement::Missing, "not counted"),
        };
        Finding { unit: "instructions", old, new, ..Finding::bare(cell, METRIC, judgement, note) }
    };
    both(baseline, counts).map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_and_verdicts() {
        assert_eq!(parse_total("events: Ir\nfn=(1) x\nsummary: 12\ntotals: 12\n"), Some(12));
        assert_eq!(parse_total("events: Ir\n"), None);
        let cell = |dataset: &str| CellKey::new(dataset, "bcfw");
        let old = BTreeMap::from([(cell("a"), 1000), (cell("b"), 1000), (cell("c"), 1000), (cell("d"), 1000)]);
        let new = BTreeMap::from([(cell("a"), 1009), (cell("b"), 1011), (cell("c"), 900), (cell("e"), 5)]);
        let verdicts: Vec<Judgement> = judge(&old, &new).iter().map(|finding| finding.judgement).collect();
        use Judgement::{Better, Missing, Same, Worse};
        assert_eq!(verdicts, [Same, Worse, Better, Missing, Missing]);
    }

    #[test]
    fn counts_of_another_compiler_cpu_or_valgrind_are_not_compared() {
        let here = Provenance {
            rustc: "rustc 1".into(),
            flags: "x86".into(),
            cpu: "avx2".into(),
            valgrind: "valgrind-3.19.0".into(),
            ..Provenance::default()
        };
        let of = |provenance: Provenance| Counts { provenance, counts: BTreeMap::new() };
        let counts = of(Provenance { commit: "abc".into(), ..here.clone() });
        assert_eq!(unlike(Some(&counts), &here), None);
        let differs = |there: Provenance, word: &str| {
            let reason = unlike(Some(&of(there)), &here).expect("not compared");
            assert!(reason.contains(word), "{reason}");
        };
        differs(Provenance { rustc: "rustc 2".into(), ..here.clone() }, "rustc 2");
        differs(Provenance { cpu: "avx512f".into(), ..here.clone() }, "CPU: baseline 'avx512f', here 'avx2'");
        differs(Provenance { valgrind: "valgrind-3.22.0".into(), ..here.clone() }, "valgrind-3.22.0");
        // Baselines of versions that did not record these.
        differs(Provenance { cpu: String::new(), ..here.clone() }, "save them again");
        differs(Provenance { valgrind: String::new(), ..here.clone() }, "save them again");
        assert!(unlike(None, &here).is_some());
    }
}
