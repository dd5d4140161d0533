//! Archive or folder of an image set → pictures with their pixel labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::{LabelMap, Picture};
use crate::dataset::archive;
use crate::store::files;
use crate::{Error, Result};

/// The image sets this program can prepare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSet {
    /// Weizmann horses: horse or not.
    Horses,
    /// Stanford Background: eight classes.
    Stanford,
}

/// A picture and its truth as files in memory, not decoded yet.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Name without folder and ending, such as `horse001`.
    pub name: String,
    picture: Vec<u8>,
    truth: Vec<u8>,
}

/// Largest file of a set; the largest real one has less than one MiB.
const MAX_FILE: u64 = 1 << 24;

/// Largest sum of its files, which are all held at once; the largest real one has 20 MiB.
const MAX_SET: u64 = 1 << 28;

impl ImageSet {
    /// The data set name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Horses => "horses",
            Self::Stanford => "stanford",
        }
    }

    /// The set of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Horses, Self::Stanford].into_iter().find(|set| set.name() == name)
    }

    /// K.
    pub fn num_labels(self) -> usize {
        self.label_names().len()
    }

    /// What the labels mean.
    pub fn label_names(self) -> &'static [&'static str] {
        match self {
            Self::Horses => &["background", "horse"],
            Self::Stanford => &["sky", "tree", "road", "grass", "water", "building", "mountain", "foreground object"],
        }
    }

    /// Folder and ending of pictures, then of truth files.
    fn patterns(self) -> [(&'static str, &'static str); 2] {
        match self {
            Self::Horses => [("rgb", ".jpg"), ("figure_ground", ".jpg")],
            Self::Stanford => [("images", ".jpg"), ("labels", ".regions.txt")],
        }
    }

    /// Which picture (0) or truth (1) a path inside the archive or folder is, and its name.
    fn classify(self, path: &Path) -> Option<(usize, String)> {
        let mut parts = path.components().rev().filter_map(|c| match c {
            Component::Normal(part) => part.to_str(),
            _ => None,
        });
        let (file, folder) = (parts.next()?, parts.next()?);
        let kind = self.patterns().iter().position(|(f, ending)| *f == folder && file.ends_with(ending))?;
        let name = file.strip_suffix(self.patterns()[kind].1)?;
        (!name.is_empty() && !name.starts_with('.')).then(|| (kind, name.to_owned()))
    }

    /// Why a picture is not used, if it is not.
    pub fn excluded(self, name: &str) -> Option<&'static str> {
        (self == Self::Horses && name == "horse318").then_some("the picture is black")
    }

    /// Reads the pairs of an archive (tar, gzip or plain) or a folder, sorted by name.
    pub fn pairs(self, source: &Path) -> Result<Vec<Pair>> {
        let mut found: BTreeMap<String, [Option<Vec<u8>>; 2]> = BTreeMap::new();
        let mut held = 0u64;
        let mut fits = |path: &Path, size: u64| {
            if size > MAX_FILE {
                return Err(Error::file(source, format!("{} has {size} bytes: not part of the set", path.display())));
            }
            held += size;
            if held > MAX_SET {
                let message = format!("has more than {} MiB of pictures: not the set", MAX_SET >> 20);
                return Err(Error::file(source, message));
            }
            Ok(())
        };
        if source.is_dir() {
            for path in files_below(source)? {
                let Some((kind, name)) = self.classify(&path) else { continue };
                let bytes = files::read(&path, MAX_FILE)?;
                fits(&path, bytes.len() as u64)?;
                found.entry(name).or_default()[kind] = Some(bytes);
            }
        } else {
            archive::entries(source, |entry| {
                let Some((kind, name)) = self.classify(&entry.path).filter(|_| entry.kind.is_file()) else {
                    return Ok(());
                };
                fits(&entry.path, entry.size)?;
                let mut bytes = Vec::new();
                entry.content(|block| {
                    bytes.extend_from_slice(block);
                    Ok(())
                })?;
                found.entry(name).or_default()[kind] = Some(bytes);
                Ok(())
            })?;
        }
        let mut pairs = Vec::with_capacity(found.len());
        for (name, pair) in found {
            match pair {
                [Some(picture), Some(truth)] => pairs.push(Pair { name, picture, truth }),
                [picture, _] => {
                    let (folder, ending) = self.patterns()[usize::from(picture.is_some())];
                    return Err(Error::file(
                        source,
                        format!("has no {folder}/{name}{ending}; the set is not complete"),
                    ));
                }
            }
        }
        if pairs.is_empty() {
            let [(a, b), (c, d)] = self.patterns();
            return Err(Error::file(source, format!("holds no {a}/*{b} with {c}/*{d}: not the {} set", self.name())));
        }
        Ok(pairs)
    }

    /// Picture and pixel labels at the size they are used at; the message does not name the file.
    pub fn decode(self, pair: &Pair) -> Result<(Picture, LabelMap), String> {
        let picture = Picture::decode(&pair.picture).map_err(|e| format!("picture {} {e}", pair.name))?;
        let truth = match self {
            Self::Horses => mask(&pair.truth),
            Self::Stanford => regions(&pair.truth, self.num_labels()),
        };
        let truth = truth.map_err(|e| format!("truth of {} {e}", pair.name))?;
        // Labels cannot be blended as colours can, so the picture takes the size of its truth.
        if self == Self::Stanford && (truth.width, truth.height) != (picture.width, picture.height) {
            return Err(format!(
                "picture {} has {} × {} pixels, but its regions {} × {}",
                pair.name, picture.width, picture.height, truth.width, truth.height
            ));
        }
        // Columns are resized before rows.
        if !Picture::can_have(truth.width, picture.height) {
            return Err(format!(
                "picture {} has {} × {} pixels, but its truth {} × {}: not of one picture",
                pair.name, picture.width, picture.height, truth.width, truth.height
            ));
        }
        Ok((picture.resize(truth.width, truth.height), truth))
    }

    /// Checksum that identifies a source: SHA-256 of the archive, or of the list of names and checksums of a folder.
    pub fn checksum(self, source: &Path) -> Result<String> {
        if !source.is_dir() {
            return files::sha256_file(source);
        }
        let mut list = String::new();
        let mut used: Vec<_> =
            files_below(source)?.into_iter().filter_map(|path| Some((self.classify(&path)?, path))).collect();
        used.sort();
        for ((kind, name), path) in used {
            list += &format!("{}  {kind}/{name}\n", files::sha256_file(&path)?);
        }
        Ok(files::sha256(list.as_bytes()).map_err(Error::io("read", source))?.0)
    }
}

/// A mask as JPEG: white is the object.
fn mask(bytes: &[u8]) -> Result<LabelMap, String> {
    let mask = Picture::decode(bytes)?;
    let labels = mask.rgb.iter().map(|c| i8::from(c[1] >= 128)).collect();
    Ok(LabelMap { width: mask.width, height: mask.height, labels })
}

/// Text rows of integers.
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

/// Files below a folder, at most four levels deep. A folder is looked into once, whatever links lead to it.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    fn walk(folder: &Path, depth: usize, seen: &mut BTreeSet<PathBuf>, out: &mut Vec<PathBuf>) -> Result<()> {
        let place = folder.canonicalize().map_err(Error::io("read the folder", folder))?;
        if !seen.insert(place) {
            return Ok(());
        }
        for path in files::list(folder)? {
            if path.is_dir() && depth > 0 {
                walk(&path, depth - 1, seen, out)?;
            } else if path.is_file() {
                out.push(path);
            }
        }
        Ok(())
    }
    let mut out = Vec::new();
    walk(folder, 3, &mut BTreeSet::new(), &mut out)?;
    out.sort();
    Ok(out)
}
