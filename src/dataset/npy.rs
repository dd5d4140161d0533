//! NumPy arrays: `.npy` bytes ↔ typed values in C order. Written arrays have the same bytes on every machine. Readers
//! fail with a description of the fault, also when the values do not fit into their quota.

use std::io::{self, Read, Write};

use super::memory::Quota;
use ssvm::data::NodeFeatures;
use ssvm::linalg::{Half, on_huge_pages};

/// Values per block of a read, so that memory is touched only as far as a file has values.
const BLOCK: usize = 1 << 16;
/// Longest header; NumPy itself refuses more than 10 000 characters.
const LONGEST: usize = 1 << 16;

/// Element types that an array can be read as. Conversions that could lose a value are refused, except f64 → f32.
pub trait Element: Copy {
    /// The types that a file may have, for error messages.
    const EXPECTED: &'static str;
    /// Decoder of one element of `size` little-endian bytes; `None` if the type is not accepted.
    fn decoder(kind: char, size: usize) -> Option<fn(&[u8]) -> Self>;
}

macro_rules! element {
    ($type:ty, $expected:literal, $($kind:literal $read:ty => $convert:expr),+ $(,)?) => {
        impl Element for $type {
            const EXPECTED: &'static str = $expected;

            fn decoder(kind: char, size: usize) -> Option<fn(&[u8]) -> Self> {
                $(if (kind, size) == ($kind, size_of::<$read>()) {
                    return Some(|bytes| $convert(<$read>::from_le_bytes(array(bytes))));
                })+
                None
            }
        }
    };
}

element!(f32, "float16, float32 or float64", 'f' f32 => f32::from, 'f' f64 => |value| value as f32);
element!(Half, "float16", 'f' u16 => Half::from_bits);
element!(
    f64, "float64, float32 or an integer",
    'f' f32 => f64::from, 'f' f64 => f64::from, 'i' i32 => f64::from, 'i' i64 => |value| value as f64,
);
element!(
    i64, "an integer type",
    'i' i8 => i64::from, 'i' i16 => i64::from, 'i' i32 => i64::from, 'i' i64 => i64::from,
    'b' u8 => i64::from, 'u' u8 => i64::from, 'u' u16 => i64::from, 'u' u32 => i64::from,
    // A value above i64::MAX turns negative, which every user of an offset or id refuses.
    'u' u64 => |value| value as i64,
);

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

/// Reads one array: lengths of its axes (none for a scalar) and values, last axis fastest.
pub fn read<T: Element>(reader: &mut dyn Read, quota: &mut Quota) -> Result<(Vec<usize>, Vec<T>), String> {
    Header::read(reader)?.values(reader, quota)
}

/// Reads features in the precision they have, half or single; double is rounded to single.
pub fn read_features(reader: &mut dyn Read, quota: &mut Quota) -> Result<(Vec<usize>, NodeFeatures), String> {
    let header = Header::read(reader)?;
    if (header.kind, header.size) == ('f', 2) {
        return header.values(reader, quota).map(|(shape, values)| (shape, NodeFeatures::Half(values)));
    }
    header.values(reader, quota).map(|(shape, values)| (shape, NodeFeatures::Single(values)))
}

/// Reads a text scalar: NumPy `str`, `bytes`, or an array of uint8 holding UTF-8.
pub fn read_text(reader: &mut dyn Read, quota: &mut Quota) -> Result<String, String> {
    let Header { kind, size, big_endian, descr, count, .. } = Header::read(reader)?;
    let wanted = count.checked_mul(size).ok_or("is too large")?;
    quota.take(2 * wanted as u64)?;
    let mut raw = Vec::new();
    reader.take(wanted as u64).read_to_end(&mut raw).map_err(|e| e.to_string())?;
    if raw.len() < wanted {
        return Err(format!("ends after {} of {wanted} bytes", raw.len()));
    }
    let text = match kind {
        'U' => {
            let code = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
            let text: Option<String> = raw.as_chunks().0.iter().map(|bytes| char::from_u32(code(*bytes))).collect();
            text.ok_or("contains a character that is not Unicode")?
        }
        'S' | 'a' | 'u' if size > 0 => String::from_utf8(raw).map_err(|_| "is not UTF-8 text")?,
        _ => return Err(format!("has type {descr}, but must be text, as np.array(json.dumps(...))")),
    };
    Ok(text.trim_end_matches('\0').to_owned())
}

/// Element type, order and shape of an array.
#[derive(Debug)]
struct Header {
    /// The element type as NumPy writes it, such as `<f4`, and its parts: letter, bytes, byte order.
    descr: String,
    kind: char,
    size: usize,
    big_endian: bool,
    /// Whether the first axis is the fastest.
    fortran: bool,
    shape: Vec<usize>,
    /// Number of elements.
    count: usize,
}

