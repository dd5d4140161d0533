//! Dense kernels over slices. Every reduction has one fixed lane order, so the bits do not depend on the machine.

mod bytes;
mod chain;
mod dense;
mod simd;

pub use bytes::{all_finite, count_nonzero, product_size, read_le, same_bits, write_le};
pub(crate) use chain::{accumulate_rows, chain_advance, chain_direction, chain_maxima, scatter_rows};
pub use dense::{add_scaled, dot, dot_rows, norm2};
pub(crate) use dense::{add_scaled_f16, add_scaled_f32, dot_f16_rows, dot_f32_rows, mix_advance, mix_products};
/// A number in IEEE half precision, as files store it.
pub use half::f16 as Half;
pub use simd::{on_huge_pages, zeros};
pub(crate) use simd::{prefetch, prefetch_near};

#[cfg(test)]
mod tests {
    use super::Half;

    /// The exponent bits of a half; all are set in values that are not finite.
    const EXPONENT: u16 = 0x7c00;

    #[test]
    fn every_half_is_a_single_and_comes_back() {
        for bits in 0..=u16::MAX {
            let half = Half::from_bits(bits);
            let value = half.to_f32();
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
            let size = match exponent {
                0 => fraction * 2f64.powi(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
            };
            assert_eq!(value.is_sign_negative(), bits >> 15 == 1);
            assert_eq!(half.is_finite(), value.is_finite());
            if size.is_nan() {
                assert!(value.is_nan() && Half::from_f32(value).to_f32().is_nan());
            } else {
                assert_eq!(f64::from(value.abs()), size, "{bits:04x}");
                assert_eq!(Half::from_f32(value), half);
            }
        }
    }

    /// Of two neighbours the nearer one is taken, halfway between them the even one.
    #[test]
    fn singles_are_rounded_to_the_nearest_half() {
        for bits in 0..EXPONENT {
            let low = Half::from_bits(bits).to_f32();
            // The neighbour of the largest would be 65536.
            let high = if bits + 1 == EXPONENT { 65536.0 } else { Half::from_bits(bits + 1).to_f32() };
            let middle = f32::midpoint(low, high);
            for sign in [1.0, -1.0] {
                let nearest = |value: f32| Half::from_f32(sign * value).to_bits() & 0x7fff;
                assert_eq!(nearest(middle), bits + (bits & 1), "{bits:04x}");
                assert_eq!(nearest(middle.next_down()), bits);
                assert_eq!(nearest(middle.next_up()), bits + 1);
            }
        }
        assert_eq!(Half::from_f32(f32::MAX), Half::from_bits(EXPONENT));
        assert_eq!(Half::from_f32(-1e-30), Half::from_bits(0x8000));
    }
}
