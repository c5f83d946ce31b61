/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that distinguish devices, by the first rows of a table. */

#include "logs/importers/device_columns.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "logs/log.h"

enum { ROWS_MAX = 256 };

/* Rows of one identifier and time are an accident below one in FEW. */
enum { FEW = 20 };

/* Numbers of intervals fall at least so often from each row to the next, and to
 * those behind it, in tables of so many rows. */
#define FALLS 0.2
#define FALLS_BEHIND 0.1
enum { FALLS_ROWS = 5, FALLS_LAG = 8 };

/* Rows that each have a name of their own are of runs, if they are so many. */
enum { NAMED_ROWS = 2 };

/* Columns that name a node. */
#define HOSTS                                                                  \
  "hostname|host|node|nodename|node_name|node_id|server|machine|instance"

/* Columns that number devices. */
#define DEVICES                                                                \
  HOSTS "|rank|local_rank|global_rank|world_rank|socket|package|outlet|gpu|"   \
        "gpu_id|gpu_index|index|device|device_id|worker|pod|container|"        \
        "slot|serial|process|blade|card"

/* Columns that are a part of the time. */
#define PARTS_OF_TIME                                                          \
  "ms|millis|milliseconds|msec|us|microseconds|usec|ns|nanoseconds|nsec|"      \
  "fraction|subsecond"

/* The first rows of a table. */
struct first_rows {
  const struct dl_device_table *table;
  char *text;
  char **cell; /* of row i from i * n_fields on */
  size_t n;
  /* Hashes of each row, and of what its columns of a role have. */
  uint64_t all[ROWS_MAX], time[ROWS_MAX], device[ROWS_MAX];
};

static bool is_row(const struct dl_device_table *t, char *const *field) {
  for (size_t i = 0; i < t->n_fields; i++)
    if (t->role[i] == DL_FIELD_TIME && !strpbrk(field[i], "0123456789"))
      return false; /* a header */
  return true;
}

static uint64_t hash_of(const struct dl_device_table *t, char *const *field,
                        enum dl_field_role role) {
  uint64_t hash = DL_SEEN_START;
  for (size_t i = 0; i < t->n_fields; i++)
    if (t->role[i] == role)
      hash = dl_seen_hash(hash, field[i], strlen(field[i]) + 1);
  return hash;
}

static void read_rows(struct first_rows *r, const struct dl_head *head,
                      const struct dl_device_table *table) {
  size_t n = table->n_fields;
  *r = (struct first_rows){.table = table, .text = dl_strdup(head->text)};
  r->cell = dl_calloc(ROWS_MAX * n, sizeof *r->cell);
  char *next = r->text, *line;
  while (r->n < ROWS_MAX && (line = next, next = strchr(next, '\n'))) {
    *next++ = '\0'; /* the last line may be cut off */
    line += strspn(line, " \t");
    line[strcspn(line, "\r")] = '\0';
    r->all[r->n] = dl_seen_hash(DL_SEEN_START, line, strlen(line));
    char **field = r->cell + r->n * n;
    if (*line == '#' || dl_cell_split(line, table->separator, field, n) != n ||
        !is_row(table, field))
      continue;
    r->time[r->n] = hash_of(table, field, DL_FIELD_TIME);
    r->device[r->n++] = hash_of(table, field, DL_FIELD_DEVICE);
  }
}

static void free_rows(struct first_rows *r) {
  free(r->text);
  free(r->cell);
}

static const char *cell(const struct first_rows *r, size_t row, int field) {
  return r->cell[row * r->table->n_fields + (size_t)field];
}

/* Hashes of the values of each row in one or two (-1: no) columns. */
static void hash_values(const struct first_rows *r, const int field[2],
                        uint64_t *value) {
  for (size_t i = 0; i < r->n; i++) {
    value[i] = DL_SEEN_START;
    for (int k = 0; k < 2 && field[k] >= 0; k++)
      value[i] = dl_seen_hash(value[i], cell(r, i, field[k]),
                              strlen(cell(r, i, field[k])) + 1);
  }
}

