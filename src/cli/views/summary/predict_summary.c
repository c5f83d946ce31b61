/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/predict_summary.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timestamp.h"
#include "cli/views/summary/answer.h"
#include "cli/views/summary/software_carbon.h"
#include "estimate/methods/inference.h"
#include "estimate/methods/estimator.h"
#include "estimate/methods/work.h"
#include "estimate/node/peak_memory.h"
#include "output/units.h"
#include "physics/cpu/cpu_inputs.h"
#include "run/setup/padding.h"
#include "run/setup/training_setup.h"

/* Lines are filled in from this. */
struct summary {
  const struct dl_predict_answer *s;
  const struct dl_estimate *e;
  const struct dl_job *job;
  const struct dl_served *served;
  struct dl_interval energy; /* of the answer, J */
  bool node;                 /* the answer is a whole node's */
  const char *assumed;
};

/* The figure of a line, and its interval. */
static void put(struct dl_answer_line *l, const char *label,
                enum dl_style style, const char *unit,
                const struct dl_interval *x) {
  dl_answer_figure(
      l, &(struct dl_answer){label, style, unit, x->x, x->low, x->high, NAN});
}

/* Adds the energy of one of n, with as many digits as the total. */
static void add_each(const struct summary *m, struct dl_answer_line *l,
                     double n, const char *after) {
  char number[DL_NUMBER_SIZE];
  const int digits = m->energy.high > 1.5 * m->energy.low ? 2 : 3;
  const double j = m->energy.x / n, wh = j / DL_J_PER_WH;
  const bool small = wh < 0.01;
  if (small)
    dl_answer_remark(l, "%s J per %s", dl_format_digits(number, j, digits),
                     after);
  else
    dl_answer_remark(l, "%s Wh per %s", dl_format_digits(number, wh, digits),
                     after);
}

/* Whether a rate of requests says how long the job lasts: for ever. */
static bool goes_on(const struct summary *m) {
  const struct dl_job *job = m->job;
  return job->run->request_rate > 0 &&
         !dl_run_set_has(&job->row->given, DL_RUN_requests) &&
         !dl_run_set_has(&job->row->given, DL_RUN_duration_s);
}

static void energy_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_footprint *foot = &m->s->o->foot;
  const char *boundary = m->node ? m->s->node_boundary : m->e->boundary;
  const bool boards = !m->node || strncmp(boundary, "gpu", strlen("gpu")) == 0;
  const bool several =
      boards ? m->job->run->n_gpus > 1 : m->s->node->use.nodes > 1;
  const bool cpu = strcmp(boundary, "gpu") == 0 && dl_is_cpu(m->job->found.gpu);
  const char *const of_cpus[] = {"CPU alone", "CPUs alone"};
  dl_answer_figure(l, &(struct dl_answer){"Energy", DL_KWH, "J", m->energy.x,
                                          m->energy.low, m->energy.high,
                                          m->s->coverage});
  if (dl_run_is_inference(m->job->run) && m->job->run->requests > 1)
    add_each(m, l, m->job->run->requests,
             m->served->tokens ? "request" : "sample");
  if (goes_on(m)) {
    DL_TEXT(day);
    const double factor = m->job->run->request_rate * DL_S_PER_DAY;
    const struct dl_interval j =
        dl_interval_scale(m->energy, factor / m->job->run->requests);
    dl_show_estimate(&day, DL_KWH, "J", (const double[3]){j.x, j.low, j.high});
    dl_answer_remark(l, "per request, %s a day", dl_text_str(&day));
  }
  dl_answer_remark(
      l, "%s", cpu ? of_cpus[several] : dl_boundary_words(boundary, several));
  if (m->node && strcmp(boundary, "facility") == 0)
    dl_answer_number(l, "PUE ", foot->pue.x, "");
}

static void facility_line(const struct summary *m, struct dl_answer_line *l) {
  const double pue = m->s->o->foot.pue.x;
  const struct dl_interval all = dl_interval_scale(m->energy, pue);
  if (m->node || isnan(pue))
    return;
  put(l, "Facility", DL_KWH, "J", &all);
  dl_answer_number(l, "PUE ", pue, "");
}

