/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Eco2AI: emission.csv.
 *
 * Columns of 0.3 (2022 on): id, project_name, experiment_description, epoch,
 * start_time, duration(s), power_consumption(kWh), CO2_emissions(kg), CPU_name,
 * GPU_name, OS, region/country, cost; later versions may add
 * CPU_consumption(kWh), GPU_consumption(kWh), RAM_consumption(kWh). Before 0.3
 * id, epoch and cost are missing, and the unit is spelt kWTh. In spite of its
 * name power_consumption is an energy.
 *
 * - A tracker writes one row per run, rewritten while the run lasts. For a
 *   training it adds a row at the end of each epoch, after the others of that
 *   id, with "epoch: 1, loss: 0.3, " in `epoch`; time and energy start again
 *   with each. Consecutive rows of one id with an epoch are one run here.
 *   Epochs count from 1 there, from 0 here; if the first is 0, from 0 in both.
 * - The energy is the GPUs' energy plus the share of CPU and memory of the
 * process (or of all processes: the file does not state that option), times the
 * PUE of the user (1 by default, also not in the file). None of the boundaries
 * is certain.
 * - GPU_name: "Quadro T1000 1 device(s)", followed by the source of its power;
 *   "CPU 0 device(s)" or " 0 device(s)" without a GPU. Encoded files contain no
 *   readable numbers. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "logs/importers/tables/runs_rows.h"
#include "logs/log.h"

/* Numbers, with their units, and texts. */
#define COLUMNS(X)                                                             \
  X(DURATION, "duration(s)", 1)                                                \
  X(ENERGY, "power_consumption(kWh)|power_consumption(kWTh)", DL_J_PER_KWH)    \
  X(EMISSIONS, "CO2_emissions(kg)", 1000)                                      \
  X(CPU_ENERGY, "CPU_consumption(kWh)", DL_J_PER_KWH)                          \
  X(GPU_ENERGY, "GPU_consumption(kWh)", DL_J_PER_KWH)                          \
  X(RAM_ENERGY, "RAM_consumption(kWh)", DL_J_PER_KWH)                          \
  X(ID, "id", 0)                                                               \
  X(PROJECT, "project_name", 0)                                                \
  X(DESCRIPTION, "experiment_description", 0)                                  \
  X(EPOCH, "epoch", 0)                                                         \
  X(START, "start_time", 0)                                                    \
  X(GPU, "GPU_name", 0)
#define ROW(id, name, scale) {name, DL_NO_DIMENSION, scale},

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS, N_NUMBERS = ID };
static const struct dl_cell_column columns[] = {COLUMNS(ROW)};

struct eco2ai {
  long at[N_COLUMNS];
  double sum[N_NUMBERS]; /* over its epochs */
  double first;          /* number of its first epoch: 0 or 1 */
};

static bool probe(const struct dl_head *head) {
  return dl_head_has(head, "project_name,experiment_description,duration(s),"
                           "CO2_emissions(kg),CPU_name") &&
         (dl_head_has(head, "power_consumption(kWh)") ||
          dl_head_has(head, "power_consumption(kWTh)"));
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct eco2ai *e = log->state;
  dl_run_columns_find(log, columns, N_COLUMNS, e->at);
  if (e->at[DURATION] < 0 || e->at[ENERGY] < 0)
    return dl_fail_at(d, DL_EINPUT, head->path, 1,
                      "no columns 'duration(s)' and 'power_consumption(kWh)'");
  return DL_OK;
}

/* The last "N device(s)" in s, or NULL; its number in *n. */
static const char *find_devices(const char *s, double *n) {
  const char *at = NULL, *found = s;
  while ((found = strstr(found, " device(s)")) != NULL) {
    at = found;
    found++;
  }
  if (!at)
    return NULL;
  const char *digits = at;
  while (digits > s && digits[-1] >= '0' && digits[-1] <= '9')
    digits--;
  return dl_parse_number(digits, (size_t)(at - digits), n) == DL_NUMBER_OK
             ? digits
             : NULL;
}

static void put_gpu(struct dl_run *r, const char *s) {
  double n = NAN;
  const char *end = find_devices(s, &n);
  if (n == 0)
    return;
  size_t len = end ? (size_t)(end - s) : strlen(s);
  while (len > 0 && s[len - 1] == ' ')
    len--;
  DL_FREED char *name = dl_strndup(s, len);
  dl_run_copy_text(r, DL_RUN_gpu, name);
  dl_run_put(r, DL_RUN_n_gpus, n);
}

