/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/nearest_names.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/descriptor.h"
#include "estimate/measured.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"
#include "physics/conditioning/gpu_waiting.h"
#include "run/setup/option_words.h"

/* By the method of a physics; NULL: a regression on features. */
static const struct {
  const char *target, *physics;
} fits[DL_N_FITS] = {
    [DL_PRE_POWER] = {"gpu_power_w", NULL},
    [DL_PRE_EPOCH] = {"epoch_energy_j", NULL},
    [DL_PRE_TIME] = {"epoch_s", NULL},
    [DL_PHYSICAL_POWER] = {"gpu_power_w", "physical"},
    [DL_PHYSICAL_EPOCH] = {"epoch_energy_j", "physical"},
    [DL_PHYSICAL_TIME] = {"epoch_s", "physical"},
    [DL_SERVING_POWER] = {"request_power_w", "serving"},
    [DL_SERVING_EPOCH] = {"request_energy_j", "serving"},
    [DL_SERVING_TIME] = {"request_s", "serving"},
    [DL_LANGUAGE_RATE] = {"tokens_per_s", "language"},
};

void dl_session_free(struct dl_session *s) {
  if (!s)
    return;
  for (size_t i = 0; i < DL_N_FITS; i++)
    dl_predictor_free(s->fit[i].p);
  free((void *)s->method);
  dl_strlist_free(&s->families);
  dl_session_free(s->at_90);
  free(s);
}

DL_FREES(dl_session_free, struct dl_session)

/* Whether a row may train a language model on an accelerator that the fit does
 * not have itself. */
static bool may_be_unseen(const struct dl_fit *fit, const struct dl_row *row) {
  const struct dl_accelerator *gpu = row->found.gpu;
  const char *name, *within;
  if (!gpu || !row->found.arch || !dl_is_language_model(row->found.arch))
    return false;
  for (size_t i = 0;
       dl_hierarchical_level(fit->state, "gpu", i, &name, &within); i++)
    if (strcmp(name, gpu->head.id) == 0)
      return false;
  return true;
}

enum dl_status dl_session_find_families(struct dl_session *s,
                                        const struct dl_row *row,
                                        struct dl_catalog *c,
                                        struct dl_diag *d) {
  const struct dl_fit *fit = s->fit[DL_LANGUAGE_RATE].fit;
  if (s->at_90)
    DL_TRY(dl_session_find_families(s->at_90, row, c, d));
  return fit && (!row || may_be_unseen(fit, row))
             ? dl_measured_families(&s->families, fit, c, d)
             : DL_OK;
}

static enum dl_status unknown_method(const char *name, struct dl_diag *d) {
  const char *names[32];
  size_t n = 0;
  DL_TEXT(near);
  for (; n < 32 && dl_estimators[n]; n++)
    names[n] = dl_estimators[n]->name;
  dl_suggest_names(name, names, n, &near);
  return dl_fail(d, DL_EUSAGE,
                 "unknown method '%s'%s; see 'dlest list methods'", name,
                 dl_text_str(&near));
}

static enum dl_status find_methods(struct dl_session *s, const char *methods,
                                   struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist names = {0};
  bool all = strcmp(methods, "all") == 0;
  dl_strlist_split(&names, all ? "" : methods, ',');
  size_t n = names.n;
  while (all && dl_estimators[n])
    n++;
  s->method = dl_calloc(n, sizeof *s->method);
  for (size_t i = 0; i < n; i++) {
    s->method[i] = all ? dl_estimators[i] : dl_estimator_find(names.s[i]);
    if (!s->method[i])
      return unknown_method(names.s[i], d);
    s->asks_pre |= s->method[i]->asks_pre;
    s->asks_physical |= s->method[i] == &dl_physical_method;
    s->n++;
  }
  return DL_OK;
}

