//! The frames after the handshake: a line of ASCII, then little-endian numbers. docs/oracle-programs.md lists them.

use crate::dataset::text::shorten;
use ssvm::linalg::{all_finite, read_le, write_le};

pub const VERSION: u32 = 1;

/// Longest line of a frame without its numbers.
pub(super) const LONGEST_LINE: usize = 1 << 16;

/// Most operations of one call: minutes of the virtual clock, and no sum of them overflows.
pub(super) const MOST_OPERATIONS: u64 = 1 << 40;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub term: usize,
    /// φ∘.
    pub offset: f64,
    /// Whether `values` are all d; otherwise `coordinates` has theirs, ascending.
    pub dense: bool,
    pub coordinates: Vec<u32>,
    /// φ⋆.
    pub values: Vec<f64>,
    /// Upper bound of H_i(w).
    pub bound: Option<f64>,
    pub key: Option<String>,
    pub operations: Option<u64>,
    /// Time inside the oracle, ns, as the program measured it.
    pub ns: Option<u64>,
}

impl Answer {
    /// Takes in the line of an answer of a program with d weights; returns the number of bytes that follow it.
    pub(super) fn read_line(&mut self, line: &str, d: usize) -> Result<usize, String> {
        let wrong = |what: &str| format!("answered '{}': {what}", shorten(line));
        let number = |word: Option<&str>, what: &str| {
            word.and_then(|word| word.parse::<u64>().ok())
                .ok_or_else(|| wrong(&format!("{what} is not a whole number")))
        };
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some("plane") {
            return Err(wrong(
                "expected 'plane I dense|sparse COUNT'; standard output belongs to the protocol, print to standard error",
            ));
        }
        self.term = number(words.next(), "the term")? as usize;
        self.dense = match words.next() {
            Some("dense") => true,
            Some("sparse") => false,
            _ => return Err(wrong("a plane must be dense or sparse")),
        };
        let count = number(words.next(), "the count")? as usize;
        if self.dense && count != d {
            return Err(wrong(&format!("{count} values in a dense plane, d is {d}")));
        }
        if count > d {
            return Err(wrong(&format!("{count} values, d is {d}")));
        }
        (self.bound, self.key, self.operations, self.ns) = (None, None, None, None);
        for word in words {
            match word.split_once('=') {
                Some(("key", key)) => self.key = Some(key.to_owned()),
                Some(("operations", count)) => {
                    let operations = number(Some(count), "operations")?;
                    if operations > MOST_OPERATIONS {
                        return Err(wrong(&format!("{operations} operations in one call; at most {MOST_OPERATIONS}")));
                    }
                    self.operations = Some(operations);
                }
                Some(("ns", count)) => self.ns = Some(number(Some(count), "ns")?),
                None if word == "bound" => self.bound = Some(f64::NAN),
                _ => {
                    let word = shorten(word);
                    return Err(wrong(&format!("'{word}' is unknown; known: key=, bound, operations=, ns=")));
                }
            }
        }
        self.values.resize(count, 0.0);
        self.coordinates.resize(if self.dense { 0 } else { count }, 0);
        Ok(8 * (1 + usize::from(self.bound.is_some()) + count) + 4 * self.coordinates.len())
    }

    /// Takes in the bytes that [`Answer::read_line`] asked for.
    pub(super) fn read_numbers(&mut self, payload: &[u8], d: usize) -> Result<(), String> {
        let (first, rest) = payload.split_at(8 * (1 + usize::from(self.bound.is_some())));
        let mut numbers = [f64::NAN; 2];
        read_le(first, &mut numbers);
        self.offset = numbers[0];
        self.bound = self.bound.map(|_| numbers[1]);
        let (coordinates, values) = rest.split_at(4 * self.coordinates.len());
        for (at, bytes) in self.coordinates.iter_mut().zip(coordinates.as_chunks().0) {
            *at = u32::from_le_bytes(*bytes);
        }
        read_le(values, &mut self.values);
        let wrong = |what: String| Err(format!("answered term {} with {what}", self.term));
        if !self.offset.is_finite() {
            return wrong(format!("the offset {}", self.offset));
        }
        if let Some(bound) = self.bound.filter(|bound| !bound.is_finite()) {
            return wrong(format!("the bound {bound}"));
        }
        if !all_finite(&self.values)
            && let Some(at) = self.values.iter().position(|value| !value.is_finite())
        {
            let coordinate = self.coordinates.get(at).map_or(at, |coordinate| *coordinate as usize);
            return wrong(format!("{} at coordinate {coordinate}", self.values[at]));
        }
        if let Some(coordinate) = self.coordinates.iter().find(|coordinate| **coordinate as usize >= d) {
            return wrong(format!("coordinate {coordinate}, d is {d}"));
        }
        if let Some([before, after]) = self.coordinates.array_windows().find(|[before, after]| before >= after) {
            return wrong(format!("coordinate {after} after {before}: coordinates must ascend"));
        }
        Ok(())
    }

