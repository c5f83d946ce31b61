#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest report: jobs of a scheduler, their energy and idle GPUs.

load ../common

head='JobID|JobName|User|Account|Partition|State|ElapsedRaw|Start|NNodes|NCPUS|NTasks|TotalCPU|ConsumedEnergyRaw|AllocTRES|TRESUsageInAve'

# jobs LINE...: what sacct printed, in sacct.txt
jobs() { printf '%s\n' "$head" "$@" >sacct.txt; }

# A measured job, two that are not, one without GPUs, two that never ran.
usual() {
  jobs '1|a|ann|ml|gpu|COMPLETED|36000|2024-02-29T23:30:00|1|8||40:00:00|72000000|cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1|' \
    '1.batch|batch||ml||COMPLETED|36000|2024-02-29T23:30:00|1|8|1|40:00:00|71900000|cpu=8,gres/gpu=2|gres/gpuutil=150' \
    '1.extern|extern||ml||COMPLETED|36000|2024-02-29T23:30:00|1|8|1|0|72000000|cpu=8|cpu=0' \
    '2_4|b|bob|ml|gpu|CANCELLED by 7|3600|2024-03-01T00:00:00|1|4||0||gres/gpu:v100=1,node=1|' \
    '2_4.0|p||ml||CANCELLED|3600|2024-03-01T00:00:00|1|4|1|0||gres/gpu=1|gres/gpuutil=40' \
    '3+0|c|bob|bio|old|TIMEOUT|100|2024-03-02T00:00:00|2|4||0|0|gres/gpu=1|' \
    '4|d|cy|bio|cpu|RUNNING|1000|2024-03-03T00:00:00|1|64||0|0|cpu=64|' \
    '5|e|cy|bio|cpu|CANCELLED by 5|0|Unknown|1|64||0|0||' \
    '6|f|cy|bio|cpu|PENDING|0|Unknown|1|64||0|0||'
}

@test 'jobs: measured or estimated, and what was idle' {
  usual
  gives 0 '' report sacct.txt -q -f json --gpu old=v100 --core-power 2
  check '[.jobs[].run_id] == ["1", "2_4", "3+0", "4"]'
  check '.jobs[0] | .energy_j == 72e6 and .energy_from == "measured" and
    .boundary == "node" and .idle_gpu_share == 0.25 and .account == "ml"'
  # 300 W x 40 % x 1 h and 4 cores at 2 W
  check '.jobs[1] | .energy_j == (300 * 0.4 + 8) * 3600 and
    .energy_from == "gpu-use" and .boundary == "gpu+cpu" and
    .state == "CANCELLED"'
  near '.jobs[1].idle_gpu_share' 0.6
  check '.jobs[2] | .energy_j == 30800 and .energy_from == "gpu-tdp" and
    .gpu_util == null and .idle_gpu_share == null'
  check '.jobs[3] | .energy_j == 128e3 and .energy_from == "cores" and
    .boundary == "cpu" and .state == "RUNNING"'
  # 5 h of 20 h and 36 min of 1 h; 100 s are not told
  near '.total.idle_gpu_share' '(18000 + 2160) / (72000 + 3600)'
  near '.total.gpu_share_with_utilization' '75600 / 75700'
  check '.total | .jobs == 4 and .measured_jobs == 1 and
    .estimated_jobs == 3 and .unknown_jobs == 0 and .boundary == "mixed"'
  near '.total.energy_j' '72e6 + 460800 + 30800 + 128000'
  near '.total.measured_share' '72e6 / .total.energy_j'
}

@test 'Elapsed in seconds is refused: the column is ElapsedRaw' {
  printf '%s\n' 'JobID|State|Elapsed|AllocTRES' '7|COMPLETED|5400|gres/gpu=1' \
    '8|COMPLETED|01:30:00|gres/gpu=1' >sacct.txt
  try report sacct.txt -f json --gpu a100
  grep -q "sacct.txt:2: $(message column_elapsed_raw 5400)" err
  jq -e '[.jobs[].run_id] == ["8"]' out
}

