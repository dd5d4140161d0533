//! Labelled graphs with node features: the data of both segmentation families.

use std::ops::Range;

use super::features::{FeatureRows, NodeFeatures};

/// n graphs, concatenated. Immutable once built; `validate` holds for every value of this type.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphData {
    /// K.
    pub num_labels: usize,
    /// p: features per node.
    pub features_per_node: usize,
    /// nodes × p, row-major.
    pub features: NodeFeatures,
    /// One label in 0..K per node.
    pub labels: Vec<u16>,
    /// n + 1 offsets into nodes.
    pub node_offsets: Vec<usize>,
    /// Undirected edges as node ids local to their example, no loops.
    pub edges: Vec<[u32; 2]>,
    /// n + 1 offsets into edges.
    pub edge_offsets: Vec<usize>,
    /// Weight of [y^k ≠ y^l] on every edge.
    pub pairwise_weight: f64,
}

impl GraphData {
    /// Number of examples n.
    pub fn len(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Labels of example i.
    pub fn labels_of(&self, i: usize) -> &[u16] {
        &self.labels[self.node_offsets[i]..self.node_offsets[i + 1]]
    }

    /// Features of example i, nodes × p.
    pub fn features_of(&self, i: usize) -> FeatureRows<'_> {
        self.features.rows(self.places_of(i))
    }

    /// The range of these features in `features`.
    pub fn places_of(&self, i: usize) -> Range<usize> {
        self.node_offsets[i] * self.features_per_node..self.node_offsets[i + 1] * self.features_per_node
    }

    /// Edges of example i.
    pub fn edges_of(&self, i: usize) -> &[[u32; 2]] {
        &self.edges[self.edge_offsets[i]..self.edge_offsets[i + 1]]
    }

    /// Checks every invariant of the fields; the error names the example that breaks one.
    pub fn validate(&self) -> Result<(), String> {
        let p = self.features_per_node;
        let nodes = self.labels.len();
        if self.num_labels < 2 || self.num_labels > usize::from(u16::MAX) {
            return Err(format!("num_labels must be from 2 to 65535, not {}", self.num_labels));
        }
        if p == 0 || self.features.len() != nodes * p {
            return Err(format!(
                "features must be nodes × p: {} values for {nodes} nodes, p = {p}",
                self.features.len()
            ));
        }
        if !self.pairwise_weight.is_finite() || self.pairwise_weight < 0.0 {
            return Err(format!("pairwise_weight must be finite and not negative, not {}", self.pairwise_weight));
        }
        for (name, offsets, end) in
            [("node_offsets", &self.node_offsets, nodes), ("edge_offsets", &self.edge_offsets, self.edges.len())]
        {
            if offsets.first() != Some(&0) || offsets.last() != Some(&end) || offsets.windows(2).any(|o| o[0] > o[1]) {
                return Err(format!("{name} must start at 0, never decrease and end at {end}"));
            }
        }
        if self.node_offsets.len() != self.edge_offsets.len() {
            return Err("node_offsets and edge_offsets must have the same length n + 1".into());
        }
        for i in 0..self.len() {
            let count = self.node_offsets[i + 1] - self.node_offsets[i];
            if count == 0 {
                return Err(format!("example {i} has no nodes"));
            }
            if let Some(label) = self.labels_of(i).iter().find(|label| usize::from(**label) >= self.num_labels) {
                return Err(format!("example {i} has label {label}, but num_labels is {}", self.num_labels));
            }
            if let Some([k, l]) = self.edges_of(i).iter().find(|e| e[0] == e[1] || e[0].max(e[1]) as usize >= count) {
                return Err(format!(
                    "example {i} with {count} nodes has the edge {k} – {l}: ends must be two different nodes below {count}"
                ));
            }
            let features = self.features_of(i);
            if let Some(at) = features.not_finite() {
                let (node, column, advice) = (at / p, at % p, features.advice(at));
                return Err(format!(
                    "example {i} has a feature that is not finite: column {column} of node {node}{advice}"
                ));
            }
        }
        Ok(())
    }
}
