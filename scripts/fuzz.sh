#!/usr/bin/env bash
# Readers of outside bytes under fire for so many minutes in all, in one process: executions of every target, what they
# found, the longest and the largest. Inputs that broke something are kept in target/fuzz/.
#   scripts/fuzz.sh MINUTES [TARGET]
set -euo pipefail
cd "$(dirname "$0")/.."
minutes="${1:?usage: scripts/fuzz.sh MINUTES [TARGET]}"
shift
SSVM_FUZZ_SECONDS="$(awk "BEGIN { print 60 * $minutes }")" cargo test --release --test fuzz -- --nocapture "$@"
