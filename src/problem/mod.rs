//! Problems.
