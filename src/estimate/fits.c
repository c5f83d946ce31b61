/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the estimators that rest on fitted models share. */

#include <math.h>

#include "estimate/methods/inference.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"

/* The effect of several GPUs is known but for a power of +-0.1 of their
 * number, as that of any quantity outside its range (predictor.c). */
static const double gpus_power = 0.1;

void dl_widen(struct dl_estimate *est, double by) {
  if (isnan(est->low_j) || !(by > 0))
    return;
  double low = hypot(log(fmax(est->low_j / est->energy_j, 0)), by);
  double high = hypot(log(est->high_j / est->energy_j), by);
  est->low_j = est->energy_j * exp(-low);
  est->high_j = est->energy_j * exp(high);
}

void dl_note_limits(struct dl_estimate *est, const struct dl_fit *fit,
                    const struct dl_job *job, const struct dl_prediction *p) {
  if (fit && !isnan(p->low)) {
    est->interval_from = dl_left_out_name(p->novelty);
    est->interval_groups = fit->left_out[p->novelty].n;
  }
  est->n_outside = 0;
  if (!fit)
    return;
  for (size_t i = 0; i < fit->n_ranges && i < 32; i++)
    if (p->outside >> i & 1 && est->n_outside < DL_MOST_OUTSIDE)
      est->outside[est->n_outside++] = fit->range[i].name;
  if (job->n_gpus > 1) {
    dl_widen(est, gpus_power * log(job->n_gpus));
    if (est->n_outside < DL_MOST_OUTSIDE)
      est->outside[est->n_outside++] = "n_gpus";
  }
}

/* What no model of trainings has seen, or NULL. */
static const char *beyond(const struct dl_job *job) {
  if (dl_is_inference(job))
    return "measured runs of inference";
  return isnan(job->tokens) ? NULL : "measured runs on tokens";
}

static enum dl_status ask(const struct dl_bound_fit *b,
                          const struct dl_job *job, struct dl_prediction *out,
                          struct dl_diag *d) {
  *out = (struct dl_prediction){.value = NAN, .low = NAN, .high = NAN};
  return b->p ? dl_predict(b->p, job->row, out, d) : DL_OK;
}

static const struct dl_said said_nothing = {
    .power = {.value = NAN, .low = NAN, .high = NAN},
    .epoch = {.value = NAN, .low = NAN, .high = NAN},
    .time = {.value = NAN, .low = NAN, .high = NAN}};

/* A run whose duration is given has a power, others an energy: `which` bits. */
enum { POWER = 1, EPOCH = 2, TIME = 4 };

static enum dl_status ask_all(const struct dl_fits *fits, int which,
                              const struct dl_job *job, struct dl_said *said,
                              struct dl_diag *d) {
  enum dl_status status = DL_OK;
  *said = said_nothing;
  if (which & TIME)
    status = ask(&fits->time, job, &said->time, d);
  if (status == DL_OK && which & POWER)
    status = ask(&fits->power, job, &said->power, d);
  if (status == DL_OK && which & EPOCH)
    status = ask(&fits->epoch, job, &said->epoch, d);
  return status;
}

/* What an epoch consists of, by the fit of its energy. */
static void ask_parts(const struct dl_bound_fit *b, struct dl_job *job) {
  double x[DL_PC_N];
  job->parts = (struct dl_physical_parts){.time_s = NAN};
  if (!b->p || beyond(job) || b->fit->features.n != DL_PC_N)
    return;
  if (dl_predictor_features(b->p, job->row, x))
    dl_physical_explain(b->fit->state, x, &job->parts);
}

enum dl_status dl_ask_models(const struct dl_context *ctx, struct dl_job *job,
                             struct dl_diag *d) {
  bool trains = !beyond(job), serves = dl_is_inference(job);
  bool given = !isnan(job->duration_s);
  enum dl_status status = ask_all(&ctx->physical,
                                  !trains ? 0
                                  : given ? POWER
                                          : EPOCH | TIME,
                                  job, &job->physical, d);
  if (status == DL_OK)
    status = ask_all(&ctx->serving, serves ? POWER | EPOCH | TIME : 0, job,
                     &job->serving, d);
  ask_parts(&ctx->physical.epoch, job);
  dl_infer(ctx, job);
  /* PRE tells the duration of what the physical method does not know. */
  bool pre = ctx->asks_pre || (!given && isnan(dl_physical_duration(job)));
  if (status == DL_OK)
    status = ask_all(&ctx->pre, trains && pre ? POWER | EPOCH | TIME : 0, job,
                     &job->said, d);
  return status;
}

const char *dl_fit_lacks(const struct dl_bound_fit *b,
                         const struct dl_job *job) {
  const char *name = beyond(job);
  if (name)
    return name;
  name = b->p ? dl_predictor_lacks(b->p, job->row) : "model";
  return name ? name : "a value within the model's domain";
}
