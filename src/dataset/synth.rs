//! Synthetic twins: seeded data with the family and the dimensions of the original. All operations are ones that IEEE
//! 754 fixes to the last bit (sums, products, quotients, square roots), so the bits are the same everywhere.
//! docs/twins.md describes how each twin is made.
//!
//! The numbers below are measured on the real sets, or fitted to properties that no claim is about: sizes, balance,
//! norms, training error and value of the optimum. `tests/suite/twins.rs` checks the twins against these.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::twin::{NODE_FEATURES, STANFORD_LABELS, Twin, USPS_LABELS};
use ssvm::data::graph::GraphData;
use ssvm::data::letters::{LETTERS, LetterData, PIXELS};
use ssvm::data::multiclass::{Features, MulticlassData};
use ssvm::linalg::zeros;

/// Random numbers of one stream of a seed: stream 0 for what all examples share, 1 + i for example i.
struct Noise(Pcg64);

impl Noise {
    fn new(seed: u64, stream: u64) -> Self {
        // SplitMix64 keeps neighbouring streams apart.
        let mut mixed =
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(Pcg64::seed_from_u64(mixed ^ (mixed >> 31)))
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..bound.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Nearly normal with mean 0 and variance 1: the sum of four uniform numbers from one draw.
    fn normal(&mut self) -> f64 {
        let bits = self.0.next_u64();
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        (sum as f64 * (1.0 / 65536.0) - 2.0) * 1.732_050_807_568_877_2
    }

    /// An index with probability in proportion to its share.
    fn share(&mut self, shares: &[u32]) -> usize {
        let mut rest = self.below(shares.iter().sum::<u32>() as usize);
        for (index, &share) in shares.iter().enumerate() {
            if rest < share as usize {
                return index;
            }
            rest -= share as usize;
        }
        0
    }
}

/// The corners of a pen stroke (x, y), in pictures of height 1.
type Stroke = Vec<[f64; 2]>;

fn sign(noise: &mut Noise, corners: usize, width: f64) -> Stroke {
    (0..corners).map(|_| [width * (0.1 + 0.8 * noise.unit()), 0.15 + 0.7 * noise.unit()]).collect()
}

struct Hand {
    slant: f64,
    stretch: [f64; 2],
    shift: [f64; 2],
}

impl Hand {
    fn new(noise: &mut Noise, spread: f64) -> Self {
        let mut draw = || spread * noise.normal();
        Self { slant: draw(), stretch: [1.0 + draw(), 1.0 + draw()], shift: [0.25 * draw(), 0.25 * draw()] }
    }

    fn write(&self, noise: &mut Noise, sign: &Stroke, width: f64, wobble: f64) -> Stroke {
        let corner = |&[x, y]: &[f64; 2]| {
            let y = 0.5 + self.stretch[1] * (y - 0.5) + self.shift[1] + wobble * noise.normal();
            let x = 0.5 * width + self.stretch[0] * (x - 0.5 * width) + self.shift[0];
            [x + self.slant * (y - 0.5) + width * wobble * noise.normal(), y]
        };
        sign.iter().map(corner).collect()
    }
}

fn distance2(stroke: &Stroke, at: [f64; 2]) -> f64 {
    let to_line = |ends: &[[f64; 2]]| {
        let line = [ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]];
        let point = [at[0] - ends[0][0], at[1] - ends[0][1]];
        // The small number is for corners that coincide.
        let length2 = line[0] * line[0] + line[1] * line[1] + 1e-12;
        let along = ((line[0] * point[0] + line[1] * point[1]) / length2).clamp(0.0, 1.0);
        let off = [point[0] - along * line[0], point[1] - along * line[1]];
        off[0] * off[0] + off[1] * off[1]
    };
    stroke.windows(2).map(to_line).fold(f64::INFINITY, f64::min)
}

/// Examples of the digits 0–9 in the USPS training set.
const DIGITS: [u32; USPS_LABELS] = [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644];

