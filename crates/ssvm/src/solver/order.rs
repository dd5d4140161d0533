//! The order of the terms in each iteration. Same seed, same stream, in every release.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::settings::{Domain, Param, Params};

/// The parameter of every solver that visits terms one by one: the name of one of [`Order::ALL`].
pub const ORDER: Param = Param {
    key: "order",
    about: "order of the terms in a pass: permutation (a fresh one each iteration), sequential, uniform (with replacement)",
    default: "permutation",
    domain: Domain::Words(&["permutation", "sequential", "uniform"]),
};

/// An order of the terms. A new one is a name and a function:
///
/// ```
/// use ssvm::solver::order::{Order, Orders};
///
/// /// Forward and backward in turn.
/// const ALTERNATING: Order = Order::new("alternating", |terms, _| terms.reverse());
///
/// let mut orders = Orders::new(ALTERNATING, 3, 42);
/// orders.draw();
/// assert_eq!(orders.list(), [2, 1, 0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Order {
    name: &'static str,
    draw: fn(&mut [u32], &mut Dice),
}

impl Order {
    /// A fresh random permutation each iteration.
    // A Fisher–Yates shuffle of our own, because the crate's may change its stream between releases.
    pub const PERMUTATION: Self = Self::new("permutation", |terms, dice| {
        for at in (1..terms.len()).rev() {
            terms.swap(at, dice.below(at as u64 + 1) as usize);
        }
    });
    /// 0..n−1 in every pass.
    pub const SEQUENTIAL: Self = Self::new("sequential", |_, _| {});
    /// n draws with replacement each iteration.
    pub const UNIFORM: Self = Self::new("uniform", |terms, dice| {
        let n = terms.len() as u64;
        terms.fill_with(|| dice.below(n) as u32);
    });
    /// The values of [`ORDER`].
    pub const ALL: [Self; 3] = [Self::PERMUTATION, Self::SEQUENTIAL, Self::UNIFORM];

    /// An order with this name in configs. `draw` turns the order of one iteration, at first 0..n, into that of the next; all
    /// passes of an iteration share it.
    pub const fn new(name: &'static str, draw: fn(&mut [u32], &mut Dice)) -> Self {
        Self { name, draw }
    }

    /// The value of [`ORDER`].
    pub fn of(params: &Params) -> Self {
        let name = params.word(ORDER.key);
        Self::ALL.into_iter().find(|order| order.name == name).unwrap_or(Self::PERMUTATION)
    }
}

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Order {}

/// Draws the order of one iteration after another.
///
/// ```
/// use ssvm::solver::order::{Order, Orders};
///
/// let mut orders = Orders::new(Order::PERMUTATION, 5, 42);
/// orders.draw();
/// let mut terms = orders.list().to_vec();
/// terms.sort_unstable();
/// assert_eq!(terms, [0, 1, 2, 3, 4]);
/// ```
pub struct Orders {
    order: Order,
    dice: Dice,
    list: Vec<u32>,
}

impl Orders {
    /// Orders of `n` terms.
    pub fn new(order: Order, n: usize, seed: u64) -> Self {
        Self { order, dice: Dice::new(seed), list: (0..n as u32).collect() }
    }

    /// Draws the next iteration's order; all its passes use it.
    pub fn draw(&mut self) {
        (self.order.draw)(&mut self.list, &mut self.dice);
    }

    /// The current order.
    pub fn list(&self) -> &[u32] {
        &self.list
    }
}

/// Random numbers with the same stream in every release.
pub struct Dice(Pcg64);

impl Dice {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// Uniform in 0..bound by multiplication with rejection (Lemire), unbiased.
    pub fn below(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform in [0, 1): 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned() {
        let mut orders = Orders::new(Order::PERMUTATION, 10, 42);
        orders.draw();
        let first = orders.list().to_vec();
        orders.draw();
        let mut sorted = orders.list().to_vec();
        assert_ne!(first, sorted);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        assert_eq!(first, [7, 8, 4, 0, 1, 5, 3, 6, 9, 2]);
        let mut orders = Orders::new(Order::UNIFORM, 5, 7);
        orders.draw();
        assert_eq!(orders.list(), [0, 1, 4, 4, 2]);
    }

    #[test]
    fn the_parameter_has_every_order() {
        for order in Order::ALL {
            assert!(ORDER.parse(order.name).is_ok());
        }
    }
}
