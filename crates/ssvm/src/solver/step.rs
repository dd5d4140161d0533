//! The size of the step that every solver takes.

use crate::problem::Direction;

/// γ = argmax over [0, 1] of F along the direction φ̂ − φ^i.
///
/// With w = −φ⋆/λ the paper's numerator ⟨φ⋆^i − φ̂⋆, φ⋆⟩ − λ(φ∘^i − φ̂∘) is λ⟨φ̂ − φ^i, [w 1]⟩. A zero denominator gives
/// 0 or 1 by the sign of the numerator.
///
/// ```
/// use ssvm::{Direction, solver::step::gamma};
///
/// let direction = Direction { gain: 0.5, norm2: 0.25, offset: 0.5 };
/// assert_eq!(gamma(&direction, 0.25), 0.5);
/// assert_eq!(gamma(&Direction { gain: -0.5, ..direction }, 0.25), 0.0);
/// ```
#[inline]
pub fn gamma(direction: &Direction, lambda: f64) -> f64 {
    let numerator = lambda * direction.gain;
    if numerator <= 0.0 {
        0.0
    } else if numerator >= direction.norm2 {
        1.0
    } else {
        numerator / direction.norm2
    }
}

/// γ of a step that may move at most `cap` of weight: clip(λ·gain/‖δ⋆‖², 0, cap).
#[inline]
pub fn gamma_within(gain: f64, norm2: f64, lambda: f64, cap: f64) -> f64 {
    if gain <= 0.0 {
        0.0
    } else if lambda * gain >= cap * norm2 {
        cap
    } else {
        lambda * gain / norm2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F(φ + γδ) by its definition, for φ⋆ = −λw.
    fn dual_along(w: f64, lambda: f64, delta: f64, offset: f64, gamma: f64) -> f64 {
        let phi = -lambda * w + gamma * delta;
        -phi * phi / (2.0 * lambda) + gamma * offset
    }

    #[test]
    fn gamma_maximises_the_dual() {
        for (w, lambda, delta, offset) in [
            (0.3, 0.1, 0.5, 0.2),
            (-2.0, 0.01, 0.3, 0.4),
            (1.0, 1.0, -0.2, 0.5),
            (0.0, 0.5, 0.1, -0.1),
            (1.0, 0.2, 1e-3, 0.0),
        ] {
            let direction = Direction { gain: delta * w + offset, norm2: delta * delta, offset };
            let chosen = gamma(&direction, lambda);
            let best = (0..=1000)
                .map(|g| dual_along(w, lambda, delta, offset, f64::from(g) / 1000.0))
                .fold(f64::MIN, f64::max);
            assert!(dual_along(w, lambda, delta, offset, chosen) >= best - 1e-15);
        }
    }

    #[test]
    fn zero_denominator() {
        let at = |gain| gamma(&Direction { gain, norm2: 0.0, offset: gain }, 0.1);
        assert_eq!((at(0.0), at(-1.0), at(1.0)), (0.0, 0.0, 1.0));
    }
}
