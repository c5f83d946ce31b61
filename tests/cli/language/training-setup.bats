#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# How a training is set up: batches, parallelism, what is trained.

load ../common

resnet='--arch resnet50 --gpu a100 --method flops -q --format json'
llama='--arch llama-2-7b --gpu a100 --method flops -q --format json'

# Fits with as many samples, and not with twice as many.
@test "a batch size that is not given is 256, or the largest power of two that fits" {
  try predict --arch resnet50 --gpu a100 -q --format json
  check '.batch_size == 256'
  for gpu in gtx-750-ti t4 rtx-3090; do
    try predict --arch resnet50 --gpu $gpu -q --format json
    batch=$(jq .batch_size out)
    check '.batch_size < 256 and (.batch_size | log2 | . == floor)'
    try predict --arch resnet50 --gpu $gpu --batch-size "$batch"
    ! grep -q 'more than the' err || false
    try predict --arch resnet50 --gpu $gpu --batch-size $((2 * batch))
    grep -q "GB, more than the .* of $gpu" err
  done
  # As columns, in any order of the rows; what one row fits is not the next's.
  printf 'arch,gpu\nresnet50,gtx-750-ti\nresnet50,a100\nresnet50,t4\n' >t.csv
  try predict --input t.csv -q --method physical --format json
  check '[.estimates[].memory_need_gb] | .[0] < 2 and .[1] > 20 and .[2] > 8 and .[2] < 16'
  try predict --arch resnet50 --gpu gtx-750-ti,a100-sxm4-80gb,t4 -q --method physical --format json
  check '[.estimates[].batch_size] | .[1] == 256 and .[0] < .[2] and .[2] < 256'
  # Of all GPUs together, where they share it.
  try predict --arch resnet50 --gpu t4 --gpus 4 --scaling strong -q --format json
  check '.batch_size == 256'
  # Unknown memory changes nothing.
  gives 0 "" predict --arch resnet50 --gpu "$TOP_SRCDIR/data/examples/lab-card.xml" \
    -q --format json
  check '.batch_size == 256'
}

@test "a contradiction is refused, in a table by its line" {
  # shellcheck disable=SC2086
  refuses 3 "dlest: $(message degrees_divide 8 3 1 | as_options)" predict $llama \
    --tokens 1e9 --gpus 8 --tensor-parallel 3
  for kind in tensor pipeline context; do
    # shellcheck disable=SC2086
    refuses 3 "dlest: $(message is_for_language_models ${kind}_parallel \
      resnet50 | as_options)" predict $resnet --gpus 8 "--$kind-parallel" 2
  done
  # shellcheck disable=SC2086
  refuses 3 "dlest: $(message precision_int8_is_for)" predict $resnet \
    --precision int8
  # shellcheck disable=SC2086
  refuses 3 "dlest: $(message precision_fp_has_no fp8 v100-sxm2-16gb fp16 fp8)" \
    predict --arch gpt2 --gpu v100 --tokens 1e9 --precision fp8
  # shellcheck disable=SC2086
  refuses 3 "dlest: $(message cached_latents_is_for resnet50 | as_options)" \
    predict --arch resnet50 --gpu a100 --cached-latents
  refuses 3 "dlest: $(message generates_images_no_classifier flux.1 |
    as_options)" predict --arch flux.1 --gpu a100 --train-samples 9 --frozen
  refuses 3 "dlest: $(message fine_tune_is_for lora resnet50 | as_options)" \
    predict $resnet --fine-tune lora:8
  # shellcheck disable=SC2086
  refuses 3 "dlest: $(message precision_fp_has_no fp8 a100-sxm4-40gb bf16 fp8)" \
    predict $resnet --precision FP8
  cat >runs.csv <<'EOF'
arch,gpu,n_gpus,global_batch,precision,fine_tune
resnet50,a100,8,1024,Half,
resnet50,a100,8,1028,mixed,
resnet50,a100,8,,BFloat16,HEAD
EOF
  try predict --input runs.csv --format csv --method flops
  [ "$status" -eq 3 ]
  [ "$(grep -c '^resnet50' out)" -eq 2 ]
  grep -qx "dlest: warning: runs.csv:3: $(message global_batch_multiple 1028 \
    grad_accum 1 8)" err
}

