//! The paper's two explanatory figures from real computations: the Frank–Wolfe step on a one-dimensional H(w), and the slope
//! rule on the recorded passes of one iteration.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{self, Area, Drawn, INK, SMALL, pt, stroke};
use super::chart::{Ticks, axes, linear_ticks};
use crate::error::Result;
use crate::render::style::Style;
use crate::store::RunRecord;
use crate::text::number;

const PANEL: f64 = 150.0;
const STYLES: [Style; 4] = [
    Style::new(0x333333, &[]),
    Style::new(0x0072B2, &[5.0, 2.0]),
    Style::new(0x009E73, &[1.4, 1.6]),
    Style::new(0xD55E00, &[6.0, 1.6, 1.2, 1.6]),
];

/// Five examples with one feature and two labels: H(w) = 1/n Σ max(0, 1 − w mᵢ), λ = 1/n.
const MARGINS: [f64; 5] = [2.3, 2.5, -0.3, -0.9, -1.3];
const LAMBDA: f64 = 1.0 / MARGINS.len() as f64;

/// A plane over one feature: slope φ⋆ and offset φ∘.
#[derive(Clone, Copy)]
struct ToyPlane {
    star: f64,
    circ: f64,
}

impl ToyPlane {
    /// The plane of the max-oracle at w.
    fn oracle(w: f64) -> Self {
        let active = MARGINS.iter().filter(|m| 1.0 - w * **m > 0.0);
        let (star, circ) = active.fold((0.0, 0.0), |(star, circ), m| (star - m, circ + 1.0));
        Self { star: star * LAMBDA, circ: circ * LAMBDA }
    }

    fn at(self, w: f64) -> f64 {
        self.star * w + self.circ
    }

    /// The w at which it bounds the objective from below most tightly.
    fn w(self) -> f64 {
        -self.star / LAMBDA
    }

    fn dual(self) -> f64 {
        self.circ - self.star * self.star / (2.0 * LAMBDA)
    }

    fn mix(self, other: Self, gamma: f64) -> Self {
        let blend = |a: f64, b: f64| (1.0 - gamma) * a + gamma * b;
        Self { star: blend(self.star, other.star), circ: blend(self.circ, other.circ) }
    }

    /// One Frank–Wolfe step: the oracle's plane and γ.
    fn step(self) -> (Self, f64) {
        let hat = Self::oracle(self.w());
        let difference = self.star - hat.star;
        let gamma = (difference * self.star - LAMBDA * (self.circ - hat.circ)) / (difference * difference);
        (hat, gamma.clamp(0.0, 1.0))
    }
}

/// The second Frank–Wolfe step on the toy problem: plane, oracle's plane, γ.
fn second_step() -> (ToyPlane, ToyPlane, f64) {
    let zero = ToyPlane { star: 0.0, circ: 0.0 };
    let (hat, gamma) = zero.step();
    let phi = zero.mix(hat, gamma);
    let (hat, gamma) = phi.step();
    (phi, hat, gamma)
}

/// The second Frank–Wolfe step on the toy problem: left the planes below H, right the objective and its lower bounds.
pub fn fw_step() -> Result<Option<String>> {
    let (phi, hat, gamma) = second_step();
    let new = phi.mix(hat, gamma);
    let (w, before, after) = (phi.w(), phi.dual(), new.dual());
    let values = [w, gamma, before, after].map(number);
    let note = format!(
        "five examples, one feature, λ = 1/5, second step: w = {}, γ = {}, F rises from {} to {}",
        values[0], values[1], values[2], values[3]
    );
    let hinge = |w: f64| ToyPlane::oracle(w).at(w);
    let left = ("H(w) and its lower bounds", 0.0, [-0.6, 2.4], vec![(w, hinge(w), STYLES[2])]);
    let lowest = vec![(w, before, STYLES[1]), (new.w(), after, STYLES[3])];
    let right = ("λ/2 w² + each of them", LAMBDA, [0.0, 3.4], lowest);
    canvas::svg("Frank–Wolfe step on a one-dimensional H(w)", &STYLES, |sheet| {
        let cells = sheet.block(PANEL).split_evenly((1, 2));
        for (cell, (title, lambda, [low, high], dots)) in cells.iter().zip([left, right]) {
            let chart = axes(cell, [title, "w", "value at w"], (span(-1.2, 3.0), span(low, high)), 24.0)?;
            chart.draw(&PathElement::new([(w, low), (w, high)], stroke(INK.mix(0.45), 0.6)))?;
            for (curve, style) in STYLES.iter().enumerate() {
                let value = |w: f64| if curve == 0 { hinge(w) } else { [phi, hat, new][curve - 1].at(w) };
                let ws = (0..=160).map(|k| -1.2 + 4.2 * f64::from(k) / 160.0);
                let curve = ws.map(|w| (w, value(w) + 0.5 * lambda * w * w));
                let inside: Vec<_> = curve.filter(|(_, y)| (low..=high).contains(y)).collect();
                chart.draw(&PathElement::new(inside, stroke(style.color, 1.2)))?;
            }
            for (x, y, style) in dots {
                chart.draw(&Circle::new((x, y), pt(2.2), style.color.filled()))?;
            }
            chart.draw(&Text::new("w", (w + 0.06, high), canvas::text(SMALL, Pos::new(HPos::Left, VPos::Top))))?;
        }
        let names = ["H(w)", "φ (current)", "φ̂ (oracle at w)", "φ′ = (1−γ)φ + γφ̂"].map(str::to_owned);
        canvas::samples(sheet, names.into_iter().zip(STYLES), false)?;
        canvas::notes(sheet, &[note])
    })
}

