//! `init --crate`: a complete crate with a solver to edit, from `examples/solver.rs`, which the tests compile and run.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::super::terminal::NAME;
use crate::experiment::catalog::Catalog;
use crate::store::files;

/// The file that is written last.
const LAST: &str = "Cargo.toml";
/// The solver's name in the files that the crate is made of.
const TEMPLATE: &str = "bcfw-zigzag";
const SOLVER: &str = include_str!("../../../examples/solver.rs");
const CONFIG: &str = include_str!("../../../examples/solver.toml");
/// The profile of this package: another one would optimise Polars and all other dependencies, which takes three times as long.
const MANIFEST: &str = include_str!("../../../Cargo.toml");

pub(super) fn write(folder: &Path, names: &[String], catalog: &dyn Catalog) -> anyhow::Result<()> {
    let [name] = names else { bail!("--crate needs one --solver: the name of your solver") };
    check_name(name, catalog)?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = Some(source).filter(|source| source.join("Cargo.toml").is_file());
    let named = |text: &str| text.replace("NAME", name);
    // The versions of the dependencies that this program was tested with.
    let lock = source.map(|source| source.join("Cargo.lock")).filter(|lock| lock.is_file());
    let lock = lock.map(|lock| files::read_text(&lock)).transpose()?;
    let toml = format!("{name}.toml");
    let mut written = vec![
        ("src/main.rs", program(name)?),
        (toml.as_str(), config(name)?),
        ("README.md", named(include_str!("readme.md"))),
        (".gitignore", named(include_str!("gitignore.txt"))),
        (".github/workflows/gate.yml", named(include_str!("gate.yml"))),
    ];
    written.extend(lock.map(|lock| ("Cargo.lock", lock)));
    // Last: a folder without it was left by a call that was killed.
    written.push((LAST, manifest(name, source)?));
    if folder.join(LAST).exists() || !holds_only(folder, folder, &written)? {
        bail!("{} is not empty; name a new folder", folder.display());
    }
    for (file, text) in &written {
        let path = folder.join(file);
        files::make_folder(path.parent().unwrap_or(folder))?;
        files::write_bytes(&path, text.as_bytes())?;
        super::print_path(&path)?;
    }
    let at = shlex::try_quote(&folder.to_string_lossy())?.into_owned();
    super::note(&format!("next: cd {at}; cargo run --release -- reproduce {name}.toml --out results"));
    Ok(())
}

/// Whether there is nothing below a folder but some of these files, as they will be written, and what killed writers left.
fn holds_only(top: &Path, folder: &Path, written: &[(&str, String)]) -> anyhow::Result<bool> {
    if !folder.exists() {
        return Ok(true);
    }
    files::sweep(folder);
    for path in files::list(folder)? {
        let name = path.strip_prefix(top)?;
        let ours = match written.iter().find(|(file, _)| Path::new(file) == name) {
            Some((_, text)) => path.is_file() && files::read_text(&path).is_ok_and(|there| there == *text),
            None if written.iter().any(|(file, _)| Path::new(file).starts_with(name)) && !path.is_symlink() => {
                path.is_dir() && holds_only(top, &path, written)?
            }
            None => false,
        };
        if !ours {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks a name that is used for the solver, the package and the program.
fn check_name(name: &str, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !letters || !name.starts_with(|c: char| c.is_ascii_lowercase()) || name.ends_with('-') || name.len() > 40 {
        bail!(
            "--solver '{name}': the solver, its crate and its program share this name; use lower-case letters, digits and '-', \
             a letter first, at most 40 characters, such as my-bcfw"
        );
    }
    if catalog.solver(name).is_some() {
        bail!("--solver '{name}' is a solver of this program; give yours another name, such as my-{name}");
    }
    // Packages that the crate depends on, names of Cargo's folders, and Rust keywords.
    const TAKEN: &str = "ssvm ssvm-bench build deps examples incremental test core std alloc proc-macro as async await break const \
        continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self static \
        struct super trait true type unsafe use where while abstract become box do final gen macro override priv try typeof \
        unsized virtual yield";
    if TAKEN.split_ascii_whitespace().any(|taken| taken == name) {
        bail!("--solver '{name}' cannot name a crate: Cargo or Rust reserves it; use another name, such as my-{name}");
    }
    Ok(())
}

fn program(name: &str) -> anyhow::Result<String> {
    let code = SOLVER.find("\nuse ").context("the template of the solver has no code")?;
    let head = format!(
        "//! A solver of your own among those of {NAME}. Start with `iterate`, `exact_step` and `cached_step`: as they are, this\n\
         //! is BCFW with a plane cache that walks back and forth through one permutation. Then give `info` its parameters and a\n\
         //! line about it.\n"
    );
    Ok(head + &SOLVER[code..].replace(TEMPLATE, name))
}

fn config(name: &str) -> anyhow::Result<String> {
    let keys = CONFIG.find("seed = ").context("the template of the config has no seed")?;
    let head = format!("# {name} beside solvers of the library, on small built-in data.\nname = \"{name}\"\n");
    Ok(head + &CONFIG[keys..].replace(TEMPLATE, name))
}

fn manifest(name: &str, source: Option<&Path>) -> anyhow::Result<String> {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let version = env!("CARGO_PKG_VERSION");
    let dependency = match source {
        Some(source) => format!("{{ path = {} }}", quoted(&source.to_string_lossy())),
        None => quoted(version),
    };
    let profile = profile()?;
    Ok(include_str!("crate.toml")
        .replace("NAME", name)
        .replace("RUST", env!("CARGO_PKG_RUST_VERSION"))
        .replace("DEPENDENCY", &dependency)
        .replace("PROFILE", profile.trim_end()))
}

/// `[profile.release.package]` of this package, as lines.
fn profile() -> anyhow::Result<String> {
    let manifest: toml::Table = MANIFEST.parse()?;
    let release = manifest["profile"]["release"].as_table().context("this package has no profile")?;
    // What a dependency is compiled at here; this package is one there.
    let own = &release["opt-level"];
    let packages = release["package"].as_table().context("the profile of this package names no packages")?;
    let mut text = format!("{NAME} = {{ opt-level = {own}, debug = \"line-tables-only\" }}\n");
    for (package, settings) in packages {
        let settings = settings.as_table().context("a package of the profile has no settings")?;
        let settings: Vec<String> = settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let package = if package == "*" { "\"*\"" } else { package };
        writeln!(text, "{package} = {{ {} }}", settings.join(", "))?;
    }
    Ok(text)
}
