#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What must hold of the set-ups that are assumed for language models, over grids of
# networks, GPUs, numbers of GPUs, batches, lengths of sequences and memory
# (setups.py). The best of a set that grows is never worse, but for the hundredth that
# each kind of division has to save (src/estimate/node/division.h).

load ../common

setup_file() {
  local memory header=1
  command -v python3 >/dev/null || return 0
  cd "$BATS_FILE_TMPDIR" || return 1
  python3 "$TOP_SRCDIR/tests/cli/language/setups.py" rows >rows.csv
  # The memory of a GPU is an override, for all rows of a table.
  for memory in '' $(cut -d, -f1 rows.csv | grep '^[0-9]' | sort -nu); do
    awk -F, -v memory="$memory" 'NR == 1 || $1 == memory' rows.csv >some.csv
    "$DLEST" predict --input some.csv --method physical -q --format csv \
      ${memory:+--set "gpu.memory_gb=$memory"} | tail -n "+$header"
    header=2
  done >found.csv
}

# One setting grows, others do not.
holds() {
  command -v python3 >/dev/null || skip "no python3"
  run python3 "$TOP_SRCDIR/tests/cli/language/setups.py" "$1" \
    "$BATS_FILE_TMPDIR/found.csv"
  [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "more GPUs with the same global batch never take more time" {
  holds gpus
}

@test "a larger batch never takes more time for a token" {
  holds batch
}

@test "a GPU with more memory is never slower" {
  holds memory
}

@test "longer sequences never take less time for a token" {
  holds length
}

@test "what does not fit is not cheaper than what would" {
  holds unfit
}

@test "what fits also fits with more memory, or more GPUs" {
  holds fits
}

# Doubled GPUs, batches and lengths, and a fifth more memory.
@test "neighbours are of the same order" {
  holds 'jump in gpus'
  holds 'jump in batch'
  holds 'jump in length'
  holds 'jump in memory'
}

# What is assumed is no slower than what is given, but for the hundredth that each
# kind of division has to save (estimate/node/division.h), and what a fit and its
# priors differ by.
@test "no set-up that fits is faster than the one that is assumed" {
  command -v jq >/dev/null || skip "no jq"
  local job best given
  of() {
    "$DLEST" predict --method physical -q -f json "$@" |
      jq '[.memory_need_gb, .estimates[0].tokens_per_s]'
  }
  while read -r memory job; do
    # shellcheck disable=SC2086
    best=$(of $job)
    jq -n "$best | .[0] <= $memory" | grep -qx true
    for given in '--sharding zero3' '--sharding zero1' '--sharding ddp' \
      '--sharding zero3 --checkpointing full' \
      '--sharding zero1 --tensor-parallel 2' \
      '--sharding zero1 --tensor-parallel 4' \
      '--sharding zero1 --tensor-parallel 8' \
      '--sharding ddp --tensor-parallel 8 --pipeline-parallel 2' \
      '--sharding zero1 --expert-parallel 8' \
      '--sharding zero1 --checkpointing full --batch-size 4'; do
      case $job$given in *mixtral*) ;; *expert*) continue ;; esac
      # shellcheck disable=SC2086
      jq -n "$(of $job $given) | .[0] > $memory or .[1] < 1.05 * ($best | .[1])" |
        grep -qx true || { echo "$job $given"; false; }
    done
  done <<'EOF'
80 --arch llama-2-70b --gpu h100-sxm5-80gb --gpus 64 --global-batch 512 --tokens 1e12
80 --arch llama-2-7b --gpu a100-sxm4-80gb --gpus 16 --global-batch 64 --tokens 1e12
40 --arch pythia-1.4b --gpu a100-sxm4-40gb --gpus 16 --global-batch 512 --tokens 1e11
80 --arch mixtral-8x7b --gpu h100-sxm5-80gb --gpus 32 --global-batch 256 --tokens 1e11
48 --arch llama-3-8b --gpu l40s --gpus 16 --global-batch 64 --fine-tune lora --tokens 1e8
EOF
}

# The same over drawn trainings and all divisions (`make chaos` has 6,000 of them).
@test "of drawn trainings no other set-up is faster, or fits where none is said to" {
  command -v python3 >/dev/null || skip "no python3"
  run python3 -B "$TOP_SRCDIR/tests/cli/language/setup_scan.py" "$DLEST" 150
  [ "$status" -eq 0 ] || { echo "$output"; false; }
}

# Pipelines in a node and tensor parallelism over PCIe.
@test "without NVLink layers are divided too" {
  local n
  for n in 1536 2048; do
    try predict --arch pythia-12b --gpu rtx-4090 --gpus "$n" --tokens 1e11 \
      --method physical --format json
    check '.tensor_parallel > 1 or .pipeline_parallel > 1'
    jq '.estimates[0].duration_s' out
  done >times
  try predict --arch pythia-12b --gpu rtx-4090 --gpus 2048 --tokens 1e11 \
    --pipeline-parallel 4 --global-batch 2048 --method physical --format json
  jq '.estimates[0].duration_s' out >>times
  jq -es '.[1] < 1.05 * .[0] and .[1] < 1.05 * .[2]' times
}

