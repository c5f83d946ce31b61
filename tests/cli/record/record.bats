#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest record, on GPUs of a made driver's library (tests/record/fake_nvml.c) and
# a made sysfs. GPU 0 draws 200 W and GPU 1 250 W.

bats_require_minimum_version 1.5.0
load ../common
load record

@test "energy of the GPUs: power times time, and by their counters" {
  record
  seconds=$(jq .duration_s out)
  within 1 "$seconds" 2
  within 0.98 "$(jq ".gpu_energy_j / (450 * $seconds)" out)" 1.02
  jq -e '.boundary == "gpu" and (.devices | length == 2)' out
  # Equal GPUs differ by their indices.
  jq -e '[.devices[].device] == ["NVIDIA A100-SXM4-40GB (0)",
    "NVIDIA A100-SXM4-40GB (1)"]' out
  within 0.98 "$(jq ".devices[1].energy_j / (250 * $seconds)" out)" 1.02
  FAKE_NVML_NO_POWER=1 record
  within 0.98 "$(jq '.gpu_energy_j / (450 * .duration_s)' out)" 1.02
  FAKE_NVML_OLD=1 record
  within 0.98 "$(jq '.gpu_energy_j / (450 * .duration_s)' out)" 1.02
}

@test "an energy counter that begins anew" {
  FAKE_NVML_GPUS=1 FAKE_NVML_NO_POWER=1 FAKE_NVML_RESET=0.5 record
  within 0.85 "$(jq '.gpu_energy_j / (200 * .duration_s)' out)" 1.02
}

@test "a GPU that falls off the bus" {
  FAKE_NVML_LOST=0.55 record --trace t.csv
  [ "$(grep -c "$(message record_lost nvml 'NVIDIA A100-SXM4-40GB')" err)" -eq 1 ]
  # The other one is measured to the end.
  within 0.98 "$(jq '.devices[0].energy_j / (200 * .duration_s)' out)" 1.02
  within 80 "$(jq '.devices[1].energy_j' out)" 200
  grep -q ',,,,$' t.csv
}

@test "RAPL: a counter that wraps around" {
  zone package-0 intel-rapl:0 262143328850 262143000000
  zone dram intel-rapl:0:0 65712999613 1000000
  zone core intel-rapl:0:1 262143328850 5000000
  (
    sleep 0.5
    echo 10000000 >sys/class/powercap/intel-rapl:0/energy_uj
    echo 31000000 >sys/class/powercap/intel-rapl:0:0/energy_uj
    echo 99000000 >sys/class/powercap/intel-rapl:0:1/energy_uj
  ) &
  FAKE_NVML_GPUS=0 record
  # 262143.32885 - 262143 + 10 J; 31 - 1 J; cores are part of their package.
  jq -e '(.cpu_energy_j - 10.32885 | fabs) < 1e-3 and
    (.ram_energy_j - 30 | fabs) < 1e-3 and .boundary == "cpu+ram"' out
}

@test "RAPL that only root may read: how to be allowed" {
  user=()
  if [ "$(id -u)" -eq 0 ]; then
    user=(setpriv --reuid 65534 --clear-groups)
    "${user[@]}" ls "$PWD" "$DLEST" >/dev/null || skip "root may read all"
  fi
  zone package-0 intel-rapl:0 262143328850 1
  chmod 000 sys/class/powercap/intel-rapl:0/energy_uj
  "${user[@]}" "$DLEST" list sensors --format json >out
  jq -e '.notes[] | select(.kind == "powercap") | .note | contains("chmod a+r")' \
    out
}

