//! The league as HTML: who wins at which gap, and every other table of it folded up by data set.

use std::fmt::Write as _;

use super::Input;
use super::sections::table;
use crate::render::tables::league::{Part, Section, sections};
use crate::text::escape;

fn html_of(section: &Section) -> String {
    let head: Vec<&str> = section.grid.head.iter().map(|name| name.trim_start_matches('>')).collect();
    let rows: Vec<Vec<String>> =
        section.grid.rows.iter().map(|row| row.iter().map(|cell| escape(cell)).collect()).collect();
    let caption = format!("{} <small>{}</small>", escape(&section.heading()), escape(&section.note));
    table(&format!("league {}", section.heading()), &caption, &head, &rows)
}

/// The tables.
pub(super) fn html(input: &Input) -> String {
    if input.league.is_empty() {
        return "<p>No two solvers can be compared at a gap of the certified optimum.</p>".to_owned();
    }
    let mut out = format!("<p class=\"hint\">{}</p>", escape(&Part::Winners.explain()));
    let all = sections(input.league, &[]);
    all.iter().filter(|section| section.part == Part::Winners).for_each(|section| out.push_str(&html_of(section)));
    out.push_str(
        "<p class=\"hint\">Figures: <a href=\"#figure-league\">distributions over gaps</a>, \
         <a href=\"#figure-performance_profile\">performance profile and speed-ups</a>, \
         <a href=\"#figure-league_targets\">speed-ups to gaps</a>.</p>",
    );
    let rest: Vec<&Section> = all.iter().filter(|section| section.part != Part::Winners).collect();
    for group in rest.chunk_by(|a, b| a.dataset == b.dataset) {
        let name = if group[0].dataset.is_empty() { "all data sets" } else { &group[0].dataset };
        let _ = write!(out, "<details><summary>{}: every solver at every gap</summary>", escape(name));
        let mut part = None;
        for section in group {
            if part != Some(section.part) {
                let _ = write!(out, "<p class=\"hint\">{}</p>", escape(&section.part.explain()));
            }
            part = Some(section.part);
            out.push_str(&html_of(section));
        }
        out.push_str("</details>");
    }
    out
}
