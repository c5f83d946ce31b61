# SPDX-License-Identifier: GPL-3.0-or-later
# A training whose known values condition its estimate.

RUN=(predict --arch resnet50 --gpu a100-sxm4-40gb --method physical -q
  --format json)

value() { # FILTER ARG...: of an estimate
  local filter=$1
  shift
  "$DLEST" "${RUN[@]}" "$@" | jq "$filter"
}

# within FILTER VALUE SHARE: of the last output
within() {
  jq -e --argjson v "$2" --argjson s "$3" "$1"' / $v - 1 | fabs <= $s' out \
    >/dev/null || { jq -c "$1" out; return 1; }
}

# less A B: numbers in this order
less() {
  awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}
