/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/reading_sequencer.h"

#include <stdlib.h>

#include "base/memory.h"

/* Readings that wait for a late one. */
enum { WAITING = 64 };

#define HOUR (INT64_C(3600) * DL_SECOND)

/* A step back by more than that is the clock's, by less a late reading. */
#define LATE_MAX (INT64_C(60) * DL_SECOND)

/* By so much a round's readings may be apart: what daylight saving leaves of a
 * step is not below it. */
#define JITTER DL_SECOND

/* A century: with less, sums of times and shifts do not overflow. */
#define SHIFT_MAX (INT64_C(876000) * HOUR)

struct slot {
  struct dl_reading reading;
  size_t line;
};

struct dl_feed {
  struct dl_log *log;
  struct dl_log_block block;
  size_t next; /* reading of the block */
  bool at_end;
  struct slot ring[WAITING];
  size_t first, n; /* of the ring, oldest first */
  struct slot out; /* handed out last */
  bool any;
  int64_t newest; /* time of the newest reading */
  int64_t pause;  /* usual time between rounds of readings */
  int64_t shift;  /* that is added to the log's times */
  size_t n_late, late_line;
  struct dl_run *run;
  size_t n_runs, runs_cap;
};

enum dl_status dl_feed_new(struct dl_feed **f, struct dl_log *log,
                           struct dl_diag *d) {
  *f = dl_calloc(1, sizeof **f);
  if (!*f)
    return dl_fail_memory(d);
  (*f)->log = log;
  return DL_OK;
}

void dl_feed_free(struct dl_feed *f) {
  if (!f)
    return;
  for (size_t i = 0; i < f->n_runs; i++)
    dl_run_clear(&f->run[i]);
  free(f->run);
  free(f);
}

void dl_feed_take_runs(struct dl_feed *f, struct dl_run **run, size_t *n) {
  *run = f->run;
  *n = f->n_runs;
  f->run = NULL;
  f->n_runs = f->runs_cap = 0;
}

/* Moves the runs out of the block. */
static bool keep_runs(struct dl_feed *f) {
  void *runs = f->run;
  if (!dl_grow(&runs, &f->runs_cap, f->n_runs + f->block.n_runs,
               sizeof *f->run))
    return false;
  f->run = runs;
  for (size_t i = 0; i < f->block.n_runs; i++) {
    f->run[f->n_runs++] = f->block.run[i];
    f->block.run[i] = (struct dl_run){0};
  }
  return true;
}

/* Whether clocks are set forward about then: early on a Sunday, from March to
 * April or, south of the equator, from September to November. */
static bool is_spring_night(int64_t ns) {
  int64_t since = ns / DL_SECOND;
  int64_t day = since / 86400, hour = since % 86400 / 3600;
  bool sunday = (day + 4) % 7 == 0; /* 1970-01-01 was a Thursday */
  int64_t of_year = (day * 4 + 2) % 1461 / 4;
  bool season =
      (of_year >= 59 && of_year < 122) || (of_year >= 243 && of_year < 334);
  return sunday && season && hour < 4;
}

/* Whether its clock is set by people's time. */
static bool on_the_wall(const struct dl_feed *f) {
  enum dl_clock clock = dl_log_clock(f->log);
  return clock == DL_CLOCK_WALL || clock == DL_CLOCK_DAY;
}

static double seconds(int64_t ns) {
  return (double)ns * 1e-9;
}

/* The clock was set back by `step` at this reading. */
static void set_back(struct dl_feed *f, int64_t step, size_t line,
                     struct dl_diag *d) {
  if (f->shift > SHIFT_MAX) /* what comes is late from here on */
    return;
  bool hour = step > HOUR - LATE_MAX && step < HOUR + JITTER;
  if (hour && on_the_wall(f)) {
    f->shift += HOUR;
    dl_warn_at(d, dl_log_path(f->log), line,
               "clock set back by an hour (daylight saving): times carried on");
    return;
  }
  f->shift += step + f->pause;
  dl_warn_at(d, dl_log_path(f->log), line,
             "clock set back by %.3g s: carried on %.3g s after the sample "
             "before",
             seconds(step), seconds(f->pause));
}

