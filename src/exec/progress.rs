//! What people see while runs are on, on stderr: bars per worker on a terminal, plain lines elsewhere, or nothing.
//! Called by the watching thread only, never from a timed loop.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text::{duration, printable};
use crate::trace::{RunRecord, Status};

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
    /// Expected seconds until the batch ends.
    pub left_s: f64,
    /// Per worker: label, iterations and gap at the last evaluation.
    pub workers: Vec<Option<(String, u64, Option<f64>)>>,
}

/// Shows batches.
pub struct Progress {
    verbosity: Verbosity,
    bars: Option<Bars>,
    terminal: bool,
    total: usize,
    last_line: Instant,
}

struct Bars {
    multi: MultiProgress,
    total: ProgressBar,
    workers: Vec<ProgressBar>,
}

/// Plain lines come at most this often.
const LINE_EVERY: Duration = Duration::from_secs(5);

impl Progress {
    /// For stderr as it is.
    pub fn new(verbosity: Verbosity) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stderr().is_terminal() && !dumb;
        Self { verbosity, bars: None, terminal, total: 0, last_line: Instant::now() }
    }

    /// A batch begins.
    pub fn begin(&mut self, total: usize, jobs: usize) {
        self.total = total;
        self.last_line = Instant::now();
        if self.verbosity == Verbosity::Quiet || !self.terminal || total == 0 {
            return;
        }
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let style =
            |template: &str| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let workers = (0..jobs.min(total))
            .map(|_| multi.add(ProgressBar::new_spinner().with_style(style("  {spinner} {wide_msg}"))))
            .collect();
        let total = multi.add(ProgressBar::new(total as u64).with_style(style("{wide_bar} {pos}/{len} {msg}")));
        self.bars = Some(Bars { multi, total, workers });
    }

    /// A run has ended: a line for failures, and for every run when verbose.
    pub fn finished(&mut self, label: &str, record: &RunRecord) {
        match &record.status {
            Status::Failed(message) => self.say(Verbosity::Normal, &format!("failed: {label}: {message}")),
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
        }
    }

    /// The state now.
    pub fn show(&mut self, view: &View) {
        let failed = if view.failed > 0 { format!(", {} failed", view.failed) } else { String::new() };
        let left = format!("{} left{failed}", duration(view.left_s));
        if let Some(bars) = &self.bars {
            for (bar, worker) in bars.workers.iter().zip(&view.workers) {
                bar.set_message(worker.as_ref().map_or(String::new(), |(label, iteration, gap)| {
                    let gap = gap.map_or(String::new(), |gap| format!(", iteration {iteration}, {}", gap_text(gap)));
                    printable(&format!("{label}{gap}")).into_owned()
                }));
                bar.tick();
            }
            bars.total.set_message(left);
            bars.total.set_position(view.done as u64);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            self.say(Verbosity::Normal, &format!("{}/{} runs, {left}", view.done, self.total));
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
