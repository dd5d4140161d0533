//! The `ssvm-bench` binary.

fn main() {}
