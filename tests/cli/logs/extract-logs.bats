#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: what stands in logs - epochs, clocks that are set, jobs,
# settings - and logs that are broken or hostile.

load ../common
load logs

# noise FILE N: two GPUs whose powers, uses and times are uneven
noise() {
  awk -v n="$2" 'BEGIN { srand(7)
    print "timestamp, index, name, power.draw [W], utilization.gpu [%]"
    for (i = 0; i < n; i++) for (g = 0; g < 2; g++) printf \
      "2024-03-05 10:%02d:%02d.%03d, %d, A100, %.2f W, %d %%\n", i / 60,
      i % 60, rand() * 900, g, 100 + rand() * 200, rand() * 100 }' >"$1"
}

@test "Weights & Biases: the history of the stream 'events' as CSV" {
  cat >wandb.csv <<'END'
,system.cpu,system.gpu.0.powerPercent,system.proc.memory.percent,_runtime,system.gpu.0.memory,system.gpu.1.gpu,system.gpu.1.powerWatts,system.gpu.0.gpu,system.gpu.process.0.powerWatts,system.gpu.0.powerWatts,_timestamp,_wandb,system.memory,system.gpu.0.enforcedPowerLimitWatts
0,2.11,20.1,1.2,14.9,31,50.0,100.0,95.0,200.0,200.0,1684312345.25,True,57.9,400
1,2.11,20.1,1.2,29.9,31,50.0,120.0,97.0,210.0,210.0,1684312360.25,True,57.9,400
2,2.11,,1.2,44.8,,,,,,,1684312375.2,True,57.9,
3,2.11,20.1,1.2,44.9,31,56.0,130.0,99.0,220.0,220.0,1684312375.25,True,57.9,400
END
  gives 0 '' extract wandb.csv -f json
  # 15 s x (205 + 215) W and 15 s x (110 + 125) W
  check '.runs[0] | .n_gpus == 2 and .gpu_energy_j == 9825 and
    .duration_s == 30 and .start_time == "2023-05-17T08:32:25.250Z"'
  near '.runs[0].gpu_util' '(0.97 + 0.52) / 2'
}

# Epochs

# adds_up COLUMN...: over the parts of all epochs, bit for bit
adds_up() {
  for c; do
    jq -n --slurpfile e epochs.json --slurpfile r runs.json \
      "[\$r[0].runs[0].$c, (\$e[0].epochs | map(.$c) | add)]" >sums
    jq -e '.[0] == .[1] and .[0] > 0' sums || { echo "$c"; return 1; }
  done
}

@test "epochs by their ends add up to the run" {
  noise gpu.csv 600
  memory mem.csv 600 8123.7
  awk 'BEGIN { srand(5); for (i = 1; i <= 600; i++) printf \
    "%15.9f %15.2f Joules power/energy-pkg/\n", i + rand() / 1000,
    40 + rand() * 20 }' >perf.txt
  for i in 0 1 2 3 4 5 6; do
    printf '%d,2024-03-05 10:%02d:%02d.5\n' $i $((i + 1)) $((i * 7))
  done | sed '1i epoch,end_time' >ends.csv
  logs='gpu.csv mem.csv perf.txt ends.csv'
  gives 0 '' extract $logs -f json -o runs.json
  gives 0 '' extract $logs --epochs -f json -o epochs.json
  adds_up gpu_energy_j ram_energy_j cpu_energy_j energy_j
  check '.runs[0] | .epochs == 7 and .epochs_verdict == "given" and
    .boundary == "gpu+cpu+ram"' runs.json
  check '.epochs | map(.part) | . == [range(7) | "epoch"] + ["end"]' epochs.json
  check '.epochs | map(.epoch) == [0,1,2,3,4,5,6,null]' epochs.json
  check '[.epochs | .[:-1] as $a | .[1:] as $b | range($a | length) as $i |
    $a[$i].start_s + $a[$i].duration_s - $b[$i].start_s | fabs < 1e-9] | all' \
    epochs.json
  check '.epochs | all(.gpu_util > 0.3 and .gpu_util < 0.7)' epochs.json
}

