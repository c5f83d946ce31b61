/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/gaps.h"

#include <math.h>

#include "base/constants.h"
#include "base/number.h"
#include "logs/readings/power_meter.h"
#include "logs/readings/reading_sequencer.h"

/* A hole is longer than this many pauses between rounds, and this time. */
#define HOLE_PAUSES 100.0
#define HOLE_MIN_S 600.0

bool dl_gap_is_hole(const struct dl_meter_options *o,
                    const struct dl_sequencer *q, const struct dl_reading *r,
                    int64_t last_ns) {
  double s = (double)(r->ns - last_ns) / 1e9;
  double least_s = r->after_header ? DL_GAP_MIN_S : HOLE_MIN_S;
  double pauses = r->after_header ? DL_GAP_INTERVALS : HOLE_PAUSES;
  if (s <= least_s || s <= o->max_gap_s || o->bridge_gaps ||
      (s > DL_GAP_MAX_S && !o->cut_gaps))
    return false;
  /* At the beginning a gap counts as the usual pause, so that the interval of
   * the next readings decides if it is shorter. */
  int64_t pause_ns = q->pause_ns, next_ns = dl_sequencer_interval(q, r->meter);
  if (next_ns > 0 && next_ns < pause_ns)
    pause_ns = next_ns;
  return s * 1e9 > dl_gap_limit_ns((double)pause_ns, pauses, least_s);
}

void dl_gap_warn(const struct dl_log *log, size_t line,
                 const struct dl_meter_options *o, double gap_s,
                 double across_j, struct dl_diag *d) {
  char buf[DL_NUMBER_SIZE];
  dl_format_duration(buf, gap_s);
  if (across_j > 0 && !o->cut_gaps)
    dl_warn_at(d, log->path, line,
               "gap of %s, not bridged: that would add %.3g kWh "
               "(extract --gaps bridge)",
               buf, across_j / DL_J_PER_KWH);
  else
    dl_warn_at(d, log->path, line, "gap of %s, %s", buf,
               o->cut_gaps ? "cut" : "bridged");
}

double dl_gap_energy(const struct dl_power_meter *m,
                     const struct dl_reading *next, double seconds) {
  double last_w = m->n_power > 0 ? m->power_w : m->counter_w;
  if (next && next->energy_j >= m->counter_last)
    return next->energy_j - m->counter_last;
  double next_w = next && next->power_w >= 0 ? next->power_w : last_w;
  return (last_w + next_w) / 2 * seconds;
}

bool dl_gap_is_counted(const struct dl_power_meter *m,
                       const struct dl_reading *next, double seconds) {
  return m->counter_w > 0 &&
         next->energy_j - m->counter_last >= m->counter_w * seconds / 2;
}

int64_t dl_gaps_removed(const struct dl_time_span *gap, size_t n, int64_t ns) {
  int64_t before = 0;
  for (size_t i = 0; i < n && ns > gap[i].from_ns; i++)
    before += (ns < gap[i].to_ns ? ns : gap[i].to_ns) - gap[i].from_ns;
  return ns - before;
}
