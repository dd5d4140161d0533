//! `readme`: refreshes the generated parts of README.md, docs/ and results/figures/, and checks that none is stale.
//!
//! A made part stands between `<!-- made by: COMMAND -->` and `<!-- end -->`; COMMAND is a call of this program that reads
//! committed files only, so that its output is the same everywhere. Numbers of uncommitted code, and times that other runs
//! disturbed, are refused: see [`Origin::objections`](crate::study::Origin::objections).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use super::{former, help, note};
use crate::experiment::catalog::Catalog;
use crate::store::files;
use crate::study::Summary;

/// Refresh or check the generated parts of README.md and docs/
///
/// A generated part stands between a comment `made by: COMMAND` and a comment `end`, and is what the command prints.
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
    /// Run the command of every generated part and insert its output
    ///
    /// Fails if numbers must not be published.
    #[command(after_help = "Example:\n  ssvm-bench readme refresh --file README.md")]
    Refresh,
    /// Fail if a generated part differs from the output of its command
    ///
    /// Also fails if a linked file is missing, a command no longer parses, or numbers come from uncommitted code or disturbed times.
    #[command(after_help = "Example:\n  ssvm-bench readme check")]
    Check,
}

/// Summaries that are published although today's rules would refuse them: SHA-256 and reason. Entries are removed when their file
/// changes, and none is added.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("0591d1e67bbca30c2b07accff1183cbf489fe8aad73be92b78dbf36bb637308e", UNCOMMITTED), // paper.json
    ("3254a3a79b25af5bdf9d63e3e7ea518733d8fdf6c0030823640644e52e11bd8f", UNCOMMITTED), // quick.json
    ("305e792031a64411ba6813b391ea07eb6f95327aa6235757e7f6016052b1cb2a", PARALLEL),    // league.json
];
const UNCOMMITTED: &str = "made by uncommitted code (e7b22d34b433-dirty), with runs beside each other";
const PARALLEL: &str = "made with runs beside each other, before summaries said how much that disturbs them";

const BEGIN: &str = "<!-- made by: ";
const END: &str = "<!-- end -->";

pub fn run(args: &ReadmeArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let (mut stale, mut notes) = (Vec::new(), BTreeSet::new());
    for path in pages(&args.file)? {
        let text = files::read_text(&path)?;
        let mut found = Vec::new();
        if let Action::Check = args.action {
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            found = problems(&text, folder, catalog).with_context(|| format!("in {}", path.display()))?;
        }
        if found.is_empty() {
            match (refresh(&text, &mut notes), &args.action) {
                (Err(error), _) => found.push(format!("{error:#}")),
                (Ok(fresh), Action::Refresh) => files::write_bytes(&path, fresh.as_bytes())?,
                (Ok(fresh), Action::Check) if fresh == text => {}
                _ => {
                    found.push(
                        "a generated part differs from the output of its command; run 'ssvm-bench readme refresh'"
                            .into(),
                    );
                }
            }
        }
        stale.extend(found.into_iter().map(|problem| format!("{}: {problem}", path.display())));
    }
    for line in &notes {
        note(line);
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("stale:\n  {}", stale.join("\n  "))
}

/// Set for the commands of made parts.
const PUBLISHING: &str = "SSVM_BENCH_PUBLISHING";

/// Whether this process makes a part of a page, so that what it reads must be fit to be published.
pub fn publishing() -> bool {
    std::env::var_os(PUBLISHING).is_some()
}

/// Fails when a summary must not be published. One that is an exception is noted.
pub fn publishable(path: &Path, summary: &Summary) -> anyhow::Result<()> {
    let digest = files::sha256_file(path)?;
    let name = path.display();
    if let Some((_, reason)) = EXCEPTIONS.iter().find(|(known, _)| *known == digest) {
        note(&format!("note: {name} is still an exception: {reason}"));
        return Ok(());
    }
    let mut objections = summary.objections();
    for commit in summary.origin.iter().flat_map(|origin| origin.commits.keys()) {
        if is_in_history(commit) == Some(false) {
            objections.push(format!("commit {commit} is not in the history of this repository"));
        }
    }
    if !objections.is_empty() {
        bail!("{name} cannot be published: {}; make it again with a committed program", objections.join("; "));
    }
    Ok(())
}

/// Whether a commit is an ancestor of the present one; `None` where that cannot be known: without git, outside a repository, or in
/// a clone without its history.
fn is_in_history(commit: &str) -> Option<bool> {
    let git = |words: &[&str]| Command::new("git").args(words).output().ok();
    let shallow = git(&["rev-parse", "--is-shallow-repository"])?;
    if !shallow.status.success() || shallow.stdout.starts_with(b"true") {
        return None;
    }
    Some(git(&["merge-base", "--is-ancestor", commit, "HEAD"])?.status.success())
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
        let (command, after) = part.split_once(" -->").context("a 'made by' comment is not closed")?;
        let content = after.split_once(END).with_context(|| format!("the part made by '{command}' has no '{END}'"))?.0;
        parts.push((command.trim(), content));
    }
    Ok(parts)
}

/// Commands of shell blocks; continued lines are joined.
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
    shlex::split(command).with_context(|| format!("'{command}' has a quote that is not closed"))
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
    match help::command().try_get_matches_from([&["ssvm-bench"][..], arguments].concat()) {
        Err(error) if error.use_stderr() => {
            let words: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
            let text = former::replaced(&error, &words, catalog).unwrap_or_else(|| error.to_string());
            bail!("'{command}' no longer parses: {}", text.lines().next().unwrap_or_default())
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
        // Only the file is checked, not the heading after `#`.
        let file = target.split('#').next().unwrap_or_default();
        if !file.starts_with("http") && !file.is_empty() && !folder.join(file).exists() {
            problems.push(format!("'{target}' is linked but missing"));
        }
    }
    Ok(problems)
}

/// The page with the output of its commands; what these noted is added to the set.
fn refresh(text: &str, notes: &mut BTreeSet<String>) -> anyhow::Result<String> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut fresh = text.to_owned();
    for (command, content) in made_parts(text)? {
        let words = words(command)?;
        let arguments = words.get(1..).unwrap_or_default();
        let mut child = Command::new(&program);
        let output = child.args(arguments).env(PUBLISHING, "1").output();
        let output = output.with_context(|| format!("cannot run {command}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            bail!("'{command}' failed:\n{said}");
        }
        notes.extend(said.lines().map(str::to_owned));
        let printed = String::from_utf8_lossy(&output.stdout);
        // Markdown output goes in as it is, everything else as a block.
        let markdown = |word: &String| ["markdown", "--index"].contains(&word.as_str());
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

    /// The list only shrinks: each exception is a file as it was committed, and when that is made again its row is to go.
    #[test]
    fn exceptions_are_files_that_were_published_before() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/summary");
        let files = files::list(&folder).expect("summaries");
        let digests: Vec<String> = files.iter().map(|path| files::sha256_file(path).expect("a digest")).collect();
        for (digest, reason) in EXCEPTIONS {
            assert!(digests.contains(&digest.to_owned()), "remove {digest} ({reason}): no summary has it any more");
        }
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
