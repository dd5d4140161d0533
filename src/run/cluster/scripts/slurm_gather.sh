#!/bin/bash
# After the array, however its tasks ended: joins what there is and makes figures and report of it. Fails when a
# run is missing.
#SBATCH --job-name=§gather name§
#SBATCH --nodes=1 --ntasks=1
§sbatch options§#SBATCH --output=§gather log§

cd §folder§ || exit 1
code=0
§merge§ || code=1
§figures§ || code=1
§report§ || code=1
exit $code
