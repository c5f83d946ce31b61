/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/run_columns.h"

bool dl_run_init(struct dl_run *r) {
  size_t n = dl_run_column_count();
  *r = (struct dl_run){0};
  r->number = malloc(n * sizeof *r->number);
  r->text = dl_calloc(n, sizeof *r->text);
  if (!r->number || !r->text) {
    dl_run_clear(r);
    r->failed = true;
    return false;
  }
  for (size_t i = 0; i < n; i++)
    r->number[i] = NAN;
  return true;
}

void dl_run_clear(struct dl_run *r) {
  for (size_t i = 0; r->text && i < dl_run_column_count(); i++)
    free(r->text[i]);
  free(r->text);
  free(r->number);
  free(r->epoch);
  *r = (struct dl_run){0};
}

static size_t index_of(const char *column, bool is_text) {
  const struct dl_run_column *c = dl_run_column_find(column);
  assert(c && c->is_text == is_text);
  (void)is_text;
  return (size_t)(c - dl_run_column_at(0));
}

void dl_run_set(struct dl_run *r, const char *column, double x) {
  r->number[index_of(column, false)] = isfinite(x) ? x : NAN;
}

void dl_run_set_text(struct dl_run *r, const char *column, const char *s) {
  char **cell = &r->text[index_of(column, true)];
  free(*cell);
  *cell = s && *s ? dl_strdup(s) : NULL;
  if (s && *s && !*cell)
    r->failed = true;
}

void dl_run_fill(struct dl_run *r, struct dl_run *from) {
  for (size_t i = 0; i < dl_run_column_count(); i++)
    if (dl_run_column_at(i)->is_text && !r->text[i]) {
      r->text[i] = from->text[i];
      from->text[i] = NULL;
    } else if (!dl_run_column_at(i)->is_text && isnan(r->number[i])) {
      r->number[i] = from->number[i];
    }
}

double dl_run_get(const struct dl_run *r, const char *column) {
  return r->number[index_of(column, false)];
}

const char *dl_run_get_text(const struct dl_run *r, const char *column) {
  return r->text[index_of(column, true)];
}

const char *dl_parts_boundary(bool gpu, bool cpu, bool ram) {
  static const char *const words[] = {NULL,      "ram",        "cpu",
                                      "cpu+ram", "gpu",        "gpu+ram",
                                      "gpu+cpu", "gpu+cpu+ram"};
  return words[gpu * 4 + cpu * 2 + ram];
}

struct dl_epoch *dl_run_add_epoch(struct dl_run *r, enum dl_part part) {
  void *epochs = r->epoch;
  if (!dl_grow(&epochs, &r->epochs_cap, r->n_epochs + 1, sizeof *r->epoch)) {
    r->failed = true;
    return NULL;
  }
  r->epoch = epochs;
  double number = 0;
  for (size_t i = r->n_epochs; i > 0 && number == 0; i--)
    if (r->epoch[i - 1].part == DL_PART_EPOCH)
      number = r->epoch[i - 1].number + 1;
  struct dl_epoch *e = &r->epoch[r->n_epochs++];
  *e = (struct dl_epoch){part, part == DL_PART_EPOCH ? number : NAN,
                         NAN,  NAN,
                         NAN,  NAN,
                         NAN,  NAN,
                         NAN,  NAN,
                         NAN};
  return e;
}