static void put_names(struct dl_log *log, struct dl_run *r,
                      const struct eco2ai *e, const char *const *cell) {
  static const enum dl_run_id names[] = {[ID - ID] = DL_RUN_run_id,
                                         [PROJECT - ID] = DL_RUN_project,
                                         [DESCRIPTION - ID] = DL_RUN_job_name};
  for (size_t i = 0; i < DL_LENGTH(names); i++)
    if (dl_run_has_text(cell, e->at[ID + i]))
      dl_run_copy_text(r, names[i], cell[e->at[ID + i]]);
  if (dl_run_has_text(cell, e->at[GPU]))
    put_gpu(r, cell[e->at[GPU]]);
  dl_run_put_start(log, r, cell, e->at[START], 0);
}

static void put_numbers(struct dl_run *r, const double *x) {
  dl_run_put(r, DL_RUN_duration_s, x[DURATION]);
  dl_run_put(r, DL_RUN_energy_j, x[ENERGY]);
  dl_run_put(r, DL_RUN_co2e_g, x[EMISSIONS]);
  dl_run_put_energy(r, DL_METER_CPU, x[CPU_ENERGY], x[DURATION]);
  dl_run_put_energy(r, DL_METER_RAM, x[RAM_ENERGY], x[DURATION]);
  if (!isnan(r->n_gpus) || x[GPU_ENERGY] > 0) /* without a GPU it is 0 */
    dl_run_put_energy(r, DL_METER_GPU, x[GPU_ENERGY], x[DURATION]);
}

/* Adds the run whose epochs were read. */
static void finish(struct dl_log *log) {
  struct eco2ai *e = log->state;
  if (!log->in_run)
    return;
  put_numbers(&log->open_run, e->sum);
  dl_run_put_epochs(&log->open_run, (double)log->open_run.n_epochs);
  dl_log_close_run(log, true);
}

/* Whether a cell contains an epoch; *number is NaN if it cannot be read. */
static bool is_epoch(const struct eco2ai *e, const char *const *cell,
                     double *number) {
  static const char word[] = "epoch:";
  *number = NAN;
  if (!dl_run_has_text(cell, e->at[EPOCH]))
    return false;
  const char *s = cell[e->at[EPOCH]];
  if (strncmp(s, word, strlen(word)) == 0)
    s += strlen(word);
  s += strspn(s, " ");
  size_t n = strspn(s, "0123456789");
  if (n <= 9 && (s[n] == '\0' || s[n] == ','))
    dl_parse_number(s, n, number);
  return true;
}

static void add_epoch(struct eco2ai *e, struct dl_run *r, const double *x,
                      double number) {
  struct dl_epoch *epoch = dl_run_add_epoch(r, DL_PART_EPOCH);
  if (r->n_epochs == 1)
    e->first = number == 0 ? 0 : 1;
  if (number >= e->first)
    epoch->number = number - e->first;
  epoch->start_s = e->sum[DURATION];
  epoch->duration_s = x[DURATION];
  epoch->energy_j = x[ENERGY];
  epoch->cpu_energy_j = x[CPU_ENERGY];
  epoch->ram_energy_j = x[RAM_ENERGY];
  if (!isnan(r->n_gpus) || x[GPU_ENERGY] > 0) {
    epoch->gpu_energy_j = x[GPU_ENERGY];
    if (x[GPU_ENERGY] / 1e9 < x[DURATION])
      epoch->gpu_power_w = x[GPU_ENERGY] / x[DURATION];
  }
  for (size_t i = 0; i < N_NUMBERS; i++)
    e->sum[i] += x[i];
}

static bool row(struct dl_log *log, const char *const *cell) {
  struct eco2ai *e = log->state;
  double x[N_NUMBERS], number;
  if (!dl_run_cells(log, cell, e->at, columns, N_NUMBERS, x))
    return false;
  if (isnan(x[DURATION]) && isnan(x[ENERGY]))
    return dl_log_bad(log, "neither a duration nor an energy");
  bool epoch = is_epoch(e, cell, &number);
  const char *id = log->in_run ? log->open_run.run_id : NULL;
  if (!epoch || !id || !dl_run_has_text(cell, e->at[ID]) ||
      strcmp(cell[e->at[ID]], id) != 0)
    finish(log);
  if (!epoch) {
    struct dl_run *r = dl_log_run(log);
    put_names(log, r, e, cell);
    put_numbers(r, x);
    return true;
  }
  if (!log->in_run) {
    memset(e->sum, 0, sizeof e->sum);
    put_names(log, dl_log_open_run(log), e, cell);
  }
  add_epoch(e, &log->open_run, x, number);
  return true;
}

const struct dl_importer dl_import_eco2ai = {
    .name = "eco2ai",
    .summary = "Eco2AI's emission.csv",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct eco2ai),
    .probe = probe,
    .begin = begin,
    .row = row,
    .end = finish,
};
