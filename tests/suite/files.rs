//! Data files of users: valid ones are read correctly, invalid ones give an error that names file and line.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common;
use assert_cmd::Command;
use ssvm::data::multiclass::{FeatureRow, Features};
use ssvm_bench::dataset::{Description, libsvm};
use ssvm_bench::{
    Budget, Cadence, Catalog, ClockKind, DataDir, Execution, Harness, Quiet, Request, RunSettings, SolverSpec,
};

fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn open(name: &str, data: &DataDir) -> Result<Description, String> {
    let opened = Harness::standard().open(&Request::new(name, data));
    opened.map(|opened| opened.description).map_err(|error| error.to_string())
}

/// What is wrong with a file.
fn refused(kind: &str, path: &Path) -> String {
    let opened = open(&format!("{kind}:{}", path.display()), &DataDir::resolve(None));
    opened.expect_err("a bad file must be refused")
}

fn letter_line(id: usize, letter: &str, next: i64, word: usize, position: usize, pixels: &str) -> String {
    format!("{id}\t{letter}\t{next}\t{word}\t{position}\t0\t{pixels}\t\n")
}

#[test]
fn libsvm_in_three_packings() {
    let folder = tempfile::tempdir().unwrap();
    let text = b"3 1:0.5 4:-2e-1 # a comment\n-1 2:1\n\n3 3:7\n10 1:1 2:1 3:1 4:1\n";
    for (name, bytes) in [("a.txt", text.to_vec()), ("a.gz", gzip(text)), ("a.bz2", bzip(text))] {
        let path = write(folder.path(), name, &bytes);
        let data = libsvm::read(&path).unwrap().data;
        assert_eq!((data.len(), data.dim, data.num_labels), (4, 4, 3));
        assert_eq!(data.labels, [1, 0, 1, 2]);
        assert_eq!(data.label_names, ["-1", "3", "10"]);
        assert!(matches!(data.row(0), FeatureRow::Dense([0.5, 0.0, 0.0, -0.2])));
        let size = open(&format!("libsvm:{}", path.display()), &DataDir::resolve(None)).unwrap().size;
        assert_eq!((size.n, size.d), (4, 12));
    }
    let wide = "1 1:1\n2 100000:2\n";
    let read = libsvm::read(&write(folder.path(), "wide", wide.as_bytes())).unwrap();
    assert!(matches!(read.data.features, Features::Sparse { .. }));
    assert_eq!((read.data.dim, read.ids), (100_000, None), "few weights are as they were");
}

#[test]
fn bad_files_name_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let ones = "1\t".repeat(128);
    let good = letter_line(1, "a", -1, 1, 1, ones.trim_end());
    let mut broken = gzip(&good.repeat(2000).into_bytes());
    broken.truncate(broken.len() / 2);
    let mut flipped = gzip(&good.repeat(2000).into_bytes());
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("libsvm", b"".to_vec(), "no example"),
        ("libsvm", b"1 1:1\n1 1:2\n".to_vec(), "same label"),
        ("libsvm", b"1 1:1\n2 1:nan\n".to_vec(), ":2: value of feature 1"),
        ("libsvm", b"1 1:1\n2 1:inf\n".to_vec(), ":2: value of feature 1"),
        ("libsvm", b"1 1:1\n2 1;4\n".to_vec(), ":2: '1;4' is not index:value"),
        ("libsvm", b"1 2:1 1:1\n".to_vec(), ":1: feature index 1 after 2"),
        ("libsvm", b"1 0:1\n".to_vec(), ":1: feature index 0, expected 1..268435456; indices count from 1"),
        ("libsvm", b"1 1:1\n1.5 1:2\n".to_vec(), ":2: label 1.5 is not a whole number"),
        ("libsvm", b"x 1:1\n".to_vec(), ":1: label 'x' is not a number"),
        ("libsvm", b"1:1 2:1\n".to_vec(), ":1: starts with '1:1'"),
        ("libsvm", b"1 1:1\n\xff\xfe\n".to_vec(), ":2: is not text"),
        ("letters", b"".to_vec(), "empty"),
        ("letters", letter_line(1, "a", -1, 1, 1, "1\t0").into_bytes(), ":1: 2 pixels, expected 128"),
        ("letters", letter_line(1, "A", -1, 1, 1, &ones).into_bytes(), ":1: letter 'A'"),
        ("letters", letter_line(1, "a", -1, 1, 1, &ones.replace("1\t1", "1\t2")).into_bytes(), ":1: pixel 1 is '2'"),
        ("letters", letter_line(1, "a", 2, 1, 1, ones.trim_end()).into_bytes(), ":1: the file ends inside a word"),
        ("letters", letter_line(1, "a", -1, 1, 2, ones.trim_end()).into_bytes(), ":1: position 2, expected 1"),
        (
            "letters",
            (letter_line(1, "a", 2, 1, 1, ones.trim_end()) + &letter_line(2, "b", -1, 7, 2, ones.trim_end()))
                .into_bytes(),
            ":2: word_id 7 inside word 1",
        ),
        ("letters", b"1\ta\t-1\n".to_vec(), ":1: 3 tab-separated fields"),
        ("letters", broken, "damaged or cut short"),
        ("letters", flipped, "letters-"),
        ("graph", b"not a zip".to_vec(), "graph-"),
    ];
    for (at, (kind, bytes, expected)) in cases.into_iter().enumerate() {
        let path = write(folder.path(), &format!("{kind}-{at}"), &bytes);
        let message = refused(kind, &path);
        assert!(message.contains(expected), "case {at}: '{message}' does not contain '{expected}'");
        assert!(message.contains(&path.display().to_string()), "case {at}: '{message}' does not name the file");
    }
    assert!(refused("libsvm", &folder.path().join("nowhere")).contains("nowhere"));
    assert!(refused("libsvm", folder.path()).contains("is a folder"));
}

