//! A run of a solver that never reads the clock, at one price of the oracle, in; the same run at another price out. The steps
//! are the same; only what time it was differs. A run that a limit of time ends is not projected: it would end elsewhere.

use super::record::RunRecord;
use crate::store::identity::Identity;
use ssvm::drive::TracePoint;

impl RunRecord {
    /// What a run of this identity, which is this one's but for the price of the oracle, would have left.
    pub fn projected(&self, identity: Identity) -> Self {
        let (from, to) = (self.settings().oracle_cost, identity.settings.oracle_cost);
        let at_price = |point: &TracePoint| {
            let (time_s, oracle_time_s) = from.project(point.time_s, point.oracle_time_s, to);
            TracePoint { time_s, oracle_time_s, ..point.clone() }
        };
        let mut record = self.clone();
        record.environment.projected_from = Some(self.run_id());
        record.measured.points = self.points().iter().map(at_price).collect();
        // Times of single passes are those of the price they were made at.
        record.measured.totals.passes.clear();
        record.identity = identity;
        record
    }
}
