//! The image sets: pictures with the labels of their pixels, from an archive or a folder.

use std::collections::BTreeMap;
use std::path::Path;

use super::archive::Entry;
use super::image::{LabelMap, Picture};
use super::known::{self, Expected, FileList, KnownFile, KnownSet};
use crate::store::files;
use crate::{Error, Result};

const HORSE_FILES: FileList = FileList {
    top: "weizmann_horse_db",
    parts: &[("rgb", ".jpg"), ("figure_ground", ".jpg"), ("gray", ".jpg")],
    count: 984,
    sha256: "0c4ba929d65828dfefc35d0a31b3d03a54b7440df543f301e7d2d44615af84cb",
};

pub(super) const HORSES: KnownSet = KnownSet {
    name: "horses",
    examples: 327,
    size: "20 MB",
    terms: "authors' terms; cite Borenstein, Ullman 2002",
    page: "https://www.msri.org/people/members/eranb/",
    files: &[KnownFile {
        path: "weizmann_horses/weizmann_horse_db.tar.gz",
        url: "https://www.msri.org/people/members/eranb/weizmann_horse_db.tar.gz",
        expected: Expected::Files(HORSE_FILES),
    }],
    alternatives: &["weizmann_horses/weizmann_horse_db", "weizmann_horses", "weizmann_horse_db"],
    below: None,
};

// The archive also has horizons.txt, *.surfaces.txt and *.layers.txt; training needs only the pictures and the regions.
const STANFORD_FILES: FileList = FileList {
    top: "iccv09Data",
    parts: &[("images", ".jpg"), ("labels", ".regions.txt")],
    count: 1430,
    sha256: "27685fc1bdb7d7b57843d723a6293e2b439c61212c03d0bde4cf4278890febfd",
};

pub(super) const STANFORD: KnownSet = KnownSet {
    name: "stanford",
    examples: 715,
    size: "12 MB",
    terms: "authors' terms; cite Gould, Fulton, Koller 2009",
    page: "http://dags.stanford.edu/projects/scenedataset.html",
    files: &[KnownFile {
        path: "stanford_background/iccv09Data.tar.gz",
        // No other address is known; the list of files below verifies a download.
        url: "http://dags.stanford.edu/data/iccv09Data.tar.gz",
        expected: Expected::Files(STANFORD_FILES),
    }],
    alternatives: &[
        "stanford_background/iccv09Data_images_regions.tar.gz",
        "stanford_background/iccv09Data",
        "stanford_background",
        "iccv09Data",
    ],
    below: None,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSet {
    Horses,
    Stanford,
}

/// A picture and its truth as files in memory, not decoded yet.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Its name without folder and ending, such as `horse001`.
    pub name: String,
    picture: Vec<u8>,
    truth: Vec<u8>,
}

/// Largest file of a set; the largest real one has less than one MiB.
const MAX_FILE: u64 = 1 << 24;

/// Largest total size of its files, which are all held at once; the real maximum is 20 MiB.
const MAX_SET: u64 = 1 << 28;

impl ImageSet {
    pub fn from_name(name: &str) -> Result<Self> {
        let found = [Self::Horses, Self::Stanford].into_iter().find(|set| set.name() == name);
        found.ok_or_else(|| super::Error::NotImages(name.to_owned()).into())
    }

