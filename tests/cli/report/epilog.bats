#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# contrib/slurm/epilog.sh, with an sacct that this test writes.

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir bin
  ln -s "$DLEST" bin/dlest
  export PATH=$PWD/bin:$PATH
  export SLURM_JOB_ID=77
  unset SLURM_GPUS_ON_NODE "${!DLEST_EPILOG@}" DLEST_ARCH DLEST_REPORT
  sacct_says 'cat <<END
JobID|State|ElapsedRaw|Start|NNodes|ConsumedEnergyRaw|AllocTRES|TRESUsageInAve
77|RUNNING|36000|2024-05-01T00:00:00|1|36000000|gres/gpu:a100=1|
77.0|COMPLETED|36000|2024-05-01T00:00:00|1|36000000|gres/gpu:a100=1|gres/gpuutil=75
END'
}

# sacct_says SCRIPT
sacct_says() {
  printf '#!/bin/sh\necho "$@" >>sacct.args\n%s\n' "$1" >bin/sacct
  chmod +x bin/sacct
}

epilog() { run sh "$TOP_SRCDIR/contrib/slurm/epilog.sh" "$@"; }

# fails TEXT: nothing but a word of it, and status 0
quiet_but() {
  [ "$status" -eq 0 ]
  [ "$output" = "$1" ]
}

@test 'it is sound shell' {
  sh -n "$TOP_SRCDIR/contrib/slurm/epilog.sh"
  command -v shellcheck >/dev/null || skip 'no shellcheck'
  shellcheck "$TOP_SRCDIR/contrib/slurm/epilog.sh"
}

@test 'what the job took' {
  epilog
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = 'dlest epilog: job 77' ]
  [[ ${lines[3]} =~ ^77\ .*25\.0.*10\.0.*measured.*node ]]
  [ "${#lines[@]}" -eq 4 ]
  grep -q -- '-j 77 -P -o JobID,.*TRESUsageInAve' sacct.args
}

@test 'what was estimated before, too' {
  DLEST_ARCH=resnet50 DLEST_GPU=a100 DLEST_EPOCHS=45 \
    DLEST_PREDICT='--method tdp --duration 10h' \
    DLEST_REPORT='--country FR --pue 1.2' epilog
  [ "$status" -eq 0 ]
  [[ $output == *'dlest epilog: estimated before'* ]]
  # 400 W for 10 h
  [[ $output =~ Energy\ +4\.00\ kWh ]]
  [[ $output == *emissions* ]]
}

@test 'a job of its own, and a file' {
  DLEST_EPILOG_FILE=$PWD/log epilog 12_3
  quiet_but ''
  grep -q '^dlest epilog: job 12_3$' log
  grep -q -- '-j 12_3 ' sacct.args
}

@test 'an older Slurm' {
  sacct_says 'case "$*" in *TRESUsage*) exit 1 ;; esac
    printf "JobID|State|ElapsedRaw|ConsumedEnergyRaw\n77|COMPLETED|60|36000\n"'
  epilog
  [ "$status" -eq 0 ]
  [[ $output == *0.0100*measured* ]]
}

@test 'it never fails' {
  SLURM_JOB_ID='' epilog
  quiet_but "dlest epilog: no job ''"
  epilog '1; rm -rf x'
  quiet_but "dlest epilog: no job '1; rm -rf x'"
  DLEST_PROGRAM=/nowhere/dlest epilog
  quiet_but 'dlest epilog: no /nowhere/dlest'
  sacct_says 'exit 1'
  epilog
  quiet_but 'dlest epilog: job 77
  not in the accounting yet'
  sacct_says 'echo garbage'
  epilog
  [ "$status" -eq 0 ]
  DLEST_ARCH=no-such-network epilog
  [ "$status" -eq 0 ]
  [[ $output == *'no estimate for no-such-network'* ]]
  rm bin/sacct # and none of the machine's own
  ln -s "$(command -v sh)" "$(command -v sed)" "$(command -v timeout)" bin
  PATH=$PWD/bin epilog
  quiet_but 'dlest epilog: no sacct'
}

@test 'it never waits for long' {
  command -v timeout >/dev/null || skip 'no timeout'
  sacct_says 'exec sleep 600'
  SECONDS=0
  DLEST_EPILOG_SECONDS=1 epilog
  quiet_but 'dlest epilog: job 77
  not in the accounting yet'
  [ "$SECONDS" -lt 30 ]
}