@test "AMD and Intel GPUs, Jetson, a node's meter" {
  chip 0 amdgpu power1_average 300000000 power1_cap 500000000
  echo 87 >sys/class/hwmon/hwmon0/device/gpu_busy_percent
  chip 1 xe energy1_input 5000000
  chip 2 ina3221 in1_label VDD_IN in1_input 5000 curr1_input 4000 \
    in2_label VDD_CPU_CV in2_input 5000 curr2_input 1000
  chip 3 xe energy2_input 7000000
  chip 4 coretemp temp1_input 40000
  FAKE_NVML_GPUS=0 "$DLEST" list sensors --format json >out
  jq -c '.sensors[] | [.kind, .part, .power_w, .counter, .limit_w]' out >found
  diff - found <<'EOF'
["hwmon","GPU",300,false,500]
["hwmon","GPU",null,true,null]
["hwmon","GPU",null,true,null]
["jetson","node",20,false,null]
["jetson","CPU",5,false,null]
EOF
  # Of two meters of the node the first one counts.
  chip 5 power_meter power1_average 700000000
  FAKE_NVML_GPUS=0 "$DLEST" list sensors --format json >out
  check '[.sensors[] | select(.part == "node")] | length == 1'
  rm -r sys/class/hwmon/hwmon2
  FAKE_NVML_GPUS=0 "$DLEST" list sensors --format json >out
  check '.sensors[] | select(.kind == "acpi") | .power_w == 700'
}

@test "Cray: sockets are part of the CPU's counter" {
  mkdir -p sys/cray/pm_counters
  for x in "power 1200 W" "energy 5000 J" "cpu_power 200 W" \
    "cpu0_power 100 W" "accel0_power 300 W" "accel0_energy 777 J"; do
    echo "${x#* } 1700000000000000 us" >"sys/cray/pm_counters/${x%% *}"
  done
  FAKE_NVML_GPUS=0 "$DLEST" list sensors --format json >out
  jq -c '.sensors[] | [.part, .id, .power_w, .counter]' out >found
  diff - found <<'EOF'
["node","",1200,true]
["CPU","cpu",200,false]
["GPU","accel0",300,true]
EOF
}

@test "which GPUs: as the program sees them, or as an option names them" {
  gpus() { jq -c '[.devices // [] | .[].energy_j] | length' out; }
  CUDA_VISIBLE_DEVICES=1 record --set a=b
  within 0.98 "$(jq '.gpu_energy_j / (250 * .duration_s)' out)" 1.02
  CUDA_VISIBLE_DEVICES=GPU-000000a0 record
  within 0.98 "$(jq '.gpu_energy_j / (200 * .duration_s)' out)" 1.02
  CUDA_VISIBLE_DEVICES=1 record --gpus all
  within 0.98 "$(jq '.gpu_energy_j / (450 * .duration_s)' out)" 1.02
  SLURM_JOB_GPUS=0 record
  within 0.98 "$(jq '.gpu_energy_j / (200 * .duration_s)' out)" 1.02
  CUDA_VISIBLE_DEVICES=-1 try record --duration 1s
  [ "$status" -eq 3 ]
}

@test "a program: its output, its exit status, its signals" {
  try record --no-trace -- sh -c 'echo out; echo err >&2; exit 7'
  [ "$status" -eq 7 ]
  [ "$(cat out)" = out ]
  grep -qx err err
  try record --no-trace -q -- sh -c 'kill -9 $$'
  [ "$status" -eq 137 ]
  [ "$(ls)" = "$(printf '%s\n' err out sys)" ]
  gives 2 "dlest: $(message cannot_be_started ./none 'No such file or directory')" \
    record -q -- ./none
  [ "$(ls)" = "$(printf '%s\n' err out sys)" ]
  # SIGTERM goes to the program, and the summary still comes.
  "$DLEST" record --no-trace -- sh -c \
    'trap "echo ended; exit 5" TERM; echo ready; while :; do sleep 0.1; done' \
    >out 2>err &
  recorder=$!
  for _ in $(seq 50); do
    ! grep -q ready out || break
    sleep 0.1
  done
  kill "$recorder"
  ended=0
  wait "$recorder" || ended=$?
  [ "$ended" -eq 5 ]
  grep -q ended out
  grep -q '^  Energy' err
}