@test "a sample is of the epoch that ends at it" {
  log gpu.csv 11 '100 + 10 * i'
  printf 'epoch,end_time\n0,2024-03-05 10:00:04\n1,2024-03-05 10:00:08.9\n' \
    >ends.csv
  gives 0 '' extract gpu.csv ends.csv --epochs -f csv
  is gpu_energy_j 480 # 100 .. 140 W
  is gpu_energy_j 640 2 # 140 .. 180 W
  is gpu_energy_j 380 3 # what is left
  is part end 3
  is gpu_power_w 125 # of the samples behind the first
  # seconds since the beginning
  printf 'epoch,end_s\n0,4\n1,8.9\n' >ends.csv
  cp out before
  gives 0 '' extract gpu.csv ends.csv --epochs -f csv
  cmp out before
}

# Four GPUs of 100, 110, 120 and 130 W, whose rows of a round are MS apart.
@test "epochs of several GPUs have the samples of all of them" {
  printf 'epoch,end_time\n' >ends.csv
  for i in 0 1 2 3; do
    printf '%d,2024-03-05 10:00:%02d\n' $i $((10 * i + 10)) >>ends.csv
  done
  for ms in 0 5 120; do
    awk -v ms=$ms 'BEGIN { print "timestamp, index, power.draw [W]"
      for (i = 0; i <= 40; i++) for (g = 0; g < 4; g++)
        printf "2024-03-05 10:00:%02d.%03d, %d, %.2f W\n", i, g * ms, g,
          100 + 10 * g }' >a.csv
    gives 0 '' extract --epochs a.csv ends.csv -f json
    check '[.epochs[].gpu_energy_j] == [4600, 4600, 4600, 4600]'
    check '[.epochs[].gpu_power_w] == [460, 460, 460, 460]'
  done
}

@test "epochs that end outside the trace" {
  log gpu.csv 21 100
  printf 'epoch,end_time\n%s\n' '0,2024-03-05 09:59:00' \
    '1,2024-03-05 10:00:05' >ends.csv
  gives 0 "dlest: warning: $(message ends_epochs_lie_before 1 2)" \
    extract gpu.csv ends.csv --epochs -f csv
  is gpu_energy_j 500
  is part end 2
  # the trace was stopped a little too early, or in the middle
  printf 'epoch,end_time\n%s\n' '0,2024-03-05 10:00:10' \
    '1,2024-03-05 10:00:20.9' >ends.csv
  gives 0 "dlest: warning: $(message trace_ends_before_last '900 ms')" \
    extract gpu.csv ends.csv --epochs -f csv
  is gpu_energy_j 1000 2
  [ "$(wc -l <out)" -eq 3 ]
  printf 'epoch,end_time\n%s\n' '0,2024-03-05 10:00:10' \
    '1,2024-03-05 10:00:40' >ends.csv
  gives 0 "dlest: warning: $(message ends_epochs_lie_behind 1 2)" \
    extract gpu.csv ends.csv --epochs -f csv
  is part end 2
  gives 0 "dlest: warning: $(message ends_epochs_lie_behind 1 2)" \
    extract gpu.csv ends.csv -f csv
  is epochs 1
}

@test "epochs in seconds since 1970 beside a clock on the wall" {
  log gpu.csv 3700 100
  for i in 0 1 2 3 4 5; do # of 10 minutes, where it is 09:00 UTC
    echo "$i,$((1709629200 + (i + 1) * 600)).25"
  done | sed '1i epoch,end_time' >ends.csv
  gives 0 "dlest: warning: ends.csv: $(message times_moved_by_h +1.00)" \
    extract gpu.csv ends.csv --epochs -f csv
  for i in 1 2 3 4 5 6; do is gpu_energy_j 60000 $i; done
  is gpu_energy_j 9900 7
}

@test "epochs found in the power" {
  log gpu.csv 1800 '(i % 60 < 50 ? 250 + i * 7 % 11 : 80 + i * 5 % 7)'
  gives 0 '' extract gpu.csv --find-epochs -f csv
  is epochs 30
  is epochs_verdict sure
  gives 0 '' extract gpu.csv -f csv
  is epochs ''
  gives 0 '' extract gpu.csv --find-epochs --epoch-length 1min -f csv
  is epochs 30
  gives 0 '' extract gpu.csv --find-epochs -f json -o runs.json
  gives 0 '' extract gpu.csv --epochs -f json -o epochs.json
  adds_up gpu_energy_j
  log gpu.csv 100 100
  gives 0 "dlest: warning: gpu.csv: $(message no_epochs_found \
    'the signals do not change')" \
    extract gpu.csv --epochs -f csv
  [ "$(wc -l <out)" -eq 1 ]
}