@test "work and parameters in units, not in 1e9 and 1e6 of them" {
  # shellcheck disable=SC2086
  for set in macs_g=4.1e9 arch.macs_g=4.1e9 params_m=25.6e6; do
    try predict $resnet --set "$set"
    [ "$status" -eq 3 ] || { cat err; return 1; }
    grep -q "^dlest: ${set%=*}: ${set#*=} is not between" err
  done
}

@test "a model that does not go with a set-up is skipped, by its line" {
  cat >runs.csv <<'EOF'
arch,gpu,n_gpus,tokens,tensor_parallel,pipeline_parallel,batch_size,fine_tune,virtual_stages,expert_parallel
gpt2,a100,12,1e9,5,,1,,,
gpt2,a100,13,1e9,,13,1,,,
gpt2,a100,1,1e3,,,8,,,
gpt2,a100,12,1e9,2,6,1,lora,,
gpt2,a100,12,1e9,2,6,1,lora:769,,
gpt2,a100,12,1e9,,2,1,,4,
gpt2,a100,12,1e9,12,,1,,2,
gpt2,a100,12,1e9,,2,1,,3,
mixtral-8x7b,h200,8,1e9,,,1,,,3
mixtral-8x7b,h200,8,1e9,4,,1,,,8
mixtral-8x7b,h200,8,1e9,,,1,,,8
gpt2,h200,8,1e9,,,1,,,8
EOF
  try predict --input runs.csv --format csv --method flops
  [ "$status" -eq 3 ]
  [ "$(grep -c '^gpt2' out)" -eq 2 ]
  # The smallest dimension of a product is the hidden size, 768.
  grep -qF "runs.csv:6: $(message lora_rank_is_more 769 gpt2 768)" err
  # 12 layers, or 14 with the embedding and the output layer
  grep -qF "runs.csv:7: $(message virtual_stages_do_not 4 2 12 gpt2 3)" err
  grep -qF "runs.csv:8: $(message virtual_stages_goes_with 2)" err
  grep -qF "runs.csv:2: $(message degrees_divide 12 5 1)" err
  grep -qF "runs.csv:3: $(message pipeline_parallel_is_more 13 12 gpt2)" err
  grep -qF "runs.csv:4: $(message a_step_takes_tokens 8192 8 1024 tokens \
    1000)" err
  [ "$(grep -c '^mixtral' out)" -eq 1 ]
  grep -qF "runs.csv:10: $(message expert_parallel_experts 3 8 mixtral-8x7b)" err
  grep -qF "runs.csv:11: $(message expert_parallel_data 8 2)" err
  grep -qF "runs.csv:13: $(message expert_parallel_is_for gpt2)" err
}

# A mixture of 47e9 weights, 45e9 of them of experts, and 16 bytes each: 8 GPUs of
# 80 GB do not hold it, 16 do when 8 of them divide the experts, 4 (1.6 + 5.6) + 12 x
# 46.7 / 16 = 64 GB.
@test "experts are divided where that is faster or memory needs it" {
  command -v jq >/dev/null || skip "no jq"
  of() {
    "$DLEST" predict --gpu a100-sxm4-80gb --tokens 1e8 --seq-len 4096 \
      --method physical -q -f json "$@" |
      jq -c '[.expert_parallel, .sharding, .memory_need_gb < .memory_usable_gb]'
  }
  [ "$(of --arch mixtral-8x7b --gpus 16)" = '[8,"ddp",true]' ]
  [ "$(of --arch mixtral-8x7b --gpus 16 --sharding zero1)" = '[8,"zero1",true]' ]
  [ "$(of --arch mixtral-8x7b --gpus 16 --sharding zero3)" = \
    '[null,"zero3",true]' ]
  # 94e9 bytes of weights alone, and as many of gradients
  [ "$(of --arch mixtral-8x7b --gpus 8 | jq '.[2]')" = false ]
  [ "$(of --arch mixtral-8x7b --gpus 8 --fine-tune lora:16)" = \
    '[8,"ddp",true]' ]
  # Layers are not divided so that too few copies are left for what is given; ZeRO-1
  # takes 4 (8 + 227 / 64) + 12 x 235 / 64 = 90 GB.
  [ "$(of --arch qwen3-235b-a22b --gpus 64 --expert-parallel 64)" = \
    '[64,"zero3",true]' ]
}

