//! How the solvers are compiled: their speed depends on it, so it belongs to every timing.

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").replace('\x1f', " ");
    let flags = format!("{} opt-level={} {flags}", variable("TARGET"), variable("OPT_LEVEL"));
    println!("cargo:rustc-env=SSVM_FLAGS={}", flags.trim());
    println!("cargo:rerun-if-changed=build.rs");
}
