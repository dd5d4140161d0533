//! `data optimum`: a bracket of the optimum of a data set, narrowed and put into the store.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{anyhow, bail};
use clap::Args;
use serde_json::json;

use super::super::args::{FormatArgs, duration as parse_duration, json as pretty, positive};
use super::super::interrupt;
use super::super::terminal::print_width;
use super::{Exit, note, print};
use crate::dataset::{DataDir, Loaded, Request};
use crate::experiment::catalog::Catalog;
use crate::store::files::{self, SharedFile};
use crate::store::identity::CODE_VERSION;
use crate::store::optimum::{LOCAL, Optima, Optimum};
use crate::table::{Format, Kind, Table, cells};
use crate::text::duration;
use ssvm::problem::Size;
use ssvm::solver::{Bracket, BracketProgress};

/// Certify the optimum of a data set and store it
///
/// Narrows the bracket between a lower and an upper bound until it is at most --gap wide. Exit code 2 means that it is
/// still wider; the bounds reached are stored anyway.
#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench data optimum usps --gap 1e-9\n  \
    ssvm-bench data optimum usps-synth:n=50 --gap 1e-6 --time 1m --store my-optima.toml")]
pub struct OptimumArgs {
    /// Data set, such as usps, libsvm:PATH or horseseg-synth:n=300
    #[arg(value_name = "DATASET")]
    dataset: String,
    /// Stop when the bracket is at most this wide
    #[arg(long, default_value = "1e-9", value_name = "EPS", value_parser = positive, allow_hyphen_values = true)]
    gap: f64,
    /// Regularisation parameter λ [default: 1/n]
    #[arg(long, value_parser = positive, allow_hyphen_values = true)]
    lambda: Option<f64>,
    /// Weight of the pairwise term of graphs [default: that of the file, else 1]
    #[arg(long, value_name = "THETA")]
    pairwise_weight: Option<f64>,
    /// Stop after this much time, such as 90s or 5m, and keep the bounds reached
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    time: f64,
    /// File that stores the bounds; - prints the entry
    #[arg(long, default_value = LOCAL, value_name = "FILE")]
    store: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

pub fn run(args: &OptimumArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<Exit> {
    // Tried before the work starts: a damaged store or a wrong path must not cost it.
    files::try_folder(&args.store)?;
    drop(SharedFile::lock(&args.store)?);
    if !files::is_stream(&args.store) {
        Optima::read(&args.store)?;
    }
    let OptimumArgs { lambda, pairwise_weight, .. } = args;
    let dataset = catalog.used_name(&args.dataset, data)?;
    let request = Request { name: &dataset, data, lambda: *lambda, pairwise_weight: *pairwise_weight };
    let Loaded { description, problem, .. } = catalog.open(&request)?;
    let Size { n, d, .. } = description.size;
    note(&format!("{dataset}: n = {n}, d = {d}, λ = {:.6e}", problem.lambda()));
    let interrupted = interrupt::flag();
    let started = Instant::now();
    let seconds = || started.elapsed().as_secs_f64();
    let stop = || interrupted.load(Ordering::Relaxed) || seconds() >= args.time;
    let mut watch = |progress: &BracketProgress| note(&line(progress, seconds(), args.time));
    let found = problem.problem().bracket(args.gap, &stop, &mut watch)?;
    if !found.width().is_finite() {
        bail!("{dataset}: its optimum cannot be bounded; its numbers are too large to be summed: scale them");
    }
    let new = Optimum {
        dataset: dataset.clone(),
        checksum: description.checksum,
        lambda: problem.lambda(),
        pairwise_weight: *pairwise_weight,
        lower: found.lower,
        upper: found.upper,
        solver: "pair steps and conjugate gradients over working sets".into(),
        code: CODE_VERSION.into(),
    };
    let Bracket { lower, upper } = Optima::update(&args.store, new.clone()).or_else(|error| {
        // The store could be written when the work started; its result must not be lost.
        Optima::update(Path::new("-"), new)?;
        Err(anyhow!("{error}; the bounds were not stored: add the [[optimum]] that was printed to a store"))
    })?;
    let width = upper - lower;
    let [low, high] = outward(lower, upper);
    let mut table = Table::new("", [("data set", Kind::Text), ("lower", Kind::Values), ("upper", Kind::Values)]);
    table.widen(Kind::Values, ["width"]);
    table.push(cells![&dataset, &low, &high, format!("{width:.3e}")]);
    match args.format.format {
        Format::Table => print(&format!("lower {low}\nupper {high}\nwidth {width:.3e}\n"))?,
        Format::Json => print(&pretty(&json!({"dataset": dataset, "lambda": problem.lambda(), "lower": lower,
            "upper": upper, "width": width, "gap": args.gap}))?)?,
        format => print(&table.render(format, print_width(), &())?)?,
    }
    if width <= args.gap {
        return Ok(Exit::Fine);
    }
    let why = match () {
        () if interrupted.load(Ordering::Relaxed) => "interrupted",
        () if seconds() >= args.time => "the time limit was reached; set a longer --time",
        () if !problem.exact() => {
            "it cannot become narrower: the oracle is not exact, and the rest is the slack of its bound"
        }
        () => {
            "it cannot become narrower: the rest is the allowance for rounding, which grows with the features; \
             scale them, or set a larger --gap"
        }
    };
    note(&format!("the bracket is {width:.3e} wide, wider than {:e} ({why})", args.gap));
    Ok(Exit::GateFailed)
}

fn line(progress: &BracketProgress, seconds: f64, most: f64) -> String {
    let BracketProgress { bracket, round, planes, news } = progress;
    let [low, high] = outward(bracket.lower, bracket.upper);
    format!(
        "round {round}: {low} to {high}, gap {:.3e}, {planes:.2} planes a term, {news} new, {} left",
        bracket.width(),
        duration((most - seconds).max(0.0)),
    )
}

/// A bracket in decimal digits that holds it: a bound that has no short decimal form is moved outward by one unit in the last
/// place, which is more than 17 significant digits round off.
fn outward(lower: f64, upper: f64) -> [String; 2] {
    [(lower, lower.next_down()), (upper, upper.next_up())].map(|(bound, beyond)| {
        // 767 significant digits are all that a double has; 15 or fewer are what Debug prints.
        let exact = format!("{:.766e}", bound.abs());
        let digits = exact.split('e').next().unwrap_or_default().trim_end_matches('0');
        if digits.len() <= "1.".len() + 14 {
            return format!("{bound:?}");
        }
        let power = beyond.abs().log10().floor();
        if (-5.0..16.0).contains(&power) {
            format!("{beyond:.*}", (16.0 - power) as usize)
        } else {
            format!("{beyond:.16e}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::outward;

    #[test]
    fn a_printed_bracket_holds_the_bracket() {
        assert_eq!(outward(0.5, 0.75), ["0.5", "0.75"]);
        assert_eq!(outward(0.0, 1e300).map(|text| text.len() < 25), [true; 2]);
        assert_eq!(outward(0.0, 0.0), ["0.0", "0.0"]);
        let mut value = 8.81e-16;
        for _ in 0..400 {
            value *= 1.37;
            for bound in [value, -value, 1.0 / value] {
                let [low, high] = outward(bound, bound);
                assert!(low.len() < 26 && high.len() < 26, "{low} {high}");
                // 17 digits of the neighbour are read as that neighbour; a number of at most 15 is printed as it is.
                let [below, above] = [&low, &high].map(|text| text.parse::<f64>().unwrap());
                let whole = bound.fract() == 0.0 && bound.abs() < 1e15;
                let expected = if whole { [bound; 2] } else { [bound.next_down(), bound.next_up()] };
                assert_eq!([below, above], expected, "{bound:e}");
            }
        }
    }
}
