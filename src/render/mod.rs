//! Typed tables and curves → text, Markdown, LaTeX, CSV, HTML, SVG, PNG and PDF.

pub mod figure;
pub mod report;
pub mod style;
pub mod tables;
