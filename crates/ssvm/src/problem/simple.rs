//! A complete [`Problem`] from an oracle that returns sparse planes.

use super::{COPIES, Direction, Fault, Problem, Sink, vectors};
use crate::linalg::add_scaled;

/// A plane as index–value pairs (each index once) plus φ∘.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparsePlane {
    /// (coordinate, value) of φ⋆.
    pub entries: Vec<(usize, f64)>,
    /// φ∘.
    pub offset: f64,
}

impl SparsePlane {
    fn dot(&self, w: &[f64]) -> f64 {
        self.entries.iter().map(|(j, v)| w[*j] * v).sum()
    }
}

/// What you implement: the number of terms, the number of weights, and the max-oracle. [`Hinge`] is a complete example.
pub trait MaxOracle: Sync {
    /// n.
    fn terms(&self) -> usize;
    /// d.
    fn dim(&self) -> usize;
    /// λ; 1/n unless overridden.
    fn lambda(&self) -> f64 {
        1.0 / self.terms() as f64
    }
    /// Overwrites `plane` with a plane that maximises ⟨φ^{iy}, [w 1]⟩ (already divided by n; the truth is exactly 0).
    /// Returns the operations it took. Fails when the oracle has no answer, which ends the run.
    fn max_plane(&self, i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, Fault>;
}

/// H(w) = max(0, 1 − w) with λ = 1: one term, one weight. The smallest problem, for examples and tests.
///
/// ```
/// use ssvm::{Hinge, MaxOracle, SparsePlane};
///
/// let mut plane = SparsePlane::default();
/// Hinge.max_plane(0, &[0.25], &mut plane)?;
/// assert_eq!(plane, SparsePlane { entries: vec![(0, -1.0)], offset: 1.0 });
/// # Ok::<(), ssvm::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Hinge;

impl MaxOracle for Hinge {
    fn terms(&self) -> usize {
        1
    }

    fn dim(&self) -> usize {
        1
    }

    fn max_plane(&self, _i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, Fault> {
        let violated = w[0] < 1.0;
        plane.entries.clear();
        plane.entries.extend(violated.then_some((0, -1.0)));
        plane.offset = f64::from(u8::from(violated));
        Ok(1)
    }
}

impl<O: MaxOracle + ?Sized> MaxOracle for &O {
    fn terms(&self) -> usize {
        (**self).terms()
    }

    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn lambda(&self) -> f64 {
        (**self).lambda()
    }

    fn max_plane(&self, i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, Fault> {
        (**self).max_plane(i, w, plane)
    }
}

/// A [`Problem`] made of a [`MaxOracle`]; keeps every φ^i as a dense vector. The oracle is behind a dynamic call, so that
/// your crate compiles the oracle and no solver.
pub struct Simple<'o>(Box<dyn MaxOracle + Send + 'o>);

/// φ^i and φ∘^i, dense.
pub struct Blocks {
    vectors: Vec<f64>,
    offsets: Vec<f64>,
}

impl<'o> Simple<'o> {
    /// The problem of this oracle, or of a reference to one.
    pub fn new(oracle: impl MaxOracle + Send + 'o) -> Self {
        Self(Box::new(oracle))
    }

    fn block<'a>(&self, i: usize, blocks: &'a Blocks) -> &'a [f64] {
        &blocks.vectors[i * self.0.dim()..(i + 1) * self.0.dim()]
    }
}

impl Problem for Simple<'_> {
    type Plane = SparsePlane;
    type Blocks = Blocks;
    /// φ̂ − φ^i.
    type Work = Vec<f64>;

    super::compiled_here!();

    fn terms(&self) -> usize {
        self.0.terms()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn lambda(&self) -> f64 {
        self.0.lambda()
    }

    fn run_bytes(&self) -> u64 {
        vectors(self.terms().saturating_add(COPIES), self.dim())
    }

    fn blocks(&self) -> Blocks {
        Blocks { vectors: vec![0.0; self.terms() * self.dim()], offsets: vec![0.0; self.terms()] }
    }

    fn work(&self) -> Vec<f64> {
        vec![0.0; self.dim()]
    }

    fn oracle(&self, i: usize, w: &[f64], _work: &mut Vec<f64>, plane: &mut SparsePlane) -> Result<u64, Fault> {
        self.0.max_plane(i, w, plane)
    }

    fn value(&self, _i: usize, plane: &SparsePlane, w: &[f64], _work: &Vec<f64>) -> f64 {
        plane.dot(w) + plane.offset
    }

    fn direction(&self, i: usize, blocks: &Blocks, plane: &SparsePlane, w: &[f64], work: &mut Vec<f64>) -> Direction {
        for (delta, value) in work.iter_mut().zip(self.block(i, blocks)) {
            *delta = -value;
        }
        for (j, v) in &plane.entries {
            work[*j] += v;
        }
        let offset = plane.offset - blocks.offsets[i];
        Direction { gain: crate::linalg::dot(work, w) + offset, norm2: crate::linalg::norm2(work), offset }
    }

    fn advance(
        &self,
        i: usize,
        blocks: &mut Blocks,
        plane: &SparsePlane,
        gamma: f64,
        work: &mut Vec<f64>,
        sink: &mut Sink<'_>,
    ) {
        let d = self.dim();
        add_scaled(&mut blocks.vectors[i * d..(i + 1) * d], gamma, work);
        blocks.offsets[i] += gamma * (plane.offset - blocks.offsets[i]);
        sink.each(|target, scale| add_scaled(target, scale * gamma, work));
    }

    fn add_block(&self, i: usize, blocks: &Blocks, scale: f64, out: &mut [f64]) -> f64 {
        add_scaled(out, scale, self.block(i, blocks));
        blocks.offsets[i]
    }

    fn add_plane(&self, _i: usize, plane: &SparsePlane, scale: f64, out: &mut [f64]) -> f64 {
        for (j, v) in &plane.entries {
            out[*j] += scale * v;
        }
        plane.offset
    }

    fn product_ops(&self, _i: usize) -> u64 {
        self.dim() as u64
    }

    fn offset(&self, _i: usize, plane: &SparsePlane) -> f64 {
        plane.offset
    }

    fn product(&self, _i: usize, p: &SparsePlane, q: &SparsePlane, work: &mut Vec<f64>) -> f64 {
        work.fill(0.0);
        for (j, v) in &q.entries {
            work[*j] = *v;
        }
        p.dot(work)
    }
}
