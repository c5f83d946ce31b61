#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# predict on a node, on a share of an accelerator, cost and embodied carbon.

load ../common

# A node whose figures are easy to add up.
setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DLEST_PATH
  my_node
}

# my_node [ATTRIBUTES [VALUE=X...]]: a node in node.xml
my_node() {
  local attributes=${1-cpu=\"epyc-7742\" gpu=\"v100-sxm2-16gb\"} v
  [ $# -gt 0 ] && shift
  [ $# -gt 0 ] || set -- sockets=2 cpu_idle_w=25 gpus=4 gpu_idle_w=50 \
    memory_gb=200 memory_w_gb=0.5 rest_w=100 supply_efficiency=0.8 pue=1.5
  {
    echo '<catalog kind="node" version="1">'
    echo "<entry id=\"my\" name=\"My node\" $attributes>"
    for v; do
      echo "<value name=\"${v%%=*}\" note=\"assumed\">${v#*=}</value>"
    done
    echo '</entry></catalog>'
  } >node.xml
}

on_mine() {
  gives 0 '' predict --arch resnet50 --node ./node.xml --method tdp \
    --duration 1h --format json -q "$@"
}

# part NAME JOULES, bound NAME JOULES: of the output
part() { near "[.node.parts[] | select(.part == \"$1\").energy_j][0]" "$2"; }
bound() {
  near "[.node.boundaries[] | select(.boundary == \"$1\").energy_j][0]" "$2"
}

@test 'nodes that ship' {
  gives 0 '' list nodes --format json
  check '[.nodes[].id] | contains(["xeon-8368-4xa100", "epyc-7742-8xa100",
    "xeon-8368", "dgx-a100", "dgx-h100", "workstation-rtx-4090",
    "laptop-rtx-3070", "aws:p4d.24xlarge", "aws:p3.16xlarge",
    "aws:g5.xlarge", "gcp:a2-highgpu-1g"])'
  check '[.nodes[] | select(.vendor == "azure").id] | length >= 4'
  jq -r '.nodes[].id' out >ids
  while read -r id; do
    gives 0 '' predict --arch resnet50 --node "$id" --method flops -q \
      --format json </dev/null
    check '.node.boundaries | length == 4'
    check '[.node.parts[].energy_j | select(. != null)] | all(. >= 0)'
  done <ids
}

@test 'every part, by hand' {
  on_mine --use-gpus 1
  part gpu_busy '300 * 3600'
  part gpu_idle '150 * 3600'
  part cpu '2 * (25 + 0.25 * 200) * 3600'
  part memory '100 * 3600'
  part rest '100 * 3600'
  part supply '800 / 4 * 3600'
  part cooling '1000 / 2 * 3600'
  bound gpu '300 * 3600'
  bound gpu+ram '400 * 3600'
  bound node '1000 * 3600'
  bound facility '1500 * 3600'
  near .node.runtime_j '(4 * 300 + 2 * 225 + 200) / 0.8 * 3600'
  check '.n_gpus == 1 and .ram_gb == 200 and .gpu == "v100-sxm2-16gb" and
    .pue == 1.5 and .node.on == "gpu"'
}

@test 'all accelerators unless given otherwise, CPUs with none' {
  on_mine
  check '.n_gpus == 4'
  part gpu_busy '1200 * 3600'
  part gpu_idle 0
  on_mine --use-gpus 0
  check '.gpu == "epyc-7742" and .n_gpus == 2 and .node.on == "cpu"'
  part cpu_busy '450 * 3600'
  part gpu_idle '200 * 3600'
  bound node '(450 + 200 + 200) / 0.8 * 3600'
}

@test 'inference loads the CPUs less' {
  on_mine --use-gpus 1 --phase inference
  part cpu '2 * (25 + 0.1 * 200) * 3600'
}

@test 'a share: power, rates, and what is charged' {
  on_mine --gpu-share 0.5
  check '.n_gpus == 1 and .share_compute == 0.5 and .share_memory == 0.5 and
    .node.charge == "share" and .node.charged == 0.125'
  part gpu_busy '150 * 3600'
  part gpu_idle 0
  bound node '(150 + (150 + 100 + 100) / 8) / 0.8 * 3600'
  on_mine --gpu-share 0.5 --charge node
  part gpu_idle '3.5 * 50 * 3600'
  bound node '(150 + 175 + 350) / 0.8 * 3600'
  on_mine --use-gpus 2 --charge share
  part gpu_idle 0
  bound node '(600 + 350 / 2) / 0.8 * 3600'
}

@test 'a slice by MIG, without a node too' {
  gives 0 '' predict --arch resnet50 --gpu a100 --method flops --format json
  cp out whole
  for options in '--gpu a100' '--node dgx-a100'; do
    gives 0 '' predict --arch resnet50 $options --share mig:2g.10gb \
      --batch-size 32 --method flops --format json
    near .share_compute '2 / 7'
    near .share_memory '2 / 8'
    near .peak_tflops "$(jq .peak_tflops whole) * 2 / 7"
    # Fewer FLOP/s at less power: the energy at work is the same.
    check "(.estimates[0].energy_j / $(jq '.estimates[0].energy_j' whole) - 1 |
      fabs) < 1e-9"
  done
}

