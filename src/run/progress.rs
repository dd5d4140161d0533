//! What people see while runs are on, on stderr: bars per worker on a terminal, plain lines elsewhere, or nothing.
//! Called by the watching thread only, never from a timed loop.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::remaining::Countdown;
use crate::store::{RunRecord, Status};
use crate::text::{duration, printable};

/// How much to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Progress and warnings.
    #[default]
    Normal,
    /// A line for every run.
    Verbose,
}

/// The state of a batch at one moment.
#[derive(Debug, Default)]
pub struct View {
    /// Runs that have ended.
    pub done: usize,
    /// Of these, failed ones.
    pub failed: usize,
    /// The share of all work that is done, inside running runs too.
    pub share: f64,
    /// Expected seconds until the batch ends.
    pub left_s: f64,
    /// Per worker, when it has a run.
    pub workers: Vec<Option<Work>>,
}

/// What a worker is at.
#[derive(Debug, Default)]
pub struct Work {
    /// The run.
    pub label: String,
    /// The share of its budget that is used.
    pub share: f64,
    /// Iterations so far.
    pub iteration: u64,
    /// Iterations of its budget.
    pub iterations: Option<u64>,
    /// Gap at the last evaluation.
    pub gap: Option<f64>,
}

impl Work {
    /// `usps mp-bcfw #3: 34 %, iteration 17 of 50, gap 1.20e-3`.
    fn text(&self) -> String {
        let mut text = format!("{}: {:.0} %", self.label, 100.0 * self.share);
        if self.iteration > 0 {
            let of = self.iterations.map_or(String::new(), |all| format!(" of {all}"));
            text += &format!(", iteration {}{of}", self.iteration);
        }
        text + &self.gap.map_or(String::new(), |gap| format!(", {}", gap_text(gap)))
    }
}

/// Shows batches.
pub struct Progress {
    verbosity: Verbosity,
    bars: Option<Bars>,
    terminal: bool,
    total: usize,
    countdown: Countdown,
    /// When it was last shown, and the share then: it never falls.
    shown: Option<(Instant, f64)>,
    /// When the last plain line came, and the share that it told.
    last_line: (Instant, f64),
}

struct Bars {
    multi: MultiProgress,
    total: ProgressBar,
    workers: Vec<ProgressBar>,
}

/// Steps of the bar of a batch.
const BAR: u64 = 1000;

/// Whether a plain line is due so many seconds after the last, when so much more of the work is done: a log is no film.
fn is_due(since_s: f64, more: f64) -> bool {
    since_s >= 30.0 || (since_s >= 5.0 && more >= 0.01)
}

impl Progress {
    /// For stderr as it is.
    pub fn new(verbosity: Verbosity) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stderr().is_terminal() && !dumb;
        Self {
            verbosity,
            bars: None,
            terminal,
            total: 0,
            countdown: Countdown::default(),
            shown: None,
            last_line: (Instant::now(), 0.0),
        }
    }

    /// A batch begins.
    pub fn begin(&mut self, total: usize, jobs: usize) {
        self.total = total;
        (self.countdown, self.shown, self.last_line) = (Countdown::default(), None, (Instant::now(), 0.0));
        if self.verbosity == Verbosity::Quiet || !self.terminal || total == 0 {
            return;
        }
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let style =
            |template: &str| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let workers = (0..jobs.min(total))
            .map(|_| multi.add(ProgressBar::new_spinner().with_style(style("  {spinner} {wide_msg}"))))
            .collect();
        let total = multi.add(ProgressBar::new(BAR).with_style(style("{wide_bar} {msg}")));
        self.bars = Some(Bars { multi, total, workers });
    }

    /// A run has ended: a line for failures, and for every run when verbose.
    pub fn finished(&mut self, label: &str, record: &RunRecord) {
        match &record.status {
            Status::Done(stop) => {
                let Some(point) = record.points().last() else { return };
                let (time, total) = (point.time_s, record.measured.totals.total_s);
                self.say(
                    Verbosity::Verbose,
                    &format!(
                        "{label}: {} iterations, {time:.3} s ({total:.2} s with evaluation), {}, stopped by {}",
                        point.iteration,
                        gap_text(point.gap),
                        stop.name()
                    ),
                );
            }
            failed => self.say(Verbosity::Normal, &format!("failed: {label}: {}", failed.reason())),
        }
    }

    /// The state now.
    pub fn show(&mut self, view: &View) {
        let now = Instant::now();
        let (before, told) = self.shown.unwrap_or((now, 0.0));
        // Estimates of the rest may rise; what is done does not become undone.
        let share = view.share.max(told);
        self.shown = Some((now, share));
        let left = self.countdown.next((now - before).as_secs_f64(), view.left_s);
        let failed = if view.failed > 0 { format!(", {} failed", view.failed) } else { String::new() };
        let runs = format!("{}/{} runs{failed}", view.done, self.total);
        let text = format!("{:.1} %, {runs}, {} left", 100.0 * share, duration(left));
        if let Some(bars) = &self.bars {
            for (bar, worker) in bars.workers.iter().zip(&view.workers) {
                bar.set_message(worker.as_ref().map_or(String::new(), |work| printable(&work.text()).into_owned()));
                bar.tick();
            }
            bars.total.set_message(text);
            bars.total.set_position((BAR as f64 * share) as u64);
        } else if is_due((now - self.last_line.0).as_secs_f64(), share - self.last_line.1) {
            self.last_line = (now, share);
            self.say(Verbosity::Normal, &text);
        }
    }

    /// The batch has ended.
    pub fn end(&mut self) {
        if let Some(bars) = self.bars.take() {
            for bar in bars.workers.iter().chain([&bars.total]) {
                bar.finish_and_clear();
            }
            // A terminal that went away is no reason to fail.
            let _ = bars.multi.clear();
        }
    }

    /// A line at this level.
    pub fn say(&self, level: Verbosity, text: &str) {
        if self.verbosity < level {
            return;
        }
        match &self.bars {
            Some(bars) => {
                let _ = bars.multi.println(printable(text));
            }
            // A closed stderr must not end the runs.
            None => {
                let _ = writeln!(std::io::stderr(), "{}", printable(text));
            }
        }
    }
}

/// A solver without a dual has no gap.
fn gap_text(gap: f64) -> String {
    if gap.is_finite() { format!("gap {gap:.2e}") } else { "no dual".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_few_lines() {
        assert!(!is_due(4.0, 0.5) && is_due(5.0, 0.01) && !is_due(29.0, 0.009) && is_due(30.0, 0.0));
    }

    #[test]
    fn a_worker_tells_how_far_its_run_is() {
        let work = Work { label: "usps fw #0".into(), share: 0.344, ..Work::default() };
        assert_eq!(work.text(), "usps fw #0: 34 %", "before the first iteration");
        let work = Work { iteration: 17, iterations: Some(50), gap: Some(0.0012), ..work };
        assert_eq!(work.text(), "usps fw #0: 34 %, iteration 17 of 50, gap 1.20e-3");
    }
}
