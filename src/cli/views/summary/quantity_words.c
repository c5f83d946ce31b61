/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/quantity_words.h"

#include <string.h>

#include "base/memory.h"

/* What the ranges of fits that ship are about, and what formulas often use. */
static const struct {
  const char *name, *words;
} table[] = {{"gpu.tdp_w", "TDP"},
             {"gpu.bandwidth_gb_s", "memory bandwidth"},
             {"gpu.memory_gb", "GPU memory"},
             {"gpu.cuda_cores", "number of cores"},
             {"gpu.peak_fp32_tflops", "FP32 peak rate"},
             {"peak_tflops", "peak rate"},
             {"batch_size", "batch size"},
             {"n_gpus", "number of GPUs"},
             {"image_px", "input size"},
             {"seq_len", "sequence length"},
             {"train_samples", "training samples"},
             {"val_samples", "validation samples"},
             {"prompt_tokens", "prompt tokens"},
             {"output_tokens", "output tokens"},
             {"arch.token_params_m", "parameters per token"},
             {"params_m", "parameters"},
             {"arch.params_m", "parameters"},
             {"macs_g", "MACs"},
             {"arch.macs_g", "MACs"},
             {"acts_m", "activations"},
             {"arch.acts_m", "activations"},
             {"frozen_base", "frozen backbone"}};

const char *dl_quantity_words(const char *name) {
  for (size_t i = 0; i < DL_LENGTH(table); i++)
    if (strcmp(table[i].name, name) == 0)
      return table[i].words;
  return name;
}

void dl_add_quantities(struct dl_text *t, const char *const *name, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const char *words = dl_quantity_words(name[i]);
    bool said = false;
    for (size_t k = 0; k < i; k++)
      said = said || strcmp(words, dl_quantity_words(name[k])) == 0;
    if (!said)
      dl_text_printf(t, "%s%s", i > 0 ? ", " : "", words);
  }
}
