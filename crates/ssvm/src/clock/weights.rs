//! Weights of the virtual clock, in 1/256 ns, by kind of work. Written by `cargo bench --bench clock -- --write`.

use super::model::PerCharge;

/// Version of this table: part of the identity of runs on the virtual clock, and of baselines.
pub const COST_MODEL: u32 = 2;

// OracleOperation, OracleCall, ExactProduct, ExactStep, Score, ApproximateProduct, ApproximateStep, SkippedStep, Averaging, GramOperation, VectorOperation

// usps-synth:n=3000: virtual over wall 1.010; over that, by solver: fw@40 1.13, bcfw@40 0.90, bcfw-avg@40 0.91, mp-bcfw@40 1.05, mp-bcfw-avg@40 1.03, mp-bcfw@6 1.02, mp-bcfw@80 0.93, mp-bcfw-gram@15 0.83, mp-bcfw-gram-avg@15 0.91, mp-bcfw-gap@15 0.58, bcfw-gap-cache@15 0.92, bcfw-gap-pair-cache@15 0.77, bcfw-lazy@15 0.73, one-slack@15 1.00, ssg-avg@15 0.99, oracle share of bcfw 67.5 %, on the wall clock 67.7 %
pub(super) const MULTICLASS: PerCharge = [13, 2351, 30, 6247, 53, 5, 26831, 100, 79, 119, 22];

// ocr-synth:n=1000: virtual over wall 1.008; over that, by solver: fw@40 1.10, bcfw@40 0.98, bcfw-avg@40 0.94, mp-bcfw@40 1.02, mp-bcfw-avg@40 0.97, mp-bcfw@6 0.89, mp-bcfw@80 1.00, mp-bcfw-gram@15 1.00, mp-bcfw-gram-avg@15 1.18, mp-bcfw-gap@15 0.94, bcfw-gap-cache@15 0.84, bcfw-gap-pair-cache@15 0.70, bcfw-lazy@15 0.74, one-slack@15 1.11, ssg-avg@15 1.14, oracle share of bcfw 56.1 %, on the wall clock 54.9 %
pub(super) const CHAIN: PerCharge = [21, 1292, 189, 2000, 39, 85, 37281, 496, 77, 68, 5];

// horseseg-synth:n=200: virtual over wall 1.006; over that, by solver: fw@40 1.07, bcfw@40 0.99, bcfw-avg@40 1.00, mp-bcfw@40 0.99, mp-bcfw-avg@40 0.96, mp-bcfw@6 0.98, mp-bcfw@80 0.97, mp-bcfw-gram@15 0.92, mp-bcfw-gram-avg@15 0.97, mp-bcfw-gap@15 0.92, bcfw-gap-cache@15 0.82, bcfw-gap-pair-cache@15 0.88, bcfw-lazy@15 0.92, one-slack@15 1.01, ssg-avg@15 0.89, oracle share of bcfw 97.4 %, on the wall clock 97.1 %
pub(super) const BINARY_GRAPH: PerCharge = [20, 2011, 70, 10398, 40, 34, 9839, 512, 38, 89, 24];

// stanford-synth:n=40: virtual over wall 0.960; over that, by solver: fw@40 0.92, bcfw@40 0.98, bcfw-avg@40 0.98, mp-bcfw@40 1.07, mp-bcfw-avg@40 1.05, mp-bcfw@6 1.00, mp-bcfw@80 1.01, mp-bcfw-gram@15 1.11, mp-bcfw-gram-avg@15 1.09, mp-bcfw-gap@15 1.12, bcfw-gap-cache@15 0.98, bcfw-gap-pair-cache@15 1.02, bcfw-lazy@15 1.04, one-slack@15 0.96, ssg-avg@15 0.82, oracle share of bcfw 98.7 %, on the wall clock 98.2 %
pub(super) const POTTS_GRAPH: PerCharge = [8, 2153, 38, 9966, 35, 5, 9578, 499, 17, 10, 24];

// sparse planes: virtual over wall 0.937; over that, by solver: fw@40 1.00, bcfw@40 0.95, bcfw-avg@40 0.98, mp-bcfw@40 1.07, mp-bcfw-avg@40 1.01, mp-bcfw@6 0.83, mp-bcfw@80 1.03, mp-bcfw-gram@15 1.11, mp-bcfw-gram-avg@15 1.16, mp-bcfw-gap@15 1.05, bcfw-gap-cache@15 0.84, bcfw-gap-pair-cache@15 0.93, bcfw-lazy@15 0.99, one-slack@15 1.01, ssg-avg@15 0.97, oracle share of bcfw 86.3 %, on the wall clock 85.0 %
pub(super) const GENERIC: PerCharge = [762, 6002, 67, 2516, 21, 61, 17687, 498, 29, 69, 8];
