//! From a name such as `usps`, `libsvm:PATH` or `horseseg-synth:n=300` to a problem.
//!
//! A [`Request`] finds its [`DatasetRow`] by name. The row describes the data set without loading it ([`Described`]), and
//! loads it ([`Loaded`]). A table of rows is [`Standard`], or a pair of a table and one more row.

use std::path::PathBuf;

use super::error::{ArgumentError, Error};
use super::known::{DataDir, KnownSet};
use super::memory::require_memory;
use super::{horseseg, images, letter_file, libsvm, npz, program, twin, usps};
use crate::Result;
use ssvm::problem::{Family, Problem, Size};

/// The name of a data set as written, split at its first colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatasetName<'a> {
    /// Finds the row.
    pub head: &'a str,
    /// What the row reads; empty without a colon.
    pub argument: &'a str,
}

impl<'a> From<&'a str> for DatasetName<'a> {
    fn from(text: &'a str) -> Self {
        let (head, argument) = text.split_once(':').unwrap_or((text, ""));
        Self { head, argument }
    }
}

/// What follows the name of a set after a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// `key=value,…` with these keys; may be left out.
    Parameters(&'static [&'static str]),
    /// A file, then perhaps `,key=value` with these keys.
    Path(&'static [&'static str]),
    /// A program, then perhaps `,key=value` with these keys, then its own arguments.
    Program(&'static [&'static str]),
}

/// The facts of a data set that do not depend on a request.
#[derive(Clone, Copy, Debug)]
pub struct DatasetInfo {
    /// The name on the command line, in configs and in result files, before any colon.
    pub name: &'static str,
    /// The heading of its figures when it is named without a colon.
    pub title: &'static str,
    pub about: &'static str,
    pub argument: Argument,
    /// `None` when it depends on the file.
    pub family: Option<&'static Family>,
    /// Whether the claims of the paper about its family are checked on it.
    pub in_paper: bool,
    /// The real set it stands for, when it is a synthetic one.
    pub twin_of: Option<&'static str>,
    /// Files, official addresses and checksums, when it is a public one.
    pub known: Option<&'static KnownSet>,
}

impl DatasetInfo {
    /// A set without argument and without facts; rows override what they have.
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

    /// A public set of the paper.
    pub(super) const fn public(
        known: &'static KnownSet,
        title: &'static str,
        about: &'static str,
        family: &'static Family,
    ) -> Self {
        let (name, family, known) = (known.name, Some(family), Some(known));
        Self { name, title, about, family, in_paper: true, known, ..Self::PLAIN }
    }

    /// Whether the files that a request for it needs are on this machine.
    pub fn is_there(&self, request: &Request<'_>) -> bool {
        match (self.known, self.argument) {
            (Some(set), _) => request.data.locate(set).is_some(),
            (None, Argument::Path(_)) => request.path().is_ok_and(|path| path.exists()),
            (None, Argument::Program(_)) => program::program_file(request.argument()).is_some(),
            (None, Argument::Parameters(_)) => true,
        }
    }

    /// How it is written: `libsvm:PATH`, `usps-synth[:n=…]`.
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

/// A data set as a user asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// As written, see [`DatasetName`].
    pub name: &'a str,
    pub data: &'a DataDir,
    /// 1/n when absent.
    pub lambda: Option<f64>,
    /// The data set's own when absent.
    pub pairwise_weight: Option<f64>,
}

impl<'a> Request<'a> {
    pub fn new(name: &'a str, data: &'a DataDir) -> Self {
        Self { name, data, lambda: None, pairwise_weight: None }
    }

