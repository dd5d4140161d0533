//! Progress of a preparation on stderr: one line at the start, and after a second a bar on a terminal or plain lines
//! elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text::to_stderr;

/// Work shorter than this shows no progress.
const SILENT: Duration = Duration::from_secs(1);

/// Shortest time between plain lines.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Progress of one preparation; may be called from any thread.
pub struct Notice {
    set: String,
    began: Instant,
    terminal: bool,
    bar: ProgressBar,
    /// When the next plain line is due, counted from the beginning.
    due: Mutex<Duration>,
}

impl Notice {
    pub fn new(set: &str) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg:10} {wide_bar} {pos}/{len} images, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(set.to_owned());
        let terminal = std::io::stderr().is_terminal() && !dumb;
        Self { set: set.to_owned(), began: Instant::now(), terminal, bar, due: Mutex::new(SILENT) }
    }

    /// Shows the state; the first call has `done` = 0.
    pub fn show(&self, done: usize, total: usize) {
        if done == 0 {
            self.bar.set_length(total as u64);
            to_stderr(&format!("{}: preparing {total} images", self.set));
        }
        self.bar.set_position(done as u64);
        let Ok(mut due) = self.due.lock() else { return };
        let elapsed = self.began.elapsed();
        if self.terminal {
            if elapsed >= SILENT && self.bar.is_hidden() {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        } else if let Some(line) = plain_line(&mut due, elapsed, done, total) {
            to_stderr(&format!("{}: {line}", self.set));
        }
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The line to show after this time, if one is due.
fn plain_line(due: &mut Duration, elapsed: Duration, done: usize, total: usize) -> Option<String> {
    if elapsed < *due || done == 0 || done >= total {
        return None;
    }
    *due = elapsed + LINE_EVERY;
    let left = elapsed.mul_f64((total - done) as f64 / done as f64);
    Some(format!("{done}/{total} images, {:#} left", HumanDuration(left)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_after_a_second_and_come_every_five() {
        let mut due = SILENT;
        let mut at = |ms, done| plain_line(&mut due, Duration::from_millis(ms), done, 100);
        assert_eq!(at(900, 9), None);
        assert_eq!(at(2000, 20).as_deref(), Some("20/100 images, 8s left"));
        assert_eq!(at(6900, 60), None);
        assert_eq!(at(7000, 50).as_deref(), Some("50/100 images, 7s left"));
        assert_eq!(at(60_000, 100), None, "nothing is left to do");
    }
}
