//! How figures look, apart from what they show: sizes, fonts, and a colour with a dash pattern for every series.

use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::study::frame::Frames;
use ssvm::solver::SolverInfo;

/// Canvas units per point: plotters draws on whole pixels, so the canvas is ten times as fine as the page.
pub const UNIT: f64 = 10.0;
/// Width of every figure in points. At the width of one paper column (about 240 pt) its 9 pt text is still 5 pt.
pub const WIDTH: f64 = 420.0;
/// The bundled font for PNG and PDF, any sans-serif where it is missing (a browser).
pub const FONT: &str = "DejaVu Sans, sans-serif";
/// Size of ordinary text.
pub const TEXT: f64 = 9.0;
/// Size of tick labels.
pub const SMALL: f64 = 8.0;
/// Text and axes.
pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Grid lines.
pub const GRID: RGBColor = RGBColor(0xE2, 0xE2, 0xE2);
/// Share of colour in a band.
pub const BAND_ALPHA: f64 = 0.17;

/// Points to canvas units.
pub fn pt(points: f64) -> i32 {
    (points * UNIT).round() as i32
}

/// Colour and dash pattern of a series. The colour alone decides the dash pattern, see [`super::canvas`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// From the palette of Okabe and Ito, made for colour-blind readers.
    pub color: RGBColor,
    /// On and off lengths in points; empty for a solid line.
    pub dash: &'static [f64],
}

/// For solvers that appear with several settings, and for those that this program does not know.
const EXTRA: [Style; 5] = [
    Style { color: RGBColor(0x00, 0x9E, 0x73), dash: &[3.5, 1.2] },
    Style { color: RGBColor(0xCC, 0x79, 0xA7), dash: &[7.0, 1.5] },
    Style { color: RGBColor(0x00, 0x00, 0x00), dash: &[1.2, 1.2] },
    Style { color: RGBColor(0x88, 0x22, 0x55), dash: &[4.0, 1.2, 1.2, 1.2, 1.2, 1.2] },
    Style { color: RGBColor(0x11, 0x77, 0x33), dash: &[2.0, 3.0] },
];

/// The style of every label of the frames: the same in every figure and in the report.
pub fn styles(frames: &Frames) -> BTreeMap<String, Style> {
    let mut extra = EXTRA.iter().cycle();
    let mut styles: BTreeMap<String, Style> = BTreeMap::new();
    for series in &frames.series {
        if !styles.contains_key(&series.label) {
            let own = series.info.as_ref().filter(|_| series.label == series.solver);
            let mut style = match own {
                Some(SolverInfo { color: [r, g, b], dash, .. }) => Style { color: RGBColor(*r, *g, *b), dash },
                None => *extra.next().unwrap_or(&EXTRA[0]),
            };
            // A colour stands for one line: one that is taken is moved by as little as possible.
            while styles.values().any(|other| other.color == style.color) {
                style.color.2 = style.color.2.wrapping_add(1);
            }
            styles.insert(series.label.clone(), style);
        }
    }
    styles
}

/// Text of a size in points, anchored as told.
pub fn text(size: f64, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    // The SVG backend divides the size by 1.24.
    FontDesc::new(FontFamily::Name(FONT), size * UNIT * 1.24, FontStyle::Normal).color(&color).pos(Pos::new(h, v))
}

/// [`text`] in bold.
pub fn bold(size: f64, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    FontDesc::new(FontFamily::Name(FONT), size * UNIT * 1.24, FontStyle::Bold).color(&color).pos(Pos::new(h, v))
}

/// Width of a text in points, near enough for laying out legends: DejaVu Sans averages 0.57 em a letter here.
pub fn text_width(text: &str, size: f64) -> f64 {
    0.57 * size * text.chars().count() as f64
}

/// The text with its middle left out when it would be wider than this.
pub fn clip(text: &str, size: f64, width: f64) -> String {
    let (letters, room) = (text.chars().count(), (width / text_width("x", size)) as usize);
    if letters <= room {
        return text.to_owned();
    }
    let half = room.saturating_sub(1) / 2;
    let (head, tail) = (text.chars().take(half), text.chars().skip(letters - half));
    head.chain(std::iter::once('…')).chain(tail).collect()
}