@test "work: LoRA has no gradients of weights, checkpointing a pass more" {
  # 3 passes, 2 with adapters, 4 with full checkpointing
  for pair in 'full 3' 'lora:8 2' 'qlora:8 2' 'head 1'; do
    # shellcheck disable=SC2086
    try predict $llama --tokens 4096e6 --fine-tune "${pair% *}" \
      --checkpointing none
    [ "${pair% *}" = head ] || near '.flop / .macs_g' "2e9 * 1e6 * ${pair#* }"
  done
  # shellcheck disable=SC2086
  try predict $llama --tokens 4096e6 --checkpointing full
  near '.flop / .macs_g' '2e9 * 1e6 * 4'
  # The model's own FLOPs make the utilization: .4 of the peak, 3 of 4 passes
  near '.estimates[0].mfu' '0.4 * 3 / 4'
}

# Llama 2 7B has 32 layers: each that is computed again adds a 32nd of a forward pass,
# a third of a 32nd of training's three, and leaves out as much memory as the last.
@test "some layers are computed again" {
  of() {
    try predict --arch llama-2-7b --gpu a100-sxm4-80gb --gpus 8 --sharding zero3 \
      --batch-size 1 --tokens 4096e6 --format json --checkpointing "$@"
    jq -c '[.flop, .memory_need_gb, (.estimates[] | select(.method == "physical")
      .duration_s)]' out
  }
  some() { of full --set checkpointed_layers="$1"; }
  jq -n "[$(of none), $(some 8), $(some 16), $(some 24), $(some 32), $(of full)]" >got
  mv got out
  check 'map(.[0] / 2e15 / 31460.6354432) as $f | [$f[1] - 3.25, $f[2] - 3.5,
    $f[4] - 4, $f[5] - 4] | all(fabs < 1e-3)'
  check 'map(.[1]) as $m | $m[1] - $m[2] - ($m[2] - $m[3]) | fabs < 1e-9'
  check 'map(.[1]) as $m | $m[0] > $m[1] and $m[3] > $m[4] and $m[4] == $m[5]'
  check 'map(.[2]) as $t | [$t[1:5], $t[0:4]] | transpose | all(.[0] > .[1])'
  check '.[4][2] == .[5][2]'
  refuses 3 "dlest: $(message checkpointed_layers_goes_with | as_options)" \
    predict --arch llama-2-7b --gpu a100 --tokens 1e9 --checkpointing none \
    --set checkpointed_layers=3
  refuses 3 "dlest: $(message checkpointed_layers_is_more 33 32 llama-2-7b |
    as_options)" predict --arch llama-2-7b --gpu a100 --tokens 1e9 \
    --checkpointing full --set checkpointed_layers=33
  refuses 3 "dlest: $(message checkpointed_layers_is_for resnet50 | as_options)" \
    predict --arch resnet50 --gpu a100 --checkpointing full \
    --set checkpointed_layers=3
}

@test "precision is stated everywhere, also when it is assumed" {
  try predict --arch llama-2-7b --gpu a100 --tokens 1e9 -q --explain
  grep -qE '^precision +bf16 \(assumed\)$' out
  try predict --arch llama-2-7b --gpu v100 --tokens 1e9 -q --format json
  check '.precision == "fp16" and (.assumed | index("precision"))'
  try predict --arch resnet50 --gpu a100 -q --format csv
  column=$(head -n 1 out | tr , '\n' | grep -nx precision_used | cut -d: -f1)
  [ "$(tail -n +2 out | cut -d, -f"$column" | sort -u)" = tf32 ]
  try predict --arch resnet50 --gpu v100 -b 16,32 -q --format json
  check 'all(.estimates[]; .precision_used == "fp32" and
    .assumed[-1] == "precision=fp32")'
  try predict --arch resnet50 --gpu a100 --precision Half -q --explain
  grep -qE '^precision +fp16$' out
  try recommend --arch resnet50 --gpu gtx-1080 -b 32 -q --explain
  grep -qE '^precision +fp32 \(assumed\)$' out
  try recommend --arch resnet50 --gpu a100 -b 64 -q --format json
  check '[.choices[].precision] | sort == ["amp", "tf32"]'
}

