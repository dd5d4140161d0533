//! Targets that are text: configs, baselines, stores of optima, manifests, data files, values of the command line.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use ssvm::settings::time_limit;
use ssvm_bench::dataset::libsvm;
use ssvm_bench::experiment::Experiment;
use ssvm_bench::gate::Baseline;
use ssvm_bench::store::folder::Store;
use ssvm_bench::store::{files, optimum};
use ssvm_bench::{Cadence, Catalog, ClockKind, DataDir, Harness, Request, SolverInfo, Until, text};

use super::dice::Dice;
use super::{Target, root, written};

type Standard = Harness<ssvm::solver::Standard, ssvm_bench::dataset::Standard>;
pub static HARNESS: LazyLock<Standard> = LazyLock::new(Harness::standard);

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn targets() -> Vec<Target> {
    vec![
        Target { name: "config", seeds: configs, make: config, read: read_config, ..Target::PLAIN },
        Target {
            name: "baseline",
            seeds: || vec![BASELINE.as_bytes().to_vec()],
            make: baseline,
            read: |_, bytes| Baseline::parse(Path::new("b"), &utf8(bytes)).is_ok(),
            ..Target::PLAIN
        },
        Target {
            name: "optima",
            seeds: || vec![root("results/optima.toml")],
            make: optima,
            read: |_, bytes| optimum::Optima::parse(Path::new("o"), &utf8(bytes)).is_ok(),
            ..Target::PLAIN
        },
        Target {
            name: "manifest",
            seeds: || vec![MANIFEST.as_bytes().to_vec()],
            make: manifest,
            read: |dir, bytes| {
                fs::write(dir.join("manifest.json"), bytes).unwrap();
                Store::open(dir).is_ok_and(|store| store.manifest().is_ok())
            },
            ..Target::PLAIN
        },
        Target {
            name: "libsvm",
            seeds: || vec![b"3 1:0.5 4:-2e-1 # a comment\n-1 2:1\n\n3 3:7\n10 1:1 2:1 3:1 4:1\n".to_vec()],
            make: libsvm_lines,
            read: |dir, bytes| libsvm::read(&written(dir, bytes)).is_ok(),
            ..Target::PLAIN
        },
        Target {
            name: "letters",
            seeds: || vec![letter(1, "a", 2, 1, 1, 128), letter(2, "b", -1, 1, 2, 128)],
            make: letters,
            read: |dir, bytes| open(&format!("letters:{}", written(dir, bytes).display()), dir),
            ..Target::PLAIN
        },
        Target {
            name: "usps",
            seeds: || vec![usps_line("6.0000", 256)],
            make: |dice| {
                (0..dice.below(4))
                    .flat_map(|_| {
                        let label = dice.number();
                        usps_line(&label, 255 + dice.below(3))
                    })
                    .collect()
            },
            read: |dir, bytes| {
                fs::create_dir_all(dir.join("usps")).unwrap();
                fs::write(dir.join("usps/zip.train"), bytes).unwrap();
                open("usps~accepted", dir)
            },
            ..Target::PLAIN
        },
        Target {
            name: "checksum",
            seeds: || vec![format!("{}  set.tar.gz\n", "0a".repeat(32)).into_bytes()],
            make: |dice| dice.word().into_bytes(),
            read: |dir, bytes| {
                fs::write(dir.join("x.sha256"), bytes).unwrap();
                files::recorded_sha256(&dir.join("x")).is_ok()
            },
            ..Target::PLAIN
        },
        Target {
            name: "values",
            seeds: values,
            make: |dice| (dice.word() + &dice.number()).into_bytes(),
            read: read_value,
            ..Target::PLAIN
        },
    ]
}

fn open(name: &str, dir: &Path) -> bool {
    HARNESS.open(&Request::new(name, &DataDir::resolve(Some(dir)))).is_ok()
}

fn configs() -> Vec<Vec<u8>> {
    ["configs/quick.toml", "configs/smoke.toml", "configs/league.toml", "examples/solver.toml"].map(root).to_vec()
}

fn read_config(_: &Path, bytes: &[u8]) -> bool {
    Experiment::parse(Path::new("c.toml"), &utf8(bytes), HARNESS.solvers()).is_ok()
}

fn toml_value(dice: &mut Dice) -> String {
    match dice.below(60) {
        // Parsers that go down into brackets have a stack to lose.
        7 => "[".repeat(20_000),
        8 => "{a=".repeat(20_000),
        0 => format!("\"{}\"", dice.word()),
        1 => format!("[{}, {}]", dice.number(), dice.number()),
        2 => "true".into(),
        3 => format!("\"{}\"", dice.pick(&["wall", "cpu", "virtual", "log", "every:3", "at:1,2", "every:0", "all"])),
        4 => format!("{{ a = {} }}", dice.number()),
        5..20 => format!("\"{}\"", dice.word()),
        _ => dice.number(),
    }
}

