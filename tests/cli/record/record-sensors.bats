#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest record: sensors that are not read from sysfs alone, GPUs as a program
# sees them, and faults of a recording.

bats_require_minimum_version 1.5.0
load ../common
load record

@test "perf: energy events where RAPL may be read by root only" {
  # The event "cpu-clock" counts 1e9 per second on a CPU: with this scale 1 W.
  local folder=sys/bus/event_source/devices/power
  mkdir -p $folder/events
  echo 1 >$folder/type
  echo 0 >$folder/cpumask
  echo event=0x00 >$folder/events/energy-pkg
  echo 1.0e-9 >$folder/events/energy-pkg.scale
  FAKE_NVML_GPUS=0 record || true
  ! grep -q "$(message perf_denied)" err || skip "no permission for perf"
  [ -s out ] || skip "no perf events here"
  within 0.95 "$(jq '.cpu_energy_j / .duration_s' out)" 1.05
  check '.boundary == "cpu"'
  # RAPL comes first.
  zone package-0 intel-rapl:0 262143328850 1000000
  FAKE_NVML_GPUS=0 "$DLEST" list sensors --format json >out
  check '[.sensors[].kind] == ["powercap"]'
}

# amd N [WATTS...]: a driver with N GPUs, the first of which have a power
amd() {
  local i=0 bus
  export FAKE_AMD_GPUS=$1 FAKE_NVML_GPUS=0
  mkdir -p sys/module/amdgpu
  shift
  for watts; do
    chip "$i" amdgpu power1_average "${watts}000000" power1_cap 750000000
    printf -v bus %02x $((0xc1 + i))
    echo "PCI_SLOT_NAME=0000:$bus:00.0" >sys/class/hwmon/hwmon$i/device/uevent
    echo "AMD Instinct MI300X" >sys/class/hwmon/hwmon$i/device/product_name
    echo "a0b1c2d3e4f5061$i" >sys/class/hwmon/hwmon$i/device/unique_id
    i=$((i + 1))
  done
}

@test "AMD: energy counters by either library, all else by the driver" {
  amd 2 300 400
  for denied in '' 1; do
    [ -z "$denied" ] || export FAKE_AMD_DENIED=$denied
    record
    within 0.98 "$(jq '.gpu_energy_j / (700 * .duration_s)' out)" 1.02
    within 0.98 "$(jq '.devices[1].energy_j / (400 * .duration_s)' out)" 1.02
    [ ! -s err ]
  done
  "$DLEST" list sensors --format json >out
  check '[.sensors[] | [.kind, .device, .id, .power_w, .counter, .limit_w]] == [
    ["amd-smi", "AMD Instinct MI300X", "a0b1c2d3e4f50610", 300, true, 750],
    ["amd-smi", "AMD Instinct MI300X", "a0b1c2d3e4f50611", 400, true, 750]]'
  # The counter is taken, not the power.
  FAKE_AMD_WATTS=500 record
  within 0.98 "$(jq '.gpu_energy_j / (1100 * .duration_s)' out)" 1.02
  # Readings that come out of order add nothing.
  FAKE_AMD_BACK=1 record
  within 0.98 "$(jq '.gpu_energy_j / (700 * .duration_s)' out)" 1.03
  ROCR_VISIBLE_DEVICES=1 record
  within 0.98 "$(jq '.gpu_energy_j / (400 * .duration_s)' out)" 1.02
  HIP_VISIBLE_DEVICES=GPU-a0b1c2d3e4f50610 record
  within 0.98 "$(jq '.gpu_energy_j / (300 * .duration_s)' out)" 1.02
}

