//! How this program writes numbers, times, sizes and names.

use std::borrow::Cow;
use std::io::Write as _;
use std::os::fd::AsFd;

pub use ssvm::nearest;

/// Three significant digits, plain between 0.001 and 99999, in powers of ten elsewhere.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        return format!("{value:.2e}");
    }
    let digits = if size == 0.0 { 0 } else { (2 - size.log10().floor() as i32).clamp(0, 6) };
    format!("{value:.*}", digits as usize)
}

/// [`number`] with enough digits to show on which side of a threshold the value lies, because a verdict may depend on it.
pub fn number_beside(value: f64, bar: f64) -> String {
    if !value.is_finite() {
        return number(value);
    }
    let shows_side =
        |text: &String| text.parse().is_ok_and(|shown: f64| shown.partial_cmp(&bar) == value.partial_cmp(&bar));
    let digits = (3..=9).map(|digits| format!("{value:.digits$}"));
    let mut texts = std::iter::once(number(value)).chain(digits);
    texts.find(shows_side).unwrap_or_else(|| number(value))
}

/// A duration given in seconds, in the most readable unit.
pub fn seconds(value: f64) -> String {
    let (scale, unit) = match value.abs() {
        v if !v.is_finite() => return number(v),
        v if v >= 1.0 || v == 0.0 => (1.0, "s"),
        v if v >= 1e-3 => (1e3, "ms"),
        v if v >= 1e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", number(value * scale))
}

/// A fraction as per cent.
pub fn percent(fraction: f64) -> String {
    if fraction.is_finite() { format!("{:.1} %", 100.0 * fraction) } else { "–".to_owned() }
}

/// A count exactly, any other number with twelve digits, for values that readers compare.
pub fn exact(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let digits = (11 - value.abs().log10().floor() as i32).clamp(0, 17) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A ratio as a change: 1.1 is `+10.0 %`.
pub fn change(ratio: f64) -> String {
    let change = 100.0 * (ratio - 1.0);
    // Changes of the objective are small; they must not read as +0.0 %.
    if change != 0.0 && change.abs() < 0.05 { format!("{change:+.1e} %") } else { format!("{change:+.1} %") }
}

/// A waiting time: `45 s`, `3 min`, `2.5 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "<1 s".to_owned(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A number of things: `1 worker`, `2 workers`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `1.2 GiB`.
pub fn bytes(count: u64) -> String {
    let value = count as f64;
    match count {
        0..1_048_576 => format!("{:.0} KiB", value / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.0} MiB", value / 1_048_576.0),
        _ => format!("{:.1} GiB", value / 1_073_741_824.0),
    }
}

/// A solver as figures and tables print it: abbreviations of algorithms in capitals, `MP-BCFW-avg`.
pub fn solver_name(name: &str) -> String {
    let words = name.split('-').map(|word| match word {
        "bcfw" | "fw" | "mp" | "ssg" => word.to_uppercase(),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join("-")
}

/// Text safe inside XML and HTML, attributes included; characters that XML cannot hold are replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(c),
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Text for a terminal: control characters, which could move the cursor or change what is shown, are replaced.
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, &[])
}

/// The same for tables, in which the codes of [`Color::paint`] are kept.
pub fn printable_in_color(text: &str) -> Cow<'_, str> {
    let mut codes = Color::ALL.map(Color::code).to_vec();
    codes.push(PLAIN);
    replaced(text, &codes)
}

/// Control characters are replaced, but for these sequences.
fn replaced<'a>(text: &'a str, kept: &[&'static str]) -> Cow<'a, str> {
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_control) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_control) {
        out += &rest[..at];
        let found = kept.iter().copied().find(|code| rest[at..].starts_with(code));
        let letter = rest[at..].chars().next().map_or(1, char::len_utf8);
        out += found.unwrap_or("\u{fffd}");
        rest = &rest[at + found.map_or(letter, str::len)..];
    }
    (out + rest).into()
}

/// At most this many characters. Of a longer text, the beginning and the end are kept: they name the subject and the advice.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let count = if text.len() <= most { 0 } else { text.chars().count() };
    if count <= most {
        return text.into();
    }
    let half = most / 2;
    let ends: (String, String) = (text.chars().take(half).collect(), text.chars().skip(count - half).collect());
    format!("{} … ({} characters left out) … {}", ends.0, count - 2 * half, ends.1).into()
}

/// The beginning of a line that has at most this many characters.
pub fn cut(line: &str, most: usize) -> Cow<'_, str> {
    match line.char_indices().nth(most) {
        None => line.into(),
        Some(_) => format!("{}…", line.chars().take(most.saturating_sub(1)).collect::<String>().trim_end()).into(),
    }
}

