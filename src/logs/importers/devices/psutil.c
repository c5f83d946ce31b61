/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU and memory log of del Rey et al., written with psutil beside the log
 * of nvidia-smi: timestamp,cpu usage (%),memory usage (MB),temperature
 * (Celsius).
 *
 * Memory draws 3.75e-4 W per MB in use (del Rey et al., arXiv 2307.05520). The
 * power of the CPU is unknown. */

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "logs/log.h"

enum column { TIME, CPU, MEMORY, N_COLUMNS };
static const struct dl_cell_column columns[] = {
    {"timestamp", DL_NO_DIMENSION, 1},
    {"cpu usage (%)", DL_NO_DIMENSION, 1},
    {"memory usage (MB)", DL_NO_DIMENSION, 1}};
enum { FIELDS_MAX = 16 };

static bool probe(const struct dl_head *head) {
  return dl_head_has(head, "timestamp,cpu usage (%),memory usage (MB)");
}

/* Whether a line is a header, the first or a later one. */
static bool read_header(struct dl_table_header *p, char *const *field,
                        size_t n) {
  int at[N_COLUMNS];
  if (n > FIELDS_MAX || !dl_cell_header(field, n, columns, N_COLUMNS, at))
    return false;
  for (size_t c = 0; c < N_COLUMNS; c++)
    if (at[c] < 0)
      return false;
  memcpy(p->at, at, sizeof at);
  p->n_fields = n;
  return true;
}

static bool line(struct dl_log *log, char *s) {
  struct dl_table_header *p = log->state;
  char *field[FIELDS_MAX + 1];
  double x[N_COLUMNS];
  int64_t ns;
  size_t n = dl_cell_split(s, ',', field, FIELDS_MAX + 1);
  if (read_header(p, field, n))
    return true;
  if (p->n_fields == 0)
    return dl_log_bad(log, "no columns 'timestamp', 'cpu usage (%%)' and "
                           "'memory usage (MB)'");
  if (!dl_cell_fields(log, ',', field, n, p->n_fields))
    return false;
  if (!dl_cell_time(log, columns[TIME].names, field[p->at[TIME]], &ns))
    return false;
  for (size_t c = CPU; c <= MEMORY; c++) {
    const char *cell = field[p->at[c]];
    if (!dl_cell_number(cell, strlen(cell), &x[c]))
      return dl_log_bad(log, "column '%s': invalid number '%.40s'",
                        columns[c].names, cell);
  }
  struct dl_reading ram =
      dl_reading_at(dl_log_meter(log, DL_METER_RAM, NULL, NULL), ns);
  ram.power_w = x[MEMORY] * DL_MEMORY_W_PER_MB_USED;
  dl_log_reading(log, &ram);
  struct dl_reading cpu =
      dl_reading_at(dl_log_meter(log, DL_METER_CPU, NULL, NULL), ns);
  cpu.util = x[CPU] / 100;
  dl_log_reading(log, &cpu);
  return true;
}

const struct dl_importer dl_import_psutil = {
    .name = "psutil",
    .summary = "timestamp, cpu usage (%), memory usage (MB), with a GPU log",
    .role = DL_LOG_MEMORY,
    .state_size = sizeof(struct dl_table_header),
    .probe = probe,
    .line = line,
};
