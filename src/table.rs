//! A table as a value: typed columns, rows of typed cells, and one renderer per format.

use maud::{Markup, PreEscaped, html};

use crate::text::{number, percent, seconds};

/// How a command prints what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For the terminal.
    #[default]
    Table,
    /// For programs: the value that a table is made of.
    Json,
    /// For spreadsheets and other plotters: numbers in full.
    Csv,
    /// For a page or an issue.
    Markdown,
    /// For a paper; needs booktabs, and graphicx for tables with a title.
    Latex,
}

/// What the numbers of a column are. Columns of text stand on the left, all others on the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words; cells that are made of several values.
    Text,
    /// The same on the right.
    Values,
    /// Whole numbers.
    Count,
    /// Three significant digits.
    Number,
    /// A duration in seconds, written in the unit that reads best.
    Seconds,
    /// A fraction, written in per cent.
    Percent,
    /// A fraction with a bar on pages.
    Share,
}

impl Kind {
    /// Whether its cells are single numbers, which pages do not wrap.
    fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Values)
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What stands above it.
    pub name: String,
    /// What its numbers are.
    pub kind: Kind,
}

impl Column {
    /// A column of this name.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind }
    }
}

/// A value. Numbers are written as the [`Kind`] of their column says.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Not known: a dash for people, an empty field for programs.
    #[default]
    Missing,
    /// Words.
    Text(String),
    /// A whole number.
    Count(u64),
    /// Any other number; one that is not finite is not known.
    Number(f64),
    /// A value and a remark in small print, with what separates them.
    Noted(Box<Self>, String),
    /// A verdict: CSS class, sign and words; only pages show its colour and sign.
    Mark(&'static str, Option<char>, &'static str),
    /// Several values, on a page one below the other.
    List(Vec<Self>),
}

impl Cell {
    /// With a remark.
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

    /// For programs.
    fn csv(&self) -> String {
        let text = match self {
            Self::Missing => String::new(),
            Self::Number(value) if !value.is_finite() => String::new(),
            Self::Number(value) => return value.to_string(),
            Self::Noted(value, _) => return value.csv(),
            other => other.text(Kind::Text),
        };
        csv_field(text)
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

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows; may be empty.
    pub title: String,
    /// What a reader has to know about it; may be empty.
    pub note: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each as long as the columns.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new<const N: usize>(title: impl Into<String>, columns: [(&str, Kind); N]) -> Self {
        let columns = columns.map(|(name, kind)| Column::new(name, kind)).into();
        Self { title: title.into(), columns, ..Self::default() }
    }

    /// With what a reader has to know about it.
    #[must_use]
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds columns of one kind.
    pub fn widen(&mut self, kind: Kind, names: impl IntoIterator<Item = impl Into<String>>) {
        self.columns.extend(names.into_iter().map(|name| Column::new(name, kind)));
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.title);
        self.rows.push(row);
    }

    /// In a format; the caller has to write JSON.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Table | Format::Json => self.text(),
            Format::Csv => self.csv(),
            Format::Markdown => self.markdown(),
            Format::Latex => self.latex(),
        }
    }

    fn head(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// The head and the rows as people read them.
    fn lines(&self) -> impl Iterator<Item = Vec<String>> {
        let text =
            |row: &Vec<Cell>| row.iter().zip(&self.columns).map(|(cell, column)| cell.text(column.kind)).collect();
        std::iter::once(self.head()).chain(self.rows.iter().map(text))
    }

    fn titled(&self, mark: &str, body: &str) -> String {
        let title = if self.title.is_empty() { String::new() } else { format!("{mark}{}{mark}\n\n", self.title) };
        let note = if self.note.is_empty() { String::new() } else { format!("{}\n\n", self.note) };
        format!("{title}{note}{body}")
    }

    /// Columns padded with spaces, for the terminal.
    pub fn text(&self) -> String {
        let lines: Vec<Vec<String>> = self.lines().collect();
        let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut body = String::new();
        for line in &lines {
            let mut row = String::new();
            for ((cell, width), column) in line.iter().zip(&widths).zip(&self.columns) {
                let pad = " ".repeat(width - cell.chars().count());
                let (before, after) = if column.kind == Kind::Text { ("", pad.as_str()) } else { (pad.as_str(), "") };
                row.extend([before, cell.as_str(), after, "  "]);
            }
            body.extend([row.trim_end(), "\n"]);
        }
        self.titled("", &body)
    }

    /// A pipe table.
    pub fn markdown(&self) -> String {
        let rule = |column: &Column| if column.kind == Kind::Text { "---" } else { "---:" }.to_owned();
        let mut lines: Vec<Vec<String>> = self.lines().collect();
        for cell in lines.iter_mut().flatten() {
            *cell = cell.replace('|', "\\|").replace('\n', " ");
        }
        lines.insert(1, self.columns.iter().map(rule).collect());
        let body: String = lines.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
        self.titled("**", &body)
    }

    /// A `tabular` with booktabs rules; with a title a whole `table`, whose first line says which packages it needs.
    pub fn latex(&self) -> String {
        let sides: String = self.columns.iter().map(|c| if c.kind == Kind::Text { 'l' } else { 'r' }).collect();
        let line = |cells: Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| latex_escape(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let mut lines = self.lines().map(line);
        let head = lines.next().unwrap_or_default();
        let rows: String = lines.collect();
        let tabular = format!(
            "\\begin{{tabular}}{{{sides}}}\n\\toprule\n{head}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n"
        );
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
        let head: Vec<String> = self.head().into_iter().map(csv_field).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::csv).collect());
        let lines = std::iter::once(head).chain(rows);
        lines.map(|cells: Vec<String>| cells.join(",") + "\n").collect()
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
                        tbody {
                            @for row in &self.rows {
                                tr {
                                    @for (at, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                                        @if at == 0 { th scope="row" { (cell.html(column.kind)) } }
                                        @else {
                                            td.n[column.kind.is_number()] data-head=(column.name) { (cell.html(column.kind)) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn csv_field(text: String) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
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
        assert_eq!(table.text(), "set     share\na_b|c  15.0 %\n");
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