@test "no sensor: the program is not started" {
  FAKE_NVML_GPUS=0 try record -- touch started
  [ "$status" -eq 3 ]
  grep -q "$(message no_sensor)" err
  [ ! -e started ]
  FAKE_NVML_GPUS=0 try record --allow-none -- sh -c 'touch started; exit 3'
  [ "$status" -eq 3 ]
  [ -e started ]
  [ "$(ls)" = "$(printf '%s\n' err out started sys)" ]
  grep -qxF "dlest: warning: $(message measures_nothing)" err
}

@test "a power that is assumed alone is marked, and makes no run" {
  export FAKE_NVML_GPUS=0
  gives 0 "dlest: warning: $(message assumed_alone 100)" record --cpu-tdp 100 \
    --duration 1.1s -o run.csv --trace t.csv
  grep -q '^  Energy  .* (90 %)  assumed$' out
  grep -q '^  Basis  *CPUs by load and TDP, 100 W$' out
  [ -s t.csv ]
  # As a table: no energy, and what is assumed.
  python3 - <<'END'
import csv
row, = csv.DictReader(open("run.csv"))
assert row["energy_j"] == row["cpu_energy_j"] == "", row
assert row["assumed"] == "CPUs by load and TDP, 100 W", row
low, x, high = (float(row["cpu_estimate_%sj" % k]) for k in ("low_", "", "high_"))
# .15 to .85 of the TDP, for 1.1 s.
assert 15 * 1.1 * 0.9 < x < 85 * 1.3 and low < x < high, row
END
  try calibrate run.csv
  [ "$status" -ne 0 ]
  gives 0 "dlest: warning: $(message assumed_alone 100)" \
    record --cpu-tdp 100 --duration 1.1s --no-trace --format json
  check '.energy_j == null and .devices[0].assumed and .assumed_co2e_g == null'
  within 0 "$(jq '.devices[0].energy_j / .duration_s' out)" 101
  # A budget of energy that nothing measures.
  try record --cpu-tdp 100 --duration 0.2s --no-trace --budget-kwh 1e-9
  [ "$status" -eq 0 ]
  grep -qxF "dlest: warning: $(message budget_unmeasured)" err
}

@test "the program's part of an assumed power" {
  spin='import time
t = time.process_time() + 1
while time.process_time() < t: pass'
  FAKE_NVML_GPUS=0 try record --cpu-tdp 100 --no-trace --format json -o s.json \
    --intensity 360 -- python3 -c "$spin"
  jq -e '.own_cpu_energy_j == null and .cpu_share > 0.1' s.json
  within 0.999 "$(jq '.own_cpu_estimate_j / (.cpu_estimate_j * .cpu_share)' \
    s.json)" 1.001
  within 0.999 "$(jq '.assumed_co2e_g / (.own_cpu_estimate_j / 1e4)' s.json)" \
    1.001
  grep -q '^  Energy  .*  assumed, .* % of the CPUs.* work$' err
  grep -q '^  CO2e .*, of the assumed energy$' err
}

# cpus MODEL SOCKETS CORES: /proc/cpuinfo with two threads per core
cpus() {
  for ((s = 0; s < $2; s++)); do
    for ((c = 0; c < 2 * $3; c++)); do
      printf 'processor\t: %d\nmodel name\t: %s\nphysical id\t: %d\n' \
        $((s * 2 * $3 + c)) "$1" "$s"
      printf 'core id\t\t: %d\n\n' $((c % $3))
    done
  done >cpuinfo
}