pub fn usps(twin: &Twin) -> MulticlassData {
    const SPREAD: f64 = 0.12;
    const WOBBLE: f64 = 0.058;
    // Squared distances from the stroke, in sixteenths of the height, where ink ends and where paper begins.
    const INK: f64 = 0.2;
    const PAPER: f64 = 4.55;
    let mut shared = Noise::new(twin.seed, 0);
    let signs: Vec<Stroke> = (0..USPS_LABELS).map(|_| sign(&mut shared, 7, 1.0)).collect();
    let side = (1..twin.size).find(|side| side * side >= twin.size).unwrap_or(1);
    let (mut labels, mut values) = (vec![0; twin.n], zeros(twin.n * twin.size));
    let examples = labels.par_iter_mut().zip(values.par_chunks_exact_mut(twin.size)).enumerate();
    examples.for_each(|(i, (label, row))| {
        let mut noise = Noise::new(twin.seed, 1 + i as u64);
        let digit = noise.share(&DIGITS);
        let stroke = Hand::new(&mut noise, SPREAD).write(&mut noise, &signs[digit], 1.0, WOBBLE);
        *label = digit as u32;
        for (at, value) in row.iter_mut().enumerate() {
            let centre = [at % side, at / side].map(|v| (v as f64 + 0.5) / side as f64);
            let depth = (256.0 * distance2(&stroke, centre) - INK) / (PAPER - INK);
            *value = (1.0 - 2.0 * depth).clamp(-1.0, 1.0);
        }
    });
    let label_names = (0..USPS_LABELS).map(|y| y.to_string()).collect();
    MulticlassData { num_labels: USPS_LABELS, dim: twin.size, labels, label_names, features: Features::Dense(values) }
}

/// Occurrences of the letters a–z in the OCR set, in ten thousand.
const ALPHABET: [usize; LETTERS] = [
    774, 246, 405, 276, 950, 177, 474, 165, 942, 36, 174, 602, 307, 963, 747, 264, 65, 513, 267, 410, 491, 127, 100,
    79, 234, 210,
];

/// Words of 3, 4, … letters in the OCR set: 55 different words, each written by about 125 people.
const WORDS_OF_LENGTH: [usize; 12] = [10, 0, 5, 6, 6, 6, 8, 5, 2, 2, 3, 2];
/// Mean length of these words, rounded.
const MEAN_LENGTH: usize = 8;

fn vocabulary(noise: &mut Noise, size: usize) -> Vec<Vec<u8>> {
    let scaled = |length: usize| ((length * size + MEAN_LENGTH / 2) / MEAN_LENGTH).max(1);
    let counts = WORDS_OF_LENGTH.iter().enumerate();
    let lengths: Vec<usize> = counts.flat_map(|(l, &words)| std::iter::repeat_n(scaled(l + 3), words)).collect();
    // A shuffled bag holds every letter in proportion to its share.
    let total: usize = lengths.iter().sum();
    let all: usize = ALPHABET.iter().sum();
    let (mut bag, mut reached) = (Vec::with_capacity(total), 0);
    for (letter, share) in ALPHABET.iter().enumerate() {
        reached += share;
        bag.resize((reached * total + all / 2) / all, letter as u8);
    }
    for at in (1..total).rev() {
        bag.swap(at, noise.below(at + 1));
    }
    let mut rest = bag.into_iter();
    lengths.into_iter().map(|length| rest.by_ref().take(length).collect()).collect()
}

pub fn ocr(twin: &Twin) -> LetterData {
    const SPREAD: f64 = 0.112;
    const WOBBLE: f64 = 0.063;
    /// Squared half width of the pen, in pixels.
    const PEN: f64 = 0.78;
    const COLUMNS: usize = 8;
    const ROWS: usize = PIXELS / COLUMNS;
    let width = COLUMNS as f64 / ROWS as f64;
    let mut shared = Noise::new(twin.seed, 0);
    let signs: Vec<Stroke> = (0..LETTERS).map(|_| sign(&mut shared, 5, width)).collect();
    let words = vocabulary(&mut shared, twin.size);
    let written: Vec<(Vec<u128>, &[u8])> = (0..twin.n)
        .into_par_iter()
        .map(|i| {
            let mut noise = Noise::new(twin.seed, 1 + i as u64);
            let word = words[noise.below(words.len())].as_slice();
            let hand = Hand::new(&mut noise, SPREAD);
            let picture = |&letter: &u8| {
                let stroke = hand.write(&mut noise, &signs[usize::from(letter)], width, WOBBLE);
                let on = |pixel: &usize| {
                    let centre = [pixel % COLUMNS, pixel / COLUMNS].map(|v| (v as f64 + 0.5) / ROWS as f64);
                    (ROWS * ROWS) as f64 * distance2(&stroke, centre) < PEN
                };
                (0..PIXELS).filter(on).fold(0, |picture, pixel| picture | 1 << pixel)
            };
            (word.iter().map(picture).collect(), word)
        })
        .collect();
    let mut data = LetterData { pixels: Vec::new(), labels: Vec::new(), offsets: vec![0] };
    for (pixels, labels) in written {
        data.pixels.extend(pixels);
        data.labels.extend(labels);
        data.offsets.push(data.labels.len());
    }
    data
}

