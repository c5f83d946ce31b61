/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/names/nearest_names.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/descriptor.h"
#include "estimate/conditioning/known.h"
#include "estimate/conditioning/lowered_clock.h"
#include "estimate/measured.h"
#include "estimate/methods/cpu_inference.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"
#include "physics/conditioning/gpu_waiting.h"
#include "physics/cpu/cpu_inputs.h"
#include "physics/cpu/package_power.h"
#include "physics/conditioning/gpu_clock.h"
#include "physics/training/input_pipeline.h"
#include "run/setup/training_setup.h"
#include "run/setup/option_words.h"

/* A fit has a target, and the physics of its method; NULL: it is a regression
 * on features. */
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
    [DL_CPU_TIME] = {"request_s", "cpu"},
    [DL_TUNED_TIME] = {"request_s", "tuned"},
};

void dl_engine_free(struct dl_engine *s) {
  if (!s)
    return;
  for (size_t i = 0; i < DL_N_FITS; i++)
    dl_predictor_free(s->fit[i].p);
  free((void *)s->method);
  dl_strlist_free(&s->families);
  dl_engine_free(s->at_90);
  free(s);
}

DL_FREES(dl_engine_free, struct dl_engine)

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

enum dl_status dl_engine_learn_families(struct dl_engine *s,
                                        const struct dl_row *row,
                                        struct dl_catalog *c,
                                        struct dl_diag *d) {
  const struct dl_fit *fit = s->fit[DL_LANGUAGE_RATE].fit;
  if (s->at_90)
    DL_TRY(dl_engine_learn_families(s->at_90, row, c, d));
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

static enum dl_status find_methods(struct dl_engine *s, const char *methods,
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
    s->needs_regressions |= s->method[i]->needs_regressions;
    s->needs_physical_energy |= s->method[i] == &dl_physical_method;
    s->n++;
  }
  return DL_OK;
}

/* Binds the fits of m to a plan. */
static enum dl_status bind_fits(struct dl_engine *s, const struct dl_model *m,
                                struct dl_row_plan *f, struct dl_diag *d) {
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
                            !fits[i].physics && !s->needs_regressions, d));
  }
  return DL_OK;
}

enum dl_status dl_engine_new(struct dl_engine **out, struct dl_row_plan *f,
                             const struct dl_model *m, const char *methods,
                             double coverage, struct dl_diag *d) {
  *out = NULL;
  DL_SCOPED(dl_engine_free_local)
  struct dl_engine *s = dl_calloc(1, sizeof *s);
  s->fields.known = DL_KNOW_ALL;
  s->coverage = coverage;
  s->of_90 = dl_interval_sd(-1, 1, 0.9) / dl_interval_sd(-1, 1, coverage);
  DL_TRY(find_methods(s, methods, d));
  DL_TRY(dl_job_bind(&s->fields, f, d));
  DL_TRY(bind_fits(s, m, f, d));
  if (fabs(coverage - 0.9) > 1e-12)
    DL_TRY(dl_engine_new(&s->at_90, f, m, methods, 0.9, d));
  *out = s;
  s = NULL;
  return DL_OK;
}

/* The highest limit that a board may have where the user does not say. Of GPUs
 * only those that train language models draw more than the TDP. */
static double unknown_limit_w(const struct dl_job *job) {
  const struct dl_accelerator *gpu = job->found.gpu;
  const struct dl_architecture *arch = job->found.arch;
  bool reaches =
      arch && dl_is_language_model(arch) && !dl_run_is_inference(job->run);
  bool own = gpu && fabs(gpu->tdp_w - job->tdp_w) < 1; /* not set */
  if (dl_is_cpu(gpu))
    return dl_package_kind_of(gpu)->most * job->tdp_w;
  return reaches && own ? fmax(gpu->most_limit_w, job->tdp_w) : job->tdp_w;
}

/* The most that the boards of a job draw, and their node's memory, W. */
static double limit_w(const struct dl_job *job, const struct dl_estimate *est) {
  return dl_or(job->run->power_limit_w, unknown_limit_w(job)) *
             job->run->n_gpus +
         est->memory_w;
}

/* The share of machines, of those that may, which raise the limit of their
 * boards: not known, and assumed. */
#define RAISED_SHARE 0.25

/* Lets the upper bound of a power, and of an energy in a known time, reach the
 * powers of boards whose limit may be raised: they alone are above it as often
 * as a coverage allows. */
