#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest extract: several devices under one identifier, one device with several
# samples at one time, rows of sensors. Expected energies follow from the powers
# and times in the logs.

load ../common
load logs

# rows COLUMNS VALUES...: at 10:00:00 to 10:00:09, for each VALUES one row
rows() {
  local i values
  echo "timestamp,$1"
  shift
  for i in 0 1 2 3 4 5 6 7 8 9; do
    for values; do echo "2024-05-01T10:00:0$i,$values"; done
  done
}

by() { # DEVICES COLUMN
  echo "dlest: warning: a.csv:1: $(message devices_by_column "$1" '' "'$2'")"
}

@test "columns that distinguish devices, whatever their names" {
  # 4 GPUs of 300 W, 9 s: 10.8 kJ
  for column in gpu rank worker outlet pod colour; do
    rows "$column,index,power.draw" 0,0,300 1,0,300 2,0,300 3,0,300 >a.csv
    gives 0 "$(by 4 $column)" extract a.csv -f csv
    is gpu_energy_j 10800
    is n_gpus 4
  done
  rows rank,gpu_id,power_w 0,0,300 1,0,300 2,0,300 3,0,300 >a.csv
  gives 0 "$(by 4 rank)" extract a.csv -f csv
  is gpu_energy_j 10800
  # two nodes of two GPUs
  rows 'host,index,power.draw [W]' n1,0,300 n1,1,300 n2,0,100 n2,1,100 >a.csv
  gives 0 "$(by 4 host)" extract a.csv -f csv
  is gpu_energy_j 7200
  is n_nodes 2
  # only two columns together
  rows box,local_rank,gpu_id,power_w a,0,0,300 a,1,0,300 b,0,0,100 b,1,0,100 \
    >a.csv
  gives 0 "dlest: warning: a.csv:1: $(message devices_by_column 4 s \
    "'box' and 'local_rank'")" extract a.csv -f csv
  is gpu_energy_j 7200
}

@test "columns of hosts whose clocks differ a little" {
  awk 'BEGIN { print "timestamp,server,index,power.draw [W]"
    for (i = 0; i < 10; i++) for (h = 1; h <= 2; h++)
      printf "2024/05/01 10:00:%02d.%03d,n%d,0,%d.00 W\n", i, h * 30, h,
        h * 100 }' >a.csv
  gives 0 "$(by 2 server)" extract a.csv -f csv
  is gpu_energy_j 2700
}

# Two nodes of four GPUs, read 2 ms after one another, without an index.
@test "several GPUs of each host, that nothing distinguishes, are refused" {
  local column
  for column in 'power.draw [W]' gpu_power_w; do
    awk -v c="$column" 'BEGIN { print "timestamp," c ",host"
      for (i = 0; i < 10; i++) for (g = 0; g < 4; g++) for (h = 1; h <= 2; h++)
        printf "2024-05-01 10:00:%02d.%03d,%d,n%d\n", i, 100 + 2 * g,
          100 * h + g, h }' >a.csv
    refuses 3 "dlest: a.csv:1: $(message rounds_of_one_host 4)" extract a.csv
  done
}

# 0,375 J is no 375 J: digits are grouped behind other digits than 0 alone.
@test "perf's energies below 1 J with a decimal comma" {
  for i in 1 2 3; do echo "$i.0;0,375;Joules;power/energy-pkg/;1;100,00;;"; done \
    >a.csv
  gives 0 '' extract a.csv -f csv -q
  is cpu_energy_j 1.125
}

@test "sockets, and values of a node in rows of its GPUs" {
  rows socket,cpu_power_w 0,100 1,60 >a.csv
  gives 0 "$(by 2 socket)" extract a.csv -f csv
  is cpu_energy_j 1440
  rows rank,gpu_power_w,cpu_power_w 0,300,100 1,300,100 >a.csv
  gives 0 "$(by 2 rank)" extract a.csv -f csv
  is gpu_energy_j 5400
  is cpu_energy_j 900
  rows rank,gpu_power_w,cpu_power_w 0,300,100 1,300,70 >a.csv
  try extract a.csv
  [ "$status" -eq 3 ]
  grep -qF "a.csv:1: $(message differs_at_one_time cpu_power_w)" err
  rows machine,gpu_power_w,cpu_power_w 0,300,100 1,300,70 >a.csv
  gives 0 "$(by 2 machine)" extract a.csv -f csv
  is cpu_energy_j 1530
}

