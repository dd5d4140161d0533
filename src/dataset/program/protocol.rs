//! The frames after hello: a line in ASCII, then numbers. Requests and answers in, bytes out, and back.
//!
//! | frame | from | numbers |
//! |---|---|---|
//! | `w` | here | d weights, for all requests that follow |
//! | `call I …`, `certify I …`, `truth I …` | here | none; an answer for each term, in this order |
//! | `echo LENGTH` | here | so many bytes, the last a newline; the program sends the whole frame back |
//! | `plane I dense\|sparse COUNT [key=…] [bound] [operations=…] [ns=…]` | program | offset, bound if said, values or coordinates and values |
//! | `error TEXT` | program | none; the program gives up |

use super::hello::{Numbers, shorten};

/// Version of the protocol.
pub const VERSION: u32 = 1;

/// One answer of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The term it is about.
    pub term: usize,
    /// φ∘.
    pub offset: f64,
    /// Whether `values` are all d; otherwise `coordinates` has theirs, ascending.
    pub dense: bool,
    /// Coordinates of a sparse plane.
    pub coordinates: Vec<u32>,
    /// φ⋆.
    pub values: Vec<f64>,
    /// H_i(w) is not more.
    pub bound: Option<f64>,
    /// What identifies the labelling.
    pub key: Option<String>,
    /// Operations, for the virtual clock.
    pub operations: Option<u64>,
    /// Time inside the oracle, ns, as the program measured it.
    pub ns: Option<u64>,
}

/// The line of an answer: what its numbers are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Head {
    pub term: usize,
    pub dense: bool,
    pub count: usize,
    pub bound: bool,
    pub key: Option<String>,
    pub operations: Option<u64>,
    pub ns: Option<u64>,
}

/// Longest line of a frame without its numbers.
pub(super) const LONGEST_HEAD: usize = 1 << 16;

/// Longest number in decimal, with what separates it.
const LONGEST_NUMBER: usize = 48;

/// Longest line of numbers.
pub(super) fn longest_line(d: usize) -> usize {
    LONGEST_HEAD + LONGEST_NUMBER * (d + 2)
}

/// Most operations of one call: minutes of the virtual clock, and no sum of them overflows.
pub(super) const MOST_OPERATIONS: u64 = 1 << 40;

impl Head {
    /// From a line of a program with d weights.
    pub fn parse(line: &str, d: usize) -> Result<Self, String> {
        if let Some(text) = line.strip_prefix("error ") {
            return Err(format!("gave up: {}", text.trim()));
        }
        let wrong = |what: &str| format!("answered '{}': {what}", shorten(line));
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some("plane") {
            return Err(wrong("expected 'plane I dense|sparse COUNT'"));
        }
        let number = |word: Option<&str>, what: &str| {
            word.and_then(|word| word.parse::<u64>().ok()).ok_or_else(|| wrong(&format!("{what} is no whole number")))
        };
        let term = number(words.next(), "the term")? as usize;
        let dense = match words.next() {
            Some("dense") => true,
            Some("sparse") => false,
            _ => return Err(wrong("a plane is dense or sparse")),
        };
        let count = number(words.next(), "the count")? as usize;
        if dense && count != d {
            return Err(wrong(&format!("{count} values in a dense plane, d is {d}")));
        }
        if count > d {
            return Err(wrong(&format!("{count} values, d is {d}")));
        }
        let mut head = Self { term, dense, count, ..Self::default() };
        for word in words {
            match word.split_once('=') {
                Some(("key", key)) => head.key = Some(key.to_owned()),
                Some(("operations", count)) => {
                    let operations = number(Some(count), "operations")?;
                    if operations > MOST_OPERATIONS {
                        return Err(wrong(&format!("{operations} operations in one call; at most {MOST_OPERATIONS}")));
                    }
                    head.operations = Some(operations);
                }
                Some(("ns", count)) => head.ns = Some(number(Some(count), "ns")?),
                None if word == "bound" => head.bound = true,
                _ => {
                    return Err(wrong(&format!(
                        "'{}' is unknown; known: key=, bound, operations=, ns=",
                        shorten(word)
                    )));
                }
            }
        }
        Ok(head)
    }

