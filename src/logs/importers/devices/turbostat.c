/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turbostat (Linux): PkgWatt -> CPU, RAMWatt -> RAM, SysWatt (platform domain,
 * since 2024) -> NODE. CorWatt and GFXWatt are parts of PkgWatt. Powers are
 * means over the interval before.
 *
 * Columns stand between tabs (before 2017 between blanks) and depend on the
 * processor and on --show, --hide, --enable; times only with --enable
 * Time_Of_Day_Seconds (a fraction of a second apart from row to row). Before
 * the first header comes a page about the processor unless --quiet, and "N sec"
 * without --interval. Rows of an interval:
 *
 *  - the sum over all packages, with "-" for Package, Core and CPU;
 *  - then, unless --Summary, one a CPU: columns of the package end the row of
 *    its first CPU, other rows are shorter. The header comes again each time;
 *    with --Summary only each --header_iterations.
 *
 * So a column Package tells packages apart; with Core or CPU alone the row of
 * "-" counts. Without any of them (--show PkgWatt) rows below a header are held
 * back until the next one: where the first is the sum of the others, these are
 * its packages, otherwise every row is an interval. */

#include <math.h>
#include <string.h>

#include "logs/log.h"

enum column { PACKAGE, CORE, CPU, TIME, PKG_W, RAM_W, SYS_W, N_COLUMNS };

enum { FIELDS = 512, HELD = 17 };

struct row {
  double watts[3]; /* package, memory, platform */
  int64_t ns;
};

struct turbostat {
  int at[N_COLUMNS]; /* field of each column, -1 without */
  bool has_header;
  bool tabs;
  bool each_row;    /* rows need not be held back until the next header */
  size_t n_samples; /* so far, where there are no times */
  bool in_sample;   /* rows belong to n_samples - 1 */
  struct row held[HELD];
  size_t n_held;
};

static const char *const names[N_COLUMNS] = {
    "Package", "Core",    "CPU",    "Time_Of_Day_Seconds",
    "PkgWatt", "RAMWatt", "SysWatt"};

/* Whether s[0..len) is a header, and its columns. All words begin like names;
 * one of power must be there. */
