//! The league as tables: standings in; titled tables with a line of explanation out, the same for the terminal, Markdown
//! and the report.

use super::over_gaps::{area, clock, distribution, over_gaps};
use crate::study::league::profile::WORST;
use crate::study::league::{Cell, League, Measure, REFERENCE, Score, Standing, Winner};
use crate::table::Grid;
use crate::text::{number, seconds};

/// What a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Who wins at which gap.
    Winners,
    /// Time and oracle calls to each gap, with speed-ups against the reference.
    Targets,
    /// Expected running time.
    Ert,
    /// Distribution over targets and area over the convergence curve, also with a dearer oracle.
    Anytime,
    /// Performance profile over all gaps.
    Profile,
    /// Speed-ups of everybody over everybody.
    Matrix,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Winners, Self::Targets, Self::Ert, Self::Anytime, Self::Profile, Self::Matrix];

    /// Name of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Winners => "winners",
            Self::Targets => "targets",
            Self::Ert => "ert",
            Self::Anytime => "anytime",
            Self::Profile => "performance_profile",
            Self::Matrix => "speedups",
        }
    }

    /// How to read its tables.
    pub fn explain(self) -> String {
        match self {
            Self::Winners => format!(
                "A solver wins where its interval against every other one is clear of 1; otherwise those that the least \
                 median does not beat clearly are named, it first. {INTERVALS}"
            ),
            Self::Targets => format!(
                "Median until the best primal so far is within the gap of the certified optimum, relative to it, crossings \
                 interpolated; in square brackets how many runs got there when not all did. × says how many times as fast \
                 as {REFERENCE}: median over pairs with one seed, with an interval, ≥ and ≤ where runs ended before. \
                 Cached: most memory of products between planes. {INTERVALS}"
            ),
            Self::Ert => "All that the runs spent until the gap or until they ended, over the number that got there: solver \
                          time / oracle calls."
                .to_owned(),
            Self::Anytime => "Over all pairs of gap (two a decade, as far as the optimum is known) and run. Reached: the \
                              share of pairs that were. Half: what was spent when half of all pairs were reached, oracle \
                              calls per term. Area over the convergence curve: mean over the logarithm of what is spent, \
                              on a stretch that all solvers share, 0 at a gap of 1, 1 at the smallest gap that is compared. \
                              Oracle × k: solver time if every second inside the exact oracle were k, from the same runs; \
                              * the solver reads the clock and would make other steps at that price, so this is a \
                              projection of a run made at its own."
                .to_owned(),
            Self::Profile => format!(
                "A problem is a gap of a data set that somebody reaches in the median; the share of problems that a solver \
                 solves within a factor of the best one. Score: mean over the logarithm of the factor from 1 to {WORST}, 1 \
                 for one that is always the best. It ranks against the best only, so taking one solver away may turn two \
                 others around: read it beside the matrix of speed-ups. {INTERVALS}"
            ),
            Self::Matrix => format!(
                "How many times as fast the solver of the row is as that of the column: median over seeds of the median over \
                 gaps that one of them reached; ▲ faster, ▼ slower: the interval is clear of 1. {INTERVALS}"
            ),
        }
    }
}

/// What the intervals are.
const INTERVALS: &str = "Intervals are by bootstrap over seeds, nominally 95 %; of five seeds they reach from the smallest to \
                         the largest, which covers a median in 93.75 % of all cases.";

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What it is about.
    pub part: Part,
    /// Heading of its data set; empty for one over all of them.
    pub dataset: String,
    /// What it shows.
    pub title: String,
    /// What is to be known of this one; may be empty.
    pub note: String,
    /// The table.
    pub grid: Grid,
}

impl Section {
    fn with(&self, table: &str, mark: &str) -> String {
        let note = if self.note.is_empty() { String::new() } else { format!("{}\n\n", self.note) };
        format!("{mark}{}{mark}\n\n{note}{table}", self.heading())
    }

    /// For a page.
    pub fn markdown(&self) -> String {
        self.with(&self.grid.markdown(), "**")
    }

    /// A `table` for a paper.
    pub fn latex(&self) -> String {
        let note = if self.note.is_empty() { String::new() } else { format!(". {}", self.note) };
        self.grid.latex_table(&format!("{}{note}", self.heading()))
    }

