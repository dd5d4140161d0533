//! The `ssvm-bench` binary.

fn main() -> std::process::ExitCode {
    ssvm_bench::cli::main()
}
