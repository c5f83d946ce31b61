#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Accounting: slices of a GPU, nodes that jobs share, what was not measured.

load ../common

head='JobID|State|ElapsedRaw|Start|NodeList|NTasks|ConsumedEnergyRaw|AllocTRES|TRESUsageInAve'

# jobs FILE LINE...: what sacct printed
jobs() {
  local file=$1
  shift
  printf '%s\n' "$head" "$@" >"$file"
}

# total KEY FILE...: of the report
total() {
  local key=$1
  shift
  "$DLEST" report "$@" -q -f json | jq ".total.$key"
}

is() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 1e-9 * b && b - a < 1e-9 * b) }'; }

# An A100 draws 400 W, an A30 165 W, an H100 700 W.
@test 'slices of a GPU count by their share of it' {
  one() { jobs a.txt "1|COMPLETED|3600|2024-03-01T10:00:00|||| $1|"; }
  local type share watts
  while read -r type share watts; do
    one "cpu=4,gres/gpu:$type=1,gres/gpu=1"
    is "$(total gpu_s a.txt --gpu 1g.10gb=h100)" "$(awk "BEGIN { printf \"%.9f\", 3600 * $share }")"
    is "$(total energy_j a.txt --gpu 1g.10gb=h100)" "$(awk "BEGIN { printf \"%.9f\", 3600 * $share * $watts }")"
  done <<'END'
a100 1/1 400
a100_1g.5gb 1/7 400
a100_3g.20gb 3/7 400
a100-sxm4-40gb:2g.10gb 2/7 400
nvidia_a100_80gb_pcie_mig_1g.10gb 1/7 300
1g.10gb 1/7 700
a30_1g.6gb 1/4 165
END
  # several types: 2 of 1/7 and 1 of 3/7
  one 'gres/gpu:a100_1g.5gb=2,gres/gpu:a100_3g.20gb=1,gres/gpu=3'
  is "$(total gpu_s a.txt)" "$(awk 'BEGIN { printf "%.9f", 3600 * 5 / 7 }')"
  # the user says that the GPUs of a partition are slices
  one 'gres/gpu=1'
  is "$(total gpu_s a.txt --gpu a100_2g.10gb)" "$(awk 'BEGIN { printf "%.9f", 3600 * 2 / 7 }')"
  # a table of runs
  table run_id,gpu,n_gpus,duration_s,energy_j r,a100_1g.5gb,7,3600,
  is "$(total energy_j runs.csv)" 1440000
}

# F: an upper bound of 400 W for an hour where nothing was measured
@test 'a use of 0 with 0 of memory is not measured' {
  use() {
    jobs a.txt '1|COMPLETED|3600|2024-03-01T10:00:00||||gres/gpu:a100=1,gres/gpu=1|' \
      "1.batch|COMPLETED|3600|2024-03-01T10:00:00||1|||$1"
  }
  for none in gres/gpumem=0,gres/gpuutil=0 'cpu=00:56:24,energy=0,gres/gpumem=0M,gres/gpuutil=0' ''; do
    use "$none"
    [ "$(total energy_j a.txt)" = 1440000 ]
    [ "$(total idle_gpu_share a.txt)" = null ]
  done
  use gres/gpumem=500M,gres/gpuutil=0 # idle
  [ "$(total idle_gpu_share a.txt)" = 1 ]
  use gres/gpumem=0,gres/gpuutil=100
  [ "$(total idle_gpu_share a.txt)" = 0 ]
}

# A node of 1 kW.
@test 'the energy of a node that jobs share counts once' {
  jobs a.txt '1|COMPLETED|7200|2024-03-01T10:00:00|n1||7200000|cpu=4|' \
    '2|COMPLETED|3600|2024-03-01T11:00:00|n1||3600000|cpu=4|' \
    '3|COMPLETED|3600|2024-03-01T11:30:00|n1||3600000|cpu=4|' \
    '4|COMPLETED|3600|2024-03-01T12:30:00|n1||3600000|cpu=4|'
  gives 0 "dlest: warning: $(message jobs_on_shared_nodes 2 s 1.5)" report a.txt -f json
  check '[.jobs[].energy_j] == [7200000, 0, 1800000, 3600000]'
  { head -n 1 a.txt; tail -n +2 a.txt | tac; } >b.txt
  [ "$(total energy_j b.txt)" = 12600000 ]
  gives 0 "dlest: warning: $(message jobs_on_shared_nodes 2 s 1.5)" extract a.txt -f csv
  # of several nodes: one of two is shared
  jobs a.txt '1|COMPLETED|3600|2024-03-01T10:00:00|n[01-03]||10800000|cpu=4|' \
    '2|COMPLETED|3600|2024-03-01T10:00:00|n03,gpu7||7200000|cpu=4|' \
    '3|COMPLETED|3600|2024-03-01T10:00:00|n[3,1],m[1-2,4]x||18000000|cpu=4|'
  [ "$(total energy_j a.txt)" = 32400000 ]
  # one after the other, at other times or on other nodes, with clocks that round
  jobs a.txt '1|COMPLETED|3600|2024-03-01T10:00:00|n1||3600000|cpu=4|' \
    '2|COMPLETED|3600|2024-03-01T10:59:59|n1||3600000|cpu=4|' \
    '3|COMPLETED|3600|2024-03-01T10:00:00|n2||3600000|cpu=4|' \
    '4|COMPLETED|3600|2024-03-01T10:00:00|None assigned||3600000|cpu=4|' \
    '5|COMPLETED|3600|Unknown|n1||3600000|cpu=4|' \
    '6|RUNNING|3600|2024-03-02T10:00:00|n1||3600000|cpu=4|'
  gives 0 '' report a.txt -f json
  check '.total.energy_j == 21600000'
  # a shard has not all of them
  try report a.txt --shard 1/1
  grep -qx "dlest: warning: $(message shares_of_a_shard)" err
}
