//! Errors of drawing.

use plotters::drawing::DrawingAreaErrorKind;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("figure '{title}' cannot be drawn: {reason}")]
    Drawing { title: String, reason: DrawingAreaErrorKind<std::io::Error> },
    #[error("--only {patterns} matches no solver; the folder has: {known}")]
    NoSolver { patterns: String, known: String },
    #[error("the figure is not valid SVG: {0}")]
    Svg(resvg::usvg::Error),
    #[error("the figure is too large for a PNG; use the SVG or fewer data sets")]
    TooLarge,
    #[error("the PNG cannot be encoded: {0}")]
    Png(String),
    #[error("the PDF cannot be made: {0}")]
    Pdf(svg2pdf::ConversionError),
}
