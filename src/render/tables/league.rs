//! The league as titled tables, the same for the terminal, Markdown, LaTeX and the report.

use super::breakeven;
use crate::study::estimate::too_few;
use crate::study::league::profile::WORST;
use crate::study::league::{
    Decisions, Lead, LeadRow, League, Matrix, Measure, Member, Profile, REFERENCE, Score, Speedup, Standing,
    TargetCell, Winner,
};
use crate::study::paired::Pace;
use crate::table::{Cell, Column, Kind, Table, cells};
use crate::text::{number, seconds};
use ssvm::clock::OracleCost;

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
        ["winners", "targets", "ert", "anytime", "performance_profile", "speedups"][self as usize]
    }

    /// How to read its tables.
    pub fn explain(self) -> String {
        let text = include_str!("league.txt").lines().nth(self as usize).unwrap_or_default();
        text.replace("{reference}", REFERENCE).replace("{worst}", &WORST.to_string()).replace(
            "{intervals}",
            "Intervals of medians lie between order statistics of the seeds and cover the median in at least 95 % of all cases; \
             with five seeds they reach from the smallest to the largest value, which covers it in 93.75 %.",
        )
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub part: Part,
    /// Heading of its data set; empty for a section over all data sets.
    pub dataset: String,
    /// Its title consists of the data set and the subject.
    pub table: Table,
}

impl Section {
    fn new(part: Part, dataset: &str, subject: &str, mut table: Table) -> Self {
        table.title = format!("{}: {subject}", if dataset.is_empty() { "all data sets" } else { dataset });
        Self { part, dataset: dataset.to_owned(), table }
    }

    fn add_note(&mut self, note: &str) {
        let space = if self.table.note.is_empty() { "" } else { " " };
        self.table.note += &format!("{space}{note}");
    }
}

/// The tables, those of one data set together; only these parts, all of them when none is named.
pub fn sections(league: &League, parts: &[Part]) -> Vec<Section> {
    let mut sections = Vec::new();
    for standing in &league.standings {
        let first = sections.len();
        sections.push(winners(standing));
        sections.extend(Measure::ALL.map(|measure| targets(standing, measure)));
        sections.extend([ert(standing), distribution(standing), area(standing)]);
        sections.extend(profiles(&standing.title, &standing.profiles));
        for (measure, one) in Measure::ALL.into_iter().zip(&standing.matrices) {
            let mark = |_, _, speedup: Speedup| marked(&speedup.value_text(), speedup.pace());
            sections.push(speedups(&standing.title, measure, matrix(one, mark)));
        }
        if let Some(busy) = &standing.busy {
            let note = format!("Not judged: {busy}.");
            sections[first..].iter_mut().for_each(|section| section.add_note(&note));
        }
        if let Some(cost) = standing.oracle_cost {
            let note = format!("At oracle cost {}, {}.", breakeven::factor(cost.factor()), of_several(cost));
            sections[first..].iter_mut().for_each(|section| section.add_note(&note));
        }
    }
    if league.standings.len() > 1 {
        let first = sections.len();
        sections.extend(profiles("", &league.profiles));
        for (measure, one) in Measure::ALL.into_iter().zip(&league.matrices) {
            sections.push(speedups("", measure, pooled(league, measure, one)));
        }
        let costs = league.standings.iter().filter_map(|standing| {
            let cost = breakeven::factor(standing.oracle_cost?.factor());
            Some(format!("{cost} on {}", standing.title))
        });
        let costs: Vec<String> = costs.collect();
        if !costs.is_empty() {
            let note = format!("Oracle costs: {}.", costs.join(", "));
            sections[first..].iter_mut().for_each(|section| section.add_note(&note));
        }
    }
    sections.retain(|section| (parts.is_empty() || parts.contains(&section.part)) && !section.table.rows.is_empty());
    sections
}

