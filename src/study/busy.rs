//! Data sets that were timed while the machine did something else: nothing about them is decided. Claims, league, break-even,
//! the comparison of folders and publication ask here.

use serde::{Deserialize, Serialize};

use super::View;
use super::claims::thresholds::{Bar, Bars};
use crate::store::RunRecord;

/// How many of the runs of a data set on the wall clock were disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbed {
    /// Runs that got less than a whole core.
    pub few: usize,
    /// Runs of which that is known.
    pub runs: usize,
}

impl Disturbed {
    pub fn of<'r>(records: impl IntoIterator<Item = &'r RunRecord>, bars: &Bars) -> Self {
        let shares: Vec<f64> = records.into_iter().filter_map(RunRecord::core_share).collect();
        Self { few: shares.iter().filter(|share| **share < bars[Bar::WholeCore]).count(), runs: shares.len() }
    }

    /// Whether they are too many for a median.
    pub fn is_busy(self, bars: &Bars) -> bool {
        self.few as f64 > bars[Bar::Disturbed] * self.runs as f64
    }

    /// Why nothing is decided about these runs.
    pub fn text(self, of: &str, bars: &Bars) -> String {
        format!(
            "the machine was busy: {} of {} runs {of} got less than {:.0} % of a core; measure again when it is quiet",
            self.few,
            self.runs,
            100.0 * bars[Bar::WholeCore]
        )
    }
}

impl View {
    pub fn disturbed(&self, dataset: &str, bars: &Bars) -> Disturbed {
        Disturbed::of(self.series_of(dataset).flat_map(|series| self.records_of(series)), bars)
    }

    /// Why nothing is decided about a data set; `None` where the machine was quiet.
    pub fn busy(&self, dataset: &str) -> Option<String> {
        let bars = &Bars::default();
        let disturbed = self.disturbed(dataset, bars);
        disturbed.is_busy(bars).then(|| disturbed.text(&format!("on {}", self.title(dataset)), bars))
    }
}