/* The share of what could be served that a given rate takes. */
static void load_line(const struct summary *m, struct dl_answer_line *l) {
  const double rate = m->job->run->request_rate;
  const bool tokens = m->served->tokens;
  char number[DL_NUMBER_SIZE];
  if (!(rate > 0) || isnan(m->served->most_a_second))
    return;
  put(l, "Load", DL_PERCENT, "%",
      &(struct dl_interval){rate / m->served->most_a_second, NAN, NAN});
  dl_answer_remark(l, "%s at a time",
                   dl_format_digits(number, m->served->batch, 2));
  dl_answer_number(l, "at most ", m->served->most_a_second,
                   tokens ? " requests/s" : " samples/s");
}

/* A time with the uncertainty of the whole job. */
static void put_time(const struct summary *m, struct dl_answer_line *l,
                     double s) {
  const struct dl_interval all = m->e->duration_s;
  const double share = s / all.x;
  l->label = "Speed";
  dl_show_estimate(&l->figure, DL_TIME, NULL,
                   (const double[3]){s, share * all.low, share * all.high});
}

/* How fast requests are answered. */
static void speed_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_served *served = m->served;
  const double output = m->job->run->output_tokens;
  if (!dl_run_is_inference(m->job->run) || isnan(served->most_a_second))
    return;
  if (!(served->tokens && output > 0)) {
    put_time(m, l, served->latency_s);
    dl_answer_remark(l, served->batch > 1 ? "per batch" : "each");
  } else {
    const double token_s =
        served->decode_s / served->requests * served->batch / output;
    put_time(m, l, token_s);
    dl_answer_remark(l, "per token");
    dl_answer_quantity(l, DL_TIME, NULL, served->latency_s, " per request");
  }
  if (!(m->job->run->request_rate > 0))
    dl_answer_number(l, "at most ", served->most_a_second,
                     served->tokens ? " requests/s" : " samples/s");
}

/* Both rates where the input pipeline is the bound, in tokens for text. */
static void input_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_physical_parts *parts = &m->s->result.predictions.parts;
  const bool text = m->s->result.predictions.language;
  const char *bound = text ? m->s->result.predictions.step.bound : parts->bound;
  if (dl_run_is_inference(m->job->run) || m->e->id != DL_METHOD_PHYSICAL ||
      dl_is_word(m->e->duration_from, "given") || m->e->busy_share < 0.5 ||
      !dl_same_text(bound, "input"))
    return;
  const double of_sample = text ? m->job->seq_len : 1;
  const double input = of_sample * parts->input_rate;
  const double gpus = of_sample * parts->gpu_rate;
  const bool millions = fmax(input, gpus) >= 1e6;
  const double unit = millions ? 1e6 : 1;
  char buf[2][DL_NUMBER_SIZE];
  const char *samples = text ? "tokens" : "samples";
  l->label = "Input";
  dl_text_printf(&l->figure, "data loading limits: %s of %s%s %s/s",
                 dl_group_digits(dl_format_digits(buf[0], input / unit, 3)),
                 dl_group_digits(dl_format_digits(buf[1], gpus / unit, 3)),
                 millions ? "M" : "", samples);
  if (m->e->loader_assumed)
    dl_text_printf(&l->figure, "; %g processes assumed", m->e->loader_workers);
}

/* The time, also of an epoch, or the rate of tokens. */
static void time_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_job *job = m->job;
  const struct dl_estimate *e = m->e;
  const bool text = m->s->result.predictions.language;
  const bool trains = !dl_run_is_inference(job->run);
  const bool given = dl_is_word(e->duration_from, "given");
  const bool millions = e->tokens_per_s >= 1e6;
  if (goes_on(m))
    return;
  put(l, "Time", DL_TIME, "s",
      &(struct dl_interval){e->duration_s.x, e->duration_s.low,
                            e->duration_s.high});
  if (text)
    dl_answer_number(l, "", e->tokens_per_s / (millions ? 1e6 : 1),
                     millions ? "M tokens/s" : " tokens/s");
  else if (trains && isnan(job->run->tokens) && job->epochs > 1 &&
           job->found.arch && (job->fills || !dl_lasts_so_long(job)))
    dl_answer_quantity(l, DL_TIME, "s", e->duration_s.x / job->epochs,
                       " per epoch");
  if (given)
    dl_answer_remark(l, "given");
}

