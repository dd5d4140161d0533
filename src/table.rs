//! Rows of cells in; plain text, Markdown or LaTeX out.

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
    pub head: Vec<String>,
    /// Rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table without rows.
    pub fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
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

    /// A whole `table` with this caption; the first line says which packages it needs.
    pub fn latex_table(&self, caption: &str) -> String {
        format!(
            "% needs \\usepackage{{booktabs,graphicx}}\n\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\
             \\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n{}}}\n\\end{{table}}\n",
            latex_escape(caption),
            self.latex()
        )
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

/// Signs that TeX only has in formulas.
const MATHS: [(char, &str); 28] = [
    ('−', "-"),
    ('×', "\\times"),
    ('·', "\\cdot"),
    ('±', "\\pm"),
    ('≤', "\\le"),
    ('≥', "\\ge"),
    ('≠', "\\ne"),
    ('≈', "\\approx"),
    ('∞', "\\infty"),
    ('→', "\\to"),
    ('√', "\\surd"),
    ('Σ', "\\Sigma"),
    ('⋆', "\\star"),
    ('∘', "\\circ"),
    ('′', "'"),
    ('α', "\\alpha"),
    ('γ', "\\gamma"),
    ('λ', "\\lambda"),
    ('τ', "\\tau"),
    ('φ', "\\varphi"),
    ('½', "\\frac12"),
    ('²', "^2"),
    ('▲', "\\uparrow"),
    ('▼', "\\downarrow"),
    ('✓', "\\surd"),
    ('✗', "\\times"),
    ('∈', "\\in"),
    ('°', "^\\circ"),
];

fn latex_escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' | '>' => out.extend(['$', c, '$']),
            // After the end of a row these would be its options.
            '[' | '*' => out.extend(['{', c, '}']),
            'µ' => out.push_str("\\textmu{}"),
            '–' => out.push_str("--"),
            '\n' => out.push(' '),
            other => match MATHS.iter().find(|(sign, _)| *sign == other) {
                Some((_, maths)) => out.extend(["$", maths, "$"]),
                None => out.push(other),
            },
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_escapes_its_own_marks() {
        let mut grid = Grid::new(&["set", ">share"]);
        grid.rows.push(vec!["a_b|c".into(), "15 %".into()]);
        assert_eq!(grid.text(), "set    share\na_b|c   15 %\n");
        assert_eq!(grid.markdown(), "| set | share |\n| --- | ---: |\n| a_b\\|c | 15 % |\n");
        assert!(grid.latex().contains("a\\_b|c & 15 \\% \\\\\n"), "{}", grid.latex());
    }

    #[test]
    fn a_latex_table_holds_nothing_that_tex_does_not_know() {
        let mut grid = Grid::new(&["solver", ">≤ 1e-3"]);
        grid.rows.push(vec!["[a]\\b~^{}#&$ §".into(), "≥2.0× ▲ (1.5 to ∞) – 3 µs √ ✓".into()]);
        let text = grid.latex_table("50 % of λ_i < γ²");
        assert!(text.starts_with("% needs \\usepackage{booktabs,graphicx}\n\\begin{table}\n"), "{text}");
        assert!(text.contains("50 \\% of $\\lambda$\\_i $<$ $\\gamma$$^2$"), "{text}");
        assert!(text.contains("$\\ge$2.0$\\times$ $\\uparrow$ (1.5 to $\\infty$) -- 3 \\textmu{}s $\\surd$ $\\surd$"));
        assert!(
            text.contains("{[}a]\\textbackslash{}b\\textasciitilde{}\\textasciicircum{}\\{\\}\\#\\&\\$ §"),
            "{text}"
        );
        let (open, shut) = (text.matches("\\begin{").count(), text.matches("\\end{").count());
        assert_eq!((open, shut), (2, 2));
        // Latin letters and the signs of inputenc are fine, all others must be written by name.
        assert!(text.chars().all(|c| c.is_ascii() || ('\u{a0}'..'\u{180}').contains(&c)), "{text}");
    }
}
