/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/memory_join.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define NEAR DL_SECOND

/* Less than that is what starting and stopping two programs takes. */
#define WORTH_A_WORD (INT64_C(10) * DL_SECOND)

/* By that two logs of one run may begin apart. */
#define START_MAX (INT64_C(60) * DL_SECOND)

#define QUARTER (INT64_C(900) * DL_SECOND)
#define HOUR (INT64_C(3600) * DL_SECOND)
#define ODD_ZONE (INT64_C(1200) * DL_SECOND)
#define DAY (INT64_C(24) * HOUR)
#define ZONES_MAX (INT64_C(14) * HOUR)

struct sample {
  int64_t ns;
  double power_w;
};

struct dl_join {
  struct dl_log *log;
  struct dl_feed *feed;
  int64_t shift;
  struct sample before, after; /* of the time asked for last */
  bool has_before, has_after;
  double util_sum;
  size_t n_util, n_dropped, n_held;
  int64_t alone_ns, hole_ns; /* dropped and held, in all */
  int64_t last_ns;           /* time asked for last */
};

/* To the nearest multiple. */
static int64_t nearest(int64_t x, int64_t unit) {
  int64_t half = x < 0 ? -unit / 2 : unit / 2;
  return (x + half) / unit * unit;
}

bool dl_clock_is_dated(enum dl_clock clock, enum dl_clock other) {
  return (clock == DL_CLOCK_WALL || clock == DL_CLOCK_ZONED) &&
         (other == DL_CLOCK_WALL || other == DL_CLOCK_ZONED);
}

int64_t dl_clock_shift(int64_t start_ns, enum dl_clock clock,
                       int64_t other_start_ns, enum dl_clock other) {
  int64_t apart = other_start_ns - start_ns;
  bool begins_at_0 = clock == DL_CLOCK_RELATIVE && llabs(start_ns) < START_MAX;
  if (clock == DL_CLOCK_RELATIVE || other == DL_CLOCK_RELATIVE)
    return clock == other ? 0 : begins_at_0 ? other_start_ns : apart;
  if (clock == DL_CLOCK_DAY || other == DL_CLOCK_DAY)
    return nearest(apart, clock == DL_CLOCK_ZONED || other == DL_CLOCK_ZONED
                              ? QUARTER
                              : DAY);
  if (clock != other)
    return llabs(apart) <= ZONES_MAX + QUARTER ? nearest(apart, QUARTER) : 0;
  int64_t hours = nearest(apart, HOUR);
  bool zone = llabs(apart - hours) < START_MAX && llabs(hours) <= ZONES_MAX &&
              clock == DL_CLOCK_WALL;
  return zone ? hours : 0;
}

struct marks {
  int64_t first, last, length; /* of an epoch; -1: unknown */
  int64_t start, end;          /* of the trace */
};

/* Of shifts by a time zone the one that brings the marks into the trace, and
 * the first epoch's beginning nearest to its own. Few zones are not of whole
 * hours: they must be better by more than a program takes to start. */
static bool best_shift(const struct marks *m, int64_t base, int64_t *shift) {
  int64_t best = INT64_MAX;
  for (int64_t z = base - ZONES_MAX; z <= base + ZONES_MAX; z += QUARTER) {
    if (m->first + z <= m->start || m->last + z > m->end + DL_MARK_LATE)
      continue;
    int64_t off = m->length < 0 ? llabs(z - base)
                                : llabs(m->first + z - m->length - m->start);
    if ((z - base) % HOUR != 0)
      off += ODD_ZONE;
    if (off < best) {
      best = off;
      *shift = z;
    }
  }
  return best < INT64_MAX;
}

int64_t dl_clock_shift_marks(const int64_t *mark, size_t n, enum dl_clock clock,
                             int64_t start_ns, int64_t end_ns,
                             enum dl_clock other) {
  struct marks m = {mark[0], mark[n - 1], -1, start_ns, end_ns};
  if (clock == DL_CLOCK_RELATIVE || other == DL_CLOCK_RELATIVE)
    return clock == other               ? 0
           : clock == DL_CLOCK_RELATIVE ? start_ns
                                        : end_ns - m.last;
  if (n > 1)
    m.length = (m.last - m.first) / (int64_t)(n - 1);
  bool dated = dl_clock_is_dated(clock, other);
  int64_t base = dated ? 0 : nearest(start_ns - m.first, DAY), shift = base;
  bool fits =
      m.first + base > start_ns && m.last + base <= end_ns + DL_MARK_LATE;
  if ((clock == other && (fits || clock == DL_CLOCK_ZONED)) ||
      best_shift(&m, base, &shift))
    return shift;
  return base;
}

