#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest plot: scripts, pictures, what it refuses; fit --predictions.

load ../common

EXAMPLES=$DLEST_DATADIR/data/examples

needs_gnuplot() {
  command -v gnuplot >/dev/null || skip 'no gnuplot (Debian: gnuplot-nox)'
}

scores() {
  printf '%s\n' 'method,group,n,mape' 'tdp,,9,0.4' 'physical,,9,0.125' \
    'flops,,9,0.25' >scores.csv
}

left_out() {
  printf '%s\n' 'gpu,config,target,unit,measured,predicted,low,high' \
    'a100,c0,energy_j,J,1000,1100,500,2000' \
    'a100,c0,energy_j,J,4000,4400,2000,8000' \
    'v100,c1,energy_j,J,2000,1800,,' >left-out.csv
}

settings() {
  printf '%s\n' \
    'arch,gpu,batch_size,image_px,energy_j,energy_low_j,energy_high_j,duration_s,pareto' \
    'resnet50,a100,64,224,18e6,14.4e6,21.6e6,7200,1' \
    'resnet50,h100,64,224,21.6e6,18e6,28.8e6,3600,1' \
    'resnet50,v100,64,224,32.4e6,25.2e6,43.2e6,9000,0' >settings.csv
}

parts() {
  printf '%s\n' 'estimate,part,energy_j' 'one,gpu,10.8e6' \
    'one,cpu,3.6e6' 'two,gpu,7.2e6' >parts.csv
}

@test 'values that are all equal, or 0, are drawn' {
  needs_gnuplot
  printf '%s\n' 'method,mape,mape_low,mape_high' 'tdp,0,0,0' >zero.csv
  printf '%s\n' 'method,bias_j' 'a,-5' 'b,-5' >equal.csv
  printf '%s\n' 'gpu,target,unit,measured,predicted' 'a,e,J,7,7' >one.csv
  # an interval that is none
  printf '%s\n' 'arch,gpu,energy_j,energy_low_j,energy_high_j,duration_s' \
    'a,b,1,5,0,100' >odd.csv
  {
    echo 'timestamp, index, power.draw [W]'
    for s in 0 1 2 3; do echo "2024/01/01 12:00:0$s.000, 0, 0 W"; done
  } >idle.log
  for picture in 'errors zero.csv' 'errors equal.csv --score bias_j' \
    'fit one.csv' 'pareto odd.csv' 'trace idle.log'; do
    for as in svg dumb; do
      # shellcheck disable=SC2086
      gives 0 '' plot $picture --as $as -q
      [ -s out ]
    done
  done
}

@test 'an ASCII plot names its axes, and a long title is broken' {
  trace=(plot trace "$DLEST_DATADIR/data/examples/gpu-7.csv")
  gives 0 '' "${trace[@]}" --width 60
  grep -q '^GPU power (W)' out
  grep -q 'time (min)' out
  gives 0 '' "${trace[@]}" --width 500
  title=$(grep -o 'Power log: .* per epoch (gpu)' out)
  gives 0 '' "${trace[@]}" --width 60
  [ "$(grep -A1 'Power log:' out | xargs)" = "$title" ]
  # The same title in a picture that is wide enough is one text.
  gives 0 '' "${trace[@]}" --script
  grep -qxF "set title '$title'" out
}

@test 'every picture has a title, and a unit on each axis of numbers' {
  settings; scores; parts; left_out
  for picture in 'pareto settings.csv' 'errors scores.csv' 'parts parts.csv' \
    'fit left-out.csv' "trace $EXAMPLES/gpu-7.csv"; do
    # shellcheck disable=SC2086
    gives 0 '' plot $picture --script
    grep -qE "^set title '[A-Z]" out
    grep -qE "^set xlabel '.* \((%|kWh|kJ|min)\)'" out
    # shellcheck disable=SC2086
    gives 0 '' plot $picture --script --title ''
    ! grep -q '^set title' out || false
  done
}

