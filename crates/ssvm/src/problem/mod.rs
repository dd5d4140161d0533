//! Data, oracle and λ: the terms H_i of the objective as solvers see them.
//!
//! Solvers use a problem only through [`Problem`]. A plane φ^{iy} and the convex combination φ^i have whatever compact
//! form suits the family; solvers only ask for products with w, for the direction φ̂ − φ^i, and for moves.

mod chain;
mod dynamic;
mod evaluate;
mod family;
mod fault;
mod graph;
mod multiclass;
mod simple;

pub use chain::{CHAIN, ChainProblem};
pub use dynamic::DynProblem;
pub use evaluate::Evaluation;
pub use family::{Family, Paper, Size};
pub use fault::Fault;
pub use graph::{BINARY_GRAPH, GraphProblem, POTTS_GRAPH};
pub use multiclass::{LARGEST_FEATURE, MULTICLASS, MulticlassProblem};
pub use simple::{Hinge, MaxOracle, Simple, SparsePlane};

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

/// Bounds on H_i(w).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certificate {
    /// The value of a plane: a lower bound of H_i(w).
    pub lower: f64,
    /// An upper bound of H_i(w).
    pub upper: f64,
    /// Whether that plane is proven to be a maximiser.
    pub proven: bool,
    /// Operations of the oracle.
    pub operations: u64,
    /// What the oracle's own arithmetic, such as fixed point, can hide above `upper`.
    pub hidden: f64,
}

impl Certificate {
    /// A certificate from the value of an exact oracle's plane.
    pub fn exact(value: f64, operations: u64) -> Self {
        Self { lower: value, upper: value, proven: true, operations, hidden: 0.0 }
    }
}

/// Sizes of the numbers that make a plane, before any of them cancel. Rounding errors are proportional to these, not to
/// their sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sizes {
    /// ‖p⋆‖ if all numbers that are summed in p⋆ had the same sign.
    pub length: f64,
    /// By how much the sizes of the numbers that are summed in φ∘ exceed |φ∘|.
    pub offset: f64,
    /// Most additions that a number goes through on its way into p⋆, φ∘ or a value.
    pub additions: f64,
}

impl Sizes {
    /// Allowance for rounding in H_i(w), found as `value` at a w of length `w`, and in the choice of its plane. A sum
    /// of m numbers is off by at most m units of 2⁻⁵³ of the sum of their sizes (Higham). A plane that is nearly the
    /// best has no larger |φ∘| than |value| + ‖p⋆‖·‖w‖. The two planes that an oracle compares and the value of the
    /// better one are three such sums, of numbers that are rounded a few times each.
    pub fn rounding(&self, value: f64, w: f64) -> f64 {
        1.5 * f64::EPSILON * (self.additions + 16.0) * (value.abs() + 2.0 * self.length * w + self.offset)
    }
}

/// Time of an oracle call that was spent outside this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Away {
    /// Inside the oracle, ns.
    pub spent_ns: u64,
    /// On the way there and back, ns; not counted as oracle time.
    pub pipe_ns: u64,
    /// The part of `pipe_ns` in which the calling thread had nothing to do, ns.
    pub idle_ns: u64,
}

/// A structural SVM training problem: n terms, each the maximum of planes.
///
/// [`Simple`] makes one of a [`MaxOracle`]. Implement it yourself where planes have a form that makes products fast.
/// Coordinates of w are the problem's own (any isometric image of the joint feature space works); [`Problem::weights`]
/// translates them to the joint features.
///
/// ```
/// use ssvm::{Hinge, Problem, Simple, SparsePlane};
///
/// let problem = Simple::new(Hinge);
/// let (mut work, mut plane) = (problem.work(), SparsePlane::default());
/// problem.oracle(0, &[0.25], &mut work, &mut plane)?;
/// assert_eq!(problem.value(0, &plane, &[0.25], &work), 0.75);
/// # Ok::<(), ssvm::Error>(())
/// ```
pub trait Problem: Sync {
    /// One plane φ^{iy}. Equal planes compare equal; `Default` is only a slot for the oracle to write into.
    type Plane: Clone + Default + PartialEq + Send + Sync;
    /// All φ^i, each a convex combination of planes of its term.
    type Blocks: Send;
    /// Scratch memory of one run: score tables, search trees, the direction last asked for.
    type Work: Send;

