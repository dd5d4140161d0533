//! Targets with a binary form: arrays, graph files, HDF5, pictures, regions, archives.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use ssvm::linalg::Half;
use ssvm_bench::dataset::fetch::unpack;
use ssvm_bench::dataset::image::Picture;
use ssvm_bench::dataset::images::ImageSet;
use ssvm_bench::dataset::memory::Quota;
use ssvm_bench::dataset::{horseseg, npy, npz};

use super::dice::Dice;
use super::{Target, root, written};

fn fixture(path: &str) -> Vec<u8> {
    root(&format!("tests/fixtures/{path}"))
}

pub fn targets() -> Vec<Target> {
    vec![
        Target { name: "npy", make: array, read: read_array, ..Target::PLAIN },
        Target {
            name: "npz",
            seeds: || ["graph_half.npz", "graph_odd.npz", "graph_plain.npz"].map(fixture).to_vec(),
            make: graph,
            read: |dir, bytes| npz::read_graph(&written(dir, bytes)).is_ok(),
            ..Target::PLAIN
        },
        Target {
            name: "hdf5",
            seeds: || vec![fixture("hdseg.h5")],
            make: |_| fixture("hdseg.h5"),
            read: |dir, bytes| {
                let path = written(dir, bytes);
                horseseg::read(&path).is_ok_and(|graph| graph.into_known(&path).is_ok())
            },
            ..Target::PLAIN
        },
        Target {
            name: "picture",
            seeds: || {
                ["colour.jpg", "grey.jpg", "deep.png", "grey_alpha.png"]
                    .map(|name| fixture(&format!("pictures/{name}")))
                    .to_vec()
            },
            make: png,
            mend: right_crcs,
            read: |_, bytes| Picture::decode(bytes).is_ok(),
            ..Target::PLAIN
        },
        Target { name: "regions", make: pair, read: read_pair, ..Target::PLAIN },
        Target { name: "archive", make: archive, read: read_archive, share: 50, ..Target::PLAIN },
    ]
}

fn header(dice: &mut Dice, descr: &str, shape: &[u64]) -> Vec<u8> {
    let descr = match dice.below(12) {
        0 => dice.word(),
        1 => format!(
            "{}{}{}",
            dice.pick(&["<", ">", "|", "="]),
            dice.pick(&["f", "i", "u", "b", "S", "U", "c", "O"]),
            dice.whole()
        ),
        _ => descr.to_owned(),
    };
    let shape: Vec<String> =
        shape.iter().map(|n| if dice.once_in(12) { dice.whole() } else { *n }.to_string()).collect();
    let order = if dice.once_in(8) { "True" } else { "False" };
    let comma = if shape.len() == 1 { "," } else { "" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({}{comma}), }}\n", shape.join(", "));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

fn array(dice: &mut Dice) -> Vec<u8> {
    let (rows, columns) = (dice.below(4) as u64, dice.below(4) as u64);
    let mut bytes = match dice.below(3) {
        0 => header(dice, "<f8", &[rows, columns]),
        1 => header(dice, "<i4", &[rows]),
        _ => header(dice, "<U5", &[]),
    };
    bytes.extend((0..dice.below(140)).map(|_| dice.next() as u8));
    bytes
}

fn read_array(_: &Path, bytes: &[u8]) -> bool {
    let quota = || Quota::packed(bytes.len() as u64);
    let read = [
        npy::read::<f64>(&mut { bytes }, &mut quota()).is_ok(),
        npy::read::<f32>(&mut { bytes }, &mut quota()).is_ok(),
        npy::read::<i64>(&mut { bytes }, &mut quota()).is_ok(),
        npy::read_text(&mut { bytes }, &mut quota()).is_ok(),
    ];
    read.contains(&true)
}

