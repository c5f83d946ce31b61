/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readings of a log one by one, in order of time.
 *
 * Logs are nearly in order. What arrives a little late is put in its place. A
 * clock that was set back - daylight saving, a time server, logs put one behind
 * the other - is carried on from where it was: by the hour where it is one,
 * else as if one sample had followed the other. A clock that jumps ahead by an
 * hour in a night in which daylight saving begins is set back. Each repair is
 * a warning with its line. */

#ifndef DL_LOGS_READINGS_READING_SEQUENCER_H
#define DL_LOGS_READINGS_READING_SEQUENCER_H

#include "logs/log.h"

struct dl_feed;

/* The log must outlive the feed. */
enum dl_status dl_feed_new(struct dl_feed **f, struct dl_log *log,
                           struct dl_diag *d);
void dl_feed_free(struct dl_feed *f);

/* The runs that the log gave so far, which become the caller's. */
void dl_feed_take_runs(struct dl_feed *f, struct dl_run **run, size_t *n);

/* The next reading and its line; *r is NULL at the end. It lives until the
 * next call. */
enum dl_status dl_feed_next(struct dl_feed *f, const struct dl_reading **r,
                            size_t *line, struct dl_diag *d);

#endif
