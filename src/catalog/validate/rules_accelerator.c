/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for accelerators: rules of their generation (generations.h), and rules
 * for all. */

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "catalog/validate/generations.h"
#include "catalog/validate/rules_private.h"

/* Whether e is a CPU. With all lanes busy it runs at its base clock. */
static bool is_processor(const struct dl_accelerator *e) {
  static const char form[] = "socket";
  return dl_same_text(e->form, form) &&
         !dl_generation_find(e->family, e->memory_type);
}

static bool among(double ratio, const struct dl_span *span) {
  for (size_t i = 0; i < DL_MOST_SPANS && span[i].high > 0; i++)
    if (ratio >= span[i].low && ratio <= span[i].high)
      return true;
  return false;
}

/* The ratio of two values must be in one of the spans. */
static void ratio(const struct dl_rules *s, const double *top,
                  const double *bottom, const struct dl_span *span) {
  double r = dl_rule_value(s, top) / dl_rule_value(s, bottom);
  if (span[0].high <= 0 || isnan(r) || among(r, span))
    return;
  size_t last = 0;
  while (last + 1 < DL_MOST_SPANS && span[last + 1].high > 0)
    last++;
  dl_rule_report(s, top,
                 "is %.3g x %s; boards of this generation have %.3g to %.3g x, "
                 "dense",
                 r, dl_field_label(s, bottom), span[0].low, span[last].high);
}

static void fp32_rate(const struct dl_rules *s, double issue) {
  const struct dl_accelerator *gpu = DL_AS(accelerator, s->e);
  bool processor = is_processor(gpu);
  const double *clock = processor ? &gpu->base_mhz : &gpu->boost_mhz;
  double want = dl_rule_value(s, &gpu->cuda_cores) * 2 * issue *
                dl_rule_value(s, clock) / 1e6;
  double rate = dl_rule_value(s, &gpu->peak_fp32_tflops);
  if (fabs(rate / want - 1) > 0.03)
    dl_rule_report(s, &gpu->peak_fp32_tflops,
                   "is not cuda_cores x %g x %s = %.4g", 2 * issue,
                   processor ? "base_mhz" : "boost_mhz", want);
}

static void power(const struct dl_rules *s) {
  const struct dl_accelerator *gpu = DL_AS(accelerator, s->e);
  double tdp = gpu->tdp_w;
  dl_rule_range(s, &gpu->tdp_w, 1, 2000);
  if (dl_rule_value(s, &gpu->idle_w) >= tdp / 2)
    dl_rule_report(s, &gpu->idle_w, "is half of tdp_w %g or more", tdp);
  if (dl_rule_value(s, &gpu->context_w) >= tdp / 2)
    dl_rule_report(s, &gpu->context_w, "is half of tdp_w %g or more", tdp);
  if (dl_rule_value(s, &gpu->most_limit_w) <= tdp)
    dl_rule_report(s, &gpu->most_limit_w, "is tdp_w %g or less", tdp);
  double limit = dl_rule_value(s, &gpu->power_limit_w) / tdp;
  if (limit < 0.2 || limit > 1.5)
    dl_rule_report(s, &gpu->power_limit_w,
                   "is %.3g x tdp_w; 0.2 to 1.5 x is usual", limit);
}

/* FP32 rate per watt. Boards of a generation differ by less than a factor of
 * ten, so that an error of that size in either value is found. */
static void efficiency(const struct dl_rules *s,
                       const struct dl_generation *g) {
  const struct dl_accelerator *gpu = DL_AS(accelerator, s->e);
  static const struct dl_span processors = {.002, .08}, anything = {.001, .6};
  const struct dl_span *span = is_processor(gpu) ? &processors : &anything;
  if (g)
    span = &g->per_w;
  double r =
      dl_rule_value(s, &gpu->peak_fp32_tflops) / dl_rule_value(s, &gpu->tdp_w);
  if (r < span->low || r > span->high)
    dl_rule_report(s, &gpu->peak_fp32_tflops,
                   "by tdp_w %g is %.3g TFLOP/s a watt; %s have %g to %g",
                   gpu->tdp_w, r,
                   g ? "boards of this generation" : "all known ones",
                   span->low, span->high);
}

static void memory(const struct dl_rules *s) {
  const struct dl_accelerator *gpu = DL_AS(accelerator, s->e);
  const char *type = gpu->memory_type;
  dl_rule_range(s, &gpu->memory_gb, 0.1, 1000);
  if (!type)
    return;
  const struct dl_memory_technology *m = dl_memory_find(type);
  double devices = gpu->devices;
  double x = dl_rule_value(s, &gpu->bandwidth_gb_s) / dl_or(devices, 1);
  if (m && (x < m->bandwidth.low || x > m->bandwidth.high))
    dl_rule_report(s, &gpu->bandwidth_gb_s,
                   "is not what %s gives, %g to %g GB/s (bytes, not bits)",
                   type, m->bandwidth.low, m->bandwidth.high);
  if (m)
    return;
  dl_findings_warn(
      s->findings, s->e->file, s->e->line, s->e->id,
      "memory_type '%s' is not known: its bandwidth is not checked", type);
}

