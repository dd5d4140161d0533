//! α-expansion for Potts energies, with partial-optimality preprocessing.
