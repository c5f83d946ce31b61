/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/tables/runs_rows.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "io/csv.h"
#include "logs/log.h"
#include "logs/readings/measure.h"

bool dl_run_has_text(const char *const *cell, long at) {
  return at >= 0 &&
         dl_word_among("|n/a|none|nan|null", cell[at], strlen(cell[at])) < 0;
}

bool dl_run_cell(struct dl_log *log, const char *const *cell, long at,
                 double scale, double low, double *x) {
  double number;
  *x = NAN;
  if (!dl_run_has_text(cell, at))
    return true;
  const char *fault = NULL;
  if (!dl_parse_double(cell[at], &number))
    fault = "invalid number";
  else if (number < low)
    fault = "negative number";
  if (fault)
    return dl_log_bad(log, "column '%s': %s '%.40s'",
                      dl_csv_name(log->csv, (size_t)at), fault, cell[at]);
  if (!(number * scale <= 1e300))
    return dl_log_bad(log, "column '%s': number '%.40s' is out of range",
                      dl_csv_name(log->csv, (size_t)at), cell[at]);
  *x = number * scale;
  return true;
}

void dl_run_columns_find(struct dl_log *log,
                         const struct dl_cell_column *columns, size_t n,
                         long *at) {
  DL_TEXT(name);
  for (size_t c = 0; c < n; c++) {
    const char *s = columns[c].names;
    for (at[c] = -1; at[c] < 0 && *s != '\0'; s += *s == '|') {
      dl_text_clear(&name);
      dl_text_add_n(&name, s, strcspn(s, "|"));
      at[c] = dl_log_column(log, name.s);
      s += name.len;
    }
  }
}

bool dl_run_cells(struct dl_log *log, const char *const *cell, const long *at,
                  const struct dl_cell_column *columns, size_t n, double *x) {
  for (size_t c = 0; c < n; c++)
    if (!dl_run_cell(log, cell, at[c], columns[c].scale, 0, &x[c]))
      return false;
  return true;
}

void dl_run_put(struct dl_run *r, enum dl_run_id column, double x) {
  const struct dl_run_column *c = &dl_run_columns[column];
  if (x >= c->low && x <= c->high)
    dl_run_set_number(r, column, x);
}

void dl_run_put_energy(struct dl_run *r, enum dl_meter_kind kind,
                       double energy_j, double duration_s) {
  dl_run_put(r, dl_energy_column[kind], energy_j);
  if (duration_s > 0)
    dl_run_put(r, dl_power_column[kind], energy_j / duration_s);
}

void dl_run_put_epochs(struct dl_run *r, double epochs) {
  if (!(epochs >= 1))
    return;
  dl_run_put(r, DL_RUN_epochs, epochs);
  dl_run_put(r, DL_RUN_epoch_s, r->duration_s / epochs);
  dl_run_put(r, DL_RUN_epoch_energy_j, r->energy_j / epochs);
}

void dl_run_put_time(struct dl_run *r, const struct dl_timestamp *t,
                     double before_s) {
  char buf[DL_TIMESTAMP_SIZE];
  int64_t ns;
  if (!t->dated || !(before_s >= 0 && before_s < 9e9) ||
      __builtin_sub_overflow(t->ns, llround(before_s * 1e9), &ns))
    return;
  dl_run_copy_text(r, DL_RUN_start_time,
                   dl_format_timestamp(buf, ns, t->zoned));
}

void dl_run_put_start(struct dl_log *log, struct dl_run *r,
                      const char *const *cell, long at, double before_s) {
  struct dl_timestamp t;
  if (!dl_run_has_text(cell, at))
    return;
  if (dl_parse_timestamp(cell[at], strlen(cell[at]), &t))
    dl_run_put_time(r, &t, before_s);
  else
    dl_log_warn(log, "invalid time '%.40s'", cell[at]);
}
