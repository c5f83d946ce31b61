/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the report of dlest predict. */

#include "cli/views/predict_report.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "cli/views/summary/answer.h"
#include "estimate/methods/estimator.h"
#include "estimate/methods/work.h"
#include "estimate/node/parallel.h"
#include "estimate/node/peak_memory.h"
#include "output/report_tree.h"
#include "output/units.h"
#include "physics/training/input_pipeline.h"
#include "run/setup/training_setup.h"

/* --- settings */

static const char *label_of(enum dl_run_id id) {
  return dl_run_columns[id].label;
}

/* Settings of inference and of language models, and the parameters. */
static void add_tokens(struct dl_report *r, const struct dl_job *job) {
  const struct dl_run *run = job->run;
  const struct dl_architecture *arch = job->found.arch;
  bool language = arch && dl_is_language_model(arch);
  bool inference = dl_run_is_inference(job->run), frozen = run->frozen_base > 0;
  bool given = !isnan(run->classes);
  double params = arch ? arch->params_m : NAN;
  double classes = dl_or(run->classes, arch ? arch->classes : NAN);
  enum dl_fine_tune tune = dl_fine_tune_of(run);
  bool adapters = arch && (tune == DL_TUNE_LORA || tune == DL_TUNE_QLORA);
  double trained = frozen && arch ? arch->head_params_m : params;
  if (adapters)
    trained = dl_adapter_params(run, arch) / 1e6;
  struct dl_work w;
  dl_work_of(job, &w);
  DL_LINES(r,
           {"seq_len", label_of(DL_RUN_seq_len), "tokens", DL_CODE,
            dl_known(job->seq_len)},
           {"tokens", label_of(DL_RUN_tokens), NULL, DL_PLAIN,
            dl_known(run->tokens)},
           {"prompt_tokens", label_of(DL_RUN_prompt_tokens), "tokens", DL_CODE,
            dl_known(run->prompt_tokens)},
           {"output_tokens", label_of(DL_RUN_output_tokens), "tokens", DL_CODE,
            dl_known(run->output_tokens)},
           {"requests", label_of(DL_RUN_requests), NULL, DL_CODE,
            dl_known(inference ? run->requests : (double)NAN)},
           {"request_rate", label_of(DL_RUN_request_rate), "requests/s",
            DL_PLAIN, dl_known(inference ? run->request_rate : (double)NAN)},
           {"denoising_steps", label_of(DL_RUN_denoising_steps), NULL, DL_CODE,
            dl_known(run->denoising_steps)},
           {"classes", given ? label_of(DL_RUN_classes) : NULL, NULL, DL_CODE,
            dl_number(classes)},
           {.key = "frozen", .value = dl_bool(frozen)},
           {"params_m", language || frozen || given ? "parameters" : NULL, "M",
            DL_PLAIN, dl_number(params)},
           {"trained_params_m",
            frozen || adapters ? "trained parameters" : NULL, "M", DL_PLAIN,
            dl_number(trained)},
           {"active_params_m", "active parameters per token", "M", DL_PLAIN,
            dl_known(arch ? arch->active_params_m : NAN)},
           {"flop", language || w.inference ? "operations" : NULL, "FLOP",
            DL_PLAIN, dl_number(w.flop)});
}

/* Gradient all-reduce: absent with one GPU, and where it is not a plain ring.
 * Its share is of the step time that the method flops gives. */
