//! Dense kernels over slices. Every reduction has one fixed lane order, so the bits do not depend on the machine.

mod simd;

pub use simd::{
    accumulate_rows, add_scaled, add_scaled_f32, chain_direction, chain_maxima, dot, dot_f32_rows, dot_rows,
    mix_advance, mix_products, norm2, prefetch, scatter_rows,
};