@test 'Elapsed that is no duration is skipped, the words of Slurm are unknown' {
  printf '%s\n' 'JobID|State|Elapsed|ConsumedEnergyRaw' '1|FAILED|01:30:0x|60' \
    '2|FAILED|INVALID|70' '3|FAILED|UNLIMITED|80' '4|FAILED|00:01:00|90' \
    >sacct.txt
  try report sacct.txt -f json
  [ "$status" -eq 3 ]
  grep -q "sacct.txt:2: $(message column_elapsed 01:30:0x)\$" err
  grep -q "sacct.txt:3: $(message column_elapsed_unknown INVALID)" err
  jq -e '[.jobs[] | .run_id, .energy_j] == ["2", 70, "3", 80, "4", 90] and
    ([.jobs[].duration_s] == [null, null, 60])' out
}

@test 'durations that no job can have are left out' {
  # the start or the end was lost: 474,897.5 h since 1970; 24 h in an hour
  row() { echo "$1|$2|$3|$4|$5|billing=8,gres/gpu:a100=1|1000000"; }
  { echo 'JobID|State|ElapsedRaw|Start|End|AllocTRES|ConsumedEnergyRaw'
    row 1 RUNNING 1709631000 1970-01-01T00:00:00 Unknown
    row 2 COMPLETED 86400 2024-03-05T10:00:00 2024-03-05T11:00:00
    row 2.batch COMPLETED 3600 2024-03-05T10:00:00 2024-03-05T11:00:00
    row 3 COMPLETED 3600 2024-03-05T10:00:00 2024-03-05T11:00:00
  } >sacct.txt
  try report sacct.txt -f json
  [ "$status" -eq 0 ]
  check '[.jobs[].duration_s] == [null, 3600, 3600]'
  check '.total.gpu_s == 7200 and .total.energy_j == 3000000'
  grep -qF "sacct.txt:2: $(message job_elapsed_left 1 4.749e+05 '')" err
  grep -qF "sacct.txt:3: $(message job_elapsed_left 2 24 \
    ', 1 h from start to end')" err
  ! grep -qF 'job 3' err || false
}

@test 'rows at the end of a table of runs that cannot be used are reported' {
  local head=run_id,n_gpus,duration_s,energy_j n
  # blocks of 64 runs
  for n in 0 63 64 65 128; do
    { echo $head
      for i in $(seq "$n"); do echo "r$i,1,3600,250000"; done
      echo x,1,01:00:00,250000; } >runs.csv
    try report runs.csv -f json
    [ "$status" -eq 3 ]
    grep -q "runs.csv:$((n + 2)): $(message column_invalid_number duration_s \
      01:00:00)" err
    [ "$n" -eq 0 ] || jq -e ".total.jobs == $n" out
  done
}

@test 'the share of GPU time whose utilization is known' {
  usual
  gives 0 '' report sacct.txt -q --gpu old=v100 --core-power 2 --explain
  grep -qE '^ *GPU utilization known:? +99\.9 ?%' out # 75600 of 75700 s
}

@test 'months: a job belongs to the one in which it began' {
  usual
  gives 0 '' report sacct.txt -q -f json --country fr --pue 1.5 --price 0.2
  check '[.groups[] | .month, .jobs, .unknown_jobs] ==
    ["2024-02", 1, 0, "2024-03", 3, 1]'
  near '.groups[0].co2e_g' '20 * 1.5 * .intensity_g_kwh'
  near '.groups[0].cost' '20 * 1.5 * 0.2'
  near '.total.facility_energy_j' '.total.energy_j * 1.5'
  check '.intensity_year >= 2021 and (.intensity_source | test("Ember"))'
}

@test 'what estimates rest on: each figure with source and year' {
  usual
  gives 0 '' report sacct.txt -q -f json --gpu old=v100 --node-power cpu=350
  check '[.constants[] | [.name, .value]] ==
    [["node_power_w", 350], ["tdp_w", 300]]'
  check '.constants[0] | .of == "cpu" and .source == "given"'
  check '.constants[1] | (.of | test("V100")) and (.source | test("NVIDIA"))
    and .year >= 2016'
  jobs '1|a|ann|ml|gpu|COMPLETED|100|2024-02-29T23:30:00|1|8||0|0|gres/gpu:v100=2,mem=64G|'
  gives 0 '' report sacct.txt -q -f json
  check '.constants[1] | .name == "ram_w_per_gb" and .value == 0.3725 and
    .year == 2021 and (.source | test("Green Algorithms"))'
  # 2 x 300 W, and 64 GiB at 0.3725 W/GB
  near '.total.energy_j' '100 * (600 + 64 * 1.073741824 * 0.3725)'
}

