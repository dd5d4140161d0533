//! The drawing vocabulary of all figures: a [`Sheet`] of blocks one below the other, and on them words, lines and shapes.
//! Places and sizes are in points.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::error::Result;
use crate::render::Error;
use crate::render::style::Style;
use crate::text::escape;

/// Canvas units per point: plotters draws on whole pixels, so the canvas is ten times as fine as the page.
const UNIT: f64 = 10.0;
/// Width of every figure. At the width of one paper column (about 240 pt) its 9 pt text is still 5 pt.
pub const WIDTH: f64 = 420.0;
/// The bundled font for PNG and PDF, any sans-serif where it is missing (a browser).
const FONT: &str = "DejaVu Sans, sans-serif";
pub const TEXT: f64 = 9.0;
/// Size of tick labels and notes.
pub const SMALL: f64 = 8.0;
pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub const GRID: RGBColor = RGBColor(0xE2, 0xE2, 0xE2);
/// Share of colour in a band.
pub const BAND_ALPHA: f64 = 0.17;

/// Where on a text its place is.
pub const LEFT: Pos = Pos { h_pos: HPos::Left, v_pos: VPos::Center };
pub const CENTER: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Center };
pub const RIGHT: Pos = Pos { h_pos: HPos::Right, v_pos: VPos::Center };
pub const TOP: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Top };

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Drawn<T = ()> = std::result::Result<T, DrawingAreaErrorKind<std::io::Error>>;

thread_local! {
    static DRAWN: Cell<usize> = const { Cell::new(0) };
}

/// Figures that this thread has drawn so far. A test compares it with the number of figures of a folder.
pub fn drawn() -> usize {
    DRAWN.get()
}

/// A figure that is being drawn, and the height that is used so far.
pub struct Sheet<'a> {
    root: Area<'a>,
    height: f64,
}

impl<'a> Sheet<'a> {
    /// The next block of this height.
    pub fn block(&mut self, height: f64) -> Area<'a> {
        let block = self.root.clone().shrink((0, pt(self.height)), (pt(WIDTH), pt(height)));
        self.height += height;
        block
    }
}

/// Draws a figure on white, as high as its blocks; always `Some`, which is what figures return. `title` is read by screen
/// readers; `styles` are those in use.
pub fn svg<'s>(
    title: &str,
    styles: impl IntoIterator<Item = &'s Style>,
    paint: impl FnOnce(&mut Sheet) -> Drawn,
) -> Result<Option<String>> {
    const LONGEST: u32 = 1 << 24;
    DRAWN.set(DRAWN.get() + 1);
    let mut text = String::new();
    let height = {
        let root = SVGBackend::with_string(&mut text, (pt(WIDTH) as u32, LONGEST)).into_drawing_area();
        let mut sheet = Sheet { root: root.clone(), height: 0.0 };
        let drawn = paint(&mut sheet).and_then(|()| root.present());
        drawn.map_err(|reason| Error::Drawing { title: title.to_owned(), reason })?;
        sheet.height
    };
    // The height is known only now, and the canvas is finer than the page: the head is written here.
    let (wide, high) = (pt(WIDTH), pt(height));
    let body = text.split_once('>').map_or("", |(_, body)| body);
    Ok(Some(format!(
        "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {wide} {high}\" role=\"img\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>\n\
         <rect x=\"0\" y=\"0\" width=\"{wide}\" height=\"{high}\" opacity=\"1\" fill=\"#FFFFFF\" stroke=\"none\"/>{}",
        escape(title),
        dashed(body, styles)
    )))
}

/// Plotters has no dash attribute; every series has a colour of its own, so the colour of a polyline decides its dashes.
fn dashed<'s>(svg: &str, styles: impl IntoIterator<Item = &'s Style>) -> String {
    let mut svg = svg.to_owned();
    for style in styles.into_iter().filter(|style| !style.dash.is_empty()) {
        let lengths: Vec<String> = style.dash.iter().map(|d| format!("{}", d * UNIT)).collect();
        let plain = format!("<polyline fill=\"none\" opacity=\"1\" stroke=\"{}\"", style.css().to_uppercase());
        svg = svg.replace(&plain, &format!("{plain} stroke-dasharray=\"{}\"", lengths.join(" ")));
    }
    svg
}

/// Points to canvas units.
pub fn pt(points: f64) -> i32 {
    (points * UNIT).round() as i32
}

fn place((x, y): (f64, f64)) -> (i32, i32) {
    (pt(x), pt(y))
}

pub fn size(area: &Area) -> (f64, f64) {
    let (width, height) = area.dim_in_pixel();
    (f64::from(width) / UNIT, f64::from(height) / UNIT)
}

pub fn stroke(color: impl Into<RGBAColor>, width: f64) -> ShapeStyle {
    color.into().stroke_width(pt(width) as u32)
}

pub fn font(size: f64, style: FontStyle, anchor: Pos) -> TextStyle<'static> {
    // The SVG backend divides the size by 1.24.
    FontDesc::new(FontFamily::Name(FONT), size * UNIT * 1.24, style).color(&INK).pos(anchor)
}

