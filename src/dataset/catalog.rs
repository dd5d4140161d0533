//! The known data sets: name → files, official addresses, checksums, terms; and where they are on this machine.

use std::path::{Path, PathBuf};

use super::files;
use super::image::source;
use crate::{Error, Result};

/// A file of a set as its authors distribute it.
#[derive(Clone, Copy, Debug)]
pub struct KnownFile {
    /// Where it belongs, relative to the data folder.
    pub path: &'static str,
    /// Official address.
    pub url: &'static str,
    /// SHA-256 of the content after gunzip, where it is known; else the first download is recorded and later ones compared.
    pub content_sha256: Option<&'static str>,
    /// Must its archive be unpacked beside it before use?
    pub unpack: bool,
}

/// A data set people can name.
#[derive(Clone, Copy, Debug)]
pub struct KnownSet {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Examples used for training.
    pub examples: usize,
    /// Size of the download, roughly.
    pub size: &'static str,
    /// Licence or terms.
    pub terms: &'static str,
    /// Page of the authors.
    pub page: &'static str,
    /// Files, the one that training needs first.
    pub files: &'static [KnownFile],
    /// Other places the data may be at, relative to the data folder; folders count when they hold `inside`.
    pub alternatives: &'static [&'static str],
    /// What a folder must hold to be the unpacked set.
    pub inside: &'static [&'static str],
}

/// Every set that has files; the synthetic twins need none.
pub const SETS: &[KnownSet] = &[
    KnownSet {
        name: "usps",
        title: "USPS digits, 10 classes, multi-class",
        examples: 7291,
        size: "2 MB",
        terms: "authors' terms; cite LeCun et al. 1989 and Hastie, Tibshirani, Friedman",
        page: "https://hastie.su.domains/ElemStatLearn/",
        files: &[
            KnownFile {
                path: "usps/zip.train.gz",
                url: "https://hastie.su.domains/ElemStatLearn/datasets/zip.train.gz",
                content_sha256: Some("abc9f5c75b997cabe66b5d01727d5a681c69298e1641a8d37b55433a52129dc0"),
                unpack: false,
            },
            KnownFile {
                path: "usps/zip.test.gz",
                url: "https://hastie.su.domains/ElemStatLearn/datasets/zip.test.gz",
                content_sha256: Some("6bde17b4f1cd68e0630cd2751d6495b5795d9165ab2dc4a0be8b7002b732f4cc"),
                unpack: false,
            },
        ],
        alternatives: &["usps/zip.train"],
        inside: &[],
    },
    KnownSet {
        name: "ocr",
        title: "OCR words, 26 letters, chains",
        examples: 6877,
        size: "1 MB",
        terms: "authors' terms; cite Kassel 1995 and Taskar, Guestrin, Koller 2003",
        page: "http://ai.stanford.edu/~btaskar/ocr/",
        files: &[KnownFile {
            path: "ocr/letter.data.gz",
            url: "http://ai.stanford.edu/~btaskar/ocr/letter.data.gz",
            content_sha256: Some("535363d0b7bc34246b1f8731719540f526b6807b12dda5d430d011d160bc7882"),
            unpack: false,
        }],
        alternatives: &["ocr/letter.data"],
        inside: &[],
    },
    KnownSet {
        name: "horses",
        title: "Weizmann horses, images, binary segmentation",
        examples: 327,
        size: "20 MB",
        terms: "authors' terms; cite Borenstein, Ullman 2002",
        page: "http://www.msri.org/people/members/eranb/",
        files: &[KnownFile {
            path: "weizmann_horses/weizmann_horse_db.tar.gz",
            url: "http://www.msri.org/people/members/eranb/weizmann_horse_db.tar.gz",
            content_sha256: None,
            unpack: false,
        }],
        alternatives: &["weizmann_horses/weizmann_horse_db", "weizmann_horses", "weizmann_horse_db"],
        inside: &["rgb", "figure_ground"],
    },
    KnownSet {
        name: "stanford",
        title: "Stanford Background, images, 8 classes",
        examples: 715,
        size: "12 MB",
        terms: "authors' terms; cite Gould, Fulton, Koller 2009",
        page: "http://dags.stanford.edu/projects/scenedataset.html",
        files: &[KnownFile {
            path: "stanford_background/iccv09Data.tar.gz",
            url: "http://dags.stanford.edu/data/iccv09Data.tar.gz",
            content_sha256: None,
            unpack: false,
        }],
        alternatives: &[
            "stanford_background/iccv09Data_images_regions.tar.gz",
            "stanford_background/iccv09Data",
            "stanford_background",
            "iccv09Data",
        ],
        inside: &["images", "labels"],
    },
    KnownSet {
        name: "horseseg",
        title: "HorseSeg (HDSeg), superpixel features, binary",
        examples: 0,
        size: "large",
        terms: "authors' terms; cite Kolesnikov et al. 2014",
        page: "https://pub.ist.ac.at/~akolesnikov/HDSeg/",
        files: &[KnownFile {
            path: "horseseg/data.tar",
            url: "https://pub.ist.ac.at/~akolesnikov/HDSeg/data.tar",
            content_sha256: None,
            unpack: true,
        }],
        alternatives: &[],
        inside: &[],
    },
];

