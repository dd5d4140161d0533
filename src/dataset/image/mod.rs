//! Turns a picture and its pixel labels into an [`ImageGraph`].
//!
//! All arithmetic is integer or plain IEEE in a fixed order, so that the result has the same bits on every machine. The
//! JPEG decoder has vector and scalar code; the two were compared on all pictures of both sets and agree.

mod decode;
pub mod draw;
pub mod features;
pub mod lab;
pub mod slic;
pub mod texture;

pub use features::FEATURES;
pub use slic::{SlicParams, Superpixels, slic};

#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<[u8; 3]>,
}

/// The label of every pixel, −1 where it is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelMap {
    pub width: usize,
    pub height: usize,
    pub labels: Vec<i8>,
}

/// One example: the superpixels of a picture as nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageGraph {
    /// nodes × [`FEATURES`], row-major.
    pub features: Vec<f32>,
    /// Majority label of each node, −1 where most pixels are unknown.
    pub labels: Vec<i32>,
    pub edges: Vec<[u32; 2]>,
    /// nodes × K: the pixels of each label in each node.
    pub label_pixels: Vec<u32>,
}

impl Picture {
    /// The picture at another size, with a triangle filter (which averages when the picture shrinks).
    pub fn resize(&self, width: usize, height: usize) -> Self {
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        let mut wide = Vec::with_capacity(width * self.height);
        let taps = taps(self.width, width);
        for row in self.rgb.chunks_exact(self.width) {
            wide.extend(taps.iter().map(|(first, weights)| blend(weights, |k| row[first + k].map(f32::from))));
        }
        let mut rgb = Vec::with_capacity(width * height);
        for (first, weights) in self::taps(self.height, height) {
            for x in 0..width {
                let colour = blend(&weights, |k| wide[(first + k) * width + x]);
                rgb.push(colour.map(|c| (c + 0.5) as u8));
            }
        }
        Self { width, height, rgb }
    }
}

fn blend(weights: &[f32], colour: impl Fn(usize) -> [f32; 3]) -> [f32; 3] {
    let mut sum = [0.0; 3];
    for (k, weight) in weights.iter().enumerate() {
        let c = colour(k);
        (0..3).for_each(|j| sum[j] += weight * c[j]);
    }
    sum
}

/// For every target position: the first source position and the weights from there on, which sum to one.
fn taps(from: usize, to: usize) -> Vec<(usize, Vec<f32>)> {
    let scale = from as f64 / to as f64;
    let reach = scale.max(1.0);
    let at = |k: usize| {
        let centre = (k as f64 + 0.5) * scale - 0.5;
        let first = (centre - reach).max(0.0) as usize;
        let last = ((centre + reach) as usize).min(from - 1);
        let weights: Vec<f64> = (first..=last).map(|s| (1.0 - (s as f64 - centre).abs() / reach).max(0.0)).collect();
        let sum: f64 = weights.iter().sum();
        (first, weights.iter().map(|w| (w / sum) as f32).collect())
    };
    (0..to).map(at).collect()
}

impl ImageGraph {
    /// Cuts the picture into superpixels and describes them; `truth` has the size of the picture.
    pub fn new(picture: &Picture, truth: &LabelMap, num_labels: usize, params: &SlicParams) -> Self {
        let superpixels = slic(picture, params);
        let edges = superpixels.edges();
        let label_pixels = count_labels(&superpixels, truth, num_labels);
        Self {
            features: features::describe(picture, &superpixels, &edges),
            labels: majority(&label_pixels, &superpixels.areas(), num_labels),
            edges,
            label_pixels,
        }
    }
}

/// nodes × K: known pixels of each label in each superpixel.
fn count_labels(superpixels: &Superpixels, truth: &LabelMap, num_labels: usize) -> Vec<u32> {
    let mut counts = vec![0; superpixels.count * num_labels];
    for (&node, &label) in superpixels.of_pixel.iter().zip(&truth.labels) {
        if let Ok(label) = usize::try_from(label) {
            counts[node as usize * num_labels + label] += 1;
        }
    }
    counts
}

/// Majority vote of the known pixels (the lower label wins a tie); −1 if more than half of the pixels are unknown.
fn majority(label_pixels: &[u32], areas: &[usize], num_labels: usize) -> Vec<i32> {
    let vote = |(votes, &area): (&[u32], &usize)| {
        let known = votes.iter().sum::<u32>() as usize;
        let best = (0..num_labels).rev().max_by_key(|&k| votes[k]).unwrap_or(0);
        if known == 0 || 2 * known < area { -1 } else { best as i32 }
    };
    label_pixels.chunks_exact(num_labels).zip(areas).map(vote).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn majority_of_known_pixels_and_unknown_superpixels() {
        // Four superpixels of four pixels each, one per column.
        let superpixels = Superpixels { width: 4, height: 4, count: 4, of_pixel: (0..16).map(|at| at % 4).collect() };
        #[rustfmt::skip]
        let truth = LabelMap { width: 4, height: 4, labels: vec![
            0, -1, -1, 2,
            1, -1, -1, 2,
            1, -1,  1, 1,
            1,  0,  1, 1,
        ] };
        let counts = count_labels(&superpixels, &truth, 3);
        assert_eq!(counts, [1, 3, 0, 1, 0, 0, 0, 2, 0, 0, 2, 2]);
        assert_eq!(majority(&counts, &superpixels.areas(), 3), [1, -1, 1, 1]);
    }

    #[test]
    fn resizing_keeps_even_pictures_and_means() {
        let even = Picture { width: 7, height: 5, rgb: vec![[10, 200, 255]; 35] };
        for (w, h) in [(3, 9), (20, 1), (7, 5)] {
            assert_eq!(even.resize(w, h).rgb, vec![[10, 200, 255]; w * h]);
        }
        let ramp = Picture { width: 64, height: 2, rgb: (0..128).map(|at| [(at % 64) as u8 * 4; 3]).collect() };
        let half = ramp.resize(32, 1);
        for x in 1..31 {
            assert!((f64::from(half.rgb[x][0]) - (8.0 * x as f64 + 2.0)).abs() <= 1.0, "{x}: {:?}", half.rgb[x]);
        }
    }

    #[test]
    fn what_is_no_image_is_an_error() {
        assert!(Picture::decode(b"not an image").is_err());
        assert!(Picture::decode(b"\xff\xd8\xff\xe0 cut off").is_err());
        assert!(Picture::decode(b"").is_err());
    }
}
