//! Which of the kept planes is the highest: products in single precision, half the bytes, rule out most of them, the values
//! of those that are left decide. The answer is that of comparing all values.

use super::{GraphPlane, GraphProblem};
use crate::linalg::{Single, dot_single};
use crate::problem::last_highest;

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Near {
    w: Single,
    /// No plane is higher than this.
    highs: Vec<f64>,
}

impl GraphProblem {
    /// ⟨φ^{iy}, [w 1]⟩ is not further from the first number than the second.
    #[inline(always)]
    fn about(&self, plane: &GraphPlane, w: &Single) -> (f64, f64) {
        let p = self.p();
        let blocks = self.in_mask(plane.mask).zip(plane.near.values().chunks_exact(p));
        let product: f64 = blocks.map(|(k, sums)| f64::from(dot_single(sums, &w.values()[k * p..(k + 1) * p]))).sum();
        (product + plane.offset, plane.near.error(w, p) + f64::EPSILON * plane.offset.abs())
    }

    /// See [`crate::Problem::highest`].
    pub(super) fn highest_near<'a>(
        &self,
        planes: impl Iterator<Item = &'a GraphPlane> + Clone,
        w: &[f64],
        near: &mut Near,
        value: impl Fn(&GraphPlane) -> f64,
    ) -> usize {
        near.w.round(w);
        near.highs.clear();
        let mut sure = f64::NEG_INFINITY;
        for plane in planes.clone() {
            let (about, error) = self.about(plane, &near.w);
            // `max` takes no notice of what is no number, and such a plane is not ruled out below.
            sure = sure.max(about - error);
            near.highs.push(about + error);
        }
        let ruled_out = |high: f64| high < sure;
        let mut left = near.highs.iter().enumerate().filter(|(_, high)| !ruled_out(**high)).map(|(at, _)| at);
        if let (Some(only), None) = (left.next(), left.next()) {
            return only;
        }
        let values = planes.zip(&near.highs).enumerate().filter(|(_, (_, high))| !ruled_out(**high));
        last_highest(values.map(|(at, (plane, _))| (at, value(plane))))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::GraphData;
    use crate::problem::Problem;

    /// Numbers in −1 … 1 from a fixed sequence.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
        }
    }

    fn problem(num_labels: usize, p: usize, size: f64) -> GraphProblem {
        let (nodes, mut next) = (9, numbers(p as u64));
        let data = GraphData {
            num_labels,
            features_per_node: p,
            features: (0..nodes * p).map(|_| (size * next()) as f32).collect(),
            labels: (0..nodes).map(|l| (l % num_labels) as u16).collect(),
            node_offsets: vec![0, nodes],
            edges: (1..nodes as u32).map(|l| [l - 1, l]).collect(),
            edge_offsets: vec![0, nodes - 1],
            pairwise_weight: 0.3,
        };
        GraphProblem::new(Arc::new(data), 0.1, 0.3).unwrap()
    }

    /// The highest value wins, the last of equals, whatever single precision makes of planes and w: also where they are
    /// apart by the last bit of a double, or too large or too small for an f32.
    #[test]
    fn the_highest_is_that_of_all_values() {
        let (mut decided, mut cases) = (0, 0);
        for (num_labels, p) in [(2, 1), (2, 33), (2, 649), (5, 7), (5, 100)] {
            for (size, scale) in [(1.0, 1.0), (1.0, 0.0), (1.0, 1e-13), (1e30, 1e30), (1e-30, 1e-30), (1e3, 1e-3)] {
                let problem = problem(num_labels, p, size);
                let mut next = numbers(3);
                let mut planes: Vec<GraphPlane> = (0..12)
                    .map(|at| {
                        let labels: Vec<u16> =
                            (0..9).map(|_| ((next() + 1.0) * 0.5 * num_labels as f64) as u16).collect();
                        let mut plane = GraphPlane::default();
                        problem.label_plane(0, &labels, at % 3, &mut plane);
                        plane
                    })
                    .collect();
                // One again, and one that differs in the last bit.
                planes.push(planes[4].clone());
                let mut other = planes[7].clone();
                other.offset = other.offset.next_up();
                planes.insert(2, other);
                let mut work = problem.work();
                for _ in 0..40 {
                    let w: Vec<f64> = (0..problem.dim()).map(|_| scale * next()).collect();
                    let values: Vec<f64> = planes.iter().map(|plane| problem.value(0, plane, &w, &work)).collect();
                    let found = problem.highest(0, planes.iter(), &w, &mut work);
                    assert_eq!(found, last_highest(values.iter().copied().enumerate()), "{values:?}");
                    cases += 1;
                    let second = values.iter().filter(|value| **value < values[found]).fold(f64::MIN, |a, b| a.max(*b));
                    decided += u32::from(values[found] - second > 1e-5 * values[found].abs());
                }
            }
        }
        assert!(decided > cases / 3 && decided < cases, "{decided} of {cases} are clear");
    }
}
