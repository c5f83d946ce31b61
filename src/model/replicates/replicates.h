/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repeated runs of a configuration as one: means with their intervals, and
 * tables of means. */

#ifndef DL_MODEL_REPLICATES_REPLICATES_H
#define DL_MODEL_REPLICATES_REPLICATES_H

#include "model/replicates/means_table.h"
#include "run/plan.h"

/* Numbers are NaN where the table has none. */
struct dl_repeat {
  char *arch, *gpu, *boundary; /* as the table writes them, owned; or NULL */
  const struct dl_architecture *arch_known;     /* or NULL */
  const struct dl_accelerator *gpu_known;       /* or NULL */
  double n_gpus, image_px, seq_len, batch_size; /* of the first run */
  double work; /* samples or tokens that it trains on, or requests */
  /* Of estimates: */
  double memory_need_gb;
  bool over_memory;    /* more than its GPU has */
  const char **beyond; /* quantities outside the training data; owned, unlike
                          the names */
  size_t n_beyond;
  size_t n;                       /* runs */
  double energy_j, low_j, high_j; /* mean, and the interval of that mean */
  double duration_s, accuracy;    /* means over the runs that have one */
};

struct dl_repeats {
  struct dl_repeat *r; /* owned, in order of appearance */
  size_t n;
  bool estimated; /* by dlest predict: energies with intervals of their own */
};

void dl_repeats_free(struct dl_repeats *l);

/* Reads `csv` to its end through `f`, whose columns it is. Configurations are
 * distinguished by column 'config', or by the key of config_key.h. Column
 * energy_j is needed; a row without it is skipped. The interval of a mean m of
 * n runs with standard deviation s (divisor n - 1) is m +- t s / sqrt(n) with
 * Student's t for n - 1 degrees of freedom at `coverage` (0 .. 1); NaN for one
 * run. Of a table of estimates (columns recommended, low_j, high_j, coverage)
 * the recommended ones count, with means of their intervals. */
enum dl_status dl_repeats_read(struct dl_repeats *l, struct dl_csv *csv,
                               struct dl_row_plan *f, double coverage,
                               struct dl_diag *d);

/* Reads rows that have no energy of their own, as estimates of them come in.
 * Begins before the first row of `f`, whose columns it needs; to be ended in
 * any case. */
struct dl_repeats_reader;
enum dl_status dl_repeats_begin(struct dl_repeats_reader **w,
                                struct dl_row_plan *f, struct dl_diag *d);
/* `of` has energy, interval, time, boundary, memory and what is outside the
 * training data, of which copies are made. A row whose column 'accuracy' is no
 * number is skipped, and reported at `path`. */
void dl_repeats_add(struct dl_repeats_reader *w, const struct dl_row *row,
                    const struct dl_repeat *of, const char *path, size_t line,
                    struct dl_diag *d);
/* Puts the means into `l` (or, NULL, nowhere) and frees the reader, which may
 * be NULL. */
void dl_repeats_end(struct dl_repeats_reader *w, struct dl_repeats *l);

/* Reads `csv` to its end through `f` and makes a table of means of it, which
 * starts as zero bytes; the caller frees it. Configurations are distinguished
 * by column 'config', or by the key of config_key.h, and come in order of
 * appearance; one whose runs differ in a setting, which is warned of, or in
 * which values were measured, has several rows. Architectures and GPUs are
 * identifiers of the catalogue. */
enum dl_status dl_means_of_runs(struct dl_means *m, struct dl_csv *csv,
                                struct dl_row_plan *f, struct dl_diag *d);

#endif
