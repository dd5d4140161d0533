//! Converts 8-bit sRGB to CIE Lab (D65), with tables made by exact arithmetic: the same bits on every machine.
//!
//! `powf` and `cbrt` come from the platform's mathematics library and differ in the last bit between platforms; roots are
//! taken here by Newton's method with a fixed number of steps, which uses IEEE operations only.

use std::sync::LazyLock;

/// Steps of the table of f on [0, 1]; linear interpolation is then accurate to 0.003 Lab units.
const STEPS: usize = 4096;

struct Tables {
    /// sRGB byte → linear light.
    linear: [f32; 256],
    /// CIE f at k / STEPS, with one extra entry so that interpolation may read past 1.
    f: Vec<f32>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let linear = std::array::from_fn(|byte| {
        let c = byte as f64 / 255.0;
        let x = (c + 0.055) / 1.055;
        // x^2.4 = x² · (x²)^(1/5).
        (if c <= 0.04045 { c / 12.92 } else { x * x * root::<5>(x * x) }) as f32
    });
    let f = (0..=STEPS + 1).map(|k| {
        let t = k as f64 / STEPS as f64;
        (if t > 216.0 / 24389.0 { root::<3>(t) } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }) as f32
    });
    Tables { linear, f: f.collect() }
});

/// The N-th root of x in (0, 2] by Newton's method from above, where it falls monotonically.
fn root<const N: i32>(x: f64) -> f64 {
    let n = f64::from(N);
    let mut y = 1.25f64;
    for _ in 0..80 {
        // Repeated products, not `powi`, whose order of operations is unspecified.
        let power = (1..N).fold(1.0, |product, _| product * y);
        y -= (power * y - x) / (n * power);
    }
    y
}

/// L in 0..100, a and b roughly in −100..100.
pub fn from_rgb(rgb: [u8; 3]) -> [f32; 3] {
    let tables = &*TABLES;
    let [r, g, b] = rgb.map(|c| tables.linear[usize::from(c)]);
    // Rows of the sRGB → XYZ matrix divided by the D65 white, so that white gives exactly one per row up to rounding.
    let xyz = [
        0.433_953 * r + 0.376_219 * g + 0.189_828 * b,
        0.212_671 * r + 0.715_160 * g + 0.072_169 * b,
        0.017_758 * r + 0.109_477 * g + 0.872_765 * b,
    ];
    let [x, y, z] = xyz.map(|t| {
        let at = t.clamp(0.0, 1.0) * STEPS as f32;
        let k = at as usize;
        tables.f[k] + (at - k as f32) * (tables.f[k + 1] - tables.f[k])
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_colours() {
        // Reference values of the CIE formulas in double precision (D65), to two decimals.
        for (rgb, lab) in [
            ([0, 0, 0], [0.0, 0.0, 0.0]),
            ([255, 255, 255], [100.0, 0.0, 0.0]),
            ([255, 0, 0], [53.24, 80.09, 67.20]),
            ([0, 255, 0], [87.73, -86.18, 83.18]),
            ([0, 0, 255], [32.30, 79.19, -107.86]),
            ([128, 128, 128], [53.59, 0.0, 0.0]),
            ([10, 20, 30], [5.95, -0.67, -8.14]),
            ([200, 120, 40], [57.91, 25.30, 54.08]),
        ] {
            for (found, expected) in from_rgb(rgb).iter().zip(lab) {
                assert!((found - expected).abs() < 0.05, "{rgb:?}: {found} instead of {expected}");
            }
        }
    }

    #[test]
    fn roots_are_roots() {
        for k in 1..=100 {
            let x = f64::from(k) / 50.0;
            assert!((root::<3>(x).powi(3) - x).abs() < 1e-12 && (root::<5>(x).powi(5) - x).abs() < 1e-12);
        }
    }
}
