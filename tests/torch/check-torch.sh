#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Real trainings with PyTorch on the CPU under dlest record: epochs found in the
# power against those that the program marks, and what recording costs. TAP.
# The power is that of a made meter that follows the training's CPU time.
#
# On a machine that others keep busy, or whose host does, epochs of the same work
# differ in length. Trainings with a marked epoch more than UNEVEN from their
# median are repeated, and the search for epochs in them is not judged. (The time
# that a process waits for a processor does not show what a host takes.)
#
#   check-torch.sh DLEST TOP_SRCDIR
# shellcheck disable=SC2317 # functions that traps call
set -euo pipefail
dlest=$(realpath "$1")
top=$(realpath "$2")
# shellcheck source=tests/environment
. "$top/tests/environment"
python=${PYTHON-/usr/bin/python3}
"$python" -c 'import torch' 2>/dev/null || {
  echo '1..0 # SKIP not installed: PyTorch (Debian: python3-torch)'
  exit 0
}
epochs=${TORCH_EPOCHS-12} seconds=${TORCH_SECONDS-2.6}
UNEVEN=0.1 TRIES=4

work=$(mktemp -d "${TMPDIR:-/tmp}/dlest-torch.XXXXXX")
meter=
# setsid waits for it, in a session of its own.
end_meter() {
  [ -z "$meter" ] || pkill -P "$meter" 2>/dev/null || kill "$meter" || true
}
stop() {
  trap - EXIT
  end_meter
  rm -rf "$work"
}
trap stop EXIT
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM HUP
cd "$work"

chip=sys/class/hwmon/hwmon0
mkdir -p $chip/device
echo amdgpu >$chip/name
echo 50000000 >$chip/power1_average
export DLEST_SYSFS=$work/sys DLEST_DATADIR=$top OMP_NUM_THREADS=1
export PYTHONPATH=$top/python PYTHONDONTWRITEBYTECODE=1

# Epochs of a program that waits for others differ in length: with priority,
# where that is allowed.
# (Linux counts niceness within a session, unless autogroups are off.)
priority=()
if nice -n -20 true 2>/dev/null; then
  # shellcheck disable=SC2016 # of the inner shell
  priority=(setsid -w bash -c '
    echo -20 >/proc/self/autogroup || true
    exec nice -n -20 "$@"' -)
fi

n=0
failed=0
# ok DESCRIPTION CONDITION: an expression of awk
ok() {
  n=$((n + 1))
  if awk "BEGIN { exit !($2) }"; then
    echo "ok $n - $1"
  else
    failed=1
    echo "not ok $n - $1"
    echo "# not so: $2"
  fi
}

# train NETWORK: sets marked, found, share and uneven, the largest difference of
# a marked epoch from their median, of it
train() {
  local network=$1 used
  "${priority[@]}" "$python" "$top/tests/torch/meter.py" $chip "$network" &
  meter=$!
  # CPU time of the recorder alone: that of all less that of the training.
  TIMEFORMAT='%U %S %R'
  used=$({ time "${priority[@]}" "$dlest" record --interval 100ms \
    --trace "$network.csv" --force -q -- bash -c 'TIMEFORMAT="%U %S"
      { time "$@"; } 2>times' - "$python" "$top/tests/torch/train.py" \
    "$network" "$epochs" "$seconds"; } 2>&1 | tail -n 1)
  end_meter
  wait $meter 2>/dev/null || true
  meter=
  marked=$(($(wc -l <"$network-epochs.csv") - 1))
  found=$("$dlest" extract --find-epochs "$network.csv" -f csv -q |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
      { print $at["epochs"] + 0 }')
  share=$(awk -v all="$used" -v own="$(tail -n 1 times)" 'BEGIN {
    split(all, a); split(own, o); print (a[1] + a[2] - o[1] - o[2]) / a[3] }')
  uneven=$("$python" - "$network-epochs.csv" <<'END'
import csv
import datetime
import statistics
import sys

with open(sys.argv[1], encoding="ascii") as f:
    ends = [datetime.datetime.fromisoformat(row["end_time"].rstrip("Z"))
            for row in csv.DictReader(f)]
seconds = [(b - a).total_seconds() for a, b in zip(ends, ends[1:])]
median = statistics.median(seconds)
print("%.3f" % max(abs(s / median - 1) for s in seconds))
END
  )
  echo "# $network: $marked epochs marked, $found found, recorder: $share CPUs," \
    "epochs differ by $uneven"
}

# Whether the epochs found are within one of the marked ones.
near() {
  [ "$found" -ge $((marked - 1)) ] && [ "$found" -le $((marked + 1)) ]
}

is_uneven() {
  awk "BEGIN { exit !($uneven > $UNEVEN) }"
}

for network in cnn transformer; do
  for _ in $(seq $TRIES); do
    train $network
    if near || ! is_uneven; then break; fi
  done
  ok "$network: as many epochs are marked as there are" \
    "$marked == $epochs"
  if near || ! is_uneven; then
    ok "$network: epochs found in the power, within one of the marked ones" \
      "$found >= $marked - 1 && $found <= $marked + 1"
  else
    n=$((n + 1))
    echo "ok $n - $network: epochs found in the power # SKIP epochs differ by $uneven here"
  fi
  ok "$network: recording takes less than 1 % of the training's time" \
    "$share < 0.01"
done
# The package measures a training of its own process; the chip stays at 50 W now.
echo 50000000 >$chip/power1_average
export DLEST_PROGRAM=$dlest
measured=$("$python" - <<'END' 2>measure.log || true
import torch

import dlest

net = torch.nn.Linear(64, 64)
sgd = torch.optim.SGD(net.parameters(), lr=0.01)


@dlest.measure(interval="100ms", country="FR")
def train():
    """Trains for three epochs."""
    for _ in dlest.epochs(3):
        for _ in range(2000):
            sgd.zero_grad()
            net(torch.ones(8, 64)).sum().backward()
            sgd.step()
    return "trained"


assert train() == "trained"
m = train.measurement
print(m.epochs == 3 and m.co2e_g > 0 and m.boundary == "gpu" and
      abs(m.energy_j / (50 * m.duration_s) - 1) < 0.01)
END
)
ok 'the Python package measures a training' "\"$measured\" == \"True\""
# tools/measure on this CPU: two networks, trained (one of them half of the time
# too) and not, and dlest takes both tables.
"$python" "$top/tools/measure" --device cpu --seconds 0.2 --warmup 0 \
  --gpu xeon-e5-2680-v4 -o measured.csv >written 2>measure.log ||
  sed 's/^/# /' measure.log
ok 'measure: writes a table of trainings and one of inferences' \
  "$(wc -l <written) == 2"
rows() {
  "$dlest" predict --input "$1" --method physical -q -f csv | wc -l
}
ok 'measure: predict takes all rows of both' \
  "$(rows measured.csv) == 4 && $(rows measured-inference.csv) == 3"
shares=$("$python" -c 'import csv, sys
print(*(r["gpu_util"] for r in csv.DictReader(open(sys.argv[1]))))' measured.csv)
ok 'measure: works for half of the time where it is asked to' \
  "$(grep -cE '^ *0\.[3-6][0-9]* *$' <<<"$shares") == 1"
ok 'measure: calibrate takes its trainings' \
  "$("$dlest" calibrate measured.csv -q -o measured.xml >calibrated && echo 1)"
echo "1..$n"
exit $failed