@test "BF16 where it is emulated is no faster than FP32 arithmetic" {
  for job in '--arch resnet50 -b 32 --train-samples 1e6 --epochs 1' \
    '--arch gpt2 -b 4 --tokens 1e9'; do
    for precision in fp16 bf16; do
      # shellcheck disable=SC2086
      try predict $job --gpu v100 --method physical -q --format json \
        --precision "$precision"
      jq '.estimates[0].duration_s' out >"$precision"
    done
    # 125 TFLOP/s against 15.7
    [ "$(jq -s '.[1] > 1.3 * .[0]' fp16 bf16)" = true ]
  done
}

@test "pre-epoch and pre-power learnt in FP32: not recommended in another" {
  try predict --arch resnet50 --gpu a100 --precision amp --format json \
    --method pre-epoch,pre-power,tdp
  check '.recommended == "tdp"'
  check 'all(.estimates[:2][]; .extrapolates | index("precision"))'
  try predict --arch resnet50 --gpu a100 --precision amp --all \
    --method pre-epoch,pre-power,tdp
  grep -q '^pre-epoch: outside the measured range: .*, precision\.$' out
  try predict --arch resnet50 --gpu a100 --precision tf32 --format json \
    --method pre-epoch,pre-power,tdp
  check '.recommended == "pre-epoch"'
}

@test "a batch of more samples than the data set has takes no more memory" {
  command -v jq >/dev/null || skip "no jq"
  need() {
    try predict --arch resnet50 --gpu a100 --epochs 1 "$@" --format json
    jq '.memory_need_gb' out
  }
  a=$(need --batch-size 100 --train-samples 100)
  [ "$(need --batch-size 512 --train-samples 100)" = "$a" ]
  [ "$(need --batch-size 101 --train-samples 101)" != "$a" ]
  # 8 GPUs take 100 samples each of 797
  [ "$(need --batch-size 512 --train-samples 797 --gpus 8)" = "$a" ]
}

