/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads tables with one row per epoch. */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/number.h"
#include "estimate/projection/epoch_series.h"
#include "io/csv.h"
#include "io/lines.h"
#include "logs/importers/importer.h"

/* Names and their factors to s or J, in order of preference. The last three
 * energies are CodeCarbon's and Eco2AI's. */
static const struct dl_named_number durations[] = {
    {"duration_s", 1},   {"epoch_s", 1},  {"elapsed_s", 1},  {"time_s", 1},
    {"elapsed_time", 1}, {"duration", 1}, {"duration(s)", 1}};
static const struct dl_named_number energies[] = {
    {"energy_j", 1},
    {"epoch_energy_j", 1},
    {"gpu_energy_j", 1},
    {"energy_kwh", DL_J_PER_KWH},
    {"energy_consumed_kwh", DL_J_PER_KWH},
    {"energy_consumed", DL_J_PER_KWH},
    {"power_consumption(kWh)", DL_J_PER_KWH},
    {"power_consumption(kWTh)", DL_J_PER_KWH}};
static const struct dl_named_number units[] = {{"_kwh", DL_J_PER_KWH},
                                               {"_wh", DL_J_PER_WH},
                                               {"_mj", 1e6},
                                               {"_kj", 1e3},
                                               {"_j", 1}};

struct reading {
  struct dl_epoch_series *seen;
  struct dl_csv *csv;
  /* Columns; -1: none. */
  long epoch, duration, energy, boundary, n_gpus, run_id;
  double duration_scale, energy_scale;
  size_t n_where;
  long *where;        /* columns of the conditions */
  const char **value; /* that they must have, within the conditions */
  double first, last; /* numbers of the epochs so far */
  double gpus;        /* the most of a row; NaN: unknown */
  /* CodeCarbon's last row has these totals since its run began. The run is
   * owned. */
  char *run;
  double run_s, run_j;
};

bool dl_epoch_series_is_table(const char *path, const char *energy_column) {
  DL_SCOPED(dl_diag_free) struct dl_diag d = {0};
  struct dl_lines *lines;
  struct dl_head head = {.path = path};
  bool is = false;
  if (dl_lines_open(&lines, path, &d) == DL_OK) {
    head.text = dl_lines_head(lines, &head.len);
    bool time = false, energy = energy_column;
    for (size_t i = 0; i < DL_LENGTH(durations); i++)
      time |= dl_head_has(&head, durations[i].name);
    for (size_t i = 0; i < DL_LENGTH(energies); i++)
      energy |= dl_head_has(&head, energies[i].name);
    bool part = dl_head_has(&head, "epoch");
    bool emissions = dl_head_has(&head, "emissions,duration");
    /* Eco2AI writes "epoch: 1, loss: 0.8": its importer reads that. */
    bool eco2ai = dl_head_has(&head, "project_name,experiment_description");
    /* Without an energy that is known it fails as the table that it is. */
    bool first = head.len > 6 && strncmp(head.text, "epoch,", 6) == 0;
    is = time && ((part && (energy || first) && !eco2ai) || emissions);
    dl_lines_free(lines);
  }
  return is;
}

static long find(const struct reading *r, const struct dl_named_number *words,
                 size_t n, double *scale) {
  for (size_t i = 0; i < n; i++) {
    long column = dl_csv_find(r->csv, words[i].name);
    if (column >= 0) {
      *scale = words[i].x;
      return column;
    }
  }
  return -1;
}

static enum dl_status find_energy(struct reading *r, const char *name,
                                  struct dl_diag *d) {
  if (!name) {
    r->energy = find(r, energies, DL_LENGTH(energies), &r->energy_scale);
    return r->energy >= 0 ? DL_OK
                          : dl_fail_at(d, DL_EINPUT, dl_csv_path(r->csv), 1,
                                       "no column of energy; name one with "
                                       "--energy-column");
  }
  r->energy = dl_csv_find(r->csv, name);
  if (r->energy < 0)
    return dl_fail_at(d, DL_EINPUT, dl_csv_path(r->csv), 1, "no column '%s'",
                      name);
  for (size_t i = 0; i < DL_LENGTH(energies) && r->energy_scale == 0; i++)
    if (strcmp(name, energies[i].name) == 0)
      r->energy_scale = energies[i].x;
  size_t len = strlen(name);
  for (size_t i = 0; i < DL_LENGTH(units) && r->energy_scale == 0; i++) {
    size_t n = strlen(units[i].name);
    if (len > n && strcmp(name + len - n, units[i].name) == 0)
      r->energy_scale = units[i].x;
  }
  return r->energy_scale > 0
             ? DL_OK
             : dl_fail(d, DL_EUSAGE,
                       "--energy-column '%s': the name must end with its unit, "
                       "_j, _kj, _mj, _wh or _kwh",
                       name);
}

