//! The code version of a run: it changes with the tokens of the sources and with nothing else.

#[path = "../../build/tokens.rs"]
mod tokens;

fn digest(text: &str) -> u64 {
    let mut digest = tokens::Digest::new();
    digest.add("solver.rs", text);
    digest.0
}

const SOURCE: &str = "//! Steps.\n\n/// A step.\nfn step(x: f64) -> f64 {\n    f(&[x, 2.0], 0.5) // why\n}\n";

#[test]
fn comments_documentation_formatting_and_tests_leave_the_digest() {
    let expected = digest(SOURCE);
    assert_eq!(digest(&SOURCE.replace("// why", "/* another\nreason */")), expected);
    assert_eq!(digest(&SOURCE.replace("/// A step.", "/// A step,\n/// explained.\n#[doc = \"more\"]")), expected);
    assert_eq!(digest(&SOURCE.replace("//! Steps.\n", "")), expected);
    assert_eq!(digest(&SOURCE.replace("f(&[x, 2.0], 0.5)", "f(\n        &[x, 2.0,],\n        0.5,\n    )")), expected);
    let test = "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert!(true);\n    }\n}\n";
    assert_eq!(digest(&format!("{SOURCE}{test}")), expected);
    assert_eq!(digest(&format!("#[cfg(test)]\nuse std::fmt;\n{SOURCE}")), expected);
    println!("tokens of the sources: {}", env!("SSVM_TOKENS"));
}

#[test]
fn a_constant_a_name_and_what_is_compiled_change_the_digest() {
    let before = digest(SOURCE);
    for (from, to) in [("2.0", "3.0"), ("2.0", "2"), ("step", "leap"), ("[x, 2.0]", "[2.0, x]"), ("fn", "pub fn")] {
        assert_ne!(digest(&SOURCE.replace(from, to)), before, "{from} → {to}");
    }
    assert_ne!(digest(&format!("{SOURCE}fn g() {{}}\n")), before);
    assert_ne!(digest(&format!("#[cfg(unix)]\n{SOURCE}")), before);
    let mut other = tokens::Digest::new();
    other.add("other.rs", SOURCE);
    assert_ne!(other.0, before);
}
