/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of means: one row a configuration of repeated runs. */

#ifndef DL_MODEL_FITTING_AGGREGATE_RUNS_H
#define DL_MODEL_FITTING_AGGREGATE_RUNS_H

#include "run/frame.h"

/* Reads `csv` to its end through `f` and writes a table to `path` ("-":
 * stdout): the settings of each configuration, the mean of every measured
 * column with its standard deviation (NAME_sd, divisor n - 1; empty for one
 * run), and n, the number of runs. Configurations are told apart by column
 * 'config', or by the key of key.h, and come in order of appearance.
 * Architectures and GPUs are written as identifiers of the catalogue. */
enum dl_status dl_means_write(struct dl_csv *csv, struct dl_frame *f,
                              const char *path, struct dl_diag *d);

#endif
