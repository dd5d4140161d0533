//! What was found → tables and text for people, and long tables for programs: one file per subject.

pub mod breakeven;
pub mod claims;
pub mod findings;
pub mod league;
pub mod long;
pub mod profile;
