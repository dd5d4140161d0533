//! A table as a value: typed columns, rows of typed cells, and one renderer per format.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::text::{csv_field, number, percent, seconds, wrapped};

/// Spaces between two columns.
const BETWEEN: usize = 2;
/// Columns of words are wrapped down to this width before a column is left out; a longer word keeps its column wider, up to
/// the second number, beyond which the word is broken.
const NARROWEST: [usize; 2] = [14, 24];

/// How to see the columns that a terminal has no place for.
pub const MORE: &str = "--format csv or a wider terminal";

/// A space at which a cell is not wrapped.
const GLUE: char = '\u{e000}';

/// The output format of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For the terminal
    #[default]
    Table,
    /// For programs, with all details
    Json,
    /// For spreadsheets and other plotters
    Csv,
    /// For a web page or an issue
    Markdown,
    /// For a paper (booktabs)
    Latex,
}

/// The kind of values in a column. Text is aligned left, all other kinds right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words, or cells made of several values.
    Text,
    /// The same, aligned right.
    Values,
    Count,
    /// Three significant digits.
    Number,
    /// A duration in seconds, written in the most readable unit.
    Seconds,
    /// A fraction, written in per cent.
    Percent,
    /// A fraction with a bar on pages.
    Share,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    /// A narrow terminal leaves out the column of the highest rank first; of several with one rank the last.
    pub rank: usize,
}

impl Column {
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, rank: 0 }
    }
}

/// A value. Numbers are written as the [`Kind`] of their column asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Unknown: a dash for people, an empty field or null for programs.
    #[default]
    Missing,
    Text(String),
    Count(u64),
    /// Any other number; one that is not finite counts as unknown.
    Number(f64),
    /// A value and a remark in small print, which includes the separator.
    Noted(Box<Self>, String),
    /// A verdict: CSS class, sign and words; only pages show its colour and sign.
    Mark(&'static str, Option<char>, &'static str),
    /// Several values; on a page, one below the other.
    List(Vec<Self>),
}

impl Cell {
    #[must_use]
    pub fn noted(self, remark: impl Into<String>) -> Self {
        Self::Noted(Box::new(self), remark.into())
    }

    /// For people.
    fn text(&self, kind: Kind) -> String {
        match self {
            Self::Missing => "–".to_owned(),
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(value) => match kind {
                Kind::Seconds => seconds(*value),
                Kind::Percent | Kind::Share => percent(*value),
                _ => number(*value),
            },
            Self::Noted(value, remark) => value.text(kind) + remark,
            Self::Mark(_, _, words) => (*words).to_owned(),
            Self::List(cells) => cells.iter().map(|cell| cell.text(kind)).collect::<Vec<_>>().join("; "),
        }
    }

    fn csv(&self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Number(value) => {
                if value.is_finite() {
                    value.to_string()
                } else {
                    String::new()
                }
            }
            Self::Noted(value, _) => value.csv(),
            other => csv_field(&other.text(Kind::Text)),
        }
    }

    fn html(&self, kind: Kind) -> Markup {
        html! {
            @match self {
                Self::Number(share) if kind == Kind::Share => {
                    span.bar { span style=(format!("width:{:.2}%", 100.0 * share.clamp(0.0, 1.0))) {} }
                    " " (self.text(kind))
                }
                Self::Noted(value, remark) => { (value.html(kind)) small { (remark) } }
                Self::Mark(class, sign, words) => span class=(class) {
                    @if let Some(sign) = sign { (sign) (PreEscaped("&nbsp;")) }
                    (words)
                }
                Self::List(cells) => @for (at, cell) in cells.iter().enumerate() {
                    @if at > 0 { br; }
                    (cell.html(kind))
                }
                _ => (self.text(kind))
            }
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text(Kind::Text))
    }
}

macro_rules! cell_from {
    ($($source:ty => |$value:ident| $cell:expr;)*) => {
        $(impl From<$source> for Cell {
            fn from($value: $source) -> Self {
                $cell
            }
        })*
    };
}