/// Exactly this range with round ticks.
fn span(low: f64, high: f64) -> Ticks {
    Ticks { range: low..high, ..linear_ticks(low, high, 5) }
}

/// Solver time and F at the start of an iteration, at the end of its exact pass and after each approximate pass, of the most
/// instructive iteration among these runs; empty when none made approximate passes.
pub fn passes<'r>(records: impl Iterator<Item = &'r RunRecord>) -> &'r [(f64, f64)] {
    let traces = records.map(|record| record.measured.totals.passes.as_slice());
    traces.filter(|points| has_passes(points)).min_by_key(|points| points.len().abs_diff(8)).unwrap_or_default()
}

fn has_passes(points: &[(f64, f64)]) -> bool {
    points.len() > 2 && points.windows(2).all(|pair| pair[0].0 < pair[1].0)
}

/// Gain of F per second over the last pass and over the whole iteration so far, at point `at`.
fn slopes(points: &[(f64, f64)], at: usize) -> (f64, f64) {
    let slope = |from: (f64, f64), to: (f64, f64)| (to.1 - from.1) / (to.0 - from.0);
    (slope(points[at - 1], points[at]), slope(points[0], points[at]))
}

/// The slope rule on the [`passes`] of an iteration: left after a pass that was followed by another, right at its end. `None`
/// without an approximate pass, or when times do not ascend.
pub fn slope_rule(points: &[(f64, f64)]) -> Result<Option<String>> {
    if !has_passes(points) {
        return Ok(None);
    }
    let last = points.len() - 1;
    let approximate = last - 1;
    // Halfway through the passes that were followed by another; without one, the first pass is the last.
    let middle = 1 + (approximate / 2).max(1);
    let note =
        format!("vertical: gain of F since the iteration began; exact pass, then {approximate} approximate passes");
    let styles = [STYLES[1], STYLES[0], STYLES[3]];
    canvas::svg("The slope rule on a recorded iteration", &styles, |sheet| {
        for (cell, at) in sheet.block(PANEL).split_evenly((1, 2)).iter().zip([middle, last]) {
            slope_panel(cell, points, at, styles.map(|style| style.color))?;
        }
        let names = ["exact pass", "approximate passes", "whole iteration so far"].map(str::to_owned);
        canvas::samples(sheet, names.into_iter().zip(styles), false)?;
        canvas::notes(sheet, &[note])
    })
}

fn slope_panel(cell: &Area, points: &[(f64, f64)], at: usize, [exact, approximate, whole]: [RGBColor; 3]) -> Drawn {
    // Milliseconds and gain since the iteration began, both panels on the same axes.
    let places: Vec<(f64, f64)> = points.iter().map(|(t, f)| (1e3 * (t - points[0].0), f - points[0].1)).collect();
    let ((x1, y1), path) = (places[points.len() - 1], &places[..=at]);
    let top = if y1 > 0.0 { 1.12 * y1 } else { 1.0 };
    let (last_slope, slope) = slopes(points, at);
    let (verdict, sign) =
        if last_slope >= slope { ("another approximate pass", '≥') } else { ("a new iteration", '<') };
    let titles = [&format!("after pass {}: {verdict}", at - 1), "time since the iteration began (ms)", "gain of F"];
    let chart = axes(cell, titles, (span(0.0, 1.04 * x1), span(0.0, top)), 34.0)?;
    let line = |through: &[(f64, f64)], color, width| chart.draw(&PathElement::new(through, stroke(color, width)));
    line(&[path[0], path[at]], whole, 1.2)?;
    line(&path[..=1], exact, 1.2)?;
    line(&path[1..], approximate, 1.2)?;
    line(&path[at - 1..], approximate, 2.4)?;
    path.iter().try_for_each(|p| chart.draw(&Circle::new(*p, pt(1.5), approximate.filled())))?;
    // F rises from the lower left: the upper left corner is free.
    let lines = [format!("last pass {} /s", number(last_slope)), format!("{sign} whole {} /s", number(slope))];
    for (line, y) in lines.into_iter().zip([0.91, 0.82]) {
        let style = canvas::text(SMALL, Pos::new(HPos::Left, VPos::Bottom));
        chart.draw(&Text::new(line, (0.02 * x1, top * y), style))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toy_step_raises_f_as_much_as_any_gamma_can() {
        let (phi, hat, gamma) = second_step();
        let new = phi.mix(hat, gamma);
        assert!((0.1..0.9).contains(&gamma), "γ = {gamma} shows no interpolation");
        assert!((0..=1000).all(|k| phi.mix(hat, k as f64 / 1000.0).dual() <= new.dual() + 1e-12));
        for k in 0..100 {
            let w = -3.0 + 0.06 * k as f64;
            assert!(new.at(w) <= ToyPlane::oracle(w).at(w) + 1e-12, "a lower bound at w = {w}");
        }
    }

    #[test]
    fn slopes_compare_the_last_pass_with_the_whole_iteration() {
        let points = [(1.0, 0.0), (3.0, 1.0), (4.0, 2.0), (5.0, 2.1)];
        assert_eq!(slopes(&points, 2), (1.0, 2.0 / 3.0));
        let (last, whole) = slopes(&points, 3);
        assert!(last < whole && (whole - 2.1 / 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_trace_without_approximate_passes_is_refused() {
        assert_eq!(slope_rule(&[(0.0, 0.0), (1.0, 1.0)]).unwrap(), None);
        assert_eq!(slope_rule(&[]).unwrap(), None);
    }
}
