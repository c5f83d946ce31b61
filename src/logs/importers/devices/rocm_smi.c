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
 * are quoted cells. Scripts that join logs add a column of hosts. Partitions
 * (`xcp`) other than the first repeat their GPU. `metric` begins with a line
 * about CTRL + C. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/log.h"

/* Columns with their names. The first field of a column counts. */
#define COLUMNS(X)                                                             \
  X(DEVICE, "device|gpu", DL_NO_DIMENSION, 1)                                  \
  X(TIME, "timestamp|datetime|date|time", DL_NO_DIMENSION, 1)                  \
  X(HOST, "hostname|host|node", DL_NO_DIMENSION, 1)                            \
  X(PARTITION, "xcp", DL_NO_DIMENSION, 1)                                      \
  X(POWER,                                                                     \
    "Current Socket Graphics Package Power (W)|"                               \
    "Socket Graphics Package Power (W)|socket_power|current_socket_power|"     \
    "power_usage",                                                             \
    DL_POWER, 1)                                                               \
  X(POWER_AVERAGE, "Average Graphics Package Power (W)|average_socket_power",  \
    DL_POWER, 1)                                                               \
  X(UTIL, "GPU use (%)|gfx|gfx_activity", DL_SHARE, 0.01)                      \
  X(ENERGY_UJ, "Accumulated Energy (uJ)", DL_ENERGY_UNIT, 1e-6)                \
  X(ENERGY_J, "total_energy_consumption", DL_ENERGY_UNIT, 1)                   \
  X(LIMIT, "Max Graphics Package Power (W)|max_power", DL_POWER, 1)            \
  X(IGNORED, "hotspot_temperature|umc_activity|gfx_clk|gfx_clock",             \
    DL_NO_DIMENSION, 1)

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS };
static const struct dl_cell_column columns[] = {COLUMNS(DL_COLUMN_ROW)};

/* Names that other formats have, too: NVML has power_usage (mW) and
 * total_energy_consumption (mJ). */
#define UNSPECIFIC                                                             \
  "device|gpu|timestamp|datetime|date|time|hostname|host|node|power_usage|"    \
  "total_energy_consumption|max_power"

enum { FIELDS_MAX = 1024, HEAD_LINES = 32 };

struct rocm_table {
  int at[N_COLUMNS];           /* field of each column, -1 without */
  const char *name[N_COLUMNS]; /* of that field, up to '|' */
  size_t n_fields;             /* 0 before the first header */
  unsigned columns;            /* present ones, one bit each */
  unsigned first_columns;      /* of the table that began the round */
  bool specific;
  bool in_table;     /* a row came after the header */
  bool timed;        /* there was a line with a time */
  bool time_used;    /* a row came after it */
  size_t time_round; /* of that row */
  int64_t ns;
};

static bool has_values(const struct rocm_table *m) {
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

/* The column of a name, and the name as it is listed; N_COLUMNS: none. */
static enum column column_of(const char *name, const char **listed) {
  for (enum column c = DEVICE; c < N_COLUMNS; c++) {
    int at = dl_word_among(columns[c].names, name, strlen(name));
    if (at < 0)
      continue;
    for (*listed = columns[c].names; at > 0; at--)
      *listed = strchr(*listed, '|') + 1;
    return c;
  }
  return N_COLUMNS;
}

/* Reads a header; false if the fields are none: one is the device. */
static bool read_header(struct rocm_table *m, char **field, size_t n) {
  struct rocm_table new = *m;
  struct dl_timestamp t;
  memset(new.at, -1, sizeof new.at);
  new.columns = 0;
  new.specific = false;
  new.n_fields = n;
  new.in_table = false;
  for (size_t i = 0; i < n && i < FIELDS_MAX; i++) {
    const char *name = field[i], *listed;
    enum column c = column_of(name, &listed);
    if (c == N_COLUMNS && new.at[DEVICE] < 0) {
      name = last_word(field[i]);
      c = column_of(name, &listed);
    }
    if (c == N_COLUMNS)
      continue;
    new.specific |= dl_word_among(UNSPECIFIC, name, strlen(name)) < 0;
    new.columns |= 1U << c;
    if (new.at[c] < 0) {
      new.at[c] = (int)i;
      new.name[c] = listed;
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
  struct rocm_table m = {0};
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
static size_t round_of(struct dl_log *log, struct rocm_table *m,
                       size_t device) {
  if (!log->rounds.begun)
    m->first_columns = m->columns;
  return m->columns == m->first_columns ? dl_round_of(&log->rounds, device)
                                        : log->rounds.round;
}

/* Reads the time of a row from its own column, or from the text before the
 * device, or takes the last line with a time, or the time of the round. */
static bool time_of(struct dl_log *log, struct rocm_table *m, char **field,
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

/* The meter of a GPU, of a host if there is such a column. */
static uint32_t meter_of(struct dl_log *log, const struct rocm_table *m,
                         char *const *field, const char *id) {
  char name[128];
  if (m->at[HOST] < 0)
    return dl_log_meter(log, DL_METER_GPU, id, NULL);
  snprintf(name, sizeof name, "%.60s:%.60s", field[m->at[HOST]], id);
  uint32_t meter = dl_log_meter(log, DL_METER_GPU, name, NULL);
  dl_log_host(log, meter, field[m->at[HOST]]);
  return meter;
}

static bool read_row(struct dl_log *log, struct rocm_table *m, char **field) {
  char *device = last_word(field[m->at[DEVICE]]), *id = device;
  double x[N_COLUMNS];
  struct dl_reading r = {0};
  size_t gpu;
  if (dl_word_among("system", device, strlen(device)) ==
      0) /* version of the driver */
    return true;
  if (strncasecmp(id, "card", 4) == 0)
    id += 4;
  else if (strncasecmp(id, "gpu", 3) == 0)
    id += 3;
  if (!dl_parse_count(id, &gpu) || gpu >= DL_ROUND_DEVICES)
    return dl_log_bad(log, "invalid device '%.40s'", device);
  for (enum column c = PARTITION; c < IGNORED; c++) {
    const char *cell = m->at[c] < 0 ? "" : field[m->at[c]];
    bool secondary = dl_is_word(cell, "N/A (Secondary die)");
    if (strncmp(cell, "N/A", 3) == 0)
      cell = "";
    struct dl_cell_column column = columns[c];
    if (m->at[c] >= 0)
      column.names = m->name[c];
    if (!dl_cell_quantity(log, &column, cell, &x[c]))
      return false;
    if ((c == POWER || c == POWER_AVERAGE) && secondary)
      x[c] = 0; /* the first die's sensor measures both */
  }
  if (!has_values(m) || x[PARTITION] > 0)
    return true;
  if (!time_of(log, m, field, device, gpu, &r.ns))
    return false;
  r.meter = meter_of(log, m, field, id);
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
static bool is_row(const struct rocm_table *m, char **field, size_t n) {
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
  struct rocm_table *m = log->state;
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
  struct rocm_table shifted = *m;
  for (size_t c = 0; c < N_COLUMNS; c++)
    shifted.at[c] += shifted.at[c] >= 0;
  shifted.at[TIME] = 0;
  return read_row(log, &shifted, field);
}

const struct dl_importer dl_import_rocm_smi = {
    .name = "rocm-smi",
    .summary = "rocm-smi --showpower --showuse --csv, amd-smi monitor --csv",
    .state_size = sizeof(struct rocm_table),
    .probe = probe,
    .line = line,
};
