/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/job_limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "cli/views/summary/answer.h"
#include "estimate/methods/work.h"
#include "estimate/node/memory_remedy.h"
#include "estimate/node/parallel.h"
#include "estimate/node/peak_memory.h"
#include "run/setup/training_setup.h"

/* The batch that exceeds the memory, and the one that would fit. */
static void warn_memory(const struct dl_job *job,
                        const struct dl_memory_need *m, struct dl_diag *d) {
  const struct dl_accelerator *gpu = job->found.gpu;
  double has = gpu->memory_gb;
  bool split = job->run->scaling == DL_SCALE_STRONG && job->run->n_gpus > 1;
  bool shared = job->run->n_gpus > 1 && m->shared;
  char each[48] = "", fits[80] = "not even one sample fits";
  char need[DL_NUMBER_SIZE];
  if (split)
    snprintf(each, sizeof each, " (%g on each GPU)", m->batch);
  if (m->fits > 0)
    snprintf(fits, sizeof fits, "about %g fits%s",
             split ? m->fits * job->run->n_gpus : m->fits,
             job->run->n_gpus > 1 && !split && !shared ? " on each GPU" : "");
  if (m->model_gb > has)
    snprintf(fits, sizeof fits, "%s GB without any sample",
             dl_format_digits(need, m->model_gb, 3));
  DL_TEXT(remedy);
  bool helps = dl_memory_remedy(job, &remedy);
  dl_warn(d,
          "batch of %g%s needs about %s GB, more than the %g GB of %s; "
          "%s%s%s",
          split ? job->run->batch_size : m->batch, each,
          dl_format_digits(need, m->need_gb, 3), has, gpu->head.id, fits,
          helps ? "; " : "", helps ? dl_text_str(&remedy) : "");
}

/* What a job exceeds. */
struct excess {
  struct dl_memory_need memory;
  double tokens;    /* learned positions, else the published context, where
                       sequences are longer; 0: they are not */
  double samples;   /* of a step on several GPUs, or of several batches, where
                       they are more than an epoch has: such a step is never
                       full; 0: they are not. Language models: training_setup */
  double bubble;    /* share of a step that stages of a pipeline wait for its
                       micro-batches (Narayanan et al., arXiv 2104.04473), where
                       it is more than a third; 0 */
  double unfilled;  /* batch of inference that the default number of requests
                       does not fill; 0 */
  bool idles;       /* GPUs that wait may draw the known power, which thus
                       says little of the time */
  double misfit;    /* of what is known to what the fit expects, standard
                       deviations; 0: it is possible */
  bool faster;      /* than the precision that is assumed lets it: */
  double needs;     /* TFLOP/s of known times, */
  double most;      /* and of that precision */
  double loader;    /* processes per GPU of a loader that is assumed, whose
                       time it is; 0 */
  double outpaced;  /* samples per second of a loader that is described, far
                       below what is known; 0 */
  bool undivided;   /* heads of attention by the GPUs that serve them */
  bool no_time;     /* the known duration of inference is not the estimate's */
  bool no_link;     /* between several accelerators: PCIe 3.0 x16 is assumed */
  bool whole;       /* the tokens are not those of the epochs */
  const char *rate; /* that the accelerator lacks, or NULL */
  const char *used; /* in its place */
};

/* Of one sequence, as published; 0: unknown, or any number (ALiBi). */
static double most_tokens(const struct dl_transformer *t) {
  return t->positions > 0 ? t->positions : t->context;
}

/* Whether a number of tokens, which is the whole training, is given beside
 * epochs or samples that make another. */
static bool other_tokens(const struct dl_job *job) {
  const struct dl_run_set *given = &job->row->given;
  const struct dl_run *r = job->run;
  double epoch = dl_run_set_has(given, DL_RUN_train_tokens) ? r->train_tokens
                 : dl_run_set_has(given, DL_RUN_train_samples)
                     ? r->train_samples * job->seq_len
                     : (double)NAN;
  if (!dl_run_set_has(given, DL_RUN_tokens) ||
      (isnan(epoch) && !dl_run_set_has(given, DL_RUN_epochs)))
    return false;
  return isnan(epoch) ? r->epochs > 1
                      : fabs(log(r->tokens / (epoch * r->epochs))) > 0.1;
}

