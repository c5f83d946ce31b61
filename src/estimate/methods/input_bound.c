/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trainings that wait for their input. */

#include "estimate/methods/input_bound.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "estimate/methods/cpu_inference.h"
#include "estimate/methods/language_training.h"
#include "estimate/methods/methods.h"
#include "physics/conditioning/gpu_waiting.h"
#include "physics/rows/inputs.h"
#include "physics/training/input_pipeline.h"

/* Whether images are files that a usual loader decodes: data sets whose stored
 * images are known. The containers that are tuned for networks have loaders of
 * their own, and so has TensorFlow. */
static bool usual_loader(const struct dl_run *run) {
  return !isnan(dl_or(run->stored_mpx, run->stored_kb)) &&
         dl_stack_of(run) != DL_SOFTWARE_NGC &&
         dl_stack_of(run) != DL_SOFTWARE_MLPERF &&
         dl_framework_of(run) != DL_FRAMEWORK_TENSORFLOW;
}

/* Processors that each GPU of the job has for loader processes; NaN. */
static double processors_per_gpu(const struct dl_run *run) {
  return run->n_cpus > 0 ? fmax(1, round(run->n_cpus / run->n_gpus))
                         : (double)NAN;
}

/* Networks of the family YOLO are trained on mosaics. */
static enum dl_augmentation augmentation_of(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  bool usual = job->run->augmentation == DL_AUGMENT_UNKNOWN;
  return usual && arch && dl_is_word(arch->family, "yolo")
             ? DL_AUGMENT_MOSAIC
             : job->run->augmentation;
}

/* The pipeline of a training on images whose loader is described, or usual;
 * false: no bound. The images are as large as the data set's, else as the
 * input. */
static bool pipeline_of(const struct dl_job *job, struct dl_input_pipeline *in,
                        bool *assumed) {
  const struct dl_run *run = job->run;
  const struct dl_run_set *given = &job->row->given;
  bool described = run->loader != DL_LOADER_UNKNOWN ||
                   run->augmentation != DL_AUGMENT_UNKNOWN ||
                   !isnan(run->loader_workers);
  *assumed = !described && usual_loader(run);
  *in = (struct dl_input_pipeline){
      .stored_mpx = run->stored_mpx,
      .stored_kb = dl_run_set_has(given, DL_RUN_stored_mpx) &&
                           !dl_run_set_has(given, DL_RUN_stored_kb)
                       ? (double)NAN /* the data set's, at its own size */
                       : run->stored_kb,
      .image_px = run->image_px,
      .workers = *assumed ? processors_per_gpu(run) : run->loader_workers,
      .cached = run->loader == DL_LOADER_CACHED,
      .augmentation = augmentation_of(job)};
  if (isnan(in->stored_mpx))
    in->stored_mpx = run->image_px * run->image_px / 1e6;
  return (described || *assumed) && !isnan(run->image_px) &&
         run->loader != DL_LOADER_SYNTHETIC;
}

/* Adds the energy of waiting to a prediction. Intervals of the prediction and
 * of waiting, low and high, add in squares. */
static void add_waiting(struct dl_prediction *p, double waiting, double less,
                        double more) {
  double below = p->value - p->low, above = p->high - p->value;
  p->value += waiting;
  p->low = fmax(p->low, p->value - hypot(below, less));
  p->high = p->value + hypot(above, more);
}

void dl_find_input(struct dl_job_predictions *p, const struct dl_job *job,
                   bool known) {
  struct dl_input_pipeline in;
  struct dl_physical_parts *parts = &p->parts;
  const struct dl_prediction *time = &p->of[DL_PHYSICAL_TIME];
  double samples = job->train_samples + fmax(job->val_samples, 0);
  double alone = dl_or(time->value, parts->time_s);
  bool assumed, has = pipeline_of(job, &in, &assumed);
  double workers = dl_or(in.workers, DL_LOADER_WORKERS);
  parts->input_core_s = has ? samples * workers / dl_input_rate(&in) : NAN;
  parts->input_doubt = dl_input_doubt(&in);
  if (!has || !parts->bound || isnan(samples))
    return;
  double rate = job->run->n_gpus * dl_input_rate(&in);
  if (assumed && (known || time->repeats > 0))
    return;
  parts->input_assumed = assumed;
  parts->input_workers = workers;
  parts->input_rate = rate;
  parts->input_s = samples / rate;
  parts->gpu_rate = samples / alone;
  parts->time_s = dl_input_together(parts->time_s, parts->input_s);
  if (parts->input_s > alone)
    parts->bound = "input";
}

