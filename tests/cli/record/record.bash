# SPDX-License-Identifier: GPL-3.0-or-later
# Loaded by the tests of dlest record: GPUs of a made driver's library
# (tests/record/fake_nvml.c) and a made sysfs. GPU 0 draws 200 W and GPU 1 250 W.

setup() {
  cd "$BATS_TEST_TMPDIR"
  library=${TOP_BUILDDIR-$(dirname "$DLEST")}/tests/record
  [ -f "$library/libnvidia-ml.so.1" ] || skip "no made driver"
  ! nm -D "$DLEST" | grep -q __asan_init || export ASAN_OPTIONS=detect_leaks=0
  export LD_LIBRARY_PATH=$library DLEST_SYSFS=$PWD/sys
  unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER ROCR_VISIBLE_DEVICES \
    HIP_VISIBLE_DEVICES DLEST_MARKS TORCHELASTIC_RUN_ID LOCAL_RANK \
    LOCAL_WORLD_SIZE GROUP_RANK GROUP_WORLD_SIZE
  while IFS='=' read -r name _; do
    case $name in SLURM_* | OMPI_* | MPI_*) unset "$name" ;; esac
  done < <(env)
  export DLEST_CPUINFO=$PWD/cpuinfo # no CPU that the catalogue knows
  mkdir sys
}

# zone NAME FOLDER RANGE_UJ ENERGY_UJ: a counter of RAPL
zone() {
  local folder=sys/class/powercap/$2
  mkdir -p "$folder"
  echo "$1" >"$folder/name"
  echo "$3" >"$folder/max_energy_range_uj"
  echo "$4" >"$folder/energy_uj"
}

# chip NUMBER NAME FILE VALUE...: a chip of hwmon
chip() {
  local folder=sys/class/hwmon/hwmon$1
  mkdir -p "$folder/device"
  echo "$2" >"$folder/name"
  shift 2
  while [ $# -gt 0 ]; do
    echo "$2" >"$folder/$1"
    shift 2
  done
}

# within LOW X HIGH
within() {
  awk -v l="$1" -v x="$2" -v h="$3" 'BEGIN { exit !(l <= x && x <= h) }' || {
    echo "$2 is not in $1 .. $3"
    return 1
  }
}

# record ARG...: 1.1 s of samples; the summary in out, as JSON
record() {
  "$DLEST" record --duration 1.1s --interval 100ms --format json "$@" >out 2>err
}
