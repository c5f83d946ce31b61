/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/predict_summary.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/views/summary/answer.h"
#include "estimate/methods/inference.h"
#include "estimate/methods/estimator.h"
#include "estimate/methods/work.h"
#include "estimate/node/peak_memory.h"
#include "output/units.h"
#include "physics/cpu/cpu_inputs.h"
#include "run/setup/training_setup.h"

enum {
  REQUEST,
  ENERGY,
  FACILITY,
  TIME,
  POWER,
  EMISSIONS,
  EMBODIED,
  COST,
  N_LINES
};

struct summary {
  const struct dl_predict_answer *s;
  const struct dl_estimate *e;
  struct dl_interval energy; /* of the answer, J */
  struct dl_answer_line line[N_LINES];
};

/* The figure of a line, and its interval. */
static void put(struct summary *m, int i, const char *label,
                enum dl_style style, const char *unit,
                const struct dl_interval *x) {
  dl_answer_figure(
      &m->line[i],
      &(struct dl_answer){label, style, unit, x->x, x->low, x->high,
                          i == ENERGY || i == REQUEST ? m->s->interval : NULL});
}

/* Fills the line with the energy of a request to a language model, Wh, and of
 * its output. */
static void request_line(struct summary *m) {
  const struct dl_run *run = m->s->result.job.run;
  double each = 3600 * run->requests;
  double tokens = run->output_tokens / 1000;
  const struct dl_interval wh = {m->energy.x / each, m->energy.low / each,
                                 m->energy.high / each};
  if (!dl_run_is_inference(run) || !m->s->result.predictions.served.tokens ||
      isnan(wh.x))
    return;
  put(m, REQUEST, "Request", DL_PLAIN, "Wh", &wh);
  if (tokens > 0)
    dl_answer_number(&m->line[REQUEST], "", wh.x / tokens,
                     " Wh per 1,000 output tokens");
}

static void energy_lines(struct summary *m) {
  const struct dl_footprint *foot = &m->s->o->foot;
  const bool node = !isnan(m->s->node_j.x);
  const char *boundary = node ? m->s->node_boundary : m->e->boundary;
  struct dl_answer_line *l = &m->line[ENERGY];
  put(m, ENERGY, "Energy", DL_KWH, "J", &m->energy);
  const bool several =
      node ? m->s->node->use.nodes > 1 : m->s->result.job.run->n_gpus > 1;
  if (strcmp(boundary, "gpu") == 0 && dl_is_cpu(m->s->result.job.found.gpu))
    dl_answer_remark(l, several ? "CPUs alone" : "CPU alone");
  else
    dl_answer_remark(l, "%s", dl_boundary_words(boundary, several));
  if (isnan(foot->pue.x))
    return;
  if (node) {
    dl_answer_number(l, "PUE ", foot->pue.x, "");
    return;
  }
  const double pue = foot->pue.x;
  const struct dl_interval all = {pue * m->energy.x, pue * m->energy.low,
                                  pue * m->energy.high};
  put(m, FACILITY, "Facility", DL_KWH, "J", &all);
  dl_answer_number(&m->line[FACILITY], "PUE ", pue, "");
}

/* Whether the duration is the user's. */
static bool has_given_time(const struct dl_estimate *e) {
  return e->duration_from && strcmp(e->duration_from, "given") == 0;
}

/* Adds the bound of the speed; both rates if the input pipeline is the bound,
 * in tokens for text. */
static void bound_remark(struct summary *m, const char *bound) {
  const struct dl_physical_parts *parts = &m->s->result.predictions.parts;
  bool text = m->s->result.predictions.language;
  double of_sample = text ? m->s->result.job.seq_len : 1;
  double input = of_sample * parts->input_rate;
  double gpus = of_sample * parts->gpu_rate;
  bool millions = fmax(input, gpus) >= 1e6;
  const double unit = millions ? 1e6 : 1;
  char buf[2][DL_NUMBER_SIZE];
  const char *samples = text ? "tokens" : "samples";
  if (strcmp(bound, "input") == 0)
    dl_answer_remark(&m->line[TIME], "bound by input: %s%s %s/s, GPUs %s",
                     dl_format_digits(buf[0], input / unit, 3),
                     millions ? "M" : "", samples,
                     dl_format_digits(buf[1], gpus / unit, 3));
  else
    dl_answer_remark(&m->line[TIME], "bound by %s", bound);
}

