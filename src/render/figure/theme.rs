//! How figures look, apart from their lines: sizes and fonts.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

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

/// A line of this width in points.
pub fn stroke(color: impl Into<RGBAColor>, width: f64) -> ShapeStyle {
    color.into().stroke_width(pt(width) as u32)
}

/// Text of a size in points, anchored at this corner or edge.
pub fn text(size: f64, h: HPos, v: VPos) -> TextStyle<'static> {
    font(size, FontStyle::Normal, h, v)
}

/// [`text`] in bold.
pub fn bold(size: f64, h: HPos, v: VPos) -> TextStyle<'static> {
    font(size, FontStyle::Bold, h, v)
}

fn font(size: f64, style: FontStyle, h: HPos, v: VPos) -> TextStyle<'static> {
    // The SVG backend divides the size by 1.24.
    FontDesc::new(FontFamily::Name(FONT), size * UNIT * 1.24, style).color(&INK).pos(Pos::new(h, v))
}

/// Width of a text in points, near enough for laying out legends: DejaVu Sans averages 0.57 em a letter here.
pub fn text_width(text: &str, size: f64) -> f64 {
    0.57 * size * text.chars().count() as f64
}

/// The text with its middle left out when it would be wider than this.
pub fn clip(text: &str, size: f64, width: f64) -> String {
    let (letters, most) = (text.chars().count(), (width / text_width("x", size)) as usize);
    if letters <= most {
        return text.to_owned();
    }
    let half = most.saturating_sub(1) / 2;
    let (head, tail) = (text.chars().take(half), text.chars().skip(letters - half));
    head.chain(std::iter::once('…')).chain(tail).collect()
}