@test "two models under one index are two GPUs" {
  rows 'index,name,power.draw [W]' '0,A100,300 W' '0,H100,500 W' >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 7200
  is n_gpus 2
}

@test "two readings of a device at one time are refused, in every format" {
  at_once() { # KIND ID SECOND FIRST
    try extract "$5"
    [ "$status" -eq 3 ]
    [ ! -s out ]
    tail -1 err | grep -qF "dlest: $5:$3: $(message two_readings_at_once "$1" \
      "$2" "$4")" || { cat err; return 1; }
  }
  rows 'index,power.draw [W]' '0,100 W' '0,300 W' >a.csv
  at_once GPU 0 3 2 a.csv
  { echo '#Entity   POWER'; for s in 0 1 2 3 4; do
    echo "10:00:0$s GPU 0 100"; echo "10:00:0$s GPU 0 300"; done; } >b.txt
  at_once GPU 0 3 2 b.txt
  { echo '#Time        gpu    pwr'; for s in 0 1 2 3 4; do
    echo " 10:00:0$s 0 100"; echo " 10:00:0$s 0 300"; done; } >c.txt
  at_once GPU 0 3 2 c.txt
  for s in 0 1 2 3 4; do
    echo "Time,03-05-2024 10:00:0$s.000,Watts,100.00,Volts,230"
    echo "Time,03-05-2024 10:00:0$s.000,Watts,300.00,Volts,230"
  done >d.txt
  at_once node '' 2 1 d.txt
  # the same rows twice are a log that was written twice
  rows 'index,power.draw [W]' '0,100 W' '0,100 W' >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 900
}

@test "a device that comes twice in one round is two" {
  dmon() { # GPU...: ten rounds without times
    echo '#  gpu    pwr'
    for s in 0 1 2 3 4 5 6 7 8 9; do printf '%s 100\n' "$@"; done
  }
  for order in '0 0 1 1' '0 0 1' '0 1 1 2'; do
    dmon $order >a.txt
    try extract a.txt
    [ "$status" -eq 3 ]
    [ ! -s out ]
    grep -qF "dlest: a.txt: $(message twice_in_one_round \
      $([ "$order" = '0 1 1 2' ] && echo 1 || echo 0))" err
  done
  # 100 W x 9 s of each; GPU 1 is lost after the second of ten rounds more
  { dmon 0 1; printf '%s 100\n' 0 1 0 1 0 0 0 0 0 0 0 0; } >a.txt
  try extract a.txt -f csv
  [ "$status" -eq 0 ]
  is gpu_energy_j 3000
  for s in 0 1 2 3 4; do
    printf '%s\n' "2024-03-05 10:00:0$s" \
      'device,GPU use (%),Average Graphics Package Power (W)' \
      card0,50,100 card0,50,300
  done >b.csv
  try extract b.csv
  [ "$status" -eq 3 ]
  [ ! -s out ]
  grep -qF "dlest: b.csv: $(message twice_in_one_round 0)" err
}

