#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#SBATCH --job-name=dlest-fit
#SBATCH --cpus-per-task=2
#SBATCH --time=01:00:00
# Fits the runs that an array of extract-array.sh has extracted, by their means.
#
#   sbatch --dependency=afterok:ARRAY fit-means.sh FOLDER [OPTION...]
#
# Writes FOLDER/model.xml; the options are those of dlest fit.
set -eu
[ $# -ge 1 ] || { echo "usage: fit-means.sh FOLDER [OPTION...]" >&2
  exit 2; }
folder=$1
shift
export OMP_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"
"${DLEST_PROGRAM:-dlest}" fit "$folder"/means-*.csv -o "$folder/model.xml" \
  "$@" || [ $? -eq 3 ]
[ -s "$folder/model.xml" ]
