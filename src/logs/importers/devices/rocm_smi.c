/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rocm-smi --showpower --showuse --csv, and amd-smi monitor or metric --csv
 *
 *   device,Average Graphics Package Power (W),GPU use (%)
 *   card0,35.0,0
 *
 * rocm-smi prints one snapshot, with its header and blank lines around it,
 * sometimes after "WARNING: ..."; a log is a loop of that, with the requested
 * columns only. Up to ROCm 5 the power is "Average Graphics Package Power (W)",
 * from 6 on "Current Socket Graphics Package Power (W)" on boards that support
 * it; --showenergycounter adds "Energy counter" (in units of the board) and
 * "Accumulated Energy (uJ)", --showmaxpower the limit. The second die of an
 * MI250 has "N/A (Secondary die)": the first die's sensor measures both, and
 * the second counts 0 W. Loops add the time as a line of its own (`date`), as a
 * column, or in front of each line; otherwise one snapshot per second is
 * assumed.
 *
 * amd-smi -w N --csv writes a `timestamp` (seconds since 1970) and `gpu`; the
 * power is `power_usage` in `monitor`, `socket_power` in `metric` (earlier
 * current_socket_power, average_socket_power), the utilization `gfx` or
 * `gfx_activity` in percent, the counter `total_energy_consumption` in J. Lists
 * are quoted cells. Partitions (`xcp`) other than the first repeat their GPU.
 * `metric` begins with a line about CTRL + C. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "logs/log.h"

/* Columns, and what their numbers are. */
#define COLUMNS(X)                                                             \
  X(DEVICE, DL_NO_DIMENSION, 1)                                                \
  X(TIME, DL_NO_DIMENSION, 1)                                                  \
  X(PARTITION, DL_NO_DIMENSION, 1)                                             \
  X(POWER, DL_POWER, 1)                                                        \
  X(POWER_AVERAGE, DL_POWER, 1)                                                \
  X(UTIL, DL_SHARE, 0.01)                                                      \
  X(ENERGY_UJ, DL_ENERGY_UNIT, 1e-6)                                           \
  X(ENERGY_J, DL_ENERGY_UNIT, 1)                                               \
  X(LIMIT, DL_POWER, 1)                                                        \
  X(IGNORED, DL_NO_DIMENSION, 1)

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS };
static const struct {
  enum dl_dimension dimension;
  double scale;
} dimensions[] = {COLUMNS(DL_COLUMN_ROW)};

/* Names of columns; `specific` ones occur in no other format. The first field
 * of a column counts. */
static const struct {
  const char *name;
  enum column column;
  bool specific;
} names[] = {
    {"device", DEVICE, false},
    {"gpu", DEVICE, false},
    {"timestamp", TIME, false},
    {"datetime", TIME, false},
    {"date", TIME, false},
    {"time", TIME, false},
    {"xcp", PARTITION, true},
    {"Current Socket Graphics Package Power (W)", POWER, true},
    {"Socket Graphics Package Power (W)", POWER, true},
    {"Average Graphics Package Power (W)", POWER_AVERAGE, true},
    {"socket_power", POWER, true},
    {"current_socket_power", POWER, true},
    {"average_socket_power", POWER_AVERAGE, true},
    {"power_usage", POWER, false}, /* also NVML's, in mW */
    {"GPU use (%)", UTIL, true},
    {"gfx", UTIL, true},
    {"gfx_activity", UTIL, true},
    {"Accumulated Energy (uJ)", ENERGY_UJ, true},
    {"total_energy_consumption", ENERGY_J, false}, /* also NVML's, in mJ */
    {"Max Graphics Package Power (W)", LIMIT, true},
    {"max_power", LIMIT, false},
    {"hotspot_temperature", IGNORED, true},
    {"umc_activity", IGNORED, true},
    {"gfx_clk", IGNORED, true},
    {"gfx_clock", IGNORED, true},
};

enum { FIELDS_MAX = 1024, HEAD_LINES = 32 };

struct rocm {
  int at[N_COLUMNS];      /* field of each column, -1 without */
  int name[N_COLUMNS];    /* its index in names */
  size_t n_fields;        /* 0 before the first header */
  unsigned columns;       /* present ones, one bit each */
  unsigned first_columns; /* of the table that began the round */
  bool specific;
  bool in_table;     /* a row came after the header */
  bool timed;        /* there was a line with a time */
  bool time_used;    /* a row came after it */
  size_t time_round; /* of that row */
  int64_t ns;
};