@test "epochs of three samples are never sure" {
  # 200 of them; each is too short for the search, which sees pairs
  log gpu.csv 600 '(i % 3 < 2 ? 250 + i * 7 % 11 : 120 + i * 5 % 7)'
  gives 0 "dlest: warning: gpu.csv: $(message epochs_unsure \
    'cycles of few samples may be several in one')" \
    extract gpu.csv --find-epochs -f csv
  is epochs_verdict unsure
}

# Clocks

# clock DATE FROM TO: 100 s at 100 W; from second 50 on the clock is TO
clock() {
  { echo "$HEADER"
    samples 100 100 | awk -v d="$1" -v from="$2" -v to="$3" '{
      split(NR <= 50 ? from : to, t, ":")
      s = t[1] * 3600 + t[2] * 60 + t[3] + (NR <= 50 ? NR - 51 : NR - 51)
      $2 = sprintf("%02d:%02d:%02d.000,", s / 3600, s / 60 % 60, s % 60)
      $1 = d; print }'
  } >a.csv
}

@test "daylight saving" {
  clock 2024-10-27 03:00:00 02:00:00
  gives 0 "dlest: warning: a.csv:52: $(message clock_set_back_by)" \
    extract a.csv -f csv
  is gpu_energy_j 9900
  is duration_s 99
  clock 2024-03-31 02:00:00 03:00:00
  gives 0 "dlest: warning: a.csv:52: $(message clock_set_ahead_by)" \
    extract a.csv -f csv
  is gpu_energy_j 9900
  clock 2024-03-27 02:00:00 03:00:00
  gives 0 "dlest: warning: a.csv:52: $(message gap '1 h 00 min' bridged)" \
    extract --gaps bridge a.csv -f csv
  is gpu_energy_j 369900
}

@test "a clock that was set, logs one behind the other" {
  clock 2024-03-05 11:00:00 10:50:00
  gives 0 "dlest: warning: a.csv:52: $(message clock_set_back_by_carried \
    '9 min 59 s' '1.00 s')" \
    extract a.csv -f csv
  is gpu_energy_j 9900
  { echo "$HEADER"; samples 50 100 5000; echo "$HEADER"; samples 50 100
  } >a.csv
  gives 0 "dlest: warning: a.csv:53: $(message clock_set_back_by_carried \
    '1 h 24 min' '1.00 s')" \
    extract a.csv -f csv
  is gpu_energy_j 9900
  is start_time 2024-03-05T11:23:20
}

@test "times of day alone" {
  printf 'timestamp,power.draw [W]\n%s\n' '23:59:58.5,100 W' >a.csv
  printf '%s,100 W\n' 23:59:59.5 0:00:00.5 0:00:01.5 >>a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 300
  is start_time ''
  printf 'timestamp,cpu usage (%%),memory usage (MB)\n' >m.csv
  printf '2024-03-%s,25,8000\n' '05 23:59:58' '05 23:59:59' '06 00:00:00' \
    '06 00:00:01' >>m.csv
  gives 0 '' extract a.csv m.csv -f csv
  is energy_j 309
}

@test "logs of one run in different zones" {
  log gpu.csv 61 100
  memory mem.csv 61 8000
  sed -i 's/ 10:/ 08:/' mem.csv
  gives 0 "dlest: warning: mem.csv: $(message times_moved_by_h +2.00)" \
    extract gpu.csv mem.csv -f csv
  is ram_energy_j 180
}

# Jobs, settings, fits

