#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory estimated against memory measured: 75 image networks trained on one
# GPU (Selvan et al., arXiv 2403.12562), batch 32. Skipped without the table.

load common

@test "memory_need_gb: the median within 10 %, nine in ten within .5 .. 1.3" {
  local pepr=$MEASURED_RUNS/pepr/pepr_rtx3090_energy.csv
  local archs=$MEASURED_RUNS/timm/timm_arch_descriptors.csv
  if [ ! -f "$pepr" ] || [ ! -f "$archs" ]; then
    skip "no measured memory in '$MEASURED_RUNS'"
  fi
  command -v python3 >/dev/null || skip "no python3"
  python3 - "$pepr" "$archs" >runs.csv <<'EOF'
import csv, statistics, sys
at_224 = {r["model"]: r for r in csv.DictReader(open(sys.argv[2]))
          if r["img_size"] == "224"}
seen = {}
for r in csv.DictReader(open(sys.argv[1])):
    if r["dataset"] in ("derma", "derma_pt", "lidc") and r["model"] in at_224:
        seen.setdefault(r["model"], []).append(r)
print("arch,params_m,acts_m,macs_g,memory_gb,state_gb,reserved_gb")
for name, rows in sorted(seen.items()):
    middle = lambda key: statistics.median(float(r[key]) for r in rows)
    print(name, middle("num_param") / 1e6, at_224[name]["macts"],
          at_224[name]["gmacs"], middle("memM"), middle("memA"),
          middle("memR"), sep=",")
EOF
  [ "$(wc -l <runs.csv)" -eq 76 ]
  # The columns go before the catalogue, which has another head.
  try predict --input runs.csv --gpu rtx-3090 --batch-size 32 --image-px 224 \
    --train-samples 1000 --epochs 10 --method flops -q --format json
  check '[.estimates[] | .memory_need_gb / (.memory_gb | tonumber)] | sort
    | length == 75 and (.[37] > 0.9 and .[37] < 1.1)
      and ([.[] | select(. > 0.5 and . < 1.3)] | length) >= 0.9 * 75'
  # After a step 16 bytes a parameter are held, and what the allocator keeps.
  check '[.estimates[] | (.state_gb | tonumber) * 1e3 / .params_m] | sort
    | .[37] > 16 and .[37] < 17'
}