    pub fn head(&self) -> &'a str {
        DatasetName::from(self.name).head
    }

    pub(super) fn argument(&self) -> &'a str {
        DatasetName::from(self.name).argument
    }

    /// λ for n terms.
    pub fn lambda_for(&self, n: usize) -> Result<f64> {
        if n == 0 {
            return Err(Error::NoExample(self.name.to_owned()).into());
        }
        let lambda = self.lambda.unwrap_or(1.0 / n as f64);
        if lambda.is_finite() && lambda > 0.0 {
            return Ok(lambda);
        }
        Err(Error::Setting { what: "lambda", expected: "positive and finite", value: lambda.to_string() }.into())
    }

    pub fn path(&self) -> Result<PathBuf> {
        let path = self.split_path().0;
        if path.is_empty() {
            return Err(Error::NoPath { name: self.name.to_owned(), head: self.head().to_owned() }.into());
        }
        Ok(PathBuf::from(path))
    }

    /// The path, and the `key=value` parts after it: the longest tail in which every part looks like one.
    fn split_path(&self) -> (&'a str, &'a str) {
        let text = self.argument();
        let mut end = text.len();
        for (comma, _) in text.rmatch_indices(',') {
            let part = &text[comma + 1..end];
            let word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
            if !part.split_once('=').is_some_and(|(key, value)| word(key) && word(value)) {
                break;
            }
            end = comma;
        }
        (&text[..end], text[end..].trim_start_matches(','))
    }

    /// A whole number given as `key=value`, in this range.
    pub fn count(&self, key: &str, range: std::ops::RangeInclusive<u64>) -> Result<Option<u64>> {
        let text = if self.argument().contains('/') { self.split_path().1 } else { self.argument() };
        let given = text.split(',').filter_map(|part| part.split_once('='));
        let Some((_, given)) = given.into_iter().find(|(name, _)| *name == key) else { return Ok(None) };
        given.parse().ok().filter(|count| range.contains(count)).map(Some).ok_or_else(|| {
            let expected = format!("a whole number {} to {}", range.start(), range.end());
            self.wrong(ArgumentError::value(key, given, expected)).into()
        })
    }

    fn wrong(&self, wrong: ArgumentError) -> Error {
        Error::Argument { name: self.name.to_owned(), wrong }
    }

    /// Refuses parameters and overrides that the row does not have.
    fn check(&self, info: &DatasetInfo) -> Result<()> {
        let (keys, text) = match info.argument {
            Argument::Parameters(keys) => (keys, self.argument()),
            Argument::Path(keys) => (keys, self.split_path().1),
            // The row splits its own command line: arguments of a program may have any form.
            Argument::Program(keys) => (keys, ""),
        };
        let parts = text.split(',').filter(|part| !part.is_empty());
        ArgumentError::check(parts, keys).map_err(|wrong| self.wrong(wrong))?;
        info.family.map_or(Ok(()), |family| self.check_pairwise(family))
    }

    fn check_pairwise(&self, family: &Family) -> Result<()> {
        let Some(weight) = self.pairwise_weight else { return Ok(()) };
        if !family.pairwise {
            return Err(Error::NoPairwiseWeight { name: self.name.to_owned(), family: family.name }.into());
        }
        if weight.is_finite() && weight >= 0.0 {
            return Ok(());
        }
        let expected = "finite and not negative";
        Err(Error::Setting { what: "pairwise_weight", expected, value: weight.to_string() }.into())
    }
}

/// What a plan and the scheduler need to know of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    pub size: Size,
    /// Bytes that any run takes beside the data: w in a few places, all φ^i, what is kept per term.
    pub run_bytes: u64,
    pub family: &'static Family,
    /// Identity of the content: SHA-256 of the files, or of the generator's parameters.
    pub checksum: String,
}

/// What is known of a data set without preparing anything and without starting a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Described {
    Known(Description),
    /// Everything once its file is read.
    Unread,
    /// Less than a plan needs, until a run has done some work first.
    Pending {
        /// The work, for people: `prepare 327 images into PATH`.
        work: String,
        /// An estimate, if there is one.
        size: Option<Size>,
    },
}

/// A problem with its description: from a row, or from a harness that has bound it to its solvers.
#[derive(Clone)]
pub struct Loaded<P> {
    pub problem: P,
    pub description: Description,
}

/// Bytes that any run takes per term beside its φ^i: its place in an order, its working set.
pub(super) const PER_TERM: u64 = 64;

impl<P: Problem> Loaded<P> {
    /// A problem whose data take `bytes` of memory; `checksum` identifies their content.
    pub fn new(problem: P, bytes: u64, checksum: String) -> Self {
        let n = problem.terms() as u64;
        let description = Description {
            size: Size { n, d: problem.exported() as u64, bytes },
            run_bytes: problem.run_bytes().saturating_add(n.saturating_mul(PER_TERM)),
            family: problem.family(),
            checksum,
        };
        Self { problem, description }
    }
}

/// One row of a table: a data set and the problem made of it.
pub trait DatasetRow: Send + Sync + 'static {
    type Problem: Problem + Send + Sync + 'static;
    fn info(&self) -> DatasetInfo;
    /// Version of the problem, part of the identity of its stored runs: change it with every change of the oracle. `None` is
    /// the version of the program that holds it, so that every new build is a new version.
    fn version(&self) -> Option<String> {
        None
    }
    /// Reads or makes the data, preparing them first where that is needed. The request has only parameters that the row
    /// has.
    fn load(&self, request: &Request<'_>) -> Result<Loaded<Self::Problem>>;
    /// What is known without loading. Writes nothing and starts no program.
    fn describe(&self, _request: &Request<'_>) -> Result<Described> {
        Ok(Described::Unread)
    }
}

