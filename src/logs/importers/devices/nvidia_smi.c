/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvidia-smi --query-gpu=... --format=csv[,noheader][,nounits] -l N
 *
 * Columns have the order and the names of the query, with units in brackets
 * ("power.draw [W]"); scripts rename them (gpu_power_draw). Cells have units
 * unless "nounits" was requested, and "[N/A]" if a board lacks a sensor. A
 * board is identified by uuid, bus or index; without any of them, by its turn
 * (device_turns.h). */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "logs/importers/device_columns.h"
#include "logs/importers/device_turns.h"
#include "logs/log.h"

/* Names used by nvidia-smi and by scripts, and nvidia-smi's units. */
#define COLUMNS(X)                                                             \
  X(TIME, "timestamp", DL_NO_DIMENSION, 1)                                     \
  X(NAME, "name|gpu_name", DL_NO_DIMENSION, 1)                                 \
  X(UUID, "uuid|gpu_uuid", DL_NO_DIMENSION, 1)                                 \
  X(BUS, "pci.bus_id|gpu_bus_id", DL_NO_DIMENSION, 1)                          \
  X(INDEX, "index|gpu_index", DL_NO_DIMENSION, 1)                              \
  X(POWER, "power.draw|power.draw.average|power.draw.instant|gpu_power_draw",  \
    DL_POWER, 1)                                                               \
  X(UTIL, "utilization.gpu|gpu_usage|gpu_utilization", DL_SHARE, 0.01)         \
  X(MEMORY_UTIL, "utilization.memory|gpu_memory_usage", DL_SHARE, 0.01)        \
  X(LIMIT, "power.limit|enforced.power.limit|power.max_limit|gpu_max_power",   \
    DL_POWER, 1)                                                               \
  X(ENERGY, "total_energy_consumption", DL_ENERGY_UNIT, 1e-3)

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS };
static const struct dl_cell_column columns[] = {COLUMNS(DL_COLUMN_ROW)};

enum { FIELDS_MAX = 64 };

struct smi {
  int at[N_COLUMNS];       /* field of each column, -1 without */
  double scale[N_COLUMNS]; /* unit in the header, of numbers without one */
  size_t n_fields;
  char header[1024];             /* of the file; "" without */
  struct dl_turns turns;         /* n = 0: a column identifies the boards */
  struct dl_device_columns more; /* other columns that do so */
};

static bool is_usable(const struct smi *smi) {
  return smi->at[TIME] >= 0 && (smi->at[POWER] >= 0 || smi->at[ENERGY] >= 0);
}

static bool has_unit(const char *cell, const char *unit) {
  size_t len = strlen(cell), n = strlen(unit);
  double x;
  return len > n && strcmp(cell + len - n, unit) == 0 &&
         dl_cell_number(cell, len, &x);
}

/* Without a header, the units identify the columns: the first W is the power
 * and the second a limit, the first percentage the GPU utilization. */
static bool guess_columns(struct smi *smi, char *const *field) {
  struct dl_timestamp t;
  smi->header[0] = '\0';
  memset(smi->at, -1, sizeof smi->at);
  for (size_t i = 0; i < smi->n_fields; i++) {
    enum column c = N_COLUMNS;
    size_t len = strlen(field[i]);
    if (has_unit(field[i], " W"))
      c = smi->at[POWER] < 0 ? POWER : LIMIT;
    else if (has_unit(field[i], " %"))
      c = UTIL;
    else if (len > 4 && strncmp(field[i], "GPU-", 4) == 0)
      c = UUID;
    else if (len > 16 && dl_parse_timestamp(field[i], len, &t) && t.dated)
      c = TIME;
    if (c < N_COLUMNS && smi->at[c] < 0)
      smi->at[c] = (int)i;
  }
  return is_usable(smi);
}

/* Takes the columns and their units from the fields of a header. */
static void set_header(struct smi *smi, char *const *field, size_t n,
                       const int *at) {
  smi->n_fields = n;
  memcpy(smi->at, at, sizeof smi->at);
  for (enum column c = POWER; c < N_COLUMNS; c++) {
    const char *unit = at[c] < 0 ? NULL : strchr(field[at[c]], '[');
    double scale =
        unit ? dl_unit(unit + 1, strcspn(unit + 1, "]"), columns[c].dimension)
             : NAN;
    smi->scale[c] = isnan(scale) ? columns[c].scale : scale;
  }
}

