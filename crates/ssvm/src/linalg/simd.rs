//! Four lanes of f64, and the macro that compiles each kernel twice: with plain arrays for any machine, and with AVX2
//! registers and the bit instructions that come with them, chosen at run time. The only file with `unsafe`.
//!
//! Every lane operation is one correctly rounded IEEE operation (no fused multiply–add), and sums are joined in one
//! fixed order, so both compilations give the same bits.
#![allow(unsafe_code)]

use super::Half;

/// Four lanes of f64.
pub(super) trait Lanes: Copy {
    fn zero() -> Self;
    fn splat(value: f64) -> Self;
    fn load(from: &[f64]) -> Self;
    fn load_f32(from: &[f32]) -> Self;
    fn load_f16(from: &[Half]) -> Self;
    fn store(self, to: &mut [f64]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Lane-wise `if self > other { self } else { other }`.
    fn greater(self, other: Self) -> Self;

    /// (l0 + l2) + (l1 + l3).
    fn sum(self) -> f64;

    /// [`Lanes::sum`] after adding the products of a tail of fewer than four elements lane by lane.
    #[inline(always)]
    fn join(self, tail: impl Iterator<Item = f64>) -> f64 {
        let mut lanes = [0.0; 4];
        self.store(&mut lanes);
        for (lane, value) in lanes.iter_mut().zip(tail) {
            *lane += value;
        }
        lanes.sum()
    }
}

/// An element type of which a kernel loads four as lanes.
pub(super) trait Stored: Copy + Default + Into<f64> {
    fn lanes<L: Lanes>(from: &[Self]) -> L;
}

impl Stored for f64 {
    #[inline(always)]
    fn lanes<L: Lanes>(from: &[Self]) -> L {
        L::load(from)
    }
}

impl Stored for f32 {
    #[inline(always)]
    fn lanes<L: Lanes>(from: &[Self]) -> L {
        L::load_f32(from)
    }
}

impl Stored for Half {
    #[inline(always)]
    fn lanes<L: Lanes>(from: &[Self]) -> L {
        L::load_f16(from)
    }
}

/// Fewer than four elements, padded to four.
#[inline(always)]
pub(super) fn padded<T: Copy + Default>(tail: &[T]) -> [T; 4] {
    std::array::from_fn(|l| tail.get(l).copied().unwrap_or_default())
}

impl Lanes for [f64; 4] {
    #[inline(always)]
    fn zero() -> Self {
        [0.0; 4]
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        [value; 4]
    }
    #[inline(always)]
    fn load(from: &[f64]) -> Self {
        [from[0], from[1], from[2], from[3]]
    }
    #[inline(always)]
    fn load_f32(from: &[f32]) -> Self {
        [from[0].into(), from[1].into(), from[2].into(), from[3].into()]
    }
    #[inline(always)]
    fn load_f16(from: &[Half]) -> Self {
        [from[0].into(), from[1].into(), from[2].into(), from[3].into()]
    }
    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        to[..4].copy_from_slice(&self);
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] + other[l])
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] - other[l])
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] * other[l])
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        std::array::from_fn(|l| if self[l] > other[l] { self[l] } else { other[l] })
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        (self[0] + self[2]) + (self[1] + self[3])
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx {
    use std::arch::x86_64::{
        __m256d, _mm_add_pd, _mm_add_sd, _mm_cvtph_ps, _mm_cvtsd_f64, _mm_loadl_epi64, _mm_loadu_ps, _mm_unpackhi_pd,
        _mm256_add_pd, _mm256_castpd256_pd128, _mm256_cvtps_pd, _mm256_extractf128_pd, _mm256_loadu_pd, _mm256_max_pd,
        _mm256_mul_pd, _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd,
    };
    use std::sync::atomic::{AtomicU8, Ordering};

    use crate::linalg::Half;

    /// One AVX register. Made only inside functions that run after AVX2 and F16C were detected.
    #[derive(Clone, Copy)]
    pub struct Avx(__m256d);

    // SAFETY of all blocks below: values of this type exist only where AVX2 and F16C were detected (the `kernel!` macro),
    // and every load and store checks its length first.
    impl super::Lanes for Avx {
        #[inline(always)]
        fn zero() -> Self {
            Self(unsafe { _mm256_setzero_pd() })
        }
        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(unsafe { _mm256_set1_pd(value) })
        }
        #[inline(always)]
        fn load(from: &[f64]) -> Self {
            let from = &from[..4];
            Self(unsafe { _mm256_loadu_pd(from.as_ptr()) })
        }
        #[inline(always)]
        fn load_f32(from: &[f32]) -> Self {
            let from = &from[..4];
            Self(unsafe { _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr())) })
        }
        #[inline(always)]
        fn load_f16(from: &[Half]) -> Self {
            let from = &from[..4];
            Self(unsafe { _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(from.as_ptr().cast()))) })
        }
        #[inline(always)]
        fn store(self, to: &mut [f64]) {
            let to = &mut to[..4];
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm256_add_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { _mm256_sub_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(unsafe { _mm256_mul_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn greater(self, other: Self) -> Self {
            // The instruction returns its second operand unless the first is greater.
            Self(unsafe { _mm256_max_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn sum(self) -> f64 {
            unsafe {
                let pair = _mm_add_pd(_mm256_castpd256_pd128(self.0), _mm256_extractf128_pd::<1>(self.0));
                _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
            }
        }
    }
    const UNKNOWN: u8 = 0;
    const PLAIN: u8 = 1;
    const AVX2: u8 = 2;
    static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

    /// Whether kernels use AVX2: if the CPU has it and what comes with it, unless `SSVM_SCALAR` is set, which serves to
    /// show that the bits are the same without it.
    #[inline(always)]
    pub fn available() -> bool {
        match LEVEL.load(Ordering::Relaxed) {
            UNKNOWN => detect(),
            level => level == AVX2,
        }
    }

    #[cold]
    fn detect() -> bool {
        // Every CPU with AVX2 has the others, but a virtual one may hide them.
        let found = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("f16c")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt")
            && std::env::var_os("SSVM_SCALAR").is_none();
        LEVEL.store(if found { AVX2 } else { PLAIN }, Ordering::Relaxed);
        found
    }
}

/// Defines a kernel: a body over [`Lanes`], compiled for plain arrays and for AVX2.
macro_rules! kernel {
    ($(#[$doc:meta])* pub fn $name:ident<$lanes:ident>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(unsafe_code)]
        #[inline]
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,f16c,lzcnt,popcnt")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    $name::body::<$crate::linalg::simd::avx::Avx>($($arg),*)
                }
                if $crate::linalg::simd::avx::available() {
                    // SAFETY: the CPU has AVX2 and what comes with it, checked on the line above.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $name::body::<[f64; 4]>($($arg),*)
        }

        mod $name {
            #[allow(clippy::wildcard_imports)]
            use super::*;
            #[inline(always)]
            pub(super) fn body<$lanes: Lanes>($($arg: $ty),*) $(-> $ret)? $body
        }
    };
}

pub(super) use kernel;

/// `count` zeros, see [`on_huge_pages`].
pub fn zeros<T: Copy + Default>(count: usize) -> Vec<T> {
    on_huge_pages(vec![T::default(); count])
}

/// Asks for huge pages under the memory of a vector, where the system has some and the memory fills at least one. Terms
/// are visited in random order, and without huge pages each visit misses the page table as well as the caches. Works
/// best before the memory is written to.
pub fn on_huge_pages<T>(vector: Vec<T>) -> Vec<T> {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 1 << 21;
        let start = vector.as_ptr() as usize;
        let end = start + vector.capacity() * size_of::<T>();
        let (first, end) = (start.next_multiple_of(PAGE), end / PAGE * PAGE);
        if first < end {
            // SAFETY: these whole pages lie inside the vector's own memory, and the advice changes none of their bytes.
            // If the advice is not taken, nothing changes.
            unsafe { nix::libc::madvise(first as *mut _, end - first, nix::libc::MADV_HUGEPAGE) };
        }
    }
    vector
}

/// Prefetches a slice that is needed soon.
#[inline(always)]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    prefetch_hint::<{ std::arch::x86_64::_MM_HINT_T0 }, T>(slice);
}

/// Prefetches a slice that is needed later, but not into the first-level cache.
#[inline(always)]
pub fn prefetch_near<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    prefetch_hint::<{ std::arch::x86_64::_MM_HINT_T1 }, T>(slice);
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_hint<const HINT: i32, T>(slice: &[T]) {
    use std::arch::x86_64::_mm_prefetch;
    let bytes = std::mem::size_of_val(slice);
    let start = slice.as_ptr().cast::<i8>();
    let mut offset = 0;
    while offset < bytes {
        // SAFETY: prefetch has no effect on memory, and `start + offset` stays inside the slice.
        unsafe { _mm_prefetch::<HINT>(start.add(offset)) };
        offset += 64;
    }
}

/// Prefetches the cache line of one element, if the element exists.
#[inline(always)]
pub(super) fn prefetch_line<T>(slice: &[T], at: usize) {
    if let Some(element) = slice.get(at) {
        prefetch(std::slice::from_ref(element));
    }
}
