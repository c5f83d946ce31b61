#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest under a real Slurm: job arrays of contrib/slurm, the epilog, and what
# sacct and sstat print. TAP. Starts a cluster of its own (cluster.bash), and
# stops it whatever happens.
#
#   check-slurm.sh DLEST TOP_SRCDIR
# shellcheck disable=SC2317 # functions that ok calls
set -euo pipefail
dlest=$(realpath "$1")
top=$(realpath "$2")
# shellcheck source=tests/environment
. "$top/tests/environment"
# shellcheck source=tests/slurm/cluster.bash
. "$top/tests/slurm/cluster.bash"

skip_all() { echo "1..0 # SKIP $1"; exit 0; }
[ "$(id -u)" -eq 0 ] || skip_all 'needs root: slurmd starts jobs as their user'
absent=$(cluster_missing)
[ -z "$absent" ] ||
  skip_all "not installed: $absent (Debian: slurm-wlm slurmdbd mariadb-server)"

work=$(mktemp -d "${TMPDIR:-/tmp}/dlest-slurm.XXXXXX")
stop() {
  trap - EXIT
  cluster_stop
  rm -rf "$work"
}
trap stop EXIT
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM HUP

n=0
failed=0
# ok DESCRIPTION COMMAND...
ok() {
  local what=$1
  shift
  n=$((n + 1))
  if "$@" >"$work/said" 2>&1; then
    echo "ok $n - $what"
  else
    echo "not ok $n - $what"
    tail -n 60 "$work/said" | sed 's/^/# /'
    failed=$((failed + 1))
  fi
}

# message KEY ARG...: as tests/cli/common.bash has it
message() {
  local text
  text=$(awk -F '\t' -v key="$1" '$1 == key { print $2 }' \
    "$top/tests/messages")
  shift
  # shellcheck disable=SC2059 # the text is a format
  printf -- "$text" "$@"
}

# done_within SECONDS JOB: whether the job has left the queue by then
done_within() { wait_for "$1" sh -c "! squeue -h -j $2 2>/dev/null | grep -q ."; }

# --- data

