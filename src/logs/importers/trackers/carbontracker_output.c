/* SPDX-License-Identifier: GPL-3.0-or-later */
/* carbontracker: its output log, *_carbontracker_output.log, or its printed
 * output.
 *
 *   2022-11-14 15:43:37 - CarbonTracker:
 *   Actual consumption for 1 epoch(s):
 *   \tTime:\t0:00:53
 *   \tEnergy:\t0.003504 kWh
 *   \tCO2eq:\t0.357451 g
 *   \tThis is equivalent to:
 *   \t0.002969 km travelled by car
 *
 * A block "Predicted consumption for 4 epoch(s):" precedes or follows the
 * actual one, which has no number of epochs if nothing is predicted. Printed
 * output has no time before "CarbonTracker:". Tabs may have become blanks.
 *
 * - Actual is the measurement of all epochs together: GPUs and CPUs, times a
 *   PUE (1.55 to 1.67, depending on the version; since 1.1.1, 2020). The log
 *   does not state it, so that only the facility's energy is known. The
 *   standard log has the rest.
 * - Predicted is no measurement. A run with nothing else was aborted, and is
 * skipped.
 * - Several runs follow each other if logs began within one minute.
 * - If a run is stopped between two epochs, the tool states one epoch less than
 *   it measured. */

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
  bool predicted, measured; /* blocks of the current run */
  bool warned_predicted;
};

static const char prefix[] = "CarbonTracker:";
static const char actual_word[] = "Actual consumption";
static const char predicted_word[] = "Predicted consumption for ";
static const char found_word[] = "The following components were found:";

static bool is_output(char *message, bool dated) {
  (void)dated;
  return dl_ct_take(&message, prefix) &&
         (*message == '\0' || dl_ct_take(&message, actual_word) ||
          dl_ct_take(&message, predicted_word) ||
          dl_ct_take(&message, found_word) ||
          dl_ct_take(&message, "Average carbon intensity"));
}

static bool probe(const struct dl_head *head) {
  return dl_ct_any(head, is_output);
}

/* Adds the run of an "Actual consumption". */
static void close_block(struct dl_log *log) {
  struct output *o = log->state;
  enum block block = o->block;
  o->block = NONE;
  if (block != ACTUAL || isnan(o->energy))
    return;
  struct dl_run *r = dl_log_open_run(log);
  dl_run_put(r, DL_RUN_duration_s, o->duration);
  dl_run_put(r, DL_RUN_energy_j, o->energy);
  dl_run_put(r, DL_RUN_facility_energy_j, o->energy);
  dl_run_put(r, DL_RUN_co2e_g, o->co2e);
  dl_run_lend_text(r, DL_RUN_boundary, "facility");
  dl_run_put_epochs(r, o->epochs);
  dl_log_close_run(log, true);
  o->measured = true;
}

/* After the last block of a run. */
static void close_run(struct dl_log *log) {
  struct output *o = log->state;
  close_block(log);
  if (o->predicted && !o->measured && !o->warned_predicted) {
    dl_log_warn(log, "a run has a prediction only: it was not measured, and is "
                     "left out");
    o->warned_predicted = true;
  }
  dl_log_close_run(log, false);
  o->predicted = o->measured = false;
}

static void open_block(struct dl_log *log, enum block block, char *s) {
  struct output *o = log->state;
  close_block(log);
  if (block == ACTUAL ? o->measured : o->predicted)
    close_run(log);
  if (block == PREDICTED)
    o->predicted = true;
  o->block = block;
  o->epochs = o->duration = o->energy = o->co2e = NAN;
  dl_ct_take(&s, "for ");
  dl_parse_number(s, strspn(s, "0123456789"), &o->epochs);
}

/* Reads a number with this unit: "0.003504 kWh". */
static bool quantity(struct dl_log *log, const char *s, const char *unit,
                     double scale, double *x) {
  size_t len = strlen(s), n = strlen(unit);
  *x = NAN;
  if (len > n && strcmp(s + len - n, unit) == 0 &&
      dl_cell_number(s, len - n, x) &&
      (isnan(*x) || (*x >= 0 && *x <= 1e290))) {
    *x *= scale;
    return true;
  }
  *x = NAN;
  return dl_log_bad(log, "invalid quantity '%.40s'", s);
}

static bool read_quantity(struct dl_log *log, char *s) {
  struct output *o = log->state;
  if (dl_ct_take(&s, "Time:")) {
    if (dl_parse_elapsed(s, strlen(s), &o->duration))
      return true;
    o->duration = NAN;
    return dl_log_bad(log, "invalid duration '%.40s'", s);
  }
  if (dl_ct_take(&s, "Energy:"))
    return quantity(log, s, " kWh", DL_J_PER_KWH, &o->energy);
  if (!dl_ct_take(&s, "CO2eq:"))
    return true;
  bool ok = quantity(log, s, " g", 1, &o->co2e);
  close_block(log);
  return ok;
}

static bool line(struct dl_log *log, char *s) {
  struct output *o = log->state;
  struct dl_timestamp time;
  char *message = dl_ct_message(s, &time);
  bool prefixed = dl_ct_take(&message, prefix);
  if (time.dated || prefixed)
    close_block(log);
  if (dl_ct_take(&message, actual_word)) {
    open_block(log, ACTUAL, message);
  } else if (dl_ct_take(&message, predicted_word)) {
    open_block(log, PREDICTED, message);
  } else if (prefixed && dl_ct_take(&message, found_word)) {
    bool gpu, cpu;
    close_run(log);
    dl_ct_components(message, dl_log_open_run(log), &gpu, &cpu);
    dl_run_put_time(&log->open_run, &time, 0);
  } else if (prefixed && dl_ct_take(&message, "Finished monitoring.")) {
    close_run(log);
  } else if (o->block != NONE) {
    return read_quantity(log, message);
  }
  return true; /* other messages do not matter */
}

const struct dl_importer dl_import_carbontracker_output = {
    .name = "carbontracker-output",
    .summary = "carbontracker's output log: consumption of each run, with PUE",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct output),
    .probe = probe,
    .line = line,
    .end = close_run,
};
