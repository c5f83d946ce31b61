/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices distinguished by the times of their rows. */

#include "logs/importers/device_turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "logs/log.h"
#include "logs/readings/same_times.h"

/* Rows of a round follow each other within half a second, and rounds after a
 * pause that is longer by this factor. */
#define STEP_MAX_NS (DL_SECOND / 2)
#define FACTOR 2.5

/* In logs of two or three rounds of equal size, the rows of a round are at most
 * this far apart. */
#define STEP_OF_FEW_NS (DL_SECOND / 20)
enum { DEVICES_OF_FEW = 16 };

/* Least share of the complete rounds that have the most frequent number of
 * rows. */
#define SURE 0.7
#define DOUBTFUL 0.4

/* Rows that are looked at. */
enum { ROUNDS_MIN = 2, ROWS_MAX = 256, FIELDS_MAX = 256 };

/* Rounds of rows, if a step of more than pause_ns begins one. */
struct row_rounds {
  int64_t pause_ns;
  size_t first;   /* rows of the first one, which may be incomplete */
  size_t n;       /* complete rounds */
  size_t size;    /* the most frequent number of rows */
  double share;   /* of the rounds with that number */
  size_t n_close; /* steps within rounds */
  bool even;      /* all rounds, the first and the last too, have that number */
};

static struct row_rounds count_rounds(const int64_t *ns, size_t n,
                                      int64_t pause_ns) {
  struct row_rounds r = {.pause_ns = pause_ns};
  size_t with_size[ROWS_MAX + 1] = {0}, size = 1;
  for (size_t i = 1; i < n; i++, size++) {
    if (llabs(ns[i] - ns[i - 1]) <= pause_ns) {
      r.n_close++;
      continue;
    }
    if (r.first == 0) {
      r.first = size;
    } else {
      r.n++;
      with_size[size]++;
    }
    size = 0;
  }
  for (size_t i = 1; i <= n; i++)
    if (with_size[i] > with_size[r.size])
      r.size = i;
  r.share = r.n > 0 ? (double)with_size[r.size] / (double)r.n : 0;
  r.even = r.first > 1 && r.first <= DEVICES_OF_FEW && size == r.first &&
           with_size[r.first] == r.n;
  return r;
}

/* Counts rounds of rows with equal times, if the times have fractions of a
 * second. */
static struct row_rounds count_equal(const int64_t *ns, size_t n) {
  size_t with_size[ROWS_MAX + 1] = {0}, size = 1;
  struct row_rounds r = {.size = 1};
  bool fine = false;
  for (size_t i = 0; i < n; i++, size++) {
    fine |= ns[i] % DL_SECOND != 0;
    if (i + 1 < n && ns[i + 1] == ns[i])
      continue;
    r.n++;
    r.first = r.first ? r.first : size;
    r.size = size > r.size ? size : r.size;
    r.n_close += size > 1 ? size : 0;
    with_size[size]++;
    size = 0;
  }
  bool usual = with_size[r.size] >= ROUNDS_MIN || r.n < ROUNDS_MIN;
  if (fine && usual && (double)r.n_close >= SURE * (double)n)
    r.share = 1;
  return r;
}

/* Whether a row has the value of the first row in the field `of`. */
static bool is_of_first(const struct dl_turns *rows, char *const *field,
                        char first[static 64]) {
  if (rows->of < 0)
    return true;
  if (*first == '\0' && strpbrk(field[rows->time], "0123456789"))
    snprintf(first, 64, "%.63s", field[rows->of]);
  return strncmp(first, field[rows->of], 63) == 0;
}

/* Reads the times of the first rows, and judges by the values whether rows of
 * one second belong to several devices. */
static size_t first_times(struct dl_log *log, const struct dl_head *head,
                          const struct dl_turns *rows, int64_t *ns,
                          enum dl_devices *devices) {
  struct dl_time_groups groups = {0};
  char row[DL_HEAD_LINE], first[64] = "", *field[FIELDS_MAX];
  size_t n = 0, at = 0, before = 0;
  bool whole = true; /* seconds */
  double x;
  while (n < ROWS_MAX && dl_head_line(head, &at, row, sizeof row) &&
         head->text[at] != '\0') {
    size_t cells = dl_cell_split(row, rows->separator, field, FIELDS_MAX);
    if (rows->separator == ',' && rows->n_fields < FIELDS_MAX)
      cells = dl_cell_join_time(field, cells, rows->n_fields);
    if (cells != rows->n_fields || !is_of_first(rows, field, first))
      continue;
    const char *time = field[rows->time];
    if (dl_parse_double(time, &x) && fabs(x * rows->unit_s) < DL_SINCE_1970_S)
      ns[n++] = llround(x * rows->unit_s * 1e9);
    else
      n += dl_log_time(log, time, strlen(time), &ns[n]);
    const char *value = field[rows->value];
    size_t len = strspn(value, "0123456789.");
    if (n > before && dl_parse_number(value, len, &x) == DL_NUMBER_OK)
      dl_time_groups_add(&groups, ns[n - 1], x, n);
    whole = whole && (n == before || ns[n - 1] % DL_SECOND == 0);
    before = n;
  }
  bool tells =
      whole && groups.n_several * 2 >= groups.n_groups && groups.within > 0;
  *devices = tells ? dl_time_groups_judge(&groups) : DL_SEVERAL_DEVICES;
  return n;
}