/* Fills the line with the time that an epoch, a request or a token takes. */
static void time_line(struct summary *m) {
  const struct dl_job *job = &m->s->result.job;
  const struct dl_served *served = &m->s->result.predictions.served;
  const struct dl_estimate *e = m->e;
  const bool physical = e->id == DL_METHOD_PHYSICAL;
  const char *bound = m->s->result.predictions.parts.bound;
  struct dl_answer_line *l = &m->line[TIME];
  put(m, TIME, "Time", DL_TIME, "s",
      &(struct dl_interval){e->duration_s.x, e->duration_s.low,
                            e->duration_s.high});
  if (dl_run_is_inference(job->run)) {
    bound = served->bound;
    dl_answer_number(l, "at most ", served->most_a_second,
                     served->tokens ? " requests/s" : " samples/s");
  } else if (isnan(job->run->tokens) && job->epochs > 1 && job->found.arch &&
             (job->fills || !dl_lasts_so_long(job))) {
    dl_answer_quantity(l, DL_TIME, "s", e->duration_s.x / job->epochs,
                       " per epoch");
  }
  if (m->s->result.predictions.language) {
    bound = m->s->result.predictions.step.bound;
    bool millions = e->tokens_per_s >= 1e6;
    double shown = millions ? e->tokens_per_s / 1e6 : e->tokens_per_s;
    dl_answer_number(l, "", shown, millions ? "M tokens/s" : " tokens/s");
    dl_answer_number(l, "MFU ", 100 * e->mfu, " %");
  }
  if (has_given_time(e))
    dl_answer_remark(l, "given");
  else if (physical && bound && !(e->busy_share < 0.5)) /* else by waiting */
    bound_remark(m, bound);
}

static void power_line(struct summary *m) {
  const struct dl_job *job = &m->s->result.job;
  const struct dl_accelerator *gpu = job->found.gpu;
  const bool node = !isnan(m->s->node_j.x);
  struct dl_answer_line *l = &m->line[POWER];
  struct dl_memory_need need;
  char number[DL_NUMBER_SIZE];
  struct dl_interval watts = {m->e->power_w.x, m->e->power_w.low,
                              m->e->power_w.high};
  if (node)
    watts = m->s->node_power_w;
  put(m, POWER, "Power", DL_WATTS, "W", &watts);
  if (!node && job->run->n_gpus > 1) {
    dl_answer_remark(l, "%s %s", dl_format_short(number, job->run->n_gpus),
                     dl_is_cpu(gpu) ? "CPUs" : "GPUs");
  }
  if (!isnan(m->e->busy_share))
    dl_answer_remark(l, "GPU busy %.0f %% of the time", 100 * m->e->busy_share);
  dl_memory_of(job, &need);
  if (isnan(need.need_gb))
    return;
  dl_answer_remark(l, "peak %smemory %s", dl_is_cpu(gpu) ? "" : "GPU ",
                   dl_format_digits(number, need.need_gb, 3));
  if (!isnan(need.has_gb))
    dl_text_printf(&l->remark, " of %s", dl_format_short(number, need.has_gb));
  dl_text_add(&l->remark, " GB");
  if (need.over)
    dl_text_add(&l->remark, ": does not fit");
}

/* Emissions and cost of the energy, at the facility where its PUE is known. */
static void footprint_lines(struct summary *m) {
  const struct dl_footprint *foot = &m->s->o->foot;
  const bool node = !isnan(m->s->node_j.x);
  const double pue = node || isnan(foot->pue.x) ? 1 : foot->pue.x;
  const double grams = pue * foot->intensity.x / DL_J_PER_KWH;
  const double price = pue * foot->price / DL_J_PER_KWH;
  const struct dl_interval *j = &m->energy;
  struct dl_answer_line *l = &m->line[EMISSIONS];
  put(m, EMISSIONS, "CO2e", DL_MASS, "g",
      &(struct dl_interval){grams * j->x, grams * j->low, grams * j->high});
  if (isnan(foot->intensity.x)) {
    dl_answer_remark(l, "set --country, --cloud or --intensity");
  } else {
    dl_answer_number(l, "", foot->intensity.x, " g/kWh");
    dl_answer_remark(l, "%s", foot->intensity.of);
  }
  const double made = m->s->embodied_g;
  if (m->s->node->embodied)
    put(m, EMBODIED, "Embodied", DL_MASS, "g CO2e",
        &(struct dl_interval){made, NAN, NAN});
  if (!isnan(price))
    put(m, COST, "Cost", DL_PLAIN, foot->currency,
        &(struct dl_interval){price * j->x, price * j->low, price * j->high});
}

/* --- what the answer is based on */

/* Which errors intervals come from, and what is new where these are used. */
static const struct basis {
  const char *left_out, *errors, *groups, *new;
} bases[] = {
    {"config", "leave-one-configuration-out", "configurations", NULL},
    {"arch", "leave-one-architecture-out", "architectures", "this network"},
    {"gpu", "leave-one-GPU-out", "GPUs", "this GPU"},
    {"pair", "leave-one-pair-out", "networks on GPUs", NULL},
    {"setting", "leave-one-value-out", "values of a setting", "this value"},
    {"rows", "held-out", "runs", NULL}};

