//! The name of a data set with its argument, and the settings that a user gives with it.

use std::path::PathBuf;

use super::error::{ArgumentError, Error};
use super::known::DataDir;
use super::table::DatasetInfo;
use crate::Result;
use ssvm::problem::Family;

/// Ends the head of the name of an official data set that uses another file than the official one.
const ACCEPTED: &str = "~accepted";

/// The name of a data set as written, split at its first colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatasetName<'a> {
    /// The name of the row, perhaps with [`ACCEPTED`].
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

impl<'a> DatasetName<'a> {
    /// The name of the row, and whether any file is accepted as its data.
    pub fn row(self) -> (&'a str, bool) {
        self.head.strip_suffix(ACCEPTED).map_or((self.head, false), |row| (row, true))
    }

    /// The name of the same data set when its file is not the official one: tables and claims do not take it for the
    /// official set.
    pub fn accepted(self) -> String {
        let Self { head, argument } = self;
        format!("{head}{ACCEPTED}{}{argument}", if argument.is_empty() { "" } else { ":" })
    }
}

/// The argument of a set, behind the colon of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// `key=value,…` with these keys; optional.
    Parameters(&'static [&'static str]),
    /// A file, with optional `,key=value` for these keys.
    Path(&'static [&'static str]),
    /// A program, with optional `,key=value` for these keys, then its own arguments.
    Program(&'static [&'static str]),
}

/// Splits `TEXT,key=value,…` into the longest tail in which every part is an option, and the text before it.
pub(super) fn split_options(text: &str, is_option: impl Fn(&str, &str) -> bool) -> (&str, &str) {
    let mut end = text.len();
    for (comma, _) in text.rmatch_indices(',') {
        if !text[comma + 1..end].split_once('=').is_some_and(|(key, value)| is_option(key, value)) {
            break;
        }
        end = comma;
    }
    (&text[..end], text[end..].trim_start_matches(','))
}

/// A data set as a user requests it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The name as written, see [`DatasetName`].
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

    /// The name of the requested row.
    pub fn head(&self) -> &'a str {
        DatasetName::from(self.name).row().0
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

    /// The path, and the `key=value` parts after it.
    fn split_path(&self) -> (&'a str, &'a str) {
        let word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
        split_options(self.argument(), |key, value| word(key) && word(value))
    }

    /// A whole number given as `key=value`, in this range.
    pub fn count(&self, key: &str, range: std::ops::RangeInclusive<u64>) -> Result<Option<u64>> {
        let text = if self.argument().contains('/') { self.split_path().1 } else { self.argument() };
        let given = text.split(',').filter_map(|part| part.split_once('='));
        let Some((_, given)) = given.into_iter().find(|(name, _)| *name == key) else { return Ok(None) };
        given.parse().ok().filter(|count| range.contains(count)).map(Some).ok_or_else(|| {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            self.wrong(ArgumentError::value(key, given, expected)).into()
        })
    }

    fn wrong(&self, wrong: ArgumentError) -> Error {
        Error::Argument { name: self.name.to_owned(), wrong }
    }

    /// Refuses parameters and settings that the row does not have.
    pub(super) fn check(&self, info: &DatasetInfo) -> Result<()> {
        if info.known.is_none() && DatasetName::from(self.name).row().1 {
            return Err(Error::NothingToAccept { name: self.name.to_owned(), row: info.name }.into());
        }
        let (keys, text) = match info.argument {
            Argument::Parameters(keys) => (keys, self.argument()),
            Argument::Path(keys) => (keys, self.split_path().1),
            // The row splits its own command line, because arguments of a program may have any form.
            Argument::Program(keys) => (keys, ""),
        };
        ArgumentError::check(text, keys).map_err(|wrong| self.wrong(wrong))?;
        info.family.map_or(Ok(()), |family| self.check_pairwise(family))
    }

    /// Fails when the file of an official data set does not have the known content, unless its name says so.
    pub(super) fn check_content(&self, info: &DatasetInfo) -> Result<()> {
        let set = info.known.filter(|_| !DatasetName::from(self.name).row().1);
        set.map_or(Ok(()), |set| self.data.check_content(set))
    }

    pub(super) fn check_pairwise(&self, family: &Family) -> Result<()> {
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
}
