#!/bin/bash
# One shard per task of a HyperQueue array. Needs a server and workers: `hq server start`, and on each node
# `hq worker start`, or `hq alloc add slurm …`. Further arguments go to `hq submit`. Run it again to execute the missing runs.
cd §folder§ || exit 1
command -v hq >/dev/null || { echo 'hq is not in $PATH: https://it4innovations.github.io/hyperqueue' >&2; exit 1; }
run=(§run§)
logs=§hq logs§
mkdir -p "$logs" || exit 1
hq submit --wait --name §hq name§ --array 1-§shards§ --cpus=§hq cores§§hq time§ \
    --stdout="$logs/%{TASK_ID}.out" --stderr="$logs/%{TASK_ID}.err" "$@" \
    -- bash -c 'exec "$@" --shard "$HQ_TASK_ID/§shards§"' shard "${run[@]}"
# Whatever hq returned, this fails and names the missing runs unless every run of the id file is there.
§merge§
