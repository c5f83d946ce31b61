/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of runs that `dlest extract` writes, or a part of its columns:
 * run_id, n_gpus, duration_s and energy_j at least, so that a table of epochs
 * is none. Columns that are not canonical are passed over. */

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "logs/importers/tables/runs_rows.h"
#include "run/run_columns.h"

struct table {
  long *at; /* column of the file, one a column of runs; -1: none */
};

static bool probe(const struct dl_head *head) {
  static const char *const names[] = {"run_id", "n_gpus", "duration_s",
                                      "energy_j", NULL};
  return dl_head_has(head, ',', names);
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct table *t = dl_log_state(log);
  bool any = false;
  t->at = dl_calloc(dl_run_column_count(), sizeof *t->at);
  if (!t->at)
    return dl_fail_memory(d);
  for (size_t i = 0; i < dl_run_column_count(); i++) {
    t->at[i] = dl_log_column(log, dl_run_column_at(i)->name);
    any = any || t->at[i] >= 0;
  }
  return any ? DL_OK
             : dl_fail_at(d, DL_EINPUT, head->path, 1,
                          "no column of the runs table: see dlest(1)");
}

static bool fill(struct dl_log *log, struct dl_run *r, const struct table *t,
                 const char *const *cell) {
  for (size_t i = 0; i < dl_run_column_count(); i++) {
    const struct dl_run_column *c = dl_run_column_at(i);
    double x;
    if (t->at[i] < 0)
      continue;
    if (c->is_text) {
      dl_run_copy_text(r, (enum dl_run_id)i, cell[t->at[i]]);
      continue;
    }
    if (!dl_run_cell(log, cell, t->at[i], c->name, 1, &x))
      return false;
    if (x >= c->low && x <= c->high)
      dl_run_set_number(r, (enum dl_run_id)i, x);
  }
  return true;
}

static bool row(struct dl_log *log, const char *const *cell) {
  struct dl_run r;
  if (!dl_run_init(&r))
    return dl_log_bad(log, "out of memory");
  struct dl_run *out =
      fill(log, &r, dl_log_state(log), cell) ? dl_log_run(log) : NULL;
  if (!out) {
    dl_run_clear(&r);
    return false;
  }
  r.line = out->line;
  dl_run_clear(out);
  *out = r;
  return true;
}

static void free_state(void *state) {
  struct table *t = state;
  free(t->at);
}

const struct dl_importer dl_import_table = {
    .name = "runs",
    .summary = "the table of runs that dlest extract writes",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct table),
    .probe = probe,
    .begin = begin,
    .row = row,
    .free = free_state,
};