@test "no sensor, but CPUs that the catalogue knows" {
  export FAKE_NVML_GPUS=0
  # 2 x 270 W; then 10 of 40 cores of one, as a virtual machine has them, each
  # of its own socket.
  cpus 'Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz' 2 40
  gives 0 "dlest: warning: $(message assumed_alone 540)" \
    record --duration 0.3s --no-trace --format json
  check '.assumed == "CPUs by load and TDP, 540 W of 2 x Intel Xeon Platinum 8380"'
  cpus 'Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz' 10 1
  gives 0 "dlest: warning: $(message assumed_alone 67.5)" \
    record --duration 0.3s --no-trace
  # --cpu-tdp comes first; a sensor before both.
  gives 0 "dlest: warning: $(message assumed_alone 99)" \
    record --duration 0.3s --no-trace --cpu-tdp 99
  FAKE_NVML_GPUS=1 gives 0 '' record --duration 0.3s --no-trace --format json
  check '.assumed == null and .energy_j > 0 and (.devices == null)'
  # A GPU's name is no CPU.
  cpus 'NVIDIA A100-SXM4-40GB' 1 8
  refuses 3 "dlest: $(message no_sensor)" record --duration 0.3s --no-trace
}

@test "the first screen: at most 10 lines of 80 columns" {
  zone package-0 intel-rapl:0 262143328850 1000000
  # shellcheck disable=SC2016 # of the program
  COLUMNS=80 "$DLEST" record --interval 50ms --trace t.csv --epochs 4 \
    --arch resnet50 --dataset cifar10 --batch-size 64 --precision fp32 \
    --country DE --price 0.3EUR -- sh -c 'for i in 0 1 2 3; do
      echo "phase train" >"$DLEST_MARKS"; sleep 0.4
      echo "phase validation" >"$DLEST_MARKS"; sleep 0.1
      echo "epoch $i" >"$DLEST_MARKS"; done' 2>err
  [ "$(grep -c . err)" -le 11 ] # with the hint of --details
  [ "$(wc -L <err)" -le 80 ]
  for label in Energy Power Epoch CO2e Phases Estimate Basis; do
    grep -q "^  $label " err
  done
  grep -q '^  Phases  *train [78]. %, validation [12]. % of the energy$' err
  grep -q '^  Basis .* 4[0-9] samples in t.csv$' err
  # What stands in the way of more is said.
  rm -r sys/class
  "$DLEST" record --no-trace -- sleep 0.2 2>err
  grep -q '^  Better  .*--cpu NAME' err
}

@test "the driver refuses" {
  FAKE_NVML_DENIED=1 try record --duration 1s
  [ "$status" -eq 3 ]
  grep -q 'nvml: Insufficient Permissions' err
}

@test "the recording: complete lines after SIGKILL, and what extract makes" {
  "$DLEST" record --interval 50ms --trace t.csv -q -- sleep 60 &
  recorder=$!
  sleep 1.5
  kill -9 "$recorder"
  wait "$recorder" || true
  pkill -f '^sleep 60$' || true
  [ "$(tail -c 1 t.csv | od -An -c | tr -d ' ')" = '\n' ]
  fields=$(awk -F, '!/^#/ { print NF }' t.csv | sort -u)
  [ "$(wc -l <<<"$fields")" -eq 1 ]
  [ "$(grep -vc '^#' t.csv)" -ge 15 ]
  "$DLEST" extract t.csv --format json >out
  within 0.98 "$(jq '.runs[0] | .gpu_energy_j / (450 * .duration_s)' out)" 1.02
  jq -e '.runs[0].n_gpus == 2' out
}

@test "epochs that the program marks" {
  record_epochs='for i in 0 1 2 3; do
    sleep 0.5; echo "epoch $i" >"$DLEST_MARKS"; echo other >"$DLEST_MARKS"; done'
  "$DLEST" record --interval 50ms --trace t.csv --set arch=resnet50 \
    --set batch_size=32 --set train_samples=64 --set val_samples=0 \
    -o runs.csv -- sh -c "$record_epochs" 2>err
  [ "$(tail -n +2 t-epochs.csv | cut -d, -f1 | tr '\n' ' ')" = '0 1 2 3 ' ]
  grep -q ' s, 4 epochs$' err
  "$DLEST" extract --epochs t.csv t-epochs.csv --format json >out
  jq -e '[.epochs[] | select(.part == "epoch")] | length == 4' out
  # From the second on they take half a second at 450 W.
  within 200 "$(jq '[.epochs[] | select(.epoch == 2)][0].energy_j' out)" 300
  # The row is one of a runs table.
  "$DLEST" predict --input runs.csv --method tdp --format csv -q >estimates.csv
  [ "$(wc -l <estimates.csv)" -eq 2 ]
  head -n 2 runs.csv | tail -n 1 | grep -q 'resnet50,NVIDIA A100-SXM4-40GB,2'
}

