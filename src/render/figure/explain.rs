//! The paper's two explanatory figures from real computations: the Frank–Wolfe step on a one-dimensional H(w), and the slope
//! rule on the recorded passes of one iteration.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area, Drawn};
use super::legend::Legend;
use super::panel::{Ticks, Titles, axes, linear_ticks};
use super::theme::{self, INK, SMALL, pt, stroke};
use crate::error::{Error, Result};
use crate::render::style::Style;
use crate::store::RunRecord;
use crate::text::number;

const PANEL: f64 = 150.0;

/// F after each pass of one iteration of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassTrace {
    /// Solver time and F: at the start of the iteration, at the end of the exact pass, after each approximate pass.
    pub points: Vec<(f64, f64)>,
    /// Index of the point at the end of the exact pass.
    pub exact_end: usize,
}

impl PassTrace {
    /// The most instructive iteration among these runs; `None` when none made approximate passes.
    pub fn pick<'r>(records: impl Iterator<Item = &'r RunRecord>) -> Option<Self> {
        let traces = records.map(|record| &record.measured.totals.passes);
        let ascending = |points: &[(f64, f64)]| points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let whole = traces.filter(|points| points.len() > 2 && ascending(points));
        let best = whole.min_by_key(|points| points.len().abs_diff(8))?;
        Some(Self { points: best.clone(), exact_end: 1 })
    }
}

/// A plane over one feature: slope φ⋆ and offset φ∘.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ToyPlane {
    star: f64,
    circ: f64,
}

impl ToyPlane {
    fn at(self, w: f64) -> f64 {
        self.star * w + self.circ
    }

    fn mix(self, other: Self, gamma: f64) -> Self {
        let blend = |a: f64, b: f64| (1.0 - gamma) * a + gamma * b;
        Self { star: blend(self.star, other.star), circ: blend(self.circ, other.circ) }
    }
}

/// Five examples with one feature and two labels: H(w) = 1/n Σ max(0, 1 − w mᵢ), λ = 1/n.
struct Toy {
    margins: [f64; 5],
}

/// One Frank–Wolfe step.
struct Step {
    phi: ToyPlane,
    w: f64,
    hat: ToyPlane,
    gamma: f64,
    new: ToyPlane,
}

impl Toy {
    fn lambda(&self) -> f64 {
        1.0 / self.margins.len() as f64
    }

    /// The plane of the max-oracle at w.
    fn oracle(&self, w: f64) -> ToyPlane {
        let active = self.margins.iter().filter(|m| 1.0 - w * **m > 0.0);
        let sum =
            active.fold(ToyPlane { star: 0.0, circ: 0.0 }, |p, m| ToyPlane { star: p.star - m, circ: p.circ + 1.0 });
        ToyPlane { star: sum.star * self.lambda(), circ: sum.circ * self.lambda() }
    }

    fn hinge(&self, w: f64) -> f64 {
        self.oracle(w).at(w)
    }

    fn dual(&self, phi: ToyPlane) -> f64 {
        phi.circ - phi.star * phi.star / (2.0 * self.lambda())
    }

    fn step(&self, phi: ToyPlane) -> Step {
        let w = -phi.star / self.lambda();
        let hat = self.oracle(w);
        let (difference, lambda) = (phi.star - hat.star, self.lambda());
        let gamma = (difference * phi.star - lambda * (phi.circ - hat.circ)) / (difference * difference);
        let gamma = gamma.clamp(0.0, 1.0);
        Step { phi, w, hat, gamma, new: phi.mix(hat, gamma) }
    }
}

const COLORS: [Style; 4] = [
    Style { color: RGBColor(0x33, 0x33, 0x33), dash: &[] },
    Style { color: RGBColor(0x00, 0x72, 0xB2), dash: &[5.0, 2.0] },
    Style { color: RGBColor(0x00, 0x9E, 0x73), dash: &[1.4, 1.6] },
    Style { color: RGBColor(0xD5, 0x5E, 0x00), dash: &[6.0, 1.6, 1.2, 1.6] },
];

