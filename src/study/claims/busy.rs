//! Result folder in, data sets out that were timed while the machine did something else: nothing that depends on their
//! wall time is decided.

use super::{Claim, Verdict};
use crate::store::RunRecord;
use crate::study::frame::Frames;
use ssvm::clock::ClockKind;
use ssvm::problem::Paper;

/// A run was disturbed when it got less than this part of a core,
const WHOLE_CORE: f64 = 0.9;

/// and a data set when more than this part of its runs were.
const DISTURBED: f64 = 0.25;

/// A run shorter than this says nothing about the machine, seconds.
const SHORTEST: f64 = 1e-3;

/// A disturbed data set.
pub(super) struct Busy {
    dataset: String,
    title: String,
    /// Its disturbed runs, and all that were looked at.
    runs: (usize, usize),
}

/// The disturbed data sets of a folder. Runs on other clocks than the wall clock cannot be disturbed in this way, and runs
/// that call several oracles at a time wait for threads that are not theirs.
pub(super) fn busy(records: &[RunRecord], frames: &Frames) -> Vec<Busy> {
    let shares = |dataset: &str| -> Vec<f64> {
        let of = records.iter().zip(&frames.of_record);
        of.filter(|(record, series)| {
            let settings = record.settings();
            frames.series[**series].dataset == dataset
                && settings.clock == ClockKind::WALL
                && !settings.solver.params.contains_key("tau")
        })
        .map(|(record, _)| &record.measured.totals)
        .filter(|totals| totals.wall_s > SHORTEST)
        .map(|totals| totals.cpu_s / totals.wall_s)
        .collect()
    };
    let disturbed = |dataset: String| {
        let shares = shares(&dataset);
        let few = shares.iter().filter(|share| **share < WHOLE_CORE).count();
        let title = frames.title(&dataset).to_owned();
        (few as f64 > DISTURBED * shares.len() as f64).then_some(Busy { dataset, title, runs: (few, shares.len()) })
    };
    frames.datasets().into_iter().filter_map(|dataset| disturbed(dataset.to_owned())).collect()
}

/// Takes the verdict of a claim back when a data set that it rests on was disturbed. Passes are chosen by the clock, so this
/// goes for every claim; claim 2 compares with USPS.
pub(super) fn take_back(claim: &mut Claim, frames: &Frames, busy: &[Busy]) {
    let rests_on =
        |dataset: &str| claim.dataset == dataset || (claim.number == 2 && frames.paper(dataset) == Some(Paper::Usps));
    let Some(of) = busy.iter().find(|of| rests_on(&of.dataset)) else { return };
    if matches!(claim.verdict, Verdict::Holds | Verdict::DoesNotHold) {
        claim.verdict = Verdict::Undecided;
        claim.evidence.push_str(&format!(
            "; the machine was busy: {} of {} runs on {} got less than {:.0} % of a core; measure again when it is quiet",
            of.runs.0,
            of.runs.1,
            of.title,
            100.0 * WHOLE_CORE
        ));
    }
}