@test 'a slice has its part of the memory' {
  try predict --arch resnet50 --gpu a100 --share mig:1g.5gb --batch-size 256 --method flops
  [ "$status" = 0 ]
  grep -q 'GB, more than the 5 GB of a100-sxm4-40gb; about .* fits$' err
}

@test 'values of your own' {
  on_mine --use-gpus 1 --set node.rest_w=200 --set gpu.idle_w=1
  part rest '200 * 3600'
  part gpu_idle '150 * 3600' # the node's own goes first
  check '[.node.parts[] | select(.part == "rest").from][0] == "given"'
  on_mine --use-gpus 1 --set gpu.tdp_w=200
  part gpu_busy '200 * 3600'
  on_mine --gpu-share 0.5 --set gpu.tdp_w=200
  part gpu_busy '100 * 3600'
  on_mine --use-gpus 1 --pue 1.1
  bound facility '1100 * 3600'
  on_mine --gpus 2
  check '.node.used == 2'
}

@test 'what a node leaves out is assumed, and said' {
  my_node 'cpu="epyc-7742"' sockets=1 memory_gb=100
  gives 0 "dlest: warning: $(message node_has_no_rest_w my)" \
    predict --arch resnet50 --node ./node.xml --method tdp --duration 1h \
    --format json
  bound node '(225 + 37.25) / 0.9 * 3600'
  bound gpu '225 * 3600'
  check '[.node.parts[] | select(.part == "memory").from][0] == "assumed"'
  check '[.node.boundaries[] | select(.boundary == "facility").energy_j][0] ==
    null'
}

@test 'memory that the estimate has counts once' {
  gives 0 '' predict --arch resnet50 --node ./node.xml --use-gpus 1 \
    --duration 1h --method green-algorithms --format json -q
  part gpu_busy '300 * 3600'
}

@test 'the interval is that of the estimate and more' {
  on_mine --use-gpus 1 --method physical
  check '(.estimates[0] as $e | .node.boundaries[] |
    select(.boundary == "gpu") | .low_j == $e.low_j and .high_j == $e.high_j)'
  check '[.node.boundaries[] | select(.boundary == "node")][0] |
    .low_j > 0 and .low_j < .energy_j and .high_j > .energy_j'
  check '(.node.boundaries | map({(.boundary): (.high_j - .low_j)}) | add) |
    .node > .gpu'
}