/* The next memory sample; has_after is false at the end. */
static enum dl_status advance(struct dl_join *j, struct dl_diag *d) {
  const struct dl_reading *r;
  size_t line;
  j->before = j->after;
  j->has_before = j->has_after;
  j->has_after = false;
  for (;;) {
    enum dl_status status = dl_feed_next(j->feed, &r, &line, d);
    if (status != DL_OK || !r)
      return status;
    if (!isnan(r->util)) {
      j->util_sum += r->util;
      j->n_util++;
    }
    bool ram = dl_log_meter_info(j->log, r->meter)->kind == DL_METER_RAM;
    if (ram && !isnan(r->power_w)) {
      j->after = (struct sample){r->ns + j->shift, r->power_w};
      j->has_after = true;
      return DL_OK;
    }
  }
}

static void say_shift(const struct dl_join *j, enum dl_clock clock,
                      struct dl_diag *d) {
  if (j->shift != 0 && dl_clock_is_dated(dl_log_clock(j->log), clock))
    dl_warn_at(d, dl_log_path(j->log), 0,
               "times moved by %+.2f h to the clock of the GPU log",
               (double)j->shift / 3600e9);
}

enum dl_status dl_join_open(struct dl_join **out, const char *path,
                            struct dl_log **opened,
                            const struct dl_log_options *o, int64_t start_ns,
                            enum dl_clock clock, struct dl_diag *d) {
  struct dl_join *j = dl_calloc(1, sizeof *j);
  struct dl_log_options own = {.interval_s = o->interval_s};
  *out = NULL;
  if (!j)
    return dl_fail_memory(d);
  enum dl_status status = DL_OK;
  if (opened && *opened) {
    j->log = *opened;
    *opened = NULL;
  } else {
    status = dl_log_open(&j->log, path, &own, d);
  }
  if (status == DL_OK)
    status = dl_feed_new(&j->feed, j->log, d);
  if (status == DL_OK)
    status = advance(j, d);
  if (status != DL_OK) {
    dl_join_free(j);
    return status;
  }
  if (!j->has_after) {
    dl_warn_at(d, dl_log_path(j->log), 0, "no samples: not joined");
    dl_join_free(j);
    return DL_OK;
  }
  j->shift = dl_clock_shift(j->after.ns, dl_log_clock(j->log), start_ns, clock);
  j->after.ns += j->shift;
  say_shift(j, clock, d);
  *out = j;
  return DL_OK;
}

void dl_join_free(struct dl_join *j) {
  if (!j)
    return;
  dl_feed_free(j->feed);
  dl_log_free(j->log);
  free(j);
}

enum dl_status dl_join_at(struct dl_join *j, int64_t ns, double *power_w,
                          bool *drop, struct dl_diag *d) {
  while (j->has_after && j->after.ns <= ns) {
    enum dl_status status = advance(j, d);
    if (status != DL_OK)
      return status;
    if (!j->has_after)
      break;
  }
  bool late = j->has_after && j->after.ns - ns <= NEAR;
  bool early = j->has_before && ns - j->before.ns <= NEAR;
  *power_w = NAN;
  *drop = !j->has_before && !late;
  int64_t step = j->last_ns == 0 ? 0 : ns - j->last_ns;
  j->last_ns = ns;
  if (*drop) {
    j->n_dropped++;
    j->alone_ns += step;
  } else if (late && (!early || j->after.ns - ns < ns - j->before.ns)) {
    *power_w = j->after.power_w;
  } else {
    *power_w = j->before.power_w;
  }
  if (!*drop && !late && !early) {
    j->n_held++;
    j->hole_ns += step;
  }
  return DL_OK;
}

enum dl_status dl_join_end(struct dl_join *j, double *cpu_util,
                           struct dl_diag *d) {
  const char *path = dl_log_path(j->log);
  while (j->has_after) {
    enum dl_status status = advance(j, d);
    if (status != DL_OK)
      return status;
  }
  if (j->alone_ns > WORTH_A_WORD)
    dl_warn_at(d, path, 0,
               "begins later than the GPU log: %zu GPU sample%s before it "
               "left out",
               j->n_dropped, j->n_dropped == 1 ? "" : "s");
  if (j->hole_ns > WORTH_A_WORD)
    dl_warn_at(d, path, 0,
               "no sample within 1 s of %zu GPU sample%s: the one before held",
               j->n_held, j->n_held == 1 ? "" : "s");
  *cpu_util = j->n_util > 0 ? j->util_sum / (double)j->n_util : NAN;
  return DL_OK;
}
