/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting of readings by time, and repair of clocks. */

#include "logs/readings/reading_sequencer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/timestamp.h"

#define HOUR_NS (INT64_C(3600) * DL_SECOND)

/* A larger step back is one of the clock, a smaller one possibly a late
 * reading. */
#define LATE_MAX_NS (INT64_C(60) * DL_SECOND)

/* Readings of one round may lie this far apart. After a change of daylight
 * saving time, the rest of the step is not below it. */
#define JITTER_NS DL_SECOND

/* 100 years: below this, sums of times and shifts cannot overflow. */
#define SHIFT_MAX_NS (INT64_C(876000) * HOUR_NS)

/* A clock is set seldom: a log with more steps back than BACK_MAX, and more
 * than one in BACK_EVERY readings, is not in order of time. */
enum { BACK_MAX = 2, BACK_EVERY = 20 };

/* A hole in the times of a log is at least as long as this many pauses, and as
 * the least gap. */
#define HOLE_PAUSES 4.0

/* Readings to look at before a step back is judged, and readings of the meter
 * that must be known. */
enum { AHEAD_MIN = 256, KNOWN_MIN = 8 };

/* Logs of two devices, one behind the other, begin within this share of the
 * first one's time. */
enum { OTHER_NEAR = 10 };

void dl_sequencer_free(struct dl_sequencer *q) {
  for (size_t i = 0; i < q->n_runs; i++)
    dl_run_clear(&q->run[i]);
  free(q->run);
  free(q->groups);
}

static const struct dl_reading *in_ring(const struct dl_sequencer *q,
                                        size_t i) {
  return &q->ring[(q->first + i) % DL_SEQUENCER_WINDOW];
}

int64_t dl_sequencer_interval(const struct dl_sequencer *q, uint32_t meter) {
  int64_t step[DL_SEQUENCER_WINDOW], last = 0;
  size_t n = 0, n_seen = 0;
  for (size_t i = 0; i < q->n; i++) {
    const struct dl_reading *r = in_ring(q, i);
    if (r->meter != meter || (isnan(r->power_w) && isnan(r->energy_j)))
      continue;
    if (n_seen++ > 0 && r->ns > last)
      step[n++] = r->ns - last;
    last = r->ns;
  }
  if (n < 2)
    return 0;
  qsort(step, n, sizeof *step, dl_order_times);
  return step[n / 2];
}

const struct dl_reading *dl_sequencer_next_of(const struct dl_sequencer *q,
                                              uint32_t meter) {
  for (size_t i = 0; i < q->n; i++) {
    const struct dl_reading *r = in_ring(q, i);
    if (r->meter == meter && !(isnan(r->power_w) && isnan(r->energy_j)))
      return r;
  }
  return NULL;
}

/* Whether daylight saving time may begin about then: early on a Sunday, from
 * March to April or, in the southern hemisphere, September to November. */
static bool is_spring_night(int64_t ns) {
  int64_t since = ns / DL_SECOND;
  int64_t day = since / 86400, hour = since % 86400 / 3600;
  bool sunday = (day + 4) % 7 == 0; /* 1970-01-01 was a Thursday */
  int64_t of_year = (day * 4 + 2) % 1461 / 4;
  bool season =
      (of_year >= 59 && of_year < 122) || (of_year >= 243 && of_year < 334);
  return sunday && season && hour < 4;
}

/* The newest reading of a meter in the ring; NULL: none. */
static const struct dl_reading *newest_of(const struct dl_sequencer *q,
                                          uint32_t meter) {
  for (size_t i = q->n; i-- > 0;)
    if (in_ring(q, i)->meter == meter)
      return in_ring(q, i);
  return NULL;
}

/* Whether the ring has a reading of the meter within near_ns of a time, or the
 * time precedes all readings in the ring. */