/// A line without end must not fill the memory, and neither must 100 MiB that are packed into little.
#[test]
fn endless_lines_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "long.gz", &gzip(&vec![b'1'; 100 << 20]));
    assert!(refused("libsvm", &path).contains("unpacks to more than 16 MiB"));
    let path = write(folder.path(), "long", &vec![b'1'; (64 << 20) + 1]);
    assert!(refused("libsvm", &path).contains("line longer than 64 MiB"));
}

#[test]
fn official_usps_layout_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("usps")).unwrap();
    let row = |label: &str, count: usize| format!("{label} {}\n", vec!["-0.5"; count].join(" "));
    for (text, expected) in [
        (row("6.0000", 256) + &row("12", 256), ":2: label 12 is not a digit"),
        (row("6.0000", 255), ":1: 255 values after the label"),
        (row("6.0000", 256) + "\n", ":2: empty line"),
        (String::new(), "empty"),
    ] {
        write(&folder.path().join("usps"), "zip.train.gz", &gzip(text.as_bytes()));
        let opened = open("usps~accepted", &DataDir::resolve(Some(folder.path())));
        let message = opened.expect_err("a bad file");
        assert!(message.contains(expected), "'{message}' does not contain '{expected}'");
    }
}

#[test]
fn unknown_names_are_explained() {
    let dir = DataDir::resolve(None);
    let message = |name: &str| open(name, &dir).expect_err("unknown");
    assert!(message("usp-synth").contains("did you mean 'usps-synth'?"));
    assert!(message("usps-synth:m=3").contains("known: n, size, seed"));
    assert!(message("usps-synth:n=0").contains("must be a whole number from 1 to"));
    assert!(message("libsvm:").contains("needs a path"));
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| write(folder.path(), name, b"1 1:1\n2 1:2\n").display().to_string();
    let (digits, cuts) = (file("digits.txt"), file("cuts.npz"));
    assert!(message(&digits).contains(&format!("write libsvm:{digits}")), "{}", message(&digits));
    assert!(message(&cuts).contains(&format!("write graph:{cuts}")), "{}", message(&cuts));
}

