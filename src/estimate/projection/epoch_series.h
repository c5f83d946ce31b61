/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The epochs of a training measured so far, from its log or from a table with
 * one row per epoch. */

#ifndef DL_ESTIMATE_PROJECTION_EPOCH_SERIES_H
#define DL_ESTIMATE_PROJECTION_EPOCH_SERIES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "estimate/projection/projection.h"
#include "logs/extract.h"

struct dl_epoch_series {
  double *duration_s, *energy_j, *power_w; /* n, owned */
  double *block_j; /* n x DL_EPOCH_BLOCKS, owned; NULL: unknown */
  size_t n, cap;
  double head_s, head_j; /* before the first epoch */
  double open_s, open_j; /* of the epoch that is going on */
  char boundary[24];     /* of the energies; "" if unknown */
  char verdict[8];       /* of the number of epochs: given, sure, unsure */
  double n_low, n_high;  /* bounds of that number; NaN: given */
  double parts;          /* epochs that each may be; 1: no sign of it */
  /* FLUSS's regime: sample, corrected arc curve there, and s from the
   * beginning. NaN: not requested. */
  double regime_sample, regime_cac, regime_s;
  /* The first sample's time, s since 1970: UTC if the log names a zone, else
   * the clock of the log. NaN: a log without dates. */
  double start_s;
  bool start_zoned;
};

#define DL_EPOCH_SERIES_EMPTY                                                  \
  ((struct dl_epoch_series){.parts = 1,                                        \
                            .n_low = NAN,                                      \
                            .n_high = NAN,                                     \
                            .regime_sample = NAN,                              \
                            .regime_cac = NAN,                                 \
                            .regime_s = NAN,                                   \
                            .start_s = NAN})

/* Appends an epoch. */
void dl_epoch_series_add(struct dl_epoch_series *s, double duration_s,
                         double energy_j, double power_w);

/* From the logs of one run, joined as dl_extract does; o->inspect sees its
 * trace, o->sink is not used. With `regime`, FLUSS's regime is found in the GPU
 * power (m = 10, L = 10: methods of del Rey et al.). DL_EINPUT: no run in
 * them, or several. */
enum dl_status dl_epoch_series_from_logs(struct dl_epoch_series *s,
                                         char *const *paths, size_t n,
                                         const struct dl_extract_options *o,
                                         bool regime, struct dl_diag *d);

/* From a table: columns of duration and energy by the names that tools give
 * them, or `energy` (its ending is its unit: _j, _kj, _wh, _kwh); rows where
 * all of `where` (COLUMN=VALUE) hold. Without a column epoch each row is one.
 * DL_EINPUT: several runs in it. */
enum dl_status dl_epoch_series_from_table(struct dl_epoch_series *s,
                                          const char *path, const char *energy,
                                          const struct dl_strlist *where,
                                          struct dl_diag *d);

/* Whether a file is such a table rather than a log: it has columns of epochs,
 * of time and of energy, the last by any name where the user gives one. */
bool dl_epoch_series_is_table(const char *path, const char *energy_column);

/* Drops all but the first k epochs, and the open one. */
void dl_epoch_series_truncate(struct dl_epoch_series *s, size_t k);

/* For dl_project: points into s. */
struct dl_measured_epochs dl_epoch_series_get(const struct dl_epoch_series *s);

/* The first epoch that ends after a time, s from the beginning; n where none
 * does. */
size_t dl_epoch_series_find(const struct dl_epoch_series *s, double at_s);

void dl_epoch_series_free(struct dl_epoch_series *s);

#endif
