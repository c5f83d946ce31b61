#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: recordings of several nodes as one run. Expected energies are
# power times time.

bats_require_minimum_version 1.5.0
load ../common

# node FILE HOST CLOCK WATTS...: a recording of 100 s, of GPUs that draw so much,
# on a node whose clock is CLOCK seconds off, and the ends of its four epochs
node() {
  local file=$1 host=$2 clock=$3
  shift 3
  {
    echo "# dlest record"
    echo "# host: $host"
    echo "# job: ${job-77.0}"
    echo "# node: 0 of ${nodes-2}"
    awk -v clock="$clock" -v watts="$*" 'BEGIN {
      n = split(watts, w, " ")
      printf "timestamp"
      for (i = 1; i <= n; i++)
        printf ",gpu%d_power_w", i - 1
      print ""
      for (t = 0; t <= 100; t++) {
        printf "%d", 1700000000 + t + clock
        for (i = 1; i <= n; i++)
          printf ",%g", w[i]
        print ""
      }
    }'
  } >"$file.csv"
  {
    echo epoch,end_time
    for e in 0 1 2 3; do
      echo "$e,$((1700000000 + 25 * (e + 1) + clock))"
    done
  } >"$file-epochs.csv"
}

@test "nodes of a job are one run, their clocks aligned by the epochs" {
  node a one 0 100 200
  node b two -30 300
  try extract ./*.csv --format json
  [ "$status" -eq 0 ]
  check '.runs | length == 1'
  check '.runs[0] | .n_gpus == 3 and .n_nodes == 2 and .epochs == 4 and
    .gpu_energy_j == 60000 and .duration_s == 100 and .gpu_power_w == 600 and
    .boundary == "gpu" and .gpus_per_node == null'
  grep -q "$(message times_moved_node b.csv '+30.000')" err
  node a one 0 400
  node b two -30 200
  "$DLEST" extract --epochs ./*.csv --format json >out 2>err
  check '[.epochs[].energy_j] == [15000, 15000, 15000, 15000]'
  # Parts add up, in any order of the files.
  "$DLEST" extract --epochs b.csv b-epochs.csv a.csv a-epochs.csv \
    --format json >out 2>err
  check '[.epochs[].energy_j] | add == 60000'
  check '.epochs | length == 4'
}

# peaks FILE HOST AT WATTS FROM: 100 W, but WATTS at AT s; the clock begins at FROM
peaks() {
  {
    printf '# dlest record\n# host: %s\n# job: 5\n# node: 0 of 2\n' "$2"
    awk -v at="$3" -v w="$4" -v from="$5" 'BEGIN {
      print "timestamp,gpu0_power_w"
      for (t = from; t < from + '"${n-60}"'; t++)
        printf "%d,%g\n", 1700000000 + t, t == at ? w : 100 }'
  } >"$1"
}

@test "the peak power of nodes is that of the same time" {
  peaks a.csv one 10 400 0
  peaks b.csv two 10 300 0
  "$DLEST" extract a.csv b.csv --format json >out
  check '.runs[0].gpu_peak_w == 700'
  peaks b.csv two 20 300 0
  "$DLEST" extract a.csv b.csv --format json >out
  check '.runs[0].gpu_peak_w == 500'
  # before the other node's recording
  peaks a.csv one 61 150 2
  peaks b.csv two 1 350 0
  "$DLEST" extract a.csv b.csv --format json >out 2>err
  check '.runs[0].gpu_peak_w == 350'
  # More samples than are kept: means of them say nothing of the peak.
  n=140000
  peaks a.csv one 10 400 0
  peaks b.csv two 10 300 0
  "$DLEST" extract a.csv b.csv --format json >out
  check '.runs[0].gpu_peak_w == null'
}

@test "without marks the clocks count, and a node that is late is seen" {
  node a one 0 100
  node b two 20 100
  rm ./*-epochs.csv
  "$DLEST" extract a.csv b.csv --format json >out 2>err
  # 200 W for 80 s, 100 W for 20 s before and 20 s behind.
  check '.runs[0] | .gpu_energy_j == 20000 and .duration_s == 120 and
    .gpus_per_node == 1'
  grep -q "$(message covers_of_run b.csv 100 120)" err
}

@test "--join joins what does not name its job, --no-join nothing" {
  job='' node a one 0 100
  job='' node b two 0 200
  rm ./*-epochs.csv
  "$DLEST" extract a.csv b.csv --format json >out 2>err
  check '.runs | length == 2'
  "$DLEST" extract --join a.csv b.csv --format json >out
  check '.runs | length == 1 and .[0].gpu_energy_j == 30000'
  node a one 0 100
  node b two 0 200
  "$DLEST" extract --no-join a.csv b.csv --format json >out
  check '.runs | length == 2'
  misused extract "$(message option_without join no-join)" --join --no-join \
    a.csv || grep -q -e --join err
}

@test "what would count twice" {
  job='' node a one 0 100
  rm a-epochs.csv
  ln -s a.csv link.csv
  for name in a.csv ./a.csv link.csv; do
    gives 3 "dlest: warning: $(message same_file_twice $name)
dlest: 1 row skipped" extract --join a.csv $name --format json || true
    check '.runs | length == 1 and .[0].gpu_energy_j == 10000'
  done
  # Of the same host: perhaps of other devices.
  job='' node b one 0 101
  rm b-epochs.csv
  gives 0 "dlest: warning: b.csv: $(message of_the_same_host one)" \
    extract --join a.csv b.csv --format json
}

@test "what does not belong together" {
  # Two runs of one node in a job: which of them is joined is not guessed.
  node a one 0 100
  node b two 0 200
  node c one 500 100
  rm ./*-epochs.csv
  try extract a.csv b.csv c.csv --format json
  check '.runs | length == 3'
  grep -q "$(message recordings_not_joined 77.0 one)" err
  # No time in common.
  try extract --join a.csv c.csv
  [ "$status" -eq 3 ]
  grep -q "$(message no_time_in_common c.csv)" err
  # A node whose recording is missing.
  try extract a.csv
  [ "$status" -eq 0 ]
  grep -q "$(message one_of_nodes a.csv 2)" err
  nodes=3 node a one 0 100
  nodes=3 node b two 0 100
  try extract a.csv b.csv
  grep -q "$(message some_of_nodes a.csv 2 3)" err
}

@test "measurements on some of the nodes only" {
  node a one 0 100
  node b two 0 200
  rm ./*-epochs.csv
  sed -i -e 's/^timestamp.*/&,cpu0_power_w/' -e '/^1/s/$/,50/' b.csv
  try extract a.csv b.csv --format json
  check '.runs[0] | .gpu_energy_j == 30000 and .cpu_energy_j == null and
    .boundary == "gpu"'
  grep -q "$(message known_of_some_nodes a.csv CPUs 1 2)" err
}