/* The most rows of one device and time, 1 if more are an accident. */
static size_t most_at_once(const struct first_rows *r) {
  size_t most = 1, n_again = 0;
  for (size_t i = 0; i < r->n; i++) {
    size_t n = 1;
    for (size_t k = i; k-- > 0 && r->time[i] == r->time[k];)
      n += r->device[i] == r->device[k] && r->all[i] != r->all[k];
    n_again += n > 1;
    most = n > most ? n : most;
  }
  return n_again >= 2 && n_again * FEW >= r->n ? most : 1;
}

/* Whether columns distinguish the rows of one device and time, with few
 * exceptions: no two rows have equal values, there are as many different values
 * as rows, and each value occurs again. */
static bool distinguish(const struct first_rows *r, const int field[2],
                        size_t most) {
  uint64_t value[ROWS_MAX];
  size_t n_faults = 0;
  hash_values(r, field, value);
  for (size_t i = 0; i < r->n; i++) {
    size_t n_values = 0, n_same = 0;
    bool fault = false;
    for (size_t k = 0; k < r->n; k++) {
      if (r->device[i] != r->device[k])
        continue;
      bool same = value[i] == value[k], first = i == 0;
      n_same += same;
      fault |= same && r->time[i] == r->time[k] && r->all[i] != r->all[k];
      for (size_t l = 0; first && l < k; l++)
        first = r->device[i] != r->device[l] || value[k] != value[l];
      n_values += first;
    }
    n_faults += fault || n_same < 2;
    if (n_values > most || n_faults * FEW > r->n)
      return false;
  }
  return true;
}

bool dl_device_named(const char *name) {
  return dl_word_among(DEVICES, name, strlen(name)) >= 0;
}

static bool is_called_device(const struct dl_device_table *t, int field) {
  return t->name && dl_device_named(t->name[field]);
}

/* Whether a cell is a number, which may have a unit behind a blank. */
static bool is_number(const char *s) {
  double x;
  char number[32];
  size_t len = strcspn(s, " ");
  snprintf(number, sizeof number, "%.*s", (int)len, s);
  return len < sizeof number && dl_parse_double(number, &x);
}

/* Whether a column names devices whose times differ a little: from row to row
 * it alternates between a few texts, or numbers if its name is one of DEVICES.
 */
static bool alternates(const struct first_rows *r, int field) {
  bool named = is_called_device(r->table, field);
  uint64_t value[ROWS_MAX];
  size_t n_pairs = 0, n_same = 0;
  hash_values(r, (const int[]){field, -1}, value);
  for (size_t i = 0; i < r->n; i++) {
    size_t n_of_device = 0, n_of_value = 0, k = i;
    const char *s = cell(r, i, field);
    if (*s == '\0' || (!named && is_number(s)))
      return false;
    while (k-- > 0 && r->device[i] != r->device[k])
      continue;
    n_pairs += k < r->n;
    n_same += k < r->n && value[i] == value[k];
    for (size_t l = 0; l < r->n; l++)
      if (r->device[i] == r->device[l]) {
        n_of_device++;
        n_of_value += value[i] == value[l];
      }
    if (n_of_value < 3 || n_of_value * DL_DEVICE_VALUES < n_of_device)
      return false;
  }
  return n_pairs > 2 && n_same * FEW <= n_pairs;
}

static bool names_host(const struct dl_device_table *t, int field) {
  return t->name &&
         dl_word_among(HOSTS, t->name[field], strlen(t->name[field])) >= 0;
}

static bool may_distinguish(const struct dl_device_table *t, int field) {
  return t->role[field] == DL_FIELD_OTHER &&
         !(t->name && dl_word_among(PARTS_OF_TIME, t->name[field],
                                    strlen(t->name[field])) >= 0);
}

/* Two columns that distinguish devices together. */
static bool find_pair(const struct first_rows *r, size_t most, int pair[2]) {
  int n = (int)r->table->n_fields;
  for (pair[0] = 0; pair[0] < n; pair[0]++)
    for (pair[1] = pair[0] + 1; pair[1] < n; pair[1]++)
      if (may_distinguish(r->table, pair[0]) &&
          may_distinguish(r->table, pair[1]) && distinguish(r, pair, most))
        return true;
  return false;
}

