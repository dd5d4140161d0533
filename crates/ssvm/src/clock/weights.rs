//! Weights of the virtual clock, in 1/256 ns, by kind of work. Written by `cargo bench --bench clock -- --write`.

use super::model::PerCharge;

/// Version of this table: part of the identity of runs on the virtual clock, and of baselines.
pub const COST_MODEL: u32 = 3;

// OracleOperation, OracleCall, ExactProduct, ExactStep, Score, ApproximateProduct, ApproximateStep, SkippedStep, Averaging, GramOperation, VectorOperation

// usps-synth:n=3000: virtual over wall 1.007; over that, by solver: fw@40 1.12, bcfw@40 0.92, bcfw-avg@40 0.91, mp-bcfw@40 1.04, mp-bcfw-avg@40 1.03, mp-bcfw@6 1.01, mp-bcfw@80 0.93, mp-bcfw-gram@15 0.88, mp-bcfw-gram-avg@15 0.98, mp-bcfw-gap@15 0.69, bcfw-gap-cache@15 0.91, bcfw-gap-pair-cache@15 0.90, bcfw-lazy@15 0.72, one-slack@15 0.98, ssg-avg@15 1.02, oracle share of bcfw 66.3 %, on the wall clock 66.7 %
pub(super) const MULTICLASS: PerCharge = [14, 1096, 46, 2081, 67, 0, 23504, 0, 84, 1277, 16];

// ocr-synth:n=1000: virtual over wall 1.004; over that, by solver: fw@40 1.08, bcfw@40 0.99, bcfw-avg@40 0.94, mp-bcfw@40 1.03, mp-bcfw-avg@40 0.97, mp-bcfw@6 0.87, mp-bcfw@80 0.99, mp-bcfw-gram@15 1.01, mp-bcfw-gram-avg@15 1.20, mp-bcfw-gap@15 0.98, bcfw-gap-cache@15 0.84, bcfw-gap-pair-cache@15 0.73, bcfw-lazy@15 0.77, one-slack@15 1.11, ssg-avg@15 1.08, oracle share of bcfw 56.0 %, on the wall clock 55.1 %
pub(super) const CHAIN: PerCharge = [21, 2267, 193, 0, 42, 70, 36316, 494, 73, 411, 0];

// horseseg-synth:n=200: virtual over wall 0.998; over that, by solver: fw@40 1.03, bcfw@40 1.00, bcfw-avg@40 0.99, mp-bcfw@40 0.99, mp-bcfw-avg@40 0.98, mp-bcfw@6 0.98, mp-bcfw@80 0.99, mp-bcfw-gram@15 0.93, mp-bcfw-gram-avg@15 0.98, mp-bcfw-gap@15 0.95, bcfw-gap-cache@15 0.83, bcfw-gap-pair-cache@15 0.90, bcfw-lazy@15 0.93, one-slack@15 0.99, ssg-avg@15 0.89, oracle share of bcfw 97.5 %, on the wall clock 97.3 %
pub(super) const BINARY_GRAPH: PerCharge = [20, 2112, 68, 10365, 42, 28, 9724, 496, 34, 119, 24];

// stanford-synth:n=40: virtual over wall 0.970; over that, by solver: fw@40 0.91, bcfw@40 0.98, bcfw-avg@40 0.99, mp-bcfw@40 1.07, mp-bcfw-avg@40 1.05, mp-bcfw@6 0.98, mp-bcfw@80 1.02, mp-bcfw-gram@15 1.05, mp-bcfw-gram-avg@15 1.07, mp-bcfw-gap@15 1.05, bcfw-gap-cache@15 0.96, bcfw-gap-pair-cache@15 1.00, bcfw-lazy@15 1.03, one-slack@15 0.96, ssg-avg@15 0.78, oracle share of bcfw 98.8 %, on the wall clock 98.6 %
pub(super) const POTTS_GRAPH: PerCharge = [8, 2146, 36, 9907, 31, 6, 9091, 500, 21, 0, 24];

// sparse planes: virtual over wall 0.938; over that, by solver: fw@40 1.01, bcfw@40 0.95, bcfw-avg@40 0.95, mp-bcfw@40 1.05, mp-bcfw-avg@40 1.04, mp-bcfw@6 0.91, mp-bcfw@80 1.06, mp-bcfw-gram@15 1.08, mp-bcfw-gram-avg@15 1.10, mp-bcfw-gap@15 1.03, bcfw-gap-cache@15 0.89, bcfw-gap-pair-cache@15 1.00, bcfw-lazy@15 1.06, one-slack@15 1.05, ssg-avg@15 0.99, oracle share of bcfw 88.1 %, on the wall clock 89.0 %
pub(super) const GENERIC: PerCharge = [748, 5935, 55, 3987, 15, 79, 14553, 499, 17, 84, 9];
