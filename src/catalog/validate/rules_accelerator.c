/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for accelerators: what generations.h says of the hardware, and what
 * holds for all of them. */

#include <math.h>
#include <string.h>

#include "catalog/validate/generations.h"
#include "catalog/validate/rules_private.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A central processor: its lanes work at the base clock when all do. */
static bool is_processor(const struct dl_descriptor *e) {
  return e->form && strcmp(e->form, "socket") == 0 &&
         !dl_generation_find(e->family, e->memory_type);
}

static bool among(double ratio, const struct dl_span *span) {
  for (size_t i = 0; i < DL_MOST_SPANS && span[i].high > 0; i++)
    if (ratio >= span[i].low && ratio <= span[i].high)
      return true;
  return false;
}

/* Field `top` by field `bottom` must be in one of the spans. */
static void ratio(const struct dl_subject *s, size_t top, size_t bottom,
                  const struct dl_span *span) {
  double r = dl_bound_value(s, top) / dl_bound_value(s, bottom);
  if (span[0].high <= 0 || isnan(r) || among(r, span))
    return;
  size_t last = 0;
  while (last + 1 < DL_MOST_SPANS && span[last + 1].high > 0)
    last++;
  dl_object(s, top,
            "is %.3g x %s; boards of this generation have %.3g to %.3g x, "
            "dense",
            r, dl_kind_info(DL_ACCELERATOR)->fields[bottom].name, span[0].low,
            span[last].high);
}

static void fp32_rate(const struct dl_subject *s, double issue) {
  bool processor = is_processor(s->e);
  size_t clock = processor ? DL_GPU_BASE_MHZ : DL_GPU_BOOST_MHZ;
  double want = dl_bound_value(s, DL_GPU_CORES) * 2 * issue *
                dl_bound_value(s, clock) / 1e6;
  double rate = dl_bound_value(s, DL_GPU_FP32_TFLOPS);
  if (fabs(rate / want - 1) > 0.03)
    dl_object(s, DL_GPU_FP32_TFLOPS, "is not cuda_cores x %g x %s = %.4g",
              2 * issue, processor ? "base_mhz" : "boost_mhz", want);
}

static void power(const struct dl_subject *s) {
  double tdp = dl_value(s, DL_GPU_TDP_W);
  dl_within(s, DL_GPU_TDP_W, 1, 2000);
  if (dl_bound_value(s, DL_GPU_IDLE_W) >= tdp / 2)
    dl_object(s, DL_GPU_IDLE_W, "is half of tdp_w %g or more", tdp);
  double limit = dl_bound_value(s, DL_GPU_LIMIT_W) / tdp;
  if (limit < 0.2 || limit > 1.5)
    dl_object(s, DL_GPU_LIMIT_W, "is %.3g x tdp_w; 0.2 to 1.5 x is usual",
              limit);
}

/* FP32 by watt: a slip of a factor of ten in either is beyond what boards of
 * a generation differ by. */
static void efficiency(const struct dl_subject *s,
                       const struct dl_generation *g) {
  static const struct dl_span processors = {.002, .08}, anything = {.001, .6};
  const struct dl_span *span = g                    ? &g->per_w
                               : is_processor(s->e) ? &processors
                                                    : &anything;
  double r =
      dl_bound_value(s, DL_GPU_FP32_TFLOPS) / dl_bound_value(s, DL_GPU_TDP_W);
  if (r < span->low || r > span->high)
    dl_object(s, DL_GPU_FP32_TFLOPS,
              "by tdp_w %g is %.3g TFLOP/s a watt; %s have %g to %g",
              dl_value(s, DL_GPU_TDP_W), r,
              g ? "boards of this generation" : "all known ones", span->low,
              span->high);
}

static void memory(const struct dl_subject *s) {
  const char *type = s->e->memory_type;
  dl_within(s, DL_GPU_MEMORY_GB, 0.1, 1000);
  if (!type)
    return;
  const struct dl_memory *m = dl_memory_find(type);
  double devices = dl_value(s, DL_GPU_DEVICES);
  double x =
      dl_bound_value(s, DL_GPU_BANDWIDTH_GB_S) / (isnan(devices) ? 1 : devices);
  if (m && (x < m->bandwidth.low || x > m->bandwidth.high))
    dl_object(s, DL_GPU_BANDWIDTH_GB_S,
              "is not what %s gives, %g to %g GB/s (bytes, not bits)", type,
              m->bandwidth.low, m->bandwidth.high);
  if (m)
    return;
  dl_findings_add(s->l, false, s->e->file, s->e->line, s->e->id,
                  "memory_type '%s' is not known: its bandwidth is not checked",
                  type);
}

