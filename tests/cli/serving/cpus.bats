#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Networks on CPUs.

load ../common

# on_cpu ARG...: the estimate of forward passes by the physical method, in out
on_cpu() {
  try predict --method physical --phase inference --format json -q "$@"
  if [ "$status" -ne 0 ]; then cat err; return 1; fi
}

# left_out generation|network: errors on what a fit has not seen, in out
left_out() {
  command -v python3 >/dev/null || skip 'no python3'
  python3 "$TOP_SRCDIR/tests/cli/fit/cpu-left-out.py" "$DLEST" \
    "$DLEST_DATADIR" "$1" >out
}

# Aims: 25 % in the median, three quarters within 1.5, and intervals of 90 % that
# hold 85 to 95 %.
@test "speeds on generations of CPUs that the fit has not seen" {
  left_out generation
  awk '$1 == "all" { ok = $2 >= 500 && $3 <= 25 && $5 >= .75 && $6 >= .85 &&
    $6 <= .95 } END { exit !ok }' out
}

@test "speeds of networks that the fit has not seen" {
  left_out network
  awk '$1 == "all" { ok = $3 <= 25 && $5 >= .75 && $6 >= .85 }
    END { exit !ok }' out
}

@test "the means are those of the tables" {
  [ -d "$MEASURED_RUNS/cpu" ] || skip "no tables in '$MEASURED_RUNS/cpu'"
  python3 "$TOP_SRCDIR/data/make/cpu-means.py" "$MEASURED_RUNS/cpu" \
    "$MEASURED_RUNS/timm/timm_infer_all.csv" |
    diff - "$TOP_SRCDIR/data/cpu-means.csv"
}

@test "the entries of CPUs are those of the maker" {
  python3 "$TOP_SRCDIR/data/make/cpus.py" \
    "$TOP_SRCDIR/data/cpus.xml" | diff "$TOP_SRCDIR/data/cpus.xml" -
}

@test "--cpu takes a number of sockets, as --sockets does" {
  on_cpu --arch resnet50 --cpu '2 x Xeon Platinum 8380' --requests 1e6
  check '.gpu == "xeon-platinum-8380" and .n_gpus == 2'
  cp out counted
  on_cpu --arch resnet50 --cpu 'Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz' \
    --sockets 2 --requests 1e6
  diff <(jq .estimates counted) <(jq .estimates out)
}

@test "options that do not go together" {
  gives 2 "dlest: --cpu does not go with --gpu" predict --arch resnet50 \
    --cpu epyc-7742 --gpu a100
  try predict --arch resnet50 --gpu a100 --sockets 2
  [ "$status" -eq 2 ]
}

@test "cores that have no effect, or are not there" {
  try recommend --arch resnet50 --gpu a100 --cores 4
  [ "$status" -eq 2 ]
  refuses 2 "dlest: --cores has no effect $(message for_predict)" compare \
    runs.csv --cores 4
  try predict --arch resnet50 --gpu a100 --phase inference --cores 4
  grep -qxF "dlest: warning: $(message cores_on_cpus_alone)" err
  gives 3 "dlest: $(message cores_more_than --cores 200 2 epyc-7742 128)" \
    predict --arch resnet50 --cpu '2 x epyc-7742' --phase inference --cores 200
}

# 512-bit units have twice the lanes; dot products twice the products of 16 bits,
# and tiles eight times as many again.
@test "instruction sets that software uses" {
  local isa before=1e99 time job=(predict --arch vgg16 --phase inference)
  for isa in avx2 avx512 vnni amx; do
    on_cpu --arch vgg16 --cpu xeon-platinum-8480+ --framework openvino \
      --precision int8 --batch-size 64 --requests 1e6 --isa $isa
    time=$(jq .estimates[0].duration_s out)
    awk -v a="$before" -v b="$time" 'BEGIN { exit !(b < a / 1.5) }'
    before=$time
  done
  cp out tiles
  on_cpu --arch vgg16 --cpu xeon-platinum-8480+ --framework openvino \
    --precision int8 --batch-size 64 --requests 1e6
  diff <(jq .estimates[0].energy_j out) <(jq .estimates[0].energy_j tiles)
  gives 2 "dlest: $(message invalid_value_nearest isa avx1024 \
    "'avx2', 'avx512'")" "${job[@]}" --cpu epyc-7742 --isa avx1024
  refuses 3 "dlest: $(message cpu_lacks_isa --isa amx epyc-7742)" "${job[@]}" \
    --cpu epyc-7742 --isa amx
  refuses 3 "dlest: $(message cpu_lacks_isa --isa avx512 epyc-7742)" \
    "${job[@]}" --cpu epyc-7742 --isa avx512
  refuses 3 "dlest: $(message cpu_lacks_isa --isa avx2 apple-m2-cores)" \
    "${job[@]}" --cpu 'Apple M2' --isa avx2
  refuses 3 "dlest: $(message isa_is_for_cpus --isa t4)" "${job[@]}" --gpu t4 \
    --isa avx2
}

