/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/input_bound.h"

#include <math.h>
#include <string.h>

/* The pipeline of a training on images whose loader is described; false: no
 * bound. The images are those of the data set, else as large as the input. */
static bool pipeline_of(const struct dl_job *job,
                        struct dl_input_pipeline *in) {
  const struct dl_run *run = job->run;
  bool described = run->loader || !isnan(run->loader_workers);
  *in = (struct dl_input_pipeline){
      .stored_mpx = run->stored_mpx,
      .image_px = run->image_px,
      .workers = run->loader_workers,
      .cached = run->loader && strcmp(run->loader, "cached") == 0};
  if (isnan(in->stored_mpx))
    in->stored_mpx = run->image_px * run->image_px / 1e6;
  return described && !isnan(run->image_px) &&
         !(run->loader && strcmp(run->loader, "synthetic") == 0);
}

/* Adds the energy of waiting to a prediction. Intervals of the prediction and
 * of waiting, low and high, add in squares. */
static void add_waiting(struct dl_prediction *p, double waiting, double less,
                        double more) {
  double below = p->value - p->low, above = p->high - p->value;
  p->value += waiting;
  p->low = p->value - hypot(below, less);
  p->high = p->value + hypot(above, more);
}

void dl_input_bound_apply(struct dl_job_predictions *p,
                          const struct dl_job *job, double memory_w) {
  struct dl_input_pipeline in;
  struct dl_physical_parts *parts = &p->parts;
  struct dl_prediction *time = &p->of[DL_PHYSICAL_TIME];
  double n = job->run->n_gpus;
  double samples = job->train_samples + fmax(job->val_samples, 0);
  if (!pipeline_of(job, &in) || !parts->bound || isnan(samples))
    return;
  double rate = n * dl_input_rate(&in), input = samples / rate;
  double alone = dl_or(time->value, parts->time_s);
  double factor = exp(dl_input_doubt(&in));
  double waiting = dl_input_together(alone, input) - alone;
  double least = dl_input_together(alone, input / factor) - alone;
  double most = dl_input_together(alone, input * factor) - alone;
  double watts = n * parts->static_w + memory_w;
  parts->input_s = input;
  parts->input_rate = rate;
  parts->gpu_rate = samples / alone;
  parts->time_s = dl_input_together(parts->time_s, input);
  if (input > alone)
    parts->bound = "input";
  add_waiting(time, waiting, waiting - least, most - waiting);
  add_waiting(&p->of[DL_PHYSICAL_EPOCH], waiting * watts,
              (waiting - least) * watts, (most - waiting) * watts);
}
