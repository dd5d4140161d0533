//! Multiclass problems, with planes x_i ⊗ (e_y − e_{y_i})/n. φ^i is kept as its K label shares α, never as a d-vector.
//!
//! Large features make small steps: the truth's share stays close to 1 and would absorb them. Shares are then kept as
//! differences α − e_{y_i}, which lose no digits. Ordinary data keeps α itself.

use std::sync::Arc;

use super::{COPIES, Direction, Family, Fault, Paper, Problem, Sink, Sizes, vectors};
use crate::data::multiclass::{FeatureRow, Features, MulticlassData};
use crate::linalg::{add_scaled, dot, dot_rows, prefetch, prefetch_near, zeros};

/// Shares below this are rounding errors. Dropping them keeps the support small and avoids denormals.
const DUST: f64 = 1e-20;

/// From this ‖x‖²/(nλ) on, differences are kept. Below it, rounding of a share moves no score by more than about 1e-10.
const LARGE: f64 = (1 << 20) as f64;

/// The largest supported size of a feature. Differences are about 1/‖x‖² and steps need their squares, which vanish
/// from about 1e77 on.
pub const LARGEST_FEATURE: f64 = 1e60;

/// The family of multiclass problems.
pub const MULTICLASS: Family = Family {
    name: "multiclass",
    paper: Some(Paper::Usps),
    pairwise: false,
    exact: true,
    oracle_seconds: |size| 0.1e-9 * size.d as f64,
    plane_bytes: |_| 64,
};

/// Multiclass SVM in the Crammer–Singer form with 0/1 loss, no bias.
///
/// ```
/// use ssvm::data::{MulticlassData, multiclass::Features};
/// use ssvm::{Solve, problem::MulticlassProblem};
///
/// // Two points on a line.
/// let data = MulticlassData {
///     num_labels: 2,
///     dim: 1,
///     labels: vec![0, 1],
///     label_names: vec!["left".into(), "right".into()],
///     features: Features::Dense(vec![-1.0, 1.0]),
/// };
/// let outcome = Solve::new(&MulticlassProblem::new(data.into(), 0.5)).gap(1e-6).run()?;
/// assert!(outcome.weights[0] < 0.0 && outcome.weights[1] > 0.0);
/// # Ok::<(), ssvm::Error>(())
/// ```
pub struct MulticlassProblem {
    data: Arc<MulticlassData>,
    lambda: f64,
    norms: Vec<f64>,
    /// Whether φ^i is kept as α − e_{y_i}.
    differences: bool,
}

/// The share of y, or its difference from the truth's, if φ^i were φ̂.
#[inline(always)]
fn goal<const DIFFERENCES: bool>(y: usize, hat: usize, truth: usize) -> f64 {
    let share = f64::from(u8::from(y == hat));
    if DIFFERENCES { share - f64::from(u8::from(y == truth)) } else { share }
}

/// Label scores ⟨w_y, x_i⟩ of the loaded term.
pub struct Work {
    scores: Vec<f64>,
    needed: Vec<usize>,
}

impl MulticlassProblem {
    /// The problem with regularisation λ.
    pub fn new(data: Arc<MulticlassData>, lambda: f64) -> Self {
        let norms: Vec<f64> = (0..data.len())
            .map(|i| match data.row(i) {
                FeatureRow::Dense(x) => dot(x, x),
                FeatureRow::Sparse(_, values) => dot(values, values),
            })
            .collect();
        let large = LARGE * data.len() as f64 * lambda;
        Self { differences: norms.iter().any(|norm| *norm > large), data, lambda, norms }
    }

    fn labels(&self) -> usize {
        self.data.num_labels
    }

