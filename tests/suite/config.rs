//! Configs: what ships is valid, what is wrong is refused with file, line and the way out.

use std::path::Path;

use ssvm_bench::experiment::{BUILTIN, Experiment, Plan};
use ssvm_bench::{Cadence, Catalog, ClockKind, DataDir, Harness, SolverInfo, SolverSpec, Value};

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
    let harness = Harness::standard();
    Experiment::parse(Path::new("configs/test.toml"), text, harness.solvers()).map_err(|error| error.to_string())
}

#[test]
fn a_good_config_is_what_it_says() {
    let experiment = parse(GOOD).unwrap();
    assert_eq!((experiment.seed, experiment.repeats, experiment.clock), (5, 3, ClockKind::VIRTUAL));
    assert_eq!((experiment.evaluate, experiment.probes, experiment.jobs), (Cadence::Every(2), 0, None));
    let [usps, horses] = &experiment.datasets[..] else { panic!() };
    assert_eq!((usps.lambda, usps.budget.iterations, usps.budget.gap), (None, Some(10), Some(1e-3)));
    assert_eq!((horses.lambda, horses.pairwise_weight, horses.line), (Some(0.5), Some(2.0), 15));
    let budget = &horses.budget;
    assert_eq!((budget.iterations, budget.oracle_calls, budget.gap), (Some(4), Some(100), Some(1e-3)));
    assert_eq!(
        experiment.solvers,
        [
            SolverSpec::new("bcfw").with("order", Value::Word("sequential".into())),
            SolverSpec::new("mp-bcfw").with("T", Value::Count(3)).with("passes", Value::Count(2)),
        ]
    );
}

