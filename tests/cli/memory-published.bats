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

# Settings of MosaicML that ran: each must be called fitting.
@test "MPT models on A100 and H100: micro-batches that fit" {
  local table=$MEASURED_RUNS/llm-foundry/training_throughput.csv
  [ -f "$table" ] || skip "no measured trainings in '$MEASURED_RUNS'"
  command -v python3 >/dev/null || skip "no python3"
  python3 - "$table" >runs.csv <<'EOF'
import csv, sys
shapes = {"125m": (768, 12, 12), "350m": (1024, 16, 24), "760m": (1536, 12, 24),
          "1b": (2048, 16, 24), "3b": (2560, 20, 32), "7b": (4096, 32, 32),
          "13b": (5120, 40, 40), "30b": (7168, 56, 48), "70b": (8192, 64, 80)}
boards = {"a100_40gb": "a100-sxm4-40gb", "a100_80gb": "a100-sxm4-80gb",
          "h100_80gb": "h100-sxm5-80gb"}
print("arch,gpu,n_gpus,batch_size,seq_len,params_m,precision,sharding,"
      "checkpointing,attention,tokens,memory_gb")
for r in csv.DictReader(open(sys.argv[1])):
    hidden, heads, layers = shapes[r["Model"].lower()]
    seq = r["SeqLen (T)"]
    print('"transformer:layers=%d,hidden=%d,heads=%d,vocab=50368,seq=%s"'
          % (layers, hidden, heads, seq), boards[r["GPU"]], r["# GPUs"],
          r["MicroBatchSize"], seq, float(r["NumParams"]) / 1e6, "bf16",
          "fsdp" if r["Sharding Strategy"] == "FULL_SHARD" else "ddp",
          "full" if r["Activation Checkpointing"] == "True" else "none",
          "flash", "1e12", r["GPU"].split("_")[1][:-2], sep=",")
EOF
  try predict --input runs.csv --method flops -q --format json
  check '.estimates | length > 170'
  check '[.estimates[] | .memory_need_gb <= (.memory_gb | tonumber)]
    | (map(select(.)) | length) >= 0.9 * length'
}

# Batches that timm's benchmark trains on 24 GB in mixed precision.
@test "timm's networks on 24 GB: batches that fit" {
  local table=$MEASURED_RUNS/timm/timm_train_rtx3090.csv
  [ -f "$table" ] || skip "no measured trainings in '$MEASURED_RUNS'"
  command -v python3 >/dev/null || skip "no python3"
  python3 - "$table" >runs.csv <<'EOF'
import csv, sys
print("name,gpu,batch_size,params_m,acts_m,macs_g,precision,optimizer")
for r in csv.DictReader(open(sys.argv[1])):
    if r["macts"] and r["param_count"] and r["gmacs"]:
        print(r["model"], "rtx-3090", r["train_batch_size"], r["param_count"],
              r["macts"], r["gmacs"], "amp", "sgd", sep=",")
EOF
  try predict --input runs.csv --train-samples 1000 --epochs 1 --method flops \
    -q --format json
  check '.estimates | length > 1500'
  check '[.estimates[] | .memory_need_gb <= 24]
    | (map(select(.)) | length) >= 0.9 * length'
}

@test "published weights in MXFP4 fit as their model card says" {
  # gpt-oss (arXiv 2508.10925): 120b runs on one GPU of 80 GB, 20b in 16 GB
  # (checkpoints of 60.8 and 12.8 GiB); in 16 bits they do not.
  serve=(--phase inference --prompt-tokens 500 --output-tokens 500
    --requests 4 --batch-size 4 -q --format json)
  for job in '120b h100 60.8' '20b rtx-4080 12.8'; do
    read -r size gpu gib <<<"$job"
    try predict --arch "gpt-oss-$size" --gpu "$gpu" "${serve[@]}"
    check "(.memory_need_gb - $gib * 1.073741824) | . > 0 and . < 2"
    ! grep -q 'more than' err
    try predict --arch "gpt-oss-$size" --gpu "$gpu" "${serve[@]}" \
      --set weight_bytes=2
    check ".memory_need_gb > 3 * $gib"
    check '[.warnings[] | select(test("more than"))] | length == 1'
  done
}
