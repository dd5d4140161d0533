# The recipes are CI's own commands: `just ci` is `.ci/run`.

default: test

build:
    cargo build --release

test:
    cargo test --release

lint:
    cargo fmt --check
    cargo clippy --release --all-targets -- -D warnings

reproduce:
    cargo run --release -- reproduce

gate:
    cargo run --release -- run --config ci --out target/gate
    cargo run --release -- check target/gate --baseline results/baseline/ci.toml

bench:
    cargo bench --bench oracles --bench steps

readme:
    cargo run --release -- readme refresh

ci:
    .ci/run
