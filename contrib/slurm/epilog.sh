#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Prints what a Slurm job took, and what was estimated for it before.
#
#   epilog.sh [JOBID]      (default: $SLURM_JOB_ID)
#
# See README.md beside it. It never fails and never waits for long: a job must
# not suffer from its accounting.

job=${1:-${SLURM_JOB_ID:-}}
dlest=${DLEST_PROGRAM:-dlest}
seconds=${DLEST_EPILOG_SECONDS:-10}

say() { echo "dlest epilog: $*"; }

# limited COMMAND...: for so many seconds at the most
limited() {
  if command -v timeout >/dev/null 2>&1; then
    timeout -k 1 "$seconds" "$@"
  else
    "$@"
  fi
}

# The job in the accounting; older versions of Slurm know fewer columns.
account() {
  for more in ,TRESUsageInTot,TRESUsageInAve ''; do
    limited sacct -j "$job" -P -o "JobID,JobName,User,Account,Partition,State,\
ElapsedRaw,Start,NNodes,NCPUS,NTasks,TotalCPU,ConsumedEnergyRaw,\
AllocTRES$more" 2>/dev/null && return
  done
  return 1
}

measurement() {
  # Words of DLEST_REPORT are options.
  # shellcheck disable=SC2086
  account | limited "$dlest" report - --by job --quiet ${DLEST_REPORT:-} \
    2>/dev/null | sed '/^$/,$d'
}

# option NAME VALUE: adds it to $options where there is a value
option() {
  [ -z "$2" ] || options="$options $1 $2"
}

estimate() {
  options=
  option --arch "$DLEST_ARCH"
  option --gpu "${DLEST_GPU:-}"
  option --gpus "${DLEST_GPUS:-${SLURM_GPUS_ON_NODE:-}}"
  option --dataset "${DLEST_DATASET:-}"
  option --epochs "${DLEST_EPOCHS:-}"
  option --batch-size "${DLEST_BATCH_SIZE:-}"
  # shellcheck disable=SC2086
  limited "$dlest" predict --quiet $options ${DLEST_PREDICT:-} 2>/dev/null |
    sed '/^$/,$d' # the figures, without the notes below them
}

main() {
  case $job in
    '' | *[!0-9_+.]*) say "no job '$job'"; return ;;
  esac
  for program in sacct "$dlest"; do
    command -v "$program" >/dev/null 2>&1 || { say "no $program"; return; }
  done
  found=$(measurement)
  say "job $job"
  echo "${found:-  not in the accounting yet}"
  [ -n "${DLEST_ARCH:-}" ] || return
  found=$(estimate)
  say 'estimated before'
  echo "${found:-  no estimate for $DLEST_ARCH}"
}

trap 'exit 0' HUP INT TERM
if [ -n "${DLEST_EPILOG_FILE:-}" ]; then
  main >>"$DLEST_EPILOG_FILE" 2>/dev/null
else
  main 2>/dev/null
fi
exit 0
