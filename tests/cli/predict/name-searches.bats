#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Quantities are found by name where options, headers and model files are read;
# rows and estimates use their numbers. A program that counts such searches
# (tests/count-searches.c) shows it.

load ../common

# searches ARG...: how often a predict looks for a name.
searches() {
  COUNTED_SEARCHES=$PWD/searches "$TOP_BUILDDIR/tests/count-searches" predict \
    "$@" >out 2>err
  cat searches
}

# rows N: a table of N runs.
rows() {
  echo 'arch,gpu,dataset,epochs,batch_size,precision'
  for ((i = 1; i <= $1; i++)); do
    echo "resnet50,a100,imagenet,$i,$((16 * i)),amp"
  done
}

@test "no row of a table makes predict look for a quantity by name" {
  rows 1 >one.csv
  rows 40 >forty.csv
  one=$(searches --input one.csv -f csv)
  forty=$(searches --input forty.csv -f csv)
  [ "$(wc -l <out)" -ge 41 ]
  [ "$one" -gt 0 ]
  [ "$one" -eq "$forty" ]
}

@test "no combination of values makes predict look for a quantity by name" {
  one=$(searches --arch resnet50 --gpu a100 --dataset imagenet \
    --batch-size 16,32 -f csv)
  more=$(searches --arch resnet50 --gpu a100 --dataset imagenet \
    --batch-size 16,32,64,128,256 -f csv)
  [ "$one" -gt 0 ]
  [ "$one" -eq "$more" ]
}
