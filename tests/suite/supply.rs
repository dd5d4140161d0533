//! The supply chain as far as it can be checked without a network: where packages come from, what comes twice, why each
//! direct dependency is here, and where `unsafe` is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn toml(path: &str) -> toml::Table {
    read(path).parse().unwrap()
}

fn text<'a>(table: &'a toml::Value, key: &str) -> Option<&'a str> {
    table.get(key)?.as_str()
}

#[test]
fn every_package_comes_from_the_registry_with_a_checksum() {
    let lock = toml("Cargo.lock");
    for package in lock["package"].as_array().unwrap() {
        let name = text(package, "name").unwrap();
        // The two crates of this repository have no source.
        if !["ssvm", env!("CARGO_PKG_NAME")].contains(&name) {
            let source = text(package, "source").unwrap_or_default();
            assert_eq!(source, "registry+https://github.com/rust-lang/crates.io-index", "{name}");
            assert_eq!(text(package, "checksum").map(str::len), Some(64), "{name}");
        }
    }
}

#[test]
fn what_comes_twice_is_named() {
    let lock = toml("Cargo.lock");
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in lock["package"].as_array().unwrap() {
        versions.entry(text(package, "name").unwrap()).or_default().push(text(package, "version").unwrap());
    }
    let deny = toml("deny.toml");
    let named: Vec<&str> =
        deny["bans"]["skip"].as_array().unwrap().iter().map(|entry| text(entry, "crate").unwrap()).collect();
    let is_named = |name: &str, version: &str| {
        named.iter().any(|entry| {
            let (of, prefix) = entry.split_once('@').unwrap();
            of == name && (version == prefix || version.starts_with(&format!("{prefix}.")))
        })
    };
    for (name, versions) in &versions {
        let left: Vec<&&str> = versions.iter().filter(|version| !is_named(name, version)).collect();
        assert!(left.len() <= 1, "{name} comes in versions {left:?}; name the older in deny.toml, or be rid of it");
    }
    for entry in &named {
        let (name, _) = entry.split_once('@').unwrap();
        let there = versions.get(name).is_some_and(|list| list.len() > 1 && list.iter().any(|v| is_named(name, v)));
        assert!(there, "{entry} is in deny.toml but does not come twice any more");
    }
}

#[test]
fn every_direct_dependency_says_why() {
    let page = read("docs/dependencies.md");
    let rows: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" | ").next())
        .flat_map(|cell| cell.split(", ").map(|name| name.trim_matches('`')))
        .collect();
    let (harness, library) = (toml("Cargo.toml"), toml("crates/ssvm/Cargo.toml"));
    let mut direct = BTreeSet::new();
    for manifest in [&harness, &library] {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let names = manifest.get(section).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
            direct.extend(names.map(String::as_str).filter(|name| *name != "ssvm"));
        }
    }
    assert_eq!(rows, direct);
}

#[test]
fn unsafe_is_in_one_file() {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let code = |line: &str| !line.trim_start().starts_with("//") && !line.contains("\"unsafe");
                let text = fs::read_to_string(&path).unwrap();
                if text
                    .lines()
                    .filter(|line| code(line))
                    .any(|line| line.contains("unsafe {") || line.contains("unsafe fn"))
                {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    let mut found = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "examples"] {
        walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    found.retain(|path| !path.ends_with("tests/suite/supply.rs"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("crates/ssvm/src/linalg/simd.rs"), "{found:?}");
}
