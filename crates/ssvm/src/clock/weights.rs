//! Weights of the virtual clock, in 1/256 ns, by kind of work. Written by `cargo bench --bench clock -- --write`.

use super::model::PerCharge;

/// Version of this table: part of the identity of runs on the virtual clock, and of baselines.
pub const COST_MODEL: u32 = 2;

// OracleOperation, OracleCall, ExactProduct, ExactStep, Score, ApproximateProduct, ApproximateStep, SkippedStep, Averaging, GramOperation, WeightOperation, VectorOperation

// usps-synth:n=3000: virtual over wall 1.004; over that, by solver: fw@40 1.04, bcfw@40 0.98, bcfw-avg@40 0.98, mp-bcfw@40 1.01, mp-bcfw-avg@40 1.00, mp-bcfw@6 1.04, mp-bcfw@80 1.02, mp-bcfw-gram@15 0.99, mp-bcfw-gram-avg@15 1.05, mp-bcfw-gap@15 0.96, bcfw-gap-cache@15 0.87, bcfw-gap-pair-cache@15 0.97, bcfw-pair@15 0.88, bcfw-lazy@15 0.84, one-slack@15 1.05, one-slack-cache@6 1.03, ssg-avg@15 0.97, oracle share of bcfw 68.4 %, on the wall clock 67.2 %
pub(super) const MULTICLASS: PerCharge = [16, 907, 46, 2596, 24, 89, 10621, 278, 87, 300, 4488, 15];

// ocr-synth:n=1000: virtual over wall 1.011; over that, by solver: fw@40 1.09, bcfw@40 0.98, bcfw-avg@40 0.94, mp-bcfw@40 1.02, mp-bcfw-avg@40 0.98, mp-bcfw@6 0.86, mp-bcfw@80 1.00, mp-bcfw-gram@15 1.02, mp-bcfw-gram-avg@15 1.18, mp-bcfw-gap@15 0.96, bcfw-gap-cache@15 0.85, bcfw-gap-pair-cache@15 0.76, bcfw-pair@15 0.71, bcfw-lazy@15 0.79, one-slack@15 1.10, one-slack-cache@6 1.04, ssg-avg@15 1.12, oracle share of bcfw 55.9 %, on the wall clock 54.9 %
pub(super) const CHAIN: PerCharge = [22, 1263, 201, 1000, 47, 72, 31459, 496, 77, 1249, 188, 3];

// horseseg-synth:n=200: virtual over wall 0.985; over that, by solver: fw@40 1.08, bcfw@40 0.99, bcfw-avg@40 0.99, mp-bcfw@40 0.98, mp-bcfw-avg@40 0.97, mp-bcfw@6 0.96, mp-bcfw@80 0.97, mp-bcfw-gram@15 1.01, mp-bcfw-gram-avg@15 1.01, mp-bcfw-gap@15 1.01, bcfw-gap-cache@15 0.84, bcfw-gap-pair-cache@15 0.87, bcfw-pair@15 0.87, bcfw-lazy@15 0.92, one-slack@15 1.00, one-slack-cache@6 0.99, ssg-avg@15 0.89, oracle share of bcfw 97.4 %, on the wall clock 97.3 %
pub(super) const BINARY_GRAPH: PerCharge = [20, 2268, 72, 10642, 47, 19, 11810, 459, 24, 59, 1185, 26];

// stanford-synth:n=40: virtual over wall 1.028; over that, by solver: fw@40 0.94, bcfw@40 1.00, bcfw-avg@40 1.00, mp-bcfw@40 1.05, mp-bcfw-avg@40 1.02, mp-bcfw@6 0.96, mp-bcfw@80 1.01, mp-bcfw-gram@15 1.07, mp-bcfw-gram-avg@15 1.08, mp-bcfw-gap@15 1.08, bcfw-gap-cache@15 0.99, bcfw-gap-pair-cache@15 1.03, bcfw-pair@15 1.11, bcfw-lazy@15 1.06, one-slack@15 0.97, one-slack-cache@6 1.01, ssg-avg@15 0.81, oracle share of bcfw 99.1 %, on the wall clock 98.7 %
pub(super) const POTTS_GRAPH: PerCharge = [9, 1978, 30, 9960, 32, 3, 9223, 499, 22, 25, 206, 24];

// sparse planes: virtual over wall 0.936; over that, by solver: fw@40 0.98, bcfw@40 0.97, bcfw-avg@40 0.96, mp-bcfw@40 1.06, mp-bcfw-avg@40 1.04, mp-bcfw@6 0.88, mp-bcfw@80 1.10, mp-bcfw-gram@15 1.09, mp-bcfw-gram-avg@15 1.11, mp-bcfw-gap@15 1.04, bcfw-gap-cache@15 0.85, bcfw-gap-pair-cache@15 0.95, bcfw-pair@15 1.07, bcfw-lazy@15 1.00, one-slack@15 1.04, one-slack-cache@6 0.79, ssg-avg@15 1.02, oracle share of bcfw 86.7 %, on the wall clock 87.8 %
pub(super) const GENERIC: PerCharge = [779, 6091, 65, 4639, 21, 58, 25113, 499, 18, 62, 100, 13];