/* "68 of 84 GB usable": programs cannot use all memory of a GPU. */
static void memory_remark(const struct dl_job *job, struct dl_answer_line *l) {
  struct dl_memory_need need;
  char number[DL_NUMBER_SIZE];
  dl_memory_of(job, &need);
  if (isnan(need.need_gb))
    return;
  dl_answer_remark(
      l, "%s",
      dl_format_digits(number, need.need_gb, need.need_gb < 100 ? 2 : 3));
  if (!isnan(need.has_gb))
    dl_text_printf(
        &l->remark, " of %s",
        dl_format_digits(number, need.has_gb, need.has_gb < 100 ? 2 : 3));
  dl_text_add(&l->remark, " GB");
  if (!isnan(need.has_gb) && !dl_is_cpu(job->found.gpu))
    dl_text_add(&l->remark, " usable");
  dl_text_add(&l->remark, need.over ? ": does not fit" : "");
}

static void power_line(const struct summary *m, struct dl_answer_line *l) {
  const double n = m->job->run->n_gpus;
  const struct dl_interval watts =
      m->node ? m->s->node_power_w
              : (struct dl_interval){m->e->power_w.x, m->e->power_w.low,
                                     m->e->power_w.high};
  put(l, "Power", DL_WATTS, "W", &watts);
  if (!m->node && n > 1)
    dl_answer_number(l, "", watts.x / n, " W each");
  if (!isnan(m->e->busy_share))
    dl_answer_remark(l, "%s busy %.0f %% of the time",
                     dl_is_cpu(m->s->result.job.found.gpu) ? "CPU" : "GPU",
                     100 * m->e->busy_share);
  memory_remark(m->job, l);
}

/* kWh that are paid for, and emit, per J of the answer. */
static double paid(const struct summary *m) {
  return dl_predict_paid(m->s) / DL_J_PER_KWH;
}

static void emissions_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_footprint *foot = &m->s->o->foot;
  const struct dl_interval g =
      dl_interval_scale(m->energy, paid(m) * foot->intensity.x);
  put(l, "CO2e", DL_MASS, "g", &g);
  l->hint = isnan(foot->intensity.x);
  if (l->hint) {
    dl_answer_remark(l, "add --country DE or --cloud aws:us-east-1");
    return;
  }
  dl_answer_number(l, "", foot->intensity.x, " g/kWh");
  dl_answer_remark(l, "%s", foot->intensity.of);
}

static void embodied_line(const struct summary *m, struct dl_answer_line *l) {
  if (m->s->node->embodied)
    put(l, "Embodied", DL_MASS, "g CO2e",
        &(struct dl_interval){m->s->embodied_g, NAN, NAN});
  const double g = m->s->embodied_g + dl_sci_energy(m->s) / DL_J_PER_KWH *
                                          m->s->o->foot.intensity.x;
  struct dl_functional_unit unit[DL_MOST_UNITS];
  const size_t n = dl_functional_units(unit, m->s);
  for (size_t i = 0; i < n && !isnan(g); i++) {
    dl_answer_quantity(l, DL_MASS, "g", g / unit[i].r, " per ");
    dl_text_printf(&l->remark, "%s%s", unit[i].name, i == 0 ? " (SCI)" : "");
  }
}

static void cost_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_footprint *foot = &m->s->o->foot;
  const struct dl_interval x =
      dl_interval_scale(m->energy, paid(m) * foot->price);
  if (!isnan(foot->price))
    put(l, "Cost", DL_PLAIN, foot->currency, &x);
}