/* Finds the devices, without a warning; false if rows come in groups of
 * different sizes. */
static bool find_devices(struct dl_turns *t, struct dl_log *log,
                         const struct dl_head *head) {
  int64_t ns[ROWS_MAX], step[ROWS_MAX];
  enum dl_devices devices;
  size_t n = first_times(log, head, t, ns, &devices);
  struct row_rounds best = {.share = 0};
  t->n = 1;
  t->last_ns = INT64_MIN;
  for (size_t i = 1; i < n; i++)
    step[i - 1] = llabs(ns[i] - ns[i - 1]);
  if (n > 1)
    qsort(step, n - 1, sizeof *step, dl_order_times);
  /* Each jump in the sorted steps may be that from steps to pauses. */
  for (size_t i = 0; i + 2 < n && step[i] <= STEP_MAX_NS; i++) {
    double within =
        (double)(step[i] > DL_SECOND / 1000 ? step[i] : DL_SECOND / 1000);
    if ((double)step[i + 1] < FACTOR * within)
      continue;
    struct row_rounds r = count_rounds(ns, n, (step[i] + step[i + 1]) / 2);
    if (r.n < ROUNDS_MIN && r.even && step[0] > 0 &&
        step[i] <= STEP_OF_FEW_NS) {
      r.size = r.first;
      r.n += 2;
      r.share = 1;
    }
    if (r.size > 1 && r.n >= ROUNDS_MIN && r.share >= best.share)
      best = r;
  }
  /* One GPU has no two samples at a time. */
  struct row_rounds equal = count_equal(ns, n);
  bool few = best.n < ROUNDS_MIN && equal.n_close == n && equal.size > 1;
  if (best.share < SURE && equal.share >= SURE && equal.size > 1)
    best = equal;
  if (devices != DL_SEVERAL_DEVICES)
    return true;
  if (best.share >= SURE) {
    t->n = best.size;
    t->pause_ns = best.pause_ns;
    t->turn =
        best.first < best.size ? best.size - best.first - 1 : best.size - 1;
    return true;
  }
  return !few &&
         (best.share < DOUBTFUL || (double)best.n_close < DOUBTFUL * (double)n);
}

void dl_turns_find(struct dl_turns *t, struct dl_log *log,
                   const struct dl_head *head) {
  bool clear = find_devices(t, log, head);
  if (t->n > 1)
    dl_log_warn(log,
                "%zu GPUs distinguished by their order: the log has no "
                "column 'index' or 'uuid'",
                t->n);
  log->taken_for_one = log->taken_for_one || !clear;
  if (!clear)
    dl_log_warn(log,
                "rows come in groups of different sizes, as of several GPUs: "
                "taken for one; log the column 'index'");
}

enum dl_status dl_turns_refuse(struct dl_turns t, struct dl_log *log,
                               const struct dl_head *head, struct dl_diag *d) {
  find_devices(&t, log, head);
  return t.n < 2 ? DL_OK
                 : dl_fail_at(d, DL_EINPUT, log->path, 1,
                              "rows of one host come in rounds of %zu, as of "
                              "several devices under one name: log a column "
                              "that distinguishes them, such as index or uuid",
                              t.n);
}

size_t dl_turns_next(struct dl_turns *t, int64_t ns) {
  bool first = t->last_ns == INT64_MIN;
  bool close = first || llabs(ns - t->last_ns) <= t->pause_ns;
  bool full = t->turn + 1 == t->n;
  t->n_rounds += !first && (!close || full);
  t->n_odd += !first && close == full;
  t->turn = close ? (t->turn + 1) % t->n : 0;
  t->last_ns = ns;
  return t->turn;
}

void dl_turns_end(const struct dl_turns *t, struct dl_log *log) {
  if (t->n_odd > 0)
    dl_log_warn(log,
                "%zu of %zu rounds lack rows or have too many: which GPU their "
                "rows belong to is uncertain; log the column 'index'",
                t->n_odd, t->n_rounds);
}
