//! The table of figures: for each its name, what to see in it, the paper's caption, and how it is drawn.

use super::convergence::{DYNAMICS, ORACLE, RUNTIME};
use super::{Scene, breakeven, explain, league, league_targets, oracle_time, performance};
use crate::error::Result;

/// One row of the table of figures.
#[derive(Debug)]
pub struct FigureRow {
    /// Name of its files.
    pub name: &'static str,
    pub title: &'static str,
    /// What to see, in a sentence.
    pub about: &'static str,
    /// Number and caption of the figure of the paper that it stands for; […] stands for what is left out.
    pub paper: Option<(u8, &'static str)>,
    /// Whether every data set has one of its own besides the one over all.
    pub per_dataset: bool,
    /// Draws it for these data sets as SVG text; `None` when the results have nothing for it to show.
    pub draw: fn(&Scene<'_>, &[&str]) -> Result<Option<String>>,
    /// Why it may have nothing to show.
    pub missing: &'static str,
}

impl FigureRow {
    /// The caption in the paper, and paper and figure.
    pub fn quote(&self) -> Option<(&'static str, String)> {
        let (number, words) = self.paper?;
        Some((words, format!("Shah, Kolmogorov, Lampert, CVPR 2015, figure {number}")))
    }
}

const NO_TARGET: &str = "no two solvers can be compared at a gap of the certified optimum";
const NO_REGIME: &str = "nothing was run at the paper's oracle cost (oracle_cost = \"paper\")";

/// What most rows have in common; rows say what is different.
const PLAIN: FigureRow =
    FigureRow { name: "", title: "", about: "", paper: None, per_dataset: true, draw: |_, _| Ok(None), missing: "" };

/// The table of figures: the four of the paper, the league, and the two that explain the step and the slope rule.
pub const FIGURES: &[FigureRow] = &[
    FigureRow {
        name: "oracle_convergence",
        title: "Oracle convergence",
        about: "How far each solver is from the optimum after k iterations, that is after k exact oracle calls per term: the \
                multi-plane solvers should lie lower, because approximate passes cost no call.",
        paper: Some((
            4,
            "Oracle convergence on the four benchmark datasets: primal suboptimality (left), dual suboptimality \
             (middle), duality gap (right). Shaded areas indicate minimum and maximum values over 10 repeats. In all \
             cases, the multi-plane algorithms, MP-BCFW and MP-BCFW-avg, require fewer iterations to reach high \
             quality solutions than the single plane variants, BCFW and BCFW-avg.",
        )),
        draw: |scene, sets| scene.bands(&ORACLE, sets),
        ..PLAIN
    },
    FigureRow {
        name: "runtime_convergence",
        title: "Runtime convergence",
        about: "The same distances against solver time: where the oracle takes most of the time the multi-plane solvers should \
                lie lower, where it is cheap they should not lie higher.",
        paper: Some((
            5,
            "Runtime convergence on the four benchmark datasets […] When the max-oracle is fast (USPS and OCR), the \
             multi-plane algorithms (MP-BCFW, MP-BCFW-avg) behave similarly to their single-plane counterparts \
             (BCFW, BCFW-avg) due to the automatic parameter adjustment. When the max-oracle is computationally \
             costly (HorseSeg, Stanford) the multi-plane variants converge substantially faster.",
        )),
        draw: |scene, sets| scene.bands(&RUNTIME, sets),
        ..PLAIN
    },
    FigureRow {
        name: "parameter_dynamics",
        title: "Parameter dynamics",
        about: "How many planes a term keeps and how many approximate passes the slope rule allows as the run goes on: both \
                should follow from the data and from the oracle cost, and from nothing else.",
        paper: Some((
            6,
            "Automatic parameter selection. The size of the working set (top) and the number of approximate passes per \
             iteration (bottom) are adjusted in a data- and runtime-dependent way.",
        )),
        draw: |scene, sets| scene.bands(&DYNAMICS, sets),
        ..PLAIN
    },
    FigureRow {
        name: "oracle_time",
        title: "Oracle time",
        about: "Which part of a solver's time goes into the exact oracle, and how long one call and one approximate step \
                take: what a multi-plane solver can save is the bar of its single-plane partner.",
        draw: |scene, sets| oracle_time::draw(scene, sets).map(Some),
        ..PLAIN
    },
    FigureRow {
        name: "league",
        title: "League",
        about: "Which share of all gaps and seeds a solver has reached for an amount of solver time or of oracle calls: the line \
                that is higher and further left is the better one.",
        draw: league::draw,
        missing: NO_TARGET,
        ..PLAIN
    },
    FigureRow {
        name: "performance_profile",
        title: "Performance profile and speed-ups",
        about: "How often a solver is within a factor of the best one, and below how many times as fast each is as each other: a \
                solver that starts high is often the best, one that ends high reaches every gap.",
        draw: performance::draw,
        missing: NO_TARGET,
        ..PLAIN
    },
    FigureRow {
        name: "league_targets",
        title: "Speed-ups to gaps",
        about: "How many times as fast as the reference each solver is at each gap, in time and in oracle calls: an interval \
                that does not contain 1 is significant, all others are not.",
        draw: league_targets::draw,
        missing: NO_TARGET,
        ..PLAIN
    },
    FigureRow {
        name: "breakeven",
        title: "Oracle cost",
        about: "Time to a gap over BCFW's at k times the oracle cost: where a line falls below 1 the solver has become the \
                faster one, and the marks say where this machine and the paper are.",
        draw: breakeven::draw,
        missing: "BCFW was not run at two oracle costs (oracle_cost), or reached no gap that is compared",
        ..PLAIN
    },
    FigureRow {
        name: "regime_runtime_convergence",
        title: "Runtime convergence in the paper's regime",
        about: "Runtime convergence at an oracle cost at which BCFW spends the paper's share of its time in the oracle: compare \
                it with figure 5 of the paper.",
        draw: |scene, sets| scene.regime_bands(&RUNTIME, sets),
        missing: NO_REGIME,
        ..PLAIN
    },
    FigureRow {
        name: "regime_parameter_dynamics",
        title: "Parameter dynamics in the paper's regime",
        about: "Planes and approximate passes at that oracle cost: compare them with figure 6 of the paper.",
        draw: |scene, sets| scene.regime_bands(&DYNAMICS, sets),
        missing: NO_REGIME,
        ..PLAIN
    },
    FigureRow {
        name: "fw_step",
        title: "A Frank–Wolfe step",
        about: "One step on a problem with one weight: the new plane is the mix of the old one and the oracle's that lifts the \
                lowest point of the lower bound most.",
        paper: Some((
            1,
            "Frank-Wolfe algorithm […] The vector φ specifies the current linear lower bound on H. […] Compute a \
             linear interpolation φ′ between φ and φ̂ that maximizes F(φ′), and set φ ← φ′.",
        )),
        per_dataset: false,
        draw: |_, _| explain::fw_step().map(Some),
        ..PLAIN
    },
    FigureRow {
        name: "slope_rule",
        title: "The slope rule",
        about: "One recorded iteration: while the last approximate pass gained more per second than the iteration so far, \
                another one is made.",
        paper: Some((
            3,
            "Geometric criterion for number of approximate passes. After each approximate pass, we compare the relative \
             progress (increase in objective per time = slope of the last black line segment) to the relative progress \
             of the complete iteration so far (slope of the dashed line). If the former is higher (left), we make \
             another approximate pass. Otherwise, we start a new iteration (right).",
        )),
        per_dataset: false,
        draw: |scene, _| explain::passes(scene.results.own.records()).map_or(Ok(None), explain::slope_rule),
        missing: "no run made approximate passes",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_says_what_to_see() {
        for (at, row) in FIGURES.iter().enumerate() {
            assert!(!row.title.is_empty() && row.about.ends_with('.'), "{}", row.name);
            assert_eq!(row.about.matches(". ").count(), 0, "{}: one sentence", row.name);
            assert!(FIGURES[..at].iter().all(|other| other.name != row.name && other.title != row.title));
        }
        let mut numbers: Vec<u8> = FIGURES.iter().filter_map(|row| Some(row.paper?.0)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 3, 4, 5, 6]);
    }
}