/* The sockets of a node are joined by its board. */
static bool lacks_link(const struct dl_accelerator *gpu) {
  return gpu && isnan(gpu->link_gb_s) && !dl_is_word(gpu->form, "socket");
}

/* Requests at a time that the user gives without their number. Those that come
 * at a rate wait for each other whatever their number is. */
static double unfilled_batch(const struct dl_job *job) {
  const struct dl_run_set *given = &job->row->given;
  const struct dl_run *r = job->run;
  return dl_run_set_has(given, DL_RUN_batch_size) &&
                 !dl_run_set_has(given, DL_RUN_requests) &&
                 !(r->request_rate > 0) && r->batch_size > r->requests
             ? r->batch_size
             : 0;
}

/* Of a sequence: of a language model that is served, prompt and output. */
static double tokens_of(const struct dl_job *job) {
  const struct dl_run *r = job->run;
  double served = r->prompt_tokens + dl_or(r->output_tokens, 0);
  return dl_run_is_inference(r) ? dl_or(served, job->seq_len) : job->seq_len;
}

/* `best` is the recommended estimate, or NULL. */
static struct excess excess_of(const struct dl_job *job,
                               const struct dl_estimate *best) {
  const struct dl_run *r = job->run;
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  bool one_stack = t && (t->kind == DL_TF_DECODER || t->kind == DL_TF_ENCODER);
  bool language = arch && dl_is_language_model(arch);
  bool trains = !dl_run_is_inference(r);
  double batches = dl_or(r->grad_accum, 1);
  double bubble =
      1 - batches / dl_pipeline_rounds(batches, dl_or(r->pipeline_parallel, 1),
                                       dl_or(r->virtual_stages, 1));
  struct excess e = {0};
  if (!isnan(dl_work_peak_tflops(job)))
    e.rate = dl_work_lacks_rate(job, &e.used);
  e.whole = other_tokens(job);
  e.no_link =
      r->n_gpus > 1 && !(r->gpus_per_node <= 1) && lacks_link(job->found.gpu);
  /* 2 of 2,042 measured speeds and powers are off by more than 5, none by 6. */
  if (job->known.misfit > 6)
    e.misfit = job->known.misfit;
  e.faster = dl_known_beats_assumed(job, &e.needs, &e.most);
  e.loader = best && best->loader_assumed ? best->loader_workers : 0;
  /* Twice the half-width of 90 %. */
  if (best &&
      best->samples_per_s > best->loader_rate * exp(2 * best->loader_doubt))
    e.outpaced = best->loader_rate;
  /* Their power is uncertain by the same factor either way. */
  double factor = job->known.static_w / job->known.least_static_w;
  e.idles = isnan(job->known.run_s) &&
            job->known.power_w < job->known.static_w * factor;
  dl_memory_of(job, &e.memory);
  double step = dl_micro_batch(r) * r->n_gpus * batches;
  if (one_stack && most_tokens(t) > 0 && tokens_of(job) > most_tokens(t))
    e.tokens = most_tokens(t);
  if ((r->n_gpus > 1 || batches > 1) && trains && !language &&
      step > r->train_samples)
    e.samples = step;
  if (language && trains && bubble > 1.0 / 3)
    e.bubble = bubble;
  if (!trains) {
    e.unfilled = unfilled_batch(job);
    e.undivided = t && dl_transformer_writes(t) && r->n_gpus > 1 &&
                  fmod(t->heads, r->n_gpus) > 0;
    e.no_time = best && fabs(best->duration_s.x / r->duration_s - 1) > 0.01;
  }
  return e;
}

static void warn_tokens(const struct dl_job *job, double most,
                        struct dl_diag *d) {
  const struct dl_architecture *arch = job->found.arch;
  const char *of =
      dl_run_is_inference(job->run) && !isnan(job->run->prompt_tokens)
          ? "prompt and output tokens of a request,"
          : "--seq-len";
  if (arch->transformer->positions > 0)
    dl_warn(d,
            "%s %.10g is more than the %.10g learned positions of '%s': "
            "as published it takes no longer sequences",
            of, tokens_of(job), most, arch->head.id);
  else
    dl_warn(d,
            "%s %.10g is more than the %.10g tokens of context published "
            "for '%s': as published it takes no longer sequences",
            of, tokens_of(job), most, arch->head.id);
}

