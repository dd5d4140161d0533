//! The league: standings → the distribution over gaps of solver time and of oracle calls, a name at the end of every line.

use std::collections::BTreeMap;

use super::canvas;
use super::legend::Legend;
use super::panel::Titles;
use super::steps::{self, LINE, Steps};
use super::{Scene, titles};
use crate::error::Result;
use crate::render::style::{self, Style};
use crate::study::league::{League, Measure, Standing};

const GAP: f64 = 8.0;

/// Draws the figure of these data sets; `None` when no two solvers can be compared.
pub(super) fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let frames = &scene.results.own;
    let standings = compared(&scene.summary.league, datasets);
    if standings.is_empty() {
        return Ok(None);
    }
    let styles = style::styles(frames);
    let panels = Measure::ALL.map(|measure| (measure, lines(&standings, measure, &styles)));
    let tall = (LINE * panels[0].1.len() as f64 + 44.0).max(120.0);
    let body = panels.len() as f64 * (tall + GAP);
    let smallest = |s: &&Standing| s.targets.last().map_or(String::new(), |t| format!("{} to {}", s.title, gap(*t)));
    let targets: Vec<String> = standings.iter().map(smallest).collect();
    let mut notes = vec![format!(
        "over seeds and relative gaps to the certified optimum, two a decade from 1 as far as it is known: {}",
        targets.join(", ")
    )];
    notes.extend(absent(&standings));
    let legend = Legend::of_notes(&notes);
    let title = format!("league: {}", titles(frames, datasets));
    let svg = canvas::svg(&title, body + legend.height(), styles.values(), |root| {
        for (at, (measure, lines)) in panels.iter().enumerate() {
            let below = if *measure == Measure::Calls { "oracle calls per term" } else { "solver time (s)" };
            let titles = Titles { above: "share of gaps reached", below, beside: "share" };
            steps::draw(&canvas::below(root, at as f64 * (tall + GAP), tall), &titles, lines, None)?;
        }
        legend.draw(root, body)
    });
    svg.map(Some)
}

/// The standings of these data sets that compare solvers at a gap; none when every solver is alone.
pub(super) fn compared<'a>(league: &'a League, datasets: &[&str]) -> Vec<&'a Standing> {
    let wanted = |s: &&Standing| datasets.contains(&s.dataset.as_str()) && !s.targets.is_empty();
    let standings: Vec<&Standing> = league.standings.iter().filter(wanted).collect();
    let alone = standings.iter().all(|standing| standing.members.len() < 2);
    if alone { Vec::new() } else { standings }
}

/// The fewest pairs behind a speed-up of these standings.
pub(super) fn fewest_pairs<'a>(standings: impl Iterator<Item = &'a Standing>) -> Option<usize> {
    let scores = standings.flat_map(|standing| &standing.members).flat_map(|member| &member.scores);
    scores.flat_map(|score| &score.cells).filter_map(|cell| Some(cell.speedup?.pairs)).min()
}

/// A relative gap as axes write it.
pub(super) fn gap(target: f64) -> String {
    if target >= 1e-3 { format!("{target}") } else { format!("{target:e}") }
}

/// The solvers that were not run on every data set.
pub(super) fn absent(standings: &[&Standing]) -> Option<String> {
    let mut absent: Vec<&str> = Vec::new();
    for member in standings.iter().flat_map(|standing| &standing.members) {
        let on = |standing: &&&Standing| standing.members.iter().any(|other| other.label == member.label);
        if standings.iter().filter(on).count() < standings.len() && !absent.contains(&member.display.as_str()) {
            absent.push(&member.display);
        }
    }
    (!absent.is_empty()).then(|| format!("not on every data set: {}", absent.join(", ")))
}

/// The lines of a measure, solvers of one label put together over data sets.
fn lines(standings: &[&Standing], measure: Measure, styles: &BTreeMap<String, Style>) -> Vec<Steps> {
    let mut lines: Vec<(&str, Steps)> = Vec::new();
    for member in standings.iter().flat_map(|standing| &standing.members) {
        let score = &member.scores[measure as usize];
        if let Some((_, line)) = lines.iter_mut().find(|(label, _)| *label == member.label) {
            line.at.extend(&score.hits);
            line.of += score.tries;
        } else {
            let (style, name) = (styles[&member.label], member.display.clone());
            lines.push((&member.label, Steps { name, style, at: score.hits.clone(), of: score.tries }));
        }
    }
    for (_, line) in &mut lines {
        line.at.sort_unstable_by(f64::total_cmp);
        line.name += &format!(" {:.0} %", 100.0 * line.at.len() as f64 / line.of.max(1) as f64);
    }
    lines.into_iter().map(|(_, line)| line).collect()
}
