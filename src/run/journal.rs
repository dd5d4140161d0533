//! What the runs of one command have come to, in a file that outlives the process that executes them: the supervisor reads
//! it when that process has died, the next process goes on from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::store::files;

/// A line of the journal; runs are named by identity.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    Began {
        run: String,
        label: String,
    },
    /// Its record is on disk, whatever its status.
    Ended {
        run: String,
    },
    /// It was alone in a process that died.
    Died {
        run: String,
        reason: String,
    },
    /// It was in a process that died, and others were too.
    Suspected {
        run: String,
    },
    /// A new process begins; runs that were in flight are not.
    Restarted,
}

/// The journal of a command; one without a file notes nothing.
#[derive(Clone, Debug, Default)]
pub struct Journal(Option<PathBuf>);

/// What the journal says.
#[derive(Debug, Default)]
pub struct Noted {
    /// Runs in flight, with labels; the youngest last.
    pub(super) in_flight: Vec<(String, String)>,
    /// Runs that this command has made, whatever came of them.
    pub ended: BTreeSet<String>,
    /// Runs that ended their process, and how; a record of that is not written yet.
    pub died: BTreeMap<String, String>,
    /// Runs to be executed alone: one of them has ended the process.
    pub suspects: BTreeSet<String>,
}

impl Journal {
    pub fn at(path: PathBuf) -> Self {
        Self(Some(path))
    }

    pub(super) fn note(&self, entry: &Entry) -> Result<()> {
        let Some(path) = &self.0 else { return Ok(()) };
        let mut line = serde_json::to_vec(entry).map_err(|error| Error::file(path, error))?;
        line.push(b'\n');
        // One write at the end of the file: the workers need no lock.
        files::append(path, &line)
    }

    pub fn read(&self) -> Result<Noted> {
        let mut noted = Noted::default();
        let Some(path) = &self.0 else { return Ok(noted) };
        let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
        for (at, line) in text.lines().enumerate() {
            noted.add(serde_json::from_str(line).map_err(|error| Error::line(path, at + 1, error))?);
        }
        Ok(noted)
    }

    /// Where the journal is.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl Noted {
    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Began { run, label } => self.in_flight.push((run, label)),
            Entry::Ended { run } => {
                self.in_flight.retain(|(other, _)| *other != run);
                self.suspects.remove(&run);
                self.died.remove(&run);
                self.ended.insert(run);
            }
            Entry::Died { run, reason } => {
                // It was the one: the others are executed beside each other again.
                self.suspects.clear();
                self.died.insert(run, reason);
            }
            Entry::Suspected { run } => drop(self.suspects.insert(run)),
            Entry::Restarted => self.in_flight.clear(),
        }
    }

    /// Grows with every step that is taken: a process that dies without one is not started again.
    pub(super) fn steps(&self) -> usize {
        self.ended.len() + self.died.len() + usize::from(!self.suspects.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_died_alone_clears_the_others() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let journal = Journal::at(file.path().to_owned());
        let [a, b, c] = ["a", "b", "c"].map(str::to_owned);
        for run in [&a, &b, &c] {
            journal.note(&Entry::Began { run: run.clone(), label: run.to_uppercase() }).unwrap();
        }
        journal.note(&Entry::Ended { run: a.clone() }).unwrap();
        let noted = journal.read().unwrap();
        assert_eq!(noted.in_flight, [(b.clone(), "B".to_owned()), (c.clone(), "C".to_owned())]);
        for run in [&b, &c] {
            journal.note(&Entry::Suspected { run: run.clone() }).unwrap();
        }
        journal.note(&Entry::Restarted).unwrap();
        let noted = journal.read().unwrap();
        assert!(noted.in_flight.is_empty() && noted.suspects.len() == 2 && noted.ended.contains(&a));
        journal.note(&Entry::Died { run: c.clone(), reason: "SIGSEGV".to_owned() }).unwrap();
        let noted = journal.read().unwrap();
        assert!(noted.suspects.is_empty() && noted.died[&c] == "SIGSEGV");
        journal.note(&Entry::Ended { run: c.clone() }).unwrap();
        assert!(journal.read().unwrap().died.is_empty());
        // Without a file nothing is noted.
        Journal::default().note(&Entry::Restarted).unwrap();
        assert!(Journal::default().read().unwrap().ended.is_empty());
    }
}
