//! Data + oracle + λ: the terms H_i of the objective as the solvers see them.
//!
//! The solvers talk to a problem through [`Problem`] alone. A plane φ^{iy} and the convex combination φ^i are whatever
//! compact form the family likes; the solvers only ask for products with w, for the direction φ̂ − φ^i, and to move.

mod chain;
mod family;
mod graph;
mod multiclass;
mod primal;
mod simple;

pub use chain::{CHAIN, ChainProblem};
pub use family::{Family, Paper, Size};
pub use graph::{BINARY_GRAPH, GraphProblem, POTTS_GRAPH};
pub use multiclass::{MULTICLASS, MulticlassProblem};
pub use primal::primal;
pub use simple::{MaxOracle, Simple, SparsePlane};

/// Products of the direction φ̂ − φ^i that a step needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Direction {
    /// ⟨φ̂ − φ^i, [w 1]⟩.
    pub gain: f64,
    /// ‖φ̂⋆ − φ⋆^i‖².
    pub norm2: f64,
    /// φ̂∘ − φ∘^i.
    pub offset: f64,
}

/// Where a step writes its change of φ⋆: into w, and with another factor into the accumulator of an average.
pub struct Sink<'a> {
    /// w.
    pub w: &'a mut [f64],
    /// Factor from a change of φ⋆ to a change of w: −1/λ.
    pub scale: f64,
    /// Accumulator of the lazy average and the factor from a change of φ⋆ to a change of it.
    pub average: Option<(&'a mut [f64], f64)>,
}

impl Sink<'_> {
    /// Calls `add(target, factor)` for every vector that follows the change.
    #[inline(always)]
    pub fn each(&mut self, mut add: impl FnMut(&mut [f64], f64)) {
        add(self.w, self.scale);
        if let Some((average, factor)) = &mut self.average {
            add(average, *factor);
        }
    }
}

/// A structural SVM training problem: n terms, each the maximum of planes.
///
/// Coordinates of w are the problem's own (any isometric image of the joint feature space will do);
/// [`Problem::weights`] translates them for people.
pub trait Problem: Sync {
    /// One plane φ^{iy}. Equal planes compare equal; `Default` is only a slot for the oracle to write into.
    type Plane: Clone + Default + PartialEq + Send + Sync;
    /// All φ^i, each a convex combination of planes of its term.
    type Blocks: Send;
    /// Scratch memory of one run: score tables, search trees, the direction last asked for.
    type Work: Send;

    /// What kind of problem this is.
    fn family(&self) -> &'static Family {
        &Family::OTHER
    }
    /// n.
    fn terms(&self) -> usize;
    /// Length of w.
    fn dim(&self) -> usize;
    /// λ.
    fn lambda(&self) -> f64;
    /// All φ^i = 0, the ground-truth planes.
    fn blocks(&self) -> Self::Blocks;
    /// Fresh scratch memory.
    fn work(&self) -> Self::Work;

    /// The max-oracle: writes a plane that maximises ⟨φ^{iy}, [w 1]⟩ and returns the operations it took. Leaves in
    /// `work` what [`Problem::value`] and [`Problem::direction`] need for term i at w.
    fn oracle(&self, i: usize, w: &[f64], work: &mut Self::Work, plane: &mut Self::Plane) -> u64;
    /// Prepares `work` for products of φ^i and these planes of term i with w, when no oracle call came before.
    fn load<'a>(
        &self,
        i: usize,
        w: &[f64],
        blocks: &Self::Blocks,
        planes: impl Iterator<Item = &'a Self::Plane>,
        work: &mut Self::Work,
    ) where
        Self::Plane: 'a;
    /// ⟨φ^{iy}, [w 1]⟩.
    fn value(&self, i: usize, plane: &Self::Plane, w: &[f64], work: &Self::Work) -> f64;
    /// Products of φ̂ − φ^i; may leave the direction in `work` for [`Problem::advance`].
    fn direction(
        &self,
        i: usize,
        blocks: &Self::Blocks,
        plane: &Self::Plane,
        w: &[f64],
        work: &mut Self::Work,
    ) -> Direction;
    /// φ^i ← (1−γ)φ^i + γφ̂, and the change of φ⋆ into `sink`. Called right after [`Problem::direction`] with γ > 0.
    fn advance(
        &self,
        i: usize,
        blocks: &mut Self::Blocks,
        plane: &Self::Plane,
        gamma: f64,
        work: &mut Self::Work,
        sink: &mut Sink<'_>,
    );
    /// out ← out + scale·φ⋆^i; returns φ∘^i.
    fn add_block(&self, i: usize, blocks: &Self::Blocks, scale: f64, out: &mut [f64]) -> f64;
    /// out ← out + scale·φ⋆^{iy}; returns φ∘^{iy}.
    fn add_plane(&self, i: usize, plane: &Self::Plane, scale: f64, out: &mut [f64]) -> f64;
    /// H_i(w) is at most this, where `plane` is what the oracle has just returned; an oracle that is no maximiser adds
    /// what it may have missed, and may put a better plane in. Off the clock.
    fn ceiling(&self, i: usize, w: &[f64], work: &mut Self::Work, plane: &mut Self::Plane) -> f64 {
        self.value(i, plane, w, work)
    }
    /// Operations of one plane product of term i, for the virtual clock.
    fn product_ops(&self, i: usize) -> u64;
    /// Hint that term i comes next.
    fn prefetch(&self, _i: usize, _blocks: &Self::Blocks) {}
    /// w in the block order of the joint features: label-major blocks, then transitions row-major.
    fn weights(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
}
