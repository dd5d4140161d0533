# The recipes are CI's own commands, one step each: `just ci` is all of them, as `.ci/run` does them.

default: test

format:
    .ci/run format

build:
    .ci/run build

lint:
    .ci/run lint

test:
    .ci/run tests

library:
    .ci/run library

readme:
    .ci/run readme

smoke:
    .ci/run smoke

gate:
    .ci/run gate

deny:
    .ci/run deny

# Compare the virtual clock with this machine.
clock:
    .ci/run clock

# Build the wheel and test the Python package in a fresh environment.
python:
    .ci/run python

slurm:
    .ci/run slurm

ci:
    .ci/run

# What CI does not do.
reproduce:
    cargo run --release -- reproduce

refresh:
    cargo run --release -- readme refresh

# Certified optima of the built-in sets of the configs, into results/optima.toml; a bracket is only ever narrowed.
optima time="120":
    for set in usps-synth:n=50 usps-synth:n=300 usps-synth:n=3000 ocr-synth:n=20 ocr-synth:n=100 ocr-synth:n=1000 \
        horseseg-synth:n=5 horseseg-synth:n=20 horseseg-synth:n=200 stanford-synth:n=5 stanford-synth:n=20 stanford-synth:n=40; do \
        cargo run --release -- data optimum $set --gap 1e-9 --time {{time}} || [ $? = 2 ] || exit 1; done

# The same for the official sets in $SSVM_DATA.
optima-official time="900":
    for set in usps ocr horses stanford; do \
        cargo run --release -- data optimum $set --gap 1e-9 --time {{time}} || [ $? = 2 ] || exit 1; done

# Stress tests: fuzzing, kills, large sizes.
fuzz minutes="10":
    scripts/fuzz.sh {{minutes}}

kills count="1000":
    scripts/kills.sh {{count}}

load:
    scripts/load.sh

# A bill of materials.
sbom:
    scripts/sbom.py

bench:
    cargo bench --bench oracles --bench steps

# Steps and memory at 10^4 … 10^6 terms.
bench-scale:
    cargo bench --bench scale -- 6
