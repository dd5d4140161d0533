//! Weights of the virtual clock, in 1/256 ns, by kind of work. Written by `cargo bench --bench clock -- --write`.

use super::model::PerCharge;

/// Version of this table: part of the identity of runs on the virtual clock, and of baselines.
pub const COST_MODEL: u32 = 2;

// OracleOperation, OracleCall, ExactProduct, ExactStep, Score, ApproximateProduct, ApproximateStep, SkippedStep, Averaging, GramOperation, VectorOperation

// usps-synth:n=3000: virtual over wall 1.007; over that, by solver: fw@40 1.02, bcfw@40 0.98, bcfw-avg@40 0.98, mp-bcfw@40 1.02, mp-bcfw-avg@40 1.00, mp-bcfw@6 1.16, mp-bcfw@80 0.97, mp-bcfw-gram@15 0.93, mp-bcfw-gram-avg@15 0.99, mp-bcfw-gap@15 0.75, bcfw-gap-cache@15 0.94, bcfw-gap-pair-cache@15 0.90, bcfw-lazy@15 0.78, one-slack@15 1.04, ssg-avg@15 0.99, oracle share of bcfw 69.3 %, on the wall clock 67.3 %
pub(super) const MULTICLASS: PerCharge = [16, 1000, 36, 5533, 70, 3, 22838, 50, 85, 1187, 16];

// ocr-synth:n=1000: virtual over wall 1.007; over that, by solver: fw@40 1.10, bcfw@40 0.98, bcfw-avg@40 0.94, mp-bcfw@40 1.02, mp-bcfw-avg@40 0.98, mp-bcfw@6 0.87, mp-bcfw@80 1.01, mp-bcfw-gram@15 1.03, mp-bcfw-gram-avg@15 1.17, mp-bcfw-gap@15 0.94, bcfw-gap-cache@15 0.84, bcfw-gap-pair-cache@15 0.73, bcfw-lazy@15 0.77, one-slack@15 1.11, ssg-avg@15 1.12, oracle share of bcfw 56.2 %, on the wall clock 54.9 %
pub(super) const CHAIN: PerCharge = [21, 1226, 189, 1000, 43, 77, 35204, 496, 77, 530, 3];

// horseseg-synth:n=200: virtual over wall 1.008; over that, by solver: fw@40 1.09, bcfw@40 1.00, bcfw-avg@40 1.00, mp-bcfw@40 0.97, mp-bcfw-avg@40 0.95, mp-bcfw@6 0.97, mp-bcfw@80 0.96, mp-bcfw-gram@15 0.91, mp-bcfw-gram-avg@15 0.97, mp-bcfw-gap@15 0.97, bcfw-gap-cache@15 0.84, bcfw-gap-pair-cache@15 0.91, bcfw-lazy@15 0.93, one-slack@15 1.00, ssg-avg@15 0.92, oracle share of bcfw 97.5 %, on the wall clock 97.2 %
pub(super) const BINARY_GRAPH: PerCharge = [22, 1893, 74, 10574, 46, 26, 11590, 491, 38, 116, 24];

// stanford-synth:n=40: virtual over wall 1.031; over that, by solver: fw@40 0.91, bcfw@40 1.00, bcfw-avg@40 1.00, mp-bcfw@40 1.05, mp-bcfw-avg@40 1.05, mp-bcfw@6 1.00, mp-bcfw@80 1.00, mp-bcfw-gram@15 1.09, mp-bcfw-gram-avg@15 1.06, mp-bcfw-gap@15 1.11, bcfw-gap-cache@15 0.99, bcfw-gap-pair-cache@15 1.06, bcfw-lazy@15 1.07, one-slack@15 1.00, ssg-avg@15 0.84, oracle share of bcfw 99.1 %, on the wall clock 98.6 %
pub(super) const POTTS_GRAPH: PerCharge = [9, 1984, 30, 9958, 33, 3, 8846, 499, 14, 25, 24];

// sparse planes: virtual over wall 0.931; over that, by solver: fw@40 1.00, bcfw@40 0.95, bcfw-avg@40 0.95, mp-bcfw@40 1.05, mp-bcfw-avg@40 1.04, mp-bcfw@6 0.88, mp-bcfw@80 1.13, mp-bcfw-gram@15 1.11, mp-bcfw-gram-avg@15 1.11, mp-bcfw-gap@15 1.06, bcfw-gap-cache@15 0.88, bcfw-gap-pair-cache@15 0.99, bcfw-lazy@15 1.04, one-slack@15 1.05, ssg-avg@15 1.00, oracle share of bcfw 87.9 %, on the wall clock 88.6 %
pub(super) const GENERIC: PerCharge = [774, 6086, 58, 3539, 20, 63, 15017, 498, 19, 75, 10];
