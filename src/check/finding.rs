//! One verdict: which cell, which metric, from what to what, and whether that passes.

use super::Cell;
use super::paired::Interval;

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Nothing to judge by (too few repeats, no tool); passes.
    NotJudged,
    /// As it was; passes.
    Same,
    /// Better than it was; passes, and should be accepted into the baseline.
    Better,
    /// Worse than it was.
    Worse,
    /// A value that should not move at all has moved.
    Changed,
    /// On one side only.
    Missing,
}

impl Judgement {
    /// Whether the gate fails.
    pub fn fails(self) -> bool {
        matches!(self, Self::Worse | Self::Changed | Self::Missing)
    }

    /// One word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotJudged => "not judged",
            Self::Same => "same",
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
    /// Data set and solver.
    pub cell: Cell,
    /// The metric, for people.
    pub metric: String,
    /// Its unit.
    pub unit: &'static str,
    /// Whether less is better (false for the dual).
    pub smaller_is_better: bool,
    /// The value it is compared with: of the repeat that decides, or the median over rounds.
    pub old: Option<f64>,
    /// The value found.
    pub new: Option<f64>,
    /// Smallest and largest value found, when there are several.
    pub range: Option<(f64, f64)>,
    /// New over old with its interval, for timings.
    pub ratio: Option<Interval>,
    /// The verdict.
    pub judgement: Judgement,
    /// What is to be known beside the numbers; may be empty.
    pub note: String,
}

impl Finding {
    /// A finding without numbers.
    pub fn bare(cell: &Cell, metric: &str, judgement: Judgement, note: impl Into<String>) -> Self {
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

    /// One line that names data set, solver and metric and says what happened.
    pub fn message(&self) -> String {
        let Cell { dataset, solver } = &self.cell;
        let mut text = format!("{dataset} {solver}: {}", self.metric);
        match (self.old, self.new) {
            (Some(old), Some(new)) => {
                text += &format!(" {} → {}", number(old), number(new));
                if self.ratio.is_none() && old != 0.0 && old != new {
                    text += &format!(" ({})", percent(new / old));
                }
            }
            (Some(old), None) => text += &format!(" {} → nothing", number(old)),
            (None, Some(new)) => text += &format!(" nothing → {}", number(new)),
            (None, None) => {}
        }
        if let Some(ratio) = self.ratio {
            text += &format!(", {} (interval {} … {})", percent(ratio.median), percent(ratio.low), percent(ratio.high));
        }
        if !self.note.is_empty() {
            text += &format!("; {}", self.note);
        }
        text
    }
}

/// A number as short as it can be told apart: counters whole, small values with twelve digits.
pub fn number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let digits = (11 - value.abs().log10().floor() as i32).clamp(0, 17) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A ratio as a change: 1.1 is `+10.0 %`.
pub fn percent(ratio: f64) -> String {
    let change = 100.0 * (ratio - 1.0);
    // Changes of the objective are small; they must not read as +0.0 %.
    if change != 0.0 && change.abs() < 0.05 { format!("{change:+.1e} %") } else { format!("{change:+.1} %") }
}
