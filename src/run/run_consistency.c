/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules between the columns of a measured run: units that were mistaken, and
 * parts above their whole. */

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "catalog/architecture/token_costs.h"
#include "run/plan_private.h"
#include "run/setup/training_setup.h"

/* Whether the energy of a run includes a part of the node ("gpu", "cpu",
 * "ram"); without a boundary it includes the GPU. */
static bool includes(const struct dl_run *r, const char *part) {
  const char *b = r->boundary;
  if (!b)
    return strcmp(part, "gpu") == 0;
  return strcmp(b, "node") == 0 || strcmp(b, "facility") == 0 ||
         strstr(b, part) != NULL;
}

/* x / y, NaN unless y > 0. */
static double ratio(double x, double y) {
  return y > 0 ? x / y : (double)NAN;
}

/* Mean power of all GPUs by their energy, W; of an energy that includes more,
 * the power is more. */
static double energy_w(const struct dl_run *r) {
  double energy = includes(r, "gpu") ? r->energy_j : (double)NAN;
  double per_epoch = includes(r, "gpu") ? r->epoch_energy_j : (double)NAN;
  double w = ratio(dl_or(r->gpu_energy_j, energy), r->duration_s);
  return dl_or(w,
               ratio(per_epoch, dl_or(r->epoch_s, r->duration_s / r->epochs)));
}

/* Returns the power of the GPUs alone, without their node's memory. NaN if that
 * could be all of it. */
static double gpus_w(const struct dl_run *r) {
  const double memory_w = 100; /* of a large node, for each GPU */
  double w = energy_w(r);
  if (!isnan(r->gpu_energy_j) || !r->boundary ||
      strcmp(r->boundary, "gpu") == 0)
    return w;
  w -= memory_w * dl_or(r->n_gpus, 1);
  return strcmp(r->boundary, "gpu+ram") == 0 && w > 0 ? w : (double)NAN;
}

/* The highest rate of the GPUs at any precision, FLOP/s. */
static double highest_rate(const struct dl_run *r,
                           const struct dl_row_descriptors *found) {
  const struct dl_accelerator *gpu = found->gpu;
  bool language = found->arch && dl_is_language_model(found->arch);
  if (!gpu)
    return NAN;
  const double tflops[] = {gpu->peak_fp32_tflops *
                               (language ? 1 : DL_FAST_CONVOLUTION),
                           gpu->peak_fp16_tflops,
                           gpu->peak_bf16_tflops,
                           gpu->peak_tf32_tflops,
                           gpu->peak_fp16_tensor_tflops,
                           gpu->peak_bf16_tensor_tflops,
                           gpu->peak_fp8_tensor_tflops,
                           gpu->peak_fp4_tensor_tflops};
  double most = 0;
  for (size_t i = 0; i < DL_LENGTH(tflops); i++)
    most = fmax(most, tflops[i]);
  return most * 1e12 * dl_or(r->n_gpus, 1);
}

/* FLOPs of so many samples, or where these are NaN tokens: a forward pass of 2
 * a MAC or an active parameter, and where all weights are trained a backward
 * pass of twice that. */
static double least_work(const struct dl_run *r,
                         const struct dl_architecture *e, double samples,
                         double tokens) {
  bool trains_all = (!r->fine_tune || r->fine_tune == DL_TUNE_FULL) &&
                    !(r->frozen_base > 0) && !dl_run_is_inference(r);
  double params_m = e ? dl_or(e->active_params_m, e->params_m) : (double)NAN;
  double macs_g = dl_or(r->macs_g, e ? e->macs_g : (double)NAN);
  double work =
      isnan(samples) ? 1e6 * params_m * tokens : 1e9 * macs_g * samples;
  return (trains_all ? 6 : 2) * work;
}

enum {
  WHOLE_BY_PARTS,
  NODE_BY_PARTS,
  FACILITY_BY_RUN,
  POWER_BY_ENERGY,
  EPOCHS_BY_DURATION,
  EPOCHS_BY_ENERGY,
  POWER_BY_LIMIT,
  POWER_BY_IDLE,
  POWER_OF_ALL,
  POWER_OF_ALL_IDLE,
  POWER_BY_RUN,
  EPOCHS_BY_EFFICIENCY,
  EPOCHS_BY_RATE,
  THROUGHPUT_BY_TIME,
  STEP_BY_TIME,
  WORK_BY_RATE,
  N_RULES
};

/* The measurements that a command uses; estimates know times and throughputs,
 * and check these themselves. */
enum { USES_ENERGY = 1, USES_TIME = 2, USES_THROUGHPUT = 4 };