static bool read_header(const char *s, size_t len, int *at, bool *tabs) {
  const char *stop = s + len;
  int n = 0;
  *tabs = memchr(s, '\t', len) != NULL;
  for (int c = 0; c < N_COLUMNS; c++)
    at[c] = -1;
  while (s < stop) {
    s += strspn(s, " \t");
    size_t width = strcspn(s, " \t\r\n");
    if (s >= stop || width == 0)
      break;
    if (!((*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z') || *s == '%'))
      return false;
    for (int c = 0; c < N_COLUMNS; c++)
      if (at[c] < 0 && strlen(names[c]) == width &&
          strncmp(names[c], s, width) == 0)
        at[c] = n;
    s += width;
    n++;
  }
  return at[PKG_W] >= 0 || at[RAM_W] >= 0 || at[SYS_W] >= 0;
}

static bool probe(const struct dl_head *head) {
  static const char about[] = "turbostat version ";
  int at[N_COLUMNS];
  bool tabs;
  const char *s = head->text + strspn(head->text, " \t\r\n");
  if (strncmp(s, about, sizeof about - 1) == 0)
    return true;
  /* "10.003506 sec" */
  if (*s >= '0' && *s <= '9') {
    s += strspn(s, "0123456789.");
    if (strncmp(s, " sec", 4) != 0 || strcspn(s, "\r\n") != 4)
      return false;
    s += 4 + strspn(s + 4, " \t\r\n");
  }
  size_t len = strcspn(s, "\r\n");
  return !memchr(s, ',', len) && read_header(s, len, at, &tabs);
}

/* Hands on a power, of one package or (id NULL) of all. */
static void hand_on(struct dl_log *log, enum dl_meter_kind kind, const char *id,
                    int64_t ns, double watts) {
  if (isnan(watts))
    return;
  struct dl_reading r = {.ns = ns,
                         .meter = dl_log_meter(log, kind, id, NULL),
                         .power_w = watts,
                         .util = NAN,
                         .energy_j = NAN};
  dl_log_reading(log, &r);
}

/* A row that stands for an interval by itself. */
static void hand_on_interval(struct dl_log *log, struct turbostat *t,
                             struct row *row) {
  if (t->at[TIME] < 0)
    row->ns = dl_log_time_of(log, t->n_samples++);
  hand_on(log, DL_METER_CPU, NULL, row->ns, row->watts[0]);
  hand_on(log, DL_METER_RAM, NULL, row->ns, row->watts[1]);
  hand_on(log, DL_METER_NODE, NULL, row->ns, row->watts[2]);
}

/* Whether the first of the rows held back is the sum of the others. Each is
 * rounded to 0.01 W. */
static bool is_sum(const struct turbostat *t) {
  bool compared = false;
  for (size_t i = 0; t->n_held >= 2 && i < 2; i++) {
    double sum = 0, first = t->held[0].watts[i];
    for (size_t k = 1; k < t->n_held; k++)
      sum += t->held[k].watts[i];
    if (isnan(first))
      continue;
    if (!(fabs(sum - first) <= 0.006 * (double)t->n_held))
      return false;
    compared = true;
  }
  return compared;
}

static void release(struct dl_log *log, struct turbostat *t) {
  size_t n = is_sum(t) ? 1 : t->n_held;
  for (size_t i = 0; i < n; i++)
    hand_on_interval(log, t, &t->held[i]);
  t->n_held = 0;
}

/* A row without package, core or CPU. */
static void read_plain(struct dl_log *log, struct turbostat *t,
                       struct row *row) {
  if (t->each_row) {
    hand_on_interval(log, t, row);
    return;
  }
  t->held[t->n_held++] = *row;
  if (t->n_held == HELD) { /* no processor has as many packages */
    t->each_row = true;
    release(log, t);
  }
}

/* Rows of packages. The platform is one: the row of the sum has it. */
static bool read_package(struct dl_log *log, struct turbostat *t,
                         struct row *row, const char *package) {
  static const char prefix[] = "package-";
  char id[32];
  bool is_sum_row = strcmp(package, "-") == 0;
  size_t len = strlen(package);
  if (!is_sum_row && (strspn(package, "0123456789") != len || len == 0 ||
                      len >= sizeof id - sizeof prefix))
    return dl_log_bad(log, "column 'Package': invalid number '%.40s'", package);
  if (t->at[TIME] < 0) {
    t->n_samples += !t->in_sample || is_sum_row;
    row->ns = dl_log_time_of(log, t->n_samples - 1);
  }
  t->in_sample = true;
  if (is_sum_row) {
    hand_on(log, DL_METER_NODE, NULL, row->ns, row->watts[2]);
    return true;
  }
  memcpy(id, prefix, sizeof prefix);
  memcpy(id + sizeof prefix - 1, package, len + 1);
  hand_on(log, DL_METER_CPU, id, row->ns, row->watts[0]);
  hand_on(log, DL_METER_RAM, id, row->ns, row->watts[1]);
  return true;
}

/* A field, NULL where there is no such column or the row ends before it. */
static const char *cell_at(char *const *field, size_t n, int at) {
  return at >= 0 && (size_t)at < n ? field[at] : NULL;
}

/* Powers and time of a row; false with *ok false: bad, otherwise: the row ends
 * before any of them. */
static bool read_cells(struct dl_log *log, const struct turbostat *t,
                       char *const *field, size_t n, struct row *row,
                       bool *ok) {
  bool any = false;
  *ok = true;
  for (int i = 0; i < 3; i++) {
    const char *watts = cell_at(field, n, t->at[PKG_W + i]);
    row->watts[i] = NAN;
    if (!watts || *watts == '\0')
      continue;
    *ok = dl_cell_number(watts, strlen(watts), &row->watts[i]) &&
          !(row->watts[i] < 0);
    if (!*ok)
      return dl_log_bad(log, "column '%s': invalid number '%.40s'",
                        names[PKG_W + i], watts);
    any = true;
  }
  if (!any || t->at[TIME] < 0)
    return any;
  const char *time = cell_at(field, n, t->at[TIME]);
  *ok = time && dl_log_time(log, time, strlen(time), &row->ns);
  return *ok ||
         dl_log_bad(log, "column 'Time_Of_Day_Seconds': invalid time '%.40s'",
                    time ? time : "");
}

/* "10.003506 sec" */
static bool is_duration(const char *s) {
  s += strspn(s, " ");
  size_t n = strspn(s, "0123456789.");
  return n > 0 && strcmp(s + n, " sec") == 0;
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct turbostat *t = log->state;
  char *field[FIELDS];
  struct row row = {.ns = 0};
  int at[N_COLUMNS];
  bool tabs, ok;
  size_t n;
  if (read_header(s, len, at, &tabs)) {
    release(log, t);
    t->in_sample = false;
    t->each_row = false;
    t->has_header = true;
    t->tabs = tabs;
    memcpy(t->at, at, sizeof at);
    return true;
  }
  if (!t->has_header || is_duration(s))
    return true; /* before the header: about the processor */
  if (t->tabs)
    dl_cell_split(s, '\t', field, FIELDS, &n);
  else
    dl_cell_words(s, field, FIELDS, &n);
  n = n > FIELDS ? FIELDS : n;
  if (!read_cells(log, t, field, n, &row, &ok))
    return ok;
  const char *package = cell_at(field, n, t->at[PACKAGE]);
  if (package)
    return read_package(log, t, &row, package);
  int topology = t->at[CORE] >= 0 ? t->at[CORE] : t->at[CPU];
  const char *cpu = cell_at(field, n, topology);
  if (topology < 0)
    read_plain(log, t, &row);
  else if (cpu && strcmp(cpu, "-") == 0)
    hand_on_interval(log, t, &row);
  return true;
}

static void end(struct dl_log *log) {
  release(log, log->state);
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
