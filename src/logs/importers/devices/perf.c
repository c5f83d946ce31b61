/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf stat with RAPL's energy events (Linux's power PMU):
 *   power/energy-pkg/ -> CPU, power/energy-ram/ -> RAM, power/energy-psys/
 *   (the platform) -> NODE; energy-cores, energy-gpu and
 * power_core/energy-core/ are parts of the package and passed over.
 *
 * Layouts, each with -I (a time in s since the start in front) or without:
 *   people:  [TIME] [S0 1] 1,234.56 Joules power/energy-pkg/ ...
 *   -x SEP:  [TIME,][S0,1,]1234.56,Joules,power/energy-pkg/,RUNTIME,PERCENT,...
 * The second group is there with --per-socket, --per-die (S0-D0), --per-core,
 * --per-node (N0); -A gives a CPU0 without a number. Any separator; digits may
 * be grouped and the decimal sign be a comma, as the locale has it.
 * "<not counted>" and "<not supported>" take a value's place. -o writes
 * "# started on Mon Dec  5 09:55:42 2022" first (local time), --append once
 * more for each run.
 *
 * With -I values are energies of the interval that ends at TIME: they are added
 * up to a counter that is 0 at the beginning, and again behind a gap. A sum
 * over packages (no --per-...) is one meter. Without -I there is one run, with
 * "N seconds time elapsed" for its duration in the layout for people; its
 * energy_j is that of the platform, if measured (boundary node), otherwise CPU
 * and RAM. */

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/number.h"
#include "logs/log.h"
#include "logs/readings/measure.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* No energy (J) and no time (s) is more than this. */
#define MOST 1e15
#define MOST_S 1e9

enum { FIELDS = 64, METERS = 96, ID_SIZE = 24 };

struct meter {
  enum dl_meter_kind kind;
  char id[ID_SIZE]; /* "": of all packages */
  bool started;     /* with -I */
  double sum_j;     /* since the counter's beginning */
  double last_s;    /* end of the last interval with a value */
  double total_j;   /* without -I; NaN: none yet */
};

struct perf {
  bool has_start, csv, intervals;
  int64_t start_ns;
  double now_s, before_s; /* ends of this interval and the one before */
  double offset_s;        /* of a run put behind another one */
  struct meter meter[METERS];
  size_t n_meters;
};

/* What a line says. */
struct event {
  double seconds; /* NaN without -I */
  const char *of; /* "S0", "" for all */
  const char *name;
  double joules; /* NaN: not counted */
  bool supported;
};

/* A number whose digits may be grouped. What stands before the last digits is
 * the decimal sign, unless three of them follow a comma or something else that
 * is no full stop. */
static bool localised(const char *s, double *x) {
  char plain[64];
  size_t n = 0, len = strlen(s), last = len;
  for (size_t i = 0; i < len; i++)
    if (!dl_is_digit(s[i]))
      last = i;
  bool decimal =
      last < len && (s[last] == '.' || (s[last] == ',' && len - last - 1 != 3));
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)s[i];
    if (n + 1 >= sizeof plain)
      return false;
    if (dl_is_digit(s[i]))
      plain[n++] = s[i];
    else if (i == last && decimal)
      plain[n++] = '.';
    else if (i == 0 || (c != '.' && c != ',' && c != '\'' && c < 0x80))
      return false;
  }
  return n > 0 && dl_parse_number(plain, n, x) == DL_NUMBER_OK && *x < MOST;
}

/* The fields of a line that has "Joules" between two separators, and the field
 * that is. False for other lines. */
static bool split_event(char *s, char **field, size_t *n, size_t *unit,
                        char *separator) {
  char *joules = strstr(s, "Joules");
  if (!joules || joules == s || joules[6] != joules[-1])
    return false;
  *separator = joules[-1];
  if (strchr(LETTERS, *separator) || dl_is_digit(*separator))
    return false;
  if (*separator == ' ')
    dl_cell_words(s, field, FIELDS, n);
  else
    dl_cell_split(s, *separator, field, FIELDS, n);
  if (*n > FIELDS)
    *n = FIELDS;
  for (*unit = 0; *unit < *n; ++*unit)
    if (strcmp(field[*unit], "Joules") == 0)
      return *unit > 0 && *unit + 1 < *n;
  return false;
}

enum parsed { OTHER, BAD, EVENT };

/* Reads the fields before the value: [TIME] [OF [COUNT]]. */
static bool read_prefix(char **field, size_t n, struct event *e) {
  size_t i = 0;
  e->seconds = NAN;
  e->of = "";
  if (i < n && dl_is_digit(field[i][0])) {
    if (!localised(field[i++], &e->seconds) || !(e->seconds < MOST_S))
      return false;
  }
  if (i < n)
    e->of = field[i++];
  return n - i <= 1 && strlen(e->of) < ID_SIZE;
}

