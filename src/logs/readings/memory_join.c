/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/memory_join.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "logs/readings/reading_sequencer.h"

#define NEAR_NS DL_SECOND
#define DAY_NS (INT64_C(86400) * DL_SECOND)

/* Shorter gaps come from starting and stopping two programs: no warning. */
#define WARN_FROM_NS (INT64_C(10) * DL_SECOND)

struct dl_memory_join {
  struct dl_sequencer in;
  int64_t shift_ns;
  struct dl_reading before, after; /* around the time requested last */
  bool has_before, has_after;
  double util_sum;
  size_t n_util, n_dropped, n_held, n_near; /* n_near: within 1 s */
  int64_t dropped_ns, held_ns;              /* their durations */
  int64_t last_ns;                          /* time requested last */
};

/* Moves to the next memory sample; has_after is false at the end. */
static enum dl_status advance(struct dl_memory_join *j, struct dl_diag *d) {
  const struct dl_reading *r;
  j->before = j->after;
  j->has_before = j->has_after;
  j->has_after = false;
  for (;;) {
    enum dl_status status = dl_sequencer_next(&j->in, &r, d);
    if (status != DL_OK || !r)
      return status;
    if (!isnan(r->util)) {
      j->util_sum += r->util;
      j->n_util++;
    }
    if (j->in.log->meter[r->meter].kind == DL_METER_RAM && !isnan(r->power_w)) {
      j->after = *r;
      j->after.ns += j->shift_ns;
      j->has_after = true;
      return DL_OK;
    }
  }
}

enum dl_status dl_memory_join_open(struct dl_memory_join **out,
                                   struct dl_log *log,
                                   const struct dl_log_span *gpu_log,
                                   struct dl_diag *d) {
  struct dl_memory_join *j = dl_calloc(1, sizeof *j);
  *out = NULL;
  j->in.log = log;
  enum dl_status status = advance(j, d);
  if (status == DL_OK && !j->has_after)
    dl_warn_at(d, log->path, 0, "no samples: not joined");
  if (status != DL_OK || !j->has_after) {
    dl_memory_join_free(j);
    return status;
  }
  j->shift_ns = dl_clock_shift(j->after.ns, log->clock, gpu_log);
  j->after.ns += j->shift_ns;
  if (j->after.ns - gpu_log->start_ns > DAY_NS / 2) {
    dl_warn_at(d, log->path, 0,
               "no sample at the time of the run: not included");
    dl_memory_join_free(j);
    return DL_OK;
  }
  dl_clock_shift_warn(log, j->shift_ns, gpu_log->clock, d);
  *out = j;
  return DL_OK;
}

void dl_memory_join_free(struct dl_memory_join *j) {
  if (!j)
    return;
  dl_sequencer_free(&j->in);
  dl_log_free(j->in.log);
  free(j);
}

enum dl_status dl_memory_join_at(struct dl_memory_join *j, int64_t ns,
                                 double *power_w, bool *drop,
                                 struct dl_diag *d) {
  while (j->has_after && j->after.ns <= ns) {
    DL_TRY(advance(j, d));
  }
  bool late = j->has_after && j->after.ns - ns <= NEAR_NS;
  bool early = j->has_before && ns - j->before.ns <= NEAR_NS;
  bool take_after = late && (!early || j->after.ns - ns < ns - j->before.ns);
  int64_t step = j->last_ns == 0 ? 0 : ns - j->last_ns;
  j->last_ns = ns;
  *drop = !j->has_before && !late;
  *power_w = take_after ? j->after.power_w : j->before.power_w;
  if (*drop) {
    *power_w = NAN;
    j->n_dropped++;
    j->dropped_ns += step;
  } else if (!late && !early) {
    j->n_held++;
    j->held_ns += step;
  } else {
    j->n_near++;
  }
  return DL_OK;
}

enum dl_status dl_memory_join_end(struct dl_memory_join *j, double *cpu_util,
                                  bool *matched, struct dl_diag *d) {
  const char *path = j->in.log->path;
  while (j->has_after) {
    DL_TRY(advance(j, d));
  }
  *matched = j->n_near > 0;
  *cpu_util = j->util_sum / (double)j->n_util; /* 0 / 0: NaN */
  if (!*matched) {
    dl_warn_at(d, path, 0, "no sample at the time of the run: not included");
    return DL_OK;
  }
  if (j->dropped_ns > WARN_FROM_NS)
    dl_warn_at(d, path, 0,
               "begins later than the GPU log: %zu GPU sample%s before it "
               "skipped",
               j->n_dropped, j->n_dropped == 1 ? "" : "s");
  if (j->held_ns > WARN_FROM_NS)
    dl_warn_at(d, path, 0,
               "no sample within 1 s of %zu GPU sample%s: the one before held",
               j->n_held, j->n_held == 1 ? "" : "s");
  return DL_OK;
}
