#!/usr/bin/env bash
# Kills `run` COUNT times (default 1000) at random moments, and report, figures, data prepare, optimum and merge a quarter as
# often each. Counts the kills that came before the command had ended, runs lost or made twice, and files left behind.
#   scripts/kills.sh [COUNT]
set -euo pipefail
cd "$(dirname "$0")/.."
SSVM_KILLS="${1:-1000}" cargo test --release --test trials -- --nocapture kill::kills
