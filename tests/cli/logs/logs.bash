# SPDX-License-Identifier: GPL-3.0-or-later
# Loaded by the tests of dlest extract: logs whose energies follow by hand.

HEADER='timestamp, index, name, power.draw [W], utilization.gpu [%]'

# samples N WATTS [FROM]: at 10:00:00 + FROM s, one a second; WATTS may be an
# expression of i
samples() {
  awk -v n="$1" -v from="${3:-0}" 'BEGIN { for (i = 0; i < n; i++) {
    t = 36000 + from + i
    printf "2024-03-05 %02d:%02d:%02d.000, 0, A100, %.2f W, 50 %%\n", \
      t / 3600, t / 60 % 60, t % 60, '"$2"' } }'
}

# log FILE N WATTS
log() {
  { echo "$HEADER"; samples "$2" "$3"; } >"$1"
}

# memory FILE N MB: a psutil log beside it
memory() {
  awk -v n="$2" -v mb="$3" 'BEGIN {
    print "timestamp,cpu usage (%),memory usage (MB)"
    for (i = 0; i < n; i++) { t = 36000 + i
      printf "2024-03-05 %02d:%02d:%02d.100,25,%s\n", \
        t / 3600, t / 60 % 60, t % 60, mb } }' >"$1"
}

# cell COLUMN [ROW]: of the CSV in out, which quotes nothing
cell() {
  awk -F, -v name="$1" -v row="${2:-1}" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
    NR == row + 1 { print $at }' out
}

# is COLUMN VALUE [ROW]
is() {
  local got
  got=$(cell "$1" "${3:-1}")
  [ "$got" = "$2" ] || { echo "$1: '$got', expected '$2'"; return 1; }
}