void dl_find_tokenising(struct dl_job_predictions *p,
                        const struct dl_job *job) {
  const struct dl_run *run = job->run;
  struct dl_physical_parts *parts = &p->parts;
  const struct dl_input_pipeline in = {.tokens = job->seq_len,
                                       .workers = run->loader_workers};
  bool described =
      run->loader != DL_LOADER_UNKNOWN || !isnan(run->loader_workers);
  double samples =
      (job->train_samples + fmax(job->val_samples, 0)) * job->epochs;
  double alone = dl_language_work_s(job, p);
  if (!described || run->loader == DL_LOADER_SYNTHETIC || !(samples > 0) ||
      !(alone > 0))
    return;
  parts->input_workers = dl_or(in.workers, DL_LOADER_WORKERS);
  parts->input_rate = run->n_gpus * dl_input_rate(&in);
  parts->input_s = samples / parts->input_rate;
  parts->input_doubt = dl_input_doubt(&in);
  parts->gpu_rate = samples / alone;
  if (parts->input_s > alone)
    p->step.bound = "input";
}

void dl_bound_by_input(struct dl_job_predictions *p,
                       const struct dl_engine *ctx, const struct dl_job *job,
                       double memory_w) {
  struct dl_physical_parts *parts = &p->parts;
  double input = parts->input_s;
  if (!(input > 0))
    return;
  double alone = input * parts->input_rate / parts->gpu_rate;
  const struct dl_input_wait w =
      dl_input_wait(alone, input, parts->input_doubt * ctx->of_90);
  double static_w = job->run->n_gpus * parts->static_w;
  double watts = static_w + memory_w;
  double doubt_w = static_w * (dl_static_factor(0, ctx->coverage) - 1);
  add_waiting(&p->of[DL_PHYSICAL_TIME], w.s, w.s - w.low_s, w.high_s - w.s);
  add_waiting(&p->of[DL_PHYSICAL_EPOCH], w.s * watts,
              hypot((w.s - w.low_s) * watts, w.s * doubt_w),
              hypot((w.high_s - w.s) * watts, w.s * doubt_w));
}

/* The pipeline of a batch of images whose loader is described. */
static bool described_input(const struct dl_job *job,
                            struct dl_input_pipeline *in) {
  const struct dl_architecture *arch = job->found.arch;
  bool assumed,
      images = arch && !dl_is_language_model(arch) && !dl_generator(job);
  return images && pipeline_of(job, in, &assumed) && !assumed;
}

/* Seconds of a core for a sample. */
static double core_s(const struct dl_input_pipeline *in) {
  return dl_or(in->workers, DL_LOADER_WORKERS) / dl_input_rate(in);
}

void dl_add_input(const struct dl_job *job, double batch,
                  struct dl_serving_cost *r) {
  struct dl_input_pipeline in;
  double n = job->run->n_gpus, more, watts = r->static_w;
  if (!described_input(job, &in))
    return;
  if (dl_is_cpu(job->found.gpu)) {
    double cores = n * job->found.gpu->multiprocessors *
                   dl_cores_share(job->run, job->found.gpu);
    more = batch * core_s(&in) / cores;
    watts = dl_package_of(job).power_w;
    if (more > r->time_s / 2)
      r->bound = "input";
  } else {
    double input = batch / (n * dl_input_rate(&in));
    more = dl_input_together(r->time_s, input) - r->time_s;
    if (input > r->time_s)
      r->bound = "input";
  }
  r->time_s += more;
  r->prefill_s += more;
  r->prefill_j += more * n * watts;
  r->input_s = more;
}

void dl_find_inference_input(struct dl_job_predictions *p,
                             const struct dl_job *job) {
  struct dl_input_pipeline in;
  if (!described_input(job, &in))
    return;
  p->parts.input_core_s = job->run->requests * core_s(&in);
  p->parts.input_doubt = dl_input_doubt(&in);
}
