//! From drawing commands to files: a closure that draws in; SVG text, PNG and PDF bytes out.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::theme::{UNIT, pt};
use crate::error::{Error, Result};
use crate::render::style::Style;
use crate::text::escape;

/// A rectangle to draw in.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What a drawing step returns.
pub type Drawn = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Pixels per point in PNG files: about 220 dots per inch at the width of a page.
const PNG_SCALE: f32 = 3.0;

/// Draws on a white canvas of this size in points. `title` is read by screen readers; `styles` are those in use.
pub fn svg<'s>(
    title: &str,
    (width, height): (f64, f64),
    styles: impl IntoIterator<Item = &'s Style>,
    paint: impl FnOnce(&Area) -> Drawn,
) -> Result<String> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (pt(width) as u32, pt(height) as u32)).into_drawing_area();
        let drawn = root.fill(&WHITE).and_then(|()| paint(&root)).and_then(|()| root.present());
        drawn.map_err(|e| Error::invalid(format!("figure '{title}' cannot be drawn: {e}")))?;
    }
    let text = dashed(text, styles);
    // The canvas is UNIT times finer than the page: keep the view box, shrink the page.
    let head_end = text.find('>').map_or(0, |at| at + 1);
    let mut out = String::with_capacity(text.len() + 200);
    let (w, h) = (pt(width), pt(height));
    let _ = write!(
        out,
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>",
        escape(title)
    );
    out.push_str(&text[head_end..]);
    Ok(out)
}

/// Plotters has no dash attribute; every series has a colour of its own, so the colour of a polyline tells its dashes.
fn dashed<'s>(mut text: String, styles: impl IntoIterator<Item = &'s Style>) -> String {
    for style in styles {
        if style.dash.is_empty() {
            continue;
        }
        let lengths: Vec<String> = style.dash.iter().map(|d| format!("{}", d * UNIT)).collect();
        let RGBColor(r, g, b) = style.color;
        let plain = format!("<polyline fill=\"none\" opacity=\"1\" stroke=\"#{r:02X}{g:02X}{b:02X}\"");
        let dashed = format!("{plain} stroke-dasharray=\"{}\"", lengths.join(" "));
        text = text.replace(&plain, &dashed);
    }
    text
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

fn tree(svg: &str) -> Result<Tree> {
    let options = Options { fontdb: fonts(), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|e| Error::invalid(format!("the figure is not valid SVG: {e}")))
}

/// An SVG and what is needed to turn it into other formats; text is laid out once for all of them.
pub struct Rendering {
    tree: Tree,
}

impl Rendering {
    /// Reads the SVG.
    pub fn new(svg: &str) -> Result<Self> {
        Ok(Self { tree: tree(svg)? })
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
