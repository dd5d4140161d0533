//! Solvers over the oracle cost: the table of ratios and crossings, and advice in words.

use crate::study::break_even::{Advice, BreakEven, BreakEvenRow, BreakEvenSet, Choice, Crossing};
use crate::study::estimate::{Estimate, interval_text, of_each, too_few};
use crate::study::paired::Paired;
use crate::table::Kind::{Text, Values};
use crate::table::{Table, cells};
use crate::text::{number, percent, seconds, wrapped};

pub fn factor(k: f64) -> String {
    let below = 1.0 / k;
    match k {
        k if k >= 1.0 && k.fract() == 0.0 => format!("{k}"),
        k if k < 1.0 && below.fract() == 0.0 => format!("1/{below}"),
        k => number(k),
    }
}

/// The oracle costs at which a solver is faster or slower than BCFW, and those at which the medians are equal. Only costs that were
/// run are named, and *faster* and *slower* require the whole interval, bounds included, on one side of 1.
pub fn crossings(costs: &[f64], row: &BreakEvenRow) -> String {
    if too_few(row.pairs).is_some() || row.ratios.iter().flatten().any(|ratio| ratio.busy) {
        return "not judged".to_owned();
    }
    let state = |ratio: &Option<Paired>| ratio.map_or("not known", |ratio| ratio.pace_of_spent().name());
    let states: Vec<(&str, f64)> = row.ratios.iter().map(state).zip(costs.iter().copied()).collect();
    let stretches: Vec<&[(&str, f64)]> = states.chunk_by(|a, b| a.0 == b.0).collect();
    let words = |stretch: &&[(&str, f64)]| match stretch {
        [(state, first), .., (_, last)] => format!("{state} at {} to {}", factor(*first), factor(*last)),
        [(state, only)] => format!("{state} at {}", factor(*only)),
        [] => String::new(),
    };
    let mut text = stretches.iter().map(words).collect::<Vec<_>>().join(", ");
    for (at, Crossing { cost: Estimate { value, low, high }, .. }) in row.crossings.iter().enumerate() {
        text += &format!("{}{}", if at == 0 { "; equal at " } else { ", " }, factor(*value));
        text += &interval_text(*low, *high, factor);
    }
    text
}

const CROSSES: &str = "crosses BCFW";

/// The column of an oracle cost.
fn column(cost: f64) -> String {
    format!("k = {}", factor(cost))
}

pub fn table(breakeven: &BreakEven) -> Table {
    let mut costs: Vec<f64> = breakeven.sets.iter().flat_map(|set| set.costs.iter().copied()).collect();
    costs.sort_by(f64::total_cmp);
    costs.dedup();
    let mut table = Table::new("", [("data set", Text), ("solver", Text), ("gap", Values), (CROSSES, Text)]);
    table.widen(Values, costs.iter().copied().map(column));
    for (set, row) in breakeven.sets.iter().flat_map(|set| set.rows.iter().map(move |row| (set, row))) {
        let mut cells = cells![&set.title, &row.display, format!("{:e}", row.target), crossings(&set.costs, row)];
        for cost in &costs {
            let at = set.costs.iter().position(|known| known == cost);
            cells.push(at.and_then(|at| row.ratios[at]).map(|ratio| ratio.plain()).into());
        }
        table.push(cells);
    }
    let fewest = breakeven.sets.iter().flat_map(|set| &set.rows).map(|row| row.pairs).min();
    table.note = match (fewest, fewest.and_then(too_few)) {
        (_, Some(few)) => format!("Not judged: {few}."),
        (Some(pairs), None) => {
            let intervals = of_each(breakeven.sets.iter().map(BreakEvenSet::comparisons).sum(), pairs);
            let crosses = breakeven.sets.iter().flat_map(|set| &set.rows).any(|row| !row.crossings.is_empty());
            let bootstrap = " Intervals of crossings (equal at) are by bootstrap, nominally 95 %.";
            format!("{intervals}.{}", if crosses { bootstrap } else { "" })
        }
        (None, None) => String::new(),
    };
    for busy in breakeven.sets.iter().filter_map(|set| set.busy.as_ref()) {
        table.note += &format!("{}Not judged: {busy}.", if table.note.is_empty() { "" } else { " " });
    }
    table
}

pub fn heads(table: &BreakEven) -> Vec<String> {
    table.sets.iter().map(head).collect()
}

fn head(set: &BreakEvenSet) -> String {
    let paper = match (set.paper_share, set.paper_cost()) {
        (Some(share), Some(k)) => format!("; the paper's {} is at k = {}", percent(share), number(k)),
        _ => String::new(),
    };
    let rows = if set.targets.is_empty() {
        format!("; BCFW reached only a relative gap of {}, so no gap is compared", number(set.reached))
    } else {
        String::new()
    };
    format!(
        "{}: at k = 1 a call takes {} of the {} clock, {} of BCFW's time{paper}{rows}",
        set.title,
        seconds(set.call_s),
        set.clock,
        percent(set.share)
    )
}

pub fn text(table: &BreakEven, width: usize) -> String {
    text_near(table, None, width)
}

