/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows and sums of jobs for dlest report. */

#include "cli/views/report_rows.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"

/* The columns that emissions, cost and the facility have in both tables. */
enum {
  FACILITY,
  EMISSIONS,
  COST,
  WATER,
  N_OF_SITE
}; /* facility: the total's */
static const struct dl_column of_site[N_OF_SITE] = {
    {"facility_energy_j", NULL, "J", DL_ENERGY, false},
    {"co2e_g", NULL, "g CO2e", DL_MASS, false},
    {"cost", NULL, NULL, DL_PLAIN, false},
    {"water_l", NULL, "L", DL_PLAIN, false},
};

static void site_headings(struct dl_column *c,
                          const struct dl_footprint *foot) {
  for (size_t i = 0; i < N_OF_SITE; i++)
    c[i] = of_site[i];
  if (!isnan(foot->intensity.x))
    c[EMISSIONS].heading = "emissions";
  if (!isnan(foot->price)) {
    c[COST].heading = "cost";
    c[COST].unit = foot->currency;
  }
  if (!isnan(foot->wue))
    c[WATER].heading = "water";
}

static void site_values(struct dl_value *v, const struct dl_footprint *foot,
                        double energy_j) {
  const struct dl_costs costs = dl_footprint_costs(foot, energy_j);
  v[FACILITY] = dl_number(costs.facility_j);
  v[EMISSIONS] = dl_number(costs.co2e_g);
  v[COST] = dl_number(costs.price);
  v[WATER] = dl_number(costs.water_l);
}

struct dl_footprint dl_job_footprint(const struct dl_footprint *foot,
                                     double g_kwh) {
  struct dl_footprint own = *foot;
  if (foot->hours)
    own.intensity.x = g_kwh;
  return own;
}

struct dl_footprint dl_sums_footprint(const struct dl_footprint *foot,
                                      const struct dl_sums *s) {
  return dl_job_footprint(foot, s->emitting_j / dl_sums_energy(s));
}

/* --- jobs */

static const struct dl_column job_columns[DL_JOB_COLUMNS - N_OF_SITE] = {
    {"run_id", "job", NULL, DL_CODE, DL_MAIN},
    {"job_name", "name", NULL, DL_CODE, false},
    {"user", "user", NULL, DL_CODE, false},
    {"account", NULL, NULL, DL_CODE, false},
    {"partition", NULL, NULL, DL_CODE, false},
    {"state", "state", NULL, DL_CODE, DL_SPARE},
    {"start_time", "began", NULL, DL_CODE, DL_SPARE},
    {"duration_s", "time", "s", DL_TIME, false},
    {"n_nodes", NULL, NULL, DL_CODE, false},
    {"n_cpus", NULL, NULL, DL_CODE, false},
    {"ram_gb", NULL, "GB", DL_PLAIN, false},
    {"gpu", NULL, NULL, DL_CODE, false},
    {"n_gpus", "GPUs", NULL, DL_CODE, false},
    {"gpu_util", NULL, NULL, DL_PERCENT, false},
    {"idle_gpu_share", "idle GPUs", NULL, DL_PERCENT, false},
    {"energy_j", "energy", "J", DL_KWH, DL_MAIN},
    {"energy_kwh", NULL, NULL, DL_PLAIN, false},
    {"energy_from", "energy from", NULL, DL_CODE, false},
    {"boundary", "boundary", NULL, DL_CODE, false},
    {"low_j", NULL, "J", DL_ENERGY, false},
    {"high_j", NULL, "J", DL_ENERGY, false}};

void dl_job_headings(struct dl_column columns[DL_JOB_COLUMNS],
                     const struct dl_footprint *foot) {
  size_t n = sizeof job_columns / sizeof *job_columns;
  for (size_t i = 0; i < n; i++)
    columns[i] = job_columns[i];
  site_headings(columns + n, foot);
}

