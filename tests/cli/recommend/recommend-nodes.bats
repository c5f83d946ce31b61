#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest recommend --node: whole computers, by the energy of the node.

load ../common

# node_energy BOUNDARY NODE ARG...: what predict says of the same node
node_energy() {
  local boundary=$1 node=$2
  shift 2
  "$DLEST" predict --node "$node" --method physical --format json -q "$@" |
    jq ".node.boundaries[] | select(.boundary == \"$boundary\") | .energy_j"
}

# chosen NODE GPUS: the energy that recommend has for it
chosen() {
  jq ".choices[] | select(.node == \"$1\" and .n_gpus == $2) | .energy_j" out
}

own_node() {
  cat >lab.xml <<'EOF'
<catalog kind="node" version="1">
  <entry id="lab" name="Lab machine" cpu="ryzen-9-7950x" gpu="rtx-3090">
    <value name="sockets">1</value>
    <value name="gpus">2</value>
    <value name="memory_gb">128</value>
    <value name="rest_w" note="assumed">60</value>
  </entry>
</catalog>
EOF
}

@test "energies are those that predict has for each node" {
  gives 0 '' recommend --arch resnet50 --precision tf32 --node dgx-a100,dgx-h100 --batch-size 64 \
    --gpus 1,8 --format json
  check '.n_choices == 4 and .boundary == "node"'
  for node in dgx-a100 dgx-h100; do
    for n in 1 8; do
      near "$(chosen $node $n)" \
        "$(node_energy node $node --arch resnet50 --precision tf32 --batch-size 64 --gpus $n)"
    done
  done
  # by itself a node has all of its accelerators in use
  gives 0 '' recommend --arch resnet50 --precision tf32 --node dgx-a100 --batch-size 64 \
    --format json
  check '[.choices[].n_gpus] == [8]'
}

@test "one boundary for all: of the facility where every node has a PUE" {
  own_node
  gives 0 '' recommend --arch resnet50 --precision tf32 --node dgx-a100,./lab.xml --pue 1.3 \
    --gpus 2 --batch-size 64 --format json
  check '.boundary == "facility" and .n_choices == 2'
  near "$(chosen lab 2)" "$(node_energy facility ./lab.xml --arch resnet50 --precision tf32 \
    --pue 1.3 --gpus 2 --batch-size 64)"
  gives 0 "dlest: warning: $(message node_has_no_pue lab)" \
    recommend --arch resnet50 --precision tf32 --node xeon-8368-4xa100,./lab.xml --gpus 2 \
    --batch-size 64 --format json
  check '.boundary == "node" and all(.choices[]; .boundary == "node")'
  near "$(chosen xeon-8368-4xa100 2)" "$(node_energy node xeon-8368-4xa100 \
    --arch resnet50 --precision tf32 --gpus 2 --batch-size 64)"
}

@test "energies at any boundary are predict's; what is paid for stays" {
  local boundary cost
  own_node
  choose=(recommend --arch resnet50 --precision tf32 --node dgx-a100,./lab.xml
    --gpus 2 --batch-size 64)
  gives 0 '' "${choose[@]}" --pue 1.3 --price 0.25EUR --format json
  cost=$(jq -c '[.choices[].cost] | sort' out)
  for boundary in gpu gpu+ram node-dc node facility; do
    gives 0 '' "${choose[@]}" --pue 1.3 --price 0.25EUR --boundary $boundary \
      --format json
    check "all(.choices[]; .boundary == \"$boundary\")"
    near "$(chosen lab 2)" "$(node_energy $boundary ./lab.xml --arch resnet50 \
      --precision tf32 --pue 1.3 --gpus 2 --batch-size 64)"
    [ "$(jq -c '[.choices[].cost] | sort' out)" = "$cost" ]
  done
  # A budget is of the boundary, too.
  kwh=$(jq '[.choices[].energy_j] | min / 3.6e6' out)
  try "${choose[@]}" --pue 1.3 --budget-kwh "$(jq -n "$kwh / 1.1")"
  [ "$status" -eq 4 ]
  gives 0 '' "${choose[@]}" --pue 1.3 --budget-kwh "$(jq -n "$kwh / 1.1")" \
    --boundary node
  refuses 2 "dlest: --$(message boundary_needs_pue)" "${choose[@]}" \
    --boundary facility -q
  refuses 2 "dlest: $(message has_no_effect_without boundary node)" \
    recommend --arch resnet50 --gpu a100 --boundary node -q
}

@test "values of the user's hold for every node" {
  gives 0 '' recommend --arch resnet50 --precision tf32 --node dgx-a100,dgx-h100 --batch-size 64 \
    --set node.rest_w=0 --set gpu.tdp_w=300 --format json
  near "$(chosen dgx-h100 8)" "$(node_energy node dgx-h100 --arch resnet50 --precision tf32 \
    --batch-size 64 --set node.rest_w=0 --set gpu.tdp_w=300)"
}

@test "inference, CPUs alone, every node of the catalogue" {
  gives 0 '' recommend --arch resnet50 --node dgx-a100 --phase inference \
    --requests 100000 --batch-size 64 --format json
  near "$(chosen dgx-a100 8)" "$(node_energy node dgx-a100 --arch resnet50 \
    --phase inference --requests 100000 --batch-size 64)"
  try recommend --arch resnet50 --node xeon-8368 --batch-size 64 --format json
  [ "$status" -eq 0 ]
  grep -q "$(message node_has_no_accelerators xeon-8368 physical)" err
  near "$(chosen xeon-8368 2)" "$(node_energy facility xeon-8368 --arch resnet50 \
    --batch-size 64)"
  try list nodes --format json
  local n
  # those of any CPU are no choices
  n=$(jq '[.. | objects | select(.id?) | select(.id | startswith("cpu-") | not)] |
    length' out)
  try recommend --arch resnet50 --precision fp32 --node all --batch-size 64 --format json -q
  check ".n_choices == $n"
}
