/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU and memory log that del Rey et al. keep beside nvidia-smi's, written
 * from psutil: timestamp,cpu usage (%),memory usage (MB),temperature (Celsius).
 *
 * Memory draws 3.75e-4 W for each MB in use (del Rey et al., arXiv
 * 2307.05520). The CPU's power is not known from it. */

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/constants.h"
#include "logs/log.h"

enum column { TIME, CPU, MEMORY, N_COLUMNS };
enum { FIELDS_MAX = 16 };

static const char *const names[] = {"timestamp", "cpu usage (%)",
                                    "memory usage (MB)", NULL};

struct psutil {
  int at[N_COLUMNS];
  size_t n_fields; /* 0 before the header */
};

static bool probe(const struct dl_head *head) {
  return dl_head_has(head, ',', names);
}

static bool read_header(struct psutil *p, char *s) {
  char *field[FIELDS_MAX];
  dl_cell_split(s, ',', field, FIELDS_MAX, &p->n_fields);
  if (p->n_fields <= FIELDS_MAX)
    dl_cell_columns(field, p->n_fields, names, N_COLUMNS, p->at);
  for (size_t c = 0; c < N_COLUMNS; c++)
    if (p->n_fields > FIELDS_MAX || p->at[c] < 0)
      p->n_fields = 0;
  return p->n_fields > 0;
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct psutil *p = log->state;
  char *field[FIELDS_MAX];
  double x[N_COLUMNS];
  size_t n;
  int64_t ns;
  (void)len;
  if (dl_strncasecmp(s, names[TIME], strlen(names[TIME])) == 0 ||
      p->n_fields == 0)
    return read_header(p, s) ||
           dl_log_bad(log, "no columns 'timestamp', 'cpu usage (%%)' and "
                           "'memory usage (MB)'");
  dl_cell_split(s, ',', field, FIELDS_MAX, &n);
  if (n != p->n_fields)
    return dl_log_bad(log, "expected %zu fields, found %zu", p->n_fields, n);
  if (!dl_cell_time(log, names[TIME], field[p->at[TIME]], &ns))
    return false;
  for (size_t c = CPU; c <= MEMORY; c++) {
    const char *cell = field[p->at[c]];
    if (!dl_cell_number(cell, strlen(cell), &x[c]))
      return dl_log_bad(log, "column '%s': invalid number '%.40s'", names[c],
                        cell);
  }
  dl_log_reading(log, &(struct dl_reading){
                          .ns = ns,
                          .meter = dl_log_meter(log, DL_METER_RAM, NULL, NULL),
                          .power_w = x[MEMORY] * DL_MEMORY_W_PER_MB_USED,
                          .util = NAN,
                          .energy_j = NAN});
  dl_log_reading(log, &(struct dl_reading){
                          .ns = ns,
                          .meter = dl_log_meter(log, DL_METER_CPU, NULL, NULL),
                          .power_w = NAN,
                          .util = x[CPU] / 100,
                          .energy_j = NAN});
  return true;
}

const struct dl_importer dl_import_psutil = {
    .name = "psutil",
    .summary = "timestamp, cpu usage (%), memory usage (MB): beside a GPU log",
    .role = DL_LOG_MEMORY,
    .state_size = sizeof(struct psutil),
    .probe = probe,
    .line = line,
};