@test 'colour by GPU and marker by architecture, each in the legend' {
  printf '%s\n' 'gpu,arch,unit,measured,predicted' 'a100,vgg16,W,5,6' \
    'a100,resnet50,W,7,8' 't4,vgg16,W,9,9' >f.csv
  printf '%s\n' 'gpu,arch,energy_j,duration_s' 'a100,vgg16,5,6' \
    'a100,resnet50,7,8' 't4,vgg16,9,9' >p.csv
  for picture in 'fit f.csv' 'pareto p.csv'; do
    # shellcheck disable=SC2086
    gives 0 '' plot $picture --script
    for name in a100 t4 vgg16 resnet50; do
      [ "$(grep -oF "title '$name'" out | wc -l)" -eq 1 ]
    done
    # one colour for each GPU, one marker for each architecture
    tail -n 1 out >last
    grep -oE "NaN with lines lc rgb '#[0-9A-F]+'" last | sort -u | wc -l |
      grep -qx 2
    grep -oE "NaN with points lc rgb '#606060' pt [0-9]+" last | sort -u |
      wc -l | grep -qx 2
    # with --by one column has both
    # shellcheck disable=SC2086
    gives 0 '' plot $picture --by gpu --script
    ! grep -qF "title 'vgg16'" out || false
    # shellcheck disable=SC2086
    gives 0 '' plot $picture --by arch --shape gpu --script
    grep -qF "title 't4'" out
  done
  # five colours are not distinct in grey: markers repeat them
  printf '%s\n' gpu,arch,measured,predicted a,x,5,6 b,y,5,6 c,x,5,6 d,y,5,6 \
    e,x,5,6 >f.csv
  gives 0 '' plot fit f.csv --script
  ! grep -qF "title 'x'" out || false
  misused plot "$(message has_no_effect shape "on 'plot errors'")" \
    errors f.csv --shape gpu
}

@test 'fit: several targets need --target' {
  left_out
  echo 'a100,c0,gpu_power_w,W,100,110,,' >>left-out.csv
  refuses 3 "dlest: left-out.csv:5: $(message several_targets_choose_with \
    energy_j gpu_power_w)" plot fit left-out.csv --script
  gives 0 '' plot fit left-out.csv --target gpu_power_w --script
  grep -qF "set xlabel 'measured GPU power (W)'" out
  refuses 3 "dlest: left-out.csv: $(message no_row_target epoch_s)" \
    plot fit left-out.csv --target epoch_s --script
}

@test 'parts: stacked from the left, totals' {
  parts
  gives 0 '' plot parts parts.csv --script
  grep -qF "set xlabel 'energy (kWh)'" out
  grep -qxF '0 2 0 3 1.68 2.32' out
  grep -qxF '3 2 3 4 1.68 2.32' out
  grep -qF "set label '4.00 kWh' at 4,2" out
  echo 'two,gpu,-1' >>parts.csv
  refuses 3 "dlest: parts.csv:5: $(message column_energy_j_a_part)" plot parts parts.csv --script
}

@test 'pareto: units, the front by time, its labels' {
  settings
  gives 0 '' plot pareto settings.csv --by arch --script
  grep -qF "set xlabel 'time (min)'" out
  grep -qF "set ylabel 'energy (kWh)'" out
  sed -n '/^\$front/,/^EOD/p' out | diff -u - <(printf '%s\n' \
    '$front << EOD' '60 6' '120 5' EOD)
  grep -qF "set label 'h100' at 60,6" out
}

@test 'pareto: the front is found without a column for it' {
  settings
  cut -d, -f1-8 settings.csv >s.csv
  gives 0 '' plot pareto s.csv --script
  sed -n '/^\$front/,/^EOD/p' out | diff -u - <(printf '%s\n' \
    '$front << EOD' '60 6' '120 5' EOD)
}

@test 'pareto: what is excluded is left out, without a word' {
  settings
  sed -i '1s/$/,excluded/; 2,$s/$/,/; $s/,$/,deadline/' settings.csv
  echo 'resnet50,t4,4096,224,,,,,0,no estimate' >>settings.csv
  gives 0 '' plot pareto settings.csv --script
  ! grep -q "v100\|'t4'" out || false
  grep -qxF '120 5 4 6' out
}