@test "Grace beside a GPU of its module" {
  on_cpu --arch resnet50 --node gh200-node --device cpu --requests 1e5
  check '.node.cpu == "nvidia-grace" and .n_gpus == 1'
}

# Half of the cores take twice the time but for what memory takes, and less than
# twice the energy's share of the idle package.
@test "half of the cores take about twice the time" {
  local job=(--arch resnet50 --cpu epyc-7742 --framework openvino
    --batch-size 32 --requests 1e6)
  on_cpu "${job[@]}"
  cp out all
  on_cpu "${job[@]}" --cores 32
  check ".estimates[0].duration_s / $(jq .estimates[0].duration_s all) |
    . > 1.9 and . <= 2"
}

@test "fewer cores train more slowly, at less power, in all commands" {
  local cores before=1e99 job=(--arch resnet50 --cpu '2 x xeon-platinum-8380'
    --train-samples 1e5 --epochs 1)
  for cores in 1 2 10 20 40 60 80; do
    try predict "${job[@]}" --cores $cores --method physical --format json -q
    jq '.estimates[0] | "\(.duration_s) \(.power_w)"' -r out >>found
  done
  awk 'NR > 1 && ($1 > t || $2 <= w) { bad = 1 } { t = $1; w = $2 }
    END { exit bad || NR != 7 }' found
  # A core computes and reads an eightieth of what all do, or more.
  awk 'NR == 1 { one = $1 } END { exit !(one / $1 > 20 && one / $1 <= 80) }' \
    found
  try predict "${job[@]}" --cores 20 --batch-size 64 --precision fp32 \
    --method physical --format json -q
  cp out predicted
  try recommend --arch resnet50 --cpu xeon-platinum-8380 --sockets 2 \
    --cores 20 --train-samples 1e5 --epochs 1 --batch-size 64 \
    --precision fp32 --format json -q
  check ".choices[0].energy_j == $(jq .estimates[0].energy_j predicted)"
  try predict --arch gpt2 --cpu epyc-7763 --train-tokens 1e6 --format json \
    --method physical -q
  check '.settings.batch_size <= 64'
  cp out all
  try predict --arch gpt2 --cpu epyc-7763 --train-tokens 1e6 --format json \
    --method physical -q --cores 8
  check ".estimates[0].duration_s > 3 * $(jq .estimates[0].duration_s all)"
}

# Clocks fall with the third root of what a package draws beside its idle power.
@test "a power limit slows a CPU" {
  local job=(--arch vgg16 --cpu xeon-platinum-8380 --framework openvino
    --batch-size 64 --requests 1e6)
  on_cpu "${job[@]}"
  cp out free
  on_cpu "${job[@]}" --set power_limit_w=150
  check ".estimates[0] | (.power_w - 150 | fabs) < 1e-9 and
    (.duration_s / $(jq .estimates[0].duration_s free) | . > 1.2 and . < 1.3)"
}

