//! Texture per pixel of a picture: gradient orientation and strength, and uniform local binary patterns, at two scales.

use super::Picture;

/// Bins of unsigned gradient orientation, 22.5° each; bin 0 is a horizontal gradient.
pub const ORIENTATIONS: usize = 8;
/// Uniform patterns of 8 neighbours: 58 have a bin each, all others share the last.
pub const PATTERNS: usize = 59;

/// cos and sin of k · 22.5°, as literals because mathematics libraries differ between platforms.
const DIRECTIONS: [[f32; 2]; ORIENTATIONS] = [
    [1.0, 0.0],
    [0.923_879_5, 0.382_683_43],
    [std::f32::consts::FRAC_1_SQRT_2, std::f32::consts::FRAC_1_SQRT_2],
    [0.382_683_43, 0.923_879_5],
    [0.0, 1.0],
    [-0.382_683_43, 0.923_879_5],
    [-std::f32::consts::FRAC_1_SQRT_2, std::f32::consts::FRAC_1_SQRT_2],
    [-0.923_879_5, 0.382_683_43],
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texel {
    pub orientation: u8,
    /// Gradient strength in grey levels per pixel.
    pub strength: f32,
    pub pattern: u8,
}

/// Texels at the fine scale (neighbours at distance 1) and the coarse one (5 × 5 means, neighbours at distance 3).
pub fn texels(picture: &Picture) -> [Vec<Texel>; 2] {
    let grey = picture.rgb.iter().map(|c| 299 * i32::from(c[0]) + 587 * i32::from(c[1]) + 114 * i32::from(c[2]));
    let fine = GreyImage { width: picture.width, height: picture.height, values: grey.collect() };
    let coarse = fine.box_sum(2);
    [fine.texels(1, 1000.0), coarse.texels(3, 25_000.0)]
}

/// A grey image in integer units.
struct GreyImage {
    width: usize,
    height: usize,
    values: Vec<i32>,
}

impl GreyImage {
    /// The value at (x, y); positions outside repeat the border.
    fn at(&self, x: isize, y: isize) -> i32 {
        let x = x.clamp(0, self.width as isize - 1) as usize;
        let y = y.clamp(0, self.height as isize - 1) as usize;
        self.values[y * self.width + x]
    }

    fn box_sum(&self, r: isize) -> Self {
        let pass = |plane: &Self, dx: isize, dy: isize| {
            let sum = |at: usize| {
                let (x, y) = ((at % self.width) as isize, (at / self.width) as isize);
                (-r..=r).map(|k| plane.at(x + k * dx, y + k * dy)).sum()
            };
            Self { width: self.width, height: self.height, values: (0..self.values.len()).map(sum).collect() }
        };
        pass(&pass(self, 1, 0), 0, 1)
    }

    /// Texels with neighbours at distance `step`; `unit` units make one grey level.
    fn texels(&self, step: isize, unit: f32) -> Vec<Texel> {
        let uniform = uniform_patterns();
        let texel = |at: usize| {
            let (x, y) = ((at % self.width) as isize, (at / self.width) as isize);
            let around: [i32; 8] = [
                self.at(x + step, y),
                self.at(x + step, y + step),
                self.at(x, y + step),
                self.at(x - step, y + step),
                self.at(x - step, y),
                self.at(x - step, y - step),
                self.at(x, y - step),
                self.at(x + step, y - step),
            ];
            let gx = (around[0] - around[4]) as f32 / (2.0 * step as f32 * unit);
            let gy = (around[2] - around[6]) as f32 / (2.0 * step as f32 * unit);
            let (mut orientation, mut most) = (0, -1.0);
            for (bin, [c, s]) in DIRECTIONS.iter().enumerate() {
                let along = (gx * c + gy * s).abs();
                if along > most {
                    (orientation, most) = (bin as u8, along);
                }
            }
            let here = self.values[at];
            let code = (0..8).fold(0, |code, k| code | usize::from(around[k] >= here) << k);
            Texel { orientation, strength: (gx * gx + gy * gy).sqrt(), pattern: uniform[code] }
        };
        (0..self.values.len()).map(texel).collect()
    }
}

/// Bin of each 8-bit pattern: those with at most two changes around the circle have their own.
fn uniform_patterns() -> [u8; 256] {
    let mut next = 0;
    std::array::from_fn(|code| {
        let code = code as u8;
        if (code ^ code.rotate_left(1)).count_ones() > 2 {
            return PATTERNS as u8 - 1;
        }
        next += 1;
        next - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(grey: impl Fn(usize, usize) -> u8) -> Picture {
        let rgb = (0..32 * 32).map(|at| [grey(at % 32, at / 32); 3]).collect();
        Picture { width: 32, height: 32, rgb }
    }

    #[test]
    fn there_are_58_uniform_patterns() {
        let mut bins = uniform_patterns().to_vec();
        bins.sort_unstable();
        bins.dedup();
        assert_eq!(bins, (0..PATTERNS as u8).collect::<Vec<_>>());
    }

    #[test]
    fn ramps_have_their_slope_and_direction() {
        for (grey, bin, slope) in [
            (picture(|x, _| 4 * x as u8), 0, 4.0),
            (picture(|_, y| 200 - 3 * y as u8), 4, 3.0),
            (picture(|x, y| 2 * (x + y) as u8), 2, 2.0 * std::f32::consts::SQRT_2),
        ] {
            for texels in texels(&grey) {
                let middle = texels[16 * 32 + 16];
                assert_eq!(middle.orientation, bin);
                assert!((middle.strength - slope).abs() < 1e-4, "{middle:?}");
            }
        }
    }
}
