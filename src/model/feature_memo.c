/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that come one after another have most of their cells in common. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/predictor_private.h"

/* Slots are told apart by a bit each; features of further ones are evaluated
 * for every row. */
enum { MOST_SLOTS = 63 };
#define ALWAYS (UINT64_C(1) << MOST_SLOTS)

struct dl_memo {
  const struct dl_predictor *p;
  size_t slot[MOST_SLOTS];
  struct dl_cell seen[MOST_SLOTS];
  size_t n;          /* of these */
  uint64_t *depends; /* one a feature, and the offset: bits of slot[] */
  double *x;         /* the features as the formulas give them */
  const char **lack; /* one a feature, and the offset */
  const char *lacks;
  bool finite, begun;
};

void dl_memo_free(struct dl_memo *m) {
  if (!m)
    return;
  free(m->depends);
  free(m->x);
  free((void *)m->lack);
  free(m);
}

static uint64_t bit_of(struct dl_memo *m, size_t slot) {
  for (size_t i = 0; i < m->n; i++)
    if (m->slot[i] == slot)
      return UINT64_C(1) << i;
  if (m->n == MOST_SLOTS)
    return ALWAYS;
  m->slot[m->n] = slot;
  return UINT64_C(1) << m->n++;
}

static uint64_t bits_of(struct dl_memo *m, const struct bound *b) {
  uint64_t bits = 0;
  for (size_t v = 0; b->formula && v < dl_formula_n_vars(b->formula); v++)
    bits |= bit_of(m, b->vars[v]);
  return bits;
}

struct dl_memo *dl_memo_new(const struct dl_predictor *p) {
  struct dl_memo *m = dl_calloc(1, sizeof *m);
  if (!m)
    return NULL;
  m->p = p;
  m->depends = dl_calloc(p->n_features + 1, sizeof *m->depends);
  m->x = dl_calloc(p->n_features, sizeof *m->x);
  m->lack = dl_calloc(p->n_features + 1, sizeof *m->lack);
  if (!m->depends || !m->x || !m->lack) {
    dl_memo_free(m);
    return NULL;
  }
  for (size_t i = 0; i < p->n_features; i++)
    m->depends[i] = bits_of(m, &p->feature[i]);
  m->depends[p->n_features] = bits_of(m, &p->offset);
  return m;
}

void dl_memo_forget(struct dl_memo *m) {
  m->begun = false;
}

/* Bit for bit: a NaN is the same as itself. */
static bool same(const struct dl_cell *a, const struct dl_cell *b) {
  uint64_t x, y;
  memcpy(&x, &a->x, sizeof x);
  memcpy(&y, &b->x, sizeof y);
  if (x != y)
    return false;
  return a->s == b->s || (a->s && b->s && strcmp(a->s, b->s) == 0);
}

void dl_memo_see(struct dl_memo *m, const struct dl_cell *cells) {
  const struct dl_predictor *p = m->p;
  uint64_t changed = m->begun ? ALWAYS : UINT64_MAX;
  for (size_t i = 0; i < m->n; i++)
    if (!m->begun || !same(&m->seen[i], &cells[m->slot[i]])) {
      changed |= UINT64_C(1) << i;
      m->seen[i] = cells[m->slot[i]];
    }
  for (size_t i = 0; i <= p->n_features; i++) {
    bool is_offset = i == p->n_features;
    const struct bound *b = is_offset ? &p->offset : &p->feature[i];
    if (m->begun && !(m->depends[i] & changed))
      continue;
    m->lack[i] = dl_bound_lacks(b, cells);
    if (!is_offset)
      m->x[i] = dl_formula_eval(b->formula, cells, b->vars);
  }
  /* In the order of dl_predictor_lacks. */
  m->lacks = m->lack[p->n_features];
  m->finite = true;
  for (size_t i = 0; i < p->n_features; i++) {
    if (!m->lacks)
      m->lacks = m->lack[i];
    m->finite &= isfinite(m->x[i]) != 0;
  }
  m->begun = true;
}

const char *dl_memo_lacks(const struct dl_memo *m) {
  return m->lacks;
}

const double *dl_memo_features(const struct dl_memo *m) {
  return m->finite ? m->x : NULL;
}

enum dl_status dl_memo_predict(const struct dl_memo *m,
                               const struct dl_cell *cells,
                               const struct dl_row_descriptors *row,
                               struct dl_prediction *out, struct dl_diag *d) {
  *out = (struct dl_prediction){.value = NAN, .low = NAN, .high = NAN};
  return m->finite ? dl_predict_with(m->p, m->x, cells, row, out, d) : DL_OK;
}
