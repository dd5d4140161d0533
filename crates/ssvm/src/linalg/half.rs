//! Half precision as files store it: sixteen bits ↔ single precision. Every half is a single exactly; the other way is
//! rounded to the nearest, ties to even.

/// A number in IEEE half precision.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half(u16);

/// Where the exponent of a half lies, all ones for what is not finite.
const EXPONENT: u16 = 0x7c00;

/// 2^112: between the biases of the two exponents.
const REBIAS: f32 = f32::from_bits((127 + 112) << 23);

impl Half {
    /// The number with these bits.
    #[inline(always)]
    pub fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Its bits.
    #[inline(always)]
    pub fn to_bits(self) -> u16 {
        self.0
    }

    /// The nearest half, ties to even; infinite from 65520 on.
    pub fn nearest(value: f32) -> Self {
        let sign = (value.to_bits() >> 16 & 0x8000) as u16;
        let size = value.abs();
        if size.is_nan() {
            return Self(sign | EXPONENT | 0x200);
        }
        if size >= 65520.0 {
            return Self(sign | EXPONENT);
        }
        if size < f32::from_bits((127 - 14) << 23) {
            // Below the normal halves their steps are 2^-24, which a number of this size rounds to.
            let step = f32::from_bits((127 - 1) << 23);
            return Self(sign | ((size + step).to_bits() - step.to_bits()) as u16);
        }
        let bits = size.to_bits() - (112 << 23);
        Self(sign | ((bits + 0xfff + (bits >> 13 & 1)) >> 13) as u16)
    }

    /// Whether it is neither infinite nor not a number.
    #[inline(always)]
    pub fn is_finite(self) -> bool {
        self.0 & EXPONENT != EXPONENT
    }

    /// The same number in single precision.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let size = u32::from(self.0 & 0x7fff) << 13;
        let size = if self.is_finite() { (f32::from_bits(size) * REBIAS).to_bits() } else { size | 0xff << 23 };
        f32::from_bits(sign | size)
    }
}

impl From<Half> for f64 {
    #[inline(always)]
    fn from(half: Half) -> Self {
        half.to_f32().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                assert!(value.is_nan() && Half::nearest(value).to_f32().is_nan());
            } else {
                assert_eq!(f64::from(value.abs()), size, "{bits:04x}");
                assert_eq!(Half::nearest(value), half);
            }
        }
    }

    /// Between two neighbours the nearer one is taken, in the middle the even one.
    #[test]
    fn singles_are_rounded_to_the_nearest_half() {
        for bits in 0..EXPONENT {
            let low = Half::from_bits(bits).to_f32();
            // The neighbour of the largest would be 65536.
            let high = if bits + 1 == EXPONENT { 65536.0 } else { Half::from_bits(bits + 1).to_f32() };
            let middle = f32::midpoint(low, high);
            for sign in [1.0, -1.0] {
                let nearest = |value: f32| Half::nearest(sign * value).to_bits() & 0x7fff;
                assert_eq!(nearest(middle), bits + (bits & 1), "{bits:04x}");
                assert_eq!(nearest(middle.next_down()), bits);
                assert_eq!(nearest(middle.next_up()), bits + 1);
            }
        }
        assert_eq!(Half::nearest(f32::MAX), Half::from_bits(EXPONENT));
        assert_eq!(Half::nearest(-1e-30), Half::from_bits(0x8000));
    }
}
