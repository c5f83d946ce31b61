#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: logs out of order and given twice, sensors that fail. Expected
# energies follow from the powers and times in the logs.

load ../common
load logs

# out_of_order FILE LINE: refused at that line, with warnings before it
out_of_order() {
  try extract "$1"
  [ "$status" -eq 3 ]
  [ ! -s out ]
  [ "$(tail -1 err)" = "dlest: $1:$2: $(message log_not_in_order)" ] ||
    { cat err; return 1; }
}

# Order

@test "a sample of a clock that was not set yet" {
  { echo "$HEADER"; samples 1 200 | sed s/2024-03-05/1970-01-01/
    samples 61 200; } >a.csv
  # 19787 days from 1970-01-01 to 2024-03-05
  refuses 3 "dlest: a.csv:3: $(message gap_of_days 1.98e+04)" extract a.csv
  gives 0 "dlest: warning: a.csv:3: $(message gap '54.2 y' cut)" \
    extract --gaps cut a.csv -f csv
  is gpu_energy_j 12000
  head -3 a.csv >b.csv
  refuses 3 "dlest: b.csv:3: $(message gap_of_days 1.98e+04)" extract b.csv
}

@test "a log appended to itself" {
  log a.csv 600 '100 + i % 50'
  { cat a.csv; sed 1d a.csv; } >b.csv
  refuses 3 "dlest: b.csv:602: $(message log_repeats_samples 2)" extract b.csv
  cat a.csv a.csv >b.csv
  refuses 3 "dlest: b.csv:603: $(message log_repeats_samples 2)" extract b.csv
  # other samples at the same times: a clock that was set back
  { cat a.csv; sed 1d a.csv | sed 's/, 100.00 W/, 90.00 W/'; } >b.csv
  gives 0 "dlest: warning: b.csv:602: $(message clock_set_back_by_carried \
    '9 min 59 s' '1.00 s')" extract b.csv -f csv
}

@test "rows that are shuffled, newest first, or by device" {
  log a.csv 600 '100 + i % 50'
  # row k of the shuffled log is that of second 7 k mod 600: times go back by
  # 599 - 6 s every 86 rows, into what was bridged
  { head -1 a.csv
    sed 1d a.csv | awk '{ row[NR - 1] = $0 }
      END { for (i = 0; i < NR; i++) print row[i * 251 % NR] }'; } >b.csv
  try extract b.csv
  [ "$status" -eq 3 ]
  tail -1 err | grep -qE "^dlest: b.csv:[0-9]+: $(message log_not_in_order)"
  { head -1 a.csv; sed 1d a.csv | tac; } >b.csv
  try extract b.csv
  [ "$status" -eq 3 ]
  tail -1 err | grep -qE "^dlest: b.csv:[0-9]+: $(message log_not_in_order)"
  # all of the first GPU, then all of the second
  { cat a.csv; sed '1d; s/, 0, A100/, 1, A100/' a.csv; } >b.csv
  out_of_order b.csv 602
  # the same in order of time: 100 to 149 W twice
  { head -1 a.csv; sed 1d b.csv | sort -s -t, -k1,1; } >c.csv
  gives 0 '' extract c.csv -f csv
  is duration_s 599
  is n_gpus 2
}

@test "a part that stands behind the gap it belongs into" {
  log a.csv 600 100
  { head -1 a.csv; sed -n 2,101p a.csv; sed -n 202,301p a.csv
    sed -n 102,201p a.csv; } >b.csv
  out_of_order b.csv 202
  # two parts in the wrong order may be a clock that was set back
  { head -1 a.csv; sed -n 302,601p a.csv; sed -n 2,301p a.csv; } >b.csv
  gives 0 "dlest: warning: b.csv:302: $(message clock_set_back_by_carried \
    '9 min 59 s' '1.00 s')" extract b.csv -f csv
  is gpu_energy_j 59900
}

@test "order, whatever wrote the log" {
  local i
  awk 'BEGIN { print "time_s,gpu_power_w"
    for (i = 0; i < 600; i++) printf "%d,100\n", i * 251 % 600 }' >table.csv
  awk 'BEGIN { for (i = 0; i < 600; i++) { t = i * 251 % 600
    printf "Time,03-05-2024 10:%02d:%02d.000,Watts,100.00,Volts,230\n",
      t / 60, t % 60 } }' >ptd.txt
  awk 'BEGIN { print "#Time        gpu    pwr  gtemp"
    print "#HH:MM:SS    Idx      W      C"
    for (i = 0; i < 600; i++) { t = i * 251 % 600
      printf " 10:%02d:%02d      0    100     40\n", t / 60, t % 60 } }' >dmon.txt
  for i in table.csv ptd.txt dmon.txt; do
    try extract "$i"
    [ "$status" -eq 3 ]
    tail -1 err | grep -qE "^dlest: $i:[0-9]+: $(message log_not_in_order)" ||
      { cat err; return 1; }
  done
}

