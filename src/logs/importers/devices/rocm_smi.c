/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rocm-smi --showpower --showuse --csv, and amd-smi monitor or metric --csv
 *
 *   device,Average Graphics Package Power (W),GPU use (%)
 *   card0,35.0,0
 *
 * rocm-smi prints one snapshot, with its header and blank lines around it, at
 * times with "WARNING: ..." before; a log is a loop of that. Only what was
 * asked for is there. Up to ROCm 5 the power is "Average Graphics Package
 * Power (W)", from 6 on "Current Socket Graphics Package Power (W)" for boards
 * that know it; --showenergycounter adds "Energy counter" (in units of the
 * board) and "Accumulated Energy (uJ)", --showmaxpower the limit. The second
 * die of an MI250 has "N/A (Secondary die)": the first one's is that of both.
 * Loops bring the time into it as a line of its own (`date`), as a column, or
 * as a prefix of each line; otherwise a snapshot a second is assumed.
 *
 * amd-smi -w N --csv writes a `timestamp` (seconds since 1970) and `gpu`; the
 * power is `power_usage` in `monitor`, `socket_power` in `metric` (before
 * current_socket_power, average_socket_power), the utilisation `gfx` or
 * `gfx_activity` in percent, the counter `total_energy_consumption` in J.
 * Lists are quoted cells. Partitions (`xcp`) but the first repeat their GPU.
 * `metric` begins with a line about CTRL + C. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/number.h"
#include "logs/importers/table_scan.h"
#include "logs/log.h"

enum column {
  DEVICE,
  TIME,
  PARTITION,
  POWER,
  POWER_AVERAGE,
  UTIL,
  ENERGY_UJ,
  ENERGY_J,
  LIMIT,
  IGNORED,
  N_COLUMNS
};

/* Their names; `telling` ones are no one else's. The first of a column
 * counts. */
