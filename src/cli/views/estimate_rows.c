/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates as rows of a table, and the models that they use. */

#include "cli/views/estimate_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "estimate/node/peak_memory.h"
#include "run/setup/training_setup.h"

/* The last ones. */
enum {
  POWER_LOW = DL_ESTIMATE_BUSY + 1,
  POWER_HIGH,
  DURATION_LOW,
  DURATION_HIGH
};
const struct dl_column dl_estimate_columns[DL_ESTIMATE_COLUMNS] = {
    {"method", "method", NULL, DL_CODE, DL_MAIN},
    {"boundary", "boundary", NULL, DL_CODE, DL_SPARE},
    {"energy_j", "energy", "J", DL_KWH, DL_MAIN},
    {"low_j", "interval", "J", DL_KWH, DL_RANGE | DL_MAIN},
    {"high_j", "", "J", DL_KWH, false},
    {.key = "coverage"},
    {.key = "energy_kwh"},
    {"power_w", "power", "W", DL_WATTS, false},
    {"duration_s", "time", "s", DL_TIME, false},
    {"duration_from", "time from", NULL, DL_CODE, DL_SPARE},
    {"facility_energy_j", NULL, "J", DL_KWH, false},
    {"co2e_g", "emissions", "g CO2e", DL_MASS, false},
    {"cost", NULL, NULL, DL_PLAIN, false},
    {.key = "interval_from"},
    {.key = "interval_groups"},
    {.key = "model"},
    {.key = "extrapolates"},
    {.key = "samples_per_s"},
    {.key = "tokens_per_s"},
    {.key = "mfu"},
    [DL_ESTIMATE_PRECISION] = {"precision_used", NULL, NULL, DL_CODE, DL_SPARE},
    [DL_ESTIMATE_BUSY] = {.key = "busy_share"},
    [POWER_LOW] = {.key = "power_low_w"},
    [POWER_HIGH] = {.key = "power_high_w"},
    [DURATION_LOW] = {.key = "duration_low_s"},
    [DURATION_HIGH] = {.key = "duration_high_s"},
};

enum {
  METHOD = 0,
  TIME = 8,
  FACILITY = 10,
  EMISSIONS = 11,
  COST = DL_ESTIMATE_COST
};

void dl_estimate_headings(struct dl_column columns[DL_ESTIMATE_COLUMNS],
                          const struct dl_footprint *foot) {
  for (size_t i = 0; i < DL_ESTIMATE_COLUMNS; i++)
    columns[i] = dl_estimate_columns[i];
  if (!isnan(foot->pue.x))
    columns[FACILITY].heading = "facility";
  if (isnan(foot->intensity.x))
    columns[EMISSIONS].heading = NULL;
  if (!isnan(foot->price)) {
    columns[COST].heading = "cost";
    columns[COST].unit = foot->currency;
  }
}

void dl_estimate_row_headings(struct dl_column columns[DL_ESTIMATE_COLUMNS],
                              const struct dl_footprint *foot, bool all) {
  dl_estimate_headings(columns, foot);
  columns[METHOD].use = all ? DL_MAIN : 0;
  columns[TIME].use = DL_MAIN;
  columns[DL_ESTIMATE_PRECISION].heading = "precision";
}

struct dl_column dl_setting_column(const char *name) {
  static const char own[] = "name"; /* of a table's rows */
  const struct dl_run_column *c = dl_run_column_find(name);
  if (strcmp(name, own) == 0)
    return (struct dl_column){own, own, NULL, DL_CODE, DL_MAIN};
  bool names = c && c->role == DL_ROLE_NAME && !c->is_main;
  if (!c || !c->heading || names || c->role == DL_ROLE_MEASURED)
    return (struct dl_column){0};
  return (struct dl_column){c->name, c->heading, NULL, DL_CODE,
                            c->is_main ? DL_MAIN : 0};
}

void dl_estimate_values(const struct dl_estimate *est,
                        const struct dl_footprint *foot, double coverage,
                        struct dl_value v[DL_ESTIMATE_COLUMNS]) {
  bool any = !isnan(est->energy_j);
  size_t i = 0;
  v[i++] = dl_string(est->method);
  v[i++] = dl_string(est->boundary);
  v[i++] = dl_number(est->energy_j);
  v[i++] = dl_number(est->low_j);
  v[i++] = dl_number(est->high_j);
  v[i++] = dl_number(isnan(est->low_j) ? NAN : coverage);
  v[i++] = dl_number(est->energy_j / DL_J_PER_KWH);
  v[i++] = dl_number(any ? est->power_w : NAN);
  v[i++] = dl_number(any ? est->duration_s : NAN);
  v[i++] = dl_string(any ? est->duration_from : NULL);
  const struct dl_costs costs = dl_footprint_costs(foot, est->energy_j);
  v[i++] = dl_number(costs.facility_j);
  v[i++] = dl_number(costs.co2e_g);
  v[i++] = dl_number(costs.price);
  v[i++] = dl_string(est->interval_from);
  v[i++] = est->interval_from ? dl_count(est->interval_groups) : dl_number(NAN);
  v[i++] = dl_string(est->model);
  v[i++] = dl_strings(est->outside, est->n_outside);
  v[i++] = dl_number(est->samples_per_s);
  v[i++] = dl_number(est->tokens_per_s);
  v[i++] = dl_number(est->mfu);
  v[DL_ESTIMATE_BUSY] = dl_number(est->busy_share);
  v[POWER_LOW] = dl_number(est->power_low_w);
  v[POWER_HIGH] = dl_number(est->power_high_w);
  v[DURATION_LOW] = dl_number(est->time_low_s);
  v[DURATION_HIGH] = dl_number(est->time_high_s);
  v[DL_ESTIMATE_PRECISION] = dl_string(est->precision);
}

