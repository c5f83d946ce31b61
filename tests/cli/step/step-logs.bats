#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest step: power logs in which something is missing, repeated or over.

bats_require_minimum_version 1.5.0
load ../common

setup() {
  cd "$BATS_TEST_TMPDIR"
}

# power_log EXPRESSION: awk's, for the power at second t of 0 ... end - 1;
# epochs of 60 s (3 s at 70 W, 57 s at 240 W: 13890 J) begin at 8 s. A sample
# of power 0 is left out.
power_log() {
  awk -v end="$2" -v every="${3:-1}" "
    function noise(n) { seed = seed * 16807 % 2147483647; return seed % n }
    function epoch(t) { return t < 0 ? 30 : t % 60 < 3 ? 70 : 240 }
    BEGIN {
      seed = 1
      print \"timestamp, utilization.gpu [%], power.draw [W]\"
      for (t = 0; t < end; t += every) {
        w = $1
        if (w > 0)
          printf \"2024-03-05 %02d:%02d:%02d.000, %d %%, %.2f W\n\",
            9 + int(t / 3600), int(t / 60) % 60, t % 60, w / 2.5 + noise(5),
            w + noise(11) - 5
      }
    }"
}

@test 'a gap in which epochs begin and end is shared among them' {
  # 30 epochs, without the samples of two and a half of them.
  power_log 't > 600 && t < 750 ? 0 : epoch(t - 8)' 1813 >log.csv
  gives 0 "dlest: warning: log.csv:603: $(message gap '2 min 30 s' bridged)" \
    step log.csv --epochs 60 --format json
  check '.epochs_seen == 30'
  # The gap is bridged at the level beside it: at most 2.5 x 3 s of pauses
  # too high by 170 W.
  truth=$((60 * 13890))
  check ".estimates[0].energy_j / $truth | . > 0.98 and . < 1.03"
  check ".estimates[0] | .low_j <= $truth and $truth <= .high_j"
}

@test 'a pause without work: repeated epochs may count twice' {
  # 15 epochs, ten minutes of nothing, 15 epochs.
  power_log 't < 908 ? epoch(t - 8) : t < 1508 ? 30 : epoch(t - 1508)' 2408 \
    >log.csv
  try step log.csv --epochs 60
  grep -q "$(message idle_within '10 min 0. s' '15 min 0. s')" err
  try extract log.csv --find-epochs
  ! grep -q "$(message idle_within '.*' '.*')" err || false
}

@test 'a log that ends without work: the training may have ended' {
  power_log 't < 2408 ? epoch(t - 8) : 30' 3008 >log.csv
  try step log.csv --epochs 60
  grep -q "$(message idle_after '\(9 min 59 s\|10 min 00 s\)')" err
  # It has: nothing is to come.
  try step log.csv --epochs 40 --format json
  ! grep -q "$(message idle_after '.*')" err || false
  near '.estimates[0].energy_j' .seen_energy_j
}

@test 'samples so far apart that ends of epochs may be missed' {
  # 130 s: with 15 s between samples only every third pause of 3 s is met,
  # as 3 x 130 = 26 x 15.
  power_log '(t - 8) % 130 < 3 ? 70 : 240' 3908 15 >log.csv
  gives 0 "dlest: warning: log.csv: $(message epochs_unsure \
    'samples are so far apart that some ends may be missing')" \
    step log.csv --epochs 60 --format json
  check '.epochs_verdict == "unsure" and .epochs_seen <= 10'
}

# ends EPOCH...: ends.csv, with an end every 60 s.
ends() {
  printf '%s\n' "$@" | awk 'BEGIN { print "epoch,end_time" }
    { t = 8 + NR * 60
      printf "%d,2024-03-05 09:%02d:%02d\n", $1, t / 60, t % 60 }' >ends.csv
}

@test 'ends of epochs that are missing or repeated' {
  power_log 'epoch(t - 8)' 500 >log.csv
  ends 0 1 2 3 2 3 4
  gives 0 "dlest: warning: ends.csv:6: $(message epoch_follows_epoch_twice 2 3)" \
    step log.csv ends.csv --epochs 20
  ends 0 1 2 5 6
  gives 0 "dlest: warning: ends.csv:5: $(message epoch_follows_epoch_one 5 2)" \
    step log.csv ends.csv --epochs 20
  ends 4 5 6 7
  gives 0 "dlest: warning: ends.csv:2: $(message epoch_first 4)" \
    step log.csv ends.csv --epochs 20
  ends 1 2 3 4
  gives 0 '' step log.csv ends.csv --epochs 20
}

# gpus SHIFT: two GPUs with epochs of 60 s, the second SHIFT s later.
gpus() {
  power_log 'epoch(t - 8)' 1208 >0.csv
  power_log "epoch(t - 8 - $1)" 1208 >1.csv
  sed -n '1s/, /, index, /p' 0.csv >gpus.csv
  awk -F', ' 'FNR > 1 { print $1 ", " FILENAME + 0 ", " $2 ", " $3 }' \
    0.csv 1.csv | sort -s -t, -k1,1 >>gpus.csv
}

@test 'GPUs that train apart show the ends of both' {
  gpus 30 # the sum has an end every 30 s
  gives 0 "dlest: warning: gpus.csv: $(message epochs_unsure \
    'the GPUs take turns: if they train apart, give each its own log')" \
    step gpus.csv --epochs 60 --format json
  check '.epochs_verdict == "unsure"'
  gpus 0
  gives 0 '' step gpus.csv --epochs 60 --format json
  check '.epochs_verdict == "sure" and (.epochs_seen | . == 19 or . == 20)'
}

@test 'a window of the log: samples before and after it are left out' {
  power_log 'epoch(t - 8)' 1813 >log.csv
  # ten epochs, until 60 s x 10 + 8 s
  gives 0 '' step log.csv --epochs 60 --until 608s --format json
  check '.epochs_seen == 10'
  gives 0 '' step log.csv --epochs 60 --since 608s --format json
  check '.epochs_seen == 20'
  try step log.csv --epochs 60 --until yesterday
  [ "$status" -eq 2 ]
  try step log.csv --epochs 60 --until 608s --follow
  [ "$status" -eq 2 ]
}