@test "logs one behind the other are refused, a clock set back is not" {
  block() { # HOST FIRST LAST: a row a second of each of two GPUs
    awk -v h="$1" -v a="$2" -v b="$3" 'BEGIN { for (s = a; s <= b; s++)
      for (i = 0; i < 2; i++) printf "2024-03-05T10:%02d:%02d,%s,%d,%d\n",
        s / 60, s % 60, h, i, h == "a" ? 100 : 300 }'
  }
  again() { # LINE
    try extract a.csv
    [ "$status" -eq 3 ]
    [ ! -s out ]
    [ "$(tail -1 err)" = "dlest: a.csv:$1: $(message logs_in_a_row)" ] ||
      { cat err; return 1; }
  }
  for power in gpu_power_w 'power.draw [W]'; do
    header="timestamp,where,index,$power"
    { echo "$header"; block a 0 19; block b 0 19; } >a.csv
    again 42
    { echo "$header"; block a 0 599; block b 0 599; block c 0 599; } >a.csv
    again 1202
    # recorders that start and end some seconds apart
    { echo "$header"; block a 10 599; block b 3 592; } >a.csv
    again 1182
    # the clock is set back by 5 min
    { echo "$header"; block a 0 599; block a 300 899; } >a.csv
    try extract a.csv -f csv
    [ "$status" -eq 0 ]
    is duration_s 1199
    # the training goes on in another place
    { echo "$header"; block a 0 599; block b 600 1199; } >a.csv
    gives 0 '' extract a.csv -f csv
    is duration_s 1199
  done
  # a later comment of another node
  { printf '# host: n1\ntimestamp,gpu_power_w\n'; block a 0 599 |
    sed -n 's/,a,0//p'; printf '# host: n2\n'; block b 0 599 |
    sed -n 's/,b,0//p'; } >a.csv
  again 604
  grep -qF "a.csv:603: $(message comment_of_another_node n2 n1)" err
  # in each round, without times: nobody can tell the two
  for s in 0 1 2 3 4 5 6 7 8 9; do
    printf '# node: n1\n# gpu pwr\n0 100\n# node: n2\n# gpu pwr\n0 300\n'
  done >b.txt
  try extract b.txt
  grep -qF "b.txt:4: $(message comment_of_another_node n2 n1)" err
}

@test "several rounds of two devices in each second" {
  # 100 W and 130 W in turn with a noise of 40 W; 8, 6, 4 rows a second
  { echo '#Time        gpu    pwr'
    awk 'BEGIN { srand(7); for (s = 0; s < 50; s++)
      for (i = 0; i < 8 - 2 * (s % 3); i++)
        printf " 10:00:%02d 0 %.0f\n", s, 100 + (i % 2) * 30 + 40 * rand() }'
  } >a.txt
  try extract a.txt
  [ "$status" -eq 3 ]
  grep -qF "a.txt:3: $(message two_readings_at_once GPU 0 2)" err
  # the same noise of one device
  sed 1q a.txt >b.txt
  awk 'BEGIN { srand(7); for (s = 0; s < 50; s++)
    for (i = 0; i < 8 - 2 * (s % 3); i++) { p = .9 * p + 40 * (rand() - .5)
      printf " 10:00:%02d 0 %.0f\n", s, 200 + p } }' >>b.txt
  gives 0 '' extract b.txt -f csv
  is n_gpus 1
}

@test "one GPU sampled ten times a second, with times of whole seconds" {
  for columns in gpu_power_w index,gpu_power_w; do
    awk -v columns=$columns 'BEGIN { print "timestamp," columns
      for (i = 0; i < 300; i++) printf "2024-03-01 10:00:%02d,%s%.2f\n", i / 10,
        columns ~ /index/ ? "0," : "", 200 + 20 * sin(i / 12) }' >a.csv
    gives 0 '' extract a.csv -f csv
    is n_gpus 1
    # 29 to 30 s at 200 W, and less than a period of 20 W
    cell gpu_energy_j | awk '{ exit !($1 > 5700 && $1 < 6300) }'
  done
}

@test "rows of sensors: a part counts with its whole" {
  rows Sensor_Name,Sensor_ID,Watts 'CPU Package,/cpu/0/power/0,45' \
    'CPU Cores,/cpu/0/power/1,30' 'CPU Memory,/cpu/0/power/3,5' \
    'GPU Power,/gpu/0/power/0,120' >a.csv
  gives 0 "dlest: warning: a.csv:3: $(message part_of_another_sensor \
    'CPU Cores')" extract a.csv -f csv
  is gpu_energy_j 1080
  is cpu_energy_j 405
  is ram_energy_j 45
  rows domain,watts package-0,45 package-1,50 Fan,3 >a.csv
  try extract a.csv -f csv
  [ "$status" -eq 3 ]
  grep -qF "$(message unknown_sensor Fan)" err
  is cpu_energy_j 855
}

