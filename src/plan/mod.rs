//! `Experiment` → ordered runs with stable identities.