@test 'pareto: of many groups those on the front and the largest have a name' {
  { echo arch,gpu,energy_j,duration_s,pareto
    for i in $(seq 20); do echo "a,g$i,$((1000 + i)),$((100 + i)),0"; done
    echo a,g7,1500,150,0
    echo a,best,900,90,1; } >many.csv
  gives 0 '' plot pareto many.csv --script
  grep '^plot' out | grep -oE "title '[^']+'" | diff -u - <(printf "title '%s'\n" \
    others g3 g2 g1 g7 best 'Pareto front')
  # what has the colour is beside what has the name
  sed -n '/^\$g1 /,/^EOD/p' out | diff -u - <(printf '%s\n' '$g1 << EOD' \
    '107 1.007' '150 1.5' EOD)
  # with colours for g1 to g3, 22 - 2 - 1 - 3 rows are grey
  [ "$(sed -n '/^\$g5 /,/^EOD/p' out | wc -l)" -eq 18 ]
}

@test 'pareto: nodes, the boundary, a label that all of the front share' {
  { echo arch,node,gpu,energy_j,duration_s,batch_size,boundary,pareto
    echo a,one,x,1000,200,64,node,1
    echo a,two,y,1100,100,64,node,1
    echo a,two,y,1500,200,32,node,0; } >n.csv
  gives 0 '' plot pareto n.csv --script
  grep -qF "set ylabel 'energy, boundary node (kJ)'" out
  grep -qF "title 'two'" out
  grep -qF "title 'batch 64'" out
  ! grep -q '^set label' out || false
}

@test 'pictures of what recommend, predict and compare print' {
  "$DLEST" recommend --arch resnet50,vgg16 --gpu a100,t4 --batch-size 64,4096 \
    --format csv -q >r.csv
  gives 0 '' plot pareto r.csv --script
  grep -qF "set ylabel 'energy, boundary gpu+ram (kWh)'" out
  ! grep -q 4096 out || false
  "$DLEST" recommend --arch resnet50 --node dgx-a100,dgx-h100 --format csv -q |
    "$DLEST" plot pareto --script >out
  grep -qF "title 'dgx-a100'" out
  "$DLEST" predict --arch resnet50 --node dgx-a100 --parts --format csv -q \
    --method tdp --duration 1h | "$DLEST" plot parts --script >out
  for part in 'GPUs busy' CPUs memory 'board, fans, drives' \
    'power supply losses'; do
    grep -qF "title '$part'" out
  done
  printf '%s\n' arch,gpu,batch_size,energy_j,duration_s \
    resnet50,a100,64,1e6,3600 vgg16,t4,64,6e5,7200 resnet50,t4,32,5e5,7200 \
    vgg16,v100,64,1e6,3000 resnet18,v100,64,4e5,2500 \
    resnet18,a100,64,5e5,1900 >runs.csv
  for score in mape median_ape rmse_j mae_j bias_j; do
    "$DLEST" compare runs.csv --method tdp,green-algorithms --format csv -q >c.csv
    "$DLEST" plot errors c.csv --score "$score" --script >out
    # x, box and both ends of the interval, in each of two rows
    [ "$(sed -n '/^\$g0/,/^EOD/p' out | awk 'NF == 8' | wc -l)" -eq 2 ]
  done
  cp runs.csv more.csv
  "$DLEST" compare runs.csv more.csv --method tdp,green-algorithms --format csv -q |
    "$DLEST" plot errors --script >out
  for group in runs.csv more.csv all; do
    grep -qF "title '$group'" out
  done
}

@test 'trace: power, epochs, their axis' {
  try plot trace "$EXAMPLES/gpu-7.csv" "$EXAMPLES/memory-7.csv" --script
  [ "$status" -eq 0 ]
  grep -qF "set ylabel 'GPU power (W)'" out
  grep -qF "set x2label 'epoch'" out
  n=$(grep -oE '[0-9]+ epochs detected \(' out | head -n 1)
  [ -n "$n" ]
  # two points an epoch: its mean, from end to end
  [ "$(sed -n '/^\$epochs/,/^EOD/p' out | wc -l)" -eq \
    $((2 * ${n%% *} + 2)) ]
}