static void water_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_footprint *foot = &m->s->o->foot;
  const double computers = dl_predict_paid(m->s) / dl_paid_energy(foot, 1);
  const struct dl_interval x =
      dl_interval_scale(m->energy, computers * foot->wue / DL_J_PER_KWH);
  if (isnan(foot->wue))
    return;
  put(l, "Water", DL_PLAIN, "L", &x);
  dl_answer_number(l, "", foot->wue, " L/kWh");
}

static void equivalents_line(const struct summary *m,
                             struct dl_answer_line *l) {
  DL_TEXT(t);
  dl_text_equivalents(&t, &m->s->o->foot, m->energy.x * paid(m) * DL_J_PER_KWH);
  dl_answer_text(l, "Equals", dl_text_str(&t));
}

double dl_predict_over_budget(const struct dl_predict_answer *s) {
  const struct dl_interval j = dl_predict_energy(s);
  const double above = log(j.high / (s->budget_kwh * DL_J_PER_KWH));
  const double share = above / log(j.high / j.low);
  return share > 0 ? fmin(1, share) : fabs(0 * share); /* NaN stays */
}

static void budget_line(const struct summary *m, struct dl_answer_line *l) {
  const double share = dl_predict_over_budget(m->s);
  if (!isfinite(m->s->budget_kwh) || isnan(share))
    return;
  put(l, "Budget", DL_KWH, "J",
      &(struct dl_interval){DL_J_PER_KWH * m->s->budget_kwh, NAN, NAN});
  dl_answer_remark(l, "%.0f %% of the interval lies above", 100 * share);
}

/* Appends the time that a training is assumed to take beside its steps. */
static void add_overhead(const struct dl_job *job, struct dl_text *t) {
  if (dl_is_assumed(job->row, DL_RUN_overhead) && job->run->overhead > 0)
    dl_text_printf(t, "%s%.0f %% overhead", t->len > 0 ? ", " : "",
                   100 * job->run->overhead);
}

/* Lists values that neither were given nor follow from given ones. */
static void assumed_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_job_predictions *p = &m->s->result.predictions;
  const char *facts = dl_facts_assumed(m->job, NULL);
  const bool physical = m->e->id == DL_METHOD_PHYSICAL;
  const char *const more[] = {
      m->e->software_matters ? "any software" : NULL,
      physical && p->language && dl_padding(m->job->row) > 1 ? "padded" : NULL,
      physical && (dl_limit_matters(m->job) || (m->node && m->e->capped > 0))
          ? "full power limit"
          : NULL};
  DL_TEXT(t);
  dl_text_add(&t, m->assumed);
  for (size_t i = 0; i < DL_LENGTH(more); i++)
    if (more[i])
      dl_text_printf(&t, "%s%s", t.len > 0 ? ", " : "", more[i]);
  if (physical && p->language)
    add_overhead(m->job, &t);
  if (facts && physical && isnan(m->job->run->tokens) && !p->served.tokens &&
      !p->served.tuned && !p->language)
    dl_text_printf(&t, "%s%s from the network's FLOPs", t.len > 0 ? ", " : "",
                   facts);
  dl_answer_text(l, "Assumed", dl_text_str(&t));
}

/* --- what the answer is based on */

/* Groups that were held out to find the intervals: others than the job's own,
 * unless it was measured. */
static const struct basis {
  const char *left_out, *groups;
  bool may_be_new;
} bases[] = {{"config", "measured configurations", false},
             {"arch", "networks", true},
             {"gpu", "GPUs", true},
             {"pair", "networks on GPUs", false},
             {"setting", "values of a setting", true},
             {"rows", "runs", false}};

static const struct basis *basis_of(const struct dl_estimate *e) {
  for (size_t i = 0; e->interval_from && i < DL_LENGTH(bases); i++)
    if (strcmp(bases[i].left_out, e->interval_from) == 0)
      return &bases[i];
  return NULL;
}

/* Says that the answer comes from another method, for want of an estimate with
 * an interval. */
