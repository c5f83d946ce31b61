/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CodeCarbon: emissions.csv, one row per run.
 *
 * Columns, by name, as their order changes. 2020 to 2021 (1.x) 12 of them:
 * timestamp, experiment_id, project_name, duration, emissions,
 * energy_consumed, country_name, country_iso_code, region, on_cloud,
 * cloud_provider, cloud_region. 2.0 adds run_id, emissions_rate, the power and
 * energy of CPU, GPU and RAM, models and counts, tracking_mode: 29; later
 * codecarbon_version, pue (2.2.3), experiment_id again, water_consumed, wue,
 * utilisations, ram_used_gb. Files of tasks have task_name.
 *
 * - Energies are kWh, emissions kg, times s. energy_consumed is the sum of CPU,
 *   GPU and RAM (1.x: without RAM), some of them modelled. *_power is the last
 *   sample, not a mean: powers here are energy divided by duration. If tasks
 *   were tracked, `duration` in the run's own row starts with the last task.
 * - All energies, and the emissions, include the PUE set by the user (default
 *   1). They are divided by it here, and energy_consumed is the facility's
 *   energy.
 * - tracking_mode "process" counts the process's share of memory, which
 *   none of the boundaries describes.
 * - timestamp is local and taken when the row is written, with the duration.
 * - flush() writes a row at any time and does not reset anything: rows with one
 *   run_id are cumulative, and the last one is the run. If several
 *   processes write to one file, their rows mix: thousands of runs are kept
 * open.
 * - gpu_energy is 0 without a GPU. gpu_model has counts: "2 x A", or, without a
 *   separator, "4 x NVIDIA A401 x NVIDIA A100" for 4 A40 and one A100; on Apple
 *   chips only a name. gpu_count is the number of all GPUs of the machine.
 * - Rows lack fields if a later version omitted empty ones when appending. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/text.h"
#include "logs/importers/tables/runs_rows.h"
#include "logs/log.h"

/* Numbers, with their units, and texts. */
#define COLUMNS(X)                                                             \
  X(DURATION, "duration", 1)                                                   \
  X(EMISSIONS, "emissions", 1000)                                              \
  X(CPU_ENERGY, "cpu_energy", DL_J_PER_KWH)                                    \
  X(GPU_ENERGY, "gpu_energy", DL_J_PER_KWH)                                    \
  X(RAM_ENERGY, "ram_energy", DL_J_PER_KWH)                                    \
  X(ENERGY, "energy_consumed", DL_J_PER_KWH)                                   \
  X(GPU_COUNT, "gpu_count", 1)                                                 \
  X(RAM_GB, "ram_total_size", 1)                                               \
  X(CPU_UTIL, "cpu_utilization_percent", 0.01)                                 \
  X(GPU_UTIL, "gpu_utilization_percent", 0.01)                                 \
  X(PUE, "pue", 1)                                                             \
  X(TIMESTAMP, "timestamp", 0)                                                 \
  X(PROJECT, "project_name", 0)                                                \
  X(RUN_ID, "run_id", 0)                                                       \
  X(EXPERIMENT_ID, "experiment_id", 0)                                         \
  X(TASK, "task_name", 0)                                                      \
  X(GPU_MODEL, "gpu_model", 0)                                                 \
  X(MODE, "tracking_mode", 0)
#define ROW(id, name, scale) {name, DL_NO_DIMENSION, scale},

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS, N_NUMBERS = TIMESTAMP };
static const struct dl_cell_column columns[] = {COLUMNS(ROW)};

/* energy_consumed and the sum of its parts differ by rounding, by this share at
 * most. */
#define MOST_DIFFERENCE 0.02

/* Runs that are kept open, and processes that share a run_id. */
enum { OPEN_MAX = 4096, PROCESSES_MAX = 16 };

struct open_run {
  struct dl_run run;
  size_t former; /* number of the one before with its run_id, or 0 */
};

struct codecarbon {
  long at[N_COLUMNS];
  struct open_run *open; /* in the order of their first rows; owned */
  size_t n_open, open_cap;
  size_t n_closed;      /* runs before: open[0] has number n_closed + 1 */
  struct dl_intern ids; /* run_ids */
  size_t *last;         /* of each: number of its last run; owned */
  size_t last_cap;
  bool said_cumulative;
};

static bool probe(const struct dl_head *head) {
  return dl_head_has(head, "timestamp,project_name,duration,emissions,"
                           "energy_consumed,country_name");
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct codecarbon *c = log->state;
  dl_run_columns_find(log, columns, N_COLUMNS, c->at);
  if (c->at[DURATION] < 0 || c->at[ENERGY] < 0)
    return dl_fail_at(d, DL_EINPUT, head->path, 1,
                      "no columns 'duration' and 'energy_consumed'");
  return DL_OK;
}