    /// Data set and title.
    pub fn heading(&self) -> String {
        let dataset = if self.dataset.is_empty() { "all data sets" } else { &self.dataset };
        format!("{dataset}: {}", self.title)
    }
}

/// The tables, those of one data set together; only these parts, all of them when there is none.
pub fn sections(league: &League, parts: &[Part]) -> Vec<Section> {
    let mut sections = Vec::new();
    for standing in &league.standings {
        sections.push(winners(standing));
        sections.extend(Measure::MEASURED.map(|measure| targets(standing, measure)));
        sections.push(ert(standing));
        sections.extend([distribution(standing), area(standing)]);
        sections.extend(over_gaps(&standing.title, &standing.profiles, &standing.matrices));
    }
    if league.standings.len() > 1 {
        sections.extend(over_gaps("", &league.profiles, &league.matrices));
    }
    sections.retain(|section| (parts.is_empty() || parts.contains(&section.part)) && !section.grid.rows.is_empty());
    sections
}

/// Tables for the terminal, each kind explained where it comes first.
pub fn text(sections: &[Section]) -> String {
    let mut seen: Vec<Part> = Vec::new();
    let mut texts = Vec::new();
    for section in sections {
        let explained = if seen.contains(&section.part) { String::new() } else { section.part.explain() + "\n\n" };
        seen.push(section.part);
        texts.push(section.with(&format!("{explained}{}", section.grid.text()), ""));
    }
    texts.join("\n\n")
}

/// What was spent, in the unit of the measure.
pub(super) fn spent(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Calls if value < 1e5 => format!("{value:.0}"),
        Measure::Calls => number(value),
        _ => seconds(value),
    }
}

fn listed(targets: &[f64]) -> String {
    targets.iter().map(|target| format!("{target:e}")).collect::<Vec<_>>().join(", ")
}

/// What is known of the optimum, and what is not compared because of it.
fn known(standing: &Standing) -> String {
    let Some((low, high)) = standing.optimum else {
        return "Nothing is compared: no lower bound of the optimum is known (`ssvm-bench optimum` finds one)."
            .to_owned();
    };
    let mut text = format!("The optimum lies between {low} and {high}, {} of it.", number((high - low) / high));
    if !standing.too_small.is_empty() {
        text +=
            &format!(" Less is known of it than the gaps {}: nothing is compared there.", listed(&standing.too_small));
    }
    text
}

/// Who is not beaten: those that got there by name, and how many ended before.
fn undecided(standing: &Standing, measure: Measure, at: usize, names: &[String]) -> String {
    let got_there = |name: &&String| {
        let member = standing.members.iter().find(|member| member.display == **name);
        member.is_some_and(|member| member.scores[measure as usize].cells[at].median.is_some())
    };
    let (there, ended): (Vec<&String>, Vec<&String>) = names.iter().partition(got_there);
    let there: Vec<&str> = there.into_iter().map(String::as_str).collect();
    let others = if ended.len() == 1 { "other" } else { "others" };
    match (there.as_slice(), ended.len()) {
        ([only], 0) => format!("{only} alone"),
        ([only], more) => format!("undecided: {only} got there, {more} {others} ended too early to tell"),
        (several, 0) => format!("undecided between {}", several.join(", ")),
        (several, more) => {
            format!("undecided between {}; {more} {others} ended too early to tell", several.join(", "))
        }
    }
}

fn winners(standing: &Standing) -> Section {
    let mut grid = Grid::new(&["relative gap"]);
    grid.head.extend(Measure::MEASURED.map(|measure| measure.name().to_owned()));
    for (at, target) in standing.targets.iter().enumerate() {
        let cell = |(measure, winner): (Measure, &Winner)| match winner {
            Winner::One(name) => name.clone(),
            Winner::Undecided(names) => undecided(standing, measure, at, names),
            Winner::Nobody => "nobody got there".to_owned(),
        };
        let mut row = vec![format!("{target:e}")];
        let winners = Measure::MEASURED.into_iter().zip(&standing.winners);
        row.extend(winners.filter_map(|(measure, winners)| Some((measure, winners.get(at)?))).map(cell));
        grid.rows.push(row);
    }
    if standing.targets.is_empty() {
        let mut row = vec!["none".to_owned()];
        row.resize(grid.head.len(), "not compared".to_owned());
        grid.rows.push(row);
    }
    let note = known(standing);
    Section {
        part: Part::Winners,
        dataset: standing.title.clone(),
        title: "who wins at which gap".to_owned(),
        note,
        grid,
    }
}