/* Of inference. */
static void warn_requests(const struct dl_job *job, const struct excess *e,
                          struct dl_diag *d) {
  const struct dl_architecture *arch = job->found.arch;
  const char *of = arch && dl_is_language_model(arch) ? "request" : "sample";
  if (e->unfilled > 0)
    dl_warn(d, "one %s, the default, does not fill a batch of %g; give --%ss",
            of, e->unfilled, of);
  if (e->undivided)
    dl_warn(d,
            "%g GPUs do not divide the %g attention heads of '%s': servers "
            "refuse that; use another number, or copies of it side by side",
            job->run->n_gpus, arch->transformer->heads, arch->head.id);
  if (e->no_time)
    dl_warn(d, "--duration has no effect on this estimate; for GPUs that idle "
               "give --request-rate or --idle-s");
}

/* Of what is assumed and decides the time. */
static void warn_assumed(const struct dl_job *job, const struct excess *e,
                         struct dl_diag *d) {
  if (e->faster)
    dl_warn(d,
            "the known time needs %.3g TFLOP/s, more than the %.3g of %s, "
            "which is assumed; give --precision",
            e->needs, e->most, dl_precision_words[job->run->precision]);
  if (e->loader > 0)
    dl_warn(d,
            "bound by the input of %g loader processes per GPU, which are "
            "assumed; give --loader-workers, or --loader synthetic if the "
            "input keeps up",
            e->loader);
}

static void warn_outpaced(const struct excess *e,
                          const struct dl_estimate *best, struct dl_diag *d) {
  char trained[DL_NUMBER_SIZE], loaded[DL_NUMBER_SIZE];
  if (e->outpaced > 0)
    dl_warn(d,
            "by what is known %s samples/s are trained on, far more than the "
            "%s of the loader; check --loader-workers and what is known",
            dl_format_digits(trained, best->samples_per_s, 3),
            dl_format_digits(loaded, e->outpaced, 3));
}