static void add_rule_of_thumb(struct dl_text *t,
                              const struct dl_predict_answer *s) {
  const struct dl_estimate *e = &s->result.est[s->result.best];
  dl_text_printf(t, "a rule of thumb (%s), no interval", e->method);
  for (size_t i = 0; i < s->result.n; i++)
    if (s->result.est[i].lacks && s->result.est[i].id == DL_METHOD_PHYSICAL) {
      DL_TEXT(lacks);
      dl_add_setting(&lacks, s->result.est[i].lacks);
      dl_text_printf(t, ": a better one needs %s", lacks.s);
    }
}

static void basis_line(const struct summary *m, struct dl_answer_line *l) {
  const struct dl_estimate *e = m->e;
  const struct basis *b = basis_of(e);
  DL_TEXT(t);
  if (b) {
    bool cpus =
        dl_is_cpu(m->job->found.gpu) && dl_same_text(b->left_out, "gpu");
    dl_text_printf(&t, "%zu %s%s", e->interval_groups,
                   b->may_be_new && !e->all_seen ? "other " : "",
                   cpus ? "CPUs" : b->groups);
  } else if (e->interval_from) {
    dl_text_printf(&t, "%zu runs of this configuration", e->interval_groups);
  } else if (isnan(e->energy_j.low)) {
    add_rule_of_thumb(&t, m->s);
  }
  if (e->n_outside > 0) {
    dl_text_add(&t, t.len > 0 ? "; outside their range: "
                              : "outside the measured range: ");
    dl_add_quantities(&t, e->outside, e->n_outside);
  }
  dl_answer_text(l, "Basis", dl_text_str(&t));
}

static void better_line(const struct summary *m, struct dl_answer_line *l) {
  dl_answer_text(l, "Better", dl_text_or(m->s->better, ""));
}

/* The lines in their order. */
static void (*const fillers[])(const struct summary *,
                               struct dl_answer_line *) = {
    energy_line,   facility_line, load_line,  speed_line,
    time_line,     input_line,    power_line, emissions_line,
    embodied_line, cost_line,     water_line, equivalents_line,
    budget_line,   assumed_line,  basis_line, better_line};

void dl_predict_summary(struct dl_report *r, const struct dl_predict_answer *s,
                        const char *assumed) {
  const struct dl_estimate *e = &s->result.est[s->result.best];
  struct dl_answer_line line[DL_LENGTH(fillers)] = {0};
  const struct summary m = {.s = s,
                            .e = e,
                            .job = &s->result.job,
                            .served = &s->result.predictions.served,
                            .node = !isnan(s->node_j.x),
                            .energy = dl_predict_energy(s),
                            .assumed = assumed};
  for (size_t i = 0; i < DL_LENGTH(fillers); i++)
    fillers[i](&m, &line[i]);
  dl_answer_lines(r, line, DL_LENGTH(fillers));
}

/* --- with --explain */

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
      {"figure", "figure", NULL, DL_CODE, DL_MAIN},
      {"value", "value", NULL, DL_PLAIN, DL_MAIN},
      {"unit", "unit", NULL, DL_CODE, DL_MAIN},
      {"of", "of", NULL, DL_CODE, 0},
      {"source", "source", NULL, DL_CODE, DL_MAIN},
      {"note", "note", NULL, DL_CODE, DL_SPARE}};
  const struct dl_accelerator *gpu = job->found.gpu;
  const struct dl_architecture *arch = job->found.arch;
  if (!gpu && !arch)
    return;
  struct dl_table *t = DL_TABLE(r, "sources", "Sources", columns, false);
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

void dl_predict_start(struct dl_report *r, const struct dl_predict_answer *s) {
  char start[DL_TIMESTAMP_SIZE];
  dl_format_timestamp(start, s->hours.start_ns, true);
  DL_LINES(r, {.key = "start_time", .value = dl_string(start)},
           {.key = "given_start_intensity_g_kwh",
            .value = dl_known(s->hours.given_g_kwh)});
}
