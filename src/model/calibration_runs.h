/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs that a model was calibrated with, as its file keeps them: what was
 * given of each, so that a later calibration learns from them and its own runs
 * together. */

#ifndef DL_MODEL_CALIBRATION_RUNS_H
#define DL_MODEL_CALIBRATION_RUNS_H

#include <stdio.h>

#include "base/text.h"

struct dl_calibration_run {
  char *file;              /* that it was read from, without folders; owned */
  size_t line;             /* of it there */
  struct dl_strlist value; /* "NAME=VALUE", in ascending order */
};

/* In ascending order of their values, each once. Start from {0}. */
struct dl_calibration_runs {
  struct dl_calibration_run *run; /* owned */
  size_t n, cap;
};

void dl_calibration_run_free(struct dl_calibration_run *run);
void dl_calibration_runs_free(struct dl_calibration_runs *runs);

/* Sets a value: a later one of that name replaces an earlier. Nothing for NULL
 * and for a text that is empty. */
void dl_calibration_run_set(struct dl_calibration_run *run, const char *name,
                            const char *value);

/* The value of a name, or NULL. */
const char *dl_calibration_run_value(const struct dl_calibration_run *run,
                                     const char *name);

/* Moves a run in, unless one with equal values is there, which is returned;
 * else NULL. Of two places of a run the first in alphabetical order stays. */
const struct dl_calibration_run *
dl_calibration_runs_add(struct dl_calibration_runs *to,
                        struct dl_calibration_run *run);

/* Writes them as a table: run i stands in line i + 2. */
void dl_calibration_runs_write(const struct dl_calibration_runs *runs, FILE *f);

#endif
