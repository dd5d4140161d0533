//! A run of a solver that never reads the clock, at one price of the oracle, in; the same run at another price out. The steps
//! are the same; only what time it was differs, and where a limit of time would have ended it.

use super::{RunRecord, Status};
use crate::drive::{StopReason, TracePoint};
use crate::settings::{Budget, Identity, Until};

impl RunRecord {
    /// What a run of this identity, which is this one's but for the price of the oracle, would have left. One that ends with
    /// a limit of time ends here with its last evaluation before it, or, where iterations must be reached besides, with
    /// the first after both.
    pub fn projected(&self, identity: Identity) -> Self {
        let (from, to) = (self.settings().oracle_cost, identity.settings.oracle_cost);
        let at_price = |point: &TracePoint| {
            let (time_s, oracle_time_s) = from.project(point.time_s, point.oracle_time_s, to);
            TracePoint { time_s, oracle_time_s, ..point.clone() }
        };
        let mut record = self.clone();
        record.circumstances.projected_from = Some(self.run_id());
        record.measured.points = self.points().iter().map(at_price).collect();
        // Times of single passes are those of the price they were made at.
        record.measured.totals.passes.clear();
        if let Some(end) = end(&record.measured.points, &identity.settings.budget) {
            record.measured.points.truncate(end);
            if record.status.is_done() {
                record.status = Status::Done(StopReason::Time);
            }
        }
        record.identity = identity;
        record
    }
}

/// How many of these evaluations a limit of time leaves; `None` when it strikes after the last.
fn end(points: &[TracePoint], budget: &Budget) -> Option<usize> {
    let limit = budget.time_s?;
    match (budget.until, budget.iterations) {
        (Until::All, Some(iterations)) => {
            let last = points.iter().position(|point| point.time_s >= limit && point.iteration >= iterations)?;
            (last + 1 < points.len()).then_some(last + 1)
        }
        _ => points.iter().position(|point| point.time_s > limit),
    }
}