@test "formats and clocks of GPUs on a CPU" {
  local job=(predict --arch resnet50 --train-samples 1e4 --epochs 1)
  refuses 3 "dlest: $(message cpu_without_bf16 --precision amp epyc-7763)" \
    "${job[@]}" --cpu epyc-7763 --precision amp
  try "${job[@]}" --cpu xeon-platinum-8480+ --precision amp
  [ "$status" -eq 0 ]
  refuses 3 "dlest: $(message cpu_trains_in --precision fp16 epyc-9654)" \
    "${job[@]}" --cpu epyc-9654 --precision fp16
  for precision in fp8 fp4; do
    refuses 3 "dlest: $(message cpu_trains_in --precision $precision epyc-9654)" \
      predict --arch resnet50 --cpu epyc-9654 --phase inference --requests 10 \
      --precision $precision
  done
  refuses 3 "dlest: $(message cpu_trains_in --precision tf32 epyc-9654)" \
    predict --arch resnet50 --phase inference --cpu epyc-9654 --precision tf32
  refuses 3 "dlest: $(message cpu_has_none --gpu-clock epyc-9654)" \
    "${job[@]}" --cpu epyc-9654 --gpu-clock 1200
}

# Without dot products 8 bits multiply at twice the rate of FP32, with them at four
# times, by tiles at 32 times.
@test "the instructions of a CPU decide its speed in 8 bits" {
  local cpu
  for cpu in xeon-platinum-8180 xeon-platinum-8280 xeon-platinum-8480+; do
    on_cpu --arch vgg16 --cpu "$cpu" --framework openvino --batch-size 64 \
      --precision fp32 --requests 1e6
    cp out fp32
    on_cpu --arch vgg16 --cpu "$cpu" --framework openvino --batch-size 64 \
      --precision int8 --requests 1e6
    jq --slurpfile a fp32 '$a[0].estimates[0].duration_s /
      .estimates[0].duration_s' out
  done >gain
  [ "$(sort -g gain | tr '\n' ' ')" = "$(tr '\n' ' ' <gain)" ]
  awk 'NR == 1 { ok = $1 < 2.2 } NR == 2 { ok = ok && $1 > 2.2 && $1 < 4.5 }
    NR == 3 { ok = ok && $1 > 6 } END { exit !ok }' gain
}

@test "a given duration is the time, and its power the packages'" {
  on_cpu --arch resnet50 --cpu '2 x xeon-platinum-8380' --requests 1e6 \
    --duration 1h
  check '.estimates[0] | .duration_s == 3600 and .duration_from == "given" and
    (.energy_j / 3600 > 540 * .9) and (.energy_j / 3600 <= 540) and
    .low_j < .energy_j and .high_j > .energy_j'
}

# MLPerf Training v1.0 and v3.1, Intel: 8 x 8380H 795 images/s, a socket of an
# 8480+ 267.
@test "training ResNet-50 as MLPerf's CPUs do" {
  try predict --arch resnet50 --cpu '8 x xeon-platinum-8380h' --precision bf16 \
    --batch-size 408 --method physical --format json -q
  check '.estimates[0].samples_per_s | . > 795 / 1.25 and . < 795 * 1.25'
  check '.estimates[0].power_w | . > 8 * 250 * .85 and . <= 8 * 250'
  try predict --arch resnet50 --cpu '2 x xeon-platinum-8480+' \
    --precision bf16 --batch-size 816 --method physical --format json -q
  check '.estimates[0].samples_per_s | . > 534 / 1.25 and . < 534 * 1.25'
}

# No Zen 3 has BF16; encoders are computed in FP32 there, BF16 where it is.
@test "16 bits on a CPU that has none" {
  try predict --arch resnet50 --cpu epyc-7763 --phase inference --precision fp16
  grep -qxF "dlest: warning: $(message computes_in_fp32 epyc-7763)" err
  on_cpu --arch bert-large-uncased --cpu epyc-7763 --samples 10 --seq-len 384
  check '.precision == "fp32"'
  on_cpu --arch bert-large-uncased --cpu xeon-platinum-8480+ --samples 10 \
    --seq-len 384
  check '.precision == "bf16"'
}

@test "GPUs by --cpu, and what is for GPUs alone" {
  local job=(predict --arch llama-2-7b --phase inference --prompt-tokens 9
    --output-tokens 9 --cpu '2 x epyc-7763')
  refuses 3 "dlest: $(message cpu_is_none a100)" predict --arch resnet50 \
    --cpu a100
  refuses 3 "dlest: $(message cpu_has_none --tensor-parallel epyc-7763)" \
    "${job[@]}" --tensor-parallel 2
  refuses 3 "dlest: $(message cpu_has_none --replicas epyc-7763)" \
    "${job[@]}" --replicas 2
}

