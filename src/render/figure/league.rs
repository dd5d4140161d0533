//! The league: standings → the distribution over gaps of solver time and of oracle calls, a name at the end of every line.

use super::Scene;
use super::canvas;
use super::steps::{self, LINE, Steps};
use crate::error::Result;
use crate::study::league::{League, Measure, Standing};

pub fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let standings = compared(&scene.summary.league, datasets);
    if standings.is_empty() {
        return Ok(None);
    }
    let smallest = |s: &&Standing| s.targets.last().map_or(String::new(), |t| format!("{} to {}", s.title, gap(*t)));
    let mut notes = vec![format!(
        "over seeds and relative gaps to the certified optimum, two per decade from 1 to the smallest that is compared: {}",
        standings.iter().map(smallest).collect::<Vec<_>>().join(", ")
    )];
    notes.extend(absent(&standings));
    scene.svg("league", datasets, |sheet| {
        for (measure, below) in Measure::ALL.into_iter().zip(["solver time (s)", "oracle calls per term"]) {
            let lines = lines(scene, &standings, measure);
            let area = sheet.block((LINE * lines.len() as f64 + 44.0).max(120.0));
            steps::draw(&area, ["share of gaps reached", below], &lines, None)?;
            sheet.block(8.0);
        }
        canvas::notes(sheet, &notes)
    })
}

/// The standings of these data sets that compare solvers at a gap; none when every solver is alone.
pub fn compared<'a>(league: &'a League, datasets: &[&str]) -> Vec<&'a Standing> {
    let wanted = |s: &&Standing| datasets.contains(&s.dataset.as_str()) && !s.targets.is_empty();
    let standings: Vec<&Standing> = league.standings.iter().filter(wanted).collect();
    let alone = standings.iter().all(|standing| standing.members.len() < 2);
    if alone { Vec::new() } else { standings }
}

/// The fewest pairs behind a speed-up of these standings.
pub fn fewest_pairs<'a>(standings: impl IntoIterator<Item = &'a Standing>) -> Option<usize> {
    let scores = standings.into_iter().flat_map(|standing| &standing.members).flat_map(|member| &member.scores);
    scores.flat_map(|score| &score.cells).filter_map(|cell| Some(cell.speedup?.pairs)).min()
}

/// A relative gap as axes write it.
pub fn gap(target: f64) -> String {
    if target >= 1e-3 { format!("{target}") } else { format!("{target:e}") }
}

/// The solvers that were not run on every data set.
pub fn absent(standings: &[&Standing]) -> Option<String> {
    let mut absent: Vec<&str> = Vec::new();
    for member in standings.iter().flat_map(|standing| &standing.members) {
        let on = |standing: &&Standing| standing.members.iter().any(|other| other.label == member.label);
        if !standings.iter().all(on) && !absent.contains(&member.display.as_str()) {
            absent.push(&member.display);
        }
    }
    (!absent.is_empty()).then(|| format!("not on every data set: {}", absent.join(", ")))
}

/// The lines of a measure; each combines the runs of one solver label over all data sets.
fn lines(scene: &Scene<'_>, standings: &[&Standing], measure: Measure) -> Vec<Steps> {
    let mut lines: Vec<(&str, Steps)> = Vec::new();
    for member in standings.iter().flat_map(|standing| &standing.members) {
        let score = &member.scores[measure as usize];
        if let Some((_, line)) = lines.iter_mut().find(|(label, _)| *label == member.label) {
            line.at.extend(&score.hits);
            line.of += score.tries;
        } else {
            let (style, name) = (scene.styles[&member.label], member.display.clone());
            lines.push((&member.label, Steps { name, style, at: score.hits.clone(), of: score.tries }));
        }
    }
    let mut lines: Vec<Steps> = lines.into_iter().map(|(_, line)| line).collect();
    for line in &mut lines {
        line.at.sort_unstable_by(f64::total_cmp);
        line.name += &format!(" {:.0} %", 100.0 * line.share());
    }
    lines
}
