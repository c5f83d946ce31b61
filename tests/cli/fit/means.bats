#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Tables of means of parts of the runs give the fit of all runs.

load ../common

# 300 runs of 24 configurations whose values scatter; every 17th lacks its
# energy.
setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  awk 'BEGIN {
    srand(7)
    print "run_id,arch,gpu,batch_size,image_px,train_samples,epochs," \
      "gpu_power_w,energy_j,duration_s,boundary"
    split("resnet50 vgg16 mobilenet_v2", arch); split("a100-pcie-40gb v100", gpu)
    for (i = 0; i < 300; i++) {
      a = i % 3 + 1; g = int(i / 3) % 2 + 1; b = 16 * 2 ^ (int(i / 6) % 4)
      power = 50 * a + 40 * g + 10 * log(b) + 30 * rand()
      s = 400 * (1 + rand()) / g * a
      printf "%d,%s,%s,%d,224,50000,2,%.3f,%s,%.3f,gpu\n", i, arch[a], gpu[g],
        b, power, i % 17 == 5 ? "" : sprintf("%.3f", power * s), s
    } }' >runs.csv
  for k in 0 1 2; do
    awk -v k=$k 'NR == 1 || NR % 3 == k' runs.csv >"s$k.csv"
    "$DLEST" fit "s$k.csv" --means "m$k.csv" -q
  done
}

# arrays MODEL: the numbers of its fits
arrays() {
  python3 - "$1" <<'END'
import sys, xml.etree.ElementTree as tree
for e in tree.parse(sys.argv[1]).getroot().iter():
    if e.tag.split("}")[-1] == "array":
        print(e.get("name"), *(e.get("value") or e.text or "").split())
END
}

features='log(batch_size), log(macs_g), log(gpu.tdp_w)'

@test 'ols: the solution of the normal equations of all runs' {
  for log in --log --no-log; do
    "$DLEST" fit m?.csv --target energy_j --features \
      'log(batch_size), batch_size' $log --method ols --no-scale --cv none \
      -o m.xml -q >/dev/null || [ $? -eq 3 ]
    arrays m.xml >coefficients
    python3 - "$log" <<'END'
import csv, math, sys
from fractions import Fraction as F
rows = [r for r in csv.DictReader(open("runs.csv")) if r["energy_j"]]
A = []  # normal equations, solved without rounding
for r in rows:
    b, y = float(r["batch_size"]), float(r["energy_j"])
    A.append([F(math.log(b)), F(b), F(1),
              F(math.log(y)) if sys.argv[1] == "--log" else F(y)])
M = [[sum(r[i] * r[j] for r in A) for j in range(4)] for i in range(3)]
for i in range(3):
    M[i] = [x / M[i][i] for x in M[i]]
    for k in range(3):
        if k != i:
            M[k] = [x - M[k][i] * y for x, y in zip(M[k], M[i])]
want = [float(M[i][3]) for i in range(3)]
got = {}
for line in open("coefficients"):
    name, *numbers = line.split()
    got[name] = [float(x) for x in numbers]
have = got["coefficient"] + got["intercept"]
assert all(math.isclose(x, y, rel_tol=1e-9) for x, y in zip(have, want)), (
    have, want)
END
  done
}

# same_fit ARG...: on all runs and on the means of their parts
same_fit() {
  "$DLEST" fit runs.csv "$@" --cv none -o runs.xml -q >/dev/null ||
    [ $? -eq 3 ] || return
  "$DLEST" fit m?.csv "$@" --cv none -o means.xml -q >/dev/null ||
    [ $? -eq 3 ] || return
  cut -d, -f1-7,11 runs.csv >settings.csv # the times are not those of GPUs
  for x in runs means; do
    "$DLEST" predict --input settings.csv --model $x.xml --method "$method" \
      -f json -q >$x.json
  done
  jq -s '[.[].estimates] | transpose | length > 250 and
    all((.[0].energy_j / .[1].energy_j - 1 | fabs) < 1e-9)' runs.json \
    means.json | grep -qx true || { echo "differs: $*"; return 1; }
}

@test 'ridge, krr and physical: the predictions of all runs' {
  for target in gpu_power_w epoch_energy_j; do
    method=pre-epoch
    [ $target != gpu_power_w ] || method=pre-power
    for log in --log --no-log; do
      same_fit --target $target --features "$features" $log --method ridge
      same_fit --target $target --features "$features" $log --method ridge \
        --lambda 0.3
      same_fit --target $target --features "$features" $log --method krr \
        --alpha 0.1 --gamma 0.3
    done
  done
  method=physical same_fit --method physical
}

