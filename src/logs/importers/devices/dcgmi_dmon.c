/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dcgmi dmon -e 155,156,203,... [-d MILLISECONDS]
 *
 *   #Entity   POWER                  TOTEC                        GPUTL
 *   ID        W                      mJ                           %
 *   GPU 0     61.243                 12345678901                  0
 *   GPU-I 0   N/A                    N/A                          N/A
 *
 * Both header lines are repeated every 15 rounds. Older releases write
 * "# Entity" and "Id", and align to the right. The names are the short names of
 * DCGM's fields: 155 POWER (W, averaged), 157 POWINST (W, instantaneous), 156
 * TOTEC (mJ since the driver was loaded), 203 GPUTL (%), 1001 GRACT (share of
 * the time that the graphics engine was busy, 0..1; the only one with MIG), 160
 * PMLMT and 164 EPLMT (limits, W). A missing value is N/A, in old releases a
 * number near the maximum of its type.
 *
 * Entities are GPU, GPU-I and GPU-CI (MIG instances, with the activity of a
 * part of the GPU listed above them), Switch, CPU and others. Only GPUs are
 * read: their instances would count them twice.
 *
 * The format has no times: one round per second, or as --interval specifies.
 * Often it is piped through `ts`, which adds a time in front of each line. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/log.h"

#define COLUMNS(X)                                                             \
  X(POWER, "POWER", DL_POWER, 1)                                               \
  X(POWER_NOW, "POWINST", DL_POWER, 1)                                         \
  X(ENERGY, "TOTEC", DL_ENERGY_UNIT, 1e-3)                                     \
  X(UTIL, "GPUTL", DL_SHARE, 0.01)                                             \
  X(ACTIVE, "GRACT", DL_SHARE, 1)                                              \
  X(LIMIT, "EPLMT", DL_POWER, 1)                                               \
  X(LIMIT_SET, "PMLMT", DL_POWER, 1)

enum column { COLUMNS(DL_COLUMN_ID) N_COLUMNS };
static const struct dl_cell_column columns[] = {COLUMNS(DL_COLUMN_ROW)};

enum { FIELDS_MAX = 128, HEAD_LINES = 32, PREFIX_WORDS = 4 };

/* Numbers from here on stand for missing values in old releases. */
#define BLANK_W 1e14
#define BLANK_J 9.2e15

/* Reads "#Entity POWER ...", from the # on; false for other comments. */
static bool read_header(struct dl_table_header *m, char *s) {
  char *field[FIELDS_MAX];
  size_t n = dl_cell_words(s + 1, field, FIELDS_MAX);
  if (n < 2 || n > FIELDS_MAX ||
      dl_word_among("entity", field[0], strlen(field[0])) < 0)
    return false;
  m->n_fields = n - 1; /* values behind the entity and its number */
  dl_cell_columns(field + 1, n - 1, columns, N_COLUMNS, m->at);
  return true;
}

static bool probe(const struct dl_head *head) {
  char buf[DL_HEAD_LINE];
  struct dl_table_header m = {0};
  size_t at = 0;
  for (int i = 0; i < HEAD_LINES && dl_head_line(head, &at, buf, sizeof buf);
       i++) {
    char *hash = strchr(buf, '#');
    if (hash && read_header(&m, hash))
      return m.at[POWER] >= 0 || m.at[POWER_NOW] >= 0 || m.at[ENERGY] >= 0 ||
             m.at[UTIL] >= 0 || m.at[ACTIVE] >= 0;
  }
  return false;
}

static double either(double a, double b) {
  return isnan(a) ? b : a;
}

static double share(double x) {
  return x >= 0 && x <= 1 ? x : NAN;
}

