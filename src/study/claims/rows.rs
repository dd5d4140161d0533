//! The table of claims: the statement of the paper, and the function that checks it.

use super::thresholds::Bar;
use super::{Claim, Subject, convergence, parameters, time};
use ssvm::problem::Paper;

pub struct ClaimRow {
    pub(super) number: u8,
    pub(super) part: Option<char>,
    /// The statement of the paper, in a line.
    pub title: &'static str,
    /// The same in a table, for a folder that has no data set to check it on.
    pub(super) short: &'static str,
    pub(super) solver: &'static str,
    /// The paper's value for its data sets, in the order of [`Paper::ALL`]; empty for one that it makes no statement about.
    pub(super) paper: [&'static str; 4],
    pub(super) check: fn(&Subject<'_>) -> Vec<Claim>,
    /// Whether it makes sense on data sets that the paper does not have.
    pub(super) anywhere: bool,
    /// Whether a verdict about a solver that keeps planes needs a length of [`Bar::Lifetimes`].
    pub(super) lifetimes: bool,
    /// The thresholds that it turns on.
    pub(super) bars: &'static [Bar],
}

impl ClaimRow {
    /// Whether a threshold may change its verdicts; a busy machine changes all.
    pub(super) fn turns_on(&self, bar: Bar) -> bool {
        self.bars.contains(&bar) || matches!(bar, Bar::WholeCore | Bar::Disturbed)
    }

    /// Whether a claim is one of this row. Those of former versions were about the first part.
    pub fn has(&self, claim: &Claim) -> bool {
        self.number == claim.number && self.part == claim.part.or(self.part.filter(|part| *part == 'a'))
    }
}

const LOWER: ClaimRow = ClaimRow {
    number: 1,
    part: Some('a'),
    title: "At equal iterations the multi-plane solvers are closer to the optimum",
    short: "lower primal suboptimality at every iteration",
    solver: MULTI,
    paper: ["always lower"; 4],
    check: convergence::always_lower,
    anywhere: true,
    lifetimes: false,
    bars: &[Bar::AlwaysFrom, Bar::AlwaysLength],
};

const EFFECT: ClaimRow = ClaimRow {
    number: 2,
    part: Some('a'),
    title: "The effect is larger where the label space is larger",
    short: "larger effect than on USPS on average",
    solver: MULTI,
    paper: ["", "larger", "larger", "larger"],
    check: convergence::larger_mean_effect,
    anywhere: false,
    lifetimes: false,
    bars: &[Bar::Stronger],
};

/// The table of claims.
pub const CLAIMS: &[ClaimRow] = &[
    LOWER,
    ClaimRow {
        part: Some('b'),
        title: "The multi-plane solvers need fewer oracle calls to a given quality",
        short: "fewer oracle calls to a gap",
        paper: ["fewer iterations"; 4],
        check: convergence::fewer_calls,
        bars: &[Bar::FewerCalls],
        ..LOWER
    },
    ClaimRow {
        part: Some('c'),
        title: "At the last common iteration the multi-plane solvers are closer to the optimum",
        short: "lower primal suboptimality at the last iteration",
        paper: ["lower"; 4],
        check: convergence::lower_at_end,
        bars: &[Bar::LowerAtEnd],
        ..LOWER
    },
    EFFECT,
    ClaimRow {
        part: Some('b'),
        title: "The effect at the last common iteration is larger where the label space is larger",
        short: "larger effect than on USPS at the last iteration",
        check: convergence::larger_effect_at_end,
        ..EFFECT
    },
    ClaimRow {
        number: 3,
        part: None,
        title: "Share of the time spent in the max-oracle",
        short: "oracle share of BCFW",
        solver: SINGLE,
        paper: ["about 15 %", "about 70 %", "almost 99 %", "almost 99 %"],
        check: time::oracle_share,
        anywhere: false,
        lifetimes: true,
        bars: &[Bar::About, Bar::NearlyAll, Bar::Quarter, Bar::Lifetimes],
    },
    ClaimRow {
        number: 4,
        part: None,
        title: "Convergence against runtime",
        short: "runtime of MP-BCFW against BCFW",
        solver: MULTI,
        paper: ["not slower", "not slower", "substantially faster", "substantially faster"],
        check: time::runtime,
        anywhere: false,
        lifetimes: false,
        bars: &[Bar::NotSlower, Bar::Substantially],
    },
    ClaimRow {
        number: 5,
        part: None,
        title: "Automatic choice of working set and passes",
        short: "working set and passes",
        solver: MULTI,
        paper: [
            "planes and passes stay small",
            "10 to 15 passes",
            "planes settle low, passes grow to hundreds",
            "planes grow to a stable state, passes grow slowly",
        ],
        check: parameters::parameters,
        anywhere: false,
        lifetimes: true,
        bars: &[
            Bar::Lifetimes,
            Bar::Small,
            Bar::LeastPasses,
            Bar::MostPasses,
            Bar::Low,
            Bar::SeveralHundred,
            Bar::Stable,
            Bar::Clearly,
        ],
    },
];

/// The solvers that claims 2, 3 and 5 are about.
pub(super) const SINGLE: &str = Paper::SOLVER;
pub(super) const MULTI: &str = "mp-bcfw";