# 8 x 8 sequences of whole copies of the network, which fit; a board that draws
# less is no faster, and what is assumed does not change its batch.
@test "a batch for each GPU gives the batch of all" {
  local limit
  for limit in '' '--set power_limit_w=180'; do
    # shellcheck disable=SC2086
    try predict --arch pythia-1.4b --gpu rtx-6000-ada --gpus 8 --batch-size 8 \
      --seq-len 512 --tokens 1.18e9 --checkpointing none --stack tuned $limit \
      --precision amp --method physical -q --format json
    check '.global_batch == 64'
    jq '.estimates[0].duration_s' out
  done >times
  jq -es '.[1] > .[0]' times
}

@test "a global batch below the number of GPUs: they divide the layers" {
  refuses 3 "dlest: $(message global_batch_below_samples 4 8 4 | as_options)" \
    predict --arch resnet50 --gpu a100 --gpus 8 --global-batch 4
  gives 0 '' predict --arch resnet50 --gpu a100 --gpus 4 --global-batch 4 -q
  try predict --arch llama-3-8b --gpu a100-sxm4-80gb --gpus 8 --global-batch 4 \
    --tokens 1e9 --format json
  check '.tensor_parallel >= 2 and .global_batch == 4 and
    (.assumed | index("tensor_parallel")) and .memory_need_gb <= .memory_usable_gb'
  # Not where it is said how they are divided
  refuses 3 "dlest: $(message global_batch_below_sequences 4 8 | as_options)" \
    predict --arch llama-3-8b --gpu a100 --gpus 8 --global-batch 4 --tokens 1e9 \
    --sharding zero3
  gives 0 '' predict --arch llama-3-8b --gpu a100 --gpus 8 --global-batch 4 \
    --tokens 1e9 --tensor-parallel 2 -q
}

# One decision for the peak memory, physical and the report.
@test "what is assumed, when it is given, changes nothing" {
  command -v jq >/dev/null || skip "no jq"
  local job given
  of() {
    # shellcheck disable=SC2086
    gives 0 '' predict $1 -q --method physical -f json
    jq -c '[.memory_need_gb, .estimates[0].duration_s]' out
  }
  while read -r job; do
    of "$job" >assumed
    given=$(jq -r '. as $d | .assumed[] | if . == "lora_rank" or . == "startup_s" or
      . == "checkpointed_layers" then "--set \(.)=\($d[.])"
      else "--\(gsub("_"; "-")) \($d[.])" end' out | tr '\n' ' ')
    of "$job $given" | cmp - assumed || { echo "$job $given"; false; }
    jq -e '.assumed == []' out
  done <<'EOF'
--arch llama-2-7b --gpu a100-80gb --gpus 8 --tokens 1e9
--arch llama-65b --gpu a100-80gb --gpus 2048 --tokens 1.4e12
--arch llama-3-8b --gpu l40s --gpus 4 --tokens 1e8 --fine-tune lora
--arch llama-3-70b --gpu h100 --gpus 8 --tokens 1e8
--arch llama-3.1-405b --gpu h100 --gpus 16384 --tokens 15.6e12 --pipeline-parallel 16
--arch deepseek-v3 --gpu h800 --gpus 2048 --tokens 1e12 --global-batch 15360
--arch gpt2 --gpu rtx-3090 --tokens 1e8 --batch-size 4
EOF
}

@test "what a warning says would fit does" {
  command -v jq >/dev/null || skip "no jq"
  local job remedy
  of() {
    # shellcheck disable=SC2086
    gives 0 '' predict --gpu h100-sxm5-80gb $1 -q --method flops -f json
  }
  while read -r job; do
    of "$job"
    remedy=$(jq -r '.warnings[]' out | grep -o 'fits .*' |
      sed -E 's/^fits (with )?//; s/,? or /\n/; s/\bon ([0-9]+) GPUs/--gpus \1/')
    [ -n "$remedy" ] || { echo "$job"; false; }
    while read -r remedy; do
      of "$job ${remedy/on [0-9]* GPUs/}"
      jq -e '.memory_need_gb <= .memory_usable_gb' out || { echo "$job $remedy"; false; }
    done <<<"$remedy"
  done <<'EOF'
--arch llama-3-8b --tokens 1e9
--arch llama-3-70b --gpus 8 --tokens 1e9
--arch llama-3.1-405b --gpus 64 --tokens 1e12
--arch llama-3-8b --gpus 2 --tokens 1e9 --checkpointing none
--arch llama-3-8b --gpus 8 --tokens 1e9 --attention eager --seq-len 65536
--arch mixtral-8x7b --gpus 8 --tokens 1e9 --global-batch 64
EOF
}
