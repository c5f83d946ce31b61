#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion in bash and zsh: what dlest offers, and what shells make of it.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
  export DLEST_PATH= XDG_CONFIG_HOME=$PWD/none
  # shellcheck disable=SC1091
  source "$TOP_SRCDIR/completions/bash/dlest"
}

# offered WORD...: what dlest offers for the last of them, without remarks
offered() {
  "$DLEST" --complete "$@" | cut -f 1
}

# bash has it only while it completes
compopt() {
  asked+=" $*"
}

# in_bash LINE: COMPREPLY for a line with the cursor at its end, cut into words
# as readline cuts it
in_bash() {
  local rest=$1 quoted="'[^']*'?" breaks='[=:]+' plain="[^[:blank:]=:']+"
  COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=() asked=
  while [[ -n $rest ]]; do
    if [[ $rest =~ ^[[:blank:]]+ ]]; then
      rest=${rest:${#BASH_REMATCH[0]}}
      [[ -n $rest ]] || COMP_WORDS+=('')
      continue
    fi
    [[ $rest =~ ^($quoted|$breaks|$plain) ]]
    COMP_WORDS+=("${BASH_REMATCH[0]}")
    rest=${rest:${#BASH_REMATCH[0]}}
  done
  COMP_WORDS[0]=$DLEST
  COMP_LINE=$DLEST${COMP_LINE#dlest} COMP_POINT=${#COMP_LINE}
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _dlest
}

# replies LINE WORD...: exactly these
replies() {
  in_bash "$1"
  shift
  diff <(printf '%s\n' "$@") <(printf '%s\n' "${COMPREPLY[@]}")
}

commands() {
  "$DLEST" --help |
    awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'
}

@test "every command is offered, and help" {
  diff <({ commands; echo help; } | sort) <(offered '' | sort)
  diff <(commands | sort) <(offered help '' | sort)
  [ "$(offered pred)" = predict ]
  [ -z "$(offered help predict '')" ]
  diff <(printf '%s\n' --help --version) <(offered -)
}

@test "every option of every command is offered, long and short" {
  for c in $(commands); do
    COLUMNS=400 "$DLEST" "$c" --help |
      grep -E '^ +(-.,)? *--|^ +-[A-Za-z?],' >options
    grep -oE -e '(^ +|, +)--[a-z][a-z0-9-]*' options | tr -d ' ,' |
      sort -u >long
    [ "$(wc -l <long)" -ge 7 ]
    diff long <(offered "$c" -- | sort -u)
    grep -oE '^ +-[A-Za-z]' options | tr -d ' ' | sort -u >short
    diff short <(offered "$c" - | grep -E '^-[A-Za-z]$' | sort -u)
  done
}

# What is free text or a number, by the word that stands for it; anything else
# can be completed.
@test "every option with a value has it completed, or it is free" {
  free='N L PX TIME RATE SHARE GB KWH PERCENT SECONDS X G P R S K YEARS PRICE TEXT MHZ
    PATTERN EPOCH I/N N|LOW..HIGH N,N,... DATE W PID [PARTITION=]W
    [ADDR:]PORT NAME=FORMULA NAME=ID NAME=SHAPE'
  for c in $(commands); do
    COLUMNS=400 "$DLEST" "$c" --help |
      grep -oE -e '^ +(-., )?--[a-z0-9-]+=[^ ]+' | sed 's/.*--/--/' |
      tr = ' ' >values
    while read -r option word; do
      word=${word// /=} word=${word%,}
      [[ " ${free//$'\n'/ } " != *" $word "* ]] || continue
      [ "$c $option" != 'step --energy-column' ] || continue
      [ "$c $option" != 'plot --target' ] || continue
      [ "$c $option" != 'extract --columns' ] || continue # of nvidia-smi
      [[ "$c $option" != report\ --@(user|account) ]] || continue
      kind=
      [ "$c" != list ] || kind=gpus
      [ -n "$("$DLEST" --complete "$c" $kind "$option" '')" ] || {
        echo "$c $option: nothing for $word"
        return 1
      }
    done <values
  done
}

@test "an option says what it is for" {
  [ "$("$DLEST" --complete predict --froz)" = \
    $'--frozen\tthe same as --fine-tune head' ]
}

@test "names of the catalogues" {
  for pair in 'gpus --gpu' 'archs --arch' 'datasets --dataset' \
    'grids --country' 'sites --site' 'nodes --node'; do
    # shellcheck disable=SC2086
    set -- $pair
    "$DLEST" list "$1" --format csv --columns id | sed 1d | sort >ids
    [ "$(wc -l <ids)" -gt 20 ]
    diff ids <(offered predict "$2" '' | grep -v '^transformer:$' | sort)
    [ "$1" != sites ] || cp ids sites
    diff ids <(offered predict "$2=" | sed "s/^$2=//" |
      grep -v '^transformer:$' | sort)
  done
  diff <(grep : sites) <(offered predict --cloud '' | sort)
}

@test "names of a catalogue of one's own" {
  my_gpu "$(entry 250)"
  DLEST_PATH=$PWD/my.xml offered predict --gpu my | grep -x my
}

@test "names in the case in which they are typed" {
  [ "$(offered predict --country ES)" = ES ]
  [ "$(offered predict --country es)" = es ]
  offered predict --gpu RTX-30 | grep -x RTX-3090
  [ "$(offered predict --phase TR)" = '' ]
}

@test "registries: methods, regressions, projectors, formats, importers" {
  for pair in 'methods compare --methods' 'formats predict --format' \
    'importers extract --from' 'importers plot --from'; do
    # shellcheck disable=SC2086
    set -- $pair
    "$DLEST" list "$1" --format csv | sed '1d; s/,.*//' | sort >names
    [ -s names ]
    diff names <(offered "$2" "$3" '' | grep -vx all | sort)
  done
  diff <(printf '%s\n' cpu krr language ols physical ridge serving tuned) \
    <(offered fit --method '' | sort)
  diff <(printf '%s\n' carbontracker step step-energy step-power) \
    <(offered step -m '' | sort)
}

@test "lists go on behind a comma" {
  [ "$(offered predict --method tdp,pre-e)" = tdp,pre-epoch ]
  [ "$(offered predict --method=tdp,pre-e)" = --method=tdp,pre-epoch ]
  ! offered predict --method tdp, | grep all || false
  [ "$(offered report --by job,m)" = job,month ]
  [ "$(offered predict --gpu a30,v100s)" = a30,v100s-pcie-32gb ]
  [ "$(offered report --gpu v100=h200-n)" = v100=h200-nvl ]
  [ "$(offered list gpus --sort -tdp_w,-memory_g)" = -tdp_w,-memory_gb ]
}

# What is offered as a word is one that dlest takes; what else there is, its
# refusal of another word would tell.
@test "every word that is offered is taken" {
  takes() {
    local option=$1
    shift
    offered "$1" "$option" '' >words
    [ "$(wc -l <words)" -ge 2 ]
    while read -r word; do
      gives 0 '' "$@" -q "$option" "$word"
    done <words
    try "$@" "$option" no-such-word
    [ "$status" -ne 0 ]
  }
  takes --phase predict --arch resnet50 --gpu a100
  # int8 is for inference, formats of weights for networks that write tokens
  takes --precision predict --arch llama-3-8b --gpu h100 --phase inference \
    --prompt-tokens 512 --output-tokens 128
  takes --scaling predict --arch resnet50 --gpu a100 --gpus 2
  takes --charge predict --arch resnet50 --node xeon-8368-4xa100
  local runs=$DLEST_DATADIR/data/delrey2024-configurations.csv
  "$DLEST" compare "$runs" --by gpu -q --bootstrap 0 --format csv >scores.csv
  takes --score plot errors scores.csv --script
  takes --as plot errors scores.csv --script
}

@test "every profile of MIG that is offered is one" {
  offered predict --share '' >profiles
  [ "$(wc -l <profiles)" -ge 20 ]
  [ -z "$(sort profiles | uniq -d)" ]
  while read -r profile; do
    for gpu in a30 a100-sxm4-40gb a100-sxm4-80gb h100-nvl h200; do
      try predict --arch resnet50 --gpu $gpu --node workstation-1xrtx-4090 \
        --share "$profile"
      [[ $(cat err) != *"no MIG profile"* ]] || continue
      break 1
    done
    [[ $(cat err) != *"no MIG profile"* ]]
  done <profiles
}

@test "words of a metavariable: --gaps, --stabilise, the kinds of show" {
  diff <(printf '%s\n' bridge cut) <(offered extract x --gaps '')
  diff <(printf '%s\n' epoch fluss regime) <(offered step --stabilise '')
  diff <(printf '%s\n' gpu arch dataset grid site node model) <(offered show '')
  offered show gpu h200 | grep -x h200-nvl
  offered show dataset cifar | grep -x cifar10
  [ -z "$(offered show gpu h200 '')" ]
}

@test "schemes of cross-validation, and columns of the table" {
  table ours,gpu,config_note,gpu_power_w
  diff <(printf '%s\n' group: kfold-shuffled: kfold: none) \
    <(offered fit runs.csv --cv '' | sort)
  diff <(printf '%s\n' group:config group:config_note) \
    <(offered fit runs.csv --cv group:c)
  diff <(printf '%s\n' ours gpu config_note gpu_power_w) \
    <(offered fit runs.csv --target '')
  [ "$(offered compare runs.csv --cv '')" = group: ]
  offered fit absent.csv --target epoch_ | grep -x epoch_energy_j
  diff <(printf '%s\n' :open 'log(gpu.tdp_w') \
    <(offered fit runs.csv --features 'log(gpu.td')
  [ "$(offered predict --set gpu.td)" = gpu.tdp_w= ]
  [ "$(offered predict --alias x=v100s)" = x=v100s-pcie-32gb ]
}

@test "fields of the kind that is listed" {
  diff <(printf '%s\n' :open 'memory_gb>=40 && boost_mhz') \
    <(offered list gpus --where 'memory_gb>=40 && boo')
  [ "$(offered list grids --columns id,carb)" = id,carbon_g_kwh ]
  [ -z "$(offered list methods --columns '')" ]
}

@test "options before the word: abbreviated, attached, in a cluster, closed" {
  [ "$(offered predict --count es)" = es ] # --country
  [ "$(offered predict -ga30)" = -ga30 ]
  [ "$(offered predict -qSf js)" = json ]
  [ "$(offered predict -qfjs)" = -qfjson ]
  [ "$(offered step -- --epo | head -n 1)" = $':files' ]
  [ "$(offered list --limit 3 gr)" = grids ]
}

@test "paths where dlest takes paths, nothing where it takes numbers" {
  [ "$("$DLEST" --complete extract '')" = $':files\t' ]
  [ "$("$DLEST" --complete predict --output=a)" = $':files\t--output=' ]
  [ "$("$DLEST" --complete predict --gpu ./a)" = $':files\t' ]
  [ -z "$(offered predict --epochs '')" ]
  [ -z "$(offered predict '')" ]
  [ -z "$(offered no-such-command '')" ]
}

@test "nothing on standard error, whatever is there" {
  printf 'a,a\n' >runs.csv
  gives 0 '' --complete fit runs.csv --target ''
  gives 0 '' --complete
  gives 0 '' --complete ''
  gives 0 '' --complete predict -
  gives 0 '' --complete predict --=
  gives 0 '' --complete predict '---'
  gives 0 '' --complete fit "$(printf 'x%.0s' {1..100000})"
  echo '<catalog' >broken.xml
  DLEST_PATH=$PWD/broken.xml try --complete predict --gpu a
  [ ! -s err ]
}

@test "bash: words, and those that bash cuts at = and :" {
  replies 'dlest calib' calibrate
  replies 'dlest predict --cou' --country
  replies 'dlest predict --cloud aws:eu-north' eu-north-1
  replies 'dlest predict --cloud=aws:eu-north' eu-north-1
  replies 'dlest predict --cloud aws' \
    $("$DLEST" list sites --format csv --columns id | grep ^aws:)
  in_bash 'dlest predict --cloud aws:'
  [[ " ${COMPREPLY[*]} " == *' eu-west-1 '* ]]
  replies 'dlest predict --phase=' training inference
  replies 'dlest predict --cloud aws:eu-west-1 --phase inf' inference
  [ -z "$asked" ]
  replies 'dlest predict --set gpu.td' gpu.tdp_w=
  [ "$asked" = ' -o nospace' ]
  replies "dlest list gpus --where 'memory_gb>=40 && boo" \
    'memory_gb>=40 && boost_mhz'
  [ "$asked" = ' -o nospace' ]
  replies 'dlest fit runs.csv --cv group:conf' config
}

@test "bash: paths, with blanks, behind an option and its =" {
  touch 'my runs.csv' my-log.csv
  replies 'dlest fit my-' my-log.csv
  [ "$asked" = ' -o filenames' ]
  replies 'dlest predict --input=my-' my-log.csv
  replies 'dlest predict --input my-' my-log.csv
  in_bash 'dlest extract my'
  diff <(printf '%s\n' 'my runs.csv' my-log.csv | sort) \
    <(printf '%s\n' "${COMPREPLY[@]}" | sort)
}

@test "the scripts of the shells are sound" {
  bash -n "$TOP_SRCDIR/completions/bash/dlest"
  command -v shellcheck >/dev/null || skip 'no shellcheck'
  shellcheck "$TOP_SRCDIR/completions/bash/dlest"
}

# A shell at a terminal, whose dlest notes its arguments.
typed() {
  command -v python3 >/dev/null || skip 'no python3'
  python3 -c 'import os; os.openpty()' 2>/dev/null || skip 'no pseudoterminal'
  mkdir -p bin
  cat >bin/dlest <<END
#!/bin/sh
[ "\$1" != --complete ] || exec "$DLEST" "\$@"
{ printf '<%s>' "\$@"; echo; } >>"$PWD/record"
END
  chmod +x bin/dlest
  printf '%s\n' 'a b.csv' | xargs -d '\n' touch
  # One name: taken, with a blank behind it; several: as far as they agree.
  PATH=$PWD/bin:$PATH python3 "$TOP_SRCDIR/tests/cli/general/type_keys.py" record \
    'dlest pred\t--cou\tES' \
    'X=1 dlest pred\t-q' \
    'true | dlest pred\t-q' \
    'dlest predict --cloud aws:eu-nor\t--dataset cifar10\t0 -q\t' \
    'dlest predict --cloud=aws:eu-nor\t-q' \
    'dlest fit a\t--cv group:conf\t-q' \
    'dlest predict --set gpu.td\t300 -q' \
    'dlest list gpus --where boo\t">1"' \
    -- "$@"
  diff - record <<'END'
<predict><--country><ES>
<predict><-q>
<predict><-q>
<predict><--cloud><aws:eu-north-1><--dataset><cifar100><-q>
<predict><--cloud=aws:eu-north-1><-q>
<fit><a b.csv><--cv><group:config><-q>
<predict><--set><gpu.tdp_w=300><-q>
<list><gpus><--where><boost_mhz>1>
END
}

@test "bash: keys typed at a terminal" {
  cat >rc <<END
source "$TOP_SRCDIR/completions/bash/dlest"
PS1='> '
echo READY
END
  typed bash --noprofile --rcfile rc -i
}

@test "zsh: keys typed at a terminal" {
  command -v zsh >/dev/null || skip 'no zsh'
  zsh -n "$TOP_SRCDIR/completions/zsh/_dlest"
  cat >.zshrc <<END
fpath=("$TOP_SRCDIR/completions/zsh" \$fpath)
autoload -Uz compinit
compinit -u -d "$PWD/dump"
PS1='> '
echo READY
END
  ZDOTDIR=$PWD typed zsh -d -i
}
