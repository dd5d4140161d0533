#!/usr/bin/env bash
# Kills this program so often (1000 unless told otherwise) at random moments of run, and a quarter as often each of report,
# figures, data prepare, optimum and merge; counts the kills that struck, runs lost or made twice, files left behind.
#   scripts/kills.sh [COUNT]
set -euo pipefail
cd "$(dirname "$0")/.."
SSVM_KILLS="${1:-1000}" cargo test --release --test trials -- --nocapture kill::kills