/// A graph file that is almost right: two examples, a few nodes, a wrong value now and then.
fn graph(dice: &mut Dice) -> Vec<u8> {
    let (nodes, p, k) = (2 + dice.below(4) as u64, 1 + dice.below(3) as u64, 2 + dice.below(2) as u64);
    let split = 1 + dice.below(nodes as usize - 1) as u64;
    let odd = |dice: &mut Dice, value: u64| if dice.once_in(25) { dice.whole() } else { value };
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |dice: &mut Dice, name: &str, descr: &str, shape: &[u64], values: Vec<u8>| {
        if dice.once_in(60) {
            return;
        }
        let method = if dice.once_in(3) { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(&header(dice, descr, shape)).unwrap();
        zip.write_all(&values).unwrap();
    };
    let half = dice.once_in(3);
    let feature = |at| {
        let value = if dice.once_in(40) { f32::NAN } else { at as f32 };
        if half { Half::from_f32(value).to_bits().to_le_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
    };
    let features = (0..nodes * p).flat_map(feature).collect();
    add(dice, "features", if half { "<f2" } else { "<f4" }, &[nodes, p], features);
    let labels = (0..nodes).flat_map(|at| (odd(dice, at % k) as i32).to_le_bytes()).collect();
    add(dice, "labels", "<i4", &[nodes], labels);
    let offsets = [0, split, nodes].into_iter().flat_map(|at| odd(dice, at).to_le_bytes()).collect();
    add(dice, "node_offsets", "<i8", &[3], offsets);
    let edges = if split > 1 { vec![[0u64, split - 1]] } else { Vec::new() };
    let ids = edges.iter().flatten().flat_map(|id| (odd(dice, *id) as i32).to_le_bytes()).collect();
    add(dice, "edges", "<i4", &[edges.len() as u64, 2], ids);
    let ends =
        [0, edges.len() as u64, edges.len() as u64].into_iter().flat_map(|at| odd(dice, at).to_le_bytes()).collect();
    add(dice, "edge_offsets", "<i8", &[3], ends);
    let labels = odd(dice, k).to_le_bytes().to_vec();
    add(dice, "num_labels", "<i8", &[], labels);
    if dice.once_in(3) {
        let pixels = (0..nodes * k).flat_map(|at| (odd(dice, at) as i32).to_le_bytes()).collect();
        add(dice, "label_pixels", "<i4", &[nodes, k], pixels);
        add(dice, "meta", "<U2", &[], b"{\0\0\0}\0\0\0".to_vec());
    }
    zip.finish().unwrap().into_inner()
}

fn chunk(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(kind);
    crc.update(data);
    [&(data.len() as u32).to_be_bytes(), kind, data, &crc.sum().to_be_bytes()].concat()
}

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

fn png(dice: &mut Dice) -> Vec<u8> {
    let side = |dice: &mut Dice| if dice.once_in(10) { dice.whole() as u32 } else { 1 + dice.below(9) as u32 };
    let (width, height) = (side(dice), side(dice));
    let depth = [1u8, 2, 4, 8, 16, 3][dice.below(6)];
    let colour = [0u8, 2, 3, 4, 6, 1][dice.below(6)];
    let mut head = Vec::new();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    head.extend([depth, colour, u8::from(dice.once_in(30)), u8::from(dice.once_in(30)), u8::from(dice.once_in(5))]);
    let samples = [1, 1, 3, 1, 2, 1, 4][usize::from(colour)];
    let row = 1 + (width as usize % 64 * samples * usize::from(depth)).div_ceil(8);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..(height as usize % 64) + dice.below(2) {
        let mut line = vec![dice.next() as u8; row];
        line[0] = dice.below(6) as u8;
        zlib.write_all(&line).unwrap();
    }
    let data = zlib.finish().unwrap();
    let mut bytes = [SIGNATURE, &chunk(b"IHDR", &head)].concat();
    if colour == 3 || dice.once_in(10) {
        bytes.extend(chunk(b"PLTE", &vec![7; 3 * dice.below(300)]));
    }
    if dice.once_in(4) {
        let kind = dice.pick(&["tRNS", "gAMA", "zTXt", "iCCP", "acTL", "fcTL", "tEXt", "cHRM", "eXIf"]);
        let content: Vec<u8> = (0..dice.below(40)).map(|_| dice.next() as u8).collect();
        bytes.extend(chunk(kind.as_bytes(), &content));
    }
    bytes.extend(chunk(b"IDAT", &data));
    bytes.extend(chunk(b"IEND", b""));
    bytes
}

/// The checksums of chunks: otherwise every changed byte would end at one.
fn right_crcs(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = SIGNATURE.len();
    while bytes.starts_with(SIGNATURE) && at + 12 <= bytes.len() {
        let length = u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
        let Some(end) = at.checked_add(length).filter(|end| end + 12 <= bytes.len()) else { break };
        let mut crc = flate2::Crc::new();
        crc.update(&bytes[at + 4..end + 8]);
        bytes[end + 8..end + 12].copy_from_slice(&crc.sum().to_be_bytes());
        at = end + 12;
    }
    bytes
}

fn tar_entry(tar: &mut tar::Builder<Vec<u8>>, name: &str, kind: tar::EntryType, size: u64, body: &[u8]) {
    let mut header = tar::Header::new_gnu();
    if let Some(raw) = header.as_gnu_mut() {
        let name = &name.as_bytes()[..name.len().min(100)];
        raw.name[..name.len()].copy_from_slice(name);
    }
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    tar.append(&header, body).unwrap();
}

/// A picture of two by two pixels with its regions, in an archive.
fn pair(dice: &mut Dice) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    let head = [0, 0, 0, 2, 0, 0, 0, 2, 8, 0, 0, 0, 0];
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(&[0, 9, 8, 0, 7, 6]).unwrap();
    let picture =
        [SIGNATURE, &chunk(b"IHDR", &head), &chunk(b"IDAT", &zlib.finish().unwrap()), &chunk(b"IEND", b"")].concat();
    tar_entry(&mut tar, "iccv09Data/images/a.jpg", tar::EntryType::Regular, picture.len() as u64, &picture);
    let label = |dice: &mut Dice| if dice.once_in(8) { dice.number() } else { (dice.below(9) as i64 - 1).to_string() };
    let rows = if dice.once_in(8) { dice.below(5) } else { 2 };
    let text: String = (0..rows).map(|_| format!("{} {}\n", label(dice), label(dice))).collect();
    tar_entry(&mut tar, "iccv09Data/labels/a.regions.txt", tar::EntryType::Regular, text.len() as u64, text.as_bytes());
    tar.into_inner().unwrap()
}

fn read_pair(dir: &Path, bytes: &[u8]) -> bool {
    let path = written(dir, bytes);
    let Ok(pairs) = ImageSet::Stanford.pairs(&path) else { return false };
    pairs.iter().all(|pair| ImageSet::Stanford.decode(pair).is_ok())
}

fn archive(dice: &mut Dice) -> Vec<u8> {
    use tar::EntryType as T;
    let kinds = [
        T::Regular,
        T::Directory,
        T::Symlink,
        T::Link,
        T::Fifo,
        T::GNULongName,
        T::GNULongLink,
        T::XHeader,
        T::XGlobalHeader,
        T::GNUSparse,
    ];
    let mut tar = tar::Builder::new(Vec::new());
    for _ in 0..dice.below(5) {
        let kind = if dice.once_in(2) { T::Regular } else { kinds[dice.below(kinds.len())] };
        let name = match dice.below(4) {
            0 => dice.word(),
            1 => dice.pick(&["../x", "/x", "a/../../x", ".", "", "a//b", "a/."]).to_owned(),
            _ => format!("{}/{}", dice.below(3), dice.below(3)),
        };
        let body = match kind {
            T::XHeader if dice.once_in(2) => b"12 path=abc\n".to_vec(),
            _ => vec![b'x'; dice.below(700)],
        };
        let size = if dice.once_in(10) { dice.whole() } else { body.len() as u64 };
        tar_entry(&mut tar, &name.replace('\0', ""), kind, size, &body);
    }
    let bytes = tar.into_inner().unwrap();
    if dice.once_in(2) {
        return bytes;
    }
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(&bytes).unwrap();
    gz.finish().unwrap()
}

fn read_archive(dir: &Path, bytes: &[u8]) -> bool {
    let (path, out) = (written(dir, bytes), dir.join("out"));
    let unpacked = unpack(&path, &out, |_| true).is_ok();
    let _ = fs::remove_dir_all(&out);
    let names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["input"], "an archive got out of its folder");
    unpacked
}