/// Columns of a terminal, or of `COLUMNS` where the stream is none.
pub fn columns(stream: impl AsFd) -> usize {
    let given = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    width.or_else(given).unwrap_or(100).max(60)
}

/// Prints lines to stderr, none wider than its terminal. A closed stderr is not an error.
pub fn to_stderr(text: &str) {
    let text = fitted(&printable(text), columns(std::io::stderr()));
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Every line at most this wide: a longer one is [`wrapped`] at its own indent, or behind a label and two spaces.
pub fn fitted(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if shown_width(line) <= width {
            out.extend([line, "\n"]);
        } else {
            let label =
                if line.starts_with(' ') { 0 } else { line.find("  ").filter(|at| *at < width / 4).unwrap_or(0) };
            let (head, rest) = line.split_at(line.len() - line[label..].trim_start().len());
            let indent = head.chars().count().min(width / 2);
            out.extend(head.chars().take(indent));
            out += &wrapped(rest, width, indent)[indent..];
        }
    }
    out
}

/// Text in lines of at most this width, each indented. What stands in backticks, such as a command, stays in one line if it
/// fits. A word that is longer, such as a path, is broken, after `/` or `,` if it can be.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let most = width.saturating_sub(indent).max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in words(text, most) {
        for (at, piece) in pieces(&word, most).into_iter().enumerate() {
            match lines.last_mut().filter(|line| at == 0 && shown_width(line) + 1 + shown_width(&piece) <= most) {
                Some(line) => line.extend([" ", &piece]),
                None => lines.push(piece),
            }
        }
    }
    // A text without a word is an empty line.
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// The words of a text; those between backticks are one if together they are not longer than this.
fn words(text: &str, most: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        open.push(word);
        if open.iter().map(|word| word.matches('`').count()).sum::<usize>() % 2 == 0 {
            let whole = open.join(" ");
            if shown_width(&whole) <= most {
                words.push(whole);
            } else {
                words.extend(open.iter().map(|word| (*word).to_owned()));
            }
            open.clear();
        }
    }
    words.extend(open.into_iter().map(str::to_owned));
    words
}

fn pieces(word: &str, most: usize) -> Vec<String> {
    if shown_width(word) <= most {
        return vec![word.to_owned()];
    }
    let letters: Vec<char> = word.chars().collect();
    let (mut pieces, mut rest) = (Vec::new(), &letters[..]);
    while rest.len() > most {
        let end = (2..=most).rev().find(|end| "/,".contains(rest[end - 1])).unwrap_or(most);
        pieces.push(rest[..end].iter().collect());
        rest = &rest[end..];
    }
    pieces.push(rest.iter().collect());
    pieces
}

/// The columns that a text takes in a terminal, where codes of colours take none.
fn shown_width(text: &str) -> usize {
    let codes: usize = text.split('\u{1b}').skip(1).map(|part| part.find('m').map_or(0, |end| end + 2)).sum();
    text.chars().count() - codes
}

/// The colour of a word in a terminal, by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    Good,
    Bad,
    Open,
    Dim,
}

const PLAIN: &str = "\u{1b}[0m";

impl Color {
    const ALL: [Self; 4] = [Self::Good, Self::Bad, Self::Open, Self::Dim];

    fn code(self) -> &'static str {
        ["\u{1b}[32m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[2m"][self as usize]
    }

    /// Text in this colour. [`printable_in_color`] lets it pass.
    pub fn paint(self, text: &str) -> String {
        format!("{}{text}{PLAIN}", self.code())
    }
}

/// A pattern for names such as `usps-synth:n=9/mp-bcfw`: `*` stands for any text, `?` for one character, `[ab]` and `{a,b}`
/// for alternatives. A pattern without `/` is one for the part before the last `/` of a name.
#[derive(Clone, Debug)]
pub struct Pattern {
    glob: globset::GlobMatcher,
    whole: bool,
}

impl Pattern {
    /// The error names what is malformed, such as an unclosed bracket.
    pub fn new(text: &str) -> Result<Self, String> {
        let glob = globset::Glob::new(text).map_err(|error| error.to_string())?;
        Ok(Self { glob: glob.compile_matcher(), whole: text.contains('/') })
    }

    /// Whether the pattern matches a name.
    pub fn matches(&self, name: &str) -> bool {
        let part = if self.whole { name } else { name.rsplit_once('/').map_or(name, |(head, _)| head) };
        self.glob.is_match(part)
    }
}

