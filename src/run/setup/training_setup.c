/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set-up of a training, and the rules between its settings. */

#include "run/setup/training_setup.h"

#include <math.h>
#include <string.h>

static double or_one(double x) {
  return isnan(x) ? 1 : x;
}

static bool is_word(const char *value, const char *word) {
  return value && strcmp(value, word) == 0;
}

enum dl_fine_tune dl_fine_tune_of(const struct dl_run *r) {
  return is_word(r->fine_tune, "lora")                         ? DL_TUNE_LORA
         : is_word(r->fine_tune, "qlora")                      ? DL_TUNE_QLORA
         : is_word(r->fine_tune, "head") || r->frozen_base > 0 ? DL_TUNE_HEAD
                                                               : DL_TUNE_FULL;
}

struct dl_degrees dl_degrees_of(const struct dl_run *r) {
  double tensor = or_one(r->tensor_parallel);
  double pipeline = or_one(r->pipeline_parallel);
  return (struct dl_degrees){tensor, pipeline, r->n_gpus / (tensor * pipeline)};
}

double dl_micro_batch(const struct dl_run *r) {
  return is_word(r->scaling, "strong")
             ? ceil(r->batch_size / dl_degrees_of(r).data)
             : r->batch_size;
}

double dl_global_batch(const struct dl_run *r) {
  double per_pass = is_word(r->scaling, "strong")
                        ? r->batch_size
                        : r->batch_size * dl_degrees_of(r).data;
  return per_pass * or_one(r->grad_accum);
}

/* --- Rules. Each tells whether a row breaks it, and then appends what is
 * wrong and what to change to *to, unless that is NULL. */

static bool is_whole(double x) {
  return fabs(x - nearbyint(x)) <= 1e-9 * x;
}

static bool breaks_degrees(const struct dl_row *row, struct dl_text *to) {
  struct dl_degrees by = dl_degrees_of(&row->run);
  if (isnan(by.data) || (by.data >= 1 && is_whole(by.data)))
    return false;
  if (to)
    dl_text_printf(to,
                   "n_gpus %g is not a multiple of tensor_parallel x "
                   "pipeline_parallel, %g x %g; change one of them",
                   row->run.n_gpus, by.tensor, by.pipeline);
  return true;
}

/* global_batch = batch_size x grad_accum x data-parallel accelerators, in whole
 * numbers. */
static bool breaks_global_batch(const struct dl_row *row, struct dl_text *to) {
  const struct dl_run *r = &row->run;
  double data =
      is_word(r->scaling, "strong") ? 1 : or_one(dl_degrees_of(r).data);
  double accum = or_one(r->grad_accum);
  bool batch_given = dl_run_set_has(&row->given, DL_RUN_batch_size);
  bool accum_given = dl_run_set_has(&row->given, DL_RUN_grad_accum);
  if (!dl_run_set_has(&row->given, DL_RUN_global_batch) || isnan(r->batch_size))
    return false;
  double all = r->batch_size * accum * data;
  bool equal = fabs(all - r->global_batch) <= 1e-9 * all;
  if (equal && (batch_given || (is_whole(r->batch_size) && all >= 1)) &&
      (accum_given || (is_whole(accum) && accum >= 1)))
    return false;
  if (to && !batch_given)
    dl_text_printf(to,
                   "global_batch %g is not a multiple of grad_accum x "
                   "data-parallel accelerators, %g x %g; change one of them",
                   r->global_batch, accum, data);
  else if (to && !accum_given)
    dl_text_printf(to,
                   "global_batch %g is not a multiple of batch_size x "
                   "data-parallel accelerators, %g x %g; change one of them",
                   r->global_batch, r->batch_size, data);
  else if (to)
    dl_text_printf(to,
                   "global_batch %g is not batch_size x grad_accum x "
                   "data-parallel accelerators, %g x %g x %g; leave one out",
                   r->global_batch, r->batch_size, accum, data);
  return true;
}

static bool breaks_fine_tune(const struct dl_row *row, struct dl_text *to) {
  const struct dl_run *r = &row->run;
  if (!r->fine_tune || isnan(r->frozen_base) ||
      (is_word(r->fine_tune, "head") ? r->frozen_base > 0
                                     : !(r->frozen_base > 0)))
    return false;
  if (to)
    dl_text_printf(to,
                   "fine_tune %s and frozen_base %g contradict each other; "
                   "leave one out",
                   r->fine_tune, r->frozen_base);
  return true;
}

static bool breaks_rank(const struct dl_row *row, struct dl_text *to) {
  enum dl_fine_tune tune = dl_fine_tune_of(&row->run);
  if (isnan(row->run.lora_rank) || tune == DL_TUNE_LORA ||
      tune == DL_TUNE_QLORA)
    return false;
  if (to)
    dl_text_add(to, "lora_rank goes with fine_tune lora or qlora; give that");
  return true;
}

static bool (*const rules[])(const struct dl_row *row, struct dl_text *to) = {
    breaks_degrees, breaks_global_batch, breaks_fine_tune, breaks_rank};

void dl_setup_check(struct dl_row *row) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i](row, NULL)) {
      row->fault = (struct dl_fault){.kind = DL_FAULT_SETUP, .step = i};
      return;
    }
}

void dl_setup_explain(const struct dl_row *row, struct dl_text *to) {
  rules[row->fault.step](row, to);
}