void dl_warn_limits(const struct dl_job *job, const struct dl_estimate *best,
                    struct dl_diag *d) {
  const struct excess e = excess_of(job, best);
  warn_requests(job, &e, d);
  if (e.tokens > 0)
    warn_tokens(job, e.tokens, d);
  if (e.memory.over)
    warn_memory(job, &e.memory, d);
  if (e.samples > 0) {
    char samples[DL_NUMBER_SIZE], all[DL_NUMBER_SIZE];
    dl_warn(d,
            "a step on all GPUs takes %s samples, more than the %s of an "
            "epoch; use fewer GPUs, or a smaller --batch-size or --grad-accum",
            dl_format_short(samples, e.samples),
            dl_format_short(all, job->run->train_samples));
  }
  if (e.bubble > 0)
    dl_warn(d,
            "%g micro-batches for %g pipeline stages: stages wait for %.0f %% "
            "of a step; use a larger --global-batch or --grad-accum, more "
            "--virtual-stages or fewer stages",
            dl_or(job->run->grad_accum, 1), job->run->pipeline_parallel,
            100 * e.bubble);
  if (e.idles)
    dl_warn(d,
            "--gpu-power %g W may be of %g waiting GPU%s, about %.3g W: the "
            "time is hardly known; give --duration or --gpu-util",
            job->known.power_w, job->run->n_gpus,
            job->run->n_gpus > 1 ? "s" : "", job->known.static_w);
  if (e.misfit > 0)
    dl_warn(d,
            "what is known is %.0f standard deviations from what the fit "
            "expects, however long GPUs wait; check times, --gpu-util, "
            "--gpu-power and the size of the training",
            e.misfit);
  warn_assumed(job, &e, d);
  warn_outpaced(&e, best, d);
  if (e.no_link)
    dl_warn(d,
            "the link between several '%s' is not known: PCIe 3.0 x16 is "
            "assumed, %g GB/s; give --set gpu.link_gb_s=VALUE",
            job->found.gpu->head.id, DL_PCIE_3_X16_GB_S);
  if (e.rate && job->run->precision == DL_PRECISION_BF16)
    dl_warn(d,
            "%s has no BF16 arithmetic: frameworks emulate it, and its %s peak "
            "of %.3g TFLOP/s is used; --precision fp16 needs no emulation",
            job->found.gpu->head.id, e.used, dl_work_peak_tflops(job));
  else if (e.rate)
    dl_warn(d,
            "%s has no %s rate for --precision %s: its %s peak of %.3g "
            "TFLOP/s is used instead",
            job->found.gpu->head.id, e.rate,
            dl_precision_words[job->run->precision], e.used,
            dl_work_peak_tflops(job));
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In an order that does not depend on that of rows. */
static void note_quantity(struct dl_limits *l, const char *name) {
  for (size_t i = 0; i < l->n_quantities; i++)
    if (strcmp(l->quantity[i], name) == 0)
      return;
  if (l->n_quantities == DL_MOST_OUTSIDE)
    return;
  l->quantity[l->n_quantities++] = name;
  qsort(l->quantity, l->n_quantities, sizeof *l->quantity, by_name);
}

void dl_limits_count(struct dl_limits *l, const struct dl_job *job,
                     const struct dl_estimate *best) {
  const struct excess e = excess_of(job, best);
  const bool exceeds[DL_LIMITS] = {
      e.memory.over, e.samples > 0, e.unfilled > 0, e.no_time,
      e.tokens > 0,  e.bubble > 0,  e.rate,         e.no_link,
      e.whole,       e.idles,       e.misfit > 0,   e.faster,
      e.loader > 0,  e.undivided,   e.outpaced > 0};
  for (size_t i = 0; i < DL_LIMITS; i++)
    l->rows[i] += exceeds[i];
  l->n += best != NULL;
  l->n_outside += best && best->n_outside > 0;
  for (size_t i = 0; best && i < best->n_outside; i++)
    note_quantity(l, best->outside[i]);
}

void dl_limits_add(struct dl_limits *l, const struct dl_limits *more) {
  for (size_t i = 0; i < DL_LIMITS; i++)
    l->rows[i] += more->rows[i];
  l->n += more->n;
  l->n_outside += more->n_outside;
  for (size_t i = 0; i < more->n_quantities; i++)
    note_quantity(l, more->quantity[i]);
}

void dl_limits_warn(const struct dl_limits *l, const char *path,
                    struct dl_diag *d) {
  static const char *const what[DL_LIMITS] = {
      "the batch needs more than the GPU's memory (memory_need_gb)",
      "a step on all GPUs takes more samples than an epoch has",
      "one request, the default, does not fill batch_size; give requests",
      "duration_s has no effect on an estimate of inference; for GPUs that "
      "idle give request_rate or idle_s",
      "seq_len, or prompt_tokens with output_tokens, is more than the "
      "network's learned positions or published context",
      "stages of a pipeline wait for more than a third of a step "
      "(grad_accum)",
      "the GPU has no tensor rate for the precision; its next best peak is "
      "used instead",
      "the link between the GPUs is not known: PCIe 3.0 x16 is assumed "
      "(gpu.link_gb_s)",
      "tokens is the whole training, all epochs, and not what its samples and "
      "epochs make; give tokens per epoch in a column train_tokens",
      "gpu_power_w may be of waiting GPUs: the time is hardly known; "
      "give duration_s or gpu_util",
      "what is known of the training is more than 6 standard deviations from "
      "what the fit expects; check times, gpu_util, gpu_power_w and sizes",
      "the known time needs more than the peak rate of the precision that is "
      "assumed; give a column precision",
      "bound by the input of loader processes that are assumed; give "
      "loader_workers, or the loader synthetic if the input keeps up",
      "the GPUs do not divide the network's attention heads: servers refuse "
      "that",
      "what is known makes the training far faster than the described loader; "
      "check loader_workers"};
  for (size_t i = 0; i < DL_LIMITS; i++)
    if (l->rows[i] > 0)
      dl_warn_at(d, path, 0, "%zu row%s: %s", l->rows[i],
                 l->rows[i] == 1 ? "" : "s", what[i]);
}

void dl_limits_say(const struct dl_limits *l, struct dl_report *r) {
  DL_TEXT(t);
  dl_add_quantities(&t, l->quantity, l->n_quantities);
  if (l->n_outside > 0)
    dl_report_say(r, "Outside the training data in %zu of %zu row%s: %s.",
                  l->n_outside, l->n, l->n == 1 ? "" : "s", dl_text_str(&t));
}