void dl_job_values(const struct dl_cluster_job *job,
                   const struct dl_accounted *figures,
                   const struct dl_footprint *foot,
                   struct dl_value v[DL_JOB_COLUMNS]) {
  size_t i = 0;
  v[i++] = dl_string(job->run_id);
  v[i++] = dl_string(job->job_name);
  v[i++] = dl_string(job->user);
  v[i++] = dl_string(job->project);
  v[i++] = dl_string(job->partition);
  v[i++] = dl_string(job->state);
  v[i++] = dl_string(job->start_time);
  v[i++] = dl_number(figures->duration_s);
  v[i++] = dl_number(job->n_nodes);
  v[i++] = dl_number(job->n_cpus);
  v[i++] = dl_number(job->ram_gb);
  v[i++] = dl_string(job->gpu);
  v[i++] = dl_number(job->n_gpus);
  v[i++] = dl_number(job->gpu_util);
  v[i++] = dl_number(figures->idle_gpu_s / figures->gpu_s);
  v[i++] = dl_number(figures->energy_j);
  v[i++] = dl_number(figures->energy_j / DL_J_PER_KWH);
  v[i++] = dl_string(dl_energy_from_name(figures->from));
  v[i++] = dl_string(figures->boundary);
  v[i++] = dl_number(figures->low_j);
  v[i++] = dl_number(figures->high_j);
  const struct dl_footprint own = dl_job_footprint(foot, figures->g_kwh);
  site_values(v + i, &own, figures->energy_j);
}

/* --- groups */

enum { GROUP_COLUMNS = DL_N_KEYS + 14 + N_OF_SITE };

static const struct dl_column key_columns[DL_N_KEYS] = {
    {"user", "user", NULL, DL_CODE, DL_MAIN},
    {"account", "account", NULL, DL_CODE, DL_MAIN},
    {"partition", "partition", NULL, DL_CODE, DL_MAIN},
    {"state", "state", NULL, DL_CODE, DL_MAIN},
    {"gpu", "GPU", NULL, DL_CODE, DL_MAIN},
    {"month", "month", NULL, DL_CODE, DL_MAIN}};

static const struct dl_column sum_columns[] = {
    {"jobs", "jobs", NULL, DL_CODE, false},
    {"unknown_jobs", NULL, NULL, DL_CODE, false},
    {"duration_s", NULL, "s", DL_TIME, false},
    {"gpu_s", NULL, "s", DL_TIME, false},
    {"gpu_h", "GPU time", "h", DL_PLAIN, false},
    {"idle_gpu_share", "idle GPUs", NULL, DL_PERCENT, false},
    {"energy_j", "energy", "J", DL_KWH, DL_MAIN},
    {"energy_kwh", NULL, NULL, DL_PLAIN, false},
    {"measured_energy_j", NULL, "J", DL_ENERGY, false},
    {"measured_share", "measured", NULL, DL_PERCENT, false},
    {"cores_energy_j", NULL, "J", DL_ENERGY, false},
    {"cores_low_j", NULL, "J", DL_ENERGY, false},
    {"cores_high_j", NULL, "J", DL_ENERGY, false},
    {"boundary", "boundary", NULL, DL_CODE, false}};

static double measured_share(const struct dl_sums *s) {
  return s->energy_j > 0 ? s->measured_j / s->energy_j : NAN;
}

static void sum_values(const struct dl_sums *s, const struct dl_footprint *foot,
                       struct dl_value *v) {
  double energy = dl_sums_energy(s);
  size_t i = 0;
  v[i++] = dl_count(s->jobs);
  v[i++] = dl_count(s->unknown);
  v[i++] = dl_number(s->duration_s);
  v[i++] = dl_number(s->gpu_s);
  v[i++] = dl_number(s->gpu_s / DL_S_PER_HOUR);
  v[i++] = dl_number(dl_sums_idle(s));
  v[i++] = dl_number(energy);
  v[i++] = dl_number(energy / DL_J_PER_KWH);
  v[i++] = dl_number(s->measured_j);
  v[i++] = dl_number(measured_share(s));
  v[i++] = dl_number(s->cores_j);
  v[i++] = dl_number(s->cores_low_j);
  v[i++] = dl_number(s->cores_high_j);
  v[i++] = dl_string(s->boundary[0] ? s->boundary : NULL);
  const struct dl_footprint own = dl_sums_footprint(foot, s);
  site_values(v + i, &own, energy);
}

static const char *title_of(const bool keys[DL_N_KEYS]) {
  static const char *const titles[DL_N_KEYS] = {"By user",      "By account",
                                                "By partition", "By state",
                                                "By GPU",       "By month"};
  const char *title = NULL;
  for (size_t k = 0; k < DL_N_KEYS; k++)
    if (keys[k])
      title = title ? "" : titles[k];
  return title && title[0] ? title : "Groups";
}

/* The energy of groups, by their other keys and by month; without several
 * months, or without other keys, it has one row of each group. */
