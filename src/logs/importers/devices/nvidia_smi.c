/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvidia-smi --query-gpu=... --format=csv[,noheader][,nounits] -l N
 *
 * Columns come in the order of the query, with the query's names and units in
 * brackets ("power.draw [W]"); scripts rename them (gpu_power_draw). Cells
 * carry units unless "nounits" was asked for, and "[N/A]" where a board lacks
 * a sensor. A board is told by uuid, bus or index; a log of several boards
 * without any of them lists the boards in turn, within a moment. */

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "logs/importers/importer.h"

enum column {
  TIME,
  NAME,
  UUID,
  BUS,
  INDEX,
  POWER,
  UTIL,
  MEMORY_UTIL,
  LIMIT,
  ENERGY_MJ,
  N_COLUMNS
};

enum { FIELDS_MAX = 64 };

struct smi {
  int at[N_COLUMNS]; /* field of each column, -1 without */
  size_t n_fields;
  char header[1024]; /* as it stands in the file, "" without */
  size_t n_in_turn;  /* boards that take turns; 0: told by a column */
  size_t turn;
  int64_t last_ns, pause_ns; /* between one round and the next */
};

/* Names as the tool and scripts write them; the first of a column counts. */
static const struct {
  const char *name;
  enum column column;
} names[] = {
    {"timestamp", TIME},
    {"name", NAME},
    {"gpu_name", NAME},
    {"uuid", UUID},
    {"gpu_uuid", UUID},
    {"pci.bus_id", BUS},
    {"gpu_bus_id", BUS},
    {"index", INDEX},
    {"gpu_index", INDEX},
    {"power.draw", POWER},
    {"power.draw.average", POWER},
    {"power.draw.instant", POWER},
    {"gpu_power_draw", POWER},
    {"utilization.gpu", UTIL},
    {"gpu_usage", UTIL},
    {"gpu_utilization", UTIL},
    {"utilization.memory", MEMORY_UTIL},
    {"gpu_memory_usage", MEMORY_UTIL},
    {"enforced.power.limit", LIMIT},
    {"power.limit", LIMIT},
    {"power.max_limit", LIMIT},
    {"gpu_max_power", LIMIT},
    {"total_energy_consumption", ENERGY_MJ},
};

/* A text within a line. */
struct span {
  const char *s;
  size_t len;
};

static struct span trimmed(const char *s, const char *end) {
  while (s < end && *s == ' ')
    s++;
  while (end > s && end[-1] == ' ')
    end--;
  return (struct span){s, (size_t)(end - s)};
}

/* The fields of a line; returns how many there are in all. */
static size_t fields_of(const char *s, size_t len, struct span *field) {
  const char *end = s + len;
  size_t n = 0;
  for (;;) {
    const char *comma = memchr(s, ',', (size_t)(end - s));
    if (n < FIELDS_MAX)
      field[n] = trimmed(s, comma ? comma : end);
    n++;
    if (!comma)
      return n;
    s = comma + 1;
  }
}

/* The column with that heading, whose unit does not count. */
static int column_of(struct span f) {
  const char *bracket = memchr(f.s, '[', f.len);
  if (bracket)
    f = trimmed(f.s, bracket);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i].name) == f.len &&
        strncasecmp(names[i].name, f.s, f.len) == 0)
      return (int)names[i].column;
  return -1;
}

static void forget_columns(struct smi *smi) {
  for (size_t i = 0; i < N_COLUMNS; i++)
    smi->at[i] = -1;
}

static bool usable(const struct smi *smi) {
  return smi->at[TIME] >= 0 && (smi->at[POWER] >= 0 || smi->at[ENERGY_MJ] >= 0);
}

static bool read_header(struct smi *smi, const char *line, size_t len) {
  struct span field[FIELDS_MAX];
  forget_columns(smi);
  smi->n_fields = fields_of(line, len, field);
  if (smi->n_fields > FIELDS_MAX || len >= sizeof smi->header)
    return false;
  for (size_t i = 0; i < smi->n_fields; i++) {
    int column = column_of(field[i]);
    if (column >= 0 && smi->at[column] < 0)
      smi->at[column] = (int)i;
  }
  memcpy(smi->header, line, len);
  smi->header[len] = '\0';
  return usable(smi);
}