    /// Bytes of the numbers when they are binary.
    pub fn bytes(&self) -> usize {
        8 * (1 + usize::from(self.bound)) + if self.dense { 8 } else { 12 } * self.count
    }
}

impl Answer {
    /// Puts head and numbers together.
    pub(super) fn take(&mut self, head: Head, payload: &[u8], numbers: Numbers, d: usize) -> Result<(), String> {
        self.coordinates.clear();
        self.values.clear();
        let bound = match numbers {
            Numbers::Binary => self.take_binary(&head, payload),
            Numbers::Text => self.take_text(&head, payload)?,
        };
        self.bound = head.bound.then_some(bound);
        (self.term, self.dense) = (head.term, head.dense);
        (self.key, self.operations, self.ns) = (head.key, head.operations, head.ns);
        let wrong = |what: String| Err(format!("answered term {} with {what}", head.term));
        if !self.offset.is_finite() {
            return wrong(format!("the offset {}", self.offset));
        }
        if let Some(bound) = self.bound.filter(|bound| !bound.is_finite()) {
            return wrong(format!("the bound {bound}"));
        }
        // Without an end in the middle the look at all of them is a short one.
        let finite = self.values.iter().fold(true, |all, value| all & value.is_finite());
        if !finite && let Some(at) = self.values.iter().position(|value| !value.is_finite()) {
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

    /// The payload has [`Head::bytes`] bytes. Returns the bound, or anything.
    fn take_binary(&mut self, head: &Head, payload: &[u8]) -> f64 {
        let (first, rest) = payload.split_at(8 * (1 + usize::from(head.bound)));
        let mut first = doubles(first);
        self.offset = first.next().unwrap_or(f64::NAN);
        let bound = first.next().unwrap_or_default();
        let (coordinates, values) = rest.split_at(if head.dense { 0 } else { 4 * head.count });
        self.coordinates.extend(coordinates.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        self.values.extend(doubles(values));
        bound
    }

    fn take_text(&mut self, head: &Head, payload: &[u8]) -> Result<f64, String> {
        let wrong = |what: String| format!("answered term {} with {what}", head.term);
        let text = std::str::from_utf8(payload).map_err(|_| wrong("numbers that are no text".into()))?;
        let number =
            |word: &str| word.parse::<f64>().map_err(|_| wrong(format!("'{}', which is no number", shorten(word))));
        let mut words = text.split_ascii_whitespace();
        let mut next = || words.next().ok_or_else(|| wrong("no offset or bound".into())).and_then(number);
        self.offset = next()?;
        let bound = if head.bound { next()? } else { 0.0 };
        for word in words {
            let value = if head.dense {
                word
            } else {
                let pair = word.split_once(':').and_then(|(at, value)| Some((at.parse().ok()?, value)));
                let (at, value) =
                    pair.ok_or_else(|| wrong(format!("'{}', which is no coordinate:value", shorten(word))))?;
                self.coordinates.push(at);
                value
            };
            self.values.push(number(value)?);
        }
        if self.values.len() != head.count {
            return Err(wrong(format!("{} values instead of {}", self.values.len(), head.count)));
        }
        Ok(bound)
    }

    /// The frame of this answer, for programs in Rust.
    pub(super) fn write(&self, numbers: Numbers, out: &mut Vec<u8>) {
        let kind = if self.dense { "dense" } else { "sparse" };
        let mut line = format!("plane {} {kind} {}", self.term, self.values.len());
        if let Some(key) = &self.key {
            line += &format!(" key={key}");
        }
        if self.bound.is_some() {
            line += " bound";
        }
        if let Some(operations) = self.operations {
            line += &format!(" operations={operations}");
        }
        if let Some(ns) = self.ns {
            line += &format!(" ns={ns}");
        }
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
        let first = [Some(self.offset), self.bound].into_iter().flatten();
        match numbers {
            Numbers::Binary => {
                first.for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
                self.coordinates.iter().for_each(|at| out.extend_from_slice(&at.to_le_bytes()));
                write_doubles(&self.values, out);
            }
            Numbers::Text => {
                let mut words: Vec<String> = first.map(|value| format!("{value:e}")).collect();
                words.extend(self.values.iter().enumerate().map(|(at, value)| match self.coordinates.get(at) {
                    Some(coordinate) => format!("{coordinate}:{value:e}"),
                    None => format!("{value:e}"),
                }));
                out.extend_from_slice(words.join(" ").as_bytes());
                out.push(b'\n');
            }
        }
    }
}

/// Little-endian doubles.
pub(super) fn doubles(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes))
}

/// Appends them.
fn write_doubles(values: &[f64], out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + 8 * values.len(), 0);
    for (bytes, value) in out[begin..].as_chunks_mut().0.iter_mut().zip(values) {
        *bytes = value.to_le_bytes();
    }
}

