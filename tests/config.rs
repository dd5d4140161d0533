//! Configs: what ships is valid, what is wrong is refused with file, line and the way out.

use std::path::Path;

use ssvm_bench::config::{Cadence, ClockKind, Experiment, Order, Passes, SolverKind};

const GOOD: &str = r#"name = "test"
seed = 5
repeats = 3
clock = "virtual"
evaluate = "every:2"

[budget]
iterations = 10
gap = 1e-3

[[dataset]]
name = "usps-synth:n=50"

[[dataset]]
name = "horseseg-synth:n=5"
lambda = 0.5
pairwise_weight = 2
[dataset.budget]
iterations = 4
oracle_calls = 100

[[solver]]
name = "bcfw"
order = "sequential"

[[solver]]
name = "mp-bcfw"
T = 3
passes = 2
"#;

fn parse(text: &str) -> Result<Experiment, String> {
    Experiment::parse(Path::new("configs/test.toml"), text).map_err(|error| error.to_string())
}

#[test]
fn a_good_config_is_what_it_says() {
    let experiment = parse(GOOD).unwrap();
    assert_eq!((experiment.seed, experiment.repeats, experiment.clock), (5, 3, ClockKind::Virtual));
    assert_eq!((experiment.evaluate, experiment.probes, experiment.jobs), (Cadence::Every(2), 0, None));
    let [usps, horses] = &experiment.datasets[..] else { panic!() };
    assert_eq!((usps.lambda, usps.budget.iterations, usps.budget.gap), (None, Some(10), Some(1e-3)));
    assert_eq!((horses.lambda, horses.pairwise_weight, horses.line), (Some(0.5), Some(2.0), 15));
    let budget = &horses.budget;
    assert_eq!((budget.iterations, budget.oracle_calls, budget.gap), (Some(4), Some(100), Some(1e-3)));
    let [bcfw, mp] = &experiment.solvers[..] else { panic!() };
    assert_eq!((bcfw.kind, bcfw.order, bcfw.passes), (SolverKind::Bcfw, Order::Sequential, Passes::Auto));
    assert_eq!((mp.t, mp.n, mp.m, mp.passes), (3, 1000, 1000, Passes::Fixed(2)));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    // (replace, by, what the message says)
    let cases = [
        (
            "seed = 5",
            "sead = 5",
            "configs/test.toml:2: unknown key `sead`: did you mean `seed`?; valid here: name, seed",
        ),
        ("gap = 1e-3", "gaps = 1e-3", "configs/test.toml:9: unknown key `gaps`: did you mean `gap`?"),
        ("T = 3", "xyz = 3", "configs/test.toml:28: unknown key `xyz`; valid here: name, T, N, M"),
        ("T = 3", "pases = 3", "configs/test.toml:28: unknown key `pases`: did you mean `passes`?"),
        ("lambda = 0.5", "lamda = 0.5", "configs/test.toml:16: unknown key `lamda`: did you mean `lambda`?"),
        (
            "oracle_calls = 100",
            "oracle_call = 100",
            "test.toml:20: unknown key `oracle_call`: did you mean `oracle_calls`?",
        ),
        ("[[solver]]", "[[solvers]]", "test.toml:22: unknown key `solvers`: did you mean `solver`?"),
        ("repeats = 3", "repeats = \"three\"", "configs/test.toml:3: wrong value of `repeats`: invalid type: string"),
        ("repeats = 3", "repeats = -3", "configs/test.toml:3: wrong value of `repeats`: invalid value: integer `-3`"),
        ("repeats = 3", "repeats = 0", "configs/test.toml:3: repeats must be at least 1"),
        ("name = \"test\"\n", "", "configs/test.toml:1: the key `name` is missing"),
        (
            "clock = \"virtual\"",
            "clock = \"virtul\"",
            "test.toml:4: unknown clock 'virtul'; known: wall, cpu, virtual: did you mean `virtual`?",
        ),
        ("evaluate = \"every:2\"", "evaluate = \"every:0\"", "configs/test.toml:5: evaluate must be 'every:K'"),
        ("lambda = 0.5", "lambda = -0.5", "configs/test.toml:16: lambda must be finite and above 0, not -0.5"),
        ("lambda = 0.5", "lambda = nan", "configs/test.toml:16: lambda must be finite"),
        ("pairwise_weight = 2", "pairwise_weight = -2", "configs/test.toml:17: pairwise_weight must be finite"),
        (
            "name = \"bcfw\"",
            "name = \"bcfv\"",
            "test.toml:23: unknown solver 'bcfv'; known: fw, bcfw, bcfw-avg, mp-bcfw, mp-bcfw-avg: did you mean `bcfw`?",
        ),
        ("name = \"mp-bcfw\"", "name = \"bcfw\"", "configs/test.toml:27: solver 'bcfw' is listed twice"),
        ("name = \"mp-bcfw\"", "name = \"bcfw-avg\"", "configs/test.toml:28: 'bcfw-avg' keeps no working set: `T`"),
        ("name = \"bcfw\"", "name = \"fw\"", "configs/test.toml:24: 'fw' takes all terms at one w"),
        ("passes = 2", "passes = \"some\"", "configs/test.toml:29: passes must be \"auto\""),
        ("passes = 2", "passes = 2.5", "configs/test.toml:29: passes must be \"auto\""),
        ("passes = 2", "passes = 2\nM = 5", "configs/test.toml:30: M limits"),
        ("passes = 2", "N = 0", "configs/test.toml:29: N = 0 leaves"),
        ("horseseg-synth:n=5", "usps-synth:n=50", "test.toml:15: data set 'usps-synth:n=50' is already on line 12"),
        ("iterations = 10\n", "", "configs/test.toml:11: a budget with only a gap may never end"),
        ("iterations = 10\ngap = 1e-3\n", "", "configs/test.toml:10: this data set has no budget"),
        ("seed = 5", "gap_targets = [0.1, 0.2]", "configs/test.toml:2: gap_targets must be above 0 and falling"),
        ("seed = 5", "gap_targets = 0.1", "configs/test.toml:2: wrong value of `gap_targets`"),
        ("seed = 5", "jobs = 5000", "configs/test.toml:2: jobs must be at most 1024"),
        ("seed = 5", "timeout_s = 0", "configs/test.toml:2: timeout_s must be finite and above 0"),
        ("seed = 5", "seed = ", "configs/test.toml:2: "),
        ("seed = 5", "seed = 5\nseed = 6", "configs/test.toml:3: duplicate key"),
    ];
    for (from, to, expected) in cases {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        let message = parse(&text).expect_err(to);
        assert!(message.contains(expected), "{to}\n  says     {message}\n  expected {expected}");
    }
    let message = parse("name = \"x\"\n[[solver]]\nname = \"fw\"\n").unwrap_err();
    assert!(message.contains("no data set; add `[[dataset]]`"), "{message}");
}

