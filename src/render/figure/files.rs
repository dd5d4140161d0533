//! Figures → files: SVG text as it is, PNG and PDF bytes made of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use svg2pdf::{ConversionOptions, PageOptions};

use super::Figure;
use crate::render::Error;
use crate::store::files;

/// Pixels per point in PNG files: about 220 dots per inch at the width of a page.
const PNG_SCALE: f32 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FileFormat {
    Svg,
    Png,
    Pdf,
}

impl FileFormat {
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    pub fn name(self) -> &'static str {
        ["svg", "png", "pdf"][self as usize]
    }
}

/// Writes figures into `dir` in these formats; returns the files in order.
pub fn write(figures: &[Figure], dir: &Path, formats: &[FileFormat]) -> crate::Result<Vec<PathBuf>> {
    let written: Result<Vec<_>, _> = figures.par_iter().map(|figure| write_one(figure, dir, formats)).collect();
    Ok(written?.concat())
}

fn write_one(figure: &Figure, dir: &Path, formats: &[FileFormat]) -> crate::Result<Vec<PathBuf>> {
    // Text is laid out once for all formats that need it.
    let needed = formats.iter().any(|format| *format != FileFormat::Svg);
    let tree = needed.then(|| Tree::from_str(&figure.svg, &options())).transpose().map_err(Error::Svg)?;
    let mut written = Vec::new();
    for format in formats {
        let bytes = match (format, &tree) {
            (FileFormat::Png, Some(tree)) => png(tree)?,
            (FileFormat::Pdf, Some(tree)) => {
                svg2pdf::to_pdf(tree, ConversionOptions::default(), PageOptions { dpi: 72.0 }).map_err(Error::Pdf)?
            }
            _ => figure.svg.clone().into_bytes(),
        };
        let path = dir.join(format!("{}.{}", figure.name, format.name()));
        files::write_bytes(&path, &bytes)?;
        written.push(path);
    }
    Ok(written)
}

fn png(tree: &Tree) -> Result<Vec<u8>, Error> {
    let size = tree.size().to_int_size().scale_by(PNG_SCALE).ok_or(Error::TooLarge)?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or(Error::TooLarge)?;
    resvg::render(tree, Transform::from_scale(PNG_SCALE, PNG_SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| Error::Png(error.to_string()))
}

/// With the bundled fonts, and no other.
fn options() -> Options<'static> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    });
    Options { fontdb: fonts.clone(), font_family: "DejaVu Sans".to_owned(), ..Options::default() }
}
