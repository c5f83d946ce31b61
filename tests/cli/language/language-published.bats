#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Trainings of language models that laboratories published, against `physical`.
# The fit has not seen them, but one constant: how much longer a whole training
# takes than its steps at their best (`whole`) was set to 1.29 with these in view
# (docs/lab/language-models.md).
#
# GPU-hours: Touvron et al., arXiv 2302.13971 (table 15, OPT's too) and 2307.09288
# (table 2); Luccioni et al., arXiv 2211.02001; MosaicML, "Introducing MPT-7B";
# Biderman et al., arXiv 2304.01373 (appendix D); the model cards of Llama 3 and 3.1.
# Set-ups: BLOOM, arXiv 2211.05100; OPT, arXiv 2205.01068; Llama 3.1 405B, arXiv
# 2407.21783. The number of GPUs of Llama 3 8B and 70B is not published.
#
# Published MWh of LLaMA, OPT and BLOOM are the boards' power limit (400 W) times
# GPU-hours (and a PUE of 1.1 in the first table): they test hours and arithmetic.
# Measured energies are tested elsewhere (docs/lab/make/reality.py).

load ../common

published() {
  cat <<'EOF'
llama-7b a100-sxm4-80gb 2048 1e12 82432 36
llama-13b a100-sxm4-80gb 2048 1e12 135168 59
llama-33b a100-sxm4-80gb 2048 1.4e12 530432 233
llama-65b a100-sxm4-80gb 2048 1.4e12 1022362 449
llama-2-7b a100-sxm4-80gb 1024 2e12 184320 -
llama-2-13b a100-sxm4-80gb 1024 2e12 368640 -
llama-2-70b a100-sxm4-80gb 2048 2e12 1720320 -
bloom a100-sxm4-80gb 384 366e9 1082990 433 --tensor-parallel 4 --pipeline-parallel 12 --virtual-stages 1 --checkpointing full --batch-size 2 --seq-len 2048
mpt-7b a100-sxm4-40gb 440 1e12 100320 -
pythia-1b a100-sxm4-40gb 64 300e9 4830 -
pythia-1.4b a100-sxm4-40gb 64 300e9 7120 -
pythia-2.8b a100-sxm4-40gb 64 300e9 14240 -
pythia-6.9b a100-sxm4-40gb 128 300e9 33500 -
pythia-12b a100-sxm4-40gb 256 300e9 72300 -
opt-175b a100-sxm4-80gb 992 300e9 809472 356 --tensor-parallel 8 --sharding zero3
llama-3-8b h100-sxm5-80gb 1024 15e12 1.3e6 -
llama-3-70b h100-sxm5-80gb 2048 15e12 6.4e6 -
llama-3.1-405b h100-sxm5-80gb 16384 15.6e12 30.84e6 - --tensor-parallel 8 --pipeline-parallel 16 --global-batch 2048
EOF
}

# A line for each: name, estimated over published hours and MWh (0: not
# published), whether the hours are inside the interval.
compared() {
  local arch gpu n tokens hours mwh rest
  while read -r arch gpu n tokens hours mwh rest; do
    # shellcheck disable=SC2086
    "$DLEST" predict --arch "$arch" --gpu "$gpu" --gpus "$n" \
      --tokens "$tokens" $rest --method physical --format json -q |
      python3 -c '
import json, sys
arch, n, hours, mwh = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
e = json.load(sys.stdin)["estimates"][0]
ratio = e["duration_s"] * n / 3600 / hours
# MWh of Llama, and of OPT in its table, include a PUE of 1.1.
pue = 1.1 if arch.startswith(("llama", "opt")) else 1
energy = 0 if mwh == "-" else e["energy_j"] / 3.6e9 * pue / float(mwh)
inside = e["low_j"] / e["energy_j"] <= 1 / ratio <= e["high_j"] / e["energy_j"]
print(arch, ratio, energy, int(inside))' "$arch" "$n" "$hours" "$mwh"
  done < <(published)
}

@test "GPU-hours within 1.25 in the median and 1.6 at worst, power limit times hours alike" {
  command -v python3 >/dev/null || skip "no python3"
  compared >ratios
  run python3 - <<'EOF'
import math, statistics, sys
rows = [line.split() for line in open("ratios")]
assert len(rows) == 18, rows
for column, least in ((1, 18), (2, 6)):
    off = [abs(math.log(float(r[column]))) for r in rows if float(r[column]) > 0]
    assert len(off) >= least
    assert statistics.median(off) <= math.log(1.25), (column, rows)
    assert max(off) <= math.log(1.6), (column, rows)
assert sum(int(r[3]) for r in rows) >= .85 * len(rows), rows
EOF
  [ "$status" -eq 0 ] || { echo "$output"; false; }
}

