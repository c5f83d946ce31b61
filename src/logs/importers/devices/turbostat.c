/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turbostat (Linux): PkgWatt -> CPU, RAMWatt -> RAM, SysWatt (platform domain,
 * since 2024) -> NODE. CorWatt and GFXWatt are parts of PkgWatt. Powers are
 * means over the interval that ends with the row.
 *
 * Columns are separated by tabs (before 2017 by blanks) and depend on the
 * processor and on --show, --hide, --enable; times only with --enable
 * Time_Of_Day_Seconds (they differ by fractions of a second between rows).
 * Unless --quiet, a page about the processor precedes the first header; without
 * --interval, "N sec" does. Rows of an interval:
 *
 *  - the sum over all packages, with "-" for Package, Core and CPU;
 *  - then, unless --Summary, one per CPU: columns of the package are at the end
 *    of the row of its first CPU, other rows are shorter. The header is
 *    repeated each time; with --Summary only every --header_iterations.
 *
 * A column Package identifies the packages; with only Core or CPU the row of
 * "-" counts. Without any of them (--show PkgWatt) rows after a header are kept
 * until the next one: if the first is the sum of the others, these are its
 * packages, otherwise each row is an interval. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "logs/log.h"

#define COLUMNS(X)                                                             \
  X(PACKAGE, "Package", DL_NO_DIMENSION, 1)                                    \
  X(CORE, "Core", DL_NO_DIMENSION, 1)                                          \
  X(CPU, "CPU", DL_NO_DIMENSION, 1)                                            \
  X(TIME, "Time_Of_Day_Seconds", DL_NO_DIMENSION, 1)                           \
  X(PKG_W, "PkgWatt", DL_POWER, 1)                                             \
  X(RAM_W, "RAMWatt", DL_POWER, 1)                                             \
  X(SYS_W, "SysWatt", DL_POWER, 1)

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS };
static const struct dl_cell_column columns[] = {COLUMNS(DL_COLUMN_ROW)};

enum { FIELDS = 512, KEPT = 17 };

/* Domains of RAPL, in the order of their columns. */
enum { PACKAGES, MEMORY, PLATFORM, N_DOMAINS };

struct interval_row {
  double watts[N_DOMAINS];
  int64_t ns;
};

struct turbostat {
  int at[N_COLUMNS]; /* field of each column, -1 without */
  bool has_header;
  bool tabs;
  bool each_row;    /* rows need not be kept until the next header */
  size_t n_samples; /* so far, without times */
  bool in_sample;   /* rows belong to n_samples - 1 */
  struct interval_row kept[KEPT];
  size_t n_kept;
};

/* Reads a header: all words begin like names, and a power is among them. */
static bool read_header(const char *s, int *at, bool *tabs) {
  char copy[DL_HEAD_LINE], *field[FIELDS];
  size_t len = strcspn(s, "\r\n");
  *tabs = memchr(s, '\t', len) != NULL;
  if (len >= sizeof copy || !isalpha((unsigned char)s[strspn(s, " \t")]))
    return false;
  snprintf(copy, sizeof copy, "%.*s", (int)len, s);
  size_t n = dl_cell_words(copy, field, FIELDS);
  n = n < FIELDS ? n : FIELDS;
  for (size_t i = 0; i < n; i++)
    if (!isalpha((unsigned char)field[i][0]) && field[i][0] != '%')
      return false;
  dl_cell_columns(field, n, columns, N_COLUMNS, at);
  return at[PKG_W] >= 0 || at[RAM_W] >= 0 || at[SYS_W] >= 0;
}

/* Length of "10.003506 sec", 0 for other lines. */
static size_t duration_length(const char *s) {
  size_t blanks = strspn(s, " "), n = strspn(s + blanks, "0123456789.");
  const char *unit = s + blanks + n;
  bool is =
      n > 0 && strncmp(unit, " sec", 4) == 0 && strcspn(unit, "\r\n") == 4;
  return is ? blanks + n + 4 : 0;
}

static bool probe(const struct dl_head *head) {
  static const char about[] = "turbostat version ";
  int at[N_COLUMNS];
  bool tabs;
  const char *s = head->text + strspn(head->text, " \t\r\n");
  if (strncmp(s, about, sizeof about - 1) == 0)
    return true;
  s += duration_length(s);
  s += strspn(s, " \t\r\n");
  return !memchr(s, ',', strcspn(s, "\r\n")) && read_header(s, at, &tabs);
}

/* Adds a power, of one package or (id NULL) of all. */
static void add_power(struct dl_log *log, enum dl_meter_kind kind,
                      const char *id, int64_t ns, double watts) {
  if (isnan(watts))
    return;
  struct dl_reading r = dl_reading_at(dl_log_meter(log, kind, id, NULL), ns);
  r.power_w = watts;
  r.is_mean = true;
  dl_log_reading(log, &r);
}

