/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Zeus: the log file of a ZeusMonitor.
 *
 * A row per measurement window, written when the window ends: start_time (s
 * since 1970), window_name, elapsed_time (s), and gpuN_energy (J) for each GPU
 * that is monitored, N being its index. The columns have not changed since the
 * first version of the monitor (0.4, 2023). Since 0.10 Zeus measures processors
 * and memory too, but does not log them; cpuN_energy and dramN_energy are read
 * because scripts add them under the names of Zeus.
 *
 * Windows may lie within one another - an epoch in a training. Each is a run
 * of its own, and their energies must not be added up. A comma in a window's
 * name is not quoted: such a row has too many fields and is skipped.
 *
 * A GPU's energy of exactly 0 means that the window was shorter than the
 * counter takes to move: it is unknown. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "logs/importers/tables/runs_rows.h"
#include "logs/log.h"

enum device { GPU, CPU, DRAM, N_DEVICES }; /* by enum dl_meter_kind */
enum { INDEX_MAX = 256 };

static const char *const device_names[] = {"gpu", "cpu", "dram"};

struct zeus {
  long start, name, elapsed;
  long at[N_DEVICES][INDEX_MAX]; /* columns of the devices there are */
  size_t n[N_DEVICES];
  bool said_zero;
};

static bool probe(const struct dl_head *head) {
  return dl_head_has(head, "start_time,window_name,elapsed_time");
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct zeus *z = log->state;
  char name[32];
  *z = (struct zeus){.said_zero = z->said_zero};
  z->start = dl_log_column(log, "start_time");
  z->name = dl_log_column(log, "window_name");
  z->elapsed = dl_log_column(log, "elapsed_time");
  if (z->name < 0 || z->elapsed < 0)
    return dl_fail_at(d, DL_EINPUT, head->path, 1,
                      "no columns 'window_name' and 'elapsed_time'");
  for (size_t k = 0; k < N_DEVICES; k++)
    for (int i = 0; i < INDEX_MAX; i++) {
      snprintf(name, sizeof name, "%s%d_energy", device_names[k], i);
      long at = dl_log_column(log, name);
      if (at >= 0)
        z->at[k][z->n[k]++] = at;
    }
  return DL_OK;
}

/* The energy of all n devices of a kind that the header in force has; NaN where
 * one is unknown. */
static bool sum_energies(struct dl_log *log, struct zeus *z,
                         const char *const *cell, enum device k, double *energy,
                         size_t *n) {
  double sum = 0, x;
  *energy = NAN;
  *n = 0;
  for (size_t i = 0; i < z->n[k]; i++) {
    if (cell[z->at[k][i]] == dl_csv_absent)
      continue;
    if (!dl_run_cell(log, cell, z->at[k][i], 1, 0, &x))
      return false;
    if (k == GPU && x == 0) {
      x = NAN;
      if (!z->said_zero)
        dl_log_warn(log, "a GPU's energy is 0: the window was too short for "
                         "its counter; taken as unknown");
      z->said_zero = true;
    }
    sum += x;
    ++*n;
  }
  if (*n > 0 && sum <= 1e300)
    *energy = sum;
  return true;
}

static bool row(struct dl_log *log, const char *const *cell) {
  struct zeus *z = log->state;
  double elapsed, energy[N_DEVICES], total = 0;
  size_t n[N_DEVICES];
  if (!dl_run_cell(log, cell, z->elapsed, 1, 0, &elapsed))
    return false;
  if (isnan(elapsed))
    return dl_log_bad(log, "column 'elapsed_time' is empty");
  for (enum device k = 0; k < N_DEVICES; k++) {
    if (!sum_energies(log, z, cell, k, &energy[k], &n[k]))
      return false;
    if (n[k] > 0)
      total += energy[k];
  }
  struct dl_run *r = dl_log_run(log);
  dl_run_copy_text(r, DL_RUN_run_id, cell[z->name]);
  dl_run_put_start(log, r, cell, z->start, 0);
  dl_run_put(r, DL_RUN_duration_s, elapsed);
  if (n[GPU] > 0)
    dl_run_put(r, DL_RUN_n_gpus, (double)n[GPU]);
  for (enum device k = 0; k < N_DEVICES; k++)
    dl_run_put_energy(r, (enum dl_meter_kind)k, energy[k], elapsed);
  if (n[GPU] + n[CPU] + n[DRAM] == 0)
    return true;
  dl_run_put(r, DL_RUN_energy_j, total);
  dl_run_lend_text(r, DL_RUN_boundary,
                   dl_parts_boundary(n[GPU] > 0, n[CPU] > 0, n[DRAM] > 0));
  return true;
}

const struct dl_importer dl_import_zeus = {
    .name = "zeus",
    .summary = "log file of Zeus's ZeusMonitor",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct zeus),
    .probe = probe,
    .begin = begin,
    .row = row,
};
