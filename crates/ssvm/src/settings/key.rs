//! Settings as keys of maps and sets: order and hash for types that hold floating-point numbers.

/// An integer that orders as [`f64::total_cmp`] does and is equal only for equal bits.
pub fn total_order(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Implements `PartialEq`, `Eq`, `PartialOrd`, `Ord` and `Hash` of a type through its method `key(&self)`.
#[macro_export]
macro_rules! ordered_by_key {
    ($type:ty) => {
        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.key() == other.key()
            }
        }

        impl Eq for $type {}

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $type {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.key().cmp(&other.key())
            }
        }

        impl std::hash::Hash for $type {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.key().hash(state);
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::total_order;

    #[test]
    fn integers_order_as_their_numbers_do() {
        let numbers = [f64::NEG_INFINITY, -2.0, -1e-300, -0.0, 0.0, 5e-324, 0.1, 1.0, f64::INFINITY, f64::NAN];
        assert!(numbers.windows(2).all(|pair| total_order(pair[0]) < total_order(pair[1])));
    }
}