@test "an instantaneous power before a mean, and numbers without a unit" {
  rows 'GPU inst power (mW),GPU avg power (mW),tot inst power (mW)' \
    15000,3000,22000 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 135
  is node_energy_j 198
  rows 'GPU avg power (mW),GPU inst power (mW)' 3000,15000 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 135
  rows 'GPU inst power,GPU avg power' 15000,3000 >a.csv
  refuses 3 "dlest: a.csv:1: $(message no_unit_no_watts 'GPU inst power' 15000 \
    'GPU inst power')" extract a.csv
}

@test "idle is before the first and after the last use" {
  used() { # 3 samples, 4 in use with a pause of 300 W, 3 samples
    { echo timestamp,gpu_power_w,gpu_util_pct; local i=0 v
      for v; do echo "$((1709631000 + i++)),$v"; done; } >a.csv
    gives 0 '' extract a.csv -f csv
  }
  used 50,0 60,0 390,99 390,99 300,0 390,99 390,99 40,0
  is gpu_idle_w 50
  used 390,99 390,99 300,0 390,99
  is gpu_idle_w ''
  used 300,0 390,99 390,99 390,99
  is gpu_idle_w ''
}

# 100 W 20 and 30 samples long, of which 10 overlap: 9 s, 900 J.
@test "a GPU with one UUID in two logs is said to be measured twice" {
  seq 0 19 | awk 'BEGIN { print "timestamp, index, uuid, power.draw [W]" }
    { printf "2024/05/01 10:00:%02d.000, 0, GPU-7a, 100.00 W\n", $1 }' >a.csv
  seq 10 39 | awk 'BEGIN { print "timestamp, index, uuid, power.draw [W]" }
    { printf "2024/05/01 10:00:%02d.000, 3, GPU-7a, 100.00 W\n", $1 }' >b.csv
  gives 0 "dlest: warning: $(message runs_share_hardware 1 '' 0.00025)" \
    extract a.csv b.csv -f csv
  is gpu_energy_j 1900 1
  is gpu_energy_j 2900 2
  sed -i 's/GPU-7a/GPU-8b/' b.csv
  gives 0 '' extract a.csv b.csv -f csv
}

# 100 and 200 W in turn: numbers with units name no devices.
@test "another power is no device" {
  awk 'BEGIN { print "timestamp, index, power.draw.average [W], power.draw.instant [W]"
    for (i = 0; i < 10; i++)
      printf "2024/05/01 10:00:%02d.000, 0, 150.00 W, %d.00 W\n", i,
        i % 2 ? 100 : 200 }' >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 1350
  is n_gpus 1
}

# 9 W of the board, 10 s.
@test "jtop's powers are in mW" {
  awk 'BEGIN { print "time,uptime,CPU1,GPU,Power VDD_SOC,Power TOT"
    for (i = 0; i <= 10; i++)
      printf "2024-05-01 10:00:%02d.000,1:00,5,90,1500,9000\n", i }' >a.csv
  gives 0 '' extract a.csv -f csv
  is node_energy_j 90
}

# Two hosts with two GPUs each, 100 and 200 W, 9 s.
@test "hosts in amd-smi's tables" {
  awk 'BEGIN { print "timestamp,hostname,gpu,power_usage,gfx"
    for (i = 0; i < 10; i++) for (h = 1; h <= 2; h++) for (g = 0; g < 2; g++)
      printf "%d,n%d,%d,%d,50\n", 1714557600 + i, h, g, 100 * (g + 1) }' >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 5400
  is n_gpus 4
  is n_nodes 2
}

# Two ranks log both GPUs of 100 and 200 W, 9 s.
@test "GPUs with a UUID are counted once, whoever logs them" {
  awk 'BEGIN { print "timestamp,rank,uuid,power.draw [W]"
    for (i = 0; i < 10; i++) for (r = 0; r < 2; r++) for (g = 1; g <= 2; g++)
      printf "2024-05-01 10:00:%02d.%03d,%d,GPU-%08d-a,%d.00 W\n", i, 20 * r, r,
        g,
        100 * g }' >a.csv
  gives 0 '' extract a.csv -f csv
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "gpu_energy_j") c = i }
    NR == 2 { exit !($c > 2700 && $c < 2710) }' out # 9.02 s
  is n_gpus 2
}

