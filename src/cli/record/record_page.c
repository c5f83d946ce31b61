/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record/record_page.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/file.h"
#include "base/memory.h"
#include "catalog/datadir.h"
#include "cli/record/record_report.h"
#include "output/render.h"

enum { MOST_BYTES = 1 << 20 };

static void add_point(struct dl_page_state *x, double time_s, double total_j) {
  const size_t half = DL_PAGE_POINTS / 2;
  if (x->n > 1 && time_s - x->time_s[x->n - 2] < x->apart_s)
    x->n--;
  if (x->n == DL_PAGE_POINTS) {
    for (size_t i = 1; i < half; i++) {
      x->time_s[i] = x->time_s[2 * i];
      x->total_j[i] = x->total_j[2 * i];
    }
    x->n = half;
    x->apart_s = 2 * x->time_s[half - 1] / (double)(half - 1);
  }
  x->time_s[x->n] = time_s;
  x->total_j[x->n++] = total_j;
}

void dl_record_page_push(struct dl_record_page *p,
                         const struct dl_record_result *so_far) {
  struct dl_page_state *x = &p->next;
  const struct dl_sensors *s = p->sensors;
  add_point(x, so_far->duration_s, so_far->energy_j);
  x->duration_s = so_far->duration_s;
  x->energy_j = so_far->energy_j;
  x->power_w = so_far->power_w;
  x->assumed_j = so_far->assumed_j;
  x->n_epochs = so_far->n_epochs;
  x->n_samples = so_far->n_samples;
  x->whole = p->live->whole;
  x->n_whole = p->live->n_whole;
  x->n_seen = p->live->n_seen;
  if (pthread_mutex_trylock(&p->lock) != 0)
    return;
  p->now = *x;
  for (size_t i = 0; i < s->n; i++)
    p->copy[i] = s->s[i];
  pthread_mutex_unlock(&p->lock);
}

/* --- reports, with the keys of the summary */

static void add_devices(struct dl_report *r, const struct dl_sensors *s,
                        double seconds) {
  static const struct dl_column columns[] = {
      {"part", NULL, NULL, DL_CODE, false},
      {"device", NULL, NULL, DL_CODE, false},
      {"id", NULL, NULL, DL_CODE, false},
      {"energy_j", NULL, NULL, DL_ENERGY, false},
      {"power_now_w", NULL, NULL, DL_WATTS, false},
      {"power_w", NULL, NULL, DL_WATTS, false},
      {"gpu_util", NULL, NULL, DL_PERCENT, false},
      {"memory_gb", NULL, NULL, DL_PLAIN, false},
      {"clock_mhz", NULL, NULL, DL_PLAIN, false},
      {"assumed", NULL, NULL, DL_CODE, false},
  };
  struct dl_table *t = DL_TABLE(r, "devices", NULL, columns, false);
  DL_TEXT(name);
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_sensor *x = &s->s[i];
    DL_ROW(t, NULL, dl_string(dl_sensor_part(x)), dl_sensor_title(s, x, &name),
           dl_string(x->id), dl_number(x->used_j), dl_number(x->last_w),
           dl_number(x->used_j / seconds), dl_number(x->util),
           dl_number(x->memory_b * 1e-9), dl_number(x->clock_hz * 1e-6),
           dl_bool(x->assumed));
  }
}

static void add_whole(struct dl_report *r, const struct dl_page_state *x,
                      const struct dl_footprint *foot) {
  const struct dl_projection *w = &x->whole;
  if (x->n_whole == 0)
    return;
  struct dl_report *g = dl_report_group(r, "whole", NULL);
  struct dl_costs costs = dl_footprint_costs(foot, w->energy_j);
  DL_LINES(g, {.key = "epochs_seen", .value = dl_count(x->n_seen)},
           {.key = "epochs", .value = dl_number(x->n_whole)},
           {.key = "energy_j", .value = dl_known(w->energy_j)},
           {.key = "low_j", .value = dl_known(w->low_j)},
           {.key = "high_j", .value = dl_known(w->high_j)},
           {.key = "duration_s", .value = dl_known(w->duration_s)},
           {.key = "left_s",
            .value = dl_known(fmax(0, w->duration_s - x->duration_s))},
           {.key = "co2e_g", .value = dl_known(costs.co2e_g)},
           {.key = "cost", .value = dl_known(costs.price)});
}

