//! `readme`: refreshes the parts of README.md, docs/ and results/figures/ that the program made, and checks that none is stale.
//!
//! A made part stands between `<!-- made by: COMMAND -->` and `<!-- end -->`; COMMAND is a call of this program that reads
//! committed files only, so that its output is the same everywhere.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use crate::experiment::catalog::Catalog;
use crate::store::files;

#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench readme check\n  ssvm-bench readme refresh --file README.md")]
pub struct ReadmeArgs {
    #[command(subcommand)]
    action: Action,
    /// The pages; repeatable [default: README.md, docs/*.md and results/figures/*.md]
    #[arg(long, global = true, value_name = "FILE")]
    file: Vec<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    /// Run the command of every made part and put its output in.
    Refresh,
    /// Fail when a linked file is missing, a command no longer parses or a made part is not what its command makes.
    Check,
}

const BEGIN: &str = "<!-- made by: ";
const END: &str = "<!-- end -->";

pub fn run(args: &ReadmeArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for path in pages(&args.file)? {
        let text = files::read_text(&path)?;
        let fresh = || refresh(&text).with_context(|| format!("in {}", path.display()));
        match args.action {
            Action::Check => {
                let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let mut found = problems(&text, folder, catalog)?;
                if found.is_empty() && fresh()? != text {
                    found.push("a made part differs from what its command makes: 'ssvm-bench readme refresh'".into());
                }
                stale.extend(found.into_iter().map(|problem| format!("{}: {problem}", path.display())));
            }
            Action::Refresh => files::write_bytes(&path, fresh()?.as_bytes())?,
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("stale:\n  {}", stale.join("\n  "))
}

fn pages(asked: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    if !asked.is_empty() {
        return Ok(asked.to_vec());
    }
    let mut pages = vec![PathBuf::from("README.md")];
    for folder in ["docs", "results/figures"] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries {
            pages.extend(Some(entry?.path()).filter(|path| path.extension().is_some_and(|e| e == "md")));
        }
    }
    pages.sort();
    Ok(pages)
}

/// (command, content) of every made part.
fn made_parts(text: &str) -> anyhow::Result<Vec<(&str, &str)>> {
    let mut parts = Vec::new();
    for part in text.split(BEGIN).skip(1) {
        let (command, after) = part.split_once(" -->").context("a 'made by' comment has no end")?;
        let content = after.split_once(END).with_context(|| format!("the part made by '{command}' has no '{END}'"))?.0;
        parts.push((command.trim(), content));
    }
    Ok(parts)
}

/// Commands of shell blocks; one that goes on in the next line is joined.
fn shell_commands(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut commands = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside && matches!(language, "sh" | "bash" | "console");
        } else if inside {
            commands.push(line.to_owned());
        }
    }
    commands
}

/// The words of a command, split as a shell does.
fn words(command: &str) -> anyhow::Result<Vec<String>> {
    shlex::split(command).with_context(|| format!("'{command}' has a quote without its end"))
}

/// Fails when a command is a call of this program that does not parse.
fn parse(command: &str, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let words = words(command)?;
    // What follows belongs to the shell.
    let words = words.iter().map(String::as_str).take_while(|word| ![">", "|", "&&"].contains(word));
    let words: Vec<&str> = words.skip_while(|word| word.contains('=')).collect();
    let (["ssvm-bench", arguments @ ..] | ["cargo", "run", "--release", "--", arguments @ ..]) = &words[..] else {
        return Ok(());
    };
    match super::command(catalog).try_get_matches_from([&["ssvm-bench"][..], arguments].concat()) {
        Err(error) if error.use_stderr() => {
            bail!("'{command}' no longer parses: {}", error.to_string().lines().next().unwrap_or_default())
        }
        _ => Ok(()),
    }
}

fn problems(text: &str, folder: &Path, catalog: &dyn Catalog) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (command, content) in made_parts(text)? {
        problems.extend(parse(command, catalog).err().map(|error| error.to_string()));
        if !command.starts_with("ssvm-bench ") {
            problems.push(format!("'{command}' is not a call of ssvm-bench"));
        }
        if content.lines().all(|line| line.trim().is_empty() || line.starts_with("```")) {
            problems.push(format!("the part made by '{command}' is empty: run 'ssvm-bench readme refresh'"));
        }
    }
    for command in shell_commands(text) {
        problems.extend(parse(&command, catalog).err().map(|error| error.to_string()));
    }
    for after in text.split("](").skip(1) {
        let target = after.split(')').next().unwrap_or_default();
        let is_file = !target.starts_with("http") && !target.starts_with('#') && !target.is_empty();
        if is_file && !folder.join(target).exists() {
            problems.push(format!("'{target}' is linked but missing"));
        }
    }
    Ok(problems)
}

fn refresh(text: &str) -> anyhow::Result<String> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut fresh = text.to_owned();
    for (command, content) in made_parts(text)? {
        let words = words(command)?;
        let arguments = words.get(1..).unwrap_or_default();
        let output =
            Command::new(&program).args(arguments).output().with_context(|| format!("cannot run {command}"))?;
        if !output.status.success() {
            bail!("'{command}' failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        // Markdown output goes in as it is, everything else as a block.
        let markdown = |word: &String| ["markdown", "matrix", "--index"].contains(&word.as_str());
        let body = if arguments.iter().any(markdown) {
            format!("\n\n{}\n\n", printed.trim())
        } else {
            format!("\n```text\n{}\n```\n", printed.trim_end())
        };
        let part = |content: &str| format!("{BEGIN}{command} -->{content}{END}");
        fresh = fresh.replace(&part(content), &part(&body));
    }
    Ok(fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        let split = |text: &str| words(text).expect("quotes are closed").join("|");
        assert_eq!(split("a 'b c' d"), "a|b c|d");
        assert_eq!(split("--only 'usps*' --dataset 'oracle:x y',limit=3"), "--only|usps*|--dataset|oracle:x y,limit=3");
        assert_eq!(split("x='a b'c d"), "x=a bc|d");
    }

    #[test]
    fn stale_parts_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "![x](gone.png)\n```sh\ncargo run --release -- solve --datset usps\nls\n```\n\
            <!-- made by: ssvm-bench solve --dataset usps --solver fw -->\n```text\n```\n<!-- end -->\n";
        let catalog = crate::Harness::standard();
        let found = problems(text, folder.path(), &catalog).expect("parts are closed");
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("is empty") && found[1].contains("--datset") && found[2].contains("gone.png"));
        assert!(problems("<!-- made by: ssvm-bench -->", folder.path(), &catalog).is_err());
    }
}