# Work that is known by its form (docs/lab/language-models.md).
hours() {
  "$DLEST" predict --arch llama-2-7b --gpu a100-sxm4-80gb --gpus 8 \
    --train-samples 1e5 --epochs 1 --seq-len 2048 --batch-size 4 \
    --stack tuned --method physical --format json -q "$@" |
    python3 -c 'import json, sys
print(json.load(sys.stdin)["estimates"][0]["duration_s"] / 3600)'
}

ratio_within() { # LOW HIGH A B
  python3 -c 'import sys
low, high, a, b = map(float, sys.argv[1:])
sys.exit(not low <= a / b <= high)' "$@"
}

@test "LoRA takes two thirds, full checkpointing four thirds of the work" {
  command -v python3 >/dev/null || skip "no python3"
  full=$(hours --checkpointing none --sharding zero1)
  # Two of three passes, and less to communicate and to update. Besides, adapters
  # move 10 x 2 B of the 32 x (4 x (4096 + 4096) + 3 x (4096 + 11008)) values into
  # and out of products, 50 MB a token, at .79 of 2039 GB/s: .22 h for 1e5 / 8
  # sequences of 2048.
  ratio_within .5 .72 "$(hours --checkpointing none --sharding zero1 \
    --fine-tune lora:16 | awk '{ print $1 - .22 }')" "$full"
  ratio_within 1.2 1.4 "$(hours --checkpointing full --sharding zero1)" "$full"
  # Unpacking 4-bit weights costs something.
  ratio_within 1 1.5 "$(hours --checkpointing none --fine-tune qlora:16)" \
    "$(hours --checkpointing none --fine-tune lora:16)"
  # The whole network is divided: more to exchange.
  ratio_within 1 1.5 "$(hours --checkpointing none --sharding zero3)" "$full"
  # A pipeline of 4 with 8 micro-batches idles 3 of 11 slots.
  ratio_within 1.2 1.6 "$(hours --checkpointing none --sharding zero1 \
    --pipeline-parallel 4 --grad-accum 8 --batch-size 1 --virtual-stages 1)" \
    "$full"
}

from_groups() {
  "$DLEST" predict --gpu a100-sxm4-80gb --gpus 8 --tokens 1e9 --method physical \
    --format json -q "$@" |
    jq -r '.estimates[0].interval_from'
}

# The table has MPT-7B on 8 of these GPUs with batches of 6 sequences of 2,048
# tokens in llm-foundry's software, Llama 2 70B on them with LoRA alone.
@test "a known network on a known GPU is new where no neighbour was measured" {
  mpt='--arch mpt-7b --seq-len 2048 --batch-size 6 --sharding zero3'
  # shellcheck disable=SC2086
  [ "$(from_groups $mpt --stack tuned)" = config ]
  # shellcheck disable=SC2086
  [ "$(from_groups $mpt --stack ngc)" = gpu ]
  [ "$(from_groups --arch llama-2-70b --sharding zero3)" = gpu ]
}

pipeline() {
  "$DLEST" predict --arch llama-3.1-405b --gpu h100-sxm5-80gb --gpus 16384 \
    --tensor-parallel 8 --pipeline-parallel 16 --tokens 15.6e12 "$@"
}

# 128 pipelines of 16 stages with 16 micro-batches each: 2,048 sequences, 16 M
# tokens. Grattafiori et al. (arXiv 2407.21783, table 4 and section 3.3.2) trained it
# so, with interleaved stages, in 30.84 M GPU-hours (its model card). 126 layers, the
# embedding and the output layer are 128: 8 virtual stages of one layer.
@test "Llama 3.1 405B as published, interleaved, also by default" {
  command -v python3 >/dev/null || skip "no python3"
  for batch in '' '--global-batch 2048' '--global-batch 2048 --virtual-stages 8'; do
    # shellcheck disable=SC2086
    pipeline -q -f json --method physical $batch >out
    python3 - <<'EOF'
import json
d = json.load(open("out"))
e = d["estimates"][0]
assert (d["batch_size"], d["grad_accum"], d["virtual_stages"]) == (1, 16, 8), d
assert 1 / 1.6 < e["duration_s"] * 16384 / 3600 / 30.84e6 < 1.6, e
EOF
    # shellcheck disable=SC2086
    pipeline $batch 2>err >/dev/null
    [ ! -s err ]
  done
  # Not interleaved, 15 of 31 slots are idle.
  pipeline --global-batch 2048 --virtual-stages 1 2>err >/dev/null
  grep -qx "dlest: warning: $(message micro_batches_for_stages 16 16 48)" err
}

