//! Feature vectors ψ(x^l) of superpixels: 649 numbers each for colour, texture, place and contrast.
//!
//! | entries | number | what |
//! |---|---|---|
//! | 0–5 | 6 | mean of L, a, b and their standard deviations over the superpixel |
//! | 6–130 | 125 | joint colour histogram, 5 × 5 × 5 soft bins of L, a, b |
//! | 131–146 | 8 + 8 | gradient orientation weighted by strength, fine and coarse scale |
//! | 147–158 | 6 + 6 | gradient strength, soft bins, fine and coarse scale |
//! | 159–276 | 59 + 59 | uniform local binary patterns, fine and coarse scale |
//! | 277–553 | 277 | entries 0–276 of the surrounding: the neighbouring superpixels taken together |
//! | 554–571 | 6 + 12 | colour mean and deviation, gradient strength of the whole picture |
//! | 572–607 | 36 | place of the centroid, 6 × 6 soft bins, rows first |
//! | 608–623 | 8 + 8 | height and sideways place of the centroid, soft bins |
//! | 624–635 | 12 | constant, size, spread along x and y, covariance, touches the side / upper / lower border, distance from the middle along x, along y, in the plane, height |
//! | 636–648 | 6 + 7 | contrast to the surrounding: absolute differences of entries 0–5, squared Hellinger distances of the seven histograms |
//!
//! Histograms enter as square roots of relative frequencies. Each then has norm 1, and a linear score compares them by
//! the Hellinger kernel. The other entries are scaled to the same order. Sums run over pixels in raster order in f64.

use super::texture::{self, ORIENTATIONS, PATTERNS};
use super::{Picture, Superpixels, lab};

pub const FEATURES: usize = PLACE + 36 + 16 + 12 + STATS + HISTOGRAMS.len();

const STATS: usize = 6;
const COLOUR: usize = STATS;
const ORIENTATION: usize = COLOUR + 125;
const STRENGTH: usize = ORIENTATION + 2 * ORIENTATIONS;
const PATTERN: usize = STRENGTH + 2 * STRENGTH_BINS.len();
/// Entries that describe the look of a region.
const LOOK: usize = PATTERN + 2 * PATTERNS;
const WHOLE: usize = 2 * LOOK;
const PLACE: usize = WHOLE + STATS + 2 * STRENGTH_BINS.len();

/// The histograms within a look, as (start, length).
const HISTOGRAMS: [(usize, usize); 7] = [
    (COLOUR, 125),
    (ORIENTATION, ORIENTATIONS),
    (ORIENTATION + ORIENTATIONS, ORIENTATIONS),
    (STRENGTH, STRENGTH_BINS.len()),
    (STRENGTH + STRENGTH_BINS.len(), STRENGTH_BINS.len()),
    (PATTERN, PATTERNS),
    (PATTERN + PATTERNS, PATTERNS),
];

