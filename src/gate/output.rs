//! Findings → the files of other tools: JUnit XML, github-action-benchmark's `customSmallerIsBetter`, Bencher Metric
//! Format.

use serde_json::{Map, Value, json};

use super::{Finding, Judgement};
use crate::text::{escape, exact};

/// JUnit XML: a suite per cell, a case per metric. An undecided case is marked as skipped. A remark on all cases is repeated in the
/// output of every suite, because the format has no place for it above the suites.
pub fn junit(name: &str, findings: &[Finding], remark: Option<&str>) -> String {
    let is_open = |judgement| matches!(judgement, Judgement::NotJudged | Judgement::Undecided);
    let counts = |findings: &[Finding]| {
        let failures = findings.iter().filter(|finding| finding.judgement.fails()).count();
        let skipped = findings.iter().filter(|finding| is_open(finding.judgement)).count();
        format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"", findings.len())
    };
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml += &format!("<testsuites name=\"{}\" {}>\n", escape(name), counts(findings));
    for suite in findings.chunk_by(|a, b| a.cell == b.cell) {
        let cell = escape(&suite[0].cell.to_string());
        xml += &format!("  <testsuite name=\"{cell}\" {}>\n", counts(suite));
        for finding in suite {
            let case = format!("    <testcase classname=\"{cell}\" name=\"{}\"", escape(&finding.metric));
            let message = escape(&finding.message());
            xml += &match finding.judgement {
                judgement if judgement.fails() => format!(
                    "{case}>\n      <failure type=\"{}\" message=\"{message}\"/>\n    </testcase>\n",
                    judgement.word().to_lowercase()
                ),
                judgement if is_open(judgement) => {
                    let word = judgement.word();
                    format!("{case}>\n      <skipped message=\"{word}: {message}\"/>\n    </testcase>\n")
                }
                _ => format!("{case}/>\n"),
            };
        }
        xml += &remark.map_or(String::new(), |remark| format!("    <system-out>{}</system-out>\n", escape(remark)));
        xml += "  </testsuite>\n";
    }
    xml + "</testsuites>\n"
}

/// The array of github-action-benchmark with `tool: customSmallerIsBetter`: name, unit, value, range, extra. One file
/// has one direction, so the dual is left out.
pub fn github_benchmark(findings: &[Finding]) -> String {
    let entries = findings.iter().filter(|finding| finding.smaller_is_better).filter_map(|finding| {
        let mut entry = json!({
            "name": format!("{} {}", finding.cell, finding.metric),
            "unit": finding.unit,
            "value": finding.new?,
        });
        if let Some((low, high)) = finding.range.filter(|(low, high)| low != high) {
            entry["range"] = json!(format!("{} … {}", exact(low), exact(high)));
        }
        entry["extra"] = json!(format!("{}: {}", finding.judgement.word(), finding.message()));
        Some(entry)
    });
    pretty(&Value::Array(entries.collect()))
}

/// All findings, and a remark on them.
pub fn values(findings: &[Finding], remark: Option<&str>) -> Value {
    let one = |finding: &Finding| {
        let Finding { cell, metric, unit, old, new, ratio, judgement, note, .. } = finding;
        let verdict = judgement.word().to_lowercase();
        json!({ "cell": cell.to_string(), "metric": metric, "unit": unit, "old": old, "new": new, "ratio": ratio,
            "verdict": verdict, "note": note })
    };
    json!({ "findings": findings.iter().map(one).collect::<Vec<_>>(), "remark": remark })
}

/// Bencher Metric Format: benchmark → measure → value, lower_value, upper_value.
pub fn bencher(findings: &[Finding]) -> String {
    let mut benchmarks = Map::new();
    for finding in findings {
        let Some(value) = finding.new else { continue };
        let mut measure = json!({ "value": value });
        if let Some((low, high)) = finding.range {
            measure["lower_value"] = json!(low.min(value));
            measure["upper_value"] = json!(high.max(value));
        }
        let benchmark = benchmarks.entry(finding.cell.to_string()).or_insert_with(|| json!({}));
        benchmark[finding.metric.as_str()] = measure;
    }
    pretty(&Value::Object(benchmarks))
}

fn pretty(value: &Value) -> String {
    // Numbers and strings always serialise.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