@test "AMD: the power where the counter is no good" {
  amd 1 300
  FAKE_AMD_STILL=1 record
  within 0.98 "$(jq '.gpu_energy_j / (300 * .duration_s)' out)" 1.02
  grep -q "$(message amd_counter_wrong 0 0 0.5 300)" err
  # A counter in another unit.
  FAKE_AMD_WATTS=4590 record
  within 0.98 "$(jq '.gpu_energy_j / (300 * .duration_s)' out)" 1.02
  FAKE_AMD_NONE=1 record
  within 0.98 "$(jq '.gpu_energy_j / (300 * .duration_s)' out)" 1.02
  [ ! -s err ]
  # GPUs without a chip in sysfs have the counter alone.
  rm -r sys/class
  record
  within 0.98 "$(jq '.gpu_energy_j / (300 * .duration_s)' out)" 1.02
  FAKE_AMD_STILL=1 try record --duration 1s
  [ "$status" -eq 3 ]
  grep -q "$(message amd_stands_still 0)" err
  FAKE_AMD_NONE=1 try record --duration 1s
  [ "$status" -eq 3 ]
  grep -q "$(message amd_no_reading 0)" err
}

@test "AMD: dies of a board and partitions of a GPU count once" {
  amd 4 300 0 500
  export FAKE_AMD_DIES=1
  record
  within 0.98 "$(jq '.gpu_energy_j / (800 * .duration_s)' out)" 1.02
  check '.devices | length == 2'
  grep -q "$(message amd_boards 2)" err
  # A program on a second die.
  ROCR_VISIBLE_DEVICES=3 record
  within 0.98 "$(jq '.gpu_energy_j / (500 * .duration_s)' out)" 1.02
  unset FAKE_AMD_DIES
  rm -r sys/class
  amd 16 300 400
  FAKE_AMD_PARTS=8 record
  within 0.98 "$(jq '.gpu_energy_j / (700 * .duration_s)' out)" 1.02
  ROCR_VISIBLE_DEVICES=8,9 FAKE_AMD_PARTS=8 record
  within 0.98 "$(jq '.gpu_energy_j / (400 * .duration_s)' out)" 1.02
}

# controller LINE...: an ipmitool that prints these lines
controller() {
  mkdir -p bin sys/class/ipmi/ipmi0
  {
    echo '#!/bin/bash'
    # shellcheck disable=SC2016 # of the script
    echo '[ "$*" = "dcmi power reading" ] || exit 1'
    echo 'read -rt 0.05 <>pause'
    printf 'echo "%s"\n' "$@"
  } >bin/ipmitool
  chmod +x bin/ipmitool
  mkfifo pause
  PATH=$PWD/bin:$PATH
}

@test "IPMI: the node's power by ipmitool" {
  controller '    Instantaneous power reading:                   220 Watts' \
    '    Minimum during sampling period:                  8 Watts' \
    '    Power reading state is:                   activated'
  FAKE_NVML_GPUS=1 record --trace t.csv
  within 0.999 "$(jq '.energy_j / (220 * .duration_s)' out)" 1.001
  check '.boundary == "node" and .gpu_energy_j > 0'
  grep -q '^# node: management controller, ipmi0, by ipmi' t.csv
  # Any number of samples: it is never waited for.
  within 9 "$(jq .samples out)" 14
  "$DLEST" record --no-trace -- true 2>err
  ! grep -q "left processes running" err || false
}

@test "IPMI: neither a power nor ipmitool" {
  controller '    Power reading state is:                   deactivated'
  "$DLEST" list sensors --format json >out
  check '.notes[] | select(.kind == "ipmi") | .note | contains("/dev/ipmi0")'
  rm bin/ipmitool
  ! command -v ipmitool >/dev/null || skip "there is one"
  "$DLEST" list sensors --format json >out
  check '.notes[] | select(.kind == "ipmi") | .note | contains("installed")'
}

@test "--cpu-tdp: assumed, shown apart, and no part of the run" {
  record --cpu-tdp 100 --trace t.csv
  check '.boundary == "gpu" and .cpu_energy_j == null'
  check '.devices[2].assumed and (.devices[0].assumed | not)'
  # Load times TDP: at most the TDP.
  # Energy is up to the last sample, which may be taken just after the end.
  within 0 "$(jq '.devices[2].energy_j / .duration_s' out)" 101
  grep -q ',cpu0_assumed_power_w' t.csv
  "$DLEST" extract t.csv --format json >runs
  check '.runs[0].boundary == "gpu"' runs
  zone package-0 intel-rapl:0 262143328850 1000000
  record --cpu-tdp 100
  grep -q -e "$(message cpu_tdp_no_effect)" err
  check '.boundary == "gpu+cpu"'
}

