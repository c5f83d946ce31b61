/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf stat with the energy events of RAPL (Linux's power PMU):
 *   power/energy-pkg/ -> CPU, power/energy-ram/ -> RAM, power/energy-psys/
 *   (the platform) -> NODE; energy-cores, energy-gpu and
 * power_core/energy-core/ are parts of the package and are ignored.
 *
 * Layouts, each with -I (a time in s since the start in front) or without:
 *   default:  [TIME] [S0 1] 1,234.56 Joules power/energy-pkg/ ...
 *   -x SEP: [TIME,][S0,1,]1234.56,Joules,power/energy-pkg/,RUNTIME,PERCENT,...
 * The second group is present with --per-socket, --per-die (S0-D0), --per-core,
 * --per-node (N0); with -A it is CPU0 without a number. Any separator; digits
 * may be grouped and the decimal sign be a comma, depending on the locale. A
 * value may be "<not counted>" or "<not supported>". -o writes "# started on
 * Mon Dec  5 09:55:42 2022" first (local time), with --append once per run.
 *
 * With -I values are energies of the interval that ends at TIME: they are added
 * up to a counter, which stands still in a gap. A sum over packages
 * (no --per-...) is one meter. Without -I there is one run; its duration is "N
 * seconds time elapsed" of the default layout, its energy_j is the platform's
 * energy, if measured (boundary node), otherwise CPU and RAM. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "logs/log.h"
#include "logs/readings/measure.h"

/* Larger energies (J) and times (s) are errors. */
#define MOST 1e15
#define MOST_S 1e9

enum { FIELDS = 64, METERS = 96, ID_SIZE = 24 };

struct perf_meter {
  enum dl_meter_kind kind;
  char id[ID_SIZE]; /* "": all packages */
  bool started;     /* with -I */
  double sum_j;     /* the counter */
  double last_s;    /* end of the last interval with a value */
  double total_j;   /* without -I; NaN: none yet */
};

struct perf {
  bool has_start, csv, intervals;
  int64_t start_ns;
  double now_s, before_s; /* ends of this interval and the one before */
  double offset_s;        /* of a run that follows another one */
  struct perf_meter meter[METERS];
  size_t n_meters;
};

/* An event of a line. */
struct perf_event {
  double seconds;     /* NaN without -I */
  const char *domain; /* "S0", "" for all */
  const char *name;
  double joules; /* NaN: not counted */
  bool supported;
};

/* A number whose digits may be grouped. The character before the last digits is
 * the decimal sign, unless it is a comma and three digits follow, or any other
 * character than a full stop. No group follows a 0 alone. */
static bool parse_localised(const char *s, double *x) {
  char plain[64];
  size_t n = 0, len = strlen(s), last = len;
  for (size_t i = 0; i < len; i++)
    if (!isdigit((unsigned char)s[i]))
      last = i;
  bool decimal =
      last < len &&
      (s[last] == '.' ||
       (s[last] == ',' && (len - last - 1 != 3 || (last == 1 && *s == '0'))));
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)s[i];
    if (n + 1 >= sizeof plain)
      return false;
    if (isdigit((unsigned char)s[i]))
      plain[n++] = s[i];
    else if (i == last && decimal)
      plain[n++] = '.';
    else if (i == 0 || (c != '.' && c != ',' && c != '\'' && c < 0x80))
      return false;
  }
  return n > 0 && dl_parse_number(plain, n, x) == DL_NUMBER_OK && *x < MOST;
}

/* Splits a line with "Joules" between two separators; *unit is the index of
 * that field. False for other lines. */
static bool split_event(char *s, char **field, size_t *n, size_t *unit,
                        char *separator) {
  char *joules = strstr(s, "Joules");
  if (!joules || joules == s || joules[6] != joules[-1])
    return false;
  *separator = joules[-1];
  if (isalnum((unsigned char)*separator))
    return false;
  *n = *separator == ' ' ? dl_cell_words(s, field, FIELDS)
                         : dl_cell_split(s, *separator, field, FIELDS);
  *n = *n < FIELDS ? *n : FIELDS;
  for (*unit = 0; *unit < *n; ++*unit)
    if (dl_is_word(field[*unit], "Joules"))
      return *unit > 0 && *unit + 1 < *n;
  return false;
}

