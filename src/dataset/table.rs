//! The table of data sets: from a name such as `usps`, `libsvm:PATH` or `horseseg-synth:n=300` to a problem.
//! [`Standard`] lists all data sets, each with the files that it needs and its reader or generator.
//!
//! A table is [`Standard`], or a pair of a table and one more row of the caller's. A row describes its data set without
//! loading it ([`Described`]), and loads it ([`Loaded`]).

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use tempfile::NamedTempFile;

use super::error::Error;
use super::images::ImageSet;
use super::known::KnownSet;
use super::libsvm::LibsvmData;
use super::memory::{available_memory, require_memory};
use super::prepare::Recipe;
use super::program::ProgramProblem;
use super::request::{Argument, Request};
use super::twin::{Twin, TwinKind};
use super::{horseseg, images, letter_file, libsvm, npz, prepare, program, synth, usps};
use crate::Result;
use crate::store::files;
use crate::text::bytes;
use ssvm::data::GraphData;
use ssvm::data::letters::LetterData;
use ssvm::data::multiclass::{Features, MulticlassData};
use ssvm::problem::{
    BINARY_GRAPH, CHAIN, ChainProblem, Family, GraphProblem, MULTICLASS, MulticlassProblem, POTTS_GRAPH, Problem, Size,
};

/// The facts of a data set that do not depend on a request.
#[derive(Clone, Copy, Debug)]
pub struct DatasetInfo {
    /// The name on the command line, in configs and in result files, before any colon.
    pub name: &'static str,
    /// The heading of its figures when its name has no colon.
    pub title: &'static str,
    pub about: &'static str,
    pub argument: Argument,
    /// `None` when it depends on the file.
    pub family: Option<&'static Family>,
    /// Whether the claims of the paper about its family are checked on it.
    pub in_paper: bool,
    /// The real set that a synthetic one stands for.
    pub twin_of: Option<&'static str>,
    /// Files, official addresses and checksums of a public set.
    pub known: Option<&'static KnownSet>,
}

impl DatasetInfo {
    /// A set without argument and without facts; rows state only what differs.
    pub const PLAIN: Self = Self {
        name: "",
        title: "",
        about: "",
        argument: Argument::Parameters(&[]),
        family: None,
        in_paper: false,
        twin_of: None,
        known: None,
    };

    /// Whether the files that a request for it needs are on this machine.
    pub fn is_there(&self, request: &Request<'_>) -> bool {
        match (self.known, self.argument) {
            (Some(set), _) => request.data.locate(set).is_some(),
            (None, Argument::Path(_)) => request.path().is_ok_and(|path| path.exists()),
            (None, Argument::Program(_)) => program::program_file(request.argument()).is_some(),
            (None, Argument::Parameters(_)) => true,
        }
    }

    /// The form of its name: `libsvm:PATH`, `usps-synth[:n=…]`.
    pub fn usage(&self) -> String {
        let (Argument::Parameters(keys) | Argument::Path(keys) | Argument::Program(keys)) = self.argument;
        let keys = keys.iter().map(|key| format!("{key}=…")).collect::<Vec<_>>().join(",");
        let name = self.name;
        match (self.argument, keys.is_empty()) {
            (Argument::Parameters(_), true) => name.to_owned(),
            (Argument::Parameters(_), false) => format!("{name}[:{keys}]"),
            (Argument::Path(_), true) => format!("{name}:PATH"),
            (Argument::Path(_), false) => format!("{name}:PATH[,{keys}]"),
            (Argument::Program(_), _) => format!("{name}:PROGRAM[,{keys}] [ARGUMENTS]"),
        }
    }
}

/// The facts of a data set that plans and the scheduler need.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    pub size: Size,
    /// Memory of any run beside the data, in bytes: a few vectors as long as w, all φ^i, and what is kept per term.
    pub run_bytes: u64,
    pub family: &'static Family,
    /// Identity of the content: SHA-256 of the files, or of the generator's parameters.
    pub checksum: String,
}

/// The facts of a data set that are known without preparing anything and without starting a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Described {
    Known(Description),
    /// All facts, once its file is read.
    Unread,
    /// Fewer facts than a plan needs, until a run has done some work first.
    Pending {
        /// A description of the work: `prepare 327 images into PATH`.
        work: String,
        /// An estimate, if known.
        size: Option<Size>,
    },
}