static const struct basis *basis_of(const struct dl_estimate *e) {
  for (size_t i = 0; e->interval_from && i < DL_LENGTH(bases); i++)
    if (strcmp(bases[i].left_out, e->interval_from) == 0)
      return &bases[i];
  return NULL;
}

static void say_basis(struct dl_report *r, const struct dl_predict_answer *s) {
  const struct dl_estimate *e = &s->result.est[s->result.best];
  const struct basis *b = basis_of(e);
  DL_TEXT(t);
  if (b && b->new && !e->all_seen)
    dl_text_printf(&t, "%s%s", b->new, e->n_outside > 0 ? ", " : "");
  dl_add_quantities(&t, e->outside, e->n_outside);
  if (t.len > 0)
    dl_report_say(r, "Outside the training data: %s.", dl_text_str(&t));
  if (e->interval_from && strcmp(e->interval_from, "repeat") == 0)
    dl_report_say(r,
                  "Interval from repeated runs: the model was calibrated with "
                  "%zu of this configuration.",
                  e->interval_groups);
  if (b)
    dl_report_say(r, "Interval from %s errors (%zu %s)%s.", b->errors,
                  e->interval_groups, b->groups,
                  e->software_matters ? "; software unknown (--stack)" : "");
  if (e->software_matters && s->result.predictions.language)
    dl_report_say(r, "Time of a whole training; with --stack that of its "
                     "steps.");
}

/* Says what is assumed of the software and of several GPUs in inference. */
static void say_serving(struct dl_report *r, const struct dl_result *result) {
  const struct dl_row *row = result->job.row;
  const struct dl_run *run = result->job.run;
  const char *s[] = {run->replicas > 1 ? "copies" : "copy",
                     run->tensor_parallel > 1 ? "GPUs" : "GPU"};
  if (!dl_run_is_inference(run) || result->predictions.served.on_cpu)
    return;
  if (dl_is_assumed(row, DL_RUN_stack))
    dl_report_say(r,
                  "Assumed: plain Transformers or Diffusers, with the host's "
                  "time (--stack).");
  if (dl_is_assumed(row, DL_RUN_tensor_parallel))
    dl_report_say(r,
                  "Assumed: %g %s of the model on %g %s each "
                  "(--tensor-parallel, --replicas).",
                  run->replicas, s[0], run->tensor_parallel, s[1]);
}

/* Says that the answer comes from another method, for want of an estimate with
 * an interval. */
static void say_rule_of_thumb(struct dl_report *r,
                              const struct dl_predict_answer *s) {
  const struct dl_estimate *e = &s->result.est[s->result.best];
  for (size_t i = 0; i < s->result.n && isnan(e->energy_j.low); i++)
    if (s->result.est[i].lacks && s->result.est[i].id == DL_METHOD_PHYSICAL) {
      DL_TEXT(lacks);
      dl_add_setting(&lacks, s->result.est[i].lacks);
      dl_report_say(r,
                    "A rule of thumb without an interval: physical lacks %s.",
                    lacks.s);
    }
}

/* "Method physical; others 13.7 to 16.3 kWh (--all)." */
static void say_methods(struct dl_report *r, const struct dl_predict_answer *s,
                        bool all, bool explain) {
  DL_TEXT(t);
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < s->result.n; i++)
    if ((long)i != s->result.best && !isnan(s->result.est[i].energy_j.x)) {
      low = fmin(low, s->result.est[i].energy_j.x);
      high = fmax(high, s->result.est[i].energy_j.x);
    }
  dl_text_printf(&t, "Method %s", s->result.est[s->result.best].method);
  if (!all && low <= high) {
    const struct dl_value from = dl_number(low), to = dl_number(high);
    dl_text_add(&t, "; others ");
    dl_add_interval(&t, DL_KWH, "J", s->result.est[s->result.best].energy_j.x,
                    &from, &to);
    dl_text_printf(&t, "%s (--all)",
                   isnan(s->node_j.x) ? "" : " for the GPUs alone");
  }
  dl_text_add(&t, explain ? "." : ". Details: --explain.");
  dl_report_say(r, "%s", dl_text_str(&t));
}