/* The time of a reading with the repairs so far, and a new one where its step
 * calls for it. */
static int64_t repaired(struct dl_feed *f, int64_t ns, size_t line,
                        struct dl_diag *d) {
  int64_t t = ns + f->shift, step = t - f->newest;
  if (!f->any || (step >= 0 && step <= HOUR - JITTER))
    return t;
  if (step < -LATE_MAX) {
    set_back(f, -step, line, d);
  } else if (step > HOUR - JITTER && step < HOUR + LATE_MAX && f->pause > 0 &&
             f->pause < LATE_MAX && on_the_wall(f) &&
             is_spring_night(f->newest)) {
    f->shift -= HOUR;
    dl_warn_at(d, dl_log_path(f->log), line,
               "clock set ahead by an hour (daylight saving): times carried "
               "on");
  }
  return ns + f->shift;
}

/* Puts a reading into the ring, which has room, behind all that are not
 * later. */
static void put(struct dl_feed *f, const struct dl_reading *r, size_t line) {
  size_t at = f->n++;
  for (; at > 0; at--) {
    struct slot *before = &f->ring[(f->first + at - 1) % WAITING];
    if (before->reading.ns <= r->ns)
      break;
    f->ring[(f->first + at) % WAITING] = *before;
  }
  f->ring[(f->first + at) % WAITING] = (struct slot){*r, line};
}

/* A gap is no usual pause: it counts as a few of them at most. */
static void follow_pause(struct dl_feed *f, int64_t step) {
  if (f->pause == 0 || step < f->pause)
    f->pause = step;
  else if (step / 8 < f->pause)
    f->pause += (step - f->pause) / 64;
  else
    f->pause += f->pause / 8;
}

static void take_in(struct dl_feed *f, const struct dl_reading *r, size_t line,
                    struct dl_diag *d) {
  struct dl_reading in = *r;
  in.ns = repaired(f, r->ns, line, d);
  if (f->any && in.ns < f->out.reading.ns && f->out.line > 0) {
    if (f->n_late++ == 0)
      f->late_line = line;
    return;
  }
  int64_t step = in.ns - f->newest;
  if (f->any && step > f->pause / 4) /* of a new round, not within one */
    follow_pause(f, step);
  if (!f->any || step > 0)
    f->newest = in.ns;
  f->any = true;
  put(f, &in, line);
}

static enum dl_status refill(struct dl_feed *f, struct dl_diag *d) {
  enum dl_status status = dl_log_next(f->log, &f->block, d);
  f->next = 0;
  if (status == DL_OK && f->block.n_runs > 0 && !keep_runs(f))
    return dl_fail_memory(d);
  f->at_end =
      status == DL_OK && f->block.n_readings == 0 && f->block.n_runs == 0;
  if (f->at_end && f->n_late > 0)
    dl_skip_at(d, dl_log_path(f->log), f->late_line,
               "%zu reading%s out of order: sort the log by time first",
               f->n_late, f->n_late == 1 ? "" : "s");
  return status;
}

enum dl_status dl_feed_next(struct dl_feed *f, const struct dl_reading **r,
                            size_t *line, struct dl_diag *d) {
  *r = NULL;
  while (!f->at_end && f->n < WAITING) {
    if (f->next == f->block.n_readings) {
      enum dl_status status = refill(f, d);
      if (status != DL_OK)
        return status;
      continue;
    }
    take_in(f, &f->block.reading[f->next], f->block.line[f->next], d);
    f->next++;
  }
  if (f->n == 0)
    return DL_OK;
  f->out = f->ring[f->first];
  f->first = (f->first + 1) % WAITING;
  f->n--;
  *r = &f->out.reading;
  *line = f->out.line;
  return DL_OK;
}
