//! The other end, for programs in Rust: a [`MaxOracle`] in, a program that speaks the protocol out.

use std::io::{self, BufRead, BufReader, Write};
use std::time::Instant;

use super::handshake::Handshake;
use super::protocol::Answer;
use ssvm::linalg::read_le;
use ssvm::problem::{MaxOracle, SparsePlane};

/// Answers on standard input and output until the input ends; `version` names data and code, and is part of the
/// identity of runs.
///
/// ```no_run
/// use ssvm_bench::dataset::program::serve;
/// # use ssvm_bench::{Fault, MaxOracle, SparsePlane};
/// # struct Mine;
/// # impl MaxOracle for Mine {
/// #     fn terms(&self) -> usize { 1 }
/// #     fn dim(&self) -> usize { 1 }
/// #     fn max_plane(&self, _: usize, _: &[f64], _: &mut SparsePlane) -> Result<u64, Fault> { Ok(1) }
/// # }
/// fn main() -> std::io::Result<()> {
///     serve(&Mine, "1")
/// }
/// ```
pub fn serve<O: MaxOracle>(oracle: &O, version: &str) -> io::Result<()> {
    serve_on(oracle, version, BufReader::with_capacity(1 << 16, io::stdin().lock()), io::stdout().lock())
}

/// [`serve`] on any two streams.
pub fn serve_on<O: MaxOracle>(
    oracle: &O,
    version: &str,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let (n, d) = (oracle.terms(), oracle.dim());
    let (lambda, version) = (Some(oracle.lambda()), version.to_owned());
    let handshake = Handshake { n, d, lambda, version, ..Handshake::empty() };
    output.write_all(handshake.lines().as_bytes())?;
    output.flush()?;
    let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let (mut line, mut bytes, mut out) = (String::new(), Vec::new(), Vec::new());
    let (mut w, mut plane, mut answer) = (vec![0.0; d], SparsePlane::default(), Answer::default());
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("ssvm-oracle") => {}
            Some("w") => {
                bytes.resize(8 * d, 0);
                input.read_exact(&mut bytes)?;
                read_le(&bytes, &mut w);
            }
            Some("echo") => {
                let length = words.next().and_then(|length| length.parse::<usize>().ok());
                bytes.resize(length.ok_or_else(|| wrong(format!("'{line}' has no length")))?, 0);
                input.read_exact(&mut bytes)?;
                output.write_all(line.as_bytes())?;
                output.write_all(&bytes)?;
                output.flush()?;
            }
            Some("call" | "certify") => {
                for word in words {
                    let term = word.parse().ok().filter(|term| *term < n);
                    let term = term.ok_or_else(|| wrong(format!("there is no term '{word}'")))?;
                    let began = Instant::now();
                    let operations =
                        oracle.max_plane(term, &w, &mut plane).map_err(|fault| wrong(fault.to_string()))?;
                    answer.ns = Some(began.elapsed().as_nanos() as u64);
                    (answer.term, answer.operations) = (term, Some(operations));
                    fill(&mut answer, &mut plane, d);
                    out.clear();
                    answer.write(&mut out);
                    output.write_all(&out)?;
                    output.flush()?;
                }
            }
            _ => return Err(wrong(format!("unknown request '{}'", line.trim_end()))),
        }
    }
}

/// Sparse while that is shorter.
fn fill(answer: &mut Answer, plane: &mut SparsePlane, d: usize) {
    plane.entries.sort_unstable_by_key(|(at, _)| *at);
    answer.offset = plane.offset;
    answer.dense = 12 * plane.entries.len() > 8 * d;
    answer.coordinates.clear();
    answer.values.clear();
    if answer.dense {
        answer.values.resize(d, 0.0);
        plane.entries.iter().for_each(|(at, value)| answer.values[*at] = *value);
    } else {
        answer.coordinates.extend(plane.entries.iter().map(|(at, _)| *at as u32));
        answer.values.extend(plane.entries.iter().map(|(_, value)| *value));
    }
}
