/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A panel of Weights & Biases as CSV, with the runs of a project side by side:
 *
 *   "Relative Time (Process)","lively-sun-3 - system/gpu.0.powerWatts",
 *   "lively-sun-3 - system/gpu.0.powerWatts__MIN",...__MAX","brisk-fog-2 - ..."
 *
 * The first column is a time: relative, in s, or of the wall. Columns __MIN and
 * __MAX are the range of a bin and __STEP is a step; they are not read. Each
 * run is a run of its own; its GPUs' powers are integrated between the times
 * that have values. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "io/csv.h"
#include "logs/importers/tables/sample_columns.h"
#include "logs/log.h"

#define BETWEEN " - "
#define TIMES "Relative Time (Process)|Relative Time (Wall)|Wall Time"

/* A column of a GPU's power in a run. */
struct series {
  long at;
  size_t run;
  double last_s, last_w, first_s; /* NaN: none yet */
  double energy_j, seconds;
};

struct panel {
  char **run; /* names, owned */
  size_t n_runs, runs_cap;
  struct series *series; /* owned */
  size_t n, cap;
};

/* Splits "RUN - METRIC" at the last " - " before a GPU's power. */
static bool split_name(const char *name, size_t *run_len) {
  struct dl_sample_column c;
  const char *metric = NULL;
  for (const char *s = name; (s = strstr(s, BETWEEN)); s++)
    metric = s;
  if (!metric || !dl_sample_column(metric + strlen(BETWEEN), &c))
    return false;
  *run_len = (size_t)(metric - name);
  return c.quantity == DL_SAMPLE_POWER && c.kind == DL_METER_GPU;
}

static bool is_time(const char *name) {
  return dl_word_among(TIMES, name, strlen(name)) >= 0;
}

static bool probe(const struct dl_head *head) {
  char text[DL_HEAD_LINE], *field[DL_HEAD_FIELDS];
  size_t at = 0, len;
  if (!dl_head_line(head, &at, text, sizeof text))
    return false;
  size_t n = dl_cell_split(text, ',', field, DL_HEAD_FIELDS);
  if (n < 2 || n > DL_HEAD_FIELDS || !is_time(field[0]))
    return false;
  for (size_t i = 1; i < n; i++)
    if (split_name(field[i], &len))
      return true;
  return false;
}

static size_t run_named(struct panel *p, const char *name, size_t len) {
  size_t i = 0;
  while (i < p->n_runs &&
         !(strncmp(p->run[i], name, len) == 0 && p->run[i][len] == '\0'))
    i++;
  if (i == p->n_runs) {
    DL_GROW(p->run, p->runs_cap, p->n_runs + 1);
    p->run[p->n_runs++] = dl_strndup(name, len);
  }
  return i;
}

/* A later header may add columns behind the others. */
static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct panel *p = log->state;
  size_t len;
  for (size_t i = p->n > 0 ? (size_t)p->series[p->n - 1].at + 1 : 1;
       i < dl_csv_n_cols(log->csv); i++) {
    const char *name = dl_csv_name(log->csv, i);
    if (!split_name(name, &len))
      continue;
    DL_GROW(p->series, p->cap, p->n + 1);
    p->series[p->n++] = (struct series){.at = (long)i,
                                        .run = run_named(p, name, len),
                                        .last_s = NAN,
                                        .first_s = NAN};
  }
  return p->n > 0 ? DL_OK
                  : dl_fail_at(d, DL_EINPUT, head->path, 1,
                               "no column of a GPU's power, such as 'RUN - "
                               "system/gpu.0.powerWatts'");
}

static bool row(struct dl_log *log, const char *const *cell) {
  struct panel *p = log->state;
  struct dl_timestamp t;
  double s, w;
  if (!dl_parse_double(cell[0], &s)) {
    if (!dl_parse_timestamp(cell[0], strlen(cell[0]), &t))
      return dl_log_bad(log, "invalid time '%.40s'", cell[0]);
    s = (double)t.ns / 1e9;
  }
  for (size_t i = 0; i < p->n; i++) {
    struct series *x = &p->series[i];
    if (!*cell[x->at])
      continue;
    if (!dl_parse_double(cell[x->at], &w) || w < 0)
      return dl_log_bad(log, "invalid power '%.40s'", cell[x->at]);
    if (isnan(x->first_s))
      x->first_s = s;
    else if (s < x->last_s)
      return dl_log_bad(log, "time %.40s is before the last one", cell[0]);
    else
      x->energy_j += (s - x->last_s) * (w + x->last_w) / 2;
    x->seconds = s - x->first_s;
    x->last_s = s;
    x->last_w = w;
  }
  return true;
}

static void end(struct dl_log *log) {
  struct panel *p = log->state;
  for (size_t k = 0; k < p->n_runs; k++) {
    double joules = 0, seconds = 0;
    size_t gpus = 0;
    for (size_t i = 0; i < p->n; i++) {
      const struct series *x = &p->series[i];
      if (x->run != k || !(x->seconds > 0))
        continue;
      joules += x->energy_j;
      seconds = fmax(seconds, x->seconds);
      gpus++;
    }
    if (gpus == 0)
      continue;
    struct dl_run *r = dl_log_run(log);
    dl_run_copy_text(r, DL_RUN_run_id, p->run[k]);
    dl_run_set_number(r, DL_RUN_n_gpus, (double)gpus);
    dl_run_set_number(r, DL_RUN_duration_s, seconds);
    dl_run_set_number(r, DL_RUN_gpu_energy_j, joules);
    dl_run_set_number(r, DL_RUN_gpu_power_w, joules / seconds);
    dl_run_set_number(r, DL_RUN_energy_j, joules);
    dl_run_lend_text(r, DL_RUN_boundary, "gpu");
  }
}

static void free_panel(void *state) {
  struct panel *p = state;
  for (size_t i = 0; i < p->n_runs; i++)
    free(p->run[i]);
  free(p->run);
  free(p->series);
}

const struct dl_importer dl_import_wandb_panel = {
    .name = "wandb-panel",
    .summary = "Weights & Biases: a panel of system metrics as CSV",
    .role = DL_LOG_RUNS,
    .state_size = sizeof(struct panel),
    .probe = probe,
    .begin = begin,
    .row = row,
    .equal_rows = true,
    .end = end,
    .free = free_panel,
};
