//! The words of `--format`: one enum for all commands that print tables.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use crate::table::Format;

/// For commands that print more than one table.
pub fn table_or_json() -> impl TypedValueParser<Value = Format> {
    let words = [PossibleValue::new("table").alias("text"), PossibleValue::new("json")];
    PossibleValuesParser::new(words).map(|word| if word == "json" { Format::Json } else { Format::Table })
}

/// A value as JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
