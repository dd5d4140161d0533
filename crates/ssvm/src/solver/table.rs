//! The table of solvers.
//!
//! A row is a type with [`SolverRow`]; a table is [`Standard`], or a table and one more row ([`Added`]), so that every
//! solver, also one of another crate, is compiled for every problem without a dynamic call inside a step.

use std::sync::LazyLock;

use super::{Metered, Solver, fw, gap, gram, lazy, mpbcfw, one_slack, ssg};
use crate::error::{Error, Result};
use crate::nearest;
use crate::problem::Problem;
use crate::settings::{Param, Params, SolverSpec};

/// Receives all values, and a function that tells whether a key was given.
pub type Rule = fn(&Params, &dyn Fn(&str) -> bool) -> Result<(), Refusal>;

/// The description of a solver.
#[derive(Clone, Debug)]
pub struct SolverInfo {
    /// The name on the command line, in configs and in result files.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Checks parameters against each other; the error names the wrong key.
    pub rule: Rule,
    /// Checks parameters against n; the error names the wrong key.
    pub fits: fn(&Params, u64) -> Result<(), Refusal>,
    /// Rough number of planes per term that it keeps with these parameters, for estimates of memory; `None` for a
    /// solver without working sets.
    pub planes: Option<fn(&Params) -> u64>,
    /// The solver that the paper compares it with: its single-plane partner.
    pub partner: Option<&'static str>,
    /// Whether it reads the clock. Its steps then depend on the oracle cost, and it must be run again for each cost; a
    /// solver that does not read the clock is run once.
    pub reads_clock: fn(&Params) -> bool,
    /// Whether the paper has it. With many solvers, the figures of the paper show only these.
    pub in_paper: bool,
    /// Rough ratio of the time of an iteration to that of its exact pass, for estimates.
    pub pass_factor: f64,
}

/// A refused parameter, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The key.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Refusal {
    /// A refusal of this key.
    pub fn new(key: &str, message: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into() }
    }
}

/// One row of the table: a solver that can be built for any problem.
///
/// ```
/// use ssvm::solver::{Added, FrankWolfe, SolverTable, Standard};
/// use ssvm::{Hinge, Metered, Params, Problem, Simple, Solver, SolverInfo, SolverRow};
///
/// struct Mine;
///
/// impl SolverRow for Mine {
///     fn info(&self) -> SolverInfo {
///         SolverInfo { name: "mine", about: "a solver of my own", ..SolverInfo::PLAIN }
///     }
///     fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, _: &Params, seed: u64) -> Box<dyn Solver + 'p> {
///         Box::new(FrankWolfe::new(problem, seed))
///     }
/// }
///
/// let problem = Simple::new(Hinge);
/// let solver = Added::new(Standard, Mine).build(&"mine".into(), &problem, 1)?;
/// assert_eq!(solver.dual(), 0.0);
/// # Ok::<(), ssvm::Error>(())
/// ```
pub trait SolverRow: Send + Sync + 'static {
    /// Its description.
    fn info(&self) -> SolverInfo;
    /// Version of the solver, part of the identity of its stored runs: change it with every change of its steps. `None`
    /// stands for the version of the program that contains it, so that every new build is a new version.
    fn version(&self) -> Option<String> {
        None
    }
    /// The solver at its start. The parameters are those of [`SolverInfo::params`], all of them, checked.
    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p>;
}

/// A table of solvers.
///
/// ```
/// use ssvm::solver::{SolverTable, Standard};
///
/// let names: Vec<&str> = Standard.infos().iter().map(|info| info.name).collect();
/// assert!(names.starts_with(&["fw", "bcfw"]));
/// ```
pub trait SolverTable: Send + Sync + 'static {
    /// The rows, in the order of tables and legends.
    fn infos(&self) -> &[SolverInfo];
    /// The solver of this name with these parameters; `None` when the table has no such row.
    fn build_row<'p, P: Problem>(
        &self,
        name: &str,
        problem: Metered<'p, P>,
        params: &Params,
        seed: u64,
    ) -> Option<Box<dyn Solver + 'p>>;

    /// Builds a solver; fails for an unknown name or parameter, and names the known ones.
    fn build<'p, P: Problem>(&self, spec: &SolverSpec, problem: &'p P, seed: u64) -> Result<Box<dyn Solver + 'p>> {
        let infos = self.infos();
        let info = SolverInfo::find(infos, &spec.name)?;
        let params = info.resolve(spec, infos)?;
        (info.fits)(&params, problem.terms() as u64)?;
        self.build_row(&spec.name, Metered::new(problem), &params, seed)
            .ok_or_else(|| Error::UnknownSolver { name: spec.name.clone(), known: "no such row".to_owned() })
    }
}

