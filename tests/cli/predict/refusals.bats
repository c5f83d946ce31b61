#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What to give, or which option a name belongs to, where nothing can be estimated.

load ../common

@test "nothing can be estimated: what to give, not what each method lacks" {
  # Apple states neither; of the M3 Ultra the power of the whole computer.
  refuses 3 "dlest: $(message no_method_has_enough \
    "; give --set gpu.peak_fp32_tflops=VALUE and --set gpu.tdp_w=VALUE")" \
    predict --arch resnet50 --gpu m3-max
  gives 0 '' predict --arch resnet50 --gpu m3-max -q \
    --set gpu.peak_fp32_tflops=14 --set gpu.tdp_w=60
  refuses 3 "dlest: $(message no_method_has_enough \
    "; give --set gpu.peak_fp32_tflops=VALUE, or --duration")" \
    predict --arch resnet50 --gpu m3-ultra --phase inference
  refuses 3 "dlest: $(message no_method_has_enough \
    "; give --set gpu.peak_fp32_tflops=VALUE, or --duration")" \
    predict --arch sdxl --gpu m3-ultra --phase inference
  # no peak rate is taken in place of another where none is known
  gives 0 '' predict --arch llama-3-8b --gpu m3-ultra --phase inference \
    --duration 9s
}

@test "a network without work, parameters or activations" {
  for name in macs_g params_m acts_m; do
    try predict --arch resnet50 --gpu a100 --set $name=0
    [ "$status" -eq 2 ] && [ ! -s out ]
    grep -qF "dlest: $name: 0 is not between" err
  done
}

@test "no value, or half a formula, whether anything needs it or not" {
  local job=(predict --arch resnet50 --gpu a100) name
  for name in batch_size arch foo; do
    refuses 2 "dlest: $(message expected_name_value "$name=")" \
      "${job[@]}" --set "$name="
  done
  for name in batch_size arch gpu.memory_gb dataset.train_samples foo; do
    refuses 2 "dlest: $(message expected_name_formula "$name=")" \
      "${job[@]}" --define "$name="
    refuses 2 "dlest: formula '1+': column 3: $(message ends_where_a_value)" \
      "${job[@]}" --define "$name=1+"
  done
}

@test "a machine with a built-in accelerator has no second one" {
  # NVIDIA's data sheets: a Jetson is a computer on a module, a DGX Spark has one
  # GB10; a laptop has one GPU, and Apple's are on the chip of the computer.
  local gpu
  for gpu in jetson-agx-orin-64gb gb10 rtx-4090-laptop apple-m1-max; do
    refuses 3 "dlest: $(message is_built_into_machine 8 "$gpu" 8 |
      sed 's/^n_gpus/--gpus/; s/gpus_per_node/--gpus-per-node/')" \
      predict --arch resnet50 --gpu "$gpu" --gpus 8
    gives 0 '' predict --arch resnet50 --gpu "$gpu" --gpus 8 \
      --gpus-per-node 1 --network 10
  done
  # Superchips of data centres are modules of a node.
  gives 0 '' predict --arch resnet50 --gpu gh200 --gpus 4
  table arch,gpu,epochs,batch_size,train_samples,n_gpus,n_nodes \
    resnet50,gb10,1,32,1e6,2, resnet50,gb10,1,32,1e6,2,2
  gives 3 "dlest: warning: runs.csv:2: $(message is_built_into_machine 2 gb10 2)
dlest: 1 row skipped" predict --input runs.csv --method flops -f csv
  [ "$(grep -c '^resnet50' out)" -eq 1 ]
}

@test "built-in accelerators are no choice where several are wanted" {
  gives 0 '' recommend --arch resnet50 --gpus 1 --batch-size 32 -q -f csv
  grep -q ',jetson-agx-orin-64gb,.*,tf32$' out
  gives 0 '' recommend --arch resnet50 --gpus 8 --batch-size 32 -q -f csv
  ! grep -E '^[^,]*,(jetson|gb10|apple|[^,]*-laptop)' out |
    grep -v ',no estimate,'
}