fn target_cell(measure: Measure, runs: usize, cell: &Cell) -> String {
    let mut text = cell.median.map_or("–".to_owned(), |median| spent(measure, median));
    if cell.reached < runs {
        text += &format!(" [{}/{runs}]", cell.reached);
    }
    let speedup = cell.speedup.map(|speedup| speedup.text()).filter(|text| text != "–");
    text + &speedup.map_or(String::new(), |speedup| format!(", {speedup}"))
}

/// Whether anybody got to a target.
fn somebody(standing: &Standing, at: usize) -> bool {
    let cells = standing.members.iter().flat_map(|member| &member.scores).filter_map(|score| score.cells.get(at));
    cells.map(|cell| cell.reached).any(|reached| reached > 0)
}

fn unreached(standing: &Standing) -> Option<String> {
    let targets = standing.targets.iter().enumerate().filter(|(at, _)| !somebody(standing, *at));
    let targets: Vec<f64> = targets.map(|(_, target)| *target).collect();
    (!targets.is_empty()).then(|| format!("No run got to {}.", listed(&targets)))
}

/// A table with a row per solver and a column per target that somebody reached; `cell` gets a score and the place of the target.
fn by_target(standing: &Standing, cell: impl Fn(usize, &[Score], usize) -> String) -> Grid {
    let mut grid = Grid::new(&["solver"]);
    let reached: Vec<usize> = (0..standing.targets.len()).filter(|at| somebody(standing, *at)).collect();
    grid.head.extend(reached.iter().map(|at| format!(">{:e}", standing.targets[*at])));
    for member in standing.members.iter().filter(|_| !reached.is_empty()) {
        let mut row = vec![member.display.clone()];
        row.extend(reached.iter().map(|at| cell(member.runs, &member.scores, *at)));
        grid.rows.push(row);
    }
    grid
}

fn targets(standing: &Standing, measure: Measure) -> Section {
    let of = |scores: &[Score], at: usize| scores.get(measure as usize).and_then(|score| score.cells.get(at)).copied();
    let mut grid = by_target(standing, |runs, scores, at| {
        of(scores, at).map_or("–".to_owned(), |cell| target_cell(measure, runs, &cell))
    });
    if standing.members.iter().any(|member| member.cached_bytes > 0) {
        grid.head.push(">cached MB".to_owned());
        for (row, member) in grid.rows.iter_mut().zip(&standing.members) {
            row.push(if member.cached_bytes == 0 {
                "–".to_owned()
            } else {
                number(member.cached_bytes as f64 / 1e6)
            });
        }
    }
    let mut notes = Vec::new();
    if measure == Measure::Time {
        notes.push(clock(standing));
    }
    let no_dual: Vec<&str> = standing.members.iter().filter(|m| !m.has_dual).map(|m| m.display.as_str()).collect();
    if !no_dual.is_empty() {
        notes.push(format!("Without a dual: {}.", no_dual.join(", ")));
    }
    notes.extend(unreached(standing));
    let note = notes.join(" ");
    let title = format!("{} to a relative gap", measure.name());
    Section { part: Part::Targets, dataset: standing.title.clone(), title, note, grid }
}

fn ert(standing: &Standing) -> Section {
    let grid = by_target(standing, |_, scores, at| {
        let of = |measure: Measure| scores.get(measure as usize)?.cells.get(at)?.ert.map(|ert| spent(measure, ert));
        let parts: Vec<String> = Measure::MEASURED.into_iter().filter_map(of).collect();
        if parts.is_empty() { "–".to_owned() } else { parts.join(" / ") }
    });
    let note = unreached(standing).unwrap_or_default();
    Section { part: Part::Ert, dataset: standing.title.clone(), title: "expected running time".to_owned(), note, grid }
}
