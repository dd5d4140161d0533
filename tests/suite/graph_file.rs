//! Graph files against files written by NumPy, round trips, and damaged input.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ssvm::data::NodeFeatures;
use ssvm_bench::dataset::npz::{self, RawGraph};
use ssvm_bench::dataset::{horseseg, npy};
use ssvm_bench::store::files;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
fn files_from_numpy_load_whatever_the_array_layout() {
    for name in ["graph_plain.npz", "graph_odd.npz"] {
        let path = fixture(name);
        let raw = RawGraph::read(&path).unwrap();
        assert_eq!(raw.labels, [0, 1, 2, -1, -1, 2, -1], "{name}");
        assert_eq!(raw.features, (0..14).map(|v| v as f32 / 4.0).collect(), "{name}");
        assert_eq!(raw.meta.as_deref(), Some(r#"{"who": "numpy é"}"#));
        assert_eq!(npz::read_meta(&path).unwrap(), raw.meta);
        let (data, dropped) = raw.into_known(&path).unwrap();
        assert_eq!((dropped.nodes, dropped.edges, &dropped.examples[..]), (3, 2, &[1][..]));
        assert_eq!((data.len(), data.num_labels, data.pairwise_weight), (2, 3, 0.5));
        assert_eq!(data.labels, [0, 1, 2, 2]);
        assert_eq!(data.features_of(1).singles()[..], [2.5, 2.75]);
        assert_eq!((data.edges_of(0), data.edges_of(1)), (&[[0, 1], [1, 2]][..], &[][..]));
        assert_eq!(data, npz::read_graph(&path).unwrap());
    }
}

#[test]
fn half_precision_of_a_file_stays_half_precision() {
    let (path, plain) = (fixture("graph_half.npz"), fixture("graph_plain.npz"));
    let (half, plain) = (npz::read_graph(&path).unwrap(), npz::read_graph(&plain).unwrap());
    assert!(matches!(half.features, NodeFeatures::Half(_)) && matches!(plain.features, NodeFeatures::Single(_)));
    assert_eq!(half.features.bytes() * 2, plain.features.bytes());
    assert_eq!(half.features, plain.features.halved());
    assert_eq!(half.features.all().singles(), plain.features.all().singles(), "quarters are halves exactly");
    assert_eq!(half.features_of(1).singles()[..], [2.5, 2.75]);
    assert_eq!(half.features.gather([half.places_of(1)].into_iter()).all(), half.features_of(1));
}

fn graphs() -> impl Strategy<Value = RawGraph> {
    let example = (1usize..6).prop_flat_map(|nodes| {
        let edges = prop::collection::vec((0..nodes as u32, 0..nodes as u32), 0..8);
        (prop::collection::vec(-1i32..3, nodes), edges)
    });
    let rest = (1usize..4, prop::option::of(0.0..4.0), any::<bool>());
    (prop::collection::vec(example, 1..6), rest).prop_map(|(examples, (p, weight, half))| {
        let mut graph = RawGraph {
            num_labels: 3,
            features_per_node: p,
            node_offsets: vec![0],
            edge_offsets: vec![0],
            pairwise_weight: weight,
            meta: weight.map(|w| format!("{{\"w\": {w}}}")),
            ..RawGraph::default()
        };
        for (labels, edges) in examples {
            graph.labels.extend(labels);
            graph.edges.extend(edges.into_iter().filter(|(k, l)| k != l).map(|(k, l)| [k, l]));
            graph.node_offsets.push(graph.labels.len());
            graph.edge_offsets.push(graph.edges.len());
        }
        let pixels = || (0..graph.labels.len() as u32 * 3).collect();
        graph.label_pixels = weight.filter(|w| *w > 2.0).map(|_| pixels());
        graph.features = (0..graph.labels.len() * p).map(|v| v as f32 * 0.1 - 1.0).collect();
        if half {
            graph.features = graph.features.halved();
        }
        graph
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_written_is_read_back_and_has_the_same_bytes_again(graph in graphs()) {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("sub/a.npz"), dir.path().join("b.npz"));
        npz::write_graph(&a, &graph).unwrap();
        let back = RawGraph::read(&a).unwrap();
        prop_assert_eq!(&back, &graph);
        npz::write_graph(&b, &back).unwrap();
        prop_assert_eq!(files::sha256_file(&a).unwrap(), files::sha256_file(&b).unwrap());
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file stays");
    }

    #[test]
    fn dropping_keeps_exactly_the_known_nodes_and_the_edges_between_them(graph in graphs()) {
        let known: Vec<i32> = graph.labels.iter().copied().filter(|l| *l >= 0).collect();
        let result = graph.clone().into_known(Path::new("x"));
        prop_assume!(!known.is_empty());
        let (data, dropped) = result.unwrap();
        prop_assert_eq!(data.labels.iter().map(|l| i32::from(*l)).collect::<Vec<_>>(), known);
        prop_assert_eq!(data.len() + dropped.examples.len(), graph.len());
        // The first feature of a row identifies the node: edges must join the same nodes as before.
        let (p, features) = (graph.features_per_node, graph.features.all().singles());
        let mut expected = vec![];
        for i in 0..graph.len() {
            for e in &graph.edges[graph.edge_offsets[i]..graph.edge_offsets[i + 1]] {
                let [k, l] = e.map(|id| graph.node_offsets[i] + id as usize);
                if graph.labels[k] >= 0 && graph.labels[l] >= 0 {
                    expected.push([features[k * p], features[l * p]]);
                }
            }
        }
        let found: Vec<_> = (0..data.len())
            .flat_map(|i| data.edges_of(i).iter().map(move |e| (i, e)))
            .map(|(i, e)| e.map(|id| data.features_of(i).singles()[id as usize * p]))
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn damaged_bytes_are_an_error_or_valid_data_never_a_panic(at in 0usize..2000, flip in 1u8..=255) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("damaged.npz");
        let mut bytes = std::fs::read(fixture("graph_plain.npz")).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= flip;
        std::fs::write(&path, &bytes).unwrap();
        if let Err(e) = npz::read_graph(&path) {
            prop_assert!(e.to_string().contains("damaged.npz"));
        }
        std::fs::write(&path, &bytes[..at]).unwrap();
        prop_assert!(npz::read_graph(&path).is_err());
    }
}

/// One array of the plain fixture replaced (or left out): the message must name the file and say `expected`.
#[test]
fn wrong_arrays_are_named() {
    type Replacement = Option<(&'static str, Vec<usize>, Vec<u8>)>;
    let i8s = |shape: &[usize], values: &[i8]| -> Replacement {
        Some(("|i1", shape.to_vec(), values.iter().map(|v| *v as u8).collect()))
    };
    let infinite_half = [[0; 10].as_slice(), &0x7c00u16.to_le_bytes(), &[0; 16]].concat();
    // The example before it has no known node and is dropped: places are those of the file all the same.
    let late_nan = [0.0, 0.0, 0.0, 0.0, 0.0, f32::NAN, 0.0].map(f32::to_le_bytes).concat();
    let cases: Vec<(&str, Replacement, &str)> = vec![
        ("labels", None, "array labels is missing"),
        ("num_labels", None, "array num_labels is missing"),
        ("num_labels", i8s(&[], &[-4]), "array num_labels must be 2 or more"),
        ("num_labels", i8s(&[], &[1]), "array labels contains 1"),
        ("labels", i8s(&[7], &[0, 1, 2, 3, -1, 2, 0]), "array labels contains 3"),
        ("labels", i8s(&[6], &[0, 1, 2, -1, 2, 0]), "array labels has 6 entries, but features has 7 rows"),
        ("labels", Some(("<f4", vec![7], vec![0; 28])), "array labels has type <f4, but must be an integer type"),
        ("features", i8s(&[7, 1], &[0; 7]), "array features has type |i1"),
        ("features", Some(("<f4", vec![7], vec![0; 28])), "array features has shape [7], but must have 2 axes"),
        ("features", Some(("<f4", vec![7, 3], vec![0; 28])), "array features ends after"),
        ("features", Some(("<f4", vec![7, 1 << 40], vec![0; 28])), "array features is too large"),
        ("features", Some(("<f4", vec![1 << 40, 1 << 40], vec![0; 28])), "array features is too large"),
        (
            "features",
            Some(("<f4", vec![7, 1], f32::NAN.to_le_bytes().repeat(7))),
            "not finite in column 0 of node 0; replace",
        ),
        (
            "features",
            Some(("<f4", vec![7, 1], late_nan)),
            "example 2 has a value that is not finite in column 0 of node 0",
        ),
        ("features", Some(("<f2", vec![7, 2], infinite_half)), "column 1 of node 2; half precision ends at 65504"),
        ("features", Some(("<f2", vec![7, 2], vec![0; 26])), "array features ends after 13 of 14 values"),
        ("labels", Some(("<f2", vec![7], vec![0; 14])), "array labels has type <f2, but must be an integer type"),
        ("node_offsets", i8s(&[4], &[0, 3, 2, 7]), "array node_offsets must start at 0, never decrease and end at 7"),
        ("node_offsets", i8s(&[3], &[0, 3, 7]), "both must have n + 1"),
        ("node_offsets", i8s(&[0], &[]), "array node_offsets must start at 0"),
        ("edge_offsets", i8s(&[4], &[0, 2, 3, 9]), "array edge_offsets must start at 0, never decrease and end at 4"),
        ("edges", i8s(&[4, 2], &[0, 1, 1, 3, 0, 1, 0, 1]), "example 0 with 3 nodes has the edge 1 – 3"),
        ("edges", i8s(&[4, 2], &[0, 1, 1, 1, 0, 1, 0, 1]), "has the edge 1 – 1"),
        ("edges", i8s(&[4, 2], &[0, 1, 1, -1, 0, 1, 0, 1]), "array edges contains the node id -1"),
        ("edges", i8s(&[2, 4], &[0, 1, 1, 2, 0, 1, 0, 1]), "array edges has 4 columns"),
        ("label_pixels", i8s(&[7, 2], &[0; 14]), "array label_pixels has shape [7, 2], but must be [7, 3]"),
        ("label_pixels", i8s(&[7, 3], &[-1; 21]), "array label_pixels contains -1"),
        ("pairwise_weight", i8s(&[2], &[1, 1]), "array pairwise_weight"),
        ("pairwise_weight", Some(("<f8", vec![], (-1f64).to_le_bytes().to_vec())), "pairwise_weight must be finite"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.npz");
    for (name, replacement, expected) in cases {
        let mut from = zip::ZipArchive::new(File::open(fixture("graph_plain.npz")).unwrap()).unwrap();
        let mut to = ZipWriter::new(File::create(&path).unwrap());
        for index in 0..from.len() {
            let entry = from.by_index(index).unwrap();
            if entry.name().unwrap() != format!("{name}.npy") {
                to.raw_copy_file(entry).unwrap();
            }
        }
        if let Some((descr, shape, bytes)) = replacement {
            to.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
            npy::write_header(&mut to, descr, &shape).unwrap();
            to.write_all(&bytes).unwrap();
        }
        to.finish().unwrap();
        let message = npz::read_graph(&path).unwrap_err().to_string();
        assert!(message.contains("mine.npz") && message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn other_files_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("text.npz");
    assert!(npz::read_graph(&path).unwrap_err().to_string().contains("cannot read"));
    std::fs::write(&path, "not a zip").unwrap();
    assert!(npz::read_graph(&path).unwrap_err().to_string().contains("must be a NumPy .npz archive"));
}

/// What the h5py script put into the fixture.
#[test]
fn hdseg_files_written_by_h5py_are_read() {
    let path = fixture("hdseg.h5");
    let raw = horseseg::read(&path).unwrap();
    assert_eq!((raw.num_labels, raw.features_per_node, raw.len()), (2, 5, 3));
    assert_eq!(raw.labels, [0, 1, 1, -1, 0, 1, 1, 0]);
    assert_eq!(raw.node_offsets, [0, 4, 7, 8]);
    let expected = [(0, 4), (1, 3), (2, 1)]
        .iter()
        .flat_map(|(n, nodes)| (0..nodes * 5).map(move |v| (v + 100 * n) as f32 / 8.0))
        .collect();
    assert_eq!(raw.features, expected);
    assert_eq!(raw.edges, [[0, 1], [1, 2], [2, 3], [0, 1], [1, 2]], "1 – 2 is listed in both directions, kept once");
    assert_eq!(raw.edge_offsets, [0, 3, 5, 5]);
    let (data, dropped) = raw.into_known(&path).unwrap();
    assert_eq!((data.len(), dropped.nodes, dropped.edges), (3, 1, 1));
}

#[test]
fn what_is_no_hdseg_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("horse-features.bin");
    let whole = std::fs::read(fixture("hdseg.h5")).unwrap();
    for bytes in [&b"text"[..], &whole[..whole.len() / 2], &whole[..100]] {
        std::fs::write(&path, bytes).unwrap();
        let message = horseseg::read(&path).unwrap_err().to_string();
        assert!(message.contains("horse-features.bin"), "{message}");
    }
}

/// A list of edges of 4 × 2 that claims 2^47 rows, and so do its largest sizes.
#[test]
fn a_size_that_an_hdseg_file_claims_is_not_reserved() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("horse-features.bin");
    let mut bytes = std::fs::read(fixture("hdseg.h5")).unwrap();
    let four_by_two: Vec<u8> = [4u64, 2, 4, 2].iter().flat_map(|size| size.to_le_bytes()).collect();
    let at = bytes.windows(four_by_two.len()).position(|window| window == four_by_two).unwrap();
    for size in [at, at + 16] {
        bytes[size..size + 8].copy_from_slice(&(1u64 << 47).to_le_bytes());
    }
    std::fs::write(&path, bytes).unwrap();
    let message = horseseg::read(&path).unwrap_err().to_string();
    assert!(message.contains("dataset edge_structure_"), "{message}");
}
