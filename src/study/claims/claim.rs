//! A claim with its verdict, as tables show it and summaries keep it.

use serde::{Deserialize, Serialize};

use crate::study::estimate::Estimate;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Holds,
    DoesNotHold,
    /// Not decided, for a [`Reason`].
    Undecided,
    NotMeasured,
    /// The runs were chosen so that it holds. It is not a result and is not counted.
    ByConstruction,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        ["holds", "does not hold", "undecided", "not measured", "by construction"][self as usize]
    }

    pub fn mark(self) -> char {
        ['✓', '✗', '?', '–', '·'][self as usize]
    }
}

/// Why a claim is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The interval of the measured value covers the threshold.
    Interval,
    /// There are too few repeats for an interval.
    FewRepeats,
    /// Neither end of the interval is known, because too many draws of the repeats have no value.
    OpenInterval,
    /// The same for a ratio of times to a gap that too many runs did not reach.
    RunsEnded,
    /// All ratios are bounds.
    NoCommonGap,
    /// Iterations that the claim needs, and those that the runs have.
    TooShort { needed: u64, present: u64 },
    /// The whole run and its last half give different verdicts.
    DependsOnLength,
    /// A gap that only one solver reached may change the verdict.
    OpenBound,
    /// The curves begin too late.
    NotSeen,
    /// It would depend on where the optimum is between its bounds.
    Optimum,
    /// The machine was busy.
    Busy,
    /// The clock does not measure the time inside the oracle.
    Clock,
}

impl Reason {
    /// The reason in words, without numbers.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Interval => "the interval covers the threshold",
            Self::FewRepeats => "too few repeats",
            Self::OpenInterval => "the interval is open",
            Self::RunsEnded => "runs ended before the gap",
            Self::NoCommonGap => "no gap that both reached",
            Self::TooShort { .. } => "too short",
            Self::DependsOnLength => "depends on the length of the run",
            Self::OpenBound => "only one solver reached the tighter gaps",
            Self::NotSeen => "too few iterations were evaluated",
            Self::Optimum => "the optimum is not known well enough",
            Self::Busy => "the machine was busy",
            Self::Clock => "the share of the oracle is not measured well on the cpu clock",
        }
    }

    pub fn text(self) -> String {
        match self {
            Self::TooShort { needed, present } => format!("too short, {present} of {needed} iterations"),
            other => other.kind().to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub number: u8,
    /// The letter of the statement, if the claim has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<char>,
    /// The paper's name for the data set when the folder has none of it.
    pub dataset: String,
    pub title: String,
    /// The solver it is about, with its settings where a folder has several.
    pub solver: String,
    /// The solver that it is compared with, in the same way; `None` in a file of an older program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    pub claim: String,
    /// The paper's value.
    pub paper: String,
    /// The measured value in words, with its interval.
    pub measured: String,
    /// The number on which the verdict depends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    /// The reason if the verdict is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Whether the verdict follows from the cost model of the clock. It is no evidence about a machine and is counted separately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub circular: bool,
    /// How the value was measured, over how many runs, and its limits.
    pub evidence: String,
    /// The same at the oracle cost of the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regime: Option<InRegime>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InRegime {
    pub oracle_cost: f64,
    pub measured: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub circular: bool,
    pub evidence: String,
}

impl Claim {
    /// `1a`; summaries of former versions have no parts.
    pub fn id(&self) -> String {
        self.number.to_string() + &self.part.map_or(String::new(), String::from)
    }

    /// The evidence on this machine and, where that is another one, in the paper's regime.
    pub fn evidence(&self) -> String {
        match &self.regime {
            Some(regime) => format!("{} | in the paper's regime: {}", self.evidence, regime.evidence),
            None => self.evidence.clone(),
        }
    }

    /// On this machine, and in the paper's regime where it was run there.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> + use<> {
        std::iter::once(self.verdict).chain(self.regime.as_ref().map(|regime| regime.verdict))
    }
}
