/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/assumptions.h"

#include <math.h>

#include "base/ascii.h"
#include "catalog/architecture/token_costs.h"
#include "run/setup/training_setup.h"

/* Of the peak rate: of MosaicML's MPT models in bf16, 0.40 on H100 and 0.51 to
 * 0.54 on A100 (median). */
#define EFFICIENCY 0.3
#define EFFICIENCY_OF_TOKENS 0.4

static bool is_inference(const struct dl_row *row) {
  return row->run.phase && dl_strcasecmp(row->run.phase, "inference") == 0;
}

static const char *usual_precision(const struct dl_row *row, bool language) {
  const struct dl_accelerator *gpu = row->found.gpu;
  if (!language)
    return isnan(gpu->peak_tf32_tflops) ? "fp32" : "tf32";
  if (!isnan(gpu->peak_bf16_tensor_tflops))
    return "bf16";
  /* Weights are kept in 16 bits where that makes nothing faster, too. */
  return is_inference(row) || !isnan(gpu->peak_fp16_tensor_tflops) ? "fp16"
                                                                   : "fp32";
}

void dl_assume(struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  bool language = arch && dl_is_language_model(arch);
  if (!dl_run_set_has(&row->given, DL_RUN_efficiency))
    dl_run_set_number(&row->run, DL_RUN_efficiency,
                      language && !is_inference(row) ? EFFICIENCY_OF_TOKENS
                                                     : EFFICIENCY);
  if (!row->run.precision && row->found.gpu)
    dl_assume_text(row, DL_RUN_precision, usual_precision(row, language));
}
