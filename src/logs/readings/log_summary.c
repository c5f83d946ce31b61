/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/log_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "logs/readings/memory_join.h"
#include "logs/readings/reading_sequencer.h"

/* A deviation of a power log's integral from the energy counter that is worth
 * a word: sensors that sample only part of the time reach this (Yang et al.,
 * arXiv 2312.02741). */
#define DEVIATION_MAX 0.05

/* What a meter shows now; NaN: nothing yet. */
struct latest {
  double power_w, util;
};

struct tracking {
  struct dl_track *t;
  const struct dl_track_options *o;
  struct dl_diag *d;
  struct dl_log *log;
  struct dl_feed *feed;
  struct dl_join *join;
  struct dl_meter **meter; /* one a meter of the log */
  struct latest *latest;   /* the same */
  size_t n_meters, meters_cap, latest_cap;
  struct dl_meter *ram; /* joined */
  double cpu_util;      /* of the joined log */
  double sum_w, peak_w; /* of the GPUs */
  size_t n_powered;     /* GPUs that have shown a power */
  int64_t shift;
  bool any;
  size_t n_gaps, gap_line;
  double gap_s, longest_s;
  size_t bytes; /* told to o->progress */
};

static enum dl_status new_meters(struct tracking *k) {
  size_t n = dl_log_n_meters(k->log);
  void *meters = k->meter, *latest = k->latest;
  bool ok = dl_grow(&meters, &k->meters_cap, n, sizeof(struct dl_meter *));
  k->meter = meters;
  ok = ok && dl_grow(&latest, &k->latest_cap, n, sizeof *k->latest);
  k->latest = latest;
  if (!ok)
    return dl_fail_memory(k->d);
  while (k->n_meters < n) {
    bool gpu =
        dl_log_meter_info(k->log, (uint32_t)k->n_meters)->kind == DL_METER_GPU;
    struct dl_meter_options o = k->o->meter;
    o.truncate_watts = o.truncate_watts && gpu;
    enum dl_status status = dl_meter_new(&k->meter[k->n_meters], &o, k->d);
    if (status != DL_OK)
      return status;
    k->latest[k->n_meters++] = (struct latest){NAN, NAN};
  }
  return DL_OK;
}

/* The highest power of all GPUs together, once each has shown one. */
static void follow_gpu(struct tracking *k, const struct dl_reading *r) {
  double *latest = &k->latest[r->meter].power_w;
  if (!isnan(r->util))
    k->latest[r->meter].util = r->util;
  if (isnan(r->power_w))
    return;
  if (isnan(*latest))
    k->n_powered++;
  else
    k->sum_w -= *latest;
  *latest = r->power_w;
  k->sum_w += r->power_w;
  if (!(k->sum_w <= k->peak_w))
    k->peak_w = k->sum_w;
}

static double energy_of(const struct tracking *k, enum dl_meter_kind kind) {
  double sum = 0;
  for (size_t i = 0; i < k->n_meters; i++)
    if (dl_log_meter_info(k->log, (uint32_t)i)->kind == kind)
      sum += dl_meter_energy(k->meter[i]);
  if (k->ram && kind == DL_METER_RAM)
    sum += dl_meter_energy(k->ram);
  return sum;
}

static double mean_util(const struct tracking *k) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < k->n_meters; i++)
    if (!isnan(k->latest[i].util)) {
      sum += k->latest[i].util;
      n++;
    }
  return n > 0 ? sum / (double)n : NAN;
}

static enum dl_status add_point(struct tracking *k,
                                const struct dl_reading *r) {
  struct dl_point p = {.ns = r->ns,
                       .power_w = (float)(isnan(k->sum_w) ? 0 : k->sum_w),
                       .util = (float)mean_util(k),
                       .memory_util = (float)r->memory_util};
  for (size_t i = 0; i < DL_N_METER_KINDS; i++)
    p.energy_j[i] = energy_of(k, (enum dl_meter_kind)i);
  dl_curve_add(&k->t->curve, &p);
  return k->t->curve.failed ? dl_fail_memory(k->d) : DL_OK;
}