static void add_trace(struct dl_report *r, const struct dl_page_state *x) {
  static const struct dl_column columns[] = {
      {"time_s", NULL, NULL, DL_TIME, false},
      {"power_w", NULL, NULL, DL_WATTS, false}};
  struct dl_table *t = DL_TABLE(r, "trace", NULL, columns, false);
  for (size_t i = 1; i < x->n; i++)
    DL_ROW(t, NULL, dl_number(x->time_s[i]),
           dl_number((x->total_j[i] - x->total_j[i - 1]) /
                     (x->time_s[i] - x->time_s[i - 1])));
}

/* Makes the report of a moment; the server's thread alone does so. */
static struct dl_report *make_report(struct dl_record_page *p, bool trace) {
  const struct dl_footprint *foot = &p->live->step.foot;
  const size_t n = p->sensors->n;
  DL_FREED struct dl_sensor *copy = dl_calloc(n + 1, sizeof *copy);
  const struct dl_sensors s = {.s = copy, .n = n};
  struct dl_page_state x;
  pthread_mutex_lock(&p->lock);
  x = p->now;
  memcpy(copy, p->copy, n * sizeof *copy);
  pthread_mutex_unlock(&p->lock);
  struct dl_report *r = dl_report_new();
  const double seconds = x.n_samples > 1 ? x.duration_s : NAN;
  const bool measured = dl_sensors_measure(p->sensors);
  const double joules = x.n_samples > 1 && measured ? x.energy_j : NAN;
  const struct dl_costs costs = dl_footprint_costs(foot, joules);
  DL_LINES(
      r, {.key = "program", .value = dl_known_string(p->program)},
      {.key = "host",
       .value = dl_known_string(*p->job->host ? p->job->host : NULL)},
      {.key = "job", .value = dl_known_string(*p->job->id ? p->job->id : NULL)},
      {.key = "arch", .value = dl_known_string(p->arch)},
      {.key = "energy_j", .value = dl_number(joules)},
      {.key = "energy_kwh", .value = dl_number(joules / DL_J_PER_KWH)},
      {.key = "assumed_energy_j", .value = dl_known(x.assumed_j)},
      {.key = "facility_energy_j", .value = dl_known(costs.facility_j)},
      {.key = "co2e_g", .value = dl_known(costs.co2e_g)},
      {.key = "cost", .value = dl_known(costs.price)},
      {.key = "currency", .value = dl_known_string(foot->currency)},
      {.key = "duration_s", .value = dl_number(seconds)},
      {.key = "power_now_w", .value = dl_number(measured ? x.power_w : NAN)},
      {.key = "power_w", .value = dl_number(joules / seconds)},
      {.key = "epochs", .value = dl_count(x.n_epochs)},
      {.key = "samples", .value = dl_count(x.n_samples)});
  add_whole(r, &x, foot);
  add_devices(r, &s, seconds);
  if (!measured)
    x.n = 0;
  if (trace)
    add_trace(r, &x);
  return r;
}

static void write_report(struct dl_record_page *p, const char *format,
                         bool trace, struct dl_text *body) {
  DL_SCOPED(dl_report_free_local)
  struct dl_report *r = make_report(p, trace);
  DL_SCOPED(dl_diag_free) struct dl_diag unsaid = {0};
  DL_FREED char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  if (!f)
    return;
  dl_format_report(dl_format_find(format), r, f, NULL, &unsaid);
  fclose(f);
  dl_text_add_n(body, text, n);
}

static void write_json(void *page, struct dl_text *body) {
  write_report(page, "json", true, body);
}

static void write_metrics(void *page, struct dl_text *body) {
  write_report(page, "prometheus", false, body);
}

static void write_html(void *page, struct dl_text *body) {
  const struct dl_record_page *p = page;
  dl_text_add(body, p->html);
}

const struct dl_http_page dl_record_pages[] = {
    {"/", "text/html; charset=utf-8", write_html},
    {"/state.json", "application/json", write_json},
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", write_metrics},
    {0},
};

enum dl_status dl_record_page_open(struct dl_record_page *p,
                                   struct dl_diag *d) {
  DL_TEXT(path);
  size_t n;
  DL_TRY(dl_shipped_path("data/live.html", &path, d));
  DL_TRY(dl_read_file(dl_text_str(&path), MOST_BYTES, &p->html, &n, d));
  p->copy = dl_calloc(p->sensors->n + 1, sizeof *p->copy);
  pthread_mutex_init(&p->lock, NULL);
  return DL_OK;
}

void dl_record_page_close(struct dl_record_page *p) {
  if (!p->html)
    return;
  pthread_mutex_destroy(&p->lock);
  free(p->html);
  free(p->copy);
}