fn config(dice: &mut Dice) -> Vec<u8> {
    const TOP: [&str; 12] = [
        "name",
        "seed",
        "repeats",
        "clock",
        "evaluate",
        "jobs",
        "threads",
        "timeout_s",
        "probes",
        "gap_targets",
        "oracle_cost",
        "nmae",
    ];
    const BUDGET: [&str; 5] = ["iterations", "time_s", "oracle_calls", "gap", "until"];
    const SET: [&str; 5] = ["name", "lambda", "pairwise_weight", "else", "oracle_cost"];
    const SOLVER: [&str; 8] = ["name", "T", "N", "M", "tau", "lanes", "slope", "x"];
    let mut text = String::from("name = \"f\"\n");
    let keys = |dice: &mut Dice, keys: &[&str], text: &mut String| {
        // Most of them none: one wrong key ends a config.
        for _ in 0..dice.below(8).saturating_sub(5) {
            *text += &format!("{} = {}\n", keys[dice.below(keys.len())], toml_value(dice));
        }
    };
    keys(dice, &TOP[1..], &mut text);
    text += "[budget]\niterations = 3\n";
    keys(dice, &BUDGET[1..], &mut text);
    for _ in 0..=dice.below(2) {
        text += "[[dataset]]\n";
        if dice.once_in(8) {
            keys(dice, &SET, &mut text);
        } else {
            text += &format!("name = \"usps-synth:n={}\"\n", dice.next() % 999);
            keys(dice, &SET[1..], &mut text);
        }
        if dice.once_in(3) {
            text += "[dataset.budget]\n";
            keys(dice, &BUDGET, &mut text);
        }
    }
    for _ in 0..=dice.below(2) {
        text +=
            &format!("[[solver]]\nname = \"{}\"\n", dice.pick(&["fw", "bcfw", "mp-bcfw", "mp-bcfw-gap", "*", "ssg"]));
        keys(dice, &SOLVER[1..], &mut text);
    }
    text.into_bytes()
}

/// Everything that lines can have.
const BASELINE: &str = r#"format = 2

[provenance]
config = "ci"
code = "c"
commit = "d"
rustc = "r"
flags = ""
cost_model = 1

[counters]
inputs = [
  { dataset = "usps-synth:n=3", solver = { name = "mp-bcfw", params = { T = 5 } }, oracle_cost = 16.0, inputs = ["0", "1"] },
]
values = [
  { dataset = "usps-synth:n=3", solver = { name = "mp-bcfw", params = { T = 5 } }, oracle_cost = 16.0, gap = 0.3, column = "time_s", values = [1.5, 2] },
  { dataset = "usps-synth:n=3", solver = { name = "mp-bcfw", params = { T = 5 } }, oracle_cost = 16.0, column = "dual", values = [-1e-3, 0] },
]

[instructions.provenance]
config = "solve"
code = "c"
commit = "d"
rustc = "r"
flags = ""
cost_model = 1
cpu = "avx2"
valgrind = "v"

[instructions]
counts = [
  { dataset = "usps-synth:n=3", solver = { name = "bcfw" }, count = 7 },
]
"#;

fn baseline(dice: &mut Dice) -> Vec<u8> {
    let mut text = format!(
        "format = {}\n[provenance]\nconfig = \"ci\"\ncode = \"c\"\ncommit = \"d\"\nrustc = \"r\"\nflags = \"\"\ncost_model = 1\n[counters]\n\
         inputs = [\n",
        if dice.once_in(9) { dice.number() } else { "2".into() }
    );
    let cells = [
        "dataset = \"usps-synth\", solver = { name = \"bcfw\" }",
        "dataset = \"usps-synth\", solver = { name = \"mp-bcfw\", params = { T = 5 } }",
        "dataset = \"a/b\", solver = { name = \"fw\" }, oracle_cost = 16",
        "dataset = \"\", solver = { name = \"\" }",
        "dataset = \"x\"",
    ];
    for cell in &cells[..=dice.below(4)] {
        text += &format!("{{ {cell}, inputs = [\"00\", \"{}\"] }},\n", dice.below(9));
    }
    text += "]\nvalues = [\n";
    for _ in 0..dice.below(6) {
        let (cell, gap) = (dice.pick(&cells), dice.number());
        let column = dice.pick(&["oracle_calls", "dual", "gap", "time", "end", ""]);
        let values = [dice.number(), dice.number()].join(", ");
        text += &format!("{{ {cell}, gap = {gap}, column = \"{column}\", values = [{values}] }},\n");
    }
    text += "]\n";
    text.into_bytes()
}

