#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Formats that other programs take: Prometheus, BoAmps.

load ../common

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  cp "$TOP_SRCDIR"/data/examples/* .
  export SOURCE_DATE_EPOCH=86400
}

# metrics ARG...: valid, by our grammar and the client's parser where it is
metrics() {
  gives 0 '' "$@" -q --format prometheus
  rc=0
  python3 "$TOP_SRCDIR/tests/check-metrics.py" --client <out >samples || rc=$?
  [ "$rc" -eq 0 ] || [ "$rc" -eq 77 ]
}

@test 'prometheus: every command with energies is valid' {
  metrics predict --arch resnet50 --gpu a100 --cloud gcp:us-central1
  metrics predict --arch llama-2-7b --gpu a100 --tokens 1e9
  metrics predict --arch vgg16 --node xeon-8368-4xa100 --use-gpus 1 --parts \
    --embodied --country DE --price 0.28EUR
  metrics predict --arch llama-2-7b --gpu a100 --phase inference \
    --prompt-tokens 500 --output-tokens 200 --request-rate 0.1 --explain
  metrics predict --input plan.csv
  metrics compare runs.csv
  metrics step epochs.csv --epochs 50
  metrics extract gpu-7.csv
  metrics extract --epochs gpu-7.csv
  metrics report sacct.txt
  metrics report sacct.txt --by user,month --country FR
}

@test 'prometheus: names, base units and values' {
  metrics predict --gpu a100 --duration 10h --method tdp --intensity 100 \
    --pue 1.5 --price 0.2
  # 400 W for 10 h: 14.4 MJ, 6 kWh with the cooling, 600 g
  grep -qx 'dlest_estimate_energy_joules 14400000.0' samples
  grep -qx 'dlest_estimate_facility_energy_joules 21600000.0' samples
  grep -qx 'dlest_estimate_power_watts 400.0' samples
  grep -qx 'dlest_estimate_duration_seconds 36000.0' samples
  grep -qx 'dlest_estimate_co2e_grams 600.0' samples
  grep -q '^dlest_estimate_cost 1.2' samples
  grep -qx 'dlest_intensity_grams_per_kilowatt_hour 100.0' samples
  grep -qx 'dlest_price_per_kilowatt_hour 0.2' samples
  grep -qx 'dlest_pue 1.5' samples
  grep -qx 'dlest_ram_bytes 32000000000.0' samples
  ! grep -q 'kwh' samples || false
  grep -q '^dlest_info{.*gpu="a100-sxm4-40gb".*dlest="' out
  grep -q '^dlest_estimate_energy_joules{method="tdp",boundary="gpu",' out
}

@test 'prometheus: a node, its parts and its making' {
  metrics predict --arch resnet50 --node xeon-8368-4xa100 --use-gpus 1 \
    --duration 1h --method tdp --parts --embodied --price 0.28EUR
  # an A100 at 400 W for 1 h; three that idle at 55 W
  grep -qx 'dlest_node_part_energy_joules{estimate="tdp",part="gpu_busy",from="estimate"} 1440000' out
  grep -qx 'dlest_node_part_energy_joules{estimate="tdp",part="gpu_idle",from="assumed"} 594000' out
  grep -qx 'dlest_node_boundary_energy_joules{estimate="tdp",boundary="gpu"} 1440000' out
  grep -q '^dlest_node_part_ratio{' out
  grep -q '^dlest_node_cost ' out
  # 150 kg a GPU
  grep -qx 'dlest_node_embodied_grams{part="accelerator"} 150000' out
  metrics predict --arch llama-2-7b --gpu a100 --gpus 8 --tokens 1e9
  # dense BF16 312 TFLOP/s; NVLink 600 GB/s both ways
  grep -qx 'dlest_peak_flop_per_second 312000000000000' out
  grep -qx 'dlest_link_bytes_per_second 300000000000' out
}

@test 'prometheus: figures of the catalogue in base units' {
  metrics list nodes
  metrics list gpus
  # the A100: 1410 MHz, 156 TFLOP/s in tf32, 1555 GB/s
  grep -q '^dlest_gpu_boost_hertz{id="a100-sxm4-40gb".* 1410000000$' out
  grep -q '^dlest_gpu_peak_tf32_flop_per_second{id="a100-sxm4-40gb".* 156000000000000$' out
  grep -q '^dlest_gpu_bandwidth_bytes_per_second{id="a100-sxm4-40gb".* 1555000000000$' out
}

@test 'prometheus: labels are escaped, and alike rows numbered' {
  # Jobs of two clusters of a federation: the cluster is no label.
  printf '%s\n' 'Cluster|JobID|JobName|ElapsedRaw|Start|ConsumedEnergyRaw' \
    'c1|7|a "b" \c|60|2024-01-01T00:00:00|600' \
    'c2|7|a "b" \c|60|2024-01-01T00:00:00|700' >sacct.txt
  metrics report sacct.txt
  grep -qF 'job_name="a \"b\" \\c"' out
  [ "$(grep -c '^dlest_job_energy_joules{.*dlest_row="[12]"} [67]00$' out)" -eq 2 ]
  metrics extract gpu-7.csv --set source=mine --set 'a-b=x' --set 'a_b=y' --set '0z=1s'
  grep -qF 'a_b="x"' out
  grep -qF 'source="mine"' out
  grep -qF '_0z="1s"' out
}

@test 'prometheus: what changes while a row stays is no label; help in words' {
  metrics report sacct.txt --country FR
  ! grep -E '^dlest_(job|group)_.*(state|energy_from|boundary)=' out || false
  grep -qx 'dlest_group_jobs{month="2024-03"} 3' out
  grep -qx '# HELP dlest_group_energy_joules energy, joules, in groups' out
  metrics predict --arch resnet50 --gpu a100
  ! grep -E '^# HELP .* [a-z]+_[a-z]' out || false
  grep -q '^dlest_estimate_samples_per_second{' out
}

@test 'prometheus: too many rows are no metrics' {
  { echo 'JobID|ElapsedRaw|ConsumedEnergyRaw|User'
    seq -f '%.0f|60|600|u' 100001; } >many.txt
  refuses 2 "dlest: $(message more_than_rows_are 100000)" \
    report many.txt -q --format prometheus
  metrics report many.txt --by user
  grep -qx 'dlest_group_jobs 100001.0' samples
}

# all_of FILTER: true of the array of all documents
all_of() {
  jq -s . <out >all.json
  check "$1" all.json
}

# boamps ARG...: each line of out is a report with what BoAmps requires
boamps() {
  gives 0 '' "$@" -q --format boamps
  [ "$(wc -l <out)" -eq "$(jq -s length out)" ]
  all_of 'length > 0 and all(.[];
    (.header.reportDatetime == "1970-01-02 00:00:00") and
    (.header.reportStatus | IN("draft", "final", "corrective", "other")) and
    (.task | (.taskStage | type == "string") and
      (.taskFamily | type == "string") and
      (.algorithms | length > 0 and all(type == "object")) and
      (.dataset | length > 0 and all(
        (.dataUsage | IN("input", "output")) and
        (.dataType | IN("image", "token", "other"))))) and
    (.measures | length > 0 and all(
      (.measurementMethod | type == "string") and
      (.powerConsumption | type == "number"))) and
    (.infrastructure | (.infraType |
      IN("publicCloud", "privateCloud", "onPremise", "other")) and
      (.components | length > 0 and all(
        (.componentType | type == "string") and
        (.nbComponent | type == "number" and . == floor and . >= 1)))) and
    ((.environment // {country: ""}) | .country | type == "string"))'
}

@test 'boamps: what must be there is there' {
  boamps predict --arch resnet50 --gpu a100
  boamps predict --gpu a100 --duration 2h
  boamps predict --input plan.csv
  boamps step epochs.csv --epochs 50
  boamps extract gpu-7.csv memory-7.csv
  boamps report sacct.txt
  boamps report sacct.txt --by job
}

@test 'boamps: a training with all its estimates' {
  boamps predict --arch resnet50 --gpu a100 --gpus 2 --duration 10h \
    --epochs 90 --method tdp,green-algorithms --cloud aws:eu-west-1
  check '.task.taskStage == "training" and
    .task.taskFamily == "imageClassification" and
    .task.algorithms[0].algorithmName == "resnet50" and
    .task.algorithms[0].epochsNumber == 90 and
    .task.dataset[0].dataQuantity == 1281167'
  # 2 x 400 W for 10 h
  near '.measures[0].powerConsumption' 8
  near '.measures[1].powerConsumption' '8 + 32 * 0.3725 / 100'
  check '.measures[0].measurementDuration == 36000'
  check '.measures[0].measurementMethod == "dlest, tdp, boundary gpu"'
  check '.task.taskDescription == "estimated by dlest, not measured"'
  check '.infrastructure | .infraType == "publicCloud" and
    .cloudProvider == "aws" and .components[0].nbComponent == 2'
  check '.environment.country == "Ireland"'
}

@test 'boamps: inference' {
  boamps predict --arch llama-2-7b --gpu a100 --phase inference \
    --prompt-tokens 500 --output-tokens 200 --requests 1000
  check '.task | .taskStage == "inference" and .nbRequest == 1000 and
    [.dataset[] | .dataUsage, .dataQuantity] ==
      ["input", 500000, "output", 200000]'
  near '.task.algorithms[0].parametersNumber' 6.74
}

@test 'boamps: inference of images' {
  boamps predict --arch resnet50 --gpu a100 --phase inference --requests 50
  check '.task | .nbRequest == 50 and .taskFamily == "imageClassification" and
    .dataset == [{dataUsage: "input", dataType: "image", dataQuantity: 50}]'
}

@test 'boamps: a node, by the estimate that is used' {
  boamps predict --arch resnet50 --node xeon-8368-4xa100 --use-gpus 1 \
    --duration 1h --method tdp,green-algorithms
  check '[.measures[].measurementMethod] ==
    ["dlest, tdp, boundary gpu",
     "dlest, green-algorithms, boundary gpu+ram",
     "dlest, green-algorithms, boundary gpu",
     "dlest, green-algorithms, boundary node-dc",
     "dlest, green-algorithms, boundary node",
     "dlest, green-algorithms, boundary facility"]'
  check 'all(.measures[]; .measurementDuration == 3600)'
  near '.measures[2].powerConsumption' 0.4
  boamps predict --arch resnet50 --node dgx-a100 --use-gpus 0 --duration 1h
  check '.infrastructure.components == [{componentName: "AMD EPYC 7742",
    componentType: "cpu", nbComponent: 2}]'
}

@test 'boamps: jobs: measured ones do not say estimated' {
  boamps report sacct.txt
  all_of '.[0] | (.task | has("taskDescription") | not) and
    .measures[0].powerConsumption == 9 and
    .measures[0].averageUtilizationGpu == 0.88 and
    .infrastructure.components[0].componentName == "a100"'
  all_of '.[1].task.taskDescription == "estimated by dlest, not measured"'
}

@test 'a full disk is noticed' {
  [ -c /dev/full ] || skip 'no /dev/full'
  for format in prometheus boamps; do
    for command in 'predict --gpu a100 --duration 1h' 'report sacct.txt' \
        'predict --input plan.csv'; do
      rc=0
      "$DLEST" $command -q --format $format 2>err >/dev/full || rc=$?
      [ "$rc" -eq 1 ]
      grep -q "$(message cannot_write 'No space left on device')$" err
    done
  done
}