/* A row outside refuse_low .. refuse_high is skipped, one outside warn_low ..
 * warn_high is used with a warning. Parts may exceed their whole by 1 %: meters
 * differ. All real runs that are public and known to us are within the
 * warnings. */
static const struct rule {
  unsigned uses; /* checked where any of these is used */
  double refuse_low, warn_low, warn_high, refuse_high;
  const char *of, *by; /* "OF is 0.001 times BY" */
} rules[N_RULES] = {
    [WHOLE_BY_PARTS] = {USES_ENERGY, 0.99, 0.99, 100, INFINITY, "energy_j",
                        "the energy of the parts within its boundary"},
    [NODE_BY_PARTS] = {USES_ENERGY, 0.99, 0.99, 100, INFINITY, "node_energy_j",
                       "the energy of its parts"},
    [FACILITY_BY_RUN] = {USES_ENERGY, 0.99, 0.99, 10, INFINITY,
                         "facility_energy_j", "energy_j"},
    [POWER_BY_ENERGY] = {USES_ENERGY, 0.02, 0.5, 2, 50,
                         "gpu_power_w x duration_s", "gpu_energy_j"},
    [EPOCHS_BY_DURATION] = {USES_ENERGY, 0, 0, 1.2, 50, "epoch_s x epochs",
                            "duration_s"},
    [EPOCHS_BY_ENERGY] = {USES_ENERGY, 0, 0, 1.2, 50, "epoch_energy_j x epochs",
                          "energy_j"},
    [POWER_BY_LIMIT] = {USES_ENERGY, 0, 0, DL_MOST_OF_LIMIT, DL_MOST_OF_LIMIT,
                        "the measured power",
                        "the power limit of the GPUs (column 'boundary' says "
                        "what an energy includes)"},
    [POWER_BY_IDLE] = {USES_ENERGY, 0.05, 0.1, INFINITY, INFINITY,
                       "the measured power", "the power of an idle GPU"},
    [POWER_OF_ALL] = {USES_ENERGY, 0, 0.8, INFINITY, INFINITY, "gpu_power_w",
                      "the mean power of all GPUs together"},
    [POWER_OF_ALL_IDLE] = {USES_ENERGY, 0, 0.8, INFINITY, INFINITY,
                           "gpu_power_w", "the power of all GPUs idling"},
    [POWER_BY_RUN] = {USES_ENERGY, 0, 0.5, 2, INFINITY,
                      "gpu_power_w x duration_s", "energy_j"},
    [EPOCHS_BY_EFFICIENCY] = {USES_ENERGY, 0, 0, 2, 40,
                              "the work of the epochs per joule",
                              "the highest efficiency of the GPUs"},
    [EPOCHS_BY_RATE] = {USES_ENERGY | USES_TIME, 0, 0, 1, 20,
                        "the work of the epochs per second",
                        "the highest rate of the GPUs"},
    [THROUGHPUT_BY_TIME] = {USES_THROUGHPUT, 0.02, 0.8, 5, 50, "samples_per_s",
                            "the samples of an epoch by its time"},
    [STEP_BY_TIME] = {USES_THROUGHPUT, 0.02, 0.2, 1.25, 50, "step_s",
                      "the time of a step by the other columns"},
    [WORK_BY_RATE] = {USES_THROUGHPUT, 0, 0, 1, 20,
                      "the work of the throughput",
                      "the highest rate of the GPUs"},
};

/* Divides speeds by times: the throughput of a steady state by the throughput
 * of the whole epoch or run, and the time of a step by either. */
static void find_speed_ratios(const struct dl_run *r, double x[N_RULES]) {
  double epoch_s = dl_or(r->epoch_s, ratio(r->duration_s, r->epochs));
  double speed = dl_or(r->samples_per_s, ratio(r->train_samples, epoch_s));
  x[THROUGHPUT_BY_TIME] = ratio(r->samples_per_s * epoch_s, r->train_samples);
  x[STEP_BY_TIME] =
      ratio(r->step_s * speed, dl_micro_batch(r) * dl_or(r->n_gpus, 1));
}

/* The ratio of each rule; NaN where the run or its descriptors lack something.
 */