@test "a column cpu names the CPU of runs without a GPU" {
  printf '%s\n' arch,gpu,cpu,batch_size,phase,requests \
    resnet50,,epyc-7763,8,inference,1e6 resnet50,t4,,8,inference,1e6 \
    resnet50,t4,epyc-7763,8,inference,1e6 >runs.csv
  try predict --input runs.csv --method physical --format csv -q
  cut -d, -f1-6,9 out >got
  on_cpu --arch resnet50 --cpu epyc-7763 --batch-size 8 --requests 1e6
  [ "$(sed -n '2s/.*,//p' got)" = "$(jq .estimates[0].energy_j out)" ]
  on_cpu --arch resnet50 --gpu t4 --batch-size 8 --requests 1e6
  [ "$(sed -n '3s/.*,//p' got)" = "$(jq .estimates[0].energy_j out)" ]
  [ "$(sed -n '4s/.*,//p' got)" = "$(jq .estimates[0].energy_j out)" ]
  cut -d, -f1,3-6 runs.csv | sed -n 1,2p >cpus.csv
  try predict --input cpus.csv --method physical --format csv -q
  [ "$(sed -n 2p out | cut -d, -f8)" = "$(sed -n '2s/.*,//p' got)" ]
}

# The power at the wall of servers, desktops and small computers is within 15 % in
# the median, and in the interval of 90 %.
@test "power of computers without accelerators at the wall" {
  python3 -c 'import numpy, scipy' 2>/dev/null || skip 'no numpy or scipy'
  python3 "$TOP_SRCDIR/docs/lab/make/cpu_power.py" "$DLEST" >out 2>/dev/null
  awk -F '|' '{ gsub(/[ %]/, "") }
    $2 == "all" { n++; ok = $3 >= 120 && $4 <= 15 && $7 >= 85 && $7 <= 95 }
    $2 == "vendor" && $3 == "full" && $4 == "all" { n++; fit = $6 <= 15 }
    END { exit !(n == 2 && ok && fit) }' out
}

@test "the powers are those of the tables" {
  [ -d "$MEASURED_RUNS/cpu" ] || skip "no tables in '$MEASURED_RUNS/cpu'"
  python3 "$TOP_SRCDIR/data/make/cpu-power.py" "$MEASURED_RUNS/cpu" |
    diff - "$TOP_SRCDIR/data/cpu-power.csv"
}

# Four GPUs idle beside the CPUs, and the sockets that a job leaves idle count once.
@test "the CPUs of a node with accelerators" {
  on_cpu --arch resnet50 --node xeon-8368-4xa100 --device cpu --requests 1e5 \
    --batch-size 64
  check '[.node.parts[] | select(.part == "gpu_idle").power_w][0] == 220'
  check '[.node.parts[].part] | index("cpu") == null'
  jq '.node.parts' out >named
  on_cpu --arch resnet50 --node xeon-8368-4xa100 --requests 1e5 \
    --batch-size 64 --cpu '2 x xeon-platinum-8368'
  diff named <(jq .node.parts out)
  on_cpu --arch resnet50 --node xeon-8368-4xa100 --requests 1e5 \
    --batch-size 64 --cpu xeon-platinum-8368 --sockets 1
  check '[.node.parts[] | select(.part == "cpu").power_w][0] == 27'
}

@test "a computer of the CPU that is named" {
  on_cpu --arch resnet50 --cpu '4 x epyc-7763' --node cpu-server --samples 1e5
  check '.node.cpu == "epyc-7763" and ([.node.parts[] |
    select(.part == "memory").power_w][0] - 4 * 8 * 16 * .14 | fabs) < 1e-6'
  gives 2 "dlest: $(message any_cpu_node cpu-server)" predict --arch resnet50 \
    --node cpu-server
  try predict --arch resnet50 --node xeon-8368 --cpu '3 x xeon-platinum-8368'
  [ "$status" -eq 2 ]
  grep -qxF "dlest: $(message sockets_of_nodes 3 xeon-8368 2 2 4)" err
}