# m + (P - 1) / V, what comes once a step and messages between stages apart.
@test "virtual stages shorten the bubble of a pipeline" {
  command -v python3 >/dev/null || skip "no python3"
  of() {
    hours --checkpointing none --sharding zero1 --pipeline-parallel 4 \
      --grad-accum 8 --batch-size 1 --virtual-stages "$1"
  }
  # 8 + 3, 8 + 3 / 2 and 8 + 3 / 8 slots
  ratio_within .84 .90 "$(of 2)" "$(of 1)"
  ratio_within .74 .81 "$(of 8)" "$(of 1)"
}

# DeepSeek-AI, DeepSeek-V3 Technical Report (arXiv 2412.19437, sections 1, 3.2 and
# 4.2): 2.664 M hours of H800 for 14.8e12 tokens on 2,048 of them, in FP8, 16 stages,
# the experts on 64 GPUs of 8 nodes, ZeRO-1, 15,360 sequences of 4,096 tokens. Parts
# of layers are computed again, no whole layer.
@test "DeepSeek-V3 as published, and what its set-up needs" {
  command -v python3 >/dev/null || skip "no python3"
  of() {
    "$DLEST" predict --arch deepseek-v3 --gpu h800 --gpus 2048 --tokens 14.8e12 \
      -q -f json --method physical "$@"
  }
  of --precision fp8 --pipeline-parallel 16 --expert-parallel 64 \
    --sharding zero1 --global-batch 15360 --checkpointing selective >published
  of --precision fp8 --pipeline-parallel 16 --sharding zero1 \
    --global-batch 15360 >assumed
  of --precision fp8 --pipeline-parallel 16 --sharding zero1 \
    --expert-parallel 1 >whole
  python3 - <<'EOF'
import json
published, assumed, whole = (json.load(open(f)) for f in
                             ("published", "assumed", "whole"))
def hours(d):
    return d["estimates"][0]["duration_s"] * 2048 / 3600
for d in (published, assumed):
    assert (d["batch_size"], d["grad_accum"]) == (1, 120), d
assert 1 / 1.6 < hours(published) / 2.664e6 < 1.6, hours(published)
# 4 x 671 / 16 = 168 GB of weights and gradients; of 256 experts in 58 layers, 3 x 7168
# x 2048 weights each, 654 are theirs: 4 x (17 + 654 / 8) / 16 = 25 GB, and 4 of the
# optimizer
assert whole["memory_need_gb"] > 168
assert 8 <= assumed["expert_parallel"] <= 64, assumed
assert 29 < assumed["memory_need_gb"] < assumed["memory_usable_gb"]
assert hours(assumed) < hours(whole)
assert 1 / 1.6 < hours(assumed) / 2.664e6 < 1.6, hours(assumed)
EOF
}

rate() {
  "$DLEST" predict --tokens 1e9 --overhead 0 --startup 0 \
    --method physical -q --format json "$@" >out
  half=$(jq '.estimates[0] | (.duration_high_s / .duration_s | log)' out)
}

