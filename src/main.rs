//! The `ssvm-bench` binary: the harness with its standard tables.

fn main() -> std::process::ExitCode {
    ssvm_bench::Harness::standard().main()
}
