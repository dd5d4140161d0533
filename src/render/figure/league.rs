//! The league: standings in; the distribution over gaps of solver time and oracle calls with a name at the end of every
//! line, and of solver time with a dearer oracle, out.

use super::Source;
use super::canvas;
use super::legend::Legend;
use super::panel::Titles;
use super::steps::{self, LINE, Steps};
use super::theme::{WIDTH, pt};
use crate::error::Result;
use crate::render::style::{self, Style};
use crate::study::league::{League, Measure, Standing};

const GAP: f64 = 8.0;
/// Height of a panel without names.
const SMALL_PANEL: f64 = 112.0;
const DEAR: [Measure; 3] = [Measure::Dear10, Measure::Dear100, Measure::Dear1000];

/// Draws the figure of these data sets; `None` when nobody can be compared.
pub(super) fn draw(source: &Source<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let (frames, league) = (&source.results.frames, source.league()?);
    let standings = compared(league, datasets);
    if standings.is_empty() {
        return Ok(None);
    }
    let styles = style::styles(frames);
    let named = Measure::MEASURED.map(|measure| lines(&standings, measure, &styles));
    let tall = (LINE * named[0].len() as f64 + 44.0).max(120.0);
    let dear = DEAR.map(|measure| (measure, lines(&standings, measure, &styles)));
    let top = named.len() as f64 * (tall + GAP);
    let body = top + SMALL_PANEL + GAP;
    let legend = Legend::new([], &notes(&standings)).without_bands();
    let title = format!("league: {}", source.titles(datasets));
    let svg = canvas::svg(&title, (WIDTH, body + legend.height()), styles.values(), |root| {
        for (at, (measure, lines)) in Measure::MEASURED.into_iter().zip(&named).enumerate() {
            let area = root.clone().shrink((0, pt(at as f64 * (tall + GAP))), (pt(WIDTH), pt(tall)));
            let x = if measure == Measure::Calls { "oracle calls per term" } else { "solver time (s)" };
            let titles = Titles { above: "share of gaps reached", below: x, beside: "share" };
            steps::draw(&area, &titles, lines, None, true)?;
        }
        let row = root.clone().shrink((0, pt(top)), (pt(WIDTH), pt(SMALL_PANEL)));
        for (cell, (measure, lines)) in row.split_evenly((1, DEAR.len())).iter().zip(&dear) {
            let above = format!("oracle {}× as dear", measure.price().unwrap_or(1.0));
            let titles = Titles { above: &above, below: "solver time (s)", beside: "share" };
            steps::draw(cell, &titles, lines, None, false)?;
        }
        legend.draw(root, body)
    })?;
    Ok(Some(svg))
}

/// The standings of these data sets in which somebody can be compared; none when nobody has a rival.
pub(super) fn compared<'a>(league: &'a League, datasets: &[&str]) -> Vec<&'a Standing> {
    let wanted = |s: &&Standing| datasets.contains(&s.dataset.as_str()) && !s.targets.is_empty();
    let standings: Vec<&Standing> = league.standings.iter().filter(wanted).collect();
    let alone = standings.iter().all(|standing| standing.members.len() < 2);
    if alone { Vec::new() } else { standings }
}

/// A relative gap as axes write it.
pub(super) fn gap(target: f64) -> String {
    if target >= 1e-3 { format!("{target}") } else { format!("{target:e}") }
}

fn notes(standings: &[&Standing]) -> Vec<String> {
    let smallest = |s: &&Standing| s.targets.last().map_or(String::new(), |t| format!("{} to {}", s.title, gap(*t)));
    let targets: Vec<String> = standings.iter().map(smallest).collect();
    let mut notes = vec![format!(
        "over seeds and relative gaps to the certified optimum, two a decade from 1 as far as it is known: {}",
        targets.join(", ")
    )];
    let mut projected: Vec<&str> = Vec::new();
    for member in standings.iter().flat_map(|standing| &standing.members) {
        if member.reads_clock && !projected.contains(&member.display.as_str()) {
            projected.push(&member.display);
        }
    }
    let mut dear = "dearer oracle: the same runs, each second inside it counted so many times".to_owned();
    if !projected.is_empty() {
        dear += &format!("; a projection for solvers that read the clock: {}", projected.join(", "));
    }
    notes.push(dear);
    notes.extend(absent(standings));
    notes
}

/// Who was not run on every data set.
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
fn lines(standings: &[&Standing], measure: Measure, styles: &std::collections::BTreeMap<String, Style>) -> Vec<Steps> {
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
