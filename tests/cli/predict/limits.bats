#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory, several GPUs, rates that a GPU does not have, absurd descriptors.

load ../common

# 100 M parameters x 16 bytes, 10 M activations x 2.97 x 4 bytes: 1.6 GB and
# 0.1188 GB a sample
JOB=(predict --arch resnet50 --gpu a100 --method flops --set params_m=100
  --set acts_m=10)

@test "memory: for people and for programs" {
  try "${JOB[@]}" --batch-size 64 -q --explain
  grep -qx 'peak GPU memory                 about 9.20 GB of 40 GB' out
  try "${JOB[@]}" --batch-size 64 --format json
  near .memory_need_gb '1.6 + 64 * 0.1188'
  check '.warnings == []'
}

@test "memory: a batch that does not fit, and one that does" {
  gives 0 "dlest: warning: $(message batch_needs_about_gb 512 62.4 40 \
    a100-sxm4-40gb 'about 320 fits; fits with --checkpointing full')" \
    "${JOB[@]}" --batch-size 512
  gives 0 "dlest: warning: $(message batch_needs_about_gb 64 9.20 3 \
    a100-sxm4-40gb 'about 8 fits')" \
    "${JOB[@]}" --batch-size 64 --set gpu.memory_gb=3
  gives 0 "dlest: warning: $(message batch_needs_about_gb 64 9.20 1.65 \
    a100-sxm4-40gb 'not even one sample fits')" \
    "${JOB[@]}" --batch-size 64 --set gpu.memory_gb=1.65
  gives 0 "dlest: warning: $(message batch_needs_about_gb 64 9.20 1 \
    a100-sxm4-40gb '1.60 GB without any sample')" \
    "${JOB[@]}" --batch-size 64 --set gpu.memory_gb=1
  refuses 3 "dlest: warning: $(message batch_needs_about_gb 512 62.4 40 \
    a100-sxm4-40gb 'about 320 fits; fits with --checkpointing full')
dlest: $(message warning_with_strict_nothing 1 '')" \
    "${JOB[@]}" --batch-size 512 --strict
}

@test "memory: several GPUs hold a copy each; --scaling strong parts the batch" {
  gives 0 "dlest: warning: $(message batch_needs_about_gb 512 62.4 40 \
    a100-sxm4-40gb 'about 320 fits on each GPU; fits with --checkpointing full')" \
    "${JOB[@]}" --batch-size 512 --gpus 2
  gives 0 '' "${JOB[@]}" --batch-size 512 --gpus 2 --scaling strong
  gives 0 "dlest: warning: $(message batch_needs_about_gb \
    '1024 (512 on each GPU)' 62.4 40 a100-sxm4-40gb 'about 640 fits; fits with --checkpointing full')" \
    "${JOB[@]}" --batch-size 1024 --gpus 2 --scaling strong
  gives 0 "dlest: warning: $(message batch_needs_about_gb 64 9.20 1 \
    a100-sxm4-40gb '1.60 GB without any sample')" \
    "${JOB[@]}" --batch-size 64 --gpus 2 --set gpu.memory_gb=1
}

@test "memory: unknown without parameters or a batch" {
  try predict --gpu a100 --duration 2h --method tdp --format json
  check '.memory_need_gb == null and (.estimates | length) == 1'
  try predict --gpu a100 --duration 2h --method tdp
  ! grep -q '^peak GPU memory' out || false
}

@test "memory: a column in batch mode, one warning with the count" {
  table arch,gpu,batch_size,params_m,acts_m,train_samples,epochs,phase \
    resnet50,a100,64,100,10,10000,1, resnet50,a100,512,100,10,10000,1, \
    resnet50,a100,1024,100,10,10000,1,
  gives 0 'dlest: warning: runs.csv: 2 rows: the batch needs more than the GPU'"'"'s memory (memory_need_gb)' \
    predict --input runs.csv --method flops --format json
  near '.estimates[0].memory_need_gb' '1.6 + 64 * 0.1188'
  near '.estimates[2].memory_need_gb' '1.6 + 1024 * 0.1188'
}

@test "several GPUs: the exchange of gradients" {
  # 2 x 3/4 x 0.4 GB at 240 GB/s, 6 messages of 10 us for 16 buckets
  try "${JOB[@]}" --batch-size 64 --gpus 4 --format json
  near .exchange_gb 0.4
  near .exchange_s '0.6 / 240 + 6 * 16 * 1e-5'
  check '.link_gb_s == 300 and .scaling == "weak" and .exchange_share > 0'
  try "${JOB[@]}" --batch-size 64 --gpus 4 --format json --precision amp
  near .exchange_gb 0.2
  # A step of 64 samples, or of 16: 2 x 3 x macs / (peak x 0.3)
  try "${JOB[@]}" --set macs_g=4 --batch-size 64 --gpus 4 --format json \
    --scaling strong --set peak_tflops=80
  near .exchange_share '(0.6 / 240 + 6 * 16 * 1e-5) / 2 | . / (. + 1e-3 * 16)'
  grep -q '"scaling": "strong"' out
  try "${JOB[@]}" --gpus 4 --batch-size 64 --explain
  grep -q '^gradient all-reduce  *0.400 GB per step at 300 GB/s (NVLink), 3.46 ms; waits' out
  grep -qx 'scaling                         weak' out
}

