#!/bin/bash
# Runs after the array, however its tasks ended: merges the shards that exist and makes figures and a report. Fails
# when a run is missing.
#SBATCH --job-name=§gather name§
#SBATCH --nodes=1 --ntasks=1
§sbatch options§#SBATCH --output=§gather log§

cd §folder§ || exit 1
code=0
§merge§ || code=1
§figures§ || code=1
§report§ || code=1
exit $code
