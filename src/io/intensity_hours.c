/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are read, by their columns:
 *
 *   Electricity Maps   Datetime (UTC), Carbon intensity gCO2eq/kWh (direct),
 *                      Carbon intensity gCO2eq/kWh (Life cycle)
 *   WattTime           point_time, value (lb CO2/MWh), or with units beside it
 *   NESO, Great Britain  DATETIME or from, CARBON_INTENSITY or actual
 *   ENTSO-E, derived   MTU (UTC) "01.01.2024 00:00 - 01.01.2024 01:00" or start
 *   any other          time, timestamp or datetime, and g/kWh, intensity ...
 *
 * The life cycle counts before a measured value, and that before a forecast.
 */

#include "io/intensity_hours.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "io/csv.h"

#define KG_PER_LB 0.45359237
#define MOST_G_KWH 5000
#define MOST_NS (INT64_MAX / 2)             /* in the year 2116 */
#define MOST_STEP (366 * 86400 * DL_SECOND) /* for which a value counts */

enum { MOST_NAME = 96 };

/* Columns of times, and of intensities in order of preference, by names in
 * letters and digits alone. */
static const char times[] =
    "datetimeutc|datetime|timestamp|timestamputc|time|timeutc|pointtime|from|"
    "mtuutc|mtu|start|starttime|date|utc|hour|periodstart";
static const struct {
  const char *names;
  double scale; /* to g/kWh */
} values[] = {
    {"carbonintensitygco2eqkwhlifecycle|carbonintensitygcoeqkwhlifecycle|"
     "carbonintensitylca|lifecycle",
     1},
    {"carbonintensitygco2eqkwhdirect|carbonintensitygcoeqkwhdirect|"
     "actualcarbonintensitygco2kwh|actual|intensityactual",
     1},
    {"carbonintensity|carbonintensitygco2kwh|carbonintensitygco2eqkwh|"
     "intensity|intensitygkwh|gkwh|gco2kwh|gco2eqkwh|gco2ekwh|gperkwh|"
     "carbongkwh|co2intensity|co2gkwh|gco2perkwh|emissionfactor|"
     "gramspkwh|intensitygco2kwh|intensitygco2eqkwh",
     1},
    {"kgco2mwh|kgmwh|carbonintensitykgmwh|tco2gwh", 1},
    {"kgco2kwh|kgkwh|tco2mwh|tmwh", 1e3},
    {"value|valuelbco2mwh|moer|lbco2mwh|lbsco2mwh|lbsmwh|lbmwh|co2moer",
     KG_PER_LB},
    {"forecastcarbonintensitygco2kwh|forecast|intensityforecast", 1},
};

static void fold(const char *name, char to[MOST_NAME]) {
  size_t n = 0;
  for (; *name && n < MOST_NAME - 1; name++)
    if (isalnum((unsigned char)*name))
      to[n++] = (char)tolower((unsigned char)*name);
  to[n] = '\0';
}

/* The columns of a file. */
struct columns {
  long time, value;
  double scale;
  bool utc; /* the header says so */
};

static enum dl_status find_columns(struct columns *c, const struct dl_csv *csv,
                                   struct dl_diag *d) {
  char name[MOST_NAME];
  size_t best = DL_LENGTH(values);
  int rank = -1;
  *c = (struct columns){.time = -1, .value = -1};
  for (size_t i = 0; i < dl_csv_n_cols(csv); i++) {
    fold(dl_csv_name(csv, i), name);
    int at = dl_word_among(times, name, strlen(name));
    if (at >= 0 && (rank < 0 || at < rank)) {
      rank = at;
      c->time = (long)i;
      c->utc = strstr(name, "utc") != NULL;
      continue;
    }
    for (size_t k = 0; k < best; k++)
      if (dl_word_among(values[k].names, name, strlen(name)) >= 0) {
        best = k;
        c->value = (long)i;
        c->scale = values[k].scale;
      }
  }
  fold(c->time >= 0 ? dl_csv_name(csv, (size_t)c->time) : "", name);
  bool watttime = dl_is_word(name, "pointtime");
  fold(c->value >= 0 ? dl_csv_name(csv, (size_t)c->value) : "", name);
  if (dl_is_word(name, "value") && !watttime) /* of what is not said */
    c->value = -1;
  if (c->time < 0 || c->value < 0)
    return dl_fail_at(d, DL_EINPUT, dl_csv_path(csv), 1,
                      "no columns of a time and of a carbon intensity, such as "
                      "'timestamp,g_per_kwh'");
  return DL_OK;
}

/* Reads "2024-03-05 02:00", "05.03.2024 02:00", or the start of "... - ...". */
static bool read_time(const char *text, struct dl_timestamp *t) {
  char own[MOST_NAME], *dash;
  snprintf(own, sizeof own, "%s", text);
  dash = strstr(own, " - ");
  if (dash)
    *dash = '\0';
  if (strlen(own) > 5 && own[2] == '.' && own[5] == '.')
    own[2] = own[5] = '-';
  return ((dl_parse_timestamp(own, strlen(own), t) && t->dated) ||
          dl_parse_start(own, t)) &&
         t->ns >= 0 && t->ns < MOST_NS;
}

