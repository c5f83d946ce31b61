/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of runs that `dlest extract` writes, or some of its columns:
 * at least one that names the run (run_id, arch or gpu), duration_s and an
 * energy or a power, and no column epoch, as a table of epochs has. The power
 * of a run that does not say of what (power_w, mean_power_kw) gives its energy.
 * A name may have another unit (duration_h, energy_kwh); columns are separated
 * by commas, semicolons (and decimals have commas) or tabs. Other columns are
 * ignored. */

#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/csv.h"
#include "logs/importers/tables/runs_rows.h"
#include "logs/log.h"
#include "run/column_names.h"

/* Sums and values in two units are equal within this share: they are rounded.
 */
#define DIFFERENCE 0.01

/* The columns of the file that are columns of the runs table. */
struct run_columns {
  size_t n;
  long at[DL_N_RUN_COLUMNS]; /* in the file */
  enum dl_run_id id[DL_N_RUN_COLUMNS];
  double scale[DL_N_RUN_COLUMNS];
  bool warned[DL_N_RUN_COLUMNS];
  long power_at; /* the power of a run, -1: none */
  double power_scale;
  long again_at; /* a second column of a quantity, -1: none */
  enum dl_run_id again;
  double again_scale;
  double sum_j; /* of the runs so far */
  size_t n_runs;
};

/* Whether a name is a power in a stated unit, of nothing in particular. */
static bool is_power(const char *name, double *scale) {
  static const char names[] =
      "power|meanpower|avgpower|averagepower|powermean|poweravg|powerdraw";
  char stem[DL_MOST_NAME];
  const struct dl_named_unit *unit = dl_stated_unit(name, stem);
  *scale = unit ? unit->factor : 1;
  return unit && dl_word_among("W", unit->unit, strlen(unit->unit)) >= 0 &&
         dl_word_among(names, stem, strlen(stem)) >= 0;
}

/* The column that a name stands for, and the factor of its unit; N: none. */
static enum dl_run_id column_of(const char *name, double *scale) {
  const struct dl_run_column *c = dl_run_column_find(name);
  *scale = 1;
  if (!c) {
    const char *meant = dl_column_in_unit(name, scale);
    c = meant ? dl_run_column_find(meant) : NULL;
  }
  return c ? c->id : DL_N_RUN_COLUMNS;
}

/* Whether a header of fields between a separator is one of runs. */
static bool is_of_runs(const char *header, char separator) {
  char line[DL_HEAD_LINE], *field[DL_HEAD_FIELDS];
  bool has[DL_N_RUN_COLUMNS + 1] = {false}, power = false;
  double scale;
  memcpy(line, header, sizeof line);
  size_t n = dl_cell_split(line, separator, field, DL_HEAD_FIELDS);
  for (size_t i = 0; i < n && i < DL_HEAD_FIELDS; i++) {
    if (dl_is_word(field[i], "epoch"))
      return false;
    has[column_of(field[i], &scale)] = true;
    power = power || is_power(field[i], &scale);
  }
  return has[DL_RUN_duration_s] &&
         (has[DL_RUN_run_id] || has[DL_RUN_arch] || has[DL_RUN_gpu]) &&
         (power || has[DL_RUN_energy_j] || has[DL_RUN_gpu_energy_j] ||
          has[DL_RUN_node_energy_j] || has[DL_RUN_gpu_power_w] ||
          has[DL_RUN_node_power_w]);
}

static bool probe(const struct dl_head *head) {
  static const char separators[] = ",;\t";
  char line[DL_HEAD_LINE];
  size_t at = 0;
  if (!dl_head_line(head, &at, line, sizeof line))
    return false;
  for (const char *s = separators; *s; s++)
    if (is_of_runs(line, *s))
      return true;
  return false;
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct run_columns *t = log->state;
  bool taken[DL_N_RUN_COLUMNS + 1] = {[DL_N_RUN_COLUMNS] = true};
  *t = (struct run_columns){
      .power_at = -1, .again_at = -1, .sum_j = t->sum_j, .n_runs = t->n_runs};
  for (size_t i = 0; i < dl_csv_n_cols(log->csv); i++) {
    double scale;
    const char *name = dl_csv_name(log->csv, i);
    enum dl_run_id id = column_of(name, &scale);
    if (t->power_at < 0 && is_power(name, &scale)) {
      t->power_at = (long)i;
      t->power_scale = scale;
      continue;
    }
    const char *own = id < DL_N_RUN_COLUMNS ? dl_run_columns[id].name : name;
    if (taken[id] || (strcmp(own, name) != 0 && dl_log_column(log, own) >= 0)) {
      if (id < DL_N_RUN_COLUMNS && !dl_run_columns[id].is_text) {
        t->again_at = (long)i;
        t->again = id;
        t->again_scale = scale;
      }
      continue;
    }
    taken[id] = true;
    t->at[t->n] = (long)i;
    t->id[t->n] = id;
    t->scale[t->n++] = scale;
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

/* Warns, once, of a second column of a quantity that has another value. */
static void compare(struct dl_log *log, struct run_columns *t,
                    const char *const *cell, const struct dl_run *run) {
  double x;
  if (t->again_at < 0)
    return;
  const double first = dl_run_number(run, t->again);
  if (!dl_run_cell(log, cell, t->again_at, t->again_scale, -INFINITY, &x) ||
      !(fabs(x - first) > DIFFERENCE * fabs(first)))
    return;
  dl_log_warn(log, "columns '%s' and '%s' differ: the first is used",
              dl_run_columns[t->again].name,
              dl_csv_name(log->csv, (size_t)t->again_at));
  t->again_at = -1;
}

/* Whether a row is the sum or the mean of those before. */
static bool is_sum(struct run_columns *t, const struct dl_run *run) {
  const double n = (double)t->n_runs, x = run->energy_j;
  if (t->n_runs > 1 && dl_log_names_sum(run->run_id) &&
      (fabs(x - t->sum_j) <= DIFFERENCE * x ||
       fabs(x - t->sum_j / n) <= DIFFERENCE * x))
    return true;
  t->sum_j += x;
  t->n_runs++;
  return false;
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
    } else if (dl_run_cell(log, cell, at, t->scale[i], fmin(0, c->low), &x)) {
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
  if (t->power_at >= 0) {
    if (!dl_run_cell(log, cell, t->power_at, t->power_scale, 0, &x)) {
      dl_run_clear(&run);
      return false;
    }
    if (isnan(run.energy_j))
      dl_run_put(&run, DL_RUN_energy_j, x * run.duration_s);
  }
  compare(log, t, cell, &run);
  if (is_sum(t, &run)) {
    dl_log_warn(log,
                "row '%.60s' is a sum or a mean of those before: not counted",
                run.run_id);
    dl_run_clear(&run);
    return true;
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