#[test]
fn shipped_configs_are_valid_and_cover_the_paper() {
    for name in ["quick", "smoke", "ci", "paper"] {
        let experiment = Experiment::load(format!("configs/{name}.toml")).unwrap();
        assert_eq!(experiment.name, name);
        assert_eq!(experiment.solvers.iter().map(|s| s.kind).collect::<Vec<_>>(), SolverKind::ALL);
        assert_eq!(experiment.datasets.len(), 4);
        assert_eq!(Experiment::load(name).unwrap(), experiment, "the built-in text is stale");
    }
    let paper = Experiment::load("paper").unwrap();
    assert_eq!(
        paper.datasets.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(),
        ["usps", "ocr", "horses", "stanford"]
    );
    assert!(paper.solvers.iter().all(|s| (s.t, s.n, s.m) == (10, 1000, 1000)));
    assert_eq!(paper.repeats, 10);
    assert_eq!(Experiment::load("quick").unwrap().repeats, 10);
    let ci = Experiment::load("ci").unwrap();
    assert_eq!((ci.clock, ci.evaluate), (ClockKind::Virtual, Cadence::Every(1)));
    assert!(ci.gap_targets.len() >= 5);
    assert!(Experiment::load("nowhere.toml").unwrap_err().to_string().contains("built in: quick, smoke, ci, paper"));
}