/* The length of "N x " at s, or 0. */
static size_t count_at(const char *s, size_t digits_max) {
  size_t n = strspn(s, "0123456789");
  return n > 0 && n <= digits_max && strncmp(s + n, " x ", 3) == 0 ? n + 3 : 0;
}

/* The start of the next model with its count, or the end. Since the count
 * directly follows the previous name, it is assumed to have one digit. */
static const char *next_model(const char *s) {
  while (*s != '\0' && count_at(s, 1) == 0)
    s++;
  return s;
}

/* Names without counts, joined with "/". */
static void put_model(struct dl_run *r, const char *s) {
  DL_TEXT(t);
  for (s += count_at(s, 9); *s != '\0'; s += count_at(s, 1)) {
    const char *next = next_model(s);
    size_t len = (size_t)(next - s);
    while (len > 0 && strchr(" ,;", s[len - 1]))
      len--;
    if (len > 0 && t.len > 0)
      dl_text_add(&t, "/");
    dl_text_add_n(&t, s, len);
    s = next;
  }
  dl_run_copy_text(r, DL_RUN_gpu, dl_text_str(&t));
}

static bool is_mode(const struct codecarbon *c, const char *const *cell,
                    const char *mode) {
  return c->at[MODE] >= 0 && strcmp(cell[c->at[MODE]], mode) == 0;
}

static void put_energies(struct dl_run *r, const double *x, bool machine) {
  double pue = isnan(x[PUE]) ? 1 : x[PUE];
  dl_run_put_energy(r, DL_METER_CPU, x[CPU_ENERGY] / pue, x[DURATION]);
  dl_run_put_energy(r, DL_METER_GPU, x[GPU_ENERGY] / pue, x[DURATION]);
  dl_run_put_energy(r, DL_METER_RAM, x[RAM_ENERGY] / pue, x[DURATION]);
  dl_run_put(r, DL_RUN_energy_j, x[ENERGY] / pue);
  if (pue != 1) {
    dl_run_put(r, DL_RUN_pue, pue);
    dl_run_put(r, DL_RUN_facility_energy_j, x[ENERGY]);
  }
  if (machine)
    dl_run_lend_text(r, DL_RUN_boundary,
                     dl_parts_boundary(x[GPU_ENERGY] > 0, x[CPU_ENERGY] > 0,
                                       x[RAM_ENERGY] > 0));
}

static void put_names(struct dl_run *r, const struct codecarbon *c,
                      const char *const *cell) {
  enum column id =
      dl_run_has_text(cell, c->at[RUN_ID]) ? RUN_ID : EXPERIMENT_ID;
  if (dl_run_has_text(cell, c->at[PROJECT]))
    dl_run_copy_text(r, DL_RUN_project, cell[c->at[PROJECT]]);
  if (!dl_run_has_text(cell, c->at[id]))
    return;
  dl_run_copy_text(r, DL_RUN_run_id, cell[c->at[id]]);
  if (!dl_run_has_text(cell, c->at[TASK]))
    return;
  DL_TEXT(t);
  dl_text_printf(&t, "%s/%s", cell[c->at[id]], cell[c->at[TASK]]);
  dl_run_copy_text(r, DL_RUN_run_id, dl_text_str(&t));
}

/* If a task started between two states, the time restarted with it. */
static void check_duration(const struct dl_run *former, struct dl_run *r) {
  static const enum dl_run_id depend[] = {DL_RUN_duration_s, DL_RUN_cpu_power_w,
                                          DL_RUN_gpu_power_w,
                                          DL_RUN_ram_power_w};
  if (!(r->duration_s < former->duration_s))
    return;
  for (size_t i = 0; i < sizeof depend / sizeof *depend; i++)
    dl_run_set_number(r, depend[i], NAN);
  dl_run_lend_text(r, DL_RUN_start_time, NULL);
}

/* Hands on the first n open runs. */
static void close_runs(struct dl_log *log, struct codecarbon *c, size_t n) {
  for (size_t i = 0; i < n; i++)
    dl_log_add_run(log, &c->open[i].run);
  c->n_open -= n;
  c->n_closed += n;
  if (n > 0)
    memmove(c->open, c->open + n, c->n_open * sizeof *c->open);
}

/* The latest open run with the run_id of r whose energy is not higher: r is a
 * later state of it. NULL if there is none. *former is the number of the last
 * run with that run_id, or 0; r gets the next number. */