static void add_all_reduce(struct dl_report *r, const struct dl_job *job) {
  struct dl_exchange e;
  bool several = job->run->n_gpus > 1 && !dl_run_is_inference(job->run);
  dl_exchange_of(job, &e);
  DL_LINES(
      r,
      {"scaling", several ? label_of(DL_RUN_scaling) : NULL, NULL, DL_CODE,
       dl_string(job->run->scaling == DL_SCALE_STRONG ? "strong" : "weak")},
      {.key = "link_gb_s", .value = dl_number(e.link_gb_s)},
      {.key = "exchange_gb", .value = dl_number(e.bytes / 1e9)},
      {.key = "exchange_s", .value = dl_number(e.ring_s)},
      {.key = "exchange_share", .value = dl_number(e.share)});
  if (isnan(e.ring_s))
    return;
  char text[256], gb[DL_NUMBER_SIZE], ms[DL_NUMBER_SIZE];
  const char *note = "assumed: PCIe 3.0 x16";
  const struct dl_accelerator *gpu = job->found.gpu;
  if (gpu && !e.link_assumed)
    note = gpu->head.origin[dl_field_index(&gpu->head, &gpu->link_gb_s)].note;
  int n =
      snprintf(text, sizeof text, "%s GB per step at %g GB/s%s%.80s%s, %s ms",
               dl_format_digits(gb, e.bytes / 1e9, 3), e.link_gb_s,
               note ? " (" : "", dl_text_or(note, ""), note ? ")" : "",
               dl_format_digits(ms, 1e3 * e.ring_s, 3));
  if (!isnan(e.share) && n > 0 && (size_t)n < sizeof text)
    snprintf(text + n, sizeof text - (size_t)n,
             "; waits about %.2g %% of the time", 100 * e.share);
  dl_report_add(r, NULL, "gradient all-reduce", NULL, DL_CODE, dl_string(text));
}

/* How an assumed setting is marked. */
static const char *mark_assumed(const struct dl_job *job, enum dl_run_id id) {
  return dl_is_assumed(job->row, id) ? " (assumed)" : "";
}

/* Adds a number as it is for programs, and for people with a mark if it is
 * assumed or the default. The key is the name of the column. */
static void add_marked(struct dl_report *r, const struct dl_job *job,
                       enum dl_run_id id, enum dl_style style, double x) {
  const struct dl_run_column *c = &dl_run_columns[id];
  DL_TEXT(t);
  const struct dl_value value = dl_number(x);
  bool known = id == DL_RUN_utilisation && !isnan(job->known.util);
  dl_show(&t, style, c->label_unit ? c->label_unit : c->unit, &value, NULL);
  if (dl_is_assumed(job->row, id))
    dl_text_add(&t, mark_assumed(job, id));
  else if (!known && !dl_run_set_has(&job->row->given, id))
    dl_text_add(&t, " (default)");
  dl_report_add(r, c->name, NULL, NULL, style, value);
  if (!isnan(x))
    dl_report_add(r, NULL, c->label, NULL, DL_CODE, dl_string(dl_text_str(&t)));
}

/* "bf16 (assumed)" */
static struct dl_value with_origin(const struct dl_job *job, enum dl_run_id id,
                                   char text[80]) {
  const char *word = dl_run_text(job->run, id);
  if (!word)
    return dl_known_string(NULL);
  snprintf(text, 80, "%.40s%s", word, mark_assumed(job, id));
  return dl_known_string(text);
}

/* How a training is set up, as far as it is given or assumed; programs get all
 * of it. */
static void add_setup(struct dl_report *r, const struct dl_job *job) {
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    if (!c->setup)
      continue;
    if (c->is_text) {
      char text[80];
      DL_LINES(r,
               {c->name, NULL, NULL, DL_CODE,
                dl_string(dl_run_text(job->run, c->id))},
               {NULL, c->label, NULL, DL_CODE, with_origin(job, c->id, text)});
    } else {
      add_marked(r, job, c->id, DL_CODE, dl_run_number(job->run, c->id));
    }
  }
  double batch =
      dl_run_is_inference(job->run) ? NAN : dl_global_batch(job->run);
  bool shown = batch > job->run->batch_size || batch < job->run->batch_size;
  dl_report_add(r, "global_batch", shown ? label_of(DL_RUN_global_batch) : NULL,
                NULL, DL_CODE, shown ? dl_known(batch) : dl_number(batch));
}

