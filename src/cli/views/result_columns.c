/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/result_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "estimate/node/peak_memory.h"
#include "run/setup/training_setup.h"

/* Getters read this; the costs of the energy are computed once. */
struct figures {
  const struct dl_result_view *v;
  const struct dl_estimate *e;
  struct dl_costs costs;
  bool has_energy;
  struct dl_assumed_texts *texts;
};

/* How text shows a column. */
enum layout {
  SHOWN, /* as its row says */
  IF_PUE,
  IF_INTENSITY,
  IF_PRICE,
  IF_WUE,
  IF_ROWS,     /* only in tables of many jobs */
  IF_ALL,      /* only where these have the estimates of all methods */
  MAIN_IF_ALL, /* dropped early on narrow terminals where they have not */
  MAIN_IN_ROWS /* dropped late in tables of many jobs */
};

struct result_column {
  struct dl_column column;
  enum dl_result_columns which;
  enum layout layout;
  struct dl_value (*get)(const struct figures *f);
};

#define GETTER(name, value)                                                    \
  static struct dl_value get_##name(const struct figures *f) {                 \
    return value;                                                              \
  }
#define IF_ENERGY(x) dl_number(f->has_energy ? (x) : (double)NAN)

GETTER(method, dl_string(f->e->method))
GETTER(boundary, dl_string(f->e->boundary))
GETTER(energy_j, dl_number(f->e->energy_j.x))
GETTER(low_j, dl_number(f->e->energy_j.low))
GETTER(high_j, dl_number(f->e->energy_j.high))
GETTER(coverage,
       dl_number(isnan(f->e->energy_j.low) ? (double)NAN : f->v->coverage))
GETTER(energy_kwh, dl_number(f->e->energy_j.x / DL_J_PER_KWH))
GETTER(power_w, IF_ENERGY(f->e->power_w.x))
GETTER(power_low_w, dl_number(f->e->power_w.low))
GETTER(power_high_w, dl_number(f->e->power_w.high))
GETTER(duration_s, IF_ENERGY(f->e->duration_s.x))
GETTER(duration_low_s, dl_number(f->e->duration_s.low))
GETTER(duration_high_s, dl_number(f->e->duration_s.high))
GETTER(duration_from, dl_string(f->has_energy ? f->e->duration_from : NULL))
GETTER(facility_energy_j, dl_number(f->costs.facility_j))
GETTER(co2e_g, dl_number(f->costs.co2e_g))
GETTER(cost, dl_number(f->costs.price))
GETTER(water, dl_number(f->costs.water_l))
GETTER(interval_from, dl_string(f->e->interval_from))
GETTER(interval_groups,
       f->e->interval_from ? dl_count(f->e->interval_groups) : dl_number(NAN))
GETTER(model, dl_string(f->e->model))
GETTER(extrapolates, dl_strings(f->e->outside, f->e->n_outside))
GETTER(samples_per_s, dl_number(f->e->samples_per_s))
GETTER(tokens_per_s, dl_number(f->e->tokens_per_s))
GETTER(mfu, dl_number(f->e->mfu))
GETTER(precision, dl_string(f->e->precision))
GETTER(busy_share, dl_number(f->e->busy_share))
GETTER(recommended, dl_bool(f->v->recommended))
GETTER(intensity, dl_number(f->v->foot->intensity.x))
GETTER(intensity_of, dl_string(f->v->foot->intensity.of))
GETTER(pue, dl_number(f->v->foot->pue.x))
GETTER(pue_of, dl_string(f->v->foot->pue.of))
GETTER(price, dl_number(f->v->foot->price))
GETTER(currency, dl_string(f->v->foot->currency))

static struct dl_value get_memory(const struct figures *f) {
  struct dl_memory_need memory;
  dl_memory_of(f->v->job, &memory);
  return dl_number(memory.need_gb);
}

static struct dl_value get_memory_low(const struct figures *f) {
  struct dl_memory_need memory;
  dl_memory_of(f->v->job, &memory);
  return dl_number(memory.low_gb);
}

static struct dl_value get_memory_high(const struct figures *f) {
  struct dl_memory_need memory;
  dl_memory_of(f->v->job, &memory);
  return dl_number(memory.high_gb);
}

/* Whether a size of a job is the default: it was neither given nor follows from
 * what was given. */
