#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The input pipeline as a bound of the speed: by hand, and against milabench's
# pairs of real and synthetic input.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
  base=(predict --arch resnet50 --gpu h100-sxm5-80gb --precision amp
    -m physical,tdp -f json -q)
}

@test 'a node has cores for loader processes, by hand' {
  # 3.16776 ms an image, as above. DGX A100: 128 cores for 8 GPUs, 16 each;
  # p4d.24xlarge: 48, 6 each; a g5.xlarge has two cores for its GPU.
  local job=(predict --arch resnet50 --precision amp -m physical -f json -q)
  local node cores gpus
  while read -r node cores gpus; do
    gives 0 '' "${job[@]}" --node $node --loader cached
    check "(.input_samples_per_s * 0.00316776 / ($cores * $gpus) - 1 | fabs) <
      1e-12 and .loader == \"cached\" and .loader_workers == $cores"
    mv out $node
    # It is as sure as if the number were given.
    gives 0 '' "${job[@]}" --node $node --loader cached --loader-workers $cores
    cmp out $node
  done <<'END'
dgx-a100 16 8
aws:p4d.24xlarge 6 8
aws:g5.xlarge 2 1
END
  # Without a word of the loader the node's cores are assumed to load.
  gives 0 '' "${job[@]}" --node dgx-a100
  check '(.input_samples_per_s * 0.00316776 / (16 * 8) - 1 | fabs) < 1e-12 and
    .loader == null and .loader_workers == null'
  gives 0 '' "${job[@]}" --node dgx-a100 --loader synthetic
  check '.input_samples_per_s == null and .loader_workers == null'
  gives 0 '' "${job[@]}" --gpu a100 --loader disk
  check '.loader_workers == 8'
  # Two cores do the work of two processes, however many there are; a job on
  # two of eight GPUs may have all 128 cores.
  gives 0 "dlest: warning: $(message loader_workers_are_more 6 aws:g5.xlarge 2 1 '' 2)" \
    "${job[@]:0:7}" -f json --node aws:g5.xlarge --loader-workers 6 --loader disk
  check '(.input_samples_per_s * 0.00316776 / 2 - 1 | fabs) < 1e-12'
  gives 0 '' "${job[@]}" --node dgx-a100 --use-gpus 2 --loader-workers 40
  check '(.input_samples_per_s * 0.00316776 / 80 - 1 | fabs) < 1e-12'
  # Each node of a choice has its own: 3 of 48 cores for an A100, or 16 of 128.
  gives 0 '' recommend --arch resnet50 --batch-size 64 --precision amp -q \
    -f json --node gcp:a2-megagpu-16g,dgx-a100 --loader cached
  jq -c '.choices[] | [.node, .bound_by]' out | sort >bounds
  diff bounds - <<'END'
["dgx-a100","memory"]
["gcp:a2-megagpu-16g","input"]
END
}

@test 'bound by input: both rates are in the answer' {
  # One process: 1 / 3.16776 ms = 315.7 images/s; that of the GPU as in JSON.
  local job=("${base[@]:0:7}" -m physical -q --loader-workers 1)
  gives 0 '' "${job[@]}" -f json
  local gpu
  gpu=$(jq '.gpu_samples_per_s / 10 | round * 10' out)
  [ "$gpu" -gt 1000 ]
  gives 0 '' "${job[@]}"
  grep -q "data loading limits: 316 of $gpu samples/s\$" out
}

@test 'time adds in squares, waiting draws static power' {
  gives 0 '' "${base[@]}" --epochs 1 --loader synthetic
  cp out none
  for workers in 2 4 16; do
    gives 0 '' "${base[@]}" --epochs 1 --loader-workers $workers
    cp out $workers
  done
  jq -n --slurpfile none none --slurpfile a 2 --slurpfile b 4 --slurpfile c 16 '
    def near(x; y): (x / y - 1 | fabs) < 1e-9;
    def phys: .[0].estimates[] | select(.method == "physical");
    ($none | phys) as $first |
    [$a, $b, $c] | map({r: .[0].input_samples_per_s, p: phys,
      g: .[0].gpu_samples_per_s}) | map(
        near(.p.duration_s; ((1331167 / .g | . * .) + (1331167 / .r | . * .)
          | sqrt)) and near(.g; 1331167 / $first.duration_s)) as $times |
    [$a, $b, $c] | map(phys | (.energy_j - $first.energy_j) /
      (.duration_s - $first.duration_s)) as $watts |
    ($times | all) and near($watts[0]; $watts[1]) and
    near($watts[1]; $watts[2]) and $watts[0] > 50 and
    $watts[0] < $first.power_w / 3' >verdict
  [ "$(cat verdict)" = true ]
  # tdp takes the same time.
  jq -es '.[0].estimates | map(.duration_s) | .[0] == .[1]' 2 >/dev/null
  jq -e '.bound == "input"' 2 >/dev/null
}

