//! The legend below a figure: labels with their styles and a note in, wrapped rows of samples out.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Area, Drawn};
use super::theme::{self, BAND_ALPHA, INK, SMALL, TEXT, WIDTH, pt};
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
    /// Wraps the entries and notes into the width of a figure.
    pub fn new(entries: impl IntoIterator<Item = (String, Style)>, notes: &[String]) -> Self {
        let mut rows: Vec<Vec<(String, Style)>> = Vec::new();
        let mut used = 0.0;
        for (label, style) in entries {
            let wide = width(&label);
            if rows.is_empty() || used + wide > WIDTH {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += wide;
            if let Some(row) = rows.last_mut() {
                row.push((label, style));
            }
        }
        let mut lines: Vec<String> = Vec::new();
        for note in notes {
            let mut open = String::new();
            for word in note.split(' ') {
                if !open.is_empty() && theme::text_width(&open, SMALL) + theme::text_width(word, SMALL) > WIDTH - 16.0 {
                    lines.push(std::mem::take(&mut open));
                }
                open.push_str(if open.is_empty() { "" } else { " " });
                open.push_str(word);
            }
            lines.push(open);
        }
        Self { bands: true, rows, notes: lines }
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
                let (from, to) = ((pt(x), pt(y)), (pt(x + SAMPLE), pt(y)));
                let band = [(pt(x), pt(y - 3.0)), (pt(x + SAMPLE), pt(y + 3.0))];
                if self.bands {
                    area.draw(&Rectangle::new(band, style.color.mix(BAND_ALPHA).filled()))?;
                }
                area.draw(&PathElement::new(vec![from, to], style.color.stroke_width(pt(1.2) as u32)))?;
                let text = theme::text(TEXT, INK, HPos::Left, VPos::Center);
                area.draw(&Text::new(label.clone(), (pt(x + SAMPLE + 4.0), pt(y)), text))?;
                x += width(label);
            }
            y += ROW;
        }
        for note in &self.notes {
            let text = theme::text(SMALL, INK, HPos::Center, VPos::Center);
            area.draw(&Text::new(note.clone(), (pt(WIDTH / 2.0), pt(y)), text))?;
            y += ROW;
        }
        Ok(())
    }
}
