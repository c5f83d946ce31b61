#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Terminal safety: control characters and bidirectional marks in names, paths
# and cells reach neither a terminal nor a document in a form that acts.

load ../common
load on_terminal

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_CONFIG_HOME=$PWD/config
  # ESC, DEL, NEL (U+0085), a right-to-left override (U+202E), an isolate
  # (U+2066), a line separator (U+2028), an Arabic letter mark (U+061C)
  HOSTILE=$'a\033[2Jb\177c\302\205d\342\200\256e\342\201\246f\342\200\250g\330\234h'
  # those of them that may stand at the beginning of a table
  MARKS=${HOSTILE//[$'\033\177']/}
  HEADER=arch,gpu,batch_size,train_samples,epochs
  RUN=resnet50,a100,64,1000,2
}

# safe FILE...: no control character but line ends, no bidirectional mark.
safe() {
  local unsafe='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c'
  unsafe="$unsafe|\\xe2\\x80[\\x8e\\x8f\\xa8-\\xae]|\\xe2\\x81[\\xa6-\\xa9]"
  if LC_ALL=C grep -anP "$unsafe" "$@" >found; then
    cat -v found
    return 1
  fi
}

# a table of runs with a hostile name of a column; its last row has hostile
# cells, one of them over two lines. Its beginning is plain: binary data are
# refused.
hostile_table() {
  {
    printf '"x%s",note,%s\n' "$MARKS" "$HEADER"
    for _ in {1..9}; do printf 'plain,%0500d,%s\n' 0 "$RUN"; done
    printf '"%s\n2",%s,%s\n' "$HOSTILE" "$HOSTILE" "$RUN"
  } >runs.csv
}

# an nvidia-smi log
log() {
  {
    echo 'timestamp, index, name, power.draw [W]'
    for s in 00 01 02 03 04 05; do
      echo "2024/01/01 12:00:$s.000, 0, ${1:-NVIDIA A100}, 100.00 W"
    done
  }
}

@test 'cells and names of columns in each format' {
  hostile_table
  for format in text json markdown latex prometheus boamps; do
    try predict --input runs.csv --method tdp --format $format
    [ "$status" -eq 0 ]
    grep -q tdp out
    safe out err
  done
}

@test 'JSON loses nothing by it' {
  hostile_table
  gives 0 '' predict --input runs.csv --method tdp --format json
  HOSTILE=$HOSTILE python3 - out <<'PY'
import json, os, sys
row = json.load(open(sys.argv[1]))['estimates'][-1]
want = os.environ['HOSTILE']
assert row['note'] == want, row
assert row['x' + want.replace('\033', '').replace('\177', '')] == want + '\n2', row
PY
}

@test 'CSV has the exact text in a file, and a safe one on a terminal' {
  hostile_table
  gives 0 '' predict --input runs.csv --method tdp --format csv
  grep -qF "$HOSTILE" out
  on_terminal predict --input runs.csv --method tdp --format csv
  grep -q tdp seen
  safe seen
  grep -q 'a�\[2Jb�c�d�e�f�g�h' seen
}

@test 'text, JSON and warnings on a terminal' {
  hostile_table
  printf 'x,,resnet50,v%s,64,1000,2\n' "$HOSTILE" >>runs.csv
  for format in text json markdown latex prometheus csv; do
    on_terminal predict --input runs.csv --method tdp --format $format
    grep -q tdp seen
    safe seen
  done
}

@test 'paths in messages' {
  printf '%s\n%s\n' "$HEADER" "$RUN,1" >"$HOSTILE.csv"
  log >"$HOSTILE
2.log"
  try predict --input "$HOSTILE.csv"
  [ "$status" -eq 3 ]
  grep -q 'csv:2: ' err
  safe out err
  try step "$HOSTILE
3.log" --epochs 10
  [ "$status" -ne 0 ]
  [ "$(wc -l <err)" -eq 1 ]
  safe out err
  try step "$HOSTILE
2.log" --epochs 10
  safe out err
  grep -q 'So far' out
  try extract "$HOSTILE
2.log"
  [ "$status" -eq 0 ]
  safe out err
}

@test 'options, commands and names that are unknown' {
  for argument in "$HOSTILE" "--$HOSTILE" "--arch=$HOSTILE" "--format=$HOSTILE" \
    "--set=$HOSTILE=1" "--method=$HOSTILE" "--where=$HOSTILE"; do
    try predict "$argument"
    [ "$status" -ne 0 ]
    [ -s err ]
    safe out err
    try list "$argument"
    [ "$status" -ne 0 ]
    safe out err
  done
  try "$HOSTILE"
  [ "$status" -eq 2 ]
  safe out err
  try show gpu "$HOSTILE"
  [ "$status" -ne 0 ]
  safe out err
}

