#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Serving speeds that others published (data/published-serving.csv) against
# `physical`: no fit has seen them. The bounds are round numbers, tuned to
# nothing; they keep a change from making the estimates much worse.

load ../common

TABLE=$TOP_SRCDIR/data/published-serving.csv
TOOL=$TOP_SRCDIR/docs/lab/make/published_serving.py
export PYTHONDONTWRITEBYTECODE=1

# share FACTOR: rows on standard input, those within that factor, those beyond
# 4, those inside their interval
share() {
  awk -v most="$1" '{ r = $5 > 1 ? $5 : 1 / $5; near += r <= most
      far += r > 4; inside += $6 }
    END { print NR, near, far, inside }'
}

@test "three quarters within a factor of 1.5, four fifths inside their interval" {
  "$TOOL" "$DLEST" --rows >rows
  for half in examined check; do
    read -r all near far inside < <(awk -v h=$half '$2 == h' rows | share 1.5)
    echo "$half: $all rows, $near within 1.5, $far beyond 4, $inside inside"
    [ "$all" -ge 100 ]
    [ $((4 * near)) -ge $((3 * all)) ]
    [ "$far" -eq 0 ]
    [ $((5 * inside)) -ge $((4 * all)) ]
  done
}

# Qwen's speed_benchmark.rst: 84.28 tokens/s of one request on an A100 with 80 GB.
@test "the ratio of a row is that of predict with its options" {
  "$TOOL" "$DLEST" --rows >rows
  "$DLEST" predict --arch qwen2.5-7b --gpu a100-sxm4-80gb --phase inference \
    --precision bf16 --batch-size 1 --requests 1000 --prompt-tokens 1 \
    --output-tokens 2048 --method physical --format json >one.json
  want=$(jq '1000 * 2048 / .estimates[0].duration_s / 84.28' one.json)
  awk -v want="$want" '$3 == "qwen2.5-7b" && !n++ && $4 == "a100-sxm4-80gb" {
      near = $5 / want < 1.0002 && $5 / want > .9998; found = $5 }
    END { print found, want; exit !near }' rows
}

@test "every row has a speed, its setting, a source and a citation" {
  python3 - "$TABLE" <<'PY'
import csv, sys
with open(sys.argv[1], encoding="utf-8") as f:
    for n, r in enumerate(csv.DictReader(f), 2):
        numbers = [float(r[c]) for c in ("n_gpus", "batch_size", "prompt_tokens",
                                         "output_tokens", "output_tokens_per_s")]
        if min(numbers) <= 0 or not all(r[c] for c in (
                "arch", "gpu", "precision", "engine", "source", "citation")):
            sys.exit("line %d: %s" % (n, r))
PY
}
