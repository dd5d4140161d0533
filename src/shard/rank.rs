//! Which of two records of one run is kept: an order without ties, so that it does not matter who is merged with whom first.

use std::cmp::Reverse;

use crate::drive::TracePoint;
use crate::files::sha256_hex;
use crate::trace::{RunRecord, Status};

/// Larger is better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// One that ended, then one that was stopped and keeps what it measured, then one that failed.
    ended: u8,
    /// On a machine that kept its speed.
    steady: bool,
    /// Not beside others, on a core that nobody took away.
    alone: Reverse<u64>,
    steal: Reverse<u64>,
    /// The first; then anything, as long as it is always the same.
    started: Reverse<u64>,
    content: String,
}

impl Rank {
    pub(super) fn of(record: &RunRecord, drifted: bool) -> Self {
        let circumstances = &record.circumstances;
        let measured = &record.measured;
        let facts = (record.status.text(), circumstances, &measured.totals);
        let mut content = serde_json::to_vec(&facts).unwrap_or_default();
        content.extend_from_slice(format!("{:?}", measured.points).as_bytes());
        content.extend_from_slice(measured.oracle_ns.bytes());
        content.extend_from_slice(measured.approx_ns.bytes());
        Self {
            ended: match &record.status {
                Status::Done(_) => 2,
                failed => u8::from(failed.is_timed_out()),
            },
            steady: !drifted,
            alone: Reverse(circumstances.jobs),
            // Non-negative numbers are ordered as their bits are.
            steal: Reverse(circumstances.steal.max(0.0).to_bits()),
            started: Reverse(circumstances.started_unix_s),
            content: sha256_hex(&content),
        }
    }
}

/// Hash of what a repeatable clock makes the same on every machine; `None` for runs that were timed, or that did not end.
pub(super) fn bits(record: &RunRecord) -> Option<String> {
    (record.settings().clock.repeatable() && record.status.is_done()).then(|| {
        let mut text = record.status.text();
        for point in record.points() {
            // Seconds of the CPU are measured beside the clock.
            let point = TracePoint { cpu_s: 0.0, ..point.clone() };
            text += &format!("{point:?}");
        }
        sha256_hex(text.as_bytes())
    })
}
