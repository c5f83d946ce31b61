/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The axes of a sweep: columns, and the values that each takes.
 *
 *   resnet50,vgg16      a list
 *   16..20              whole numbers, both ends
 *   16..256x2           times 2 each
 *   16..256+16          16 more each
 *
 * and lists of these, for columns of numbers. Combinations are numbered with
 * the last axis running fastest. */

#ifndef DL_RUN_SWEEP_AXIS_H
#define DL_RUN_SWEEP_AXIS_H

#include "base/diag.h"
#include "base/names/intern.h"
#include "run/formula/formula.h"

enum { DL_MOST_AXES = 8 };

/* Values of an axis, and combinations of all axes, at most. */
#define DL_MOST_VALUES 1000000
#define DL_MOST_COMBINATIONS 1000000000000

struct dl_axis {
  const char *column;    /* borrowed */
  struct dl_intern text; /* the values as text, each once */
  struct dl_cell *cell;  /* these values as cells, owned */
  size_t n;
};

/* Start from {0}. */
struct dl_axes {
  struct dl_axis a[DL_MOST_AXES];
  size_t n;
};

void dl_axes_free(struct dl_axes *axes);

/* Whether a text says more than one value. */
bool dl_axis_is_list(const char *text);

/* Sets the axis of a column (borrowed), in the place of an earlier one. With
 * `numbers`, values are rounded to whole numbers. The keys of a transformer's
 * shape ("transformer:layers=2,heads=8,...") do not part a list. Errors
 * (DL_EUSAGE): an empty value, no number, a range that never ends, too many
 * values. */
enum dl_status dl_axes_set(struct dl_axes *axes, const char *column,
                           const char *text, bool numbers, struct dl_diag *d);

/* Sets the axis to one value as it stands. */
enum dl_status dl_axes_set_one(struct dl_axes *axes, const char *column,
                               const char *text, struct dl_diag *d);

/* Sets the axis to two values: what a row has by itself, and a text. */
enum dl_status dl_axes_offer(struct dl_axes *axes, const char *column,
                             const char *text, struct dl_diag *d);

/* The axis of a column, or NULL. */
const struct dl_axis *dl_axes_find(const struct dl_axes *axes,
                                   const char *column);

/* Number of combinations: 1 without an axis. Errors (DL_EUSAGE): too many. */
enum dl_status dl_axes_combinations(const struct dl_axes *axes, size_t *n,
                                    struct dl_diag *d);

/* Indices of the values of a combination, one an axis. */
void dl_axes_at(const struct dl_axes *axes, size_t combination,
                size_t at[DL_MOST_AXES]);

#endif