    /// Products of φ̂ − φ^i from the loaded scores.
    #[inline(always)]
    fn direction_of<const DIFFERENCES: bool>(&self, i: usize, blocks: &[f64], hat: usize, work: &Work) -> Direction {
        let (k, truth) = (self.labels(), self.data.labels[i] as usize);
        let (mut gain, mut norm2) = (0.0, 0.0);
        for (y, share) in blocks[i * k..(i + 1) * k].iter().enumerate() {
            let change = goal::<DIFFERENCES>(y, hat, truth) - share;
            if change != 0.0 {
                gain += change * (work.scores[y] + f64::from(u8::from(y != truth)));
                norm2 += change * change;
            }
        }
        let inverse_n = self.inverse_n();
        let share = blocks[i * k + truth];
        let offset = f64::from(u8::from(hat != truth)) - if DIFFERENCES { -share } else { 1.0 - share };
        Direction {
            gain: gain * inverse_n,
            norm2: norm2 * self.norms[i] * inverse_n * inverse_n,
            offset: offset * inverse_n,
        }
    }

    #[inline(always)]
    fn advance_of<const DIFFERENCES: bool>(
        &self,
        i: usize,
        blocks: &mut [f64],
        hat: usize,
        gamma: f64,
        sink: &mut Sink<'_>,
    ) {
        let (k, truth) = (self.labels(), self.data.labels[i] as usize);
        // Differences are as small as 1/‖x‖²; dust is smaller still.
        let dust = if DIFFERENCES { DUST / (self.norms[i] * self.inverse_n() / self.lambda).max(1.0) } else { DUST };
        for y in 0..k {
            let share = &mut blocks[i * k + y];
            let mut change = gamma * (goal::<DIFFERENCES>(y, hat, truth) - *share);
            if change == 0.0 {
                continue;
            }
            if (*share + change).abs() < dust {
                change = -*share;
            }
            *share += change;
            sink.each(|target, scale| self.add_row(i, y, scale * change * self.inverse_n(), target));
        }
    }

    /// ⟨w_y, x_i⟩.
    #[inline(always)]
    fn score(&self, i: usize, y: usize, w: &[f64]) -> f64 {
        match self.data.row(i) {
            FeatureRow::Dense(x) => dot(&w[y * x.len()..(y + 1) * x.len()], x),
            FeatureRow::Sparse(indices, values) => {
                let k = self.labels();
                indices.iter().zip(values).map(|(f, v)| v * w[*f as usize * k + y]).sum()
            }
        }
    }

    /// target ← target + c · x_i in block y.
    fn add_row(&self, i: usize, y: usize, c: f64, target: &mut [f64]) {
        let p = self.data.dim;
        match self.data.row(i) {
            FeatureRow::Dense(x) => add_scaled(&mut target[y * p..(y + 1) * p], c, x),
            FeatureRow::Sparse(indices, values) => {
                let k = self.labels();
                for (f, v) in indices.iter().zip(values) {
                    target[*f as usize * k + y] += c * v;
                }
            }
        }
    }
}

impl Problem for MulticlassProblem {
    type Plane = u32;
    /// Label shares, n × K, or their differences from the truth's.
    type Blocks = Vec<f64>;
    type Work = Work;