static bool is_covered(const struct dl_sequencer *q, uint32_t meter, int64_t ns,
                       int64_t near_ns) {
  if (q->any_out && ns < q->out.ns)
    return true;
  for (size_t i = 0; i < q->n; i++)
    if (in_ring(q, i)->meter == meter &&
        llabs(in_ring(q, i)->ns - ns) <= near_ns)
      return true;
  return false;
}

/* Whether a step back to reading r, by less than LATE_MAX_NS, is one of the
 * clock: readings of the meter continue from there in order, at times that the
 * meter already has readings of. A late reading has none within its shortest
 * interval. */
static bool is_set_back(const struct dl_sequencer *q,
                        const struct dl_reading *r) {
  int64_t last = r->ns, shift = q->shift_ns, shortest = LATE_MAX_NS;
  const struct dl_reading *newest = NULL;
  size_t n = 0, n_known = 0;
  for (size_t i = 0; i < q->n; i++) {
    const struct dl_reading *a = in_ring(q, i);
    if (a->meter != r->meter)
      continue;
    n_known++;
    if (newest && a->ns > newest->ns && a->ns - newest->ns < shortest)
      shortest = a->ns - newest->ns;
    newest = a;
  }
  int64_t near = shortest / 4 * 3;
  bool out_of_ring = q->any_out && r->ns + shift < q->out.ns;
  if (!newest || (n_known < KNOWN_MIN && !out_of_ring) ||
      newest->ns <= r->ns + shift ||
      !is_covered(q, r->meter, r->ns + shift, near))
    return false;
  for (size_t i = q->next; i < q->n_ahead && n < 2; i++) {
    const struct dl_reading *a = &q->ahead[i];
    if (a->meter != r->meter)
      continue;
    if (a->ns <= last || a->ns + shift >= newest->ns ||
        !is_covered(q, a->meter, a->ns + shift, near))
      return false;
    last = a->ns;
    n++;
  }
  return n == 2;
}

/* Remembers a hole before the reading, if there is one. */
static void note_hole(struct dl_sequencer *q, const struct dl_reading *r) {
  int64_t step_ns = r->ns - q->raw_ns;
  if (q->any && step_ns > q->pause_ns && q->n_holes < DL_SEQUENCER_HOLES &&
      (double)step_ns >=
          dl_gap_limit_ns((double)q->pause_ns, HOLE_PAUSES, DL_GAP_MIN_S))
    q->hole[q->n_holes++] = (struct dl_time_span){q->raw_ns, r->ns};
  q->raw_ns = r->ns;
}

/* Notes a step back to a reading. The log is not in order if there are too many
 * of them, if the reading belongs into a hole, which was bridged, or if it is
 * the first one of a device: then devices stand one behind the other. */
static void note_back(struct dl_sequencer *q, const struct dl_reading *r,
                      bool of_clock) {
  bool misplaced = of_clock && r->meter >= q->n_meters && q->n_meters > 0;
  for (size_t i = 0; of_clock && i < q->n_holes; i++)
    if (r->ns >= q->hole[i].from_ns + q->pause_ns &&
        r->ns <= q->hole[i].to_ns - q->pause_ns)
      misplaced = true;
  q->n_back++;
  if (misplaced || (q->n_back > BACK_MAX && q->n_back * BACK_EVERY > q->n_read))
    q->disorder_line = r->line;
}

static bool same_value(double x, double y) {
  return x == y || (isnan(x) && isnan(y));
}

/* Whether the first readings of the log are repeated from reading r on, the
 * last that was removed from those ahead. Relative times may be equal in two
 * logs. */
static bool is_copy(const struct dl_sequencer *q, const struct dl_reading *r) {
  size_t n_left = q->n_ahead - q->next + 1;
  if (q->log->clock == DL_CLOCK_RELATIVE || n_left < q->n_start)
    return false;
  for (size_t i = 0; i < q->n_start; i++) {
    const struct dl_reading *a = &q->start[i],
                            *b = i == 0 ? r : &q->ahead[q->next - 1 + i];
    if (a->ns != b->ns || a->meter != b->meter ||
        !same_value(a->power_w, b->power_w) ||
        !same_value(a->energy_j, b->energy_j))
      return false;
  }
  return true;
}