enum parsed { OTHER, BAD, EVENT };

/* Reads the fields before the value: [TIME] [DOMAIN [COUNT]]. */
static bool read_prefix(char **field, size_t n, struct perf_event *e) {
  size_t i = 0;
  e->seconds = NAN;
  e->domain = "";
  if (i < n && isdigit((unsigned char)field[i][0])) {
    if (!parse_localised(field[i++], &e->seconds) || !(e->seconds < MOST_S))
      return false;
  }
  if (i < n)
    e->domain = field[i++];
  return n - i <= 1 && strlen(e->domain) < ID_SIZE &&
         !isdigit((unsigned char)e->domain[0]);
}

static bool is_whole(const char *s) {
  return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* Whether "-x," has split a number with a decimal comma before `value`. perf
 * writes times with a full stop in every locale, but energies, with two
 * decimals, in the user's locale. A domain is not a number, and its count comes
 * last. */
static bool is_split(char **field, size_t value) {
  size_t i = 0;
  if (value == 0 || strlen(field[value]) != 2 || !is_whole(field[value]) ||
      !is_whole(field[value - 1]))
    return false;
  i += strchr(field[0], '.') != NULL; /* TIME */
  bool domain = i < value - 1 && !isdigit((unsigned char)field[i][0]);
  return domain ? value - i == 3 : value - i == 1;
}

static enum parsed parse(char *s, struct perf_event *e, char *separator) {
  char *field[FIELDS], joined[64];
  size_t n, unit;
  if (!split_event(s, field, &n, &unit, separator) ||
      !strstr(field[unit + 1], "energy-"))
    return OTHER;
  size_t value = unit - 1;
  e->name = field[unit + 1];
  e->joules = NAN;
  e->supported = true;
  if (*separator == ' ' && value > 0 && field[value - 1][0] == '<')
    value--;
  if (*separator == ',' && is_split(field, value)) {
    value--;
    snprintf(joined, sizeof joined, "%.40s.%s", field[value], field[value + 1]);
    field[value] = joined;
  }
  if (field[value][0] == '<')
    e->supported = !strstr(field[value], "supported") &&
                   !strstr(field[unit - 1], "supported");
  else if (!parse_localised(field[value], &e->joules))
    return BAD;
  return read_prefix(field, value, e) ? EVENT : BAD;
}

/* The kind of an event; false for parts of others. */
static bool kind_of(const char *event, enum dl_meter_kind *kind) {
  static const char *const names[] = {[DL_METER_CPU] = "energy-pkg",
                                      [DL_METER_RAM] = "energy-ram",
                                      [DL_METER_NODE] = "energy-psys"};
  for (*kind = DL_METER_CPU; *kind <= DL_METER_NODE; ++*kind)
    if (strstr(event, names[*kind]))
      return true;
  return false;
}

static struct perf_meter *meter_of(struct perf *p, enum dl_meter_kind kind,
                                   const char *id) {
  for (size_t i = 0; i < p->n_meters; i++)
    if (p->meter[i].kind == kind && strcmp(p->meter[i].id, id) == 0)
      return &p->meter[i];
  if (p->n_meters == METERS)
    return NULL;
  struct perf_meter *m = &p->meter[p->n_meters++];
  *m = (struct perf_meter){.kind = kind, .total_j = NAN};
  memcpy(m->id, id, strlen(id) + 1);
  return m;
}

/* Adds a reading. Meters are named "package-1" for S1; cores and CPUs stand for
 * the package or die that contains them: "S0-D0" for S0-D0-C0. */
static void add_reading(struct dl_log *log, const struct perf *p,
                        const struct perf_meter *m, double seconds,
                        double joules) {
  char domain[ID_SIZE], package[ID_SIZE + 16], *id = domain, *part;
  snprintf(domain, sizeof domain, "%s", m->id);
  if ((part = strstr(domain, "-C")) || (part = strstr(domain, "-L")))
    *part = '\0';
  if (domain[0] == 'S' && isdigit((unsigned char)domain[1]) &&
      domain[1 + strspn(domain + 1, "0123456789")] == '\0') {
    snprintf(package, sizeof package, "package-%s", domain + 1);
    id = package;
  }
  int64_t ns;
  seconds += p->offset_s;
  if (!p->has_start)
    ns = dl_log_time_since(log, seconds);
  else if (__builtin_add_overflow(p->start_ns, llround(seconds * 1e9), &ns))
    ns = p->start_ns;
  struct dl_reading r =
      dl_reading_at(dl_log_meter(log, m->kind, *id ? id : NULL, NULL), ns);
  r.energy_j = joules;
  dl_log_reading(log, &r);
}

/* Another run follows: counters go on with its first interval. */
static void restart(struct perf *p) {
  p->now_s = p->before_s = p->offset_s = 0;
  p->intervals = false;
  for (size_t i = 0; i < p->n_meters; i++)
    p->meter[i].started = false;
}

static void add_interval(struct dl_log *log, struct perf *p,
                         struct perf_meter *m, double joules) {
  if (!m->started || m->last_s < p->before_s) {
    add_reading(log, p, m, p->before_s, m->sum_j);
    m->started = true;
  }
  m->sum_j += joules;
  m->last_s = p->now_s;
  add_reading(log, p, m, p->now_s, m->sum_j);
}

/* Adds the run that was measured without -I. */
static void finish_total(struct dl_log *log, struct perf *p, double seconds) {
  double sum[] = {[DL_METER_GPU] = NAN,
                  [DL_METER_CPU] = NAN,
                  [DL_METER_RAM] = NAN,
                  [DL_METER_NODE] = NAN};
  bool any = false;
  for (size_t i = 0; i < p->n_meters; i++) {
    struct perf_meter *m = &p->meter[i];
    if (isnan(m->total_j))
      continue;
    sum[m->kind] = (isnan(sum[m->kind]) ? 0 : sum[m->kind]) + m->total_j;
    m->total_j = NAN;
    any = true;
  }
  if (!any)
    return;
  struct dl_run *r = dl_log_run(log);
  dl_run_set_number(r, DL_RUN_duration_s, seconds);
  dl_run_set_number(r, DL_RUN_cpu_energy_j, sum[DL_METER_CPU]);
  dl_run_set_number(r, DL_RUN_ram_energy_j, sum[DL_METER_RAM]);
  dl_run_set_number(r, DL_RUN_node_energy_j, sum[DL_METER_NODE]);
  dl_measure_boundary(r);
  if (p->has_start) {
    char text[DL_TIMESTAMP_SIZE];
    dl_run_copy_text(r, DL_RUN_start_time,
                     dl_format_timestamp(text, p->start_ns, false));
  }
}

static bool add(struct dl_log *log, struct perf *p,
                const struct perf_event *e) {
  enum dl_meter_kind kind;
  if (!kind_of(e->name, &kind) || !e->supported)
    return true;
  if (!isnan(e->seconds) && e->seconds != p->now_s) {
    if (e->seconds < p->now_s) { /* another run, with an unknown start */
      double offset = p->offset_s + p->now_s;
      dl_log_warn(log, "times begin anew: taken to follow those before");
      restart(p);
      p->offset_s = offset < MOST_S ? offset : 0;
    }
    p->before_s = p->intervals ? p->now_s : p->before_s;
    p->now_s = e->seconds;
    p->intervals = true;
  }
  if (isnan(e->joules))
    return true;
  struct perf_meter *m = meter_of(p, kind, e->domain);
  if (!m)
    return dl_log_bad(log, "more than %d meters", METERS);
  if (!isnan(e->seconds)) {
    add_interval(log, p, m, e->joules);
  } else if (!p->intervals) { /* otherwise the sum at the end (--summary) */
    if (!isnan(m->total_j))
      finish_total(log, p, NAN);
    m->total_j = e->joules;
  }
  return true;
}

static void comment(struct dl_log *log, struct perf *p, char *s) {
  static const char started[] = "started on ";
  s += 1 + strspn(s + 1, " ");
  if (strncmp(s, started, sizeof started - 1) != 0)
    return;
  finish_total(log, p, NAN);
  restart(p);
  p->has_start = dl_cell_date(log, s + sizeof started - 1, &p->start_ns);
}

/* "5.001965465 seconds time elapsed" or, of several runs, "34.922801 +- 0.0007
 * seconds time elapsed". */
static bool read_elapsed(char *s, double *seconds) {
  if (!strstr(s, " seconds time elapsed"))
    return false;
  s += strspn(s, " ");
  s[strcspn(s, " ")] = '\0';
  return parse_localised(s, seconds);
}

static bool line(struct dl_log *log, char *s) {
  struct perf *p = log->state;
  struct perf_event e;
  char separator = '\0';
  double seconds;
  char *start = s + strspn(s, " \t");
  char first = *start;
  if (first == '#') {
    comment(log, p, start);
    return true;
  }
  switch (parse(s, &e, &separator)) {
  case EVENT:
    p->csv = p->csv || separator != ' ';
    return add(log, p, &e);
  case BAD:
    return dl_log_bad(log, "no event of perf stat: '%.60s'", s);
  case OTHER:
    break;
  }
  if (read_elapsed(start, &seconds))
    finish_total(log, p, seconds);
  else if (p->csv && !isdigit((unsigned char)first) && first != '<')
    return dl_log_bad(log, "no event of perf stat: '%.60s'", start);
  return true;
}

static void end(struct dl_log *log) {
  finish_total(log, log->state, NAN);
}

/* An energy event, before which there are only comments, other events and the
 * title. */
static bool probe(const struct dl_head *head) {
  static const char started[] = "# started on ",
                    title[] = "Performance counter stats for ";
  char text[DL_HEAD_LINE], separator;
  struct perf_event e;
  for (size_t at = 0; dl_head_line(head, &at, text, sizeof text);) {
    bool known = *text == '#' || isdigit((unsigned char)*text) ||
                 *text == '<' || strncmp(text, title, sizeof title - 1) == 0;
    if (strncmp(text, started, sizeof started - 1) == 0 ||
        parse(text, &e, &separator) == EVENT)
      return true;
    if (!known)
      return false;
  }
  return false;
}

/* Finds the beginning of the first interval: 0, unless the log lacks its
 * beginning, so that the first time exceeds the longest pause after it. */
static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct perf *p = log->state;
  char text[DL_HEAD_LINE];
  double first = NAN, last = NAN, longest = 0, x;
  size_t pauses = 0, at = 0;
  (void)d;
  while (pauses < 16 && dl_head_line(head, &at, text, sizeof text)) {
    const char *s = text + strspn(text, " \t");
    size_t n = strspn(s, "0123456789.");
    if (!strstr(s, "Joules") || !memchr(s, '.', n) ||
        dl_parse_number(s, n, &x) != DL_NUMBER_OK)
      continue;
    if (isnan(first))
      first = x;
    pauses += x > last;
    longest = x > last ? fmax(longest, x - last) : longest;
    last = x;
  }
  if (pauses >= 2 && first > 1.5 * longest)
    p->before_s = first - longest;
  return DL_OK;
}

const struct dl_importer dl_import_perf = {
    .name = "perf",
    .summary = "perf stat -I 1000 [-x,] -e power/energy-pkg/,...",
    .role = DL_LOG_COMPANION,
    .state_size = sizeof(struct perf),
    .probe = probe,
    .begin = begin,
    .line = line,
    .end = end,
};