@test "recordings of two nodes, made by dlest record" {
  library=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record
  [ -f "$library/libnvidia-ml.so.1" ] || skip "no made driver"
  ! nm -D "$DLEST" | grep -q __asan_init || export ASAN_OPTIONS=detect_leaks=0
  export LD_LIBRARY_PATH=$library DLEST_SYSFS=$PWD/none FAKE_NVML_PERIOD=0
  command -v unshare >/dev/null || skip "no unshare(1)"
  unshare --uts true 2>/dev/null || skip "no name spaces"
  for rank in 0 1; do
    # shellcheck disable=SC2016 # of the program
    GROUP_RANK=$rank GROUP_WORLD_SIZE=2 TORCHELASTIC_RUN_ID=r1 unshare --uts \
      sh -c 'hostname node$0; exec "$1" record -q --trace "{job}-{host}.csv" \
        --interval 50ms -- sh -c "for i in 0 1 2; do
          sleep 0.5; echo epoch \$i >\$DLEST_MARKS; done"' $rank "$DLEST" &
  done
  wait
  ls
  "$DLEST" extract r1-node*.csv --format json >out
  check '.runs | length == 1'
  check '.runs[0] | .n_gpus == 4 and .n_nodes == 2 and .gpus_per_node == 2 and
    .epochs == 3 and (.gpu_energy_j / .duration_s / 900 | . > 0.9 and . < 1.02)'
}
