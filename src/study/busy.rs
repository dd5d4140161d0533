//! Data sets that were timed on a busy machine, about which nothing is decided. Claims, league, break-even, the comparison of folders
//! and publication use this test.

use serde::{Deserialize, Serialize};

use super::View;
use super::claims::thresholds::{Bar, Bars};
use crate::store::RunRecord;

/// The number of disturbed runs of a data set on the wall clock, or of the one solver of which too many runs were disturbed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbed {
    /// Runs that got less than a whole core.
    pub few: usize,
    /// Runs for which this is known.
    pub runs: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
}

impl Disturbed {
    pub fn of<'r>(records: impl IntoIterator<Item = &'r RunRecord>, bars: &Bars) -> Self {
        let shares: Vec<f64> = records.into_iter().filter_map(RunRecord::core_share).collect();
        Self {
            few: shares.iter().filter(|share| **share < bars[Bar::WholeCore]).count(),
            runs: shares.len(),
            solver: None,
        }
    }

    /// The counts of all runs of a data set or, if a single series has too many disturbed runs, those of that series, because each median
    /// is over one series.
    pub fn worst<'r>(series: &[(String, Vec<&'r RunRecord>)], bars: &Bars) -> Self {
        let one = |(solver, records): &(String, Vec<&'r RunRecord>)| Self {
            solver: Some(solver.clone()),
            ..Self::of(records.iter().copied(), bars)
        };
        let all = Self::of(series.iter().flat_map(|(_, records)| records.iter().copied()), bars);
        if all.is_busy(bars) { all } else { series.iter().map(one).find(|one| one.is_busy(bars)).unwrap_or(all) }
    }

    /// Whether they are too many for a median.
    pub fn is_busy(&self, bars: &Bars) -> bool {
        self.few as f64 > bars[Bar::Disturbed] * self.runs as f64
    }

    /// Why nothing is decided about these runs.
    pub fn text(&self, of: &str, bars: &Bars) -> String {
        format!(
            "the machine was busy: {} of {} runs {}{of} got less than {:.0} % of a core; measure again when it is quiet",
            self.few,
            self.runs,
            self.solver.as_ref().map_or(String::new(), |solver| format!("of {solver} ")),
            100.0 * bars[Bar::WholeCore]
        )
    }
}

impl View {
    pub fn disturbed(&self, dataset: &str, bars: &Bars) -> Disturbed {
        let records = |series: usize| (self.series[series].display.clone(), self.records_of(series).iter().collect());
        Disturbed::worst(&self.series_of(dataset).map(records).collect::<Vec<_>>(), bars)
    }

    /// Why nothing is decided about a data set; `None` where the machine was quiet.
    pub fn busy(&self, dataset: &str) -> Option<String> {
        let bars = &Bars::default();
        let disturbed = self.disturbed(dataset, bars);
        disturbed.is_busy(bars).then(|| disturbed.text(&format!("on {}", self.title(dataset)), bars))
    }
}
