//! Line styles: a colour and a dash pattern for every solver, the same in every figure and in the report.

use std::collections::BTreeMap;

use plotters::style::RGBColor;

use crate::study::View;

/// Colour and dash pattern of a line. Colours are distinct, and the colour decides the dashes: see [`super::figure::canvas`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// The first ones are from the palette of Okabe and Ito, made for colour-blind readers.
    pub color: RGBColor,
    /// On and off lengths in points; empty for a solid line.
    pub dash: &'static [f64],
}

impl Style {
    pub(super) const fn new(rgb: u32, dash: &'static [f64]) -> Self {
        Self { color: RGBColor((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8), dash }
    }

    /// The colour as CSS writes it.
    pub fn css(&self) -> String {
        let RGBColor(r, g, b) = self.color;
        format!("#{r:02x}{g:02x}{b:02x}")
    }
}

/// The solvers of this program. Related solvers share a hue or a dash pattern.
const KNOWN: [(&str, Style); 19] = [
    ("fw", Style::new(0x777777, &[0.8, 2.4])),
    ("ssg-avg", Style::new(0xB22222, &[1.0, 1.6])),
    ("one-slack", Style::new(0x000000, &[4.0, 1.4, 1.0, 1.4])),
    ("one-slack-cache", Style::new(0x4D4D4D, &[4.0, 1.4, 1.0, 1.4])),
    ("bcfw", Style::new(0x0072B2, &[5.0, 2.0])),
    ("bcfw-avg", Style::new(0x56B4E9, &[2.0, 1.4])),
    ("bcfw-lazy", Style::new(0x668B22, &[3.0, 1.4])),
    ("bcfw-gap", Style::new(0xCC79A7, &[5.0, 2.0])),
    ("bcfw-pair", Style::new(0x8C6BB1, &[2.0, 1.4])),
    ("bcfw-cache", Style::new(0xA6761D, &[8.0, 2.0])),
    ("bcfw-gap-pair", Style::new(0x5E3C99, &[5.0, 2.0])),
    ("bcfw-gap-cache", Style::new(0xE7298A, &[8.0, 2.0])),
    ("bcfw-pair-cache", Style::new(0x1F78B4, &[8.0, 2.0, 1.2, 2.0])),
    ("bcfw-gap-pair-cache", Style::new(0x333399, &[])),
    ("mp-bcfw", Style::new(0xD55E00, &[])),
    ("mp-bcfw-avg", Style::new(0xE69F00, &[6.0, 1.6, 1.2, 1.6])),
    ("mp-bcfw-gram", Style::new(0x009E73, &[])),
    ("mp-bcfw-gram-avg", Style::new(0x66C2A5, &[6.0, 1.6, 1.2, 1.6])),
    ("mp-bcfw-gap", Style::new(0xCC3366, &[])),
];

/// For solvers of the caller's, and for one solver with several settings, in the order in which they appear. Far from the colours of
/// [`KNOWN`] in CIELAB (at least 23), and with dashes that none of these has.
const OTHERS: [Style; 8] = [
    Style::new(0xFF0FFF, &[10.0, 1.2, 3.0, 1.2]),
    Style::new(0x00C300, &[3.5, 3.5]),
    Style::new(0x0000FF, &[9.0, 1.2, 1.2, 1.2, 1.2, 1.2]),
    Style::new(0xFF0000, &[12.0, 3.0]),
    Style::new(0x691E2D, &[6.0, 3.0, 3.0, 3.0]),
    Style::new(0x965AFF, &[1.2, 4.0]),
    Style::new(0x2D3C00, &[4.0, 1.2, 1.2, 1.2, 1.2, 1.2]),
    Style::new(0xF078F0, &[2.0, 5.0]),
];

/// The style of every label of some views of one study; the first view chooses first.
pub fn styles<'v>(views: impl IntoIterator<Item = &'v View>) -> BTreeMap<String, Style> {
    let mut others = OTHERS.iter().cycle();
    let mut styles: BTreeMap<String, Style> = BTreeMap::new();
    for series in views.into_iter().flat_map(|view| &view.series) {
        if styles.contains_key(&series.label) {
            continue;
        }
        // A label with settings in it is one of several lines of its solver.
        let known = KNOWN.iter().find(|(name, _)| *name == series.label).map(|(_, style)| style);
        let mut style = known.or_else(|| others.next()).copied().unwrap_or(OTHERS[0]);
        // A colour identifies one line, so a colour in use is changed by as little as possible.
        while styles.values().any(|other| other.color == style.color) {
            style.color.2 = style.color.2.wrapping_add(1);
        }
        styles.insert(series.label.clone(), style);
    }
    styles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::solver_name;

    #[test]
    fn every_solver_of_the_program_has_a_colour_of_its_own() {
        let infos = ssvm::solver::SolverTable::infos(&ssvm::solver::Standard);
        assert!(infos.iter().all(|info| KNOWN.iter().any(|(name, _)| *name == info.name)));
        let shown: std::collections::BTreeSet<String> = infos.iter().map(|info| solver_name(info.name)).collect();
        assert_eq!(shown.len(), infos.len(), "names in figures are distinct");
        for (at, (name, style)) in KNOWN.iter().enumerate() {
            let twin = KNOWN[..at].iter().find(|(_, other)| other.color == style.color);
            assert!(twin.is_none(), "{name} and {twin:?}");
        }
    }

    #[test]
    fn a_solver_of_the_callers_looks_like_none_of_the_program() {
        let known: Vec<Style> = KNOWN.iter().map(|(_, style)| *style).collect();
        let apart = |a: RGBColor, b: RGBColor| {
            let square = |a: u8, b: u8| (f64::from(a) - f64::from(b)).powi(2);
            (square(a.0, b.0) + square(a.1, b.1) + square(a.2, b.2)).sqrt()
        };
        for (at, style) in OTHERS.iter().enumerate() {
            for other in known.iter().chain(&OTHERS[..at]) {
                assert!(apart(style.color, other.color) > 48.0, "{} and {}", style.css(), other.css());
                assert!(style.dash != other.dash, "{} and {}", style.css(), other.css());
            }
        }
    }
}