# Logs that are given twice

@test "a copy of a log counts once" {
  log a.csv 61 100
  cp a.csv b.csv
  log c.csv 61 200
  gives 3 "dlest: warning: $(message copy_counts_twice b.csv a.csv)
dlest: $(message row_skipped 1 '')" extract a.csv b.csv c.csv -f csv
  is gpu_energy_j 6000 1
  is gpu_energy_j 12000 2
  [ "$(wc -l <out)" -eq 3 ]
  printf '%s\n' a.csv b.csv c.csv >list
  gives 3 "dlest: warning: $(message copy_counts_twice b.csv a.csv)
dlest: $(message row_skipped 1 '')" extract --files-from list -f csv
  # one byte differs
  sed '30s/100.00/100.01/' a.csv >b.csv
  gives 0 '' extract a.csv b.csv -f csv
  [ "$(wc -l <out)" -eq 3 ]
}

# Sensors that fail

@test "0 W of a GPU in use is no measurement" {
  # 61 s at 100 W, two samples of which have none: bridged
  { echo "$HEADER"; samples 61 'i == 20 || i == 21 ? 0 : 100'; } >a.csv
  gives 3 "dlest: warning: a.csv:22: $(message gpu_in_use_without_power 2 s)
dlest: $(message row_skipped 1 '')" extract a.csv -f csv
  is gpu_energy_j 6000
  is gpu_power_w 100
  log a.csv 61 0
  try extract a.csv -f csv
  [ "$status" -eq 3 ]
  is gpu_energy_j ''
  grep -qxF "dlest: warning: a.csv:2: $(message gpu_in_use_without_power 61 s)" \
    err
  # idle: it may be, but no GPU takes nothing for the whole of a run
  sed -i 's/50 %/0 %/' a.csv
  gives 0 "dlest: warning: a.csv: $(message mean_power_not_plausible 0)" \
    extract a.csv -f csv
}

@test "0 W of the second die of an MI250, whose power the first one measures" {
  for power in 200 210 205; do
    printf '%s\n' 'device,Average Graphics Package Power (W),GPU use (%)' \
      "card0,$power.0,99" 'card1,0.0,98' ''
  done >mi250.txt
  try extract mi250.txt --from rocm-smi --interval 1s --format json
  [ "$status" -eq 0 ]
  # (200 + 210) / 2 * 1 s + (210 + 205) / 2 * 1 s
  check '.runs[0].gpu_energy_j == 412.5'
}

# Units

@test "times of a tracker in minutes or milliseconds" {
  # 0.025 kWh in 6 min: 250 W
  printf '%s\n' "timestamp,project_name,run_id,duration,emissions,\
energy_consumed,gpu_energy,gpu_count,gpu_model,country_name" \
    "2024-05-14T10:00:00,p,r,360,0.01,0.03,0.025,1,1 x NVIDIA A100,Germany" \
    >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_power_w 250
  sed 's/,360,/,6,/' a.csv >b.csv
  gives 0 "dlest: warning: b.csv:2: $(message mean_power_not_plausible 15000)" \
    extract b.csv -f csv
  gives 0 "dlest: warning: $(message doubted_energies 1 '' 2 1.8e+04)" \
    report b.csv -f csv
  sed 's/,360,/,360000,/' a.csv >b.csv
  gives 0 "dlest: warning: b.csv:2: $(message mean_power_not_plausible 0.250)" \
    extract b.csv -f csv
  # of all GPUs together
  sed 's/,0.03,0.025,1,1 x/,0.24,0.2,8,8 x/' a.csv >b.csv
  gives 0 '' extract b.csv -f csv
  is gpu_power_w 2000
}

