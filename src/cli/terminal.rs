//! What a person sees: standard output and standard error, how much of it, how wide, in colour or not, and the name of this
//! program in it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::Context as _;
use clap::ColorChoice;

use super::readme;
use crate::run::progress::Verbosity;
use crate::store::files;
use crate::text::{columns, fitted, printable, printable_in_color, shortened};

/// What this program is called in its texts; [`own_name`] puts the name of a caller's program in its place.
pub const NAME: &str = "ssvm-bench";
const NO_OUTPUT: &str = "cannot write to standard output";

/// The global options about output. Static, because signals and panics print as well.
#[derive(Clone, Copy, Default)]
struct Choices {
    verbosity: Verbosity,
    color: ColorChoice,
}

static CHOICES: OnceLock<Choices> = OnceLock::new();

/// Sets how much is printed and when in colour, once.
pub fn choose(verbosity: Verbosity, color: ColorChoice) {
    let _ = CHOICES.set(Choices { verbosity, color });
}

fn choices() -> Choices {
    CHOICES.get().copied().unwrap_or_default()
}

pub fn verbosity() -> Verbosity {
    choices().verbosity
}

/// The value of `--color`, before clap has parsed it: clap's own messages follow it too.
pub fn color_choice() -> ColorChoice {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let given = words.iter().zip(words.iter().skip(1)).find_map(|(word, next)| match word.strip_prefix("--color") {
        Some("") => Some(next.as_str()),
        Some(value) => value.strip_prefix('='),
        None => None,
    });
    given.and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// Whether what is printed to stdout is coloured.
pub fn is_coloured() -> bool {
    wants_colour(choices().color, std::io::stdout().is_terminal())
}

fn wants_colour(choice: ColorChoice, terminal: bool) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            !is_set("NO_COLOR") && !dumb && terminal
        }
    }
}

/// What this program was called as, where that is not [`NAME`].
pub fn other_name() -> Option<&'static str> {
    static OTHER: OnceLock<Option<String>> = OnceLock::new();
    let found = || {
        let own = PathBuf::from(std::env::args_os().next()?);
        own.file_stem().and_then(OsStr::to_str).filter(|name| *name != NAME).map(str::to_owned)
    };
    OTHER.get_or_init(found).as_deref()
}

/// A text in which this program is called by its own name.
pub fn own_name(text: &str) -> Cow<'_, str> {
    other_name().map_or(Cow::Borrowed(text), |name| renamed(text, name).into())
}

/// [`NAME`] is a call of this program where a blank follows and it is not the end of a path or of another word.
pub fn renamed(text: &str, name: &str) -> String {
    let mut parts = text.split(NAME);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let inside = out.ends_with(|c: char| c.is_alphanumeric() || "/\\.-_".contains(c));
        let call = !inside && (part.is_empty() || part.starts_with([' ', '\n']));
        out.extend([if call { name } else { NAME }, part]);
    }
    out
}

/// The command line of this process, to be given again.
pub fn same_command() -> String {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // With it what is done would be done again.
    let words = words.iter().map(String::as_str).filter(|word| *word != "--force");
    format!("{NAME} {}", shlex::try_join(words).unwrap_or_default())
}

/// Prints lines to stderr, wrapped and shortened to a readable length, and only errors and warnings when quiet. A closed stderr is
/// not an error.
pub fn note(text: &str) {
    const LONGEST: usize = 2000;
    let level = ["error: ", "warning: "].into_iter().find(|level| text.starts_with(level));
    if level.is_none() && verbosity() == Verbosity::Quiet {
        return;
    }
    let text = own_name(text);
    let lines: Vec<Cow<'_, str>> = text.lines().map(|line| shortened(line, LONGEST)).collect();
    // The program that makes pages joins no lines, and lines of an oracle program (`[NAME] …`) are searched in logs.
    let whole = readme::publishing() || text.starts_with('[');
    let width = if whole { usize::MAX } else { columns(std::io::stderr()) };
    let text = fitted(&printable(&lines.join("\n")), width);
    let text = match level.filter(|_| wants_colour(choices().color, std::io::stderr().is_terminal())) {
        Some(level) => {
            let colour = if level == "error: " { 31 } else { 33 };
            let word = level.trim_end();
            format!("\u{1b}[1;{colour}m{word}\u{1b}[0m{}", &text[word.len()..])
        }
        None => text,
    };
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Prints text to stdout, or to stderr if an output (`-`) goes to stdout. No other function writes text to stdout.
pub fn print(text: &str) -> anyhow::Result<()> {
    let text = own_name(text);
    if files::standard_output_is_taken() {
        let _ = write!(std::io::stderr(), "{}", printable(&text));
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    let written = out.write_all(printable_in_color(&text).as_bytes()).and_then(|()| out.flush());
    written.context(NO_OUTPUT)
}

/// Prints text for people: no line is wider than the terminal.
pub fn say(text: &str) -> anyhow::Result<()> {
    print(&fitted(&own_name(text), print_width()))
}

/// The name of a file that was written, unless it is standard output.
pub fn print_path(path: &Path) -> anyhow::Result<()> {
    if files::standard_output_is_taken() { Ok(()) } else { print(&format!("{}\n", path.display())) }
}

/// Prints the output of clap: an error, or the requested help or version.
pub fn print_usage(error: &clap::Error) -> anyhow::Result<()> {
    fn shown(error: &clap::Error, mut stream: impl Write + IsTerminal + AsFd) -> std::io::Result<()> {
        let text = error.render();
        let coloured = wants_colour(color_choice(), stream.is_terminal());
        let text = if coloured { text.ansi().to_string() } else { text.to_string() };
        stream.write_all(fitted(&text, columns(&stream)).as_bytes())?;
        stream.flush()
    }
    let printed = if error.use_stderr() { shown(error, std::io::stderr()) } else { shown(error, std::io::stdout()) };
    printed.context(NO_OUTPUT)
}

/// Columns that printed lines may have.
pub fn print_width() -> usize {
    columns(std::io::stdout())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_take_the_name_of_a_callers_program() {
        let text = "see `ssvm-bench run quick`; /opt/ssvm-bench x, ssvm-bench-2 and target/ssvm-bench\nuse ssvm-bench";
        let expected = "see `mine run quick`; /opt/ssvm-bench x, ssvm-bench-2 and target/ssvm-bench\nuse mine";
        assert_eq!(renamed(text, "mine"), expected);
    }
}