static bool ends_with(struct span f, const char *unit) {
  size_t n = strlen(unit);
  double x;
  return f.len > n && memcmp(f.s + f.len - n, unit, n) == 0 &&
         dl_cell_number(f.s, f.len, &x);
}

/* Without a header the units tell: the first W is the draw and the second a
 * limit, the first percentage the GPU's use. */
static bool guess_columns(struct smi *smi, const char *line, size_t len) {
  struct span field[FIELDS_MAX];
  struct dl_timestamp t;
  forget_columns(smi);
  smi->header[0] = '\0';
  smi->n_fields = fields_of(line, len, field);
  if (smi->n_fields > FIELDS_MAX)
    return false;
  for (size_t i = 0; i < smi->n_fields; i++) {
    enum column c = N_COLUMNS;
    if (ends_with(field[i], " W"))
      c = smi->at[POWER] < 0 ? POWER : LIMIT;
    else if (ends_with(field[i], " %"))
      c = UTIL;
    else if (field[i].len > 4 && memcmp(field[i].s, "GPU-", 4) == 0)
      c = UUID;
    else if (field[i].len > 16 &&
             dl_parse_timestamp(field[i].s, field[i].len, &t) && t.dated)
      c = TIME;
    if (c < N_COLUMNS && smi->at[c] < 0)
      smi->at[c] = (int)i;
  }
  return usable(smi);
}

static size_t line_length(const char *s) {
  return strcspn(s, "\r\n");
}

static bool understands(struct smi *smi, const struct dl_head *head) {
  const char *s = head->text + strspn(head->text, " \t\r\n");
  return read_header(smi, s, line_length(s)) ||
         guess_columns(smi, s, line_length(s));
}

/* Others have a time and a power too: at least one name that only nvidia-smi's
 * queries have, or its units, must be there. */
static bool probe(const struct dl_head *head) {
  struct smi smi = {0};
  const char *s = head->text + strspn(head->text, " \t\r\n");
  if (!understands(&smi, head))
    return false;
  size_t len = line_length(s);
  return smi.header[0] == '\0' || memmem(s, len, "power.draw", 10) ||
         memmem(s, len, "gpu_power_draw", 14);
}

/* How many boards take turns in the head: rows within a tenth of the longest
 * pause belong to one round. All rounds but the last must be as long. */
static size_t count_turns(struct smi *smi, struct dl_log *log,
                          const struct dl_head *head) {
  enum { ROWS = 96 };
  int64_t ns[ROWS], longest = 0;
  struct span field[FIELDS_MAX];
  size_t n = 0;
  for (const char *s = head->text; *s && n < ROWS;) {
    size_t len = line_length(s);
    if (s[len] != '\0' && fields_of(s, len, field) == smi->n_fields &&
        dl_log_time(log, field[smi->at[TIME]].s, field[smi->at[TIME]].len,
                    &ns[n]))
      n++;
    s += len + strspn(s + len, "\r\n");
  }
  for (size_t i = 1; i < n; i++)
    if (ns[i] - ns[i - 1] > longest)
      longest = ns[i] - ns[i - 1];
  size_t size = 0, rounds = 0, now = 1;
  for (size_t i = 1; i < n; i++, now++) {
    int64_t step = ns[i] - ns[i - 1];
    if (step < 0 || (step > longest / 10 && step < longest / 2))
      return 1;
    if (step <= longest / 10)
      continue;
    if (rounds++ > 0 && now != size)
      return 1;
    size = now;
    now = 0;
  }
  smi->pause_ns = longest / 2;
  return rounds >= 3 && size > 0 ? size : 1;
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct smi *smi = dl_log_state(log);
  if (!understands(smi, head))
    return dl_fail_at(d, DL_EINPUT, head->path, 1,
                      "no columns 'timestamp' and 'power.draw', and no units "
                      "to tell them by");
  if (smi->at[UUID] < 0 && smi->at[BUS] < 0 && smi->at[INDEX] < 0)
    smi->n_in_turn = count_turns(smi, log, head);
  if (smi->n_in_turn > 1)
    dl_log_warn(log,
                "%zu GPUs told apart by their order: the log has no "
                "column 'index' or 'uuid'",
                smi->n_in_turn);
  return DL_OK;
}

