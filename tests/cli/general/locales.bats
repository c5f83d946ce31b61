#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Locales and terminals change no output: German decimal commas, the Turkish
# dotless i, and TERM=dumb against the locale C.

load ../common

EXAMPLES=$DLEST_DATADIR/data/examples

# commands of every kind of number and name, one a line
commands() {
  cat <<EOF
predict --arch INCEPTION_V3 --gpu TITAN-RTX --country IT --price 0.25
predict --arch inception_v3 --gpu titan-rtx --phase INFERENCE -f json
predict --arch resnet50 --node xeon-8368-4xa100 --duration 1.5h -f json
predict --input $EXAMPLES/plan.csv -f csv
predict --arch resnet50,vgg16 --gpu a100 --batch-size 16..64x2 -f csv
recommend --arch resnet18,vgg16 --gpu a100,t4 --batch-size 64
fit $EXAMPLES/runs.csv --method ols --features duration_s --target energy_j --no-model -f json
compare $EXAMPLES/runs.csv --methods tdp,flops
extract $EXAMPLES/gpu-7.csv $EXAMPLES/memory-7.csv -f json
step $EXAMPLES/epochs.csv --epochs 90
report $EXAMPLES/sacct.txt --gpu v100 --core-power 2.5 -f json
list gpus --where tdp_w>=250.5 --columns id,tdp_w
list grids -f latex
show gpu TITAN-RTX -f markdown
predict --arch resnet50 --gpu a100 -f prometheus
EOF
}

# alike NAME: output and messages of all commands are those of the locale C,
# in NAME under the settings of the environment.
alike() {
  local n=0
  while read -r line; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    try $line
    mv out "$1.$n.out"
    mv err "$1.$n.err"
    # shellcheck disable=SC2086
    (unset LOCPATH && export LC_ALL=C TERM=xterm && "$DLEST" $line >c.out \
      2>c.err) || true
    [ -s c.out ] || { echo "nothing: $line" && cat c.err && return 1; }
    diff -u c.out "$1.$n.out" || { echo "$1: $line" && return 1; }
    diff -u c.err "$1.$n.err" || { echo "$1: $line" && return 1; }
  done < <(commands)
}

@test 'German: decimal commas' {
  needs_decimal_comma
  alike de
}

@test 'Turkish: i is not the lower case of I' {
  needs_turkish_case
  alike tr
}

@test 'TERM=dumb, and none' {
  export TERM=dumb
  alike dumb
  unset TERM
  alike none
}

@test 'a model written under one locale is read under another' {
  needs_decimal_comma
  gives 0 '' fit "$EXAMPLES/runs.csv" --method ols --features duration_s \
    --target energy_j -o german.xml
  (unset LOCPATH && export LC_ALL=C && "$DLEST" fit "$EXAMPLES/runs.csv" \
    --method ols --features duration_s --target energy_j -o c.xml)
  grep -v ' command=\| made=' german.xml >a
  grep -v ' command=\| made=' c.xml >b
  diff a b
}
