//! The claims of the paper, each with its measured value, verdict and evidence.