/* Which board's turn it is. */
static size_t turn_of(struct smi *smi, int64_t ns) {
  if (smi->n_in_turn > 1 && ns - smi->last_ns < smi->pause_ns)
    smi->turn = (smi->turn + 1) % smi->n_in_turn;
  else
    smi->turn = 0;
  smi->last_ns = ns;
  return smi->turn;
}

static char *string_of(char *buf, size_t size, struct span f) {
  size_t n = f.len < size - 1 ? f.len : size - 1;
  memcpy(buf, f.s, n);
  buf[n] = '\0';
  return buf;
}

static uint32_t meter_of(struct dl_log *log, struct smi *smi,
                         const struct span *field, int64_t ns) {
  static const enum column ids[] = {UUID, BUS, INDEX};
  char id[96], name[128] = "";
  if (smi->at[NAME] >= 0)
    string_of(name, sizeof name, field[smi->at[NAME]]);
  for (size_t i = 0; i < 3; i++)
    if (smi->at[ids[i]] >= 0)
      return dl_log_meter(log, DL_METER_GPU,
                          string_of(id, sizeof id, field[smi->at[ids[i]]]),
                          name);
  if (smi->n_in_turn <= 1)
    return dl_log_meter(log, DL_METER_GPU, NULL, name);
  size_t turn = turn_of(smi, ns);
  id[0] = (char)('0' + turn / 10 % 10);
  id[1] = (char)('0' + turn % 10);
  id[2] = '\0';
  return dl_log_meter(log, DL_METER_GPU, turn < 10 ? id + 1 : id, name);
}

/* A number of a column; NaN where there is no such column. */
static bool number(struct dl_log *log, const struct smi *smi,
                   const struct span *field, enum column c, const char *name,
                   double *x) {
  *x = NAN;
  if (smi->at[c] < 0)
    return true;
  struct span f = field[smi->at[c]];
  return dl_cell_number(f.s, f.len, x) ||
         dl_log_bad(log, "column '%s': invalid number '%.*s'", name,
                    (int)(f.len < 40 ? f.len : 40), f.s);
}

static bool is_header(const struct smi *smi, const char *s, size_t len) {
  return smi->header[0] != '\0' && s[0] == smi->header[0] &&
         strncmp(s, smi->header, len + 1) == 0;
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct smi *smi = dl_log_state(log);
  struct span field[FIELDS_MAX];
  struct dl_reading r;
  double util, memory_util, energy, limit;
  if (is_header(smi, s, len))
    return true;
  size_t n = fields_of(s, len, field);
  if (n != smi->n_fields)
    return dl_log_bad(log, "expected %zu fields, found %zu", smi->n_fields, n);
  struct span time = field[smi->at[TIME]];
  if (!dl_log_time(log, time.s, time.len, &r.ns))
    return dl_log_bad(log, "column 'timestamp': invalid time '%.*s'",
                      (int)(time.len < 40 ? time.len : 40), time.s);
  if (!number(log, smi, field, POWER, "power.draw", &r.power_w) ||
      !number(log, smi, field, UTIL, "utilization.gpu", &util) ||
      !number(log, smi, field, MEMORY_UTIL, "utilization.memory",
              &memory_util) ||
      !number(log, smi, field, ENERGY_MJ, "total_energy_consumption", &energy))
    return false;
  r.util = util / 100;
  r.memory_util = memory_util / 100;
  r.energy_j = energy / 1000;
  r.meter = meter_of(log, smi, field, r.ns);
  if (number(log, smi, field, LIMIT, "power.limit", &limit))
    dl_log_limit(log, r.meter, limit);
  dl_log_reading(log, &r);
  return true;
}

const struct dl_importer dl_import_nvidia_smi = {
    .name = "nvidia-smi",
    .summary = "nvidia-smi --query-gpu=timestamp,power.draw,... --format=csv",
    .state_size = sizeof(struct smi),
    .probe = probe,
    .begin = begin,
    .line = line,
};
