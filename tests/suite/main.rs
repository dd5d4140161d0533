//! Tests of the harness and its program. A file is a module: `cargo test --release --test suite shard::`.

#[path = "../common/mod.rs"]
mod common;

mod axes;
mod broken_solvers;
mod budgets;
mod certified_gaps;
mod check;
mod claims;
mod cli;
mod code_version;
mod compare;
mod compared_folders;
mod config;
mod curves;
mod errors;
mod examples;
mod fetch;
mod figures;
mod files;
mod frame;
mod graph_file;
mod harness;
mod images;
mod init;
mod large_features;
mod league;
mod load;
mod modules;
mod oracle_cost;
mod own_code;
mod pipe;
mod readme;
mod records;
mod reference;
mod report;
mod scalar;
mod schedule;
mod settings;
mod shard;
mod snapshot;
mod supply;
mod terminal;
mod twins;
mod verdicts;
