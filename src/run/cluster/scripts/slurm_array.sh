#!/bin/bash
# One shard per task: shard I is the I-th line of the id file after its header. The argument is added to the index
# of the array, for clusters whose MaxArraySize is below the number of shards.
#SBATCH --job-name=§sbatch name§
#SBATCH --array=1-§shards§§sbatch at once§
#SBATCH --nodes=1 --ntasks=1
#SBATCH §sbatch cores§
§sbatch options§#SBATCH --requeue --open-mode=append
#SBATCH --signal=B:USR1@§lead§
#SBATCH --output=§array log§

cd §folder§ || exit 1
shard=$((${1:-0} + SLURM_ARRAY_TASK_ID))
# `cluster status` shows the last line of the log as the reason of a failure, so that lines must not be wrapped.
export COLUMNS=10000
# exec: the signal before the time limit goes to the program, which finishes its current runs and starts no more.
exec §run§ --shard "$shard/§shards§"