@test 'a loader that is not described bounds the speed of stored images' {
  # 8 processes of 3.16776 ms deliver 2,525.4 of 1,331,167 images a second, which
  # a faster and a slower GPU wait for as for a loader that is described.
  local gpu bound
  for gpu in h100-sxm5-80gb t4; do
    gives 0 '' "${base[@]}" --gpu $gpu --epochs 1
    check '.gpu_samples_per_s as $r | .estimates[] |
      select(.method == "physical") | (.duration_s / 1331167 / ((1 / $r | . * .)
        + (0.00316776 / 8 | . * .) | sqrt) - 1 | fabs) < 1e-9'
    bound=$([ $gpu = t4 ] || echo input)
    check "(.bound == \"input\") == (\"$bound\" == \"input\") and
      (.warnings | index(\"$(message loader_is_assumed 8)\") != null) ==
      (.bound == \"input\")"
    mv out $gpu
  done
  jq -e '.estimates[] | select(.method == "physical") |
    .duration_low_s < .duration_s / 1.4 and
    .duration_high_s > 2 * .duration_s' h100-sxm5-80gb
  # The containers that are tuned for networks, TensorFlow, images that are no
  # files, and a training whose time is known, are as with synthetic input.
  local o
  for o in '--stack ngc' '--framework tensorflow' \
    '--dataset cifar10' '--epoch-time 20m'; do
    gives 0 '' "${base[@]}" --epochs 1 $o
    jq '.estimates' out >kept
    check '.bound != "input" and .input_samples_per_s == null'
    [[ $o == --epoch* ]] && continue
    gives 0 '' "${base[@]}" --epochs 1 $o --loader synthetic
    jq '.estimates' out | cmp - kept
  done
  printf '%s\n' arch,gpu,precision,epochs,dataset,batch_size \
    resnet50,h100,amp,1,imagenet,256 resnet50,t4,amp,1,imagenet,256 >jobs.csv
  gives 0 "dlest: warning: jobs.csv: 1 row: $(message loaders_are_assumed)" \
    predict --input jobs.csv -m physical -f csv
}

@test 'what is not known of the loader widens the interval' {
  for o in '--loader cached --loader-workers 8' '--loader-workers 8' \
    '--loader disk'; do
    gives 0 '' "${base[@]}" --gpus 2 $o
    jq '.estimates[] | select(.method == "physical") | .high_j - .low_j' out
  done >widths
  sort -g widths | cmp - widths
  [ "$(sort -u widths | wc -l)" = 3 ]
}

@test 'columns of a table describe the loader and the data set' {
  printf '%s\n' arch,gpu,precision,dataset,loader,loader_workers,epochs \
    resnet50,h100-sxm5-80gb,amp,imagenet,disk,4,1 \
    resnet50,h100-sxm5-80gb,amp,places365,disk,4,1 \
    resnet50,h100-sxm5-80gb,amp,imagenet,synthetic,,1 \
    resnet50,h100-sxm5-80gb,amp,imagenet,,,1 >jobs.csv
  gives 0 '' predict --input jobs.csv -m physical -f csv -q
  cp out table
  for row in '4 imagenet disk' '4 places365 disk'; do
    set -- $row
    gives 0 '' "${base[@]}" --epochs 1 --loader-workers $1 --dataset $2 \
      --loader $3
    jq '.estimates[] | select(.method == "physical") | .energy_j' out
  done >one
  python3 - <<'END'
import csv
rows = list(csv.DictReader(open("table")))
one = [float(x) for x in open("one")]
energy = [float(r["energy_j"]) for r in rows]
assert all(abs(a / b - 1) < 1e-9 for a, b in zip(energy, one)), (energy, one)
assert energy[2] < energy[3]
END
  printf 'arch,gpu,loader\nresnet50,a100,tape\n' >jobs.csv
  ! "$DLEST" predict --input jobs.csv >out 2>err || false
  grep -qF "column 'loader': invalid value 'tape'" err
  ! "$DLEST" predict -a resnet50 -g a100 --loader-workers 0 >out 2>err || false
}

@test 'text that is tokenised while a model trains, by hand' {
  # 0.4 ms + 1.4 us x 512 tokens = 1.1168 ms per sequence and process, of 1e9 /
  # 512 sequences.
  local text=(predict -a bert-base-uncased -g h100-sxm5-80gb --precision amp
    --stack compiled --tokens 1e9 --overhead 0 --startup 0 -m physical)
  gives 0 '' "${text[@]}" -f json -q
  time=$(jq .estimates[0].duration_s out)
  energy=$(jq .estimates[0].energy_j out)
  gives 0 '' "${text[@]}" -f json -q --loader synthetic
  check ".estimates[0].duration_s == $time"
  gives 0 '' "${text[@]}" -f json -q --loader-workers 1
  check "(1e9 / 512 * 0.0011168) as \$input | .bound == \"input\" and
    (.input_samples_per_s * 0.0011168 - 1 | fabs) < 1e-9 and
    (.gpu_samples_per_s * $time * 512 / 1e9 - 1 | fabs) < 1e-9 and
    (.estimates[0] | (.duration_s / ($time * $time + \$input * \$input | sqrt)
      - 1 | fabs) < 1e-9 and .energy_j > 1.05 * $energy and
      .energy_j < 0.8 * $energy * .duration_s / $time and
      .duration_high_s / .duration_s > 1.7)"
  gives 0 '' "${text[@]}" -q --loader-workers 1
  grep -q 'data loading limits: 458,000 of 5[0-9]*,000 tokens/s$' out
  gives 0 '' "${text[@]}" --loader-workers 16 -f json -q
  check '(.input_samples_per_s * 0.0011168 / 16 - 1 | fabs) < 1e-9 and
    .bound == "compute"'
  # GPUs that are known to take twice the time wait more, or work longer.
  gives 0 '' "${text[@]}" --duration 1h -f json -q
  work=$(jq .estimates[0].energy_j out)
  gives 0 '' "${text[@]}" --duration 1h --loader-workers 1 -f json -q
  check ".estimates[0].energy_j < $work and .busy_share < 0.7"
}

@test 'a loader bounds the power, whose interval has its doubt' {
  # At the fast end of the time, which is the loader's, GPUs wait least; most of
  # the power is static, 112 W.
  local run=("${base[@]:0:7}" -e 1 -m physical -q -f json) static low high
  gives 0 '' "${run[@]}" --loader synthetic
  alone=$(jq '.estimates[0].power_w' out)
  gives 0 '' "${run[@]}" --loader-workers 1
  check ".estimates[0] | .power_low_w < 0.87 * .power_w and
    .power_high_w > 1.3 * .power_w and .power_high_w < 1.2 * $alone"
  # intervals do not go below what the work alone takes
  gives 0 '' "${run[@]}" --loader-workers 1 --set stored_kb=5000 --coverage 99.9
  check '.estimates[0] | .low_j > 0 and .duration_low_s > 0'
  # the size of files alone describes stored images
  gives 0 '' "${run[@]}" --train-samples 1000000 --set stored_kb=1000
  check '.bound == "input"'
}

@test 'known values that the loader cannot have fed are warned of' {
  # Two processes: 631 images/s; within three to four times that processors and
  # storage may differ.
  local job=(predict --arch resnet18 --gpu h100 --loader disk
    --loader-workers 2 -m physical)
  gives 0 "dlest: warning: $(message by_what_is_known 6000 631)" \
    "${job[@]}" --throughput 6000
  gives 0 '' "${job[@]}" --throughput 900
  printf 'arch,gpu,dataset,batch_size,epochs,loader_workers,samples_per_s
resnet18,h100,imagenet,256,1,2,6000\n' >runs.csv
  gives 0 '' predict --input runs.csv -f json -m physical -q
  jq -r '.warnings[]' out | grep -q 'faster than the described loader'
}

@test 'a loader and a duration of work that is not known' {
  # One process delivers 1 / 3.16776 ms = 315.68 images/s (see above), the GPU
  # alone takes g: of the time it works
  #   b = (1 / g) / sqrt((1 / g)^2 + (1 / 315.68)^2),
  # at the power that it has alone, and waits at static power. The mean of a share
  # whose logarithm is uncertain by s is exp(s^2 / 2) times that, 1.2 for .6.
  local run=("${base[@]}" --method physical)
  gives 0 '' "${run[@]}" --epochs 1 --loader-workers 1
  rate=$(jq .gpu_samples_per_s out)
  gives 0 '' "${run[@]}" --duration 2h
  alone=$(jq .estimates[0].power_w out)
  gives 0 '' "${run[@]}" --duration 2h --loader-workers 1
  check '.estimates[0].duration_s == 7200 and .bound == "input"'
  check "(1 / $rate | . / (. * . + 1 / 315.68 / 315.68 | sqrt)) as \$b |
    (.busy_share / \$b | . >= 1 and . < 1.2) and
    (.estimates[0].power_w / (\$b * $alone + (1 - \$b) * .static_power_w) - 1 |
      fabs < 0.1)"
  # a thousand such processes hold nothing up
  gives 0 '' "${run[@]}" --duration 2h --loader cached --loader-workers 1024
  check "(.estimates[0].power_w / $alone - 1 | fabs < 0.01) and .busy_share > 0.99"
  # Two hours in a table are those of an option.
  gives 0 '' "${run[@]}" --duration 2h --loader-workers 1
  jq .estimates[0].energy_j out >option
  printf 'arch,gpu,duration_s,loader_workers,epochs\nresnet50,%s,7200,1,\n' \
    "$(jq -r .gpu out)" >runs.csv
  gives 0 '' predict --input runs.csv --method physical --precision amp -q -f json
  check '.estimates[0].assumed | all(startswith("epochs") | not)'
  near '.estimates[0].energy_j' "$(cat option)"
}

@test 'a loader and the time that it lets expect: the energy that it lets expect' {
  # One process for an RTX 4090 that takes more: the time is the loader's, and
  # says nothing more of the work. The energies differ by 5 W of the memory.
  for workers in 1 2 4; do
    "$DLEST" predict -a resnet50 -g rtx-4090 --epochs 90 -m physical \
      --loader-workers $workers --format json >expected
    time=$(python3 -c 'import json; print(json.load(open("expected"))["estimates"][0]["duration_s"])')
    "$DLEST" predict -a resnet50 -g rtx-4090 --epochs 90 -m physical \
      --loader-workers $workers --duration "${time}s" --format json >known
    "$DLEST" predict -a resnet50 -g rtx-4090 --epochs 90 -m physical \
      --duration "${time}s" --format json >alone
    python3 - <<'END'
import json
files = [json.load(open(f)) for f in ("expected", "known", "alone")]
expected, known, alone = (f["estimates"][0] for f in files)
for key in "bound", "epoch_s", "input_samples_per_s", "gpu_samples_per_s":
    assert files[0][key] == files[1][key], (key, files)
assert abs(known["energy_j"] / expected["energy_j"] - 1) < .1, (known, expected)
assert known["energy_j"] < alone["energy_j"], (known, alone)
assert known["low_j"] < expected["energy_j"] < known["high_j"], known
END
  done
}

@test 'milabench: real input from synthetic, and either GPU from the other' {
  pairs=$MEASURED_RUNS/milabench/scaling.csv
  [ -e "$pairs" ] || skip "no milabench/scaling.csv at $MEASURED_RUNS"
  # Its images are noise of 384 x 384 pixels; 8 loader processes.
  gives 0 '' "${base[@]}" --loader cached --loader-workers 8 \
    --set stored_mpx=0.147456
  cat >check.py <<'END'
import csv, json, math, statistics, sys
rate = json.load(open(sys.argv[1]))["input_samples_per_s"]
speed = {}
for row in csv.DictReader(open(sys.argv[2])):
    if row["workload"] in ("resnet50", "resnet50-noio"):
        speed.setdefault((row["gpu"], row["workload"]), {})[
            int(row["batch_per_gpu"])] = float(row["items_per_s"])
together = lambda a, b: 1 / math.hypot(1 / a, 1 / b)
pairs, error = {}, []
for gpu in ("H100", "L40S"):
    real, fast = speed[gpu, "resnet50"], speed[gpu, "resnet50-noio"]
    pairs[gpu] = [(real[b], fast[b]) for b in real if b in fast]
    error += [abs(together(f, rate) / r - 1) for r, f in pairs[gpu]]
assert len(error) >= 10, error
print("median", statistics.median(error), "most", max(error))
assert statistics.median(error) < 0.2 and max(error) < 0.2
for gpu, other in (("H100", "L40S"), ("L40S", "H100")):
    known = statistics.median((r ** -2 - f ** -2) ** -0.5
                              for r, f in pairs[other])
    left = [abs(together(f, known) / r - 1) for r, f in pairs[gpu]]
    print(gpu, "from", other, known, statistics.median(left))
    assert statistics.median(left) < 0.2
END
  python3 check.py out "$pairs"
}