static size_t count_devices(const struct first_rows *r, const int field[2]) {
  uint64_t value[ROWS_MAX];
  size_t n = 0;
  hash_values(r, field, value);
  for (size_t i = 0; i < r->n; i++) {
    bool first = true;
    for (size_t k = 0; first && k < i; k++)
      first = r->device[i] != r->device[k] || value[i] != value[k];
    n += first;
  }
  return n;
}

/* Finds columns that change seldom: texts, or numbers that are called so. */
static void find_seldom(struct dl_device_columns *c,
                        const struct first_rows *r) {
  const struct dl_device_table *t = r->table;
  for (int i = 0; (size_t)i < t->n_fields; i++) {
    size_t n_changes = 0;
    if (!may_distinguish(t, i) || c->n_seldom == DL_DEVICE_CHOICES ||
        (is_number(cell(r, 0, i)) && !is_called_device(t, i)))
      continue;
    for (size_t k = 1; k < r->n; k++)
      n_changes += strcmp(cell(r, k - 1, i), cell(r, k, i)) != 0;
    if (n_changes * FEW > r->n)
      continue;
    snprintf(c->value[c->n_seldom], sizeof *c->value, "%.63s", cell(r, 0, i));
    c->seldom[c->n_seldom++] = i;
  }
}

void dl_device_columns_follow(struct dl_device_columns *c, char *const *field,
                              struct dl_log *log) {
  for (size_t i = 0; i < c->n_seldom; i++) {
    const char *now = field[c->seldom[i]];
    if (strncmp(c->value[i], now, sizeof *c->value - 1) == 0)
      continue;
    snprintf(c->value[i], sizeof *c->value, "%.63s", now);
    dl_log_other_device(log);
  }
}

/* Whether the identifier of the devices is a UUID, which two of them never
 * share: rows of one time and UUID are of one device, whoever wrote them. */
static bool have_uuids(const struct first_rows *r) {
  for (size_t field = 0; field < r->table->n_fields; field++) {
    size_t n = 0;
    if (r->table->role[field] != DL_FIELD_DEVICE)
      continue;
    while (n < r->n && dl_cell_is_uuid(cell(r, n, (int)field)))
      n++;
    if (n == r->n)
      return true;
  }
  return false;
}

void dl_device_columns_find(struct dl_device_columns *c,
                            const struct dl_head *head,
                            const struct dl_device_table *table) {
  *c = (struct dl_device_columns){.field = {-1, -1}, .host = -1};
  if (table->n_fields > DL_DEVICE_FIELDS)
    return;
  struct first_rows r;
  read_rows(&r, head, table);
  bool unique = have_uuids(&r);
  size_t most = unique ? 1 : most_at_once(&r);
  for (int i = 0; (size_t)i < table->n_fields && r.n > 0 && !unique; i++) {
    const int only[2] = {i, -1};
    if (may_distinguish(table, i) && c->n_choices < DL_DEVICE_CHOICES &&
        (most > 1 ? distinguish(&r, only, most) : alternates(&r, i)))
      c->choice[c->n_choices++] = i;
  }
  if (c->n_choices > 0) {
    c->n = 1;
    c->field[0] = c->choice[0];
    for (size_t i = c->n_choices; i-- > 0;)
      if (names_host(table, c->choice[i]))
        c->field[0] = c->choice[i];
  } else if (most > 1 && find_pair(&r, most, c->field)) {
    c->n = 2;
  }
  for (size_t i = 0; i < c->n; i++)
    if (names_host(table, c->field[i]))
      c->host = c->field[i];
  if (c->n > 0)
    c->n_devices = count_devices(&r, c->field);
  if (r.n > 0)
    find_seldom(c, &r);
  free_rows(&r);
}

