//! The claims on hand-made traces whose verdicts are known.

mod hand;

use hand::{failed, point, results, run};
use ssvm_bench::TracePoint;
use ssvm_bench::claims::{self, Claim, Verdict};
use ssvm_bench::trace::RunRecord;

fn check(records: &[RunRecord]) -> Vec<Claim> {
    claims::check(&results(records)).unwrap()
}

fn find<'a>(claims: &'a [Claim], number: u8, dataset: &str, text: &str) -> &'a Claim {
    let found = claims.iter().find(|c| c.number == number && c.dataset == dataset && c.claim.contains(text));
    found.unwrap_or_else(|| panic!("no row {number} on {dataset} with '{text}'"))
}

/// Optimum 1; primal suboptimality `scale / k`, dual at the optimum; `second` seconds per iteration.
fn curve(scale: f64, second: f64, change: impl Fn(u64, &mut TracePoint)) -> Vec<TracePoint> {
    let make = |k: u64| {
        let mut p = point(k, second * k as f64, 1.0 + scale / k as f64, 1.0);
        change(k, &mut p);
        p
    };
    (1..=40).map(make).collect()
}

fn pair(dataset: &str, factor: f64, time: f64, share: f64) -> Vec<RunRecord> {
    let set = move |share: f64| move |_: u64, p: &mut TracePoint| p.oracle_time_s = share * p.time_s;
    vec![
        run(dataset, "bcfw", 0, curve(1.0, 0.1, set(share))),
        run(dataset, "mp-bcfw", 0, curve(1.0 / factor, time, set(0.2))),
    ]
}

#[test]
fn lower_at_equal_iterations() {
    let claims = check(&pair("usps", 2.0, 0.1, 0.15));
    let row = find(&claims, 1, "usps", "mp-bcfw below bcfw");
    assert_eq!((row.verdict, row.measured.as_str()), (Verdict::Holds, "lower at 40 of 40 common iterations"));
    assert!(row.evidence.contains("at iteration 40 0.0125 against 0.0250"), "{}", row.evidence);
    assert_eq!(find(&claims, 1, "usps", "mp-bcfw-avg below").verdict, Verdict::NotMeasured);
    let claims = check(&pair("usps", 0.5, 0.1, 0.15));
    assert_eq!(find(&claims, 1, "usps", "mp-bcfw below bcfw").verdict, Verdict::DoesNotHold);
}

#[test]
fn effect_against_usps() {
    let mut records = pair("usps", 2.0, 0.1, 0.15);
    records.extend(pair("ocr", 10.0, 0.1, 0.7));
    records.extend(pair("horseseg", 1.5, 0.1, 0.99));
    let claims = check(&records);
    let ocr = find(&claims, 2, "ocr", "larger effect");
    assert_eq!((ocr.verdict, ocr.measured.as_str()), (Verdict::Holds, "factor 10.0 against 2.00"));
    assert_eq!(find(&claims, 2, "horseseg", "larger").verdict, Verdict::DoesNotHold);
    assert_eq!(find(&claims, 2, "Stanford", "larger").verdict, Verdict::NotMeasured);
    assert_eq!(find(&check(&pair("ocr", 10.0, 0.1, 0.7)), 2, "ocr", "larger").verdict, Verdict::NotMeasured);
}

#[test]
fn shares() {
    let mut records = pair("usps-synth:n=9", 2.0, 0.1, 0.3);
    records.extend(pair("horses", 2.0, 0.1, 0.985));
    let claims = check(&records);
    let usps = find(&claims, 3, "usps-synth:n=9", "bcfw");
    assert_eq!((usps.verdict, usps.measured.as_str()), (Verdict::DoesNotHold, "30.0 %"), "30 is not about 15");
    assert_eq!(find(&claims, 3, "horses", "share of bcfw").verdict, Verdict::Holds);
    assert_eq!(find(&claims, 3, "horses", "share of mp-bcfw").verdict, Verdict::Holds);
}