# rows of 11 s at "SENSOR,ID,WATTS"..., one row of each per second
sensors() { # HEADER ROW...
  awk 'BEGIN { print ARGV[1]
    for (t = 0; t <= 10; t++) for (i = 2; i < ARGC; i++)
      print 1709631000 + t "," ARGV[i] }' "$@" >sensors.csv
  gives 0 '' extract sensors.csv -f csv
}

@test "rows of sensors that have a device's number" {
  local header=timestamp,domain,device_id,power_w
  sensors $header gpu,0,30 cpu_package,0,15
  is gpu_energy_j 300
  is cpu_energy_j 150
  is n_gpus 1
  is boundary gpu+cpu
  # numbers of their own, so that they alone tell the rows apart
  sensors $header gpu,0,30 gpu,1,40 cpu_package,2,15
  is gpu_energy_j 700
  is cpu_energy_j 150
  is n_gpus 2
  sensors $header gpu,0,30 gpu,1,40 cpu_package,0,15 cpu_package,1,16 dram,0,5
  is gpu_energy_j 700
  is cpu_energy_j 310
  is ram_energy_j 50
  # the device's column has the sensors' names, and two hosts have the same
  sensors timestamp,device,power_w gpu0,30 gpu1,40 cpu_package,15
  is gpu_energy_j 700
  is cpu_energy_j 150
  sensors timestamp,hostname,domain,power_w a,gpu,30 a,cpu,15 b,gpu,40 b,cpu,16
  is gpu_energy_j 700
  is cpu_energy_j 310
  is n_gpus 2
}

@test "rows of a sum or a mean of the devices beside them do not count" {
  # 100 and 200 W for 9 s
  for sum in sum all 'All GPUs' Average; do
    rows device,power_w gpu0,100 gpu1,200 "$sum,300" >a.csv
    warning="dlest: warning: a.csv:4: $(message sum_of_other_devices "$sum")"
    gives 0 "$warning" extract a.csv -f csv
    is gpu_energy_j 2700
    is n_gpus 2
  done
  rows 'index,power.draw [W]' total,300 0,100 1,200 >a.csv
  warning="dlest: warning: a.csv:3: $(message sum_of_other_devices total)"
  gives 0 "$warning" extract a.csv -f csv
  is gpu_energy_j 2700
  # without a word that says so it counts, with a warning; not of two devices
  rows device,power_w gpu0,100 gpu1,200 0+1,300 >a.csv
  gives 0 "dlest: warning: a.csv: $(message meter_of_a_sum 0+1)" \
    extract a.csv -f csv
  is gpu_energy_j 5400
  rows device,power_w gpu0,100 gpu1,100 gpu2,0 >a.csv
  gives 0 "dlest: warning: a.csv: $(message gpu_is_zero gpu2)" \
    extract a.csv -f csv
  rows gpu,power_w all,300 >a.csv # alone it counts
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 2700
}

@test "JSON: elements of arrays by their index, and a GPU that joins late" {
  # counters of 100 and 200 W, in turns of places; the second lacks at 3 s
  for i in 0 1 2 3 4 5; do
    a="{\"index\": 0, \"energy_j\": $((10000 + 100 * i))}"
    b="{\"index\": 1, \"energy_j\": $((500000 + 200 * i))}"
    case $i in
    3) echo "{\"timestamp\": 170962920$i, \"gpus\": [$a]}" ;;
    [24]) echo "{\"timestamp\": 170962920$i, \"gpus\": [$b, $a]}" ;;
    *) echo "{\"timestamp\": 170962920$i, \"gpus\": [$a, $b]}" ;;
    esac
  done >a.jsonl
  gives 0 '' extract a.jsonl -f csv
  is gpu_energy_j 1500
  for i in 0 1; do
    echo "{\"timestamp\": 170962920$i, \"gpus\": [{\"id\": 0, \"power_w\": 100},
      {\"id\": 0, \"power_w\": 200}]}" | tr -d '\n'
    echo
  done >a.jsonl # one number twice: by their places
  gives 0 '' extract a.jsonl -f csv
  is gpu_energy_j 300
  for i in $(seq 1000 1399); do
    if [ "$i" -lt 1300 ]; then more= ; else more=', "gpu1": {"power_w": 200}'; fi
    echo "{\"timestamp\": 170962$i, \"gpu0\": {\"power_w\": 100}$more}"
  done >a.jsonl
  warning="dlest: warning: a.jsonl:301: $(message late_power gpu1.power_w)"
  gives 0 "$warning" extract a.jsonl -f csv
  is gpu_energy_j 39900
}