enum {
  RECOMMENDED,
  INTENSITY,
  INTENSITY_OF,
  PUE,
  PUE_OF,
  PRICE,
  CURRENCY,
  MEMORY,
  ASSUMED
};
const struct dl_column dl_row_columns[DL_ROW_COLUMNS] = {
    [RECOMMENDED] = {"recommended", "recommended", NULL, DL_CODE, DL_SPARE},
    [INTENSITY] = {"intensity_g_kwh", NULL, "g/kWh", DL_PLAIN, false},
    [INTENSITY_OF] = {.key = "intensity_of"},
    [PUE] = {"pue", NULL, NULL, DL_PLAIN, false},
    [PUE_OF] = {.key = "pue_of"},
    [PRICE] = {.key = "price_per_kwh"},
    [CURRENCY] = {.key = "currency"},
    [MEMORY] = {"memory_need_gb", "memory", "GB", DL_PLAIN, DL_SPARE},
    [ASSUMED] = {.key = "assumed"},
};

void dl_row_headings(struct dl_column columns[DL_ROW_COLUMNS],
                     const struct dl_footprint *foot, bool all) {
  for (size_t i = 0; i < DL_ROW_COLUMNS; i++)
    columns[i] = dl_row_columns[i];
  if (!all)
    columns[RECOMMENDED].heading = NULL;
  if (!isnan(foot->intensity.x))
    columns[INTENSITY].heading = "intensity";
  if (!isnan(foot->pue.x))
    columns[PUE].heading = "PUE";
}

/* Whether a size of a job is the default: neither given nor of what is given.
 */
static bool is_default(const struct dl_job *job, enum dl_run_id id) {
  const struct dl_run_set *given = &job->row->given;
  const struct dl_run *r = job->run;
  bool follows =
      id == DL_RUN_batch_size ? dl_run_set_has(given, DL_RUN_global_batch)
      : id == DL_RUN_requests ? !isnan(r->duration_s) && r->request_rate > 0
      : id == DL_RUN_epochs   ? !isnan(r->tokens) || dl_lasts_so_long(job)
                              : dl_run_set_has(given, DL_RUN_dataset);
  bool serves = dl_run_is_inference(r), of_requests = id == DL_RUN_requests;
  return !follows && !dl_run_set_has(given, id) &&
         !dl_is_assumed(job->row, id) && !isnan(dl_run_number(r, id)) &&
         (id == DL_RUN_batch_size || serves == of_requests);
}

static void take(struct dl_taken *t, size_t i, const struct dl_run *r,
                 enum dl_run_id id) {
  const struct dl_run_column *c = &dl_run_columns[id];
  char number[DL_NUMBER_SIZE];
  snprintf(t->text[i], sizeof t->text[i], "%s=%s", c->name,
           c->is_text ? dl_run_text(r, id)
                      : dl_format_short(number, dl_run_number(r, id)));
  t->s[i] = t->text[i];
}

static struct dl_value all_taken(const struct dl_job *job, struct dl_taken *t) {
  static const enum dl_run_id sizes[] = {DL_RUN_train_samples,
                                         DL_RUN_val_samples, DL_RUN_epochs,
                                         DL_RUN_batch_size, DL_RUN_requests};
  size_t n = 0;
  for (size_t i = 0; i < DL_LENGTH(sizes); i++)
    if (is_default(job, sizes[i]))
      take(t, n++, job->run, sizes[i]);
  for (size_t i = 0; i < DL_N_RUN_MEMBERS && n < DL_MOST_TAKEN; i++)
    if (dl_is_assumed(job->row, (enum dl_run_id)i))
      take(t, n++, job->run, (enum dl_run_id)i);
  return dl_strings(t->s, n);
}

void dl_row_values(const struct dl_footprint *foot, bool recommended,
                   const struct dl_job *job, struct dl_taken *taken,
                   struct dl_value v[DL_ROW_COLUMNS]) {
  struct dl_memory_need memory;
  dl_memory_of(job, &memory);
  v[RECOMMENDED] = dl_bool(recommended);
  v[INTENSITY] = dl_number(foot->intensity.x);
  v[INTENSITY_OF] = dl_string(foot->intensity.of);
  v[PUE] = dl_number(foot->pue.x);
  v[PUE_OF] = dl_string(foot->pue.of);
  v[PRICE] = dl_number(foot->price);
  v[CURRENCY] = dl_string(foot->currency);
  v[MEMORY] = dl_number(memory.need_gb);
  v[ASSUMED] = all_taken(job, taken);
}