/// A field of a CSV file, in quotes where it needs them.
pub fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let shown = [0.0, 1.0, 12.34, 1234.5, 0.01234, 1.5e-7, -2.0, f64::NAN].map(number);
        assert_eq!(shown, ["0", "1.00", "12.3", "1234", "0.0123", "1.50e-7", "-2.00", "–"]);
        assert_eq!([0.0, 2.5, 0.0031, 4.2e-6, 8e-8].map(seconds), ["0 s", "2.50 s", "3.10 ms", "4.20 µs", "80.0 ns"]);
        assert_eq!([3.0, 0.1 + 0.2, 1e-9].map(exact), ["3", "0.3", "0.000000001"]);
    }

    #[test]
    fn a_number_beside_a_bar_shows_its_side() {
        let shown = [(1.0047, 1.0), (0.99959, 1.0), (1.0, 1.0), (1.66, 1.0), (1.0496, 1.05), (f64::INFINITY, 1.0)];
        let shown = shown.map(|(value, bar)| number_beside(value, bar));
        assert_eq!(shown, ["1.005", "0.9996", "1.00", "1.66", "1.0496", "–"]);
    }

    #[test]
    fn amounts_read_well() {
        let times = [0.2, 12.4, 240.0, 9000.0].map(duration);
        assert_eq!(times, ["<1 s", "12 s", "4 min", "2.5 h"]);
        assert_eq!([900, 5 << 20, 3 << 30].map(bytes), ["1 KiB", "5 MiB", "3.0 GiB"]);
    }

    #[test]
    fn abbreviations_are_in_capitals() {
        let shown = ["fw", "ssg-avg", "mp-bcfw-gram-avg", "one-slack", "mine"].map(solver_name);
        assert_eq!(shown, ["FW", "SSG-avg", "MP-BCFW-gram-avg", "one-slack", "mine"]);
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(printable("a\tb\n"), "a\tb\n");
        assert_eq!(printable("\u{1b}[2Jgone\u{9b}x"), "\u{fffd}[2Jgone\u{fffd}x");
        let painted = Color::Good.paint("✓");
        assert_eq!(printable_in_color(&format!("{painted}\u{1b}[8mhidden")), format!("{painted}\u{fffd}[8mhidden"));
        assert!(!printable(&painted).contains('\u{1b}'), "names bring no colours into messages");
    }

    #[test]
    fn wrapped_lines_are_never_longer_than_the_width() {
        assert_eq!(wrapped("to be or not", 7, 2), "  to be\n  or\n  not\n");
        assert_eq!(wrapped("see /a/long/path now", 8, 0), "see\n/a/long/\npath now\n");
        assert_eq!(wrapped("then run `ssvm-bench run X` now", 20, 0), "then run\n`ssvm-bench run X`\nnow\n");
        assert_eq!(wrapped("a `b c` `d", 6, 0), "a\n`b c`\n`d\n");
        assert_eq!(fitted("short\n  a longer line\n", 10), "short\n  a longer\n  line\n");
        assert_eq!(fitted("now  an hour or so", 16), "now  an hour or\n     so\n");
        let painted = Color::Good.paint("fine");
        assert_eq!(fitted(&format!("all {painted} here"), 8), format!("all {painted}\nhere\n"));
        assert_eq!(wrapped("", 8, 1), " \n");
        assert_eq!([cut("1.43 (paper: 2)", 15), cut("1.43 (paper: 2)", 6)], ["1.43 (paper: 2)", "1.43…"]);
    }

    #[test]
    fn long_texts_keep_their_ends() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened(&format!("a{}z", "·".repeat(1000)), 4), "a· … (998 characters left out) … ·z");
    }

    fn fits(pattern: &str, name: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(name)
    }

    /// A matcher that tries all ways to divide the text among the stars would not finish.
    #[test]
    fn many_stars_take_no_time() {
        assert!(!fits(&("*a".repeat(40) + "b/*"), &("a".repeat(300) + "/fw")));
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("usps*", "usps-synth:n=9/fw", true),
            ("usps", "usps-synth/fw", false),
            ("*/mp-*", "ocr/mp-bcfw", true),
            ("*/mp-*", "ocr/bcfw", false),
            ("ocr/?w", "ocr/fw", true),
            ("libsvm:/a/b", "libsvm:/a/b/fw", false),
            ("libsvm:/a/b/*", "libsvm:/a/b/fw", true),
            ("*a*b*/*", "xaxxbx/fw", true),
            ("a*ab/*", "aab/fw", true),
            ("a*ab/*", "aabb/fw", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