/// Ordinary text for what plotters writes.
pub fn text(size: f64, anchor: Pos) -> TextStyle<'static> {
    font(size, FontStyle::Normal, anchor)
}

pub fn words(area: &Area, words: impl Into<String>, at: (f64, f64), size: f64, anchor: Pos) -> Drawn {
    area.draw(&Text::new(words.into(), place(at), text(size, anchor)))
}

pub fn bold(area: &Area, words: String, at: (f64, f64), size: f64) -> Drawn {
    area.draw(&Text::new(words, place(at), font(size, FontStyle::Bold, LEFT)))
}

pub fn line(area: &Area, through: &[(f64, f64)], style: ShapeStyle) -> Drawn {
    area.draw(&PathElement::new(through.iter().map(|at| place(*at)).collect::<Vec<_>>(), style))
}

pub fn rectangle(area: &Area, corners: [(f64, f64); 2], style: impl Into<ShapeStyle>) -> Drawn {
    area.draw(&Rectangle::new(corners.map(place), style))
}

pub fn polygon(area: &Area, edge: &[(f64, f64)], fill: RGBAColor) -> Drawn {
    area.draw(&Polygon::new(edge.iter().map(|at| place(*at)).collect::<Vec<_>>(), fill))
}

pub fn circle(area: &Area, at: (f64, f64), radius: f64, style: impl Into<ShapeStyle>) -> Drawn {
    area.draw(&Circle::new(place(at), pt(radius), style))
}

/// The heading of a block, centred at `middle`.
pub fn heading(area: &Area, title: &str, middle: f64) -> Drawn {
    bold(area, clip(title, 11.0, WIDTH - 8.0), (4.0, middle), 10.0)
}

/// A title and, in place of a panel, the reason why it is empty.
pub fn nothing(area: &Area, title: &str, why: &str) -> Drawn {
    let (width, height) = size(area);
    words(area, title, (width / 2.0, 1.5), TEXT, TOP)?;
    words(area, why, (width / 2.0, height / 2.0), SMALL, CENTER)
}

/// A horizontal axis of its own: values and the places of its ends.
pub struct Span {
    pub values: Range<f64>,
    pub ends: [f64; 2],
}

impl Span {
    /// Where a value is; one beyond an end is drawn there.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value - self.values.start) / (self.values.end - self.values.start);
        self.ends[0] + share.clamp(0.0, 1.0) * (self.ends[1] - self.ends[0])
    }

    pub fn middle(&self) -> f64 {
        f64::midpoint(self.ends[0], self.ends[1])
    }
}

/// Width of a text, near enough for laying out legends: DejaVu Sans averages 0.57 em a letter here.
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
    text.chars().take(half).chain(['…']).chain(text.chars().skip(letters - half)).collect()
}

const ROW: f64 = 13.0;
const SAMPLE: f64 = 22.0;

/// A legend: a sample for each entry, with a band if wanted, in wrapped rows.
pub fn samples(sheet: &mut Sheet, entries: impl IntoIterator<Item = (String, Style)>, bands: bool) -> Drawn {
    const SPACE: f64 = 12.0;
    let wide = |label: &str| SAMPLE + 4.0 + text_width(label, TEXT) + SPACE;
    let mut rows: Vec<(f64, Vec<(String, Style)>)> = Vec::new();
    let mut seen = BTreeSet::new();
    for (label, style) in entries {
        if !seen.insert((label.clone(), style.css())) {
            continue;
        }
        let width = wide(&label);
        match rows.last_mut().filter(|(used, _)| used + width <= WIDTH) {
            Some((used, row)) => {
                *used += width;
                row.push((label, style));
            }
            None => rows.push((width, vec![(label, style)])),
        }
    }
    for (used, row) in rows {
        let (area, y) = (sheet.block(ROW), ROW / 2.0);
        let mut x = (WIDTH - (used - SPACE)) / 2.0;
        for (label, Style { color, .. }) in row {
            if bands {
                rectangle(&area, [(x, y - 3.0), (x + SAMPLE, y + 3.0)], color.mix(BAND_ALPHA).filled())?;
            }
            line(&area, &[(x, y), (x + SAMPLE, y)], stroke(color, 1.2))?;
            words(&area, &label, (x + SAMPLE + 4.0, y), TEXT, LEFT)?;
            x += wide(&label);
        }
    }
    Ok(())
}

/// Notes at the end of a figure, wrapped.
pub fn notes(sheet: &mut Sheet, notes: &[String]) -> Drawn {
    for note in notes {
        let mut lines = vec![String::new()];
        for word in note.split(' ') {
            match lines.last_mut() {
                Some(open) if open.is_empty() => open.push_str(word),
                Some(open) if text_width(open, SMALL) + text_width(word, SMALL) <= WIDTH - 16.0 => {
                    *open += " ";
                    *open += word;
                }
                _ => lines.push(word.to_owned()),
            }
        }
        for line in lines {
            words(&sheet.block(ROW), line, (WIDTH / 2.0, ROW / 2.0), SMALL, CENTER)?;
        }
    }
    sheet.block(4.0);
    Ok(())
}
