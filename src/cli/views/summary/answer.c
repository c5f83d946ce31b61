/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/answer.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/number.h"
#include "output/units.h"

void dl_answer_remark(struct dl_answer_line *l, const char *fmt, ...) {
  va_list args;
  dl_text_add(&l->remark, l->remark.len > 0 ? ", " : "");
  va_start(args, fmt);
  dl_text_vprintf(&l->remark, fmt, args);
  va_end(args);
}

void dl_answer_number(struct dl_answer_line *l, const char *before, double x,
                      const char *after) {
  if (isnan(x))
    return;
  char number[DL_NUMBER_SIZE];
  dl_answer_remark(l, "%s%s%s", before, dl_format_digits(number, x, 3), after);
}

void dl_answer_quantity(struct dl_answer_line *l, enum dl_style style,
                        const char *unit, double x, const char *after) {
  const struct dl_value v = dl_number(x);
  if (isnan(x))
    return;
  dl_text_add(&l->remark, l->remark.len > 0 ? ", " : "");
  dl_show(&l->remark, style, unit, &v, NULL);
  dl_text_add(&l->remark, after);
}

void dl_add_interval(struct dl_text *t, enum dl_style style, const char *unit,
                     double as, const struct dl_value *low,
                     const struct dl_value *high) {
  const struct dl_multiple scale = dl_multiple_for(style, as);
  DL_TEXT(range);
  double least = dl_value_quantity(low), most = dl_value_quantity(high);
  if (scale.name && least > 0 && !dl_multiple_suits(&scale, least, most)) {
    dl_show(t, style, unit, low, NULL);
    dl_text_add(t, " to ");
    dl_show(t, style, unit, high, NULL);
    return;
  }
  dl_show_range(&range, style, low, high, &scale);
  const char *text = dl_text_str(&range), *dots = strstr(text, " .. ");
  size_t n = dots ? (size_t)(dots - text) : 0;
  if (dots && (strlen(dots + 4) != n || memcmp(text, dots + 4, n) != 0))
    dl_text_printf(t, "%.*s to ", (int)n, text);
  if (dots) {
    dl_text_add(t, dots + 4);
    dl_show_unit(t, " ", style, unit, &scale);
  }
}

void dl_answer_figure(struct dl_answer_line *l, const struct dl_answer *a) {
  const struct dl_value v[] = {dl_number(a->x), dl_number(a->low),
                               dl_number(a->high)};
  l->label = a->label;
  dl_show(&l->figure, a->style, a->unit, &v[0], NULL);
  if (isnan(a->low) || isnan(a->high))
    return;
  if (a->interval)
    dl_text_printf(&l->remark, "%s ", a->interval);
  dl_add_interval(&l->remark, a->style, a->unit, a->x, &v[1], &v[2]);
}

void dl_answer_lines(struct dl_report *r, struct dl_answer_line *l, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (l[i].label)
      dl_report_add(r, NULL, l[i].label, NULL, DL_CODE,
                    dl_string(dl_text_str(&l[i].figure)));
    if (l[i].label && l[i].remark.len > 0)
      dl_report_remark(r, dl_text_str(&l[i].remark));
    dl_text_free(&l[i].figure);
    dl_text_free(&l[i].remark);
  }
}

const char *dl_boundary_words(const char *boundary, bool several) {
  static const struct dl_named_text all[2][5] = {
      {{"gpu", "GPU alone"},
       {"cpu", "CPU alone"},
       {"gpu+ram", "GPU and memory"},
       {"node", "whole node"},
       {"facility", "node and cooling"}},
      {{"gpu", "GPUs alone"},
       {"cpu", "CPUs alone"},
       {"gpu+ram", "GPUs and memory"},
       {"node", "whole nodes"},
       {"facility", "nodes and cooling"}}};
  return dl_text_of_name(all[several], 5, boundary, boundary);
}

/* --- quantities of formulas and fits */

/* Words for quantities that the ranges of shipped fits are about or that
 * formulas often use. */
static const struct dl_named_text quantities[] = {
    {"gpu.tdp_w", "TDP"},
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
    {"frozen_base", "frozen backbone"},
    {"arch.experts", "mixture of experts"},
    {"fine_tune", "fine-tuning of a part"},
    {"stack", "software"},
    {"gpu.family", "GPU generation"}};

static const char *quantity_words(const char *name) {
  return dl_text_of_name(quantities, DL_LENGTH(quantities), name, name);
}

void dl_add_quantities(struct dl_text *t, const char *const *name, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const char *words = quantity_words(name[i]);
    bool said = false;
    for (size_t k = 0; k < i; k++)
      said = said || strcmp(words, quantity_words(name[k])) == 0;
    if (!said)
      dl_text_printf(t, "%s%s", i > 0 ? ", " : "", words);
  }
}