/// The second Frank–Wolfe step on the toy problem: left the planes below H, right the objective and its lower bounds.
pub fn fw_step() -> Result<String> {
    let toy = Toy { margins: [2.3, 2.5, -0.3, -0.9, -1.3] };
    let first = toy.step(ToyPlane { star: 0.0, circ: 0.0 });
    let step = toy.step(first.new);
    let ws: Vec<f64> = (0..=160).map(|k| -1.2 + 4.2 * k as f64 / 160.0).collect();
    let entries =
        ["H(w)", "φ (current)", "φ̂ (oracle at w)", "φ′ = (1−γ)φ + γφ̂"].map(str::to_owned).into_iter().zip(COLORS);
    let (before, after) = (toy.dual(step.phi), toy.dual(step.new));
    let note = format!(
        "five examples, one feature, λ = 1/5, second step: w = {}, γ = {}, F rises from {} to {}",
        number(step.w),
        number(step.gamma),
        number(before),
        number(after)
    );
    let legend = Legend::new(entries, &[note]).without_bands();
    canvas::svg("Frank–Wolfe step on a one-dimensional H(w)", PANEL + legend.height(), &COLORS, |root| {
        let cells = canvas::below(root, 0.0, PANEL).split_evenly((1, 2));
        let square = |w: f64| 0.5 * toy.lambda() * w * w;
        let planes = [step.phi, step.hat, step.new];
        for (cell, with_square) in cells.iter().zip([false, true]) {
            let lift = |w: f64| if with_square { square(w) } else { 0.0 };
            let mut curves = vec![ws.iter().map(|w| (*w, toy.hinge(*w) + lift(*w))).collect::<Vec<_>>()];
            curves.extend(planes.map(|plane| ws.iter().map(|w| (*w, plane.at(*w) + lift(*w))).collect::<Vec<_>>()));
            let (title, dots) = if with_square {
                let w_new = -step.new.star / toy.lambda();
                ("λ/2 w² + each of them", vec![(step.w, before, COLORS[1]), (w_new, after, COLORS[3])])
            } else {
                ("H(w) and its lower bounds", vec![(step.w, toy.hinge(step.w), COLORS[2])])
            };
            fw_panel(cell, title, &curves, &dots, step.w, if with_square { (0.0, 3.4) } else { (-0.6, 2.4) })?;
        }
        legend.draw(root, PANEL)
    })
}

fn fw_panel(
    cell: &Area,
    title: &str,
    curves: &[Vec<(f64, f64)>],
    dots: &[(f64, f64, Style)],
    w: f64,
    (low, high): (f64, f64),
) -> Drawn {
    let titles = Titles { above: title, below: "w", beside: "value at w" };
    let mut chart = axes(cell, &titles, (span(-1.2, 3.0), span(low, high)), 24.0)?;
    let drop = vec![(w, low), (w, high)];
    chart.draw_series(std::iter::once(PathElement::new(drop, stroke(INK.mix(0.45), 0.6))))?;
    for (curve, style) in curves.iter().zip(COLORS) {
        let inside = curve.iter().copied().filter(|(_, y)| (low..=high).contains(y));
        chart.draw_series(LineSeries::new(inside, stroke(style.color, 1.2)))?;
    }
    for (x, y, style) in dots {
        chart.draw_series(std::iter::once(Circle::new((*x, *y), pt(2.2), style.color.filled())))?;
    }
    let note = theme::text(SMALL, HPos::Left, VPos::Top);
    chart.draw_series(std::iter::once(Text::new("w", (w + 0.06, high), note)))?;
    Ok(())
}

/// Exactly this range with round ticks.
fn span(low: f64, high: f64) -> Ticks {
    Ticks { range: low..high, ..linear_ticks(low, high, 5) }
}

/// Gain of F per second over the last pass and over the whole iteration so far, at point `at`.
pub fn slopes(points: &[(f64, f64)], at: usize) -> (f64, f64) {
    let slope = |from: (f64, f64), to: (f64, f64)| (to.1 - from.1) / (to.0 - from.0);
    (slope(points[at - 1], points[at]), slope(points[0], points[at]))
}