#[test]
fn one_solver_with_two_sets_of_parameters_is_two_entries() {
    let text = GOOD.replacen("name = \"bcfw\"\norder = \"sequential\"", "name = \"mp-bcfw\"\nT = 4", 1);
    let experiment = parse(&text).unwrap();
    let [four, three] = &experiment.solvers[..] else { panic!() };
    assert_eq!((four.params.get("T"), three.params.get("T")), (Some(&Value::Count(4)), Some(&Value::Count(3))));
    // What is written out is the same as what is left at its default.
    let same = GOOD.replacen("name = \"bcfw\"\norder = \"sequential\"", "name = \"mp-bcfw\"\nN = 1000", 1).replacen(
        "T = 3\npasses = 2\n",
        "T = 10\n",
        1,
    );
    let message = parse(&same).unwrap_err();
    assert!(
        message.contains("configs/test.toml:27: solver 'mp-bcfw' is listed twice with the same parameters"),
        "{message}"
    );
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    // (replace, by, what the message says)
    let cases = [
        (
            "seed = 5",
            "sead = 5",
            "configs/test.toml:2: unknown key 'sead'; did you mean 'seed'? Valid here: name, seed",
        ),
        ("gap = 1e-3", "gaps = 1e-3", "configs/test.toml:9: unknown key 'gaps'; did you mean 'gap'?"),
        ("T = 3", "xyz = 3", "configs/test.toml:28: unknown parameter 'xyz'; mp-bcfw has only T, N, M, order, passes"),
        ("T = 3", "pases = 3", "configs/test.toml:28: unknown parameter 'pases'; did you mean 'passes'?"),
        ("T = 3", "T = -3", "configs/test.toml:28: T must be a whole number from 0, not '-3'"),
        ("order = \"sequential\"", "order = \"some\"", "test.toml:24: order must be permutation, sequential, uniform"),
        ("lambda = 0.5", "lamda = 0.5", "configs/test.toml:16: unknown key 'lamda'; did you mean 'lambda'?"),
        (
            "oracle_calls = 100",
            "oracle_call = 100",
            "test.toml:20: unknown key 'oracle_call'; did you mean 'oracle_calls'?",
        ),
        ("[[solver]]", "[[solvers]]", "test.toml:22: unknown key 'solvers'; did you mean 'solver'?"),
        ("repeats = 3", "repeats = \"three\"", "configs/test.toml:3: wrong value of `repeats`: invalid type: string"),
        ("repeats = 3", "repeats = -3", "configs/test.toml:3: wrong value of `repeats`: invalid value: integer `-3`"),
        ("repeats = 3", "repeats = 0", "configs/test.toml:3: repeats must be at least 1"),
        ("name = \"test\"\n", "", "configs/test.toml:1: the key `name` is missing"),
        (
            "clock = \"virtual\"",
            "clock = \"virtul\"",
            "test.toml:4: unknown clock 'virtul'; known: wall, cpu, virtual; did you mean 'virtual'?",
        ),
        ("evaluate = \"every:2\"", "evaluate = \"every:0\"", "configs/test.toml:5: evaluate must be 'every:K'"),
        ("lambda = 0.5", "lambda = -0.5", "configs/test.toml:16: lambda must be finite and above 0, not -0.5"),
        ("lambda = 0.5", "lambda = nan", "configs/test.toml:16: lambda must be finite"),
        ("pairwise_weight = 2", "pairwise_weight = -2", "configs/test.toml:17: pairwise_weight must be finite"),
        (
            "name = \"bcfw\"",
            "name = \"bcfv\"",
            "test.toml:23: unknown solver 'bcfv'; known: fw, bcfw, bcfw-avg, mp-bcfw, mp-bcfw-avg",
        ),
        ("name = \"bcfw\"", "name = \"bcfv\"", "; did you mean 'bcfw'?"),
        (
            "name = \"mp-bcfw\"\nT = 3\npasses = 2",
            "name = \"bcfw\"\norder = \"sequential\"",
            "configs/test.toml:27: solver 'bcfw' is listed twice with the same parameters",
        ),
        (
            "name = \"mp-bcfw\"",
            "name = \"bcfw-avg\"",
            "configs/test.toml:28: 'bcfw-avg' has only order, tau, lanes: 'T' belongs to mp-bcfw, mp-bcfw-avg",
        ),
        (
            "name = \"bcfw\"",
            "name = \"fw\"",
            "configs/test.toml:24: 'fw' has no parameters: 'order' belongs to bcfw, bcfw-avg, mp-bcfw, mp-bcfw-avg",
        ),
        ("name = \"bcfw\"", "nane = \"bcfw\"", "configs/test.toml:22: the key `name` is missing"),
        ("name = \"bcfw\"", "name = 5", "configs/test.toml:23: wrong value of `name`: it must be text"),
        ("passes = 2", "passes = \"some\"", "configs/test.toml:29: passes must be auto or a whole number"),
        ("passes = 2", "passes = 2.5", "configs/test.toml:29: passes must be auto or a whole number"),
        ("passes = 2", "passes = 2\nM = 5", "configs/test.toml:30: M limits"),
        ("passes = 2", "N = 0", "configs/test.toml:29: N = 0 leaves"),
        ("horseseg-synth:n=5", "usps-synth:n=50", "test.toml:15: data set 'usps-synth:n=50' is already on line 12"),
        ("iterations = 10\n", "", "configs/test.toml:11: a budget with only a gap may never end"),
        ("iterations = 10\ngap = 1e-3\n", "", "configs/test.toml:10: this data set has no budget"),
        ("seed = 5", "gap_targets = [0.1, 0.2]", "configs/test.toml:2: gap_targets must be above 0 and descending"),
        ("seed = 5", "gap_targets = 0.1", "configs/test.toml:2: wrong value of `gap_targets`"),
        ("seed = 5", "threads = 0", "configs/test.toml:2: threads must be at least 1"),
        ("seed = 5", "jobs = 5000", "configs/test.toml:2: jobs must be at most 1024"),
        ("seed = 5", "timeout_s = 0", "configs/test.toml:2: timeout_s must be finite and above 0"),
        ("seed = 5", "timeout_s = 1e300", "configs/test.toml:2: timeout_s: 1e300 s is more than a clock can count"),
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
fn shipped_configs_are_valid_and_know_what_they_name() {
    let harness = Harness::standard();
    let catalog: &dyn Catalog = &harness;
    for entry in std::fs::read_dir("configs").unwrap() {
        let path = entry.unwrap().path();
        let experiment = Experiment::load(&path, catalog.solvers()).unwrap();
        assert_eq!(path.file_stem().unwrap().to_str(), Some(experiment.name.as_str()), "a config is named as its file");
        for dataset in &experiment.datasets {
            assert!(catalog.dataset(&dataset.name).is_some(), "{}: {}", path.display(), dataset.name);
        }
        for solver in &experiment.solvers {
            let info = SolverInfo::find(catalog.solvers(), &solver.name).unwrap();
            info.resolve(solver, catalog.solvers()).unwrap();
        }
    }
    for (name, text) in BUILTIN {
        let experiment = Experiment::load(name, catalog.solvers()).unwrap();
        assert_eq!((experiment.name.as_str(), experiment.text.as_str()), (name, text));
        assert_eq!(Experiment::load(format!("configs/{name}.toml"), catalog.solvers()).unwrap(), experiment);
    }
    let missing = Experiment::load("nowhere.toml", catalog.solvers()).unwrap_err().to_string();
    assert!(missing.contains("built in: quick, smoke, ci, paper, "), "{missing}");
}

#[test]
fn the_config_of_the_paper_is_the_papers() {
    let harness = Harness::standard();
    let catalog: &dyn Catalog = &harness;
    let paper = Experiment::load("paper", catalog.solvers()).unwrap();
    assert_eq!(
        paper.datasets.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(),
        ["usps", "ocr", "horses", "stanford"]
    );
    assert!(paper.datasets.iter().all(|d| d.lambda.is_none() && catalog.paper(&d.name).is_some()));
    assert_eq!(paper.repeats, 10);
    for solver in &paper.solvers {
        let params = SolverInfo::find(catalog.solvers(), &solver.name).unwrap().resolve(solver, catalog.solvers());
        let params = params.unwrap();
        for (key, value) in [("T", 10), ("N", 1000), ("M", 1000)] {
            assert!(params.get(key).is_none_or(|given| *given == Value::Count(value)), "{solver:?}");
        }
    }
    // Each pair that the paper compares is there.
    for (single, multi) in catalog.pairs() {
        for name in [single.name, multi.name] {
            assert!(paper.solvers.iter().any(|solver| solver.name == name), "{name} is missing");
        }
    }
}

#[test]
fn the_config_of_the_gates_is_repeatable() {
    let ci = Experiment::load("ci", Harness::standard().solvers()).unwrap();
    assert_eq!((ci.clock, ci.evaluate), (ClockKind::VIRTUAL, Cadence::Every(1)));
    assert!(ci.gap_targets.len() >= 5);
}

#[test]
fn a_star_stands_for_every_solver_that_no_other_entry_names() {
    let harness = Harness::standard();
    let text = |solvers: &str| {
        format!("name = \"test\"\n[budget]\niterations = 3\n[[dataset]]\nname = \"usps-synth\"\n{solvers}")
    };
    let all = parse(&text("[[solver]]\nname = \"*\"\n[[solver]]\nname = \"mp-bcfw\"\nT = 3\n")).unwrap();
    assert_eq!(all.solvers.len(), harness.solvers().len(), "each once");
    let multi: Vec<_> = all.solvers.iter().filter(|solver| solver.name == "mp-bcfw").collect();
    assert_eq!(multi, [&SolverSpec::new("mp-bcfw").with("T", Value::Count(3))]);
    let error = parse(&text("[[solver]]\nname = \"*\"\nT = 3\n")).unwrap_err();
    assert!(error.contains("test.toml:8") && error.contains("name one to set a parameter"), "{error}");
    let error = parse(&text("[[solver]]\nname = \"*\"\n[[solver]]\nname = \"*\"\n")).unwrap_err();
    assert!(error.contains("write it once"), "{error}");
}

#[test]
fn a_data_set_that_is_not_there_leaves_its_place_to_another() {
    use ssvm_bench::DataDir;
    use ssvm_bench::experiment::Plan;

    let harness = Harness::standard();
    let nowhere = DataDir::resolve(Some(Path::new("nowhere")));
    let plan = |datasets: &str| {
        let text = format!("name = \"test\"\n[budget]\niterations = 3\n{datasets}[[solver]]\nname = \"bcfw\"\n");
        let experiment = parse(&text)?;
        Plan::new(&experiment, &harness, &nowhere).map_err(|error| error.to_string())
    };
    let replaced = plan("[[dataset]]\nname = \"usps\"\nelse = \"usps-synth:n=30\"\n").unwrap();
    assert_eq!(replaced.runs[0].identity.problem.dataset, "usps-synth:n=30");
    assert_eq!(replaced.replacements(), ["usps is missing; usps-synth:n=30 is used instead"]);
    let kept = plan("[[dataset]]\nname = \"usps-synth:n=20\"\nelse = \"usps-synth:n=30\"\n").unwrap();
    assert_eq!((kept.runs[0].identity.problem.dataset.as_str(), kept.replacements().len()), ("usps-synth:n=20", 0));
    let error = plan("[[dataset]]\nname = \"usps-synth\"\nelse = \"uspz\"\n").map(drop).unwrap_err();
    assert!(error.contains("test.toml:5") && error.contains("unknown data set 'uspz'"), "{error}");
    let twice = "[[dataset]]\nname = \"usps-synth\"\n[[dataset]]\nname = \"usps\"\nelse = \"usps-synth\"\n";
    let error = plan(twice).map(drop).unwrap_err();
    assert!(error.contains("'usps-synth' is already on line 5"), "{error}");
    let paper: Vec<String> =
        Experiment::load("league", harness.solvers()).unwrap().datasets.into_iter().map(|d| d.name).collect();
    assert_eq!(paper, ["usps", "ocr", "horses", "stanford"]);
}

/// What a config asks for is counted before a data set is looked at: these do not exist.
#[test]
fn too_many_runs_are_refused_by_counting() {
    let harness = Harness::standard();
    let sets: String = (0..50_000).map(|k| format!("[[dataset]]\nname = \"nothing:{k}\"\n")).collect();
    let text = format!("name = \"many\"\n[budget]\niterations = 1\n[[solver]]\nname = \"*\"\n{sets}");
    let mut experiment = Experiment::parse(Path::new("many.toml"), &text, harness.solvers()).unwrap();
    assert_eq!(experiment.datasets[49_999].line, 5 + 2 * 50_000, "every entry knows its line");
    let outline = |experiment: &Experiment| {
        Plan::outline(experiment, &harness, &DataDir::resolve(None)).err().map(|error| error.to_string())
    };
    let count = 50_000 * harness.solvers().len();
    assert_eq!(
        outline(&experiment).unwrap(),
        format!("many.toml: {count} runs are more than a plan may have (500000); use several configs")
    );
    // What `--only` leaves out does not count.
    experiment.narrow(&["nothing:7/bcfw".to_owned()]).unwrap();
    assert!(outline(&experiment).unwrap().contains("unknown data set 'nothing:7'"));
}

/// The parser goes through every part of every head: a text of 4 MB would take it seconds.
#[test]
fn keys_of_many_parts_are_refused_before_they_are_parsed() {
    let heads: String = (1..=2000).map(|k| format!("[{}]\n", vec!["a"; k].join("."))).collect();
    let dotted = format!("{} = 1\n", vec!["a"; 2000].join("."));
    for (text, expected) in [(heads, "deep.toml:18: a key has 17 parts"), (dotted, "deep.toml:2: a key has 2000 parts")]
    {
        let text = format!("name = \"deep\"\n{text}");
        let error = Experiment::parse(Path::new("deep.toml"), &text, Harness::standard().solvers()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
