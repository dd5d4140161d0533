//! Logarithms and powers with the same bits on every machine: those of the system differ between versions and processors.

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// e to this power.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// x to this power.
pub fn powf(x: f64, power: f64) -> f64 {
    libm::pow(x, power)
}
