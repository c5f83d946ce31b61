/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/job_limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/methods/work.h"
#include "estimate/node/parallel.h"
#include "estimate/node/peak_memory.h"
#include "run/setup/training_setup.h"

/* The batch that exceeds the memory, and the one that would fit. */
static void warn_memory(const struct dl_job *job,
                        const struct dl_memory_need *m, struct dl_diag *d) {
  const struct dl_accelerator *gpu = job->found.gpu;
  double has = gpu->memory_gb;
  bool split = dl_parallel_is_strong(job) && job->run->n_gpus > 1;
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
  struct dl_text remedy = {0};
  bool helps = dl_memory_remedy(job, &remedy);
  dl_warn(d,
          "batch of %g%s needs about %s GB, more than the %g GB of %s; "
          "%s%s%s",
          split ? job->run->batch_size : m->batch, each,
          dl_format_digits(need, m->need_gb, 3), has, gpu->head.id, fits,
          helps ? "; " : "", helps ? dl_text_str(&remedy) : "");
  dl_text_free(&remedy);
}

/* Learned positions of a network whose sequences are longer; 0: none. */
static double short_positions(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  bool one_stack = t && (t->kind == DL_TF_DECODER || t->kind == DL_TF_ENCODER);
  return one_stack && t->positions > 0 && job->seq_len > t->positions
             ? t->positions
             : 0;
}

/* The share of a step that stages of a pipeline wait for its micro-batches
 * (Narayanan et al., arXiv 2104.04473), where it is more than a third. */
static double pipeline_bubble(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  double stages = dl_or(job->run->pipeline_parallel, 1);
  double batches = dl_or(job->run->grad_accum, 1);
  double v = dl_or(job->run->virtual_stages, 1);
  double share = 1 - batches / dl_pipeline_rounds(batches, stages, v);
  return arch && dl_is_language_model(arch) && !dl_run_is_inference(job->run) &&
                 share > 1.0 / 3
             ? share
             : 0;
}

/* Samples of a step on several GPUs where they are more than an epoch has: such
 * a step is never full. 0: they are not. Language models: training_setup. */
static double excess_samples(const struct dl_job *job,
                             const struct dl_memory_need *m) {
  const struct dl_run *r = job->run;
  const struct dl_architecture *arch = job->found.arch;
  double step = m->batch * r->n_gpus * dl_or(r->grad_accum, 1);
  bool excess = r->n_gpus > 1 && !dl_run_is_inference(r) &&
                !(arch && dl_is_language_model(arch)) &&
                step > r->train_samples;
  return excess ? step : 0;
}

static void warn_excess(double step, const struct dl_job *job,
                        struct dl_diag *d) {
  char samples[DL_NUMBER_SIZE], all[DL_NUMBER_SIZE];
  if (step > 0)
    dl_warn(d,
            "a step on all GPUs takes %s samples, more than the %s of an "
            "epoch; use fewer GPUs or a smaller --batch-size",
            dl_format_short(samples, step),
            dl_format_short(all, job->run->train_samples));
}

void dl_warn_limits(const struct dl_job *job, struct dl_diag *d) {
  struct dl_memory_need m;
  const char *used, *rate = dl_work_lacks_rate(job, &used);
  dl_memory_of(job, &m);
  double positions = short_positions(job);
  if (positions > 0)
    dl_warn(d,
            "seq_len %g is more than the %g learned positions of '%s': as "
            "published it takes no longer sequences",
            job->seq_len, positions, job->found.arch->head.id);
  if (m.over)
    warn_memory(job, &m, d);
  warn_excess(excess_samples(job, &m), job, d);
  if (pipeline_bubble(job) > 0)
    dl_warn(d,
            "%g micro-batches for %g pipeline stages: stages wait for %.0f %% "
            "of a step; use a larger --global-batch or --grad-accum, more "
            "--virtual-stages or fewer stages",
            dl_or(job->run->grad_accum, 1), job->run->pipeline_parallel,
            100 * pipeline_bubble(job));
  if (rate && strcmp(job->run->precision, "bf16") == 0)
    dl_warn(d,
            "%s has no BF16 arithmetic: frameworks emulate it, and its %s peak "
            "of %.3g TFLOP/s is used; --precision fp16 needs no emulation",
            job->found.gpu->head.id, used, dl_work_peak_tflops(job));
  else if (rate)
    dl_warn(d,
            "%s has no %s rate for --precision %s: its %s peak of %.3g "
            "TFLOP/s is used instead",
            job->found.gpu->head.id, rate, job->run->precision, used,
            dl_work_peak_tflops(job));
}

void dl_limits_count(struct dl_limits *l, const struct dl_job *job) {
  struct dl_memory_need m;
  const char *used;
  dl_memory_of(job, &m);
  l->over += m.over;
  l->unfilled += excess_samples(job, &m) > 0;
  l->too_long += short_positions(job) > 0;
  l->waiting += pipeline_bubble(job) > 0;
  l->no_rate += dl_work_lacks_rate(job, &used) != NULL;
}

void dl_limits_warn(const struct dl_limits *l, const char *path,
                    struct dl_diag *d) {
  if (l->over)
    dl_warn_at(d, path, 0,
               "%zu row%s: the batch needs more than the GPU's memory "
               "(memory_need_gb)",
               l->over, l->over == 1 ? "" : "s");
  if (l->unfilled)
    dl_warn_at(d, path, 0,
               "%zu row%s: a step on all GPUs takes more samples than an epoch "
               "has",
               l->unfilled, l->unfilled == 1 ? "" : "s");
  if (l->too_long)
    dl_warn_at(d, path, 0,
               "%zu row%s: seq_len is more than the network has learned "
               "positions",
               l->too_long, l->too_long == 1 ? "" : "s");
  if (l->waiting)
    dl_warn_at(d, path, 0,
               "%zu row%s: stages of a pipeline wait for more than a third of "
               "a step (grad_accum)",
               l->waiting, l->waiting == 1 ? "" : "s");
  if (l->no_rate)
    dl_warn_at(d, path, 0,
               "%zu row%s: the GPU has no tensor rate for the precision; its "
               "next best peak is used instead",
               l->no_rate, l->no_rate == 1 ? "" : "s");
}
