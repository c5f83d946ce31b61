#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Markdown and LaTeX: tables of several commands, and what must be escaped.

load ../common

# Text that means something to both, in a column of compare.
hostile() {
  printf 'arch,gpu,duration_s,energy_j,lab\n' >runs.csv
  printf 'vgg16,a100,10,800,"%s"\n' '*a_b|50%&<#>$\{x}~^' >>runs.csv
}

@test "Markdown: a table of scores, escaped, aligned" {
  hostile
  gives 0 '' compare runs.csv --methods tdp --set gpu.tdp_w=100 --by lab \
    --bootstrap 0 --format markdown
  cat >want <<'E2'
## 1 run

| method | lab                            | runs | MAPE   | median APE | coverage |
| ------ | ------------------------------ | ---: | ------ | ---------- | -------- |
| tdp    | \*a\_b\|50%\&\<#\>$\\{x}\~^ |    1 | 25.0 % | 25.0 %     | -        |
E2
  sed -i 's/  *|/ |/g; s/|  */| /g; s/--*/-/g' want out
  diff -u want out
}

@test "LaTeX: the same" {
  hostile
  gives 0 '' compare runs.csv --methods tdp --set gpu.tdp_w=100 --by lab \
    --bootstrap 0 --format latex
  grep -qF 'tdp & {}*a\_b\textbar{}50\%\&\textless{}\#\textgreater{}'\
'\$\textbackslash{}\{x\}\textasciitilde{}\textasciicircum{} & 1 & ' out
  grep -qxE '.begin\{tabular\}\{@\{\}llr@\{\}llll@\{\}\}' out
  # a caption and a label, and no word about options
  grep -qxF '\label{tab:dlest-scores}' out || grep -q '^.label{tab:dlest-' out
  grep -q '^.caption{[A-Z]' out
  ! grep -e '--[a-z]' out || false
  grep -qF '25.0 \%' out
  for rule in top mid bottom; do grep -qx "  .${rule}rule" out; done
}

# Each row of LaTeX has as many cells as the tabular has columns.
@test "list, predict and show in both" {
  for what in 'list gpus --limit 3' 'list methods' 'show gpu a100' \
    'predict --arch resnet50 --gpu a100 -q'; do
    gives 0 '' $what --format markdown
    awk -F ' [|] ?' '/^[|]/ { if (n && NF != n) exit 1; n = NF } !/^[|]/ { n = 0 }' out
    ! grep -q ' $' out || false
    gives 0 '' $what --format latex
    python3 - <<'E2'
import re
columns = 0
for line in open("out"):
    start = re.match(r"(?:\\noindent{\\small)?\\begin{tabular}{(.*)}$", line)
    if start:
        columns = len(re.sub(r"@{}|{[^}]*}", "", start[1]))
    if line.endswith(" \\\\\n"):
        line = line.replace("\\&", "")
        wide = line.count("\\multicolumn{2}")
        assert line.count("&") + 1 + wide == columns, line
E2
  done
}

@test "a batch, row by row" {
  table arch,gpu,epochs resnet50,a100,1 vgg16,v100,2
  gives 0 '' predict --input runs.csv -q --format markdown
  # a heading, a rule, and the recommended method of each run
  [ "$(grep -c '^|' out)" -eq 4 ]
  gives 0 '' predict --input runs.csv -q --format markdown --all
  # six methods a run
  [ "$(grep -c '^|' out)" -eq 14 ]
  gives 0 '' predict --input runs.csv -q --format latex --all
  [ "$(grep -Ev '^(Outside|Assumed)' out | grep . | tail -1)" = '\end{table}' ]
  [ "$(grep -c '^  [rv].* \\\\$' out)" -eq 12 ]
}