static bool is_default(const struct dl_job *job, enum dl_run_id id) {
  const struct dl_run_set *given = &job->row->given;
  const struct dl_run *r = job->run;
  bool serves = dl_run_is_inference(r), follows = false;
  switch (id) {
  case DL_RUN_batch_size:
    follows = dl_run_set_has(given, DL_RUN_global_batch);
    serves = false;
    break;
  case DL_RUN_requests:
    follows = !isnan(r->duration_s) && r->request_rate > 0;
    serves = !serves;
    break;
  case DL_RUN_epochs:
    follows = !isnan(r->tokens) || dl_lasts_so_long(job);
    break;
  default:
    follows = dl_run_set_has(given, DL_RUN_dataset);
  }
  return !follows && !serves && !dl_run_set_has(given, id) &&
         !dl_is_assumed(job->row, id) && !isnan(dl_run_number(r, id));
}

static void add_assumed(struct dl_assumed_texts *t, const struct dl_run *r,
                        enum dl_run_id id) {
  const struct dl_run_column *c = &dl_run_columns[id];
  char number[DL_NUMBER_SIZE];
  snprintf(t->text[t->n], sizeof t->text[t->n], "%s=%s", c->name,
           c->is_text ? dl_run_text(r, id)
                      : dl_format_short(number, dl_run_number(r, id)));
  t->s[t->n] = t->text[t->n];
  t->n++;
}

static struct dl_value get_assumed(const struct figures *f) {
  static const enum dl_run_id sizes[] = {DL_RUN_train_samples,
                                         DL_RUN_val_samples, DL_RUN_epochs,
                                         DL_RUN_batch_size, DL_RUN_requests};
  const struct dl_job *job = f->v->job;
  struct dl_assumed_texts *t = f->texts;
  t->n = 0;
  for (size_t i = 0; i < DL_LENGTH(sizes); i++)
    if (is_default(job, sizes[i]))
      add_assumed(t, job->run, sizes[i]);
  for (size_t i = 0; i < DL_N_RUN_MEMBERS && t->n < DL_MOST_ASSUMED_TEXTS; i++)
    if (dl_is_assumed(job->row, (enum dl_run_id)i))
      add_assumed(t, job->run, (enum dl_run_id)i);
  return dl_strings(t->s, t->n);
}

#define ENERGY DL_COLUMNS_OF_ENERGY
#define ESTIMATE DL_COLUMNS_OF_ESTIMATE
#define ROWS DL_COLUMNS_OF_ROWS

static const struct result_column all_columns[] = {
    {{"method", "method", NULL, DL_CODE, DL_MAIN},
     ENERGY,
     MAIN_IF_ALL,
     get_method},
    {{"boundary", "boundary", NULL, DL_CODE, DL_SPARE},
     ENERGY,
     SHOWN,
     get_boundary},
    {{"energy_j", "energy", "J", DL_KWH, DL_MAIN}, ENERGY, SHOWN, get_energy_j},
    {{"low_j", "interval", "J", DL_KWH, DL_RANGE | DL_MAIN},
     ENERGY,
     SHOWN,
     get_low_j},
    {{"high_j", "", "J", DL_KWH, 0}, ENERGY, SHOWN, get_high_j},
    {{.key = "coverage"}, ENERGY, SHOWN, get_coverage},
    {{.key = "energy_kwh"}, ENERGY, SHOWN, get_energy_kwh},
    {{"power_w", "power", "W", DL_WATTS, 0}, ENERGY, SHOWN, get_power_w},
    {{"duration_s", "time", "s", DL_TIME, 0},
     ENERGY,
     MAIN_IN_ROWS,
     get_duration_s},
    {{"duration_from", "time from", NULL, DL_CODE, DL_SPARE},
     ENERGY,
     SHOWN,
     get_duration_from},
    {{"facility_energy_j", "facility", "J", DL_KWH, 0},
     ENERGY,
     IF_PUE,
     get_facility_energy_j},
    {{"co2e_g", "emissions", "g CO2e", DL_MASS, 0},
     ENERGY,
     IF_INTENSITY,
     get_co2e_g},
    {{"cost", "cost", NULL, DL_PLAIN, 0}, ENERGY, IF_PRICE, get_cost},
    {{"water_l", "water", "L", DL_PLAIN, 0}, ENERGY, IF_WUE, get_water},
    {{.key = "interval_from"}, ENERGY, SHOWN, get_interval_from},
    {{.key = "interval_groups"}, ENERGY, SHOWN, get_interval_groups},
    {{.key = "model"}, ENERGY, SHOWN, get_model},
    {{.key = "extrapolates"}, ENERGY, SHOWN, get_extrapolates},
    {{.key = "samples_per_s"}, ESTIMATE, SHOWN, get_samples_per_s},
    {{.key = "tokens_per_s"}, ESTIMATE, SHOWN, get_tokens_per_s},
    {{.key = "mfu"}, ESTIMATE, SHOWN, get_mfu},
    {{"precision_used", "precision", NULL, DL_CODE, DL_SPARE},
     ESTIMATE,
     IF_ROWS,
     get_precision},
    {{.key = "busy_share"}, ESTIMATE, SHOWN, get_busy_share},
    {{.key = "power_low_w"}, ESTIMATE, SHOWN, get_power_low_w},
    {{.key = "power_high_w"}, ESTIMATE, SHOWN, get_power_high_w},
    {{.key = "duration_low_s"}, ESTIMATE, SHOWN, get_duration_low_s},
    {{.key = "duration_high_s"}, ESTIMATE, SHOWN, get_duration_high_s},
    {{"recommended", "recommended", NULL, DL_CODE, DL_SPARE},
     ROWS,
     IF_ALL,
     get_recommended},
    {{"intensity_g_kwh", "intensity", "g/kWh", DL_PLAIN, 0},
     ROWS,
     IF_INTENSITY,
     get_intensity},
    {{.key = "intensity_of"}, ROWS, SHOWN, get_intensity_of},
    {{"pue", "PUE", NULL, DL_PLAIN, 0}, ROWS, IF_PUE, get_pue},
    {{.key = "pue_of"}, ROWS, SHOWN, get_pue_of},
    {{.key = "price_per_kwh"}, ROWS, SHOWN, get_price},
    {{.key = "currency"}, ROWS, SHOWN, get_currency},
    {{"memory_need_gb", "memory", "GB", DL_PLAIN, DL_SPARE},
     ROWS,
     SHOWN,
     get_memory},
    {{.key = "memory_need_low_gb"}, ROWS, SHOWN, get_memory_low},
    {{.key = "memory_need_high_gb"}, ROWS, SHOWN, get_memory_high},
    {{.key = "assumed"}, ROWS, SHOWN, get_assumed}};
