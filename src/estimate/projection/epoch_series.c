/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/projection/epoch_series.h"

#include <gsl/gsl_interp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/timestamp.h"
#include "estimate/projection/projection_private.h"
#include "math/signal/fluss.h"

enum { FLUSS_LENGTH = 10, FLUSS_EXCLUSION = 10 };

/* Bounds of the number of epochs this far above it say that each may be
 * several, not that some are missing. */
static const double least_parts = 1.9;

void dl_epoch_series_add(struct dl_epoch_series *s, double duration_s,
                         double energy_j, double power_w) {
  double **arrays[] = {&s->duration_s, &s->energy_j, &s->power_w};
  size_t cap = s->cap;
  for (size_t i = 0; i < 3; i++) {
    cap = s->cap;
    DL_GROW(*arrays[i], cap, s->n + 1);
  }
  s->cap = cap;
  s->duration_s[s->n] = duration_s;
  s->energy_j[s->n] = energy_j;
  s->power_w[s->n++] = power_w;
}

void dl_epoch_series_free(struct dl_epoch_series *s) {
  free(s->duration_s);
  free(s->energy_j);
  free(s->power_w);
  free(s->block_j);
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
      s->n,        s->duration_s,
      s->energy_j, powers ? s->power_w : NULL,
      s->head_s,   s->head_j,
      s->open_s,   s->open_j,
      s->block_j,  strcmp(s->verdict, "given") != 0,
      s->parts};
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
  double *time_s, *energy_j; /* n_points of the trace, from its beginning */
  size_t n_points;
};

/* The mean power within the boundary: it joins the GPUs' samples and what the
 * other parts add. NaN where a log gives an energy, but no time. */
static double power_of(const struct dl_epoch *e) {
  if (!(e->duration_s > 0))
    return NAN;
  double gpu = e->gpu_power_w;
  if (!isnan(e->node_energy_j) || isnan(gpu) || isnan(e->gpu_energy_j))
    return e->energy_j / e->duration_s;
  return gpu + (e->energy_j - e->gpu_energy_j) / e->duration_s;
}

static void take_epoch(struct dl_epoch_series *s, const struct dl_epoch *e) {
  switch (e->part) {
  case DL_PART_START:
    s->head_s = e->duration_s;
    s->head_j = e->energy_j;
    break;
  case DL_PART_END:
    s->open_s = e->duration_s;
    s->open_j = e->energy_j;
    break;
  case DL_PART_EPOCH:
    dl_epoch_series_add(s, e->duration_s, e->energy_j, power_of(e));
    break;
  }
}

/* Energy of the trace up to a time, linear between its points. */
static double energy_at(const struct collecting *c, double time_s) {
  if (time_s <= c->time_s[0])
    return c->energy_j[0];
  if (time_s >= c->time_s[c->n_points - 1])
    return c->energy_j[c->n_points - 1];
  size_t i = gsl_interp_bsearch(c->time_s, time_s, 0, c->n_points - 1);
  double step = c->time_s[i + 1] - c->time_s[i];
  return c->energy_j[i] +
         (time_s - c->time_s[i]) / step * (c->energy_j[i + 1] - c->energy_j[i]);
}

static void find_blocks(struct dl_epoch_series *s, const struct collecting *c) {
  if (s->n == 0 || c->n_points < 2)
    return;
  s->block_j = dl_calloc(s->n * DL_EPOCH_BLOCKS, sizeof *s->block_j);
  double begin = s->head_s;
  for (size_t i = 0; i < s->n; begin += s->duration_s[i++]) {
    double before = energy_at(c, begin);
    for (size_t b = 0; b < DL_EPOCH_BLOCKS; b++) {
      double share = (double)(b + 1) / DL_EPOCH_BLOCKS;
      double upto = energy_at(c, begin + share * s->duration_s[i]);
      s->block_j[i * DL_EPOCH_BLOCKS + b] = upto - before;
      before = upto;
    }
  }
}

/* Epochs that lie within a gap of the log have no sample: the next one holds
 * the time and the energy of all of them. */