@test "MIG: parts are measured with the whole GPU" {
  export FAKE_NVML_MIG=1
  CUDA_VISIBLE_DEVICES=MIG-2 record
  within 0.98 "$(jq '.gpu_energy_j / (250 * .duration_s)' out)" 1.02
  grep -q "$(message record_mig 1)" err
  CUDA_VISIBLE_DEVICES=MIG-GPU-000000a0-0000-0000-0000-000000000000/1/0 record
  within 0.98 "$(jq '.gpu_energy_j / (200 * .duration_s)' out)" 1.02
  CUDA_VISIBLE_DEVICES=MIG-9 try record --duration 1s
  [ "$status" -eq 3 ]
}

@test "lists of GPUs: UUIDs, ROCm's names, Slurm's numbers" {
  CUDA_VISIBLE_DEVICES=GPU-000000a1,GPU-000000a0 record
  within 0.98 "$(jq '.gpu_energy_j / (450 * .duration_s)' out)" 1.02
  # Slurm counts the node's GPUs, the driver those of the job.
  SLURM_JOB_GPUS=4,5 record
  within 0.98 "$(jq '.gpu_energy_j / (450 * .duration_s)' out)" 1.02
  # Of several tasks one records the GPUs of all.
  CUDA_VISIBLE_DEVICES=0 SLURM_JOB_GPUS=0,1 SLURM_STEP_TASKS_PER_NODE='2(x2)' \
    record
  within 0.98 "$(jq '.gpu_energy_j / (450 * .duration_s)' out)" 1.02
  FAKE_NVML_GPUS=1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_TASKS_PER_NODE=2 record
  grep -q "$(message record_hidden 1 2)" err
  chip 0 amdgpu power1_average 300000000
  echo 0123456789abcdef >sys/class/hwmon/hwmon0/device/unique_id
  chip 1 amdgpu power1_average 100000000
  FAKE_NVML_GPUS=0 ROCR_VISIBLE_DEVICES=GPU-0123456789ABCDEF record
  within 0.98 "$(jq '.gpu_energy_j / (300 * .duration_s)' out)" 1.02
  # A list of the user must name GPUs that are there.
  misused record "$(message no_such_gpu 7 4)" --gpus 0,7 --duration 1s
}

@test "CUDA's order of GPUs that differ" {
  FAKE_NVML_NAMES=1 CUDA_VISIBLE_DEVICES=0 record
  grep -q "$(message cuda_order 0)" err
  FAKE_NVML_NAMES=1 CUDA_VISIBLE_DEVICES=0 CUDA_DEVICE_ORDER=PCI_BUS_ID record
  ! grep -q "$(message cuda_order 0)" err || false
}

@test "a trace that 8 GPUs play back, with readings that are unknown" {
  needs_measured_runs
  log=$(find "$MEASURED_RUNS/seaa2023/traces/local-v2" -name 'gpu*.csv' |
    LC_ALL=C sort | head -n 1)
  [ -n "$log" ] || skip "no traces"
  export FAKE_NVML_GPUS=8 FAKE_NVML_TRACE=$log FAKE_NVML_SPEED=100
  # The energy of the trace from its beginning, by trapezoids, in J at a speed
  # of 100 samples per second.
  cat >energy.py <<'END'
import sys
power = []
for line in open(sys.argv[1]):
    cell = line.split(",")
    watts = cell[6].split()[0] if len(cell) > 6 else ""
    if watts.replace(".", "").isdigit() and float(watts) > 0:
        power.append(float(watts))
end = float(sys.argv[2]) * 100
joules, i = 0, 0
while i < end:
    part = min(1, end - i)
    a, b = power[i % (len(power) - 1)], power[i % (len(power) - 1) + 1]
    joules += part * (a + a + part * (b - a)) / 2
    i += 1
print(joules / 100)
END
  # By the counters; then by power, of which every 5th is unknown.
  record --duration 4s --interval 20ms
  want=$(python3 energy.py "$log" "$(jq .duration_s out)")
  check '.devices | length == 8'
  within 0.97 "$(jq ".gpu_energy_j / (8 * $want)" out)" 1.03
  FAKE_NVML_OLD=1 FAKE_NVML_NA=5 record --duration 4s --interval 20ms \
    --trace t.csv
  want=$(python3 energy.py "$log" "$(jq .duration_s out)")
  within 0.97 "$(jq ".gpu_energy_j / (8 * $want)" out)" 1.03
  within 0.97 "$(jq "([.devices[].energy_j] | add) / (8 * $want)" out)" 1.03
  grep -q ',,' t.csv
}