@test 'people have kWh and GPU hours, below the jobs the sums' {
  cp "$TOP_SRCDIR/data/examples/sacct.txt" .
  gives 0 '' report sacct.txt -q --all
  # 32.4 MJ; 2 GPUs for 10 h
  grep -q '^1041 .* 9\.00  *measured  *node$' out
  grep -q '^  2024-02  *1  *20\.0  *12\.0  *9\.00 ' out
  # 2 x 10 h, 7260 s, 1800 s and 2 x 1.5 h
  grep -q '^  GPU time  *25\.5 h  ' out
  gives 0 '' report sacct.txt -q -f markdown --all --explain
  grep -q '^| 1041 ' out
  grep -q '^## Total$' out
  # by default no line of each job, and a screen is enough
  gives 0 '' report sacct.txt
  ! grep -q '^1041 ' out || false
  grep -q '^4 jobs, 2024-0[0-9]' out
  [ "$(fold -w 80 out | wc -l)" -le 22 ]
  gives 0 '' report sacct.txt --by job
  grep -q '^1041 ' out
  gives 0 '' report sacct.txt -q -f json
  near .total.gpu_h '2 * 10 + 7260 / 3600 + 0.5 + 2 * 1.5'
  near '.jobs[0].energy_kwh' 9
}

@test 'a node power goes over all else, but not over a meter' {
  usual
  gives 0 '' report sacct.txt -q -f csv --node-power 500 --node-power gpu=1500
  cut -d, -f1,16,18,19 out >some
  diff -u - some <<'END'
run_id,energy_j,energy_from,boundary
1,72000000,measured,node
2_4,5400000,node-power,node
3+0,100000,node-power,node
4,500000,node-power,node
END
}

@test 'users, accounts, dates' {
  usual
  gives 0 '' report sacct.txt -q -f csv --user ann,cy
  [ "$(cut -d, -f1 out | tr '\n' ' ')" = 'run_id 1 4 ' ]
  gives 0 '' report sacct.txt -q -f csv --account bio
  [ "$(cut -d, -f1 out | tr '\n' ' ')" = 'run_id 3+0 4 ' ]
  gives 0 '' report sacct.txt -q -f csv --since 2024-03-01 --until 2024-03-03
  [ "$(cut -d, -f1 out | tr '\n' ' ')" = 'run_id 2_4 3+0 ' ]
  gives 0 '' report sacct.txt -q -f csv --until 2024-03
  [ "$(cut -d, -f1 out | tr '\n' ' ')" = 'run_id 1 ' ]
  gives 0 '' report sacct.txt -q -f csv --since 2024-03-02T12:00:00
  [ "$(cut -d, -f1 out | tr '\n' ' ')" = 'run_id 4 ' ]
}

@test '--by: groups by energy, or by month' {
  usual
  gives 0 '' report sacct.txt -q -f csv --by user
  [ "$(cut -d, -f1,7 out | tr '\n' ' ')" = 'user,jobs ann,1 bob,2 cy,1 ' ]
  gives 0 '' report sacct.txt -q -f csv --by account,month
  [ "$(cut -d, -f2,6,7 out | tr '\n' ' ')" = \
    'account,month,jobs bio,2024-03,2 ml,2024-02,1 ml,2024-03,1 ' ]
  gives 0 '' report sacct.txt -q -f json --by partition
  check '(has("jobs") | not) and (.groups | length) == 3'
  gives 0 '' report sacct.txt -q -f json --by job
  check '(.jobs | length) == 4 and (has("groups") | not)'
}

