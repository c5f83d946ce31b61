/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/reading_sequencer.h"

#include <stdlib.h>

#include "base/memory.h"

#define HOUR_NS (INT64_C(3600) * DL_SECOND)

/* A larger step back is one of the clock, a smaller one a late reading. */
#define LATE_MAX_NS (INT64_C(60) * DL_SECOND)

/* Readings of one round may lie this far apart. After a change of daylight
 * saving time, the rest of the step is not below it. */
#define JITTER_NS DL_SECOND

/* 100 years: below this, sums of times and shifts cannot overflow. */
#define SHIFT_MAX_NS (INT64_C(876000) * HOUR_NS)

void dl_sequencer_free(struct dl_sequencer *q) {
  for (size_t i = 0; i < q->n_runs; i++)
    dl_run_clear(&q->run[i]);
  free(q->run);
}

/* Moves the runs out of the block. */
static bool keep_runs(struct dl_sequencer *q) {
  void *runs = q->run;
  if (!dl_grow(&runs, &q->runs_cap, q->n_runs + q->block.n_runs,
               sizeof *q->run))
    return false;
  q->run = runs;
  for (size_t i = 0; i < q->block.n_runs; i++) {
    q->run[q->n_runs++] = q->block.run[i];
    q->block.run[i] = (struct dl_run){0};
  }
  return true;
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

/* Adapts the shift to a step of the clock and returns the time of the reading.
 * `step` is the time since the newest reading, with the shift so far. */
static int64_t repair_clock(struct dl_sequencer *q, const struct dl_reading *r,
                            int64_t step, struct dl_diag *d) {
  const char *path = q->log->path;
  bool wall_clock =
      q->log->clock == DL_CLOCK_WALL || q->log->clock == DL_CLOCK_DAY;
  if (step >= -LATE_MAX_NS) {
    if (step > 0 && step < HOUR_NS + LATE_MAX_NS && q->pause_ns > 0 &&
        q->pause_ns < LATE_MAX_NS && wall_clock &&
        is_spring_night(q->newest_ns)) {
      q->shift_ns -= HOUR_NS;
      dl_warn_at(d, path, r->line,
                 "clock set ahead by an hour (daylight saving): times carried "
                 "on");
    }
  } else if (q->shift_ns <= SHIFT_MAX_NS) {
    if (-step > HOUR_NS - LATE_MAX_NS && -step < HOUR_NS + JITTER_NS &&
        wall_clock) {
      q->shift_ns += HOUR_NS;
      dl_warn_at(
          d, path, r->line,
          "clock set back by an hour (daylight saving): times carried on");
    } else {
      q->shift_ns += -step + q->pause_ns;
      dl_warn_at(d, path, r->line,
                 "clock set back by %.3g s: carried on %.3g s after the sample "
                 "before",
                 (double)-step * 1e-9, (double)q->pause_ns * 1e-9);
    }
  }
  return r->ns + q->shift_ns;
}

/* Updates the usual pause; a gap counts as a few pauses at most. */
static void update_pause(struct dl_sequencer *q, int64_t step) {
  if (q->pause_ns == 0 || step < q->pause_ns)
    q->pause_ns = step;
  else if (step / 8 < q->pause_ns)
    q->pause_ns += (step - q->pause_ns) / 64;
  else
    q->pause_ns += q->pause_ns / 8;
}

/* Repairs the time of a reading and inserts it into the ring, which has
 * room. */
static void add(struct dl_sequencer *q, const struct dl_reading *r,
                struct dl_diag *d) {
  struct dl_reading in = *r;
  in.ns += q->shift_ns;
  int64_t step = in.ns - q->newest_ns;
  if (q->any && (step < 0 || step > HOUR_NS - JITTER_NS)) {
    in.ns = repair_clock(q, r, step, d);
    step = in.ns - q->newest_ns;
  }
  if (q->any_out && in.ns < q->out.ns) {
    if (q->n_late++ == 0)
      q->late_line = r->line;
    return;
  }
  if (q->any && step > q->pause_ns / 4) /* the first reading of a round */
    update_pause(q, step);
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

static enum dl_status next_block(struct dl_sequencer *q, struct dl_diag *d) {
  enum dl_status status = dl_log_next(q->log, &q->block, d);
  q->next = 0;
  if (status == DL_OK && q->block.n_runs > 0 && !keep_runs(q))
    return dl_fail_memory(d);
  q->at_end =
      status == DL_OK && q->block.n_readings == 0 && q->block.n_runs == 0;
  if (q->at_end && q->n_late > 0)
    dl_skip_at(d, q->log->path, q->late_line,
               "%zu reading%s out of order: sort the log by time first",
               q->n_late, q->n_late == 1 ? "" : "s");
  return status;
}

enum dl_status dl_sequencer_next(struct dl_sequencer *q,
                                 const struct dl_reading **r,
                                 struct dl_diag *d) {
  *r = NULL;
  while (!q->at_end && q->n < DL_SEQUENCER_WINDOW) {
    if (q->next < q->block.n_readings) {
      add(q, &q->block.reading[q->next++], d);
      continue;
    }
    enum dl_status status = next_block(q, d);
    if (status != DL_OK)
      return status;
  }
  if (q->n == 0)
    return DL_OK;
  q->out = q->ring[q->first];
  q->any_out = true;
  q->first = (q->first + 1) % DL_SEQUENCER_WINDOW;
  q->n--;
  *r = &q->out;
  return DL_OK;
}