/// Tables for a terminal of this width. Each kind is explained at its first table.
pub fn text(sections: &[Section], width: usize) -> String {
    let mut texts = Vec::new();
    for (at, Section { part, table, .. }) in sections.iter().enumerate() {
        let mut table = table.clone();
        if sections[..at].iter().all(|before| before.part != *part) {
            let gap = if table.note.is_empty() { "" } else { "\n\n" };
            table.note += &format!("{gap}{}", part.explain());
        }
        texts.push(table.text(width));
    }
    texts.join("\n\n")
}

/// One table per data set: the fastest solver to the tightest gap that at least half of the solvers reach; no rows without such a gap.
pub fn leads(league: &League) -> Vec<Table> {
    league.standings.iter().map(lead).collect()
}

fn lead(standing: &Standing) -> Table {
    let columns = [("solver", Kind::Text), ("solver time", Kind::Values), ("over the least", Kind::Values)];
    let mut table = Table::new(format!("{}: which solver is fastest", standing.title), columns);
    table.widen(Kind::Values, ["oracle calls", "over the fewest"]);
    table.spare(["over the fewest", "oracle calls"]);
    let Some(lead) = &standing.lead else {
        let why = if standing.targets.is_empty() {
            "the optimum is not known well enough; `ssvm-bench data optimum` narrows its bounds"
        } else {
            "no two solvers reached a gap in common; give them a larger budget"
        };
        return table.noted(format!("Not known: {why}."));
    };
    let unjudged = few_pairs(standing).or_else(|| standing.busy.clone());
    for LeadRow { display, costs } in &lead.rows {
        let mut cells = cells![display];
        for (measure, cost) in Measure::ALL.into_iter().zip(costs) {
            let verdict = match cost.pace() {
                _ if unjudged.is_some() => "",
                Pace::Undecided => ", undecided",
                pace => [", faster", ", slower"][usize::from(pace == Pace::Slower)],
            };
            cells.push(cost.spent.map(|estimate| estimate.text(|value| spent(measure, value))).into());
            cells.push(match cost.over_least {
                None if cost.least => "least".into(),
                // A bound that decides nothing says only that the runs ended.
                _ if cost.spent.is_none() && cost.pace() == Pace::Undecided => "not reached".into(),
                ratio => ratio.map(|ratio| format!("{}{verdict}", ratio.text())).into(),
            });
        }
        table.push(cells);
    }
    let verdict = match unjudged {
        Some(why) => format!("Which solver is fastest is not judged: {why}."),
        None => Measure::ALL.map(|measure| fastest(lead, measure)).join(" "),
    };
    let note = format!(
        "{verdict} Values are spent until a relative gap of {:e} to the optimum, the tightest gap that at least half of the \
         solvers reached in the median, on the {} clock, with intervals over seeds.",
        lead.target, standing.clock
    );
    table.noted(note)
}

/// A sentence on the solver that spent least, and on those from which it does not differ clearly.
fn fastest(lead: &Lead, measure: Measure) -> String {
    let cost = |row: &&LeadRow| row.costs.get(measure as usize).cloned();
    let open = |row: &&LeadRow| {
        cost(row).is_some_and(|cost| !cost.least && cost.spent.is_some() && cost.pace() == Pace::Undecided)
    };
    let Some(best) = lead.rows.iter().find(|row| cost(row).is_some_and(|cost| cost.least)) else {
        return String::new();
    };
    let open: Vec<&str> = lead.rows.iter().filter(open).map(|row| row.display.as_str()).collect();
    let (what, less) = match measure {
        Measure::Time => ("takes the least solver time", "less"),
        Measure::Calls => ("makes the fewest oracle calls", "fewer"),
    };
    match open[..] {
        [] => format!("{} {what}.", best.display),
        _ => format!("{} {what}, not clearly {less} than {}.", best.display, open.join(", ")),
    }
}

fn spent(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Calls if value < 1e5 => format!("{value:.0}"),
        Measure::Calls => number(value),
        Measure::Time => seconds(value),
    }
}

fn listed<'t>(targets: impl IntoIterator<Item = &'t f64>) -> String {
    targets.into_iter().map(|target| format!("{target:e}")).collect::<Vec<_>>().join(", ")
}