/// A line can name any feature: what it costs is what it holds.
#[test]
fn features_that_no_example_has_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "huge", b"1 99999999:1\n2 3:4\n");
    let read = libsvm::read(&path).unwrap();
    assert_eq!((read.data.dim, read.ids.as_deref()), (2, Some(&[3, 99_999_999][..])));
    assert!(matches!(read.data.row(0), FeatureRow::Sparse([1], [1.0])));
    let description = open(&format!("libsvm:{}", path.display()), &DataDir::resolve(None)).unwrap();
    assert_eq!(description.size.d, 4);
    assert!(description.run_bytes < 10_000, "{}", description.run_bytes);
    // The same problem with small ids, down to the last bit.
    let small = write(folder.path(), "small", b"1 2:1\n2 1:4\n");
    let weights = |path: &Path| {
        let output = Command::cargo_bin("ssvm-bench")
            .unwrap()
            .current_dir(folder.path())
            .args([
                "solve",
                "--solver",
                "bcfw",
                "--iterations",
                "5",
                "--clock",
                "virtual",
                "--save-weights",
                "w.npy",
                "--dataset",
            ])
            .arg(format!("libsvm:{}", path.display()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read(folder.path().join("w.npy")).unwrap()
    };
    assert_eq!(weights(&small), weights(&path));
    let ids = std::fs::read(folder.path().join("w.features.npy")).unwrap();
    assert_eq!(ids[ids.len() - 8..], [3u32.to_le_bytes(), 99_999_999u32.to_le_bytes()].concat());
}

/// A made-up file in the place of the official one is refused, or used under a name that no claim knows.
#[test]
fn another_file_is_not_usps() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("usps")).unwrap();
    let row = |label: usize| format!("{label} {}\n", vec![format!("0.{label}"); 256].join(" "));
    let rows: String = (0..12).map(|i| row(i % 10)).collect();
    write(&folder.path().join("usps"), "zip.train.gz", &gzip(rows.as_bytes()));
    let config = "name = \"u\"\nclock = \"virtual\"\n[budget]\niterations = 2\n[[dataset]]\nname = \"usps\"\n\
                  [[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n";
    write(folder.path(), "c.toml", config.as_bytes());
    let bench = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("ssvm-bench").unwrap();
        let output = command.current_dir(folder.path()).args(["--data-dir", "."]).args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let solve = ["solve", "--dataset", "usps", "--solver", "bcfw", "--iterations", "2", "--format", "json"];
    let run = ["run", "c.toml", "--out", "r", "--format", "json"];
    for command in [&solve[..], &run, &["run", "--dry-run", "c.toml"], &["data", "optimum", "usps"]] {
        let (code, _, error) = bench(command);
        assert_eq!(code, Some(1), "{command:?}: {error}");
        assert!(error.contains("is not the official file of usps") && error.contains("--accept-data"), "{error}");
    }
    let (code, printed, error) = bench(&[&solve[..], &["--accept-data"]].concat());
    assert!(code == Some(0) && printed.contains("\"dataset\":\"usps~accepted\""), "{printed}{error}");
    let (code, _, error) = bench(&[&run[..], &["--accept-data"]].concat());
    assert_eq!(code, Some(0), "{error}");
    assert!(
        error.contains("the file of usps is not the official one; its runs are stored as usps~accepted"),
        "{error}"
    );
    let (_, again, error) = bench(&[&run[..], &["--accept-data"]].concat());
    assert!(again.contains("\"already\":2"), "{again}{error}");
    let (code, claims, error) = bench(&["show", "r", "claims", "--format", "json"]);
    assert_eq!(code, Some(0), "{error}");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&claims).unwrap();
    let of = |name: &str| rows.iter().filter(|row| row["dataset"] == name).cloned().collect::<Vec<_>>();
    assert!(of("usps").is_empty() && of("USPS").iter().all(|row| row["verdict"] == "not-measured"), "{claims}");
    assert!(of("usps~accepted").iter().all(|row| row["title"] == "usps~accepted"), "{claims}");
    // There is nothing to accept where nothing is official.
    let (_, _, error) = bench(&["solve", "--dataset", "usps-synth~accepted", "--solver", "bcfw"]);
    assert!(error.contains("usps-synth has no official file"), "{error}");
}

/// A pipe gives its content once: the data and their identity come from one reading.
#[test]
fn data_from_a_pipe_have_the_identity_of_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, text) = (folder.path().join("pipe"), b"1 1:1\n2 2:1\n");
    let file = write(folder.path(), "file", text);
    common::trials::named_pipe(&pipe);
    let through = |bytes: &'static [u8]| {
        let writer = {
            let pipe = pipe.clone();
            std::thread::spawn(move || std::fs::write(pipe, bytes).unwrap())
        };
        let opened = open(&format!("libsvm:{}", pipe.display()), &DataDir::resolve(None));
        writer.join().unwrap();
        opened
    };
    let plain = open(&format!("libsvm:{}", file.display()), &DataDir::resolve(None)).unwrap();
    assert_eq!(through(text).unwrap(), plain);
    assert_ne!(through(b"1 1:1\n2 2:3\n").unwrap().checksum, plain.checksum);
    let error = through(b"1 1:x\n").unwrap_err();
    assert!(error.contains("pipe:1: value of feature 1"), "{error}");
}