@test "times without a unit that are milliseconds" {
  awk 'BEGIN { print "time,gpu_power_w"
    for (i = 0; i <= 60; i++) print i * 1000 ",100" }' >a.csv
  gives 0 "dlest: warning: a.csv: $(message samples_far_apart 1000)" \
    extract a.csv -f csv
  sed -i '1s/time/time_ms/' a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 6000
}

# answer TYPE SERIES...: of Prometheus, each series as METRIC=VALUES
answer() {
  local type=$1 all='' s
  shift
  for s; do
    all+="${all:+,}{\"metric\":{\"__name__\":\"${s%%=*}\",\"gpu\":\"0\"},"
    all+="\"values\":[${s#*=}]}"
  done
  printf '{"status":"success","data":{"resultType":"%s","result":[%s]}}' \
    "$type" "$all"
}

@test 'Prometheus: answers with no power, and broken ones' {
  local power='[1709629200,"100"],[1709629210,"200"],[1709629220,"NaN"]'
  local use='DCGM_FI_DEV_POWER_USAGE, nvidia_smi_power_draw_watts, kepler_node_cpu_watts or ipmi_dcmi_power_consumption_watts'
  answer matrix "DCGM_FI_DEV_POWER_USAGE=$power" \
    'DCGM_FI_DEV_GPU_TEMP=[1709629200,"41"]' >a.json
  gives 0 "dlest: warning: a.json: $(message series_left_out 1 2)" \
    extract a.json -f json # 10 s x 150 W
  check '.runs[0] | .gpu_energy_j == 1500 and .duration_s == 10'
  answer matrix 'DCGM_FI_DEV_GPU_TEMP=[1709629200,"41"]' >a.json
  refuses 3 "dlest: a.json: $(message no_series_of_power "$use")" extract a.json
  answer vector >a.json
  refuses 3 "dlest: a.json: $(message answer_has_no_range)" extract a.json
  answer matrix 'DCGM_FI_DEV_POWER_USAGE=[1709629200,"x"],[1709629210,"5"],[1709629215,"-7"],[1709629220,"5"]' >a.json
  try extract a.json
  [ "$status" -eq 3 ]
  for value in x -7; do
    grep -q -- "$(message invalid_sample DCGM_FI_DEV_POWER_USAGE :0 "$value")" err
  done
  # a single one too, wherever it is
  answer matrix 'DCGM_FI_DEV_POWER_USAGE=[1709629200,"5"],[1709629210,"5"],[1709629220,"x"]' >a.json
  try extract a.json
  [ "$status" -eq 3 ]
  grep -qx "dlest: warning: a.json:1: $(message invalid_sample \
    DCGM_FI_DEV_POWER_USAGE :0 x)" err
  # as Prometheus answers, prometheus.io/docs/prometheus/latest/querying/api
  echo '{"status":"error","errorType":"bad_data","error":"parse error: no end"}' >a.json
  refuses 3 "dlest: a.json: $(message query_failed bad_data \
    'parse error: no end')" extract a.json
  answer matrix "DCGM_FI_DEV_POWER_USAGE=$power" >whole.json
  { cat whole.json; head -c 16777216 /dev/zero | tr '\0' ' '; } >a.json
  refuses 3 "dlest: a.json: $(message text_too_long 16)" extract a.json
  # cut off anywhere: refused, whatever is there
  for n in $(seq 60 7 "$(($(wc -c <whole.json) - 1))"); do
    head -c "$n" whole.json >a.json
    try extract a.json --from prometheus
    [ "$status" -eq 3 ]
    [ ! -s out ]
  done
}

