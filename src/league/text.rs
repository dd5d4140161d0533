//! The league as tables: standings in; titled tables with a line of explanation out, the same for the terminal, Markdown
//! and the report.

use super::{Cell, League, Matrix, Measure, REFERENCE, Score, Standing, Winner};
use crate::text::{Grid, number, seconds};

/// What a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "harness", derive(clap::ValueEnum))]
pub enum Part {
    /// Who wins at which gap.
    Winners,
    /// Time and oracle calls to each gap, with speed-ups against the reference.
    Targets,
    /// Expected running time.
    Ert,
    /// Speed-ups of everybody over everybody.
    Matrix,
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What it is about.
    pub part: Part,
    /// Heading of its data set; empty for one over all of them.
    pub dataset: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The table.
    pub grid: Grid,
}

impl Section {
    /// For the terminal.
    pub fn text(&self) -> String {
        format!("{}\n{}\n\n{}\n", self.heading(), self.note, self.grid.text())
    }

    /// For a page.
    pub fn markdown(&self) -> String {
        format!("**{}**\n\n{}\n\n{}\n", self.heading(), self.note, self.grid.markdown())
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
        sections.extend(Measure::ALL.map(|measure| targets(standing, measure)));
        sections.push(ert(standing));
        for (measure, grid) in Measure::ALL.into_iter().zip(&standing.matrices) {
            sections.push(matrix(&standing.title, measure, grid));
        }
    }
    if league.standings.len() > 1 {
        sections.extend(Measure::ALL.into_iter().zip(&league.matrices).map(|(measure, m)| matrix("", measure, m)));
    }
    sections.retain(|section| (parts.is_empty() || parts.contains(&section.part)) && !section.grid.rows.is_empty());
    sections
}

/// What was spent, in the unit of the measure.
fn spent(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Time => seconds(value),
        Measure::Calls if value < 1e5 => format!("{value:.0}"),
        Measure::Calls => number(value),
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

fn winners(standing: &Standing) -> Section {
    let mut grid = Grid::new(&["relative gap"]);
    grid.head.extend(Measure::ALL.map(|measure| measure.name().to_owned()));
    for (at, target) in standing.targets.iter().enumerate() {
        let cell = |winner: &Winner| match winner {
            Winner::One(name) => name.clone(),
            Winner::Undecided(names) if names.len() == 1 => format!("{} alone", names[0]),
            Winner::Undecided(names) => format!("undecided between {}", names.join(", ")),
            Winner::Nobody => "nobody got there".to_owned(),
        };
        let mut row = vec![format!("{target:e}")];
        row.extend(standing.winners.iter().filter_map(|winners| winners.get(at)).map(cell));
        grid.rows.push(row);
    }
    if standing.targets.is_empty() {
        let mut row = vec!["none".to_owned()];
        row.resize(grid.head.len(), "not compared".to_owned());
        grid.rows.push(row);
    }
    let note = format!(
        "A solver wins where its 95 % interval against every other one is clear of 1; otherwise those that the least \
         median does not beat clearly are named, it first. {}",
        known(standing)
    );
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

/// A table with a row per solver and a column per target; `cell` gets a score and the place of the target.
fn by_target(standing: &Standing, cell: impl Fn(usize, &[Score], usize) -> String) -> Grid {
    let mut grid = Grid::new(&["solver"]);
    grid.head.extend(standing.targets.iter().map(|target| format!(">{target:e}")));
    for member in standing.members.iter().filter(|_| !standing.targets.is_empty()) {
        let mut row = vec![member.display.clone()];
        row.extend((0..standing.targets.len()).map(|at| cell(member.runs, &member.scores, at)));
        grid.rows.push(row);
    }
    grid
}

fn targets(standing: &Standing, measure: Measure) -> Section {
    let of = |scores: &[Score], at: usize| scores.get(measure as usize).and_then(|score| score.cells.get(at)).copied();
    let mut grid = by_target(standing, |runs, scores, at| {
        of(scores, at).map_or("–".to_owned(), |cell| target_cell(measure, runs, &cell))
    });
    grid.head.push(">area".to_owned());
    for (row, member) in grid.rows.iter_mut().zip(&standing.members) {
        let area = member.scores.get(measure as usize).and_then(|score| score.area);
        row.push(area.map_or("–".to_owned(), |area| area.text(|share| format!("{share:.3}"))));
    }
    let no_dual: Vec<&str> = standing.members.iter().filter(|m| !m.has_dual).map(|m| m.display.as_str()).collect();
    let clock = if measure == Measure::Time { format!(" on the {} clock", standing.clock) } else { String::new() };
    let mut note = format!(
        "Median {}{clock} until the best primal so far is within the gap of the certified optimum, crossings interpolated; \
         in square brackets how many runs got there when not all did; × says how many times as fast as {REFERENCE}, median \
         over pairs with one seed and 95 % interval by bootstrap over them, ≥ and ≤ where runs ended before. Area over the \
         convergence curve: 1 is best.",
        measure.name()
    );
    if !no_dual.is_empty() {
        note += &format!(" Without a dual: {}.", no_dual.join(", "));
    }
    let title = format!("{} to a relative gap", measure.name());
    Section { part: Part::Targets, dataset: standing.title.clone(), title, note, grid }
}

fn ert(standing: &Standing) -> Section {
    let grid = by_target(standing, |_, scores, at| {
        let of = |measure: Measure| scores.get(measure as usize)?.cells.get(at)?.ert.map(|ert| spent(measure, ert));
        let parts: Vec<String> = Measure::ALL.into_iter().filter_map(of).collect();
        if parts.is_empty() { "–".to_owned() } else { parts.join(" / ") }
    });
    let note =
        "All that the runs spent until the gap or until they ended, over the number that got there: solver time / \
                oracle calls."
            .to_owned();
    Section { part: Part::Ert, dataset: standing.title.clone(), title: "expected running time".to_owned(), note, grid }
}

fn matrix(dataset: &str, measure: Measure, matrix: &Matrix) -> Section {
    let n = matrix.names.len();
    let mut grid = Grid::new(&["row over column"]);
    grid.head.extend(matrix.names.iter().map(|name| format!(">{name}")));
    let known = (0..n).any(|row| (0..n).any(|column| matrix.at(row, column).is_some()));
    for row in (0..n).filter(|_| known) {
        let cell = |column: usize| {
            let mark = |s: super::Speedup| {
                let mark = if s.is_faster() {
                    " ▲"
                } else if s.is_slower() {
                    " ▼"
                } else {
                    ""
                };
                s.value_text() + mark
            };
            if row == column { "·".to_owned() } else { matrix.at(row, column).map_or("–".to_owned(), mark) }
        };
        grid.rows.push(std::iter::once(matrix.names[row].clone()).chain((0..n).map(cell)).collect());
    }
    let note =
        "How many times as fast the solver of the row is as that of the column: median over seeds of the median over \
                gaps that one of them reached; ▲ faster, ▼ slower: the 95 % interval is clear of 1."
            .to_owned();
    let title = format!("speed-ups in {}", measure.name());
    Section { part: Part::Matrix, dataset: dataset.to_owned(), title, note, grid }
}
