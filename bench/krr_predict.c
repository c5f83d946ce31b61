/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times predictions of a kernel ridge regression by the library.
 *
 *   krr_predict SUPPORT.csv ROWS.csv [REPEATS]
 *
 * Both tables hold numbers; the last column of SUPPORT.csv is the target.
 * Prints the seconds of each repetition, one a line, and the sum of the
 * predictions, by which bench/run.py checks them. */

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "io/csv.h"
#include "math/regression/regression.h"

static gsl_matrix *read_table(const char *path, struct dl_diag *d) {
  struct dl_csv *csv;
  const struct dl_csv_block *block;
  if (dl_csv_open(&csv, path, 0, d) != DL_OK)
    return NULL;
  size_t p = dl_csv_n_cols(csv), n = 0;
  double *x = NULL;
  while (dl_csv_next(csv, &block, d) == DL_OK && block) {
    double *more = reallocarray(x, n + block->n_rows, p * sizeof *x);
    if (!more)
      break;
    x = more;
    for (size_t i = 0; i < block->n_rows * p; i++)
      if (!dl_parse_double(block->cell[i], &x[n * p + i]))
        x[n * p + i] = 0;
    n += block->n_rows;
  }
  dl_csv_free(csv);
  gsl_matrix *X = n > 0 ? gsl_matrix_alloc(n, p) : NULL;
  for (size_t i = 0; X && i < n * p; i++)
    X->data[i] = x[i];
  free(x);
  return X;
}

static enum dl_status time_predictions(const gsl_matrix *support,
                                       const gsl_matrix *rows, int repeats,
                                       struct dl_diag *d) {
  const struct dl_regression *krr = dl_regression_find("krr");
  size_t p = rows->size2;
  double hyper[DL_MAX_HYPER] = {1e-3, 0.1}, sum = 0;
  gsl_matrix_const_view X =
      gsl_matrix_const_submatrix(support, 0, 0, support->size1, p);
  gsl_vector_const_view y = gsl_matrix_const_column(support, p);
  gsl_vector *out = gsl_vector_alloc(rows->size1);
  void *state = NULL;
  const struct dl_design design = {.X = &X.matrix, .y = &y.vector};
  enum dl_status status = krr->fit(krr, &state, &design, hyper, d);
  for (int r = 0; r < repeats && status == DL_OK; r++) {
    double start = omp_get_wtime();
    status = krr->predict(state, rows, out, d);
    printf("%.6f\n", omp_get_wtime() - start);
  }
  for (size_t i = 0; status == DL_OK && i < out->size; i++)
    sum += gsl_vector_get(out, i);
  printf("sum %.12g\n", sum);
  krr->free(state);
  gsl_vector_free(out);
  return status;
}

int main(int argc, char **argv) {
  struct dl_diag d = {0};
  if (argc < 3) {
    fputs("usage: krr_predict SUPPORT.csv ROWS.csv [REPEATS]\n", stderr);
    return DL_EUSAGE;
  }
  /* As the program does (main.c). */
  if (!getenv("OMP_NUM_THREADS"))
    omp_set_num_threads(omp_get_num_procs() + 1);
  gsl_matrix *support = read_table(argv[1], &d);
  gsl_matrix *rows = support ? read_table(argv[2], &d) : NULL;
  enum dl_status status = DL_EINPUT;
  if (rows && support->size2 == rows->size2 + 1)
    status = time_predictions(support, rows, argc > 3 ? atoi(argv[3]) : 5, &d);
  if (status != DL_OK)
    fprintf(stderr, "krr_predict: %s\n",
            d.error ? d.error : "the tables do not fit together");
  gsl_matrix_free(support);
  gsl_matrix_free(rows);
  dl_diag_free(&d);
  return (int)status;
}