@test 'requeued jobs, other layouts, several files, standard input' {
  jobs '1|a|ann|ml|gpu|REQUEUED|60|2024-02-01T00:00:00|1|8||0|600|cpu=8|' \
    '1|a|ann|ml|gpu|COMPLETED|90|2024-02-02T00:00:00|1|8||0|900|cpu=8|'
  printf '%s\n' 'Elapsed,State,JobID,ConsumedEnergy' '1-00:00:00,COMPLETED,7,1.5M' >b.txt
  gives 0 '' report sacct.txt b.txt -q -f json
  check '[.jobs[] | .duration_s, .energy_j] == [60, 600, 90, 900, 86400, 1500000]'
  "$DLEST" report - -q -f json <sacct.txt >in.json
  check '.total.energy_j == 1500' in.json
}

@test 'impossible energies are not measured' {
  jobs '1|a|ann|ml|gpu|COMPLETED|60|2024-02-01T00:00:00|1|8||0|4294967294|gres/gpu:v100=1|' \
    '2|a|ann|ml|gpu|COMPLETED|60|2024-02-01T00:00:00|1|8||0|99999999999|gres/gpu:v100=1|'
  gives 0 '' report sacct.txt -q -f json
  check '[.jobs[].energy_from] == ["gpu-tdp", "gpu-tdp"]'
}

@test 'a duration that is none is refused with its row' {
  jobs '1|a|ann|ml|gpu|COMPLETED|1-01:00:00|2024-02-01T00:00:00|1|8||0|700|cpu=8|' \
    '2|a|ann|ml|gpu|COMPLETED|60|2024-02-01T00:00:00|1|8||0|600|cpu=8|'
  gives 3 "dlest: warning: sacct.txt:2: $(message column_invalid_duration \
    ElapsedRaw 1-01:00:00)
dlest: $(message row_skipped 1 "")" report sacct.txt -f json
  check '[.jobs[].energy_j] == [600]'
}

@test 'tables of runs, and other logs with runs in them' {
  usual
  gives 0 '' extract sacct.txt -q -f csv -o runs.csv
  "$DLEST" report sacct.txt -q -f json >a.json
  "$DLEST" report runs.csv -q -f json >b.json
  diff -u a.json b.json
  table run_id,n_gpus,duration_s,energy_j 1,1,60,-5 2,1,60,6 3,1,60,7
  gives 3 "dlest: warning: runs.csv:2: $(message column_negative_number \
    energy_j -5)
dlest: $(message row_skipped 1 "")" report runs.csv --by job -f csv
  [ "$(wc -l <out)" -eq 3 ]
  cp "$TOP_SRCDIR/data/examples/gpu-7.csv" .
  refuses 3 "dlest: gpu-7.csv: $(message a_log_has_no nvidia-smi)" \
    report gpu-7.csv
}

@test 'text: jobs, months, the sum, sources, what it means' {
  usual
  gives 0 '' report sacct.txt -q --country fr --price 0.2EUR --all --explain
  grep -q '^job  *name  *user  *state  *began  *time  *GPUs  *idle GPUs  *energy' out
  grep -q '^2_4 .* 60.0 .*gpu-use' out
  grep -q '^By month$' out
  grep -q '^  with measured energy  *1$' out
  grep -q '^  of it measured  *99' out
  grep -q '^  cost  *[0-9.]* EUR$' out
  grep -q '^intensity in  *20' out
  grep -q '^  tdp_w  *300 .* W  .*NVIDIA V100' out
  grep -q '^  Unknown  *1 job  *other GPUs 1$' out
  grep -q '^  Basis  *boundaries differ$' out
  awk 'length > 200' out | grep -v '^intensity from' && return 1 || true
}