/// The slope rule on a recorded iteration: left after a pass that was followed by another, right at its end.
pub fn slope_rule(trace: &PassTrace) -> Result<String> {
    let last = trace.points.len().saturating_sub(1);
    let ascending = trace.points.windows(2).all(|pair| pair[0].0 < pair[1].0);
    if trace.exact_end == 0 || trace.exact_end >= last || !ascending {
        return Err(Error::invalid(
            "the slope-rule figure needs one iteration with an exact pass and at least one approximate pass after it, \
             at ascending times",
        ));
    }
    let styles = [COLORS[1], COLORS[0], COLORS[3]];
    let names = ["exact pass", "approximate passes", "whole iteration so far"].map(str::to_owned);
    let approximate = last - trace.exact_end;
    let note =
        format!("vertical: gain of F since the iteration began; exact pass, then {approximate} approximate passes");
    let legend = Legend::new(names.into_iter().zip(styles), &[note]).without_bands();
    // Halfway through the passes that were followed by another; without one, the first pass is the last.
    let middle = trace.exact_end + (approximate / 2).max(1);
    canvas::svg("The slope rule on a recorded iteration", PANEL + legend.height(), &styles, |root| {
        for (cell, at) in canvas::below(root, 0.0, PANEL).split_evenly((1, 2)).iter().zip([middle, last]) {
            slope_panel(cell, trace, at, &styles)?;
        }
        legend.draw(root, PANEL)
    })
}

fn slope_panel(cell: &Area, trace: &PassTrace, at: usize, styles: &[Style; 3]) -> Drawn {
    let (start, end) = (trace.points[0], trace.points[trace.points.len() - 1]);
    // Milliseconds and gain since the iteration began, both panels on the same axes.
    let place = |(t, f): (f64, f64)| (1e3 * (t - start.0), f - start.1);
    let path: Vec<(f64, f64)> = trace.points[..=at].iter().map(|p| place(*p)).collect();
    let (x1, y1) = place(end);
    let (last, whole) = slopes(&trace.points, at);
    let verdict = if last >= whole { "another approximate pass" } else { "a new iteration" };
    let title = format!("after pass {}: {verdict}", at - trace.exact_end);
    let top = if y1 > 0.0 { 1.12 * y1 } else { 1.0 };
    let titles = Titles { above: &title, below: "time since the iteration began (ms)", beside: "gain of F" };
    let mut chart = axes(cell, &titles, (span(0.0, 1.04 * x1), span(0.0, top)), 34.0)?;
    let dashed = PathElement::new(vec![path[0], path[at]], stroke(styles[2].color, 1.2));
    chart.draw_series(std::iter::once(dashed))?;
    chart.draw_series(LineSeries::new(path[..=trace.exact_end].to_vec(), stroke(styles[0].color, 1.2)))?;
    chart.draw_series(LineSeries::new(path[trace.exact_end..].to_vec(), stroke(styles[1].color, 1.2)))?;
    let bold = vec![path[at - 1], path[at]];
    chart.draw_series(LineSeries::new(bold, stroke(styles[1].color, 2.4)))?;
    chart.draw_series(path.iter().map(|p| Circle::new(*p, pt(1.5), styles[1].color.filled())))?;
    let sign = if last >= whole { '≥' } else { '<' };
    // F rises from the lower left: the upper left corner is free.
    let note = theme::text(SMALL, HPos::Left, VPos::Bottom);
    let lines = [format!("last pass {} /s", number(last)), format!("{sign} whole {} /s", number(whole))];
    for (k, line) in lines.into_iter().enumerate() {
        let y = top * (0.91 - 0.09 * k as f64);
        chart.draw_series(std::iter::once(Text::new(line, (0.02 * x1, y), note.clone())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toy_step_raises_f_as_much_as_any_gamma_can() {
        let toy = Toy { margins: [2.3, 2.5, -0.3, -0.9, -1.3] };
        let step = toy.step(toy.step(ToyPlane { star: 0.0, circ: 0.0 }).new);
        assert!((0.1..0.9).contains(&step.gamma), "γ = {} shows no interpolation", step.gamma);
        let best = toy.dual(step.new);
        assert!((0..=1000).all(|k| toy.dual(step.phi.mix(step.hat, k as f64 / 1000.0)) <= best + 1e-12));
        for k in 0..100 {
            let w = -3.0 + 0.06 * k as f64;
            assert!(step.new.at(w) <= toy.hinge(w) + 1e-12, "a lower bound at w = {w}");
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
        let trace = PassTrace { points: vec![(0.0, 0.0), (1.0, 1.0)], exact_end: 1 };
        assert!(slope_rule(&trace).is_err());
        assert!(slope_rule(&PassTrace::default()).is_err());
    }
}