static void add_memory(struct dl_report *r, const struct dl_job *job) {
  struct dl_memory_need m;
  char text[160] = "", of[48] = "";
  dl_memory_of(job, &m);
  if (!isnan(m.has_gb)) {
    char has[DL_NUMBER_SIZE];
    snprintf(of, sizeof of, " of %s GB usable",
             dl_format_digits(has, m.has_gb, 3));
  }
  if (!isnan(m.need_gb)) {
    char need[DL_NUMBER_SIZE], low[DL_NUMBER_SIZE], high[DL_NUMBER_SIZE];
    snprintf(text, sizeof text, "about %s GB%s, 90 %% interval %s to %s GB",
             dl_format_digits(need, m.need_gb, 3), of,
             dl_format_digits(low, m.low_gb, 3),
             dl_format_digits(high, m.high_gb, 3));
  }
  DL_LINES(r, {.key = "memory_need_gb", .value = dl_number(m.need_gb)},
           {.key = "memory_need_low_gb", .value = dl_number(m.low_gb)},
           {.key = "memory_need_high_gb", .value = dl_number(m.high_gb)},
           {.key = "memory_usable_gb", .value = dl_number(m.has_gb)},
           {NULL, "peak GPU memory", NULL, DL_CODE,
            dl_known_string(text[0] ? text : NULL)});
}

/* Work, the rate at which it is done, and what methods assume. */
static void add_rates(struct dl_report *r, const struct dl_job *job,
                      const struct dl_assumed_names *names) {
  const struct dl_run *run = job->run;
  const struct dl_architecture *arch = job->found.arch;
  bool language = arch && dl_is_language_model(arch);
  bool inference = dl_run_is_inference(job->run);
  const char *assumed =
      language || inference ? NULL : dl_facts_assumed(job, NULL);
  char precision[80];
  DL_LINES(r,
           {"macs_g",
            isnan(run->prompt_tokens) ? label_of(DL_RUN_macs_g) : NULL, "GMAC",
            DL_PLAIN, dl_number(run->macs_g)},
           {"peak_tflops", label_of(DL_RUN_peak_tflops), "TFLOP/s", DL_PLAIN,
            dl_number(dl_work_peak_tflops(job))},
           {.key = "precision",
            .value = dl_string(dl_precision_words[run->precision])},
           {NULL, label_of(DL_RUN_precision), NULL, DL_CODE,
            with_origin(job, DL_RUN_precision, precision)},
           {.key = "assumed", .value = dl_strings(names->name, names->n)},
           {"framework", label_of(DL_RUN_framework), NULL, DL_CODE,
            dl_known_string(run->framework)},
           {"power_limit_w", label_of(DL_RUN_power_limit_w), "W", DL_PLAIN,
            dl_known(run->power_limit_w)},
           {.key = "facts_assumed", .value = dl_string(assumed)});
  add_marked(r, job, DL_RUN_efficiency, DL_PLAIN, run->efficiency);
  add_marked(r, job, DL_RUN_utilisation, DL_PLAIN, dl_work_utilisation(job));
  add_marked(r, job, DL_RUN_ram_gb, DL_PLAIN, run->ram_gb);
}

/* How a training reads its input, where that is described. */
static void add_loader(struct dl_report *r, const struct dl_job *job) {
  const struct dl_run *run = job->run;
  bool synthetic = run->loader == DL_LOADER_SYNTHETIC;
  bool reads = !synthetic && (run->loader != DL_LOADER_UNKNOWN ||
                              !isnan(run->loader_workers));
  dl_report_add(r, "loader", label_of(DL_RUN_loader), NULL, DL_CODE,
                dl_known_string(dl_loader_words[run->loader]));
  dl_report_add(r, "augmentation", label_of(DL_RUN_augmentation), NULL, DL_CODE,
                dl_known_string(dl_augmentation_words[run->augmentation]));
  add_marked(r, job, DL_RUN_loader_workers, DL_CODE,
             reads ? dl_or(run->loader_workers, DL_LOADER_WORKERS) : NAN);
}

