#!/usr/bin/env bash
# Time and memory at growing sizes: 10^5 records in a folder, rows into bands, 10^6 terms, 64 workers. Takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
SSVM_LOAD=1 cargo test --release --test suite -- --nocapture --test-threads 1 load::
