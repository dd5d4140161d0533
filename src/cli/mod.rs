//! Arguments → one library call each; one file per command.
