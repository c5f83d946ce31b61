#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What to give, or which option a name belongs to, where nothing can be estimated.

load ../common

@test "a network without work, parameters or activations" {
  for name in macs_g params_m acts_m; do
    try predict --arch resnet50 --gpu a100 --set $name=0
    [ "$status" -eq 3 ]
    [ ! -s out ]
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
  grep -q ',jetson-agx-orin-64gb,.*,tf32,' out
  gives 0 '' recommend --arch resnet50 --gpus 8 --batch-size 32 -q -f csv
  ! grep -E '^[^,]*,(jetson|gb10|apple|[^,]*-laptop)' out |
    grep -v ',no estimate,'
}

@test "images in 8 bits by a framework, or FP64, are a rule of thumb, not passes in FP32" {
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
        --precision $precision --stack eager
      grep -qF "a better one needs measured runs in $precision" out
    done
  done
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

@test "rows and sweeps state what is taken for what is not given, with values" {
  # ImageNet has 1,281,167 and 50,000 images; a batch of 256 does not fit the 16
  # GB of a T4 in FP32, and is less then (NVIDIA DeepLearningExamples trains with
  # 128 on a V100 of 16 GB)
  gives 0 '' predict --arch resnet50 --gpu a100,t4 -q -f json
  check '[.estimates[] | select(.recommended) | .assumed | join(" ")] ==
    ["train_samples=1281167 val_samples=50000 epochs=90 batch_size=256 precision=tf32",
     "train_samples=1281167 val_samples=50000 epochs=90 batch_size=128 precision=fp32"]'
  gives 0 '' predict --arch resnet50 --gpu a100,t4 -q -f json --dataset cifar10 \
    --batch-size 8 --epochs 3 --precision fp16
  check 'all(.estimates[]; .assumed == [])'
  gives 0 '' predict --arch llama-3-8b --gpu h100 --gpus 8,16 --tokens 1e9 -q -f json
  check 'all(.estimates[].assumed[]; test("^(precision|checkpointing|attention|sharding|batch_size|startup_s|overhead)=."))'
  gives 0 '' predict --arch resnet50,vgg16 --gpu a100 --phase inference -q -f json
  check '.estimates[0].assumed ==
    ["batch_size=1", "requests=1", "precision=tf32", "stack=transformers"]'
  table arch,gpu resnet50,a100 resnet50,t4
  gives 0 "dlest: warning: runs.csv: $(message no_column_default_is \
    train_samples 1281167)
dlest: warning: runs.csv: $(message no_column_default_is epochs 90)
dlest: warning: runs.csv: $(message no_column_default_is batch_size '128 to 256')" \
    predict --input runs.csv --method flops -f csv
  [ "$(grep -c 'epochs=90;batch_size=128;precision=fp32$' out)" -eq 1 ]
}