# Logs of 12 trainings: six configurations, each twice.
make_logs() {
  local i=0 arch batch
  mkdir -p logs
  for arch in resnet50 vgg16 alexnet; do
    for batch in 32 64; do
      for _ in 1 2; do
        i=$((i + 1))
        awk -v n=60 -v watts=$((100 + 10 * i)) 'BEGIN {
          print "timestamp, index, name, power.draw [W], utilization.gpu [%]"
          for (t = 0; t < n; t++)
            printf "2024-03-05 10:00:%02d.000, 0, A100, %.2f W, 50 %%\n",
              t, watts + t % 7 }' >"logs/gpu-$arch-$batch-$i.csv"
      done
    done
  done
  ls logs/*.csv >logs.txt
}

settings=(--path-pattern 'gpu-{arch}-{batch_size}-{run_id}.csv'
  --set gpu=a100-pcie-40gb --set image_px=224 --set train_samples=50000
  --set epochs=1)
fit=(--target gpu_power_w --features 'log(batch_size), log(macs_g)' --log
  --method ols --cv none)

# --- checks

extract_array() {
  local array last
  array=$(sbatch --parsable --array=1-5 -o "$work/%A_%a.out" --cpus-per-task=1 \
    "$top/contrib/slurm/extract-array.sh" logs.txt runs "${settings[@]}") &&
    last=$(sbatch --parsable --dependency="afterok:$array" -o "$work/fit.out" \
      --cpus-per-task=1 "$top/contrib/slurm/fit-means.sh" runs "${fit[@]}") &&
    done_within 60 "$last" && [ -s runs/model.xml ] && return
  squeue
  cat "$work"/*.out
  return 1
}

same_runs() {
  "$dlest" extract --files-from logs.txt "${settings[@]}" -f csv -o all.csv \
    --quiet &&
    [ "$(wc -l <all.csv)" -eq 13 ] &&
    { head -n 1 all.csv; tail -q -n +2 runs/runs-?.csv; } | diff all.csv -
}

# The coefficients of the model, one on each line.
coefficients() { grep -o '<array [^<]*' "$1" | sed 's/.*>//' | tr ' ' '\n'; }

same_model() {
  "$dlest" fit all.csv "${fit[@]}" -o all.xml --quiet >/dev/null &&
    paste <(coefficients all.xml) <(coefficients runs/model.xml) | awk '
      { d = $1 / $2 - 1 }
      d > 1e-9 || d < -1e-9 { bad = 1; print }
      END { exit bad || NR < 3 }'
}

# Any spacing of the tasks, and no job array at all.
other_arrays() {
  local array
  array=$(sbatch --parsable --array=2-8:3 -o "$work/%A_%a.out" --wrap "
    '$dlest' extract --files-from logs.txt ${settings[*]} -q -f csv \
      --shard auto -o part-\$SLURM_ARRAY_TASK_ID.csv") &&
    done_within 30 "$array" || return
  "$dlest" extract --files-from logs.txt "${settings[@]}" -q -f csv >whole.csv
  { head -n 1 whole.csv; tail -q -n +2 part-2.csv part-5.csv part-8.csv; } |
    diff whole.csv - || return
  array=$(sbatch --parsable --array=1,2,5 -o "$work/uneven-%a.out" --wrap "
    '$dlest' extract --files-from logs.txt --shard auto") &&
    done_within 30 "$array" || return
  diff "$work/uneven-5.out" <(echo "dlest: $(message shard_uneven)")
}

columns=JobID,JobName,User,Account,Partition,State,ElapsedRaw,Start,NNodes
columns+=,NCPUS,NTasks,TotalCPU,ConsumedEnergyRaw,AllocTRES,TRESUsageInTot
columns+=,TRESUsageInAve

gpu_job() {
  local job
  job=$(sbatch --parsable --gres=gpu:a100:2 -o "$work/gpu.out" --wrap "
    srun sleep 6
    DLEST_PROGRAM='$dlest' sh '$top/contrib/slurm/epilog.sh'") || return
  wait_for 20 sh -c "squeue -h -j $job -o %T | grep -q RUNNING" || return
  sleep 2
  sstat -a -j "$job" >sstat.txt
  sstat -a -P -j "$job" -o JobID,ConsumedEnergyRaw >sstat-p.txt
  echo "$job" >gpu.job
  done_within 30 "$job"
}

# Jobs and their seconds are those of sacct; 500 W a node; 2 GPUs in one job.
report_sacct() {
  local job
  job=$(cat gpu.job)
  sacct -a -P -o "$columns" >sacct.txt || return
  "$dlest" report sacct.txt -q --node-power 500 --by job -f json >jobs.json ||
    return
  awk -F '|' 'NR > 1 && $1 !~ /\./ && $6 !~ /PENDING/ { n++; s += $7 }
    END { print n, 500 * s }' sacct.txt >want
  jq -r '"\(.total.jobs) \(.total.energy_j)"' jobs.json | diff want - || return
  jq -e --arg job "$job" '.jobs[] | select(.run_id == $job) |
    .gpu == "a100" and .n_gpus == 2 and .user == "root" and
    .partition == "main" and .state == "COMPLETED" and .duration_s >= 6' \
    jobs.json || { cat jobs.json; return 1; }
}

# The same table in columns of fixed width, and in other layouts.
report_layouts() {
  local wide=${columns//,/%60,}%60
  sacct -a -o "$wide" >wide.txt
  sacct -a -p -o "$columns" >parsable.txt
  sacct -a -P --delimiter=';;' -o "$columns" >delimiter.txt
  for layout in wide parsable delimiter; do
    "$dlest" report "$layout.txt" -q --node-power 500 --by job -f json |
      jq '[.jobs, .total]' | diff <(jq '[.jobs, .total]' jobs.json) - || return
  done
}

totals_of_shards() {
  local array
  array=$(sbatch --parsable --array=1-3 -o "$work/%A_%a.out" --cpus-per-task=1 \
    "$top/contrib/slurm/report-array.sh" totals \
    '--by user,month --node-power 500' "$PWD/sacct.txt") &&
    done_within 30 "$array" || return
  "$dlest" report sacct.txt -q --by user,month --node-power 500 -f csv |
    diff - <("$dlest" report totals/totals-?.csv -f csv)
}

default_columns() {
  sacct -a >default.txt
  sacct -a -P >default-p.txt
  local file status
  for file in default.txt default-p.txt; do
    status=0
    "$dlest" report "$file" >said.out 2>said.err || status=$?
    cat said.out said.err
    [ "$status" -eq 3 ] && [ ! -s said.out ] &&
      grep -q "^dlest: $file: .*ElapsedRaw" said.err || return
  done
}

# A cluster without sensors has no energy: it stays unknown.
read_sstat() {
  local file job
  job=$(cat gpu.job)
  for file in sstat.txt sstat-p.txt; do
    cat "$file"
    "$dlest" extract "$file" --quiet -f json >said.json || return
    jq -e --arg job "$job" '.runs | length == 1 and (.[0] |
      .run_id == $job and .energy_j == null and .node_energy_j == null and
      .format == "sstat")' said.json || return
  done
}

epilogs_of() {
  local found
  found=$(grep -c '^dlest epilog: job' "$work/epilog.log")
  echo "$found epilogs"
  [ "$found" -eq "$1" ]
}

epilogs() {
  local job
  job=$(cat gpu.job)
  cat "$work/gpu.out" "$work/epilog.log"
  grep -q "^dlest epilog: job $job\$" "$work/gpu.out" &&
    grep -q "^$job .*RUNNING" "$work/gpu.out" || return
  # slurmctld runs it for each job and array task: 5 + 1 + 3 + 3 + 1 + 3.
  wait_for 20 epilogs_of 16 || { epilogs_of 16; return 1; }
  grep -q "^$job .* node-power *node" "$work/epilog.log"
}

cat >"$work/epilog" <<END
#!/bin/sh
export SLURM_CONF='$work/cluster/slurm.conf' PATH='$PATH'
export DLEST_PROGRAM='$dlest' DLEST_DATADIR='${DLEST_DATADIR:-$top}'
export DLEST_EPILOG_FILE='$work/epilog.log' DLEST_REPORT='--node-power 500'
exec sh '$top/contrib/slurm/epilog.sh'
END
chmod +x "$work/epilog"
export DLEST_PROGRAM=$dlest DLEST_DATADIR=${DLEST_DATADIR:-$top}
cd "$work" || exit 1
ok 'the cluster starts' cluster_start "$work/cluster" "$work/epilog"
if [ "$failed" -gt 0 ]; then
  cluster_logs
  echo "1..$n"
  exit 1
fi
make_logs
ok 'extract-array.sh and fit-means.sh: an array, then a fit' extract_array
ok 'the runs of the array are those of one process' same_runs
ok 'the coefficients of the means are those of all runs, to 1e-9' same_model
ok '--shard auto: any even spacing; uneven arrays are refused' other_arrays
ok 'a job with two GPUs and a step' gpu_job
ok 'report: jobs and seconds of sacct -P' report_sacct
ok 'report: other layouts of sacct' report_layouts
ok 'report-array.sh: totals of shards are those of all jobs' totals_of_shards
ok 'report: default columns of sacct are refused' default_columns
ok 'extract: sstat of a cluster without sensors, energy unknown' read_sstat
ok 'epilog.sh, in a job and as EpilogSlurmctld' epilogs
echo "1..$n"
exit $((failed > 0))
