/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One log of readings, integrated. */

#ifndef DL_LOGS_READINGS_LOG_SUMMARY_H
#define DL_LOGS_READINGS_LOG_SUMMARY_H

#include "logs/log.h"
#include "logs/readings/energy_curve.h"
#include "logs/readings/power_meter.h"

struct dl_track_options {
  struct dl_log_options log;
  struct dl_meter_options meter;
  const char *ram_log;        /* joined sample by sample (join.h); NULL: none */
  struct dl_log **ram_opened; /* the same, opened, which is taken over; NULL */
  bool curve;                 /* keep the curve of energies */
  /* Where the log's clock or zone differs from that of another log of the run:
   * that one's start and clock; other_ns 0: on its own. */
  int64_t other_ns, other_end_ns;
  enum dl_clock other_clock;
  /* Called now and then with the bytes read since the last call; may be
   * NULL. */
  void (*progress)(void *ctx, size_t bytes);
  void *ctx;
};

/* All meters of one kind together. NaN: unknown. */
struct dl_kind_total {
  size_t n_meters;
  double energy_j, integral_j, counter_j; /* sums; NaN if one is unknown */
  double power_w;        /* sum of the meters' means over their samples */
  double util;           /* mean of the meters */
  double idle_w, peak_w; /* of all together */
  double limit_w;        /* sum */
};

struct dl_track {
  struct dl_kind_total kind[DL_N_METER_KINDS];
  char *gpu; /* name of the GPU; several names joined by " + " */
  int64_t first_ns, last_ns;
  enum dl_clock clock;
  size_t samples;             /* of the meter with the most */
  double interval_s, missing; /* of that meter */
  struct dl_curve curve;
  struct dl_run *run; /* that the log gave by itself, owned */
  size_t n_runs;
  int64_t *mark; /* ends of epochs, where the log has them */
  size_t n_marks, marks_cap;
};

/* Reads a log, of which an opened one is taken over where it is not NULL (and
 * closed also after a failure). Gaps, resets and repairs are warnings. A log
 * without readings gives a track without meters. */
enum dl_status dl_track_read(struct dl_track *t, const char *path,
                             struct dl_log *opened,
                             const struct dl_track_options *o,
                             struct dl_diag *d);
void dl_track_free(struct dl_track *t);

static inline double dl_track_duration(const struct dl_track *t) {
  return (double)(t->last_ns - t->first_ns) / 1e9;
}

#endif