static bool has_values(const struct rocm *m) {
  return m->at[POWER] >= 0 || m->at[POWER_AVERAGE] >= 0 ||
         m->at[ENERGY_UJ] >= 0 || m->at[ENERGY_J] >= 0 || m->at[UTIL] >= 0;
}

/* A cell may have a time before its last word: "1787485761 card0". */
static char *last_word(char *s) {
  char *last = s;
  for (; *s != '\0'; s++)
    if (*s == ' ' || *s == '\t')
      last = s + 1;
  return last;
}

static int column_of(const char *name) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcasecmp(names[i].name, name) == 0)
      return (int)i;
  return -1;
}

/* Reads a header; false if the fields are none: one is the device. */
static bool read_header(struct rocm *m, char **field, size_t n) {
  struct rocm new = *m;
  struct dl_timestamp t;
  memset(new.at, -1, sizeof new.at);
  memset(new.name, -1, sizeof new.name);
  new.columns = 0;
  new.specific = false;
  new.n_fields = n;
  new.in_table = false;
  for (size_t i = 0; i < n && i < FIELDS_MAX; i++) {
    int name = column_of(field[i]);
    if (name < 0 && new.at[DEVICE] < 0)
      name = column_of(last_word(field[i]));
    if (name < 0)
      continue;
    enum column c = names[name].column;
    new.specific = new.specific || names[name].specific;
    new.columns |= 1U << c;
    if (new.at[c] < 0) {
      new.at[c] = (int)i;
      new.name[c] = name;
    }
  }
  if (new.at[DEVICE] < 0 || n > FIELDS_MAX || n < 2)
    return false;
  /* A time before the header as before each row. */
  if (new.at[TIME] < 0 && new.at[DEVICE] > 0 &&
      dl_parse_timestamp(field[0], strlen(field[0]), &t))
    new.at[TIME] = 0;
  *m = new;
  return true;
}

static bool probe(const struct dl_head *head) {
  char buf[DL_HEAD_LINE], *field[FIELDS_MAX];
  struct rocm m = {0};
  size_t at = 0;
  for (int i = 0; i < HEAD_LINES && dl_head_line(head, &at, buf, sizeof buf);
       i++) {
    size_t n = dl_cell_split(buf, ',', field, FIELDS_MAX);
    if (read_header(&m, field, n) && m.specific && has_values(&m))
      return true;
  }
  return false;
}

/* The round that a row of a device belongs to. A snapshot may consist of tables
 * with different columns (power, then use), which form one round. */
static size_t round_of(struct dl_log *log, struct rocm *m, size_t device) {
  if (!log->rounds.begun)
    m->first_columns = m->columns;
  return m->columns == m->first_columns ? dl_round_of(&log->rounds, device)
                                        : log->rounds.round;
}

/* Reads the time of a row from its own column, or from the text before the
 * device, or takes the last line with a time, or the time of the round. */
static bool time_of(struct dl_log *log, struct rocm *m, char **field,
                    char *device, size_t gpu, int64_t *ns) {
  const char *s = m->at[TIME] >= 0 ? field[m->at[TIME]] : NULL;
  if (!s && device != field[m->at[DEVICE]]) {
    device[-1] = '\0';
    s = field[m->at[DEVICE]];
  }
  size_t round = round_of(log, m, gpu);
  if (s)
    return dl_log_time(log, s, strlen(s), ns) ||
           dl_log_bad(log, "invalid time '%.40s'", s);
  *ns = m->timed ? m->ns : dl_log_time_of(log, round);
  if (m->timed && !m->time_used)
    m->time_round = round;
  else if (m->timed && m->in_table && round != m->time_round)
    dl_round_twice(&log->rounds, gpu);
  m->in_table = true;
  m->time_used = true;
  return !m->timed || round == m->time_round ||
         dl_log_bad(log, "no time before this snapshot");
}

