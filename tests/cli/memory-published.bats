#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory estimated against memory measured: image networks trained on one GPU
# (Selvan et al., arXiv 2403.12562), batch 32. Skipped without their table.

load common

# measured [ALL]: the table of runs; with timm's activations at 224 px for the
# networks that have them, or ALL networks without.
measured() {
  local pepr=$MEASURED_RUNS/pepr/pepr_rtx3090_energy.csv
  local archs=$MEASURED_RUNS/timm/timm_arch_descriptors.csv
  if [ ! -f "$pepr" ] || [ ! -f "$archs" ]; then
    skip "no measured memory in '$MEASURED_RUNS'"
  fi
  command -v python3 >/dev/null || skip "no python3"
  python3 - "$pepr" "$archs" "$@" >runs.csv <<'EOF'
import csv, statistics, sys
at_224 = {r["model"]: r for r in csv.DictReader(open(sys.argv[2]))
          if r["img_size"] == "224"}
seen = {}
for r in csv.DictReader(open(sys.argv[1])):
    if r["dataset"] in ("derma", "derma_pt", "lidc"):
        seen.setdefault(r["model"], []).append(r)
every = len(sys.argv) > 3
print("arch", "params_m", *([] if every else ["acts_m"]), "memory_gb",
      "state_gb", sep=",")
for name, rows in sorted(seen.items()):
    middle = lambda key: statistics.median(float(r[key]) for r in rows)
    if every:
        print(name, middle("num_param") / 1e6, middle("memM"), middle("memA"),
              sep=",")
    elif name in at_224:
        print(name, middle("num_param") / 1e6, at_224[name]["macts"],
              middle("memM"), middle("memA"), sep=",")
EOF
}

estimate() {
  try predict --input runs.csv --gpu rtx-3090 --batch-size 32 --image-px 224 \
    --train-samples 1000 --epochs 10 --method flops -q --format json
}

# near_measured N: N networks, the median within 10 %, nine in ten within
# 0.5 .. 1.3.
near_measured() {
  check "[.estimates[] | .memory_need_gb / (.memory_gb | tonumber)] | sort
    | length == $1 and (.[length / 2 | floor] | . > 0.9 and . < 1.1)
      and ([.[] | select(. > 0.5 and . < 1.3)] | length) >= 0.9 * $1"
}

@test "the networks that the factor was fitted on" {
  measured
  estimate
  near_measured 75
}

@test "all 131 networks, with the catalogue's activations" {
  measured all
  estimate
  near_measured 131
}

@test "the factor 2.97 is least squares on relative errors" {
  measured
  estimate
  check '[.estimates[] | (.memory_gb | tonumber) as $y
      | {u: (.acts_m * 128e-3 / $y), z: (1 - .params_m * 16e-3 / $y)}]
    | (map(.u * .z) | add) / (map(.u * .u) | add)
    | . > 2.96 and . < 2.975'
}

@test "after a step 16 bytes a parameter are held, and a little more" {
  measured all
  estimate
  check '[.estimates[] | (.state_gb | tonumber) * 1e3 / .params_m] | sort
    | .[65] > 16 and .[65] < 17'
}
