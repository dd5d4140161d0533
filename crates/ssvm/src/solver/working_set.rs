//! W_i: the planes kept for one term in the order of arrival, each with the iteration in which it was last active.

use smallvec::SmallVec;

use super::Metered;
use crate::linalg::prefetch;
use crate::problem::Problem;

/// A kept plane.
#[derive(Clone, Debug)]
pub struct KeptPlane<P> {
    /// The plane.
    pub plane: P,
    /// Iteration in which the exact or the approximate oracle last returned it.
    pub last_active: u64,
}

/// The working set of one term.
///
/// ```
/// use ssvm::solver::WorkingSet;
///
/// let (mut set, mut spare) = (WorkingSet::default(), Vec::new());
/// for (iteration, plane) in [(1, 'a'), (2, 'b'), (3, 'a'), (4, 'c')] {
///     set.insert(&plane, iteration, 2, &mut spare);
/// }
/// // Two stay; the one that was inactive for longest went.
/// assert_eq!(set.planes().collect::<String>(), "ac");
/// ```
#[derive(Clone, Debug)]
pub struct WorkingSet<P> {
    entries: SmallVec<[KeptPlane<P>; 2]>,
}

impl<P> Default for WorkingSet<P> {
    fn default() -> Self {
        Self { entries: SmallVec::new() }
    }
}

impl<P: Clone + PartialEq + Default> WorkingSet<P> {
    /// Number of planes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The planes, oldest first.
    pub fn planes(&self) -> impl Iterator<Item = &P> + Clone {
        self.entries.iter().map(|entry| &entry.plane)
    }

    /// One plane.
    pub fn plane(&self, at: usize) -> &P {
        &self.entries[at].plane
    }

    /// Prefetches the planes.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.entries);
    }

    /// Marks a plane active.
    pub fn activate(&mut self, at: usize, iteration: u64) {
        self.entries[at].last_active = iteration;
    }

    /// Adds an oracle's plane; a known one is only marked active. Beyond `most` planes the longest inactive one moves
    /// to `spare`, so that its memory is reused. Returns whether the plane is new.
    pub fn insert(&mut self, plane: &P, iteration: u64, most: usize, spare: &mut Vec<P>) -> bool {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.plane == *plane) {
            entry.last_active = iteration;
            return false;
        }
        let mut slot = spare.pop().unwrap_or_default();
        slot.clone_from(plane);
        self.entries.push(KeptPlane { plane: slot, last_active: iteration });
        if self.entries.len() > most
            && let Some(longest) = (0..self.entries.len()).min_by_key(|at| self.entries[*at].last_active)
        {
            spare.push(self.entries.remove(longest).plane);
        }
        true
    }

    /// Drops planes inactive for more than `t` iterations, but never the last plane.
    pub fn expire(&mut self, iteration: u64, t: u64, spare: &mut Vec<P>) {
        let mut at = 0;
        while at < self.entries.len() && self.entries.len() > 1 {
            if iteration - self.entries[at].last_active > t {
                spare.push(self.entries.remove(at).plane);
            } else {
                at += 1;
            }
        }
    }
}

/// Per term the value of its best plane at w, but at least `least`, see [`super::State::kept_values`].
pub(super) fn best_values<'a, Q: Problem, I>(
    problem: Metered<'_, Q>,
    sets: impl Iterator<Item = I>,
    w: &[f64],
    least: f64,
) -> Vec<f64>
where
    I: Iterator<Item = &'a Q::Plane> + Clone,
    Q::Plane: 'a,
{
    let (mut work, mut values) = (problem.work(), Vec::new());
    let best = |(i, planes)| {
        values.clear();
        problem.values(i, w, planes, &mut work, &mut values);
        values.iter().copied().fold(least, f64::max)
    };
    sets.enumerate().map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_and_expiry() {
        let (mut set, mut spare) = (WorkingSet::default(), Vec::new());
        for (t, plane) in [(1, 'a'), (2, 'b'), (3, 'a'), (4, 'c')] {
            set.insert(&plane, t, 2, &mut spare);
        }
        assert_eq!(set.planes().collect::<String>(), "ac");
        assert_eq!(spare, ['b']);
        set.expire(13, 10, &mut spare);
        assert_eq!(set.len(), 2);
        set.expire(14, 10, &mut spare);
        assert_eq!(set.planes().collect::<String>(), "c");
        set.expire(99, 10, &mut spare);
        assert_eq!(set.len(), 1);
    }
}