@test 'a node at its site; options go first' {
  gives 0 '' predict --arch resnet50 --node xeon-8368 --method flops -q \
    --format json
  check '.site == "hpc" and .pue == 1.2 and .intensity_g_kwh == null'
  gives 0 '' predict --arch resnet50 --node xeon-8368 --method flops -q \
    --format json --country ES
  check '.site == "hpc" and .pue == 1.2 and .grid == "es"'
  near .node.co2e_g '[.node.boundaries[] | select(.boundary == "facility").energy_j][0] /
    3.6e6 * .intensity_g_kwh'
  gives 0 '' predict --arch resnet50 --node xeon-8368 --method flops -q \
    --format json --cloud aws:eu-west-1
  check '.site == "aws:eu-west-1"'
}

@test 'cost: of the facility, or of what there is' {
  on_mine --use-gpus 1 --price '0.25 EUR/kWh'
  near .node.cost '1.5 * 0.25'
  check '.currency == "EUR" and .price_per_kwh == 0.25 and
    .node.cost_boundary == "facility"'
  for price in 0.25EUR 0.25€ 0.25 2.5e-1; do
    on_mine --use-gpus 1 --price $price
    near .node.cost '1.5 * 0.25'
  done
  check '.currency == null'
  on_mine --use-gpus 1
  check '.node.cost == null and .node.cost_boundary == null'
  my_node 'cpu="epyc-7742" gpu="v100-sxm2-16gb"' sockets=2 cpu_idle_w=25 \
    gpus=4 gpu_idle_w=50 memory_gb=200 memory_w_gb=0.5 rest_w=100 \
    supply_efficiency=0.8
  on_mine --use-gpus 1 --price 1USD
  near .node.cost '[.node.boundaries[] | select(.boundary == "node").energy_j][0] / 3.6e6'
  check '.node.cost_boundary == "node"'
}

@test 'cost: printed once' {
  gives 0 '' predict --arch resnet50 --node ./node.xml --method tdp -q \
    --duration 1h --use-gpus 1 --price 0.25EUR
  grep -q '^  Energy *1.50 kWh  *node and cooling, PUE ' out
  grep -q '^  Cost *0.375 EUR$' out
  gives 0 '' predict --arch resnet50 --node ./node.xml --method tdp -q \
    --duration 1h --use-gpus 1 --price 0.25EUR --all --explain
  grep -q '^price  *0.250 EUR/kWh$' out
  grep -q '^  cost  0.375 EUR (1.50 kWh, boundary facility)$' out
  [ "$(grep -cE '^ *cost |  cost$' out)" -eq 1 ]
  gives 0 '' predict --arch resnet50 --gpu v100 --duration 1h --method tdp \
    --price 1USD --pue 1.5 -q --all
  grep -q ' facility  *cost$' out
  grep -q '^  . tdp .* 0.450$' out
  ! grep -q '^ *cost ' out || false
}

@test 'embodied carbon: when asked for, apart from the rest' {
  gives 0 '' predict --arch resnet50 --node dgx-h100 --duration 1h \
    --method tdp -q --format json --country ES
  check '.node | has("embodied") | not'
  cp out without
  gives 0 '' predict --arch resnet50 --node dgx-h100 --duration 1h \
    --method tdp -q --format json --country ES --embodied
  jq '.node | del(.embodied, .lifetime_years, .in_use)' out >with
  jq .node without | cmp - with
  check '.node.embodied | map(.part) == ["server", "accelerator"]'
  check '.node.embodied | all(.source != null and .note != null)'
  near '.node.embodied[1].job_g' \
    '8 * 164e3 / (4 * 365.25 * 24 * 0.85)'
  gives 0 '' predict --arch resnet50 --node dgx-h100 --duration 1h \
    --method tdp -q --format json --embodied --lifetime 8 --in-use 0.5
  near '.node.embodied[1].job_g' '8 * 164e3 / (8 * 365.25 * 24 * 0.5)'
}

