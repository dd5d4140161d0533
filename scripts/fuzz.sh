#!/usr/bin/env bash
# Fuzzes the readers of external bytes for MINUTES in all, in one process. Prints executions and findings of every target, the
# slowest input and the largest use of memory. Inputs that broke something are kept in target/fuzz/.
#   scripts/fuzz.sh MINUTES [TARGET]
set -euo pipefail
cd "$(dirname "$0")/.."
minutes="${1:?usage: scripts/fuzz.sh MINUTES [TARGET]}"
shift
SSVM_FUZZ_SECONDS="$(awk "BEGIN { print 60 * $minutes }")" cargo test --release --test fuzz -- --nocapture "$@"
