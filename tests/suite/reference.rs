//! Trajectories of the authors' own program on small sets that are stored beside them: multiclass, chain and graph cut,
//! read from files as people's own data is. Nothing to download; `official` does the same with USPS.

use crate::common::reference;
use ssvm_bench::{Catalog, DataDir, Harness, Request};

const TWINS: &str = "tests/fixtures/reference/twins";

/// (reader, file, checksum of the file, n, d, stem of the references).
const SETS: [(&str, &str, &str, usize, usize, &str); 3] = [
    (
        "libsvm",
        "multiclass.libsvm.gz",
        "8b597a24cca46bc6bf6dfd685bd839620173df1b9e2283d885886b27a7706955",
        500,
        2560,
        "multiclass",
    ),
    (
        "letters",
        "chain.data.gz",
        "2a8e031769a2a067d9872fcc391758883fd9eb8ec9d4e12e7147af900acd956b",
        200,
        4004,
        "chain",
    ),
    ("graph", "graphcut.npz", "d2ba5e3214368d2295d527c2a4fdf4d2fca43e3908c8e50fe2720418480abf88", 16, 1298, "graphcut"),
];

fn follow(reader: &str) {
    let (_, file, checksum, n, d, stem) = *SETS.iter().find(|set| set.0 == reader).unwrap();
    let data = DataDir::resolve(None);
    let opened = Harness::standard().open(&Request::new(&format!("{reader}:{TWINS}/{file}"), &data)).unwrap();
    // References belong to these bytes.
    assert_eq!(opened.description.checksum, checksum);
    assert_eq!((opened.problem.terms(), opened.problem.weights()), (n, d));
    reference::follow(&*opened.problem, &format!("{TWINS}/{stem}"));
}

#[test]
fn multiclass_follows_the_authors_trajectories() {
    follow("libsvm");
}

#[test]
fn chains_follow_the_authors_trajectories() {
    follow("letters");
}

#[test]
fn graph_cuts_follow_the_authors_trajectories() {
    follow("graph");
}

#[test]
fn every_stored_trajectory_is_compared() {
    let stored = std::fs::read_dir(TWINS).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut stored: Vec<String> = stored.filter(|name| name.contains("_passes")).collect();
    stored.sort();
    let mut compared: Vec<String> = SETS
        .iter()
        .flat_map(|set| {
            [0, 1, 5].into_iter().flat_map(move |passes| {
                ["raw", "avg"].map(|readout| format!("{}_sequential_passes{passes}_{readout}.csv", set.5))
            })
        })
        .collect();
    compared.sort();
    assert_eq!(stored, compared);
}
