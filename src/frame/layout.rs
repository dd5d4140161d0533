//! Rows of cells in; plain text, Markdown or LaTeX out. Also the number formats that all tables share.

use std::fmt::Write as _;

/// How a command prints its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    /// For the terminal.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For a README or an issue.
    Markdown,
    /// For a paper (booktabs).
    Latex,
}

/// A table of text cells. The first column is left-aligned in every form, the others as told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Column heads; a leading `>` right-aligns the column and is not printed.
    pub head: Vec<&'static str>,
    /// Rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table without rows.
    pub fn new(head: &[&'static str]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    fn names(&self) -> Vec<String> {
        self.head.iter().map(|name| name.trim_start_matches('>').to_owned()).collect()
    }

    /// Columns padded with spaces, for the terminal.
    pub fn text(&self) -> String {
        let names = self.names();
        let lines: Vec<&Vec<String>> = std::iter::once(&names).chain(&self.rows).collect();
        let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..names.len()).map(width).collect();
        let mut out = String::new();
        for line in &lines {
            let mut row = String::new();
            for ((cell, width), head) in line.iter().zip(&widths).zip(&self.head) {
                let pad = " ".repeat(width - cell.chars().count());
                let (before, after) = if head.starts_with('>') { (pad.as_str(), "") } else { ("", pad.as_str()) };
                row.push_str(before);
                row.push_str(cell);
                row.push_str(after);
                row.push_str("  ");
            }
            out.push_str(row.trim_end());
            out.push('\n');
        }
        out
    }

    /// A pipe table.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|").replace('\n', " ")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<&str> = self.head.iter().map(|h| if h.starts_with('>') { "---:" } else { "---" }).collect();
        let mut out = line(&self.names());
        let _ = writeln!(out, "| {} |", rule.join(" | "));
        self.rows.iter().for_each(|row| out.push_str(&line(row)));
        out
    }

    /// A `tabular` with booktabs rules.
    pub fn latex(&self) -> String {
        let columns: String = self.head.iter().map(|h| if h.starts_with('>') { 'r' } else { 'l' }).collect();
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| latex_escape(c)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let mut out = format!("\\begin{{tabular}}{{{columns}}}\n\\toprule\n{}\\midrule\n", line(&self.names()));
        self.rows.iter().for_each(|row| out.push_str(&line(row)));
        out.push_str("\\bottomrule\n\\end{tabular}\n");
        out
    }
}

fn latex_escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' | '>' => out.extend(['$', c, '$']),
            'µ' => out.push_str("\\textmu{}"),
            '–' => out.push_str("--"),
            '−' => out.push_str("$-$"),
            '×' => out.push_str("$\\times$"),
            '≤' => out.push_str("$\\le$"),
            '≥' => out.push_str("$\\ge$"),
            '\n' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

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

/// A duration given in seconds, in the unit that reads best.
pub fn seconds(value: f64) -> String {
    let (scale, unit) = match value.abs() {
        v if !v.is_finite() => return "–".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let shown = [0.0, 1.0, 12.34, 1234.5, 0.01234, 1.5e-7, -2.0, f64::NAN].map(number);
        assert_eq!(shown, ["0", "1.00", "12.3", "1234", "0.0123", "1.50e-7", "-2.00", "–"]);
        assert_eq!([0.0, 2.5, 0.0031, 4.2e-6, 8e-8].map(seconds), ["0 s", "2.50 s", "3.10 ms", "4.20 µs", "80.0 ns"]);
    }

    #[test]
    fn every_form_escapes_its_own_marks() {
        let mut grid = Grid::new(&["set", ">share"]);
        grid.rows.push(vec!["a_b|c".into(), "15 %".into()]);
        assert_eq!(grid.text(), "set    share\na_b|c   15 %\n");
        assert_eq!(grid.markdown(), "| set | share |\n| --- | ---: |\n| a_b\\|c | 15 % |\n");
        assert!(grid.latex().contains("a\\_b|c & 15 \\% \\\\\n"), "{}", grid.latex());
    }
}
