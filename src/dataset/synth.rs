//! Synthetic twins: parameters → data with the family and the dimensions of the original. Seeded and made of additions
//! and multiplications only, so that the bits are the same on every machine.
//!
//! | twin | made of |
//! |---|---|
//! | usps | ten smooth class pictures in [−1, 1] plus noise, clipped; 2 % of the labels replaced |
//! | ocr | 26 random blob letters with 8 % of pixels flipped; words from a planted sparse Markov chain, 3 letters up |
//! | horseseg | jittered grids with one diagonal a cell (planar), a round foreground of about a quarter, two class means in 649 features plus noise; 3 % of nodes flipped |
//! | stanford | the same grids cut into 2–6 regions with labels from 8 classes; 3 % of nodes replaced |

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::twin::{NODE_FEATURES, Twin, USPS_LABELS};
use crate::data::graph::GraphData;
use crate::data::letters::{LETTERS, LetterData, PIXELS};
use crate::data::multiclass::{Features, MulticlassData};

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

    /// Nearly normal with mean 0 and variance 1: the sum of four uniform numbers out of one draw.
    fn normal(&mut self) -> f64 {
        let bits = self.0.next_u64();
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        (sum as f64 * (1.0 / 65536.0) - 2.0) * 1.732_050_807_568_877_2
    }
}

/// The multiclass twin.
pub fn usps(twin: &Twin) -> MulticlassData {
    let (p, k) = (twin.size, USPS_LABELS);
    let mut shared = Noise::new(twin.seed, 0);
    // Smooth pictures: random walks with a pull to zero.
    let mut means = vec![0.0; k * p];
    for mean in means.chunks_exact_mut(p) {
        let mut level = shared.normal();
        for value in mean {
            level = 0.9 * level + 0.4 * shared.normal();
            *value = 0.5 * level - 0.4;
        }
    }
    let rows: Vec<(u32, Vec<f64>)> = (0..twin.n)
        .into_par_iter()
        .map(|i| {
            let mut noise = Noise::new(twin.seed, 1 + i as u64);
            let class = noise.below(k);
            let strength = 0.6 + 0.4 * noise.unit();
            let row = means[class * p..(class + 1) * p]
                .iter()
                .map(|mean| (strength * mean + 0.9 * noise.normal()).clamp(-1.0, 1.0))
                .collect();
            let label = if noise.unit() < 0.02 { noise.below(k) } else { class };
            (label as u32, row)
        })
        .collect();
    let labels = rows.iter().map(|(label, _)| *label).collect();
    let values = rows.into_iter().flat_map(|(_, row)| row).collect();
    let label_names = (0..k).map(|y| y.to_string()).collect();
    MulticlassData { num_labels: k, dim: p, labels, label_names, features: Features::Dense(values) }
}

/// The chain twin.
pub fn ocr(twin: &Twin) -> LetterData {
    let mut shared = Noise::new(twin.seed, 0);
    let letters: Vec<u128> = (0..LETTERS)
        .map(|_| {
            let mut picture = 0u128;
            for _ in 0..4 {
                let (row, column) = (shared.below(14), shared.below(6));
                let (height, width) = (2 + shared.below(5), 1 + shared.below(3));
                for r in row..(row + height).min(16) {
                    for c in column..(column + width).min(8) {
                        picture |= 1 << (r * 8 + c);
                    }
                }
            }
            picture
        })
        .collect();
    // Each letter has a few likely followers.
    let followers: Vec<[u8; 5]> = (0..LETTERS).map(|_| std::array::from_fn(|_| shared.below(LETTERS) as u8)).collect();
    let words: Vec<(Vec<u128>, Vec<u8>)> = (0..twin.n)
        .into_par_iter()
        .map(|i| {
            let mut noise = Noise::new(twin.seed, 1 + i as u64);
            let spread = (2 * twin.size).saturating_sub(5).max(1);
            let length = 3.min(twin.size) + noise.below(spread);
            let mut letter = noise.below(LETTERS) as u8;
            let mut word = (Vec::with_capacity(length), Vec::with_capacity(length));
            for _ in 0..length {
                let mut picture = letters[usize::from(letter)];
                for p in 0..PIXELS {
                    if noise.unit() < 0.08 {
                        picture ^= 1 << p;
                    }
                }
                word.0.push(picture);
                word.1.push(letter);
                letter = if noise.unit() < 0.85 {
                    followers[usize::from(letter)][noise.below(5)]
                } else {
                    noise.below(LETTERS) as u8
                };
            }
            word
        })
        .collect();
    let mut data = LetterData { pixels: Vec::new(), labels: Vec::new(), offsets: vec![0] };
    for (pixels, labels) in words {
        data.pixels.extend(pixels);
        data.labels.extend(labels);
        data.offsets.push(data.labels.len());
    }
    data
}