/// The same; a narrow terminal keeps the columns of the oracle costs that are nearest to this one.
pub fn text_near(breakeven: &BreakEven, cost: Option<f64>, width: usize) -> String {
    let mut table = self::table(breakeven);
    if let Some(cost) = cost {
        let mut costs: Vec<f64> = breakeven.sets.iter().flat_map(|set| set.costs.iter().copied()).collect();
        costs.sort_by(|a, b| (b / cost).ln().abs().total_cmp(&(a / cost).ln().abs()));
        costs.dedup();
        let mut names: Vec<String> = costs.into_iter().map(column).collect();
        // Of the costs, the recommendation rests on the nearest two.
        names.insert(names.len().saturating_sub(2), CROSSES.to_owned());
        table.spare(names.iter().map(String::as_str));
    }
    let what = "time to a relative gap over that of BCFW with an oracle k× slower (below 1 is faster)";
    let heads: String = heads(breakeven).iter().map(|line| wrapped(line, width, 0)).collect();
    format!("{}\n{heads}\n{}", wrapped(what, width, 0), table.text(width))
}

/// The solvers of an advice, the fastest first, at each gap.
pub fn ranking(advice: &Advice) -> Table {
    let mut table =
        Table::new("", [("gap", Values), ("solver", Text), ("time over BCFW's", Values), ("fastest", Text)]);
    for choice in &advice.targets {
        for one in &choice.solvers {
            let fastest = if choice.fastest.contains(&one.solver) { "yes" } else { "no" };
            table.push(cells![format!("{:e}", choice.target), &one.display, one.ratio.plain(), fastest]);
        }
    }
    table
}

pub fn advice(advice: &Advice, width: usize) -> String {
    let mut out = String::new();
    let mut say = |text: &str| out.push_str(&wrapped(text, width, 0));
    say(&format!(
        "{}: a call of {} is k = {}, {} of BCFW's time",
        advice.title,
        seconds(advice.call_s),
        number(advice.cost),
        percent(advice.share)
    ));
    if advice.clock == "virtual" {
        say(
            "seconds are those of the virtual clock, which counts operations; if you know BCFW's oracle share, use --share instead",
        );
    }
    if advice.read_at != advice.cost {
        let read = factor(advice.read_at);
        say(&if advice.is_beyond() {
            format!(
                "not judged: nothing was run at this cost; the ratios are those at the end of the table, k = {read}"
            )
        } else {
            format!("the table ends at k = {read}, which is close enough; the ratios there are used")
        });
    }
    if let Some(few) = advice.busy.clone().or_else(|| advice.targets.iter().find_map(few_pairs)) {
        say(&format!("not judged: {few}"));
    }
    for choice in &advice.targets {
        out.push('\n');
        out.push_str(&wrapped(
            &format!("to a relative gap of {:e}: {}", choice.target, fastest(advice, choice)),
            width,
            0,
        ));
        let ended = choice.solvers.iter().filter(|one| one.ended_before());
        let bounds: Vec<&str> = ended.map(|one| one.display.as_str()).collect();
        if !bounds.is_empty() {
            let names = bounds.join(", ");
            let last = format!("ranked last, because runs ended before the gap and only a bound is known: {names}");
            out.push_str(&wrapped(&last, width, 0));
        }
        let mut table = Table::new("", [("solver", Text), ("time over BCFW's", Values)]);
        for one in &choice.solvers {
            table.push(cells![&one.display, one.ratio.plain()]);
        }
        out.push_str(&table.text(width));
    }
    out
}

/// The reason why no solver is called the fastest, if none has enough pairs.
fn few_pairs(choice: &Choice) -> Option<String> {
    choice.solvers.iter().map(|one| one.ratio.pairs).max().and_then(too_few)
}

fn fastest(advice: &Advice, choice: &Choice) -> String {
    if advice.is_beyond() || few_pairs(choice).is_some() || choice.solvers.iter().any(|one| one.ratio.busy) {
        return "not judged".to_owned();
    }
    let unbeaten = choice.solvers.iter().filter(|one| choice.fastest.contains(&one.solver));
    let names = unbeaten.map(|one| one.display.as_str()).collect::<Vec<_>>();
    let text = match (&names[..], choice.ended) {
        ([], 0) => return "not judged: the table compares solvers with BCFW only".to_owned(),
        ([], _) => "no solver reached it in the median".to_owned(),
        ([only], 0) => (*only).to_owned(),
        (names, ended) => undecided(names, ended),
    };
    match choice.judged_at[..] {
        [low, high] => format!("{text} (by the runs at k = {} and {})", factor(low), factor(high)),
        _ => text,
    }
}

/// Solvers that reached a gap and of which none is clearly faster, and how many others ended before it.
pub fn undecided(reached: &[&str], ended: usize) -> String {
    let ended = match ended {
        0 => String::new(),
        1 => "1 other ended too early to be compared".to_owned(),
        more => format!("{more} others ended too early to be compared"),
    };
    match reached {
        [only] => format!("undecided: {only} reached it, {ended}"),
        _ if ended.is_empty() => format!("undecided between {}", reached.join(", ")),
        _ => format!("undecided between {}; {ended}", reached.join(", ")),
    }
}
