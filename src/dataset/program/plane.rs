//! A plane of a program: sparse or dense, whichever is smaller, shared by all working sets that keep it.

use std::sync::Arc;

use super::protocol::Answer;
use ssvm::linalg::{add_scaled, count_nonzero, dot, product_size};

#[derive(Clone, Debug, Default)]
pub struct Plane(Arc<Data>);

#[derive(Debug, Default)]
struct Data {
    key: Option<String>,
    offset: f64,
    /// Coordinates of the values, ascending; those of a dense plane are not listed.
    coordinates: Option<Vec<u32>>,
    values: Vec<f64>,
}

/// Labellings with the same key are the same; without keys the numbers decide.
impl PartialEq for Plane {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0.key, &other.0.key) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => self.same_numbers(other),
        }
    }
}

impl Plane {
    /// From an answer, without what is 0; of a program whose truth is not 0, the difference to the truth's plane.
    pub(super) fn of(answer: &Answer, d: usize, truth: Option<&Self>) -> Self {
        let coordinate = |at: usize| answer.coordinates.get(at).map_or(at, |coordinate| *coordinate as usize);
        let whole = || {
            if answer.dense {
                return answer.values.clone();
            }
            let mut whole = vec![0.0; d];
            answer.values.iter().enumerate().for_each(|(at, value)| whole[coordinate(at)] = *value);
            whole
        };
        let mut offset = answer.offset;
        let difference = truth.map(|truth| {
            let mut difference = whole();
            truth.add_to(-1.0, &mut difference);
            offset -= truth.offset();
            difference
        });
        let values = difference.as_ref().unwrap_or(&answer.values);
        let count = count_nonzero(values);
        let (coordinates, values) = if 2 * count > d {
            (None, difference.unwrap_or_else(whole))
        } else {
            let number = |at: usize| if difference.is_some() { at } else { coordinate(at) };
            let kept = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
            let (coordinates, values) = kept.map(|(at, value)| (number(at) as u32, *value)).unzip();
            (Some(coordinates), values)
        };
        Self(Arc::new(Data { key: answer.key.clone(), offset, coordinates, values }))
    }

    /// φ∘.
    pub fn offset(&self) -> f64 {
        self.0.offset
    }

    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// Whether it is 0 everywhere, as the truth's.
    pub fn is_zero(&self) -> bool {
        self.0.offset == 0.0 && self.0.values.iter().all(|value| *value == 0.0)
    }

    /// Whether the numbers of φ⋆ are whole.
    pub(super) fn is_whole(&self) -> bool {
        self.0.values.iter().all(|value| value.fract() == 0.0)
    }

