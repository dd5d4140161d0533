#!/usr/bin/env python3
"""How often the timed gate is right: false alarms of A/A runs, planted slowdowns found.

    scripts/gate_power.py [--same 40] [--slow 20] [--rebuilt 4] [--folders 40] [--core N] [--keep]

Every trial is one `compare --against` with its defaults, exit code 2 = alarm. Old and new are
  same      the same program: an alarm is false
  slow      the same program, 10 % more CPU time in all solver work (a switch in a patched copy): an alarm is right
  rebuilt   the same sources built in another folder: what the place of the code in memory alone does
  folders   two result folders of the same program, by `compare A B`: an alarm is false
Prints a line per trial and a summary. Needs `target/release/ssvm-bench`; see sabotage.py.
"""

import argparse
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sabotage


def trial(new, old, slow, core):
    """Exit code 2 or 0, the cells with an alarm, all lines, seconds."""
    environment = {key: value for key, value in os.environ.items() if key != "SSVM_SLOW"}
    if slow:
        environment["SSVM_SLOW"] = "1"
    began = time.time()
    command = [new, "compare", "--against", old] + (["--core", core] if core else [])
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode not in (0, 2):
        sys.exit(f"gate_power.py: {run.stderr}")
    cells = re.findall(r"^(\S+) +(\S+/\S+) .*CPU s\) .*?([+-][0-9.e-]+) %", run.stdout, re.M)
    worse = [cell for verdict, cell, _ in cells if verdict == "WORSE"]
    return run.returncode == 2, worse, cells, time.time() - began


FOLDER_CONFIG = """name = "power"
repeats = 5
clock = "wall"
probes = 0
evaluate = "every:1"
[budget]
iterations = 8
[[dataset]]
name = "usps-synth:n=200"
[[dataset]]
name = "ocr-synth:n=60"
[[dataset]]
name = "horseseg-synth:n=5"
[[solver]]
name = "bcfw"
[[solver]]
name = "mp-bcfw"
"""


def folder_trials(program, count):
    """Makes two folders and compares them, repeatedly; prints a line per trial and how many raised an alarm."""
    alarms = 0
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "power.toml"
            config.write_text(FOLDER_CONFIG)
            sides = [str(Path(folder) / side) for side in "ab"]
            for side in sides:
                command = [program, "run", "--quiet", str(config), "--out", side]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            run = subprocess.run([program, "compare", *sides], capture_output=True, text=True)
            if run.returncode not in (0, 2):
                sys.exit(f"gate_power.py: {run.stderr}")
            alarms += run.returncode == 2
            worst = [line for line in run.stdout.splitlines() if line.startswith(("WORSE", "MISSING", "CHANGED"))]
            print(f"folders  {number:>3} {'ALARM' if worst else 'quiet'} load {os.getloadavg()[0]:.1f}  " + "; ".join(worst), flush=True)
    print(f"\nfolders: {alarms} alarms in {count} trials")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, trials in [("same", 40), ("slow", 20), ("rebuilt", 4), ("folders", 40)]:
        parser.add_argument(f"--{name}", type=int, default=trials, metavar="TRIALS")
    parser.add_argument("--core", default=None, help="passed on to compare, to measure on several cores at once")
    parser.add_argument("--keep", action="store_true", help="use the patched programs that are already there")
    args = parser.parse_args()
    if args.folders:
        folder_trials(str(sabotage.HONEST), args.folders)
    if not args.same + args.slow + args.rebuilt:
        return
    program = sabotage.path if args.keep else sabotage.build
    switched = program("slow-solver") if args.same + args.slow else None
    rebuilt = program("nothing") if args.rebuilt else None
    with tempfile.TemporaryDirectory() as folder:
        # Copies: a build in the meantime must not change what is measured.
        kept = lambda program: program and shutil.copy(program, folder)
        switched, rebuilt, shipped = map(kept, [switched, rebuilt, sabotage.HONEST])
        # The old side of a planted slowdown: the same file, the switch off.
        honest = Path(folder) / "honest"
        honest.write_text(f'#!/bin/sh\nunset SSVM_SLOW\nexec "{switched}" "$@"\n')
        honest.chmod(honest.stat().st_mode | stat.S_IXUSR)
        kinds = {
            "same": (args.same, switched, honest, False),
            "slow": (args.slow, switched, honest, True),
            "rebuilt": (args.rebuilt, rebuilt, shipped, False),
        }
        summary = {}
        # In turns, so that every kind sees the same states of the machine.
        for number in range(max(trials for trials, *_ in kinds.values())):
            for kind, (trials, new, old, slow) in kinds.items():
                # Spread evenly: kind k is due whenever its share of the trials so far falls behind.
                most = max(trials for trials, *_ in kinds.values())
                if (number + 1) * trials // most == number * trials // most:
                    continue
                alarm, worse, cells, seconds = trial(str(new), str(old), slow, args.core)
                found = summary.setdefault(kind, {"trials": 0, "alarms": 0, "cells": {}, "seconds": 0.0})
                found["trials"] += 1
                found["alarms"] += alarm
                found["seconds"] += seconds
                for _, cell, change in cells:
                    hits = found["cells"].setdefault(cell, [0, []])
                    hits[0] += cell in worse
                    hits[1].append(float(change))
                load = os.getloadavg()[0]
                print(f"{kind:<8} {number:>3} {'ALARM' if alarm else 'quiet'} {seconds:5.1f} s, load {load:.1f}", end="")
                print("  " + ", ".join(worse), flush=True)
        for kind, found in summary.items():
            count = found["trials"]
            print(f"\n{kind}: {found['alarms']} alarms in {count} trials, {found['seconds'] / count:.1f} s each")
            for cell, (hits, changes) in sorted(found["cells"].items()):
                changes.sort()
                print(f"  {cell:<30} {hits:>3} alarms, change {changes[0]:+.1f} … {changes[-1]:+.1f} %")


if __name__ == "__main__":
    main()
