//! Targets of result folders: files of runs whose digests are right, and records with numbers that no run has, all the
//! way to the page.

use std::fs;
use std::path::Path;

use ssvm_bench::store::codec;
use ssvm_bench::store::files;
use ssvm_bench::store::folder::{Contents, Folder, Store};
use ssvm_bench::store::manifest::Manifest;
use ssvm_bench::store::{RunRecord, Status};
use ssvm_bench::study::Study;

use super::dice::Dice;
use super::texts::HARNESS;
use super::{SLOW, Target};
use crate::common::hand;

pub fn targets() -> Vec<Target> {
    vec![
        Target {
            name: "record",
            seeds: || vec![record(&mut Dice::new(1))],
            make: record,
            mend: signed,
            read: read_record,
            ..Target::PLAIN
        },
        Target {
            name: "page",
            make: |dice| dice.next().to_le_bytes().to_vec(),
            read: read_page,
            share: 5,
            patience: 30 * SLOW,
            ..Target::PLAIN
        },
    ]
}

const MARK: &[u8] = b"ssvm.sha256\x18\x40";

/// With the digest that its content has.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let place = bytes.windows(MARK.len()).rposition(|window| window == MARK).map(|at| at + MARK.len());
    if let Some(at) = place.filter(|at| at + 64 <= bytes.len()) {
        bytes[at..at + 64].fill(b'0');
        let digest = files::sha256_hex(&bytes);
        bytes[at..at + 64].copy_from_slice(digest.as_bytes());
    }
    bytes
}

fn some_run(dice: &mut Dice) -> RunRecord {
    let points = (1..=dice.below(4) as u64).map(|k| hand::point(k, k as f64, 1.0 / k as f64, 0.0)).collect();
    hand::run("usps-synth:n=9", dice.pick(&["fw", "mp-bcfw"]), dice.below(3) as u64, points)
}

fn record(dice: &mut Dice) -> Vec<u8> {
    codec::encode(&some_run(dice)).unwrap()
}

/// The file under the only name that its content may have.
fn read_record(dir: &Path, bytes: &[u8]) -> bool {
    let runs = dir.join("runs");
    fs::create_dir_all(&runs).unwrap();
    fs::write(runs.join("0123456789abcdef0123.parquet"), bytes).unwrap();
    let contents = Store::open(dir).unwrap().scan(Folder::Runs);
    // A decoder that panics is caught there; what it accepts goes on to code that is not.
    let decoded = ssvm_bench::store::panics::catch(|| codec::decode(Path::new("x"), bytes.to_vec()));
    let accepted = decoded.is_ok_and(|decoded| {
        decoded.is_ok_and(|record| {
            let _ = (record.measured.oracle_ns.histogram(), record.measured.approx_ns.histogram());
            let _ = (record.label(), record.cell(), record.run_id());
            true
        })
    });
    contents.is_ok_and(|contents| contents.records.len() + contents.damaged.len() == 1) && accepted
}

/// A folder of records with extreme numbers; the input is a seed.
fn read_page(_: &Path, bytes: &[u8]) -> bool {
    let seed = bytes.iter().fold(0u64, |seed, byte| seed.wrapping_mul(257).wrapping_add(u64::from(*byte)));
    let mut dice = Dice::new(seed);
    let mut records = hand::demo(&["usps-synth:n=9", "ocr"], 1 + dice.below(5) as u64);
    let extreme = |dice: &mut Dice| {
        const ODD: [f64; 9] = [0.0, -0.0, 1e308, -1e308, 1e-308, f64::MAX, f64::MIN_POSITIVE, 1.0, -1.0];
        ODD[dice.below(ODD.len())]
    };
    for _ in 0..=dice.below(8) {
        let at = dice.below(records.len());
        let run = &mut records[at];
        match dice.below(12) {
            0 => run.repeat = dice.whole() >> 1,
            1 => run.identity.settings.seed = dice.whole() >> 1,
            2 => run.identity.problem.lambda = extreme(&mut dice).abs(),
            3 => run.identity.problem.dataset = dice.word(),
            4 => run.status = Status::Failed(dice.word()),
            5 => run.measured.points.clear(),
            6 => run.environment.jobs = dice.whole(),
            7 => run.measured.totals.wall_s = extreme(&mut dice),
            8 => run.measured.totals.passes = vec![(extreme(&mut dice), extreme(&mut dice)); dice.below(5)],
            _ => {
                let count = run.measured.points.len();
                if count > 0 {
                    let point = &mut run.measured.points[dice.below(count)];
                    match dice.below(8) {
                        0 => point.iteration = dice.whole() >> 1,
                        1 => point.time_s = extreme(&mut dice),
                        2 => point.primal = extreme(&mut dice),
                        3 => point.dual = extreme(&mut dice),
                        4 => point.gap = extreme(&mut dice),
                        5 => point.oracle_calls = dice.whole() >> 1,
                        6 => point.planes_mean = extreme(&mut dice),
                        _ => point.oracle_time_s = extreme(&mut dice),
                    }
                }
            }
        }
    }
    let contents = Contents { records, damaged: Vec::new() };
    let page = || -> ssvm_bench::Result<String> {
        let results = Study::of(Path::new("here"), Manifest::default(), contents, &*HARNESS, &[])?;
        hand::page("fuzz", &results)
    };
    page().is_ok()
}
