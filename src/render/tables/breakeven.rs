//! Solvers over the oracle cost: the table of ratios and crossings, and advice in words.

use crate::study::break_even::{Advice, Bound, BreakEven, BreakEvenRow, BreakEvenSet, Crossing, Ratio, Sense};
use crate::study::estimate::Estimate;
use crate::table::Kind::{Text, Values};
use crate::table::{Table, cells};
use crate::text::{number, percent, seconds};
use ssvm::stats::FEWEST_PAIRS;

pub fn factor(k: f64) -> String {
    let below = 1.0 / k;
    match k {
        k if k >= 1.0 && k.fract() == 0.0 => format!("{k}"),
        k if k < 1.0 && below.fract() == 0.0 => format!("1/{below}"),
        k => number(k),
    }
}

/// Where a solver crosses BCFW, in words. It is called faster only where the whole interval and every bound say so.
pub fn crossings(row: &BreakEvenRow) -> String {
    let known: Vec<&Ratio> = row.ratios.iter().flatten().collect();
    let reached = known.iter().all(|ratio| ratio.bound != Bound::AtLeast);
    let mut parts = Vec::new();
    for Crossing { cost: Estimate { value, low, high }, sense } in row.crossings.iter().filter(|_| reached) {
        let word = match sense {
            Sense::Faster if known.iter().any(|ratio| ratio.is_faster()) => "faster from",
            Sense::Slower if known.iter().any(|ratio| ratio.is_slower()) => "slower from",
            _ => "equal at",
        };
        let [low, high] = [(low, "below"), (high, "above")].map(|(end, beyond)| end.map_or(beyond.to_owned(), factor));
        let interval = if row.pairs < FEWEST_PAIRS { String::new() } else { format!(" ({low} to {high})") };
        parts.push(format!("{word} {}{interval}", factor(*value)));
    }
    if !parts.is_empty() {
        parts.join(", ")
    } else if known.iter().all(|ratio| ratio.is_faster()) {
        "faster at every oracle cost".to_owned()
    } else if known.iter().all(|ratio| ratio.is_slower()) {
        "slower at every oracle cost".to_owned()
    } else if reached && known.iter().all(|ratio| ratio.time.value < 1.0) {
        "below 1, not significant at every oracle cost".to_owned()
    } else {
        "no crossing seen".to_owned()
    }
}

fn ratio(ratio: &Ratio) -> String {
    format!("{}{}", ratio.bound.sign(), ratio.time.text(number))
}

pub fn table(breakeven: &BreakEven) -> Table {
    let mut costs: Vec<f64> = breakeven.sets.iter().flat_map(|set| set.costs.iter().copied()).collect();
    costs.sort_by(f64::total_cmp);
    costs.dedup();
    let mut table = Table::new("", [("data set", Text), ("solver", Text), ("gap", Values), ("crosses BCFW", Text)]);
    table.widen(Values, costs.iter().map(|k| format!("k = {}", factor(*k))));
    for (set, row) in breakeven.sets.iter().flat_map(|set| set.rows.iter().map(move |row| (set, row))) {
        let mut cells = cells![&set.title, &row.display, format!("{:e}", row.target), crossings(row)];
        for cost in &costs {
            let at = set.costs.iter().position(|known| known == cost);
            cells.push(at.and_then(|at| row.ratios[at].as_ref()).map(ratio).into());
        }
        table.push(cells);
    }
    table
}

pub fn heads(table: &BreakEven) -> Vec<String> {
    table.sets.iter().map(head).collect()
}

fn head(set: &BreakEvenSet) -> String {
    let paper = match (set.paper_share, set.paper_cost()) {
        (Some(share), Some(k)) => format!("; {} as in the paper at k = {}", percent(share), number(k)),
        _ => String::new(),
    };
    let rows = if set.targets.is_empty() {
        format!("; BCFW came no further than a relative gap of {}: no gap to compare at", number(set.reached))
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

pub fn text(table: &BreakEven) -> String {
    let mut out =
        String::from("time to a relative gap over that of BCFW with an oracle k× slower (below 1 is faster)\n\n");
    for line in heads(table) {
        out.push_str(&format!("{line}\n"));
    }
    out.push_str(&format!("\n{}", self::table(table).text()));
    out
}

pub fn advice(advice: &Advice) -> String {
    let mut out = format!(
        "{}: a call of {} is k = {}, {} of BCFW's time\n",
        advice.title,
        seconds(advice.call_s),
        number(advice.cost),
        percent(advice.share)
    );
    if advice.clock == "virtual" {
        out.push_str("seconds are those of the virtual clock, which counts operations: where BCFW's share is known, --share asks better\n");
    }
    if advice.read_at != advice.cost {
        out.push_str(&format!("the table ends at k = {}: read there\n", factor(advice.read_at)));
    }
    for choice in &advice.targets {
        let names: Vec<&str> = choice.solvers[..choice.fastest].iter().map(|one| one.display.as_str()).collect();
        let several = if names.len() > 1 { " (no significant difference)" } else { "" };
        out.push_str(&format!("\nto a relative gap of {:e}: {}{several}\n", choice.target, names.join(", ")));
        let ended = choice.solvers.iter().filter(|one| !one.reached()).map(|one| one.display.as_str());
        let ended: Vec<&str> = ended.collect();
        if !ended.is_empty() {
            out.push_str(&format!("not reached: {}\n", ended.join(", ")));
        }
        let mut table = Table::new("", [("solver", Text), ("time over BCFW's", Values)]);
        for one in &choice.solvers {
            table.push(cells![&one.display, ratio(&one.ratio)]);
        }
        out.push_str(&table.text());
    }
    out
}
