#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#SBATCH --job-name=dlest-extract
#SBATCH --cpus-per-task=2
#SBATCH --time=08:00:00
# A task of a job array: extracts its shard of many power logs to a table of
# runs, and the means of their configurations.
#
#   sbatch --array=1-100 extract-array.sh LOGS FOLDER [OPTION...]
#
# LOGS has the name of a log on each line. The task writes FOLDER/runs-I.csv and
# FOLDER/means-I.csv (none for a shard without runs); the options are those of
# dlest extract. A task that failed can be run again by
# 'scontrol requeue ARRAY_I': its files appear whole or not at all.
set -eu
[ $# -ge 2 ] || { echo "usage: extract-array.sh LOGS FOLDER [OPTION...]" >&2
  exit 2; }
logs=$1
folder=$2
shift 2
dlest=${DLEST_PROGRAM:-dlest}
task=${SLURM_ARRAY_TASK_ID:?run this with sbatch --array=1-N}
export OMP_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"

# Status 3: logs that cannot be used were skipped, the others count.
usable() { "$@" || [ $? -eq 3 ]; }

mkdir -p "$folder"
rm -f "$folder/runs-$task.csv" "$folder/means-$task.csv"
usable "$dlest" extract --files-from "$logs" --shard auto -f csv \
  -o "$folder/runs-$task.csv" "$@"
if [ "$(head -n 2 "$folder/runs-$task.csv" | wc -l)" -lt 2 ]; then
  echo "no runs in shard $task"
  exit 0
fi
usable "$dlest" fit "$folder/runs-$task.csv" --means "$folder/means-$task.csv"
[ -s "$folder/means-$task.csv" ]