/// What a solver spent until a target; an old summary may not have it.
fn cell(member: &Member, measure: Measure, target: usize) -> Option<&TargetCell> {
    member.scores.get(measure as usize)?.cells.get(target)
}

fn winners(standing: &Standing) -> Section {
    let mut note = match standing.optimum {
        Some((low, high)) => {
            format!("The optimum lies between {low} and {high}, {} of it.", number((high - low) / high))
        }
        None => "Nothing is compared: no lower bound of the optimum is known (`ssvm-bench data optimum` finds one)."
            .to_owned(),
    };
    if standing.optimum.is_some() && !standing.too_small.is_empty() {
        let targets = listed(&standing.too_small);
        note += &format!(
            " Nothing is compared at {targets}, because the bounds of the optimum are further apart than these gaps (`ssvm-bench data optimum` narrows them)."
        );
    }
    let is_reached = |at: &usize| standing.winners.iter().any(|winners| winners[*at] != Winner::NotReached);
    let (reached, missed): (Vec<usize>, Vec<usize>) = (0..standing.targets.len()).partition(is_reached);
    if !missed.is_empty() {
        let targets = listed(missed.iter().map(|at| &standing.targets[*at]));
        note += &format!(" No solver reached {targets} in the median.");
    }
    let few = few_pairs(standing);
    note += &few.as_ref().map_or(String::new(), |few| format!(" Not judged: {few}."));
    let mut table = Table::new("", [("relative gap", Kind::Text)]).noted(note);
    table.widen(Kind::Text, Measure::ALL.map(Measure::name));
    for (at, target) in reached.into_iter().map(|at| (at, standing.targets[at])) {
        let mut row = cells![format!("{target:e}")];
        for (measure, winners) in Measure::ALL.into_iter().zip(&standing.winners) {
            row.push(match &winners[at] {
                Winner::Undecided(names) if (few.is_some() || standing.busy.is_some()) && names.len() > 1 => {
                    "not judged".into()
                }
                Winner::One(name) => name.into(),
                Winner::Undecided(names) => undecided(standing, measure, at, names).into(),
                Winner::NotReached => "not reached".into(),
            });
        }
        table.push(row);
    }
    if table.rows.is_empty() {
        table.push(cells!["none", "not compared", "not compared"]);
    }
    Section::new(Part::Winners, &standing.title, "who wins at which gap", table)
}

/// The solvers that the fastest one does not beat: names of those that reached the gap, and the number of those that ended before.
fn undecided(standing: &Standing, measure: Measure, at: usize, names: &[String]) -> String {
    let is_reached = |name: &&str| {
        let member = standing.members.iter().find(|member| member.display == **name);
        member.and_then(|member| cell(member, measure, at)?.median).is_some()
    };
    let (reached, ended): (Vec<&str>, Vec<&str>) = names.iter().map(String::as_str).partition(is_reached);
    match reached[..] {
        [only] if ended.is_empty() => format!("{only} alone"),
        _ => breakeven::undecided(&reached, ended.len()),
    }
}

/// A row per solver and a column per target that was reached, with a note on the others; `text` gets the solver and the place
/// of the target.
fn by_target(standing: &Standing, text: impl Fn(&Member, usize) -> String) -> Table {
    let is_reached = |at: &usize| {
        let cells = standing.members.iter().flat_map(|member| &member.scores).filter_map(|score| score.cells.get(*at));
        cells.into_iter().any(|cell| cell.reached > 0)
    };
    let (reached, missed): (Vec<usize>, Vec<usize>) = (0..standing.targets.len()).partition(is_reached);
    let mut table = Table::new("", [("solver", Kind::Text)]);
    if !missed.is_empty() {
        table.note = format!("No run reached {}.", listed(missed.iter().map(|at| &standing.targets[*at])));
    }
    let names: Vec<String> = reached.iter().map(|at| format!("{:e}", standing.targets[*at])).collect();
    table.widen(Kind::Values, &names);
    // Loose gaps first: the tight ones are what runs were made for.
    table.spare(names.iter().map(String::as_str));
    for member in standing.members.iter().filter(|_| !reached.is_empty()) {
        let mut row = cells![&member.display];
        row.extend(reached.iter().map(|at| text(member, *at).into()));
        table.push(row);
    }
    table
}

