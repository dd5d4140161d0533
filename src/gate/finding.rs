//! One verdict: which cell, which metric, from what to what, and whether that passes.

use super::CellKey;
use crate::study::paired::Paired;
use crate::text::{change, exact};

/// The verdict of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Nothing to judge by (too few repeats, no ratio, no tool); passes.
    NotJudged,
    /// Unchanged: equal, or the whole interval is within the threshold; passes.
    Same,
    /// The interval reaches beyond the threshold and is not wholly beyond it; passes.
    Undecided,
    /// Better than before; passes, and should be accepted into the baseline.
    Better,
    /// Worse than before.
    Worse,
    /// A value that should not move at all has moved.
    Changed,
    /// On one side only.
    Missing,
}

impl Judgement {
    pub fn fails(self) -> bool {
        matches!(self, Self::Worse | Self::Changed | Self::Missing)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::NotJudged => "not judged",
            Self::Same => "same",
            Self::Undecided => "undecided",
            Self::Better => "better",
            Self::Worse => "WORSE",
            Self::Changed => "CHANGED",
            Self::Missing => "MISSING",
        }
    }
}

/// The verdict on one metric of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub cell: CellKey,
    /// The name of the metric for people.
    pub metric: String,
    pub unit: &'static str,
    /// False for the dual.
    pub smaller_is_better: bool,
    /// The value it is compared with: of the repeat that decides, or the median over rounds.
    pub old: Option<f64>,
    pub new: Option<f64>,
    /// Smallest and largest value found.
    pub range: Option<(f64, f64)>,
    /// New over old with its interval, for timings.
    pub ratio: Option<Paired>,
    pub judgement: Judgement,
    /// A remark on the numbers; may be empty.
    pub note: String,
}

impl Finding {
    /// A finding without numbers.
    pub fn bare(cell: &CellKey, metric: &str, judgement: Judgement, note: impl Into<String>) -> Self {
        Self {
            cell: cell.clone(),
            metric: metric.to_owned(),
            unit: "",
            smaller_is_better: true,
            old: None,
            new: None,
            range: None,
            ratio: None,
            judgement,
            note: note.into(),
        }
    }

    /// The same with numbers; `found` are all new values, of which `new` is one or their median.
    pub fn with_values(
        self,
        unit: &'static str,
        old: Option<f64>,
        new: Option<f64>,
        found: impl Iterator<Item = f64>,
    ) -> Self {
        let range = found.map(|value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        Self { unit, old, new, range, ..self }
    }

    /// One line with data set, solver, metric and what changed.
    pub fn message(&self) -> String {
        let mut text = format!("{} {}: {}", self.cell.dataset, self.cell.setting(), self.metric);
        match (self.old, self.new) {
            (Some(old), Some(new)) => {
                text += &format!(" {} → {}", exact(old), exact(new));
                if self.ratio.is_none() && old != 0.0 && old != new {
                    text += &format!(" ({})", change(new / old));
                }
            }
            (Some(old), None) => text += &format!(" {} → nothing", exact(old)),
            (None, Some(new)) => text += &format!(" nothing → {}", exact(new)),
            (None, None) => {}
        }
        if let Some(ratio) = self.ratio {
            text += &format!(", {}", ratio.shown(change));
        }
        if !self.note.is_empty() {
            text += &format!("; {}", self.note);
        }
        text
    }
}

/// Judges a ratio new/old by its whole interval, bounds included: beyond the threshold it is worse or better, within the
/// threshold the same. The threshold is a factor: 5 % are from 1/1.05 to 1.05.
pub fn judge_ratio(ratio: &Paired, threshold: f64) -> Judgement {
    let most = 1.0 + threshold;
    match (ratio.low, ratio.high) {
        (Some(low), _) if low > most => Judgement::Worse,
        (_, Some(high)) if high < 1.0 / most => Judgement::Better,
        (Some(low), Some(high)) if low >= 1.0 / most && high <= most => Judgement::Same,
        _ => Judgement::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_interval_beyond_or_within_the_threshold_is_a_verdict() {
        let interval = Paired { low: Some(1.08), high: Some(1.12), pairs: 5, ..Paired::default() };
        assert_eq!(judge_ratio(&interval, 0.05), Judgement::Worse);
        assert_eq!(judge_ratio(&interval, 0.09), Judgement::Undecided);
        assert_eq!(judge_ratio(&interval, 0.13), Judgement::Same);
        assert_eq!(judge_ratio(&interval.inverse(), 0.05), Judgement::Better);
        let wide = Paired { low: Some(0.9), high: Some(1.04), ..interval };
        assert_eq!([wide, wide.inverse()].map(|wide| judge_ratio(&wide, 0.05)), [Judgement::Undecided; 2]);
        let open = Paired { high: None, ..interval };
        assert_eq!([open, open.inverse()].map(|open| judge_ratio(&open, 0.05)), [Judgement::Worse, Judgement::Better]);
    }
}
