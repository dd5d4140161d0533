//! The words of `--format`: one enum for all commands that print tables.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use crate::render::figure::FileFormat;
use crate::table::{Format, Table};

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Table, Self::Json, Self::Csv, Self::Markdown, Self::Latex]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Table => PossibleValue::new("table").alias("text").help("For the terminal"),
            Self::Json => PossibleValue::new("json").help("For programs: all that is known"),
            Self::Csv => PossibleValue::new("csv").help("For spreadsheets and other plotters"),
            Self::Markdown => PossibleValue::new("markdown").alias("md").help("For a page or an issue"),
            Self::Latex => PossibleValue::new("latex").alias("tex").help("For a paper (booktabs)"),
        })
    }
}

impl ValueEnum for FileFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

/// For commands that print more than one table.
pub fn table_or_json() -> impl TypedValueParser<Value = Format> {
    let words = [PossibleValue::new("table").alias("text"), PossibleValue::new("json")];
    PossibleValuesParser::new(words).map(|word| if word == "json" { Format::Json } else { Format::Table })
}

/// A value as JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// A table in a format, or as JSON the value that it is made of.
pub fn shown(format: Format, value: &impl Serialize, table: &Table) -> anyhow::Result<String> {
    if format == Format::Json { json(value) } else { Ok(table.render(format)) }
}
