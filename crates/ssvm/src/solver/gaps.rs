//! Estimates of the block gaps g_i, and draws of terms with probability proportional to them.

use super::order::Dice;
use crate::settings::{Domain, Param};

pub const REFRESH: Param = Param::count(
    "refresh",
    "10",
    1,
    "one oracle call per term without a step every this many passes, to make all gap estimates exact",
);

pub const KEEP: Param = Param {
    key: "keep",
    about: "whether the planes of a refresh go into the working sets: yes or no",
    default: "no",
    domain: Domain::Words(&["yes", "no"]),
};

/// Estimates of all g_i. An estimate is exact at the moment of an oracle call and stale afterwards.
pub struct Gaps {
    estimates: Vec<f64>,
    /// Fenwick tree of the finite estimates: tree[k] is the sum of the 2^(trailing zeros of k) estimates before k.
    tree: Vec<f64>,
    dice: Dice,
}

impl Gaps {
    /// No estimates yet: all are ∞.
    pub fn new(n: usize, seed: u64) -> Self {
        // A stream different from that of the orders.
        let dice = Dice::new(seed ^ 0x6761_7073);
        Self { estimates: vec![f64::INFINITY; n], tree: vec![0.0; n + 1], dice }
    }

    pub fn get(&self, i: usize) -> f64 {
        self.estimates[i]
    }

    /// Sets g_i to max(0, gap).
    pub fn set(&mut self, i: usize, gap: f64) {
        let before = self.estimates[i];
        self.estimates[i] = gap.max(0.0);
        let change = self.estimates[i] - if before.is_finite() { before } else { 0.0 };
        let mut at = i + 1;
        while at < self.tree.len() {
            self.tree[at] += change;
            at += at & at.wrapping_neg();
        }
    }

    /// Raises g_i to at least this.
    pub fn raise(&mut self, i: usize, gap: f64) {
        if gap > self.estimates[i] {
            self.set(i, gap);
        }
    }

    /// Σ g_i over the finite ones.
    pub fn total(&self) -> f64 {
        self.estimates.iter().filter(|gap| gap.is_finite()).sum()
    }

    /// Rebuilds the tree, against drift.
    pub fn rebuild(&mut self) {
        self.tree.fill(0.0);
        for at in 1..self.tree.len() {
            let gap = self.estimates[at - 1];
            self.tree[at] += if gap.is_finite() { gap } else { 0.0 };
            let parent = at + (at & at.wrapping_neg());
            if parent < self.tree.len() {
                self.tree[parent] += self.tree[at];
            }
        }
    }

    /// Draws a term with probability proportional to its estimate; uniformly when all are 0.
    pub fn draw(&mut self) -> usize {
        let n = self.estimates.len();
        let top = n.next_power_of_two();
        let mut sum = 0.0;
        let mut at = n;
        while at > 0 {
            sum += self.tree[at];
            at -= at & at.wrapping_neg();
        }
        if sum > 0.0 {
            let mut left = self.dice.unit() * sum;
            let (mut place, mut step) = (0, top);
            while step > 0 {
                if place + step <= n && self.tree[place + step] <= left {
                    place += step;
                    left -= self.tree[place];
                }
                step /= 2;
            }
            if place < n && self.estimates[place] > 0.0 {
                return place;
            }
        }
        // No estimate to choose by, or rounding at the end of the sum.
        self.dice.below(n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_without_a_gap_is_not_drawn() {
        let mut gaps = Gaps::new(3, 1);
        for (i, gap) in [0.0, 0.5, 0.0].into_iter().enumerate() {
            gaps.set(i, gap);
        }
        assert!((0..100).all(|_| gaps.draw() == 1));
    }

    #[test]
    fn draws_follow_the_estimates() {
        for n in [1, 2, 5, 8, 13] {
            let mut gaps = Gaps::new(n, 7);
            for i in 0..n {
                gaps.set(i, (i % 4) as f64);
            }
            gaps.set(n - 1, 2.0);
            let total = gaps.total();
            let draws = 40_000;
            let mut counts = vec![0; n];
            for at in 0..draws {
                if at == draws / 2 {
                    gaps.rebuild();
                }
                counts[gaps.draw()] += 1;
            }
            for (i, count) in counts.into_iter().enumerate() {
                let share = gaps.get(i) / total;
                let expected = share * f64::from(draws);
                // Five standard deviations.
                let spread = 5.0 * (expected * (1.0 - share)).sqrt() + 1e-9;
                assert!((f64::from(count) - expected).abs() <= spread, "{n} {i}: {count} of {expected}");
            }
        }
    }
}