@test 'every picture is what its name says' {
  needs_gnuplot
  settings; scores; parts; left_out
  for kind in 'pareto settings.csv' 'errors scores.csv' 'parts parts.csv' \
    'fit left-out.csv'; do
    # shellcheck disable=SC2086
    for end in svg png pdf txt; do
      gives 0 '' plot $kind -o picture.$end
    done
    head -c 200 picture.svg | grep -q '<?xml'
    grep -q '</svg>' picture.svg
    [ "$(head -c 4 picture.png | od -An -tx1 | tr -d ' ')" = 89504e47 ]
    [ "$(head -c 5 picture.pdf)" = %PDF- ]
    grep -q '+---' picture.txt
    ! grep -q "$(printf '\033')" picture.txt || false
    # the script alone draws the same
    gives 0 '' plot $kind --script
    gnuplot -d <out | cmp - picture.svg
  done
  [ "$(ls | grep -c '^picture')" -eq 4 ] # and no temporary file
}

@test 'without a file: characters; a table through a pipe' {
  needs_gnuplot
  scores
  "$DLEST" plot errors --width 70 --height 20 <scores.csv >out
  grep -q 'physical |' out
  [ "$(wc -l <out)" -ge 19 ]
  ! grep -q "$(printf '\033')" out || false
}

@test 'hostile names draw themselves and run nothing' {
  needs_gnuplot
  {
    echo 'method,group,n,mape'
    echo '"a""; system(""touch pwned1""); """,g,1,0.1'
    echo "\"'; system('touch pwned2'); '\",g,1,0.2"
    echo '`touch pwned3`,g,1,0.3'
    echo '@pwned4 %s%n $1 \,g,1,0.4'
    printf '"EOD\n!touch pwned5\n",g,1,0.5\n'
    printf '{/=50 big}^2_3,g,1,0.6\n'
  } >evil.csv
  for end in svg png pdf txt; do
    gives 0 '' plot errors evil.csv -o evil.$end \
      --title "'; system('touch pwned6'); \`touch pwned7\`"
  done
  grep -qF "@pwned4 %s%n \$1 \\<" evil.svg
  grep -qF "’; system(’touch pwned2’); ’" evil.svg
  grep -qF '{/=50 big}^2_3' evil.svg
  [ -z "$(ls | grep '^pwned')" ]
}

@test 'no gnuplot: said so, and no file; --script does without' {
  scores
  mkdir empty
  PATH=$PWD/empty /usr/bin/env -u LD_PRELOAD "$DLEST" plot errors scores.csv \
    -o x.svg 2>err && false
  [ "$(cat err)" = 'dlest: gnuplot is not installed; install it (Debian: '\
'gnuplot-nox), or print the script with --script' ]
  [ ! -e x.svg ]
  [ -z "$(ls | grep '^x\.svg')" ]
  PATH=$PWD/empty "$DLEST" plot errors scores.csv --script -o x.gp
  grep -q '^plot ' x.gp
}

@test 'gnuplot that fails leaves no file and the old one as it was' {
  scores
  mkdir bin
  printf '#!/bin/sh\necho half\necho "line 3: no such thing" >&2\nexit 1\n' \
    >bin/gnuplot
  chmod +x bin/gnuplot
  echo old >x.svg
  PATH=$PWD/bin:$PATH refuses 1 \
    "dlest: $(message gnuplot_failed 'line 3: no such thing')" \
    plot errors scores.csv -o x.svg
  [ "$(cat x.svg)" = old ]
  [ "$(ls | grep -c '^x\.svg')" -eq 1 ]
  printf '#!/bin/sh\nexit 0\n' >bin/gnuplot
  PATH=$PWD/bin:$PATH refuses 1 \
    "dlest: $(message gnuplot_drew_nothing 'it does not say why')" \
    plot errors scores.csv -o x.svg
}

@test 'tables that cannot be drawn' {
  echo 'method,n' >t.csv
  refuses 3 "dlest: t.csv: $(message no_column_such_tables mape \
    "dlest compare --format csv")" plot errors t.csv
  refuses 3 "dlest: t.csv: $(message no_column_such_tables measured \
    "dlest fit --cv SCHEME --predictions FILE")" plot fit t.csv
  echo 'estimate,part,energy_j' >t.csv
  refuses 3 "dlest: t.csv: $(message no_row_that_can)" plot parts t.csv
  : >t.csv
  refuses 3 "dlest: t.csv: $(message empty_file)" plot parts t.csv
  printf '%s\n' 'estimate,part,energy_j' 'a,gpu,0' >t.csv
  refuses 3 "dlest: t.csv: $(message no_energy_to_draw)" plot parts t.csv
}

