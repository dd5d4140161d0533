//! (seed, order) → the terms of each iteration. Same seed, same stream, in every release.

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

/// An order of the terms. A new one is a small type:
///
/// ```
/// use ssvm::solver::order::{BlockOrder, Dice, Order, Orders};
///
/// /// There and back again.
/// struct Alternating;
///
/// impl BlockOrder for Alternating {
///     fn name(&self) -> &'static str {
///         "alternating"
///     }
///     fn draw(&self, terms: &mut [u32], _dice: &mut Dice) {
///         terms.reverse();
///     }
/// }
///
/// let mut orders = Orders::new(Order::new(&Alternating), 3, 42);
/// orders.draw();
/// assert_eq!(orders.list(), [2, 1, 0]);
/// ```
pub trait BlockOrder: Sync {
    /// The name in configs.
    fn name(&self) -> &'static str;
    /// Turns the order of one iteration, at first 0..n, into that of the next. All passes of an iteration share it.
    fn draw(&self, terms: &mut [u32], dice: &mut Dice);
}

/// A fresh random permutation each iteration.
struct Permutation;

impl BlockOrder for Permutation {
    fn name(&self) -> &'static str {
        "permutation"
    }

    // Fisher–Yates of our own: the crate's shuffle may change its stream between releases.
    fn draw(&self, terms: &mut [u32], dice: &mut Dice) {
        for at in (1..terms.len()).rev() {
            terms.swap(at, dice.below(at as u64 + 1) as usize);
        }
    }
}

/// 0..n−1 in every pass.
struct Sequential;

impl BlockOrder for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }

    fn draw(&self, _terms: &mut [u32], _dice: &mut Dice) {}
}

/// n draws with replacement each iteration.
struct Uniform;

impl BlockOrder for Uniform {
    fn name(&self) -> &'static str {
        "uniform"
    }

    fn draw(&self, terms: &mut [u32], dice: &mut Dice) {
        let n = terms.len() as u64;
        terms.fill_with(|| dice.below(n) as u32);
    }
}

/// One of the orders.
#[derive(Clone, Copy)]
pub struct Order(&'static dyn BlockOrder);

impl Order {
    /// A fresh random permutation each iteration.
    pub const PERMUTATION: Self = Self(&Permutation);
    /// 0..n−1 in every pass.
    pub const SEQUENTIAL: Self = Self(&Sequential);
    /// n draws with replacement each iteration.
    pub const UNIFORM: Self = Self(&Uniform);
    /// The values of [`ORDER`].
    pub const ALL: [Self; 3] = [Self::PERMUTATION, Self::SEQUENTIAL, Self::UNIFORM];

    /// This order.
    pub const fn new(order: &'static dyn BlockOrder) -> Self {
        Self(order)
    }

    /// The value of [`ORDER`].
    pub fn of(params: &Params) -> Self {
        let name = params.word(ORDER.key);
        Self::ALL.into_iter().find(|order| order.0.name() == name).unwrap_or(Self::PERMUTATION)
    }
}

impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
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
        self.order.0.draw(&mut self.list, &mut self.dice);
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
            assert!(ORDER.parse(order.0.name()).is_ok());
        }
    }
}
