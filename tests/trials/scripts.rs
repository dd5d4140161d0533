//! The scripts beside the program: what they replace in the sources must still be there.

use std::process::Command;

use crate::common::trials::{self, Skipped};

fn every_sabotage_fits_the_sources() -> Result<(), Skipped> {
    let python = trials::program(&["python3", "python"])?;
    let output = Command::new(python).args(["scripts/sabotage.py", "check"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

crate::trials![every_sabotage_fits_the_sources];
