#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: options, formats, exit statuses. The logs are made so that
# energies follow by hand: constant powers, ramps.

load ../common
load logs

@test "a constant power" {
  log a.csv 61 150
  gives 0 '' extract a.csv --format json
  check '.runs | length == 1'
  check '.runs[0] | .gpu_energy_j == 9000 and .energy_j == 9000 and
    .gpu_power_w == 150 and .gpu_peak_w == 150 and .gpu_util == 0.5 and
    .duration_s == 60 and .samples == 61 and .interval_s == 1 and
    .missing == 0 and .n_gpus == 1'
  check '.runs[0] | .run_id == "a" and .file == "a.csv" and .gpu == "A100" and
    .boundary == "gpu" and .format == "nvidia-smi" and
    .start_time == "2024-03-05T10:00:00" and .node_energy_j == null'
  gives 0 '' extract a.csv
  grep -q '^a .* 1 min 00 s .* 150 .* 0.00250 ' out
}

# runs ENERGY,BOUNDARY...: a table of runs of 100 s, in runs.csv
runs() {
  echo run_id,gpu,duration_s,energy_j,boundary >runs.csv
  printf '%s\n' "$@" | sed 's/^/r,a100,100,/' >>runs.csv
}

# below LINE: the last line that people read
below() {
  gives 0 '' extract runs.csv
  [ "$(tail -n 1 out)" = "$1" ]
}

@test "sums stand below several runs, of one boundary only" {
  runs 3600000,gpu 1800000,gpu
  below '2 runs, 1.50 kWh, GPUs alone'
  gives 0 '' extract runs.csv -f json
  check '(.runs | map(.energy_j) | add) == 5400000 and
    keys == ["dlest", "runs", "schema", "warnings"]'
  gives 0 '' extract runs.csv -f csv
  [ "$(wc -l <out)" -eq 3 ]
  runs 3600000,gpu ,gpu 1800000,gpu
  below '3 runs, 1.50 kWh, GPUs alone; the energy of 1 is unknown'
  runs 3600000,gpu 1800000,node
  below '2 runs; their boundaries differ: energies are not added up'
  runs 3600000,gpu
  gives 0 '' extract runs.csv
  ! grep -q '1 run' out
}

@test "a ramp, and whole watts only" {
  log a.csv 101 '100 + i / 4' # 100 .. 125 W
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 11250
  gives 0 '' extract a.csv -f csv --truncate-watts
  is gpu_energy_j 11212.5 # 3 of 4 samples lose 3/8 W on average
}

