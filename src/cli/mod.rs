//! Arguments → one library call each; one file per command.

pub mod claims;
pub mod figures;
pub mod profile;
pub mod report;