    pub fn same_numbers(&self, other: &Self) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        Arc::ptr_eq(&self.0, &other.0)
            || (a.offset == b.offset && a.coordinates == b.coordinates && a.values == b.values)
    }

    /// ⟨φ⋆, w⟩. A coordinate always goes to the same of 16 sums, as in a dense product: where w is 0 nothing is rounded
    /// otherwise, and planes of a term that are equally high stay so to the bit.
    pub fn dot(&self, w: &[f64]) -> f64 {
        let Data { coordinates, values, .. } = &*self.0;
        let Some(coordinates) = coordinates else { return if values.is_empty() { 0.0 } else { dot(values, w) } };
        let mut sums = [0.0; 16];
        for (at, value) in coordinates.iter().zip(values) {
            sums[*at as usize % 16] += value * w[*at as usize];
        }
        let lane = |l: usize| (sums[l] + sums[l + 4]) + (sums[l + 8] + sums[l + 12]);
        (lane(0) + lane(2)) + (lane(1) + lane(3))
    }

    /// ⟨φ, [w 1]⟩, and the sum of the sizes of what is summed: rounding is a small part of it.
    pub fn value_and_size(&self, w: &[f64]) -> (f64, f64) {
        let value = self.dot(w) + self.offset();
        let mut size = self.offset().abs();
        match &self.0.coordinates {
            None => size += product_size(&self.0.values, w),
            Some(_) => self.each(|at, v| size += (v * w[at]).abs()),
        }
        (value, size)
    }

    /// out ← out + scale·φ⋆.
    pub fn add_to(&self, scale: f64, out: &mut [f64]) {
        match &self.0.coordinates {
            None if self.0.values.is_empty() => {}
            None => add_scaled(out, scale, &self.0.values),
            Some(_) => self.each(|at, value| out[at] += scale * value),
        }
    }

    /// ⟨φ⋆, other⋆⟩; needs d numbers of scratch that are 0, and leaves them so.
    pub fn product(&self, other: &Self, scratch: &mut [f64]) -> f64 {
        match (&self.0.coordinates, &other.0.coordinates) {
            (None, _) if self.0.values.len() == scratch.len() => other.dot(&self.0.values),
            (_, None) if other.0.values.len() == scratch.len() => self.dot(&other.0.values),
            _ => {
                other.each(|at, value| scratch[at] = value);
                let product = self.dot(scratch);
                other.each(|at, _| scratch[at] = 0.0);
                product
            }
        }
    }

    fn each(&self, mut take: impl FnMut(usize, f64)) {
        match &self.0.coordinates {
            None => self.0.values.iter().enumerate().for_each(|(at, value)| take(at, *value)),
            Some(at) => at.iter().zip(&self.0.values).for_each(|(at, value)| take(*at as usize, *value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(dense: bool, pairs: &[(u32, f64)], d: usize) -> Answer {
        let mut values = vec![0.0; d];
        for (at, value) in pairs {
            values[*at as usize] = *value;
        }
        if dense {
            return Answer { dense, offset: 0.5, values, ..Answer::default() };
        }
        let (coordinates, values) = pairs.iter().copied().unzip();
        Answer { dense, offset: 0.5, coordinates, values, ..Answer::default() }
    }

    #[test]
    fn the_form_of_an_answer_does_not_matter() {
        let w: Vec<f64> = (0..9).map(|k| f64::from(k) - 3.5).collect();
        let few: &[(u32, f64)] = &[(1, 2.0), (4, -1.0), (8, 0.25)];
        let many: Vec<(u32, f64)> = (0..9).map(|k| (k, f64::from(k * k) - 3.0)).collect();
        for pairs in [few, &many] {
            let [sparse, dense] = [false, true].map(|dense| Plane::of(&answer(dense, pairs, 9), 9, None));
            assert!(sparse == dense && sparse.dot(&w) == dense.dot(&w));
            let expected: f64 = pairs.iter().map(|(at, value)| value * w[*at as usize]).sum();
            assert!((sparse.dot(&w) - expected).abs() < 1e-12);
            let mut out = vec![0.0; 9];
            sparse.add_to(2.0, &mut out);
            for (at, value) in pairs {
                assert_eq!(out[*at as usize], 2.0 * value);
            }
            let truth = Plane::of(&answer(true, &many, 9), 9, None);
            let shifted = Plane::of(&answer(false, pairs, 9), 9, Some(&truth));
            assert!((shifted.dot(&w) - (expected - truth.dot(&w))).abs() < 1e-12 && shifted.offset() == 0.0);
        }
    }

    #[test]
    fn products_of_all_forms_agree() {
        let few = Plane::of(&answer(false, &[(1, 2.0), (4, -1.0)], 9), 9, None);
        let many = Plane::of(&answer(true, &(0..9).map(|k| (k, f64::from(k))).collect::<Vec<_>>(), 9), 9, None);
        let mut scratch = vec![0.0; 9];
        assert_eq!(few.product(&few, &mut scratch), 5.0);
        assert_eq!(few.product(&many, &mut scratch), -2.0);
        assert_eq!(many.product(&few, &mut scratch), -2.0);
        assert_eq!(many.product(&many, &mut scratch), 204.0);
        assert_eq!(Plane::default().product(&many, &mut scratch), 0.0);
        assert_eq!(many.product(&Plane::default(), &mut scratch), 0.0);
        assert!(scratch.iter().all(|value| *value == 0.0));
    }

    #[test]
    fn keys_decide_when_there_are_two() {
        let plane = |key: Option<&str>, value: f64| {
            Plane::of(&Answer { key: key.map(str::to_owned), ..answer(false, &[(0, value)], 4) }, 4, None)
        };
        assert!(plane(Some("a"), 1.0) == plane(Some("a"), 2.0) && plane(Some("a"), 1.0) != plane(Some("b"), 1.0));
        assert!(plane(None, 1.0) == plane(Some("a"), 1.0) && plane(None, 1.0) != plane(None, 2.0));
    }
}
