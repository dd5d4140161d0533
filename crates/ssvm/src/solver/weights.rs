//! φ^i as weights over planes, and the steps that raise F. The products between planes are kept, so that a step costs
//! O(|W_i|) and touches no d-vector.
//!
//! Every step moves γ of weight from an end `o` to an end `t`, at most `cap`:
//! γ = clip(λ·(v_t − v_o)/‖p_t⋆ − p_o⋆‖², 0, cap). Frank–Wolfe is (plane, φ^i, 1), away is (φ^i, plane, α/(1 − α)),
//! pairwise is (plane, plane, α_o).

/// If a step leaves less than this part of a weight, the rest is rounding and moves along to the plane that gains. The
/// bound is relative because weights themselves may be as small as features are large.
const DUST: f64 = 1e-12;

/// Values that differ by less than this part of the largest offset count as equal.
const TIE: f64 = 1e-13;

/// Most planes per term that have weight: an estimate for solvers that keep no others. The mean over terms after 300
/// iterations was 0.9 on the multiclass twin, 25 on the chains, and 21 and 80 on the graphs with 2 and 8 labels. A call
/// adds one plane, so a shorter run has at most one per iteration.
pub const WITH_WEIGHT: u64 = 100;

/// One end of a step: weight is taken from one and put to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vertex {
    /// A plane, by its place. Place 0 is the ground-truth plane.
    Plane(usize),
    /// φ^i itself.
    Mix,
}

/// The planes of one term with their weights. Place 0 is the ground-truth plane, exactly 0, which has all weight at
/// first.
#[derive(Clone, Debug)]
pub struct Weights<P> {
    /// Planes of the places 1, 2, …
    pub(super) planes: Vec<P>,
    pub(super) alpha: Vec<f64>,
    pub(super) offsets: Vec<f64>,
    /// ⟨p_a⋆, p_b⋆⟩ for b ≤ a, row after row; empty when they are not kept.
    pub(super) products: Vec<f64>,
    pub(super) last_active: Vec<u64>,
}

/// When the pair steps of a visit end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLimit {
    /// After this many steps,
    pub steps: u64,
    /// or when at most this part of the gap over the planes is left.
    pub share: f64,
}

impl<P> Default for Weights<P> {
    fn default() -> Self {
        Self { planes: Vec::new(), alpha: vec![1.0], offsets: vec![0.0], products: vec![0.0], last_active: vec![0] }
    }
}

impl<P> Weights<P> {
    /// Number of planes, the ground truth's among them.
    pub fn len(&self) -> usize {
        self.alpha.len()
    }

    /// Number of planes besides the ground truth's.
    pub fn known(&self) -> usize {
        self.planes.len()
    }

    /// Whether the ground-truth plane is the only one.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    /// The weights, by place.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// φ∘ of the planes, by place.
    pub fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// Σ α_a v_a.
    pub fn mix(&self, values: &[f64]) -> f64 {
        self.alpha.iter().zip(values).map(|(alpha, value)| alpha * value).sum()
    }

    /// Whether the products between planes are kept.
    pub fn keeps_products(&self) -> bool {
        !self.products.is_empty()
    }

    /// Stops keeping products; returns how many were kept.
    pub(super) fn forget_products(&mut self) -> usize {
        let kept = self.products.len();
        self.products = Vec::new();
        // The product of the truth with itself is not counted.
        kept.saturating_sub(1)
    }

    /// Adds a plane with weight 0; its products are the caller's to add.
    pub(super) fn push(&mut self, plane: &P, offset: f64, now: u64)
    where
        P: Clone,
    {
        self.planes.push(plane.clone());
        self.alpha.push(0.0);
        self.offsets.push(offset);
        self.last_active.push(now);
    }

    /// ⟨p_a⋆, p_b⋆⟩, where they are kept.
    pub fn product(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (a.max(b), a.min(b));
        self.products[a * (a + 1) / 2 + b]
    }

    /// α ← α + γ·along, for a change whose sum is 0 and a γ that keeps all weights at 0 or above.
    pub fn move_along(&mut self, along: &[f64], gamma: f64) {
        for (alpha, along) in self.alpha.iter_mut().zip(along) {
            *alpha = (*alpha + gamma * along).max(0.0);
        }
    }

    /// Sets a weight that a step brought to 0 to exactly 0.
    pub fn empty(&mut self, place: usize) {
        self.alpha[place] = 0.0;
    }

