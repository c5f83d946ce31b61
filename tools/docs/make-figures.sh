#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Draws the figures of README from measured runs (HACKING.md): predicted
# against measured, each GPU predicted by a fit that has not seen it. That of
# nodes is from estimates alone.
#
# usage: make-figures.sh DLEST MEASURED_RUNS TOP
set -eu
dlest=$1 runs=$2/delrey2024/runs.csv figures=$3/docs/figures
[ -f "$runs" ] || { echo "no measured runs: $runs" >&2; exit 1; }
mkdir -p "$figures"
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"$dlest" fit "$runs" --method physical --cv group:gpu --no-model \
  --target gpu_power_w --target epoch_energy_j --predictions "$table" >/dev/null
"$dlest" plot fit "$table" --per config --target gpu_power_w \
  -o "$figures/p4-power.svg"
"$dlest" plot fit "$table" --per config --target epoch_energy_j \
  -o "$figures/p4-energy.svg"
"$dlest" recommend --arch resnet50 --node all --gpus 1,2,4,8 --format csv -q |
  "$dlest" plot pareto -o "$figures/nodes.svg"
