/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/answer.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/number.h"
#include "output/report_tree.h"
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
  dl_answer_remark(l, "%s%s%s", before,
                   dl_group_digits(dl_format_digits(number, x, 3)), after);
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

void dl_answer_figure(struct dl_answer_line *l, const struct dl_answer *a) {
  const bool interval = !isnan(a->low) && !isnan(a->high);
  l->label = a->label;
  dl_show_estimate(&l->figure, a->style, a->unit,
                   (const double[3]){a->x, a->low, a->high});
  if (!interval)
    return;
  dl_show_interval(&l->range, a->style, a->unit, a->x, a->low, a->high);
  if (!isnan(a->coverage))
    dl_text_printf(&l->range, " (%g %%)", 100 * a->coverage);
}

void dl_answer_text(struct dl_answer_line *l, const char *label,
                    const char *text) {
  if (!text[0])
    return;
  l->label = label;
  dl_text_add(&l->figure, text);
}

/* A text, absent if it is empty. */
static struct dl_value optional(const struct dl_text *t) {
  return dl_string(t->len > 0 ? dl_text_str(t) : NULL);
}

/* Adds the lines for programs that show them as they are here. */
static void add_for_programs(struct dl_report *r,
                             const struct dl_answer_line *l, size_t n) {
  static const struct dl_column columns[] = {{.key = "label"},
                                             {.key = "figure"},
                                             {.key = "interval"},
                                             {.key = "remark"}};
  if (r->title && r->title[0])
    dl_report_add(r, "title", NULL, NULL, DL_CODE, dl_string(r->title));
  struct dl_table *t = DL_TABLE(r, "lines", NULL, columns, false);
  for (size_t i = 0; i < n; i++)
    if (l[i].label && !l[i].hint)
      DL_ROW(t, NULL, dl_string(l[i].label),
             dl_string(dl_text_str(&l[i].figure)), optional(&l[i].range),
             optional(&l[i].remark));
}

void dl_answer_lines(struct dl_report *r, struct dl_answer_line *l, size_t n) {
  if (r->title)
    add_for_programs(r, l, n);
  for (size_t i = 0; i < n; i++) {
    if (l[i].label)
      dl_report_add(r, NULL, l[i].label, NULL, DL_CODE,
                    dl_string(dl_text_str(&l[i].figure)));
    if (l[i].range.len > 0 && l[i].remark.len > 0)
      dl_text_add(&l[i].range, "\t");
    dl_text_add(&l[i].range, dl_text_str(&l[i].remark));
    if (l[i].label && l[i].range.len > 0)
      dl_report_remark(r, dl_text_str(&l[i].range));
    if (l[i].label && l[i].hint)
      dl_report_as_hint(r);
    dl_text_free(&l[i].figure);
    dl_text_free(&l[i].range);
    dl_text_free(&l[i].remark);
  }
}

/* --- what limits the speed */

const char *dl_bound_words(const char *bound) {
  static const struct dl_named_text all[] = {
      {"memory", "memory bandwidth"},
      {"launch", "kernel launches"},
      {"kernels", "short kernels"},
      {"exchange", "communication between GPUs"},
      {"input", "data loading"},
      {"host", "the host's CPU"},
      {"layers", "fixed time of each layer"},
      {"prompts", "reading prompts"}};
  return bound ? dl_text_of_name(all, DL_LENGTH(all), bound, bound) : NULL;
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
    {"fine_tune", "fine-tuning"},
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