/* Warns of energies of other parts beside the GPUs. */
static void warn_parts(const struct reading *r, struct dl_diag *d) {
  static const char *const parts[] = {"cpu_energy_j",   "ram_energy_j",
                                      "node_energy_j",  "cpu_energy_kwh",
                                      "ram_energy_kwh", "node_energy_kwh"};
  const char *used = dl_csv_name(r->csv, (size_t)r->energy);
  bool gpus = r->energy == dl_csv_find(r->csv, "gpu_energy_j");
  for (size_t i = 0; gpus && i < DL_LENGTH(parts); i++)
    if (dl_csv_find(r->csv, parts[i]) >= 0)
      dl_warn_at(d, dl_csv_path(r->csv), 1,
                 "the energy is that of column '%s' alone, without '%s': for "
                 "all parts, add a column 'energy_j' of their sum",
                 used, parts[i]);
}

static enum dl_status find_where(struct reading *r,
                                 const struct dl_strlist *where,
                                 struct dl_diag *d) {
  r->n_where = where->n;
  r->where = dl_calloc(where->n, sizeof *r->where);
  r->value = dl_calloc(where->n, sizeof *r->value);
  for (size_t i = 0; i < where->n; i++) {
    const char *equals = strchr(where->s[i], '=');
    if (!equals)
      return dl_fail(d, DL_EUSAGE, "--where '%s': expected COLUMN=VALUE",
                     where->s[i]);
    size_t n = (size_t)(equals - where->s[i]);
    while (n > 0 && isspace((unsigned char)where->s[i][n - 1]))
      n--;
    DL_FREED char *name = dl_strndup(where->s[i], n);
    equals += equals[1] == '='; /* "==" too */
    r->where[i] = dl_csv_find(r->csv, name);
    r->value[i] = equals + 1 + strspn(equals + 1, " ");
    if (r->where[i] < 0)
      dl_fail_at(d, DL_EINPUT, dl_csv_path(r->csv), 1, "no column '%s'", name);
    if (r->where[i] < 0)
      return DL_EINPUT;
  }
  return DL_OK;
}

static enum dl_status find_columns(struct reading *r, const char *energy,
                                   const struct dl_strlist *where,
                                   struct dl_diag *d) {
  r->epoch = dl_csv_find(r->csv, "epoch");
  r->boundary = dl_csv_find(r->csv, "boundary");
  r->n_gpus = dl_csv_find(r->csv, "n_gpus");
  r->run_id = r->epoch < 0 ? dl_csv_find(r->csv, "run_id") : -1;
  r->duration = find(r, durations, DL_LENGTH(durations), &r->duration_scale);
  r->first = r->last = r->gpus = NAN;
  if (r->duration < 0)
    return dl_fail_at(d, DL_EINPUT, dl_csv_path(r->csv), 1,
                      "no column of durations, such as 'duration_s'");
  DL_TRY(find_energy(r, energy, d));
  if (!energy)
    warn_parts(r, d);
  return find_where(r, where, d);
}

static bool is_wanted(const struct reading *r, const char *const *cell) {
  for (size_t i = 0; i < r->n_where; i++)
    if (strcmp(cell[r->where[i]], r->value[i]) != 0)
      return false;
  return true;
}

/* Epochs count up by one. Without a number each row is the next one. Parts of
 * `dlest extract --epochs` that are no epochs have none. */
static enum dl_status check_number(struct reading *r, const char *const *cell,
                                   size_t line, struct dl_diag *d) {
  double number;
  if (r->epoch < 0)
    return DL_OK;
  if (!dl_parse_double(cell[r->epoch], &number))
    return dl_fail_at(d, DL_EINPUT, dl_csv_path(r->csv), line,
                      "column 'epoch': invalid number '%s'", cell[r->epoch]);
  if (isnan(r->first))
    r->first = number;
  else if (number <= r->last)
    return dl_fail_at(d, DL_EINPUT, dl_csv_path(r->csv), line,
                      "epoch %g follows epoch %g: several runs in the table; "
                      "choose one with --where COLUMN=VALUE",
                      number, r->last);
  else if (number != r->last + 1)
    dl_warn_at(d, dl_csv_path(r->csv), line, "epoch %g follows epoch %g",
               number, r->last);
  r->last = number;
  return DL_OK;
}

static void take_part(struct reading *r, double duration, double energy) {
  struct dl_epoch_series *s = r->seen;
  if (s->n == 0) {
    s->head_s += duration;
    s->head_j += energy;
  } else {
    s->open_s += duration;
    s->open_j += energy;
  }
}

/* CodeCarbon appends the totals of a run each time it is flushed: rows with one
 * run_id become what has been added. */
static void take_state(struct reading *r, const char *run, double *duration,
                       double *energy) {
  const double total_s = *duration, total_j = *energy;
  bool same = r->run && strcmp(r->run, run) == 0;
  if (same && total_s > r->run_s && total_j > r->run_j) {
    *duration -= r->run_s;
    *energy -= r->run_j;
  } else if (!same) {
    free(r->run);
    r->run = dl_strdup(run);
  }
  r->run_s = total_s;
  r->run_j = total_j;
}