/// A problem with its description: from a row, or from a harness that has bound it to its solvers.
#[derive(Clone)]
pub struct Loaded<P> {
    pub problem: P,
    pub description: Description,
    /// The ids, as in their file, of the features that weights belong to, where the file has ids that no example uses.
    pub features: Option<Arc<[u32]>>,
}

/// Bytes per term of any run beside its φ^i: its place in an order, its working set.
pub(super) const PER_TERM: u64 = 64;

impl<P: Problem> Loaded<P> {
    /// A problem whose data takes `bytes` of memory; `checksum` identifies its content.
    pub fn new(problem: P, bytes: u64, checksum: String) -> Self {
        let n = problem.terms() as u64;
        let description = Description {
            size: Size { n, d: problem.exported() as u64, bytes },
            run_bytes: problem.run_bytes().saturating_add(n.saturating_mul(PER_TERM)),
            family: problem.family(),
            checksum,
        };
        Self { problem, description, features: None }
    }
}

/// One row of a table: a data set and the problem made of it.
pub trait DatasetRow: Send + Sync + 'static {
    type Problem: Problem + Send + Sync + 'static;
    fn info(&self) -> DatasetInfo;
    /// Version of the problem, part of the identity of its stored runs: change it with every change of the oracle.
    /// `None` stands for the version of the program that contains it, so that every new build is a new version.
    fn version(&self) -> Option<String> {
        None
    }
    /// Reads or makes the data, and prepares it first if needed. The request has only parameters that the row has.
    fn load(&self, request: &Request<'_>) -> Result<Loaded<Self::Problem>>;
    /// Describes the data set without loading it. Writes nothing and starts no program.
    fn describe(&self, _request: &Request<'_>) -> Result<Described> {
        Ok(Described::Unread)
    }
}

/// Converts the problem of a row, whatever its type: the harness binds it to its solvers.
pub trait Bind {
    type Bound;
    fn bind<P: Problem + Send + Sync + 'static>(&self, problem: P) -> Self::Bound;
}

