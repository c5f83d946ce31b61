#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#SBATCH --job-name=dlest-report
#SBATCH --cpus-per-task=2
#SBATCH --time=04:00:00
# A task of a job array: totals of its shard of the jobs that sacct printed.
#
#   sbatch --array=1-20 report-array.sh FOLDER 'OPTIONS' SACCT.txt...
#
# Writes FOLDER/totals-I.csv. When all tasks have ended,
# 'dlest report FOLDER/totals-*.csv --country FR' prints the report. OPTIONS are
# those of dlest report, in one word: '--by user,month --gpu gpu=a100'.
set -eu
[ $# -ge 3 ] || { echo "usage: report-array.sh FOLDER OPTIONS SACCT.txt..." >&2
  exit 2; }
folder=$1
options=$2
shift 2
task=${SLURM_ARRAY_TASK_ID:?run this with sbatch --array=1-N}
export OMP_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"
mkdir -p "$folder"
rm -f "$folder/totals-$task.csv"
# Words of OPTIONS are options.
# shellcheck disable=SC2086
"${DLEST_PROGRAM:-dlest}" report "$@" $options --shard auto \
  --totals "$folder/totals-$task.csv" || [ $? -eq 3 ]
[ -s "$folder/totals-$task.csv" ]
