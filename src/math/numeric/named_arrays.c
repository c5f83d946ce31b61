/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/numeric/named_arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_arrays_free(struct dl_arrays *as) {
  if (!as)
    return;
  for (size_t i = 0; i < as->n; i++)
    free(as->a[i].data);
  free(as->a);
  dl_strlist_free(&as->names);
  *as = (struct dl_arrays){0};
}

double *dl_arrays_add(struct dl_arrays *as, const char *name, size_t rows,
                      size_t cols) {
  DL_GROW(as->a, as->cap, as->n + 1);
  double *data = dl_calloc(rows * cols, sizeof *data);
  struct dl_array *a = &as->a[as->n++];
  *a = (struct dl_array){.rows = rows, .cols = cols, .data = data};
  strncpy(a->name, name, sizeof a->name - 1);
  return data;
}

void dl_arrays_add_scalar(struct dl_arrays *as, const char *name, double x) {
  *dl_arrays_add(as, name, 1, 1) = x;
}

void dl_arrays_add_vector(struct dl_arrays *as, const char *name,
                          const gsl_vector *v) {
  double *data = dl_arrays_add(as, name, v->size, 1);
  for (size_t i = 0; i < v->size; i++)
    data[i] = gsl_vector_get(v, i);
}

void dl_arrays_add_matrix(struct dl_arrays *as, const char *name,
                          const gsl_matrix *m) {
  double *data = dl_arrays_add(as, name, m->size1, m->size2);
  for (size_t i = 0; i < m->size1 && m->size2 > 0; i++)
    memcpy(data + i * m->size2, gsl_matrix_const_ptr(m, i, 0),
           m->size2 * sizeof *data);
}

const struct dl_array *dl_arrays_find(const struct dl_arrays *as,
                                      const char *name) {
  for (size_t i = 0; i < as->n; i++)
    if (strcmp(as->a[i].name, name) == 0)
      return &as->a[i];
  return NULL;
}

bool dl_all_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i]))
      return false;
  return true;
}
