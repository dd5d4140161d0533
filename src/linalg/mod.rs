//! Dense kernels.
