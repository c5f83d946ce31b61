#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What Caspart et al. 2022 (arXiv 2212.01698) find of nodes follows from the
# descriptors of the nodes they measured; docs/lab/findings.md has the figures.

load ../common

training='--arch vgg19 --train-samples 15784 --epochs 250 --batch-size 64
  --method flops'
inference='--arch vgg19 --phase inference --requests 15784 --batch-size 64'

# plug NAME OPTIONS...: energy at the plug (J) and time (s) of a job into the
# variables NAME and NAME_s
plug() {
  local name=$1
  shift
  gives 0 '' predict "$@" -q --format json
  printf -v "$name" '%s' "$(jq '.node.boundaries[] |
    select(.boundary == "node").energy_j' out)"
  printf -v "${name}_s" '%s' "$(jq '.estimates[0].duration_s' out)"
}

# holds EXPRESSION: true of numbers
holds() {
  if ! jq -ne "$1" >/dev/null; then
    echo "not so: $1"
    return 1
  fi
}

all_nodes() {
  plug cpu "$@" --node xeon-8368
  plug mixed "$@" --node xeon-8368-4xa100 --use-gpus 0
  plug one "$@" --node xeon-8368-4xa100 --use-gpus 1
  plug four "$@" --node xeon-8368-4xa100
}

@test 'finding 1: energy does not follow from runtime alone' {
  all_nodes $training
  holds "$cpu_s == $mixed_s and $mixed > 1.2 * $cpu"
  # The ratio of energies is not that of times.
  holds "$cpu_s / $one_s > 1.2 * $cpu / $one"
}

@test 'finding 1: runtime alone takes both for the busiest they can be' {
  plug one $training --node xeon-8368-4xa100 --use-gpus 1
  check '[.node.boundaries[] | select(.boundary == "node").energy_j][0] * 2 <
    .node.runtime_j'
}

@test 'finding 2: idle accelerators are over-proportionally inefficient' {
  all_nodes $training
  holds "$mixed > $cpu and $one > 1.5 * $four"
  plug few $training --node epyc-7742-8xa100 --use-gpus 0
  plug none $training --node epyc-7742-8xa100 --use-gpus 0 \
    --set node.gpu_idle_w=0
  holds "$few > $none"
}

@test 'finding 3: training: accelerators win in time and energy' {
  all_nodes $training
  holds "$one_s < $cpu_s and $one < $cpu and $four_s < $one_s and $four < $one"
  # By more than the ranges assumed: the other parts of either node are not off
  # by so much.
  holds "$cpu > 3 * $one"
}

@test 'finding 3: inference: comparable where accelerators are not kept busy' {
  all_nodes $inference --method tdp --duration 10m
  holds "$cpu < $one and $one < 2 * $cpu"
  # Also at idle power: nobody could say that the accelerator is the better.
  plug idle $inference --method tdp --duration 10m --node xeon-8368-4xa100 \
    --use-gpus 1 --set gpu.tdp_w=56
  holds "$idle > 0.5 * $cpu and $idle < 2 * $cpu"
}

@test 'finding 3 needs that: at the same share of the peak accelerators win' {
  all_nodes $inference --method flops
  holds "$one < $cpu and $four < $cpu"
}

@test 'the figures of docs/lab/findings.md' {
  command -v python3 >/dev/null || skip 'no python3'
  python3 "$TOP_SRCDIR/tools/run-examples.py" "$DLEST" \
    "$TOP_SRCDIR/docs/lab/findings.md"
}

# Energies of MLPerf Training v4.0 at the plug and behind the supplies
# (data/node-trainings.csv), and nodes whose accelerators' power is known, their system left out of the law.
@test 'the power of nodes: errors of docs/lab/nodes.md' {
  command -v python3 >/dev/null || skip 'no python3'
  python3 -B "$TOP_SRCDIR/docs/lab/make/node_power.py" "$DLEST" \
    2>/dev/null >"$BATS_TEST_TMPDIR/tables"
  awk -F'|' '/^\| median of (idle|training|inference)/ { n++; if ($6 + 0 > 8) bad = 1 }
    /^\| median / && NF == 12 { n++; if ($6 + 0 > 12 || $10 + 0 > 12) bad = 1 }
    /^\| median of all/ { split($7, h, " of "); if (h[1] / h[2] < 0.8) bad = 1 }
    END { exit bad || n != 4 }' "$BATS_TEST_TMPDIR/tables"
}