static void report_gap(struct tracking *k, double gap_s, size_t line) {
  if (k->n_gaps < 3)
    dl_warn_at(k->d, dl_log_path(k->log), line, "gap of %.3g s, %s", gap_s,
               k->o->meter.cut_gaps ? "cut" : "bridged");
  k->n_gaps++;
  k->gap_s += gap_s;
  if (gap_s > k->longest_s)
    k->longest_s = gap_s;
}

static enum dl_status add_mark(struct tracking *k, int64_t ns) {
  void *marks = k->t->mark;
  if (!dl_grow(&marks, &k->t->marks_cap, k->t->n_marks + 1, sizeof *k->t->mark))
    return dl_fail_memory(k->d);
  k->t->mark = marks;
  k->t->mark[k->t->n_marks++] = ns;
  return DL_OK;
}

/* Joins the memory log to a reading of the first GPU. */
static enum dl_status add_joined(struct tracking *k, const struct dl_reading *r,
                                 bool *drop) {
  double ram_w;
  enum dl_status status = dl_join_at(k->join, r->ns, &ram_w, drop, k->d);
  if (status != DL_OK || *drop || r->meter != 0)
    return status;
  dl_meter_add(
      k->ram, &(struct dl_reading){
                  .ns = r->ns, .power_w = ram_w, .util = NAN, .energy_j = NAN});
  return DL_OK;
}

static void say_shift(const struct tracking *k, int64_t shift) {
  if (shift != 0 && dl_clock_is_dated(dl_log_clock(k->log), k->o->other_clock))
    dl_warn_at(k->d, dl_log_path(k->log), 0,
               "times moved by %+.2f h to the clock of the GPU log",
               (double)shift / 3600e9);
}

/* Moves the marks of a log that has nothing else to the clock of the trace. */
static void move_marks(struct tracking *k) {
  const struct dl_track_options *o = k->o;
  struct dl_track *t = k->t;
  if (t->n_marks == 0 || k->any || o->other_ns == 0)
    return;
  t->clock = dl_log_clock(k->log);
  int64_t shift =
      dl_clock_shift_marks(t->mark, t->n_marks, t->clock, o->other_ns,
                           o->other_end_ns, o->other_clock);
  say_shift(k, shift);
  for (size_t i = 0; i < t->n_marks; i++)
    t->mark[i] += shift;
}

/* Finds the shift of the log's clock, and opens what is to be joined. */
static enum dl_status begin(struct tracking *k, const struct dl_reading *r) {
  const struct dl_track_options *o = k->o;
  enum dl_clock clock = dl_log_clock(k->log);
  k->any = true;
  k->t->clock = clock;
  if (o->other_ns != 0) {
    k->shift = dl_clock_shift(r->ns, clock, o->other_ns, o->other_clock);
    say_shift(k, k->shift);
  }
  if (!o->ram_log)
    return DL_OK;
  enum dl_status status = dl_join_open(&k->join, o->ram_log, o->ram_opened,
                                       &o->log, r->ns, clock, k->d);
  if (status != DL_OK || !k->join)
    return status;
  struct dl_meter_options ram = o->meter;
  ram.truncate_watts = false;
  return dl_meter_new(&k->ram, &ram, k->d);
}

static enum dl_status add(struct tracking *k, struct dl_reading *r,
                          size_t line) {
  enum dl_meter_kind kind = dl_log_meter_info(k->log, r->meter)->kind;
  if (kind == DL_METER_EPOCH)
    return add_mark(k, r->ns + k->shift);
  if (kind == DL_METER_GPU && k->o->meter.truncate_watts)
    r->power_w = trunc(r->power_w);
  enum dl_status status = k->any ? DL_OK : begin(k, r);
  bool drop = false;
  r->ns += k->shift;
  if (status != DL_OK || (k->o->other_ns != 0 && (r->ns < k->o->other_ns ||
                                                  r->ns > k->o->other_end_ns)))
    return status;
  if (r->meter >= k->n_meters)
    status = new_meters(k);
  if (status == DL_OK && k->join)
    status = add_joined(k, r, &drop);
  if (status != DL_OK || drop)
    return status;
  struct dl_meter_event event = dl_meter_add(k->meter[r->meter], r);
  if (event.gap_s > 0)
    report_gap(k, event.gap_s, line);
  if (event.reset)
    dl_warn_at(k->d, dl_log_path(k->log), line,
               "energy counter was reset: counted on from 0");
  if (kind == DL_METER_GPU)
    follow_gpu(k, r);
  return k->o->curve && r->meter == 0 ? add_point(k, r) : DL_OK;
}

