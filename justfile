# The recipes are CI's own commands, one step each: `just ci` is all of them, as `.ci/run` does them.

default: test

format:
    .ci/run format

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

ci:
    .ci/run

# What CI does not do.
reproduce:
    cargo run --release -- reproduce

refresh:
    cargo run --release -- readme refresh

bench:
    cargo bench --bench oracles --bench steps