// Centres of soft bins. Natural pictures are mostly near grey, so those of a and b are denser there.
const L_BINS: [f32; 5] = [10.0, 30.0, 50.0, 70.0, 90.0];
const A_BINS: [f32; 5] = [-30.0, -10.0, 0.0, 10.0, 30.0];
const B_BINS: [f32; 5] = [-30.0, -10.0, 2.0, 14.0, 34.0];
const STRENGTH_BINS: [f32; 6] = [0.0, 2.0, 5.0, 10.0, 20.0, 40.0];
const GRID_BINS: [f32; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
const LINE_BINS: [f32; 8] = [0.0625, 0.1875, 0.3125, 0.4375, 0.5625, 0.6875, 0.8125, 0.9375];

/// Sums over the pixels of a region from which its look is computed; the sums of regions add up.
#[derive(Clone)]
struct Sums {
    pixels: f64,
    /// L, a, b and their squares, then the histograms, in the places of the look.
    look: [f64; LOOK],
}

#[derive(Clone, Default)]
struct Extent {
    /// Sums of x, y, x², y², xy in units of the picture's sides.
    moments: [f64; 5],
    /// Touches the left or right, the upper, the lower border.
    touches: [bool; 3],
}

/// Describes all superpixels: nodes × [`FEATURES`], row-major.
pub fn describe(picture: &Picture, superpixels: &Superpixels, edges: &[[u32; 2]]) -> Vec<f32> {
    let empty = Sums { pixels: 0.0, look: [0.0; LOOK] };
    let mut sums = vec![empty.clone(); superpixels.count];
    let mut extents = vec![Extent::default(); superpixels.count];
    let (width, height) = (picture.width, picture.height);
    let texels = texture::texels(picture);
    for (at, &node) in superpixels.of_pixel.iter().enumerate() {
        let node = node as usize;
        sums[node].add_pixel(lab::from_rgb(picture.rgb[at]), [texels[0][at], texels[1][at]]);
        extents[node].add_pixel(at % width, at / width, width, height);
    }

    let mut whole = empty.clone();
    for own in &sums {
        whole.add(own);
    }
    let mut around = vec![empty; superpixels.count];
    for &[k, l] in edges {
        around[k as usize].add(&sums[l as usize]);
        around[l as usize].add(&sums[k as usize]);
    }

    let whole_look = whole.look();
    let average = whole.pixels / superpixels.count as f64;
    let mut features = Vec::with_capacity(superpixels.count * FEATURES);
    for ((own, around), extent) in sums.iter().zip(&around).zip(&extents) {
        let (look, surround) = (own.look(), around.look());
        features.extend_from_slice(&look);
        features.extend_from_slice(&surround);
        features.extend_from_slice(&whole_look[..STATS]);
        features.extend_from_slice(&whole_look[STRENGTH..PATTERN]);
        extent.describe(own.pixels, average, &mut features);
        // A superpixel that covers the whole picture has no surrounding to contrast with.
        let some = f32::from(u8::from(around.pixels > 0.0));
        features.extend((0..STATS).map(|j| some * (look[j] - surround[j]).abs()));
        features.extend(HISTOGRAMS.map(|(from, length)| {
            let apart = |j: usize| (look[j] - surround[j]) * (look[j] - surround[j]);
            some * (from..from + length).map(apart).sum::<f32>() / 2.0
        }));
    }
    features
}

impl Sums {
    fn add_pixel(&mut self, colour: [f32; 3], texels: [texture::Texel; 2]) {
        self.pixels += 1.0;
        for (j, c) in colour.into_iter().enumerate() {
            self.look[j] += f64::from(c);
            self.look[3 + j] += f64::from(c) * f64::from(c);
        }
        let [l, a, b] = colour;
        for (i, wl) in soft(&L_BINS, l) {
            for (j, wa) in soft(&A_BINS, a) {
                for (k, wb) in soft(&B_BINS, b) {
                    self.look[COLOUR + 25 * i + 5 * j + k] += f64::from(wl * wa * wb);
                }
            }
        }
        for (scale, texel) in texels.into_iter().enumerate() {
            let orientation = ORIENTATION + scale * ORIENTATIONS + usize::from(texel.orientation);
            self.look[orientation] += f64::from(texel.strength);
            for (k, w) in soft(&STRENGTH_BINS, texel.strength) {
                self.look[STRENGTH + scale * STRENGTH_BINS.len() + k] += f64::from(w);
            }
            self.look[PATTERN + scale * PATTERNS + usize::from(texel.pattern)] += 1.0;
        }
    }

    fn add(&mut self, other: &Self) {
        self.pixels += other.pixels;
        self.look.iter_mut().zip(&other.look).for_each(|(a, b)| *a += b);
    }

    /// The entries of a region; all zero for an empty one.
    fn look(&self) -> [f32; LOOK] {
        let mut look = [0.0; LOOK];
        if self.pixels == 0.0 {
            return look;
        }
        for j in 0..3 {
            let mean = self.look[j] / self.pixels;
            let variance = (self.look[3 + j] / self.pixels - mean * mean).max(0.0);
            look[j] = (if j == 0 { (mean - 50.0) / 30.0 } else { mean / 20.0 }) as f32;
            look[3 + j] = (variance.sqrt() / 10.0) as f32;
        }
        for (from, length) in HISTOGRAMS {
            let total: f64 = self.look[from..from + length].iter().sum();
            if total > 0.0 {
                (from..from + length).for_each(|j| look[j] = (self.look[j] / total).sqrt() as f32);
            }
        }
        look
    }
}

impl Extent {
    fn add_pixel(&mut self, x: usize, y: usize, width: usize, height: usize) {
        let (u, v) = ((x as f64 + 0.5) / width as f64, (y as f64 + 0.5) / height as f64);
        self.moments.iter_mut().zip([u, v, u * u, v * v, u * v]).for_each(|(sum, value)| *sum += value);
        self.touches[0] |= x == 0 || x + 1 == width;
        self.touches[1] |= y == 0;
        self.touches[2] |= y + 1 == height;
    }

    /// Appends the entries of place and shape; `average` is the mean size of a superpixel of this picture.
    fn describe(&self, pixels: f64, average: f64, features: &mut Vec<f32>) {
        let [u, v, uu, vv, uv] = self.moments.map(|sum| sum / pixels);
        let (x, y) = (u as f32, v as f32);
        let mut grid = [0.0; GRID_BINS.len() * GRID_BINS.len()];
        for (row, wy) in soft(&GRID_BINS, y) {
            for (column, wx) in soft(&GRID_BINS, x) {
                grid[row * GRID_BINS.len() + column] += wy * wx;
            }
        }
        features.extend_from_slice(&grid);
        for value in [y, x] {
            let mut line = [0.0; LINE_BINS.len()];
            for (k, w) in soft(&LINE_BINS, value) {
                line[k] += w;
            }
            features.extend_from_slice(&line);
        }
        // A typical superpixel spreads over 1/20 of a side.
        let spread = |mean: f64, square: f64| (20.0 * (square - mean * mean).max(0.0).sqrt()) as f32;
        let [side, upper, lower] = self.touches.map(|t| f32::from(u8::from(t)));
        let (dx, dy) = (2.0 * (x - 0.5).abs(), 2.0 * (y - 0.5).abs());
        let size = (pixels / average).sqrt() as f32;
        let covariance = (400.0 * (uv - u * v)) as f32;
        let middle = (dx * dx + dy * dy).sqrt();
        features.extend([1.0, size, spread(u, uu), spread(v, vv), covariance, side, upper, lower, dx, dy, middle, y]);
    }
}

/// The two bins nearest to a value and their shares, which sum to one; beyond the ends all goes to the last bin.
fn soft<const N: usize>(centres: &[f32; N], value: f32) -> [(usize, f32); 2] {
    let above = centres.iter().position(|c| value < *c).unwrap_or(N);
    if above == 0 || above == N {
        let end = above.min(N - 1);
        return [(end, 1.0), (end, 0.0)];
    }
    let share = (value - centres[above - 1]) / (centres[above] - centres[above - 1]);
    [(above - 1, 1.0 - share), (above, share)]
}

#[cfg(test)]
mod tests {
    use super::super::{SlicParams, slic};
    use super::*;

    fn describe_picture(rgb: impl Fn(usize, usize) -> [u8; 3], superpixels: usize) -> (Superpixels, Vec<f32>) {
        let picture = Picture { width: 80, height: 60, rgb: (0..4800).map(|at| rgb(at % 80, at / 80)).collect() };
        let s = slic(&picture, &SlicParams { superpixels, ..SlicParams::default() });
        let features = describe(&picture, &s, &s.edges());
        (s, features)
    }

    #[test]
    fn there_are_649_finite_features_in_the_documented_places() {
        assert_eq!((FEATURES, LOOK, WHOLE, PLACE), (649, 277, 554, 572));
        let (s, features) = describe_picture(|x, y| [(3 * x) as u8, (4 * y) as u8, ((x * y) % 251) as u8], 20);
        assert_eq!(features.len(), s.count * FEATURES);
        for row in features.chunks_exact(FEATURES) {
            assert!(row.iter().all(|v| v.is_finite()));
            for (from, length) in HISTOGRAMS {
                for base in [0, LOOK] {
                    let norm: f32 = row[base + from..base + from + length].iter().map(|v| v * v).sum();
                    assert!((norm - 1.0).abs() < 1e-4, "histogram at {} has norm² {norm}", base + from);
                }
            }
            for (from, length) in [(572, 36), (608, 8), (616, 8)] {
                assert!((row[from..from + length].iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
            assert_eq!(row[624], 1.0);
            assert!(row.iter().all(|v| v.abs() <= 10.0), "scaled to the same order");
        }
    }

    #[test]
    fn an_even_picture_has_no_gradient_and_no_contrast() {
        let (s, features) = describe_picture(|_, _| [40, 90, 140], 12);
        assert!(s.count > 4);
        for row in features.chunks_exact(FEATURES) {
            assert!(row[3..6].iter().all(|v| *v < 1e-2), "no deviation");
            assert!(row[ORIENTATION..STRENGTH].iter().all(|v| *v == 0.0));
            assert_eq!(row[STRENGTH], 1.0, "all pixels in the lowest strength bin");
            assert!(row[636..].iter().all(|v| v.abs() < 1e-5), "{:?}", &row[636..]);
        }
    }

    #[test]
    fn a_single_superpixel_has_an_empty_surrounding() {
        let (s, features) = describe_picture(|_, _| [40, 90, 140], 1);
        assert_eq!(s.count, 1);
        assert!(features[LOOK..WHOLE].iter().chain(&features[636..]).all(|v| *v == 0.0));
        assert_eq!(features[629..632], [1.0; 3], "touches every border");
    }

    #[test]
    fn soft_bins_share_a_value() {
        assert_eq!(soft(&GRID_BINS, -3.0)[0], (0, 1.0));
        assert_eq!(soft(&GRID_BINS, 1.0)[0], (5, 1.0));
        let [(low, a), (high, b)] = soft(&STRENGTH_BINS, 3.5);
        assert_eq!((low, high), (1, 2));
        assert!((a - 0.5).abs() < 1e-6 && (b - 0.5).abs() < 1e-6);
    }
}