@test "several GPUs: not for one, not for inference; no link, PCIe" {
  try "${JOB[@]}" --batch-size 64 --format json
  check '.exchange_s == null and .link_gb_s == null and .scaling == "weak"'
  try "${JOB[@]}" --batch-size 8 --gpus 2 --phase inference --format json
  check '.exchange_s == null'
  my_gpu "$(entry 300)"
  try predict --arch resnet50 --gpu my.xml --gpus 2 --method tdp --duration 1h \
    --format json
  near .link_gb_s 15.8
  try predict --arch resnet50 --gpu my.xml --gpus 2 --method tdp --duration 1h \
    --explain
  grep -q 'at 15.8 GB/s (assumed: PCIe 3.0 x16)' out
}

@test "several GPUs: the exchange enters no estimate" {
  try "${JOB[@]}" --batch-size 64 --gpus 4 --format json
  jq -e .estimates[0].energy_j out
  jq .estimates out >with
  try "${JOB[@]}" --batch-size 64 --gpus 4 --format json \
    --set gpu.link_gb_s=0.1
  jq .estimates out | diff with -
}

@test "--scaling: weak or strong" {
  misused predict "$(message invalid_value_nearest scaling stronger \
    "'strong', 'weak'")" \
    --arch resnet50 --gpu a100 --scaling stronger
}

@test "--precision: a rate that the GPU does not have is reported" {
  local job=(predict --arch resnet18 --batch-size 16 --method flops)
  gives 0 "dlest: warning: $(message has_no_rate_for p100-pcie-16gb \
    'FP16 tensor' amp FP16 18.6)" \
    "${job[@]}" --gpu p100 --precision amp
  gives 0 "dlest: warning: $(message has_no_bf16 v100-sxm2-16gb usual 15.7)" \
    "${job[@]}" --gpu v100 --precision bf16
  gives 0 "dlest: warning: $(message has_no_rate_for v100-sxm2-16gb TF32 tf32 \
    FP32 15.7)" "${job[@]}" --gpu v100 --precision tf32
  gives 0 '' "${job[@]}" --gpu v100 --precision tf32 --set peak_tflops=12
  gives 0 '' "${job[@]}" --gpu v100 --precision amp
  gives 0 '' "${job[@]}" --gpu p100 --precision fp32
  gives 0 '' "${job[@]}" --gpu p100 --precision amp --set peak_tflops=12
  table arch,gpu,batch_size,train_samples,epochs,precision \
    resnet18,p100,16,1000,1,amp resnet18,v100,16,1000,1,amp
  gives 0 "dlest: warning: runs.csv: $(message row_gpu_has_no 1 '')" \
    predict --input runs.csv --method flops
}

@test "absurd descriptors are refused, by --set and in a file" {
  local job=(predict --arch resnet50 --gpu a100 --method flops)
  refuses 3 "dlest: $(message is_not_between_2 gpu tdp_w 0 1 2000)" \
    "${job[@]}" --set gpu.tdp_w=0
  # 1e30 FLOP/s
  refuses 3 "dlest: $(message is_not_between_2 gpu peak_fp32_tflops 1e18 \
    0.0001 10000)" \
    "${job[@]}" --set gpu.peak_fp32_tflops=1e18
  refuses 3 "dlest: $(message is_not_between peak_tflops 1e18 0.0001 100000)" \
    "${job[@]}" --set peak_tflops=1e18
  refuses 3 "dlest: $(message is_not_between efficiency 0 1e-06 1)" \
    "${job[@]}" --set efficiency=0
  refuses 3 "dlest: $(message is_not_between_2 gpu memory_gb 0 0.1 10000)" \
    "${job[@]}" --set gpu.memory_gb=0
  refuses 3 "dlest: $(message is_not_between_2 gpu link_gb_s 0 0.1 100000)" \
    "${job[@]}" --set gpu.link_gb_s=0
  refuses 2 "dlest: $(message invalid_number_3 gpu tdp_w inf)" \
    "${job[@]}" --set gpu.tdp_w=inf
  my_gpu "$(entry 0)"
  refuses 3 "dlest: my.xml:3: $(message value_is_not_between tdp_w 0 1 2000)" \
    predict --arch resnet50 --gpu my.xml
  my_gpu "$(entry 1e18 peak_fp32_tflops)"
  refuses 3 "dlest: my.xml:3: $(message value_is_not_between peak_fp32_tflops \
    1e18 0.0001 10000)" \
    predict --arch resnet50 --gpu my.xml
}

@test "20,000 names that no catalogue has take no time: 20 get suggestions" {
  seq -f 'resnet5%.0f,a100,1,1000,8' 20000 |
    sed '1i arch,gpu,epochs,train_samples,batch_size' >runs.csv
  status=0
  (
    ulimit -t 20 # of processors, whatever else runs
    "$DLEST" predict --input runs.csv --method tdp >out 2>err
  ) || status=$?
  [ "$status" -eq 3 ]
  [ "$(grep -c "(did you mean '" err)" -eq 20 ]
  seq 20000 | sed 's/.*/&|COMPLETED|60|gres\/gpu:card&=1/
    1i JobID|State|ElapsedRaw|AllocTRES' >sacct.txt
  (
    ulimit -t 20
    "$DLEST" report sacct.txt -q >out
  )
}