#[test]
fn runtime_ratios_over_gaps_both_reached() {
    // Same seconds per iteration, half the suboptimality: every gap in about half the time.
    let claims = check(&pair("horseseg", 2.0, 0.1, 0.99));
    let row = find(&claims, 4, "horseseg", "mp-bcfw against bcfw");
    assert_eq!(row.verdict, Verdict::Holds, "{row:?}");
    // Twice the seconds per iteration: no faster, which is fine on USPS and not on HorseSeg.
    assert_eq!(find(&check(&pair("usps", 2.0, 0.2, 0.15)), 4, "usps", "mp-bcfw against bcfw").verdict, Verdict::Holds);
    let even = check(&pair("horseseg", 2.0, 0.2, 0.99));
    let row = find(&even, 4, "horseseg", "mp-bcfw against bcfw");
    assert_eq!(row.verdict, Verdict::DoesNotHold, "{row:?}");
    assert!(row.measured.starts_with("1.00×"), "{}", row.measured);
    assert_eq!(find(&check(&pair("usps", 2.0, 0.5, 0.15)), 4, "usps", "mp-bcfw against").verdict, Verdict::DoesNotHold);
}

#[test]
fn working_sets_and_passes() {
    let run_with = |dataset: &str, planes: fn(f64) -> f64, passes: fn(f64) -> f64| {
        let mut total = 0.0;
        let mut points = curve(1.0, 0.1, |_, _| {});
        for p in &mut points {
            total += passes(p.iteration as f64);
            p.planes_mean = planes(p.iteration as f64);
            p.approx_passes = total as u64;
        }
        check(&[run(dataset, "mp-bcfw", 0, points)])
    };
    let verdict = |claims: &[Claim], dataset: &str| find(claims, 5, dataset, "working set").verdict;
    assert_eq!(verdict(&run_with("usps", |_| 2.0, |_| 1.0), "usps"), Verdict::Holds);
    assert_eq!(verdict(&run_with("usps", |_| 9.0, |_| 1.0), "usps"), Verdict::DoesNotHold);
    assert_eq!(verdict(&run_with("ocr", |_| 9.0, |_| 12.0), "ocr"), Verdict::Holds);
    assert_eq!(verdict(&run_with("ocr", |_| 9.0, |_| 40.0), "ocr"), Verdict::DoesNotHold);
    let horses = run_with("horseseg", |k| if k < 10.0 { k } else { 4.0 }, |k| 20.0 * k);
    assert_eq!(verdict(&horses, "horseseg"), Verdict::Holds);
    let stanford = run_with("stanford", |k| 20.0 * (1.0 - (-k / 6.0).exp()), |k| 2.0 + 0.2 * k);
    assert_eq!(verdict(&stanford, "stanford"), Verdict::Holds);
    assert_eq!(verdict(&run_with("stanford", |k| k, |_| 3.0), "stanford"), Verdict::DoesNotHold);
}

#[test]
fn an_empty_a_failed_and_a_foreign_folder_have_rows_too() {
    let nothing = check(&[]);
    assert!(nothing.iter().all(|c| c.verdict == Verdict::NotMeasured));
    assert_eq!(nothing.len(), 4 + 3 + 4 + 4 + 4);
    let broken = check(&[failed("usps", "bcfw", 0, "timeout"), failed("usps", "mp-bcfw", 0, "timeout")]);
    assert!(broken.iter().all(|c| c.verdict == Verdict::NotMeasured));
    let foreign = check(&pair("libsvm:mine", 2.0, 0.1, 0.5));
    assert_eq!(find(&foreign, 1, "libsvm:mine", "mp-bcfw below bcfw").verdict, Verdict::Holds);
    assert!(claims::summary(&foreign).starts_with("1 hold, 0 do not hold"));
}

#[test]
fn one_failed_repeat_is_named_in_the_evidence() {
    let mut records = pair("usps", 2.0, 0.1, 0.15);
    records.push(failed("usps", "mp-bcfw", 1, "panicked"));
    let claims = check(&records);
    let row = find(&claims, 1, "usps", "mp-bcfw below bcfw");
    assert!(row.evidence.contains("1 and 1 repeats, 1 failed"), "{}", row.evidence);
    let text = claims::grid(&claims).text();
    assert_eq!(text.lines().count(), claims.len() + 1);
}
