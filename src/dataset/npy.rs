//! NumPy arrays: a reader of `.npy` bytes → typed values in C order; values → `.npy` bytes that are the same everywhere.

use std::io::{self, Read, Write};

use super::npy_header::{Header, Kind};
use crate::dataset::memory::Room;
use ssvm::data::NodeFeatures;
use ssvm::linalg::{Half, on_huge_pages};

/// An array as read: its shape and its values in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T> {
    /// Lengths of the axes; empty for a scalar.
    pub shape: Vec<usize>,
    /// Values, last axis fastest.
    pub values: Vec<T>,
}

/// Element types an array can be read as. Conversions that could lose a value are refused, f64 → f32 excepted.
pub trait Element: Copy {
    /// What a file must hold, for error messages.
    const EXPECTED: &'static str;
    /// Decoder of one element of `size` little-endian bytes, or nothing if the type is not accepted.
    fn decoder(kind: Kind, size: usize) -> Option<fn(&[u8]) -> Self>;
}

/// Converts the first N bytes; callers pass chunks of exactly that size.
fn bytes<const N: usize>(chunk: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&chunk[..N]);
    out
}

impl Element for f32 {
    const EXPECTED: &'static str = "float16, float32 or float64";
    fn decoder(kind: Kind, size: usize) -> Option<fn(&[u8]) -> Self> {
        match (kind, size) {
            (Kind::Float, 4) => Some(|b| f32::from_le_bytes(bytes(b))),
            (Kind::Float, 8) => Some(|b| f64::from_le_bytes(bytes(b)) as f32),
            _ => None,
        }
    }
}

impl Element for Half {
    const EXPECTED: &'static str = "float16";
    fn decoder(kind: Kind, size: usize) -> Option<fn(&[u8]) -> Self> {
        match (kind, size) {
            (Kind::Float, 2) => Some(|b| Half::from_bits(u16::from_le_bytes(bytes(b)))),
            _ => None,
        }
    }
}

impl Element for f64 {
    const EXPECTED: &'static str = "float64, float32 or an integer";
    fn decoder(kind: Kind, size: usize) -> Option<fn(&[u8]) -> Self> {
        match (kind, size) {
            (Kind::Float, 4) => Some(|b| f64::from(f32::from_le_bytes(bytes(b)))),
            (Kind::Float, 8) => Some(|b| f64::from_le_bytes(bytes(b))),
            (Kind::Int, 4) => Some(|b| f64::from(i32::from_le_bytes(bytes(b)))),
            (Kind::Int, 8) => Some(|b| i64::from_le_bytes(bytes(b)) as f64),
            _ => None,
        }
    }
}

impl Element for i64 {
    const EXPECTED: &'static str = "an integer type";
    fn decoder(kind: Kind, size: usize) -> Option<fn(&[u8]) -> Self> {
        match (kind, size) {
            (Kind::Int, 1) => Some(|b| i64::from(i8::from_le_bytes(bytes(b)))),
            (Kind::Int, 2) => Some(|b| i64::from(i16::from_le_bytes(bytes(b)))),
            (Kind::Int, 4) => Some(|b| i64::from(i32::from_le_bytes(bytes(b)))),
            (Kind::Int, 8) => Some(|b| i64::from_le_bytes(bytes(b))),
            (Kind::Uint | Kind::Bool, 1) => Some(|b| i64::from(b[0])),
            (Kind::Uint, 2) => Some(|b| i64::from(u16::from_le_bytes(bytes(b)))),
            (Kind::Uint, 4) => Some(|b| i64::from(u32::from_le_bytes(bytes(b)))),
            // Above i64::MAX the value turns negative, which every user of an offset or id refuses.
            (Kind::Uint, 8) => Some(|b| u64::from_le_bytes(bytes(b)) as i64),
            _ => None,
        }
    }
}

/// Reads one `.npy` array into the room there is; the error text says what is wrong with it.
pub fn read<T: Element>(mut reader: impl Read, room: &mut Room) -> Result<Array<T>, String> {
    let (header, count) = read_header(&mut reader)?;
    read_values(reader, header, count, room)
}

/// Reads features in the precision they have, half or single; double is rounded to single.
pub fn read_features(mut reader: impl Read, room: &mut Room) -> Result<(Vec<usize>, NodeFeatures), String> {
    let (header, count) = read_header(&mut reader)?;
    if (header.kind, header.size) == (Kind::Float, 2) {
        let Array { shape, values } = read_values(reader, header, count, room)?;
        return Ok((shape, NodeFeatures::Half(values)));
    }
    let Array { shape, values } = read_values(reader, header, count, room)?;
    Ok((shape, NodeFeatures::Single(values)))
}

