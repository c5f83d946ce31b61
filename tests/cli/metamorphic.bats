#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Changes of the input that must not change the result, or change it in a known
# way: there is no other expected value.

load common

@test "a log from a slow pipe is recognised as its file is" {
  printf '%s\n' 'JobID|ElapsedRaw|ConsumedEnergyRaw' '5|1|0' '5.batch|1|200' \
    '5.0|0|100' '5|2|0' '5.batch|2|500' '5.0|1|390' >sstat.txt
  gives 0 '' extract sstat.txt -f json
  check '.runs[0].format == "sstat"'
  jq '.runs[0] | del(.file, .run_id)' out >file.json
  { head -n 3 sstat.txt; sleep 0.2; tail -n +4 sstat.txt; } |
    "$DLEST" extract - -f json | jq '.runs[0] | del(.file, .run_id)' >pipe.json
  diff -u file.json pipe.json
}