cell_from! {
    String => |text| Self::Text(text);
    &String => |text| Self::Text(text.clone());
    &str => |text| Self::Text(text.to_owned());
    u64 => |count| Self::Count(count);
    usize => |count| Self::Count(count as u64);
    f64 => |value| Self::Number(value);
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

/// A row of anything that is a [`Cell`].
macro_rules! cells {
    ($($value:expr),* $(,)?) => { vec![$($crate::table::Cell::from($value)),*] };
}
pub(crate) use cells;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows; may be empty.
    pub title: String,
    /// What a reader has to know about it; may be empty.
    pub note: String,
    pub columns: Vec<Column>,
    /// Each as long as the columns.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub fn new<const N: usize>(title: impl Into<String>, columns: [(&str, Kind); N]) -> Self {
        let columns = columns.map(|(name, kind)| Column::new(name, kind)).into();
        Self { title: title.into(), columns, ..Self::default() }
    }

    #[must_use]
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Names the columns that a narrow terminal leaves out first, in this order. After them the others go, the last one first;
    /// the first column always stays.
    pub fn spare<'a>(&mut self, names: impl IntoIterator<Item = &'a str, IntoIter: DoubleEndedIterator>) {
        for (rank, name) in names.into_iter().rev().enumerate() {
            self.columns.iter_mut().filter(|column| column.name == name).for_each(|column| column.rank = rank + 1);
        }
    }

    /// Adds columns of one kind.
    pub fn widen(&mut self, kind: Kind, names: impl IntoIterator<Item = impl Into<String>>) {
        self.columns.extend(names.into_iter().map(|name| Column::new(name, kind)));
    }

    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.title);
        self.rows.push(row);
    }

    /// In a format, as text for a terminal of this width; as JSON the value that it is made of.
    pub fn render(&self, format: Format, width: usize, value: &impl Serialize) -> serde_json::Result<String> {
        Ok(match format {
            Format::Table => self.text(width),
            Format::Json => serde_json::to_string_pretty(value)? + "\n",
            Format::Csv => self.csv(),
            Format::Markdown => self.markdown(),
            Format::Latex => self.latex(),
        })
    }

    /// The head and the rows as people read them.
    fn lines(&self) -> Vec<Vec<String>> {
        let head = self.columns.iter().map(|column| column.name.clone()).collect();
        let mut lines = vec![head];
        for row in &self.rows {
            lines.push(row.iter().zip(&self.columns).map(|(cell, column)| cell.text(column.kind)).collect());
        }
        lines
    }

    /// Title and note, each a paragraph, before the body.
    fn titled(&self, mark: &str, body: &str) -> String {
        let mut text = String::new();
        for (part, mark) in [(&self.title, mark), (&self.note, "")].into_iter().filter(|(part, _)| !part.is_empty()) {
            text += &format!("{mark}{part}{mark}\n\n");
        }
        text + body
    }

    /// For a terminal of this width, which no line exceeds: columns of words are wrapped, then columns are left out in the
    /// order of their rank, and a line below names them.
    pub fn text(&self, width: usize) -> String {
        let mut text = String::new();
        for paragraph in [&self.title, &self.note].into_iter().flat_map(|part| part.split("\n\n")) {
            if !paragraph.is_empty() {
                text.extend([&wrapped(paragraph, width, 0), "\n"]);
            }
        }
        let mut lines = self.lines();
        lines.iter_mut().flatten().for_each(|cell| *cell = glued(cell));
        let (fitted, left_out) = self.fit(&lines, width);
        for line in &lines {
            let cells: Vec<String> = fitted.iter().map(|(at, width)| wrapped(&line[*at], *width, 0)).collect();
            let cells: Vec<Vec<&str>> = cells.iter().map(|cell| cell.lines().collect()).collect();
            for row in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut out = String::new();
                for ((at, width), cell) in fitted.iter().zip(&cells) {
                    let piece = cell.get(row).copied().unwrap_or_default();
                    out += &match self.columns[*at].kind {
                        Kind::Text => format!("{piece:<width$}"),
                        _ => format!("{piece:>width$}"),
                    };
                    out += &" ".repeat(BETWEEN);
                }
                text.extend([&out.trim_end().replace(GLUE, " "), "\n"]);
            }
        }
        text + &left_out_line(&left_out, width)
    }

    /// The columns that fit into a width with the width of each, and the names of the others.
    fn fit(&self, lines: &[Vec<String>], width: usize) -> (Vec<(usize, usize)>, Vec<&str>) {
        let all = 0..self.columns.len();
        let sizes: Vec<[usize; 2]> = all.clone().map(|at| self.sizes(at, lines)).collect();
        let least = |shown: &[usize]| shown.iter().map(|at| sizes[*at][0] + BETWEEN).sum::<usize>();
        let mut shown: Vec<usize> = all.collect();
        let mut left_out = Vec::new();
        while shown.len() > 1 && least(&shown) > width + BETWEEN {
            let last = (1..shown.len()).max_by_key(|at| (self.columns[shown[*at]].rank, *at)).unwrap_or(1);
            left_out.push(shown.remove(last));
        }
        let mut fitted: Vec<(usize, usize)> = shown.iter().map(|at| (*at, sizes[*at][0].min(width))).collect();
        // What is left over goes to the columns that are wrapped, evenly.
        let mut left = (width + BETWEEN).saturating_sub(least(&shown));
        while left > 0 && fitted.iter().any(|(at, width)| *width < sizes[*at][1]) {
            for (_, width) in fitted.iter_mut().filter(|(at, width)| *width < sizes[*at][1]).take(left) {
                *width += 1;
                left -= 1;
            }
        }
        left_out.sort_unstable();
        (fitted, left_out.into_iter().map(|at| self.columns[at].name.as_str()).collect())
    }

    /// The least width of a column, and the one at which nothing is wrapped. Heads are always wrapped, single numbers never.
    fn sizes(&self, at: usize, lines: &[Vec<String>]) -> [usize; 2] {
        let size = |text: &str| text.chars().count();
        let widest = |cells: &[Vec<String>]| cells.iter().map(|line| size(&line[at])).max().unwrap_or(0);
        let (head, body) = lines.split_at(1);
        let [narrowest, longest] = NARROWEST;
        // A long name is broken after these, see `text::wrapped`.
        let parts = |cell: &str| -> Vec<usize> {
            let words = cell.split_whitespace().flat_map(|word| match size(word) {
                short if short <= narrowest => vec![short],
                _ => word.split_inclusive(['/', ',']).map(size).collect(),
            });
            words.collect()
        };
        let word = |cells: &[Vec<String>]| cells.iter().flat_map(|line| parts(&line[at])).max().unwrap_or(0);
        let whole = widest(lines);
        let least = match self.columns[at].kind {
            Kind::Text | Kind::Values => word(lines).min(longest).max(narrowest.min(whole)),
            _ => widest(body).max(word(head)),
        };
        [least, whole]
    }

    /// A pipe table.
    pub fn markdown(&self) -> String {
        let rule = |column: &Column| if column.kind == Kind::Text { "---" } else { "---:" }.to_owned();
        let mut lines = self.lines();
        for cell in lines.iter_mut().flatten() {
            *cell = cell.replace('|', "\\|").replace('\n', " ");
        }
        lines.insert(1, self.columns.iter().map(rule).collect());
        let body: String = lines.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
        self.titled("**", &body)
    }

    /// A `tabular` with booktabs rules; with a title a whole `table`, whose first line names the packages it needs.
    pub fn latex(&self) -> String {
        let sides: String = self.columns.iter().map(|c| if c.kind == Kind::Text { 'l' } else { 'r' }).collect();
        let mut tabular = format!("\\begin{{tabular}}{{{sides}}}\n\\toprule\n");
        for (at, line) in self.lines().iter().enumerate() {
            let cells: Vec<String> = line.iter().map(|cell| latex_escape(cell)).collect();
            let rule = if at == 0 { "\\midrule\n" } else { "" };
            tabular += &format!("{} \\\\\n{rule}", cells.join(" & "));
        }
        tabular += "\\bottomrule\n\\end{tabular}\n";
        if self.title.is_empty() {
            return tabular;
        }
        let note = if self.note.is_empty() { String::new() } else { format!(". {}", self.note) };
        let caption = latex_escape(&format!("{}{note}", self.title));
        format!(
            "% needs \\usepackage{{booktabs,graphicx}}\n\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n\
             \\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n{tabular}}}\n\\end{{table}}\n"
        )
    }

    /// Comma-separated, numbers in full, seconds in seconds and shares as fractions.
    pub fn csv(&self) -> String {
        let head = csv_line(self.columns.iter().map(|column| Cell::from(&column.name)));
        head + &self.rows.iter().map(|row| csv_line(row.iter().cloned())).collect::<String>()
    }

    /// For a page, with a button that saves it as CSV.
    pub fn html(&self) -> Markup {
        html! {
            figure.table {
                figcaption {
                    (self.title) " "
                    @if !self.note.is_empty() { small { (self.note) } " " }
                    button.csv data-csv=(self.title) { "CSV" }
                }
                div.scroll tabindex="0" role="region" aria-label=(self.title) {
                    table {
                        thead { tr { @for column in &self.columns { th scope="col" { (column.name) } } } }
                        tbody { @for row in &self.rows { tr { (self.html_row(row)) } } }
                    }
                }
            }
        }
    }

    fn html_row(&self, row: &[Cell]) -> Markup {
        html! {
            @for (at, (cell, Column { name, kind, .. })) in row.iter().zip(&self.columns).enumerate() {
                @if at == 0 { th scope="row" { (cell.html(*kind)) } }
                // Pages do not wrap single numbers.
                @else { td.n[!matches!(kind, Kind::Text | Kind::Values)] data-head=(name) { (cell.html(*kind)) } }
            }
        }
    }
}