# Boards of desktops set a limit above the TDP of 170 W, but none of twice that.
@test "a power above the TDP of a desktop processor" {
  try predict --arch resnet50 --cpu ryzen-9-7950x --train-samples 1e4 \
    --epochs 3 --gpu-power 230 --duration 10m --format json -q
  check '.estimates[] | select(.method == "physical").energy_j == 230 * 600'
  try predict --arch resnet50 --cpu ryzen-9-7950x --train-samples 1e4 \
    --epochs 3 --gpu-power 500
  [ "$status" -eq 2 ]
}

# 10 % of the load, and the cores that decode 500 x 375 pixels for each image.
@test "loaders keep the cores of a node busy" {
  local job=(predict --arch resnet50 --node dgx-a100 --dataset imagenet
    --epochs 1 --precision amp --method physical --format json -q)
  try "${job[@]}"
  cp out assumed
  check '.node.cpu_load > .25'
  try "${job[@]}" --loader synthetic
  check '.node.cpu_load == .25'
  try "${job[@]}" --duration 10h
  check ".node.cpu_load > .1 and .node.cpu_load < $(jq .node.cpu_load assumed)"
}

# docs/lab/input.md: 8 ms a core for an image of ImageNet, about.
@test "decoding takes cores of the CPUs that compute, or of the node" {
  local job=(--arch resnet50 --requests 1e5 --batch-size 32) input=(--loader
    cached --set stored_mpx=0.19)
  on_cpu "${job[@]}" --cpu '2 x epyc-7763' --framework openvino
  cp out alone
  on_cpu "${job[@]}" --cpu '2 x epyc-7763' --framework openvino "${input[@]}"
  check "(.estimates[0].duration_s - $(jq .estimates[0].duration_s alone)) *
    128 / 1e5 | . > .002 and . < .012"
  check '[.served.parts[] | select(.part == "input")] | length == 1'
  on_cpu "${job[@]}" --cpu '2 x epyc-7763' --framework openvino --loader \
    synthetic
  diff <(jq .estimates alone) <(jq .estimates out)
  on_cpu "${job[@]}" --node dgx-a100 --precision amp
  cp out alone
  check '.node.cpu_load == .1'
  on_cpu "${job[@]}" --node dgx-a100 --precision amp "${input[@]}"
  check ".node.cpu_load > .1 and .node.parts_j.cpu != 0 and
    .estimates[0].duration_s > $(jq .estimates[0].duration_s alone)"
  try predict --arch llama-2-7b --gpu a100 --phase inference --loader disk \
    --prompt-tokens 9 --output-tokens 9 --method physical
  grep -qF -- "$(message no_effect_on_physical --loader)" err
}

@test "the basis of an estimate on a CPU are CPUs" {
  try predict --arch bert-base-uncased --phase inference --batch-size 1 \
    --samples 1000 --cpu epyc-7763 -q
  grep -qE '^  Basis +[0-9]+ other CPUs$' out
}

