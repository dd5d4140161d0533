//! Findings → text: a table for the terminal, Markdown for a step summary, files for JUnit, github-action-benchmark
//! and Bencher. Strings in, strings out; the command line writes them.

mod files;
mod text;

pub use files::{bencher, github_benchmark, junit};
pub use text::{markdown, table};