    /// Makes the weights a convex combination again after rounding.
    pub fn normalise(&mut self) {
        let others: f64 = self.alpha[1..].iter().sum();
        // The ground-truth plane is 0, so its weight changes nothing and may take up the difference.
        if others <= 1.0 && 1.0 - others >= DUST {
            self.alpha[0] = 1.0 - others;
            return;
        }
        self.alpha[0] = 0.0;
        for alpha in &mut self.alpha[1..] {
            *alpha /= others;
        }
    }

    /// (v_t − v_o, ‖p_t⋆ − p_o⋆‖²) for values v by place.
    pub fn direction(&self, t: Vertex, o: Vertex, values: &[f64]) -> (f64, f64) {
        let value = |end| match end {
            Vertex::Plane(at) => values[at],
            Vertex::Mix => self.alpha.iter().zip(values).map(|(alpha, value)| alpha * value).sum(),
        };
        let with = |a: usize| (0..self.len()).map(|b| self.alpha[b] * self.product(a, b)).sum::<f64>();
        let product = |one, other| match (one, other) {
            (Vertex::Plane(a), Vertex::Plane(b)) => self.product(a, b),
            (Vertex::Plane(a), Vertex::Mix) | (Vertex::Mix, Vertex::Plane(a)) => with(a),
            (Vertex::Mix, Vertex::Mix) => (0..self.len()).map(|a| self.alpha[a] * with(a)).sum(),
        };
        (value(t) - value(o), (product(t, t) + product(o, o) - 2.0 * product(t, o)).max(0.0))
    }

    /// The most weight a step between these ends can move.
    pub fn cap(&self, t: Vertex, o: Vertex) -> f64 {
        match (t, o) {
            (Vertex::Mix, Vertex::Plane(at)) if self.alpha[at] < 1.0 => self.alpha[at] / (1.0 - self.alpha[at]),
            (_, Vertex::Plane(at)) => self.alpha[at],
            (_, Vertex::Mix) => 1.0,
        }
    }

    /// Moves γ of weight, and updates the values.
    pub fn step(&mut self, t: Vertex, o: Vertex, gamma: f64, values: &mut [f64], lambda: f64) {
        let all = match (t, o) {
            (Vertex::Plane(_), Vertex::Plane(o)) if self.alpha[o] - gamma < DUST * self.alpha[o] => Some(self.alpha[o]),
            _ => None,
        };
        let gamma = all.unwrap_or(gamma);
        let before = matches!((t, o), (Vertex::Mix, _) | (_, Vertex::Mix)).then(|| self.alpha.clone());
        let mut add = |end, sign: f64| match end {
            Vertex::Plane(at) => self.alpha[at] += sign * gamma,
            Vertex::Mix => {
                for (alpha, before) in self.alpha.iter_mut().zip(before.iter().flatten()) {
                    *alpha += sign * gamma * before;
                }
            }
        };
        add(t, 1.0);
        add(o, -1.0);
        if let Vertex::Plane(o) = o
            && (all.is_some() || self.alpha[o] < 0.0)
        {
            self.alpha[o] = 0.0;
        }
        for (c, value) in values.iter_mut().enumerate() {
            let with = |end| match end {
                Vertex::Plane(at) => self.product(c, at),
                Vertex::Mix => before.iter().flatten().enumerate().map(|(b, alpha)| alpha * self.product(c, b)).sum(),
            };
            *value -= gamma / lambda * (with(t) - with(o));
        }
    }