# Half-widths add in squares: .45 for each, and .33 where no software is given.
@test "what no measured training had widens the interval, and is said" {
  sed -n '/<entry id="b200"/,/<\/entry>/p' "$TOP_SRCDIR/data/accelerators.xml" |
    sed -E '1s/id="b200"/id="mine"/; /<alias>/d; s/ source="[^"]*"//' >entry
  for family in hopper blackwell; do
    { echo '<catalog kind="accelerator" version="1">'
      sed "1s/family=\"[^\"]*\"/family=\"$family\"/" entry
      echo '</catalog>'; } >$family.xml
  done
  rate --arch llama-2-7b --gpu ./hopper.xml --stack ngc
  check '.estimates[0].extrapolates | index("gpu.family") == null'
  known=$half
  rate --arch llama-2-7b --gpu ./blackwell.xml --stack ngc
  check '.estimates[0].extrapolates | index("gpu.family")'
  awk -v a="$half" -v b="$known" 'BEGIN { d = a^2 - b^2 - .45^2; exit !(d^2 < 1e-16) }'
  known=$half
  rate --arch llama-2-7b --gpu ./blackwell.xml
  awk -v a="$half" -v b="$known" 'BEGIN { exit !(a > b) }'
  # As a row, and beside other GPUs.
  printf 'arch,gpu,tokens,stack\nllama-2-7b,h100,1e9,ngc\nllama-2-7b,b200,1e9,ngc\n' >t.csv
  gives 0 '' predict --input t.csv --method physical -q --format json
  check '[.estimates[].extrapolates | index("gpu.family") != null] == [false, true]'
  for what in 'arch.experts --arch mixtral-8x7b' 'stack --arch llama-2-7b --stack compiled' \
    'fine_tune --arch llama-2-7b --fine-tune lora:8' \
    'fine_tune --arch llama-2-70b --fine-tune qlora:8 --stack mlperf'; do
    # shellcheck disable=SC2086
    rate --gpu h100 ${what#* }
    check ".estimates[0].extrapolates == [\"${what%% *}\"]"
  done
  rate --gpu h100 --arch llama-2-70b --fine-tune lora:8 --stack mlperf
  check '.estimates[0].extrapolates == []'
}

# AI-Hypercomputer/maxtext, README (TFLOP/s of a chip in bf16), MaxText/configs/v5e and
# v5p (batch of a chip, 2,048 tokens, what is computed again), pyconfig.py (shapes by the
# scale). FLOPs of a token: 6 N + 12 L a s for an attention a wide. The factor of a TPU's
# products was chosen with these in view; those of TPU v4, v6e and v7 were not
# (docs/lab/published-speeds.md).
@test "TPU v5e and v5p as MaxText publishes them" {
  command -v python3 >/dev/null || skip "no python3"
  python3 - >runs.csv 3>published <<'EOF'
import os
SHAPES = {16: (32, 4096, 64, 28672), 32: (32, 8192, 64, 28672),
          64: (64, 8192, 64, 28672), 128: (64, 8192, 128, 57344)}
RUNS = (("tpu-v5e", 256, 16, 6, "full", 1, 120),
        ("tpu-v5e", 256, 32, 4, "full", 1, 132),
        ("tpu-v5e", 256, 64, 2, "full", 1, 118),
        ("tpu-v5p", 64, 32, 7, "selective", 4, 328),
        ("tpu-v5p", 64, 64, 3, "selective", 4, 323),
        ("tpu-v5p", 128, 128, 1, "selective", 8, 315),
        ("tpu-v5p", 256, 128, 1, "selective", 8, 315))
print("arch,gpu,n_gpus,batch_size,grad_accum,checkpointing,sharding,"
      "tensor_parallel,precision,stack,tokens,run_id")
for i, (gpu, n, scale, batch, kind, tensor, tflops) in enumerate(RUNS):
    layers, hidden, heads, ffn = SHAPES[scale]
    params = layers * hidden * (4 * 128 * heads + 3 * ffn) + 32000 * hidden
    flop = 6 * params + 12 * layers * 128 * heads * 2048
    print('"transformer:layers=%d,hidden=%d,heads=%d,head_dim=128,ffn=%d,gated=1,'
          'vocab=32000,seq=2048,positions=0,bias=0"' % SHAPES[scale],
          gpu, n, batch * tensor, 1, kind, "zero3", tensor, "bf16", "compiled",
          "1e12", i, sep=",")
    os.write(3, b"%g\n" % (tflops * 1e12 / flop * n))
EOF
  gives 0 '' predict --input runs.csv --method physical -q --format csv
  python3 - <<'EOF'
import csv, math, statistics
found = [float(r["tokens_per_s"]) for r in csv.DictReader(open("out"))]
off = [a / float(b) for a, b in zip(found, open("published"), strict=True)]
assert all(1 / 1.25 < x < 1.25 for x in off), off
assert math.exp(abs(math.log(statistics.median(off)))) < 1.1, off
EOF
}

# Chowdhery et al., PaLM (arXiv 2204.02311, tables 2 and 3, section 5.1): 6,144 TPU v4,
# 12 of them for each layer, 238.3e3 tokens/s with 2,048 sequences; 57.8 % of the peak
# with what is computed again and 46.2 % without, so that three quarters of the 118
# layers' forward pass are.
@test "PaLM 540B on 6,144 TPU v4" {
  command -v jq >/dev/null || skip "no jq"
  palm() {
    gives 0 '' predict --arch palm-540b --gpu tpu-v4 --gpus 6144 --tokens 7.8e11 \
      --global-batch 2048 --stack compiled --method physical -q -f json "$@"
    jq '.estimates[0].tokens_per_s / 238.3e3' out
  }
  published=$(palm --sharding zero3 --tensor-parallel 12 --checkpointing full \
    --set checkpointed_layers=89)
  jq -n "$published | . > 1 / 1.5 and . < 1.5" | grep -qx true
  # 6,144 = 3 x 2,048: three, six or twelve stages
  assumed=$(palm)
  jq -n "$assumed | . > 1 / 1.5 and . < 1.5" | grep -qx true
}
