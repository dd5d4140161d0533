//! The linear-chain model on words. φ^i is kept per position as label marginals, plus transition counts. A position
//! where φ^i and all planes in question have the truth's letter is not contested, and nothing is computed there.
//!
//! w is laid out [pixel][letter], then [previous][next], both in rows of 28 (26 letters padded to whole vectors), so
//! one sweep over the on-pixels of a position gives all its letter scores.

mod labelling;

use std::sync::Arc;

use self::labelling::{Labelling, agreement, differing, join_letters, ones, pair, wrong_pairs};
use super::{COPIES, Direction, Family, Fault, Paper, Problem, Sink, Sizes, vectors};
use crate::data::letters::{LETTERS, LetterData, PIXELS, WEIGHTS};
use crate::linalg::{accumulate_rows, chain_advance, chain_direction, chain_maxima, prefetch, scatter_rows};

/// Padded row of letters.
const ROW: usize = 28;
/// Where the transitions start.
const TRANSITIONS: usize = PIXELS * ROW;
/// Shares below this are rounding errors.
const DUST: f64 = 1e-20;
/// All letters, a bit each.
const ALL: u32 = (1 << LETTERS) - 1;

type Scores = [f64; ROW];

/// The family of chains.
pub const CHAIN: Family = Family {
    name: "chain",
    paper: Some(Paper::Ocr),
    pairwise: false,
    exact: true,
    oracle_seconds: |size| 5e-9 * size.bytes as f64 / 4.0 / size.n.max(1) as f64 + 2e-6,
    plane_bytes: |_| 4096,
};

/// Linear chain with normalised Hamming loss, no bias.
///
/// ```
/// use ssvm::{Solve, data::LetterData, problem::ChainProblem};
///
/// // The words "ab" and "b"; a has pixel 0, b has pixel 1.
/// let data = LetterData { pixels: vec![1, 2, 2], labels: vec![0, 1, 1], offsets: vec![0, 2, 3] };
/// let outcome = Solve::new(&ChainProblem::new(data.into(), 0.1)).gap(1e-4).run()?;
/// assert_eq!(outcome.weights.len(), 26 * 128 + 26 * 26);
/// # Ok::<(), ssvm::Error>(())
/// ```
pub struct ChainProblem {
    data: Arc<LetterData>,
    lambda: f64,
    /// On-pixels per word.
    on: Vec<u32>,
}

/// All φ^i without the factor 1/n.
pub struct Blocks {
    /// Per position: label marginals minus the truth.
    unary: Vec<Scores>,
    /// Per position: the letters of the truth and of marginals that can be other than 0, a bit each.
    letters: Vec<u32>,
    /// Per word: transition counts minus those of the truth, as (previous·28 + next, count), no zeros.
    pairs: Vec<Vec<(u16, f64)>>,
    /// Per word: expected loss.
    loss: Vec<f64>,
}

/// Scores of the loaded word, and the last direction computed.
pub struct Work {
    /// Loss-augmented unary scores per position.
    scores: Vec<Scores>,
    /// Letters that are scored, per position.
    letters: Vec<u32>,
    /// Best prefix scores per position.
    best: Vec<Scores>,
    /// φ̂ − φ^i per position where that is contested.
    delta: Vec<Scores>,
    /// The contested letters per position, a bit each; none where only the truth's letter is possible.
    contested: Vec<u32>,
    /// Score of the truth's own labels, which is subtracted because zero planes have value zero.
    truth: f64,
    /// φ̂ − φ^i over transitions: the transitions, and their changes.
    touched: Vec<u16>,
    pair_changes: Vec<f64>,
    /// All zero, except while a direction is computed.
    pair_delta: Vec<f64>,
}

impl ChainProblem {
    /// The problem with regularisation λ.
    pub fn new(data: Arc<LetterData>, lambda: f64) -> Self {
        let on =
            (0..data.len()).map(|i| data.pixels[data.range(i)].iter().map(|mask| mask.count_ones()).sum()).collect();
        Self { data, lambda, on }
    }

