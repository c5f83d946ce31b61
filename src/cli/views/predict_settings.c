/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/predict_settings.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "cli/views/predict_limits.h"
#include "estimate/methods/missing_facts.h"
#include "estimate/methods/work.h"

/* Settings of inference and of language models, the classifier, the
 * parameters, and those of them that are trained. */
static void add_tokens(struct dl_report *r, const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  bool language = arch && dl_is_language_model(arch);
  bool inference = dl_is_inference(job), frozen = job->run->frozen_base > 0;
  bool given = !isnan(job->run->classes);
  double classes = NAN, params = NAN, head = NAN, active = NAN;
  struct dl_work w;
  dl_work_of(job, &w);
  if (arch) {
    classes = arch->classes;
    params = arch->params_m;
    head = arch->head_params_m;
    active = arch->active_params_m;
  }
  dl_report_known(r, "seq_len", "sequence", "tokens", DL_CODE, job->seq_len);
  dl_report_known(r, "tokens", "training tokens", NULL, DL_PLAIN,
                  job->run->tokens);
  dl_report_known(r, "prompt_tokens", "prompt", "tokens", DL_CODE,
                  job->run->prompt_tokens);
  dl_report_known(r, "output_tokens", "answer", "tokens", DL_CODE,
                  job->run->output_tokens);
  dl_report_known(r, "requests", "requests", NULL, DL_CODE,
                  inference ? job->run->requests : (double)NAN);
  dl_report_known(r, "request_rate", "request rate", "requests/s", DL_PLAIN,
                  inference ? job->run->request_rate : (double)NAN);
  dl_report_add(r, "classes", given ? "classes" : NULL, NULL, DL_CODE,
                dl_number(given ? job->run->classes : classes));
  dl_report_add(r, "frozen", NULL, NULL, DL_CODE, dl_bool(frozen));
  dl_report_add(r, "params_m",
                language || frozen || given ? "parameters" : NULL, "M",
                DL_PLAIN, dl_number(params));
  dl_report_add(r, "trained_params_m", frozen ? "of them trained" : NULL, "M",
                DL_PLAIN, dl_number(frozen ? head : params));
  dl_report_known(r, "active_params_m", "of them for a token", "M", DL_PLAIN,
                  active);
  dl_report_add(r, "flop", language || w.inference ? "operations" : NULL,
                "FLOP", DL_PLAIN, dl_number(w.flop));
}

void dl_predict_settings(struct dl_report *r, const struct dl_job *job,
                         const struct dl_job_options *o) {
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_accelerator *gpu = job->found.gpu;
  bool inference = dl_is_inference(job);
  bool language = arch && dl_is_language_model(arch);
  bool trains = !inference && isnan(job->run->tokens);
  dl_report_add(r, "arch", "architecture", NULL, DL_CODE,
                dl_string(arch ? arch->head.id : job->run->arch));
  dl_report_add(r, "gpu", NULL, NULL, DL_CODE,
                dl_string(gpu ? gpu->head.id : job->run->gpu));
  dl_report_add(r, "gpu_name", "GPU", NULL, DL_CODE,
                dl_string(gpu ? gpu->head.name : job->run->gpu));
  dl_report_add(r, "n_gpus", "GPUs", NULL, DL_CODE,
                dl_number(job->run->n_gpus));
  dl_report_add(r, "phase", inference ? "phase" : NULL, NULL, DL_CODE,
                dl_string(inference ? "inference" : "training"));
  dl_report_add(r, "dataset", trains ? "data set" : NULL, NULL, DL_CODE,
                dl_string(o->dataset));
  dl_report_add(r, "train_samples", trains ? "training samples" : NULL, NULL,
                DL_CODE, dl_number(job->train_samples));
  dl_report_add(r, "val_samples", trains ? "validation samples" : NULL, NULL,
                DL_CODE, dl_number(job->val_samples));
  dl_report_add(r, "epochs", trains ? "epochs" : NULL, NULL, DL_CODE,
                dl_number(job->epochs));
  dl_report_known(r, "batch_size", "batch size", NULL, DL_CODE,
                  job->run->batch_size);
  dl_report_add(r, "image_px", language ? NULL : "input", "px", DL_CODE,
                dl_number(job->run->image_px));
  add_tokens(r, job);
  dl_report_add(r, "macs_g",
                isnan(job->run->prompt_tokens) ? "forward pass" : NULL, "GMAC",
                DL_PLAIN, dl_number(job->run->macs_g));
  dl_report_add(r, "peak_tflops", "peak rate used", "TFLOP/s", DL_PLAIN,
                dl_number(dl_work_peak_tflops(job)));
  dl_report_add(r, "precision", job->run->precision ? "precision" : NULL, NULL,
                DL_CODE, dl_string(job->run->precision));
  dl_report_add(r, "framework", job->run->framework ? "framework" : NULL, NULL,
                DL_CODE, dl_string(job->run->framework));
  dl_report_add(
      r, "facts_assumed", NULL, NULL, DL_CODE,
      dl_string(language || inference ? NULL : dl_facts_assumed(job, NULL)));
  dl_report_add(r, "efficiency", "efficiency (flops)", NULL, DL_PLAIN,
                dl_number(job->run->efficiency));
  dl_report_add(r, "utilisation", "utilisation (green-algorithms)", NULL,
                DL_PLAIN, dl_number(job->run->utilisation));
  dl_report_add(r, "ram_gb", "memory (green-algorithms)", "GB", DL_PLAIN,
                dl_number(job->run->ram_gb));
  dl_predict_limits(r, job);
  dl_add_footprint(r, &o->foot);
}