@test "a scheduler's jobs and the GPUs: the rest of the node" {
  log gpu-4711.csv 601 200
  cat >sacct.txt <<'END'
JobIDRaw|JobName|User|State|Start|ElapsedRaw|ConsumedEnergyRaw|NNodes|NCPUS|AllocTRES
4711|train|me|COMPLETED|2024-03-05T10:00:00|600|300000|1|16|cpu=16,node=1
4712|other|me|COMPLETED|2024-03-05T11:00:00|60|20000|1|16|cpu=16,node=1
END
  for logs in 'sacct.txt gpu-4711.csv' 'gpu-4711.csv sacct.txt'; do
    gives 0 '' extract $logs -f json
    check '.runs | map(.run_id) == ["4711", "4712"]'
    check '.runs[0] | .rest_energy_j == 180000 and .gpu_energy_j == 120000 and
      .energy_j == 300000 and .boundary == "node" and .n_gpus == 1'
    check '.runs[1] | .rest_energy_j == null and .energy_j == 20000'
  done
  # the GPU's epochs are the job's, whose node was metered as a whole
  printf 'epoch,end_s\n0,300\n1,600\n' >ends-4711.csv
  gives 0 "dlest: warning: sacct.txt: $(message no_epochs_in_this)" \
    extract --epochs sacct.txt gpu-4711.csv ends-4711.csv -f json
  check '.epochs | map(.gpu_energy_j) == [60000, 60000]'
  check '.epochs | all(.run_id == "4711" and .energy_j == null)'
}

@test "settings: --set before the table before the path" {
  mkdir -p vgg16 resnet50
  log vgg16/gpu-1.csv 11 100
  log resnet50/gpu-1.csv 11 200
  printf 'arch,trace,batch_size,epochs\nvgg16,gpu-1.csv,16,1\n%s\n' \
    resnet50,gpu-1.csv,32,2 >t.csv
  gives 0 '' extract */gpu-1.csv --settings t.csv --set epochs=5 -f csv \
    --path-pattern '{dataset}/gpu-{batch_size}.csv'
  is arch resnet50
  is batch_size 32
  is epochs 5
  is dataset resnet50
  is arch vgg16 2
  is batch_size 16 2
  is epochs 5 2
  is dataset vgg16 2
  log x.csv 11 100
  gives 0 "dlest: warning: x.csv: $(message no_row_in t.csv)
dlest: warning: x.csv: $(message does_not_match_path)" \
    extract x.csv --settings t.csv --path-pattern 'gpu-{epochs}.csv'
  echo 'resnet50,gpu-1.csv,many,2' >>t.csv
  gives 0 "dlest: warning: vgg16/gpu-1.csv: $(message invalid_number \
    "{epochs}" vgg16)
dlest: warning: resnet50/gpu-1.csv: $(message rows_in_none_taken 2 t.csv)
dlest: warning: resnet50/gpu-1.csv: $(message invalid_number "{epochs}" \
    resnet50)" \
    extract vgg16/gpu-1.csv resnet50/gpu-1.csv --settings t.csv \
    --path-pattern '{epochs}/gpu-{run_id}.csv'
}

