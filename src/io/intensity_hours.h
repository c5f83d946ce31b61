/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Carbon intensity of a grid over time, from a file of the user's: a table with
 * a column of times and one of intensities, as the operators of grids and
 * their portals export it (intensity_hours.c has the names).
 *
 * A value counts from its time to the next one's. The usual step is the median
 * of the differences; where the next value is further away than that, there is
 * a gap behind the step. */

#ifndef DL_IO_INTENSITY_HOURS_H
#define DL_IO_INTENSITY_HOURS_H

#include <stdint.h>

#include "base/diag.h"

struct dl_hours {
  char *path;  /* owned */
  int64_t *ns; /* UTC, ascending; owned */
  double *g;   /* g CO2e/kWh; owned */
  size_t n, cap;
  int64_t step_ns;
};

/* Reads a file. Times without a zone are UTC if the header says so; else they
 * are taken for UTC, with a warning. DL_EINPUT: no such columns, fewer than two
 * values, a time twice, values that are no intensities. Free *h also after an
 * error. */
enum dl_status dl_hours_read(struct dl_hours *h, const char *path,
                             struct dl_diag *d);
void dl_hours_free(struct dl_hours *h);

/* Computes the mean intensity from one time to another, at constant power.
 * DL_EINPUT: the times are outside the file, or a gap lies between them. */
enum dl_status dl_hours_mean(const struct dl_hours *h, int64_t from_ns,
                             int64_t to_ns, double *g, struct dl_diag *d);

/* Finds the start from `from_ns` on, at most `within_s` later, of a run of
 * that length with the lowest mean: `from_ns` or the time of a value. Starts
 * whose run meets a gap or the end of the file are left out; DL_EINPUT if all
 * are. */
struct dl_hours_start {
  int64_t ns;
  double g; /* mean intensity */
};
enum dl_status dl_hours_best(const struct dl_hours *h, int64_t from_ns,
                             double within_s, double length_s,
                             struct dl_hours_start *best, struct dl_diag *d);

#endif