/* Without headings text leaves them out. */
static const struct dl_column work_columns[2][5] = {
    {{"part", NULL, NULL, DL_CODE, false},
     {"flop", NULL, "FLOP", DL_PLAIN, false},
     {"bytes", NULL, "bytes", DL_PLAIN, false},
     {"duration_s", NULL, "s", DL_TIME, false},
     {"energy_j", NULL, "J", DL_ENERGY, false}},
    {{"part", "work", NULL, DL_CODE, false},
     {"flop", "operations", "FLOP", DL_PLAIN, false},
     {"bytes", "read", "bytes", DL_PLAIN, false},
     {"duration_s", "time", "s", DL_TIME, false},
     {"energy_j", "energy", "J", DL_ENERGY, false}}};

static void add_part(struct dl_table *t, const struct dl_job *job,
                     const char *part, double flop, double bytes,
                     double seconds) {
  struct dl_value v[] = {dl_string(part), dl_number(flop), dl_number(bytes),
                         dl_number(seconds),
                         dl_number(seconds * job->tdp_w * job->run->n_gpus)};
  dl_table_row(t, v, NULL);
}

void dl_predict_work(struct dl_report *r, const struct dl_job *job,
                     bool shown) {
  struct dl_work w;
  dl_work_of(job, &w);
  if (!w.inference)
    return;
  struct dl_table *t =
      dl_report_table(r, "inference", shown ? "Inference, by flops" : NULL,
                      work_columns[shown], 5, false);
  add_part(t, job, w.writes ? "prefill" : "forward", w.prefill_flop, NAN,
           w.prefill_s);
  if (w.writes)
    add_part(t, job, "decode", w.decode_flop, w.decode_bytes, w.decode_s);
}

/* Without headings text leaves them out. */
static const struct dl_column part_columns[2][3] = {
    {{"part", NULL, NULL, DL_CODE, false},
     {"seconds", NULL, "s", DL_TIME, false},
     {"what", NULL, NULL, DL_CODE, false}},
    {{"part", "part", NULL, DL_CODE, false},
     {"seconds", "alone", "s", DL_TIME, false},
     {"what", "what it is", NULL, DL_CODE, false}}};

void dl_predict_parts(struct dl_report *r, const struct dl_physical_parts *e,
                      bool explain) {
  bool known = e->bound != NULL;
  const struct {
    const char *part, *what;
    double s;
  } parts[] = {
      {"compute", "arithmetic at the share of the peak rate reached",
       e->compute_s},
      {"memory", "activations and weights over the memory's bandwidth",
       e->memory_s},
      {"kernels", "starting and ending kernels on the GPU", e->kernels_s},
      {"launch", "launching kernels on the host", e->launch_s},
      {"fixed", "once an epoch", e->fixed_s},
      {"epoch", "together: GPU and host overlap", e->time_s}};
  dl_report_add(r, "epoch_s", known ? "an epoch on one GPU" : NULL, "s",
                DL_TIME, dl_number(known ? e->time_s : NAN));
  dl_report_add(r, "bound", known ? "bound by" : NULL, NULL, DL_CODE,
                dl_string(e->bound));
  struct dl_table *t = dl_report_table(
      r, "parts",
      explain ? "An epoch on one GPU, by the physical method" : NULL,
      part_columns[explain], 3, false);
  for (size_t i = 0; known && i < sizeof parts / sizeof *parts; i++) {
    struct dl_value v[] = {dl_string(parts[i].part), dl_number(parts[i].s),
                           dl_string(parts[i].what)};
    dl_table_row(t, v, NULL);
  }
}