@test "dlest fit takes what dlest extract gives" {
  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    b=$((i % 4 * 16 + 16))
    log "resnet50-b$b-$i.csv" $((100 + i)) $((100 + b))
  done
  gives 0 '' extract ./*-b*.csv --set epochs=10 --set train_samples=1000 \
    --path-pattern '{arch}-b{batch_size}-{run_id}.csv' -f csv -o runs.csv
  gives 0 '' fit runs.csv -o m.xml --format json
  check '[.fits[] | .target, .n] == ["gpu_power_w", 12, "epoch_energy_j", 12,
    "epoch_s", 12]'
  gives 0 '' fit runs.csv --target gpu_power_w --features batch_size \
    --method ols --no-model --cv none --no-scale --format json
  near '.fits[0].intercept' 100
  near '.fits[0].features[0].coefficient' 1
}

# Broken and hostile

@test "line ends, blank lines, a mark of order, the header once more" {
  log a.csv 21 100
  gives 0 '' extract a.csv -f csv
  sed 's/,a.csv$//' out >want
  sed 's/$/\r/' a.csv >crlf.csv
  sed 's/$/\n/' a.csv >blank.csv
  { printf '\357\273\277'; cat a.csv; } >bom.csv
  sed "10i $HEADER" a.csv >header.csv
  for f in crlf blank bom header; do
    gives 0 '' extract $f.csv -f csv --set run_id=a
    sed "s/,$f.csv\$//" out | diff -u want -
  done
}

@test "lines that cannot be used are reported, counted, skipped" {
  log a.csv 21 100
  sed -i '5s/, 50 %//; 6s/100.00/1e308/; 7s/100.00/-5/; 8s/50 %/9999 %/
    9s/2024-03-05/2024-02-30/; 10s/100.00 W/[N\/A]/; 11s/100.00 W/100.00 kg x/
    12s/2024/0001/' a.csv
  gives 3 "dlest: warning: a.csv:5: $(message expected_fields_found 5 4)
dlest: warning: a.csv:6: $(message impossible "power of 1e+308 W")
dlest: warning: a.csv:7: $(message impossible "power of -5 W")
dlest: warning: a.csv:8: $(message impossible "utilisation of 9999 %")
dlest: warning: a.csv:9: $(message column_invalid_time timestamp \
    "2024-02-30 10:00:07.000")
dlest: warning: a.csv:11: $(message column_invalid_number power.draw \
    "100.00 kg x")
dlest: warning: a.csv:12: $(message column_invalid_time timestamp \
    "0001-03-05 10:00:10.000")
dlest: $(message row_skipped 7 s)" extract a.csv -f csv
  is gpu_energy_j 2000
  is samples 14
}

@test "a log backwards, every line twice" {
  log a.csv 41 100
  { head -1 a.csv; sed 1d a.csv | tac; } >back.csv
  gives 0 '' extract back.csv -f csv
  is gpu_energy_j 4000
  sed 'p' a.csv >twice.csv
  gives 0 '' extract twice.csv -f csv
  is gpu_energy_j 4000
  is missing 0
  log a.csv 200 100
  { head -1 a.csv; sed 1d a.csv | tac; } >back.csv
  try extract back.csv
  [ "$status" -eq 3 ]
  grep -qE "^dlest: back.csv:[0-9]+: $(message log_not_in_order)" err
}

@test "eight GPUs without a column that distinguishes them" {
  awk 'BEGIN { print "timestamp, power.draw [W]"
    for (i = 0; i < 100; i++) for (g = 0; g < 8; g++)
      printf "2024-03-05 10:%02d:%02d.%03d, %d.00 W\n", i / 60, i % 60,
        g * 3, 100 + g }' >a.csv
  gives 0 "dlest: warning: a.csv:1: $(message gpus_distinguished_by 8)" extract a.csv -f csv
  is n_gpus 8
  is gpu_energy_j 81972 # 99 s at 100 + ... + 107 W
  is gpu_power_w 828
}

@test "one broken name of a board does not make the others unknown" {
  log a.csv 21 100
  sed -i '9s/, 0, /, 0x, /' a.csv
  gives 0 "dlest: warning: a.csv: $(message meter_left_out_one 0x)" \
    extract a.csv -f csv
  is gpu_energy_j 2000
  is n_gpus 1
}

@test "a board a line" {
  awk 'BEGIN { print "timestamp, uuid, power.draw [W]"
    for (i = 0; i < 20000; i++) printf \
      "2024-03-05 10:00:%02d.000, GPU-%06d, 100.00 W\n", i / 400, i }' >a.csv
  try extract a.csv
  [ "$status" -eq 3 ]
  grep -q "^dlest: warning: a.csv:1026: $(message more_than_meters_in 1024)" err
}

@test "names of logs with blanks, quotes, line ends" {
  mkdir -p 'my "runs", π'
  for name in 'my "runs", π/a b,c"d.csv' $'line\nend.csv' $'esc\033[31m.csv' \
    ' .csv' '--help.csv'; do
    log "./$name" 11 100
    gives 0 '' extract -f json -- "./$name"
    jq -e --arg f "./$name" '.runs[0].file == $f' out
    gives 0 '' extract -f csv -- "./$name"
  done
  try extract $'no\033\nsuch.csv'
  [ "$(wc -l <err)" -eq 1 ]
  [ "$(tr -d '[:print:]\n' <err | tr -d '\357\277\275' | wc -c)" -eq 0 ]
}

@test "a decimal comma changes nothing" {
  noise a.csv 30
  "$DLEST" extract a.csv -f csv >plain
  needs_decimal_comma
  gives 0 '' extract a.csv -f csv
  cmp out plain
}

@test "memory does not grow with the log" {
  [ -x /usr/bin/time ] || skip 'no /usr/bin/time'
  ! ldd "$DLEST" | grep -q libasan || skip 'a sanitizer takes its own memory'
  { echo "$HEADER"; samples 43200 100 | sed 'p;p;p;p;p;p;p;p'; } >a.csv
  /usr/bin/time -f %M -o kb "$DLEST" extract a.csv -f csv >out
  is duration_s 43199
  [ "$(cat kb)" -lt 16384 ]
}