    /// Appends the frame of this answer, for programs in Rust.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let form = if self.dense { "dense" } else { "sparse" };
        let mut line = format!("plane {} {form} {}", self.term, self.values.len());
        let options = [
            self.key.as_ref().map(|key| format!(" key={key}")),
            self.bound.map(|_| " bound".into()),
            self.operations.map(|operations| format!(" operations={operations}")),
            self.ns.map(|ns| format!(" ns={ns}")),
        ];
        options.into_iter().flatten().for_each(|option| line += &option);
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
        for value in [Some(self.offset), self.bound].into_iter().flatten() {
            out.extend_from_slice(&value.to_le_bytes());
        }
        for at in &self.coordinates {
            out.extend_from_slice(&at.to_le_bytes());
        }
        write_le(&self.values, out);
    }
}

pub(super) fn write_w(w: &[f64], out: &mut Vec<u8>) {
    out.extend_from_slice(b"w\n");
    write_le(w, out);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Call,
    /// The same, off the clock, with a bound if the program has one.
    Certify,
    Truth,
}

impl Question {
    /// Appends the line that asks this of these terms.
    pub fn write(self, terms: &[usize], out: &mut Vec<u8>) {
        out.extend_from_slice(match self {
            Self::Call => b"call",
            Self::Certify => b"certify",
            Self::Truth => b"truth",
        });
        for term in terms {
            out.extend_from_slice(format!(" {term}").as_bytes());
        }
        out.push(b'\n');
    }
}

/// What a program is asked for, in the words of an error: "ended when asked for an echo".
#[derive(Clone, Copy, Debug)]
pub(super) enum Doing {
    Handshake,
    Echo,
    Term(Question, usize),
}

impl std::fmt::Display for Doing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Handshake => f.write_str("asked for its handshake"),
            Self::Echo => f.write_str("asked for an echo"),
            Self::Term(Question::Truth, term) => write!(f, "asked for the truth of term {term}"),
            Self::Term(_, term) => write!(f, "asked for term {term}"),
        }
    }
}

/// Appends an echo of `length` bytes.
pub(super) fn write_echo(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("echo {length}\n").as_bytes());
    out.resize(out.len() + length - 1, b'.');
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], d: usize) -> Result<Answer, String> {
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("no line")?;
        let mut answer = Answer::default();
        let count = answer.read_line(std::str::from_utf8(&bytes[..end]).map_err(|e| e.to_string())?, d)?;
        assert_eq!(bytes.len() - end - 1, count);
        answer.read_numbers(&bytes[end + 1..], d).map(|()| answer)
    }

    #[test]
    fn answers_read_back_to_the_bit() {
        let sparse = Answer {
            term: 7,
            offset: 0.1 + 0.2,
            dense: false,
            coordinates: vec![0, 3, 9],
            values: vec![1.0 / 3.0, -f64::MIN_POSITIVE, 1e300],
            bound: Some(0.5),
            key: Some("a,b:c".into()),
            operations: Some(12),
            ns: Some(0),
        };
        let dense = Answer {
            dense: true,
            coordinates: Vec::new(),
            values: (0..10).map(|k| f64::from(k).sqrt()).collect(),
            bound: None,
            key: None,
            operations: None,
            ns: None,
            ..sparse.clone()
        };
        let empty = Answer { coordinates: Vec::new(), values: Vec::new(), ..sparse.clone() };
        for answer in [sparse, dense, empty] {
            let mut bytes = Vec::new();
            answer.write(&mut bytes);
            assert_eq!(read(&bytes, 10).unwrap(), answer);
        }
    }

    #[test]
    fn wrong_answers_are_named() {
        for (line, coordinates, numbers, expected) in [
            ("plan 0 dense 3", &[][..], &[0.0, 1.0, 2.0, 3.0][..], "expected 'plane"),
            ("plane x dense 3", &[], &[0.0, 1.0, 2.0, 3.0], "term is not a whole number"),
            ("plane 0 thick 3", &[], &[0.0, 1.0, 2.0, 3.0], "dense or sparse"),
            ("plane 0 dense 2", &[], &[0.0, 1.0, 2.0], "2 values in a dense plane, d is 3"),
            ("plane 0 sparse 4", &[0, 1, 2, 3], &[0.0; 5], "4 values, d is 3"),
            ("plane 0 dense 3", &[], &[0.0, 1.0, f64::NAN, 3.0], "NaN at coordinate 1"),
            ("plane 0 dense 3", &[], &[f64::INFINITY, 1.0, 2.0, 3.0], "the offset inf"),
            ("plane 0 sparse 1 bound", &[2], &[0.0, f64::INFINITY, 1.0], "the bound inf"),
            ("plane 0 sparse 1", &[3], &[0.0, 1.0], "coordinate 3, d is 3"),
            ("plane 0 sparse 2", &[1, 1], &[0.0, 1.0, 1.0], "coordinate 1 after 1"),
            ("plane 0 dense 3 colour=red", &[], &[0.0, 1.0, 2.0, 3.0], "'colour=red' is unknown"),
        ] {
            let mut bytes = format!("{line}\n").into_bytes();
            // Offset and bound, coordinates, values.
            let values = numbers.len() - coordinates.len().min(numbers.len());
            let (first, rest) = numbers.split_at(if coordinates.is_empty() { numbers.len() } else { values });
            write_le(first, &mut bytes);
            bytes.extend(coordinates.iter().flat_map(|at: &u32| at.to_le_bytes()));
            write_le(rest, &mut bytes);
            let error = read(&bytes, 3).unwrap_err();
            assert!(error.contains(expected), "{line:?}: {error}");
        }
    }
}