/* Binds the fits of m to a frame. */
static enum dl_status bind_fits(struct dl_session *s, const struct dl_model *m,
                                struct dl_frame *f, struct dl_diag *d) {
  for (size_t i = 0; i < DL_N_FITS; i++) {
    struct dl_bound_fit *to = &s->fit[i];
    const struct dl_model *owner;
    to->fit = dl_model_search(m, fits[i].target, fits[i].physics, &owner);
    /* PRE takes what the model has. */
    if (!to->fit && !fits[i].physics)
      to->fit = dl_model_search(m, fits[i].target, "physical", &owner);
    if (!to->fit)
      continue;
    to->model = owner->path;
    DL_TRY(dl_predictor_new(&to->p, to->fit, f, s->coverage,
                            !fits[i].physics && !s->asks_pre, d));
  }
  return DL_OK;
}

enum dl_status dl_session_new(struct dl_session **out, struct dl_frame *f,
                              const struct dl_model *m, const char *methods,
                              double coverage, struct dl_diag *d) {
  *out = NULL;
  DL_SCOPED(dl_session_free_local)
  struct dl_session *s = dl_calloc(1, sizeof *s);
  s->fields.known = DL_KNOW_ALL;
  s->coverage = coverage;
  s->of_90 = dl_interval_sd(-1, 1, 0.9) / dl_interval_sd(-1, 1, coverage);
  DL_TRY(find_methods(s, methods, d));
  DL_TRY(dl_job_bind(&s->fields, f, d));
  DL_TRY(bind_fits(s, m, f, d));
  if (fabs(coverage - 0.9) > 1e-12)
    DL_TRY(dl_session_new(&s->at_90, f, m, methods, 0.9, d));
  *out = s;
  s = NULL;
  return DL_OK;
}

/* The most that the boards of a job draw, and their node's memory, W. */
static double limit_w(const struct dl_job *job, const struct dl_estimate *est) {
  return dl_or(job->run->power_limit_w, job->tdp_w) * job->run->n_gpus +
         est->memory_w;
}

/* Of a known time, the interval of the energy is that of the power. Powers end
 * at the limit of the boards, if it is known, unless the estimate is above
 * it. */
static void bound_power(const struct dl_job *job, struct dl_estimate *est) {
  double most = fmax(dl_or(limit_w(job, est), INFINITY), est->power_w);
  bool given = est->duration_from && strcmp(est->duration_from, "given") == 0;
  if (given && est->high_j > most * est->duration_s) {
    est->high_j = fmax(most * est->duration_s, est->energy_j);
    est->low_j = fmin(est->low_j, est->high_j);
  }
  if (isnan(est->power_low_w) && given) {
    est->power_low_w = est->low_j / est->duration_s;
    est->power_high_w = est->high_j / est->duration_s;
  }
  if (est->power_high_w > most) {
    est->power_high_w = most;
    est->power_low_w = fmin(est->power_low_w, most);
  }
}

/* No time ends below the work at the peak rate, and no energy below the power
 * for that long, unless the estimate does. Products in FP32 that convolutions
 * save may be more than is expected, but not more than that. */
static void bound_time(const struct dl_job *job, struct dl_estimate *est) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_accelerator *gpu = job->found.gpu;
  double least = dl_least_duration(job);
  bool convolutions = arch && !dl_is_language_model(arch) &&
                      !(arch->heads > 0 || arch->attention_macs_g > 0);
  if (convolutions && gpu && dl_work_most_tflops(job) <= gpu->peak_fp32_tflops)
    least /= DL_FAST_CONVOLUTION;
  if (dl_run_is_inference(job->run) || !(est->time_low_s < least))
    return;
  est->time_low_s = fmin(least, est->duration_s);
  est->low_j =
      fmax(est->low_j, fmin(est->time_low_s * est->power_low_w, est->energy_j));
}

/* The name of an accelerator or an architecture where the row has none, in
 * place of what is read from its descriptor. */
