//! Tests of the harness and its program. A file is a module: `cargo test --release --test suite shard::`.

#[path = "../common/mod.rs"]
mod common;

mod broken_solvers;
mod check;
mod claims;
mod cli;
mod code_version;
mod compare;
mod config;
mod examples;
mod fetch;
mod figures;
mod files;
mod frame;
mod graph_file;
mod harness;
mod images;
mod init;
mod league;
mod load;
mod modules;
mod own_code;
mod pipe;
mod price;
mod readme;
mod reference;
mod report;
mod scalar;
mod shard;
mod snapshot;
mod supply;
mod true_axis;
mod true_budgets;
mod true_claims;
mod true_compare;
mod true_features;
mod true_frames;
mod true_gaps;
mod true_schedule;
mod true_settings;
mod true_store;
mod twins;
