//! NumPy arrays: `.npy` bytes ↔ typed values in C order. What is written has the same bytes everywhere.

use std::io::{self, Read, Write};

use super::memory::Quota;
use super::npy_header::{Header, Kind};
use ssvm::data::NodeFeatures;
use ssvm::linalg::{Half, on_huge_pages};

/// Values per block of a read: memory is touched only as far as a file has values.
const BLOCK: usize = 1 << 16;

/// Element types an array can be read as. Conversions that could lose a value are refused, f64 → f32 excepted.
pub trait Element: Copy {
    /// The types that a file may have, for error messages.
    const EXPECTED: &'static str;
    /// Decoder of one element of `size` little-endian bytes; `None` if the type is not accepted.
    fn decoder(kind: Kind, size: usize) -> Option<fn(&[u8]) -> Self>;
}

macro_rules! element {
    ($type:ty, $expected:literal, $($kind:ident $read:ty => $convert:expr),+ $(,)?) => {
        impl Element for $type {
            const EXPECTED: &'static str = $expected;

            fn decoder(kind: Kind, size: usize) -> Option<fn(&[u8]) -> Self> {
                $(if kind == Kind::$kind && size == size_of::<$read>() {
                    return Some(|bytes| $convert(<$read>::from_le_bytes(array(bytes))));
                })+
                None
            }
        }
    };
}

element!(f32, "float16, float32 or float64", Float f32 => f32::from, Float f64 => |value| value as f32);
element!(Half, "float16", Float u16 => Half::from_bits);
element!(
    f64, "float64, float32 or an integer",
    Float f32 => f64::from, Float f64 => f64::from, Int i32 => f64::from, Int i64 => |value| value as f64,
);
element!(
    i64, "an integer type",
    Int i8 => i64::from, Int i16 => i64::from, Int i32 => i64::from, Int i64 => i64::from,
    Bool u8 => i64::from, Uint u8 => i64::from, Uint u16 => i64::from, Uint u32 => i64::from,
    // Above i64::MAX the value turns negative, which every user of an offset or id refuses.
    Uint u64 => |value| value as i64,
);

/// The first N bytes; callers pass at least N.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

/// Reads one `.npy` array: lengths of its axes (none for a scalar) and values, last axis fastest. Fails with what is wrong
/// with the array, also when its values do not fit into `quota`.
pub fn read<T: Element>(mut reader: impl Read, quota: &mut Quota) -> Result<(Vec<usize>, Vec<T>), String> {
    let (header, count) = read_header(&mut reader)?;
    read_values(reader, header, count, quota)
}

/// Reads features in the precision they have, half or single; double is rounded to single.
pub fn read_features(mut reader: impl Read, quota: &mut Quota) -> Result<(Vec<usize>, NodeFeatures), String> {
    let (header, count) = read_header(&mut reader)?;
    if (header.kind, header.size) == (Kind::Float, 2) {
        let (shape, values) = read_values(reader, header, count, quota)?;
        return Ok((shape, NodeFeatures::Half(values)));
    }
    let (shape, values) = read_values(reader, header, count, quota)?;
    Ok((shape, NodeFeatures::Single(values)))
}

fn read_values<T: Element>(
    mut reader: impl Read,
    header: Header,
    count: usize,
    quota: &mut Quota,
) -> Result<(Vec<usize>, Vec<T>), String> {
    let (size, descr) = (header.size, &header.descr);
    let decode = T::decoder(header.kind, size)
        .ok_or_else(|| format!("has type {descr}, but must be {}: convert it with .astype()", T::EXPECTED))?;
    let swap = header.big_endian && size > 1;
    let transposed = header.fortran && header.shape.len() == 2;
    quota.take((count * size_of::<T>()) as u64 * if transposed { 2 } else { 1 })?;

    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| "is too large for this machine")?;
    let mut values = on_huge_pages(values);
    let mut block = vec![0; BLOCK * size];
    while values.len() < count {
        let part = &mut block[..(count - values.len()).min(BLOCK) * size];
        let filled = fill(&mut reader, part).map_err(|e| e.to_string())?;
        if filled < part.len() {
            return Err(format!("ends after {} of {count} values", values.len() + filled / size));
        }
        if swap {
            part.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        values.extend(part.chunks_exact(size).map(decode));
    }
    if let (true, [rows, columns]) = (transposed, &header.shape[..]) {
        values = (0..count).map(|at| values[at % columns * rows + at / columns]).collect();
    }
    Ok((header.shape, values))
}

/// Reads until the buffer is full or the input ends; the number of bytes.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads a text scalar: NumPy `str`, `bytes`, or an array of uint8 holding UTF-8.
pub fn read_text(mut reader: impl Read, quota: &mut Quota) -> Result<String, String> {
    let (Header { kind, size, big_endian, descr, .. }, count) = read_header(&mut reader)?;
    let wanted = count.checked_mul(size).ok_or("is too large")?;
    quota.take(2 * wanted as u64)?;
    let mut raw = Vec::new();
    reader.take(wanted as u64).read_to_end(&mut raw).map_err(|e| e.to_string())?;
    if raw.len() < wanted {
        return Err(format!("ends after {} of {wanted} bytes", raw.len()));
    }
    let text = match kind {
        Kind::Text => {
            let code =
                |bytes: &[u8; 4]| if big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
            let text: Option<String> = raw.as_chunks().0.iter().map(|bytes| char::from_u32(code(bytes))).collect();
            text.ok_or("holds a character that is not Unicode")?
        }
        Kind::Bytes | Kind::Uint if size > 0 => String::from_utf8(raw).map_err(|_| "is not UTF-8 text")?,
        _ => return Err(format!("has type {descr}, but must be text, as np.array(json.dumps(...))")),
    };
    Ok(text.trim_end_matches('\0').to_owned())
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
pub fn write_header(writer: &mut impl Write, descr: &str, shape: &[usize]) -> io::Result<()> {
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