/// One example of a graph twin.
struct Picture {
    labels: Vec<u16>,
    edges: Vec<[u32; 2]>,
    rows: usize,
    columns: usize,
}

fn picture(noise: &mut Noise, size: usize, num_labels: usize) -> Picture {
    let spread = size / 6;
    let rows = (size - spread + noise.below(2 * spread + 1)).max(1);
    let columns = (size - spread + noise.below(2 * spread + 1)).max(1);
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
                    // One diagonal a cell keeps the graph planar.
                    let down = node + columns as u32;
                    edges.push(if noise.unit() < 0.5 { [node, down + 1] } else { [node + 1, down] });
                }
            }
        }
    }
    // Regions: nearest of a few weighted sites; with two labels one round foreground before the background.
    let sites: Vec<(f64, f64, u16)> = (0..if num_labels == 2 { 1 } else { 2 + noise.below(5) })
        .map(|_| (noise.unit() * rows as f64, noise.unit() * columns as f64, noise.below(num_labels) as u16))
        .collect();
    let area = 0.1 + 0.3 * noise.unit();
    let radius2 = area * (rows * columns) as f64 / 3.0;
    let mut labels = Vec::with_capacity(rows * columns);
    for r in 0..rows {
        for c in 0..columns {
            let distance = |site: &(f64, f64, u16)| {
                let (x, y) = (r as f64 + 0.5 - site.0, c as f64 + 0.5 - site.1);
                x * x + y * y
            };
            let label = if num_labels == 2 {
                u16::from(sites.iter().any(|site| distance(site) < radius2))
            } else {
                sites.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map_or(0, |site| site.2)
            };
            labels.push(label);
        }
    }
    Picture { labels, edges, rows, columns }
}

/// The graph twins.
pub fn graphs(twin: &Twin, num_labels: usize) -> GraphData {
    let p = NODE_FEATURES;
    let mut shared = Noise::new(twin.seed, 0);
    let means: Vec<f32> = (0..num_labels * p).map(|_| (0.012 * shared.normal()) as f32).collect();
    let mut pictures: Vec<(Noise, Picture)> = (0..twin.n)
        .map(|i| {
            let mut noise = Noise::new(twin.seed, 1 + i as u64);
            let picture = picture(&mut noise, twin.size, num_labels);
            (noise, picture)
        })
        .collect();
    let (mut node_offsets, mut edge_offsets) = (vec![0], vec![0]);
    for (_, picture) in &pictures {
        node_offsets.push(node_offsets[node_offsets.len() - 1] + picture.rows * picture.columns);
        edge_offsets.push(edge_offsets[edge_offsets.len() - 1] + picture.edges.len());
    }
    let mut features = vec![0.0f32; node_offsets[twin.n] * p];
    let mut slots = Vec::with_capacity(twin.n);
    let mut rest = features.as_mut_slice();
    for i in 0..twin.n {
        let (slot, tail) = rest.split_at_mut((node_offsets[i + 1] - node_offsets[i]) * p);
        slots.push(slot);
        rest = tail;
    }
    pictures.par_iter_mut().zip(slots).for_each(|((noise, picture), slot)| {
        for (label, row) in picture.labels.iter_mut().zip(slot.chunks_exact_mut(p)) {
            let mean = &means[usize::from(*label) * p..(usize::from(*label) + 1) * p];
            for (value, mean) in row.iter_mut().zip(mean) {
                *value = mean + 0.1 * noise.normal() as f32;
            }
            if noise.unit() < 0.03 {
                *label = noise.below(num_labels) as u16;
            }
        }
    });
    GraphData {
        num_labels,
        features_per_node: p,
        features,
        labels: pictures.iter().flat_map(|(_, picture)| picture.labels.iter().copied()).collect(),
        node_offsets,
        edges: pictures.into_iter().flat_map(|(_, picture)| picture.edges).collect(),
        edge_offsets,
        pairwise_weight: 1.0,
    }
}
