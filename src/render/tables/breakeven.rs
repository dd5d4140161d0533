//! Solvers over the oracle cost: the table of ratios and crossings, and advice in words.

use crate::study::estimate::Estimate;
use crate::study::price::{Advice, Bound, BreakEven, Crossing, PricedRow, PricedSet, Ratio, Sense};
use crate::table::Kind::{Text, Values};
use crate::table::{Table, cells};
use crate::text::{number, percent, seconds};

/// An oracle cost as people write it.
pub fn price(k: f64) -> String {
    let below = 1.0 / k;
    match k {
        k if k >= 1.0 && k.fract() == 0.0 => format!("{k}"),
        k if k < 1.0 && below.fract() == 0.0 => format!("1/{below}"),
        k => number(k),
    }
}

/// Where a solver crosses BCFW, in words.
pub fn crossings(row: &PricedRow) -> String {
    if row.crossings.is_empty() {
        let known: Vec<&Ratio> = row.ratios.iter().flatten().collect();
        let all = |test: fn(&Ratio) -> bool| !known.is_empty() && known.iter().all(|ratio| test(ratio));
        let sure = |ratio: &Ratio, end: fn(&Estimate) -> Option<f64>| end(&ratio.time).unwrap_or(ratio.time.value);
        let faster = |ratio: &Ratio| ratio.bound != Bound::AtLeast && sure(ratio, |time| time.high) < 1.0;
        let slower = |ratio: &Ratio| ratio.bound != Bound::AtMost && sure(ratio, |time| time.low) > 1.0;
        let words = if known.iter().all(|ratio| faster(ratio)) {
            "faster at every price"
        } else if known.iter().all(|ratio| slower(ratio)) {
            "slower at every price"
        } else if all(|ratio| ratio.time.value < 1.0) {
            "faster, not everywhere for sure"
        } else {
            "no crossing seen"
        };
        return words.to_owned();
    }
    let one = |Crossing { price: at, sense }: &Crossing| {
        let end = |end: Option<f64>, beyond: &str| end.map_or(beyond.to_owned(), price);
        let sense = if *sense == Sense::Faster { "faster from" } else { "slower from" };
        let interval = match at {
            Estimate { low: None, high: None, .. } => String::new(),
            Estimate { low, high, .. } => format!(" ({} to {})", end(*low, "below"), end(*high, "above")),
        };
        format!("{sense} {}{interval}", price(at.value))
    };
    row.crossings.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A ratio with its interval.
fn ratio(ratio: &Ratio) -> String {
    format!("{}{}", ratio.bound.sign(), ratio.time.text(number))
}

/// One row per data set, solver and gap.
pub fn table(breakeven: &BreakEven) -> Table {
    let mut costs: Vec<f64> = breakeven.sets.iter().flat_map(|set| set.prices.iter().copied()).collect();
    costs.sort_by(f64::total_cmp);
    costs.dedup();
    let mut table = Table::new("", [("data set", Text), ("solver", Text), ("gap", Values), ("crosses BCFW", Text)]);
    table.widen(Values, costs.iter().map(|k| format!("k = {}", price(*k))));
    for (set, row) in breakeven.sets.iter().flat_map(|set| set.rows.iter().map(move |row| (set, row))) {
        let mut cells = cells![&set.title, &row.display, format!("{:e}", row.target), crossings(row)];
        for cost in &costs {
            let at = set.prices.iter().position(|price| price == cost);
            cells.push(at.and_then(|at| row.ratios[at].as_ref()).map(ratio).into());
        }
        table.push(cells);
    }
    table
}

/// A line about each data set: what a call takes, BCFW's share, the paper's price.
pub fn heads(table: &BreakEven) -> Vec<String> {
    table.sets.iter().map(head).collect()
}

fn head(set: &PricedSet) -> String {
    let paper = match (set.paper_share, set.paper_price()) {
        (Some(share), Some(k)) => format!("; {} as in the paper at k = {}", percent(share), number(k)),
        _ => String::new(),
    };
    let rows = if set.targets.is_empty() {
        format!("; BCFW came no further than a relative gap of {}: nothing to compare at", number(set.reached))
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

/// The whole table for the terminal.
pub fn text(table: &BreakEven) -> String {
    let mut out =
        String::from("time to a relative gap over that of BCFW, the oracle k times as dear (below 1 is faster)\n\n");
    for line in heads(table) {
        out.push_str(&format!("{line}\n"));
    }
    out.push_str(&format!("\n{}", self::table(table).text()));
    out
}

/// Advice for the terminal.
pub fn advice(advice: &Advice) -> String {
    let mut out = format!(
        "{}: a call of {} is k = {}, {} of BCFW's time\n",
        advice.title,
        seconds(advice.call_s),
        number(advice.price),
        percent(advice.share)
    );
    if advice.clock == "virtual" {
        out.push_str("seconds are those of the virtual clock, which counts operations: where BCFW's share is known, --share asks better\n");
    }
    if advice.read_at != advice.price {
        out.push_str(&format!("the table ends at k = {}: read there\n", price(advice.read_at)));
    }
    for choice in &advice.targets {
        let names: Vec<&str> = choice.solvers[..choice.fastest].iter().map(|one| one.display.as_str()).collect();
        let several = if names.len() > 1 { " (no significant difference)" } else { "" };
        out.push_str(&format!("\nto a relative gap of {:e}: {}{several}\n", choice.target, names.join(", ")));
        let mut table = Table::new("", [("solver", Text), ("time over BCFW's", Values)]);
        for one in &choice.solvers {
            table.push(cells![&one.display, ratio(&one.ratio)]);
        }
        out.push_str(&table.text());
    }
    out
}