@test 'unpublished embodied carbon is null' {
  gives 0 "dlest: warning: $(message no_embodied_carbon_is my)
dlest: warning: $(message no_embodied_carbon_is_known v100-sxm2-16gb)" \
    predict --arch resnet50 --node ./node.xml --duration 1h --method tdp \
    --batch-size 32 --embodied --format json
  check '.node.embodied | all(.embodied_kg == null and .job_g == null)'
}

@test 'parts as CSV' {
  gives 0 '' predict --arch resnet50 --node ./node.xml --duration 1h --epochs 1 -q \
    --method tdp,flops --parts --format csv
  [ "$(head -1 out)" = estimate,part,energy_j,low_j,high_j,power_w,share,from ]
  [ "$(cut -d, -f1,2 out | sort -u | wc -l)" = 15 ]
  gives 0 '' predict --arch resnet50 --node ./node.xml --duration 1h --epochs 1 -q \
    --method tdp --format csv
  [[ $(head -1 out) = method,* ]]
}

@test 'refused: options that do not go together' {
  for options in '--use-gpus 2' '--charge node' '--parts' '--embodied'; do
    option=${options% *}
    misused predict "$(message has_no_effect_without "${option#--}" node)" \
      --arch resnet50 --gpu a100 $options
  done
  refuses 2 "dlest: $(message a_share_is_one)" \
    predict --arch resnet50 --gpu-share 0.3
  refuses 2 "dlest: $(message node_has_accelerators_not my 4 5)" \
    predict --arch resnet50 --node ./node.xml --use-gpus 5
  refuses 2 "dlest: $(message gpus_is_not_use 3 2)" \
    predict --arch resnet50 --node ./node.xml --use-gpus 2 --gpus 3
  refuses 2 "dlest: $(message gpu_is_not_what h100 my v100-sxm2-16gb)" \
    predict --arch resnet50 --node ./node.xml --gpu h100
  refuses 2 "dlest: $(message does_not_go_with share gpu-share)" \
    predict --arch resnet50 --gpu a100 --share mig:1g.5gb --gpu-share 0.3
  refuses 2 "dlest: $(message a_share_is_one_accelerator)" \
    predict --arch resnet50 --node ./node.xml --use-gpus 0 --gpu-share 0.3
  refuses 2 "dlest: $(message a_slice_by_mig 2)" \
    predict --arch resnet50 --node dgx-a100 --use-gpus 2 --share mig:1g.5gb
  table arch,gpu resnet50,a100
  refuses 2 "dlest: $(message is_for_one_run --node --input)" \
    predict --input runs.csv --node dgx-a100
  refuses 2 "dlest: $(message is_for_one_run 'a share of an accelerator' \
    --input)" \
    predict --input runs.csv --gpu-share 0.5
}

@test "the budget is for the energy of the answer: with --node, of the node" {
  local job=(predict --arch resnet50 --node dgx-a100 --batch-size 64 -q)
  gives 0 '' "${job[@]}" --format json
  gpus=$(jq '.estimates[0].energy_j / 3.6e6' out)
  node=$(jq '.node.boundaries[] | select(.estimate == "physical" and
    .boundary == "node").energy_j / 3.6e6' out)
  try "${job[@]}" --budget-kwh "$(jq -n "($node + $gpus) / 2")"
  [ "$status" -eq 4 ]
  grep -qE '^dlest: .* kWh, over the budget of ' err
  gives 0 '' "${job[@]}" --budget-kwh "$(jq -n "$node * 1.001")"
}

@test 'refused: MIG' {
  local slice='NVIDIA A100-SXM4-40GB MIG 1g.5gb'
  refuses 3 "dlest: $(message is_a_slice "$slice" a100-sxm4-40gb 1g.5gb)" \
    predict --arch resnet50 --gpu "$slice"
  gives 0 '' predict --arch resnet50 --gpu a100-sxm4-40gb --share mig:1g.5gb \
    --batch-size 8 -q
  refuses 3 "dlest: $(message unknown_nearest_see_list gpu \
    'NVIDIA X100 MIG 1g.5gb' '' gpus)" predict --arch resnet50 --gpu 'NVIDIA X100 MIG 1g.5gb'
  refuses 3 "dlest: $(message no_mig_profiles_are v100-sxm2-16gb)" \
    predict --arch resnet50 --gpu v100 --share mig:1g.5gb
  refuses 2 "dlest: $(message has_no_mig_profile a100-sxm4-40gb 5g.1gb \
    "1g.5gb, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb")" \
    predict --arch resnet50 --gpu a100 --share mig:5g.1gb
  misused predict "$(message invalid_value share 0.3 \
    "$(message expected_mig_profile)")" --gpu a100 --share 0.3
}

@test 'refused: values' {
  invalid predict use-gpus=1.5
  misused predict "$(message invalid_value gpu-share 2 \
    "$(message expected_above_at 0 1)")" --gpu-share 2
  misused predict "$(message invalid_value charge all 'node or share')" \
    --charge all
  invalid predict lifetime=0
  invalid predict in-use=85
}

@test 'refused: nodes' {
  refuses 3 "dlest: $(message unknown_nearest_see_list node dgx-a10 \
    "$(meant dgx-a100 dgx-a100-80gb dgx-h100)" nodes)" \
    predict --arch resnet50 --node dgx-a10
  refuses 3 "dlest: $(message cpus_node_are_not aws:p4d.24xlarge)" \
    predict --arch resnet50 --node p4d.24xlarge --use-gpus 0
  refuses 2 "dlest: $(message has_no_field_nearest node rest \
    "$(meant rest_w)")" \
    predict --arch resnet50 --node ./node.xml --set node.rest=1
  my_node 'cpu="no-such"' sockets=1 memory_gb=1
  refuses 3 "dlest: ./node.xml:2: $(message node_unknown_see_list my cpu \
    no-such)" \
    predict --arch resnet50 --node ./node.xml
  my_node 'cpu="epyc-7742" site="no-such"' sockets=1 memory_gb=1
  refuses 3 "dlest: ./node.xml:2: $(message node_unknown_site_see my no-such)" \
    predict --arch resnet50 --node ./node.xml
  my_node 'cpu="epyc-7742"' sockets=1 memory_gb=1 cpu_idle_w=300
  try predict --arch resnet50 --node ./node.xml --method flops -q
  [ "$status" = 3 ]
  grep -q "node.xml:2: $(message node_cpu_idle_w_is_more my 300 225)" \
    err
  my_node 'cpu="epyc-7742"' sockets=1 memory_gb=1 gpus=2
  lacks="dlest: node 'my' does not name its accelerators: name them in its \
entry (gpu=\"a100\")"
  for more in '' '--gpu a100' '--gpu-share 0.5'; do
    # shellcheck disable=SC2086
    refuses 3 "$lacks" predict --arch resnet50 --node ./node.xml $more
  done
  refuses 3 "$lacks" recommend --arch resnet50 --node ./node.xml
  my_node 'cpu="epyc-7742" gpu="a100"' sockets=1 memory_gb=1 gpus=1000
  refuses 3 "dlest: ./node.xml:5: $(message value_is_not_between gpus 1000 0 \
    256)" \
    predict --arch resnet50 --node ./node.xml
}

@test 'check: a file of nodes' {
  gives 0 '' check node.xml
  my_node 'gpu="a100"' sockets=1 memory_gb=1 supply_efficiency=0.2
  try check node.xml
  [ "$status" = 3 ]
  grep -q "$(message is_not_between my 'supply_efficiency 0.2' 0.5 1)" out
  grep -q 'my: neither a cpu nor a cpu_tdp_w' out
  grep -q "my: gpu 'a100', but no number of gpus" out
}

@test 'a node of your own by name' {
  mkdir -p config/dlest
  cp node.xml config/dlest
  XDG_CONFIG_HOME=$PWD/config gives 0 '' predict --arch resnet50 --node my \
    --method flops --format json -q
  check '.node.id == "my"'
}
