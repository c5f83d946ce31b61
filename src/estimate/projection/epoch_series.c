/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/projection/epoch_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/signal/fluss.h"

enum { FLUSS_LENGTH = 10, FLUSS_EXCLUSION = 10 };

bool dl_epoch_series_add(struct dl_epoch_series *s, double duration_s,
                         double energy_j, double power_w) {
  double **arrays[] = {&s->duration_s, &s->energy_j, &s->power_w};
  size_t cap = s->cap;
  for (size_t i = 0; i < 3; i++) {
    void *array = *arrays[i];
    cap = s->cap;
    if (!dl_grow(&array, &cap, s->n + 1, sizeof(double)))
      return false;
    *arrays[i] = array;
  }
  s->cap = cap;
  s->duration_s[s->n] = duration_s;
  s->energy_j[s->n] = energy_j;
  s->power_w[s->n++] = power_w;
  return true;
}

void dl_epoch_series_free(struct dl_epoch_series *s) {
  free(s->duration_s);
  free(s->energy_j);
  free(s->power_w);
  *s = (struct dl_epoch_series){0};
}

void dl_epoch_series_truncate(struct dl_epoch_series *s, size_t k) {
  if (s->n <= k)
    return;
  s->n = k;
  s->open_s = s->open_j = 0;
}

struct dl_measured_epochs dl_epoch_series_get(const struct dl_epoch_series *s) {
  bool powers = s->n > 0;
  for (size_t i = 0; i < s->n; i++)
    powers = powers && !isnan(s->power_w[i]);
  return (struct dl_measured_epochs){
      s->n,      s->duration_s, s->energy_j, powers ? s->power_w : NULL,
      s->head_s, s->head_j,     s->open_s,   s->open_j};
}

size_t dl_epoch_series_find(const struct dl_epoch_series *s, double at_s) {
  double end = s->head_s;
  for (size_t i = 0; i < s->n; i++) {
    end += s->duration_s[i];
    if (end > at_s)
      return i;
  }
  return s->n;
}

/* --- from logs */

struct collecting {
  struct dl_epoch_series *seen;
  const struct dl_extract_options *asked;
  bool regime;
  size_t n_runs;
};

/* The mean power within the boundary: that of the GPUs' samples, and what the
 * other parts add. NaN where a log gives an energy, but no time. */
static double power_of(const struct dl_epoch *e) {
  if (!(e->duration_s > 0))
    return NAN;
  double gpu = e->gpu_power_w;
  if (!isnan(e->node_energy_j) || isnan(gpu) || isnan(e->gpu_energy_j))
    return e->energy_j / e->duration_s;
  return gpu + (e->energy_j - e->gpu_energy_j) / e->duration_s;
}

static bool take_epoch(struct dl_epoch_series *s, const struct dl_epoch *e) {
  switch (e->part) {
  case DL_PART_START:
    s->head_s = e->duration_s;
    s->head_j = e->energy_j;
    return true;
  case DL_PART_END:
    s->open_s = e->duration_s;
    s->open_j = e->energy_j;
    return true;
  case DL_PART_EPOCH:
    break;
  }
  return dl_epoch_series_add(s, e->duration_s, e->energy_j, power_of(e));
}

static void copy(char *to, size_t size, const char *from) {
  size_t n = from ? strlen(from) : 0;
  if (n >= size)
    n = size - 1;
  if (n > 0)
    memcpy(to, from, n);
  to[n] = '\0';
}

static enum dl_status take_run(void *ctx, const struct dl_run *run,
                               char *const *extra, struct dl_diag *d) {
  struct collecting *c = ctx;
  struct dl_epoch_series *s = c->seen;
  (void)extra;
  if (c->n_runs++ > 0)
    return dl_fail(d, DL_EINPUT, "several runs: give the logs of one training");
  copy(s->boundary, sizeof s->boundary, run->boundary);
  copy(s->verdict, sizeof s->verdict, run->epochs_verdict);
  s->n_low = run->epochs_low;
  s->n_high = run->epochs_high;
  for (size_t i = 0; i < run->n_epochs; i++)
    if (!take_epoch(s, &run->epoch[i]))
      return dl_fail_memory(d);
  if (run->n_epochs == 0) { /* no epoch is over */
    s->open_s = run->duration_s;
    s->open_j = run->energy_j;
  }
  return DL_OK;
}

static enum dl_status find_regime(struct dl_epoch_series *s,
                                  const struct dl_energy_curve *c,
                                  struct dl_diag *d) {
  struct dl_fluss f;
  double *power = dl_calloc(c->n, sizeof *power);
  if (!power)
    return dl_fail_memory(d);
  for (size_t i = 0; i < c->n; i++)
    power[i] = (double)c->point[i].power_w;
  enum dl_status status =
      c->n < FLUSS_LENGTH
          ? DL_OK
          : dl_fluss(power, c->n, FLUSS_LENGTH, FLUSS_EXCLUSION, &f, d);
  if (status == DL_OK && c->n >= FLUSS_LENGTH) {
    s->regime_sample = (double)f.regime;
    s->regime_cac = f.cac;
    s->regime_s = (double)(c->point[f.regime].ns - c->point[0].ns) * 1e-9;
  }
  free(power);
  return status;
}

static enum dl_status inspect(void *ctx, const struct dl_log_summary *track,
                              struct dl_diag *d) {
  struct collecting *c = ctx;
  enum dl_status status = DL_OK;
  if (c->asked->inspect)
    status = c->asked->inspect(c->asked->ctx, track, d);
  return status == DL_OK && c->regime && track->curve.n > 0
             ? find_regime(c->seen, &track->curve, d)
             : status;
}

enum dl_status dl_epoch_series_from_logs(struct dl_epoch_series *s,
                                         char *const *paths, size_t n,
                                         const struct dl_extract_options *o,
                                         bool regime, struct dl_diag *d) {
  struct collecting c = {s, o, regime, 0};
  struct dl_extract_options own = *o;
  *s = DL_EPOCH_SERIES_EMPTY;
  own.epochs.find = true;
  own.sink = take_run;
  own.inspect = inspect;
  own.progress = NULL;
  own.ctx = &c;
  enum dl_status status = dl_extract(paths, n, &own, d);
  if (status != DL_OK)
    dl_epoch_series_free(s);
  return status;
}
