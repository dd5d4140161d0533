//! Weights of the virtual clock, in 1/256 ns, by kind of work. Written by `cargo bench --bench clock -- --write`.

use super::model::PerCharge;

/// Version of this table: part of the identity of runs on the virtual clock, and of baselines.
pub const COST_MODEL: u32 = 2;

// OracleOperation, OracleCall, ExactProduct, ExactStep, Score, ApproximateProduct, ApproximateStep, SkippedStep, Averaging, GramOperation, VectorOperation

// usps-synth:n=3000: virtual over wall 1.009; over that, by solver: fw@40 1.00, bcfw@40 1.00, bcfw-avg@40 0.99, mp-bcfw@40 1.01, mp-bcfw-avg@40 0.99, mp-bcfw@6 1.12, mp-bcfw@80 0.96, mp-bcfw-gram@15 0.93, mp-bcfw-gram-avg@15 1.01, mp-bcfw-gap@15 0.81, bcfw-gap-cache@15 0.90, bcfw-gap-pair-cache@15 0.92, bcfw-lazy@15 0.75, one-slack@15 0.89, ssg-avg@15 0.97, oracle share of bcfw 64.5 %, on the wall clock 62.7 %
pub(super) const MULTICLASS: PerCharge = [12, 2643, 41, 3457, 65, 0, 18773, 0, 81, 2228, 23];

// ocr-synth:n=1000: virtual over wall 1.001; over that, by solver: fw@40 1.10, bcfw@40 0.98, bcfw-avg@40 0.93, mp-bcfw@40 1.03, mp-bcfw-avg@40 0.97, mp-bcfw@6 0.93, mp-bcfw@80 0.99, mp-bcfw-gram@15 1.03, mp-bcfw-gram-avg@15 1.21, mp-bcfw-gap@15 0.97, bcfw-gap-cache@15 0.84, bcfw-gap-pair-cache@15 0.76, bcfw-lazy@15 0.82, one-slack@15 1.10, ssg-avg@15 1.08, oracle share of bcfw 55.8 %, on the wall clock 54.8 %
pub(super) const CHAIN: PerCharge = [22, 1744, 203, 0, 35, 54, 92557, 895, 72, 337, 0];

// horseseg-synth:n=200: virtual over wall 0.995; over that, by solver: fw@40 1.07, bcfw@40 0.98, bcfw-avg@40 0.99, mp-bcfw@40 0.99, mp-bcfw-avg@40 0.98, mp-bcfw@6 1.00, mp-bcfw@80 0.98, mp-bcfw-gram@15 0.95, mp-bcfw-gram-avg@15 0.98, mp-bcfw-gap@15 0.95, bcfw-gap-cache@15 0.83, bcfw-gap-pair-cache@15 0.88, bcfw-lazy@15 0.90, one-slack@15 0.96, ssg-avg@15 0.88, oracle share of bcfw 97.6 %, on the wall clock 97.1 %
pub(super) const BINARY_GRAPH: PerCharge = [20, 2511, 45, 35347, 43, 28, 11677, 975, 34, 112, 23];

// stanford-synth:n=40: virtual over wall 1.017; over that, by solver: fw@40 0.94, bcfw@40 1.01, bcfw-avg@40 1.01, mp-bcfw@40 1.04, mp-bcfw-avg@40 1.01, mp-bcfw@6 0.96, mp-bcfw@80 1.02, mp-bcfw-gram@15 1.04, mp-bcfw-gram-avg@15 1.06, mp-bcfw-gap@15 1.05, bcfw-gap-cache@15 1.00, bcfw-gap-pair-cache@15 1.03, bcfw-lazy@15 1.04, one-slack@15 0.98, ssg-avg@15 0.82, oracle share of bcfw 99.0 %, on the wall clock 98.6 %
pub(super) const POTTS_GRAPH: PerCharge = [9, 2037, 32, 24991, 31, 3, 7285, 995, 27, 0, 23];

// sparse planes: virtual over wall 0.996; over that, by solver: fw@40 1.04, bcfw@40 1.00, bcfw-avg@40 1.00, mp-bcfw@40 0.98, mp-bcfw-avg@40 0.98, mp-bcfw@6 0.98, mp-bcfw@80 1.03, mp-bcfw-gram@15 1.07, mp-bcfw-gram-avg@15 1.04, mp-bcfw-gap@15 1.04, bcfw-gap-cache@15 0.88, bcfw-gap-pair-cache@15 0.94, bcfw-lazy@15 0.99, one-slack@15 1.08, ssg-avg@15 1.00, oracle share of bcfw 89.5 %, on the wall clock 89.9 %
pub(super) const GENERIC: PerCharge = [931, 1, 61, 0, 32, 48, 12085, 984, 13, 59, 0];
