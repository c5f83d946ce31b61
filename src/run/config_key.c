/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/config_key.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "run/run_columns.h"

enum { MOST_SETTINGS = 32 };

struct dl_key_maker {
  size_t n;
  size_t slot[MOST_SETTINGS];
  const struct dl_run_column *column[MOST_SETTINGS];
};

enum dl_status dl_key_maker_new(struct dl_key_maker **out, struct dl_frame *f,
                                struct dl_diag *d) {
  *out = NULL;
  struct dl_key_maker *m = dl_calloc(1, sizeof *m);
  if (!m)
    return dl_fail_memory(d);
  for (size_t i = 0; i < dl_run_column_count() && m->n < MOST_SETTINGS; i++) {
    const struct dl_run_column *c = dl_run_column_at(i);
    if (c->role != DL_ROLE_SETTING || !dl_frame_has(f, c->name))
      continue;
    m->column[m->n] = c;
    enum dl_status status =
        dl_frame_slot(f, c->name, false, &m->slot[m->n++], d);
    if (status != DL_OK) {
      free(m);
      return status;
    }
  }
  if (m->n == 0) {
    free(m);
    return DL_OK;
  }
  *out = m;
  return DL_OK;
}

void dl_key_maker_free(struct dl_key_maker *m) {
  free(m);
}

static bool is_samples(const char *name) {
  return strcmp(name, "train_samples") == 0 || strcmp(name, "val_samples") == 0;
}

static void add_part(const struct dl_run_column *c, const struct dl_cell *cell,
                     const struct dl_row_descriptors *row,
                     struct dl_text *key) {
  char buf[DL_NUMBER_SIZE];
  if (strcmp(c->name, "arch") == 0 && row->arch)
    dl_text_add(key, row->arch->head.id);
  else if (strcmp(c->name, "gpu") == 0 && row->gpu)
    dl_text_add(key, row->gpu->head.id);
  else if (c->is_text)
    dl_text_add(key, cell->s ? cell->s : "");
  else if (!isnan(cell->x))
    dl_text_add(key, is_samples(c->name) ? dl_format_digits(buf, cell->x, 2)
                                         : dl_format_short(buf, cell->x));
}

void dl_key_make(const struct dl_key_maker *m, const struct dl_cell *cells,
                 const struct dl_row_descriptors *row, struct dl_text *key) {
  for (size_t i = 0; i < m->n; i++) {
    if (i > 0)
      dl_text_add(key, "|");
    add_part(m->column[i], &cells[m->slot[i]], row, key);
  }
}