macro_rules! standard {
    ($($rows:expr),+ $(,)?) => {
        static INFOS: LazyLock<Vec<SolverInfo>> = LazyLock::new(|| {
            let mut infos = Vec::new();
            $(infos.extend($rows.iter().map(SolverRow::info));)+
            infos
        });

        /// See [`crate::problem::DynProblem::standard_solver`].
        pub(crate) fn standard_solver<'p, P: Problem>(
            name: &str,
            problem: Metered<'p, P>,
            params: &Params,
            seed: u64,
        ) -> Option<Box<dyn Solver + 'p>> {
            let mut infos = INFOS.iter();
            $(for row in $rows {
                if infos.next()?.name == name {
                    return Some(row.build(problem, params, seed));
                }
            })+
            None
        }
    };
}

/// The solvers of this crate. A new one is a file beside this one and an entry of this list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

standard![[fw::Fw], mpbcfw::ROWS, gram::ROWS, gap::ROWS, [lazy::BcfwLazy], one_slack::ROWS, [ssg::SsgAvg]];

impl SolverTable for Standard {
    fn infos(&self) -> &[SolverInfo] {
        &INFOS
    }

    fn build_row<'p, P: Problem>(
        &self,
        name: &str,
        problem: Metered<'p, P>,
        params: &Params,
        seed: u64,
    ) -> Option<Box<dyn Solver + 'p>> {
        problem.bare().as_dyn().standard_solver(name, params, seed)
    }
}

/// A table and one more row, which replaces a row of the same name.
pub struct Added<T, R> {
    table: T,
    row: R,
    infos: Vec<SolverInfo>,
}

impl<T: SolverTable, R: SolverRow> Added<T, R> {
    /// The rows of the table, then this one.
    pub fn new(table: T, row: R) -> Self {
        let info = row.info();
        let mut infos: Vec<SolverInfo> =
            table.infos().iter().filter(|other| other.name != info.name).cloned().collect();
        infos.push(info);
        Self { table, row, infos }
    }
}

impl<T: SolverTable, R: SolverRow> SolverTable for Added<T, R> {
    fn infos(&self) -> &[SolverInfo] {
        &self.infos
    }

    fn build_row<'p, P: Problem>(
        &self,
        name: &str,
        problem: Metered<'p, P>,
        params: &Params,
        seed: u64,
    ) -> Option<Box<dyn Solver + 'p>> {
        if self.infos.last().is_some_and(|info| info.name == name) {
            return Some(self.row.build(problem, params, seed));
        }
        self.table.build_row(name, problem, params, seed)
    }
}

impl SolverInfo {
    /// A solver without parameters; rows state only what differs.
    pub const PLAIN: Self = Self {
        name: "",
        about: "",
        params: &[],
        rule: |_, _| Ok(()),
        fits: |_, _| Ok(()),
        planes: None,
        partner: None,
        reads_clock: |_| true,
        in_paper: false,
        pass_factor: 1.5,
    };