# The labels are those of the exporters' documentation: kepler's metrics.md,
# nvidia_gpu_exporter's METRICS.md, nvitop-exporter's exporter.py, scaphandre's
# metrics and dcgm-exporter's README.
@test 'Prometheus: the metrics of each exporter' {
  series() { # NAME LABELS VALUE: two samples, 10 s apart
    printf '{"metric":{"__name__":"%s",%s},"values":[[1709629200,"%s"],[1709629210,"%s"]]}' \
      "$1" "$2" "$3" "${4:-$3}"
  }
  of() {
    local IFS=,
    echo "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[$*]}}" >a.json
    try extract a.json -f json
    [ "$status" -eq 0 ]
  }
  local zone='"node_name":"w1","path":"/sys/class/powercap/intel-rapl:0","zone":'
  of "$(series kepler_node_cpu_watts "$zone\"package\"" 125.5)" \
    "$(series kepler_node_cpu_watts "$zone\"core\"" 90)" \
    "$(series kepler_node_cpu_watts "$zone\"dram\"" 20)"
  check '.runs[0] | .cpu_energy_j == 1255 and .ram_energy_j == 200 and .n_gpus == null'
  of "$(series kepler_node_cpu_joules_total "$zone\"package\"" 1000 1500)"
  check '.runs[0].cpu_energy_j == 500'
  of "$(series kepler_node_platform_watts '"node_name":"w1","source":"redfish"' 450.5)"
  check '.runs[0].node_energy_j == 4505'
  of "$(series scaph_host_power_microwatts '"instance":"n1:8080"' 20000000)"
  check '.runs[0].cpu_energy_j == 200'
  of "$(series gpu_power_usage_W '"hostname":"10.0.0.1","index":"0","devicename":"NVIDIA A100-SXM4-80GB","uuid":"GPU-1"' 300)"
  check '.runs[0] | .gpu_energy_j == 3000 and .gpu == "NVIDIA A100-SXM4-80GB"'
  of "$(series nvidia_smi_power_draw_instant_watts '"uuid":"df6e7a7c-7314-46f8"' 28)"
  check '.runs[0].gpu_energy_j == 280'
  of "$(series DCGM_FI_DEV_POWER_USAGE '"gpu":"0","UUID":"GPU-a","pci_bus_id":"00000000:00:02.0","device":"nvidia0","modelName":"NVIDIA RTX 4000 Ada Generation","Hostname":"n1","DCGM_FI_DRIVER_VERSION":"580.95.05"' 40.979)"
  check '.runs[0] | .n_gpus == 1 and .gpu_energy_j > 409 and .gpu_energy_j < 410'
}

@test 'Prometheus: one GPU of two exporters counts once, GPUs of two nodes twice' {
  local values='"values":[[1709629200,"100"],[1709629210,"100"]]}'
  local smi='{"metric":{"__name__":"nvidia_smi_power_draw_watts",'
  local dcgm='{"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE",'
  head='{"status":"success","data":{"resultType":"matrix","result":['
  echo "$head$smi\"uuid\":\"a1-b2\"},$values,$dcgm\"UUID\":\"GPU-a1-b2\"},$values]}}" >a.json
  gives 0 '' extract a.json -f json
  check '.runs[0] | .n_gpus == 1 and .gpu_energy_j == 1000'
  echo "$head$dcgm\"gpu\":\"0\",\"Hostname\":\"a\"},$values,$dcgm\"gpu\":\"0\",\"Hostname\":\"b\"},$values]}}" >a.json
  gives 0 '' extract a.json -f json
  check '.runs[0] | .n_gpus == 2 and .gpu_energy_j == 2000 and .n_nodes == 2
    and .gpus_per_node == 1'
  # Ports are those of exporters; where one series has no label, nothing is said.
  series() { echo "$smi\"uuid\":\"$1\"${2:+,\"instance\":\"$2\"}},$values"; }
  echo "$head$(series a n1:9835),$(series b n1:9400),$(series c n2:9835),$(series d n2:9835)]}}" >a.json
  gives 0 '' extract a.json -f json
  check '.runs[0] | .n_gpus == 4 and .n_nodes == 2 and .gpus_per_node == 2'
  echo "$head$(series a n1:9835),$(series b)]}}" >a.json
  gives 0 '' extract a.json -f json
  check '.runs[0] | .n_gpus == 2 and .n_nodes == null'
  # the same of a table with a column of hosts
  printf '%s\n' timestamp,hostname,index,gpu_power_w 1709629200,a,0,100 \
    1709629200,b,0,100 1709629210,a,0,100 1709629210,b,0,100 >a.csv
  gives 0 '' extract a.csv -f json
  check '.runs[0] | .n_gpus == 2 and .n_nodes == 2 and .gpu_energy_j == 2000'
}

