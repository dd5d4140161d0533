//! Graph data → training part and held-out fifth; predictions → accuracy in pixels.

use ssvm::data::GraphData;

/// Splits into the training part and every fifth example (4, 9, 14, …), which is held out.
pub fn held_out_fifth(data: &GraphData) -> (GraphData, GraphData) {
    (select(data, |i| !is_held_out(i)), select(data, is_held_out))
}

/// Whether example i belongs to the held-out fifth.
pub fn is_held_out(i: usize) -> bool {
    i % 5 == 4
}

/// The examples for which `keep` holds, in their order.
pub fn select(data: &GraphData, keep: impl Fn(usize) -> bool) -> GraphData {
    let mut part = GraphData {
        num_labels: data.num_labels,
        features_per_node: data.features_per_node,
        features: data.features.gather((0..data.len()).filter(|&i| keep(i)).map(|i| data.places_of(i))),
        labels: Vec::new(),
        node_offsets: vec![0],
        edges: Vec::new(),
        edge_offsets: vec![0],
        pairwise_weight: data.pairwise_weight,
    };
    for i in (0..data.len()).filter(|&i| keep(i)) {
        part.labels.extend_from_slice(data.labels_of(i));
        part.edges.extend_from_slice(data.edges_of(i));
        part.node_offsets.push(part.labels.len());
        part.edge_offsets.push(part.edges.len());
    }
    part
}

/// Pixels of the predicted label and all known pixels, given nodes × K counts of pixels by true label.
pub fn pixels_right(label_pixels: &[u32], num_labels: usize, predicted: &[u16]) -> (u64, u64) {
    let rows = label_pixels.chunks_exact(num_labels).zip(predicted);
    rows.fold((0, 0), |(right, all), (row, &label)| {
        (right + u64::from(row[usize::from(label)]), all + row.iter().map(|&c| u64::from(c)).sum::<u64>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fifth_example_is_held_out_with_its_nodes_and_edges() {
        let n = 11;
        let data = GraphData {
            num_labels: 2,
            features_per_node: 1,
            features: (0..2 * n).map(|v| v as f32).collect(),
            labels: (0..2 * n).map(|v| (v % 2) as u16).collect(),
            node_offsets: (0..=n).map(|i| 2 * i).collect(),
            edges: vec![[0, 1]; n],
            edge_offsets: (0..=n).collect(),
            pairwise_weight: 0.5,
        };
        let (train, held_out) = held_out_fifth(&data);
        train.validate().unwrap();
        held_out.validate().unwrap();
        assert_eq!((train.len(), held_out.len()), (9, 2));
        assert_eq!(held_out.features, vec![8.0, 9.0, 18.0, 19.0].into());
        assert_eq!((held_out.edges.len(), held_out.pairwise_weight), (2, 0.5));
    }

    #[test]
    fn pixels_are_counted_by_their_own_label() {
        assert_eq!(pixels_right(&[3, 1, 0, 6, 2, 2], 2, &[0, 0, 1]), (5, 14));
    }
}