fn optima(dice: &mut Dice) -> Vec<u8> {
    let entry = |dice: &mut Dice| {
        format!(
            "[[optimum]]\ndataset = \"{}\"\nchecksum = \"{}\"\nlambda = {}\nlower = {}\nupper = {}\nsolver = \"s\"\ncode = \"c\"\n",
            dice.pick(&["usps", "a/b", ""]),
            dice.below(3),
            dice.number(),
            dice.number(),
            dice.number()
        )
    };
    (0..dice.below(4)).map(|_| entry(dice)).collect::<String>().into_bytes()
}

const MANIFEST: &str = r#"{"schema_version": 4, "configs": [{"name": "n", "sha256": "s", "text": "t"}], "sessions": [{"config":
"s", "started_unix_s": 1, "ended_unix_s": null, "jobs": 2, "isolated": false, "code": {"version": "v", "commit": "c", "rustc":
"r", "flags": "f"}, "host": {"name": "h", "cpu": "c", "cores": 2, "threads_per_core": 1, "memory": 5, "os": "o", "governor":
""}, "finished": 1, "failed": 0}], "interference": [{"dataset": "d", "solver": "s", "jobs": 2, "ratio": 1.0, "low": 1.0,
"high": 1.1, "probes": 3, "ratios": [1.0]}]}"#;

fn manifest(dice: &mut Dice) -> Vec<u8> {
    let nested = "[".repeat(dice.below(400));
    let value = match dice.below(4) {
        0 => nested,
        1 => dice.number(),
        2 => format!("{{\"schema_version\": {}}}", dice.whole()),
        _ => format!("{:?}", dice.word()),
    };
    let keys = ["\"configs\": [", "\"jobs\": ", "\"ratio\": ", "\"schema_version\": "];
    let key = dice.pick(&keys);
    MANIFEST.replacen(key, &format!("{key}{value}, "), 1).into_bytes()
}

fn libsvm_lines(dice: &mut Dice) -> Vec<u8> {
    let line = |dice: &mut Dice| {
        let label = if dice.once_in(6) { dice.number() } else { dice.below(4).to_string() };
        let mut at = 0;
        let fields: String = (0..dice.below(5))
            .map(|_| {
                at += 1 + dice.below(3) as u64;
                let index = if dice.once_in(12) { dice.whole() } else { at };
                let value = if dice.once_in(8) { dice.number() } else { dice.below(9).to_string() };
                format!(" {index}:{value}")
            })
            .collect();
        format!("{label}{fields}\n")
    };
    (0..2 + dice.below(12)).map(|_| line(dice)).collect::<String>().into_bytes()
}

fn letter(id: usize, letter: &str, next: i64, word: usize, position: usize, pixels: usize) -> Vec<u8> {
    format!("{id}\t{letter}\t{next}\t{word}\t{position}\t0\t{}\t\n", vec!["1"; pixels].join("\t")).into_bytes()
}

fn letters(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in 0..=dice.below(3) {
        let length = 1 + dice.below(4);
        for position in 1..=length {
            let next = if position == length { -1 } else { position as i64 };
            let next = if dice.once_in(20) { dice.whole() as i64 } else { next };
            let pixels = if dice.once_in(20) { dice.below(140) } else { 128 };
            bytes.extend(letter(position, dice.pick(&["a", "b", "z"]), next, word, position, pixels));
        }
    }
    bytes
}

fn usps_line(label: &str, count: usize) -> Vec<u8> {
    format!("{label} {}\n", vec!["-0.5"; count].join(" ")).into_bytes()
}

fn values() -> Vec<Vec<u8>> {
    [
        "every:3",
        "at:1,2,5",
        "log",
        "wall",
        "all",
        "usps-synth:n=3,size=4",
        "letters:a,b/c.gz,fold=3",
        "usps*/mp-?",
        "1e300",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn read_value(dir: &Path, bytes: &[u8]) -> bool {
    let value = utf8(bytes);
    let data = DataDir::resolve(Some(dir));
    let request = Request::new(&value, &data);
    let described = HARNESS.describe(&request).is_ok();
    let solver = SolverInfo::find(HARNESS.solvers(), &value).is_ok();
    for info in HARNESS.solvers().iter().take(6) {
        for param in info.params {
            let _ = info.spec(&[(param.key, value.clone())], HARNESS.solvers());
        }
    }
    let fits = text::Pattern::new(&value).is_ok_and(|pattern| pattern.matches("usps-synth:n=9/mp-bcfw (T=5)"));
    let cadence = value.parse::<Cadence>();
    if let Ok(cadence) = &cadence {
        let _ = cadence.due(1 << 40);
    }
    let limit = value.parse::<f64>().is_ok_and(|seconds| time_limit(seconds).is_ok());
    let _ = (text::printable(&value), text::escape(&value), text::nearest(&value, ["usps", "fw"]));
    cadence.is_ok()
        || value.parse::<ClockKind>().is_ok()
        || value.parse::<Until>().is_ok()
        || fits
        || limit
        || solver
        || described
}
