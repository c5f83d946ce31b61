/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Returns the readings of a log one by one, sorted by time.
 *
 * Logs are almost sorted. A reading that arrives slightly late is moved to its
 * place. After a clock was set back (daylight saving time, a time server, or
 * concatenated logs) times continue from where they were: shifted by one hour
 * if the step is one hour, otherwise as if one sample had followed the other.
 * A clock that jumps ahead by an hour in a night in which daylight saving time
 * may begin is set back. Each repair is a warning with its line. */

#ifndef DL_LOGS_READINGS_READING_SEQUENCER_H
#define DL_LOGS_READINGS_READING_SEQUENCER_H

#include "logs/log.h"

enum { DL_SEQUENCER_WINDOW = 64 };

/* Start from {.log = log}, and set nothing else. */
struct dl_sequencer {
  struct dl_log *log; /* must outlive the sequencer */

  /* Runs that the log contained so far, owned. */
  struct dl_run *run;
  size_t n_runs, runs_cap;

  /* Private. */
  struct dl_log_block block;
  size_t next; /* index of the next reading of the block */
  bool at_end;
  struct dl_reading ring[DL_SEQUENCER_WINDOW]; /* sorted by time */
  size_t first, n;                             /* in use in the ring */
  struct dl_reading out;                       /* returned last */
  bool any, any_out;
  int64_t newest_ns; /* time of the newest reading */
  int64_t pause_ns;  /* usual time between rounds of readings */
  int64_t shift_ns;  /* added to the times of the log */
  size_t n_late, late_line;
};

/* Frees the runs. */
void dl_sequencer_free(struct dl_sequencer *q);

/* The next reading in *r, NULL at the end. It is valid until the next call. */
enum dl_status dl_sequencer_next(struct dl_sequencer *q,
                                 const struct dl_reading **r,
                                 struct dl_diag *d);

#endif