@test 'names of devices in a log' {
  log "$(printf 'NVIDIA A\342\200\256100\177')" >a.log
  for format in text json markdown latex prometheus boamps; do
    try extract a.log --format $format
    [ "$status" -eq 0 ]
    safe out err
  done
}

@test 'the users of a scheduler' {
  {
    echo 'JobID|User|Start|End|ElapsedRaw|State|AllocTRES|ConsumedEnergyRaw'
    printf '1|u%s|2024-01-01T00:00:00|2024-01-01T01:00:00|3600|COMPLETED|%s|%s\n' \
      "$HOSTILE" 'cpu=8,gres/gpu=1,node=1' 720000
  } >sacct.txt
  for format in text json markdown latex prometheus; do
    try report sacct.txt --by user --format $format
    [ "$status" -eq 0 ]
    safe out err
  done
}

@test 'the names in a model' {
  # names of the same length: the lengths in the file stay right
  python3 - "$DLEST_DATADIR/data/examples/tiny-cnn.onnx" <<'PY'
import sys
with open(sys.argv[1], 'rb') as f:
    model = f.read()
assert b'classes' in model and b'second' in model
model = model.replace(b'classes', b'a\033[2J\177b')
model = model.replace(b'second', b'a\xe2\x80\xaeb\n')
with open('hostile.onnx', 'wb') as f:
    f.write(model)
PY
  for format in text json markdown latex prometheus; do
    try describe hostile.onnx --format $format
    [ "$status" -eq 0 ]
    safe out err
  done
}

@test 'the names of a catalogue, also in completion' {
  mkdir -p config/dlest
  {
    echo '<catalog kind="accelerator" version="1">'
    echo '<sources><source id="s" title="a&#x202E;b"/></sources>'
    echo '<entry id="mine" name="My&#x202E;&#x7F;&#x85;&#x2066;GPU&#10;two">'
    echo '<value name="tdp_w" source="s" note="n&#x202E;">100</value></entry>'
    echo '</catalog>'
  } >config/dlest/my.xml
  for format in text json markdown latex prometheus; do
    try list gpus --format $format
    [ "$status" -eq 0 ]
    grep -q mine out
    safe out err
    try show gpu mine --format $format
    [ "$status" -eq 0 ]
    safe out err
    try predict --arch resnet50 --gpu mine --format $format
    safe out err
  done
  try --complete predict --gpu min
  grep -q '^mine' out
  safe out err
}

@test 'headings that are names of columns' {
  {
    printf '"g%s",energy_j,%s\n' "$MARKS" "$HEADER"
    for i in 1 2 3; do echo "x$i,${i}e5,$RUN"; done
  } >measured.csv
  for format in text markdown latex json prometheus; do
    try compare measured.csv --methods tdp --by "g$MARKS" --format $format
    [ "$status" -eq 0 ]
    grep -q tdp out
    safe out err
  done
}

@test 'titles, labels and keys of pictures' {
  printf 'method,group,n,mape\n"tdp%s","g%s",9,0.5\nflops,,9,0.25\n' \
    "$MARKS" "$MARKS" >scores.csv
  gives 0 '' plot errors scores.csv --title "$HOSTILE" --script
  grep -q '^set title ' out
  safe out
  command -v gnuplot >/dev/null || skip 'no gnuplot (Debian: gnuplot-nox)'
  for as in svg dumb; do
    try plot errors scores.csv --title "x$HOSTILE" --as $as
    [ "$status" -eq 0 ]
    # form feeds and colours are gnuplot's own
    tr -d '\014' <out >picture
    safe picture
  done
  try plot errors scores.csv --title '<script>a&b</script>' --as svg
  grep -q '&lt;script>a&amp;b&lt;/script>' out
  xmllint --noout out
}

# formulas of a spreadsheet, and what only looks like one
formulas() {
  {
    echo "note,x,$HEADER"
    for cell in '=1+2' '+49' '-x' '@SUM(A1)' "$(printf '\t=1')" -3.5e2 a=b; do
      printf '"%s",+1,%s\n' "$cell" "$RUN"
    done
  } >runs.csv
}

