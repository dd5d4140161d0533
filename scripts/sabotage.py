#!/usr/bin/env python3
"""Breaks a solver on purpose in a copy of the sources, builds it, and shows that the right gate fails.

    scripts/sabotage.py list
    scripts/sabotage.py check             every edit still fits the sources; builds nothing
    scripts/sabotage.py build NAME        prints the path of the broken program
    scripts/sabotage.py verify [NAME...]  builds each one, runs the gates, expects exit code 2 and the right message;
                                          the program as it is must pass the same gates

The shipped program has no switch for any of this. A copy shares the project's target folder, so only this crate is
compiled again (about a minute each). Needs Python 3.9 and a built `target/release/ssvm-bench`.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "target"
HONEST = TARGET / "release" / "ssvm-bench"

# name -> (file, text as it is, text put in its place, gate, words that its message must hold)
SABOTAGE = {
    "forgotten-steps": (
        "crates/ssvm/src/solver/iterate.rs",
        "        let gamma = step::gamma(direction, lambda);\n",
        "        self.steps += 1;\n"
        "        let gamma = if self.steps % 10 == 0 { 0.0 } else { step::gamma(direction, lambda) };\n",
        "counters",
        ["mp-bcfw", "time_s"],
    ),
    "no-duplicates-check": (
        "crates/ssvm/src/solver/working_set.rs",
        "find(|entry| entry.plane == *plane)",
        "find(|entry| entry.plane == *plane && iteration == u64::MAX)",
        "counters",
        ["mp-bcfw", "planes_mean"],
    ),
    "early-eviction": (
        "crates/ssvm/src/solver/working_set.rs",
        "iteration - self.entries[at].last_active > t",
        "iteration - self.entries[at].last_active > t / 5",
        "counters",
        ["mp-bcfw", "primal"],
    ),
    "slow-product": (
        "crates/ssvm/src/problem/graph/mod.rs",
        "        blocks.map(|(k, sums)| dot(sums, &w[k * p..(k + 1) * p])).sum::<f64>() + plane.offset\n",
        "        let value = blocks.map(|(k, sums)| dot(sums, &w[k * p..(k + 1) * p])).sum::<f64>() + plane.offset;\n"
        "        // One product in ten is made twice.\n"
        "        use std::sync::atomic::{AtomicU64, Ordering::Relaxed};\n"
        "        static CALLS: AtomicU64 = AtomicU64::new(0);\n"
        "        let calls = CALLS.load(Relaxed);\n"
        "        CALLS.store(calls + 1, Relaxed);\n"
        "        if calls % 10 == 0 {\n"
        "            let blocks = self.in_mask(plane.mask).zip(plane.sums.chunks_exact(p));\n"
        "            std::hint::black_box(blocks.map(|(k, sums)| dot(sums, &w[k * p..(k + 1) * p])).sum::<f64>());\n"
        "        }\n"
        "        value\n",
        "instructions",
        ["horseseg-synth", "mp-bcfw", "instructions"],
    ),
    # All solver work takes 10 % more CPU time when SSVM_SLOW is set: for the power of the timed gate (gate_power.py).
    # A switch, not a second build: two builds of the same sources differ in time by where their code lies in memory.
    "slow-solver": (
        "crates/ssvm/src/clock/stopwatch.rs",
        "            let (stamps, cpu) = (self.stamp() - stamp, thread_cpu_ns() - cpu);\n",
        "            if std::env::var_os(\"SSVM_SLOW\").is_some() {\n"
        "                let took = thread_cpu_ns() - cpu;\n"
        "                while thread_cpu_ns() - cpu < took + took / 10 {}\n"
        "            }\n"
        "            let (stamps, cpu) = (self.stamp() - stamp, thread_cpu_ns() - cpu);\n",
        "time",
        ["horseseg-synth", "mp-bcfw", "solver time"],
    ),
    # Nothing is broken: the same sources built in another folder, to measure the effect of the position of the code alone.
    "nothing": ("crates/ssvm/src/lib.rs", "pub mod clock;", "pub mod clock;", "none", []),
}

# Further edits that make the replaced text compile.
SUPPORT = {
    "forgotten-steps": [
        ("crates/ssvm/src/solver/iterate.rs", "    pub hat: P::Plane,\n", "    pub hat: P::Plane,\n    steps: u64,\n"),
        ("crates/ssvm/src/solver/iterate.rs", "            hat: P::Plane::default(),\n", "            hat: P::Plane::default(),\n            steps: 0,\n"),
    ],
}


def replaced(texts, file, old, new):
    text = texts[file]
    if text.count(old) != 1:
        sys.exit(f"sabotage.py: {file} has changed: this text should be there once:\n{old}")
    texts[file] = text.replace(old, new)


def path(name):
    """Where the broken program is, once built."""
    return TARGET / "release" / f"ssvm-bench-{name}"


def broken(name):
    """The sources of the broken program, by file."""
    file, old, new, _, _ = SABOTAGE[name]
    files = [ROOT / item for item in ["Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain.toml", "results/optima.toml"]]
    files += [item for folder in ["src", "crates", "build", "configs"] for item in (ROOT / folder).rglob("*") if item.is_file()]
    texts = {str(item.relative_to(ROOT)): item.read_text() for item in files}
    replaced(texts, file, old, new)
    for support in SUPPORT.get(name, []):
        replaced(texts, *support)
    # Names of its own: Cargo tells packages in one target folder apart by name, not by path, and would take the
    # compiled library of one copy for that of another.
    program = path(name).name
    replaced(texts, "Cargo.toml", '[package]\nname = "ssvm-bench"', f'[package]\nname = "{program}"')
    replaced(texts, "Cargo.lock", 'name = "ssvm-bench"\n', f'name = "{program}"\n')
    replaced(texts, "Cargo.toml", 'default-run = "ssvm-bench"', f'default-run = "{program}"')
    replaced(texts, "Cargo.toml", '[[bin]]\nname = "ssvm-bench"', f'[[bin]]\nname = "{program}"')
    # Tests, benches and examples stay behind, so their sections go too.
    sections = re.split(r"^(?=\[)", texts["Cargo.toml"], flags=re.M)
    texts["Cargo.toml"] = "".join(part for part in sections if not part.startswith(("[[test]]", "[[bench]]", "[[example]]")))
    return texts


def build(name):
    """The broken program; only this crate is compiled, and only when something changed."""
    texts, program = broken(name), path(name).name
    copy = TARGET / "sabotage" / name
    for item in copy.rglob("*.rs"):
        if str(item.relative_to(copy)) not in texts:
            item.unlink()
    for file, text in texts.items():
        item = copy / file
        if not item.exists() or item.read_text() != text:
            item.parent.mkdir(parents=True, exist_ok=True)
            item.write_text(text)
    command = ["cargo", "build", "--release", "--quiet", "--offline", "--bin", program, "--target-dir", str(TARGET)]
    subprocess.run(command, cwd=copy, check=True)
    return path(name)


def gate(kind, program, baseline, results):
    """Exit code and output of one gate on a program."""
    environment = dict(os.environ, SSVM_SLOW="1")
    if kind == "time":
        with tempfile.TemporaryDirectory() as folder:
            honest = Path(folder) / "honest"
            honest.write_text(f'#!/bin/sh\nunset SSVM_SLOW\nexec "{program}" "$@"\n')
            honest.chmod(0o755)
            command = [program, "compare", "--against", honest]
            run = subprocess.run(command, env=environment, capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr
    run = subprocess.run([program, "run", "ci", "--out", results, "--quiet"], capture_output=True, text=True)
    if run.returncode != 0:
        return run.returncode, run.stderr
    command = [program, "check", results, "--baseline", baseline]
    if kind == "instructions":
        command.append("--instructions")
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def verify(names):
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        baseline = Path(folder) / "baseline.toml"
        results = Path(folder) / "honest"
        subprocess.run([HONEST, "run", "ci", "--out", results, "--quiet"], check=True, capture_output=True)
        subprocess.run([HONEST, "check", results, "--save", baseline, "--instructions"], check=True, capture_output=True)
        for name in names:
            *_, kind, words = SABOTAGE[name]
            code, text = gate(kind, build(name), baseline, Path(folder) / name)
            # One row of the table must hold all words: it names data set, solver and metric.
            rows = [line for line in text.splitlines() if all(word in line for word in words)]
            expected = 0 if kind == "none" else 2
            right = code == expected and (expected == 0 or any(row.split()[0].isupper() for row in rows))
            failed |= not right
            print(f"{'ok' if right else 'NOT OK'}: {name}: exit code {code}, expected {expected}", flush=True)
            print("  " + "\n  ".join(rows[:3] if right else text.splitlines()[-30:]), flush=True)
    return failed


def main():
    words = sys.argv[1:] or ["help"]
    unknown = [name for name in words[1:] if name not in SABOTAGE]
    if unknown:
        sys.exit(f"sabotage.py: unknown {', '.join(unknown)}; known: {', '.join(SABOTAGE)}")
    if words == ["list"]:
        print("\n".join(SABOTAGE))
    elif words == ["check"]:
        for name in SABOTAGE:
            broken(name)
        print(f"{len(SABOTAGE)} edits fit")
    elif words[0] == "build" and len(words) == 2:
        print(build(words[1]))
    elif words[0] == "verify":
        sys.exit(verify(words[1:] or list(SABOTAGE)))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
