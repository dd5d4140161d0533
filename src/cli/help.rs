//! The help of the program: commands in groups, the common ones first, and examples that call it by its own name.

use clap::CommandFactory;

use super::Cli;
use super::terminal::{other_name, renamed};

/// The commands of the help; all others are hidden.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Common commands", &["reproduce", "run", "solve", "show", "report"]),
    ("Results", &["figures", "compare", "check", "advise"]),
    ("Data, configs and machines", &["data", "list", "init", "cluster"]),
];

/// It works on a fresh machine with only the program installed.
const EXAMPLE: &str = "Example: ssvm-bench reproduce smoke --out results/smoke";

/// What the version of another program is that of.
const LIBRARY: &str = concat!("(ssvm-bench ", env!("CARGO_PKG_VERSION"), ")");

/// The command line of this program. A caller's program is named as its executable.
pub fn command() -> clap::Command {
    match other_name() {
        Some(name) => with_name(standard(), name).name(name).version(LIBRARY),
        None => standard(),
    }
}

/// Its first screen has 24 lines of 80 columns; `--help` adds the options of all commands.
fn standard() -> clap::Command {
    let command = Cli::command();
    let mut template = "{about}\n{usage-heading} {usage}\n\n".to_owned();
    for (title, names) in GROUPS {
        template += &format!("{title}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            template += &format!("  {name:<10} {}\n", about.map(ToString::to_string).unwrap_or_default());
        }
    }
    command.help_template(template + "Options:\n{options}{after-help}").after_help(EXAMPLE)
}

fn with_name(mut command: clap::Command, name: &str) -> clap::Command {
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(renamed(&text, name));
    }
    command.mut_subcommands(|one| with_name(one, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command with its path.
    fn all(command: &clap::Command, path: &str, found: &mut Vec<(String, clap::Command)>) {
        for sub in command.get_subcommands() {
            let path = format!("{path} {}", sub.get_name());
            found.push((path.clone(), sub.clone()));
            all(sub, &path, found);
        }
    }

    #[test]
    fn the_first_screen_fits() {
        let text = standard().term_width(80).render_help().to_string();
        assert!(text.lines().count() <= 24 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn every_command_that_is_not_hidden_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = standard();
        let mut shown: Vec<&str> =
            command.get_subcommands().filter(|c| !c.is_hide_set()).map(|c| c.get_name()).collect();
        grouped.sort_unstable();
        shown.sort_unstable();
        assert_eq!(grouped, shown);
    }

    /// tests/suite/examples.rs executes them.
    #[test]
    fn every_command_has_a_line_and_an_example_that_parses() {
        let mut found = Vec::new();
        all(&standard(), "", &mut found);
        for (path, sub) in found {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && !about.ends_with('.'), "{path}: {about:?}");
            assert!(sub.get_long_about().is_some(), "{path} has no paragraph");
            let text = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            let (_, examples) = text.split_once("Example:\n").unwrap_or_else(|| panic!("{path} has no example"));
            for line in examples.lines() {
                let line = line.split(" > ").next().unwrap_or_default();
                let words = shlex::split(line).expect("closed quotes");
                if let Err(error) = standard().try_get_matches_from(&words) {
                    panic!("{path}: {line}\n{error}");
                }
            }
        }
    }
}
