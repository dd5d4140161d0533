//! The image sets as data sets: pictures are prepared into a graph file on demand, then read like any other.

use super::content::FileList;
use super::image::source::ImageSet;
use super::known::{KnownFile, KnownSet};
use super::prepare::Recipe;
use super::{DatasetInfo, DatasetRow, Loaded, Request, npz, prepare};
use crate::error::Result;
use crate::store::files;
use ssvm::problem::{BINARY_GRAPH, GraphProblem, POTTS_GRAPH};

/// The official files of Weizmann horses.
pub const HORSES: KnownSet = KnownSet {
    name: "horses",
    examples: 327,
    size: "20 MB",
    terms: "authors' terms; cite Borenstein, Ullman 2002",
    page: "https://www.msri.org/people/members/eranb/",
    files: &[KnownFile {
        path: "weizmann_horses/weizmann_horse_db.tar.gz",
        url: "https://www.msri.org/people/members/eranb/weizmann_horse_db.tar.gz",
        content_sha256: None,
        list: Some(FileList {
            top: "weizmann_horse_db",
            parts: &[("rgb", ".jpg"), ("gray", ".jpg"), ("figure_ground", ".jpg")],
            count: 984,
            sha256: "0c4ba929d65828dfefc35d0a31b3d03a54b7440df543f301e7d2d44615af84cb",
        }),
        unpack: false,
    }],
    alternatives: &["weizmann_horses/weizmann_horse_db", "weizmann_horses", "weizmann_horse_db"],
    inside: &["rgb", "figure_ground"],
    below: None,
};

/// The official files of Stanford Background.
pub const STANFORD: KnownSet = KnownSet {
    name: "stanford",
    examples: 715,
    size: "12 MB",
    terms: "authors' terms; cite Gould, Fulton, Koller 2009",
    page: "http://dags.stanford.edu/projects/scenedataset.html",
    files: &[KnownFile {
        path: "stanford_background/iccv09Data.tar.gz",
        // No other address is known; the list of files below says whether what comes is right.
        url: "http://dags.stanford.edu/data/iccv09Data.tar.gz",
        content_sha256: None,
        // More is in it (horizons.txt, *.surfaces.txt, *.layers.txt); training needs the pictures and the regions.
        list: Some(FileList {
            top: "iccv09Data",
            parts: &[("images", ".jpg"), ("labels", ".regions.txt")],
            count: 1430,
            sha256: "27685fc1bdb7d7b57843d723a6293e2b439c61212c03d0bde4cf4278890febfd",
        }),
        unpack: false,
    }],
    alternatives: &[
        "stanford_background/iccv09Data_images_regions.tar.gz",
        "stanford_background/iccv09Data",
        "stanford_background",
        "iccv09Data",
    ],
    inside: &["images", "labels"],
    below: None,
};

/// The row of `horses`.
pub struct Horses;

impl DatasetRow for Horses {
    type Problem = GraphProblem;

    fn info(&self) -> DatasetInfo {
        DatasetInfo {
            name: "horses",
            title: "HorseSeg (Weizmann horses)",
            about: "Weizmann horses: images, binary segmentation",
            family: Some(&BINARY_GRAPH),
            in_paper: true,
            known: Some(&HORSES),
            ..DatasetInfo::PLAIN
        }
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<GraphProblem>> {
        load(ImageSet::Horses, request)
    }
}

/// The row of `stanford`.
pub struct Stanford;

impl DatasetRow for Stanford {
    type Problem = GraphProblem;

    fn info(&self) -> DatasetInfo {
        DatasetInfo {
            name: "stanford",
            title: "Stanford",
            about: "Stanford Background: images, 8 classes",
            family: Some(&POTTS_GRAPH),
            in_paper: true,
            known: Some(&STANFORD),
            ..DatasetInfo::PLAIN
        }
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<GraphProblem>> {
        load(ImageSet::Stanford, request)
    }
}

fn load(set: ImageSet, request: &Request<'_>) -> Result<Loaded<GraphProblem>> {
    let path = prepare::prepared_path(set, request.data, &Recipe::default())?;
    npz::loaded(npz::read_graph(&path)?, files::sha256_file(&path)?, request)
}

/// The official files of an image set.
pub fn known(set: ImageSet) -> &'static KnownSet {
    match set {
        ImageSet::Horses => &HORSES,
        ImageSet::Stanford => &STANFORD,
    }
}
