/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/better_setup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/cpu/cpu_inputs.h"
#include "output/units.h"

/* Other set-ups are shown from this share of the energy down: smaller
 * differences are not worth a change. */
#define LESS 0.9

/* A change of a set-up; 0 and NULL: none. */
struct change {
  enum dl_precision precision; /* in the training of other networks than
                                  language models, which have 16 bits anyway */
  double batch;                /* of requests, where one at a time is assumed */
  const char *gpu, *name;      /* an accelerator that many can rent */
};

static const struct change changes[] = {
    {DL_PRECISION_AMP, 0, NULL, "AMP"},
    {DL_PRECISION_UNKNOWN, 64, NULL, "batch size 64"},
    {DL_PRECISION_UNKNOWN, 0, "h100-sxm5-80gb", "H100"}};

/* Whether many requests are taken one by one because nobody says otherwise; a
 * server takes them together. */
static bool one_by_one(const struct dl_result *r) {
  return dl_run_is_inference(r->job.run) && r->predictions.served.tokens &&
         r->job.run->requests > 1 && !(r->job.run->request_rate > 0) &&
         !dl_run_set_has(&r->job.row->given, DL_RUN_batch_size);
}

static bool applies(const struct change *c, const struct dl_result *r) {
  const struct dl_run *run = r->job.run;
  if (c->batch > 0)
    return one_by_one(r);
  const bool slow = run->precision == DL_PRECISION_TF32 ||
                    run->precision == DL_PRECISION_FP32;
  return c->gpu
             ? strcmp(r->job.found.gpu->head.id, c->gpu) != 0
             : slow && !dl_run_is_inference(run) && !r->predictions.language &&
                   r->job.found.gpu->peak_fp16_tensor_tflops > 0;
}

/* Estimates the job with a change into *to. False: there is no estimate. */
static bool estimate(struct dl_result *to, const struct change *c,
                     const struct dl_predict_options *o,
                     struct dl_catalog *catalog, const struct dl_model *m) {
  DL_SCOPED(dl_diag_free) struct dl_diag d = {0};
  DL_SCOPED(dl_plan_free_local) struct dl_row_plan *f = dl_plan_new(catalog);
  DL_SCOPED(dl_engine_free_local) struct dl_engine *e = NULL;
  struct dl_job_options job = o->job; /* whose lists and texts stay o's */
  job.run.owned = (struct dl_run_set){0};
  if (c->precision)
    dl_run_set_word(&job.run, DL_RUN_precision, c->precision);
  if (c->batch > 0)
    dl_run_set_number(&job.run, DL_RUN_batch_size, c->batch);
  if (c->gpu)
    dl_run_lend_text(&job.run, DL_RUN_gpu, c->gpu);
  const struct dl_rows rows = {.f = f, .catalog = catalog};
  return dl_job_options_apply(&job, f, catalog, true, &d) == DL_OK &&
         dl_engine_new(&e, f, m, "physical", o->coverage, &d) == DL_OK &&
         dl_rows_single(&rows, e, to, &d) == DL_OK && to->best >= 0;
}

static void add_change(struct dl_text *t, const struct change *c,
                       const struct dl_result *r, const struct dl_result *to) {
  const struct dl_estimate *e = dl_result_best(to);
  const char *word = dl_precision_words[r->job.run->precision];
  const struct dl_multiple kwh = dl_multiple_for(DL_KWH, e->energy_j.x);
  const struct dl_multiple s = dl_multiple_for(DL_TIME, e->duration_s.x);
  dl_text_printf(t, "%s%s", t->len > 0 ? "; " : "", c->name);
  if (c->precision)
    dl_text_add(t, " in place of ");
  for (; c->precision && *word; word++) {
    const char upper = (char)toupper((unsigned char)*word);
    dl_text_add_n(t, &upper, 1);
  }
  dl_text_add(t, ": ");
  dl_show_digits(t, DL_KWH, e->energy_j.x, &kwh, 2);
  dl_show_unit(t, " ", DL_KWH, "J", &kwh);
  dl_text_add(t, ", ");
  dl_show_digits(t, DL_TIME, e->duration_s.x, &s, 2);
}

void dl_better_setups(struct dl_text *t, const struct dl_predict_options *o,
                      struct dl_catalog *catalog, const struct dl_model *m,
                      const struct dl_result *r) {
  const struct dl_estimate *best = dl_result_best(r);
  const struct dl_accelerator *gpu = r->job.found.gpu;
  if (!best || best->id != DL_METHOD_PHYSICAL || !gpu || dl_is_cpu(gpu) ||
      r->predictions.conditioned.applies || o->node.found || o->node.profile ||
      !isnan(o->node.gpu_share) || o->job.overrides.n > 0 ||
      r->job.run->duration_s > 0)
    return;
  for (size_t i = 0; i < DL_LENGTH(changes); i++) {
    struct dl_result to = {.best = -1};
    if (!applies(&changes[i], r))
      continue;
    if (estimate(&to, &changes[i], o, catalog, m) &&
        dl_result_best(&to)->energy_j.x < LESS * best->energy_j.x)
      add_change(t, &changes[i], r, &to);
    free(to.est);
  }
}