static bool read_values(struct dl_log *log, const struct dl_table_header *m,
                        char **value, struct dl_reading *r, double *limit) {
  double x[N_COLUMNS];
  for (size_t c = 0; c < N_COLUMNS; c++) {
    x[c] = NAN;
    if (m->at[c] >= 0 &&
        !dl_cell_quantity(log, &columns[c], value[m->at[c]], &x[c]))
      return false;
    if (x[c] >= (c == ENERGY ? BLANK_J : BLANK_W))
      x[c] = NAN;
  }
  r->power_w = either(x[POWER], x[POWER_NOW]);
  r->energy_j = x[ENERGY];
  r->util = either(share(x[UTIL]), share(x[ACTIVE]));
  *limit = either(x[LIMIT], x[LIMIT_SET]);
  return true;
}

/* Index of the word with which the entity begins; n if there is none. */
static size_t entity_at(char **field, size_t n) {
  static const char kinds[] =
      "GPU|GPU-I|GPU-CI|vGPU|Switch|Link|NvLink|CPU|Core|NIC|ConnectX";
  for (size_t i = 0; i < n && i <= PREFIX_WORDS; i++)
    if (dl_word_among(kinds, field[i], strlen(field[i])) >= 0)
      return i;
  return n;
}

/* Reads the time in front of the entity; without one, assumes the time of the
 * round. */
static bool time_of(struct dl_log *log, char **field, size_t n_words,
                    size_t gpu, int64_t *ns) {
  char text[128];
  size_t len = 0;
  if (n_words == 0) {
    *ns = dl_log_time_of(log, dl_round_of(&log->rounds, gpu));
    return true;
  }
  for (size_t i = 0; i < n_words && len < sizeof text; i++) {
    int n = snprintf(text + len, sizeof text - len, i == 0 ? "%s" : " %s",
                     field[i]);
    len += n < 0 ? 0 : (size_t)n;
  }
  return dl_log_time(log, text, strlen(text), ns) ||
         dl_log_bad(log, "invalid time '%.40s'", text);
}

static bool row(struct dl_log *log, struct dl_table_header *m, char **field,
                size_t n, size_t entity) {
  struct dl_reading r = {0};
  size_t gpu, before = entity + 2;
  double limit;
  if (dl_word_among("GPU", field[entity], strlen(field[entity])) < 0)
    return true;
  if (m->n_fields == 0)
    return dl_log_bad(log, "no line '#Entity ...' before this one");
  if (n != before + m->n_fields)
    return dl_log_bad(log, "expected %zu values, found %zu", m->n_fields,
                      n > before ? n - before : 0);
  const char *id = field[entity + 1];
  if (!dl_parse_count(id, &gpu) || gpu >= DL_ROUND_DEVICES)
    return dl_log_bad(log, "invalid index '%.40s'", id);
  if (!read_values(log, m, field + before, &r, &limit) ||
      !time_of(log, field, entity, gpu, &r.ns))
    return false;
  r.meter = dl_log_meter(log, DL_METER_GPU, id, NULL);
  dl_log_limit(log, r.meter, limit);
  dl_log_reading(log, &r);
  return true;
}

/* The second header line, and the last words of dcgmi when it is stopped,
 * possibly after a time. */
static bool is_known(char **field, size_t n) {
  for (size_t i = 0; i < n && i <= PREFIX_WORDS; i++)
    if (dl_word_among("id", field[i], strlen(field[i])) == 0 ||
        dl_is_word(field[i], "dmon"))
      return true;
  return false;
}

static bool line(struct dl_log *log, char *s) {
  struct dl_table_header *m = log->state;
  char *field[FIELDS_MAX];
  char *hash = strchr(s, '#');
  if (hash && (read_header(m, hash) || hash == s))
    return true;
  size_t n = dl_cell_words(s, field, FIELDS_MAX);
  if (n > FIELDS_MAX)
    return dl_log_bad(log, "%zu fields are too many", n);
  size_t entity = entity_at(field, n);
  if (entity < n)
    return row(log, m, field, n, entity);
  if (is_known(field, n))
    return true;
  return dl_log_bad(log, "no entity such as 'GPU 0' in this line");
}

const struct dl_importer dl_import_dcgmi_dmon = {
    .name = "dcgmi-dmon",
    .summary = "dcgmi dmon -e 155,156,203",
    .state_size = sizeof(struct dl_table_header),
    .probe = probe,
    .line = line,
};