pub trait DatasetTable: Send + Sync + 'static {
    fn infos(&self) -> Vec<DatasetInfo>;
    /// [`DatasetRow::describe`] of the requested row; `None` when the table has no such row.
    fn describe(&self, request: &Request<'_>) -> Option<Result<Described>>;
    /// [`DatasetRow::load`] of the requested row, bound; `None` when the table has no such row.
    fn open<B: Bind>(&self, request: &Request<'_>, bind: &B) -> Option<Result<Loaded<B::Bound>>>;
}

/// Describes a data set before it is loaded, for a request that the row accepts.
fn describe(
    info: &DatasetInfo,
    request: &Request<'_>,
    row: impl FnOnce(&Request<'_>) -> Result<Described>,
) -> Result<Described> {
    request.check(info)?;
    row(request)
}

/// Fails if the data and their first run need more memory than is free, where that is known before they are made.
fn check_memory(request: &Request<'_>, described: &Described) -> Result<()> {
    let Described::Known(Description { size, run_bytes, .. }) = described else { return Ok(()) };
    let what = format!("data set '{}' with its first run needs", request.name);
    require_memory(size.bytes.saturating_add(*run_bytes), &what)
}

/// Checks the memory of a run in all cases, before φ^i are made.
fn bound<P, B: Bind>(request: &Request<'_>, loaded: Loaded<P>, bind: &B) -> Result<Loaded<B::Bound>>
where
    P: Problem + Send + Sync + 'static,
{
    let Loaded { problem, description, features } = loaded;
    request.check_pairwise(problem.family())?;
    let (name, n, d) = (request.name, problem.terms(), problem.dim());
    if n == 0 {
        return Err(Error::NoExample(name.to_owned()).into());
    }
    require_memory(description.run_bytes, &format!("a run on data set '{name}' with n = {n} and d = {d} needs"))?;
    Ok(Loaded { problem: bind.bind(problem), description, features })
}

impl<T: DatasetTable, R: DatasetRow> DatasetTable for (T, R) {
    fn infos(&self) -> Vec<DatasetInfo> {
        let info = self.1.info();
        let others = self.0.infos().into_iter().filter(|other| other.name != info.name);
        others.chain([info]).collect()
    }

    fn describe(&self, request: &Request<'_>) -> Option<Result<Described>> {
        let info = self.1.info();
        if info.name != request.head() {
            return self.0.describe(request);
        }
        Some(describe(&info, request, |request| self.1.describe(request)))
    }

    fn open<B: Bind>(&self, request: &Request<'_>, bind: &B) -> Option<Result<Loaded<B::Bound>>> {
        if self.1.info().name != request.head() {
            return self.0.open(request, bind);
        }
        let load = |described| {
            check_memory(request, &described)?;
            request.check_content(&self.1.info())?;
            bound(request, self.1.load(request)?, bind)
        };
        Some(self.describe(request)?.and_then(load))
    }
}

/// Data read from files, made by a generator, or served by a program.
enum AnyData {
    Multiclass(MulticlassData),
    Libsvm(LibsvmData),
    Chain(LetterData),
    Graph(GraphData),
    Program(Box<ProgramProblem>),
}

/// Returns data and the checksum of its content.
type Loader = fn(&Request<'_>) -> Result<(AnyData, String)>;

struct Row {
    info: DatasetInfo,
    describe: fn(&Request<'_>) -> Result<Described>,
    load: Loader,
}

impl Row {
    const fn new(info: DatasetInfo, load: Loader) -> Self {
        Self { info, describe: |_| Ok(Described::Unread), load }
    }

    /// A row for a public set of the paper.
    const fn public(
        known: &'static KnownSet,
        [title, about]: [&'static str; 2],
        family: &'static Family,
        load: Loader,
    ) -> Self {
        let (name, family, known) = (known.name, Some(family), Some(known));
        Self::new(DatasetInfo { name, title, about, family, in_paper: true, known, ..DatasetInfo::PLAIN }, load)
    }

    /// A row for a file of the user's own.
    const fn own(
        [name, title, about]: [&'static str; 3],
        family: Option<&'static Family>,
        keys: &'static [&'static str],
        load: Loader,
    ) -> Self {
        let argument = Argument::Path(keys);
        Self::new(DatasetInfo { name, title, about, argument, family, ..DatasetInfo::PLAIN }, load)
    }

    const fn twin(kind: TwinKind, [name, title, real, about]: [&'static str; 4]) -> Self {
        let (argument, family) = (Argument::Parameters(&["n", "size", "seed"]), Some(kind.family()));
        let (twin_of, in_paper) = (Some(real), true);
        let info = DatasetInfo { name, title, about, argument, family, in_paper, twin_of, known: None };
        Self { info, describe: |request| Ok(Described::Known(twin_asked(request)?.describe())), load: generate }
    }

    fn open<B: Bind>(&self, request: &Request<'_>, bind: &B) -> Result<Loaded<B::Bound>> {
        check_memory(request, &describe(&self.info, request, self.describe)?)?;
        request.check_content(&self.info)?;
        let (data, checksum) = (self.load)(request)?;
        match data {
            AnyData::Multiclass(data) => bound(request, multiclass(request, data, checksum)?, bind),
            AnyData::Libsvm(LibsvmData { data, ids }) => {
                let loaded = multiclass(request, data, checksum)?;
                bound(request, Loaded { features: ids.map(Arc::from), ..loaded }, bind)
            }
            AnyData::Chain(data) => {
                // A letter takes 128 bits and a label.
                let (lambda, bytes) = (request.lambda_for(data.len())?, 17 * data.labels.len() as u64);
                bound(request, Loaded::new(ChainProblem::new(Arc::new(data), lambda), bytes, checksum), bind)
            }
            AnyData::Graph(data) => {
                let (lambda, bytes) = (request.lambda_for(data.len())?, data.features.bytes() + 8 * data.edges.len());
                let pairwise = request.pairwise_weight.unwrap_or(data.pairwise_weight);
                let problem = GraphProblem::new(Arc::new(data), lambda, pairwise)?;
                bound(request, Loaded::new(problem, bytes as u64, checksum), bind)
            }
            AnyData::Program(problem) => bound(request, Loaded::new(*problem, 0, checksum), bind),
        }
    }
}

fn multiclass(request: &Request<'_>, data: MulticlassData, checksum: String) -> Result<Loaded<MulticlassProblem>> {
    let bytes = match &data.features {
        Features::Dense(values) => 8 * values.len(),
        Features::Sparse { values, .. } => 12 * values.len(),
    };
    let lambda = request.lambda_for(data.len())?;
    Ok(Loaded::new(MulticlassProblem::new(Arc::new(data), lambda), bytes as u64, checksum))
}

/// The data of one file, with the checksum of the file. The file is read twice, and a pipe gives its content only once.
fn of_file<T>(path: &Path, read: impl Fn(&Path) -> Result<T>, data: fn(T) -> AnyData) -> Result<(AnyData, String)> {
    if !files::is_pipe(path) {
        return Ok((data(read(path)?), files::sha256_file(path)?));
    }
    let copy = copy_of_pipe(path)?;
    let content = read(copy.path()).map_err(|error| error.at(path))?;
    Ok((data(content), files::sha256_file(copy.path())?))
}

/// Copies the content of a pipe to a temporary file. Data larger than the free memory is refused before it fills the
/// disk.
fn copy_of_pipe(path: &Path) -> Result<NamedTempFile> {
    let wrong = || crate::Error::io("copy what comes from", path);
    let most = available_memory().unwrap_or(u64::MAX - 1);
    let mut copy = NamedTempFile::new().map_err(wrong())?;
    let mut stream = files::open_input(path).map_err(crate::Error::io("read", path))?.take(most + 1);
    if io::copy(&mut stream, &mut copy).map_err(wrong())? > most {
        let message = format!("sends more than the {} of memory that is free", bytes(most));
        return Err(crate::Error::file(path, message));
    }
    Ok(copy)
}

/// Reads the words of a letter file, all or those of one fold.
fn words(path: &Path, request: &Request<'_>) -> Result<(AnyData, String)> {
    let fold = request.count("fold", 0..=999)?;
    let (data, content) = of_file(path, |path| letter_file::read(path, fold), AnyData::Chain)?;
    let checksum = fold.map(|fold| files::sha256_hex(format!("{content} fold {fold}").as_bytes()));
    Ok((data, checksum.unwrap_or(content)))
}

/// The graphs of an image set, which are prepared first if needed.
fn images_of(request: &Request<'_>) -> Result<(AnyData, String)> {
    let set = ImageSet::from_name(request.head())?;
    of_file(&prepare::prepared(set, request.data, &Recipe::default(), None)?.0, npz::read_graph, AnyData::Graph)
}

fn twin_asked(request: &Request<'_>) -> Result<Twin> {
    let kind = match request.head() {
        "usps-synth" => TwinKind::Usps,
        "ocr-synth" => TwinKind::Ocr,
        "horseseg-synth" => TwinKind::Horseseg,
        _ => TwinKind::Stanford,
    };
    Twin::of(kind, request)
}

fn generate(request: &Request<'_>) -> Result<(AnyData, String)> {
    let twin = twin_asked(request)?;
    let data = match twin.kind {
        TwinKind::Usps => AnyData::Multiclass(synth::usps(&twin)),
        TwinKind::Ocr => AnyData::Chain(synth::ocr(&twin)),
        TwinKind::Horseseg => AnyData::Graph(synth::horses(&twin)),
        TwinKind::Stanford => AnyData::Graph(synth::scenes(&twin)),
    };
    Ok((data, twin.checksum()))
}

const OCR: Row = Row::public(
    &letter_file::FILES,
    ["OCR", "OCR words: 26 letters of 128 pixels, chains; all words, or one of the folds 0 to 9"],
    &CHAIN,
    |request| words(&request.data.require(&letter_file::FILES)?, request),
);
const HORSES: Row = Row::public(
    &images::HORSES,
    ["HorseSeg (Weizmann horses)", "Weizmann horses: images, binary segmentation"],
    &BINARY_GRAPH,
    images_of,
);
const STANFORD: Row =
    Row::public(&images::STANFORD, ["Stanford", "Stanford Background: images, 8 classes"], &POTTS_GRAPH, images_of);

// The order of tables and figures: real before synthetic, in the paper's order.
static ROWS: [Row; 13] = [
    Row::public(&usps::FILES, ["USPS", "USPS digits: 10 classes, 256 pixels, multiclass"], &MULTICLASS, |request| {
        of_file(&request.data.require(&usps::FILES)?, usps::read, AnyData::Multiclass)
    }),
    Row::twin(TwinKind::Usps, ["usps-synth", "USPS twin", "usps", "synthetic twin of USPS: size = pixels"]),
    Row { info: DatasetInfo { argument: Argument::Parameters(&["fold"]), ..OCR.info }, ..OCR },
    Row::twin(TwinKind::Ocr, ["ocr-synth", "OCR twin", "ocr", "synthetic twin of OCR: size = mean word length"]),
    Row { describe: prepare::describe, ..HORSES },
    Row::public(
        &horseseg::HORSESEG,
        ["HorseSeg", "HorseSeg (HDSeg): superpixel features, binary segmentation"],
        &BINARY_GRAPH,
        |request| of_file(&request.data.require(&horseseg::HORSESEG)?, horseseg::read_graph, AnyData::Graph),
    ),
    Row::twin(
        TwinKind::Horseseg,
        [
            "horseseg-synth",
            "HorseSeg twin",
            "horseseg",
            "synthetic twin of HorseSeg and horses: size = side of the grid of superpixels",
        ],
    ),
    Row { describe: prepare::describe, ..STANFORD },
    Row::twin(
        TwinKind::Stanford,
        [
            "stanford-synth",
            "Stanford twin",
            "stanford",
            "synthetic twin of Stanford Background: size = side of the grid of superpixels",
        ],
    ),
    Row::own(["libsvm", "LIBSVM file", "your own LIBSVM file: multiclass"], Some(&MULTICLASS), &[], |request| {
        of_file(&request.path()?, libsvm::read, AnyData::Libsvm)
    }),
    Row::own(
        ["letters", "letter file", "your own words in the letter.data layout: chains"],
        Some(&CHAIN),
        &["fold"],
        |request| words(&request.path()?, request),
    ),
    Row::own(
        ["graph", "graph file", "your own labelled graphs (NumPy .npz): min-cut for two labels, α-expansion for more"],
        None,
        &[],
        |request| of_file(&request.path()?, npz::read_graph, AnyData::Graph),
    ),
    Row {
        info: DatasetInfo {
            name: "oracle",
            title: "oracle program",
            about: "any program that answers max-oracle calls: docs/oracle-programs.md",
            argument: Argument::Program(&program::KEYS),
            family: Some(&program::PROGRAM),
            ..DatasetInfo::PLAIN
        },
        describe: program::describe,
        load: |request| program::open(request).map(|(problem, checksum)| (AnyData::Program(problem.into()), checksum)),
    },
];

/// The data sets of this crate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl Standard {
    fn row(request: &Request<'_>) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.info.name == request.head())
    }
}

impl DatasetTable for Standard {
    fn infos(&self) -> Vec<DatasetInfo> {
        ROWS.iter().map(|row| row.info).collect()
    }

    fn describe(&self, request: &Request<'_>) -> Option<Result<Described>> {
        Self::row(request).map(|row| describe(&row.info, request, row.describe))
    }

    fn open<B: Bind>(&self, request: &Request<'_>, bind: &B) -> Option<Result<Loaded<B::Bound>>> {
        Self::row(request).map(|row| row.open(request, bind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_complete_and_distinct() {
        let infos = Standard.infos();
        for (at, info) in infos.iter().enumerate() {
            assert!(!info.name.is_empty() && !info.title.is_empty() && !info.about.is_empty(), "{}", info.name);
            assert!(infos[..at].iter().all(|other| other.name != info.name));
            assert!(!info.in_paper || info.family.is_some_and(|family| family.paper.is_some()), "{}", info.name);
            if let Some(real) = info.twin_of {
                assert!(infos.iter().any(|other| other.name == real), "{}", info.name);
            }
        }
    }
}