static enum dl_status add_row(struct dl_hours *h, const struct columns *c,
                              const char *const *cell, size_t line, bool *naive,
                              struct dl_diag *d) {
  struct dl_timestamp t;
  double x;
  const char *value = cell[c->value];
  if (!*value)
    return DL_OK; /* a gap */
  if (!read_time(cell[c->time], &t))
    return dl_fail_at(d, DL_EINPUT, h->path, line, "invalid time '%.40s'",
                      cell[c->time]);
  if (!dl_parse_double(value, &x) || !(x >= 0) || x * c->scale > MOST_G_KWH)
    return dl_fail_at(d, DL_EINPUT, h->path, line,
                      "'%.40s' is no carbon intensity in g/kWh", value);
  if (h->n > 0 && t.ns <= h->ns[h->n - 1])
    return dl_fail_at(d, DL_EINPUT, h->path, line,
                      "time '%.40s' is not after the one before: sort the file "
                      "by time, each time once",
                      cell[c->time]);
  *naive = *naive || !t.zoned;
  size_t cap = h->cap;
  DL_GROW(h->ns, h->cap, h->n + 1);
  DL_GROW(h->g, cap, h->n + 1);
  h->ns[h->n] = t.ns;
  h->g[h->n++] = x * c->scale;
  return DL_OK;
}

/* The median of the differences, a year at most. */
static int64_t usual_step(const struct dl_hours *h) {
  DL_FREED int64_t *step = dl_calloc(h->n, sizeof *step);
  for (size_t i = 1; i < h->n; i++)
    step[i - 1] = h->ns[i] - h->ns[i - 1];
  qsort(step, h->n - 1, sizeof *step, dl_order_times);
  int64_t usual = step[(h->n - 1) / 2];
  return usual < MOST_STEP ? usual : MOST_STEP;
}

enum dl_status dl_hours_read(struct dl_hours *h, const char *path,
                             struct dl_diag *d) {
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  const struct dl_csv_block *block;
  struct columns c;
  bool naive = false;
  *h = (struct dl_hours){.path = dl_strdup(path)};
  DL_TRY(dl_csv_open(&csv, path, 0, d));
  DL_TRY(find_columns(&c, csv, d));
  do {
    DL_TRY(dl_csv_next(csv, &block, d));
    for (size_t i = 0; block && i < block->n_rows; i++)
      DL_TRY(add_row(h, &c, block->cell + i * block->n_cols, block->line[i],
                     &naive, d));
  } while (block);
  if (h->n < 2)
    return dl_fail_at(d, DL_EINPUT, path, 0, "fewer than two intensities");
  h->step_ns = usual_step(h);
  if (naive && !c.utc)
    dl_warn_at(d, path, 0,
               "times without a time zone are taken for UTC; write them as "
               "2024-03-05T02:00+01:00");
  return DL_OK;
}

void dl_hours_free(struct dl_hours *h) {
  free(h->path);
  free(h->ns);
  free(h->g);
  *h = (struct dl_hours){0};
}

/* The end of the time for which value i counts. */
static int64_t end_of(const struct dl_hours *h, size_t i) {
  int64_t end = h->ns[i] + h->step_ns;
  return i + 1 < h->n && h->ns[i + 1] < end + h->step_ns / 2 ? h->ns[i + 1]
                                                             : end;
}

/* The last value at or before a time. */
static size_t value_at(const struct dl_hours *h, int64_t ns) {
  size_t low = 0, high = h->n;
  while (high - low > 1) {
    size_t mid = (low + high) / 2;
    if (h->ns[mid] <= ns)
      low = mid;
    else
      high = mid;
  }
  return low;
}

/* Whether there are values from one time to another; else *missing is the first
 * time without. */
static bool mean_of(const struct dl_hours *h, int64_t from, int64_t to,
                    double *g, int64_t *missing) {
  size_t i = value_at(h, from);
  double sum = 0;
  int64_t at = from;
  *missing = from;
  if (from < h->ns[0])
    return false;
  if (to <= from) {
    *g = h->g[i];
    return from < end_of(h, i);
  }
  for (; i < h->n && at < to; i++) {
    int64_t end = end_of(h, i);
    *missing = at;
    if (h->ns[i] > at || end <= at)
      return false;
    end = end < to ? end : to;
    sum += h->g[i] * (double)(end - at);
    at = end;
  }
  *missing = at;
  *g = sum / (double)(to - from);
  return at >= to;
}

enum dl_status dl_hours_mean(const struct dl_hours *h, int64_t from_ns,
                             int64_t to_ns, double *g, struct dl_diag *d) {
  char when[DL_TIMESTAMP_SIZE], first[DL_TIMESTAMP_SIZE],
      last[DL_TIMESTAMP_SIZE];
  int64_t missing;
  if (mean_of(h, from_ns, to_ns, g, &missing))
    return DL_OK;
  return dl_fail_at(d, DL_EINPUT, h->path, 0,
                    "no carbon intensity at %s: the file has %s to %s%s",
                    dl_format_timestamp(when, missing, true),
                    dl_format_timestamp(first, h->ns[0], true),
                    dl_format_timestamp(last, end_of(h, h->n - 1), true),
                    missing >= h->ns[0] && missing < h->ns[h->n - 1]
                        ? ", with a gap there"
                        : "");
}

enum dl_status dl_hours_best(const struct dl_hours *h, int64_t from_ns,
                             double within_s, double length_s,
                             struct dl_hours_start *best, struct dl_diag *d) {
  double mean;
  int64_t missing;
  best->g = INFINITY;
  for (size_t i = 0; i <= h->n; i++) {
    int64_t start = i == 0 ? from_ns : h->ns[i - 1];
    if (start >= from_ns && start <= dl_time_after(from_ns, within_s) &&
        mean_of(h, start, dl_time_after(start, length_s), &mean, &missing) &&
        mean < best->g)
      *best = (struct dl_hours_start){start, mean};
  }
  return isfinite(best->g)
             ? DL_OK
             : dl_hours_mean(h, from_ns, dl_time_after(from_ns, length_s),
                             &mean, d);
}