    /// The row of this name, or an error that names the known ones.
    pub fn find<'a>(infos: &'a [Self], name: &str) -> Result<&'a Self> {
        infos.iter().find(|info| info.name == name).ok_or_else(|| {
            let names: Vec<&str> = infos.iter().map(|info| info.name).collect();
            let near = nearest(name, names.iter().copied());
            Error::UnknownSolver { name: name.to_owned(), known: format!("{}{near}", names.join(", ")) }
        })
    }

    /// Checks parameters as a user wrote them. Only values that differ from the defaults become part of the
    /// specification.
    pub fn spec(&self, given: &[(&str, String)], all: &[Self]) -> Result<SolverSpec, Refusal> {
        let mut params = Params::defaults(self.params);
        let mut spec = SolverSpec::new(self.name);
        for (key, text) in given {
            let row = self.param(key, all)?;
            let value = row.parse(text).map_err(|message| Refusal::new(key, message))?;
            params.set(row.key, value.clone());
            if value != row.default() {
                spec.params.insert(row.key.to_owned(), value);
            }
        }
        (self.rule)(&params, &|key| given.iter().any(|(given, _)| *given == key))?;
        Ok(spec)
    }

    /// All parameters of a specification, checked.
    pub fn resolve(&self, spec: &SolverSpec, all: &[Self]) -> Result<Params, Refusal> {
        let mut params = Params::defaults(self.params);
        for (key, value) in &spec.params {
            let row = self.param(key, all)?;
            params.set(row.key, row.check(value).map_err(|message| Refusal::new(key, message))?);
        }
        (self.rule)(&params, &|key| spec.params.contains_key(key))?;
        Ok(params)
    }

    /// The row of a parameter. The message differs for a key that only other solvers have and for one that no solver has.
    fn param(&self, key: &str, all: &[Self]) -> Result<&'static Param, Refusal> {
        if let Some(row) = self.params.iter().find(|row| row.key == key) {
            return Ok(row);
        }
        let keys: Vec<&str> = self.params.iter().map(|row| row.key).collect();
        let has = if keys.is_empty() { "no parameters".to_owned() } else { format!("only {}", keys.join(", ")) };
        let owners: Vec<&str> =
            all.iter().filter(|info| info.params.iter().any(|row| row.key == key)).map(|info| info.name).collect();
        Err(Refusal::new(
            key,
            if owners.is_empty() {
                let near = nearest(key, keys);
                let end = if near.is_empty() { ";" } else { &near };
                format!("unknown parameter '{key}'{end} {} has {has}", self.name)
            } else {
                format!("'{}' has {has}: '{key}' belongs to {}", self.name, owners.join(", "))
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    #[test]
    fn every_row_is_complete_and_distinct() {
        let infos = Standard.infos();
        for (at, info) in infos.iter().enumerate() {
            assert!(!info.name.is_empty() && !info.about.is_empty(), "{}", info.name);
            for other in &infos[..at] {
                assert!(other.name != info.name);
            }
            for row in info.params {
                assert!(row.domain.parse(row.default).is_some(), "{} {}: the default is refused", info.name, row.key);
            }
            if let Some(partner) = info.partner {
                assert!(infos.iter().any(|other| other.name == partner));
            }
            assert!(info.spec(&[], infos).is_ok(), "{}: the defaults break its rule", info.name);
        }
    }

    #[test]
    fn parameters_of_others_are_refused_by_name() {
        let infos = Standard.infos();
        let refusal = |solver: &str, key: &str, value: &str| {
            let info = SolverInfo::find(infos, solver).unwrap();
            info.spec(&[(key, value.to_owned())], infos).unwrap_err().message
        };
        let other = "'bcfw' has only order, tau, lanes: 'N' belongs to mp-bcfw, mp-bcfw-avg";
        assert!(refusal("bcfw", "N", "5").starts_with(other));
        assert!(refusal("fw", "order", "uniform").contains("'fw' has no parameters: 'order' belongs to bcfw"));
        assert!(refusal("mp-bcfw", "pases", "3").contains("did you mean 'passes'?"));
        assert!(refusal("mp-bcfw", "N", "0").contains("nothing to choose from"));
        let message = SolverInfo::find(infos, "mp-bcwf").unwrap_err().to_string();
        assert!(message.contains("did you mean 'mp-bcfw'?"), "{message}");
    }

    #[test]
    fn defaults_are_no_part_of_a_specification() {
        let infos = Standard.infos();
        let info = SolverInfo::find(infos, "mp-bcfw").unwrap();
        let spec = info.spec(&[("T", "10".to_owned()), ("N", "7".to_owned())], infos).unwrap();
        assert_eq!(spec, SolverSpec::new("mp-bcfw").with("N", Value::Count(7)));
        assert_eq!(info.resolve(&spec, infos).unwrap().count("T"), 10);
    }
}
