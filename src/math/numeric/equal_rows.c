/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/numeric/equal_rows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define EMPTY SIZE_MAX

/* The bits of x, the same for both zeros. */
static uint64_t bits_of(double x) {
  double plain = x + 0.0; /* -0 + 0 = 0 */
  uint64_t bits;
  memcpy(&bits, &plain, sizeof bits);
  return bits;
}

/* Mixes the bits of a row with the multiplier and the shifts of MurmurHash3's
 * finaliser. */
static uint64_t hash_row(const gsl_matrix *X, size_t i) {
  uint64_t h = 0;
  for (size_t j = 0; j < X->size2; j++) {
    h = (h ^ bits_of(gsl_matrix_get(X, i, j))) * 0xff51afd7ed558ccd;
    h ^= h >> 33;
  }
  return h;
}

static bool equal_rows(const gsl_matrix *X, size_t a, size_t b) {
  for (size_t j = 0; j < X->size2; j++)
    if (bits_of(gsl_matrix_get(X, a, j)) != bits_of(gsl_matrix_get(X, b, j)))
      return false;
  return true;
}

/* The slot that holds a row equal to row i, or the empty one where it goes.
 * slot has mask + 1 places, more than there are rows. */
static size_t find_slot(const size_t *slot, size_t mask, const gsl_matrix *X,
                        size_t i) {
  size_t at = (size_t)hash_row(X, i) & mask;
  while (slot[at] != EMPTY && !equal_rows(X, slot[at], i))
    at = (at + 1) & mask;
  return at;
}

/* Numbers the distinct rows in of_row and lists the first of each in first;
 * returns how many there are. */
static size_t number_rows(size_t *of_row, size_t *first, size_t *slot,
                          size_t mask, const gsl_matrix *X) {
  size_t m = 0;
  memset(slot, 0xff, (mask + 1) * sizeof *slot);
  for (size_t i = 0; i < X->size1; i++) {
    size_t at = find_slot(slot, mask, X, i);
    if (slot[at] == EMPTY) {
      slot[at] = i;
      first[m] = i;
      of_row[i] = m++;
    } else {
      of_row[i] = of_row[slot[at]];
    }
  }
  return m;
}

static bool copy_rows(struct dl_distinct *u, const gsl_matrix *X,
                      const size_t *first, size_t m) {
  u->X = gsl_matrix_alloc(m, X->size2);
  for (size_t k = 0; u->X && k < m; k++)
    for (size_t j = 0; j < X->size2; j++)
      gsl_matrix_set(u->X, k, j, gsl_matrix_get(X, first[k], j));
  return u->X;
}

bool dl_distinct_make(struct dl_distinct *u, const gsl_matrix *X) {
  size_t n = X->size1, places = 16;
  while (places < 2 * n)
    places *= 2;
  size_t *slot = dl_calloc(places, sizeof *slot);
  size_t *first = dl_calloc(n, sizeof *first);
  *u = (struct dl_distinct){.of_row = dl_calloc(n, sizeof *u->of_row)};
  bool ok = slot && first && u->of_row;
  if (ok)
    ok = copy_rows(u, X, first,
                   number_rows(u->of_row, first, slot, places - 1, X));
  free(slot);
  free(first);
  if (!ok)
    dl_distinct_free(u);
  return ok;
}

void dl_distinct_free(struct dl_distinct *u) {
  gsl_matrix_free(u->X);
  free(u->of_row);
  *u = (struct dl_distinct){0};
}

void dl_distinct_average(const struct dl_distinct *u, const gsl_vector *y,
                         const gsl_vector *w, gsl_vector *weight,
                         gsl_vector *mean) {
  gsl_vector_set_zero(weight);
  gsl_vector_set_zero(mean);
  for (size_t i = 0; i < y->size; i++) {
    size_t k = u->of_row[i];
    double wi = w ? gsl_vector_get(w, i) : 1;
    *gsl_vector_ptr(weight, k) += wi;
    *gsl_vector_ptr(mean, k) += wi * gsl_vector_get(y, i);
  }
  gsl_vector_div(mean, weight);
}