@test "a total beside its parts is their sum, and of no node" {
  # 100 W of a GPU, 50 W of a CPU, for 9 s
  rows gpu_power_w,cpu_power_w,total_power_w 100,50,150 >a.csv
  gives 0 '' extract a.csv -f csv
  is energy_j 1350
  is boundary gpu+cpu
  rows gpu_power_w,cpu_power_w,total_power_w 100,50,170 >a.csv
  gives 0 '' extract a.csv -f csv
  is energy_j 1530
  is boundary node
  printf '%s\n' time_s,gpu_power_w,cpu_power_w,total_energy_j 0,100,50,0 \
    10,100,50,1500 20,100,50,3000 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 2000
  is energy_j 3000
  is boundary gpu+cpu
  # a total of the GPUs alone, and one of unknown parts
  rows gpu_power_w,cpu_power_w,total_power_w 100,50,100 >a.csv
  warning="dlest: warning: a.csv: $(message node_takes_less 900 1.35e+03)"
  gives 0 "$warning" extract a.csv -f csv
  is energy_j 1350
  is boundary gpu+cpu
  rows gpu_power_w,cpu_power_w,node_power_w 100,50,120 >a.csv
  warning="dlest: warning: a.csv: $(message node_takes_less 1.08e+03 1.35e+03)"
  gives 0 "$warning" extract a.csv -f csv
  # NVML's counter, in spite of its name
  printf '%s\n' time_s,cpu_power_w,total_energy_consumption_mj 0,50,0 \
    10,50,1000000 20,50,2000000 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 2000
  rows gpu_power_mean_w,gpu_power_sum_w 100,200 >a.csv
  gives 0 '' extract a.csv -f csv
  is gpu_energy_j 1800
}

@test "JSON: units beside values, and the sockets of amd-smi, which are GPUs" {
  for i in 0 1 2 3; do
    echo "{\"timestamp\": 170962920$i, \"gpu_power\": {\"value\": 100000,
      \"unit\": \"mW\"}}" | tr -d '\n'
    echo
  done >a.jsonl
  gives 0 '' extract a.jsonl -f csv
  is gpu_energy_j 300
  for i in 0 1 2 3; do
    for gpu in 0 1; do
      echo "{\"timestamp\": 170962920$i, \"gpu\": $gpu, \"power\":
        {\"socket_power\": {\"value\": 100, \"unit\": \"W\"}}}" | tr -d '\n'
      echo
    done
  done >a.jsonl
  gives 0 '' extract a.jsonl -f csv
  is gpu_energy_j 600
  is n_gpus 2
  is boundary gpu
}

@test "JSON of Telegraf: fields and tags are columns of their own names" {
  # two nodes with two GPUs of 100 W each, for 5 s
  for i in 0 1 2 3 4 5; do
    for device in 'a 0' 'a 1' 'b 0' 'b 1'; do
      echo "{\"fields\": {\"power_draw\": 100}, \"name\": \"nvidia_smi\",
        \"tags\": {\"host\": \"${device% *}\", \"index\": \"${device#* }\"},
        \"timestamp\": 170962920$i}" | tr -d '\n'
      echo
    done
  done >a.jsonl
  gives 0 '' extract a.jsonl -f csv
  is gpu_energy_j 2000
  is n_gpus 4
  is n_nodes 2
}
