//! What the tables of prices say, in words: break-even tables and advice in, text out.

use crate::study::estimate::Estimate;
use crate::study::price::{Advice, Bound, BreakEven, Crossing, PricedRow, PricedSet, Ratio, Sense};
use crate::table::Grid;
use crate::text::{number, percent, seconds};

/// A price as people write it.
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
fn ratio(ratio: Option<&Ratio>) -> String {
    ratio.map_or("–".to_owned(), |Ratio { time, bound }| format!("{}{}", bound.sign(), time.text(number)))
}

/// One row per data set, solver and gap.
pub fn grid(table: &BreakEven) -> Grid {
    let mut prices: Vec<f64> = table.sets.iter().flat_map(|set| set.prices.iter().copied()).collect();
    prices.sort_by(f64::total_cmp);
    prices.dedup();
    let mut grid = Grid::new(&["data set", "solver", ">gap", "crosses BCFW"]);
    grid.head.extend(prices.iter().map(|k| format!(">k = {}", price(*k))));
    for set in &table.sets {
        for row in &set.rows {
            let mut cells = vec![set.title.clone(), row.display.clone(), format!("{:e}", row.target), crossings(row)];
            cells.extend(prices.iter().map(|k| {
                let at = set.prices.iter().position(|p| p == k);
                ratio(at.and_then(|at| row.ratios[at].as_ref()))
            }));
            grid.rows.push(cells);
        }
    }
    grid
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
    out.push_str(&format!("\n{}", grid(table).text()));
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
        let told = if names.len() > 1 { " (not told apart)" } else { "" };
        out.push_str(&format!("\nto a relative gap of {:e}: {}{told}\n", choice.target, names.join(", ")));
        let mut grid = Grid::new(&["solver", ">time over BCFW's"]);
        grid.rows = choice.solvers.iter().map(|one| vec![one.display.clone(), ratio(Some(&one.ratio))]).collect();
        out.push_str(&grid.text());
    }
    out
}