static void tell_progress(struct tracking *k) {
  size_t bytes = dl_log_bytes(k->log);
  if (k->o->progress && bytes > k->bytes)
    k->o->progress(k->o->ctx, bytes - k->bytes);
  k->bytes = bytes;
}

static enum dl_status read_all(struct tracking *k) {
  const struct dl_reading *r;
  size_t line, n = 0;
  for (;;) {
    enum dl_status status = dl_feed_next(k->feed, &r, &line, k->d);
    if (status != DL_OK || !r)
      return status;
    struct dl_reading own = *r;
    status = add(k, &own, line);
    if (status != DL_OK)
      return status;
    if (++n % 4096 == 0)
      tell_progress(k);
  }
}

/* --- summing up */

static void add_nan(double *sum, double x) {
  *sum = isnan(*sum) ? x : *sum + x;
}

/* A meter into the total of its kind. */
static void add_meter(struct dl_track *t, enum dl_meter_kind kind,
                      const struct dl_meter *m, double limit_w) {
  struct dl_meter_summary s;
  struct dl_kind_total *total = &t->kind[kind];
  dl_meter_summarise(m, &s);
  if (s.n == 0)
    return;
  bool first = total->n_meters++ == 0;
  double share = 1 / (double)total->n_meters;
  total->energy_j = first ? s.energy_j : total->energy_j + s.energy_j;
  total->integral_j = first ? s.integral_j : total->integral_j + s.integral_j;
  total->counter_j = first ? s.counter_j : total->counter_j + s.counter_j;
  total->power_w = first ? s.power_w : total->power_w + s.power_w;
  total->util = first ? s.util : total->util + (s.util - total->util) * share;
  total->idle_w = first ? s.idle_w : total->idle_w + s.idle_w;
  total->peak_w = first ? s.peak_w : NAN;
  add_nan(&total->limit_w, limit_w);
  if (t->samples == 0 || s.first_ns < t->first_ns)
    t->first_ns = s.first_ns;
  if (t->samples == 0 || s.last_ns > t->last_ns)
    t->last_ns = s.last_ns;
  if (s.n > t->samples) {
    t->samples = s.n;
    t->interval_s = s.interval_s;
    t->missing = s.missing;
  }
}

static enum dl_status join_names(struct tracking *k) {
  struct dl_text names = {0};
  struct dl_strlist seen = {0};
  bool ok = true;
  for (size_t i = 0; i < k->n_meters; i++) {
    const struct dl_meter_info *m = dl_log_meter_info(k->log, (uint32_t)i);
    if (m->kind != DL_METER_GPU || !m->name ||
        dl_strlist_find(&seen, m->name) >= 0)
      continue;
    if (seen.n > 0)
      dl_text_add(&names, " + ");
    dl_text_add(&names, m->name);
    ok = ok && dl_strlist_add(&seen, m->name);
  }
  dl_strlist_free(&seen);
  k->t->gpu = names.s;
  return ok && !names.failed ? DL_OK : dl_fail_memory(k->d);
}

static void compare_counter(struct tracking *k) {
  const struct dl_kind_total *gpu = &k->t->kind[DL_METER_GPU];
  double deviation = gpu->integral_j / gpu->counter_j - 1;
  if (fabs(deviation) > DEVIATION_MAX)
    dl_warn_at(k->d, dl_log_path(k->log), 0,
               "the power integrates to %.3g J, %+.1f %% of the energy "
               "counter's %.3g J, which is taken",
               gpu->integral_j, deviation * 100, gpu->counter_j);
}

