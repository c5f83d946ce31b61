#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# docs/lab/make/generalisation.py: its figures are dlest's, its intervals follow the
# rule that dlest predict follows.

load ../common

TOOL=$TOP_SRCDIR/docs/lab/make/generalisation.py
export PYTHONDONTWRITEBYTECODE=1

# figures ARG...: the tool on the measured runs, into the file table
figures() {
  needs_measured_runs
  # The tool runs one dlest per core.
  OMP_NUM_THREADS=1 python3 "$TOOL" "$DLEST" "$MEASURED_RUNS" "$@" >table
}

# one_row METHOD N: the cells of the Nth row that begins with METHOD
one_row() {
  awk -F '|' -v m="$1" -v n="$2" '{ name = $2; gsub(/^ +| +$/, "", name) }
    name == m && ++k == n { gsub(/ +/, " "); print }' table
}

@test "one method, one protocol: the errors of dlest fit" {
  figures --methods ridge --protocols P4
  "$DLEST" fit "$MEASURED_RUNS/delrey2024/runs.csv" --method ridge \
    --alias mobilenet_v2=mobilenetv2_050 --cv group:gpu --no-model -q \
    --target gpu_power_w --target epoch_energy_j --format json >fit.json
  percent() {
    jq "[.fits[].cv.$1.mape * 100]" fit.json |
      jq -r '.[]' | LC_ALL=C xargs printf '%.1f / %.1f'
  }
  [ "$(one_row ridge 1)" = "| ridge | $(percent pooled) |" ]
  [ "$(one_row ridge 2)" = "| ridge | $(percent mean) |" ]
  [ "$(grep -c '^| ridge ' table)" -eq 4 ]
  [ "$(grep -c '^| krr ' table)" -eq 0 ]
}

# The figures of the paper's kernel ridge on unseen groups, from an
# implementation in Python (docs/lab/estimation.md).
@test "kernel ridge as published fails on unseen groups" {
  figures --methods 'krr as published'
  [ "$(one_row 'krr as published' 1)" = \
    '| krr as published | 2.0 / 6.0 | 30.8 / 64.1 | 88.5 / 103 | 63.2 / 744 |' ]
}

# 350, 220 and 60 W of TDP against the measured powers, by hand.
@test "TDP in place of the power" {
  figures --methods tdp --protocols P4
  want=$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    { g = $c["gpu"]; y = $c["gpu_power_w"]
      p = g == "rtx-3090" ? 350 : g == "rtx-3070" ? 220 : 60
      e = p > y ? p / y - 1 : 1 - p / y
      all += e; by[g] += e; n[g]++ }
    END { for (g in by) mean += by[g] / n[g] / 3
      printf "%.1f %.1f\n", 100 * all / (NR - 1), 100 * mean }' \
    "$MEASURED_RUNS/delrey2024/runs.csv")
  got=$(for i in 1 2; do one_row tdp $i | cut -d ' ' -f 4; done | xargs)
  [ "$got" = "$want" ]
}

# 12.7062 and 6.3138 are the 97.5 and 95 % quantiles of Student's t with one
# degree of freedom, 1.9432 the 95 % quantile with six (any printed table).
@test "quantiles of Student's t" {
  python3 - "$TOP_SRCDIR/docs/lab/make" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import generalisation_intervals as g
for p, df, want in [(.975, 1, 12.7062), (.95, 1, 6.3138), (.95, 2, 2.9200),
                    (.95, 3, 2.3534), (.95, 6, 1.9432), (.975, 11, 2.2010)]:
    assert abs(g.student(p, df) - want) < 5e-5, (p, df, g.student(p, df))
EOF
}