/// The differences between the two graph twins.
struct GraphTwin {
    labels: usize,
    regions: usize,
    /// Size of the mean of a feature.
    mean: f64,
    /// Twice the variance of the first feature.
    variance: f64,
    /// How far a label shifts a strong feature, in its standard deviations.
    shift: f32,
}

const HORSES: GraphTwin = GraphTwin { labels: 2, regions: 1, mean: 0.217, variance: 3.7, shift: 0.35 };
const SCENES: GraphTwin = GraphTwin { labels: STANFORD_LABELS, regions: 8, mean: 0.205, variance: 3.2, shift: 0.285 };
/// Shares of the labels in the nodes of the Stanford set, per mille.
const SCENERY: [u32; STANFORD_LABELS] = [143, 132, 229, 68, 40, 233, 13, 142];

struct PictureGraph {
    labels: Vec<u16>,
    edges: Vec<[u32; 2]>,
    columns: usize,
}

fn picture(noise: &mut Noise, size: usize, kind: &GraphTwin) -> PictureGraph {
    // A little wider than high: 10–12 by 12–15 for size 12.
    let spread = size / 12;
    let rows = size - 2 * spread + noise.below(2 * spread + 1);
    let columns = size + noise.below(3 * spread + 1);
    let mut edges = Vec::with_capacity(3 * rows * columns);
    for r in 0..rows {
        for c in 0..columns {
            let node = (r * columns + c) as u32;
            if c + 1 < columns {
                edges.push([node, node + 1]);
            }
            if r + 1 < rows {
                edges.push([node, node + columns as u32]);
                if c + 1 < columns {
                    // One diagonal per cell keeps the graph planar.
                    let down = node + columns as u32;
                    edges.push(if noise.unit() < 0.5 { [node, down + 1] } else { [node + 1, down] });
                }
            }
        }
    }
    let labels = regions(noise, rows * columns, &edges, kind);
    PictureGraph { labels, edges, columns }
}

/// Grows regions from random nodes into their neighbours.
fn regions(noise: &mut Noise, nodes: usize, edges: &[[u32; 2]], kind: &GraphTwin) -> Vec<u16> {
    // Probability of taking a node that would fill a bay; it keeps borders as ragged as in the real pictures.
    const FILL: f64 = 0.21;
    let mut neighbours = vec![Vec::with_capacity(8); nodes];
    for &[k, l] in edges {
        neighbours[k as usize].push(l as usize);
        neighbours[l as usize].push(k as usize);
    }
    let binary = kind.labels == 2;
    let mut front: Vec<(usize, u16)> = (0..kind.regions)
        .map(|_| (noise.below(nodes), if binary { 1 } else { noise.share(&SCENERY) as u16 }))
        .collect();
    // A foreground has 6 to 43 % of the nodes, as in the horses; scenes fill the picture.
    let share = if binary { (0.258 + 0.073 * noise.normal()).clamp(0.06, 0.43) } else { 1.0 };
    let mut left = ((share * nodes as f64 + 0.5) as usize).max(1);
    let mut labels = vec![None; nodes];
    while left > 0 {
        let at = noise.below(front.len());
        let (node, label) = front[at];
        if labels[node].is_some() {
            front.swap_remove(at);
            continue;
        }
        let touching = neighbours[node].iter().filter(|next| labels[**next] == Some(label)).count();
        if touching > 1 && noise.unit() >= FILL {
            continue;
        }
        labels[node] = Some(label);
        front.extend(neighbours[node].iter().map(|&next| (next, label)));
        left -= 1;
    }
    labels.into_iter().map(|label| label.unwrap_or(0)).collect()
}

/// The properties that all pictures of a graph twin share, per feature.
struct Look {
    mean: Vec<f32>,
    /// Standard deviations.
    scale: Vec<f32>,
    /// Labels × [`STRONG`], in standard deviations.
    shifts: Vec<f32>,
}

/// Features that depend on the label.
const STRONG: usize = 64;
/// Nodes between the knots of the smooth field.
const STEP: usize = 4;
/// Parts of the variance: the picture, the smooth field, the node.
const PARTS: [f64; 3] = [0.26, 0.69, 0.05];