static enum parsed parse(char *s, struct event *e, char *separator) {
  char *field[FIELDS];
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
  if (field[value][0] == '<')
    e->supported = !strstr(field[value], "supported") &&
                   !strstr(field[unit - 1], "supported");
  else if (!localised(field[value], &e->joules))
    return BAD;
  return read_prefix(field, value, e) ? EVENT : BAD;
}

/* The kind of an event; false for parts of others. */
static bool kind_of(const char *event, enum dl_meter_kind *kind) {
  static const struct {
    const char *name;
    enum dl_meter_kind kind;
  } kinds[] = {{"energy-pkg", DL_METER_CPU},
               {"energy-ram", DL_METER_RAM},
               {"energy-psys", DL_METER_NODE}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strstr(event, kinds[i].name)) {
      *kind = kinds[i].kind;
      return true;
    }
  return false;
}

/* "Mon Dec  5 09:55:42 2022" as a time; false for others. */
static bool read_start(struct dl_log *log, char *s, int64_t *ns) {
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  char *word[6], iso[] = "0000-00-00 00:00:00";
  size_t n;
  dl_cell_words(s, word, 6, &n);
  if (n != 5 || strlen(word[1]) != 3 || strlen(word[3]) != 8 ||
      strlen(word[4]) != 4 || strlen(word[2]) < 1 || strlen(word[2]) > 2)
    return false;
  const char *month = strstr(months, word[1]);
  if (!month || (month - months) % 3 != 0)
    return false;
  int m = (int)(month - months) / 3 + 1;
  size_t day_len = strlen(word[2]);
  memcpy(iso, word[4], 4);
  iso[5] = (char)('0' + m / 10);
  iso[6] = (char)('0' + m % 10);
  memcpy(iso + 10 - day_len, word[2], day_len);
  memcpy(iso + 11, word[3], 8);
  return dl_log_time(log, iso, sizeof iso - 1, ns);
}

static struct meter *meter_of(struct perf *p, enum dl_meter_kind kind,
                              const char *id) {
  for (size_t i = 0; i < p->n_meters; i++)
    if (p->meter[i].kind == kind && strcmp(p->meter[i].id, id) == 0)
      return &p->meter[i];
  if (p->n_meters == METERS)
    return NULL;
  struct meter *m = &p->meter[p->n_meters++];
  *m = (struct meter){.kind = kind, .total_j = NAN};
  memcpy(m->id, id, strlen(id) + 1);
  return m;
}

/* "S1" -> "package-1"; cores and CPUs stand for the package or die they are
 * in: "S0-D0-C0" -> "S0-D0". */
static void name_meter(char *id, size_t size, const char *of) {
  static const char prefix[] = "package-";
  size_t len = strlen(of);
  const char *core = strstr(of, "-C");
  const char *cache = strstr(of, "-L");
  if (core)
    len = (size_t)(core - of);
  if (cache && (size_t)(cache - of) < len)
    len = (size_t)(cache - of);
  size_t at = 0;
  if (of[0] == 'S' && strspn(of + 1, "0123456789") == len - 1 && len > 1 &&
      len + sizeof prefix < size) {
    at = sizeof prefix - 1;
    memcpy(id, prefix, at);
    of++;
    len--;
  }
  memcpy(id + at, of, len);
  id[at + len] = '\0';
}

static int64_t time_of(struct dl_log *log, const struct perf *p,
                       double seconds) {
  int64_t ns;
  seconds += p->offset_s;
  if (!p->has_start)
    return dl_log_time_since(log, seconds);
  return __builtin_add_overflow(p->start_ns, llround(seconds * 1e9), &ns)
             ? p->start_ns
             : ns;
}

static void hand_on(struct dl_log *log, const struct perf *p,
                    const struct meter *m, double seconds, double joules) {
  char id[ID_SIZE + 16];
  name_meter(id, sizeof id, m->id);
  struct dl_reading r = {.ns = time_of(log, p, seconds),
                         .meter =
                             dl_log_meter(log, m->kind, *id ? id : NULL, NULL),
                         .power_w = NAN,
                         .util = NAN,
                         .energy_j = joules};
  dl_log_reading(log, &r);
}

/* Counters begin anew. */
static void restart(struct perf *p) {
  p->now_s = p->before_s = p->offset_s = 0;
  p->intervals = false;
  p->n_meters = 0;
}

/* Another run begins, and nothing says when. */
static void put_behind(struct dl_log *log, struct perf *p) {
  double offset = p->offset_s + p->now_s;
  dl_log_warn(log, "times begin anew: taken to follow those before");
  restart(p);
  p->offset_s = offset < MOST_S ? offset : 0;
}

