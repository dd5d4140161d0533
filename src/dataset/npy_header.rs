//! The header of a `.npy` file: element type, order and shape. The text is a Python dictionary of three keys; nothing nested
//! is followed, so that no header can exhaust the stack.

use std::io::Read;

/// Longest text of a header: NumPy itself refuses more than 10 000 characters.
const LONGEST: usize = 1 << 16;

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `b`
    Bool,
    /// `i`
    Int,
    /// `u`
    Uint,
    /// `f`
    Float,
    /// `S`
    Bytes,
    /// `U`, four bytes a character.
    Text,
    /// Complex numbers, dates, objects.
    Other,
}

/// The header of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The element type as NumPy writes it, such as `<f4`.
    pub descr: String,
    /// What the elements are.
    pub kind: Kind,
    /// Bytes of one element.
    pub size: usize,
    /// Whether the first byte of an element is the highest.
    pub big_endian: bool,
    /// Whether the first axis is the fastest.
    pub fortran: bool,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
}

impl Header {
    /// Reads up to the first value.
    pub fn read(reader: &mut impl Read) -> Result<Self, String> {
        let cut = |e: std::io::Error| not(&e.to_string());
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(cut)?;
        let length = match start {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, 0] => {
                let mut length = [0; 2];
                reader.read_exact(&mut length).map_err(cut)?;
                usize::from(u16::from_le_bytes(length))
            }
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, 0] => {
                let mut length = [0; 4];
                reader.read_exact(&mut length).map_err(cut)?;
                u32::from_le_bytes(length) as usize
            }
            _ => return Err(not("it does not begin as one of version 1, 2 or 3")),
        };
        if length > LONGEST {
            return Err(not(&format!("its header has {length} bytes")));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text).map_err(cut)?;
        Self::parse(std::str::from_utf8(&text).map_err(|_| not("its header is not text"))?)
    }

    /// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Result<Self, String> {
        let odd = || not(&format!("its header is {:?}", text.trim().chars().take(80).collect::<String>()));
        let mut rest = text.trim().strip_prefix('{').ok_or_else(odd)?.trim_start();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.starts_with('}') {
            let (key, after) = quoted(rest).ok_or_else(odd)?;
            let value = after.trim_start().strip_prefix(':').ok_or_else(odd)?.trim_start();
            rest = match key {
                "descr" if value.starts_with('[') => {
                    return Err("is a structured array; save each field as an array of its own".into());
                }
                "descr" => {
                    let (word, rest) = quoted(value).ok_or_else(odd)?;
                    descr = Some(word);
                    rest
                }
                "fortran_order" => {
                    fortran = Some(value.starts_with("True"));
                    value.strip_prefix("True").or_else(|| value.strip_prefix("False")).ok_or_else(odd)?
                }
                "shape" => {
                    let (axes, rest) = value.strip_prefix('(').and_then(|v| v.split_once(')')).ok_or_else(odd)?;
                    shape = Some(lengths(axes).ok_or_else(odd)?);
                    rest
                }
                _ => return Err(odd()),
            }
            .trim_start();
            if let Some(after) = rest.strip_prefix(',') {
                rest = after.trim_start();
            } else if !rest.starts_with('}') {
                return Err(odd());
            }
        }
        let (Some(descr), Some(fortran), Some(shape), "}") = (descr, fortran, shape, rest) else { return Err(odd()) };
        let (kind, size, big_endian) = element(descr).ok_or_else(odd)?;
        let shape = shape.into_iter().map(usize::try_from).collect::<Result<_, _>>();
        let shape = shape.map_err(|_| "is too large for this machine".to_owned())?;
        Ok(Self { descr: descr.to_owned(), kind, size, big_endian, fortran, shape })
    }
}

fn not(why: &str) -> String {
    format!("is not a NumPy array ({why})")
}

/// A string in quotes and what follows; names of types have no escapes.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    text[1..].split_once(quote)
}

/// `3, 4`, `3,` and nothing at all; Python 2 wrote `3L`.
fn lengths(text: &str) -> Option<Vec<u64>> {
    let text = text.trim();
    let axes = text.strip_suffix(',').unwrap_or(text);
    if axes.is_empty() {
        return text.is_empty().then(Vec::new);
    }
    axes.split(',').map(|axis| axis.trim().trim_end_matches('L').parse().ok()).collect()
}

/// Kind, bytes and byte order of a type such as `<f4`, `|u1` or `>U12`.
fn element(descr: &str) -> Option<(Kind, usize, bool)> {
    let mut letters = descr.chars();
    let order = letters.next().filter(|c| "<>|=".contains(*c))?;
    let letter = letters.next()?;
    let size: usize = letters.as_str().parse().ok().filter(|size| *size <= LONGEST * LONGEST).unwrap_or(0);
    let kind = match (letter, size) {
        ('b', 1) => Kind::Bool,
        ('i', 1 | 2 | 4 | 8) => Kind::Int,
        ('u', 1 | 2 | 4 | 8) => Kind::Uint,
        ('f', 2 | 4 | 8 | 16) => Kind::Float,
        ('S' | 'a', _) => Kind::Bytes,
        ('U', _) => Kind::Text,
        ('c' | 'm' | 'M' | 'O' | 'V', _) => Kind::Other,
        _ => return None,
    };
    let size = if kind == Kind::Text { 4 * size } else { size };
    let big_endian = order == '>' || order == '=' && cfg!(target_endian = "big");
    // More than a byte must say in which order; text and what is not read here need not.
    let clear = order != '|' || size <= 1 || matches!(kind, Kind::Bytes | Kind::Text | Kind::Other);
    clear.then_some((kind, size, big_endian))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them() {
        let of = |text: &str| Header::parse(text);
        let plain = of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n").unwrap();
        assert_eq!((plain.kind, plain.size, plain.shape.as_slice()), (Kind::Float, 4, &[3, 4][..]));
        assert!(!plain.fortran && !plain.big_endian);
        let other = of("{\"shape\":(7L,),\"fortran_order\":True,\"descr\":\">U12\"}").unwrap();
        assert_eq!((other.kind, other.size, other.shape.as_slice()), (Kind::Text, 48, &[7][..]));
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

    /// A parser that goes down into brackets has overflown the stack on this.
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