/* The data of a training, or nothing for people. */
static void add_data(struct dl_report *r, const struct dl_job *job) {
  const char *dataset = dl_job_dataset(job);
  bool trains = !dl_run_is_inference(job->run) && isnan(job->run->tokens);
  DL_TEXT(t);
  if (trains && dataset)
    dl_text_printf(&t, "%s%s", dataset, job->run->dataset ? "" : " (default)");
  DL_LINES(r, {.key = "dataset", .value = dl_string(dataset)},
           {NULL, trains ? label_of(DL_RUN_dataset) : NULL, NULL, DL_CODE,
            dl_string(t.len > 0 ? dl_text_str(&t) : NULL)},
           {"train_samples", trains ? label_of(DL_RUN_train_samples) : NULL,
            NULL, DL_CODE, dl_number(job->train_samples)},
           {"val_samples", trains ? label_of(DL_RUN_val_samples) : NULL, NULL,
            DL_CODE, dl_number(job->val_samples)});
  if (!trains && !job->fills) {
    dl_report_add(r, "epochs", NULL, NULL, DL_CODE, dl_number(job->epochs));
    return;
  }
  if (!job->fills) {
    add_marked(r, job, DL_RUN_epochs, DL_CODE, job->epochs);
    return;
  }
  char number[DL_NUMBER_SIZE];
  dl_text_clear(&t);
  dl_text_printf(&t, "%s (duration by time)",
                 dl_format_digits(number, job->epochs, 3));
  DL_LINES(r, {.key = "epochs", .value = dl_number(job->epochs)},
           {NULL,
            isnan(job->run->train_samples) ? NULL : label_of(DL_RUN_epochs),
            NULL, DL_CODE, dl_string(dl_text_str(&t))});
}

void dl_predict_settings(struct dl_report *r, const struct dl_job *job,
                         const struct dl_job_options *o,
                         const struct dl_assumed_names *assumed) {
  const struct dl_run *run = job->run;
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_accelerator *gpu = job->found.gpu;
  bool inference = dl_run_is_inference(job->run);
  bool language = arch && dl_is_language_model(arch);
  const struct dl_report_line first[] = {
      {"arch", label_of(DL_RUN_arch), NULL, DL_CODE,
       dl_string(arch ? arch->head.id : run->arch)},
      {.key = "gpu", .value = dl_string(gpu ? gpu->head.id : run->gpu)},
      {"gpu_name", label_of(DL_RUN_gpu), NULL, DL_CODE,
       dl_string(gpu ? gpu->head.name : run->gpu)},
      {.key = "arch_name", .value = dl_string(arch ? arch->head.name : NULL)}};
  dl_report_lines(r, first, DL_LENGTH(first));
  add_marked(r, job, DL_RUN_n_gpus, DL_CODE, run->n_gpus);
  dl_report_add(r, "phase", inference ? label_of(DL_RUN_phase) : NULL, NULL,
                DL_CODE, dl_string(inference ? "inference" : "training"));
  add_data(r, job);
  add_marked(r, job, DL_RUN_batch_size, DL_CODE, run->batch_size);
  dl_report_add(r, "image_px", language ? NULL : label_of(DL_RUN_image_px),
                "px", DL_CODE, dl_number(run->image_px));
  add_loader(r, job);
  add_tokens(r, job);
  add_rates(r, job, assumed);
  add_setup(r, job);
  add_memory(r, job);
  add_all_reduce(r, job);
  dl_add_footprint(r, &o->foot);
}

/* --- where the time goes */

/* Adds a table of parts; with `time` NULL, text leaves it out. */
static struct dl_table *add_parts(struct dl_report *r, const char *title,
                                  const char *time) {
  const struct dl_column columns[] = {
      {"part", time ? "part" : NULL, NULL, DL_CODE, false},
      {"seconds", time, "s", DL_TIME, false},
      {"what", time ? "description" : NULL, NULL, DL_CODE, false}};
  return DL_TABLE(r, "parts", title, columns, false);
}

static void add_part(struct dl_table *t, const char *name, double seconds,
                     const char *meaning) {
  DL_ROW(t, NULL, dl_string(name), dl_number(seconds), dl_string(meaning));
}