static void add_interval(struct dl_log *log, struct perf *p, struct meter *m,
                         double joules) {
  if (!m->started || m->last_s < p->before_s) {
    hand_on(log, p, m, p->before_s, 0);
    m->started = true;
    m->sum_j = 0;
  }
  m->sum_j += joules;
  m->last_s = p->now_s;
  hand_on(log, p, m, p->now_s, m->sum_j);
}

/* Hands on what was measured without -I. */
static void finish_total(struct dl_log *log, struct perf *p, double seconds) {
  double sum[] = {[DL_METER_GPU] = NAN,
                  [DL_METER_CPU] = NAN,
                  [DL_METER_RAM] = NAN,
                  [DL_METER_NODE] = NAN};
  bool any = false;
  for (size_t i = 0; i < p->n_meters; i++) {
    struct meter *m = &p->meter[i];
    if (isnan(m->total_j))
      continue;
    sum[m->kind] = (isnan(sum[m->kind]) ? 0 : sum[m->kind]) + m->total_j;
    m->total_j = NAN;
    any = true;
  }
  struct dl_run *r = any ? dl_log_run(log) : NULL;
  if (!r)
    return;
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

static bool add(struct dl_log *log, struct perf *p, const struct event *e) {
  enum dl_meter_kind kind;
  if (!kind_of(e->name, &kind) || !e->supported)
    return true;
  if (!isnan(e->seconds) && e->seconds != p->now_s) {
    if (e->seconds < p->now_s)
      put_behind(log, p);
    p->before_s = p->intervals ? p->now_s : p->before_s;
    p->now_s = e->seconds;
    p->intervals = true;
  }
  if (isnan(e->joules))
    return true;
  struct meter *m = meter_of(p, kind, e->of);
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

static bool comment(struct dl_log *log, struct perf *p, char *s) {
  static const char started[] = "started on ";
  s += 1 + strspn(s + 1, " ");
  if (strncmp(s, started, sizeof started - 1) != 0)
    return true;
  finish_total(log, p, NAN);
  restart(p);
  p->has_start = read_start(log, s + sizeof started - 1, &p->start_ns);
  return true;
}

/* "5.001965465 seconds time elapsed" or, of several runs, "34.922801 +- 0.0007
 * seconds time elapsed". */
static bool read_elapsed(char *s, double *seconds) {
  if (!strstr(s, " seconds time elapsed"))
    return false;
  s += strspn(s, " ");
  s[strcspn(s, " ")] = '\0';
  return localised(s, seconds);
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct perf *p = log->state;
  struct event e;
  char separator = '\0';
  double seconds;
  (void)len;
  char *start = s + strspn(s, " \t");
  char first = *start;
  if (first == '#')
    return comment(log, p, start);
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
  else if (p->csv && !dl_is_digit(first) && first != '<')
    return dl_log_bad(log, "no event of perf stat: '%.60s'", start);
  return true;
}

static void end(struct dl_log *log) {
  finish_total(log, log->state, NAN);
}

/* One of the first lines is an energy event, and those before look like perf's:
 * comments, other events, or the title. */
static bool probe(const struct dl_head *head) {
  static const char started[] = "# started on ",
                    title[] = "Performance counter stats for ";
  char copy[512], separator;
  struct event e;
  for (const char *s = head->text; *s;) {
    size_t len = strcspn(s, "\r\n");
    const char *text = s + strspn(s, " \t");
    if (strncmp(text, started, sizeof started - 1) == 0)
      return true;
    if (len >= sizeof copy)
      return false;
    memcpy(copy, s, len);
    copy[len] = '\0';
    if (parse(copy, &e, &separator) == EVENT)
      return true;
    if (len > 0 && *text != '#' && !dl_is_digit(*text) && *text != '<' &&
        strncmp(text, title, sizeof title - 1) != 0 && text < s + len)
      return false;
    s += len + strspn(s + len, "\r\n");
  }
  return false;
}

/* The first interval's beginning: 0, unless the log lacks its beginning, so
 * that the first time is more than the longest pause between the next ones. */
static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct perf *p = log->state;
  double first = NAN, last = NAN, longest = 0, x;
  size_t pauses = 0;
  (void)d;
  for (const char *s = head->text; *s && pauses < 16;) {
    s += strspn(s, " \t");
    size_t n = strspn(s, "0123456789."), len = strcspn(s, "\r\n");
    if (n > 0 && n < len && memmem(s, len, "Joules", 6) && memchr(s, '.', n) &&
        dl_parse_number(s, n, &x) == DL_NUMBER_OK) {
      if (isnan(first))
        first = x;
      pauses += x > last;
      longest = x > last ? fmax(longest, x - last) : longest;
      last = x;
    }
    s += len + strspn(s + len, "\r\n");
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
