/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of means: the sufficient statistics of the runs of a configuration.
 *
 * A row stands for the runs that share all settings and lack equal sets of
 * measured values. For each measured column NAME it has the mean m of the
 * values y, their standard deviation NAME_sd (divisor n - 1), and both of
 * log(y), NAME_log and NAME_log_sd; and it has the number of runs, n. With S =
 * (n - 1) sd^2, any squared error of the runs against a constant f is
 *
 *   sum (y - f)^2 = S + n (m - f)^2,
 *
 * so that least squares on the rows, weighted by n, has the coefficients of
 * least squares on the runs. Rows of one configuration in several tables
 * are added up (Chan, Golub, LeVeque 1979, "Updating formulae and a pairwise
 * algorithm for computing sample variances"). */

#ifndef DL_MODEL_REPLICATES_MEANS_TABLE_H
#define DL_MODEL_REPLICATES_MEANS_TABLE_H

#include "base/names/intern.h"
#include "io/csv.h"
#include "quantities/quantities.h"

/* A running mean and sum of squared deviations (Welford 1962,
 * doi 10.1080/00401706.1962.10490022). */
struct dl_mean {
  size_t n;
  double x, squares;
};

/* Adds a value; NaN counts nothing. */
void dl_mean_add(struct dl_mean *m, double x);

/* NaN without values; the variance (divisor n - 1) with fewer than two. */
double dl_mean_of(const struct dl_mean *m);
double dl_mean_variance(const struct dl_mean *m);

/* A column in a row: a setting's number is x, its text is `text`. */
struct dl_means_cell {
  struct dl_mean x, log; /* log: of the values above 0 */
  char *text;            /* owned; NULL: none */
};

enum { DL_MOST_MEANS_COLUMNS = 64 };

/* Starts as zero bytes. */
struct dl_means {
  size_t n_columns;
  const struct dl_run_column *column[DL_MOST_MEANS_COLUMNS];
  struct dl_means_cell *cell; /* n x n_columns, owned */
  size_t *runs;               /* n, owned */
  size_t n, cap_cells, cap_runs;
  struct dl_intern rows; /* the configuration, DL_MEANS_KEY, all else that
                            distinguishes a row */
};

#define DL_MEANS_KEY "\x1f"

void dl_means_free(struct dl_means *m);

/* The cells of the row with this key, a new one where there is none, and its
 * number. */
struct dl_means_cell *dl_means_row(struct dl_means *m, const char *key,
                                   size_t *row);

/* Writes the table to `path` ("-": stdout). */
enum dl_status dl_means_save(const struct dl_means *m, const char *path,
                             struct dl_diag *d);

/* Whether a table has the columns of a table of means. */
bool dl_means_is_table(const struct dl_csv *csv);

/* Whether it has the columns of one, in whatever order. */
bool dl_means_is_like(const struct dl_csv *csv);

/* Adds up tables of means, which must have equal columns. Errors (DL_EINPUT):
 * another table, a row that is not valid. */
enum dl_status dl_means_read(struct dl_means *m, char *const *path, size_t n,
                             struct dl_diag *d);

/* A table of runs in a temporary file, at its beginning, whose rows stand for
 * n runs each: a measured column has the mean, or exp of the mean logarithm
 * (`logs`), and NAME_within the sum of squared deviations, of logarithms
 * likewise. The caller closes it. */
enum dl_status dl_means_as_runs(const struct dl_means *m, bool logs, FILE **f,
                                struct dl_diag *d);

#endif
