//! Former names of commands and options, each with its replacement. Using one is an error that names the replacement; there are no
//! aliases.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::experiment::catalog::Catalog;

const COMMANDS: [(&str, &str); 9] = [
    ("plan", "`run CONFIG --dry-run`, and with shards `cluster plan CONFIG --shards N`"),
    ("claims", "`show RESULTS claims`"),
    ("profile", "`show RESULTS oracle`"),
    ("league", "`show RESULTS league`, and for the times to gaps `show RESULTS targets`"),
    ("breakeven", "`show RESULTS cost`"),
    ("merge", "`cluster merge DIR… --out DIR`"),
    ("slurm", "`cluster submit` and `cluster status`"),
    ("oracle", "`data test ORACLE`"),
    ("optimum", "`data optimum DATASET`"),
];

/// Former options, by the command that had them or where a user would look for them now.
const OPTIONS: [(&str, &str, &str); 13] = [
    ("run", "--split", "`cluster plan CONFIG --shards N --write`"),
    ("report", "--out", "`--output FILE`"),
    ("data", "--out", "`--output FILE`"),
    ("figures", "--solvers", "`--only '*/SOLVER'`"),
    ("compare", "--cell", "`--only DATASET/SOLVER`"),
    ("check", "--save-baseline", "`--save FILE`"),
    ("show", "--tables", "`--out DIR`"),
    ("show", "--dataset", "`--only DATASET`"),
    ("show", "--thresholds", "`--part thresholds`"),
    ("cluster", "--split", "`cluster plan CONFIG --shards N --write`"),
    ("cluster", "--config", "an argument: `cluster plan CONFIG`"),
    ("reproduce", "--config", "an argument: `reproduce CONFIG…`"),
    ("run", "--config", "an argument: `run CONFIG…`"),
];

/// A message that names the replacement of a command or option that clap does not know, if it is a former one.
pub fn replaced(error: &clap::Error, words: &[String], catalog: &dyn Catalog) -> Option<String> {
    let name = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.as_str()),
        _ => None,
    };
    let command = words.iter().map(String::as_str).find(|word| is_command(word))?;
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let given = name(ContextKind::InvalidSubcommand).filter(|given| *given == command)?;
            let (_, now) = COMMANDS.iter().find(|(former, _)| *former == given)?;
            Some(format!("'{given}' is now {now}"))
        }
        ErrorKind::UnknownArgument => {
            let given = name(ContextKind::InvalidArg)?.split([' ', '=']).next()?;
            if let Some((_, _, now)) = OPTIONS.iter().find(|(of, former, _)| *of == command && *former == given) {
                return Some(format!("'{command} {given}' is now {now}"));
            }
            let key = given.strip_prefix("--").filter(|_| command == "solve")?;
            let known = catalog.solvers().iter().flat_map(|info| info.params).any(|param| param.key == key);
            known.then(|| format!("'solve {given} VALUE' is now `--set {key}=VALUE`"))
        }
        ErrorKind::InvalidValue if command == "show" => {
            let option = name(ContextKind::InvalidArg)?;
            let given = name(ContextKind::InvalidValue)
                .filter(|given| option.starts_with("--format") && PARTS.contains(given))?;
            Some(format!("'{given}' is a part of a view and not a format; write `--part {given}`"))
        }
        _ => None,
    }
}

/// Parts of the views of `show` that users have taken for formats.
const PARTS: [&str; 4] = ["matrix", "thresholds", "verdicts", "winners"];

fn is_command(word: &str) -> bool {
    COMMANDS.iter().any(|(name, _)| *name == word)
        || OPTIONS.iter().any(|(name, _, _)| *name == word)
        || word == "solve"
}