@test 'means of means are those of all runs' {
  "$DLEST" fit m2.csv m0.csv m1.csv --means joined.csv
  "$DLEST" fit runs.csv --means whole.csv -q
  python3 - <<'END'
import csv, math
def table(path):
    out = {}
    for r in csv.DictReader(open(path)):
        out[r["config"], r["energy_j"] == ""] = r
    return out
a, b = table("joined.csv"), table("whole.csv")
assert a.keys() == b.keys() and len(a) > 24
for k in a:
    for c in a[k]:
        try:
            x, y = float(a[k][c]), float(b[k][c])
        except ValueError:
            assert a[k][c] == b[k][c], (k, c)
            continue
        assert math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9), (k, c, x, y)
assert sum(int(r["n"]) for r in a.values()) == 300
END
}

@test 'what the means do not suffice for' {
  refuses 2 "dlest: m0.csv: $(message means_differ_between_runs duration_s)" \
    fit m0.csv --target energy_j --features 'log(duration_s)' -o m.xml
  refuses 2 "dlest: m0.csv: $(message no_means_of 'log(energy_j)')" \
    fit m0.csv --target 'log(energy_j)' --features 'batch_size' -o m.xml
  refuses 3 "dlest: runs.csv: $(message means_no_table)" \
    fit m0.csv runs.csv
  cut -d, -f 1-5,7- s1.csv >less.csv
  "$DLEST" fit less.csv --means less-means.csv -q
  try fit m0.csv less-means.csv
  [ "$status" -eq 3 ]
  grep -qx "dlest: less-means.csv: $(message means_other_columns m0.csv)" err ||
    cat err
  for option in '--predictions p.csv' '--define x=epochs' '--weight n'; do
    # shellcheck disable=SC2086
    refuses 2 "dlest: $(message has_no_effect "$(o=${option%% *}
      echo "${o#--}")" 'on a table of means')" fit m0.csv -o m.xml $option
  done
  sed '3s/,[0-9]*$/,0/' m0.csv >bad.csv
  refuses 3 "dlest: bad.csv:3: $(message column_invalid_number n 0)" fit bad.csv
  sed '2s/,gpu,/,gpu,/;2s/^\([^,]*,[^,]*,[^,]*\),/\1,x/' m0.csv >bad.csv
  try fit bad.csv
  [ "$status" -eq 3 ]
  grep -q '^dlest: bad.csv:2: ' err
}

@test 'a table of means that is given twice' {
  cp m1.csv copy.csv
  try fit m0.csv m1.csv m2.csv copy.csv --target energy_j --features \
    "$features" --method ols --cv none --no-model
  grep -qx "dlest: warning: copy.csv: $(message counts_twice m1.csv)" err
}

@test 'a table of means with columns in another order' {
  awk -F, -v OFS=, '{ x = $1; $1 = $2; $2 = x; print }' m0.csv >moved.csv
  awk -F, -v OFS=, '{ print $0, "x" }' m0.csv >more.csv
  for table in moved.csv more.csv; do
    refuses 3 "dlest: $table: $(message columns_of_means_order)" \
      fit $table --target energy_j --features "$features" --cv none --no-model
  done
}

@test 'a table with the same rows twice: a warning with their number' {
  grep -v ',,' runs.csv >whole.csv
  cp whole.csv twice.csv
  tail -n +2 whole.csv | head -40 >>twice.csv
  local warning="dlest: warning: twice.csv:284: $(message rows_repeated 2 40 's count' 'them if they are copies')"
  for run in 'fit --target gpu_power_w --features batch_size --no-model' \
    'fit --means twice-means.csv' 'compare --methods tdp' \
    'compare --methods pre-power --cv group:gpu'; do
    # shellcheck disable=SC2086 # options
    try $run twice.csv
    [ "$(grep -cxF "$warning" err)" -eq 1 ]
  done
  # equal but for its number: another measurement
  (head -3 runs.csv; sed -n '3s/^1,/300,/p' runs.csv) >other.csv
  try fit other.csv --means other-means.csv
  [ "$status" -eq 0 ]
  ! grep -q 'equal to line' err || false
  # the same table as two files
  cp whole.csv copy.csv
  try compare whole.csv copy.csv --methods tdp
  grep -qx "dlest: warning: copy.csv: $(message counts_twice whole.csv)" err
}

@test 'runs of a configuration that differ in a setting: a warning' {
  table config,arch,batch_size,gpu_power_w,energy_j c0,vgg16,8,100,1000 \
    c0,vgg16,16,110,1100 c1,resnet50,8,90,900
  local warning="dlest: warning: runs.csv: $(message configurations_divided 3 2 c0 batch_size)"
  gives 0 "$warning" fit runs.csv --means means.csv
  [ "$(wc -l <means.csv)" -eq 4 ]
  rm means.csv
  gives 3 "$warning
dlest: $(message warning_with_strict_nothing 1 '')" \
    fit runs.csv --means means.csv --strict
  [ ! -e means.csv ]
}
