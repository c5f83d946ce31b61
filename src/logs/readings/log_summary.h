/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads one log and integrates its readings. */

#ifndef DL_LOGS_READINGS_LOG_SUMMARY_H
#define DL_LOGS_READINGS_LOG_SUMMARY_H

#include "logs/log.h"
#include "logs/readings/clock_shift.h"
#include "logs/readings/energy_curve.h"
#include "logs/readings/power_meter.h"
#include "logs/readings/reading_sequencer.h"

struct dl_summary_options {
  struct dl_meter_options meter;
  struct dl_log *ram; /* memory log to join (memory_join.h), becomes owned; or
                         NULL */
  bool curve;         /* keep the energy curve */
  /* A companion: only readings within the trace of its run count, after a shift
   * to its clock. */
  bool is_companion;
  struct dl_log_span trace;
  const struct dl_time_span *hole; /* in the trace */
  size_t n_holes;
  /* Called now and then with the number of bytes read since the last call; may
   * be NULL. */
  void (*progress)(void *ctx, size_t bytes);
  void *ctx;
};

struct dl_log_summary {
  struct dl_kind_total kind[DL_N_METER_KINDS];
  char *gpu; /* name of the GPU; several names joined by " + " */
  struct dl_log_span span;
  double duration_s;         /* of the span, without its holes */
  struct dl_time_span *hole; /* in the order of time; owned */
  size_t n_holes, holes_cap;
  size_t samples;             /* of the meter with the most */
  double interval_s, missing; /* of that meter */
  struct dl_energy_curve curve;
  struct dl_run *run; /* runs that the log itself contains, owned */
  size_t n_runs;
  int64_t *mark; /* end times of epochs, if the log has them; owned */
  size_t n_marks, marks_cap;
  size_t n_nodes; /* whose meters it has; 0: unknown */
  /* GPUs with a UUID, which is in run_id, with start, duration and energy;
   * owned. */
  struct dl_run *device;
  size_t n_devices, devices_cap;
  /* Set by node_join.h: the logs of nodes that were added up, and how many of
   * them have meters of a kind. */
  size_t n_joined, n_joined_with[DL_N_METER_KINDS];
};

/* Reads a log and frees it. Gaps, counter resets and repairs are warnings. A
 * log without readings gives a summary without meters. Free *s also after an
 * error. */
enum dl_status dl_log_summarise(struct dl_log_summary *s, struct dl_log *log,
                                const struct dl_summary_options *o,
                                struct dl_diag *d);
void dl_log_summary_free(struct dl_log_summary *s);

#endif