@test "epochs that are found in the power" {
  FAKE_NVML_PERIOD=0.8 FAKE_NVML_GPUS=1 "$DLEST" record --interval 20ms \
    --trace t.csv --set x=1 --duration 12s --format json >out
  within 13 "$(jq .epochs out)" 16
}

@test "the projected total, and a budget that stops the program" {
  script='for i in 0 1 2 3 4 5 6 7 8 9; do
    sleep 0.4; echo "epoch $i" >"$DLEST_MARKS"; done'
  # 450 W for 20 epochs of 0.4 s: 1 Wh.
  try record --interval 50ms --no-trace --epochs 20 --budget-kwh 1e-5 \
    --stop-over-budget -- sh -c "$script"
  [ "$status" -eq 4 ]
  grep -q "$(message stopped_over_budget 1e-05)" err
  try record --no-trace --budget-kwh 1e-9 -- true
  [ "$status" -eq 4 ]
  command -v script >/dev/null || skip "no script(1)"
  TERM=xterm timeout 20 script -qec "'$DLEST' record --interval 50ms \
    --no-trace --epochs 20 -- sh -c '$script'" typed >/dev/null
  tr '\r' '\n' <typed | grep -qE '[0-9]+ of 20 epochs, in total .* left'
}

@test "--format html: one page of a recording" {
  "$DLEST" record --interval 100ms --duration 1.1s --no-trace --country FR -q \
    --format html >page.html
  [ "$(grep -c '<!DOCTYPE html>' page.html)" -eq 1 ]
  [ "$(tail -n 1 page.html)" = '</html>' ]
  # two GPUs of 200 and 250 W
  grep -qE '<dt>Energy</dt><dd>[45][0-9]{2} J</dd>' page.html
  [ "$(grep -c '<div class="bar"><div>NVIDIA' page.html)" -eq 2 ]
  browser=$(command -v chromium || command -v chromium-browser) ||
    skip 'no chromium (Debian: chromium)'
  python3 "$TOP_SRCDIR/tests/cli/output/html_page.py" "$browser" page.html
}

@test "--format card and paper: what a recording says of itself" {
  record_text() {
    "$DLEST" record --interval 100ms --duration 1.1s --no-trace -q "$@" >out
  }
  record_text --country FR --format card
  grep -qE '^  emissions: 0\.00[67]' out # 495 J at 56 g/kWh: 7.7 mg
  grep -q '^  source: "dlest .*, measured"$' out
  grep -q '^  geographical_location: "France"$' out
  record_text --format paper
  grep -qE '^The run .*took [45][0-9]{2} J of electricity \(GPUs alone\)' out
}

@test "--pid: until that process ends" {
  sleep 1 &
  "$DLEST" record --pid $! --interval 50ms --no-trace --format json >out
  within 0.7 "$(jq .duration_s out)" 2
}