/* The most readings of a meter of that kind. */
static size_t most_readings(const struct tracking *k, enum dl_meter_kind kind) {
  struct dl_meter_summary s;
  size_t most = 0;
  for (size_t i = 0; i < k->n_meters; i++)
    if (dl_log_meter_info(k->log, (uint32_t)i)->kind == kind) {
      dl_meter_summarise(k->meter[i], &s);
      most = s.n > most ? s.n : most;
    }
  return most;
}

/* All meters of a kind. One that has shown but one reading comes of a line that
 * is broken where its name stands: it must not make the rest unknown. */
static void add_kind(struct tracking *k, enum dl_meter_kind kind) {
  size_t most = most_readings(k, kind);
  struct dl_meter_summary s;
  for (size_t i = 0; i < k->n_meters; i++) {
    const struct dl_meter_info *m = dl_log_meter_info(k->log, (uint32_t)i);
    if (m->kind != kind)
      continue;
    dl_meter_summarise(k->meter[i], &s);
    if (s.n == 1 && most > 1)
      dl_warn_at(k->d, dl_log_path(k->log), 0,
                 "meter '%s' left out: one reading only",
                 m->id ? m->id : "without a name");
    else
      add_meter(k->t, kind, k->meter[i], m->limit_w);
  }
}

static enum dl_status sum_up(struct tracking *k) {
  struct dl_track *t = k->t;
  move_marks(k);
  for (int kind = 0; kind < DL_N_METER_KINDS; kind++)
    add_kind(k, (enum dl_meter_kind)kind);
  if (t->curve.n > 0) /* what other meters added behind the last point */
    for (size_t i = 0; i < DL_N_METER_KINDS; i++)
      t->curve.point[t->curve.n - 1].energy_j[i] =
          dl_curve_round(energy_of(k, (enum dl_meter_kind)i));
  if (k->n_powered > 0)
    t->kind[DL_METER_GPU].peak_w = k->peak_w;
  if (k->n_gaps > 3)
    dl_warn_at(k->d, dl_log_path(k->log), 0,
               "%zu gaps, %.3g s together, the longest %.3g s", k->n_gaps,
               k->gap_s, k->longest_s);
  if (k->join) {
    double util;
    enum dl_status status = dl_join_end(k->join, &util, k->d);
    if (status != DL_OK)
      return status;
    size_t samples = t->samples;
    add_meter(t, DL_METER_RAM, k->ram, NAN);
    t->samples = samples > 0 ? samples : t->samples;
    t->kind[DL_METER_CPU].util = util;
  }
  compare_counter(k);
  return join_names(k);
}

static void init_track(struct dl_track *t) {
  *t = (struct dl_track){.interval_s = NAN, .missing = NAN};
  for (size_t i = 0; i < DL_N_METER_KINDS; i++)
    t->kind[i] =
        (struct dl_kind_total){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

enum dl_status dl_track_read(struct dl_track *t, const char *path,
                             struct dl_log *opened,
                             const struct dl_track_options *o,
                             struct dl_diag *d) {
  struct tracking k = {.t = t, .o = o, .d = d, .log = opened, .peak_w = NAN};
  enum dl_status status = DL_OK;
  init_track(t);
  if (!opened)
    status = dl_log_open(&k.log, path, &o->log, d);
  if (status == DL_OK)
    status = dl_feed_new(&k.feed, k.log, d);
  if (status == DL_OK)
    status = read_all(&k);
  if (status == DL_OK)
    status = sum_up(&k);
  if (k.feed)
    dl_feed_take_runs(k.feed, &t->run, &t->n_runs);
  if (k.log)
    tell_progress(&k);
  for (size_t i = 0; i < k.n_meters; i++)
    dl_meter_free(k.meter[i]);
  free(k.meter);
  free(k.latest);
  dl_meter_free(k.ram);
  dl_join_free(k.join);
  dl_feed_free(k.feed);
  dl_log_free(k.log);
  return status;
}

void dl_track_free(struct dl_track *t) {
  for (size_t i = 0; i < t->n_runs; i++)
    dl_run_clear(&t->run[i]);
  free(t->run);
  free(t->gpu);
  free(t->mark);
  dl_curve_free(&t->curve);
}