/// Appends the frame that sets w.
pub(super) fn write_w(w: &[f64], numbers: Numbers, out: &mut Vec<u8>) {
    out.extend_from_slice(b"w\n");
    match numbers {
        Numbers::Binary => write_doubles(w, out),
        Numbers::Text => {
            let words: Vec<String> = w.iter().map(|value| format!("{value:e}")).collect();
            out.extend_from_slice(words.join(" ").as_bytes());
            out.push(b'\n');
        }
    }
}

/// What is asked of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The oracle's plane at w.
    Call,
    /// The same, off the clock, with a bound if the program has one.
    Certify,
    /// The plane of the ground truth.
    Truth,
}

impl Question {
    /// The first word of its line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Certify => "certify",
            Self::Truth => "truth",
        }
    }
}

/// Appends the line that asks this of these terms.
pub(super) fn write_question(question: Question, terms: impl Iterator<Item = usize>, out: &mut Vec<u8>) {
    out.extend_from_slice(question.word().as_bytes());
    for term in terms {
        out.push(b' ');
        out.extend_from_slice(term.to_string().as_bytes());
    }
    out.push(b'\n');
}

/// Appends an echo of so many bytes.
pub(super) fn write_echo(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("echo {length}\n").as_bytes());
    out.resize(out.len() + length - 1, b'.');
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], numbers: Numbers, d: usize) -> Result<Answer, String> {
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("no line")?;
        let head = Head::parse(std::str::from_utf8(&bytes[..end]).map_err(|e| e.to_string())?, d)?;
        let payload = &bytes[end + 1..];
        if numbers == Numbers::Binary {
            assert_eq!(payload.len(), head.bytes());
        }
        let mut answer = Answer::default();
        answer.take(head, payload, numbers, d).map(|()| answer)
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
            for numbers in [Numbers::Text, Numbers::Binary] {
                let mut bytes = Vec::new();
                answer.write(numbers, &mut bytes);
                assert_eq!(read(&bytes, numbers, 10).unwrap(), answer);
            }
        }
    }

    #[test]
    fn wrong_answers_are_named() {
        for (text, expected) in [
            ("plan 0 dense 3\n0 1 2 3\n", "expected 'plane"),
            ("plane x dense 3\n0 1 2 3\n", "term is no whole number"),
            ("plane 0 thick 3\n0 1 2 3\n", "dense or sparse"),
            ("plane 0 dense 2\n0 1 2\n", "2 values in a dense plane, d is 3"),
            ("plane 0 sparse 4\n0 1 2\n", "4 values, d is 3"),
            ("plane 0 dense 3\n0 1 2\n", "2 values instead of 3"),
            ("plane 0 dense 3\n0 1 2 3 4\n", "4 values instead of 3"),
            ("plane 0 dense 3\n0 1 nan 3\n", "NaN at coordinate 1"),
            ("plane 0 dense 3\ninf 1 2 3\n", "the offset inf"),
            ("plane 0 sparse 1 bound\n0 inf 2:1\n", "the bound inf"),
            ("plane 0 sparse 1\n0 3:1\n", "coordinate 3, d is 3"),
            ("plane 0 sparse 2\n0 1:1 1:1\n", "coordinate 1 after 1"),
            ("plane 0 sparse 1\n0 1=1\n", "no coordinate:value"),
            ("plane 0 dense 3\n\n", "no offset"),
            ("plane 0 dense 3 colour=red\n0 1 2 3\n", "'colour=red' is unknown"),
            ("error out of memory\n", "gave up: out of memory"),
        ] {
            let error = read(text.as_bytes(), Numbers::Text, 3).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