# 7.8125 W: 250 W for 32 cores, the median of the 564 CPUs of data/cpus.xml for
# servers by their TDP over their cores.
@test 'warnings: what has no energy and why; --strict refuses' {
  usual
  gives 0 "dlest: warning: $(message job_never_ran_left 1 "" is)
dlest: warning: $(message job_without_energy_accounting 1 "")
dlest: warning: $(message job_by_cores 1 "" 7.81)" \
    report sacct.txt --by user
  jobs '1|a|ann|ml|gpu|COMPLETED|60|2024-02-01T00:00:00|1|8||0|0|gres/gpu:zz9=1|' \
    '2|a|ann|ml|gpu|COMPLETED|60|Unknown|1|8||0|0|gres/gpu:zz9=1|'
  gives 0 "dlest: warning: $(message job_left_out_without 1 "" is)
dlest: warning: $(message job_without_energy_gpu 1 "" zz9 zz9)" \
    report sacct.txt --since 2024
  refuses 3 "dlest: $(message warning_with_strict_nothing 1 '')" \
    report sacct.txt --strict -q
  refuses 3 "dlest: $(message none_jobs_is_asked)" report sacct.txt --user nn -q
}

@test 'by state: what failed or was cancelled used' {
  usual
  gives 0 '' report sacct.txt -q -f json --by state --core-power 2
  check '[.groups[] | .state, .jobs] ==
    ["COMPLETED", 1, "CANCELLED", 1, "RUNNING", 1, "TIMEOUT", 1]'
  check '.groups[0].energy_j == 72e6'
  gives 0 '' report sacct.txt -q --by state --core-power 2
  grep -q '^By state' out
}

@test 'by GPU: the most unused GPU time comes first' {
  # 0.25 of 20 h, 0.6 of 1 h and, with a fraction of the energy, 0.9 of 10 h
  jobs '1|a|ann|ml|gpu|COMPLETED|36000|2024-03-01T00:00:00|1|8||0|72000000|gres/gpu:a100=2,gres/gpu=2,node=1|' \
    '1.0|p||ml||COMPLETED|36000|2024-03-01T00:00:00|1|8|1|0||gres/gpu=2|gres/gpuutil=150' \
    '2|b|bob|ml|gpu|FAILED|3600|2024-03-01T00:00:00|1|4||0|720000|gres/gpu:v100=1,gres/gpu=1,node=1|' \
    '2.0|p||ml||FAILED|3600|2024-03-01T00:00:00|1|4|1|0||gres/gpu=1|gres/gpuutil=40' \
    '3|c|bob|ml|gpu|FAILED|36000|2024-03-01T00:00:00|1|4||0|7200000|gres/gpu:l4=1,gres/gpu=1,node=1|' \
    '3.0|p||ml||FAILED|36000|2024-03-01T00:00:00|1|4|1|0||gres/gpu=1|gres/gpuutil=10'
  gives 0 '' report sacct.txt -q -f json --by gpu
  check '[.groups[].gpu] == ["l4", "a100", "v100"]'
  near '.groups[0].idle_gpu_share * .groups[0].gpu_h' 9
  near '.groups[1].idle_gpu_share * .groups[1].gpu_h' 5
  # totals keep the keys
  gives 0 '' report sacct.txt -q --by gpu,state --totals sums.csv
  gives 0 '' report sums.csv -q -f json
  check '[.groups[] | .gpu, .state] ==
    ["l4", "FAILED", "a100", "COMPLETED", "v100", "FAILED"]'
}

@test 'what it refuses' {
  usual
  misused report "$(message missing_argument FILE... report)"
  misused report "$(message invalid_value by day \
    'job, user, account, partition, state, gpu or month')" sacct.txt --by day
  misused report "$(message invalid_value since May 'a date, as 2024-03-01')" \
    sacct.txt --since May
  invalid report until=2024-13 sacct.txt
  invalid report core-power=0 sacct.txt
  misused report "$(message unknown_log_format_see from x)" \
    sacct.txt --from x
  refuses 2 "dlest: $(message node_power_expected_w gpu=x)" \
    report sacct.txt --node-power gpu=x
  refuses 3 "dlest: $(message unknown_nearest_see_list gpu zz9 \
    "" gpus)" \
    report sacct.txt --gpu zz9
}

