//! The table of figures: for each its name, how it is drawn, and from `captions.toml` the texts about it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::convergence::{DYNAMICS, ORACLE, RUNTIME};
use super::{Scene, breakeven, explain, league, league_targets, oracle_time, performance};
use crate::error::Result;

/// Draws a figure of these data sets as SVG text; `None` when the results have nothing for it to show.
type Draw = fn(&Scene<'_>, &[&str]) -> Result<Option<String>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureRow {
    /// Name of its files.
    #[serde(skip)]
    pub name: &'static str,
    pub title: String,
    /// What to see, in a sentence.
    pub about: String,
    /// Why it may have nothing to show.
    #[serde(default)]
    pub missing: String,
    /// Whether it is about the paper's regime or oracle costs: without a data set of the paper nothing is missing when it is not drawn.
    #[serde(default)]
    of_paper: bool,
    /// The figure of the paper that it reproduces, and its caption.
    paper_figure: Option<u8>,
    #[serde(default)]
    caption: String,
    /// Whether every data set has one of its own besides the one over all.
    #[serde(skip)]
    pub per_dataset: bool,
    #[serde(skip, default = "undrawn")]
    pub draw: Draw,
}

impl FigureRow {
    /// Whether its absence is worth a remark.
    pub fn is_missed(&self, paper_data: bool) -> bool {
        paper_data || !self.of_paper
    }

    /// The caption in the paper, and paper and figure.
    pub fn quote(&self) -> Option<(&str, String)> {
        let number = self.paper_figure?;
        Some((&self.caption, format!("Shah, Kolmogorov, Lampert, CVPR 2015, figure {number}")))
    }
}

fn undrawn() -> Draw {
    |_, _| Ok(None)
}

/// Name, whether every data set has one of its own, and drawing: the four of the paper, the league, the oracle cost, and the
/// two that explain the step and the slope rule.
const DRAWINGS: [(&str, bool, Draw); 12] = [
    ("oracle_convergence", true, |scene, sets| scene.bands(&ORACLE, sets)),
    ("runtime_convergence", true, |scene, sets| scene.bands(&RUNTIME, sets)),
    ("parameter_dynamics", true, |scene, sets| scene.bands(&DYNAMICS, sets)),
    ("oracle_time", true, oracle_time::draw),
    ("league", true, league::draw),
    ("performance_profile", true, performance::draw),
    ("league_targets", true, league_targets::draw),
    ("breakeven", true, breakeven::draw),
    ("regime_runtime_convergence", true, |scene, sets| scene.regime_bands(&RUNTIME, sets)),
    ("regime_parameter_dynamics", true, |scene, sets| scene.regime_bands(&DYNAMICS, sets)),
    ("fw_step", false, |_, _| explain::fw_step()),
    ("slope_rule", false, |scene, _| explain::slope_rule(explain::passes(scene.results.own.records()))),
];

/// The figures in the order of pages. A test makes sure that each has a caption.
pub static FIGURES: LazyLock<Vec<FigureRow>> = LazyLock::new(|| {
    let captions = toml::from_str(include_str!("captions.toml"));
    let mut captions: BTreeMap<String, FigureRow> = captions.unwrap_or_default();
    let row = |(name, per_dataset, draw)| Some(FigureRow { name, per_dataset, draw, ..captions.remove(name)? });
    DRAWINGS.into_iter().filter_map(row).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_says_what_to_see() {
        assert_eq!(FIGURES.len(), DRAWINGS.len());
        for (at, row) in FIGURES.iter().enumerate() {
            assert!(!row.title.is_empty() && row.about.ends_with('.'), "{}", row.name);
            assert_eq!(row.about.matches(". ").count(), 0, "{}: one sentence", row.name);
            assert!(FIGURES[..at].iter().all(|other| other.name != row.name && other.title != row.title));
        }
        let mut numbers: Vec<u8> = FIGURES.iter().filter_map(|row| row.paper_figure).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 3, 4, 5, 6]);
    }
}