@test "images in 8 bits or FP64 are a rule of thumb, not passes in FP32" {
  # The T4's data sheet: 65 TFLOP/s in FP16, 130 TOPS in INT8.
  local job=(predict --arch resnet50 --gpu t4 --phase inference --samples 1000
    --batch-size 32 --method flops -q -f json)
  gives 0 '' "${job[@]}" --precision fp16
  jq '.estimates[0].energy_j' out >half
  gives 0 '' "${job[@]}" --precision int8
  near '.estimates[0].energy_j * 2' "$(cat half)"
  for precision in int8 fp64; do
    for arch in resnet50 sdxl; do
      gives 0 '' predict --arch $arch --gpu a100 --phase inference \
        --precision $precision
      grep -qF "physical lacks measured runs in $precision." out
    done
  done
}

@test "what an absent network or GPU would give is named as that" {
  gives 0 '' predict --gpu a100 --duration 3h
  grep -qF "physical lacks --arch." out
  gives 0 '' predict --gpu a100 --duration 3h --all
  for method in physical pre-epoch pre-power flops; do
    grep -qxF "$(message no_estimate_without $method --arch)." out
  done
  try predict --gpu a100 --duration 3h -f json
  check '.warnings | length == 4 and all(endswith("without --arch"))'
  table arch,gpu,epochs,batch_size,train_samples ,a100,1,32,1e5 \
    resnet50,,1,32,1e5 resnet50,a100,1,32,1e5
  gives 3 "dlest: warning: runs.csv:2: $(message no_estimate_needs physical arch)
dlest: warning: runs.csv:3: $(message no_estimate_needs physical gpu)
dlest: 2 rows skipped" predict --input runs.csv -f csv
  refuses 3 "dlest: $(message no_choice_has_estimate physical \
    "--set gpu.peak_fp32_tflops=VALUE")" recommend --arch resnet50 --gpu m3-max
  table gpu,energy_j,duration_s,batch_size,train_samples,val_samples \
    a100,1e6,3600,8,1e4,0
  try compare runs.csv --method pre-power
  grep -qxF "dlest: warning: $(message silent_add_the_column pre-power \
    arch 1 1 arch)" err
}

@test "words that an option refuses are refused in a table" {
  local column word nearest
  while read -r column word nearest; do
    table "arch,gpu,train_samples,epochs,batch_size,$column" \
      "resnet50,a100,1e6,90,256,$word" \
      resnet50,a100,1e6,90,256,
    gives 3 "dlest: warning: runs.csv:2: $(message column_invalid_value \
      "$column" "$word" "$nearest")
dlest: 1 row skipped" predict --input runs.csv --method flops -f csv
    [ "$(grep -c '^resnet50' out)" -eq 1 ]
  done <<'END'
framework mxnet 'jax', 'pytorch'
host_class laptop 'desktop', 'server'
scaling srong 'strong', 'weak'
loader dusk 'disk', 'cached'
END
  for word in jax JAX PyTorch; do
    table arch,gpu,train_samples,epochs,batch_size,framework \
      "resnet50,a100,1e6,90,256,$word"
    gives 0 '' predict --input runs.csv --method flops -f csv
    gives 0 '' predict --arch resnet50 --gpu a100 --framework $word
  done
}

@test "assumptions in a column or by --define have their ranges, too" {
  local column value low high
  while read -r column value low high; do
    table "arch,gpu,train_samples,epochs,batch_size,$column" \
      "resnet50,a100,1e6,90,256,$value"
    gives 3 "dlest: warning: runs.csv:2: $(message column_not_between \
      "$column" "$value" "$low" "$high")
dlest: 1 row skipped" predict --input runs.csv --format csv --method flops
    refuses 3 "dlest: $(message column_not_between "$column" "$value" "$low" \
      "$high")" predict --arch resnet50 --gpu a100 --define "$column=$value"
  done <<'END'
efficiency 5 1e-06 1
peak_tflops -3 0.0001 100000
END
}