@test 'CSV for spreadsheets: texts that begin like a formula are marked' {
  formulas
  gives 0 '' predict --input runs.csv --method tdp -f csv --spreadsheet-safe
  python3 - out <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r['note'] for r in rows] == [
    "'=1+2", '+49', "'-x", "'@SUM(A1)", "'\t=1", '-3.5e2', 'a=b'], rows
assert all(r['x'] == '+1' and float(r['energy_j']) > 0 for r in rows)
PY
  # exact without the option, and the same in a report without rows
  gives 0 '' predict --input runs.csv --method tdp -f csv
  [ "$(sed -n 2p out | cut -d, -f1)" = =1+2 ]
  printf 'energy_j,%s,"=cmd"\n1e5,%s,a\n' "$HEADER" "$RUN" >measured.csv
  gives 0 '' compare measured.csv --methods tdp -f csv --spreadsheet-safe
  grep -q ^tdp out
}

@test 'CSV for spreadsheets: refused where it has no effect' {
  refuses 2 "dlest: $(message has_no_effect spreadsheet-safe \
    'without --format csv')" list gpus --spreadsheet-safe
  refuses 2 "dlest: $(message has_no_effect spreadsheet-safe \
    'without --format csv')" list gpus -f json --spreadsheet-safe
  gives 0 '' list gpus -f csv --spreadsheet-safe
  mv out safe.csv
  gives 0 '' list gpus -f csv
  cmp out safe.csv
}