static struct open_run *state_before(struct codecarbon *c,
                                     const struct dl_run *r, size_t *former) {
  size_t n_ids = c->ids.n, id = (size_t)dl_intern(&c->ids, r->run_id);
  DL_GROW(c->last, c->last_cap, c->ids.n);
  *former = c->ids.n > n_ids ? 0 : c->last[id];
  size_t at = *former;
  for (int n = 0; at > c->n_closed && n < PROCESSES_MAX; n++) {
    struct open_run *o = &c->open[at - c->n_closed - 1];
    if (r->energy_j >= o->run.energy_j)
      return o;
    at = o->former;
  }
  if (*former == 0 || *former > c->n_closed)
    c->last[id] = c->n_closed + c->n_open + 1;
  return NULL;
}

/* Adds a run to the open ones, or replaces its previous state. */
static bool keep_open(struct dl_log *log, struct codecarbon *c,
                      struct dl_run *r) {
  struct open_run *before = NULL;
  size_t former = 0;
  if (c->n_open == OPEN_MAX)
    close_runs(log, c, OPEN_MAX / 2);
  if (r->run_id)
    before = state_before(c, r, &former);
  if (!before && former > 0 && former <= c->n_closed)
    return dl_log_bad(log, "a row of run_id '%.40s' too far from its last one",
                      r->run_id);
  if (!before) {
    DL_GROW(c->open, c->open_cap, c->n_open + 1);
    c->open[c->n_open++] = (struct open_run){*r, former};
    *r = dl_run_unknown;
    return true;
  }
  if (!c->said_cumulative)
    dl_log_warn(log, "rows with the same run_id are states of one run: the "
                     "last one counts");
  c->said_cumulative = true;
  check_duration(&before->run, r);
  dl_run_clear(&before->run);
  before->run = *r;
  *r = dl_run_unknown;
  return true;
}

static bool row(struct dl_log *log, const char *const *cell) {
  struct codecarbon *c = log->state;
  double x[N_NUMBERS];
  struct dl_run r = dl_run_unknown;
  if (!dl_run_cells(log, cell, c->at, columns, N_NUMBERS, x))
    return false;
  if (isnan(x[DURATION]) && isnan(x[ENERGY]))
    return dl_log_bad(log, "neither a duration nor an energy");
  if (x[PUE] == 0)
    return dl_log_bad(log, "column 'pue': 0 leaves no energy");
  double parts = x[CPU_ENERGY] + x[GPU_ENERGY] + x[RAM_ENERGY];
  if (fabs(x[ENERGY] - parts) > MOST_DIFFERENCE * parts)
    dl_log_warn(log, "energy_consumed is %.3g kWh, but its parts are %.3g kWh",
                x[ENERGY] / DL_J_PER_KWH, parts / DL_J_PER_KWH);
  bool named = dl_run_has_text(cell, c->at[GPU_MODEL]);
  if (!named && !(x[GPU_COUNT] > 0) && x[GPU_ENERGY] == 0)
    x[GPU_ENERGY] = NAN;
  r.line = log->line;
  put_names(&r, c, cell);
  if (named)
    put_model(&r, cell[c->at[GPU_MODEL]]);
  dl_run_put(&r, DL_RUN_n_gpus, x[GPU_COUNT]);
  dl_run_put(&r, DL_RUN_ram_gb, x[RAM_GB]);
  dl_run_put(&r, DL_RUN_cpu_util, x[CPU_UTIL]);
  dl_run_put(&r, DL_RUN_gpu_util, x[GPU_UTIL]);
  dl_run_put(&r, DL_RUN_duration_s, x[DURATION]);
  dl_run_put(&r, DL_RUN_co2e_g, x[EMISSIONS]);
  put_energies(&r, x, !is_mode(c, cell, "process"));
  dl_run_put_start(log, &r, cell, c->at[TIMESTAMP], round(x[DURATION]));
  bool kept = keep_open(log, c, &r);
  dl_run_clear(&r);
  return kept;
}

static void end(struct dl_log *log) {
  struct codecarbon *c = log->state;
  close_runs(log, c, c->n_open);
}

static void free_state(void *state) {
  struct codecarbon *c = state;
  for (size_t i = 0; i < c->n_open; i++)
    dl_run_clear(&c->open[i].run);
  free(c->open);
  free(c->last);
  dl_intern_free(&c->ids);
}

const struct dl_importer dl_import_codecarbon = {
    .name = "codecarbon",
    .summary = "CodeCarbon's emissions.csv",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct codecarbon),
    .probe = probe,
    .begin = begin,
    .row = row,
    .end = end,
    .free = free_state,
};
