//! Two result folders in, ratios with intervals out: solver time and oracle calls to each gap that all runs reach.
//! Runs are paired by repeat: the same repeat has the same data and the same orders on both sides.

use std::collections::{BTreeMap, BTreeSet};

use super::measure::{Runs, reached, read, targets};
use super::rounds::Design;
use super::{Cell, Finding, Judgement, Metric, Place, Quantity, judge_ratio};
use crate::clock::ClockKind;
use crate::error::{Error, Result};
use crate::stats::{FEWEST_PAIRS, bootstrap, median};
use crate::trace::RunRecord;

/// Compares cell by cell. What is on one side only is named, not judged; nothing in common is an error.
pub fn compare(
    old: &BTreeMap<Cell, Runs<'_>>,
    new: &BTreeMap<Cell, Runs<'_>>,
    design: &Design,
) -> Result<Vec<Finding>> {
    if !old.keys().any(|cell| new.contains_key(cell)) {
        return Err(Error::invalid("the two folders have no data set and solver in common"));
    }
    let names: BTreeSet<&Cell> = old.keys().chain(new.keys()).collect();
    let mut findings = Vec::new();
    for cell in names {
        match (old.get(cell), new.get(cell)) {
            (Some(old), Some(new)) => findings.extend(compare_cell(cell, old, new, design)),
            (old, _) => {
                let note = if old.is_some() { "only in the first folder" } else { "only in the second folder" };
                findings.push(Finding::bare(cell, "all metrics", Judgement::NotJudged, note));
            }
        }
    }
    Ok(findings)
}

fn compare_cell(cell: &Cell, old: &Runs<'_>, new: &Runs<'_>, design: &Design) -> Vec<Finding> {
    let failed = |side: &Runs<'_>| side.iter().any(|record| !record.status.is_done());
    if failed(new) && !failed(old) {
        return vec![Finding::bare(cell, "all metrics", Judgement::Missing, "a run of the second folder failed")];
    }
    let pairs: Vec<(&RunRecord, &RunRecord)> = old
        .iter()
        .filter_map(|old| Some((*old, *new.iter().find(|new| new.repeat == old.repeat)?)))
        .filter(|(old, new)| !old.points().is_empty() && !new.points().is_empty())
        .collect();
    let both: Vec<&RunRecord> = pairs.iter().flat_map(|(old, new)| [*old, *new]).collect();
    let unlike = both.windows(2).find_map(|pair| {
        let (a, b) = (pair[0], pair[1]);
        let clocks = [a.settings().clock, b.settings().clock];
        if clocks[0] != clocks[1] {
            Some(format!("timed with two clocks, {} and {}", clocks[0].name(), clocks[1].name()))
        } else if (a.identity.lambda, &a.identity.data_checksum) != (b.identity.lambda, &b.identity.data_checksum) {
            Some("made from different data or with different λ".to_owned())
        } else {
            None
        }
    });
    if let Some(note) = unlike {
        return vec![Finding::bare(cell, "all metrics", Judgement::NotJudged, note)];
    }
    let Some(clock) = both.first().map(|record| record.settings().clock) else {
        return vec![Finding::bare(cell, "all metrics", Judgement::NotJudged, "no repeat in common")];
    };
    let end = (Place::End, Quantity::TimeS);
    let places = targets(&both, &[])
        .into_iter()
        .flat_map(|gap| [Quantity::TimeS, Quantity::OracleCalls].map(|quantity| (Place::Gap(gap), quantity)));
    let metrics = places.chain([end]).map(|(place, quantity)| Metric { place, quantity });
    metrics.filter_map(|metric| compare_metric(cell, metric, &pairs, clock, design)).collect()
}

fn compare_metric(
    cell: &Cell,
    metric: Metric,
    pairs: &[(&RunRecord, &RunRecord)],
    clock: ClockKind,
    design: &Design,
) -> Option<Finding> {
    let value = |record: &RunRecord| {
        let point = match metric.place {
            Place::Gap(gap) => reached(record, gap),
            Place::End => record.points().last(),
        };
        point.map(|point| read(point, metric.quantity)).filter(|value| *value > 0.0)
    };
    let values: Vec<(f64, f64)> = pairs.iter().filter_map(|(old, new)| Some((value(old)?, value(new)?))).collect();
    let ratios: Vec<f64> = values.iter().map(|(old, new)| new / old).collect();
    let interval = bootstrap(&ratios, design.confidence, design.seed)?;
    let (judgement, note) = if !clock.repeatable() && ratios.len() < FEWEST_PAIRS {
        (Judgement::NotJudged, format!("{} repeats; judged from {FEWEST_PAIRS} on", ratios.len()))
    } else {
        (judge_ratio(&interval, design.threshold), String::new())
    };
    let (old, new): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
    Some(Finding {
        unit: metric.quantity.unit(),
        old: Some(median(&old)),
        new: Some(median(&new)),
        range: new.iter().map(|v| (*v, *v)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
        ratio: Some(interval),
        ..Finding::bare(cell, &metric.to_string(), judgement, note)
    })
}
