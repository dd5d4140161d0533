//! The table of claims: the statement of the paper, and the function that checks it.

use super::thresholds::Bar;
use super::{Claim, Subject, convergence, parameters, time};
use ssvm::problem::Paper;

pub struct ClaimRow {
    pub(super) number: u8,
    pub(super) part: Option<char>,
    /// The statement of the paper, in a line.
    pub title: &'static str,
    /// A shorter form, for the row of a data set that the folder does not have.
    pub(super) short: &'static str,
    pub(super) solver: &'static str,
    /// The paper's value per data set, in the order of [`Paper::ALL`]; empty where the paper makes no statement.
    pub(super) paper: [&'static str; 4],
    pub(super) check: fn(&Subject<'_>) -> Vec<Claim>,
    /// Whether the claim can be checked on data sets that are not in the paper.
    pub(super) anywhere: bool,
    /// Whether verdicts about solvers that keep planes need runs as long as [`Bar::Lifetimes`].
    pub(super) lifetimes: bool,
    /// The thresholds that its verdicts depend on.
    pub(super) bars: &'static [Bar],
}

impl ClaimRow {
    /// As [`Claim::id`].
    pub fn id(&self) -> String {
        self.number.to_string() + &self.part.map_or(String::new(), String::from)
    }

    /// Whether its verdicts depend on a threshold; those for a busy machine affect every claim.
    pub(super) fn turns_on(&self, bar: Bar) -> bool {
        self.bars.contains(&bar) || matches!(bar, Bar::WholeCore | Bar::Disturbed)
    }

    /// Whether a claim belongs to this row. Claims without a part, from older versions, belong to part `a`.
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
    lifetimes: true,
    bars: &[Bar::AlwaysFrom, Bar::Lifetimes],
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
    lifetimes: true,
    bars: &[Bar::Stronger, Bar::Lifetimes],
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
        lifetimes: false,
        bars: &[Bar::FewerCalls],
        ..LOWER
    },
    ClaimRow {
        part: Some('c'),
        title: "At the last common iteration the multi-plane solvers are closer to the optimum",
        short: "lower primal suboptimality at the last iteration",
        paper: ["lower"; 4],
        check: convergence::lower_at_end,
        bars: &[Bar::LowerAtEnd, Bar::Lifetimes],
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
        title: "The max-oracle takes the stated share of the time",
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
        title: "The multi-plane solvers converge as fast or faster in runtime",
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
        title: "Working set and passes adjust to the data",
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
