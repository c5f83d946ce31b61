/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/step_report.h"

#include <math.h>
#include <stdio.h>

#include "cli/views/estimate_rows.h"
#include "output/units.h"

static const char *verdict_name(enum dl_projection_verdict v) {
  return v == DL_PROJECTION_STABLE     ? "stable"
         : v == DL_PROJECTION_DRIFTING ? "drifting"
                                       : "not yet stable";
}

static double so_far_s(const struct dl_epoch_series *s) {
  double sum = s->head_s + s->open_s;
  for (size_t i = 0; i < s->n; i++)
    sum += s->duration_s[i];
  return sum;
}

static double so_far_j(const struct dl_epoch_series *s) {
  double sum = s->head_j + s->open_j;
  for (size_t i = 0; i < s->n; i++)
    sum += s->energy_j[i];
  return sum;
}

static void add_seen(struct dl_report *r, const struct dl_step *s) {
  const struct dl_epoch_series *e = &s->seen;
  dl_report_add(r, "input", "trace", NULL, DL_CODE, dl_string(s->input));
  dl_report_add(r, "epochs_seen", "epochs seen", NULL, DL_CODE, dl_count(e->n));
  dl_report_add(r, "epochs_verdict", "their number", NULL, DL_CODE,
                dl_string(e->verdict[0] ? e->verdict : NULL));
  bool range = s->n_low < s->n_high;
  const struct dl_column low = {"epochs_low", range ? "epochs in all" : NULL,
                                NULL, DL_CODE, false};
  dl_report_range(
      r, &low, "epochs_high",
      (struct dl_value[2]){dl_number(s->n_low), dl_number(s->n_high)});
  if (!range)
    dl_report_add(r, NULL, "epochs in all", NULL, DL_CODE,
                  dl_number(s->n_high));
  dl_report_add(r, "boundary", "boundary", NULL, DL_CODE,
                dl_string(e->boundary[0] ? e->boundary : NULL));
  dl_report_add(r, "seen_duration_s", "time so far", "s", DL_TIME,
                dl_number(so_far_s(e)));
  dl_report_add(r, "seen_energy_j", "energy so far", "J", DL_ENERGY,
                dl_number(so_far_j(e)));
  if (!isnan(e->regime_s)) {
    dl_report_add(r, "regime_sample", "regime (FLUSS) at sample", NULL, DL_CODE,
                  dl_number(e->regime_sample));
    dl_report_add(r, "regime_cac", "its arc curve", NULL, DL_EXACT,
                  dl_number(e->regime_cac));
    dl_report_add(r, "regime_s", "that is", "s", DL_TIME,
                  dl_number(e->regime_s));
  }
  dl_report_add(r, "stable", "published methods from epoch", NULL, DL_CODE,
                dl_count(s->stable));
}

/* The verdict of the recommended projection, and what it is based on. */
static void add_verdict(struct dl_report *r, const struct dl_projection *p) {
  dl_report_add(r, "verdict", "verdict", NULL, DL_CODE,
                dl_string(verdict_name(p->verdict)));
  dl_report_add(r, "reason", p->reason ? "because" : NULL, NULL, DL_CODE,
                dl_string(p->reason));
  bool any = p->n_stable > 0 && !isnan(p->level_j);
  struct dl_report *g = dl_report_group(r, "evidence", any ? "Evidence" : NULL);
  dl_report_add(g, "stable_from", any ? "same regime since epoch" : NULL, NULL,
                DL_CODE, any ? dl_count(p->stable_from) : dl_number(NAN));
  dl_report_add(g, "n_stable", "epochs of it", NULL, DL_CODE,
                dl_count(p->n_stable));
  dl_report_add(g, "regimes", "regimes so far", NULL, DL_CODE,
                dl_count(p->n_regimes));
  dl_report_known(g, "last_change", "level by the one before", NULL, DL_PLAIN,
                  p->last_change);
  dl_report_known(g, "level_j", "level", "J/epoch", DL_ENERGY, p->level_j);
  dl_report_known(g, "level_share", "its standard error", NULL, DL_PERCENT,
                  p->level_share);
  dl_report_known(g, "scatter", "scatter of epochs", NULL, DL_PERCENT,
                  p->scatter);
  dl_report_known(g, "drift", "drift an epoch", NULL, DL_PERCENT, p->drift);
  dl_report_known(g, "drift_se", "its standard error", NULL, DL_PERCENT,
                  p->drift_se);
  dl_report_known(g, "outliers", "epochs far from the others", NULL, DL_PERCENT,
                  p->outliers);
}