fn targets(standing: &Standing, measure: Measure) -> Section {
    let mut table = by_target(standing, |member, at| {
        let Some(cell) = cell(member, measure, at) else { return "–".to_owned() };
        let mut text = cell.median.map_or("–".to_owned(), |median| spent(measure, median));
        if cell.reached < member.runs {
            text += &format!(" [{}/{}]", cell.reached, member.runs);
        }
        let speedup = cell.speedup.map(|speedup| speedup.text()).filter(|text| text != "–");
        text + &speedup.map_or(String::new(), |speedup| format!(", {speedup}"))
    });
    if standing.members.iter().any(|member| member.cached_bytes > 0) {
        let columns: Vec<String> = table.columns[1..].iter().map(|column| column.name.clone()).collect();
        table.widen(Kind::Number, ["cached MB"]);
        table.spare(["cached MB"].into_iter().chain(columns.iter().map(String::as_str)));
        for (row, member) in table.rows.iter_mut().zip(&standing.members) {
            row.push(Some(member.cached_bytes as f64 / 1e6).filter(|bytes| *bytes > 0.0).into());
        }
    }
    let mut notes = Vec::new();
    if measure == Measure::Time {
        notes.push(clock(standing));
    }
    notes.extend(few_pairs(standing).map(|few| format!("Not judged: {few}.")));
    let no_dual: Vec<&str> = standing.members.iter().filter(|m| !m.has_dual).map(|m| m.display.as_str()).collect();
    if !no_dual.is_empty() {
        notes.push(format!("Without a dual: {}.", no_dual.join(", ")));
    }
    notes.extend(Some(std::mem::take(&mut table.note)).filter(|note| !note.is_empty()));
    let subject = format!("{} to a relative gap", measure.name());
    Section::new(Part::Targets, &standing.title, &subject, table.noted(notes.join(" ")))
}

fn ert(standing: &Standing) -> Section {
    let table = by_target(standing, |member, at| {
        let of = |measure: Measure| Some(spent(measure, cell(member, measure, at)?.ert?));
        let parts: Vec<String> = Measure::ALL.into_iter().filter_map(of).collect();
        if parts.is_empty() { "–".to_owned() } else { parts.join(" / ") }
    });
    Section::new(Part::Ert, &standing.title, "expected running time", table)
}

fn clock(standing: &Standing) -> String {
    format!("On the {} clock.", standing.clock)
}

fn of_several(cost: OracleCost) -> &'static str {
    if cost.is_one() { "that of the data set itself" } else { "the lowest of those that were run" }
}

/// Why nothing is judged on a data set; `None` when two of its solvers have enough pairs, or none has a pair.
fn few_pairs(standing: &Standing) -> Option<String> {
    standing.matrices.iter().filter_map(Matrix::most_pairs).max().and_then(too_few)
}

fn by_measure(standing: &Standing, value: impl Fn(Measure, &Score) -> Option<String>) -> Table {
    let mut table = Table::new("", [("solver", Kind::Text)]).noted(clock(standing));
    table.widen(Kind::Values, Measure::ALL.map(Measure::name));
    for member in &standing.members {
        let value = |measure: Measure| value(measure, member.scores.get(measure as usize)?);
        let mut row = cells![&member.display];
        row.extend(Measure::ALL.map(|measure| value(measure).into()));
        table.push(row);
    }
    table
}

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

fn profiles(title: &str, profiles: &[Profile]) -> Vec<Section> {
    let section = |(measure, one): (Measure, &Profile)| {
        let subject = format!("performance profile in {}", measure.name());
        Section::new(Part::Profile, title, &subject, profile(one))
    };
    Measure::ALL.into_iter().zip(profiles).map(section).collect()
}

fn speedups(title: &str, measure: Measure, table: Table) -> Section {
    Section::new(Part::Matrix, title, &format!("speed-ups in {}", measure.name()), table)
}