    fn truth(&self, i: usize) -> &[u8] {
        &self.data.labels[self.data.range(i)]
    }

    /// The fraction of wrong letters.
    fn loss(&self, i: usize, plane: &[u8]) -> f64 {
        let truth = self.truth(i);
        plane.iter().zip(truth).filter(|(hat, truth)| hat != truth).count() as f64 / truth.len() as f64
    }

    /// Scores of [`Work::letters`], except where only the truth's letter is possible: its score does not matter.
    fn score(&self, i: usize, w: &[f64], work: &mut Work) {
        let range = self.data.range(i);
        let loss = 1.0 / range.len() as f64;
        for (l, at) in range.enumerate() {
            let (scores, letters, truth) = (&mut work.scores[l], work.letters[l], self.data.labels[at]);
            if letters.is_power_of_two() {
                scores[usize::from(truth)] = 0.0;
            } else {
                accumulate_rows(&w[..TRANSITIONS], self.data.pixels[at], letters, truth, loss, scores);
            }
        }
        work.truth = labelling_score(self.truth(i), w, work);
    }
}

/// Loss-augmented score of a labelling of the loaded word.
#[inline(always)]
fn labelling_score(labels: &[u8], w: &[f64], work: &Work) -> f64 {
    let unary: f64 = labels.iter().zip(&work.scores).map(|(k, scores)| scores[usize::from(*k)]).sum();
    let pairs: f64 = labels.windows(2).map(|two| w[TRANSITIONS + pair(two)]).sum();
    unary + pairs
}

impl Problem for ChainProblem {
    type Plane = Labelling;
    type Blocks = Blocks;
    type Work = Work;

