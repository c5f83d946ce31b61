#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest step: from tables of epochs, logs, pipes and logs that grow.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
  cp "$TOP_SRCDIR"/data/examples/* .
  # 20 epochs whose energies and durations follow no simple rule.
  awk 'BEGIN { print "epoch,duration_s,energy_j"
    for (i = 0; i < 20; i++)
      printf "%d,%.3f,%.4f\n", i, 30 + (i * 7 % 5) * 0.1, 6000 + (i * 13 % 11) * 9 }' \
    >table.csv
}

# estimate METHOD KEY: of the JSON in out
estimate() {
  jq -r ".estimates[] | select(.method == \"$1\") | .$2" out
}

# close_to A B: equal to 1e-9
close_to() {
  awk -v a="$1" -v b="$2" 'BEGIN { d = a / b - 1; exit !(d < 1e-9 && d > -1e-9) }'
}

@test 'STEP-E, STEP-P and carbontracker as published' {
  gives 0 '' step table.csv --epochs 50 --stable 10 --window 5 --k 2 \
    --format json
  # Computed here from the formulas, not by dlest.
  e=$(awk -F, 'NR > 1 { if ($1 < 10) s += $3; else if ($1 < 15) w += $3 }
    END { printf "%.12f", s + (50 - 10) / 5 * w }' table.csv)
  close_to "$(estimate step-energy energy_j)" "$e"
  p=$(awk -F, 'NR > 1 { if ($1 < 10) t += $2
      else if ($1 < 15) { p += $3 / $2; d += $2 } }
    END { printf "%.12f", p / 5 * (t + (50 - 10) * d / 5) }' table.csv)
  close_to "$(estimate step-power energy_j)" "$p"
  c=$(awk -F, 'NR == 2 || NR == 3 { s += $3 }
    END { printf "%.12f", 50 * s / 2 }' table.csv)
  close_to "$(estimate carbontracker energy_j)" "$c"
}

@test 'a last row without a line end is not used where its number may lack digits' {
  printf '%s\n' epoch,duration_s,energy_j 0,120,36000 1,120,36000 2,120,36000 >cut.csv
  cp cut.csv whole.csv
  printf 3,120,36000 >>whole.csv # as those above it
  gives 0 '' step whole.csv --epochs 10 --format json
  check '.epochs_seen == 4 and .estimates[0].energy_j == 360000'
  printf 3,120,36 >>cut.csv
  gives 0 "dlest: warning: cut.csv:5: $(message last_line_not_used 'it is incomplete')" \
    step cut.csv --epochs 10 --format json
  check '.epochs_seen == 3 and .estimates[0].energy_j == 360000'
}

@test 'when the training ends, on the clock of the log or in local time' {
  # 300 W for 28 s and 60 W for 2 s: 10 of 40 epochs of 30 s end at BEGIN + 20 min
  steps() {
    awk -v begin="$1" -v zone="$2" 'BEGIN { print "timestamp,name,power.draw [W]"
      for (t = 0; t <= 300; t++) {
        s = begin + t
        printf "2024-03-05T%02d:%02d:%02d%s,A100,%d\n", s / 3600, s / 60 % 60,
          s % 60, zone, t % 30 < 28 ? 300 : 60 } }' >steps.csv
    printf 'epoch,end_time\n' >ends.csv
    awk -v begin="$1" -v zone="$2" 'BEGIN { for (i = 1; i <= 10; i++) {
        s = begin + 30 * i
        printf "%d,2024-03-05T%02d:%02d:%02d%s\n", i - 1, s / 3600,
          s / 60 % 60, s % 60, zone } }' >>ends.csv
  }
  ends() { # TZ TEXT
    TZ=$1 gives 0 '' step steps.csv ends.csv --epochs 40
    grep -q "^  Left .*15 min 00 s, ends about $2\$" out
  }
  steps $((10 * 3600 + 1)) ''
  ends UTC0 10:20
  ends CET-1 10:20
  steps $((10 * 3600 + 1)) Z
  ends UTC0 10:20
  ends CET-1 11:20
  steps $((23 * 3600 + 50 * 60 + 1)) ''
  ends UTC0 '2024-03-06 00:10'
  # a table of epochs has no clock
  gives 0 '' step table.csv --epochs 50
  ! grep -q 'ends about' out
}

@test 'a duration that is known takes the place of the projected one' {
  gives 0 '' step table.csv --epochs 50 --duration 2000s --format json
  p=$(awk -F, 'NR > 1 && $1 >= 10 && $1 < 15 { p += $3 / $2 }
    END { printf "%.12f", p / 5 * 2000 }' table.csv)
  close_to "$(estimate step-power energy_j)" "$p"
  [ "$(estimate step-power duration_from)" = given ]
}

@test 'only what was seen counts' {
  gives 0 '' step table.csv --epochs 50 --seen 4 --format json
  check '.epochs_seen == 4'
  [ "$(estimate step-energy energy_j)" = null ]
  refuses 3 "dlest: $(message step_method_lacks step-energy \
    'the window of stable epochs is not over yet' 'leave it out, or wait')" \
    step table.csv --epochs 50 --seen 4 --method step-energy,step-power
  refuses 3 "dlest: $(message step_method_lacks step 'no epoch is over yet' \
    'wait until one is')" step table.csv --epochs 50 --seen 0 --method step
  head -n 5 table.csv >four.csv
  gives 0 '' step four.csv --epochs 50 --format json
  close_to "$(estimate step energy_j)" "$("$DLEST" step table.csv --epochs 50 \
    --seen 4 --format json | jq '.estimates[0].energy_j')"
}

@test 'the interval holds the projection and shrinks as epochs come in' {
  for k in 4 8 16; do
    "$DLEST" step table.csv --epochs 50 --seen $k --format json |
      jq -r '.estimates[0] | select(.low_j < .energy_j and .energy_j < .high_j)
        | .high_j - .low_j' >>widths
  done
  [ "$(wc -l <widths)" -eq 3 ]
  sort -rn widths | diff - widths
}

# long.csv: ordinary epochs of 100 J in 10 s, every third one (2, 5, ...) of
# 200 J in 30 s, and a first epoch of 500 J in 50 s. Of 30 epochs 10 are long
# and 19 ordinary: 500 + 10 x 200 + 19 x 100 = 4400 J, 50 + 300 + 190 = 540 s.
long_epochs() {
  awk -v n="$1" 'BEGIN { print "epoch,duration_s,energy_j"
    for (i = 0; i < n; i++)
      print i (i == 0 ? ",50,500" : i % 3 == 2 ? ",30,200" : ",10,100") }'
}

@test 'every third epoch longer: as many of them as are to come' {
  for k in 7 8 9 10 11 12 15 20 29; do
    long_epochs $k >long.csv
    gives 0 '' step long.csv --epochs 30 --format json
    check '.evidence.pattern_every == 3 and .evidence.pattern_first == 2'
    check ".evidence.pattern_seen == $(((k) / 3))"
    near '.evidence.pattern_share' 1
    close_to "$(estimate step energy_j)" 4400
    close_to "$(estimate step duration_s)" 540
    check '.estimates[0] | .low_j <= 4400 and 4400 <= .high_j'
    # The duration known: 350 s after nine epochs, at 400 J in 50 s.
    [ $k -ne 9 ] || {
      gives 0 '' step long.csv --epochs 30 --duration 540s --format json
      close_to "$(estimate step energy_j)" 4400
    }
  done
  long_epochs 9 >long.csv
  gives 0 '' step long.csv --epochs 30
  grep -qx '  Pattern  1 of 3 epochs takes 100 % more energy (2, 5, ...; 3 seen)' out
}

@test 'a range of epochs: early stopping' {
  gives 0 '' step table.csv --epochs 20..60 --format json
  check '.epochs_low == 20 and .epochs_high == 60'
  # 20 are over: the training may stop now, or take three times as long.
  all=$(awk -F, 'NR > 1 { s += $3 } END { print s }' table.csv)
  check ".estimates[0].low_j <= $all * 1.01"
  check ".estimates[0].high_j >= $all * 2.9"
}

@test 'tables of other tools: units by name, one run of several' {
  awk -F, 'NR == 1 { print "mode,epoch,duration,energy_consumed"; next }
    { printf "a,%d,%s,%.17g\n", $1 + 1, $2, $3 / 3.6e6 }' table.csv >kwh.csv
  awk -F, 'NR > 1 { printf "b,%s,%s,%.17g\n", $2, $3, $4 * 2 }' kwh.csv >>kwh.csv
  refuses 3 "dlest: kwh.csv:22: $(message epoch_follows_epoch_several 1 20)" \
    step kwh.csv --epochs 50
  "$DLEST" step table.csv --epochs 50 --format json >plain
  "$DLEST" step kwh.csv --epochs 50 --where mode=a --format json >out
  close_to "$(estimate step-energy energy_j)" \
    "$(jq '.estimates[] | select(.method == "step-energy") | .energy_j' plain)"
  "$DLEST" step kwh.csv --epochs 50 --where mode=b --format json >out
  close_to "$(estimate step-energy energy_j)" \
    "$(jq '.estimates[] | select(.method == "step-energy") | .energy_j * 2' plain)"
}

@test 'a table without some epochs: the others stand for them' {
  table epoch,duration_s,energy_j 0,10,100 1,10,100 2,10,100 6,10,100
  gives 0 "dlest: warning: runs.csv:5: $(message epoch_follows_epoch 6 2)" \
    step runs.csv --epochs 10 --format json
  close_to "$(estimate step energy_j)" 1000
}

@test '--energy-column is the only column of energy' {
  # 20 epochs of 6 Wh and 30 s: 50 take 300 Wh
  awk 'BEGIN { print "epoch,duration_s,board_wh"
    for (i = 0; i < 20; i++) print i ",30,6" }' >board.csv
  gives 0 '' step board.csv --energy-column board_wh --epochs 50 --format json
  close_to "$(estimate step-energy energy_j)" 1080000
  refuses 3 "dlest: board.csv:1: $(message no_column gpu_kwh)" \
    step board.csv --energy-column gpu_kwh --epochs 50
}

@test "CodeCarbon's emissions.csv with a row an epoch" {
  { echo timestamp,project_name,run_id,duration,emissions,energy_consumed
    awk -F, 'NR > 1 { printf "2024-01-01T00:00:00,p,id%d,%s,0.1,%.17g\n", \
      $1, $2, $3 / 3.6e6 }' table.csv; } >emissions.csv
  gives 0 '' step emissions.csv --epochs 50 --format json
  check '.epochs_seen == 20'
  close_to "$(estimate step-energy energy_j)" "$("$DLEST" step table.csv \
    --epochs 50 --format json |
    jq '.estimates[] | select(.method == "step-energy") | .energy_j')"
}

@test "Eco2AI's table with a row an epoch" {
  { echo 'id,project_name,experiment_description,epoch,start_time,duration(s),power_consumption(kWh),CO2_emissions(kg),CPU_name,GPU_name,OS,region/country,cost'
    awk -F, 'NR > 1 { printf "a-1,demo,training,\"epoch: %d, loss: 0.8, \"," \
      "2023-10-24 18:%02d:00,%s,%.17g,0.1,Intel,Tesla T4 1 device(s)," \
      "Linux,US/Iowa,0\n", $1, NR, $2, $3 / 3.6e6 }' table.csv; } >eco2ai.csv
  gives 0 '' step eco2ai.csv --epochs 50 --format json
  check '.epochs_seen == 20'
  close_to "$(estimate step-energy energy_j)" "$("$DLEST" step table.csv \
    --epochs 50 --format json |
    jq '.estimates[] | select(.method == "step-energy") | .energy_j')"
}

@test 'planned phases: what has not begun makes the interval wide' {
  "$DLEST" step table.csv --epochs 100 --format json >plain
  "$DLEST" step table.csv --epochs 100 --phases 30,70 --format json >out
  wide=$(jq '.estimates[0] | .high_j / .low_j' out)
  known=$(jq '.estimates[0] | .high_j / .low_j' plain)
  awk -v a="$wide" -v b="$known" 'BEGIN { exit !(a > 2 * b) }'
  check '.reason == "a planned phase is to come whose level is unknown"'
}

@test 'people get the projection in 8 lines, the evidence on request' {
  gives 0 '' step gpu-7.csv memory-7.csv --epochs 90
  [ "$(wc -l <out)" -le 8 ]
  grep -qx 'gpu-7.csv: 12 of 90 epochs, steady since epoch 1' out
  ! grep -q 'steady state' out || false
  gives 0 '' step gpu-7.csv memory-7.csv --epochs 90 --details
  grep -q 'steady state since epoch  1' out
  gives 0 '' step gpu-7.csv memory-7.csv --epochs 90 --format json
  cp out brief.json
  gives 0 '' step gpu-7.csv memory-7.csv --epochs 90 --format json --details
  diff brief.json out
  gives 0 '' step table.csv --epochs 40..50
  grep -q '20 of 40 to 50' out
}

# power_log SECONDS: a log at 1 Hz, up to then. 8 s idle at 30 W; epochs of 3 s
# at 70 W and 17 s at 240 W; at the end of every third one a validation of
# $validation s at $watts W.
power_log() {
  awk -v end="$1" -v v="$validation" -v watts="$watts" 'BEGIN {
    print "timestamp, utilization.gpu [%], power.draw [W]"
    cycle = 3 * 20 + v
    for (t = 0; t < end; t++) {
      at = (t - 8) % cycle
      w = t < 8 ? 30 : at >= 60 ? watts : at % 20 < 3 ? 70 : 240
      printf "2024/03/05 %02d:%02d:%02d.000, %d %%, %.2f W\n", 9 + t / 3600,
        t / 60 % 60, t % 60, w / 2.5 + t * 7 % 5, w + t * 13 % 11 - 5 }
  }'
}

# 60 epochs: 60 x (3 x 70 + 17 x 240) J, 20 validations of 40 s, 8 s idle.
@test 'a validation every third epoch: three may look like one' {
  validation=40
  for watts in 240 180; do
    truth=$((60 * 4290 + 20 * 40 * watts + 240))
    power_log $((8 + 10 * 100 + 5)) >log.csv # 30 epochs and a bit
    try step log.csv --epochs 60 --format json
    [ "$status" -eq 0 ]
    n=$(jq .epochs_seen out) # whole ones of ten, from some place in them on
    [ "$n" -eq 9 ] || [ "$n" -eq 10 ]
    warning="dlest: warning: log.csv: $(message epochs_parts "$n" 3 20 100)"
    diff err - <<<"$warning"
    check '.epochs_verdict == "unsure" and .verdict == "not yet stable"'
    check ".estimates[0] | .low_j <= $truth and $truth <= .high_j"
    gives 0 '' step log.csv --epochs 60 --epoch-length 20s --format json
    check '.epochs_verdict == "sure" and .epochs_seen == 30'
    check '.evidence | .pattern_every == 3 and .pattern_first == 2'
    check ".estimates[0].energy_j / $truth | . > 0.98 and . < 1.02"
    check ".estimates[0] | .low_j <= $truth and $truth <= .high_j"
    # Told that the whole is an epoch: 20 of them.
    gives 0 '' step log.csv --epochs 20 --epoch-length 100s --format json
    check ".epochs_verdict == \"sure\" and .epochs_seen == $n"
    check ".estimates[0].energy_j / $truth | . > 0.98 and . < 1.02"
    try extract log.csv --find-epochs
    grep -q "$(message epochs_parts '[0-9]*' 3 20 100)" err
  done
  # None: epochs of 20 s.
  validation=0
  power_log 605 >log.csv
  gives 0 '' step log.csv --epochs 60 --format json
  check '.epochs_verdict == "sure" and (.epochs_seen | . == 29 or . == 30)'
}

# 20 epochs of 3 s at 70 W and 17 s at 240 W, 4290 J; the first compiles for
# 40 s at 120 W between the two; 8 s idle at 30 W before.
@test 'a slow first epoch counts once: table, marks and power alone' {
  truth=$((20 * 4290 + 40 * 120 + 240))
  for seen in 2 5 10; do
    awk -v end=$((8 + 40 + seen * 20 + 6)) 'BEGIN {
      print "timestamp, utilization.gpu [%], power.draw [W]"
      for (t = 0; t < end; t++) {
        at = t < 51 ? t - 8 : (t - 48) % 20
        w = t < 8 ? 30 : at % 60 < 3 ? 70 : t < 51 ? 120 : 240
        printf "2024-03-05 09:%02d:%02d.000, %d %%, %.2f W\n", 30 + t / 60,
          t % 60, w / 2.5 + t * 7 % 5, w + t * 13 % 11 - 5 } }' >slow.csv
    awk -v n=$seen 'BEGIN { print "epoch,end_time"
      for (i = 1; i <= n; i++) {
        t = 48 + i * 20
        printf "%d,2024-03-05 09:%02d:%02d\n", i - 1, 30 + t / 60, t % 60 } }' \
      >ends.csv
    awk -v n=$seen 'BEGIN { print "epoch,duration_s,energy_j"
      for (i = 0; i < n; i++)
        print i (i ? ",20,4290" : ",60,9090") }' >epochs.csv
    gives 0 '' step epochs.csv --epochs 20 --format json
    check ".estimates[0].energy_j / ($truth - 240) | . > 0.999 and . < 1.02"
    gives 0 '' step slow.csv ends.csv --epochs 20 --format json
    check ".epochs_seen == $seen"
    check ".estimates[0].energy_j / $truth | . > 0.99 and . < 1.02"
    [ $seen -gt 2 ] || continue # too few to be found
    # The compilation may be an epoch of its own.
    gives 0 '' step slow.csv --epochs 20 --format json
    check ".epochs_seen - $seen | . == 0 or . == 1"
    check ".estimates[0].energy_j / $truth | . > 0.95 and . < 1.02"
    check ".estimates[0] | .low_j <= $truth and $truth <= .high_j"
  done
}

@test 'a pipe gives what the file gives' {
  "$DLEST" step gpu-7.csv --epochs 90 --format json | jq .estimates >file
  "$DLEST" step - --epochs 90 --format json <gpu-7.csv | jq .estimates >pipe
  diff file pipe
}

@test 'a log that grows is followed to its end' {
  { head -n 200 gpu-7.csv; sleep 1; tail -n +201 gpu-7.csv; sleep 1; } |
    "$DLEST" step - --epochs 90 --follow --every 0.3s --format json >out 2>err
  check '.epochs_seen == 12'
  grep -q ' of 90 epochs: ' err
}

@test 'an interrupt ends with the last result' {
  cp gpu-7.csv grows.csv
  "$DLEST" step grows.csv --epochs 90 --follow --every 0.2s --format json \
    >out 2>err &
  pid=$!
  sleep 1
  kill -INT $pid
  wait $pid
  check '.epochs_seen == 12'
}

@test 'all epochs over: the training has ended' {
  timeout 20 "$DLEST" step gpu-7.csv --epochs 12 --follow --format json \
    >out 2>err
  check '.epochs_seen == 12'
  check '.estimates[0].energy_j > 0'
}

@test "energies of a table that no GPUs take are reported" {
  # 200 W for 60 s, 12 kJ, in columns of other units: J as kWh, kWh as J
  {
    echo epoch,duration_s,energy_kwh
    printf '%s,60,12000\n' {1..5}
  } >kwh.csv
  gives 0 "dlest: warning: kwh.csv: $(message power_of_table 7.20e+08 \
    duration_s energy_kwh)$(message or_add_gpus)" step kwh.csv --epochs 10
  {
    echo epoch,duration_s,energy_j
    printf '%s,60,0.00333\n' {1..5}
  } >j.csv
  gives 0 "dlest: warning: j.csv: $(message power_of_table 5.55e-05 \
    duration_s energy_j)" step j.csv --epochs 10
  # 400 GPUs take 120 kW
  {
    echo epoch,n_gpus,duration_s,energy_kwh
    printf '%s,400,60,2\n' {1..5}
  } >many.csv
  gives 0 '' step many.csv --epochs 10
  sed 's/,400,/,8,/' many.csv >few.csv
  gives 0 "dlest: warning: few.csv: $(message power_of_table 120000 \
    duration_s energy_kwh)" step few.csv --epochs 10
}

@test "running totals are no epochs" {
  # CodeCarbon, flushed after each epoch: 60 s and 0.0042 kWh each
  {
    echo run_id,duration,emissions,energy_consumed
    printf '%s\n' a,60,1,0.0042 a,120,2,0.0084 a,180,3,0.0126
  } >emissions.csv
  gives 0 '' step emissions.csv --epochs 10 --method carbontracker --format json
  near '.seen_energy_j' 45360 # 0.0126 kWh
  near '.seen_duration_s' 180
  near '.estimates[0].energy_j' 151200
  # a run of its own for each epoch
  sed 's/^a,120.*/b,60,2,0.0042/; s/^a,180.*/c,60,3,0.0042/' \
    emissions.csv >own.csv
  gives 0 '' step own.csv --epochs 10 --method carbontracker --format json
  near '.seen_energy_j' 45360
  {
    echo epoch,duration_s,energy_kwh
    printf '%s\n' 1,60,0.0033 2,61,0.0066 3,60,0.0099
  } >totals.csv
  gives 0 "dlest: warning: totals.csv: $(message running_total energy_kwh)" \
    step totals.csv --epochs 10
}

@test 'energies of parts beside that of the GPUs are said to be left out' {
  printf '%s\n' epoch,duration_s,gpu_energy_j,cpu_energy_j 1,100,20000,5000 \
    2,100,20000,5000 3,100,20000,5000 >parts.csv
  gives 0 "dlest: warning: parts.csv:1: $(message step_energy_of_part gpu_energy_j \
    cpu_energy_j)" step parts.csv --epochs 6 --details
  awk -F, '{ print $0, NR == 1 ? ",energy_j" : "," $3 + $4 }' OFS= parts.csv |
    tr -d ' ' >whole.csv
  gives 0 '' step whole.csv --epochs 6 --details
}