size_t dl_step_best(const struct dl_step *s) {
  for (size_t i = 0; i < s->n; i++)
    if (s->by[i] == dl_projector_at(0))
      return i;
  return 0;
}

static struct dl_estimate estimate_of(const struct dl_step *s, size_t i) {
  const struct dl_projection *p = &s->p[i];
  return (struct dl_estimate){
      .method = s->by[i]->name,
      .boundary = s->seen.boundary[0] ? s->seen.boundary : NULL,
      .energy_j = p->energy_j,
      .low_j = p->low_j,
      .high_j = p->high_j,
      .power_w = p->energy_j / p->duration_s,
      .duration_s = p->duration_s,
      .duration_from = isnan(p->duration_s) ? NULL
                       : p->duration_given  ? "given"
                                            : "projected",
      .lacks = p->lacks};
}

static void add_estimates(struct dl_report *r, const struct dl_step *s) {
  size_t best = dl_step_best(s);
  bool any = s->n > 0 && !isnan(s->p[best].energy_j);
  dl_report_add(r, "recommended", NULL, NULL, DL_CODE,
                dl_string(any ? s->by[best]->name : NULL));
  struct dl_column columns[DL_ESTIMATE_COLUMNS];
  dl_estimate_headings(columns, &s->foot);
  struct dl_table *t = dl_report_table(r, "estimates", "The whole training",
                                       columns, DL_ESTIMATE_COLUMNS, true);
  for (size_t i = 0; i < s->n; i++) {
    struct dl_value v[DL_ESTIMATE_COLUMNS];
    struct dl_estimate e = estimate_of(s, i);
    dl_estimate_values(&e, &s->foot, s->coverage, v);
    dl_table_row(t, v, any && i == best && s->n > 1 ? "*" : NULL);
  }
}

static void add_notes(struct dl_report *r, const struct dl_step *s) {
  struct dl_text t = {0};
  for (size_t i = 0; i < s->n; i++) {
    if (!s->p[i].lacks)
      continue;
    dl_text_clear(&t);
    dl_text_printf(&t, "%s: %s.", s->by[i]->name, s->p[i].lacks);
    dl_report_say(r, dl_text_str(&t));
  }
  dl_text_clear(&t);
  dl_text_printf(&t, "Intervals cover %g %%. * what dlest would use.",
                 100 * s->coverage);
  if (s->n > 0 && !isnan(s->p[dl_step_best(s)].low_j))
    dl_report_say(r, dl_text_str(&t));
  dl_text_free(&t);
}

struct dl_report *dl_step_report(const struct dl_step *s) {
  struct dl_report *r = dl_report_new();
  if (!r)
    return NULL;
  add_seen(r, s);
  dl_add_footprint(r, &s->foot);
  if (s->n > 0)
    add_verdict(r, &s->p[dl_step_best(s)]);
  add_estimates(r, s);
  add_notes(r, s);
  dl_say_footprint(r, &s->foot);
  return r;
}

void dl_step_line(const struct dl_step *s, struct dl_text *t) {
  const struct dl_projection *p = &s->p[dl_step_best(s)];
  dl_text_printf(t, "%zu of %g epochs", s->seen.n, s->n_high);
  if (s->n == 0 || isnan(p->energy_j)) {
    dl_text_add(t, ": no projection yet");
    return;
  }
  dl_text_printf(t, ": %.4g MJ in all", p->energy_j * 1e-6);
  if (!isnan(p->low_j))
    dl_text_printf(t, " (%.4g .. %.4g)", p->low_j * 1e-6, p->high_j * 1e-6);
  dl_text_printf(t, ", %s", verdict_name(p->verdict));
}
