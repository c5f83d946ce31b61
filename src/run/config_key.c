/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/config_key.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "quantities/quantities.h"

enum { MOST_SETTINGS = 40 };

struct dl_key_maker {
  size_t n;
  struct dl_row_ref at[MOST_SETTINGS];
  const struct dl_run_column *column[MOST_SETTINGS];
};

/* Whether a quantity is the size of a data set, which its name says already. */
static bool is_of_dataset(const struct dl_row_plan *f, enum dl_run_id id) {
  bool size = id == DL_RUN_train_samples || id == DL_RUN_val_samples ||
              id == DL_RUN_stored_mpx || id == DL_RUN_stored_kb;
  return size && !dl_plan_gives(f, id);
}

enum dl_status dl_key_maker_new(struct dl_key_maker **out,
                                struct dl_row_plan *f, struct dl_diag *d) {
  *out = NULL;
  struct dl_key_maker *m = dl_calloc(1, sizeof *m);
  for (size_t i = 0; i < DL_N_RUN_COLUMNS && m->n < MOST_SETTINGS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    if (c->role != DL_ROLE_SETTING || !dl_plan_has_source(f, c->id) ||
        is_of_dataset(f, c->id))
      continue;
    m->column[m->n] = c;
    enum dl_status status = dl_plan_member(f, c->id, false, &m->at[m->n++], d);
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

static void add_part(const struct dl_run_column *c, const struct dl_row_ref *q,
                     const struct dl_row *row, struct dl_text *key) {
  const struct dl_row_descriptors *found = &row->found;
  enum dl_run_id id = c->id;
  if (c->is_text) {
    const char *s = dl_row_text(row, q);
    if (id == DL_RUN_arch && found->arch)
      s = found->arch->head.id;
    else if (id == DL_RUN_gpu && found->gpu)
      s = found->gpu->head.id;
    dl_text_add(key, s ? s : "");
    return;
  }
  bool samples = id == DL_RUN_train_samples || id == DL_RUN_val_samples;
  double x = dl_row_number(row, q);
  if (!isnan(x)) {
    char buf[DL_NUMBER_SIZE];
    dl_text_add(key, samples ? dl_format_digits(buf, x, 2)
                             : dl_format_short(buf, x));
  }
}

void dl_key_make(const struct dl_key_maker *m, const struct dl_row *row,
                 struct dl_text *key) {
  for (size_t i = 0; i < m->n; i++) {
    if (i > 0)
      dl_text_add(key, "|");
    add_part(m->column[i], &m->at[i], row, key);
  }
}