@test "names of CPUs as /proc/cpuinfo, lscpu, CodeCarbon and Slurm print them" {
  local id name
  while IFS='|' read -r id name; do
    on_cpu --arch resnet18 --cpu "$name" --samples 10
    [ "$(jq -r .gpu out)" = "$id" ] || { echo "$name: $(jq .gpu out)"; false; }
  done <<'END'
xeon-e5-2697-v4|Intel(R) Xeon(R) CPU E5-2697 v4 @ 2.30GHz
xeon-e5-2670-v3|Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz
xeon-gold-6226|Intel(R) Xeon(R) Gold 6226 CPU @ 2.70GHz
xeon-w-2295|Intel(R) Xeon(R) W-2295 CPU @ 3.00GHz
xeon-e-2288g|Intel(R) Xeon(R) E-2288G CPU @ 3.70GHz
xeon-e3-1230-v6|Intel(R) Xeon(R) CPU E3-1230 v6 @ 3.50GHz
xeon-platinum-8480cl|Intel(R) Xeon(R) Platinum 8480CL
xeon-platinum-8568y+|INTEL(R) XEON(R) PLATINUM 8568Y+
xeon-6767p|Intel(R) Xeon(R) 6767P
xeon-6766e|Intel(R) Xeon(R) 6766E
xeon-max-9480|Intel(R) Xeon(R) CPU Max 9480
core-i7-6700k|Intel(R) Core(TM) i7-6700K CPU @ 4.00GHz
core-i9-9900kf|Intel(R) Core(TM) i9-9900KF CPU @ 3.60GHz
core-i7-11800h|11th Gen Intel(R) Core(TM) i7-11800H @ 2.30GHz
core-i9-13900k|13th Gen Intel(R) Core(TM) i9-13900KF
core-ultra-7-258v|Intel(R) Core(TM) Ultra 7 258V
epyc-7543|AMD EPYC 7543P 32-Core Processor
epyc-7b13|AMD EPYC 7B13
epyc-7v73x|AMD EPYC 7V73X 64-Core Processor
epyc-9j14|AMD EPYC 9J14 96-Core Processor
epyc-4564p|AMD EPYC 4564P 16-Core Processor
ryzen-7-2700x|AMD Ryzen 7 2700X Eight-Core Processor
ryzen-5-2600|AMD Ryzen 5 2600 Six-Core Processor
ryzen-7-7840u|AMD Ryzen 7 7840U w/ Radeon 780M Graphics
ryzen-ai-9-hx-370|AMD Ryzen AI 9 HX 370 w/ Radeon 890M
ryzen-ai-max+-395|AMD RYZEN AI MAX+ 395 w/ Radeon 8060S
ryzen-9-5900hx|AMD Ryzen 9 5900HX with Radeon Graphics
threadripper-pro-5955wx|AMD Ryzen Threadripper PRO 5955WX 16-Cores
ampere-altra-max-m128-30|Ampere(R) Altra(R) Max Processor
aws-graviton3|Neoverse-V1
nvidia-grace|Grace A02
raspberry-pi-5|Cortex-A76
apple-m1-cores|Apple M1
apple-m3-max-cores|Apple M3 Max
jetson-agx-orin-cores|Jetson AGX Orin
END
}

@test "names that do not say which CPU it is" {
  local name
  for name in 'Intel(R) Xeon(R) CPU @ 2.20GHz' 'AMD EPYC-Rome Processor' \
    'Intel Xeon Processor (Cascadelake)' Neoverse-N1; do
    refuses 3 "dlest: $(message cpu_without_model "$name")" predict \
      --arch resnet50 --cpu "$name"
  done
}

# The rate of the products is at most the peak at the highest clock of all cores,
# or else of one: VGG-16 is hardly anything else.
@test "no CPU is faster than its highest clock" {
  command -v python3 >/dev/null || skip 'no python3'
  python3 - "$DLEST_DATADIR/data/cpus.xml" >runs.csv <<'END'
import re, sys
print("arch,gpu,phase,precision,stack,framework,batch_size,requests,most")
text = open(sys.argv[1], encoding="utf-8").read()
for e in re.findall(r'<entry id="[^"]*"[^>]*form="socket".*?</entry>', text, re.S):
    v = {k: float(x) for k, x in re.findall(r'name="(\w+)"[^>]*>([0-9.e+]+)<', e)}
    if "memory_gb" in v:
        continue
    cpu = re.search('id="([^"]*)"', e)[1]
    clock = max(1, v.get("all_core_mhz", v["boost_mhz"]) / v["base_mhz"])
    int8 = max(v["peak_int8_tops"], v.get("peak_int8_tensor_tops", 0))
    for precision, peak in ("fp32", v["peak_fp32_tflops"]), ("int8", int8):
        for stack, framework in (("", "pytorch"), ("", "tensorflow"),
                                 ("", "onnxruntime"), ("", "openvino"),
                                 ("mlperf", ""), ("compiled", "")):
            print("vgg16", cpu, "inference", precision, stack, framework, 64,
                  64, 64 * 2 * 15.47e9 / (1.03e12 * peak * clock), sep=",")
END
  try predict --input runs.csv --method physical --format json -q
  cut -d, -f9 runs.csv | tail -n +2 >least
  jq '.estimates[].duration_s' out | paste least - |
    awk '$2 < $1 { print; bad = 1 } END { exit bad || NR < 4500 }'
}