@test 'tables, lines and titles fit the width of the terminal' {
  cp "$DLEST_DATADIR"/data/examples/*.csv .
  for WIDTH in 80 60; do
    export WIDTH
    while read -r command; do
      # shellcheck disable=SC2086
      on_terminal $command -q
      [ -s seen ]
      # words longer than the line (paths) are not broken
      if grep -nE "^.{$((WIDTH + 1)),}" seen | grep -E ' .* .* '; then
        echo "wider than $WIDTH: $command"
        return 1
      fi
    done <<'END'
predict --arch resnet50 --gpu a100 --all --explain --country ES
predict --input plan.csv
list importers
list gpus
compare runs.csv --bootstrap 100 --methods physical,tdp
recommend --arch resnet50 --gpu a100,t4 --dataset cifar10
END
  done
}

@test 'what finds no room is named, and nothing is left out in a pipe' {
  cut -d , -f 2- "$DLEST_DATADIR"/data/examples/plan.csv >plan.csv
  plan=(predict --input plan.csv --method pre-epoch,flops -q)
  WIDTH=80 on_terminal "${plan[@]}"
  grep -q '^not shown: precision (tf32 in all rows), memory, ' seen
  grep -q '^arch  *GPU  *GPUs  *method  *energy  *interval  *time$' seen
  gives 0 '' "${plan[@]}"
  grep -q '^arch .* memory$' out
  ! grep -q 'not shown' out || false
  # the figures that stay are the same ones
  for figure in $(awk 'NR > 2 && NF > 3 && $1 ~ /^resnet/ { print $5 }' seen); do
    grep -qF " $figure " out
  done
  WIDTH=0 on_terminal "${plan[@]}"
  cmp seen out
}

@test 'long lists of jobs fit, too, where later names are longer' {
  {
    echo 'JobID|JobName|Account|ElapsedRaw|Start|State|ConsumedEnergyRaw|AllocTRES'
    for i in {1..2100}; do
      name=train
      [ "$i" -le 1200 ] || name=a-sweep-over-everything-with-a-long-name-$i
      echo "$((i * (i > 1200 ? 999999 : 1)))|$name|lab|3600|2024-02-28T14:28:31|COMPLETED|3600000|gres/gpu:a100=1"
    done
  } >jobs.txt
  WIDTH=80 on_terminal report jobs.txt --all -q
  [ -z "$(awk 'length > 80' seen)" ]
  [ "$(grep -cE ' 1[.]00( |$)' seen)" -ge 2100 ]
  gives 0 '' report jobs.txt --all -q
  [ "$(grep -c '^job ' out)" -eq 1 ]
  [ "$(grep -c -e '-long-name-' out)" -eq 900 ]
}

@test 'a cell that is too long is broken between words' {
  WIDTH=60 on_terminal list importers
  # the words are all there, in their order
  gives 0 '' list importers
  tr -s ' \n' '\n\n' <out | grep -E '^[a-z-]+$' | sort -u >words
  tr -s ' \n' '\n\n' <seen | grep -E '^[a-z-]+$' | sort -u >words.seen
  diff words words.seen
}

@test 'errors are red and warnings yellow, unless colours are not wanted' {
  job=(predict --arch resnet50 --gpu v100 --batch-size 256 --method flops)
  COLOUR=1 TERM=xterm on_terminal "${job[@]}"
  grep -q $'^dlest: \033\\[35mwarning:\033\\[0m batch of 256 needs' seen
  grep -q $'^\033\\[1mResNet-50 on ' seen
  COLOUR=1 TERM=xterm on_terminal predict --arch nothing --gpu a100
  grep -q $'^\033\\[31mdlest:\033\\[0m unknown arch' seen
  for env in TERM=dumb NO_COLOR=1; do
    export COLOUR=1 TERM=xterm
    (
      export "${env?}"
      on_terminal "${job[@]}"
    )
    grep -q '^dlest: warning: batch of 256 needs' seen
    ! grep -q $'\033' seen || false
  done
}

@test 'messages are broken between words at the width of a terminal' {
  local job=(predict --arch resnet50 --gpu v100 --batch-size 1024) name
  try "${job[@]}"
  grep '^dlest: warning: ' err >plain
  [ "$(wc -L <plain)" -gt 60 ]
  for colour in '' 1; do
    TERM=xterm WIDTH=60 COLOUR=$colour on_terminal "${job[@]}"
    sed 's/\x1b\[[0-9]*m//g' seen >text
    # the message and its indented lines, up to the estimate
    sed -n '/^dlest: /,/^ResNet-50/{/^ResNet-50/!p}' text | sed '/^$/d' >message
    [ "$(wc -L <message)" -le 60 ]
    [ "$(grep -vc '^dlest: ' message)" -eq "$(grep -c '^  [^ ]' message)" ]
    [ "$(tr -s ' \n' '  ' <message)" = "$(tr -s ' \n' '  ' <plain)" ]
  done
  # a name longer than a line stays whole
  name=$(printf '%070d' 0).csv
  WIDTH=40 on_terminal fit "$name"
  grep -q "$name" seen
}

@test 'each warning is printed once' {
  try predict --arch resnet50 --gpu v100 --gpus 8 --batch-size 256 --all \
    --explain
  [ -s err ]
  [ -z "$(sort err | uniq -d)" ]
}

# shows_left MAKE FIRST ARG...: the remaining time is shown; MAKE N writes the
# input, twice as long where the work was done too soon to show it
shows_left() {
  local make=$1 n=$2 doubling
  shift 2
  for doubling in 1 2 3 4; do
    "$make" "$n"
    on_terminal "$@"
    ! grep -q '\] .* % *, .* left' seen || return 0
    n=$((2 * n))
  done
  return "$doubling"
}

make_cards() {
  {
    echo '<catalog kind="accelerator" version="1">'
    echo '<sources><source id="s" title="made" year="2026"/></sources>'
    seq -f '<entry id="card-%.0f"><value name="tdp_w">300</value></entry>' "$1"
    echo '</catalog>'
  } >cards.xml
}

make_runs() {
  local gpu arch
  {
    echo arch,gpu,batch_size,image_px,train_samples,epochs,gpu_power_w
    for gpu in rtx-3070 rtx-3090 rtx-2080-ti a100-sxm4-40gb v100-sxm2-16gb t4 \
      a40 gtx-1080-ti; do
      for arch in resnet50 vgg16 mobilenet_v2 xception inception_v3 resnet18 \
        resnet101 densenet121; do
        seq -f "$arch,$gpu,%.0f,224,10000,1,165" "$1"
      done
    done
  } >runs.csv
}

@test 'the remaining time of check and calibrate' {
  export TERM=xterm
  shows_left make_cards 200000 check cards.xml
  shows_left make_runs 40 calibrate runs.csv
}

@test 'a broken text gets the room that a dropped column leaves' {
  WIDTH=80 on_terminal recommend --arch resnet50 --country DE \
    --price 0.3EUR --node azure:nc40ads-h100-v5,hgx-h200
  grep -q '^  not shown: 90 % interval' seen
  grep -q '^  Least energy  azure:nc40ads-h100-v5,  ' seen
}

@test 'a screen of 80 columns has room for emissions, cost and the interval' {
  WIDTH=80 on_terminal recommend --arch resnet50 --country DE --price 0.3EUR
  ! grep -q 'not shown' seen || false
  grep -q '  choice  .*  energy   90 % interval   time  CO2e    cost$' seen
}
