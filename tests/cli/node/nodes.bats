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
    "aws:g5.xlarge", "gcp:a2-highgpu-1g", "dgx-h200", "hgx-h200", "dgx-b200",
    "dgx-b300", "gb200-nvl72", "gb200-tray", "gh200-node", "mi300x-8",
    "mi355x-8", "gaudi3-8", "8xa100-pcie", "8xh100-pcie", "gcp:ct5p-hightpu-4t", "aws:trn2.48xlarge"])'
  check '[.nodes[] | select(.vendor == "azure").id] | length >= 4'
  jq -r '.nodes[].id' out >ids
  while read -r id; do
    local cpu=()
    case $id in cpu-*) cpu=(--cpu epyc-7742) ;; esac
    gives 0 '' predict --arch resnet50 --node "$id" "${cpu[@]}" \
      --method flops -q --format json </dev/null
    check '.node.boundaries | length == 5'
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
  bound node-dc '800 * 3600'
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

@test 'a slice has its part of the memory' {
  try predict --arch resnet50 --gpu a100 --share mig:1g.5gb --batch-size 256 --method flops
  [ "$status" = 0 ]
  grep -q 'GB, more than the 4.80 GB .* of a100-sxm4-40gb; about .* fits$' err
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

# kWh of the answer, of an hour at those watts; emissions and cost are of what is
# paid for, the facility.
@test 'the answer at any boundary' {
  local boundary kwh
  while read -r boundary kwh; do
    gives 0 '' predict --arch resnet50 --node ./node.xml --method tdp -q \
      --duration 1h --use-gpus 1 --price 0.25EUR --boundary "$boundary"
    grep -q "^  Energy *$kwh kWh " out
    grep -q "^  Power *$(jq -n "1000 * $kwh") W" out
    grep -q '^  Cost *0.375 EUR$' out
  done <<<'gpu 0.300
gpu+ram 0.400
node-dc 0.800
node 1.00
facility 1.50'
  on_mine --use-gpus 1 --boundary node-dc
  check '.node.boundary == "node-dc"'
  on_mine --use-gpus 1
  check '.node.boundary == "facility"'
  refuses 2 "dlest: --$(message boundary_needs_pue)" predict --arch resnet50 \
    --node dgx-a100 --duration 1h --method tdp --boundary facility -q
  refuses 2 "dlest: $(message has_no_effect_without boundary node)" \
    predict --arch resnet50 --gpu a100 --boundary node -q
}

# Limits that are not given may be lowered where a node serves.
@test 'power of a node that serves has room for a lowered limit' {
  low() { jq '.node.boundaries[] | select(.estimate == "physical" and
    .boundary == "node") | .power_low_w / .power_w' out; }
  serve=(predict --arch llama-2-7b --node dgx-h100 --phase inference
    --requests 1000 --prompt-tokens 500 --output-tokens 200 -q)
  gives 0 '' "${serve[@]}" --format json
  open=$(low)
  gives 0 '' "${serve[@]}" --format json --set power_limit_w=700
  jq -en "$open < 0.75 and $open + 0.1 < $(low)"
  gives 0 '' "${serve[@]}"
  grep -q '^  Assumed .*full power limit' out
}

@test 'memory that the estimate has counts once' {
  gives 0 '' predict --arch resnet50 --node ./node.xml --use-gpus 1 \
    --duration 1h --method green-algorithms --format json -q
  part gpu_busy '300 * 3600'
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

@test 'parts as CSV' {
  gives 0 '' predict --arch resnet50 --node ./node.xml --duration 1h --epochs 1 -q \
    --method tdp,flops --parts --format csv
  [ "$(head -1 out)" = estimate,part,energy_j,low_j,high_j,power_w,share,from ]
  [ "$(cut -d, -f1,2 out | sort -u | wc -l)" = 15 ]
  gives 0 '' predict --arch resnet50 --node ./node.xml --duration 1h --epochs 1 -q \
    --method tdp --format csv
  [[ $(head -1 out) = arch,gpu,n_gpus,*,assumed,method,boundary,energy_j,* ]]
}

# The work of all nodes is that of one in an eighth of the time, but for the
# exchange; all else is the same in each node.
@test 'several nodes: whole ones, by --gpus' {
  gives 0 '' predict --arch resnet50 --node dgx-h100 --gpus 64 --method tdp \
    --duration 1h -q --format json --embodied
  check '.node.nodes == 8 and .node.used == 64 and .n_gpus == 64 and
    .gpus_per_node == 8 and .network_gbps == 400 and .ram_gb == 8 * 2048'
  jq -S '[.node.parts[].energy_j | values / 8]' out >eight
  jq '.node.embodied[].job_g' out >made
  gives 0 '' predict --arch resnet50 --node dgx-h100 --method tdp \
    --duration 1h -q --format json --embodied
  check '.node.nodes == 1 and .network_gbps == null'
  jq -S '[.node.parts[].energy_j | values]' out >one
  jq -ne '[inputs] | transpose | all((.[0] - .[1] | fabs) <= 1e-9 * .[1])' \
    eight one
  jq '.node.embodied[].job_g * 8' out | cmp - made
  gives 0 '' predict --arch llama-2-7b --node dgx-h100 --gpus 16 \
    --tokens 1e9 --network 100 -q --format json
  check '.network_gbps == 100'
  gives 0 '' predict --arch llama-2-7b --node dgx-h100 --gpus 16 \
    --tokens 1e9 -q
  head -1 out | grep -q ' on 16 x H100 80GB HBM3 in 2 x NVIDIA DGX H100: '
  grep -q '^  Energy .*  whole nodes$' out
  refuses 2 "dlest: $(message gpus_of_several_nodes 60 dgx-h100 8 56 64)" \
    predict --arch resnet50 --node dgx-h100 --gpus 60
  refuses 2 "dlest: $(message gpus_per_node_is_not 4 dgx-h100 8)" \
    predict --arch resnet50 --node dgx-h100 --gpus 16 --gpus-per-node 4
  refuses 2 "dlest: $(message node_has_accelerators_not dgx-h100 8 16)" \
    predict --arch resnet50 --node dgx-h100 --use-gpus 16
  refuses 2 "dlest: $(message node_has_accelerators_not xeon-8368 0 2)" \
    predict --arch resnet50 --node xeon-8368 --gpus 2
}

# Fans at 1 of 4 GPUs of 300 W and 3 that idle at 50 W: 60 x (450 / 1200)^3.
@test 'fans follow the power of the accelerators, a liquid needs none' {
  my_node 'cpu="epyc-7742" gpu="v100-sxm2-16gb"' sockets=2 cpu_idle_w=25 \
    gpus=4 gpu_idle_w=50 memory_gb=200 memory_w_gb=0.5 rest_w=100 fans_w=60 \
    supply_efficiency=0.8
  on_mine --use-gpus 1
  part rest '(40 + 60 * 0.375 * 0.375 * 0.375) * 3600'
  on_mine
  part rest '100 * 3600'
  on_mine --cooling liquid
  part rest '40 * 3600'
  on_mine --cooling air
  part rest '100 * 3600'
  # A supply of 2 kW that loses 250 W at half load loses 0.77 of it at any.
  on_mine --use-gpus 1 --set node.rest_w=100 --set node.fans_w=0 \
    --set node.supply_w=2000
  bound node '(800 + 250 * (0.77 + 0.23 * 0.8)) * 3600'
  my_node
  refuses 2 "dlest: $(message cooling_liquid_has_no my)" \
    predict --arch resnet50 --node ./node.xml --cooling liquid
  misused predict "$(message has_no_effect_without cooling node)" \
    --arch resnet50 --gpu a100 --cooling liquid
}

# Readings of others at the wall, which the entries' values were derived from or
# not: the interval of the power holds them, and it is within a fifth.
#   idle: 8 H100 in immersion 2263 W (MLPerf Training v4.0), 8 H200 in air 2464 W
#   (Cisco UCS C885A); most: 8 H100 in air 8480 W (Latif et al. 2025), with its
#   GPUs at their TDP.
@test 'nodes by their readings at the wall' {
  reading() { # WATTS OPTIONS...
    local watts=$1
    shift
    gives 0 '' predict --arch resnet50 --method tdp --duration 1h -q \
      --format json "$@"
    check ".node.boundaries[] | select(.boundary == \"node\") |
      .power_w > $watts / 1.2 and .power_w < $watts * 1.2"
  }
  reading 2263 --node dgx-h100 --cooling liquid --set gpu.tdp_w=74
  reading 2464 --node hgx-h200 --cooling liquid --set gpu.tdp_w=75
  reading 8480 --node dgx-h100
}

# Readings of nvidia-smi on H100: 74 W without a process, 120 W with one and no
# kernel (github KellerJordan/modded-nanogpt).
@test 'an unused accelerator idles at less than one that the job holds' {
  gives 0 '' predict --arch llama-3-8b --node dgx-h100 --use-gpus 1 \
    --phase inference --prompt-tokens 500 --output-tokens 50 --idle-s 3 -q \
    --format json
  check '.served.idle_w == 120 and .node.gpu_idle_w == 74'
  gives 0 '' predict --arch llama-3-8b --node dgx-h100 --use-gpus 1 \
    --phase inference --prompt-tokens 500 --output-tokens 50 --idle-s 3 -q \
    --format json --set gpu.idle_w=70
  check '.served.idle_w == 70 and .node.gpu_idle_w == 70'
}

@test 'the power of a node has an interval of its own' {
  gives 0 '' predict --arch resnet50 --node dgx-a100 --batch-size 64 -q \
    --format json
  check '[.node.boundaries[] | select(.estimate == "physical" and
    .boundary != "facility")] | all(.power_low_w < .power_w and .power_w < .power_high_w)'
  # It has no error of the time.
  check '.node.boundaries[] | select(.estimate == "physical" and
    .boundary == "node") | .power_high_w / .power_low_w < .high_j / .low_j'
  near '[.node.boundaries[] | select(.estimate == "physical" and
    .boundary == "node").power_w][0]' '[.node.boundaries[] |
    select(.estimate == "physical" and .boundary == "node").energy_j][0] /
    [.estimates[] | select(.method == "physical").duration_s][0]'
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
