//! Errors of gates.

use super::{CellKey, Metric};
use ssvm::stats::FEWEST_PAIRS;

/// What to do about a baseline that cannot be read.
const AGAIN: &str = "correct the file, or make it again with `ssvm-bench check RESULTS --save FILE`";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the baseline does not exist; make it with `ssvm-bench check RESULTS --save FILE`")]
    NoBaseline,
    #[error("not a baseline: {0}; {AGAIN}")]
    NotABaseline(String),
    #[error("the baseline has layout {found}, but this program reads layout {read}; {AGAIN}")]
    Layout { found: u32, read: u32 },
    #[error(
        "made with version {found} of the virtual clock's cost model, but this program has version {here}, so no number can be \
         compared; make it again with `ssvm-bench run {config} --out RESULTS`, then \
         `ssvm-bench check RESULTS --instructions --save {file}`"
    )]
    CostModel { found: u32, here: u32, config: String, file: String },
    #[error(
        "{run} was made with {} of the virtual clock's cost model, but this program has version {here}, so no number can be \
         compared or saved; make the runs again with `ssvm-bench run {config} --out RESULTS --prune`",
        found.map_or("no version".to_owned(), |found| format!("version {found}"))
    )]
    RunCostModel { run: String, found: Option<u32>, here: u32, config: String },
    #[error("{0} has values but no line of inputs; {AGAIN}")]
    NoInputs(CellKey),
    #[error("{cell} has two lines of {what}; {AGAIN}")]
    TwoLines { cell: CellKey, what: String },
    #[error("{cell} has no number for {metric}; {AGAIN}")]
    NoNumber { cell: CellKey, metric: Metric },
    #[error("{cell} has {values} values for {repeats} repeats of {metric}; {AGAIN}")]
    Repeats { cell: CellKey, metric: Metric, values: usize, repeats: usize },
    #[error("{cell} #{repeat} has no {metric}: a failed run cannot be a baseline; run it again")]
    Unmeasured { cell: CellKey, repeat: usize, metric: Metric },
    #[error("--update {name}: no such data set and solver; known: {known}")]
    UnknownCell { name: String, known: String },
    #[error(
        "{run} was timed with the {clock} clock; the counters are only repeatable under `clock = \"virtual\"`, as in \
         configs/ci.toml. To compare timings use `ssvm-bench compare`"
    )]
    Noisy { run: String, clock: &'static str },
    #[error(
        "the results hold repeat {repeat} of {cell} twice, with another λ, or other budgets, data, clocks, cost models or seeds; gates compare one of \
         each: give them a config and a folder of their own (`ssvm-bench run --prune` moves the runs of other configs away)"
    )]
    Twice { cell: CellKey, repeat: u64 },
    #[error("no build and no commit is called '{revision}'; name the file of a build, or a commit, branch or tag")]
    NoRevision { revision: String },
    #[error("commit {commit} does not build ({status}); the messages of Cargo are above")]
    NotBuilt { commit: String, status: std::process::ExitStatus },
    #[error("`git {command}` failed: {message}")]
    Git { command: String, message: String },
    #[error("the two folders have no data set and solver in common")]
    NothingInCommon,
    #[error("{0} rounds are too few; use at least {FEWEST_PAIRS}")]
    FewRounds(usize),
    #[error("{0}: a run took no CPU time; use a larger one")]
    NoTime(CellKey),
    #[error("`solve` ended with {status}: {message}")]
    Solve { status: std::process::ExitStatus, message: String },
    #[error("its `solve --format json` ends without a summary ({reason}): {line}")]
    NoSummary { reason: serde_json::Error, line: String },
    #[error("callgrind counted no instructions of solver work; build the program with debug symbols")]
    NothingCounted,
}
