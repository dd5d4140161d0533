//! `completions` and `man`: what clap knows of the command line, for shells and for `man`.

use std::path::PathBuf;

use super::print;
use crate::store::files;

/// Print completions for a shell
///
/// Put them where your shell looks for completions, or evaluate them in its start-up file.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench completions bash > ~/.local/share/bash-completion/completions/ssvm-bench"
)]
pub struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Write man pages, one per command
///
/// Prints the path of each page. The folder is created if it does not exist.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder for the pages
    out: PathBuf,
}

/// Runs `completions`.
pub fn completions(args: &CompletionsArgs, mut command: clap::Command) -> anyhow::Result<()> {
    let mut text = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Runs `man`; prints the files it wrote.
pub fn man(args: &ManArgs, mut command: clap::Command) -> anyhow::Result<()> {
    command.build();
    let mut pages = vec![(command.get_name().to_owned(), command.clone())];
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("{}-{}", command.get_name(), sub.get_name());
        pages.push((name.clone(), sub.clone().display_name(name)));
    }
    for (name, command) in pages {
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        let path = args.out.join(format!("{name}.1"));
        files::write_bytes(&path, &text)?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