@test "rows and sweeps state what is taken for what is not given, with values" {
  # ImageNet has 1,281,167 and 50,000 images; a batch of 256 does not fit the 16
  # GB of a T4 (8.9 GB for one of 64), and is less then
  gives 0 '' predict --arch resnet50 --gpu a100,t4 -q -f json
  check '[.estimates[] | select(.recommended) | .assumed | join(" ")] ==
    ["train_samples=1281167 val_samples=50000 epochs=90 batch_size=256 precision=tf32",
     "train_samples=1281167 val_samples=50000 epochs=90 batch_size=64 precision=fp32"]'
  gives 0 '' predict --arch resnet50 --gpu a100,t4 -q -f json --dataset cifar10 \
    --batch-size 8 --epochs 3 --precision fp16
  check 'all(.estimates[]; .assumed == [])'
  gives 0 '' predict --arch llama-3-8b --gpu h100 --gpus 8,16 --tokens 1e9 -q -f json
  check 'all(.estimates[].assumed[]; test("^(precision|checkpointing|attention|sharding|batch_size)=."))'
  gives 0 '' predict --arch resnet50,vgg16 --gpu a100 --phase inference -q -f json
  check '.estimates[0].assumed ==
    ["batch_size=1", "requests=1", "precision=tf32"]'
  table arch,gpu resnet50,a100 resnet50,t4
  gives 0 "dlest: warning: runs.csv: $(message no_column_default_is \
    train_samples 1281167)
dlest: warning: runs.csv: $(message no_column_default_is epochs 90)
dlest: warning: runs.csv: $(message no_column_default_is batch_size '64 to 256')" \
    predict --input runs.csv --method flops -f csv
  [ "$(grep -c 'epochs=90;batch_size=64;precision=fp32$' out)" -eq 1 ]
}

@test "depthwise layers need the rate in FP32" {
  # Google publishes none; the rule of thumb says what physical lacks.
  for phase in training inference; do
    gives 0 '' predict --arch efficientnet_b0 --gpu tpu-v3 --phase $phase
    grep -qF "physical lacks --set gpu.peak_fp32_tflops=VALUE." out
    refuses 3 "dlest: warning: $(message no_estimate_without physical \
      '--set gpu.peak_fp32_tflops=VALUE')
dlest: $(message no_method_has_enough "; give --set gpu.peak_fp32_tflops=VALUE")" \
      predict --arch efficientnet_b0 --gpu tpu-v3 --phase $phase --method physical
    gives 0 '' predict --arch resnet50 --gpu tpu-v3 --phase $phase \
      --method physical -q
  done
}

@test "formats of weights are no precision, and no other network" {
  for format in int4 NVFP4 awq q4_k_m; do
    misused predict "$(message invalid_value_4_bit precision $format)" \
      --precision $format
  done
  # 8.03e9 weights of 0.53 bytes
  gives 0 '' predict --arch llama-3.1-8b --gpu rtx-4090 --phase inference \
    --prompt-tokens 9 --output-tokens 9 --set weight_bytes=0.53 -f json -q
  check '.memory_need_gb > 8.03 * 0.53 and .memory_need_gb < 8.03 * 0.53 + 0.2'
  for name in Qwen/Qwen2.5-7B-Instruct-AWQ Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4; do
    refuses 3 "dlest: $(message unknown_nearest_or_export arch "$name" \
      "$(meant qwen2.5-7b qwen2.5-72b qwen2.5-3b)" archs)" show arch "$name"
  done
}

@test "a computer in the place of an accelerator" {
  refuses 3 "dlest: $(message unknown_nearest_see_list gpu p4d.24xlarge \
    "$(message did_you_mean '--node aws:p4d.24xlarge')" gpus)" \
    predict --arch resnet50 --gpu p4d.24xlarge
  refuses 3 "dlest: $(message unknown_nearest_see_list node t4 \
    "$(message did_you_mean '--gpu t4')" nodes)" predict --arch resnet50 --node t4
  refuses 3 "dlest: $(message unknown_nearest_or_export arch cifar10 \
    "$(message did_you_mean '--dataset cifar10')" archs)" \
    predict --arch cifar10 --gpu t4
  gives 0 "dlest: warning: $(message system_is_one 'DGX H100' h100-sxm5-80gb)" \
    predict --arch resnet50 --gpu 'DGX H100'
  gives 0 '' predict --arch resnet50 --gpu 'DGX H100' --gpus 8
  gives 0 '' predict --arch resnet50 --gpu 'DGX Spark'
}
