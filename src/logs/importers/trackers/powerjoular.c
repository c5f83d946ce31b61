/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PowerJoular's CSV of a machine (-f FILE):
 *
 *   Date,CPU Utilization,Total Power,CPU Power,GPU Power
 *   2024-04-11 14:43:00,0.12,117.45,17.45,100.0
 *
 * Local times, W, and a share. "Total Power" is the sum of the CPUs' (RAPL) and
 * the GPUs' (nvidia-smi), and no more than that: it is not used. Without a GPU
 * its power is 0. Files of one process (FILE-PID.csv) have "CPU Power" alone:
 * its share of the CPUs, which importer `samples` reads. */

#include <math.h>
#include <string.h>

#include "logs/log.h"

#define COLUMNS(X)                                                             \
  X(DATE, "Date", DL_NO_DIMENSION, 1)                                          \
  X(UTIL, "CPU Utilization", DL_SHARE, 1)                                      \
  X(TOTAL, "Total Power", DL_POWER, 1)                                         \
  X(CPU, "CPU Power", DL_POWER, 1)                                             \
  X(GPU, "GPU Power", DL_POWER, 1)

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS };
static const struct dl_cell_column columns[] = {COLUMNS(DL_COLUMN_ROW)};

enum { FIELDS_MAX = 16 };

static bool read_header(struct dl_table_header *j, char *s) {
  char *field[FIELDS_MAX];
  j->n_fields = dl_cell_split(s, ',', field, FIELDS_MAX);
  if (j->n_fields > FIELDS_MAX)
    return false;
  dl_cell_columns(field, j->n_fields, columns, N_COLUMNS, j->at);
  return j->at[DATE] >= 0 && j->at[TOTAL] >= 0 && j->at[CPU] >= 0;
}

static bool probe(const struct dl_head *head) {
  char text[DL_HEAD_LINE];
  struct dl_table_header j;
  size_t at = 0;
  return dl_head_line(head, &at, text, sizeof text) && read_header(&j, text);
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  char text[DL_HEAD_LINE];
  size_t at = 0;
  if (dl_head_line(head, &at, text, sizeof text) &&
      read_header(log->state, text))
    return DL_OK;
  return dl_fail_at(d, DL_EINPUT, head->path, 1,
                    "no header 'Date,CPU Utilization,Total Power,CPU Power,GPU "
                    "Power'");
}

static bool line(struct dl_log *log, char *s) {
  struct dl_table_header *j = log->state;
  char *field[FIELDS_MAX + 1];
  double x[N_COLUMNS];
  int64_t ns;
  if (strncmp(s, "Date,", 5) == 0)
    return true;
  if (!dl_cell_row(log, s, ',', field, j->n_fields) ||
      !dl_cell_time(log, "Date", field[j->at[DATE]], &ns))
    return false;
  for (enum column c = UTIL; c < N_COLUMNS; c++) {
    x[c] = NAN;
    if (j->at[c] >= 0 &&
        !dl_cell_quantity(log, &columns[c], field[j->at[c]], &x[c]))
      return false;
  }
  struct dl_reading r =
      dl_reading_at(dl_log_meter(log, DL_METER_CPU, NULL, NULL), ns);
  r.power_w = x[CPU];
  r.util = x[UTIL] <= 1 ? x[UTIL] : NAN;
  dl_log_reading(log, &r);
  /* The GPU is a second meter from its first power on. */
  if (log->n_meters < 2 && !(x[GPU] > 0))
    return true;
  r = dl_reading_at(dl_log_meter(log, DL_METER_GPU, NULL, NULL), ns);
  r.power_w = x[GPU];
  dl_log_reading(log, &r);
  return true;
}

const struct dl_importer dl_import_powerjoular = {
    .name = "powerjoular",
    .summary = "PowerJoular's CSV of a machine: CPUs and GPUs",
    .state_size = sizeof(struct dl_table_header),
    .probe = probe,
    .begin = begin,
    .line = line,
};