/// The optimum of a small multiclass SVM by accelerated projected gradient on the whole dual: no code in common with
/// the solvers.
fn crammer_singer_optimum(x: &[Vec<f64>], labels: &[u32], k: usize, lambda: f64) -> (f64, f64) {
    let (n, p) = (x.len(), x[0].len());
    let weights = |alpha: &[Vec<f64>]| {
        let mut w = vec![vec![0.0; p]; k];
        for i in 0..n {
            for y in 0..k {
                let share = alpha[i][y] - f64::from(u8::from(y == labels[i] as usize));
                for f in 0..p {
                    w[y][f] -= share * x[i][f] / (lambda * n as f64);
                }
            }
        }
        w
    };
    let loss = |i: usize, y: usize| f64::from(u8::from(y != labels[i] as usize));
    let score = |w: &[f64], x: &[f64]| w.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    let mut alpha: Vec<Vec<f64>> =
        (0..n).map(|i| (0..k).map(|y| f64::from(u8::from(y == labels[i] as usize))).collect()).collect();
    let mut point = alpha.clone();
    let total: f64 = x.iter().map(|x| score(x, x)).sum();
    let step = lambda * (n * n) as f64 / (2.0 * total);
    let mut t = 1.0f64;
    for _ in 0..60_000 {
        let w = weights(&point);
        let next: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let moved: Vec<f64> =
                    (0..k).map(|y| point[i][y] + step * (score(&w[y], &x[i]) + loss(i, y)) / n as f64).collect();
                onto_simplex(&moved)
            })
            .collect();
        let t_next = 0.5 + (0.25 + t * t).sqrt();
        for i in 0..n {
            for y in 0..k {
                point[i][y] = next[i][y] + (t - 1.0) / t_next * (next[i][y] - alpha[i][y]);
            }
        }
        (alpha, t) = (next, t_next);
    }
    let w = weights(&alpha);
    let norm2: f64 = w.iter().map(|w| score(w, w)).sum();
    let dual: f64 = (0..n).map(|i| (0..k).map(|y| alpha[i][y] * loss(i, y)).sum::<f64>()).sum::<f64>() / n as f64
        - lambda / 2.0 * norm2;
    let hinge: f64 = (0..n)
        .map(|i| {
            let truth = score(&w[labels[i] as usize], &x[i]);
            (0..k).map(|y| score(&w[y], &x[i]) + loss(i, y) - truth).fold(f64::MIN, f64::max)
        })
        .sum();
    (dual, lambda / 2.0 * norm2 + hinge / n as f64)
}

fn onto_simplex(v: &[f64]) -> Vec<f64> {
    let mut sorted = v.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (j, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (j + 1) as f64;
        if value - candidate > 0.0 {
            shift = candidate;
        }
    }
    v.iter().map(|value| (value - shift).max(0.0)).collect()
}

#[test]
fn libsvm_optimum_agrees_with_an_independent_solver() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, sparse) in [(4, false), (5, true)] {
        let data = Arc::new(common::vectors(seed, 25, 5, 3, sparse));
        let mut text = String::new();
        let mut rows = Vec::new();
        for i in 0..data.len() {
            let mut dense = vec![0.0; data.dim];
            match data.row(i) {
                FeatureRow::Dense(x) => dense.copy_from_slice(x),
                FeatureRow::Sparse(indices, values) => {
                    indices.iter().zip(values).for_each(|(f, v)| dense[*f as usize] = *v);
                }
            }
            text += &data.labels[i].to_string();
            for (f, v) in dense.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                text += &format!(" {}:{v}", f + 1);
            }
            text += "\n";
            rows.push(dense);
        }
        let lambda = 0.05;
        let (low, high) = crammer_singer_optimum(&rows, &data.labels, 3, lambda);
        assert!(low <= high && high - low < 1e-6, "the independent solver did not converge: {low} {high}");
        let path = write(folder.path(), "small", text.as_bytes());
        let name = format!("libsvm:{}", path.display());
        let (harness, dir) = (Harness::standard(), DataDir::resolve(None));
        let request = Request { lambda: Some(lambda), ..Request::new(&name, &dir) };
        let problem = harness.open(&request).unwrap().problem;
        for info in harness.solvers() {
            let settings = RunSettings {
                solver: SolverSpec::new(info.name),
                seed: 1,
                clock: ClockKind::VIRTUAL,
                oracle_cost: ssvm_bench::OracleCost::ONE,
                budget: Budget { iterations: Some(4000), gap: Some(1e-5), ..Budget::default() },
                evaluate: Cadence::Every(5),
            };
            let outcome = problem.run(&settings, &Execution::default(), &mut Quiet).unwrap();
            for point in &outcome.points {
                assert!(point.dual <= high + 1e-12 && point.primal >= low - 1e-12, "{}: {point:?}", info.name);
            }
            // Frank–Wolfe steps, one a term and iteration, are slow near the optimum, whoever answers.
            let slow = ["bcfw-cache", "bcfw-gap-cache"].contains(&info.name);
            if info.planes.is_some() && !slow {
                let gap = outcome.points.last().unwrap().gap;
                assert!(gap <= 1e-5, "{} ended at a gap of {gap:e}", info.name);
            }
        }
    }
}