void dl_device_columns_warn(const struct dl_device_columns *c,
                            const struct dl_device_table *table,
                            struct dl_log *log) {
  DL_TEXT(names);
  for (size_t i = 0; i < c->n; i++) {
    dl_text_printf(&names, "%s", i > 0 ? " and " : "");
    if (table->name)
      dl_text_printf(&names, "'%s'", table->name[c->field[i]]);
    else
      dl_text_printf(&names, "%d", c->field[i] + 1);
  }
  if (c->n > 0)
    dl_log_warn(log, "%zu devices distinguished by column%s %s", c->n_devices,
                c->n == 1 ? "" : "s", dl_text_str(&names));
}

void dl_device_columns_id(const struct dl_device_columns *c, char *const *field,
                          char *id, size_t size) {
  for (size_t i = 0; i < c->n; i++) {
    size_t len = strlen(id);
    snprintf(id + len, size - len, "%s%.60s", len > 0 ? ":" : "",
             field[c->field[i]]);
  }
}

void dl_device_values(const struct dl_head *head,
                      const struct dl_device_table *table, int field,
                      char value[DL_DEVICE_VALUES][64]) {
  struct first_rows r;
  read_rows(&r, head, table);
  size_t n = 0;
  for (size_t i = 0; i < r.n && n < DL_DEVICE_VALUES - 1; i++) {
    size_t k = 0;
    while (k < n && strncmp(value[k], cell(&r, i, field), 63) != 0)
      k++;
    if (k == n)
      snprintf(value[n++], sizeof *value, "%.63s", cell(&r, i, field));
  }
  value[n][0] = '\0';
  free_rows(&r);
}

bool dl_device_differs(const struct dl_head *head,
                       const struct dl_device_table *table, int field) {
  struct first_rows r;
  read_rows(&r, head, table);
  size_t n = 0, n_differ = 0;
  for (size_t i = 1; i < r.n; i++)
    if (r.time[i - 1] == r.time[i]) {
      n++;
      n_differ += strcmp(cell(&r, i, field), cell(&r, i - 1, field)) != 0;
    }
  free_rows(&r);
  return n_differ * FEW > n;
}

bool dl_device_each_named(const struct dl_head *head,
                          const struct dl_device_table *table, int field) {
  struct first_rows r;
  read_rows(&r, head, table);
  bool each = r.n >= NAMED_ROWS;
  for (size_t i = 0; each && i < r.n; i++) {
    each = isalpha((unsigned char)*cell(&r, i, field));
    for (size_t k = 0; each && k < i; k++)
      each = strcmp(cell(&r, i, field), cell(&r, k, field)) != 0;
  }
  free_rows(&r);
  return each;
}

/* The share of the rows whose number is below that of `lag` rows of the same
 * device before, of those where it differs; 1: it never does. */
static double share_of_falls(const struct first_rows *r, const uint64_t *device,
                             int field, size_t lag) {
  size_t n = 0, n_falls = 0;
  for (size_t i = 0; i < r->n; i++) {
    double now, then;
    size_t k = i, left = lag;
    while (left > 0 && k-- > 0)
      left -= device[k] == device[i] && r->device[k] == r->device[i];
    if (left > 0 || !dl_parse_double(cell(r, i, field), &now) ||
        !dl_parse_double(cell(r, k, field), &then))
      continue;
    n += now != then;
    n_falls += now < then;
  }
  return n > 0 ? (double)n_falls / (double)n : 1;
}

bool dl_device_falls(const struct dl_head *head,
                     const struct dl_device_table *table,
                     const struct dl_device_columns *more, int field) {
  struct first_rows r;
  uint64_t device[ROWS_MAX];
  read_rows(&r, head, table);
  hash_values(&r, more->n > 0 ? more->field : (const int[]){-1, -1}, device);
  bool falls = r.n >= FALLS_ROWS;
  for (size_t lag = 1; falls && lag <= FALLS_LAG && 2 * lag <= r.n; lag++)
    falls = share_of_falls(&r, device, field, lag) >=
            (lag > 1 ? FALLS_BEHIND : FALLS);
  size_t n_values = 0;
  for (size_t i = 1; i < r.n; i++)
    n_values += strcmp(cell(&r, i, field), cell(&r, 0, field)) != 0;
  free_rows(&r);
  return falls && n_values > 0;
}