@test "CSV and JSON have the same columns, those of the runs table first" {
  log a.csv 3 100
  gives 0 '' extract a.csv -f csv --set lr=0.1 --set machine=me
  head -1 out | tr , '\n' >columns
  gives 0 '' extract a.csv -f json --set lr=0.1 --set machine=me
  jq -r '.runs[0] | keys_unsorted[]' out | diff -u - columns
  [ "$(tail -2 columns | tr '\n' ' ')" = 'lr machine ' ]
  known="run_id,arch,gpu,n_gpus,phase,framework,precision,batch_size,image_px"
  known="$known,seq_len,train_samples,val_samples,epochs,macs_g,params_m"
  known="$known,acts_m,ram_gb,duration_s,epoch_s,gpu_power_w,gpu_util"
  known="$known,gpu_energy_j,ram_energy_j,cpu_energy_j,node_energy_j,energy_j"
  known="$known,boundary,source"
  for c in ${known//,/ }; do grep -qx "$c" columns; done
  [ -z "$(sort columns | uniq -d)" ]
  check '.runs[0] | .lr == 0.1 and .machine == "me"'
}

@test "columns of epochs" {
  log a.csv 5 100
  printf 'epoch,end_time\n0,2024-03-05 10:00:02\n' >ends.csv
  gives 0 '' extract --epochs a.csv ends.csv -f csv
  want=run_id,part,epoch,start_s,duration_s,gpu_power_w,gpu_util,gpu_energy_j
  want=$want,ram_energy_j,cpu_energy_j,node_energy_j,energy_j,boundary
  [ "$(head -1 out)" = "$want,epochs_verdict,file" ]
  gives 0 '' extract --epochs a.csv ends.csv -f json
  check '.epochs | map(.part) == ["epoch", "end"]'
}

@test "wrong usage" {
  log a.csv 3 100
  misused extract "$(message missing_argument "LOG, or --files-from" extract)"
  misused extract "$(message invalid_value gaps mend 'bridge or cut')" \
    --gaps mend a.csv
  misused extract "$(message unknown_log_format_see from smi)" --from smi a.csv
  for text in 0 -1 x nan 1e999 ''; do
    invalid extract "max-gap=$text" a.csv
    invalid extract "interval=$text" a.csv
    invalid extract "epoch-length=$text" a.csv
  done
  for text in -1 1.5 x '' 1000001 99999999999999999999999; do
    invalid extract "drop-last=$text" a.csv
  done
  refuses 2 "dlest: $(message set_expected_name_value lr)" extract --set lr a.csv
  refuses 2 "dlest: $(message invalid_number_2 "set n_gpus" two)" \
    extract --set n_gpus=two a.csv
  refuses 2 "dlest: $(message set_a_measured_column energy_j)" \
    extract --set energy_j=1 a.csv
  refuses 2 "dlest: $(message path_pattern_no_name x)" \
    extract --path-pattern x a.csv
}

@test "a folder: the pattern of the files in it" {
  mkdir -p one/two/three none
  refuses 3 "dlest: none: $(message is_a_directory)" extract none
  : >one/two/three/a.csv
  refuses 3 "dlest: one: $(message is_a_directory_give_files \
    'one/*/*/*.csv')" extract one
  : >one/two/gpu.log
  refuses 3 "dlest: one/: $(message is_a_directory_give_files 'one/*/*.log')" \
    extract one/
}

@test "refused input prints nothing" {
  for f in text csv json; do
    refuses 1 "dlest: a.csv: $(message cannot_open \
    'No such file or directory')" \
      extract a.csv -f $f
    : >e.csv
    refuses 3 "dlest: e.csv: $(message empty_file)" extract e.csv -f $f
    refuses 3 "dlest: .: $(message is_a_directory_give_files './*.csv')" \
      extract . -f $f
    refuses 3 "dlest: /dev/null: $(message empty_file)" extract /dev/null -f $f
    log h.csv 0 100
    refuses 3 "dlest: warning: h.csv: $(message no_samples)
dlest: $(message row_skipped 1 '')
dlest: $(message no_runs_in 'this log')" extract h.csv -f $f
    log o.csv 1 100
    refuses 3 "dlest: warning: o.csv: $(message one_sample_only_nothing)
dlest: $(message row_skipped 1 '')
dlest: $(message no_runs_in 'this log')" extract o.csv -f $f
    echo roses are red >poem.txt
    refuses 3 "dlest: poem.txt: $(message no_importer_knows_this)" extract poem.txt -f $f
    printf '\037\213\010zipped' >z.csv
    refuses 3 "dlest: z.csv: $(message compressed_pass_through zcat)" extract z.csv
  done
}

@test "what may not be read" {
  [ "$(id -u)" -ne 0 ] || skip 'root may read everything'
  log a.csv 3 100
  chmod 0 a.csv
  refuses 1 "dlest: a.csv: $(message cannot_open 'Permission denied')" extract a.csv
}

@test "a bad log among good ones" {
  log a.csv 11 100
  log b.csv 11 200
  : >e.csv
  gives 3 "dlest: warning: none.csv: $(message cannot_open \
    'No such file or directory')
dlest: warning: e.csv: $(message empty_file)
dlest: $(message row_skipped 2 s)" extract a.csv none.csv e.csv b.csv -f csv
  is gpu_energy_j 1000
  is gpu_energy_j 2000 2
  [ "$(wc -l <out)" -eq 3 ]
  try extract a.csv none.csv -f json
  [ "$status" -eq 3 ]
  check '.warnings == ["none.csv: cannot open: No such file or directory"]'
}

@test "--strict writes nothing" {
  log a.csv 11 100
  gives 0 '' extract --strict a.csv
  printf 'cut off' >>a.csv
  message="dlest: warning: a.csv:13: $(message last_line_not_used \
    'it is incomplete')"
  gives 0 "$message" extract a.csv
  refuses 3 "$message
dlest: $(message warning_with_strict_nothing 1 "")" extract --strict a.csv
  echo old >o.csv
  try extract -S a.csv -o o.csv
  [ "$status" -eq 3 ]
  [ "$(cat o.csv)" = old ]
  gives 0 '' extract -q a.csv -o o.csv -f csv
  cp o.csv out
  is gpu_energy_j 1000
}

@test "standard input and output" {
  log a.csv 11 100
  memory m.csv 11 8000
  gives 0 '' extract - -f json <a.csv
  check '.runs[0] | .file == "<stdin>" and .run_id == null and
    .gpu_energy_j == 1000'
  gives 0 '' extract a.csv - -f json <m.csv
  check '.runs | length == 1 and (.[0].ram_energy_j == 30)'
  gives 0 '' extract - m.csv -f json -o - <a.csv
  check '.runs | length == 1 and (.[0].ram_energy_j == 30)'
  gives 3 "dlest: warning: <stdin>: $(message empty_file)
dlest: $(message row_skipped 1 '')" extract - - -f csv <a.csv
  is gpu_energy_j 1000
  gives 1 "dlest: <output>: $(message cannot_write 'No space left on device')" \
    extract a.csv -o /dev/full
}

@test "pipes are read once" {
  log a.csv 11 100
  memory m.csv 11 8000
  mkfifo gpu mem
  # Writers that nobody reads must not wait for ever; 3 is bats's own output.
  timeout 20 awk '{ print; fflush() }' a.csv >gpu 3>&- &
  timeout 20 cat m.csv >mem 3>&- &
  gives 0 '' extract gpu mem -f csv --drop-last 1
  is gpu_energy_j 900
  is ram_energy_j 27
  gives 0 '' extract <(cat a.csv) -f csv
  is gpu_energy_j 1000
}

@test "rows are in the order of the arguments, for any number of threads" {
  for i in $(seq 40); do log "gpu-$i.csv" $((400 - i * 9)) $((100 + i)); done
  shuffled=$(seq 40 | awk '{ print $1 * 7 % 41, "gpu-" $1 ".csv" }' |
    sort -n | cut -d' ' -f2)
  for threads in 1 2 4; do
    OMP_NUM_THREADS=$threads "$DLEST" extract $shuffled -f csv >$threads.out
    cmp 1.out $threads.out
  done
  diff -u <(echo "$shuffled") <(sed 1d 1.out | awk -F, '{ print $NF }')
  echo "$shuffled" >names
  gives 0 '' extract --files-from names -f csv
  cmp 1.out out
  gives 0 '' extract gpu-1.csv --files-from - -f csv <<<'gpu-2.csv'
  is run_id gpu-1
  is run_id gpu-2 2
}

@test "--files-from" {
  log a.csv 11 100
  printf '\r\na.csv\r\n\n' >names
  gives 0 '' extract --files-from names -f csv
  is gpu_energy_j 1000
  : >names
  refuses 3 "dlest: names: $(message no_names_logs)" extract --files-from names
  refuses 1 "dlest: none: $(message cannot_open 'No such file or directory')" \
    extract --files-from none
}

@test "a log that was cut off anywhere" {
  python3 -B "$BATS_TEST_DIRNAME/cut_logs.py" "$DLEST" log
}

@test "a table that was cut off anywhere" {
  python3 -B "$BATS_TEST_DIRNAME/cut_logs.py" "$DLEST" table
}

# The last line counts where it ends as those above it do, and of tables of runs
# with a warning where its last value may lack digits.
@test "a last line without a line end" {
  cut() { message last_line_not_used 'it is incomplete'; }
  printf '%s\n' timestamp,gpu_power_w 0,100.5 1,99.5 2,100.5 >a.csv
  for last in 100.5 9.5 0.5; do
    { cat a.csv; printf 3,%s "$last"; } >b.csv
    gives 0 '' extract b.csv -f csv
    is duration_s 3
  done
  for last in 100. 100 1 100.25 '' N/A; do
    { cat a.csv; printf 3,%s "$last"; } >b.csv
    gives 0 "dlest: warning: b.csv:5: $(cut)" extract b.csv -f csv
    is duration_s 2
  done
  printf '%s\n' gpu_power_w,timestamp 100,2024-03-05T10:00:08 \
    100,2024-03-05T10:00:09 >a.csv
  { cat a.csv; printf 100,2024-03-05T10:00:10; } >b.csv
  gives 0 '' extract b.csv -f csv
  is duration_s 2
  { cat a.csv; printf 100,2024-03-05T10:00:1; } >b.csv
  gives 0 "dlest: warning: b.csv:4: $(cut)" extract b.csv -f csv
  is duration_s 1
}

@test "a last job or run without a line end" {
  local job='2024-03-01T10:00:00|2024-03-01T11:00:00|COMPLETED'
  printf '%s\n' 'JobID|NNodes|ElapsedRaw|Start|End|State|ConsumedEnergyRaw' \
    "1|1|3600|$job|3600000" >a.txt
  { cat a.txt; printf %s "2|1|3600|$job|7200000"; } >b.txt
  gives 0 '' report b.txt -f json
  check '.total.energy_j == 10800000'
  { cat a.txt; printf %s "2|1|3600|$job|720000"; } >b.txt
  gives 0 "dlest: warning: b.txt:3: $(message last_line_without_end 720000)" \
    report b.txt -f json
  check '.total.energy_j == 4320000'
  { cat a.txt; printf %s "2|1|3600|$job"; } >b.txt
  gives 0 "dlest: warning: b.txt:3: $(message last_line_not_used \
    'it is incomplete')" report b.txt -f json
  check '.total.energy_j == 3600000'
  printf '%s\n' run_id,duration_s,energy_j,boundary a,10,1000,gpu+ram >a.csv
  { cat a.csv; printf b,10,2000,gpu+ram; } >b.csv
  gives 0 '' extract b.csv -f csv
  is energy_j 2000 2
  { cat a.csv; printf b,10,2000,gpu; } >b.csv
  gives 0 "dlest: warning: b.csv:3: $(message last_line_without_end gpu)" \
    extract b.csv -f csv
  is energy_j 2000 2
}

@test "--drop-last counts lines, a cut-off one among them" {
  log a.csv 11 100
  printf '2024-03-05 10:0' >>a.csv
  gives 0 '' extract a.csv --drop-last 1 -f csv
  is samples 11
  gives 0 '' extract a.csv --drop-last 3 -f csv
  is samples 9
  try extract a.csv --drop-last 11 -f csv
  [ "$status" -eq 3 ]
  refuses 3 "dlest: warning: a.csv: $(message no_samples)
dlest: $(message row_skipped 1 '')
dlest: $(message no_runs_in 'this log')" extract a.csv --drop-last 1000000
}

@test "gaps" {
  { echo "$HEADER"; samples 21 100; samples 21 300 80; } >a.csv
  gives 0 "dlest: warning: a.csv:23: $(message gap '1 min 00 s' bridged)" \
    extract a.csv -f csv
  is gpu_energy_j 20000 # 2000 + 60 x 200 + 6000
  is duration_s 100
  gives 0 "dlest: warning: a.csv:23: $(message gap '1 min 00 s' cut)" \
    extract --gaps cut a.csv -f csv
  is gpu_energy_j 8000
  gives 0 '' extract --max-gap 60s --gaps cut a.csv -f csv
  is gpu_energy_j 20000
  gives 0 '' extract --max-gap 1e300s a.csv -f csv
  gives 0 "dlest: warning: a.csv:23: $(message gap '1 min 00 s' bridged)" \
    extract --max-gap 59.9s --gaps bridge a.csv
}

@test "companions are joined, unless an option forbids it" {
  log gpu-7.csv 11 100
  memory mem-7.csv 11 8000 # 3 W
  gives 0 '' extract mem-7.csv gpu-7.csv -f csv
  [ "$(wc -l <out)" -eq 2 ]
  is ram_energy_j 30
  is energy_j 1030
  is ram_power_w 3
  is cpu_util 0.25
  is boundary gpu+ram
  gives 0 '' extract --no-join gpu-7.csv mem-7.csv -f csv
  [ "$(wc -l <out)" -eq 3 ]
  is energy_j 1000
  is boundary ram 2
  is energy_j 30 2
}

@test "a memory log that begins late, stops early, is of another day" {
  log gpu.csv 101 100
  { head -1 <<<'timestamp,cpu usage (%),memory usage (MB)'
    for s in 22 23 24 25; do echo "2024-03-05 10:00:$s.000,25,8000"; done
  } >mem.csv
  gives 0 "dlest: warning: mem.csv: $(message begins_later_than_gpu 21 s)
dlest: warning: mem.csv: $(message no_sample_within_gpu 74 s)" extract gpu.csv mem.csv -f csv
  is samples 80
  is gpu_energy_j 7900
  is ram_energy_j 237
  sed 's/2024-03-05/2024-03-04/' mem.csv >old.csv
  try extract gpu.csv old.csv -f csv
  is gpu_energy_j 10000
}

@test "formats of all kinds in one call" {
  log gpu.csv 11 100
  memory mem.csv 11 8000
  echo 'timestamp,project_name,run_id,duration,emissions,energy_consumed,country_name
2024-03-05T10:00:00,p,r,10,0.1,0.001,Spain' >emissions.csv
  echo 'time_s,node_power_w
0,500
10,500' >node.csv
  try extract gpu.csv mem.csv emissions.csv node.csv -f csv --no-join
  [ "$status" -eq 0 ]
  is format nvidia-smi
  is format psutil 2
  is format codecarbon 3
  is energy_j 3600 3
  is format samples 4
  is node_energy_j 5000 4
}

@test "--from sets the log format" {
  log a.csv 11 100
  gives 0 '' extract --from nvidia-smi a.csv -f csv
  is gpu_energy_j 1000
  try extract -F psutil a.csv
  [ "$status" -eq 3 ]
  grep -q "^dlest: warning: a.csv:1: no columns 'timestamp'" err
}

@test "--interval is for logs without times" {
  printf '# gpu pwr gtemp\n# Idx W C\n' >d.txt
  for i in $(seq 11); do echo '    0   100   40'; done >>d.txt
  gives 0 "dlest: warning: $(message no_times_in_this d.txt)" \
    extract d.txt -f csv
  is gpu_energy_j 1000
  is start_time ''
  gives 0 '' extract d.txt -f csv --interval 0.5s
  is gpu_energy_j 500
  gives 0 '' extract d.txt -f csv --interval 1min
  is gpu_energy_j 60000
  refuses 3 "dlest: d.txt:4: $(message gap_of_days 4.63e+04)" \
    extract d.txt -f csv --interval 1e300s
}

@test "a board that does not report its power" {
  local none
  for none in '[N/A]' '[Not Supported]'; do
    { echo 'timestamp, power.draw [W], utilization.gpu [%]'
      for s in 1 2 3; do
        echo "2023/03/01 10:00:0$s.000, $none, 82 %"
      done; } >a.csv
    gives 0 "dlest: warning: a.csv: $(message no_power_in_any_sample 3)" \
      extract a.csv -f csv
  done
}
