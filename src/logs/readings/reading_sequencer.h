/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Returns the readings of a log one by one, sorted by time.
 *
 * Logs are almost sorted. A reading that arrives slightly late is moved to its
 * place. After a clock was set back (daylight saving time, a time server, or
 * concatenated logs) times continue from where they were: shifted by one hour
 * if the step is one hour, otherwise as if one sample had followed the other.
 * A step back by less than a minute is one of the clock if earlier readings of
 * that meter already cover the times that follow it, otherwise the reading is
 * late. A clock that jumps ahead by an hour in a night in which daylight saving
 * time may begin is set back. Each repair is a warning with its line. These are
 * errors: a log whose times go back often, or into a hole, is not in order; one
 * that begins again with its first readings was appended to itself; one that
 * begins again near its first time with another device consists of several
 * logs; one that has two readings of a meter at one time, again and again, has
 * several devices under one name (same_times.h).
 */

#ifndef DL_LOGS_READINGS_READING_SEQUENCER_H
#define DL_LOGS_READINGS_READING_SEQUENCER_H

#include "logs/log.h"
#include "logs/readings/gaps.h"
#include "logs/readings/same_times.h"

enum {
  DL_SEQUENCER_WINDOW = 64,
  DL_SEQUENCER_HOLES = 32,
  DL_SEQUENCER_START = 16
};

/* Start from {.log = log}, and set nothing else. */
struct dl_sequencer {
  struct dl_log *log; /* must outlive the sequencer */

  /* Runs that the log contained so far, owned. */
  struct dl_run *run;
  size_t n_runs, runs_cap;

  /* Private. */
  const struct dl_reading *ahead; /* read; of the log */
  size_t next, n_ahead;           /* ahead[next..n_ahead) is not in the ring */
  struct dl_reading ring[DL_SEQUENCER_WINDOW]; /* sorted by time */
  size_t first, n;                             /* in use in the ring */
  struct dl_reading out;                       /* returned last */
  bool any, any_out;
  int64_t newest_ns; /* time of the newest reading */
  int64_t pause_ns;  /* usual time between rounds of readings */
  int64_t shift_ns;  /* added to the times of the log */
  size_t n_late, late_line;
  int64_t raw_ns;        /* of the reading before, without the shift */
  size_t n_read, n_back; /* readings, and steps back among them */
  uint32_t n_meters;     /* that have readings */
  size_t disorder_line;  /* where the log is out of order; 0: nowhere */
  size_t copy_line;      /* where the log begins again; 0: nowhere */
  size_t other_line;     /* where it does with another device; likewise */
  int64_t from_ns; /* time in the log of the first reading since the clock was
                      set back last */
  struct dl_reading start[DL_SEQUENCER_START]; /* the first of the log */
  size_t n_start;
  struct dl_time_span hole[DL_SEQUENCER_HOLES];
  size_t n_holes;
  struct dl_time_groups *groups; /* of each meter (same_times.h), owned */
  size_t n_groups, groups_cap;
  bool checked; /* the groups, at the end */
};

/* Frees what it owns, not the log. */
void dl_sequencer_free(struct dl_sequencer *q);

/* Usual interval (ns) of the next readings of a meter that have a value, by
 * those in the ring: their median; 0 if there are fewer than three. */
int64_t dl_sequencer_interval(const struct dl_sequencer *q, uint32_t meter);

/* The next reading of a meter that has a power or energy, of those in the ring;
 * NULL: none. */
const struct dl_reading *dl_sequencer_next_of(const struct dl_sequencer *q,
                                              uint32_t meter);

/* The next reading in *r, NULL at the end. It is valid until the next call. */
enum dl_status dl_sequencer_next(struct dl_sequencer *q,
                                 const struct dl_reading **r,
                                 struct dl_diag *d);

#endif
