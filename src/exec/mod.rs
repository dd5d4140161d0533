//! Execution of runs.
