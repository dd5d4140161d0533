//! The claims of the paper: tables in; one row per claim and data set with the paper's value, the measured value, a
//! verdict and the evidence out. Pure: printing is elsewhere, and a claim that does not hold is a result.

mod checks;

use serde::Serialize;

use crate::config::SolverKind;
use crate::error::Result;
use crate::frame::layout::Grid;
use crate::frame::names::{self, Family};
use crate::frame::profile::ProfileRow;
use crate::frame::{Axis, Bands, Frames};

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The measured value agrees.
    Holds,
    /// It does not.
    DoesNotHold,
    /// The folder has no runs that could tell.
    NotMeasured,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::NotMeasured => "not measured",
        }
    }

    fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::DoesNotHold }
    }
}

/// One claim on one data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Number in section 5 of the specification, 1 to 5.
    pub number: u8,
    /// Data set; the family's name when the folder has none of it.
    pub dataset: String,
    /// The solver it is about.
    pub solver: SolverKind,
    /// What is claimed.
    pub claim: String,
    /// The paper's value.
    pub paper: String,
    /// The measured value.
    pub measured: String,
    /// What came out.
    pub verdict: Verdict,
    /// How the value was taken, over how many runs, and what limits it.
    pub evidence: String,
}

/// The part of a result folder the checks read, with the series of a solver found by kind.
struct Study<'a> {
    frames: &'a Frames,
    profile: &'a [ProfileRow],
    iterations: Vec<Bands>,
}

/// All claims, ordered by number and data set.
pub fn check(frames: &Frames, profile: &[ProfileRow]) -> Result<Vec<Claim>> {
    let study = Study { frames, profile, iterations: frames.bands(Axis::Iteration)? };
    let datasets = frames.datasets();
    let mut claims = Vec::new();
    for number in 1..=5 {
        for family in [Family::Usps, Family::Ocr, Family::HorseSeg, Family::Stanford] {
            let members: Vec<&str> = datasets.iter().copied().filter(|d| Family::of(d) == Some(family)).collect();
            for dataset in &members {
                study.check(number, family, dataset, &mut claims)?;
            }
            if members.is_empty() {
                absent(number, family, &mut claims);
            }
        }
        // Claims 1 and 4 make sense on any data; other people's sets are checked for the first.
        if number == 1 {
            for dataset in datasets.iter().filter(|d| Family::of(d).is_none()) {
                study.lower_suboptimality(dataset, &mut claims);
            }
        }
    }
    Ok(claims)
}

impl Study<'_> {
    fn check(&self, number: u8, family: Family, dataset: &str, claims: &mut Vec<Claim>) -> Result<()> {
        match number {
            1 => self.lower_suboptimality(dataset, claims),
            2 => self.larger_effect(family, dataset, claims),
            3 => self.oracle_share(family, dataset, claims),
            4 => self.runtime(family, dataset, claims)?,
            _ => self.parameters(family, dataset, claims),
        }
        Ok(())
    }
}

/// The row of a family the folder has no data of.
fn absent(number: u8, family: Family, claims: &mut Vec<Claim>) {
    let (claim, paper) = match number {
        1 => ("lower primal suboptimality at equal iterations".to_owned(), "always lower".to_owned()),
        2 if family == Family::Usps => return,
        2 => ("larger effect than on USPS".to_owned(), "larger".to_owned()),
        3 => ("oracle share of BCFW".to_owned(), checks::paper_share(family).to_owned()),
        4 => ("runtime of MP-BCFW against BCFW".to_owned(), checks::paper_runtime(family).to_owned()),
        _ => ("working set and passes".to_owned(), checks::paper_parameters(family).to_owned()),
    };
    claims.push(Claim {
        number,
        dataset: family.name().to_owned(),
        solver: if number == 3 { SolverKind::Bcfw } else { SolverKind::MpBcfw },
        claim,
        paper,
        measured: "–".to_owned(),
        verdict: Verdict::NotMeasured,
        evidence: "no data set of this family in the folder".to_owned(),
    });
}

/// The claims as a table; evidence is a column of its own.
pub fn grid(claims: &[Claim]) -> Grid {
    let mut grid = Grid::new(&["#", "data set", "claim", "paper", "measured", "verdict", "evidence"]);
    for claim in claims {
        grid.rows.push(vec![
            claim.number.to_string(),
            names::title(&claim.dataset).to_owned(),
            claim.claim.clone(),
            claim.paper.clone(),
            claim.measured.clone(),
            claim.verdict.name().to_owned(),
            claim.evidence.clone(),
        ]);
    }
    grid
}

/// "12 hold, 1 does not, 4 not measured".
pub fn summary(claims: &[Claim]) -> String {
    let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    format!(
        "{} hold, {} do not hold, {} not measured",
        count(Verdict::Holds),
        count(Verdict::DoesNotHold),
        count(Verdict::NotMeasured)
    )
}

/// The claims for the terminal: a line each, the evidence indented below.
pub fn text(claims: &[Claim]) -> String {
    let mut lines = grid(claims);
    lines.head.pop();
    lines.rows.iter_mut().for_each(|row| drop(row.pop()));
    let table = lines.text();
    let mut table = table.lines();
    let mut out = format!("{}\n", table.next().unwrap_or_default());
    for (line, claim) in table.zip(claims) {
        out.push_str(&format!("{line}\n     {}\n", claim.evidence));
    }
    out.push_str(&format!("\n{}\n", summary(claims)));
    out
}