/* Whether a line is a later header, with columns in any order. */
static bool read_next_header(struct smi *smi, char *const *field, size_t n) {
  int at[N_COLUMNS];
  if (n > FIELDS_MAX || !dl_cell_header(field, n, columns, N_COLUMNS, at))
    return false;
  struct smi new = {0};
  set_header(&new, field, n, at);
  if (!is_usable(&new))
    return false;
  if (n != smi->n_fields)
    smi->more.n_seldom = 0; /* columns have moved */
  set_header(smi, field, n, at);
  return true;
}

/* Finds the columns by the first line of the head, or, of a log without a
 * header, by the names that the user gives. */
static bool find_columns(struct smi *smi, const struct dl_head *head,
                         const char *given) {
  char names_line[DL_HEAD_LINE], *field[FIELDS_MAX];
  int at[N_COLUMNS];
  size_t from = 0;
  *smi = (struct smi){.n_fields = 0};
  if (given)
    snprintf(names_line, sizeof names_line, "%s", given);
  else if (!dl_head_line(head, &from, names_line, sizeof names_line))
    return false;
  else if (strlen(names_line) < sizeof smi->header)
    memcpy(smi->header, names_line, strlen(names_line) + 1);
  smi->n_fields = dl_cell_split(names_line, ',', field, FIELDS_MAX);
  if (smi->n_fields > FIELDS_MAX)
    return false;
  dl_cell_columns(field, smi->n_fields, columns, N_COLUMNS, at);
  set_header(smi, field, smi->n_fields, at);
  return ((given || smi->header[0] != '\0') && is_usable(smi)) ||
         (!given && guess_columns(smi, field));
}

/* Other logs have a time and a power too: there must be a name that only
 * queries of nvidia-smi have, or units. */
static bool probe(const struct dl_head *head) {
  struct smi smi;
  return find_columns(&smi, head, NULL) &&
         (smi.header[0] == '\0' || strstr(smi.header, "power.draw") ||
          strstr(smi.header, "gpu_power_draw"));
}

static bool in_header(const struct dl_head *head, const char *name) {
  size_t header = strcspn(head->text, "\r\n");
  return memmem(head->text, header, name, strlen(name)) != NULL;
}

static const char *lacks(const struct dl_head *head) {
  static const char *const own[] = {
      /* names that only nvidia-smi has */
      "utilization.gpu", "utilization.memory", "memory.used", "memory.free",
      "memory.total",    "temperature.gpu",    "clocks.",     "fan.speed",
      "power.draw",      "power.limit"};
  bool found = false;
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    found = found || in_header(head, own[i]);
  if (!found)
    return NULL;
  if (!in_header(head, ","))
    return "a log of nvidia-smi whose columns are not separated by commas: "
           "write it with --format=csv";
  if (!in_header(head, "power.draw"))
    return "a log of nvidia-smi without column 'power.draw': add it to "
           "--query-gpu";
  return in_header(head, "timestamp")
             ? NULL
             : "a log of nvidia-smi without column 'timestamp': add it to "
               "--query-gpu";
}

/* The column that identifies the boards; N_COLUMNS: none. */
static enum column id_of(const struct smi *smi) {
  static const enum column ids[] = {UUID, BUS, INDEX};
  for (size_t i = 0; i < 3; i++)
    if (smi->at[ids[i]] >= 0)
      return ids[i];
  return N_COLUMNS;
}

static enum dl_field_role role_of(const struct smi *smi, enum column c) {
  if (c == TIME)
    return DL_FIELD_TIME;
  if (c == NAME || c == id_of(smi))
    return DL_FIELD_DEVICE;
  return c == BUS || c == INDEX ? DL_FIELD_OTHER : DL_FIELD_MEASURED;
}

/* Finds other columns that distinguish boards: of hosts, ranks. */
static void find_more(struct dl_log *log, struct smi *smi,
                      const struct dl_head *head) {
  char names[sizeof smi->header], *name[FIELDS_MAX];
  struct dl_device_table table = {.separator = ',', .n_fields = smi->n_fields};
  memcpy(names, smi->header, sizeof names);
  if (smi->header[0] != '\0' &&
      dl_cell_split(names, ',', name, FIELDS_MAX) == smi->n_fields)
    table.name = name;
  for (enum column c = TIME; c < N_COLUMNS; c++)
    if (smi->at[c] >= 0)
      table.role[smi->at[c]] = role_of(smi, c);
  dl_device_columns_find(&smi->more, head, &table);
  dl_device_columns_warn(&smi->more, &table, log);
}

