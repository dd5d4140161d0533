//! Progress of a batch on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet. Used by the scheduling
//! thread only, never inside a timed loop.

use std::io::IsTerminal;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::store::{RunRecord, Status};
use crate::text::{duration, printable, to_stderr};

/// How much to print.
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
pub struct BatchStatus {
    /// Runs that have ended.
    pub done: usize,
    /// Failed ones among them.
    pub failed: usize,
    /// The share of the estimated work that is done.
    pub share: f64,
    /// Estimated seconds until the batch ends.
    pub left_s: f64,
    /// Labels of the runs in flight.
    pub running: Vec<String>,
}

/// Shows a batch.
pub struct BatchProgress {
    verbosity: Verbosity,
    bar: Option<ProgressBar>,
    total: usize,
    /// The largest share shown so far. It never decreases, even if estimates of the remaining work rise.
    share: f64,
    /// When the last plain line was printed, and its share.
    last_line: (Instant, f64),
}

/// Steps of the bar.
const BAR: u64 = 1000;

/// Whether a plain line is due this many seconds after the last one, with this much more of the work done.
fn is_due(since_s: f64, more: f64) -> bool {
    since_s >= 30.0 || (since_s >= 5.0 && more >= 0.01)
}

impl BatchProgress {
    /// Prints to stderr.
    pub fn new(verbosity: Verbosity) -> Self {
        Self { verbosity, bar: None, total: 0, share: 0.0, last_line: (Instant::now(), 0.0) }
    }

    /// A batch of this many runs begins.
    pub fn begin(&mut self, total: usize) {
        (self.total, self.share, self.last_line) = (total, 0.0, (Instant::now(), 0.0));
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if self.verbosity > Verbosity::Quiet && std::io::stderr().is_terminal() && !dumb && total > 0 {
            let style = ProgressStyle::with_template("{wide_bar} {prefix}\n{wide_msg}");
            let bar = ProgressBar::with_draw_target(Some(BAR), ProgressDrawTarget::stderr_with_hz(10));
            self.bar = Some(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())));
        }
    }

    /// A run has ended: prints a line for failures, and for every run when verbose.
    pub fn finished(&mut self, record: &RunRecord) {
        let label = record.label();
        match (&record.status, record.points().last()) {
            (Status::Done(stop), Some(point)) => {
                // A solver without a dual has no gap.
                let gap = if point.gap.is_finite() { format!("gap {:.2e}", point.gap) } else { "no dual".to_owned() };
                let (time, total) = (point.time_s, record.measured.totals.total_s);
                self.say(
                    Verbosity::Verbose,
                    format!(
                        "{label}: {} iterations, {time:.3} s ({total:.2} s with evaluation), {gap}, stopped by {}",
                        point.iteration,
                        stop.name()
                    ),
                );
            }
            (Status::Done(_), None) => {}
            (failed, _) => self.say(Verbosity::Normal, format!("failed: {label}: {}", failed.reason())),
        }
    }

    /// Shows the state now.
    pub fn show(&mut self, status: &BatchStatus) {
        self.share = self.share.max(status.share);
        let failed = if status.failed > 0 { format!(", {} failed", status.failed) } else { String::new() };
        let (percent, left) = (100.0 * self.share, duration(status.left_s));
        let text = format!("{percent:.1} %, {}/{} runs{failed}, {left} left", status.done, self.total);
        if let Some(bar) = &self.bar {
            bar.set_prefix(text);
            bar.set_message(printable(&status.running.join(", ")).into_owned());
            bar.set_position((BAR as f64 * self.share) as u64);
        } else if is_due(self.last_line.0.elapsed().as_secs_f64(), self.share - self.last_line.1) {
            self.last_line = (Instant::now(), self.share);
            self.say(Verbosity::Normal, text);
        }
    }

    /// The batch has ended.
    pub fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Prints a line at this level.
    pub fn say(&self, level: Verbosity, text: impl AsRef<str>) {
        match &self.bar {
            _ if self.verbosity < level => {}
            Some(bar) => bar.suspend(|| to_stderr(text.as_ref())),
            None => to_stderr(text.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_few_lines() {
        assert!(!is_due(4.0, 0.5) && is_due(5.0, 0.01) && !is_due(29.0, 0.009) && is_due(30.0, 0.0));
    }
}