    /// Makes pair steps until `stop`; returns the gap over the planes before them, and the number of steps.
    pub fn pair_steps(&mut self, values: &mut [f64], lambda: f64, stop: PairLimit, now: u64) -> (f64, u64) {
        let mut entry = 0.0;
        // After a step both ends are equally high, except for rounding. The first of such planes is chosen, so that the
        // choice is the same on every machine and in all coordinates.
        let tie = TIE * self.offsets.iter().fold(0.0, |most: f64, offset| most.max(offset.abs()));
        for count in 0..stop.steps {
            let (mut t, mut o) = (0, usize::MAX);
            let (mut mix, mut most) = (0.0, values[0]);
            for (at, value) in values.iter().enumerate() {
                most = most.max(*value);
                if *value > values[t] + tie {
                    t = at;
                }
                if self.alpha[at] > 0.0 {
                    mix += self.alpha[at] * value;
                    if o == usize::MAX || *value < values[o] - tie {
                        o = at;
                    }
                }
            }
            let gap = most - mix;
            if count == 0 {
                entry = gap;
                self.last_active[t] = now;
            }
            if o == usize::MAX || values[t] - values[o] <= tie || (count > 0 && gap <= stop.share * entry) {
                return (entry, count);
            }
            let (gain, norm2) = self.direction(Vertex::Plane(t), Vertex::Plane(o), values);
            let gamma = super::step::gamma_within(gain, norm2, lambda, self.cap(Vertex::Plane(t), Vertex::Plane(o)));
            if gamma <= 0.0 {
                return (entry, count);
            }
            self.step(Vertex::Plane(t), Vertex::Plane(o), gamma, values, lambda);
        }
        (entry, stop.steps)
    }

    /// Drops planes of weight 0 that have not been the best for more than `age`. While there are more than `most`
    /// planes besides the truth's, also drops the longest inactive of weight 0. Returns the number of products dropped.
    pub fn expire(&mut self, now: u64, age: u64, most: usize) -> usize {
        let before = self.products.len();
        for at in (1..self.len()).rev() {
            if self.alpha[at] == 0.0 && now - self.last_active[at] > age {
                self.remove(at);
            }
        }
        while self.planes.len() > most
            && let Some(at) = (1..self.len()).filter(|at| self.alpha[*at] == 0.0).min_by_key(|at| self.last_active[*at])
        {
            self.remove(at);
        }
        before - self.products.len()
    }

    /// While there are more than `most` planes besides the truth's, drops those of weight 0 with the lowest values,
    /// together with their values. Returns the number of products dropped.
    pub fn evict(&mut self, most: usize, values: &mut Vec<f64>) -> usize {
        let before = self.products.len();
        while self.planes.len() > most
            && let Some(at) =
                (1..self.len()).filter(|at| self.alpha[*at] == 0.0).min_by(|a, b| values[*a].total_cmp(&values[*b]))
        {
            self.remove(at);
            values.remove(at);
        }
        before - self.products.len()
    }

    fn remove(&mut self, place: usize) {
        if self.keeps_products() {
            let (mut read, mut write) = (0, 0);
            for a in 0..self.len() {
                for b in 0..=a {
                    if a != place && b != place {
                        self.products[write] = self.products[read];
                        write += 1;
                    }
                    read += 1;
                }
            }
            self.products.truncate(write);
        }
        self.planes.remove(place - 1);
        self.alpha.remove(place);
        self.offsets.remove(place);
        self.last_active.remove(place);
    }
}

impl Weights<Vec<f64>> {
    /// Replaces the two lightest planes by their mean while there are more than `most` besides the truth's; φ^i stays
    /// the same. Their products must be kept.
    pub fn fold(&mut self, most: usize) {
        while self.planes.len() > most.max(1) {
            let lightest = |without: usize, alpha: &[f64]| {
                (1..alpha.len()).filter(|at| *at != without).min_by(|a, b| alpha[*a].total_cmp(&alpha[*b]))
            };
            let Some(gone) = lightest(0, &self.alpha) else { return };
            let Some(kept) = lightest(gone, &self.alpha) else { return };
            let weight = self.alpha[kept] + self.alpha[gone];
            let share = if weight > 0.0 { self.alpha[gone] / weight } else { 0.0 };
            let mean = |a: f64, b: f64| a + share * (b - a);
            let square = mean(
                mean(self.product(kept, kept), self.product(kept, gone)),
                mean(self.product(kept, gone), self.product(gone, gone)),
            );
            for at in 0..self.len() {
                let product = if at == kept { square } else { mean(self.product(at, kept), self.product(at, gone)) };
                let (row, column) = (at.max(kept), at.min(kept));
                self.products[row * (row + 1) / 2 + column] = product;
            }
            for at in 0..self.planes[kept - 1].len() {
                self.planes[kept - 1][at] = mean(self.planes[kept - 1][at], self.planes[gone - 1][at]);
            }
            self.offsets[kept] = mean(self.offsets[kept], self.offsets[gone]);
            self.last_active[kept] = self.last_active[kept].max(self.last_active[gone]);
            self.alpha[kept] = weight;
            self.remove(gone);
        }
    }
}
