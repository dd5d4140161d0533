//! The programs that the tests start: this test binary, called with `serve`. Healthy oracles, and every way to misbehave.

use std::io::{self, BufReader, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ssvm::data::MulticlassData;
use ssvm::data::multiclass::Features;
use ssvm::problem::MulticlassProblem;
use ssvm_bench::dataset::program::serve_on;
use ssvm_bench::dataset::synth;
use ssvm_bench::dataset::twin::{Twin, TwinKind};
use ssvm_bench::{MaxOracle, Problem, SparsePlane};

/// USPS-like vectors.
pub fn synthetic(n: usize) -> MulticlassProblem {
    let data = synth::usps(&Twin { kind: TwinKind::Usps, n, size: 256, seed: 1 });
    MulticlassProblem::new(Arc::new(data), 1.0 / n as f64)
}

/// The official file: a label and 256 values a line.
pub fn official(path: &str) -> MulticlassProblem {
    let mut text = String::new();
    let mut file = ssvm_bench::store::files::open_content(path.as_ref()).expect("the official file");
    io::Read::read_to_string(&mut file, &mut text).expect("text");
    let (mut labels, mut values) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut numbers = line.split_ascii_whitespace().map(|word| word.parse::<f64>().expect("a number"));
        labels.push(numbers.next().expect("a label") as u32);
        values.extend(numbers);
    }
    let n = labels.len();
    let label_names = (0..10).map(|label| label.to_string()).collect();
    let data = MulticlassData { num_labels: 10, dim: 256, labels, label_names, features: Features::Dense(values) };
    MulticlassProblem::new(Arc::new(data), 1.0 / n as f64)
}

/// A problem of the crate as the oracle of a program; `spoil` may change its planes.
struct Served<P: Problem> {
    problem: P,
    memory: Mutex<(P::Work, P::Plane, u64)>,
    spoil: fn(u64, &mut SparsePlane),
}

impl<P: Problem> Served<P> {
    fn new(problem: P, spoil: fn(u64, &mut SparsePlane)) -> Self {
        let memory = Mutex::new((problem.work(), P::Plane::default(), 0));
        Self { problem, memory, spoil }
    }
}

impl<P: Problem> MaxOracle for Served<P> {
    fn terms(&self) -> usize {
        self.problem.terms()
    }

    fn dim(&self) -> usize {
        self.problem.dim()
    }

    fn lambda(&self) -> f64 {
        self.problem.lambda()
    }

    fn max_plane(&self, i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, ssvm_bench::Fault> {
        let (work, hat, calls) = &mut *self.memory.lock().expect("one thread");
        let operations = self.problem.oracle(i, w, work, hat)?;
        let mut dense = vec![0.0; self.dim()];
        plane.offset = self.problem.add_plane(i, hat, 1.0, &mut dense);
        plane.entries = dense.into_iter().enumerate().filter(|(_, value)| *value != 0.0).collect();
        *calls += 1;
        (self.spoil)(*calls, plane);
        Ok(operations)
    }
}

/// No cost at all: always the same full plane.
struct Nothing {
    d: usize,
}

impl MaxOracle for Nothing {
    fn terms(&self) -> usize {
        4
    }

    fn dim(&self) -> usize {
        self.d
    }

    fn max_plane(&self, _i: usize, _w: &[f64], plane: &mut SparsePlane) -> Result<u64, ssvm_bench::Fault> {
        if plane.entries.is_empty() {
            plane.entries.extend((0..self.d).map(|at| (at, 1e-3)));
        }
        plane.offset = 1.0;
        Ok(1)
    }
}

/// Faults in answers, with what their record must say.
pub const FAULTS: &[(&str, &str)] = &[
    ("die", "exit code 3"),
    ("abort", "SIGABRT"),
    ("hang", "within its time limit"),
    ("half", "within its time limit"),
    ("half-die", "exit code 4"),
    ("close", "closed its pipes"),
    ("nan", "the offset NaN"),
    ("infinite", "inf at coordinate"),
    ("short", "2 values in a dense plane"),
    ("long", "values, d is"),
    ("outside", "d is"),
    ("descending", "coordinates must ascend"),
    ("other", "answered for term"),
    // The second answer is seen before the next request, or in place of its answer.
    ("twice", "answered for term|sent output before any request"),
    ("words", "standard output belongs to the protocol"),
    ("bytes", "expected 'plane"),
    ("unknown", "'colour=red' is unknown"),
    ("error", "no memory left"),
    ("flood", "bytes to standard error"),
    ("endless", "a line of more than"),
    ("child", "exit code 5"),
];

/// Faults before the first answer.
pub const BAD_HELLOS: &[(&str, &str)] = &[
    ("hello-version", "speaks version '9'"),
    ("hello-words", "is not an oracle program"),
    ("hello-hang", "within its time limit"),
    ("hello-die", "exit code 6"),
    ("hello-no-d", "no line 'd'"),
    ("hello-n", "number of terms"),
    ("hello-key", "did you mean 'lambda'?"),
    ("hello-error", "reported an error when asked for its handshake: no such data"),
    ("hello-text", "numbers as text are no longer read"),
    ("hello-silent", "numbers as text are no longer read"),
];

/// A writer that spoils one answer.
struct Saboteur<'f, W> {
    out: W,
    fault: &'f str,
    left: u64,
}

fn forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