    pub fn name(self) -> &'static str {
        self.known().name
    }

    pub fn known(self) -> &'static KnownSet {
        match self {
            Self::Horses => &HORSES,
            Self::Stanford => &STANFORD,
        }
    }

    pub fn num_labels(self) -> usize {
        self.label_names().len()
    }

    pub fn label_names(self) -> &'static [&'static str] {
        match self {
            Self::Horses => &["background", "horse"],
            Self::Stanford => &["sky", "tree", "road", "grass", "water", "building", "mountain", "foreground object"],
        }
    }

    fn files(self) -> FileList {
        match self {
            Self::Horses => HORSE_FILES,
            Self::Stanford => STANFORD_FILES,
        }
    }

    /// Calls `each` with 0 for a picture and 1 for a truth, its name and its content.
    fn each(self, source: &Path, mut each: impl FnMut(usize, &str, &mut Entry<'_>) -> Result<()>) -> Result<()> {
        let list = self.files();
        list.each(source, |part, file, entry| {
            let Some((_, ending)) = list.pairs().get(part) else { return Ok(()) };
            each(part, file.strip_suffix(ending).unwrap_or(file), entry)
        })
    }

    /// The reason why a picture is not used, if any.
    pub fn excluded(self, name: &str) -> Option<&'static str> {
        (self == Self::Horses && name == "horse318").then_some("the picture is black")
    }

    /// Reads the pairs of an archive (tar, gzip or plain) or a folder, sorted by name.
    ///
    /// Fails when a picture has no truth or a truth no picture, and when the files are too large to be those of the set.
    pub fn pairs(self, source: &Path) -> Result<Vec<Pair>> {
        let mut found: BTreeMap<String, [Option<Vec<u8>>; 2]> = BTreeMap::new();
        let mut held = 0u64;
        self.each(source, |kind, name, entry| {
            let (path, size) = (entry.path.display(), entry.size);
            if size > MAX_FILE {
                return Err(Error::file(source, format!("{path} has {size} bytes, too many for a file of the set")));
            }
            held += size;
            if held > MAX_SET {
                let message = format!("has more than {} MiB of pictures, too many for the set", MAX_SET >> 20);
                return Err(Error::file(source, message));
            }
            let mut bytes = Vec::new();
            entry.content(|block| {
                bytes.extend_from_slice(block);
                Ok(())
            })?;
            found.entry(name.to_owned()).or_default()[kind] = Some(bytes);
            Ok(())
        })?;
        let mut pairs = Vec::with_capacity(found.len());
        for (name, pair) in found {
            let missing = usize::from(pair[0].is_some());
            let [Some(picture), Some(truth)] = pair else {
                let (folder, ending) = self.files().pairs()[missing];
                let message = format!("has no {folder}/{name}{ending}, so the set is not complete; fetch it again");
                return Err(Error::file(source, message));
            };
            pairs.push(Pair { name, picture, truth });
        }
        if pairs.is_empty() {
            let FileList { top, .. } = self.files();
            let files: Vec<String> =
                self.files().pairs().iter().map(|(folder, end)| format!("{top}/{folder}/*{end}")).collect();
            return Err(Error::file(
                source,
                format!("has no {}, so it is not the {} set", files.join(" with "), self.name()),
            ));
        }
        Ok(pairs)
    }

    /// The number of examples of an archive or folder, from the names of its files.
    pub(super) fn count(self, source: &Path) -> Result<usize> {
        let mut count = 0;
        self.each(source, |kind, name, _| {
            count += usize::from(kind == 0 && self.excluded(name).is_none());
            Ok(())
        })?;
        Ok(count)
    }

    /// Picture and pixel labels at the size used; the error does not name the file.
    pub fn decode(self, pair: &Pair) -> Result<(Picture, LabelMap), String> {
        let picture = Picture::decode(&pair.picture).map_err(|e| format!("picture {} {e}", pair.name))?;
        let truth = match self {
            Self::Horses => mask(&pair.truth),
            Self::Stanford => regions(&pair.truth, self.num_labels()),
        };
        let truth = truth.map_err(|e| format!("truth of {} {e}", pair.name))?;
        let sizes = |what: &str| {
            format!(
                "picture {} has {} × {} pixels, but its {what} {} × {}",
                pair.name, picture.width, picture.height, truth.width, truth.height
            )
        };
        if self == Self::Stanford && (truth.width, truth.height) != (picture.width, picture.height) {
            return Err(sizes("regions"));
        }
        // Columns are resized before rows.
        if !Picture::can_have(truth.width, picture.height) {
            return Err(sizes("truth") + ": they belong to different pictures");
        }
        // Labels cannot be blended as colours can, so the picture is resized to its truth.
        Ok((picture.resize(truth.width, truth.height), truth))
    }

    /// Identity of a source: SHA-256 of the archive, or of the list of names and checksums of a folder.
    pub fn checksum(self, source: &Path) -> Result<String> {
        if !source.is_dir() {
            return files::sha256_file(source);
        }
        let mut used = BTreeMap::new();
        self.each(source, |kind, name, entry| {
            used.insert((kind, name.to_owned()), known::sha256_of(entry)?);
            Ok(())
        })?;
        let list: Vec<String> =
            used.iter().map(|((kind, name), sha256)| format!("{sha256}  {kind}/{name}\n")).collect();
        Ok(files::sha256_hex(list.concat().as_bytes()))
    }
}

fn mask(bytes: &[u8]) -> Result<LabelMap, String> {
    let mask = Picture::decode(bytes)?;
    let labels = mask.rgb.iter().map(|c| i8::from(c[1] >= 128)).collect();
    Ok(LabelMap { width: mask.width, height: mask.height, labels })
}

fn regions(bytes: &[u8], num_labels: usize) -> Result<LabelMap, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not text")?;
    let mut map = LabelMap { width: 0, height: 0, labels: Vec::new() };
    for (row, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let before = map.labels.len();
        for word in line.split_ascii_whitespace() {
            let label = word.parse().ok().filter(|l: &i8| *l >= -1 && i64::from(*l) < num_labels as i64);
            map.labels
                .push(label.ok_or_else(|| format!("has {word:?} in row {}; expected −1..{num_labels}", row + 1))?);
        }
        let width = map.labels.len() - before;
        if map.height > 0 && width != map.width {
            return Err(format!("has {width} values in row {}, but {} in the first", row + 1, map.width));
        }
        (map.width, map.height) = (width, map.height + 1);
    }
    if map.labels.is_empty() { Err("is empty".into()) } else { Ok(map) }
}
