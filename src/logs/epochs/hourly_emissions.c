/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/epochs/hourly_emissions.h"

#include <math.h>

#include "base/constants.h"
#include "base/timestamp.h"

static void warn_naive(const char *path, size_t line, struct dl_diag *d) {
  dl_warn_at(d, path, line,
             "times without a time zone are taken for UTC, as the hours of "
             "--intensity-hours are");
}

/* Energy up to a point: of the node, else of its parts. */
static double energy_at(const struct dl_energy_point *p, bool node) {
  enum { NODE = DL_N_METER_KINDS - 1 };
  double sum = 0;
  for (int k = 0; k < NODE; k++)
    sum += p->energy_j[k];
  return node ? p->energy_j[NODE] : sum;
}

enum dl_status dl_emissions_of_trace(struct dl_run *run,
                                     const struct dl_log_summary *trace,
                                     const struct dl_hours *h, const char *path,
                                     struct dl_diag *d) {
  const struct dl_energy_curve *c = &trace->curve;
  double sum = 0, all = 0, g;
  if (isnan(run->energy_j) || c->n < 2)
    return DL_OK;
  if (trace->span.clock == DL_CLOCK_RELATIVE ||
      trace->span.clock == DL_CLOCK_DAY)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "times without a date: --intensity-hours cannot tell "
                      "their hours");
  if (trace->span.clock != DL_CLOCK_ZONED)
    warn_naive(path, 0, d);
  bool node = energy_at(&c->point[c->n - 1], true) > 0;
  for (size_t i = 1; i < c->n; i++) {
    double j =
        energy_at(&c->point[i], node) - energy_at(&c->point[i - 1], node);
    DL_TRY(dl_hours_mean(h, c->point[i - 1].ns, c->point[i].ns, &g, d));
    sum += j * g;
    all += j;
  }
  if (all > 0)
    dl_run_set_number(run, DL_RUN_co2e_g,
                      run->energy_j / DL_J_PER_KWH * (sum / all));
  return DL_OK;
}

enum dl_status dl_emissions_of_run(struct dl_run *run, const struct dl_hours *h,
                                   const char *path, struct dl_diag *d) {
  struct dl_timestamp t;
  double g;
  if (isnan(run->energy_j))
    return DL_OK;
  if (!run->start_time || isnan(run->duration_s) ||
      !dl_parse_start(run->start_time, &t))
    return dl_fail_at(d, DL_EINPUT, path, run->line,
                      "a run without start_time and duration_s: "
                      "--intensity-hours cannot tell its hours");
  if (!t.zoned)
    warn_naive(path, run->line, d);
  DL_TRY(dl_hours_mean(h, t.ns, dl_time_after(t.ns, run->duration_s), &g, d));
  dl_run_set_number(run, DL_RUN_co2e_g, run->energy_j / DL_J_PER_KWH * g);
  return DL_OK;
}