/* Adds the rate that the input pipeline delivers, and the rate that the GPUs
 * could take. */
static void add_input(struct dl_report *r, const struct dl_physical_parts *e) {
  bool any = e->input_s > 0;
  DL_LINES(r,
           {"input_samples_per_s", "input pipeline", "samples/s", DL_PLAIN,
            dl_known(any ? e->input_rate : NAN)},
           {"gpu_samples_per_s", "GPUs without waiting for it", "samples/s",
            DL_PLAIN, dl_known(any ? e->gpu_rate : NAN)});
}

void dl_predict_parts(struct dl_report *r, const struct dl_job_predictions *p,
                      bool explain) {
  const struct dl_physical_parts *e = &p->parts;
  const char *bound = p->language ? p->step.bound : e->bound;
  DL_LINES(r,
           {"epoch_s", "epoch time", "s", DL_TIME,
            dl_known(e->bound ? e->time_s : NAN)},
           {.key = "bound", .value = dl_string(bound)},
           {NULL, "limited by", NULL, DL_CODE,
            dl_known_string(dl_bound_words(bound))});
  add_input(r, e);
  struct dl_table *t =
      add_parts(r, explain ? "Epoch time, by the physical method" : NULL,
                explain ? "alone" : NULL);
  if (!e->bound)
    return;
  add_part(t, "compute", e->compute_s,
           "arithmetic at the share of the peak rate reached");
  add_part(t, "memory", e->memory_s,
           "activations and weights over the memory's bandwidth");
  add_part(t, "kernels", e->kernels_s,
           "starting and ending kernels on the GPU");
  add_part(t, "launch", e->launch_s, "launching kernels on the host");
  add_part(t, "fixed", e->fixed_s, "once an epoch");
  add_part(t, "waiting", e->waiting_s,
           "for other GPUs, and exchanging gradients");
  if (e->input_s > 0)
    add_part(t, "input", e->input_s, "loading, decoding and augmenting");
  add_part(t, "epoch", e->time_s, "together: GPU and host overlap");
}

void dl_predict_work(struct dl_report *r, const struct dl_job *job,
                     bool shown) {
  const struct dl_column columns[] = {
      {"part", shown ? "work" : NULL, NULL, DL_CODE, false},
      {"flop", shown ? "operations" : NULL, "FLOP", DL_PLAIN, false},
      {"bytes", shown ? "read" : NULL, "bytes", DL_PLAIN, false},
      {"duration_s", shown ? "time" : NULL, "s", DL_TIME, false},
      {"energy_j", shown ? "energy" : NULL, "J", DL_ENERGY, false}};
  struct dl_work w;
  dl_work_of(job, &w);
  if (!w.inference)
    return;
  double watts = job->tdp_w * job->run->n_gpus;
  const struct dl_value rows[2][DL_LENGTH(columns)] = {
      {dl_string(w.writes ? "prefill" : "forward"), dl_number(w.prefill_flop),
       dl_number(NAN), dl_number(w.prefill_s), dl_number(w.prefill_s * watts)},
      {dl_string("decode"), dl_number(w.decode_flop), dl_number(w.decode_bytes),
       dl_number(w.decode_s), dl_number(w.decode_s * watts)}};
  struct dl_table *t = DL_TABLE(
      r, "inference", shown ? "Inference, by flops" : NULL, columns, false);
  for (size_t i = 0; i < (w.writes ? 2 : 1); i++)
    dl_table_row(t, rows[i], NULL);
}

static double energy_of(const struct dl_served *s) {
  return s->prefill_j + s->decode_j + s->idle_j;
}

/* Adds a part of the work, which makes `out` tokens (0: none). */
static void add_phase(struct dl_table *t, const struct dl_served *s,
                      const char *name, double seconds, double joules,
                      double out) {
  DL_ROW(t, NULL, dl_string(name), dl_number(seconds), dl_number(joules),
         dl_number(joules / energy_of(s)), dl_number(joules / s->requests),
         dl_number(out > 0 ? joules / out : NAN));
}