fn profile(profile: &Profile) -> Table {
    let mut table = Table::new("", [("solver", Kind::Text), ("score", Kind::Values)]);
    table.widen(Kind::Percent, ["best", "within 2×", "within 10×", "solved"]);
    table.widen(Kind::Count, ["problems"]);
    let mut lines: Vec<_> = profile.lines.iter().filter(|_| profile.lines.len() > 1).collect();
    lines.sort_by(|a, b| b.score.value.total_cmp(&a.score.value));
    for line in lines {
        let mut row = cells![&line.display, line.score_text()];
        row.extend([1.0, 2.0, 10.0, f64::MAX].map(|factor| Cell::Number(line.within(factor))));
        row.push(line.problems.into());
        table.push(row);
    }
    table
}

const TOGETHER: &str = " with simultaneous intervals, at nominally 95 % (less with fewer than ten seeds)";

/// Every solver over every other; `mark` gets their places and what is known of the speed-up.
fn matrix(matrix: &Matrix, mark: impl Fn(usize, usize, Speedup) -> String) -> Table {
    let n = matrix.names.len();
    let mut table = Table::new("", [("row over column", Kind::Text)]);
    table.widen(Kind::Values, &matrix.names);
    // A folder without two solvers that can be compared has no matrix.
    let comparisons = match matrix.comparisons() {
        0 => return table,
        1 => "1 comparison".to_owned(),
        more => format!("{more} comparisons"),
    };
    let few = matrix.most_pairs().and_then(too_few).map(|few| format!(", not judged: {few}"));
    let together = if matrix.comparisons() > 1 { TOGETHER } else { "" };
    table.note = format!("{comparisons}{}.", few.as_deref().unwrap_or(together));
    for (row, name) in matrix.names.iter().enumerate() {
        let mut cells = cells![name];
        cells.extend((0..n).map(|column| match matrix.at(row, column) {
            _ if row == column => "·".into(),
            speedup => speedup.map(|speedup| mark(row, column, speedup)).into(),
        }));
        table.push(cells);
    }
    table
}

/// The matrix over all data sets: a mark where all of them reach the same decision, counts where only some decide.
fn pooled(league: &League, measure: Measure, over_all: &Matrix) -> Table {
    let names = &over_all.names;
    let decisions = |row: usize, column: usize| league.decisions(measure, &names[row], &names[column]);
    let mut table = matrix(over_all, |row, column, speedup| decided(&decisions(row, column), &speedup));
    table.note = table.note.replace(TOGETHER, "");
    table.note += " Marks combine those of the tables per data set, each of which has simultaneous intervals.";
    for (row, column) in (0..names.len()).flat_map(|row| (row + 1..names.len()).map(move |column| (row, column))) {
        let Decisions { faster, slower, .. } = decisions(row, column);
        if !faster.is_empty() && !slower.is_empty() {
            let (faster, slower) = (faster.join(", "), slower.join(", "));
            table.note += &format!(" {} over {}: ▲ {faster}; ▼ {slower}.", names[row], names[column]);
        }
    }
    table
}

/// A value over all data sets is shown only if the mark is that of all of them and all are compared.
fn decided(decisions: &Decisions<'_>, speedup: &Speedup) -> String {
    let counts = (decisions.faster.len(), decisions.slower.len(), decisions.undecided.len());
    match counts {
        (faster @ 1.., slower @ 1.., _) => format!("mixed: {faster}▲ {slower}▼"),
        (faster @ 1.., 0, open @ 1..) => format!("{faster}▲ of {}", faster + open),
        (0, slower @ 1.., open @ 1..) => format!("{slower}▼ of {}", slower + open),
        (0, 0, open) if decisions.compared < open => format!("0 of {open}"),
        _ => marked(&speedup.value_text(), decisions.pace()),
    }
}

fn marked(value: &str, pace: Pace) -> String {
    match pace {
        Pace::Faster => format!("{value} ▲"),
        Pace::Slower => format!("{value} ▼"),
        Pace::Undecided => value.to_owned(),
    }
}
