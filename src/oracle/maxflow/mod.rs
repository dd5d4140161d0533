//! Max-flow / min-cut.