void dl_predict_summary(struct dl_report *r, const struct dl_predict_answer *s,
                        bool all, bool explain) {
  const struct dl_estimate *e = &s->result.est[s->result.best];
  const char *assumed = dl_facts_assumed(&s->result.job, NULL);
  struct summary m = {.s = s, .e = e, .energy = s->node_j};
  if (isnan(s->node_j.x))
    m.energy =
        (struct dl_interval){e->energy_j.x, e->energy_j.low, e->energy_j.high};
  request_line(&m);
  energy_lines(&m);
  time_line(&m);
  power_line(&m);
  footprint_lines(&m);
  dl_answer_lines(r, m.line, N_LINES);
  say_serving(r, &s->result);
  say_basis(r, s);
  say_rule_of_thumb(r, s);
  if (assumed && e->id == DL_METHOD_PHYSICAL &&
      isnan(s->result.job.run->tokens) &&
      !s->result.predictions.served.tokens &&
      !s->result.predictions.served.tuned && !s->result.predictions.language)
    dl_report_say(r,
                  "Unknown for this network and derived from its FLOPs: %s; "
                  "the interval is wider for it.",
                  assumed);
  if (e->id == DL_METHOD_PHYSICAL && dl_limit_matters(&s->result.job))
    dl_report_say(r, "Boards may have a lowered limit (--set power_limit_w): "
                     "time and power have room for it.");
  say_methods(r, s, all, explain);
}

/* --- with --explain */

void dl_predict_known(struct dl_report *r, const struct dl_job *job,
                      const struct dl_conditioned *known) {
  static const enum dl_run_id ids[] = {
      DL_RUN_duration_s,    DL_RUN_epoch_s,      DL_RUN_step_s,
      DL_RUN_samples_per_s, DL_RUN_tokens_per_s, DL_RUN_gpu_util,
      DL_RUN_gpu_power_w};
  const char *names[DL_LENGTH(ids)];
  size_t n = 0;
  for (size_t i = 0; i < DL_LENGTH(ids); i++)
    if (dl_run_set_has(&job->row->given, ids[i]))
      names[n++] = dl_run_columns[ids[i]].name;
  if (n == 0)
    return;
  dl_report_add(r, "known", NULL, NULL, DL_CODE, dl_strings(names, n));
  if (!known->applies)
    return;
  DL_LINES(r,
           {"busy_share", "GPU busy", "%", DL_PERCENT, dl_number(known->busy)},
           {"static_power_w", "power of waiting GPUs", "W", DL_WATTS,
            dl_number(known->static_w)});
}

/* Adds a member of a descriptor, unless it is unknown. */
static void add_source(struct dl_table *t, const struct dl_descriptor *e,
                       const char *words, const char *unit, const double *x) {
  const struct dl_origin *from = &e->origin[dl_field_index(e, x)];
  if (!isnan(*x))
    DL_ROW(t, NULL, dl_string(words), dl_number(*x), dl_string(unit),
           dl_string(e->name), dl_string(from->source), dl_string(from->note));
}

void dl_predict_sources(struct dl_report *r, const struct dl_job *job) {
  static const struct dl_column columns[] = {
      {NULL, "figure", NULL, DL_CODE, DL_MAIN},
      {NULL, "value", NULL, DL_PLAIN, DL_MAIN},
      {NULL, "unit", NULL, DL_CODE, DL_MAIN},
      {NULL, "of", NULL, DL_CODE, 0},
      {NULL, "source", NULL, DL_CODE, DL_MAIN},
      {NULL, "note", NULL, DL_CODE, DL_SPARE}};
  const struct dl_accelerator *gpu = job->found.gpu;
  const struct dl_architecture *arch = job->found.arch;
  if (!gpu && !arch)
    return;
  struct dl_table *t = DL_TABLE(r, NULL, "Sources", columns, false);
  if (gpu) {
    add_source(t, &gpu->head, "TDP", "W", &gpu->tdp_w);
    add_source(t, &gpu->head, "memory bandwidth", "GB/s", &gpu->bandwidth_gb_s);
    add_source(t, &gpu->head, "memory", "GB", &gpu->memory_gb);
    add_source(t, &gpu->head, "FP32 peak rate", "TFLOP/s",
               &gpu->peak_fp32_tflops);
    add_source(t, &gpu->head, "TF32 tensor peak rate", "TFLOP/s",
               &gpu->peak_tf32_tflops);
    add_source(t, &gpu->head, "FP16 tensor peak rate", "TFLOP/s",
               &gpu->peak_fp16_tensor_tflops);
    add_source(t, &gpu->head, "BF16 tensor peak rate", "TFLOP/s",
               &gpu->peak_bf16_tensor_tflops);
    if (dl_infers_tuned(job)) {
      add_source(t, &gpu->head, "FP8 tensor peak rate", "TFLOP/s",
                 &gpu->peak_fp8_tensor_tflops);
      add_source(t, &gpu->head, "INT8 tensor peak rate", "TOP/s",
                 &gpu->peak_int8_tensor_tops);
      add_source(t, &gpu->head, "FP4 tensor peak rate", "TFLOP/s",
                 &gpu->peak_fp4_tensor_tflops);
    }
  }
  if (arch) {
    add_source(t, &arch->head, "MACs", "G", &arch->macs_g);
    add_source(t, &arch->head, "activations", "M", &arch->acts_m);
    add_source(t, &arch->head, "parameters", "M", &arch->params_m);
  }
}
