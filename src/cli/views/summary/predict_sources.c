/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/predict_sources.h"

#include <math.h>

#include "base/memory.h"

struct figure {
  const char *words, *unit;
  const double *x; /* member of the descriptor */
};

static void add(struct dl_table *t, const struct dl_descriptor *e,
                const struct figure *f, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const struct dl_origin *from = &e->origin[dl_field_index(e, f[i].x)];
    const struct dl_value v[] = {
        dl_string(f[i].words), dl_number(*f[i].x),      dl_string(f[i].unit),
        dl_string(e->name),    dl_string(from->source), dl_string(from->note)};
    if (!isnan(*f[i].x))
      dl_table_row(t, v, NULL);
  }
}

void dl_predict_sources(struct dl_report *r, const struct dl_job *job) {
  static const struct dl_column columns[] = {
      {NULL, "figure", NULL, DL_CODE, DL_MAIN},
      {NULL, "value", NULL, DL_PLAIN, DL_MAIN},
      {NULL, "unit", NULL, DL_CODE, DL_MAIN},
      {NULL, "of", NULL, DL_CODE, 0},
      {NULL, "source", NULL, DL_CODE, DL_MAIN},
      {NULL, "note", NULL, DL_CODE, DL_SPARE}};
  const struct dl_accelerator *gpu = job->found.gpu;
  const struct dl_architecture *arch = job->found.arch;
  if (!gpu && !arch)
    return;
  struct dl_table *t =
      dl_report_table(r, NULL, "Sources", columns, DL_LENGTH(columns), false);
  if (gpu) {
    const struct figure of_gpu[] = {
        {"TDP", "W", &gpu->tdp_w},
        {"memory bandwidth", "GB/s", &gpu->bandwidth_gb_s},
        {"memory", "GB", &gpu->memory_gb},
        {"FP32 peak rate", "TFLOP/s", &gpu->peak_fp32_tflops},
        {"TF32 tensor peak rate", "TFLOP/s", &gpu->peak_tf32_tflops},
        {"FP16 tensor peak rate", "TFLOP/s", &gpu->peak_fp16_tensor_tflops},
        {"BF16 tensor peak rate", "TFLOP/s", &gpu->peak_bf16_tensor_tflops}};
    add(t, &gpu->head, of_gpu, DL_LENGTH(of_gpu));
  }
  if (arch) {
    const struct figure of_arch[] = {{"MACs", "G", &arch->macs_g},
                                     {"activations", "M", &arch->acts_m},
                                     {"parameters", "M", &arch->params_m}};
    add(t, &arch->head, of_arch, DL_LENGTH(of_arch));
  }
}