@test "an interval is the one of dlest predict" {
  "$DLEST" fit "$DLEST_DATADIR/data/delrey2024-configurations.csv" \
    --method ridge --target epoch_energy_j -q -o m.xml
  ask() {
    "$DLEST" predict --arch "$1" --gpu "$2" --batch-size 64 --image-px 128 \
      --dataset caltech101 --epochs 1 --method pre-epoch --model m.xml \
      --coverage 90 -q --format json
  }
  ask densenet121 rtx-3090 >arch.json
  ask inception_v3 v100 >gpu.json
  ask inception_v3 rtx-3090 >config.json
  python3 - "$TOP_SRCDIR/docs/lab/make" <<'EOF'
import json
import math
import sys
sys.path.insert(0, sys.argv[1])
import generalisation_intervals as g
found = g.residuals("m.xml")
for left in ("arch", "gpu", "config"):
    e = json.load(open(left + ".json"))["estimates"][0]
    low, high = g.interval([g.scaled(r) for r in
                            found["epoch_energy_j", left]], .9)
    print(left, low, high, e["interval_from"], e["energy_j"], e["low_j"],
          e["high_j"])
    assert e["interval_from"] == left
    assert abs(math.log(e["low_j"] / e["energy_j"]) - low) < 1e-9
    assert abs(math.log(e["high_j"] / e["energy_j"]) - high) < 1e-9
EOF
}

# Pooled: (10 x 1 + 30 x 0.6) / 40 and (10 x 0.5 + 30) / 40.
@test "shares inside, pooled and by group" {
  python3 - "$TOP_SRCDIR/docs/lab/make" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import generalisation_intervals as g
pooled, mean = g.totals([(10, [1, .5]), (30, [.6, 1])])
assert all(abs(a - b) < 1e-12 for a, b in
           zip(pooled + mean, [.7, .875, .8, .75])), (pooled, mean)
EOF
}

# Groups have measured powers and public facts; r4 has none of these, and d no
# power: they are fitted, and never estimated.
@test "a group is left out of every source" {
  python3 - "$TOP_SRCDIR/docs/lab/make" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import generalisation_unseen as u
def run(gpu, arch):
    return {"gpu": gpu, "arch": arch, "gpu_power_w": "95", "energy_j": "4000",
            "epochs": "2"}
def mean(gpu, arch, power, doubt):
    return {"gpu": gpu, "arch": arch, "gpu_power_w": power, "epoch_s": "9",
            "doubt": "", "facts_doubt": doubt, "precision": ""}
runs = [run("a", "x"), run("b", "y")]
others = [mean("a", "z", "50", "0"), mean("c", "x", "50", "0"),
          mean("c", "r4", "50", "2"), mean("d", "x", "", "0")]
found = {(g.column, g.name): g for g in u.groups(runs, others, 5)}
assert list(found) == [("arch", "x"), ("arch", "y"), ("arch", "z"),
                       ("gpu", "a"), ("gpu", "b"), ("gpu", "c")], list(found)
a, c = found["gpu", "a"], found["gpu", "c"]
assert [r["gpu"] for r in a.runs] == ["b"]
assert [r["gpu"] for r in a.others] == ["c", "c", "d"]
assert len(a.rows) == 1 and a.rows[0]["epoch_s"] == 20  # 2000 J at 95 + 5 W
assert len(c.runs) == 2 and [r["gpu"] for r in c.others] == ["a", "d"]
assert [(r["arch"], r["precision"]) for r in c.rows] == [("x", "tf32")]
assert "facts_doubt" not in c.rows[0]
EOF
}

@test "missing parts are named" {
  run python3 "$TOOL" "$DLEST" "$PWD"
  [ "$status" -eq 1 ]
  [ "$output" = "generalisation: $PWD/delrey2024/runs.csv is not there; set \
MEASURED_RUNS to the folder that holds it" ]
  needs_measured_runs
  run python3 "$TOOL" "$DLEST" "$MEASURED_RUNS" --protocols P9
  [ "$status" -eq 1 ]
  [ "$output" = "generalisation: no protocol 'P9'; there are: P1, P2, P3, P4" ]
}

@test "--write replaces the page as a whole" {
  figures --methods ols --protocols P1 --write page.md
  diff -u page.md table
  [ ! -e page.md.new ]
}