    fn family(&self) -> &'static Family {
        &CHAIN
    }

    super::compiled_here!();

    fn terms(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        TRANSITIONS + LETTERS * ROW
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn run_bytes(&self) -> u64 {
        let positions = vectors(self.data.labels.len(), ROW);
        // One list of transitions and one loss per word.
        vectors(COPIES, self.dim()).saturating_add(positions).saturating_add(vectors(self.terms(), 4))
    }

    fn blocks(&self) -> Blocks {
        Blocks {
            unary: vec![[0.0; ROW]; self.data.labels.len()],
            letters: self.data.labels.iter().map(|k| 1 << k).collect(),
            pairs: vec![Vec::new(); self.terms()],
            loss: vec![0.0; self.terms()],
        }
    }

    fn work(&self) -> Work {
        let longest = (0..self.terms()).map(|i| self.data.range(i).len()).max().unwrap_or(0);
        Work {
            scores: vec![[0.0; ROW]; longest],
            letters: vec![0; longest],
            best: vec![[0.0; ROW]; longest],
            delta: vec![[0.0; ROW]; longest],
            contested: vec![0; longest],
            truth: 0.0,
            pair_delta: vec![0.0; LETTERS * ROW],
            touched: Vec::with_capacity(LETTERS * ROW),
            pair_changes: Vec::with_capacity(LETTERS * ROW),
        }
    }

    /// Viterbi. Ties: lowest last letter, then lowest previous letter at each step back.
    fn oracle(&self, i: usize, w: &[f64], work: &mut Work, plane: &mut Labelling) -> Result<u64, Fault> {
        work.letters[..self.data.range(i).len()].fill(ALL);
        self.score(i, w, work);
        let transitions = &w[TRANSITIONS..];
        let length = self.data.range(i).len();
        work.best[0] = work.scores[0];
        for l in 1..length {
            let (before, after) = work.best.split_at_mut(l);
            chain_maxima(&before[l - 1], transitions, &mut after[0]);
            for k in 0..LETTERS {
                after[0][k] += work.scores[l][k];
            }
        }
        plane.clear();
        plane.resize(length, 0);
        let mut letter = 0;
        for k in 1..LETTERS {
            if work.best[length - 1][k] > work.best[length - 1][letter] {
                letter = k;
            }
        }
        plane[length - 1] = letter as u8;
        for l in (1..length).rev() {
            let (mut from, mut from_score) = (0, f64::NEG_INFINITY);
            for a in 0..LETTERS {
                let candidate = work.best[l - 1][a] + transitions[a * ROW + letter];
                if candidate > from_score {
                    (from, from_score) = (a, candidate);
                }
            }
            letter = from;
            plane[l - 1] = letter as u8;
        }
        Ok(u64::from(self.on[i]) * LETTERS as u64 + (length * LETTERS * LETTERS) as u64)
    }

    fn load<'a>(
        &self,
        i: usize,
        w: &[f64],
        blocks: &Blocks,
        planes: impl Iterator<Item = &'a Labelling>,
        work: &mut Work,
    ) {
        let known = &blocks.letters[self.data.range(i)];
        work.letters[..known.len()].copy_from_slice(known);
        for plane in planes {
            join_letters(&mut work.letters, plane);
        }
        self.score(i, w, work);
    }

    fn value(&self, _i: usize, plane: &Labelling, w: &[f64], work: &Work) -> f64 {
        // The truth is exactly the zero plane.
        (labelling_score(plane, w, work) - work.truth) * self.inverse_n()
    }

    fn direction(&self, i: usize, blocks: &Blocks, plane: &Labelling, w: &[f64], work: &mut Work) -> Direction {
        let range = self.data.range(i);
        let truth = self.truth(i);
        let transitions = &w[TRANSITIONS..];
        let known = blocks.letters[range.clone()].iter().zip(plane);
        for (contested, (letters, hat)) in work.contested.iter_mut().zip(known) {
            let letters = letters | 1 << hat;
            *contested = if letters.is_power_of_two() { 0 } else { letters };
        }
        let (mut gain, mut norm2) = chain_direction(
            &blocks.unary[range.clone()],
            &work.contested,
            plane,
            truth,
            &work.scores,
            &self.data.pixels[range.clone()],
            &mut work.delta,
        );
        work.touched.clear();
        for (at, count) in &blocks.pairs[i] {
            work.pair_delta[usize::from(*at)] = -count;
            work.touched.push(*at);
        }
        // The truth's own transitions are counted so that a pair shared with it cancels exactly.
        for [hat, truth] in wrong_pairs(plane, truth) {
            for (at, change) in [(pair(hat), 1.0), (pair(truth), -1.0)] {
                work.pair_delta[at] += change;
                work.touched.push(at as u16);
            }
        }
        work.pair_changes.clear();
        for at in &work.touched {
            // A pair that occurs again has been taken already.
            let change = std::mem::take(&mut work.pair_delta[usize::from(*at)]);
            work.pair_changes.push(change);
            gain += change * transitions[usize::from(*at)];
            norm2 += change * change;
        }
        let inverse_n = self.inverse_n();
        Direction {
            gain: gain * inverse_n,
            norm2: norm2 * inverse_n * inverse_n,
            offset: (self.loss(i, plane) - blocks.loss[i]) * inverse_n,
        }
    }

    fn advance(
        &self,
        i: usize,
        blocks: &mut Blocks,
        plane: &Labelling,
        gamma: f64,
        work: &mut Work,
        sink: &mut Sink<'_>,
    ) {
        let range = self.data.range(i);
        let inverse_n = self.inverse_n();
        let truth = self.truth(i);
        blocks.loss[i] += gamma * (self.loss(i, plane) - blocks.loss[i]);
        for (l, at) in range.enumerate() {
            let letters = work.contested[l];
            if letters == 0 {
                continue;
            }
            let (unary, delta) = (&mut blocks.unary[at], &mut work.delta[l]);
            chain_advance(unary, delta, letters, gamma, DUST);
            if gamma == 1.0 {
                let left = (0..LETTERS).filter(|k| unary[*k] != 0.0);
                blocks.letters[at] = left.fold(1 << truth[l], |letters, k| letters | 1 << k);
            } else {
                blocks.letters[at] |= 1 << plane[l];
            }
            let mask = self.data.pixels[at];
            sink.each(|target, scale| scatter_rows(target, mask, letters, delta, scale * inverse_n));
        }
        let pairs = &mut blocks.pairs[i];
        let known = pairs.len();
        for (place, (at, change)) in work.touched.iter().zip(&work.pair_changes).enumerate() {
            let mut change = gamma * change;
            if change == 0.0 {
                continue;
            }
            if place < known {
                let count = &mut pairs[place].1;
                if (*count + change).abs() < DUST {
                    change = -*count;
                }
                *count += change;
            } else {
                pairs.push((*at, change));
            }
            sink.each(|target, scale| target[TRANSITIONS + usize::from(*at)] += scale * inverse_n * change);
        }
        pairs.retain(|(_, count)| *count != 0.0);
    }

    fn add_block(&self, i: usize, blocks: &Blocks, scale: f64, out: &mut [f64]) -> f64 {
        let scale = scale * self.inverse_n();
        for at in self.data.range(i).filter(|at| !blocks.letters[*at].is_power_of_two()) {
            scatter_rows(out, self.data.pixels[at], blocks.letters[at], &blocks.unary[at], scale);
        }
        for (at, count) in &blocks.pairs[i] {
            out[TRANSITIONS + usize::from(*at)] += scale * count;
        }
        blocks.loss[i] * self.inverse_n()
    }

    fn add_plane(&self, i: usize, plane: &Labelling, scale: f64, out: &mut [f64]) -> f64 {
        let scale = scale * self.inverse_n();
        let truth = self.truth(i);
        for (l, at) in self.data.range(i).enumerate().filter(|(l, _)| plane[*l] != truth[*l]) {
            let mut changes = [0.0; ROW];
            changes[usize::from(plane[l])] = 1.0;
            changes[usize::from(truth[l])] = -1.0;
            scatter_rows(out, self.data.pixels[at], 1 << plane[l] | 1 << truth[l], &changes, scale);
        }
        for (hat, truth) in plane.windows(2).zip(truth.windows(2)) {
            out[TRANSITIONS + pair(hat)] += scale;
            out[TRANSITIONS + pair(truth)] -= scale;
        }
        self.offset(i, plane)
    }

    fn product_ops(&self, i: usize) -> u64 {
        2 * (u64::from(self.on[i]) + self.data.range(i).len() as u64)
    }

    fn offset(&self, i: usize, plane: &Labelling) -> f64 {
        self.loss(i, plane) * self.inverse_n()
    }

    /// Pixels are on or off, so the product of two letters is the number of pixels that they share.
    fn product(&self, i: usize, p: &Labelling, q: &Labelling, _work: &mut Work) -> f64 {
        let truth = self.truth(i);
        let pixels = &self.data.pixels[self.data.range(i)];
        let mut sum = 0;
        let wrong = |plane: &'_ [u8], l: usize| plane[l] != truth[l];
        for l in (0..truth.len()).filter(|l| wrong(p, *l)) {
            for m in (0..truth.len()).filter(|m| wrong(q, *m)) {
                let shared = agreement(&p[l], &truth[l], &q[m], &truth[m]);
                if shared != 0 {
                    sum += shared * i64::from((pixels[l] & pixels[m]).count_ones());
                }
            }
        }
        for [a, truth_a] in wrong_pairs(p, truth) {
            for [b, truth_b] in wrong_pairs(q, truth) {
                sum += agreement(&a, &truth_a, &b, &truth_b);
            }
        }
        sum as f64 * self.inverse_n() * self.inverse_n()
    }

    /// All letters and transitions of a labelling and of the truth, also those in both, which cancel.
    fn sizes(&self, i: usize, _plane: &Labelling, _work: &mut Work) -> Sizes {
        let pixels = &self.data.pixels[self.data.range(i)];
        let lengths: f64 = pixels.iter().map(|mask| f64::from(mask.count_ones()).sqrt() + 1.0).sum();
        let length = std::f64::consts::SQRT_2 * lengths * self.inverse_n();
        Sizes { length, offset: self.inverse_n(), additions: (PIXELS + 3 * pixels.len()) as f64 }
    }

    fn gram_ops(&self, i: usize) -> u64 {
        self.data.range(i).len() as u64
    }

    fn values<'a>(
        &self,
        i: usize,
        w: &[f64],
        planes: impl Iterator<Item = &'a Labelling> + Clone,
        work: &mut Work,
        values: &mut Vec<f64>,
    ) {
        for (letters, truth) in work.letters.iter_mut().zip(self.truth(i)) {
            *letters = 1 << truth;
        }
        for plane in planes.clone() {
            join_letters(&mut work.letters, plane);
        }
        self.score(i, w, work);
        values.extend(planes.map(|plane| self.value(i, plane, w, work)));
    }

    fn add_planes<'a>(
        &self,
        i: usize,
        planes: impl Iterator<Item = (f64, &'a Labelling)>,
        work: &mut Work,
        sink: &mut Sink<'_>,
    ) -> f64 {
        let range = self.data.range(i);
        let truth = self.truth(i);
        let inverse_n = self.inverse_n();
        let (mut contested, mut offset) = (0u64, 0.0);
        for (c, plane) in planes {
            let wrong = differing(plane, truth);
            for l in ones(wrong & !contested, range.len()) {
                work.delta[l] = [0.0; ROW];
                work.contested[l] = 1 << truth[l];
            }
            contested |= wrong;
            let mut count = 0;
            for l in ones(wrong, range.len()).filter(|l| plane[*l] != truth[*l]) {
                work.delta[l][usize::from(plane[l])] += c;
                work.delta[l][usize::from(truth[l])] -= c;
                work.contested[l] |= 1 << plane[l];
                count += 1;
            }
            for [hat, truth] in wrong_pairs(plane, truth) {
                sink.each(|target, scale| {
                    target[TRANSITIONS + pair(hat)] += scale * inverse_n * c;
                    target[TRANSITIONS + pair(truth)] -= scale * inverse_n * c;
                });
            }
            offset += c * f64::from(count) / range.len() as f64 * inverse_n;
        }
        for l in ones(contested, range.len()) {
            let (mask, letters, delta) = (self.data.pixels[range.start + l], work.contested[l], &work.delta[l]);
            sink.each(|target, scale| scatter_rows(target, mask, letters, delta, scale * inverse_n));
        }
        offset
    }

    fn approach(&self, i: usize, blocks: &Blocks) {
        let range = self.data.range(i);
        prefetch(&self.data.pixels[range.clone()]);
        prefetch(&self.data.labels[range.clone()]);
        prefetch(&blocks.letters[range]);
        prefetch(&blocks.pairs[i..=i]);
    }

    fn prefetch(&self, i: usize, blocks: &Blocks, _work: &mut Work) {
        for at in self.data.range(i).filter(|at| !blocks.letters[*at].is_power_of_two()) {
            prefetch(&blocks.unary[at]);
        }
        prefetch(&blocks.pairs[i]);
        prefetch(&blocks.loss[i..=i]);
    }

    fn exported(&self) -> usize {
        WEIGHTS
    }

    fn weights(&self, w: &[f64]) -> Vec<f64> {
        let unary = (0..LETTERS).flat_map(|k| (0..PIXELS).map(move |p| w[p * ROW + k]));
        let pairs = (0..LETTERS).flat_map(|a| (0..LETTERS).map(move |b| w[TRANSITIONS + a * ROW + b]));
        unary.chain(pairs).collect()
    }
}