@test 'the default columns of sacct: it names those to add' {
  local columns='JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode'
  local missing='User, ElapsedRaw, Start, End, NodeList, NNodes, NTasks'
  missing+=', TotalCPU, ConsumedEnergyRaw, AllocTRES, TRESUsageInTot, TRESUsageInAve'
  local use
  use=$(sed -n '/^sacct .-P/,/^\.fi/{/^\.fi/d;s/^.* \([^ ]*\)$/\1/;p}' \
    "$TOP_SRCDIR/man/dlest-report.h2m" | tr -d '\n')
  printf '%s\n' "$columns" '1|train|gpu|ml|8|COMPLETED|0:0' >a.txt
  printf '%s \n' >b.txt \
    'JobID           JobName  Partition    Account  AllocCPUS      State ExitCode' \
    '------------ ---------- ---------- ---------- ---------- ---------- --------' \
    '1                 train        gpu         ml          8  COMPLETED      0:0'
  for f in a b; do
    refuses 3 "dlest: $f.txt: $(message no_times_and_no "$missing" "$use")" \
      report $f.txt
  done
  # an elapsed time is enough, and so is an energy
  printf '%s\n' "$columns|Elapsed" '1|train|gpu|ml|8|COMPLETED|0:0|00:01:00' >a.txt
  gives 0 '' report a.txt -q -f json
  check '.total.duration_s == 60'
  printf '%s\n' "$columns|ConsumedEnergy" '1|train|gpu|ml|8|COMPLETED|0:0|2K' >a.txt
  gives 0 '' report a.txt -q -f json
  check '.total.energy_j == 2000'
}

@test 'its JSON is as its schema says' {
  python3 "$TOP_SRCDIR/tests/check-schema.py" --have || skip 'no jsonschema'
  usual
  for by in job job,month user account,partition,month state,gpu; do
    gives 0 '' report sacct.txt -q -f json --by "$by" --site hpc --country fr
    python3 "$TOP_SRCDIR/tests/check-schema.py" \
      "$TOP_SRCDIR/schemas/report.json" <out
  done
}

@test 'without its data it says so and writes nothing' {
  usual
  mkdir none
  for format in csv json text; do
    DLEST_DATADIR=none try report sacct.txt -q -f "$format"
    [ "$status" -eq 1 ]
    [ ! -s out ]
    grep -q '^dlest: none/data/accelerators.xml: cannot open' err
  done
}

@test 'a large accounting in little memory' {
  ! ldd "$DLEST" | grep -q libasan || skip 'a sanitizer takes its own memory'
  { echo "$head"
    awk 'BEGIN { for (i = 1; i <= 100000; i++)
      printf "%d|j|u%d|a|gpu|COMPLETED|60|2024-%02d-01T00:00:00|1|8||0|600|cpu=8|\n",
        i, i % 7, i % 12 + 1 }'; } >sacct.txt
  (ulimit -v 200000; OMP_NUM_THREADS=1 "$DLEST" report sacct.txt -q -f json \
    --by user,month >out)
  check '(.groups | length) == 84 and .total.jobs == 100000 and
    .total.energy_j == 6e7'
}

# An A100 for two hours at its TDP of 400 W takes 2.88 MJ.
@test "energies of GPUs or nodes count where a table has no total" {
  table run_id,gpu,n_gpus,duration_s,energy_j,gpu_energy_j,node_energy_j \
    a,a100,1,7200,,1.8e6, b,a100,1,7200,,1.8e6,2.5e6 \
    c,a100,1,7200,3e6,1.8e6,
  gives 0 '' report runs.csv -q -f csv
  [ "$(cut -d, -f16,18,19 out | tail -n 3 | tr '\n' ' ')" = \
    '1800000,measured,gpu 2500000,measured,node 3000000,measured, ' ]
}

