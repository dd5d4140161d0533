#!/usr/bin/env python3
"""Breaks a solver on purpose in a copy of the sources, builds it, and shows that the right gate fails.

    scripts/sabotage.py list
    scripts/sabotage.py build NAME        prints the path of the broken program
    scripts/sabotage.py verify [NAME...]  builds each one, runs the gates, expects exit code 2 and the right message;
                                          the program as it is must pass the same gates

The shipped program has no switch for any of this. A copy shares the project's target folder, so only this crate is
compiled again (about a minute each). Needs Python 3.9 and a built `target/release/ssvm-bench`.
"""

import shutil
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
        "src/solver/mpbcfw.rs",
        "        let gamma = step::gamma(&direction, lambda);\n        let mut average",
        "        self.offset_steps += 1;\n"
        "        let gamma = if self.offset_steps % 10 == 0 { 0.0 } else { step::gamma(&direction, lambda) };\n"
        "        let mut average",
        "counters",
        ["mp-bcfw", "time_s"],
    ),
    "no-duplicates-check": (
        "src/solver/working_set.rs",
        "find(|entry| entry.plane == *plane)",
        "find(|entry| entry.plane == *plane && iteration == u64::MAX)",
        "counters",
        ["mp-bcfw", "planes_mean"],
    ),
    "early-eviction": (
        "src/solver/working_set.rs",
        "iteration - self.entries[at].last_active > t",
        "iteration - self.entries[at].last_active > t / 5",
        "counters",
        ["mp-bcfw", "primal"],
    ),
    "slow-product": (
        "src/problem/graph.rs",
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
        "src/clock.rs",
        "        self.raw += self.clock.raw() - self.resumed_raw;\n",
        "        if std::env::var_os(\"SSVM_SLOW\").is_some() {\n"
        "            let took = thread_cpu_ns() - self.resumed_cpu;\n"
        "            while thread_cpu_ns() - self.resumed_cpu < took + took / 10 {}\n"
        "        }\n"
        "        self.raw += self.clock.raw() - self.resumed_raw;\n",
        "time",
        ["horseseg-synth", "mp-bcfw", "solver time"],
    ),
    # Nothing is broken: the same sources built in another folder, to see what the place of the code alone does.
    "nothing": ("src/lib.rs", "//! Structural SVM", "//! Structural SVM", "none", []),
}

# Further edits that make the replaced text compile.
SUPPORT = {
    "forgotten-steps": [
        ("src/solver/mpbcfw.rs", "    iteration: u64,\n", "    iteration: u64,\n    offset_steps: u64,\n"),
        ("src/solver/mpbcfw.rs", "            iteration: 0,\n", "            iteration: 0,\n            offset_steps: 0,\n"),
    ],
}


def edit(folder, file, old, new):
    path = folder / file
    text = path.read_text()
    if text.count(old) != 1:
        sys.exit(f"sabotage.py: {file} has changed: this text should be there once:\n{old}")
    path.write_text(text.replace(old, new))


def build(name):
    """The broken program; only this crate is compiled."""
    file, old, new, _, _ = SABOTAGE[name]
    copy = TARGET / "sabotage" / name
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for item in ["Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain.toml", "README.md"]:
        if (ROOT / item).exists():
            shutil.copy(ROOT / item, copy)
    for item in ["src", "benches", "configs"]:
        shutil.copytree(ROOT / item, copy / item)
    edit(copy, file, old, new)
    for support in SUPPORT.get(name, []):
        edit(copy, *support)
    # A name of its own, so that the program in the target folder stays what it is.
    program = f"ssvm-bench-{name}"
    edit(copy, "Cargo.toml", 'default-run = "ssvm-bench"', f'default-run = "{program}"')
    edit(copy, "Cargo.toml", '[[bin]]\nname = "ssvm-bench"', f'[[bin]]\nname = "{program}"')
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "--offline", "--bin", program, "--target-dir", str(TARGET)],
        cwd=copy,
        check=True,
    )
    return TARGET / "release" / program


if __name__ == "__main__":
    if sys.argv[1] == "build":
        print(build(sys.argv[2]))