static enum dl_status take_row(struct reading *r, const char *const *cell,
                               size_t line, struct dl_diag *d) {
  double duration, energy, gpus;
  const char *path = dl_csv_path(r->csv);
  if (!dl_parse_double(cell[r->duration], &duration) || !(duration > 0)) {
    dl_skip_at(d, path, line, "column '%s': invalid duration '%s'",
               dl_csv_name(r->csv, (size_t)r->duration), cell[r->duration]);
    return DL_OK;
  }
  if (!dl_parse_double(cell[r->energy], &energy) || !(energy > 0)) {
    dl_skip_at(d, path, line, "column '%s': invalid energy '%s'",
               dl_csv_name(r->csv, (size_t)r->energy), cell[r->energy]);
    return DL_OK;
  }
  if (r->n_gpus >= 0 && dl_parse_double(cell[r->n_gpus], &gpus))
    r->gpus = fmax(r->gpus, gpus);
  duration *= r->duration_scale;
  energy *= r->energy_scale;
  if (r->run_id >= 0)
    take_state(r, cell[r->run_id], &duration, &energy);
  if (r->boundary >= 0 && r->seen->boundary[0] == '\0')
    strncpy(r->seen->boundary, cell[r->boundary], sizeof r->seen->boundary - 1);
  if (r->epoch >= 0 && cell[r->epoch][0] == '\0') {
    take_part(r, duration, energy);
    return DL_OK;
  }
  DL_TRY(check_number(r, cell, line, d));
  dl_epoch_series_add(r->seen, duration, energy, NAN);
  return DL_OK;
}

static enum dl_status read_rows(struct reading *r, struct dl_diag *d) {
  const struct dl_csv_block *b;
  DL_TRY(dl_csv_next(r->csv, &b, d));
  while (b) {
    size_t n = b->n_rows - dl_csv_is_cut(r->csv);
    for (size_t i = 0; i < n; i++)
      if (is_wanted(r, b->cell + i * b->n_cols))
        DL_TRY(take_row(r, b->cell + i * b->n_cols, b->line[i], d));
    if (n < b->n_rows)
      dl_warn_at(d, dl_csv_path(r->csv), b->line[n],
                 "last line skipped: it is incomplete");
    DL_TRY(dl_csv_next(r->csv, &b, d));
  }
  return DL_OK;
}

/* Warns of mistaken units: a mean power that no such number of GPUs has, or, if
 * the number is unknown, more than a rack's. */
static void check_power(const struct reading *r, struct dl_diag *d) {
  const double least_w = 1, most_w = 3000, rack_w = 1e5;
  const struct dl_epoch_series *s = r->seen;
  double time = s->head_s + s->open_s, energy = s->head_j + s->open_j;
  for (size_t i = 0; i < s->n; i++)
    time += s->duration_s[i], energy += s->energy_j[i];
  double w = energy / time;
  if (!(w < least_w || w > (r->gpus > 0 ? most_w * r->gpus : rack_w)))
    return;
  char watts[DL_NUMBER_SIZE];
  dl_warn_at(d, dl_csv_path(r->csv), 0,
             "mean power of %s W: not plausible; check the units of columns "
             "'%s' and '%s'%s",
             dl_format_digits(watts, w, 3),
             dl_csv_name(r->csv, (size_t)r->duration),
             dl_csv_name(r->csv, (size_t)r->energy),
             r->gpus > 0 || w < least_w
                 ? ""
                 : ", or add a column n_gpus if they are right");
}

/* Whether each value is that before it and about as much again as the first. */
static bool adds_up(const double *x, size_t n) {
  enum { LEAST = 3 };
  for (size_t i = 1; i < n; i++)
    if (!(x[i] - x[i - 1] > x[0] / 2 && x[i] - x[i - 1] < 2 * x[0]))
      return false;
  return n >= LEAST;
}

static void check_total(const struct reading *r, long column, const double *x,
                        struct dl_diag *d) {
  if (adds_up(x, r->seen->n))
    dl_warn_at(d, dl_csv_path(r->csv), 0,
               "column '%s' grows like a running total; each row is read as "
               "one epoch of its own",
               dl_csv_name(r->csv, (size_t)column));
}

enum dl_status dl_epoch_series_from_table(struct dl_epoch_series *s,
                                          const char *path, const char *energy,
                                          const struct dl_strlist *where,
                                          struct dl_diag *d) {
  struct reading r = {.seen = s};
  *s = DL_EPOCH_SERIES_EMPTY;
  strcpy(s->verdict, "given");
  enum dl_status status = dl_csv_open(&r.csv, path, 0, d);
  if (status == DL_OK)
    status = find_columns(&r, energy, where, d);
  if (status == DL_OK)
    status = read_rows(&r, d);
  if (status == DL_OK && s->n == 0)
    status = dl_fail_at(d, DL_EINPUT, path, 0, "no epochs");
  if (status == DL_OK) {
    check_power(&r, d);
    check_total(&r, r.duration, s->duration_s, d);
    check_total(&r, r.energy, s->energy_j, d);
  }
  dl_csv_free(r.csv);
  free(r.where);
  free(r.value);
  free(r.run);
  if (status != DL_OK)
    dl_epoch_series_free(s);
  return status;
}