# 64 cores of 280 W, all busy: .85 of the TDP, in an interval that holds it idle
# to busy.
@test 'jobs on CPUs: the share of their cores of the CPU that is named' {
  jobs '1|a|ann|bio|cpu|COMPLETED|3600|2024-03-01T00:00:00|1|32||1-08:00:00||billing=32,cpu=32,mem=100G,node=1|' \
    '2|b|ann|bio|cpu|COMPLETED|3600|2024-03-01T00:00:00|1|32||0|0|cpu=32|' \
    '3|c|ann|bio|old|COMPLETED|3600|2024-03-01T00:00:00|1|32||1-08:00:00|0|cpu=32|' \
    '4|d|ann|bio|cpu|COMPLETED|3600|2024-03-01T00:00:00|1|32||1-08:00:00|540000|cpu=32|' \
    '5|e|ann|bio|gpu|COMPLETED|3600|2024-03-01T00:00:00|1|8||8:00:00|0|cpu=8,gres/gpu:a100=1|'
  gives 0 '' report sacct.txt -q -f json --cpu cpu=epyc-7763 \
    --threads-per-core 1
  near '.jobs[0].energy_j' '3600 * (280 * 32 / 64 * .85 + .3725 * 107.3741824)'
  check '.jobs[0] | .energy_from == "cores" and .boundary == "cpu+ram" and
    .low_j < .energy_j and .energy_j < .high_j and .high_j < 3600 * 250'
  check '.jobs[1] | .energy_j < 3600 * 280 / 2 and .low_j < 3600 * 280 / 2 * .25
    and .high_j > 3600 * 280 / 2 * .84'
  check '.jobs[2] | .energy_from == "cores" and .high_j / .low_j > 3'
  check '.jobs[3] | .energy_j == 540000 and .energy_from == "measured" and
    .low_j == null'
  check '.jobs[4] | .boundary == "gpu" and .low_j == null'
  check '.total.unknown_jobs == 0'
  near '.total.cores_low_j' '[.jobs[:3][].low_j] | add'
  near '.total.cores_energy_j' '[.jobs[:3][].energy_j] | add'
  # Of all nodes: a job with a GPU counts its 8 cores too, once.
  gives 0 '' report sacct.txt -q -f json --cpu epyc-7763
  near '.jobs[4].energy_j' '3600 * (400 + 280 * 8 / 64 * .85)'
  check '.jobs[4].boundary == "gpu+cpu" and .jobs[2].boundary == "cpu"'
}

@test 'two threads of a core take the power of a core' {
  jobs '1|a|ann|bio|cpu|COMPLETED|3600|2024-03-01T00:00:00|1|32||1-08:00:00|0|cpu=32|'
  gives 0 '' report sacct.txt -q -f json --cpu epyc-7763 --threads-per-core 1
  cp out cores
  gives 0 '' report sacct.txt -q -f json --cpu epyc-7763 --threads-per-core 2
  near '.jobs[0].energy_j' "$(jq '.jobs[0].energy_j / 2' cores)"
  gives 0 '' report sacct.txt -q -f json --cpu epyc-7763
  check ".jobs[0] | .energy_j == $(jq '.jobs[0].energy_j' cores) and
    .low_j < $(jq '.jobs[0].low_j' cores) and
    .high_j == $(jq '.jobs[0].high_j' cores)"
  refuses 3 "dlest: $(message cpu_is_none a100)" report sacct.txt --cpu a100
}

@test "a page by account and month is pivoted, with title and period" {
  { echo 'JobID|Account|ElapsedRaw|ConsumedEnergyRaw|Start'
    for m in 01 02 03; do
      echo "1$m|vision|10|3600000|2024-$m-03T00:00:00"
      echo "2$m|speech|10|7200000|2024-$m-04T00:00:00"
    done; } >many.txt
  gives 0 '' report many.txt --by account,month --title 'Cluster A' -f html -q
  grep -q '<h2>Cluster A: 6 jobs, 2024-01 to 2024-03</h2>' out
  # a bar for each account, a row for each with its months and their sum
  [ "$(grep -c 'class="bar"' out)" -eq 2 ]
  tr -d '\n' <out | grep -qE '<td>vision</td>(<td class="n">1.00</td>){3}<td class="n">3.00'
  SOURCE_DATE_EPOCH=86400 try report many.txt --by account -f html -q
  grep -q '^<p>Made on 1970-01-02, dlest ' out
}

@test 'a job without GPUs whose cores are not known has no energy' {
  printf '%s\n' 'JobID|State|ElapsedRaw' '1|COMPLETED|60' >sacct.txt
  gives 0 "dlest: warning: $(message job_without_gpus_without 1 "")" \
    report sacct.txt --by user
}