static const char *missing_name(const struct dl_job *job, const char *lacks) {
  static const char *const of_arch[] = {"macs_g", "params_m", "acts_m",
                                        "image_px", "seq_len"};
  enum dl_kind kind;
  if (!lacks)
    return NULL;
  bool field = dl_field_of(lacks, &kind);
  bool arch = field && kind == DL_ARCHITECTURE;
  bool gpu =
      (field && kind == DL_ACCELERATOR) || strcmp(lacks, "peak_tflops") == 0;
  for (size_t i = 0; i < DL_LENGTH(of_arch); i++)
    arch |= strcmp(lacks, of_arch[i]) == 0;
  return arch && !job->run->arch ? dl_run_columns[DL_RUN_arch].name
         : gpu && !job->run->gpu ? dl_run_columns[DL_RUN_gpu].name
                                 : lacks;
}

static double loader_rate(const struct dl_physical_parts *parts) {
  return parts->input_s > 0 && !parts->input_assumed ? parts->input_rate
                                                     : (double)NAN;
}

enum dl_status dl_session_row(const struct dl_session *s,
                              const struct dl_row *row, struct dl_job *job,
                              struct dl_job_predictions *p,
                              struct dl_estimate *est, struct dl_diag *d) {
  dl_job_read(job, &s->fields, row);
  DL_TRY(dl_predictions_make(p, s, job, d));
  if (p->conditioned.is) {
    job->known.misfit = p->conditioned.misfit;
    job->known.static_w = p->conditioned.static_w;
    job->known.least_static_w = p->conditioned.least_static_w;
    job->known.most_w = p->conditioned.most_w;
  }
  job->contradictory = dl_known_contradicts(job, NULL);
  for (size_t i = 0; i < s->n; i++) {
    est[i] = (struct dl_estimate){.method = s->method[i]->name,
                                  .energy_j = NAN,
                                  .low_j = NAN,
                                  .high_j = NAN,
                                  .time_low_s = NAN,
                                  .time_high_s = NAN,
                                  .power_low_w = NAN,
                                  .power_high_w = NAN,
                                  .power_w = NAN,
                                  .busy_share = NAN,
                                  .duration_s = p->duration_s,
                                  .duration_from = p->duration_from,
                                  .loader_assumed = p->parts.input_assumed,
                                  .loader_rate = loader_rate(&p->parts),
                                  .loader_doubt = p->parts.input_doubt,
                                  .loader_workers = p->parts.input_workers};
    if (job->contradictory || p->served.too_slow)
      est[i].lacks =
          job->contradictory ? "known values that agree" : p->served.lacks;
    else
      s->method[i]->estimate(s, job, p, &est[i]);
    est[i].lacks = missing_name(job, est[i].lacks);
    dl_estimate_throughput(&est[i], job);
    bound_power(job, &est[i]);
    bound_time(job, &est[i]);
  }
  return DL_OK;
}

/* Refuses contradictory values. */
static enum dl_status contradicts(const struct dl_job *job, const char *path,
                                  size_t line, bool *bad, struct dl_diag *d) {
  struct dl_wording why = {.options = line == 0};
  enum dl_status status = DL_OK;
  *bad = job->contradictory && dl_known_contradicts(job, &why);
  if (*bad && line > 0)
    dl_skip_at(d, path, line, "%s", dl_text_str(&why.text));
  else if (*bad)
    status = dl_fail(d, DL_EUSAGE, "%s", dl_text_str(&why.text));
  dl_text_free(&why.text);
  return status;
}

enum dl_status dl_session_check(struct dl_catalog *c, const struct dl_job *job,
                                const char *path, size_t line, bool *bad,
                                struct dl_diag *d) {
  bool no_gpu = job->run->gpu && !job->found.gpu && isnan(job->tdp_w);
  bool no_arch = job->run->arch && !job->found.arch && isnan(job->run->macs_g);
  *bad = no_gpu || no_arch;
  if (!*bad)
    return contradicts(job, path, line, bad, d);
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  const struct dl_descriptor *e;
  enum dl_status status =
      dl_catalog_get(c, no_gpu ? DL_ACCELERATOR : DL_ARCHITECTURE,
                     no_gpu ? job->run->gpu : job->run->arch, &e, &inner);
  const char *why = inner.error ? inner.error : "unknown name";
  if (line > 0) {
    dl_skip_at(d, path, line, "%s", why);
    status = DL_OK;
  } else {
    dl_fail(d, status, "%s", why);
  }
  return status;
}