    /// The family of the problem.
    fn family(&self) -> &'static Family {
        &Family::OTHER
    }
    /// n.
    fn terms(&self) -> usize;
    /// 1/n.
    fn inverse_n(&self) -> f64 {
        1.0 / self.terms() as f64
    }
    /// Length of w.
    fn dim(&self) -> usize;
    /// λ.
    fn lambda(&self) -> f64;
    /// Whether the oracle always finds a maximiser. If not, gaps are certified by [`Problem::certify`].
    fn exact(&self) -> bool {
        true
    }
    /// Why no run on this problem can be trusted, such as features whose squares are not finite; `None` if runs can be
    /// trusted.
    fn refusal(&self) -> Option<String> {
        None
    }
    /// Memory of a run before it keeps planes, in bytes: a few vectors as long as w, and all φ^i. A problem whose runs
    /// do not fit into memory is refused.
    fn run_bytes(&self) -> u64 {
        vectors(COPIES, self.dim())
    }
    /// All φ^i = 0, the ground-truth planes.
    fn blocks(&self) -> Self::Blocks;
    /// Fresh scratch memory.
    fn work(&self) -> Self::Work;

    /// The max-oracle: writes a plane that maximises ⟨φ^{iy}, [w 1]⟩ and returns the operations it took. Leaves in
    /// `work` what [`Problem::value`] and [`Problem::direction`] need for term i at w. Fails when the oracle cannot answer,
    /// which ends the run.
    fn oracle(&self, i: usize, w: &[f64], work: &mut Self::Work, plane: &mut Self::Plane) -> Result<u64, Fault>;
    /// [`Problem::oracle`] with planes of term i that are known already: an oracle that is not exact may start from them.
    #[inline(always)]
    fn oracle_among<'a>(
        &self,
        i: usize,
        w: &[f64],
        _known: impl Iterator<Item = &'a Self::Plane>,
        work: &mut Self::Work,
        plane: &mut Self::Plane,
    ) -> Result<u64, Fault>
    where
        Self::Plane: 'a,
    {
        self.oracle(i, w, work, plane)
    }
    /// Bounds H_i(w) from both sides, off the clock. An exact oracle has nothing to add.
    fn certify(
        &self,
        i: usize,
        w: &[f64],
        work: &mut Self::Work,
        plane: &mut Self::Plane,
    ) -> Result<Certificate, Fault> {
        let operations = self.oracle(i, w, work, plane)?;
        Ok(Certificate::exact(self.value(i, plane, w, work), operations))
    }
    /// [`Problem::certify`] of the terms from `first` on. Overridden where several calls at once cost less.
    fn certify_all(
        &self,
        first: usize,
        w: &[f64],
        work: &mut Self::Work,
        plane: &mut Self::Plane,
        terms: &mut [Certificate],
    ) -> Result<(), Fault> {
        for (at, term) in terms.iter_mut().enumerate() {
            *term = self.certify(first + at, w, work, plane)?;
        }
        Ok(())
    }
    /// Hint that the oracle is called for these terms next, in this order, all at this w.
    fn announce(&self, _terms: &[u32], _w: &[f64], _work: &mut Self::Work) -> Result<(), Fault> {
        Ok(())
    }
    /// Time of the last oracle call with this `work` that was spent outside this process.
    #[inline(always)]
    fn away(&self, _work: &Self::Work) -> Away {
        Away::default()
    }
    /// Remarks about the oracle so far for readers of results, a sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// Prepares `work` for products of φ^i and these planes of term i with w, when no oracle call came before.
    /// Overridden where products need preparation.
    fn load<'a>(
        &self,
        _i: usize,
        _w: &[f64],
        _blocks: &Self::Blocks,
        _planes: impl Iterator<Item = &'a Self::Plane>,
        _work: &mut Self::Work,
    ) where
        Self::Plane: 'a,
    {
    }
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
    /// Operations of one plane product of term i, for the virtual clock.
    fn product_ops(&self, i: usize) -> u64;

    /// φ∘ of a plane of term i.
    fn offset(&self, i: usize, plane: &Self::Plane) -> f64;
    /// ⟨p⋆, q⋆⟩ of two planes of term i; exactly 0 when one of them is 0. May use `work`, but leaves there what
    /// [`Problem::value`] needs.
    fn product(&self, i: usize, p: &Self::Plane, q: &Self::Plane, work: &mut Self::Work) -> f64;
    /// Sizes of a plane of term i, for the rounding allowance of certificates. This default is for planes whose numbers
    /// are not sums: override it where large numbers can cancel.
    fn sizes(&self, i: usize, plane: &Self::Plane, work: &mut Self::Work) -> Sizes {
        let length = self.product(i, plane, plane, work).max(0.0).sqrt();
        Sizes { length, offset: 0.0, additions: self.dim() as f64 }
    }
    /// Operations of [`Problem::product`], for the virtual clock.
    fn gram_ops(&self, i: usize) -> u64 {
        self.product_ops(i)
    }
    /// Appends ⟨φ^{iy}, [w 1]⟩ of these planes of term i, as [`Problem::load`] and [`Problem::value`] do for a solver
    /// that keeps no φ^i. Overridden where values need preparation.
    fn values<'a>(
        &self,
        i: usize,
        w: &[f64],
        planes: impl Iterator<Item = &'a Self::Plane> + Clone,
        work: &mut Self::Work,
        values: &mut Vec<f64>,
    ) where
        Self::Plane: 'a,
    {
        values.extend(planes.map(|plane| self.value(i, plane, w, work)));
    }
    /// Σ c·p⋆ over these planes of term i into `sink`; returns Σ c·p∘. Overridden where planes share coordinates.
    fn add_planes<'a>(
        &self,
        i: usize,
        planes: impl Iterator<Item = (f64, &'a Self::Plane)>,
        _work: &mut Self::Work,
        sink: &mut Sink<'_>,
    ) -> f64
    where
        Self::Plane: 'a,
    {
        let mut offset = 0.0;
        for (c, plane) in planes {
            offset += c * self.offset(i, plane);
            sink.each(|target, scale| {
                self.add_plane(i, plane, scale * c, target);
            });
        }
        offset
    }
    /// Hint that term i comes after the next one: the location of its memory may be prefetched.
    fn approach(&self, _i: usize, _blocks: &Self::Blocks) {}
    /// Hint that term i comes after the one that is about to be worked on.
    fn prefetch(&self, _i: usize, _blocks: &Self::Blocks, _work: &mut Self::Work) {}
    /// Length of [`Problem::weights`].
    fn exported(&self) -> usize {
        self.dim()
    }
    /// w in the block order of the joint features: label-major blocks, then transitions row-major.
    fn weights(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
    /// The problem behind dynamic calls. Solvers are compiled for a problem where this method is compiled: override it with
    /// the same body, `self`, and `#[inline(never)]`, and only the crate of the problem compiles them. Where the method is
    /// inlined into another crate, that crate compiles all solvers once more, at its own level of optimisation.
    fn as_dyn(&self) -> &dyn DynProblem
    where
        Self: Sized,
    {
        self
    }
}

/// [`Problem::as_dyn`] of the problems of this crate.
macro_rules! compiled_here {
    () => {
        #[inline(never)]
        fn as_dyn(&self) -> &dyn crate::problem::DynProblem {
            self
        }
    };
}
use compiled_here;

/// Most vectors as long as w that a run holds: w, the sums and the mean of an average, what is evaluated and returned,
/// and what is exported.
pub(crate) const COPIES: usize = 6;

/// Bytes of this many vectors of this length.
pub(crate) fn vectors(count: usize, length: usize) -> u64 {
    (count as u64).saturating_mul(length as u64).saturating_mul(8)
}
