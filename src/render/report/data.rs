//! The JSON behind the plots: bands in, compact text out. Long series are thinned to what a screen can show.

use serde_json::{Value, json};

use crate::error::Result;
use crate::render::figure::convergence::drawn_length;
use crate::render::style;
use crate::study::{Axis, Band, Bands, Quantity, View};

/// Maximum number of positions of one line in the page.
const MOST: usize = 300;

/// All data sets with their series and bands.
pub(super) fn json(frames: &View) -> Result<String> {
    let (styles, shown) = (style::styles([frames]), frames.shown(&[]));
    let axes = [frames.bands(Axis::Iteration)?, frames.bands(Axis::Time)?, frames.bands(Axis::OracleCalls)?];
    let mut datasets = Vec::new();
    for dataset in frames.datasets() {
        let mut series = Vec::new();
        for at in frames.series_of(dataset) {
            let info = &frames.series[at];
            let style = styles[&info.label];
            let mut entry = json!({
                "label": info.label,
                "paper": info.display,
                "color": style.css(),
                "dash": style.dash,
                "multi": info.keeps_planes(),
                "completed": info.completed,
                "failed": info.failed,
                "shown": shown[at],
            });
            for (axis, bands) in Axis::ALL.iter().zip(&axes) {
                entry[axis.name()] = bands_json(bands[at], drawn_length(bands[at]));
            }
            series.push(entry);
        }
        let (best_dual, best_primal) = frames.bounds_of(dataset).unwrap_or((f64::NAN, f64::NAN));
        let titles: Value =
            Quantity::ALL.iter().map(|q| (q.name().to_owned(), Value::from(frames.panel_title(*q, dataset)))).collect();
        datasets.push(json!({
            "titles": titles, "floor": short(frames.floor(dataset)), "name": dataset, "title": frames.title(dataset), "series": series,
            "best_dual": best_dual, "best_primal": best_primal,
        }));
    }
    let quantities: Vec<Value> = Quantity::ALL
        .iter()
        .map(|q| json!({ "key": q.name(), "title": q.title(), "unit": q.unit(), "floor": q.is_suboptimality() }))
        .collect();
    Ok(json!({ "datasets": datasets, "quantities": quantities }).to_string())
}

fn bands_json(bands: &Bands, length: usize) -> Value {
    let keep = thin(&bands.x[..length], MOST);
    let pick = |values: &[f64]| keep.iter().map(|at| short(values[*at])).collect::<Vec<Value>>();
    let counts: Vec<u32> = keep.iter().map(|at| bands.count[*at]).collect();
    let mut out = json!({ "x": pick(&bands.x), "n": counts, "of": bands.x.len() });
    for quantity in Quantity::ALL {
        let Band { min, median, max } = bands.of(quantity);
        out[quantity.name()] = json!([pick(min), pick(median), pick(max)]);
    }
    out
}

/// Six significant digits; what is not finite is null.
fn short(value: f64) -> Value {
    if value.is_finite() { format!("{value:.5e}").parse::<f64>().map_or(Value::Null, Value::from) } else { Value::Null }
}

/// At most `most` indices, first and last included, spread evenly over log x where x is positive.
fn thin(x: &[f64], most: usize) -> Vec<usize> {
    if x.len() <= most {
        return (0..x.len()).collect();
    }
    let place = |value: f64| value.max(f64::MIN_POSITIVE).ln();
    let (low, high) = (place(x[0]), place(x[x.len() - 1]));
    let mut keep: Vec<usize> = vec![0];
    for step in 1..most {
        let goal = low + (high - low) * step as f64 / (most - 1) as f64;
        let at = x.partition_point(|v| place(*v) < goal).min(x.len() - 1);
        if keep.last() != Some(&at) {
            keep.push(at);
        }
    }
    if keep.last() != Some(&(x.len() - 1)) {
        keep.push(x.len() - 1);
    }
    keep
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_ends_and_the_early_part() {
        let x: Vec<f64> = (1..=5000).map(f64::from).collect();
        let keep = thin(&x, 100);
        assert!(keep.len() <= 101 && keep.is_sorted());
        assert_eq!((keep[0], keep[1], *keep.last().unwrap()), (0, 1, 4999));
        assert_eq!(thin(&x[..50], 100).len(), 50);
    }

    #[test]
    fn numbers_are_short_and_gaps_are_null() {
        assert_eq!(short(0.1 + 0.2).to_string(), "0.3");
        assert_eq!([short(f64::NAN), short(-1.5)], [Value::Null, Value::from(-1.5)]);
    }
}