    fn family(&self) -> &'static Family {
        &MULTICLASS
    }

    super::compiled_here!();

    fn terms(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.data.dim * self.labels()
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn run_bytes(&self) -> u64 {
        vectors(COPIES, self.dim()).saturating_add(vectors(self.terms(), self.labels()))
    }

    fn blocks(&self) -> Vec<f64> {
        let k = self.labels();
        let mut shares: Vec<f64> = zeros(self.terms() * k);
        if !self.differences {
            for (i, y) in self.data.labels.iter().enumerate() {
                shares[i * k + *y as usize] = 1.0;
            }
        }
        shares
    }

    fn refusal(&self) -> Option<String> {
        let largest = |i: usize| {
            let (FeatureRow::Dense(x) | FeatureRow::Sparse(_, x)) = self.data.row(i);
            x.iter().fold(0.0f64, |most, v| if v.abs() <= most { most } else { v.abs() })
        };
        let i = (0..self.terms()).find(|i| !self.norms[*i].is_finite() || largest(*i) > LARGEST_FEATURE)?;
        Some(format!(
            "example {} has a feature of size {:e}, above the limit of {LARGEST_FEATURE:e}; scale \
             the features, for example to [−1, 1]",
            i + 1,
            largest(i)
        ))
    }

    fn work(&self) -> Work {
        Work { scores: vec![0.0; self.labels()], needed: Vec::with_capacity(self.labels()) }
    }

    fn oracle(&self, i: usize, w: &[f64], work: &mut Work, plane: &mut u32) -> Result<u64, Fault> {
        let length = match self.data.row(i) {
            FeatureRow::Dense(x) => {
                dot_rows(w, x, &mut work.scores);
                x.len()
            }
            FeatureRow::Sparse(indices, values) => {
                let k = self.labels();
                work.scores.fill(0.0);
                for (f, v) in indices.iter().zip(values) {
                    add_scaled(&mut work.scores, *v, &w[*f as usize * k..(*f as usize + 1) * k]);
                }
                indices.len()
            }
        };
        let truth = self.data.labels[i] as usize;
        let (mut best, mut best_score) = (0, f64::NEG_INFINITY);
        for (y, score) in work.scores.iter().enumerate() {
            let score = if y == truth { *score } else { score + 1.0 };
            if score > best_score {
                (best, best_score) = (y, score);
            }
        }
        *plane = best as u32;
        Ok((length * self.labels()) as u64)
    }

    fn load<'a>(&self, i: usize, w: &[f64], blocks: &Vec<f64>, planes: impl Iterator<Item = &'a u32>, work: &mut Work) {
        let k = self.labels();
        work.needed.clear();
        let truth = self.data.labels[i] as usize;
        work.needed.push(truth);
        for (y, share) in blocks[i * k..(i + 1) * k].iter().enumerate() {
            if *share != 0.0 && y != truth {
                work.needed.push(y);
            }
        }
        for plane in planes {
            if !work.needed.contains(&(*plane as usize)) {
                work.needed.push(*plane as usize);
            }
        }
        for y in &work.needed {
            work.scores[*y] = self.score(i, *y, w);
        }
    }

    #[inline]
    fn value(&self, i: usize, plane: &u32, _w: &[f64], work: &Work) -> f64 {
        let (y, truth) = (*plane as usize, self.data.labels[i] as usize);
        if y == truth { 0.0 } else { (work.scores[y] + 1.0 - work.scores[truth]) * self.inverse_n() }
    }

    fn direction(&self, i: usize, blocks: &Vec<f64>, plane: &u32, _w: &[f64], work: &mut Work) -> Direction {
        if self.differences {
            self.direction_of::<true>(i, blocks, *plane as usize, work)
        } else {
            self.direction_of::<false>(i, blocks, *plane as usize, work)
        }
    }

    fn advance(&self, i: usize, blocks: &mut Vec<f64>, plane: &u32, gamma: f64, _work: &mut Work, sink: &mut Sink<'_>) {
        if self.differences {
            self.advance_of::<true>(i, blocks, *plane as usize, gamma, sink);
        } else {
            self.advance_of::<false>(i, blocks, *plane as usize, gamma, sink);
        }
    }

    fn add_block(&self, i: usize, blocks: &Vec<f64>, scale: f64, out: &mut [f64]) -> f64 {
        let (k, truth) = (self.labels(), self.data.labels[i] as usize);
        for (y, share) in blocks[i * k..(i + 1) * k].iter().enumerate() {
            let share = if self.differences { *share } else { share - f64::from(u8::from(y == truth)) };
            if share != 0.0 {
                self.add_row(i, y, scale * share * self.inverse_n(), out);
            }
        }
        let share = blocks[i * k + truth];
        if self.differences { -share * self.inverse_n() } else { (1.0 - share) * self.inverse_n() }
    }

    fn add_plane(&self, i: usize, plane: &u32, scale: f64, out: &mut [f64]) -> f64 {
        let (y, truth) = (*plane as usize, self.data.labels[i] as usize);
        if y == truth {
            return 0.0;
        }
        self.add_row(i, y, scale * self.inverse_n(), out);
        self.add_row(i, truth, -scale * self.inverse_n(), out);
        self.inverse_n()
    }

    fn product_ops(&self, i: usize) -> u64 {
        match self.data.row(i) {
            FeatureRow::Dense(x) => x.len() as u64,
            FeatureRow::Sparse(indices, _) => indices.len() as u64,
        }
    }

    fn offset(&self, i: usize, plane: &u32) -> f64 {
        if *plane == self.data.labels[i] { 0.0 } else { self.inverse_n() }
    }

    fn product(&self, i: usize, p: &u32, q: &u32, _work: &mut Work) -> f64 {
        let truth = self.data.labels[i];
        if *p == truth || *q == truth {
            return 0.0;
        }
        self.norms[i] * if p == q { 2.0 } else { 1.0 } * self.inverse_n() * self.inverse_n()
    }

    /// The scores of two labels, each of which may be large, and the loss.
    fn sizes(&self, i: usize, _plane: &u32, _work: &mut Work) -> Sizes {
        let length = (2.0 * self.norms[i]).sqrt() * self.inverse_n();
        Sizes { length, offset: self.inverse_n(), additions: self.product_ops(i) as f64 }
    }

    fn gram_ops(&self, _i: usize) -> u64 {
        1
    }

    #[inline]
    fn values<'a>(
        &self,
        i: usize,
        w: &[f64],
        planes: impl Iterator<Item = &'a u32> + Clone,
        work: &mut Work,
        values: &mut Vec<f64>,
    ) {
        let truth = self.data.labels[i] as usize;
        work.scores[truth] = self.score(i, truth, w);
        values.extend(planes.map(|plane| {
            work.scores[*plane as usize] = self.score(i, *plane as usize, w);
            self.value(i, plane, w, work)
        }));
    }

    fn add_planes<'a>(
        &self,
        i: usize,
        planes: impl Iterator<Item = (f64, &'a u32)>,
        _work: &mut Work,
        sink: &mut Sink<'_>,
    ) -> f64 {
        let truth = self.data.labels[i] as usize;
        let mut total = 0.0;
        for (c, plane) in planes.filter(|(_, plane)| **plane as usize != truth) {
            let c = c * self.inverse_n();
            total += c;
            sink.each(|target, scale| self.add_row(i, *plane as usize, scale * c, target));
        }
        sink.each(|target, scale| self.add_row(i, truth, -scale * total, target));
        total
    }

    #[inline]
    fn approach(&self, i: usize, _blocks: &Vec<f64>) {
        prefetch(&self.data.labels[i..=i]);
        prefetch(&self.norms[i..=i]);
        if let FeatureRow::Dense(x) = self.data.row(i) {
            prefetch_near(x);
        }
    }

    #[inline]
    fn prefetch(&self, i: usize, blocks: &Vec<f64>, _work: &mut Work) {
        match self.data.row(i) {
            FeatureRow::Dense(x) => prefetch(x),
            FeatureRow::Sparse(indices, values) => {
                prefetch(indices);
                prefetch(values);
            }
        }
        let k = self.labels();
        prefetch(&blocks[i * k..(i + 1) * k]);
    }

    fn weights(&self, w: &[f64]) -> Vec<f64> {
        match self.data.features {
            Features::Dense(_) => w.to_vec(),
            Features::Sparse { .. } => {
                let (k, p) = (self.labels(), self.data.dim);
                (0..k * p).map(|at| w[at % p * k + at / p]).collect()
            }
        }
    }
}