/* A rate at a lower precision must not be smaller. Rates are rounded: 90.5
 * equals 90.51. */
static void order(const struct dl_rules *s) {
  const struct dl_accelerator *gpu = DL_AS(accelerator, s->e);
  enum { LESS, MORE };
  const double *const pairs[][2] = {
      {&gpu->peak_fp64_tflops, &gpu->peak_fp64_tensor_tflops},
      {&gpu->peak_fp32_tflops, &gpu->peak_tf32_tflops},
      {&gpu->peak_fp32_tflops, &gpu->peak_fp16_tensor_tflops},
      {&gpu->peak_fp32_tflops, &gpu->peak_bf16_tensor_tflops},
      {&gpu->peak_tf32_tflops, &gpu->peak_fp16_tensor_tflops},
      {&gpu->peak_fp16_tensor_tflops, &gpu->peak_fp8_tensor_tflops},
      {&gpu->peak_fp16_tensor_tflops, &gpu->peak_int8_tensor_tops},
      {&gpu->peak_fp8_tensor_tflops, &gpu->peak_fp4_tensor_tflops},
  };
  for (size_t i = 0; i < DL_LENGTH(pairs); i++) {
    double less = dl_rule_value(s, pairs[i][LESS]);
    if (dl_rule_value(s, pairs[i][MORE]) < 0.99 * less)
      dl_rule_report(s, pairs[i][MORE], "is below %s %g",
                     dl_field_label(s, pairs[i][LESS]), less);
  }
  if (gpu->boost_mhz < gpu->base_mhz)
    dl_rule_report(s, &gpu->boost_mhz, "is below base_mhz %g", gpu->base_mhz);
  if (gpu->all_core_mhz < gpu->base_mhz || gpu->all_core_mhz > gpu->boost_mhz)
    dl_rule_report(s, &gpu->all_core_mhz, "is not in base_mhz to boost_mhz");
}

static void by_generation(const struct dl_rules *s,
                          const struct dl_generation *g) {
  const struct dl_accelerator *gpu = DL_AS(accelerator, s->e);
  const struct dl_span twice[DL_MOST_SPANS] = {
      {0.95 * g->tf32, 1.05 * g->tf32}};
  const struct dl_span same[DL_MOST_SPANS] = {{0.4, 1.05}};
  ratio(s, &gpu->peak_fp64_tflops, &gpu->peak_fp32_tflops, g->fp64);
  ratio(s, &gpu->peak_fp16_tflops, &gpu->peak_fp32_tflops, g->fp16);
  ratio(s, &gpu->peak_fp16_tensor_tflops, &gpu->peak_fp32_tflops, g->tensor);
  ratio(s, &gpu->peak_bf16_tensor_tflops, &gpu->peak_fp16_tensor_tflops, same);
  ratio(s, &gpu->peak_int8_tensor_tops, &gpu->peak_fp16_tensor_tflops, g->int8);
  ratio(s, &gpu->peak_fp8_tensor_tflops, &gpu->peak_fp16_tensor_tflops, g->fp8);
  if (g->tf32 > 0)
    ratio(s, &gpu->peak_fp16_tensor_tflops, &gpu->peak_tf32_tflops, twice);
  double cores = dl_rule_value(s, &gpu->cuda_cores);
  double want = dl_rule_value(s, &gpu->multiprocessors) * g->lanes;
  if (!isnan(cores) && !isnan(want) && cores != want)
    dl_rule_report(s, &gpu->cuda_cores, "is not multiprocessors x %g = %g",
                   g->lanes, want);
}

void dl_rules_accelerator(const struct dl_rules *s) {
  const struct dl_accelerator *gpu = DL_AS(accelerator, s->e);
  const double *whole[] = {&gpu->cuda_cores, &gpu->multiprocessors,
                           &gpu->devices, &gpu->year};
  const struct dl_generation *g =
      dl_generation_find(gpu->family, gpu->memory_type);
  power(s);
  memory(s);
  fp32_rate(s, g ? g->issue : 1);
  efficiency(s, g);
  order(s);
  for (size_t i = 0; i < DL_LENGTH(whole); i++)
    dl_rule_whole(s, whole[i]);
  if (g)
    by_generation(s, g);
}