static void reach_raised_limit(const struct dl_engine *e,
                               const struct dl_job *job,
                               struct dl_estimate *est) {
  double raised = unknown_limit_w(job) / job->tdp_w, above = 1 - e->coverage;
  bool given = dl_is_word(est->duration_from, "given");
  struct dl_interval *of = given ? &est->energy_j : &est->power_w;
  double sd = dl_interval_sd(0, log(of->high / of->x), e->coverage);
  if (est->id != DL_METHOD_PHYSICAL || dl_is_cpu(job->found.gpu) ||
      !isnan(job->run->power_limit_w) || !isnan(job->known.power_w) ||
      !(raised > 1) || !(sd > 0) || above >= RAISED_SHARE)
    return;
  raised *= dl_normal_factor(sd, 1 - above / RAISED_SHARE);
  of->high = fmax(of->high, raised * of->x);
}

/* The interval of the energy follows from the power's if the time is known.
 * Powers end at the limit of the boards, if it is known, unless the estimate is
 * above it. */
static void bound_power(const struct dl_job *job, struct dl_estimate *est) {
  double most = fmax(dl_or(limit_w(job, est), INFINITY), est->power_w.x);
  bool given = dl_is_word(est->duration_from, "given");
  if (given && est->energy_j.high > most * est->duration_s.x) {
    est->energy_j.high = fmax(most * est->duration_s.x, est->energy_j.x);
    est->energy_j.low = fmin(est->energy_j.low, est->energy_j.high);
  }
  if (isnan(est->power_w.low) && given) {
    est->power_w.low = est->energy_j.low / est->duration_s.x;
    est->power_w.high = est->energy_j.high / est->duration_s.x;
  }
  if (est->power_w.high > most) {
    est->power_w.high = most;
    est->power_w.low = fmin(est->power_w.low, most);
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
  if (dl_run_is_inference(job->run) || !(est->duration_s.low < least))
    return;
  est->duration_s.low = fmin(least, est->duration_s.x);
  est->energy_j.low =
      fmax(est->energy_j.low,
           fmin(est->duration_s.low * est->power_w.low, est->energy_j.x));
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
  if (arch && !job->run->arch)
    return dl_run_columns[DL_RUN_arch].name;
  return gpu && !job->run->gpu ? dl_run_columns[DL_RUN_gpu].name : lacks;
}

static double loader_rate(const struct dl_physical_parts *parts) {
  return parts->input_s > 0 && !parts->input_assumed ? parts->input_rate
                                                     : (double)NAN;
}

void dl_engine_make_room(const struct dl_engine *e, struct dl_result *r) {
  r->n = e->n;
  r->est = dl_calloc(e->n, sizeof *r->est);
}

bool dl_result_has_energy(const struct dl_result *r) {
  for (size_t i = 0; i < r->n; i++)
    if (!isnan(r->est[i].energy_j.x))
      return true;
  return false;
}

/* Sets what all estimators start from, and what they need not compute. */
static void begin_estimate(struct dl_estimate *est, const struct dl_job *job,
                           const struct dl_estimator *method,
                           const struct dl_job_predictions *p) {
  *est = (struct dl_estimate){
      .id = method->id,
      .method = method->name,
      .energy_j = DL_NO_INTERVAL,
      .power_w = DL_NO_INTERVAL,
      .busy_share = NAN,
      .duration_s = {p->duration_s, NAN, NAN},
      .duration_from = p->duration_from,
      .loader_assumed = p->parts.input_assumed &&
                        p->parts.gpu_rate > p->parts.input_rate,
      .loader_rate = loader_rate(&p->parts),
      .loader_doubt = p->parts.input_doubt,
      .loader_core_s = p->parts.input_core_s *
                       (dl_run_is_inference(job->run) ? 1 : job->epochs),
      .loader_workers = p->parts.input_workers};
}

/* Interruptions take a tenth of the time on so many GPUs: 466 in 54 days of
 * Llama 3.1 405B (arXiv 2407.21783, section 3.3.4). */
#define LOST_SHARE 0.1
#define LOST_GPUS 16384

/* Evaluation, saving and interruptions have the power of the steps. An assumed
 * share may be none or twice as much, and GPUs that are interrupted lose more.
 */
static void add_overhead(const struct dl_job *job, const struct dl_engine *e,
                         struct dl_estimate *est) {
  double share = dl_overhead(job);
  if (!(share > 0))
    return;
  struct dl_interval *of[] = {&est->energy_j, &est->duration_s};
  bool assumed = dl_is_assumed(job->row, DL_RUN_overhead);
  double lost = assumed ? LOST_SHARE * job->run->n_gpus / LOST_GPUS : 0;
  for (size_t i = 0; i < DL_LENGTH(of); i++) {
    of[i]->x *= 1 + share;
    of[i]->low *= 1 + share;
    of[i]->high *= (1 + share) * (1 + lost * e->of_90);
  }
  if (assumed)
    dl_widen(e, est, log1p(share));
}

/* GPUs wait at static power until the first step and after the last. Their mean
 * power and its bounds are of all the time. */
static void add_startup(const struct dl_job *job,
                        const struct dl_job_predictions *p,
                        const struct dl_engine *e, struct dl_estimate *est) {
  double s = dl_startup_s(job), work_s = est->duration_s.x;
  double static_w = p->language ? p->step.static_w : p->parts.static_w;
  if (dl_is_cpu(job->found.gpu))
    static_w = dl_package_of(job).idle_w;
  else if (dl_run_is_inference(job->run))
    static_w = dl_waiting_w(job, p->served.static_w);
  double doubt = dl_is_assumed(job->row, DL_RUN_startup_s)
                     ? pow(DL_STARTUP_FACTOR, e->of_90)
                     : 1;
  double tail = fmin(dl_or(job->run->idle_tail_s, 0), s), start = s - tail;
  const struct dl_input_wait wait = {s, start / doubt + tail,
                                     start * doubt + tail};
  if (!(s > 0))
    return;
  double waits_w = dl_or(static_w, 0) * job->run->n_gpus + est->memory_w;
  double factor = dl_static_factor(0, e->coverage);
  est->energy_j.x += s * waits_w;
  est->energy_j.low += wait.low_s * waits_w / factor;
  est->energy_j.high += wait.high_s * waits_w * factor;
  est->duration_s.x += s;
  est->duration_s.low += wait.low_s;
  est->duration_s.high += wait.high_s;
  est->waits_w = waits_w;
  est->power_w.x = est->energy_j.x / est->duration_s.x;
  dl_widen_power(est, work_s, waits_w, &wait);
}

static void estimate(const struct dl_engine *e, size_t i,
                     const struct dl_job *job,
                     const struct dl_job_predictions *p,
                     struct dl_estimate *est) {
  begin_estimate(est, job, e->method[i], p);
  if (job->contradictory)
    est->lacks = "known values that agree";
  else if (p->served.too_slow)
    est->lacks = p->served.lacks;
  else
    e->method[i]->estimate(e, job, p, est);
  est->lacks = missing_name(job, est->lacks);
  dl_estimate_throughput(est, job);
  reach_raised_limit(e, job, est);
  bound_power(job, est);
  if (est->id == DL_METHOD_PHYSICAL && !isnan(est->energy_j.x)) {
    if (!isnan(dl_relative_clock(job)))
      dl_widen(e, est, DL_CLOCK_DOUBT);
    add_overhead(job, e, est);
    add_startup(job, p, e, est);
  }
  bound_time(job, est);
}

enum dl_status dl_engine_row(const struct dl_engine *e,
                             const struct dl_row *row, struct dl_result *r,
                             struct dl_diag *d) {
  struct dl_job *job = &r->job;
  struct dl_job_predictions *p = &r->predictions;
  dl_job_read(job, &e->fields, row);
  DL_TRY(dl_predictions_make(p, e, job, d));
  if (p->conditioned.applies) {
    job->known.misfit = p->conditioned.misfit;
    job->known.static_w = p->conditioned.static_w;
    job->known.least_static_w = p->conditioned.least_static_w;
    job->known.most_w = p->conditioned.most_w;
  }
  job->contradictory = dl_known_contradicts(job, NULL);
  r->broken = NULL;
  for (size_t i = 0; i < e->n; i++)
    estimate(e, i, job, p, &r->est[i]);
  r->best = dl_recommended(r->est, r->n, !isnan(job->known.run_s));
  return DL_OK;
}

/* Appends why a job cannot be estimated; false: it can. */
static bool refusal(struct dl_catalog *c, const struct dl_job *job,
                    struct dl_message_style *why, enum dl_status *status) {
  bool no_gpu = job->run->gpu && !job->found.gpu && isnan(job->tdp_w);
  bool no_arch = job->run->arch && !job->found.arch && isnan(job->run->macs_g);
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  const struct dl_descriptor *found;
  *status = DL_EUSAGE;
  if (!no_gpu && !no_arch)
    return job->contradictory && dl_known_contradicts(job, why);
  if (no_gpu)
    *status = dl_catalog_get(c, DL_ACCELERATOR, job->run->gpu, &found, &inner);
  else
    *status =
        dl_catalog_get(c, DL_ARCHITECTURE, job->run->arch, &found, &inner);
  dl_text_add(&why->text, inner.error ? inner.error : "unknown name");
  return true;
}

bool dl_engine_refuses(struct dl_catalog *c, const struct dl_job *job,
                       const char *path, size_t line, struct dl_diag *d) {
  struct dl_message_style why = {.options = line == 0};
  enum dl_status status;
  bool refused = refusal(c, job, &why, &status);
  if (refused && line > 0)
    dl_skip_at(d, path, line, "%s", dl_text_str(&why.text));
  else if (refused)
    dl_fail(d, status, "%s", dl_text_str(&why.text));
  dl_text_free(&why.text);
  return refused;
}
