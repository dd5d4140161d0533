//! `report RESULTS`: a result folder in, one HTML page out.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::claims;
use crate::frame::load::Results;
use crate::frame::profile;
use crate::report::{self, Input};

/// Write one self-contained HTML page about a result folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench report results/quick --out quick.html")]
pub struct ReportArgs {
    /// Result folder
    pub results: PathBuf,
    /// The page [default: RESULTS/report.html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Runs the command; prints the file it wrote.
pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    println!("{}", write(args)?.display());
    Ok(())
}

/// Writes the page; returns its path.
pub fn write(args: &ReportArgs) -> anyhow::Result<PathBuf> {
    let results = Results::open(&args.results)?;
    results.warnings().iter().for_each(|line| eprintln!("warning: {line}"));
    let profile = profile::profile(&results.records, &results.frames)?;
    let claims = claims::check(&results.frames, &profile)?;
    // The last config names the results better than a folder does.
    let folder = args.results.file_name().unwrap_or(args.results.as_os_str()).to_string_lossy();
    let name = results.manifest.configs.last().map_or(folder.as_ref(), |config| config.name.as_str());
    let html = report::html(&Input {
        name,
        frames: &results.frames,
        profile: &profile,
        claims: &claims,
        manifest: &results.manifest,
        damaged: &results.damaged,
    })?;
    let out = args.out.clone().unwrap_or_else(|| args.results.join("report.html"));
    std::fs::write(&out, html).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(out)
}