static void find_ratios(const struct dl_run *r,
                        const struct dl_row_descriptors *found,
                        double x[N_RULES]) {
  const struct dl_accelerator *gpu = found->gpu;
  const struct dl_architecture *e = found->arch;
  double of_gpu = dl_or(r->gpu_energy_j, 0), of_cpu = dl_or(r->cpu_energy_j, 0),
         of_ram = dl_or(r->ram_energy_j, 0), gpus = dl_or(r->n_gpus, 1);
  x[WHOLE_BY_PARTS] = ratio(r->energy_j, (includes(r, "gpu") ? of_gpu : 0) +
                                             (includes(r, "cpu") ? of_cpu : 0) +
                                             (includes(r, "ram") ? of_ram : 0));
  x[NODE_BY_PARTS] = ratio(r->node_energy_j, of_gpu + of_cpu + of_ram);
  x[FACILITY_BY_RUN] = ratio(r->facility_energy_j, r->energy_j);
  /* The power may cover one GPU, which is warned of. */
  double all = ratio(r->gpu_power_w * r->duration_s, r->gpu_energy_j);
  double one = all * r->n_gpus;
  x[POWER_BY_ENERGY] = fabs(log(one)) < fabs(log(all)) ? one : all;
  x[POWER_OF_ALL] = one > 0.8 && one < 1.25 && gpus > 1 ? all : (double)NAN;
  /* The energy covers the GPUs, and the node's memory at most. */
  bool of_gpus = !r->boundary || strcmp(r->boundary, "gpu") == 0 ||
                 strcmp(r->boundary, "gpu+ram") == 0;
  x[POWER_BY_RUN] =
      of_gpus && isnan(r->gpu_energy_j)
          ? ratio(r->gpu_power_w * dl_or(r->duration_s, r->epoch_s * r->epochs),
                  r->energy_j)
          : (double)NAN;
  x[EPOCHS_BY_DURATION] = ratio(r->epoch_s * r->epochs, r->duration_s);
  x[EPOCHS_BY_ENERGY] = ratio(r->epoch_energy_j * r->epochs, r->energy_j);
  double limit = gpu ? fmax(gpu->tdp_w, fmax(dl_or(r->power_limit_w, 0),
                                             dl_or(gpu->power_limit_w, 0)))
                     : (double)NAN;
  x[POWER_BY_LIMIT] = ratio(fmax(r->gpu_power_w, gpus_w(r)), limit * gpus);
  /* A power of 0 is refused elsewhere. */
  double idle =
      gpu ? dl_or(gpu->idle_w, DL_LEAST_IDLE_SHARE * gpu->tdp_w) : (double)NAN;
  x[POWER_OF_ALL_IDLE] = gpus > 1 && r->gpu_power_w > 0
                             ? ratio(r->gpu_power_w, idle * gpus)
                             : (double)NAN;
  double least = fmin(r->gpu_power_w, energy_w(r));
  x[POWER_BY_IDLE] = least > 0 ? ratio(least, idle) : (double)NAN;
  find_speed_ratios(r, x);
  double rate = highest_rate(r, found);
  x[WORK_BY_RATE] =
      ratio(least_work(r, e, r->samples_per_s, r->tokens_per_s), rate);
  double work = dl_run_is_inference(r)
                    ? (double)NAN
                    : least_work(r, e, r->train_samples * r->epochs, r->tokens);
  double time = fmin(r->duration_s, r->epoch_s * r->epochs);
  x[EPOCHS_BY_RATE] = ratio(ratio(work, time), rate);
  double energy = fmin(r->gpu_energy_j, r->epoch_energy_j * r->epochs);
  if (includes(r, "gpu"))
    energy = fmin(energy, r->energy_j);
  x[EPOCHS_BY_EFFICIENCY] =
      gpu ? ratio(work * ratio(gpu->tdp_w * gpus, rate), energy) : (double)NAN;
}

/* Columns that rules read; those in front are what a command uses: energies and
 * powers, then throughputs, then times. */
static const enum dl_run_id columns[] = {
    DL_RUN_energy_j,       DL_RUN_gpu_energy_j,
    DL_RUN_node_energy_j,  DL_RUN_gpu_power_w,
    DL_RUN_epoch_energy_j, DL_RUN_samples_per_s,
    DL_RUN_tokens_per_s,   DL_RUN_step_s,
    DL_RUN_duration_s,     DL_RUN_epoch_s,
    DL_RUN_batch_size,     DL_RUN_cpu_energy_j,
    DL_RUN_ram_energy_j,   DL_RUN_facility_energy_j,
    DL_RUN_epochs,         DL_RUN_n_gpus,
    DL_RUN_power_limit_w,  DL_RUN_boundary,
    DL_RUN_train_samples,  DL_RUN_tokens,
    DL_RUN_fine_tune,      DL_RUN_frozen_base,
    DL_RUN_phase,          DL_RUN_macs_g};
enum {
  N_COLUMNS = sizeof columns / sizeof *columns,
  N_MEASURED = 5,
  N_THROUGHPUT = 8,
  N_TIMES = 10
};

