#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Language models that write tokens on CPUs, and GGUF weights.

load ../common

# serve ARG...: the estimate of requests by the physical method, in out
serve() {
  try predict --method physical --phase inference --format json -q "$@"
  if [ "$status" -ne 0 ]; then cat err; return 1; fi
}

# speeds: lines "arch cpu precision tokens/s" of answers of 128 tokens; prints
# the ratio of the estimate to each and whether its interval holds it.
speeds() {
  local arch cpu precision measured
  while IFS=$'\t' read -r arch cpu precision measured; do
    serve --arch "$arch" --cpu "$cpu" --precision "$precision" \
      --prompt-tokens 1 --output-tokens 128 || return 1
    jq -r ".estimates[0] | \"\(128 / .duration_s / $measured) \(
      128 / .duration_low_s >= $measured and
      128 / .duration_high_s <= $measured)\"" out
  done
}

# github.com/ikawrakow/ik_llama.cpp, discussions 164 (Ryzen 9 7950X, threads
# that read fastest; two Xeon E5 of 32 cores); ggml-org/llama.cpp, issues 4716
# (Mixtral), 34 (65B; EPYC 7443P in a virtual machine, March 2023), 11744 (two
# EPYC of 16 cores and 8 channels a socket without placement);
# intel/ipex-llm, issue 8991 (ChatGLM 6B, 52 cores).
@test "published speeds of llama.cpp on CPUs" {
  speeds >ratios <<'END'
llama-3.1-8b	ryzen-9-7950x	bf16	4.27
llama-3.1-8b	ryzen-9-7950x	q8_0	7.63
llama-3.1-8b	ryzen-9-7950x	q4_0	12.92
llama-3.1-8b	ryzen-9-7950x	q6_k	10.05
llama-3.1-8b	ryzen-9-7950x	iq4_xs	13.58
mixtral-8x7b	ryzen-9-5900x	q8_0	3.58
mixtral-8x7b	ryzen-9-7950x	q8_0	3.37
llama-65b	ryzen-7-3700x	q4_0	0.918
chatglm3-6b	xeon-platinum-8480+	q4_0	29.0
llama-3.1-70b	2 x epyc-9174f	fp16	2.4
llama-2-70b	2 x xeon-e5-2690-v4	iq4_xs	1.39
llama-2-7b	epyc-7443	q4_0	11.2
END
  awk '{ x = log($1); if (x < 0) x = -x; if (x < log(1.35)) near++
      if ($2 == "true") held++ }
    END { exit !(NR == 12 && near >= 11 && held >= 11) }' ratios
}

# The sizes of llama.cpp's table of Llama 3.1 8B, GiB (tools/quantize/README.md).
@test "GGUF types have the sizes of their files" {
  local type gib
  while read -r type gib; do
    serve --arch llama-3.1-8b --gpu a100 --precision "$type" \
      --prompt-tokens 1 --output-tokens 1
    check "(.memory_need_gb // .settings.memory_need_gb) / ($gib * 1.073741824) | . > .98 and . < 1.06"
  done <<'END'
Q4_K_M 4.58
q8_0 7.95
Q6_K 6.14
iq4_xs 4.17
IQ2_XXS 2.23
q2_k 2.95
END
}

@test "fewer bits write faster, more requests at once too" {
  local p before=0 rate
  for p in fp16 q8_0 q6_k q4_k_m q3_k_m iq2_m; do
    serve --arch llama-3.1-8b --cpu epyc-7763 --precision $p \
      --prompt-tokens 10 --output-tokens 100
    rate=$(jq '1 / .estimates[0].duration_s' out)
    awk -v a="$before" -v b="$rate" 'BEGIN { exit !(b > a) }'
    before=$rate
  done
  serve --arch llama-3.1-8b --cpu epyc-7763 --precision q4_k_m --requests 8 \
    --prompt-tokens 10 --output-tokens 100
  cp out one
  serve --arch llama-3.1-8b --cpu epyc-7763 --precision q4_k_m --requests 8 \
    --batch-size 8 --prompt-tokens 10 --output-tokens 100
  check ".estimates[0].duration_s < $(jq .estimates[0].duration_s one) / 2"
}

@test "half of the sockets or cores: less bandwidth, fewer cores that wait" {
  serve --arch llama-2-70b --cpu epyc-7763 --precision q4_0 \
    --prompt-tokens 10 --output-tokens 100
  cp out one
  serve --arch llama-2-70b --cpu '2 x epyc-7763' --precision q4_0 \
    --prompt-tokens 10 --output-tokens 100
  check ".estimates[0].duration_s / $(jq .estimates[0].duration_s one) |
    . > .5 and . < 1"
  serve --arch llama-2-70b --cpu epyc-7763 --precision q4_0 --cores 2 \
    --prompt-tokens 10 --output-tokens 100
  check ".estimates[0].duration_s > 2 * $(jq .estimates[0].duration_s one)"
}

@test "a language model must fit the memory of the node" {
  local job=(predict --arch llama-2-70b --cpu '2 x epyc-7763' --phase inference
    --prompt-tokens 500 --output-tokens 200 --precision q8_0 -q)
  try "${job[@]}" --ram-gb 64
  grep -q '7[34] of 64 GB: does not fit' out
  try "${job[@]}" --ram-gb 128
  grep -q '7[34] of 128 GB' out
}

@test "GGUF types that are none, and where none goes" {
  misused predict "$(message invalid_value_nearest precision q4_k_x \
    "'q4_k_s', 'q4_k_m'")" --arch llama-2-7b --gpu a100 --precision q4_k_x
  refuses 3 "dlest: --precision $(message gguf_is_for q4_k_m)" predict \
    --arch resnet50 --phase inference --gpu a100 --precision q4_k_m
  refuses 3 "dlest: --precision $(message gguf_is_for q4_k_m)" predict \
    --arch llama-2-7b --tokens 1e9 --gpu a100 --precision q4_k_m
}