static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct smi *smi = log->state;
  const char *given = log->o.columns;
  if (!find_columns(smi, head, given))
    return given ? dl_fail(d, DL_EUSAGE,
                           "--columns '%s': expected timestamp and power.draw, "
                           "and the other columns of the query in its order",
                           given)
                 : dl_fail_at(d, DL_EINPUT, head->path, 1,
                              "no columns 'timestamp' and 'power.draw', and no "
                              "units that identify them; give --columns "
                              "timestamp,power.draw,...");
  find_more(log, smi, head);
  struct dl_turns turns = {.separator = ',',
                           .n_fields = smi->n_fields,
                           .time = smi->at[TIME],
                           .unit_s = NAN,
                           .value = smi->at[POWER],
                           .of = smi->more.n == 1 ? smi->more.field[0] : -1};
  if (turns.value < 0)
    turns.value = smi->at[ENERGY];
  if (id_of(smi) == N_COLUMNS && smi->more.n == 1)
    return dl_turns_refuse(turns, log, head, d);
  if (id_of(smi) == N_COLUMNS && smi->more.n == 0) {
    smi->turns = turns;
    dl_turns_find(&smi->turns, log, head);
  }
  return DL_OK;
}

static uint32_t meter_of(struct dl_log *log, struct smi *smi,
                         char *const *field, int64_t ns) {
  const char *name = smi->at[NAME] < 0 ? NULL : field[smi->at[NAME]];
  enum column by = id_of(smi);
  char id[256] = "";
  if (by < N_COLUMNS && smi->more.n == 0) {
    uint32_t same = dl_log_meter(log, DL_METER_GPU, field[smi->at[by]], name);
    if (by == UUID)
      dl_log_uuid(log, same);
    return same;
  }
  if (by < N_COLUMNS)
    snprintf(id, sizeof id, "%.80s", field[smi->at[by]]);
  else if (smi->turns.n > 1)
    snprintf(id, sizeof id, "%zu", dl_turns_next(&smi->turns, ns));
  dl_device_columns_id(&smi->more, field, id, sizeof id);
  uint32_t meter = dl_log_meter(log, DL_METER_GPU, *id ? id : NULL, name);
  if (smi->more.host >= 0)
    dl_log_host(log, meter, field[smi->more.host]);
  return meter;
}

static bool line(struct dl_log *log, char *s) {
  struct smi *smi = log->state;
  struct dl_reading r;
  char *field[FIELDS_MAX + 1];
  double x[N_COLUMNS];
  size_t n = dl_cell_split(s, ',', field, FIELDS_MAX + 1);
  if (read_next_header(smi, field, n)) {
    dl_log_later_header(log);
    return true;
  }
  if (!dl_cell_fields(log, ',', field, n, smi->n_fields))
    return false;
  if (!dl_cell_time(log, "timestamp", field[smi->at[TIME]], &r.ns))
    return false;
  for (enum column c = POWER; c < N_COLUMNS; c++) {
    x[c] = NAN;
    if (smi->at[c] < 0)
      continue;
    const char *cell = field[smi->at[c]];
    if (!dl_cell_value(cell, strlen(cell), columns[c].dimension, smi->scale[c],
                       &x[c]))
      return dl_log_bad(log, "column '%.*s': invalid number '%.40s'",
                        (int)strcspn(columns[c].names, "|"), columns[c].names,
                        cell);
  }
  r.power_w = x[POWER];
  r.is_mean = false;
  r.util = x[UTIL];
  r.memory_util = x[MEMORY_UTIL];
  r.energy_j = x[ENERGY];
  r.meter = meter_of(log, smi, field, r.ns);
  dl_log_limit(log, r.meter, x[LIMIT]);
  dl_device_columns_follow(&smi->more, field, log);
  dl_log_reading(log, &r);
  return true;
}

static void end(struct dl_log *log) {
  const struct smi *smi = log->state;
  dl_turns_end(&smi->turns, log);
}

const struct dl_importer dl_import_nvidia_smi = {
    .name = "nvidia-smi",
    .summary = "nvidia-smi --query-gpu=timestamp,power.draw,... --format=csv",
    .state_size = sizeof(struct smi),
    .probe = probe,
    .lacks = lacks,
    .begin = begin,
    .line = line,
    .end = end,
};
