//! From drawing commands to files: a closure that draws → SVG text → PNG and PDF bytes.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::theme::{self, UNIT, WIDTH, pt};
use crate::error::{Error, Result};
use crate::render::style::Style;
use crate::text::escape;

/// A rectangle to draw in.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What a drawing step returns.
pub type Drawn = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Pixels per point in PNG files: about 220 dots per inch at the width of a page.
const PNG_SCALE: f32 = 3.0;

thread_local! {
    static DRAWN: Cell<usize> = const { Cell::new(0) };
}

/// Figures that this thread has drawn so far. A test compares it with the number of figures of a folder.
pub fn drawn() -> usize {
    DRAWN.get()
}

/// Draws a figure of this height in points on white. `title` is read by screen readers; `styles` are those in use.
pub fn svg<'s>(
    title: &str,
    height: f64,
    styles: impl IntoIterator<Item = &'s Style>,
    paint: impl FnOnce(&Area) -> Drawn,
) -> Result<String> {
    DRAWN.set(DRAWN.get() + 1);
    let (w, h) = (pt(WIDTH), pt(height));
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (w as u32, h as u32)).into_drawing_area();
        let drawn = root.fill(&WHITE).and_then(|()| paint(&root)).and_then(|()| root.present());
        drawn.map_err(|e| Error::invalid(format!("figure '{title}' cannot be drawn: {e}")))?;
    }
    let text = dashed(text, styles);
    // The canvas is UNIT times finer than the page: keep the view box, shrink the page.
    let body = text.split_once('>').map_or("", |(_, body)| body);
    Ok(format!(
        "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>{body}",
        escape(title)
    ))
}

/// Plotters has no dash attribute; every series has a colour of its own, so the colour of a polyline decides its dashes.
fn dashed<'s>(mut text: String, styles: impl IntoIterator<Item = &'s Style>) -> String {
    for style in styles.into_iter().filter(|style| !style.dash.is_empty()) {
        let lengths: Vec<String> = style.dash.iter().map(|d| format!("{}", d * UNIT)).collect();
        let plain = format!("<polyline fill=\"none\" opacity=\"1\" stroke=\"{}\"", style.css().to_uppercase());
        let dashed = format!("{plain} stroke-dasharray=\"{}\"", lengths.join(" "));
        text = text.replace(&plain, &dashed);
    }
    text
}

/// Text at a place in points.
pub fn words(area: &Area, words: impl Into<String>, (x, y): (f64, f64), style: TextStyle<'static>) -> Drawn {
    area.draw(&Text::new(words.into(), (pt(x), pt(y)), style))
}

/// A line through these places.
pub fn line(area: &Area, places: &[(f64, f64)], style: ShapeStyle) -> Drawn {
    area.draw(&PathElement::new(places.iter().map(|(x, y)| (pt(*x), pt(*y))).collect::<Vec<_>>(), style))
}

/// A rectangle between two corners.
pub fn rectangle(area: &Area, corners: [(f64, f64); 2], style: ShapeStyle) -> Drawn {
    area.draw(&Rectangle::new(corners.map(|(x, y)| (pt(x), pt(y))), style))
}

/// The part of a figure from `top` on, of this height.
pub fn below<'a>(area: &Area<'a>, top: f64, height: f64) -> Area<'a> {
    area.clone().shrink((0, pt(top)), (pt(WIDTH), pt(height)))
}

/// The heading of a block, centred at `middle`.
pub fn heading(area: &Area, title: &str, middle: f64) -> Drawn {
    let clipped = theme::clip(title, 11.0, WIDTH - 8.0);
    words(area, clipped, (4.0, middle), theme::bold(10.0, HPos::Left, VPos::Center))
}

/// Width in points.
pub fn width(area: &Area) -> f64 {
    area.dim_in_pixel().0 as f64 / UNIT
}

/// A title, and in place of a panel why it shows nothing.
pub fn nothing(area: &Area, title: &str, why: &str) -> Drawn {
    let (middle, height) = (width(area) / 2.0, area.dim_in_pixel().1 as f64 / UNIT);
    words(area, title, (middle, 1.5), theme::text(theme::TEXT, HPos::Center, VPos::Top))?;
    words(area, why, (middle, height / 2.0), theme::text(theme::SMALL, HPos::Center, VPos::Center))
}

/// The bundled fonts, and no other.
fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    FONTS
        .get_or_init(|| {
            let mut fonts = fontdb::Database::new();
            fonts.load_font_data(dejavu::sans::regular().to_vec());
            fonts.load_font_data(dejavu::sans::bold().to_vec());
            fonts.set_sans_serif_family("DejaVu Sans");
            Arc::new(fonts)
        })
        .clone()
}

/// An SVG and what is needed to turn it into other formats; text is laid out once for all of them.
pub struct Rendering {
    tree: Tree,
}

impl Rendering {
    /// Reads the SVG.
    pub fn new(svg: &str) -> Result<Self> {
        let options = Options { fontdb: fonts(), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
        let tree = Tree::from_str(svg, &options);
        Ok(Self { tree: tree.map_err(|e| Error::invalid(format!("the figure is not valid SVG: {e}")))? })
    }

    /// PNG bytes.
    pub fn png(&self) -> Result<Vec<u8>> {
        let size = self.tree.size().to_int_size().scale_by(PNG_SCALE);
        let mut pixels = size
            .and_then(|size| Pixmap::new(size.width(), size.height()))
            .ok_or_else(|| Error::invalid("the figure is too large for a PNG; take the SVG or fewer data sets"))?;
        resvg::render(&self.tree, Transform::from_scale(PNG_SCALE, PNG_SCALE), &mut pixels.as_mut());
        pixels.encode_png().map_err(|e| Error::invalid(format!("the PNG cannot be encoded: {e}")))
    }

    /// PDF bytes, text as text.
    pub fn pdf(&self) -> Result<Vec<u8>> {
        svg2pdf::to_pdf(&self.tree, svg2pdf::ConversionOptions::default(), svg2pdf::PageOptions { dpi: 72.0 })
            .map_err(|e| Error::invalid(format!("the PDF cannot be made: {e}")))
    }
}
