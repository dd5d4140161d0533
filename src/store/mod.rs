//! Records on disk: the identity of a run ([`identity`]), its record ([`record`]), and files that appear whole or not
//! at all.

pub mod codec;
pub mod columns;
mod error;
pub mod files;
pub mod folder;
pub mod identity;
pub mod keys;
pub mod manifest;
pub mod optimum;
pub mod panics;
mod record;

pub use error::Error;
pub use record::*;
