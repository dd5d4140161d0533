//! The neighbour graph of one example: compressed rows of arcs, each with the index of its reverse.

use std::ops::Range;

use crate::error::{Error, Result};

/// One direction of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arc {
    /// Node the arc points to.
    pub head: u32,
    /// The same edge in the other direction.
    pub sister: u32,
}

/// An undirected graph, immutable once built. Parallel edges are kept: their weights add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    first: Vec<u32>,
    arcs: Vec<Arc>,
    /// Where the arcs to later nodes begin in each row.
    later: Vec<u32>,
    max_degree: u32,
}

impl Topology {
    /// The graph on nodes 0..`nodes`; fails for loops and ids out of range.
    pub fn new(nodes: usize, edges: &[[u32; 2]]) -> Result<Self> {
        // The three largest ids are marks of the search trees.
        if nodes > (u32::MAX - 3) as usize || edges.len() > ((u32::MAX - 3) / 2) as usize {
            return Err(Error::invalid(format!(
                "a graph of {nodes} nodes and {} edges is too large: use smaller examples",
                edges.len()
            )));
        }
        if let Some([k, l]) = edges.iter().find(|[k, l]| k == l || *k.max(l) as usize >= nodes) {
            return Err(Error::invalid(format!(
                "edge {k} – {l} in a graph of {nodes} nodes: ends must be two different nodes below {nodes}"
            )));
        }
        let mut first = vec![0u32; nodes + 1];
        for &k in edges.iter().flatten() {
            first[k as usize + 1] += 1;
        }
        let max_degree = first.iter().copied().max().unwrap_or(0);
        for k in 0..nodes {
            first[k + 1] += first[k];
        }
        // Edges in order make rows in order: earlier neighbours first.
        let mut sorted: Vec<[u32; 2]> = edges.iter().map(|&[k, l]| [k.min(l), k.max(l)]).collect();
        sorted.sort_unstable();
        let mut next = first.clone();
        let mut later = first[1..].to_vec();
        let mut arcs = vec![Arc::default(); 2 * edges.len()];
        for [k, l] in sorted {
            let (a, b) = (next[k as usize], next[l as usize]);
            later[k as usize] = later[k as usize].min(a);
            arcs[a as usize] = Arc { head: l, sister: b };
            arcs[b as usize] = Arc { head: k, sister: a };
            next[k as usize] += 1;
            next[l as usize] += 1;
        }
        Ok(Self { first, arcs, later, max_degree })
    }

    /// Makes this graph the part of `whole` between `nodes` (ascending), which get the ids 0, 1, …; `ids` and `places`
    /// are scratch.
    pub(crate) fn restrict(&mut self, whole: &Self, nodes: &[u32], ids: &mut Vec<u32>, places: &mut Vec<u32>) {
        const OUT: u32 = u32::MAX;
        ids.clear();
        ids.resize(whole.num_nodes(), OUT);
        for (id, &k) in (0..).zip(nodes) {
            ids[k as usize] = id;
        }
        places.resize(whole.arcs.len(), 0);
        self.first.clear();
        self.first.push(0);
        self.later.clear();
        self.arcs.clear();
        self.max_degree = 0;
        for &k in nodes {
            let begin = self.arcs.len() as u32;
            let mut later = None;
            for a in whole.range(k) {
                let Arc { head, sister } = whole.arcs[a];
                if ids[head as usize] == OUT {
                    continue;
                }
                let here = self.arcs.len() as u32;
                places[a] = here;
                let mut arc = Arc { head: ids[head as usize], sister: 0 };
                if head < k {
                    arc.sister = places[sister as usize];
                    self.arcs[arc.sister as usize].sister = here;
                } else {
                    later.get_or_insert(here);
                }
                self.arcs.push(arc);
            }
            let end = self.arcs.len() as u32;
            self.later.push(later.unwrap_or(end));
            self.first.push(end);
            self.max_degree = self.max_degree.max(end - begin);
        }
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.later.len()
    }

    /// All arcs, those of node 0 first, each node's by ascending head.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// Positions in [`Topology::arcs`] of the arcs that leave `node`.
    #[inline]
    pub fn range(&self, node: u32) -> Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// Arcs that leave `node`.
    #[inline]
    pub fn neighbours(&self, node: u32) -> &[Arc] {
        &self.arcs[self.range(node)]
    }

    /// Number of arcs that leave `node`.
    #[inline]
    pub fn degree(&self, node: u32) -> u32 {
        self.first[node as usize + 1] - self.first[node as usize]
    }

    /// Largest degree.
    pub fn max_degree(&self) -> u32 {
        self.max_degree
    }

    /// The part of [`Topology::range`] that leads to earlier nodes.
    #[inline]
    pub(crate) fn earlier(&self, node: u32) -> Range<usize> {
        self.first[node as usize] as usize..self.later[node as usize] as usize
    }

    /// The part of [`Topology::range`] that leads to later nodes.
    #[inline]
    pub(crate) fn later(&self, node: u32) -> Range<usize> {
        self.later[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// Θ(y) at weight 1: the number of edges whose ends differ.
    pub fn disagreements<T: PartialEq>(&self, labels: &[T]) -> u32 {
        let rows = self.later.iter().zip(&self.first[1..]);
        rows.zip(labels)
            .map(|((&from, &to), y)| {
                let arcs = &self.arcs[from as usize..to as usize];
                arcs.iter().map(|arc| u32::from(labels[arc.head as usize] != *y)).sum::<u32>()
            })
            .sum()
    }
}