@test "the cost of recording 8 GPUs ten times a second" {
  command -v python3 >/dev/null || skip "no python3"
  # User and system time of the recorder over 8 s, without its start and end.
  share=$(FAKE_NVML_GPUS=8 python3 -c 'import resource, subprocess, sys
def used(seconds):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(sys.argv[1:] + ["--duration", "%ds" % seconds], check=True,
                   stdout=subprocess.DEVNULL)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
short = used(1)
print((used(9) - short) / 8)' "$DLEST" record --interval 100ms --no-trace -q)
  echo "$share of a core"
  limit=0.01
  ! nm -D "$DLEST" | grep -q __asan_init || limit=0.05
  within -0.01 "$share" $limit
}

@test "the summary in a format goes to --output where a program runs" {
  for format in json html csv; do
    misused record "$(message format_needs_output $format)" --format $format \
      --no-trace -- touch started
  done
  [ ! -e started ]
  try record --no-trace --format json -o s.json -- \
    sh -c 'echo out; sleep 0.3; exit 3'
  [ "$status" -eq 3 ]
  [ "$(cat out)" = out ]
  jq -e '.exit_status == 3 and (.gpu_energy_j / .duration_s / 450 |
    . > 0.98 and . < 1.02) and (.devices | length == 2) and .n_gpus == 2 and
    .gpu == "NVIDIA A100-SXM4-40GB" and .warnings == []' s.json
  grep -q '^  Energy' err
  try record --no-trace --interval 50ms --format html -o s.html -q -- sleep 0.2
  [ "$status" -eq 0 ]
  [ ! -s err ]
  [ "$(head -n 1 s.html)" = '<!DOCTYPE html>' ]
  [ "$(tail -n 1 s.html)" = '</html>' ]
  grep -q 'NVIDIA A100-SXM4-40GB' s.html
  # Without a program standard output is free.
  try record --no-trace --duration 0.2s --format html
  [ "$(tail -n 1 out)" = '</html>' ]
  # Tables get the row.
  for format in csv boamps; do
    try record --no-trace --interval 50ms --format $format -o row -q -- sleep 0.2
    [ "$status" -eq 0 ]
    grep -q 'NVIDIA A100-SXM4-40GB' row
  done
}

@test "a duration and a process end it between two samples" {
  try record --no-trace --duration 0.3s --interval 1h --format json
  within 0.29 "$(jq .duration_s out)" 1.5
  sleep 0.5 &
  try record --no-trace --pid $! --interval 1h --format json
  within 0.2 "$(jq .duration_s out)" 3
}

@test "what it refuses" {
  misused record "$(message program_excludes pid)" --pid 1 -- true
  misused record "$(message program_excludes duration)" --duration 1s -- true
  try record --trace /nonexistent/t.csv -- touch started
  [ "$status" -eq 1 ]
  [ ! -e started ]
  try record -o /nonexistent/runs.csv -- touch started
  [ "$status" -eq 1 ]
  [ ! -e started ]
  [ "$(ls)" = "$(printf '%s\n' err out sys)" ]
}

# Whoever waits for dlest waits for the program, as without the failure.
@test "memory runs out: the program goes on to its end, exit 1" {
  library=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/faults/failing_malloc.so
  [ -f "$library" ] || skip "no library that fails allocations"
  ! nm -D "$DLEST" | grep -q __asan_init || skip "sanitizers have their own"
  zone package-0 intel-rapl:0 262143328850 1000000 # whose processes are found
  # attempt N: with the N-th allocation failing
  attempt() {
    rm -f begun done
    status=0
    FAIL_MALLOC_AT=$1 FAIL_MALLOC_COUNT=count LD_PRELOAD=$library "$DLEST" \
      record --interval 50ms -o row.csv -- env -u LD_PRELOAD \
      sh -c '>begun; sleep 0.2; >done' >out 2>err || status=$?
  }
  attempt 0
  [ "$status" -eq 0 ]
  started=0
  all=$(cat count)
  # Most are before the program starts or after it has ended.
  for at in $(seq $((all / 5)) 2 $((all / 2))); do
    attempt "$at"
    if [ -f begun ]; then
      [ -f done ]
      started=$((started + 1))
    fi
    [ "$status" -eq 1 ] || [ -f row.csv ]
    [ "$status" -eq 0 ] || grep -q 'out of memory' err
    rm -f row.csv
  done
  [ "$started" -gt 0 ]
}