@test "a sequence longer than the learned positions or the published context" {
  try predict --arch gpt2 --gpu a100 --tokens 1e9 --seq-len 2048 --method flops
  grep -qx "dlest: warning: $(message sequence_is_longer --seq-len 2048 1024 gpt2)" err
  local row arch gives_up
  # Touvron et al., arXiv 2307.09288 and 2302.13971; Grattafiori et al.,
  # arXiv 2407.21783; Jiang et al., arXiv 2310.06825; Qwen2.5's report, arXiv
  # 2412.15115
  for row in llama-2-7b:4096 llama-7b:2048 llama-3.1-8b:131072 \
    mistral-7b:32768 qwen2.5-7b:131072 qwen2.5-3b:32768; do
    arch=${row%:*} gives_up=${row#*:}
    try predict --arch "$arch" --gpu h200 --gpus 64 --tokens 1e9 --method flops \
      --seq-len "$gives_up" --sharding zero3 --format json
    check '.warnings | all(test("seq_len") | not)'
    try predict --arch "$arch" --gpu h200 --gpus 64 --tokens 1e9 --method flops \
      --seq-len $((gives_up + 1)) --sharding zero3
    arch=$("$DLEST" list archs "$arch" --format json | jq -r '.archs[0].id')
    [ "$(grep -cxF "dlest: warning: $(message sequence_is_longer_context --seq-len \
      $((gives_up + 1)) "$gives_up" "$arch")" err)" -eq 1 ]
  done
  # unknown; ALiBi
  for arch in transformer:layers=2,hidden=256,heads=4,ffn=600,vocab=999,seq=64 \
    bloom-560m mpt-7b; do
    try predict --arch "$arch" --gpu h200 --tokens 1e9 --method flops \
      --seq-len 8192
    ! grep -q seq_len err || false
  done
  printf 'arch,gpu,tokens,seq_len\n%s\n' gpt2,a100,1e9,2048 \
    gpt2,a100,1e9,512 llama-2-7b,a100,1e9,8192 >runs.csv
  try predict --input runs.csv --method flops --format csv
  grep -qxF "dlest: warning: runs.csv: $(message rows_sequences_are 2 s)" err
}

# A step of a batch of 8 on 64 GPUs: 4 x 2 of them for each sequence, which two
# groups of four share. Each has half of its tokens, so half of their activations.
@test "GPUs that share each sequence" {
  of() {
    try predict --arch llama-2-70b --gpu h100-sxm5-80gb --gpus 64 --tokens 1e9 \
      --fine-tune lora:16 --seq-len 8192 --batch-size 1 --grad-accum 1 \
      --tensor-parallel 4 --checkpointing none --sharding zero1 \
      --format json "$@"
    jq -c '[.global_batch, .context_parallel, .memory_need_gb]' out
  }
  whole=$(of) half=$(of --context-parallel 2)
  [ "$(jq -n "$half | .[:2]" -c)" = '[8,2]' ]
  [ "$(jq -n "$whole | .[0]")" = 16 ]
  # 70e9 weights of 2 bytes on 4 GPUs; the rest halves
  jq -n "($whole | .[2]) as \$a | ($half | .[2]) as \$b |
    (\$a - 35) / (\$b - 35) | . > 1.8 and . < 2.1" | grep -qx true
  refuses 3 "dlest: $(message degrees_divide_with 8 1 1 3 | as_options)" \
    predict \
    --arch llama-2-70b --gpu h100 --gpus 8 --tokens 1e9 --context-parallel 3
}

@test "a new head needs the memory of one layer, divided, without flash's scores" {
  # Llama 3 8B on 8,192 tokens: eager attention has 32 heads x 8,192^2 scores of
  # 2 B in a layer, 4.295 GB a sample; 8 samples on 8 GPUs that share a layer.
  local a
  for a in 'flash 1' 'flash 8' 'eager 8' 'flash 8 --batch-size 16'; do
    # shellcheck disable=SC2086
    set -- $a
    gives 0 '' predict --arch llama-3-8b --gpu h200 --gpus 64 --fine-tune head \
      --train-samples 52000 --batch-size 8 --checkpointing none --sharding ddp \
      --attention "$1" --tensor-parallel "$2" "${@:3}" --format json -q
    jq .memory_need_gb out
  done | jq -s . >need
  mv need out
  near '.[2] - .[1]' '32 * pow(8192; 2) * 2 / 1e9'
  # All weights and the samples are divided alike.
  near '.[0]' '.[1] * 8'
  check '.[3] > .[1] and .[3] < 2 * .[1]'
}

@test "NVIDIA's containers run on NVIDIA's GPUs alone" {
  local gpu
  for gpu in mi300x tpu-v4 gaudi2; do
    refuses 3 "dlest: $(message is_no_nvidia_gpu ngc "$gpu" |
      sed 's/^stack/--stack/')" predict --arch resnet50 --gpu "$gpu" --stack ngc
  done
  printf '%s\n' arch,gpu,stack,epochs resnet50,mi300x,ngc,1 \
    resnet50,mi300x,mlperf,1 resnet50,a100,ngc,1 >runs.csv
  try predict --input runs.csv --format csv --method flops
  [ "$status" -eq 3 ]
  grep -qx "dlest: warning: runs.csv:2: $(message is_no_nvidia_gpu ngc mi300x)" err
  [ "$(grep -c '^resnet50' out)" -eq 2 ]
}

@test "compiled kernels: as much faster as published, over networks of timm" {
  # Ansel et al. 2024 (doi 10.1145/3620665.3640366): 1.41 over 180 models on an
  # A100, geometric mean; PyTorch 2.0: 1.38 for those of timm, 1.21 for FP32
  where="(family == 'resnet') + (family == 'vit') + (family == 'efficientnet')"
  gives 0 '' list archs --where "$where + (family == 'convnext') > 0" -f json
  jq -r '.archs[].id' out | paste -sd, >archs
  for stack in eager compiled; do
    gives 0 '' predict --arch "$(cat archs)" --gpu a100 --precision amp \
      --batch-size 64 --stack "$stack" --method physical -q -f csv
    cp out "$stack.csv"
  done
  python3 - <<'EOF'
import csv, math, statistics
eager, compiled = ([float(r["duration_s"]) for r in csv.DictReader(open(f))]
                   for f in ("eager.csv", "compiled.csv"))
speedup = statistics.geometric_mean(a / b for a, b in zip(eager, compiled,
                                                          strict=True))
print(len(eager), speedup)
assert len(eager) > 50 and 1.25 < speedup < 1.6
EOF
}