static void share_gaps(struct dl_epoch_series *s) {
  for (size_t i = 0, empty = 0; i < s->n; i++) {
    if (s->duration_s[i] == 0) {
      empty++;
      continue;
    }
    double n = (double)(empty + 1);
    double duration = s->duration_s[i] / n, energy = s->energy_j[i] / n;
    for (size_t j = i - empty; empty > 0 && j <= i; j++) {
      s->duration_s[j] = duration;
      s->energy_j[j] = energy;
      s->power_w[j] = energy / duration;
    }
    empty = 0;
  }
}

static void copy(char *to, size_t size, const char *from) {
  size_t n = from ? strlen(from) : 0;
  if (n >= size)
    n = size - 1;
  if (n > 0)
    memcpy(to, from, n);
  to[n] = '\0';
}

static void take_start(struct dl_epoch_series *s, const struct dl_run *run) {
  struct dl_timestamp t;
  if (!run->start_time || !dl_parse_start(run->start_time, &t))
    return;
  s->start_s = (double)t.ns / DL_SECOND;
  s->start_zoned = t.zoned;
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
  double most = s->n_high / (double)run->epochs;
  s->parts = most >= least_parts ? floor(most + 0.1) : 1;
  for (size_t i = 0; i < run->n_epochs; i++)
    take_epoch(s, &run->epoch[i]);
  if (run->n_epochs == 0) { /* no epoch is over */
    s->open_s = run->duration_s;
    s->open_j = run->energy_j;
  }
  take_start(s, run);
  share_gaps(s);
  find_blocks(s, c);
  return DL_OK;
}

static enum dl_status find_regime(struct dl_epoch_series *s,
                                  const struct dl_energy_curve *c,
                                  struct dl_diag *d) {
  struct dl_fluss f;
  DL_FREED double *power = dl_calloc(c->n, sizeof *power);
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
  return status;
}

/* The energy of all meters of the trace over time. */
static void keep_curve(struct collecting *c,
                       const struct dl_energy_curve *curve) {
  if (curve->n == 0 || c->time_s)
    return;
  c->time_s = dl_calloc(curve->n, sizeof *c->time_s);
  c->energy_j = dl_calloc(curve->n, sizeof *c->energy_j);
  for (size_t i = 0; i < curve->n; i++) {
    const struct dl_energy_point *p = &curve->point[i];
    double time_s = (double)(p->ns - curve->point[0].ns) * 1e-9;
    if (c->n_points > 0 && time_s <= c->time_s[c->n_points - 1])
      continue;
    c->time_s[c->n_points] = time_s;
    c->energy_j[c->n_points++] =
        dl_projection_sum(p->energy_j, DL_N_METER_KINDS);
  }
}

static enum dl_status inspect(void *ctx, const struct dl_log_summary *track,
                              struct dl_diag *d) {
  struct collecting *c = ctx;
  enum dl_status status = DL_OK;
  if (c->asked->inspect)
    status = c->asked->inspect(c->asked->ctx, track, d);
  if (status == DL_OK)
    keep_curve(c, &track->curve);
  return status == DL_OK && c->regime && track->curve.n > 0
             ? find_regime(c->seen, &track->curve, d)
             : status;
}

enum dl_status dl_epoch_series_from_logs(struct dl_epoch_series *s,
                                         char *const *paths, size_t n,
                                         const struct dl_extract_options *o,
                                         bool regime, struct dl_diag *d) {
  struct collecting c = {.seen = s, .asked = o, .regime = regime};
  struct dl_extract_options own = *o;
  *s = DL_EPOCH_SERIES_EMPTY;
  own.find_epochs = true;
  own.sink = take_run;
  own.inspect = inspect;
  own.progress = NULL;
  own.ctx = &c;
  enum dl_status status = dl_extract(paths, n, &own, d);
  free(c.time_s);
  free(c.energy_j);
  if (status != DL_OK)
    dl_epoch_series_free(s);
  return status;
}
