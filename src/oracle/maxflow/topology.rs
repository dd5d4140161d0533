//! The neighbour graph of one example. In: undirected edges. Out: compressed rows of arcs that know their reverse.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    first: Vec<u32>,
    arcs: Vec<Arc>,
    max_degree: u32,
}

impl Topology {
    /// The graph on nodes 0..`nodes`; refuses loops and ids out of range.
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
        let mut next = first.clone();
        let mut arcs = vec![Arc::default(); 2 * edges.len()];
        for &[k, l] in edges {
            let (a, b) = (next[k as usize], next[l as usize]);
            arcs[a as usize] = Arc { head: l, sister: b };
            arcs[b as usize] = Arc { head: k, sister: a };
            next[k as usize] += 1;
            next[l as usize] += 1;
        }
        Ok(Self { first, arcs, max_degree })
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// All arcs, those of node 0 first.
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

    /// Θ(y) at weight 1: the number of edges whose ends differ.
    pub fn disagreements<T: PartialEq>(&self, labels: &[T]) -> u32 {
        let twice: u32 = labels
            .iter()
            .zip(self.first.windows(2))
            .map(|(y, row)| {
                let arcs = &self.arcs[row[0] as usize..row[1] as usize];
                arcs.iter().map(|arc| u32::from(labels[arc.head as usize] != *y)).sum::<u32>()
            })
            .sum();
        twice / 2
    }
}
