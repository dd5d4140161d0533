//! The legend below a figure: wrapped rows of samples, then notes.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area, Drawn};
use super::theme::{self, BAND_ALPHA, SMALL, TEXT, WIDTH, stroke};
use crate::render::style::Style;

const ROW: f64 = 13.0;
const SAMPLE: f64 = 22.0;
const SPACE: f64 = 12.0;

/// Entries in rows, then notes.
pub struct Legend {
    bands: bool,
    rows: Vec<Vec<(String, Style)>>,
    notes: Vec<String>,
}

fn width(label: &str) -> f64 {
    SAMPLE + 4.0 + theme::text_width(label, TEXT) + SPACE
}

impl Legend {
    /// Wraps entries and notes into the width of a figure; an entry that comes again is left out.
    pub fn new(entries: impl IntoIterator<Item = (String, Style)>, notes: &[String]) -> Self {
        let mut rows: Vec<Vec<(String, Style)>> = Vec::new();
        let mut used = f64::INFINITY;
        for entry in entries {
            if rows.iter().flatten().any(|known| *known == entry) {
                continue;
            }
            let wide = width(&entry.0);
            if used + wide > WIDTH {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += wide;
            if let Some(row) = rows.last_mut() {
                row.push(entry);
            }
        }
        Self { bands: true, rows, notes: notes.iter().flat_map(|note| wrapped(note)).collect() }
    }

    /// Notes alone.
    pub fn of_notes(notes: &[String]) -> Self {
        Self::new([], notes)
    }

    /// Samples of bare lines.
    pub fn without_bands(self) -> Self {
        Self { bands: false, ..self }
    }

    /// Height in points.
    pub fn height(&self) -> f64 {
        ROW * (self.rows.len() + self.notes.len()) as f64 + 4.0
    }

    /// Draws with its top edge at `top` points.
    pub fn draw(&self, area: &Area, top: f64) -> Drawn {
        let mut y = top + ROW / 2.0;
        for row in &self.rows {
            let total: f64 = row.iter().map(|(label, _)| width(label)).sum::<f64>() - SPACE;
            let mut x = (WIDTH - total) / 2.0;
            for (label, style) in row {
                if self.bands {
                    let band = [(x, y - 3.0), (x + SAMPLE, y + 3.0)];
                    canvas::rectangle(area, band, style.color.mix(BAND_ALPHA).filled())?;
                }
                canvas::line(area, &[(x, y), (x + SAMPLE, y)], stroke(style.color, 1.2))?;
                canvas::words(area, label, (x + SAMPLE + 4.0, y), theme::text(TEXT, HPos::Left, VPos::Center))?;
                x += width(label);
            }
            y += ROW;
        }
        for note in &self.notes {
            canvas::words(area, note, (WIDTH / 2.0, y), theme::text(SMALL, HPos::Center, VPos::Center))?;
            y += ROW;
        }
        Ok(())
    }
}

/// A note in lines.
fn wrapped(note: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in note.split(' ') {
        let open = lines.last().map_or("", String::as_str);
        let fits = theme::text_width(open, SMALL) + theme::text_width(word, SMALL) <= WIDTH - 16.0;
        match lines.last_mut().filter(|open| open.is_empty() || fits) {
            Some(open) => open.push_str(&format!("{}{word}", if open.is_empty() { "" } else { " " })),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
