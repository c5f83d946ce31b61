#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Draws the figures of README and docs. Two of them are from measured runs
# (HACKING.md): predictions for each GPU by a fit without it. The others are from
# estimates and the tables in data.
#
# usage: make-figures.sh DLEST MEASURED_RUNS TOP
set -eu
dlest=$1 runs=$2/delrey2024/runs.csv data=$3/data figures=$3/docs/figures
[ -f "$runs" ] || { echo "no measured runs: $runs" >&2; exit 1; }
mkdir -p "$figures"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"$dlest" fit "$runs" --method physical --set drop_last=yes \
  --cv group:gpu --no-model \
  --target gpu_power_w --target epoch_energy_j --predictions "$table" >/dev/null
"$dlest" plot fit "$table" --per config --target gpu_power_w \
  -o "$figures/p4-power.svg"
"$dlest" plot fit "$table" --per config --target epoch_energy_j \
  -o "$figures/p4-energy.svg"
"$dlest" compare "$data/delrey2024-configurations.csv" --cv group:gpu \
  --format csv -q | "$dlest" plot errors -o "$figures/errors.svg"
"$dlest" plot trace "$data/examples/gpu-7.csv" "$data/examples/memory-7.csv" \
  -o "$figures/trace.svg"
"$dlest" predict --arch resnet50 --node dgx-a100 --parts --format csv -q |
  "$dlest" plot parts -o "$figures/parts.svg"
"$dlest" recommend --arch resnet50,vgg16,mobilenet_v2 --gpu a100,h100,t4 \
  --format csv -q | "$dlest" plot pareto -o "$figures/gpus.svg"
"$dlest" recommend --arch resnet50 --node all --gpus 1,2,4,8 --format csv -q |
  "$dlest" plot pareto -o "$figures/nodes.svg"