/// A cell whose intervals, such as `(1.2 to 1.5)`, are not wrapped.
fn glued(cell: &str) -> String {
    let mut out = String::new();
    for (at, part) in cell.split('(').enumerate() {
        let (inside, after) = part.split_once(')').filter(|(inside, _)| at > 0 && inside.len() < NARROWEST[1]).unzip();
        out += if at > 0 { "(" } else { "" };
        match inside.zip(after) {
            Some((inside, after)) => out.extend([inside.replace(' ', &GLUE.to_string()).as_str(), ")", after]),
            None => out += part,
        }
    }
    out
}

/// One line with the names of columns and how to see them.
fn left_out_line(names: &[&str], width: usize) -> String {
    if names.is_empty() {
        return String::new();
    }
    let line = |shown: usize| {
        let more = match names.len() - shown {
            0 => String::new(),
            more if shown == 0 => format!("{more} columns"),
            more => format!(" and {more} more"),
        };
        format!("not shown ({MORE}): {}{more}", names[..shown].join(", "))
    };
    let fits = |shown: &usize| line(*shown).chars().count() <= width;
    let shown = (0..=names.len()).rev().find(fits).unwrap_or(0);
    format!("\n{}", wrapped(&line(shown), width, 0))
}

/// A line of CSV: numbers in full, what is not known as an empty field.
pub fn csv_line(cells: impl IntoIterator<Item = Cell>) -> String {
    cells.into_iter().map(|cell| cell.csv()).collect::<Vec<_>>().join(",") + "\n"
}