impl Look {
    fn new(noise: &mut Noise, kind: &GraphTwin) -> Self {
        let mean = (0..NODE_FEATURES).map(|_| (kind.mean * noise.normal()) as f32).collect();
        // Falls like the spectrum of the real features, but faster towards the end.
        let variance = |j: f64| kind.variance / ((j + 2.0) * (1.0 + j * j / 400.0));
        let scale = (0..NODE_FEATURES).map(|j| variance(j as f64).sqrt() as f32).collect();
        let mut either = || if noise.unit() < 0.5 { kind.shift } else { -kind.shift };
        let shifts = (0..kind.labels * STRONG).map(|_| either()).collect();
        Self { mean, scale, shifts }
    }

    fn paint(&self, noise: &mut Noise, picture: &PictureGraph, features: &mut [f32]) {
        let p = NODE_FEATURES;
        let [whole, field, own] = PARTS.map(|part| part.sqrt() as f32);
        let rows = picture.labels.len() / picture.columns;
        let width = picture.columns / STEP + 2;
        let knots: Vec<f32> = (0..(rows / STEP + 2) * width * p).map(|_| noise.normal() as f32).collect();
        let common: Vec<f32> = (0..p).map(|_| whole * noise.normal() as f32).collect();
        for (node, row) in features.chunks_exact_mut(p).enumerate() {
            let (r, c) = (node / picture.columns, node % picture.columns);
            let (y, x) = ((r % STEP) as f32 / STEP as f32, (c % STEP) as f32 / STEP as f32);
            let first = r / STEP * width + c / STEP;
            let corners = [first, first + 1, first + width, first + width + 1].map(|knot| &knots[knot * p..][..p]);
            // Between knots the variance is smaller, 4/9 on average.
            let weights = [(1.0 - y) * (1.0 - x), (1.0 - y) * x, y * (1.0 - x), y * x].map(|w| 1.5 * field * w);
            for (j, value) in row.iter_mut().enumerate() {
                let smooth = weights[0] * corners[0][j]
                    + weights[1] * corners[1][j]
                    + weights[2] * corners[2][j]
                    + weights[3] * corners[3][j];
                *value = common[j] + smooth + own * noise.normal() as f32;
            }
            let shifts = &self.shifts[usize::from(picture.labels[node]) * STRONG..][..STRONG];
            for (value, shift) in row.iter_mut().zip(shifts) {
                *value += shift;
            }
            for (value, (mean, scale)) in row.iter_mut().zip(self.mean.iter().zip(&self.scale)) {
                *value = mean + scale * *value;
            }
        }
    }
}

pub fn horses(twin: &Twin) -> GraphData {
    graphs(twin, &HORSES)
}

pub fn scenes(twin: &Twin) -> GraphData {
    graphs(twin, &SCENES)
}

fn graphs(twin: &Twin, kind: &GraphTwin) -> GraphData {
    let p = NODE_FEATURES;
    let look = Look::new(&mut Noise::new(twin.seed, 0), kind);
    let mut pictures: Vec<(Noise, PictureGraph)> = (0..twin.n)
        .map(|i| {
            let mut noise = Noise::new(twin.seed, 1 + i as u64);
            let picture = picture(&mut noise, twin.size, kind);
            (noise, picture)
        })
        .collect();
    let (mut node_offsets, mut edge_offsets) = (vec![0], vec![0]);
    for (_, picture) in &pictures {
        node_offsets.push(node_offsets[node_offsets.len() - 1] + picture.labels.len());
        edge_offsets.push(edge_offsets[edge_offsets.len() - 1] + picture.edges.len());
    }
    let mut features: Vec<f32> = zeros(node_offsets[twin.n] * p);
    let mut slots = Vec::with_capacity(twin.n);
    let mut rest = features.as_mut_slice();
    for i in 0..twin.n {
        let (slot, tail) = rest.split_at_mut((node_offsets[i + 1] - node_offsets[i]) * p);
        slots.push(slot);
        rest = tail;
    }
    pictures.par_iter_mut().zip(slots).for_each(|((noise, picture), slot)| look.paint(noise, picture, slot));
    GraphData {
        num_labels: kind.labels,
        features_per_node: p,
        features: features.into(),
        labels: pictures.iter().flat_map(|(_, picture)| picture.labels.iter().copied()).collect(),
        node_offsets,
        edges: pictures.into_iter().flat_map(|(_, picture)| picture.edges).collect(),
        edge_offsets,
        pairwise_weight: 1.0,
    }
}
