/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules between the columns of a measured run: units that were mistaken, and
 * parts above their whole. */

#include <math.h>
#include <string.h>

#include "run/frame_private.h"

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
  double energy = isnan(r->gpu_energy_j) && r->boundary && includes(r, "gpu")
                      ? r->energy_j
                      : r->gpu_energy_j;
  return ratio(energy, r->duration_s);
}

/* The highest rate of an accelerator, FLOP/s. */
static double highest_rate(const struct dl_accelerator *gpu) {
  const double tflops[] = {
      gpu->peak_fp32_tflops,        gpu->peak_fp16_tflops,
      gpu->peak_bf16_tflops,        gpu->peak_tf32_tflops,
      gpu->peak_fp16_tensor_tflops, gpu->peak_bf16_tensor_tflops,
      gpu->peak_fp8_tensor_tflops};
  double most = 0;
  for (size_t i = 0; i < sizeof tflops / sizeof *tflops; i++)
    most = fmax(most, tflops[i]);
  return most * 1e12;
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
  /* For commands that use a throughput; those before, for what uses an energy
   * or a power. */
  THROUGHPUT_BY_TIME,
  WORK_BY_RATE,
  N_RULES
};

/* A row outside refuse_low .. refuse_high is skipped, one outside warn_low ..
 * warn_high is used with a warning. Parts may exceed their whole by 1 %: meters
 * differ. All real runs that are public and known to us are within the
 * warnings. */
static const struct rule {
  double refuse_low, warn_low, warn_high, refuse_high;
  const char *of, *by; /* "OF is 0.001 times BY" */
} rules[N_RULES] = {
    [WHOLE_BY_PARTS] = {0.99, 0.99, 100, INFINITY, "energy_j",
                        "the energy of the parts within its boundary"},
    [NODE_BY_PARTS] = {0.99, 0.99, 100, INFINITY, "node_energy_j",
                       "the energy of its parts"},
    [FACILITY_BY_RUN] = {0.99, 0.99, 10, INFINITY, "facility_energy_j",
                         "energy_j"},
    [POWER_BY_ENERGY] = {0.02, 0.5, 2, 50, "gpu_power_w x duration_s",
                         "gpu_energy_j"},
    [EPOCHS_BY_DURATION] = {0, 0, 1.2, 50, "epoch_s x epochs", "duration_s"},
    [EPOCHS_BY_ENERGY] = {0, 0, 1.2, 50, "epoch_energy_j x epochs", "energy_j"},
    [POWER_BY_LIMIT] = {0, 0, 1.5, 50, "the measured power",
                        "the power limit of the GPUs"},
    [POWER_BY_IDLE] = {0.05, 0.1, INFINITY, INFINITY, "the measured power",
                       "the power of an idle GPU"},
    [THROUGHPUT_BY_TIME] = {0.02, 0.5, 5, 50, "samples_per_s",
                            "the samples of an epoch by its time"},
    [WORK_BY_RATE] = {0, 0, 1, 20, "the work of the throughput",
                      "the highest rate of the GPUs"},
};

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
  /* The power may be that of one GPU. */
  double all = ratio(r->gpu_power_w * r->duration_s, r->gpu_energy_j);
  double one = all * r->n_gpus;
  x[POWER_BY_ENERGY] = fabs(log(one)) < fabs(log(all)) ? one : all;
  x[EPOCHS_BY_DURATION] = ratio(r->epoch_s * r->epochs, r->duration_s);
  x[EPOCHS_BY_ENERGY] = ratio(r->epoch_energy_j * r->epochs, r->energy_j);
  bool only_gpu = !isnan(r->gpu_energy_j) || !r->boundary ||
                  strncmp(r->boundary, "gpu", 3) == 0;
  double limit = gpu ? fmax(gpu->tdp_w, fmax(dl_or(r->power_limit_w, 0),
                                             dl_or(gpu->power_limit_w, 0)))
                     : (double)NAN;
  x[POWER_BY_LIMIT] = ratio(
      fmax(r->gpu_power_w, only_gpu ? energy_w(r) : (double)NAN), limit * gpus);
  /* Boards idle at 5 % of their TDP at least. A power of 0 is refused
   * elsewhere. */
  double idle = gpu ? dl_or(gpu->idle_w, 0.05 * gpu->tdp_w) : (double)NAN;
  double least = fmin(r->gpu_power_w, energy_w(r));
  x[POWER_BY_IDLE] = least > 0 ? ratio(least, idle) : (double)NAN;
  /* The throughput of a steady state by that of the whole epoch or run. */
  double epoch_s = dl_or(r->epoch_s, ratio(r->duration_s, r->epochs));
  x[THROUGHPUT_BY_TIME] = ratio(r->samples_per_s * epoch_s, r->train_samples);
  /* A forward pass of 2 FLOPs a MAC or an active parameter, and where all
   * weights are trained a backward pass of twice that. */
  bool trains_all = (!r->fine_tune || strcmp(r->fine_tune, "full") == 0) &&
                    !(r->frozen_base > 0);
  double macs =
      !e ? (double)NAN
      : isnan(r->samples_per_s)
          ? 1e6 * dl_or(e->active_params_m, e->params_m) * r->tokens_per_s
          : 1e9 * e->macs_g * r->samples_per_s;
  x[WORK_BY_RATE] =
      gpu ? ratio((trains_all ? 6 : 2) * macs, gpus * highest_rate(gpu))
          : (double)NAN;
}

