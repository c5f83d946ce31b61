/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of runs that `dlest extract` writes, or some of its columns:
 * at least run_id, duration_s and an energy or the power of the GPUs or the
 * node, and no column epoch, as a table of epochs has. Other columns are
 * ignored. */

#include <math.h>

#include "logs/importers/tables/runs_rows.h"
#include "logs/log.h"

/* The columns of the file that are columns of the runs table. */
struct run_columns {
  size_t n;
  long at[DL_N_RUN_COLUMNS]; /* in the file */
  enum dl_run_id id[DL_N_RUN_COLUMNS];
  bool warned[DL_N_RUN_COLUMNS];
};

static bool probe(const struct dl_head *head) {
  static const char *const measured[] = {"energy_j", "gpu_energy_j",
                                         "node_energy_j", "gpu_power_w",
                                         "node_power_w"};
  bool any = false;
  for (size_t i = 0; i < DL_LENGTH(measured) && !any; i++)
    any = dl_head_has(head, measured[i]);
  return any && dl_head_has(head, "run_id,duration_s") &&
         !dl_head_has(head, "epoch");
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct run_columns *t = log->state;
  *t = (struct run_columns){0};
  for (size_t id = 0; id < DL_N_RUN_COLUMNS; id++) {
    t->at[t->n] = dl_log_column(log, dl_run_columns[id].name);
    t->id[t->n] = (enum dl_run_id)id;
    t->n += t->at[t->n] >= 0;
  }
  return t->n > 0 ? DL_OK
                  : dl_fail_at(d, DL_EINPUT, head->path, 1,
                               "no column of the runs table: see dlest(1)");
}

/* A number that no run can have, as percent in the place of a share or a
 * fraction of a count, or a word that the column does not know. */
static void warn_dropped(struct dl_log *log, const struct dl_run_column *c,
                         enum dl_fault_kind fault, const char *cell) {
  DL_TEXT(what);
  dl_run_column_explain(c, fault, cell, &what);
  dl_log_warn(log, "column '%s': %s; such values are left out", c->name,
              dl_text_str(&what));
}

static bool row(struct dl_log *log, const char *const *cell) {
  struct run_columns *t = log->state;
  struct dl_run run = dl_run_unknown;
  double x;
  run.line = log->line;
  for (size_t i = 0; i < t->n; i++) {
    long at = t->at[i];
    enum dl_run_id id = t->id[i];
    const struct dl_run_column *c = &dl_run_columns[id];
    enum dl_fault_kind fault = DL_FAULT_NONE;
    if (c->is_text) {
      fault = *cell[at] ? dl_run_column_fault(c, cell[at]) : fault;
      if (fault == DL_FAULT_NONE)
        dl_run_read(&run, c, cell[at]);
    } else if (dl_run_cell(log, cell, at, 1, fmin(0, c->low), &x)) {
      fault = dl_run_column_check(c, x);
      if (fault == DL_FAULT_NONE)
        dl_run_put(&run, id, x);
    } else {
      dl_run_clear(&run);
      return false;
    }
    if (fault != DL_FAULT_NONE && !t->warned[i]) {
      warn_dropped(log, c, fault, cell[at]);
      t->warned[i] = true;
    }
  }
  dl_log_add_run(log, &run);
  return true;
}

const struct dl_importer dl_import_table = {
    .name = "runs",
    .summary = "the table of runs that dlest extract writes",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct run_columns),
    .probe = probe,
    .begin = begin,
    .row = row,
};
