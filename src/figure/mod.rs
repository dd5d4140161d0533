//! Result tables → SVG, PNG and PDF figures.