# jump SETTING...: a recording of 4 s, in which clocks jump
jump() {
  env FAKE_CLOCK_AFTER=2 "$@" \
    LD_PRELOAD="${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record/fake_clock.so" \
    "$DLEST" record --interval 100ms --trace t.csv --force \
    -- sleep 4 >/dev/null 2>err
}

@test "a machine that sleeps, and a clock that is set" {
  ! nm -D "$DLEST" | grep -q __asan_init || skip "preloads with ASan"
  # By power: an hour asleep is no energy, and no time of the run.
  export FAKE_NVML_OLD=1
  jump FAKE_CLOCK_ASLEEP=3000
  grep -q "$(message record_suspended 3000)" err
  grep -q '^# suspended for 3000 s$' t.csv
  "$DLEST" extract t.csv --gaps cut --format json >runs 2>/dev/null
  within 3 "$(jq '.runs[0].duration_s' runs)" 6
  within $((450 * 3)) "$(jq '.runs[0].gpu_energy_j' runs)" $((450 * 5))
  # The summary is that, too.
  awk '/^Energy/ { exit !($2 > 1.3 && $2 < 2.3 && $3 == "kJ") }' err
  # The time of day does not count once the recording has begun.
  jump FAKE_CLOCK_SET=3600
  "$DLEST" extract t.csv --format json >runs
  within 3 "$(jq '.runs[0].duration_s' runs)" 6
}

@test "a full disk: the program runs to its end, and the status shows it" {
  [ -e /dev/full ] || skip "no /dev/full"
  try record --interval 50ms --trace /dev/full -- sh -c 'touch ended'
  [ "$status" -eq 1 ]
  [ -c /dev/full ]
  grep -q 'No space left on device' err
  [ ! -e ended ] # it fails before anything was started
  # Later: a file of 4 KiB.
  ended=0
  (
    ulimit -f 4
    trap '' XFSZ
    "$DLEST" record --interval 10ms --trace t.csv -- \
      sh -c 'sleep 1.5; touch ended'
  ) >out 2>err || ended=$?
  [ "$ended" -eq 1 ]
  grep -q 'File too large' err
  [ -e ended ]
}

@test "a program that leaves processes behind" {
  # shellcheck disable=SC2016 # of the program
  try record --no-trace -- sh -c '
    sleep 5 </dev/null >/dev/null 2>&1 & echo $! >left'
  [ "$status" -eq 0 ]
  grep -q "$(message left_running "$(cat left)")" err
  kill "$(cat left)"
}

@test "the program's part of the CPUs' work" {
  zone package-0 intel-rapl:0 262143328850 1000000
  ticks() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat; }
  # 2 s of CPU time by a grandchild that its parent does not wait for.
  spin='import time
t = time.process_time() + 2
while time.process_time() < t: pass'
  before=$(ticks)
  "$DLEST" record --no-trace --details -- sh -c "(python3 -c '$spin' &) ; sleep 6" 2>err
  after=$(ticks)
  share=$(awk '/share of CPU time/ { print $(NF - 1) }' err)
  # Ticks are hundredths of a second; others work on the same CPUs.
  want=$(awk -v a="$before" -v b="$after" 'BEGIN { print 20000 / (b - a) }')
  within "$(jq -n "$want * 0.8")" "$share" "$(jq -n "$want * 1.3 + 1")"
}