_Static_assert(DL_LENGTH(all_columns) <= DL_MOST_RESULT_COLUMNS,
               "room for all columns");

/* Adapts a column to what is known and to the kind of table. */
static void adapt(struct dl_column *c, enum layout layout, bool rows, bool all,
                  const struct dl_footprint *foot) {
  bool shown = true;
  switch (layout) {
  case IF_PUE:
    shown = !isnan(foot->pue.x);
    break;
  case IF_INTENSITY:
    shown = !isnan(foot->intensity.x);
    break;
  case IF_PRICE:
    shown = !isnan(foot->price);
    c->unit = shown ? foot->currency : NULL;
    break;
  case IF_WUE:
    shown = !isnan(foot->wue);
    break;
  case IF_ROWS:
    shown = rows;
    break;
  case IF_ALL:
    shown = all;
    break;
  case MAIN_IF_ALL:
    c->use = rows && !all ? 0 : DL_MAIN;
    break;
  case MAIN_IN_ROWS:
    c->use = rows ? DL_MAIN : 0;
    break;
  case SHOWN:
    break;
  }
  if (!shown)
    c->heading = NULL;
}

size_t dl_result_columns(struct dl_column to[DL_MOST_RESULT_COLUMNS],
                         enum dl_result_columns which,
                         const struct dl_footprint *foot, bool all) {
  size_t n = 0;
  for (size_t i = 0; i < DL_LENGTH(all_columns); i++) {
    if (all_columns[i].which > which)
      continue;
    to[n] = all_columns[i].column;
    adapt(&to[n++], all_columns[i].layout, which == ROWS, all, foot);
  }
  return n;
}

void dl_result_values(struct dl_value *to, enum dl_result_columns which,
                      const struct dl_result_view *v,
                      struct dl_assumed_texts *texts) {
  const struct figures f = {.v = v,
                            .e = v->est,
                            .costs =
                                dl_footprint_costs(v->foot, v->est->energy_j.x),
                            .has_energy = !isnan(v->est->energy_j.x),
                            .texts = texts};
  for (size_t i = 0; i < DL_LENGTH(all_columns); i++)
    if (all_columns[i].which <= which)
      *to++ = all_columns[i].get(&f);
}

bool dl_is_result_column(const char *key) {
  for (size_t i = 0; i < DL_LENGTH(all_columns); i++)
    if (strcmp(all_columns[i].column.key, key) == 0)
      return true;
  return false;
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
