//! (seed, order) → the terms of each iteration. Same seed, same stream, in every release.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::settings::{Domain, Param, Params};

/// The parameter of every solver that visits terms one by one.
pub const ORDER: Param = Param {
    key: "order",
    about: "order of the terms in a pass: permutation (a fresh one each iteration), sequential, uniform (with replacement)",
    default: "permutation",
    domain: Domain::Words(&["permutation", "sequential", "uniform"]),
};

/// Order in which a pass visits the terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// A fresh random permutation each iteration, shared by its exact and approximate passes.
    #[default]
    Permutation,
    /// 0..n−1 in every pass.
    Sequential,
    /// n draws with replacement each iteration, shared by its passes.
    Uniform,
}

impl Order {
    /// The value of [`ORDER`].
    pub fn of(params: &Params) -> Self {
        match params.word(ORDER.key) {
            "sequential" => Self::Sequential,
            "uniform" => Self::Uniform,
            _ => Self::Permutation,
        }
    }
}

/// Draws the order of one iteration after another.
///
/// ```
/// use ssvm::solver::order::{Order, Orders};
///
/// let mut orders = Orders::new(Order::Permutation, 5, 42);
/// orders.draw();
/// let mut terms = orders.list().to_vec();
/// terms.sort_unstable();
/// assert_eq!(terms, [0, 1, 2, 3, 4]);
/// ```
pub struct Orders {
    kind: Order,
    rng: Pcg64,
    list: Vec<u32>,
}

impl Orders {
    /// Orders of `n` terms.
    pub fn new(kind: Order, n: usize, seed: u64) -> Self {
        Self { kind, rng: Pcg64::seed_from_u64(seed), list: (0..n as u32).collect() }
    }

    /// Draws the next iteration's order; all its passes use it.
    pub fn draw(&mut self) {
        let n = self.list.len();
        match self.kind {
            Order::Sequential => {}
            // Fisher–Yates of our own: the crate's shuffle may change its stream between releases.
            Order::Permutation => {
                for at in (1..n).rev() {
                    let other = below(&mut self.rng, at as u64 + 1) as usize;
                    self.list.swap(at, other);
                }
            }
            Order::Uniform => {
                for at in 0..n {
                    self.list[at] = below(&mut self.rng, n as u64) as u32;
                }
            }
        }
    }

    /// The current order.
    pub fn list(&self) -> &[u32] {
        &self.list
    }
}

/// Uniform in 0..bound by multiplication with rejection (Lemire), unbiased.
pub(super) fn below(rng: &mut Pcg64, bound: u64) -> u64 {
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        if product as u64 >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned() {
        let mut orders = Orders::new(Order::Permutation, 10, 42);
        orders.draw();
        let first = orders.list().to_vec();
        orders.draw();
        let mut sorted = orders.list().to_vec();
        assert_ne!(first, sorted);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        assert_eq!(first, [7, 8, 4, 0, 1, 5, 3, 6, 9, 2]);
        let mut orders = Orders::new(Order::Uniform, 5, 7);
        orders.draw();
        assert_eq!(orders.list(), [0, 1, 4, 4, 2]);
    }
}
