#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# --format latex in pdflatex: it compiles, and no table is wider than a page.

load ../common

# needs PROGRAM: or the test is skipped
needs() {
  command -v "$1" >/dev/null || skip "needs $1 (texlive-latex-recommended)"
}

# typeset FILE: an article with it, twice, as longtable asks for; no line is
# wider than the page, by a point of tolerance.
typeset() {
  {
    printf '%s\n' '\documentclass{article}' '\usepackage{booktabs,longtable}' \
      '\hfuzz=1pt' '\begin{document}'
    cat "$1"
    echo '\end{document}'
  } >paper.tex
  local i
  for i in 1 2; do
    timeout 60 pdflatex -interaction=nonstopmode -halt-on-error paper.tex >said ||
      { grep -A5 '^!' said && return 1; }
  done
  ! grep -A2 '^Overfull .hbox' said || return 1
  ! grep -e ' --[a-z]' "$1" || return 1
}

# written ARG...: what dlest writes as LaTeX, in out
written() {
  try "$@" --format latex -q
  [ "$status" -eq 0 ]
  grep -q '^\\label{tab:dlest-.*}$\|\\label{tab:dlest-.*}}$' out || ! grep -q toprule out
}

@test 'answers, tables and details fit a page' {
  needs pdflatex
  examples=$DLEST_DATADIR/data/examples
  while read -r args; do
    # shellcheck disable=SC2086
    written ${args//EXAMPLES/$examples}
    typeset out
  done <<'END'
predict --arch resnet50 --gpu a100
predict --arch llama-3.1-8b --gpu a100 --gpus 4 --dataset alpaca --fine-tune lora
predict --input EXAMPLES/plan.csv
extract EXAMPLES/gpu-7.csv
compare EXAMPLES/runs.csv
fit EXAMPLES/runs.csv --no-model --target epoch_energy_j
recommend --arch resnet50,vit_base_patch16_224 --gpu a100,h100,t4
report EXAMPLES/sacct.txt --by account,month
report EXAMPLES/sacct.txt --all
step EXAMPLES/gpu-7.csv --epochs 90
show gpu a100
END
}

@test 'long names, characters of TeX, letters of other scripts' {
  needs pdflatex
  cat >runs.csv <<'END'
name,arch,gpu,batch_size
"ünï_名前 % & $ # {x} ~ ^ \ ""q"" <a|b> a_very_long_name_of_a_run_that_goes_on_and_on_2024",resnet50,a100,64
"emoji 🚀 run_é - łódź",vit_base_patch16_224,h100,64
END
  written predict --input runs.csv
  typeset out
  # Names do not drive out the answer.
  head -n 20 out | grep -qF '{energy}'
  grep -qF '{\ifdefined\Umathcode 名\else U+540D\fi}' out
}

@test 'more rows than a page takes' {
  needs pdflatex
  {
    echo name,arch,gpu,batch_size
    for i in {1..90}; do echo "run $i,resnet50,a100,$((8 + i))"; done
  } >runs.csv
  written predict --input runs.csv
  typeset out
  grep -q '^Output written on paper.pdf ([3-9] pages' said
}