/// A row of this crate.
pub struct Row<P: 'static> {
    pub info: DatasetInfo,
    pub load: fn(&Request<'_>) -> Result<Loaded<P>>,
    pub describe: fn(&Request<'_>) -> Result<Described>,
}

impl<P> Row<P> {
    /// A row that knows nothing before its file is read.
    pub const fn file(info: DatasetInfo, load: fn(&Request<'_>) -> Result<Loaded<P>>) -> Self {
        Self { info, load, describe: |_| Ok(Described::Unread) }
    }
}

impl<P: Problem + Send + Sync> DatasetRow for Row<P> {
    type Problem = P;

    fn info(&self) -> DatasetInfo {
        self.info
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<P>> {
        (self.load)(request)
    }

    fn describe(&self, request: &Request<'_>) -> Result<Described> {
        (self.describe)(request)
    }
}

/// What becomes of the problem of a row, whatever its type: the harness binds it to its solvers.
pub trait Bind {
    type Bound;
    fn bind<P: Problem + Send + Sync + 'static>(&self, problem: P) -> Self::Bound;
}

pub trait DatasetTable: Send + Sync + 'static {
    fn infos(&self) -> Vec<DatasetInfo>;
    /// [`DatasetRow::describe`] of the row that is asked for; `None` when the table has no such row.
    fn describe(&self, request: &Request<'_>) -> Option<Result<Described>>;
    /// [`DatasetRow::load`] of the row that is asked for, bound; `None` when the table has no such row.
    fn open<B: Bind>(&self, request: &Request<'_>, bind: &B) -> Option<Result<Loaded<B::Bound>>>;
}

fn describe_row<R: DatasetRow>(row: &R, request: &Request<'_>) -> Result<Described> {
    request.check(&row.info())?;
    row.describe(request)
}

fn open_row<R: DatasetRow, B: Bind>(row: &R, request: &Request<'_>, bind: &B) -> Result<Loaded<B::Bound>> {
    let name = request.name;
    // Memory is checked before data are made where their size is known, and before φ^i are made in any case.
    if let Described::Known(Description { size, run_bytes, .. }) = describe_row(row, request)? {
        let needed = size.bytes.saturating_add(run_bytes);
        require_memory(needed, &format!("data set '{name}': with its first run it needs"))?;
    }
    let Loaded { problem, description } = row.load(request)?;
    request.check_pairwise(problem.family())?;
    let (n, d) = (problem.terms(), problem.dim());
    if n == 0 {
        return Err(Error::NoExample(name.to_owned()).into());
    }
    require_memory(description.run_bytes, &format!("data set '{name}': with n = {n} and d = {d} a run needs"))?;
    Ok(Loaded { problem: bind.bind(problem), description })
}

impl<T: DatasetTable, R: DatasetRow> DatasetTable for (T, R) {
    fn infos(&self) -> Vec<DatasetInfo> {
        let info = self.1.info();
        let others = self.0.infos().into_iter().filter(|other| other.name != info.name);
        others.chain([info]).collect()
    }

    fn describe(&self, request: &Request<'_>) -> Option<Result<Described>> {
        if self.1.info().name == request.head() {
            return Some(describe_row(&self.1, request));
        }
        self.0.describe(request)
    }

    fn open<B: Bind>(&self, request: &Request<'_>, bind: &B) -> Option<Result<Loaded<B::Bound>>> {
        if self.1.info().name == request.head() {
            return Some(open_row(&self.1, request, bind));
        }
        self.0.open(request, bind)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

macro_rules! standard {
    ($($row:expr),+ $(,)?) => {
        impl DatasetTable for Standard {
            fn infos(&self) -> Vec<DatasetInfo> {
                vec![$($row.info),+]
            }

            fn describe(&self, request: &Request<'_>) -> Option<Result<Described>> {
                match request.head() {
                    $(name if name == $row.info.name => Some(describe_row(&$row, request)),)+
                    _ => None,
                }
            }

            fn open<B: Bind>(&self, request: &Request<'_>, bind: &B) -> Option<Result<Loaded<B::Bound>>> {
                match request.head() {
                    $(name if name == $row.info.name => Some(open_row(&$row, request, bind)),)+
                    _ => None,
                }
            }
        }
    };
}

// The order of tables and figures: real before synthetic, as in the paper.
standard![
    usps::ROW,
    twin::USPS,
    letter_file::OCR,
    twin::OCR,
    images::HORSES,
    horseseg::ROW,
    twin::HORSESEG,
    images::STANFORD,
    twin::STANFORD,
    libsvm::ROW,
    letter_file::LETTERS,
    npz::ROW,
    program::ROW,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_parameters_are_told_apart() {
        let data = DataDir::resolve(None);
        let request = |name| Request::new(name, &data);
        let path = |name| request(name).path().unwrap().display().to_string();
        assert_eq!(path("letters:a,b/c.gz,fold=3"), "a,b/c.gz");
        assert_eq!(request("letters:a,b/c.gz,fold=3").count("fold", 0..=9).unwrap(), Some(3));
        assert_eq!(path("libsvm:/x=1,y=2.txt"), "/x=1,y=2.txt");
        assert_eq!(request("usps-synth:n=30,seed=2").count("n", 1..=100).unwrap(), Some(30));
        assert_eq!(request("usps-synth").count("n", 1..=100).unwrap(), None);
        assert!(request("usps-synth:n=300").count("n", 1..=100).unwrap_err().to_string().contains("1 to 100"));
        assert!(request("libsvm:").path().unwrap_err().to_string().contains("libsvm:PATH"));
    }

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