/* A rate of lesser precision is no lower. Rates are rounded: 90.5 and 90.51
 * are the same. */
static void order(const struct dl_subject *s) {
  static const struct {
    size_t less, more;
  } pairs[] = {
      {DL_GPU_FP64_TFLOPS, DL_GPU_FP64_TENSOR_TFLOPS},
      {DL_GPU_FP32_TFLOPS, DL_GPU_TF32_TFLOPS},
      {DL_GPU_FP32_TFLOPS, DL_GPU_FP16_TENSOR_TFLOPS},
      {DL_GPU_FP32_TFLOPS, DL_GPU_BF16_TENSOR_TFLOPS},
      {DL_GPU_TF32_TFLOPS, DL_GPU_FP16_TENSOR_TFLOPS},
      {DL_GPU_FP16_TENSOR_TFLOPS, DL_GPU_FP8_TENSOR_TFLOPS},
      {DL_GPU_FP16_TENSOR_TFLOPS, DL_GPU_INT8_TENSOR_TOPS},
  };
  const struct dl_field *f = dl_kind_info(DL_ACCELERATOR)->fields;
  for (size_t i = 0; i < COUNT(pairs); i++) {
    double less = dl_bound_value(s, pairs[i].less);
    if (dl_bound_value(s, pairs[i].more) < 0.99 * less)
      dl_object(s, pairs[i].more, "is below %s %g", f[pairs[i].less].name,
                less);
  }
  if (dl_value(s, DL_GPU_BOOST_MHZ) < dl_value(s, DL_GPU_BASE_MHZ))
    dl_object(s, DL_GPU_BOOST_MHZ, "is below base_mhz %g",
              dl_value(s, DL_GPU_BASE_MHZ));
}

static void by_generation(const struct dl_subject *s,
                          const struct dl_generation *g) {
  const struct dl_span twice[DL_MOST_SPANS] = {
      {0.95 * g->tf32, 1.05 * g->tf32}};
  const struct dl_span same[DL_MOST_SPANS] = {{0.4, 1.05}};
  ratio(s, DL_GPU_FP64_TFLOPS, DL_GPU_FP32_TFLOPS, g->fp64);
  ratio(s, DL_GPU_FP16_TFLOPS, DL_GPU_FP32_TFLOPS, g->fp16);
  ratio(s, DL_GPU_FP16_TENSOR_TFLOPS, DL_GPU_FP32_TFLOPS, g->tensor);
  ratio(s, DL_GPU_BF16_TENSOR_TFLOPS, DL_GPU_FP16_TENSOR_TFLOPS, same);
  ratio(s, DL_GPU_INT8_TENSOR_TOPS, DL_GPU_FP16_TENSOR_TFLOPS, g->int8);
  ratio(s, DL_GPU_FP8_TENSOR_TFLOPS, DL_GPU_FP16_TENSOR_TFLOPS, g->fp8);
  if (g->tf32 > 0)
    ratio(s, DL_GPU_FP16_TENSOR_TFLOPS, DL_GPU_TF32_TFLOPS, twice);
  double cores = dl_bound_value(s, DL_GPU_CORES);
  double want = dl_bound_value(s, DL_GPU_MULTIPROCESSORS) * g->lanes;
  if (!isnan(cores) && !isnan(want) && cores != want)
    dl_object(s, DL_GPU_CORES, "is not multiprocessors x %g = %g", g->lanes,
              want);
}

void dl_rules_accelerator(const struct dl_subject *s) {
  static const size_t whole[] = {DL_GPU_CORES, DL_GPU_MULTIPROCESSORS,
                                 DL_GPU_DEVICES, DL_GPU_YEAR};
  const struct dl_generation *g =
      dl_generation_find(s->e->family, s->e->memory_type);
  power(s);
  memory(s);
  fp32_rate(s, g ? g->issue : 1);
  efficiency(s, g);
  order(s);
  for (size_t i = 0; i < COUNT(whole); i++)
    dl_whole(s, whole[i]);
  if (g)
    by_generation(s, g);
}