/// The dictionary of a header.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Dictionary {
    descr: serde_json::Value,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads up to the first value.
    fn read(reader: &mut dyn Read) -> Result<Self, String> {
        let mut bytes = |count: usize| {
            let mut bytes = vec![0; count];
            reader.read_exact(&mut bytes).map(|()| bytes).map_err(|e| not(&e.to_string()))
        };
        let length = match bytes(8)?[..] {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, 0] => usize::from(u16::from_le_bytes(array(&bytes(2)?))),
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, 0] => u32::from_le_bytes(array(&bytes(4)?)) as usize,
            _ => return Err(not("its first bytes are not those of version 1, 2 or 3")),
        };
        if length > LONGEST {
            return Err(not(&format!("its header has {length} bytes")));
        }
        Self::parse(&String::from_utf8(bytes(length)?).map_err(|_| not("its header is not text"))?)
    }

    /// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Result<Self, String> {
        let odd = || not(&format!("its header is {:?}", text.trim().chars().take(80).collect::<String>()));
        let dictionary: Dictionary = serde_json::from_str(&json(text)).map_err(|_| odd())?;
        if dictionary.descr.is_array() {
            return Err("is a structured array; save each field as an array of its own".into());
        }
        let Dictionary { descr, fortran_order: fortran, shape } = dictionary;
        let descr = descr.as_str().ok_or_else(odd)?.to_owned();
        let (kind, size, big_endian) = element(&descr).ok_or_else(odd)?;
        let count = shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
        let count = count.filter(|n| n.checked_mul(16).is_some()).ok_or("is too large for this machine")?;
        if shape.len() > 2 {
            return Err(format!("has {} axes, but must have at most 2", shape.len()));
        }
        Ok(Self { descr, kind, size, big_endian, fortran, shape, count })
    }

    fn values<T: Element>(self, reader: &mut dyn Read, quota: &mut Quota) -> Result<(Vec<usize>, Vec<T>), String> {
        let Self { descr, kind, size, big_endian, fortran, shape, count } = self;
        let decode = T::decoder(kind, size)
            .ok_or_else(|| format!("has type {descr}, but must be {}: convert it with .astype()", T::EXPECTED))?;
        let transposed = fortran && shape.len() == 2;
        quota.take((count * size_of::<T>()) as u64 * if transposed { 2 } else { 1 })?;

        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(|_| "is too large for this machine")?;
        let mut values = on_huge_pages(values);
        let mut block = Vec::with_capacity(count.min(BLOCK) * size);
        while values.len() < count {
            block.clear();
            let wanted = (count - values.len()).min(BLOCK) * size;
            reader.take(wanted as u64).read_to_end(&mut block).map_err(|e| e.to_string())?;
            if block.len() < wanted {
                return Err(format!("ends after {} of {count} values", values.len() + block.len() / size));
            }
            if big_endian {
                block.chunks_exact_mut(size).for_each(<[u8]>::reverse);
            }
            values.extend(block.chunks_exact(size).map(decode));
        }
        if let (true, [rows, columns]) = (transposed, &shape[..]) {
            values = (0..count).map(|at| values[at % columns * rows + at / columns]).collect();
        }
        Ok((shape, values))
    }
}

fn not(why: &str) -> String {
    format!("is not a NumPy array ({why})")
}

/// Rewrites a Python dictionary as JSON: other quotes and brackets, no comma before a bracket, and no `L` as in the
/// `3L` of Python 2. The JSON parser limits its depth, so that no header can exhaust the stack.
fn json(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' => json.push('"'),
            '(' => json.push('['),
            ')' | '}' => {
                let end = json.trim_end().strip_suffix(',').unwrap_or(&json).len();
                json.truncate(end);
                json.push(if c == ')' { ']' } else { c });
            }
            'L' if json.ends_with(|before: char| before.is_ascii_digit()) => {}
            c => json.push(c),
        }
    }
    json.replace("True", "true").replace("False", "false")
}

/// Letter, bytes and byte order of a type such as `<f4`, `|u1` or `>U12`.
fn element(descr: &str) -> Option<(char, usize, bool)> {
    let mut letters = descr.chars();
    let (order, kind) = (letters.next()?, letters.next()?);
    let size = letters.as_str().parse().ok().filter(|size| *size <= LONGEST * LONGEST).unwrap_or(0);
    let (known, number) = match kind {
        'b' => (size == 1, true),
        'i' | 'u' => (matches!(size, 1 | 2 | 4 | 8), true),
        'f' => (matches!(size, 2 | 4 | 8 | 16), true),
        'S' | 'a' | 'U' | 'c' | 'm' | 'M' | 'O' | 'V' => (true, false),
        _ => (false, false),
    };
    let big_endian = order == '>' || order == '=' && cfg!(target_endian = "big");
    // Numbers of more than one byte must state their byte order.
    let clear = "<>=".contains(order) || order == '|' && !(number && size > 1);
    (known && clear).then_some((kind, if kind == 'U' { 4 * size } else { size }, big_endian))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them() {
        let of = |text: &str| Header::parse(text);
        let plain = of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n").unwrap();
        assert_eq!((plain.kind, plain.size, plain.shape.as_slice()), ('f', 4, &[3, 4][..]));
        assert!(!plain.fortran && !plain.big_endian);
        let other = of("{\"shape\":(7L,),\"fortran_order\":True,\"descr\":\">U12\"}").unwrap();
        assert_eq!((other.kind, other.size, other.shape.as_slice()), ('U', 48, &[7][..]));
        assert!(other.fortran && other.big_endian);
        assert_eq!(of("{'descr': '|u1', 'fortran_order': False, 'shape': (), }").unwrap().shape, Vec::<usize>::new());
        assert!(
            of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }").unwrap_err().contains("field")
        );
    }

    #[test]
    fn what_is_no_header_is_an_error() {
        for text in [
            "",
            "{",
            "{}",
            "{'descr': '<f4'}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
            "{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
            "{'descr': 'é', 'fortran_order': False, 'shape': (1,)}",
        ] {
            assert!(Header::parse(text).is_err(), "{text}");
        }
    }

    /// A recursive parser overflowed the stack on this.
    #[test]
    fn a_deep_header_is_an_error() {
        let deep = format!("{{'descr': {}", "(".repeat(60_000));
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((deep.len() as u16).to_le_bytes());
        bytes.extend(deep.as_bytes());
        assert!(Header::read(&mut &bytes[..]).unwrap_err().contains("not a NumPy array"));
        assert!(Header::read(&mut &b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..]).unwrap_err().contains("bytes"));
    }
}
