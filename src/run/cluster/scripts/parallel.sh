#!/bin/bash
# One shard per job of GNU parallel. Further arguments go to `parallel`: `--sshloginfile HOSTS --workdir .` for other
# machines that have the same folders. Run it again to execute the missing runs.
cd §folder§ || exit 1
command -v parallel >/dev/null || { echo 'parallel is not in $PATH: install GNU parallel' >&2; exit 1; }
run=(§run§)
mkdir -p §out§ || exit 1
for shard in $(seq 1 §shards§); do
    printf '%q ' "${run[@]}" --shard "$shard/§shards§"
    echo
done | parallel --jobs §parallel jobs§ --halt never --joblog §parallel log§§parallel time§ "$@"
# This fails and names the missing runs unless every run of the id file is there.
§merge§
