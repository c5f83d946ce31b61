#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Logs that no importer recognises: the message says what they lack.

load ../common

# because REASON NAME [LINE...]: extract and report refuse the file with that
# reason; without lines it is there already
because() {
  local reason=$1 name=$2
  shift 2
  [ $# -eq 0 ] || printf '%s\n' "$@" >"$name"
  refuses 3 "dlest: $name: $(message unknown_format_because "$reason")" \
    extract "$name"
  refuses 3 "dlest: $name: $(message unknown_format_because "$reason")" \
    report "$name"
}

sacct='JobID,JobName,User,Account,Partition,State,ElapsedRaw,Start,End,NodeList,NNodes,NCPUS,NTasks,TotalCPU,ConsumedEnergyRaw,AllocTRES,TRESUsageInTot,TRESUsageInAve'
smi='nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv -l 1'
table='write a table of CSV with a header, such as timestamp,gpu_power_w'

@test "nvidia-smi: the column that is missing" {
  because "a log of nvidia-smi without column 'power.draw': add it to --query-gpu" \
    a.csv 'timestamp, index, utilization.gpu [%], memory.used [MiB]' \
    '2024/05/01 10:00:00.000, 0, 92 %, 25073 MiB'
  because "a log of nvidia-smi without column 'timestamp': add it to --query-gpu" \
    a.csv 'index, power.draw [W]' '0, 100.00 W'
  because "a log of nvidia-smi whose columns are not separated by commas: write it with --format=csv" \
    a.csv 'index power.draw' '0 100.00'
  because "the first line has no names of columns, and no units; give --from nvidia-smi --columns timestamp,power.draw,..., or write a header" \
    a.csv '2024/05/01 10:00:00.000, 0, 300.12' '2024/05/01 10:00:01.000, 0, 300.12'
  because "the screen of nvidia-smi is one sample without columns; log $smi" \
    a.txt '+-----+' '| NVIDIA-SMI 535.104 |' '+-----+'
  because "nvidia-smi -q is one sample without a time; log $smi" \
    a.txt '==============NVSMI LOG==============' '' 'Attached GPUs : 1'
  because "gpustat prints no columns; log $smi" \
    a.txt 'node7  Wed May  1 2024' "[0] NVIDIA A100 | 35'C,  90 % | 1000 / 40536 MB |"
  because "tegrastats prints no columns; record with dlest record, or write a table of CSV with a header, such as timestamp,node_power_mw,gpu_power_mw" \
    a.txt '05-01-2024 10:00:00 RAM 2448/7772MB GR3D_FREQ 90% VDD_IN 9000mW/8800mW'
  because "powermetrics prints no columns; write a table of CSV with a header, such as timestamp,cpu_power_mw,gpu_power_mw" \
    a.txt '*** Sampled system activity (Wed May  1 10:00:00 2024 +0000) (1000.00ms elapsed) ***' 'CPU Power: 5000 mW'
}

@test "sacct: JobID, a header" {
  because "a table of sacct without column 'JobID': add it, as in sacct -P -o $sacct" \
    s.txt 'ConsumedEnergyRaw|ElapsedRaw|NCPUS|AllocTRES|State' \
    '3774906|7200|32|cpu=32,node=1|COMPLETED'
  because "rows of sacct without a header: leave out -n (--noheader)" \
    s.txt '1|COMPLETED|3600|100000|cpu=1'
  because "a table of sacct without states, times and energies of jobs: use sacct -P -o $sacct" \
    s.txt 'JobID|AllocTRES' '1|cpu=1'
}

@test "tables of samples: no power, no times, another separator" {
  because "a table with times, but without a column of power or energy whose name says so, such as 'gpu_power_w'" \
    t.csv 'time,loss' '1714550000,3'
  because "a table with a power or energy, but without a column of times, such as 'timestamp'" \
    t.csv 'step,gpu_power_w' '1,3'
  for separator in '|' ' '; do
    because "a table of samples with '|' or blanks between columns: separate them by commas, semicolons or tabs" \
      t.csv "timestamp${separator}gpu_power_w" "1714550000${separator}100"
  done
  printf '%s\n' timestamp,gpu_power_w '2024-05-01 10:00:00,100,5' \
    '2024-05-01 10:00:01,100,5' '2024-05-01 10:00:02,100.5' >t.csv
  try extract t.csv
  [ "$status" -eq 3 ]
  grep -qx "dlest: warning: t.csv:2: $(message expected_fields_found 2 3): write points for commas within numbers and times" err
}

@test "files that are no tables" {
  because "an HTML page, as a server's answer to a failed download" \
    a.html '<!DOCTYPE html><html><body>404</body></html>'
  because "XML, which no log format is" a.xml '<?xml version="1.0"?>' '<a/>'
  because "JSON of none of the formats that are read; $table" a.json '{"error": "x"}'
  because "a Python dictionary; $table" a.txt "{'gpu': 0, 'power': 300}"
  because "a log of MLPerf Training without a key 'power_reading': give the power logs of its nodes (power/*/node_*.txt)" \
    a.log ':::MLLOG {"key": "run_start", "value": null, "time_ms": 1700000000000}'
  printf '%s\n' 'roses are red' >poem.txt
  refuses 3 "dlest: poem.txt: $(message no_importer_knows_this)" extract poem.txt
}

@test "files that are no text" {
  printf 'timestamp, power.draw [W]\n' | iconv -t utf-16le >a.csv
  refuses 3 "dlest: a.csv: $(message utf_16_text_pass)le" extract a.csv
  printf 'timestamp, power.draw [W]\n' | iconv -t utf-16 >a.csv
  refuses 3 "dlest: a.csv: $(message utf_16_text_pass)" extract a.csv
  printf 'PK\003\004abcdef' >a.xlsx
  refuses 3 "dlest: a.xlsx: a ZIP archive or a workbook (.xlsx); unpack it, or save it as CSV" \
    extract a.xlsx
  printf 'PAR1\025\004' >a.parquet
  refuses 3 "dlest: a.parquet: a Parquet file; write it as CSV" extract a.parquet
  printf ':W&B\276\336\000' >a.wandb
  refuses 3 "dlest: a.wandb: a file of Weights & Biases; export the run's history as CSV" \
    extract a.wandb
  printf '\030\0\0\0\0\0\0\0\243\177K"\011\0\0\300brain.Event:2' >events.out
  refuses 3 "dlest: events.out: events of TensorBoard; export the scalars as CSV" \
    extract events.out
}

# --- formats that were refused

# value KEY LOG: of the only run
value() { "$DLEST" extract "$2" -q -f json | jq ".runs[0].$1"; }

# 6 samples of 100 W: 5 s x 100 W
@test "a time in a column Date" {
  { echo 'Date,GPU Load [%],GPU Power [W]'
    for s in 0 1 2 3 4 5; do echo "2024-04-11 14:43:0$s,90.0,100.0"; done; } >t.csv
  [ "$(value energy_j t.csv)" = 500 ]
  [ "$(value gpu_util t.csv)" = 0.9 ]
}

# CPU 17.45 W and GPU 100 W for 5 s; "Total Power" is their sum.
@test "PowerJoular" {
  { echo 'Date,CPU Utilization,Total Power,CPU Power,GPU Power'
    for s in 0 1 2 3 4 5; do echo "2024-04-11 14:43:0$s,0.12,117.45,17.45,100.0"; done; } >p.csv
  gives 0 '' extract p.csv -f json
  jq -e '.runs[0] | (.cpu_energy_j - 87.25 | fabs) < 1e-3 and .gpu_energy_j == 500
    and (.energy_j - 587.25 | fabs) < 1e-3 and .boundary == "gpu+cpu"
    and (.cpu_util - 0.12 | fabs) < 1e-9 and .format == "powerjoular"' out
  # no header
  sed 1d p.csv >rows.csv
  refuses 3 "dlest: rows.csv:1: $(message no_header_of_powerjoular)" \
    extract --from powerjoular rows.csv
  # without a GPU its column is 0, and there is none
  sed -i 's/117.45,17.45,100.0/17.45,17.45,0.0/' p.csv
  gives 0 '' extract p.csv -f json
  jq -e '.runs[0] | (.energy_j - 87.25 | fabs) < 1e-3 and .boundary == "cpu"' out
}

# 9.5 kW for 5 s
@test "MLPerf Training's power log of a node" {
  entry() {
    printf ':::MLLOG {"namespace": "", "time_ms": %s, "event_type": "POINT_IN_TIME", "key": "%s", "value": %s, "metadata": {"file": "p.py", "lineno": 88, "host": "node_0"}}\n' "$@"
  }
  { entry 1700000000000 power_measurement_start 0
    for s in 0 1 2 3 4 5; do entry 170000000${s}000 power_reading 9500.0; done
    entry 1700000006000 power_measurement_stop 0
    entry 1700000007000 power_reading 9500.0; } >node_0.txt
  gives 0 '' extract node_0.txt -f json
  jq -e '.runs[0] | .node_energy_j == 47500 and .boundary == "node"' out
  sed -i '2s/"value": 9500.0/"value": -1/' node_0.txt
  try extract node_0.txt
  [ "$status" -eq 3 ]
  grep -q "node_0.txt:2: $(message key_value_invalid_power)" err
  entry 1700000008000 conversion_eff 0.9 >>node_0.txt
  sed -i 2d node_0.txt
  gives 0 "dlest: warning: node_0.txt:9: $(message conversion_eff_is 0.9)" extract node_0.txt
  sed -i '3s/1700000002000/-5/; 4s/{.*/{"key"/' node_0.txt
  try extract node_0.txt
  grep -q "node_0.txt:3: $(message key_time_invalid -5)" err
  grep -q "node_0.txt:4: $(message no_json_behind_mllog)" err
}

# `date --iso-8601=ns` puts a comma before the nanoseconds: 300 W for 5 s.
@test "a comma before the decimals of a time" {
  { echo 'timestamp,utilization.gpu,power.draw'
    for s in 0 1 2 3 4 5; do echo "2024-05-01T10:00:0$s,123456789+02:00,95, 300.00"; done; } >t.csv
  [ "$(value energy_j t.csv)" = 1500 ]
  sed -i '1s/.*/timestamp,util_pct,gpu_power_w/' t.csv
  [ "$(value energy_j t.csv)" = 1500 ]
  # a number with a decimal comma is no such time
  { echo 'timestamp,gpu_power_w'
    for s in 0 1 2; do echo "2024-05-01T10:00:0$s,100,5"; done; } >t.csv
  try extract t.csv
  [ "$status" -eq 3 ]
  [ ! -s out ]
}

# Days since 1899, as spreadsheets number them: a second is 1.16e-05 of them.
@test "days that are read as seconds are doubted" {
  awk 'BEGIN { print "timestamp,gpu_power_w"
    for (i = 0; i < 10; i++) printf "%.8f,100\n", 45413.4 + i / 86400 }' >a.csv
  try extract a.csv
  grep -qF "a.csv: $(message samples_in_days 1.16e-05)" err
}