_Static_assert((size_t)N_RULES <= MOST_RULES, "MOST_RULES is too small");
_Static_assert((size_t)N_COLUMNS <= MOST_CHECKED_COLUMNS,
               "MOST_CHECKED_COLUMNS is too small");

/* Whether a step sets a member of the run for the command's own use. */
static bool is_read(const struct dl_row_plan *f, enum dl_run_id id) {
  bool read = false;
  for (size_t scope = 0; scope < N_SCOPES; scope++) {
    size_t step = f->name[id].step[scope][0];
    read |= step > 0 && f->step[step - 1].wanted;
  }
  return read;
}

/* Whether a column is computed by a definition that does more than rename
 * another: per epoch, or in other units. */
static bool is_computed(const struct dl_row_plan *f, enum dl_run_id id) {
  bool computed = false;
  for (size_t k = 0; k < f->n_steps && f->name[id].definition > 0; k++)
    for (size_t i = 0; i < f->step[k].n_sources; i++)
      computed |= f->step[k].name == id && f->step[k].source[i].formula &&
                  !f->step[k].source[i].formula->is_name;
  return computed;
}

static unsigned use_of(size_t column, bool estimated) {
  if (estimated)
    return columns[column] == DL_RUN_energy_j ? USES_ENERGY : 0;
  if (column < N_MEASURED)
    return USES_ENERGY;
  if (column < N_THROUGHPUT)
    return USES_THROUGHPUT;
  return column < N_TIMES ? USES_TIME : 0;
}

void dl_plan_take_estimates(struct dl_row_plan *f) {
  f->of_estimates = true;
}

void dl_plan_prepare_checks(struct dl_row_plan *f) {
  bool computed = false;
  f->checks = 0;
  for (size_t i = 0; i < N_COLUMNS; i++) {
    enum dl_run_id id = columns[i];
    bool read = is_read(f, id);
    if (read)
      f->checks |= use_of(i, f->for_estimates || f->of_estimates);
    computed |= is_computed(f, id);
    f->checked_at[i] =
        read || f->name[id].definition > 0 ? -1 : dl_plan_column(f, id);
  }
  if (computed)
    f->checks = 0;
}

void dl_plan_check_row(struct dl_row_plan *f, const struct dl_csv_block *block,
                       size_t i, struct dl_row *row) {
  const char *const *cell = block->cell + i * block->n_cols;
  struct dl_run r = row->run;
  /* Columns that no step reads are taken as they are, if they hold a value. */
  for (size_t k = 0; k < N_COLUMNS; k++) {
    const struct dl_run_column *c = &dl_run_columns[columns[k]];
    const char *text = f->checked_at[k] >= 0 ? cell[f->checked_at[k]] : "";
    double x;
    if (c->is_text && *text)
      dl_run_lend_text(&r, c->id, text);
    else if (*text && dl_run_column_parse(c, text, &x) == DL_FAULT_NONE)
      dl_run_set_number(&r, c->id, x);
  }
  double ratios[N_RULES];
  find_ratios(&r, &row->found, ratios);
  for (size_t k = 0; k < N_RULES; k++) {
    const struct rule *rule = &rules[k];
    double x = ratios[k];
    struct dl_doubted_rows *doubted = &f->doubted[k];
    if (!(f->checks & rule->uses))
      continue;
    if (x < rule->refuse_low || x > rule->refuse_high) {
      row->fault =
          (struct dl_fault){.kind = DL_FAULT_CONTRADICTION, .step = k, .x = x};
      return;
    }
    if ((x < rule->warn_low || x > rule->warn_high) && doubted->n++ == 0)
      doubted->x = x, doubted->line = block->line[i];
  }
}

void dl_plan_warn_doubted(struct dl_row_plan *f, struct dl_diag *d) {
  for (size_t k = 0; k < N_RULES; k++) {
    struct dl_doubted_rows *doubted = &f->doubted[k];
    DL_TEXT(what);
    if (doubted->n == 0)
      continue;
    dl_plan_explain_rule(k, doubted->x, &what);
    if (doubted->n > 1)
      dl_text_printf(&what, " (%zu rows like this)", doubted->n);
    dl_warn_at(d, dl_csv_path(f->csv), doubted->line, "%s", dl_text_str(&what));
    doubted->n = 0;
  }
}

void dl_plan_explain_rule(size_t rule, double x, struct dl_text *to) {
  dl_text_printf(to, "%s is %.3g times %s; check the units", rules[rule].of, x,
                 rules[rule].by);
}