/* Whether a reading after a step back of the clock belongs to another device
 * (node, host), whose log was appended to the log of the first one. */
static bool is_other_device(const struct dl_sequencer *q,
                            const struct dl_reading *r) {
  int64_t length = q->newest_ns - q->shift_ns - q->from_ns;
  return r->other_device &&
         llabs(r->ns - q->from_ns) <= length / OTHER_NEAR + q->pause_ns;
}

/* Adapts the shift to a step of the clock and returns the time of the reading.
 * `step` is the time since the newest reading, with the shift so far. */
static int64_t repair_clock(struct dl_sequencer *q, const struct dl_reading *r,
                            int64_t step, struct dl_diag *d) {
  char x[DL_NUMBER_SIZE], y[DL_NUMBER_SIZE];
  const char *path = q->log->path;
  const struct dl_reading *newest = newest_of(q, r->meter);
  int64_t interval_ns = dl_sequencer_interval(q, r->meter);
  if (!newest || interval_ns == 0)
    interval_ns = q->pause_ns;
  else
    step = r->ns + q->shift_ns - newest->ns;
  bool wall_clock =
      q->log->clock == DL_CLOCK_WALL || q->log->clock == DL_CLOCK_DAY;
  if (step > 0) {
    int64_t late = q->pause_ns / 2 * 3;
    if (step > HOUR_NS - JITTER_NS &&
        step < HOUR_NS + (late > LATE_MAX_NS ? late : LATE_MAX_NS) &&
        q->pause_ns > 0 && q->pause_ns < HOUR_NS / 2 && wall_clock &&
        is_spring_night(q->newest_ns)) {
      q->shift_ns -= HOUR_NS;
      dl_warn_at(d, path, r->line,
                 "clock set ahead by an hour (daylight saving): times carried "
                 "on");
    }
  } else if (q->shift_ns > SHIFT_MAX_NS ||
             (step >= -LATE_MAX_NS && !is_set_back(q, r))) {
    return r->ns + q->shift_ns;
  } else if (is_other_device(q, r)) {
    q->other_line = r->line;
  } else if (is_copy(q, r)) {
    q->copy_line = r->line;
  } else if (-step > HOUR_NS - LATE_MAX_NS && -step < HOUR_NS + JITTER_NS &&
             wall_clock) {
    q->shift_ns += HOUR_NS;
    dl_warn_at(d, path, r->line,
               "clock set back by an hour (daylight saving): times carried on");
  } else {
    note_back(q, r, true);
    q->from_ns = r->ns;
    q->shift_ns += -step + interval_ns;
    if (q->disorder_line == 0)
      dl_warn_at(d, path, r->line,
                 "clock set back by %s: carried on %s after the sample before",
                 dl_format_duration(x, (double)-step * 1e-9),
                 dl_format_duration(y, (double)interval_ns * 1e-9));
  }
  return r->ns + q->shift_ns;
}

/* Repairs the time of a reading and inserts it into the ring, which has
 * room. */
static void add(struct dl_sequencer *q, const struct dl_reading *r,
                struct dl_diag *d) {
  struct dl_reading in = *r;
  in.ns += q->shift_ns;
  int64_t step = in.ns - q->newest_ns;
  q->n_read++;
  note_hole(q, r);
  if (!q->any)
    q->from_ns = r->ns;
  if (q->any && (step < 0 || step > HOUR_NS - JITTER_NS)) {
    in.ns = repair_clock(q, r, step, d);
    step = in.ns - q->newest_ns;
  }
  if (q->n_start < DL_SEQUENCER_START && q->n_back == 0)
    q->start[q->n_start++] = *r;
  if (r->meter >= q->n_meters)
    q->n_meters = r->meter + 1;
  if (q->any_out && in.ns < q->out.ns) {
    note_back(q, r, false);
    if (q->n_late++ == 0)
      q->late_line = r->line;
    return;
  }
  if (q->any && step > q->pause_ns / 4) { /* the first reading of a round */
    if (q->pause_ns == 0 || step < q->pause_ns)
      q->pause_ns = step;
    else /* a gap counts as a few pauses at most */
      q->pause_ns +=
          step / 8 < q->pause_ns ? (step - q->pause_ns) / 64 : q->pause_ns / 8;
  }
  if (!q->any || step > 0)
    q->newest_ns = in.ns;
  q->any = true;
  size_t at = q->n++;
  for (; at > 0; at--) {
    const struct dl_reading *before =
        &q->ring[(q->first + at - 1) % DL_SEQUENCER_WINDOW];
    if (before->ns <= in.ns)
      break;
    q->ring[(q->first + at) % DL_SEQUENCER_WINDOW] = *before;
  }
  q->ring[(q->first + at) % DL_SEQUENCER_WINDOW] = in;
}

