//! Known data sets and where they are found.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder with the official files.
#[derive(Clone, Debug)]
pub struct DataDir(PathBuf);

impl DataDir {
    /// The flag, else `$SSVM_DATA`, else `data/`.
    pub fn resolve(flag: Option<&Path>) -> Self {
        Self(
            flag.map(Path::to_owned)
                .or_else(|| std::env::var_os("SSVM_DATA").map(PathBuf::from))
                .unwrap_or("data".into()),
        )
    }

    /// A file of a set.
    pub fn require(&self, set: &str, file: &str) -> Result<PathBuf> {
        let path = self.0.join(set).join(file);
        if path.is_file() { Ok(path) } else { Err(Error::file(path, "missing")) }
    }
}