/// Signs that TeX only has in formulas.
const MATHS: &str = "− - × \\times · \\cdot ± \\pm ≤ \\le ≥ \\ge ≠ \\ne ≈ \\approx ∞ \\infty → \\to √ \\surd Σ \\Sigma ⋆ \\star \
     ∘ \\circ ′ ' α \\alpha γ \\gamma λ \\lambda τ \\tau φ \\varphi ½ \\frac12 ² ^2 ▲ \\uparrow ▼ \\downarrow ✓ \\surd \
     ✗ \\times ∈ \\in ° ^\\circ";

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
            c if c.is_ascii() => out.push(c),
            other => match MATHS.split(' ').skip_while(|word| !word.starts_with(other)).nth(1) {
                Some(maths) => out.extend(["$", maths, "$"]),
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
        let mut table = Table::new("", [("set", Kind::Text), ("share", Kind::Percent)]);
        table.push(cells!["a_b|c", 0.15]);
        assert_eq!(table.text(80), "set     share\na_b|c  15.0 %\n");
        assert_eq!(table.markdown(), "| set | share |\n| --- | ---: |\n| a_b\\|c | 15.0 % |\n");
        assert!(table.latex().contains("a\\_b|c & 15.0 \\% \\\\\n"), "{}", table.latex());
        table.push(cells!["<b>,\"", f64::NAN]);
        assert_eq!(table.csv(), "set,share\na_b|c,0.15\n\"<b>,\"\"\",\n");
        let page = table.html().into_string();
        assert!(
            page.contains("<th scope=\"row\">&lt;b&gt;,&quot;</th><td class=\"n\" data-head=\"share\">–</td>"),
            "{page}"
        );
    }

    #[test]
    fn a_narrow_terminal_wraps_words_then_leaves_columns_out_in_their_order() {
        let mut table = Table::new("", [("data set", Kind::Text), ("solver", Kind::Text)]);
        table.widen(Kind::Seconds, ["median", "p99"]);
        table.widen(Kind::Text, ["a remark"]);
        table.spare(["p99", "a remark"]);
        table.push(cells!["usps", "mp-bcfw", 0.25, 0.5, "a remark of many words that is wrapped first"]);
        let whole = "data set  solver   median     p99  a remark\n\
                     usps      mp-bcfw  250 ms  500 ms  a remark of many words that is wrapped first\n";
        assert_eq!(table.text(80), whole);
        assert_eq!(
            table.text(62),
            "data set  solver   median     p99  a remark\n\
             usps      mp-bcfw  250 ms  500 ms  a remark of many words that\n                                   \
             is wrapped first\n"
        );
        let note = "\nnot shown (--format csv or a wider terminal): ";
        let narrow = table.text(48);
        assert!(narrow.starts_with("data set  solver   median  a remark\n") && narrow.contains(note), "{narrow}");
        for width in 20..100 {
            let text = table.text(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            assert!(width < 90 || text == whole, "{width}:\n{text}");
            assert_eq!(text.contains("p99") && text.contains("not shown"), text.contains(&format!("{note}p99")));
        }
    }

    #[test]
    fn a_latex_table_holds_nothing_that_tex_does_not_know() {
        let mut table = Table::new("50 % of λ_i < γ²", [("solver", Kind::Text), ("≤ 1e-3", Kind::Values)]);
        table.push(cells!["[a]\\b~^{}#&$ §", "≥2.0× ▲ (1.5 to ∞) – 3 µs √ ✓"]);
        let text = table.latex();
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