@test 'Prometheus: devices that no label distinguishes, and a time of any size' {
  answer matrix 'DCGM_FI_DEV_POWER_USAGE=[1709629200,"100"],[1709629210,"100"]' \
    'DCGM_FI_DEV_POWER_USAGE=[1709629200,"300"],[1709629210,"300"]' >a.json
  try extract a.json -f json
  [ "$status" -eq 3 ]
  grep -qF "$(message series_differ DCGM_FI_DEV_POWER_USAGE)" err
  # a slice by MIG repeats the power of its GPU
  answer matrix 'DCGM_FI_DEV_POWER_USAGE=[1709629200,"100"],[1709629210,"100"]' \
    'DCGM_FI_DEV_POWER_USAGE=[1709629200,"100"],[1709629210,"100"]' >a.json
  gives 0 '' extract a.json -f json
  check '.runs[0] | .gpu_energy_j == 1000 and .n_gpus == 1'
  # GPU 0 of two nodes
  for label in kubernetes_node nodename host exported_instance; do
    echo "\"Time\",\"DCGM_FI_DEV_POWER_USAGE{gpu=\"\"0\"\", $label=\"\"a\"\"}\",\"DCGM_FI_DEV_POWER_USAGE{gpu=\"\"0\"\", $label=\"\"b\"\"}\"" >a.csv
    printf '%s\n' 1709629200000,100,300 1709629210000,100,300 >>a.csv
    gives 0 '' extract a.csv -f json # 10 s x 400 W
    check '.runs[0] | .gpu_energy_j == 4000 and .n_gpus == 2'
  done
  # 300 digits, longer than any time
  answer matrix 'DCGM_FI_DEV_POWER_USAGE=[1e300,"100"],[1709629200,"100"],[1709629210,"100"]' >a.json
  try extract a.json -f json
  jq -e '.runs[0].gpu_energy_j == 1000' out
}

# Run a draws 100 W and run b 300 W, at the same times, for 50 s.
@test 'two runs in one table of Weights & Biases are not one' {
  local column order r i
  for column in run name run_id id display_name; do
    for order in blocks turns; do
      { echo "_timestamp,_runtime,$column,system.gpu.0.powerWatts"
        for r in a b; do
          for i in 0 10 20 30 40 50; do
            echo "$((1709629200 + i)),$i,$r,$([ $r = a ] && echo 100 || echo 300)"
          done
        done | if [ $order = turns ]; then sort -s -n -t, -k1,1; else cat; fi
      } >w.csv
      try extract w.csv -f json
      [ "$status" -eq 3 ]
      [ "$(grep -c "$(message a_row_of_another_run b a)" err)" -eq 6 ]
      check '.runs | length == 1 and .[0].gpu_energy_j == 5000'
      # one run alone
      sed -i '/,b,/d' w.csv
      gives 0 '' extract w.csv -f json
      check '.runs[0] | .gpu_energy_j == 5000 and .gpu == null'
    done
  done
  # elsewhere the name is that of the GPU
  printf '%s\n' timestamp,name,gpu_power_w 1709629200,A100,100 \
    1709629210,A100,100 >a.csv
  gives 0 '' extract a.csv -f json
  check '.runs[0] | .gpu_energy_j == 1000 and .gpu == "A100"'
}

@test "CodeCarbon: states of many runs that were written in turn" {
  head='timestamp,project_name,run_id,duration,emissions,cpu_energy,gpu_energy,ram_energy,energy_consumed,country_name'
  states() { # RUNS: three states of each, in turn
    awk -v n="$1" 'BEGIN { for (k = 1; k <= 3; k++) for (i = 0; i < n; i++)
      printf "2024-03-05T09:00:%02d,p%d,r%d,%d,1,0,%.1f,0,%.1f,X\n",
        k, i, i, 100 * k, k / 10, k / 10 }'
  }
  { echo "$head"; states 100; } >a.csv
  gives 0 "dlest: warning: a.csv:102: $(message rows_are_states)" \
    extract a.csv -f json
  # 100 runs of 0.3 kWh
  check '(.runs | length) == 100'
  check '[.runs[].energy_j] | unique == [1080000]'
  # too many to keep: the later state is refused, not added
  row=2024-03-05T09:00:00,p,first
  { echo "$head"; echo "$row,100,1,0,0.1,0,0.1,X"; states 9000 | head -n 9000
    echo "$row,200,1,0,0.2,0,0.2,X"; echo "$row,300,1,0,0.3,0,0.3,X"; } >b.csv
  gives 3 '' extract b.csv -q -f json
  check '[.runs[] | select(.run_id == "first").energy_j] == [360000]'
  try extract b.csv -f csv
  grep -qxF "dlest: warning: b.csv:9003: $(message row_too_far first)" err
  grep -qxF "dlest: warning: b.csv:9004: $(message row_too_far first)" err
}
