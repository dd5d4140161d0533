//! Regression gates: counters against a baseline, paired ratios of time, instruction counts.