@test 'rows that cannot be drawn are reported and skipped' {
  left_out
  printf '%s\n' 'a100,c2,energy_j,J,,1,,' 'a100,c2,energy_j,J,nan,1,,' \
    'a100,c2,energy_j,J,-3,1,,' 'a100,c2,energy_j,J,x,1,,' >>left-out.csv
  gives 3 "dlest: warning: left-out.csv:5: $(message column_is_empty measured)
dlest: warning: left-out.csv:6: $(message column_is_not_finite measured nan)
dlest: warning: left-out.csv:7: $(message column_is_not_above measured -3)
dlest: warning: left-out.csv:8: $(message column_invalid_number measured x)
dlest: $(message row_skipped 4 s)" plot fit left-out.csv --script
  grep -qF "set key title '3 rows'" out
  try plot fit left-out.csv --script --strict
  [ "$status" -eq 3 ]
  [ ! -s out ]
}

# --- dlest fit --predictions

@test 'fit --predictions: each row without its fold, the table beside it' {
  cp "$EXAMPLES/runs.csv" .
  try fit runs.csv --target gpu_power_w --method ridge --cv group:gpu \
    --no-model --predictions p.csv --format json
  [ "$status" -eq 0 ]
  [ "$(wc -l <p.csv)" -eq "$(wc -l <runs.csv)" ]
  head -n 1 p.csv | grep -q "^$(head -n 1 runs.csv | tr -d '\r'),target,unit,\
method,fold,measured,predicted,low,high,spread\$"
  # its errors are those that the fit reports
  python3 - <<'PY'
import csv, json
rows = list(csv.DictReader(open("p.csv")))
ape = [abs(float(r["predicted"]) - float(r["measured"])) / float(r["measured"])
       for r in rows]
told = json.load(open("out"))["fits"][0]["cv"]["pooled"]["mape"]
assert abs(sum(ape) / len(ape) - told) < 1e-12, (sum(ape) / len(ape), told)
assert all(r["fold"] == r["gpu"] or r["fold"] for r in rows)
assert all(float(r["low"]) < float(r["predicted"]) < float(r["high"])
           for r in rows if r["low"])
PY
  gives 0 '' plot fit p.csv --script
}

@test 'fit --predictions: intervals by the errors of the other folds' {
  # Three folds: two are left, Student's t with two degrees of freedom, whose
  # quantile p is (2 p - 1) / sqrt(2 p (1 - p)), on mean square of their means
  # and mean variance.
  cp "$EXAMPLES/runs.csv" .
  try fit runs.csv --target gpu_power_w --features 'log(macs_g)' --log \
    --cv kfold:3 --no-model --predictions p.csv
  [ "$status" -eq 0 ]
  python3 - <<'PY'
import csv, math, statistics as st
rows = list(csv.DictReader(open("p.csv")))
error = {}
for r in rows:
    error.setdefault(r["fold"], []).append(
        math.log(float(r["measured"]) / float(r["predicted"])))
assert len(error) == 3
t = 0.9 / math.sqrt(2 * 0.95 * 0.05)
for r in rows:
    others = [e for fold, e in error.items() if fold != r["fold"]]
    between = st.fmean(st.fmean(e) ** 2 for e in others)
    within = st.fmean(st.pvariance(e) for e in others)
    far = t * math.sqrt(between + within)
    for name, sign in (("low", -1), ("high", 1)):
        want = float(r["predicted"]) * math.exp(sign * far)
        assert math.isclose(float(r[name]), want, rel_tol=1e-9), (r[name], want)
PY
}

@test 'fit --predictions: what it refuses' {
  cp "$EXAMPLES/runs.csv" .
  refuses 2 "dlest: $(message predictions_needs_a_cross)" \
    fit runs.csv --cv none --no-model --predictions p.csv
  refuses 2 'dlest: --predictions reads the table twice: give a file, not '\
'standard input' fit - --no-model --predictions p.csv
  refuses 2 "dlest: $(message predictions_writes_to_a)" \
    fit runs.csv --no-model --predictions -
  sed '1s/$/,fold/; 2,$s/$/,1/' runs.csv >more.csv
  try fit more.csv --target gpu_power_w --no-model --predictions p.csv
  [ "$status" -eq 2 ]
  grep -qxF "dlest: more.csv: $(message column_is_there_already fold)" err
  [ ! -e p.csv ]
}