/// The set of this name, or an error that names the known ones.
pub fn find(name: &str) -> Result<&'static KnownSet> {
    SETS.iter().find(|set| set.name == name).ok_or_else(|| {
        let names: Vec<_> = SETS.iter().map(|set| set.name).collect();
        let near = names.iter().max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)));
        let hint =
            near.filter(|n| strsim::jaro(n, name) > 0.7).map_or(String::new(), |n| format!(" Did you mean {n}?"));
        Error::invalid(format!(
            "there is no data set {name:?} with files of its own; known: {}.{hint}",
            names.join(", ")
        ))
    })
}

/// The folder data sets are looked for in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    /// The folder.
    pub path: PathBuf,
    /// What decided on it, for messages.
    pub chosen_by: &'static str,
}

impl DataDir {
    /// `--data-dir`, else `$SSVM_DATA`, else `data/`.
    pub fn resolve(flag: Option<&Path>) -> Self {
        let variable = std::env::var_os("SSVM_DATA").filter(|v| !v.is_empty());
        match (flag, variable) {
            (Some(path), _) => Self { path: path.to_owned(), chosen_by: "--data-dir" },
            (None, Some(path)) => Self { path: path.into(), chosen_by: "$SSVM_DATA" },
            (None, None) => {
                Self { path: "data".into(), chosen_by: "the default, as neither --data-dir nor $SSVM_DATA is set" }
            }
        }
    }

    /// Where a set is: the file or unpacked folder that training reads, if it is there.
    pub fn locate(&self, set: &KnownSet) -> Option<PathBuf> {
        if set.name == "horseseg" {
            let below = source::files_below(&self.path.join("horseseg")).ok()?;
            return below.into_iter().find(|path| path.ends_with("horse-features.bin"));
        }
        let places = set.files.iter().take(1).map(|file| file.path).chain(set.alternatives.iter().copied());
        places.map(|place| self.path.join(place)).find(|path| {
            path.is_file() || !set.inside.is_empty() && set.inside.iter().all(|folder| path.join(folder).is_dir())
        })
    }

    /// Where a set is, or an error that says which file is missing, its address and the command that gets it.
    pub fn require(&self, set: &str) -> Result<PathBuf> {
        let set = find(set)?;
        self.locate(set).ok_or_else(|| {
            let file = &set.files[0];
            let place = self.path.join(if set.name == "horseseg" { "horseseg/data/horse-features.bin" } else { file.path });
            Error::file(
                place,
                format!(
                    "data set {} is not there (the data folder is {}). Official address: {}. Get it with `ssvm-bench data fetch {}`",
                    set.name, self.chosen_by, file.url, set.name
                ),
            )
        })
    }

    /// Compares what is there with what is known; the text says what was compared.
    pub fn check(&self, set: &KnownSet) -> Result<Vec<(PathBuf, Checked)>> {
        let mut found = Vec::new();
        for (index, file) in set.files.iter().enumerate() {
            let path = self.path.join(file.path);
            if path.is_file() {
                found.push((path.clone(), check_file(&path, file.content_sha256)?));
            } else if index > 0 {
                found.push((path, Checked::Missing));
            }
        }
        let main = self.require(set.name)?;
        if !found.iter().any(|(path, _)| *path == main) {
            let content = set.files[0].content_sha256.filter(|_| main.is_file());
            let checked = match super::image::source::ImageSet::from_name(set.name) {
                Some(images) if main.is_dir() => Checked::Unrecorded(images.checksum(&main)?),
                _ => check_file(&main, content)?,
            };
            found.insert(0, (main, checked));
        }
        Ok(found)
    }
}

/// What a comparison of checksums found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The content is the known one.
    Known,
    /// The file is the one recorded at its first download.
    Recorded,
    /// Nothing to compare with; the checksum.
    Unrecorded(String),
    /// It is another file: expected, found.
    Different(String, String),
    /// A file that training does not need is not there.
    Missing,
}

/// Checksums of copies of the archives whose content was compared with independent copies, see the data notes.
const COMPARED: &[&str] = &[
    "cb6122547ccd01fb6b8bcb0691539f2602c8e41fbc693c9c9b459c1d4f1f5d22",
    "ece548928499fdfe4de6559963cd15918bf6dcb11d5c9f25c113e3d4a1ae0639",
];

/// Compares a file with its known content, else with the record beside it.
pub fn check_file(path: &Path, content_sha256: Option<&str>) -> Result<Checked> {
    if let Some(expected) = content_sha256 {
        let found = files::content_sha256(path)?;
        let same = found == expected;
        return Ok(if same { Checked::Known } else { Checked::Different(expected.to_owned(), found) });
    }
    let found = files::sha256_file(path)?;
    Ok(match files::recorded_sha256(path)? {
        Some(expected) if expected == found => Checked::Recorded,
        Some(expected) => Checked::Different(expected, found),
        None if COMPARED.contains(&found.as_str()) => Checked::Known,
        None => Checked::Unrecorded(found),
    })
}