struct pivot {
  struct dl_intern names, months; /* months of NULL: "" */
  const char **heading;           /* of months; borrowed from the groups */
  double *energy_j;               /* names x months; NaN: no jobs */
};

static void free_pivot(struct pivot *p) {
  dl_intern_free(&p->names);
  dl_intern_free(&p->months);
  free(p->heading);
  free(p->energy_j);
}

/* The name of the i-th group by its keys, but for the month where there are
 * others. */
static const struct dl_sums *name_of(struct dl_text *name, const char **month,
                                     const struct dl_group_totals *t, size_t i,
                                     const bool keys[DL_N_KEYS]) {
  const char *key[DL_N_KEYS];
  const struct dl_sums *s = dl_group_totals_at(t, i, key);
  dl_text_clear(name);
  for (size_t k = 0; k < DL_N_KEYS; k++)
    if (keys[k] && k != DL_KEY_MONTH)
      dl_text_printf(name, "%s%s", name->len > 0 ? ", " : "",
                     dl_text_or(key[k], "-"));
  *month = keys[DL_KEY_MONTH] && key[DL_KEY_MONTH] ? key[DL_KEY_MONTH] : "";
  if (name->len == 0)
    dl_text_add(name, **month ? *month : "-");
  return s;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void make_pivot(struct pivot *p, const struct dl_group_totals *t,
                       const bool keys[DL_N_KEYS]) {
  const char *month;
  DL_TEXT(name);
  const size_t n = dl_group_totals_n(t);
  p->heading = dl_calloc(n, sizeof *p->heading);
  for (size_t i = 0; i < n; i++) {
    name_of(&name, &month, t, i, keys);
    dl_intern(&p->names, dl_text_str(&name));
    if (dl_intern_find(&p->months, month) < 0)
      p->heading[dl_intern(&p->months, month)] = month;
  }
  const size_t months = p->months.n;
  qsort(p->heading, months, sizeof *p->heading, by_text);
  dl_intern_free(&p->months);
  p->months = (struct dl_intern){0};
  for (size_t i = 0; i < months; i++)
    dl_intern(&p->months, p->heading[i]);
  p->energy_j = dl_calloc(p->names.n * p->months.n, sizeof *p->energy_j);
  for (size_t i = 0; i < p->names.n * p->months.n; i++)
    p->energy_j[i] = NAN;
  for (size_t i = 0; i < n; i++) {
    const struct dl_sums *s = name_of(&name, &month, t, i, keys);
    size_t row = (size_t)dl_intern_find(&p->names, dl_text_str(&name));
    size_t column = (size_t)dl_intern_find(&p->months, month);
    p->energy_j[row * p->months.n + column] = dl_sums_energy(s);
  }
}

static double row_sum(const struct pivot *p, size_t row) {
  double sum = NAN;
  for (size_t m = 0; m < p->months.n; m++) {
    const double x = p->energy_j[row * p->months.n + m];
    sum = isnan(sum) ? x : sum + dl_or(x, 0);
  }
  return sum;
}

void dl_report_add_period(struct dl_text *t, const struct dl_group_totals *of,
                          const char months[2][DL_MONTH_SIZE]) {
  const char *first = months[0][0] ? months[0] : NULL, *last = months[1];
  for (size_t i = 0; of && i < dl_group_totals_n(of); i++) {
    const char *key[DL_N_KEYS], *month;
    dl_group_totals_at(of, i, key);
    month = key[DL_KEY_MONTH];
    if (month && (!first || strcmp(month, first) < 0))
      first = month;
    if (month && (!last[0] || strcmp(month, last) > 0))
      last = month;
  }
  if (first)
    dl_text_printf(t, ", %s", first);
  if (first && strcmp(first, last) != 0)
    dl_text_printf(t, " to %s", last);
}

/* A bar for each name, of all its months. */
static void add_chart(struct dl_report *r, const struct pivot *p) {
  struct dl_table *chart = dl_report_chart(r, "Energy", DL_KWH, "J");
  for (size_t i = 0; i < p->names.n; i++)
    dl_chart_bar(chart, p->names.s[i], row_sum(p, i), NAN, NAN);
}

/* A table on pages: names down, months across, and their sums. */
static void add_pivot(struct dl_report *r, const struct pivot *p) {
  const size_t n = p->months.n + 2;
  DL_FREED struct dl_column *columns = dl_calloc(n, sizeof *columns);
  DL_FREED struct dl_value *v = dl_calloc(n, sizeof *v);
  columns[0] = (struct dl_column){NULL, "", NULL, DL_CODE, DL_MAIN};
  columns[n - 1] = (struct dl_column){NULL, "all", "J", DL_KWH, DL_MAIN};
  for (size_t m = 0; m < p->months.n; m++)
    columns[m + 1] = (struct dl_column){NULL, p->heading[m], "J", DL_KWH, 0};
  struct dl_table *t =
      dl_report_table(r, NULL, "Energy by month", columns, n, false);
  for (size_t i = 0; i < p->names.n; i++) {
    v[0] = dl_string(p->names.s[i]);
    for (size_t m = 0; m < p->months.n; m++)
      v[m + 1] = dl_number(p->energy_j[i * p->months.n + m]);
    v[n - 1] = dl_number(row_sum(p, i));
    dl_table_row(t, v, NULL);
  }
}

/* The first `most` groups. */
static void group_rows(struct dl_table *table, const struct dl_group_totals *t,
                       const struct dl_footprint *foot, size_t most) {
  for (size_t i = 0; i < most; i++) {
    const char *key[DL_N_KEYS];
    struct dl_value v[GROUP_COLUMNS];
    const struct dl_sums *s = dl_group_totals_at(t, i, key);
    for (size_t k = 0; k < DL_N_KEYS; k++)
      v[k] = dl_string(key[k]);
    sum_values(s, foot, v + DL_N_KEYS);
    dl_table_row(table, v, NULL);
  }
}

void dl_report_groups(struct dl_report *r, const struct dl_group_totals *t,
                      const bool keys[DL_N_KEYS],
                      const struct dl_footprint *foot, size_t most, bool main) {
  struct dl_column columns[GROUP_COLUMNS];
  size_t n = DL_N_KEYS, groups = dl_group_totals_n(t);
  const bool shown = most > 0, all = most == SIZE_MAX;
  if (most > groups || keys[DL_KEY_MONTH])
    most = groups;
  for (size_t k = 0; k < DL_N_KEYS; k++) {
    columns[k] = key_columns[k];
    if (!keys[k])
      columns[k].heading = NULL;
  }
  for (size_t i = 0; i < sizeof sum_columns / sizeof *sum_columns; i++)
    columns[n++] = sum_columns[i];
  site_headings(columns + n, foot);
  DL_SCOPED(free_pivot) struct pivot p = {0};
  make_pivot(&p, t, keys);
  if (shown)
    add_chart(r, &p);
  if (all && p.months.n > 1 && p.names.n < groups)
    add_pivot(r, &p);
  if (shown)
    group_rows(
        dl_report_table(r, NULL, title_of(keys), columns, GROUP_COLUMNS, false),
        t, foot, most);
  for (size_t i = 0; i < GROUP_COLUMNS; i++)
    columns[i].heading = NULL;
  group_rows(dl_report_table(r, "groups", NULL, columns, GROUP_COLUMNS, main),
             t, foot, groups);
  if (shown && most < groups)
    dl_report_say(r, "and %zu more", groups - most);
}

/* --- all of it */

static void add_count(struct dl_report *r, const char *key, const char *label,
                      size_t n) {
  dl_report_add(r, key, n > 0 ? label : NULL, NULL, DL_CODE, dl_count(n));
}

void dl_report_total(struct dl_report *r, const struct dl_sums *s,
                     const struct dl_footprint *foot) {
  struct dl_report *g = dl_report_group(r, "total", "Total");
  double energy = dl_sums_energy(s), known = s->known_gpu_s / s->gpu_s;
  const struct dl_footprint own = dl_sums_footprint(foot, s);
  const struct dl_costs costs = dl_footprint_costs(&own, energy);
  dl_report_add(g, "jobs", "jobs", NULL, DL_CODE, dl_count(s->jobs));
  add_count(g, "measured_jobs", "with measured energy", s->measured);
  add_count(g, "estimated_jobs", "with estimated energy", s->estimated);
  add_count(g, "unknown_jobs", "without energy", s->unknown);
  add_count(g, "unknown_mig_jobs", "of them on slices of GPUs (MIG)",
            s->unknown_mig);
  add_count(g, "unknown_cpu_jobs", "of them without GPUs", s->unknown_cpu);
  add_count(g, "failed_jobs", "failed or cancelled", s->failed);
  DL_LINES(
      g, {"duration_s", "time of jobs", "s", DL_TIME, dl_number(s->duration_s)},
      {"gpu_s", NULL, "s", DL_TIME, dl_known(s->gpu_s)},
      {"gpu_h", s->gpu_s > 0 ? "GPU time" : NULL, "h", DL_PLAIN,
       dl_known(s->gpu_s / DL_S_PER_HOUR)},
      {"gpu_share_with_utilization", known < 1 ? "GPU utilization known" : NULL,
       NULL, DL_PERCENT, dl_known(known)},
      {"idle_gpu_share", "of that idle", NULL, DL_PERCENT,
       dl_known(dl_sums_idle(s))},
      {"energy_j", "energy", "J", DL_KWH, dl_known(energy)},
      {"energy_kwh", NULL, NULL, DL_PLAIN, dl_known(energy / DL_J_PER_KWH)},
      {"measured_energy_j", NULL, "J", DL_ENERGY, dl_known(s->measured_j)},
      {"measured_share", "of it measured", NULL, DL_PERCENT,
       dl_known(measured_share(s))},
      {"cores_energy_j", s->cores_j > 0 ? "of it by cores" : NULL, "J", DL_KWH,
       dl_known(s->cores_j)},
      {"cores_low_j", NULL, "J", DL_ENERGY, dl_known(s->cores_low_j)},
      {"cores_high_j", NULL, "J", DL_ENERGY, dl_known(s->cores_high_j)},
      {"failed_energy_j", s->failed > 0 ? "of failed and cancelled jobs" : NULL,
       "J", DL_KWH, dl_known(s->failed_j)},
      {"boundary", s->boundary[0] ? "boundary" : NULL, NULL, DL_CODE,
       dl_string(s->boundary[0] ? s->boundary : NULL)},
      {"facility_energy_j", "energy of the facility", "J", DL_KWH,
       dl_known(costs.facility_j)},
      {"co2e_g", "emissions", "g CO2e", DL_MASS, dl_known(costs.co2e_g)},
      {"cost", "cost", foot->currency, DL_PLAIN, dl_known(costs.price)},
      {"water_l", "water", "L", DL_PLAIN, dl_known(costs.water_l)});
}

/* The place of a power's kind by its name: node, GPU, core, RAM. */
static size_t kind_place(const char *name) {
  const char first = *name && strchr("ti", *name) ? 'g' : *name;
  return strcspn("ngcr", (char[]){first, '\0'});
}

/* Sorts powers by kind (nodes, GPUs, cores, memory), then by their owners. */
static int by_kind(const struct dl_constant *a, const struct dl_constant *b) {
  size_t x = kind_place(a->name), y = kind_place(b->name);
  int c = x == y ? strcmp(dl_text_or(a->of, ""), dl_text_or(b->of, "")) : 0;
  if (c != 0 || x != y)
    return c != 0 ? c : (x > y) - (x < y);
  return strcmp(b->name, a->name); /* tdp_w before idle_w */
}

static void constant_row(struct dl_table *t, const struct dl_constant *c) {
  double year;
  if (!c->year || !dl_parse_double(c->year, &year))
    year = NAN;
  DL_ROW(t, NULL, dl_string(c->name), dl_number(c->x), dl_string(c->unit),
         dl_string(c->of && c->of[0] ? c->of : NULL), dl_number(year),
         dl_string(c->source));
}

void dl_report_constants(struct dl_report *r, const struct dl_accounting *a) {
  static const struct dl_column columns[] = {
      {"name", "figure", NULL, DL_CODE, false},
      {"value", "value", NULL, DL_CODE, false},
      {"unit", "unit", NULL, DL_CODE, false},
      {"of", "of", NULL, DL_CODE, false},
      {"year", "year", NULL, DL_CODE, false},
      {"source", "source", NULL, DL_CODE, false}};
  size_t n;
  DL_FREED struct dl_constant *c = dl_accounting_constants(a, &n);
  struct dl_column shown[DL_LENGTH(columns)];
  for (size_t i = 0; i < DL_LENGTH(columns); i++) {
    shown[i] = columns[i];
    if (n == 0)
      shown[i].heading = NULL;
  }
  struct dl_table *t =
      DL_TABLE(r, "constants", "Figures behind the estimates", shown, false);
  for (size_t i = 0; i < n; i++) { /* equal ones stay in their order */
    const struct dl_constant next = c[i];
    size_t at = i;
    for (; at > 0 && by_kind(&c[at - 1], &next) > 0; at--)
      c[at] = c[at - 1];
    c[at] = next;
  }
  for (size_t i = 0; i < n; i++)
    constant_row(t, &c[i]);
}