/* Columns that rules read. Those in front: where a command uses one of them,
 * energies and powers first, then throughputs, its rows are checked. */
static const enum dl_run_id columns[] = {
    DL_RUN_energy_j,       DL_RUN_gpu_energy_j,
    DL_RUN_node_energy_j,  DL_RUN_gpu_power_w,
    DL_RUN_epoch_energy_j, DL_RUN_samples_per_s,
    DL_RUN_tokens_per_s,   DL_RUN_cpu_energy_j,
    DL_RUN_ram_energy_j,   DL_RUN_facility_energy_j,
    DL_RUN_duration_s,     DL_RUN_epoch_s,
    DL_RUN_epochs,         DL_RUN_n_gpus,
    DL_RUN_power_limit_w,  DL_RUN_boundary,
    DL_RUN_train_samples,  DL_RUN_fine_tune,
    DL_RUN_frozen_base};
enum {
  N_COLUMNS = sizeof columns / sizeof *columns,
  N_MEASURED = 5,
  N_THROUGHPUT = 7
};

_Static_assert((size_t)N_COLUMNS <= MOST_CHECKED_COLUMNS,
               "MOST_CHECKED_COLUMNS is too small");

/* Whether a step sets a member of the run for the command's own use. */
static bool is_read(const struct dl_frame *f, const char *name) {
  for (size_t k = 0; k < f->n_steps; k++)
    if (f->step[k].name && f->step[k].wanted &&
        f->step[k].target.in != DL_IN_CELL &&
        strcmp(f->step[k].name, name) == 0)
      return true;
  return false;
}

/* Whether a column is computed by a definition that does more than rename
 * another: per epoch, or in other units. */
static bool is_computed(const struct dl_frame *f, const char *name) {
  for (size_t k = 0; k < f->n_steps; k++)
    for (size_t i = 0; i < f->step[k].n_sources; i++)
      if (f->step[k].name && strcmp(f->step[k].name, name) == 0 &&
          f->step[k].source[i].formula &&
          !f->step[k].source[i].formula->is_name)
        return true;
  return false;
}

void dl_frame_prepare_checks(struct dl_frame *f) {
  bool measured = false, throughput = false, computed = false;
  for (size_t i = 0; i < N_COLUMNS; i++) {
    const char *name = dl_run_columns[columns[i]].name;
    bool read = is_read(f, name);
    /* An estimate may be conditioned on power and throughput, which it checks
     * itself; it learns from the energies alone that it is scored against. */
    bool estimated = f->for_estimates;
    measured |=
        read && (estimated ? columns[i] == DL_RUN_energy_j : i < N_MEASURED);
    throughput |= read && !estimated && i >= N_MEASURED && i < N_THROUGHPUT;
    computed |= is_computed(f, name);
    f->checked_at[i] = read || dl_entry_find(&f->definitions, name) >= 0
                           ? -1
                           : dl_csv_find(f->csv, name);
  }
  f->checks_energy = measured && !computed;
  f->checks_throughput = throughput && !computed;
  f->checks = f->checks_energy || f->checks_throughput;
}

bool dl_frame_check_row(struct dl_frame *f, const struct dl_csv_block *block,
                        size_t i, const struct dl_row *row,
                        struct dl_broken_rule *broken, struct dl_diag *d) {
  const char *const *cell = block->cell + i * block->n_cols;
  struct dl_run r = row->run;
  /* Columns that no step reads are taken as they are, if they hold a value. */
  for (size_t k = 0; k < N_COLUMNS; k++) {
    const struct dl_run_column *c = &dl_run_columns[columns[k]];
    const char *text = f->checked_at[k] >= 0 ? cell[f->checked_at[k]] : "";
    double x;
    if (c->is_text && *text)
      dl_run_lend_text(&r, c->id, text);
    else if (*text && dl_run_column_parse(c, text, &x) == DL_VALUE_OK)
      dl_run_set_number(&r, c->id, x);
  }
  double ratios[N_RULES];
  find_ratios(&r, &row->found, ratios);
  for (size_t k = 0; k < N_RULES; k++) {
    const struct rule *rule = &rules[k];
    double x = ratios[k];
    if (k < THROUGHPUT_BY_TIME ? !f->checks_energy : !f->checks_throughput)
      continue;
    *broken = (struct dl_broken_rule){k, x};
    if (x < rule->refuse_low || x > rule->refuse_high)
      return true;
    if (!(x < rule->warn_low || x > rule->warn_high) ||
        f->warned_rules & 1u << k)
      continue;
    struct dl_text what = {0};
    f->warned_rules |= 1u << k;
    dl_frame_explain_rule(broken, &what);
    dl_warn_at(d, dl_csv_path(f->csv), block->line[i], "%s",
               dl_text_str(&what));
    dl_text_free(&what);
  }
  return false;
}

void dl_frame_explain_rule(const struct dl_broken_rule *broken,
                           struct dl_text *to) {
  const struct rule *rule = &rules[broken->rule];
  dl_text_printf(to, "%s is %.3g times %s; check the units", rule->of,
                 broken->x, rule->by);
}