static bool read_row(struct dl_log *log, struct rocm *m, char **field) {
  char *device = last_word(field[m->at[DEVICE]]), *id = device;
  double x[N_COLUMNS];
  struct dl_reading r = {0};
  size_t gpu;
  if (strcasecmp(device, "system") == 0) /* version of the driver */
    return true;
  if (strncasecmp(id, "card", 4) == 0)
    id += 4;
  else if (strncasecmp(id, "gpu", 3) == 0)
    id += 3;
  if (!dl_parse_count(id, &gpu) || gpu >= DL_ROUND_DEVICES)
    return dl_log_bad(log, "invalid device '%.40s'", device);
  for (enum column c = PARTITION; c < IGNORED; c++) {
    const char *cell = m->at[c] < 0 ? "" : field[m->at[c]];
    bool secondary = strcmp(cell, "N/A (Secondary die)") == 0;
    if (strncmp(cell, "N/A", 3) == 0)
      cell = "";
    const struct dl_cell_column column = {
        m->at[c] < 0 ? "" : names[m->name[c]].name, dimensions[c].dimension,
        dimensions[c].scale};
    if (!dl_cell_quantity(log, &column, cell, &x[c]))
      return false;
    if ((c == POWER || c == POWER_AVERAGE) && secondary)
      x[c] = 0; /* the first die's sensor measures both */
  }
  if (!has_values(m) || x[PARTITION] > 0)
    return true;
  if (!time_of(log, m, field, device, gpu, &r.ns))
    return false;
  r.meter = dl_log_meter(log, DL_METER_GPU, id, NULL);
  r.power_w = isnan(x[POWER]) ? x[POWER_AVERAGE] : x[POWER];
  r.util = x[UTIL] <= 1 ? x[UTIL] : NAN;
  r.energy_j = isnan(x[ENERGY_UJ]) ? x[ENERGY_J] : x[ENERGY_UJ];
  if (r.power_w == 0 && gpu % 2 == 1 && r.meter < log->n_meters)
    log->meter[r.meter].elsewhere = true;
  dl_log_limit(log, r.meter, x[LIMIT]);
  dl_log_reading(log, &r);
  return true;
}

/* Certainly no header: a cheap test, since looking for one in each line is
 * slow. */
static bool is_row(const struct rocm *m, char **field, size_t n) {
  return m->n_fields == n && n > 0 &&
         strpbrk(last_word(field[m->at[DEVICE]]), "0123456789");
}

/* Other output of the tools and of loops around them. */
static bool is_noise(const char *s) {
  static const char *const starts[] = {"WARNING", "ERROR", "=",
                                       "'CTRL'",  "#",     "Every "};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (strncmp(s, starts[i], strlen(starts[i])) == 0)
      return true;
  return false;
}

static bool line(struct dl_log *log, char *s) {
  struct rocm *m = log->state;
  struct dl_timestamp t;
  char *field[FIELDS_MAX];
  int64_t ns;
  s += strspn(s, " \t");
  if (is_noise(s))
    return true;
  if (!strchr(s, ',')) {
    if (!dl_log_time(log, s, strlen(s), &ns) && !dl_cell_date(log, s, &ns))
      return dl_log_bad(log, "neither a row nor a time");
    m->ns = ns;
    m->timed = true;
    m->time_used = false;
    return true;
  }
  size_t n = dl_cell_split(s, ',', field, FIELDS_MAX);
  if (!is_row(m, field, n) && read_header(m, field, n))
    return true;
  if (m->n_fields == 0)
    return dl_log_bad(log, "no line 'device,...' before this one");
  if (n == m->n_fields)
    return read_row(log, m, field);
  /* Only a time in front of the fields may be additional. */
  if (m->at[TIME] >= 0 || n != m->n_fields + 1 ||
      !dl_parse_timestamp(field[0], strlen(field[0]), &t))
    return dl_log_bad(log, "expected %zu fields, found %zu", m->n_fields, n);
  struct rocm shifted = *m;
  for (size_t c = 0; c < N_COLUMNS; c++)
    shifted.at[c] += shifted.at[c] >= 0;
  shifted.at[TIME] = 0;
  return read_row(log, &shifted, field);
}

const struct dl_importer dl_import_rocm_smi = {
    .name = "rocm-smi",
    .summary = "rocm-smi --showpower --showuse --csv, amd-smi monitor --csv",
    .state_size = sizeof(struct rocm),
    .probe = probe,
    .line = line,
};