static const struct {
  const char *name;
  enum column column;
  bool telling;
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

enum { FIELDS_MAX = 1024, HEAD_LINES = 32, LINE_SIZE = 16384 };

struct rocm {
  int at[N_COLUMNS];      /* field of each column, -1 without */
  int name[N_COLUMNS];    /* and which of its names that has */
  size_t n_fields;        /* 0 before the first header */
  unsigned columns;       /* those there are, a bit each */
  unsigned first_columns; /* of the table that began the round */
  bool telling;
  struct dl_rounds rounds;
  bool timed;        /* a line with a time has come */
  size_t time_round; /* the round it stands for, once a row has come */
  bool time_used;
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
    if (dl_strcasecmp(names[i].name, name) == 0)
      return (int)i;
  return -1;
}

/* Whether the fields name columns, of which one is the device. */
static bool read_header(struct rocm *m, char **field, size_t n) {
  int at[N_COLUMNS], name_of[N_COLUMNS];
  unsigned columns = 0;
  bool telling = false;
  struct dl_timestamp t;
  for (size_t c = 0; c < N_COLUMNS; c++)
    at[c] = name_of[c] = -1;
  for (size_t i = 0; i < n && i < FIELDS_MAX; i++) {
    int name = column_of(field[i]);
    if (name < 0 && at[DEVICE] < 0)
      name = column_of(last_word(field[i]));
    if (name < 0)
      continue;
    enum column c = names[name].column;
    telling = telling || names[name].telling;
    columns |= 1U << c;
    if (at[c] < 0) {
      at[c] = (int)i;
      name_of[c] = name;
    }
  }
  if (at[DEVICE] < 0 || n > FIELDS_MAX || n < 2)
    return false;
  /* A time before the header as before each row. */
  if (at[TIME] < 0 && at[DEVICE] > 0 &&
      dl_parse_timestamp(field[0], strlen(field[0]), &t))
    at[TIME] = 0;
  memcpy(m->at, at, sizeof at);
  memcpy(m->name, name_of, sizeof name_of);
  m->n_fields = n;
  m->columns = columns;
  m->telling = telling;
  return true;
}

static bool probe(const struct dl_head *head) {
  char buf[LINE_SIZE], *field[FIELDS_MAX];
  struct rocm m = {0};
  size_t at = 0, n;
  for (int i = 0; i < HEAD_LINES && dl_scan_head(head, &at, buf, sizeof buf);
       i++) {
    dl_scan_fields(buf, ',', field, FIELDS_MAX, &n);
    if (read_header(&m, field, n) && m.telling && has_values(&m))
      return true;
  }
  return false;
}

/* A number of a column; NaN where there is none. */
static bool number(struct dl_log *log, const struct rocm *m, char **field,
                   enum column c, double *x) {
  *x = NAN;
  if (m->at[c] < 0)
    return true;
  const char *s = field[m->at[c]];
  if (strncmp(s, "N/A", 3) == 0) /* "N/A (Secondary die)" */
    return true;
  if (dl_cell_number(s, strlen(s), x) && !(*x < 0))
    return true;
  return dl_log_bad(log, "column '%s': invalid number '%.40s'",
                    names[m->name[c]].name, s);
}

/* The round of a device. Tables with other columns within a snapshot (power,
 * then use) do not begin a new one. */
static size_t round_of(struct rocm *m, size_t device) {
  if (!m->rounds.begun)
    m->first_columns = m->columns;
  return m->columns == m->first_columns ? dl_scan_round(&m->rounds, device)
                                        : m->rounds.round;
}

/* The time of a row: its own column, else what stands before the device, else
 * the last line that was one, else that of the round. */
static bool time_of(struct dl_log *log, struct rocm *m, char **field,
                    char *device, size_t gpu, int64_t *ns) {
  const char *s = NULL;
  char *cell = field[m->at[DEVICE]];
  if (m->at[TIME] >= 0) {
    s = field[m->at[TIME]];
  } else if (device != cell) {
    device[-1] = '\0';
    s = cell;
  }
  size_t round = round_of(m, gpu);
  if (s)
    return dl_log_time(log, s, strlen(s), ns) ||
           dl_log_bad(log, "invalid time '%.40s'", s);
  if (!m->timed) {
    *ns = dl_log_time_of(log, round);
    return true;
  }
  if (!m->time_used)
    m->time_round = round;
  m->time_used = true;
  *ns = m->ns;
  return round == m->time_round ||
         dl_log_bad(log, "no time before this snapshot");
}

/* Of the fields of a line with a time before them. */
static bool shifted(const struct rocm *m, char **field, size_t n) {
  struct dl_timestamp t;
  return m->at[TIME] < 0 && n == m->n_fields + 1 &&
         dl_parse_timestamp(field[0], strlen(field[0]), &t);
}

static bool read_row(struct dl_log *log, struct rocm *m, char **field) {
  char *device = last_word(field[m->at[DEVICE]]), *id = device;
  double x[N_COLUMNS], partition;
  struct dl_reading r = {0};
  size_t gpu;
  if (dl_strcasecmp(device, "system") == 0) /* version of the driver */
    return true;
  if (dl_strncasecmp(id, "card", 4) == 0)
    id += 4;
  else if (dl_strncasecmp(id, "gpu", 3) == 0)
    id += 3;
  if (!dl_parse_count(id, &gpu) || gpu >= DL_ROUND_DEVICES)
    return dl_log_bad(log, "invalid device '%.40s'", device);
  if (!number(log, m, field, PARTITION, &partition))
    return false;
  if (!has_values(m) || partition > 0)
    return true;
  for (enum column c = POWER; c < IGNORED; c++)
    if (!number(log, m, field, c, &x[c]))
      return false;
  if (!time_of(log, m, field, device, gpu, &r.ns))
    return false;
  r.meter = dl_log_meter(log, DL_METER_GPU, id, NULL);
  r.power_w = isnan(x[POWER]) ? x[POWER_AVERAGE] : x[POWER];
  r.util = x[UTIL] <= 100 ? x[UTIL] / 100 : NAN;
  r.energy_j = isnan(x[ENERGY_UJ]) ? x[ENERGY_J] : x[ENERGY_UJ] / 1e6;
  dl_log_limit(log, r.meter, x[LIMIT]);
  dl_log_reading(log, &r);
  return true;
}

/* Which month begins a word, from 1; 0: none. */
static int month_of(const char *s) {
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  for (int i = 0; i < 12; i++)
    if (dl_strncasecmp(s, months + 3 * i, 3) == 0)
      return i + 1;
  return 0;
}

/* What `date` prints, in any order of its words: "Thu Mar  9 13:27:53 UTC
 * 2023", "Thu 09 Mar 2023 01:27:53 PM UTC". Zones but UTC have no clear
 * meaning and are left out. */
static bool date_line(struct dl_log *log, char *s, int64_t *ns) {
  char *word[8], text[64];
  const char *clock = NULL, *zone = "";
  int month = 0, noon = -1;
  size_t n, count, day = 0, year = 0, hour;
  dl_cell_words(s, word, 8, &n);
  for (size_t i = 0; i < n && n <= 8; i++) {
    if (strchr(word[i], ':'))
      clock = word[i];
    else if (dl_parse_count(word[i], &count))
      *(count > 31 ? &year : &day) = count;
    else if (strcmp(word[i], "UTC") == 0 || strcmp(word[i], "GMT") == 0)
      zone = "Z";
    else if (dl_strcasecmp(word[i], "AM") == 0 ||
             dl_strcasecmp(word[i], "PM") == 0)
      noon = word[i][0] == 'P' || word[i][0] == 'p';
    else if (month == 0)
      month = month_of(word[i]);
  }
  if (!clock || strlen(clock) < 8 || clock[2] != ':' || month == 0 ||
      year > 9999)
    return false;
  snprintf(text, sizeof text, "%.2s", clock);
  if (!dl_parse_count(text, &hour) || hour > 23)
    return false;
  if (noon >= 0)
    hour = hour % 12 + (noon ? 12 : 0);
  int len = snprintf(text, sizeof text, "%04zu-%02d-%02zu %02zu%.18s%s", year,
                     month, day, hour, clock + 2, zone);
  return len > 0 && (size_t)len < sizeof text &&
         dl_log_time(log, text, (size_t)len, ns);
}

/* Surely no header, which would cost much to look for in each line. */
static bool is_row(const struct rocm *m, char **field, size_t n) {
  return m->n_fields == n && n > 0 &&
         dl_strcasecmp(last_word(field[m->at[DEVICE]]),
                       names[m->name[DEVICE]].name) != 0;
}

/* What else the tools and their loops print. */
static bool is_noise(const char *s) {
  static const char *const starts[] = {"WARNING", "ERROR", "=",
                                       "'CTRL'",  "#",     "Every "};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (strncmp(s, starts[i], strlen(starts[i])) == 0)
      return true;
  return false;
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct rocm *m = log->state;
  char *field[FIELDS_MAX];
  size_t n;
  int64_t ns;
  s += strspn(s, " \t");
  len = strlen(s);
  if (is_noise(s))
    return true;
  if (!strchr(s, ',')) {
    if (!dl_log_time(log, s, len, &ns) && !date_line(log, s, &ns))
      return dl_log_bad(log, "neither a row nor a time");
    m->ns = ns;
    m->timed = true;
    m->time_used = false;
    return true;
  }
  dl_scan_fields(s, ',', field, FIELDS_MAX, &n);
  if (!is_row(m, field, n) && read_header(m, field, n))
    return true;
  if (m->n_fields == 0)
    return dl_log_bad(log, "no line 'device,...' before this one");
  if (n == m->n_fields)
    return read_row(log, m, field);
  if (!shifted(m, field, n))
    return dl_log_bad(log, "expected %zu fields, found %zu", m->n_fields, n);
  struct rocm behind = *m;
  for (size_t c = 0; c < N_COLUMNS; c++)
    behind.at[c] += behind.at[c] >= 0;
  behind.at[TIME] = 0;
  return read_row(log, &behind, field);
}

const struct dl_importer dl_import_rocm_smi = {
    .name = "rocm-smi",
    .summary = "rocm-smi --showpower --showuse --csv, amd-smi monitor --csv",
    .state_size = sizeof(struct rocm),
    .probe = probe,
    .line = line,
};
