//! Dense kernels over slices. Every reduction has one fixed lane order, so the bits do not depend on the machine.

mod chain;
mod dense;
mod half;
mod simd;

pub use chain::{accumulate_rows, chain_advance, chain_direction, chain_maxima, scatter_rows};
pub use dense::{
    add_scaled, add_scaled_f16, add_scaled_f32, dot, dot_f16_rows, dot_f32_rows, dot_rows, mix_advance, mix_products,
    norm2,
};
pub use half::Half;
pub use simd::{on_huge_pages, prefetch, prefetch_near, zeros};