/* Time and energy of inference by phase. */
static void add_phases(struct dl_report *r, const struct dl_job *job,
                       const struct dl_served *s) {
  bool tokens = s->tokens;
  const struct dl_column columns[] = {
      {"part", "work", NULL, DL_CODE, false},
      {"duration_s", "time", "s", DL_TIME, false},
      {"energy_j", "energy", "J", DL_ENERGY, false},
      {"share", "share", "%", DL_PERCENT, false},
      {"request_energy_j", tokens ? "per request" : "per sample", "J", DL_PLAIN,
       false},
      {"token_energy_j", tokens ? "per token" : NULL, "J", DL_PLAIN, false}};
  double out = tokens ? s->requests * job->run->output_tokens : 0;
  struct dl_table *t = DL_TABLE(r, "work", "", columns, false);
  add_phase(t, s, tokens ? "prefill" : "forward", s->prefill_s, s->prefill_j,
            out);
  if (tokens)
    add_phase(t, s, "decode", s->decode_s, s->decode_j, out);
  if (s->idle_s > 0)
    add_phase(t, s, "idle", s->idle_s, s->idle_j, out);
  add_phase(t, s, "all", s->time_s, energy_of(s), out);
}

static void add_served_parts(struct dl_report *r, const struct dl_served *s,
                             bool explain) {
  struct dl_table *t = add_parts(r, "", explain ? "time" : NULL);
  add_part(t, "memory", s->memory_s,
           s->tokens ? "reading weights, keys and values"
                     : "activations over the memory's bandwidth");
  add_part(t, "compute", s->compute_s,
           "arithmetic at the share of the peak rate reached");
  if (s->tokens) {
    add_part(t, "layers", s->layers_s, "what every layer takes beside");
    add_part(t, "exchange", s->exchange_s, "between GPUs");
    add_part(t, "host", s->host_s, "the host, between steps");
    add_part(t, "prompts", s->prefill_s, "reading prompts");
  } else {
    add_part(t, "kernels", s->layers_s,
             "starting and ending kernels on the GPU");
    add_part(t, "launch", s->host_s, "launching kernels on the host");
    if (s->input_s > 0)
      add_part(t, "input", s->input_s, "added by loading and decoding");
  }
}

void dl_predict_served(struct dl_report *r, const struct dl_job *job,
                       const struct dl_served *s, bool explain) {
  bool tokens = s->tokens;
  double steps =
      tokens && job->run->output_tokens > 0 ? job->run->output_tokens : NAN;
  if (isnan(s->time_s))
    return;
  struct dl_report *g = dl_report_group(r, "served", "Inference, by physical");
  add_phases(g, job, s);
  DL_LINES(
      g,
      {"at_once", "concurrent", tokens ? "requests" : "samples", DL_PLAIN,
       dl_known(s->batch)},
      {"latency_s", "time per batch", "s", DL_TIME, dl_known(s->latency_s)},
      {"token_s", "time per output token", "s", DL_TIME,
       dl_known(s->decode_s / s->requests * s->batch / steps)},
      {"most_a_second", "maximum throughput",
       tokens ? "requests/s" : "samples/s", DL_PLAIN,
       dl_known(s->most_a_second)},
      {"most_tokens_a_second", "maximum output rate", "tokens/s", DL_PLAIN,
       dl_known(s->most_a_second * steps)},
      {"power_w", "power of a busy GPU", "W", DL_WATTS, dl_known(s->power_w)},
      {"idle_w", s->idle_s > 0 ? "power of an idle GPU" : NULL, "W", DL_WATTS,
       dl_known(s->idle_w)},
      {.key = "idle_assumed", .value = dl_bool(s->idle_assumed)},
      {.key = "bound", .value = dl_string(s->bound)},
      {NULL, "limited by", NULL, DL_CODE,
       dl_known_string(dl_bound_words(s->bound))});
  add_served_parts(g, s, explain);
}
