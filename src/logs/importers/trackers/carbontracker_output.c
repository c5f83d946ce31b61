/* SPDX-License-Identifier: GPL-3.0-or-later */
/* carbontracker: its output log, *_carbontracker_output.log, or what it prints.
 *
 *   2022-11-14 15:43:37 - CarbonTracker:
 *   Actual consumption for 1 epoch(s):
 *   \tTime:\t0:00:53
 *   \tEnergy:\t0.003504 kWh
 *   \tCO2eq:\t0.357451 g
 *   \tThis is equivalent to:
 *   \t0.002969 km travelled by car
 *
 * The same with "Predicted consumption for 4 epoch(s):", before or after the
 * actual one; no number of epochs where nothing is predicted. What is printed
 * has no time before "CarbonTracker:". Tabs may have become blanks.
 *
 * - Actual is what was measured, all epochs together: GPUs and processors,
 *   times a PUE (1.55 to 1.67, by version; since 1.1.1, 2020). The log does
 *   not say which, so only the facility's energy is known. The standard log
 *   has the rest.
 * - Predicted is no measurement. A run that has nothing else was aborted, and
 *   is left out.
 * - Several runs follow each other where logs began in the same minute.
 * - Where a run is stopped between two epochs the tool says one epoch less
 *   than it measured. */

#include "logs/importers/trackers/carbontracker.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "logs/importers/tables/runs_rows.h"
#include "logs/log.h"

enum block { NONE, ACTUAL, PREDICTED };

struct output {
  enum block block;
  double epochs, duration, energy, co2e;
  struct dl_run run; /* what is known of it beforehand */
  bool open;
  bool predicted, measured; /* the run has them */
  bool said_predicted;
};

static const char prefix[] = "CarbonTracker:";
static const char actual_word[] = "Actual consumption";
static const char predicted_word[] = "Predicted consumption for ";
static const char found_word[] = "The following components were found:";

static bool is_output(struct dl_ct_text m, bool dated) {
  (void)dated;
  return dl_ct_take(&m, prefix) &&
         (m.len == 0 || dl_ct_take(&m, actual_word) ||
          dl_ct_take(&m, predicted_word) || dl_ct_take(&m, found_word) ||
          dl_ct_take(&m, "Average carbon intensity"));
}

static bool probe(const struct dl_head *head) {
  return dl_ct_any(head, is_output);
}

/* Hands on what an "Actual consumption" said. */
static void close_block(struct dl_log *log) {
  struct output *o = log->state;
  enum block block = o->block;
  o->block = NONE;
  if (block != ACTUAL || isnan(o->energy))
    return;
  if (!o->open)
    o->run = dl_run_unknown;
  struct dl_run *r = &o->run;
  dl_run_put(r, DL_RUN_duration_s, o->duration);
  dl_run_put(r, DL_RUN_energy_j, o->energy);
  dl_run_put(r, DL_RUN_facility_energy_j, o->energy);
  dl_run_put(r, DL_RUN_co2e_g, o->co2e);
  dl_run_lend_text(r, DL_RUN_boundary, "facility");
  dl_run_put_epochs(r, o->epochs);
  dl_log_add_run(log, r);
  o->open = false;
  o->measured = true;
}

/* Forgets a run that ended. */
static void close_run(struct dl_log *log) {
  struct output *o = log->state;
  close_block(log);
  if (o->predicted && !o->measured && !o->said_predicted) {
    dl_log_warn(log, "a run has a prediction only: it was not measured, and is "
                     "left out");
    o->said_predicted = true;
  }
  if (o->open)
    dl_run_clear(&o->run);
  o->open = o->predicted = o->measured = false;
}

static bool open_block(struct dl_log *log, enum block block,
                       struct dl_ct_text m) {
  struct output *o = log->state;
  size_t n = 0;
  close_block(log);
  if (block == ACTUAL ? o->measured : o->predicted)
    close_run(log);
  if (block == PREDICTED)
    o->predicted = true;
  o->block = block;
  o->epochs = o->duration = o->energy = o->co2e = NAN;
  dl_ct_take(&m, "for ");
  while (n < m.len && m.s[n] >= '0' && m.s[n] <= '9')
    n++;
  if (n > 0)
    dl_parse_number(m.s, n, &o->epochs);
  return true;
}

/* "0.003504 kWh": a number with this unit. */
static bool quantity(struct dl_log *log, struct dl_ct_text m, const char *unit,
                     double scale, double *x) {
  size_t len = strlen(unit);
  double number = NAN;
  if (m.len > len && memcmp(m.s + m.len - len, unit, len) == 0 &&
      dl_cell_number(m.s, m.len - len, &number)) {
    *x = number * scale;
    if (isnan(*x) || (*x >= 0 && *x <= 1e300))
      return true;
  }
  *x = NAN;
  return dl_log_bad(log, "invalid quantity '%.*s'",
                    (int)(m.len < 40 ? m.len : 40), m.s);
}

static bool read_quantity(struct dl_log *log, struct dl_ct_text m) {
  struct output *o = log->state;
  if (dl_ct_take(&m, "Time:"))
    return dl_parse_elapsed(m.s, m.len, &o->duration) ||
           (o->duration = NAN, dl_log_bad(log, "invalid duration '%.*s'",
                                          (int)(m.len < 40 ? m.len : 40), m.s));
  if (dl_ct_take(&m, "Energy:"))
    return quantity(log, m, " kWh", DL_J_PER_KWH, &o->energy);
  if (dl_ct_take(&m, "CO2eq:")) {
    bool ok = quantity(log, m, " g", 1, &o->co2e);
    close_block(log);
    return ok;
  }
  return true;
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct output *o = log->state;
  struct dl_timestamp time;
  struct dl_ct_text m = dl_ct_message(s, len, &time);
  bool said = dl_ct_take(&m, prefix);
  if (time.dated || said)
    close_block(log);
  if (dl_ct_take(&m, actual_word))
    return open_block(log, ACTUAL, m);
  if (dl_ct_take(&m, predicted_word))
    return open_block(log, PREDICTED, m);
  if (said && dl_ct_take(&m, found_word)) {
    bool gpu, cpu;
    close_run(log);
    o->run = dl_run_unknown;
    o->open = true;
    dl_ct_components(m, &o->run, &gpu, &cpu);
    dl_run_put_time(&o->run, &time, 0);
  } else if (said && dl_ct_take(&m, "Finished monitoring.")) {
    close_run(log);
  } else if (o->block != NONE) {
    return read_quantity(log, m);
  }
  return true; /* what else there is, does not matter */
}

static void free_state(void *state) {
  struct output *o = state;
  if (o->open)
    dl_run_clear(&o->run);
}

const struct dl_importer dl_import_carbontracker_output = {
    .name = "carbontracker-output",
    .summary = "carbontracker's output log: consumption of each run, with PUE",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct output),
    .probe = probe,
    .line = line,
    .end = close_run,
    .free = free_state,
};
