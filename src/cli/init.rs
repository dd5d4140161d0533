//! `init`: what one wants to measure in, a commented config out.

use std::path::PathBuf;

use anyhow::bail;

use super::{note, print};
use crate::dataset::{DataDir, Request};
use crate::experiment::catalog::Catalog;
use crate::store::files;
use ssvm::solver::SolverInfo;

/// Write a commented config for one's own data or solver
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench init mine.toml --dataset libsvm:digits.txt --solver bcfw --solver mp-bcfw\n  \
    ssvm-bench reproduce --config mine.toml"
)]
pub struct InitArgs {
    /// The config to write; - prints it
    file: PathBuf,
    /// Data sets to measure on; repeatable
    #[arg(long, value_name = "D", default_value = "usps-synth:n=1000")]
    dataset: Vec<String>,
    /// Solvers to compare; repeatable [default: all]
    #[arg(long, value_name = "S")]
    solver: Vec<String>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

pub fn run(args: &InitArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let stream = files::is_stream(&args.file);
    if args.file.exists() && !stream && !args.force {
        bail!("{} is there already; --force replaces it", args.file.display());
    }
    let data = DataDir::resolve(None);
    for name in &args.dataset {
        let request = Request::new(name, &data);
        if catalog.dataset(request.head()).is_none() {
            catalog.describe(&request)?;
        }
    }
    let solvers: Vec<&SolverInfo> = if args.solver.is_empty() {
        catalog.solvers().iter().collect()
    } else {
        args.solver.iter().map(|name| SolverInfo::find(catalog.solvers(), name)).collect::<Result<_, _>>()?
    };
    let name = args.file.file_stem().filter(|_| !stream).unwrap_or("mine".as_ref()).to_string_lossy();
    files::write_bytes(&args.file, text(&name, &args.dataset, &solvers).as_bytes())?;
    if stream {
        return Ok(());
    }
    note(&format!("try it: ssvm-bench plan --config {0}; ssvm-bench reproduce --config {0}", args.file.display()));
    print(&format!("{}\n", args.file.display()))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn text(name: &str, datasets: &[String], solvers: &[&SolverInfo]) -> String {
    let mut text = include_str!("init.toml").replace("\"NAME\"", &quoted(name));
    for dataset in datasets {
        text += &format!("\n[[dataset]]\nname = {}\n# lambda = 0.001            # 1/n unless given\n", quoted(dataset));
        text += "# [dataset.budget]          # replaces keys of [budget] for this data set\n# time_s = 60\n";
    }
    for info in solvers {
        text += &format!("\n# {}\n[[solver]]\nname = {}\n", info.about, quoted(info.name));
        for param in info.params {
            let default =
                if param.default.parse::<f64>().is_ok() { param.default.into() } else { quoted(param.default) };
            text += &format!("# {} = {default}  # {} ({})\n", param.key, param.about, param.domain.words());
        }
    }
    text
}