fn read_values<T: Element>(
    mut reader: impl Read,
    header: Header,
    count: usize,
    room: &mut Room,
) -> Result<Array<T>, String> {
    let (size, descr) = (header.size, &header.descr);
    let decode = T::decoder(header.kind, size)
        .ok_or_else(|| format!("has type {descr}, but must be {}: convert it with .astype()", T::EXPECTED))?;
    let swap = header.big_endian && size > 1;
    let twice = if header.fortran && header.shape.len() == 2 { 2 } else { 1 };
    room.take((count * size_of::<T>()) as u64 * twice)?;

    // Read by blocks: memory is touched only as far as there are values.
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| "is too large for this machine")?;
    let mut values = on_huge_pages(values);
    let mut block = vec![0; (1 << 16) * size];
    while values.len() < count {
        let part = &mut block[..(count - values.len()).min(1 << 16) * size];
        fill(&mut reader, part)
            .map_err(|(bytes, e)| format!("ends after {} of {count} values ({e})", values.len() + bytes / size))?;
        if swap {
            part.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        values.extend(part.chunks_exact(size).map(decode));
    }
    if let (true, [rows, columns]) = (header.fortran, &header.shape[..]) {
        values = (0..count).map(|at| values[at % columns * rows + at / columns]).collect();
    }
    Ok(Array { shape: header.shape, values })
}

/// Reads until the room is full; else how much there was, and why there is no more.
fn fill(reader: &mut impl Read, room: &mut [u8]) -> Result<(), (usize, io::Error)> {
    let mut filled = 0;
    while filled < room.len() {
        match reader.read(&mut room[filled..]) {
            Ok(0) => return Err((filled, io::ErrorKind::UnexpectedEof.into())),
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((filled, error)),
        }
    }
    Ok(())
}

/// Reads a text scalar: NumPy `str`, `bytes`, or an array of uint8 holding UTF-8.
pub fn read_text(mut reader: impl Read, room: &mut Room) -> Result<String, String> {
    let (Header { kind, size, big_endian, descr, .. }, count) = read_header(&mut reader)?;
    let mut raw = Vec::new();
    let wanted = count.checked_mul(size).ok_or("is too large")?;
    room.take(2 * wanted as u64)?;
    reader.take(wanted as u64).read_to_end(&mut raw).map_err(|e| e.to_string())?;
    if raw.len() < wanted {
        return Err(format!("ends after {} of {wanted} bytes", raw.len()));
    }
    match kind {
        Kind::Text => raw
            .chunks_exact(4)
            .map(|c| {
                let code = bytes(c);
                char::from_u32(if big_endian { u32::from_be_bytes(code) } else { u32::from_le_bytes(code) })
                    .ok_or_else(|| "holds a character that is not Unicode".to_owned())
            })
            .collect::<Result<String, _>>()
            .map(|text| text.trim_end_matches('\0').to_owned()),
        Kind::Bytes | Kind::Uint if size > 0 => String::from_utf8(raw)
            .map(|text| text.trim_end_matches('\0').to_owned())
            .map_err(|_| "is not UTF-8 text".to_owned()),
        _ => Err(format!("has type {descr}, but must be text, as np.array(json.dumps(...))")),
    }
}

/// The header and the number of elements.
fn read_header(reader: &mut impl Read) -> Result<(Header, usize), String> {
    let header = Header::read(reader)?;
    let count = header.shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
    let count = count.filter(|n| n.checked_mul(16).is_some()).ok_or("is too large for this machine")?;
    if header.shape.len() > 2 {
        return Err(format!("has {} axes, but must have at most 2", header.shape.len()));
    }
    Ok((header, count))
}

/// Writes the header of a C-order array; the values follow as little-endian bytes. `descr` as in NumPy, e.g. `<f4`.
pub fn write_header(writer: &mut impl Write, descr: &str, shape: &[usize]) -> std::io::Result<()> {
    let axes = match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {axes}, }}");
    text.extend(std::iter::repeat_n(' ', 63 - (10 + text.len()) % 64));
    text.push('\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&(text.len() as u16).to_le_bytes())?;
    writer.write_all(text.as_bytes())
}

/// Writes values as little-endian bytes, in blocks.
pub fn write_values<T: Copy, const N: usize>(
    writer: &mut impl Write,
    values: impl IntoIterator<Item = T>,
    encode: impl Fn(T) -> [u8; N],
) -> std::io::Result<()> {
    let mut block = Vec::with_capacity(1 << 16);
    for value in values {
        block.extend_from_slice(&encode(value));
        if block.len() >= 1 << 16 {
            writer.write_all(&block)?;
            block.clear();
        }
    }
    writer.write_all(&block)
}