/* Reads the next readings and runs of the log. */
static enum dl_status read_ahead(struct dl_sequencer *q, struct dl_diag *d) {
  struct dl_log_block block;
  q->log->n_used = q->next;
  DL_TRY(dl_log_next(q->log, &block, d));
  q->ahead = block.reading;
  q->n_ahead = block.n_readings;
  q->next = 0;
  DL_GROW(q->run, q->runs_cap, q->n_runs + block.n_runs);
  for (size_t i = 0; i < block.n_runs; i++) {
    q->run[q->n_runs++] = block.run[i];
    block.run[i] = dl_run_unknown;
  }
  return DL_OK;
}

static void group_reading(struct dl_sequencer *q, const struct dl_reading *r) {
  DL_GROW(q->groups, q->groups_cap, r->meter + 1);
  for (; q->n_groups <= r->meter; q->n_groups++)
    q->groups[q->n_groups] = (struct dl_time_groups){0};
  dl_time_groups_add_reading(&q->groups[r->meter], r);
}

static enum dl_status check_order(const struct dl_sequencer *q,
                                  struct dl_diag *d) {
  if (q->other_line > 0)
    return dl_fail_at(d, DL_EINPUT, q->log->path, q->other_line,
                      "the times begin again with another device: sort the "
                      "rows by time, or make one log of each device");
  if (q->copy_line > 0)
    return dl_fail_at(d, DL_EINPUT, q->log->path, q->copy_line,
                      "the log repeats its samples from line %zu on: remove "
                      "the copy",
                      q->start[0].line);
  if (q->disorder_line > 0)
    return dl_fail_at(d, DL_EINPUT, q->log->path, q->disorder_line,
                      "the log is not in order of time: sort it by time "
                      "first");
  return DL_OK;
}

enum dl_status dl_sequencer_next(struct dl_sequencer *q,
                                 const struct dl_reading **r,
                                 struct dl_diag *d) {
  *r = NULL;
  while (q->n < DL_SEQUENCER_WINDOW) {
    while (!q->log->at_end && q->n_ahead - q->next < AHEAD_MIN) {
      DL_TRY(read_ahead(q, d));
    }
    if (q->next == q->n_ahead)
      break;
    group_reading(q, &q->ahead[q->next]);
    add(q, &q->ahead[q->next++], d);
    DL_TRY(check_order(q, d));
  }
  if (q->n < DL_SEQUENCER_WINDOW && !q->checked) {
    q->checked = true;
    DL_TRY(dl_time_groups_check(q->groups, q->n_groups, q->log, d));
  }
  if (q->n == 0) {
    if (q->n_late > 0)
      dl_skip_at(d, q->log->path, q->late_line,
                 "%zu reading%s out of order: sort the log by time first",
                 q->n_late, q->n_late == 1 ? "" : "s");
    q->n_late = 0;
    return DL_OK;
  }
  q->out = q->ring[q->first];
  q->any_out = true;
  q->first = (q->first + 1) % DL_SEQUENCER_WINDOW;
  q->n--;
  *r = &q->out;
  return DL_OK;
}