/* A row that stands for an interval by itself. */
static void add_interval(struct dl_log *log, struct turbostat *t,
                         struct interval_row *row) {
  if (t->at[TIME] < 0)
    row->ns = dl_log_time_of(log, t->n_samples++);
  add_power(log, DL_METER_CPU, NULL, row->ns, row->watts[PACKAGES]);
  add_power(log, DL_METER_RAM, NULL, row->ns, row->watts[MEMORY]);
  add_power(log, DL_METER_NODE, NULL, row->ns, row->watts[PLATFORM]);
}

/* Whether the first of the kept rows is the sum of the others. Each is rounded
 * to 0.01 W. */
static bool begins_with_sum(const struct turbostat *t) {
  bool compared = false;
  for (size_t i = 0; t->n_kept >= 2 && i < 2; i++) {
    double sum = 0, first = t->kept[0].watts[i];
    for (size_t k = 1; k < t->n_kept; k++)
      sum += t->kept[k].watts[i];
    if (isnan(first))
      continue;
    if (!(fabs(sum - first) <= 0.006 * (double)t->n_kept))
      return false;
    compared = true;
  }
  return compared;
}

static void add_kept(struct dl_log *log, struct turbostat *t) {
  size_t n = begins_with_sum(t) ? 1 : t->n_kept;
  for (size_t i = 0; i < n; i++)
    add_interval(log, t, &t->kept[i]);
  t->n_kept = 0;
}

/* A row of a package. The power of the platform is in the row of the sum. */
static bool read_package(struct dl_log *log, struct turbostat *t,
                         struct interval_row *row, const char *package) {
  char id[32];
  bool is_sum = dl_is_stdio(package);
  size_t digits = strspn(package, "0123456789");
  if (!is_sum && (package[digits] != '\0' || digits == 0 || digits > 20))
    return dl_log_bad(log, "column 'Package': invalid number '%.40s'", package);
  if (t->at[TIME] < 0) {
    t->n_samples += !t->in_sample || is_sum;
    row->ns = dl_log_time_of(log, t->n_samples - 1);
  }
  t->in_sample = true;
  if (is_sum) {
    add_power(log, DL_METER_NODE, NULL, row->ns, row->watts[PLATFORM]);
    return true;
  }
  snprintf(id, sizeof id, "package-%.20s", package);
  add_power(log, DL_METER_CPU, id, row->ns, row->watts[PACKAGES]);
  add_power(log, DL_METER_RAM, id, row->ns, row->watts[MEMORY]);
  return true;
}

static bool line(struct dl_log *log, char *s) {
  struct turbostat *t = log->state;
  char *field[FIELDS];
  struct interval_row row = {.ns = 0};
  int at[N_COLUMNS];
  bool tabs, any = false;
  if (read_header(s, at, &tabs)) {
    add_kept(log, t);
    t->in_sample = t->each_row = false;
    t->has_header = true;
    t->tabs = tabs;
    memcpy(t->at, at, sizeof at);
    return true;
  }
  if (!t->has_header || duration_length(s) > 0)
    return true; /* before the header: about the processor */
  size_t n = t->tabs ? dl_cell_split(s, '\t', field, FIELDS)
                     : dl_cell_words(s, field, FIELDS);
  const char *cell[N_COLUMNS]; /* "": no such column, or the row is shorter */
  for (int c = 0; c < N_COLUMNS; c++)
    cell[c] = t->at[c] >= 0 && (size_t)t->at[c] < n ? field[t->at[c]] : "";
  for (int i = 0; i < N_DOMAINS; i++) {
    if (!dl_cell_quantity(log, &columns[PKG_W + i], cell[PKG_W + i],
                          &row.watts[i]))
      return false;
    any = any || *cell[PKG_W + i] != '\0';
  }
  if (!any)
    return true;
  if (t->at[TIME] >= 0 &&
      !dl_cell_time(log, columns[TIME].names, cell[TIME], &row.ns))
    return false;
  if (*cell[PACKAGE] != '\0')
    return read_package(log, t, &row, cell[PACKAGE]);
  if (t->at[CORE] < 0 && t->at[CPU] < 0) {
    if (t->each_row) {
      add_interval(log, t, &row);
    } else {
      t->kept[t->n_kept++] = row;
      t->each_row = t->n_kept == KEPT; /* no machine has so many packages */
      if (t->each_row)
        add_kept(log, t);
    }
  } else if (dl_is_stdio(cell[t->at[CORE] >= 0 ? CORE : CPU])) {
    add_interval(log, t, &row);
  }
  return true;
}

static void end(struct dl_log *log) {
  add_kept(log, log->state);
}

const struct dl_importer dl_import_turbostat = {
    .name = "turbostat",
    .summary = "turbostat --Summary --show PkgWatt,RAMWatt",
    .role = DL_LOG_COMPANION,
    .state_size = sizeof(struct turbostat),
    .probe = probe,
    .line = line,
    .end = end,
};