impl<W: Write> Saboteur<'_, W> {
    fn frame(&mut self, line: &str, payload: &[u8]) -> io::Result<()> {
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(payload)?;
        self.out.flush()
    }

    fn misbehave(&mut self, answer: &[u8]) -> io::Result<()> {
        let term: String =
            answer[6..].iter().take_while(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
        eprintln!("last words of {}", self.fault);
        let doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        match self.fault {
            "die" => std::process::exit(3),
            "abort" => std::process::abort(),
            "hang" => forever(),
            "half" => {
                self.frame("", &answer[..answer.len() / 2])?;
                forever()
            }
            "half-die" => {
                self.frame("", &answer[..answer.len() / 2])?;
                std::process::exit(4)
            }
            "close" => {
                // The only way to close it without unsafe code: a shell that takes our place.
                use std::os::unix::process::CommandExt;
                Err(std::process::Command::new("sh").args(["-c", "exec >&- 2>&-; sleep 98765"]).exec())
            }
            "nan" => self.frame(&format!("plane {term} sparse 0\n"), &doubles(&[f64::NAN])),
            "infinite" => {
                let payload = [doubles(&[0.0]), 1u32.to_le_bytes().to_vec(), doubles(&[f64::INFINITY])].concat();
                self.frame(&format!("plane {term} sparse 1\n"), &payload)
            }
            "short" => self.frame(&format!("plane {term} dense 2\n"), &doubles(&[0.0; 3])),
            "long" => self.frame(&format!("plane {term} sparse 1000000\n"), &doubles(&[0.0; 3])),
            "outside" => {
                let payload = [doubles(&[0.0]), 900_000_u32.to_le_bytes().to_vec(), doubles(&[1.0])].concat();
                self.frame(&format!("plane {term} sparse 1\n"), &payload)
            }
            "descending" => {
                let at = [5u32, 4].map(u32::to_le_bytes).concat();
                self.frame(&format!("plane {term} sparse 2\n"), &[doubles(&[0.0]), at, doubles(&[1.0, 1.0])].concat())
            }
            "other" => self.frame(&format!("plane {} sparse 0\n", term.len() + 77), &doubles(&[0.0])),
            "twice" => {
                self.frame("", answer)?;
                self.frame(&format!("plane {} sparse 0\n", 77), &doubles(&[0.0]))
            }
            "words" => self.frame("I would rather not\n", &[]),
            "bytes" => self.frame("", &[&[0xff, 0, 0xfe, 7][..], b"\n"].concat()),
            "unknown" => self.frame(&format!("plane {term} sparse 0 colour=red\n"), &doubles(&[0.0])),
            "error" => self.frame("error no memory left\n", &[]),
            "flood" => loop {
                io::stderr().write_all(&[b'!'; 4096])?;
            },
            "endless" => loop {
                self.frame("", &[b'.'; 4096])?;
            },
            "child" => {
                // Another process keeps all pipes open.
                std::process::Command::new("sleep").arg("98765").spawn()?;
                std::process::exit(5)
            }
            other => panic!("unknown fault {other}"),
        }
    }
}

impl<W: Write> Write for Saboteur<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.starts_with(b"plane ") {
            self.left = self.left.wrapping_sub(1);
            if self.left == 0 {
                self.misbehave(bytes)?;
                return Ok(bytes.len());
            }
        }
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn bad_hello(fault: &str) -> io::Result<()> {
    let text = match fault {
        "hello-version" => "ssvm-oracle 9\nn 3\nd 3\nready\n",
        "hello-words" => "Hello, world\n",
        "hello-hang" => "ssvm-oracle 1\nn 3\n",
        "hello-no-d" => "ssvm-oracle 1\nn 3\nready\n",
        "hello-n" => "ssvm-oracle 1\nn many\n",
        "hello-key" => "ssvm-oracle 1\nlamda 3\n",
        "hello-text" => "ssvm-oracle 1\nn 3\nd 3\nnumbers text\nready\n",
        // Without the line a program used to send text.
        "hello-silent" => "ssvm-oracle 1\nn 3\nd 3\nready\n",
        "hello-error" => "ssvm-oracle 1\nerror no such data\n",
        _ => "",
    };
    eprintln!("last words of {fault}");
    io::stdout().write_all(text.as_bytes())?;
    io::stdout().flush()?;
    if fault == "hello-die" {
        std::process::exit(6);
    }
    forever()
}

/// The program itself: `serve WHAT ARGUMENT`.
pub fn main(arguments: &[String]) -> io::Result<()> {
    let what = arguments.first().map_or("", String::as_str);
    let argument = arguments.get(1).map_or("", String::as_str);
    let count = || argument.parse().unwrap_or(20);
    let input = || BufReader::with_capacity(1 << 16, io::stdin().lock());
    let honest: fn(u64, &mut SparsePlane) = |_, _| ();
    match what {
        "usps" => serve_on(&Served::new(synthetic(count()), honest), "test", input(), io::stdout().lock()),
        "official" => serve_on(&Served::new(official(argument), honest), "test", input(), io::stdout().lock()),
        "nothing" => serve_on(&Nothing { d: count() }, "test", input(), io::stdout().lock()),
        "forgetful" => {
            // Every third answer is the truth's plane.
            let spoil: fn(u64, &mut SparsePlane) = |calls, plane| {
                if calls.is_multiple_of(3) {
                    *plane = SparsePlane::default();
                }
            };
            serve_on(&Served::new(synthetic(count()), spoil), "test", input(), io::stdout().lock())
        }
        "negative" => {
            let spoil: fn(u64, &mut SparsePlane) = |_, plane| plane.offset -= 1.0;
            serve_on(&Served::new(synthetic(count()), spoil), "test", input(), io::stdout().lock())
        }
        hello if hello.starts_with("hello-") => bad_hello(hello),
        fault => {
            // Some call: the number of the process is as good as a die.
            let left = 1 + u64::from(std::process::id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 70;
            let out = Saboteur { out: io::stdout().lock(), fault, left };
            serve_on(&Served::new(synthetic(20), honest), "test", input(), out)
        }
    }
}
