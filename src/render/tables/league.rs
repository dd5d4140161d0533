//! The league as titled tables, the same for the terminal, Markdown, LaTeX and the report.

use crate::study::league::profile::WORST;
use crate::study::league::{
    Cell as TargetCell, League, Matrix, Measure, Member, Profile, ProfileLine, REFERENCE, Score, Speedup, Standing,
    Winner,
};
use crate::table::{Cell, Column, Kind, Table, cells};
use crate::text::{number, seconds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Winners,
    /// Time and oracle calls to each gap, with speed-ups against the reference.
    Targets,
    Ert,
    /// Distribution over targets and area over the convergence curve.
    Anytime,
    Profile,
    Matrix,
}

impl Part {
    pub const ALL: [Self; 6] = [Self::Winners, Self::Targets, Self::Ert, Self::Anytime, Self::Profile, Self::Matrix];

    pub fn word(self) -> &'static str {
        ["winners", "targets", "ert", "anytime", "profile", "matrix"][self as usize]
    }

    pub fn file(self) -> &'static str {
        match self {
            Self::Profile => "performance_profile",
            Self::Matrix => "speedups",
            other => other.word(),
        }
    }

    pub fn explain(self) -> String {
        match self {
            Self::Winners => format!(
                "A solver wins where its interval against every other one is clear of 1; otherwise those that the least \
                 median does not beat clearly are named, it first. {INTERVALS}"
            ),
            Self::Targets => format!(
                "Median until the best primal so far is within the gap of the certified optimum, relative to it, crossings \
                 interpolated; in square brackets how many runs reached it when not all did. × says how many times as fast \
                 as {REFERENCE}: median over pairs with one seed, with an interval, ≥ and ≤ where runs ended before. \
                 Cached: most memory of products between planes. {INTERVALS}"
            ),
            Self::Ert => "All that the runs spent until the gap or until they ended, over the number that reached it: solver \
                          time / oracle calls."
                .to_owned(),
            Self::Anytime => "Over all pairs of gap (two a decade, as far as the optimum is known) and run. Reached: the \
                              share of pairs that were. Half: what was spent when half of all pairs were reached, oracle \
                              calls per term. Area over the convergence curve: mean over the logarithm of what is spent, \
                              on a stretch that all solvers share, 0 at a gap of 1, 1 at the smallest gap that is compared."
                .to_owned(),
            Self::Profile => format!(
                "A problem is a gap of a data set that a solver reaches in the median; the share of problems that a solver \
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

const INTERVALS: &str = "Intervals are by bootstrap over seeds, nominally 95 %; of five seeds they reach from the smallest to \
                         the largest, which covers a median in 93.75 % of all cases.";

#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub part: Part,
    /// Heading of its data set; empty for one over all of them.
    pub dataset: String,
    /// The table, with data set and subject as its title.
    pub table: Table,
}

impl Section {
    fn new(part: Part, dataset: &str, subject: &str, mut table: Table) -> Self {
        table.title = format!("{}: {subject}", if dataset.is_empty() { "all data sets" } else { dataset });
        Self { part, dataset: dataset.to_owned(), table }
    }
}

/// The tables, those of one data set together; only these parts, all of them when none is named.
pub fn sections(league: &League, parts: &[Part]) -> Vec<Section> {
    let mut sections = Vec::new();
    for standing in &league.standings {
        sections.push(winners(standing));
        sections.extend(Measure::ALL.map(|measure| targets(standing, measure)));
        sections.extend([ert(standing), distribution(standing), area(standing)]);
        sections.extend(over_gaps(&standing.title, &standing.profiles, &standing.matrices));
    }
    if league.standings.len() > 1 {
        sections.extend(over_gaps("", &league.profiles, &league.matrices));
    }
    sections.retain(|section| (parts.is_empty() || parts.contains(&section.part)) && !section.table.rows.is_empty());
    sections
}

/// Tables for the terminal, each kind explained where it comes first.
pub fn text(sections: &[Section]) -> String {
    let mut seen: Vec<Part> = Vec::new();
    let mut texts = Vec::new();
    for Section { part, table, .. } in sections {
        let mut table = table.clone();
        if !seen.contains(part) {
            let gap = if table.note.is_empty() { "" } else { "\n\n" };
            table.note += &format!("{gap}{}", part.explain());
        }
        seen.push(*part);
        texts.push(table.text());
    }
    texts.join("\n\n")
}

fn spent(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Calls if value < 1e5 => format!("{value:.0}"),
        Measure::Calls => number(value),
        Measure::Time => seconds(value),
    }
}

fn listed(targets: impl IntoIterator<Item = f64>) -> String {
    targets.into_iter().map(|target| format!("{target:e}")).collect::<Vec<_>>().join(", ")
}

/// What is known of the optimum, and what is not compared because of it.
fn known(standing: &Standing) -> String {
    let Some((low, high)) = standing.optimum else {
        return "Nothing is compared: no lower bound of the optimum is known (`ssvm-bench optimum` finds one)."
            .to_owned();
    };
    let mut text = format!("The optimum lies between {low} and {high}, {} of it.", number((high - low) / high));
    if !standing.too_small.is_empty() {
        let targets = listed(standing.too_small.iter().copied());
        text += &format!(" Less is known of it than the gaps {targets}: nothing is compared there.");
    }
    text
}

/// The solvers that the fastest one does not beat: by name those that reached the gap, by count those that ended before.
fn undecided(standing: &Standing, measure: Measure, at: usize, names: &[String]) -> String {
    let reached = |name: &&String| {
        let member = standing.members.iter().find(|member| member.display == **name);
        member.is_some_and(|member| member.scores[measure as usize].cells[at].median.is_some())
    };
    let (reached, ended): (Vec<&String>, Vec<&String>) = names.iter().partition(reached);
    let reached: Vec<&str> = reached.into_iter().map(String::as_str).collect();
    let others = if ended.len() == 1 { "other" } else { "others" };
    match (reached.as_slice(), ended.len()) {
        ([only], 0) => format!("{only} alone"),
        ([only], more) => format!("undecided: {only} reached it, {more} {others} ended too early to tell"),
        (several, 0) => format!("undecided between {}", several.join(", ")),
        (several, more) => {
            format!("undecided between {}; {more} {others} ended too early to tell", several.join(", "))
        }
    }
}

fn winners(standing: &Standing) -> Section {
    let mut table = Table::new("", [("relative gap", Kind::Text)]).noted(known(standing));
    table.widen(Kind::Text, Measure::ALL.map(Measure::name));
    for (at, target) in standing.targets.iter().enumerate() {
        let mut row = cells![format!("{target:e}")];
        for (measure, winners) in Measure::ALL.into_iter().zip(&standing.winners) {
            row.push(match &winners[at] {
                Winner::One(name) => name.into(),
                Winner::Undecided(names) => undecided(standing, measure, at, names).into(),
                Winner::Nobody => "not reached".into(),
            });
        }
        table.push(row);
    }
    if standing.targets.is_empty() {
        table.push(cells!["none", "not compared", "not compared"]);
    }
    Section::new(Part::Winners, &standing.title, "who wins at which gap", table)
}

fn target_cell(measure: Measure, runs: usize, cell: &TargetCell) -> String {
    let mut text = cell.median.map_or("–".to_owned(), |median| spent(measure, median));
    if cell.reached < runs {
        text += &format!(" [{}/{runs}]", cell.reached);
    }
    let speedup = cell.speedup.map(|speedup| speedup.text()).filter(|text| text != "–");
    text + &speedup.map_or(String::new(), |speedup| format!(", {speedup}"))
}

fn is_reached(standing: &Standing, at: usize) -> bool {
    let mut scores = standing.members.iter().flat_map(|member| &member.scores);
    scores.any(|score| score.cells.get(at).is_some_and(|cell| cell.reached > 0))
}

fn unreached(standing: &Standing) -> Option<String> {
    let targets = standing.targets.iter().enumerate().filter(|(at, _)| !is_reached(standing, *at));
    let targets = listed(targets.map(|(_, target)| *target));
    (!targets.is_empty()).then(|| format!("No run reached {targets}."))
}

/// A row per solver and a column per target that was reached; `cell` gets the solver and the place of the target.
fn by_target(standing: &Standing, cell: impl Fn(&Member, usize) -> String) -> Table {
    let mut table = Table::new("", [("solver", Kind::Text)]);
    let reached: Vec<usize> = (0..standing.targets.len()).filter(|at| is_reached(standing, *at)).collect();
    table.widen(Kind::Values, reached.iter().map(|at| format!("{:e}", standing.targets[*at])));
    for member in standing.members.iter().filter(|_| !reached.is_empty()) {
        let mut row = cells![&member.display];
        row.extend(reached.iter().map(|at| cell(member, *at).into()));
        table.push(row);
    }
    table
}

fn targets(standing: &Standing, measure: Measure) -> Section {
    let mut table = by_target(standing, |member, at| {
        let cell = member.scores.get(measure as usize).and_then(|score| score.cells.get(at));
        cell.map_or("–".to_owned(), |cell| target_cell(measure, member.runs, cell))
    });
    if standing.members.iter().any(|member| member.cached_bytes > 0) {
        table.widen(Kind::Number, ["cached MB"]);
        for (row, member) in table.rows.iter_mut().zip(&standing.members) {
            row.push(Some(member.cached_bytes as f64 / 1e6).filter(|bytes| *bytes > 0.0).into());
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
    let subject = format!("{} to a relative gap", measure.name());
    Section::new(Part::Targets, &standing.title, &subject, table.noted(notes.join(" ")))
}

fn ert(standing: &Standing) -> Section {
    let table = by_target(standing, |member, at| {
        let of = |measure: Measure| {
            let cell = member.scores.get(measure as usize)?.cells.get(at)?;
            cell.ert.map(|ert| spent(measure, ert))
        };
        let parts: Vec<String> = Measure::ALL.into_iter().filter_map(of).collect();
        if parts.is_empty() { "–".to_owned() } else { parts.join(" / ") }
    });
    let table = table.noted(unreached(standing).unwrap_or_default());
    Section::new(Part::Ert, &standing.title, "expected running time", table)
}

fn clock(standing: &Standing) -> String {
    format!("On the {} clock.", standing.clock)
}

fn by_measure(standing: &Standing, value: impl Fn(Measure, &Score) -> Option<String>) -> Table {
    let mut table = Table::new("", [("solver", Kind::Text)]).noted(clock(standing));
    table.widen(Kind::Values, Measure::ALL.map(Measure::name));
    for member in &standing.members {
        let mut row = cells![&member.display];
        row.extend(
            Measure::ALL
                .map(|measure| member.scores.get(measure as usize).and_then(|score| value(measure, score)).into()),
        );
        table.push(row);
    }
    table
}

/// What share of gaps was reached, and what half of them cost.
fn distribution(standing: &Standing) -> Section {
    let mut table = by_measure(standing, |measure, score| {
        score.half.map(|half| if measure == Measure::Calls { number(half) } else { spent(measure, half) })
    });
    let shares: Vec<Option<f64>> = standing.members.iter().map(|member| member.scores.first()?.share).collect();
    table.columns.insert(1, Column::new("reached", Kind::Percent));
    for (row, share) in table.rows.iter_mut().zip(&shares) {
        row.insert(1, (*share).into());
    }
    // An old summary does not have it.
    if shares.iter().all(Option::is_none) {
        table.rows.clear();
    }
    Section::new(Part::Anytime, &standing.title, "share of gaps reached, and what half of them cost", table)
}

fn area(standing: &Standing) -> Section {
    let mut table = by_measure(standing, |_, score| score.area.map(|area| area.text(|share| format!("{share:.3}"))));
    if table.rows.iter().all(|row| row[1..].iter().all(|cell| *cell == Cell::Missing)) {
        table.rows.clear();
    }
    Section::new(Part::Anytime, &standing.title, "area over the convergence curve", table)
}

fn over_gaps(title: &str, profiles: &[Profile], matrices: &[Matrix]) -> Vec<Section> {
    let profiles = Measure::ALL.into_iter().zip(profiles).map(|(measure, p)| profile(title, measure, p));
    let matrices = Measure::ALL.into_iter().zip(matrices).map(|(measure, m)| matrix(title, measure, m));
    profiles.chain(matrices).collect()
}

fn profile(dataset: &str, measure: Measure, profile: &Profile) -> Section {
    let mut table = Table::new("", [("solver", Kind::Text), ("score", Kind::Values)]);
    table.widen(Kind::Percent, ["best", "within 2×", "within 10×", "solved"]);
    table.widen(Kind::Count, ["problems"]);
    let mut lines: Vec<&ProfileLine> = profile.lines.iter().collect();
    lines.sort_by(|a, b| b.score.value.total_cmp(&a.score.value));
    for line in lines.into_iter().filter(|_| profile.lines.len() > 1) {
        let mut row = cells![&line.display, line.score.text(|score| format!("{score:.3}"))];
        row.extend([1.0, 2.0, 10.0, f64::MAX].map(|factor| Cell::Number(line.within(factor))));
        row.push(line.problems.into());
        table.push(row);
    }
    Section::new(Part::Profile, dataset, &format!("performance profile in {}", measure.name()), table)
}

fn matrix(dataset: &str, measure: Measure, matrix: &Matrix) -> Section {
    let n = matrix.names.len();
    let mut table = Table::new("", [("row over column", Kind::Text)]);
    table.widen(Kind::Values, &matrix.names);
    for (row, name) in matrix.names.iter().enumerate() {
        let mut cells = cells![name];
        for column in 0..n {
            let mark = |s: Speedup| match () {
                () if s.is_faster() => s.value_text() + " ▲",
                () if s.is_slower() => s.value_text() + " ▼",
                () => s.value_text(),
            };
            cells.push(if row == column { "·".into() } else { matrix.at(row, column).map(mark).into() });
        }
        table.push(cells);
    }
    if (0..n).all(|row| (0..n).all(|column| matrix.at(row, column).is_none())) {
        table.rows.clear();
    }
    Section::new(Part::Matrix, dataset, &format!("speed-ups in {}", measure.name()), table)
}