@test "Ctrl-C and Ctrl-Z on a terminal" {
  command -v script >/dev/null || skip "no script(1)"
  cat >session.sh <<END
set -m
"$DLEST" record --no-trace --interval 50ms -- sh -c 'sleep 30' &
sleep 0.7
kill -TSTP -- -\$!
sleep 0.5
jobs >jobs.txt
kill -CONT -- -\$!
sleep 0.3
kill -INT -- -\$!
wait \$!
echo \$? >status.txt
END
  TERM=dumb timeout 20 script -qec "bash session.sh" typed >/dev/null
  grep -qi stopped jobs.txt
  [ "$(cat status.txt)" -eq 130 ]
  tr -d '\r' <typed | grep -q '^  Energy'
}

# rails CHIP LABEL WATTS...: an INA3221 with these rails, at 5 V
rails() {
  local number=$1 channel=1 files=()
  shift
  while [ $# -gt 0 ]; do
    files+=("in${channel}_label" "$1" "in${channel}_input" 5000
      "curr${channel}_input" "$(awk -v w="$2" 'BEGIN { print w * 200 }')")
    channel=$((channel + 1))
    shift 2
  done
  chip "$number" ina3221 "${files[@]}"
}

# jetson ROW...: part, device and power of each sensor
jetson() {
  FAKE_NVML_GPUS=0 "$DLEST" list sensors -f json >out
  jq -r '.sensors[] | select(.kind == "jetson") | [.part, .device, .power_w] | join(" ")' \
    out | sort >found
  printf '%s\n' "$@" | sort | diff - found
  rm -r sys/class
}

# The whole is the sum of the rails that feed a module where no rail is it.
@test 'Jetson modules: the whole, GPU, CPU and memory' {
  rails 1 VDD_GPU_SOC 20 VDD_CPU_CV 5 VIN_SYS_5V0 4 # AGX Orin
  rails 2 NC 9 VDDQ_VDD2_1V8AO 1 NC 9
  FAKE_NVML_GPUS=0 record --no-trace # its own comments name no other node
  check '.node_energy_j / .duration_s | . > 28 and . < 30'
  ! grep -q comment err || false
  jetson 'node VDD_GPU_SOC + VDD_CPU_CV + VIN_SYS_5V0 29' 'GPU VDD_GPU_SOC 20' \
    'CPU VDD_CPU_CV 5' 'memory VDDQ_VDD2_1V8AO 1'
  rails 1 VDD_GPU_SOC 20 VDD_CPU_CV 5 # a rail is missing: no whole
  jetson 'GPU VDD_GPU_SOC 20' 'CPU VDD_CPU_CV 5'
  rails 1 VDD_IN 9 VDD_CPU_GPU_CV 4 VDD_SOC 2 # Orin NX and Nano, Xavier NX
  jetson 'node VDD_IN 9' 'GPU VDD_CPU_GPU_CV 4'
  rails 1 GPU 10 CPU 3 SOC 2 # AGX Xavier
  rails 2 CV 1 VDDRQ 1.5 SYS5V 2.5
  jetson 'node GPU + CPU + SOC + CV + VDDRQ + SYS5V 20' 'GPU GPU 10' 'CPU CPU 3' \
    'memory VDDRQ 1.5'
  rails 1 POM_5V_IN 4 POM_5V_GPU 1 POM_5V_CPU 1 # Nano
  jetson 'node POM_5V_IN 4' 'GPU POM_5V_GPU 1' 'CPU POM_5V_CPU 1'
  rails 1 VDD_SYS_GPU 3 VDD_SYS_SOC 1 VDD_4V0_WIFI 0.1 # TX2
  rails 2 VDD_IN 9 VDD_SYS_CPU 2 VDD_SYS_DDR 1
  jetson 'node VDD_IN 9' 'GPU VDD_SYS_GPU 3' 'CPU VDD_SYS_CPU 2' 'memory VDD_SYS_DDR 1'
  rails 1 VDD_GPU 30 VDD_CPU_SOC_MSS 8 VIN_SYS_5V0 6 # Thor
  jetson 'node VDD_GPU + VDD_CPU_SOC_MSS + VIN_SYS_5V0 44' 'GPU VDD_GPU 30' \
    'CPU VDD_CPU_SOC_MSS 8'
  rails 1 VDD_GPU 30 VDD_CPU_SOC_MSS 8 VIN_SYS_5V0 6 # with its carrier board
  chip 2 ina238 in1_input 20000 curr1_input 2500
  jetson 'node VIN 50' 'GPU VDD_GPU 30' 'CPU VDD_CPU_SOC_MSS 8'
  chip 1 ina238 in1_input 20000 curr1_input 2500 # of another board
  FAKE_NVML_GPUS=0 "$DLEST" list sensors -f json >out
  check '.sensors == []'
}

@test 'Jetson modules with older drivers: iio' {
  local folder=sys/bus/iio/devices/iio:device0
  mkdir -p $folder
  echo ina3221x >$folder/name
  for i in 0 1 2; do
    echo $((4000 >> i)) >$folder/in_power${i}_input
  done
  echo POM_5V_IN >$folder/rail_name_0
  echo POM_5V_GPU >$folder/rail_name_1
  echo POM_5V_CPU >$folder/rail_name_2
  mkdir sys/class
  jetson 'node POM_5V_IN 4' 'GPU POM_5V_GPU 2' 'CPU POM_5V_CPU 1'
}

# Dies of a socket that show its counter (CodeCarbon, issues 1274 and 1379).
@test 'RAPL: a counter that two dies show counts once' {
  local range=65532610987
  for socket in 0 1; do
    for die in 0 1; do
      zone package-$socket-die-$die intel-rapl:$((2 * socket + die)) $range \
        $((1000000 + 7000000 * socket))
      zone core intel-rapl:$((2 * socket + die)):0 $range 500000
    done
  done
  zone psys intel-rapl:4 $range 9000000
  FAKE_NVML_GPUS=0 "$DLEST" list sensors -f json >out
  check '[.sensors[].device] == ["package-0-die-0", "package-1-die-0"]'
  jq -r '.notes[].note' out >said
  printf '%s\n' \
    "$(message mirrored_counter intel-rapl:1 package-0-die-1 intel-rapl:0 package-0-die-0)" \
    "$(message mirrored_counter intel-rapl:3 package-1-die-1 intel-rapl:2 package-1-die-0)" |
    diff - said
  # Counters that differ are of dies that have their own.
  echo 1300000 >sys/class/powercap/intel-rapl:1/energy_uj
  echo 900000000 >sys/class/powercap/intel-rapl:3/energy_uj
  FAKE_NVML_GPUS=0 "$DLEST" list sensors -f json >out
  check '[.sensors[].device] | length == 4'
  # Two sockets may show the same, as zeros of a virtual machine do.
  rm -r sys/class
  zone package-0 intel-rapl:0 $range 1000000
  zone package-1 intel-rapl:1 $range 1000000
  FAKE_NVML_GPUS=0 "$DLEST" list sensors -f json >out
  check '[.sensors[].device] == ["package-0", "package-1"]'
}

@test "--cpu: an estimate where no sensor is, its own where one is" {
  FAKE_NVML_GPUS=0 try record --cpu '2 x epyc-7763' --duration 1.1s \
    --no-trace --format json
  check '.energy_j == null and .cpu_estimate_low_j < .cpu_estimate_j and
    .cpu_estimate_j < .cpu_estimate_high_j and .devices[0].assumed'
  # 560 W at a load from 0 to 1
  within 83 "$(jq '.cpu_estimate_j / .duration_s' out)" 477
  FAKE_NVML_GPUS=0 gives 3 "dlest: $(message cpu_is_none a100)" record \
    --cpu a100 -- true
  zone package-0 intel-rapl:0 262143328850 1000000
  FAKE_NVML_GPUS=0 try record --cpu '2 x epyc-7763' --arch resnet50 \
    --batch-size 1 --set phase=inference --set requests=1000 \
    --duration 1.1s --no-trace \
    --format json
  check '.boundary == "cpu" and .cpu_estimate_j == null and
    .gpu == "epyc-7763" and .n_gpus == 2'
  cp out recorded
  try predict --arch resnet50 --cpu '2 x epyc-7763' --phase inference \
    --requests 1000 --format json -q
  [ "$(jq .estimate_j recorded)" = "$(jq '.estimates[0].energy_j' out)" ]
}
