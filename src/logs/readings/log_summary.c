/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integrates all meters of a log, and sums them by kind. */

#include "logs/readings/log_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "logs/readings/gaps.h"
#include "logs/readings/measure.h"
#include "logs/readings/memory_join.h"

/* Relative deviation of the integrated power from the energy counter that
 * deserves a warning: sensors that sample only part of the time reach this
 * (Yang et al., arXiv 2312.02741). */
#define DEVIATION_MAX 0.05

/* A power of one sample that is this many times those before and after it, and
 * above SPIKE_MIN_W, is an error of the sensor. */
#define SPIKE 50.0
#define SPIKE_MIN_W 2000.0

/* A meter without values for longer than this share of the run, and at least
 * this time (s), deserves a warning. */
#define UNMETERED_SHARE 0.02
#define UNMETERED_MIN_S 10.0

struct reader {
  struct dl_log_summary *s;
  const struct dl_summary_options *o;
  struct dl_diag *d;
  struct dl_log *log;
  struct dl_sequencer in;
  struct dl_power_meter *meter; /* one for each meter of the log, owned */
  size_t n_meters, meters_cap;
  struct dl_memory_join *join;
  struct dl_power_meter ram; /* joined */
  double gpu_w, gpu_peak_w;  /* all GPUs together */
  struct dl_reading point;   /* of the first meter: the curve's next point */
  int64_t shift_ns;
  bool has_point, any;       /* of readings, one has been seen */
  int64_t last_ns, holes_ns; /* of the reading before; the holes so far */
  size_t n_passed;           /* of the trace's holes */
  size_t n_gaps;
  double gap_s, longest_s;
  size_t n_dead, dead_line; /* samples of 0 W of a GPU that works */
  size_t bytes;             /* reported to o->progress */
};

/* Follows the power of all GPUs together. `before_w` is the power of the
 * reading's GPU before it, NaN if there was none. */
static void follow_gpu(struct reader *k, const struct dl_reading *r,
                       double before_w) {
  if (isnan(r->power_w))
    return;
  if (!isnan(before_w))
    k->gpu_w -= before_w;
  k->gpu_w += r->power_w;
  if (!(k->gpu_w <= k->gpu_peak_w))
    k->gpu_peak_w = k->gpu_w;
}

static double energy_of(const struct reader *k, enum dl_meter_kind kind) {
  double sum = 0;
  for (size_t i = 0; i < k->n_meters; i++)
    if (k->log->meter[i].kind == kind)
      sum += dl_power_meter_energy(&k->meter[i]);
  if (k->join && kind == DL_METER_RAM)
    sum += dl_power_meter_energy(&k->ram);
  return sum;
}

/* Latest power of the first GPU. */
static double first_gpu(const struct reader *k) {
  for (size_t i = 0; i < k->n_meters; i++)
    if (k->log->meter[i].kind == DL_METER_GPU)
      return k->meter[i].power_w;
  return NAN;
}

/* Adds a point to the curve, for the last reading of the first meter and the
 * readings of the other meters in that round. */
static void end_point(struct reader *k) {
  double util = 0;
  size_t n = 0;
  if (!k->has_point)
    return;
  k->has_point = false;
  for (size_t i = 0; i < k->n_meters; i++)
    if (k->log->meter[i].kind == DL_METER_GPU &&
        !isnan(k->meter[i].last_util)) {
      util += k->meter[i].last_util;
      n++;
    }
  struct dl_energy_point p = {.ns = k->point.ns,
                              .power_w = (float)k->gpu_w,
                              .first_w = (float)first_gpu(k),
                              .util = (float)(util / (double)n),
                              .memory_util = (float)k->point.memory_util};
  for (int i = 0; i < DL_N_METER_KINDS; i++)
    p.energy_j[i] = energy_of(k, (enum dl_meter_kind)i);
  dl_energy_curve_add(&k->s->curve, &p);
}

/* Whether a reading belongs to a later round than the point: it comes from the
 * first meter, or is nearer to that meter's next reading. */
static bool is_later(const struct reader *k, const struct dl_reading *r) {
  return r->meter == 0 ||
         2 * (double)(r->ns - k->point.ns) > k->meter[0].usual_ns;
}

static enum dl_status report_gap(struct reader *k, double gap_s,
                                 double across_j, size_t line) {
  if (gap_s > DL_GAP_MAX_S && !k->o->meter.cut_gaps)
    return dl_fail_at(k->d, DL_EINPUT, k->log->path, line,
                      "%.3g days after the sample before: remove samples with "
                      "a wrong time, or leave gaps out "
                      "(extract --gaps cut)",
                      gap_s / DL_S_PER_DAY);
  if (k->n_gaps < 3)
    dl_gap_warn(k->log, line, &k->o->meter, gap_s, across_j, k->d);
  k->n_gaps++;
  k->gap_s += gap_s;
  k->longest_s = fmax(k->longest_s, gap_s);
  return DL_OK;
}

/* Leaves out a hole that ends with the next reading of each meter. */
static void pass_hole(struct reader *k, const struct dl_time_span *hole) {
  k->holes_ns += hole->to_ns - hole->from_ns;
  for (size_t i = 0; i < k->n_meters; i++)
    dl_power_meter_restart(&k->meter[i]);
}

/* Finds a hole of a trace before reading r; not where a counter went on. */
static enum dl_status find_hole(struct reader *k, const struct dl_reading *r) {
  const struct dl_time_span hole = {k->last_ns, r->ns};
  double s = (double)(hole.to_ns - hole.from_ns) / 1e9, energy_j[2] = {0};
  bool known = r->meter < k->n_meters;
  k->last_ns = r->ns;
  if (k->n_meters == 0 ||
      !dl_gap_is_hole(&k->o->meter, &k->in, r, hole.from_ns) ||
      (known && dl_gap_is_counted(&k->meter[r->meter], r, s)))
    return DL_OK;
  for (uint32_t i = 0; i < k->n_meters; i++)
    energy_j[k->log->meter[i].kind == DL_METER_NODE] += dl_gap_energy(
        &k->meter[i], i == r->meter ? r : dl_sequencer_next_of(&k->in, i), s);
  DL_GROW(k->s->hole, k->s->holes_cap, k->s->n_holes + 1);
  k->s->hole[k->s->n_holes++] = hole;
  pass_hole(k, &hole);
  return report_gap(k, s, energy_j[energy_j[1] > 0], r->line);
}

/* Whether a reading of a companion lies in a hole of its trace. */
static bool in_hole(struct reader *k, int64_t ns) {
  const struct dl_summary_options *o = k->o;
  while (k->n_passed < o->n_holes && ns >= o->hole[k->n_passed].to_ns)
    pass_hole(k, &o->hole[k->n_passed++]);
  return k->n_passed < o->n_holes && ns > o->hole[k->n_passed].from_ns;
}

/* Joins the memory power to a reading of the first GPU. */
static enum dl_status add_joined(struct reader *k, const struct dl_reading *r,
                                 bool *drop) {
  struct dl_reading ram = {.ns = r->ns, .util = NAN, .energy_j = NAN};
  DL_TRY(dl_memory_join_at(k->join, r->ns + k->holes_ns, &ram.power_w, drop,
                           k->d));
  if (!*drop && r->meter == 0)
    dl_power_meter_add(&k->ram, &ram);
  return DL_OK;
}

/* At the first reading: shifts the clock, and begins to join the memory log. */
static enum dl_status begin(struct reader *k, int64_t ns) {
  const struct dl_summary_options *o = k->o;
  k->any = true;
  k->s->span.clock = k->log->clock;
  if (o->is_companion) {
    k->shift_ns = dl_clock_shift(ns, k->log->clock, &o->trace);
    dl_clock_shift_warn(k->log, k->shift_ns, o->trace.clock, k->d);
  }
  if (!o->ram)
    return DL_OK;
  struct dl_meter_options ram = o->meter;
  ram.truncate_watts = false;
  dl_power_meter_init(&k->ram, &ram);
  const struct dl_log_span gpu_log = {ns, ns, k->log->clock};
  return dl_memory_join_open(&k->join, o->ram, &gpu_log, k->d);
}

/* Whether only this sample has such a high power. */
static bool is_spike(const struct reader *k, const struct dl_reading *r) {
  const struct dl_power_meter *m =
      r->meter < k->n_meters ? &k->meter[r->meter] : NULL;
  double most = m && m->n_power > 0 ? m->power_w : NAN;
  if (!(r->power_w > SPIKE_MIN_W) || r->power_w < SPIKE * most)
    return false;
  const struct dl_reading *next = dl_sequencer_next_of(&k->in, r->meter);
  if (next)
    most = fmax(next->power_w, isnan(most) ? 0 : most);
  return r->power_w > SPIKE * most;
}

/* Begins to integrate the meters of the log up to index `meter`. */
static void add_meters(struct reader *k, size_t meter) {
  if (meter >= k->n_meters)
    DL_GROW(k->meter, k->meters_cap, k->log->n_meters);
  for (; k->n_meters <= meter; k->n_meters++) {
    struct dl_meter_options o = k->o->meter;
    o.truncate_watts =
        o.truncate_watts && k->log->meter[k->n_meters].kind == DL_METER_GPU;
    o.assumed_times = k->log->assumed_time && !(k->log->o.interval_s > 0);
    o.usual_ns = (double)dl_sequencer_interval(&k->in, (uint32_t)k->n_meters);
    dl_power_meter_init(&k->meter[k->n_meters], &o);
  }
}

static enum dl_status add(struct reader *k, struct dl_reading *r) {
  const struct dl_log_span *trace = &k->o->trace;
  enum dl_meter_kind kind = k->log->meter[r->meter].kind;
  enum dl_status status = DL_OK;
  bool drop = false;
  if (kind == DL_METER_EPOCH) {
    DL_GROW(k->s->mark, k->s->marks_cap, k->s->n_marks + 1);
    k->s->mark[k->s->n_marks++] = r->ns + k->shift_ns;
    return DL_OK;
  }
  if (is_spike(k, r)) {
    dl_skip_at(k->d, k->log->path, r->line,
               "power of %g W in a single sample: not plausible", r->power_w);
    r->power_w = NAN;
  }
  if (kind == DL_METER_GPU && r->power_w == 0 && r->util > 0 &&
      !k->log->meter[r->meter].elsewhere) {
    if (k->n_dead++ == 0)
      k->dead_line = r->line;
    r->power_w = NAN;
  }
  if (kind == DL_METER_GPU && k->o->meter.truncate_watts)
    r->power_w = trunc(r->power_w);
  if (!k->any)
    status = begin(k, r->ns);
  r->ns += k->shift_ns;
  if (status != DL_OK ||
      (k->o->is_companion &&
       (r->ns < trace->start_ns || r->ns > trace->end_ns || in_hole(k, r->ns))))
    return status;
  if (!k->o->is_companion)
    DL_TRY(find_hole(k, r));
  r->ns -= k->holes_ns;
  add_meters(k, r->meter);
  if (k->has_point && is_later(k, r))
    end_point(k);
  if (k->join)
    status = add_joined(k, r, &drop);
  if (status != DL_OK || drop)
    return status;
  struct dl_power_meter *m = &k->meter[r->meter];
  double before_w = m->power_w;
  size_t n_resets = m->n_resets;
  double gap_s = dl_power_meter_add(m, r);
  if (gap_s > 0)
    status = report_gap(k, gap_s, 0, r->line);
  if (m->n_resets > n_resets)
    dl_warn_at(k->d, k->log->path, r->line,
               "energy counter was reset: the power before is carried on");
  if (kind == DL_METER_GPU)
    follow_gpu(k, r, before_w);
  if (k->o->curve && r->meter == 0) {
    k->point = *r;
    k->has_point = true;
  }
  return status;
}

static enum dl_status read_all(struct reader *k) {
  const struct dl_reading *r;
  for (size_t n = 1;; n++) {
    enum dl_status status = dl_sequencer_next(&k->in, &r, k->d);
    if (status == DL_OK && r) {
      struct dl_reading own = *r;
      status = add(k, &own);
    }
    bool end = status != DL_OK || !r;
    if (k->o->progress && (end || n % 4096 == 0)) {
      if (k->log->bytes > k->bytes)
        k->o->progress(k->o->ctx, k->log->bytes - k->bytes);
      k->bytes = k->log->bytes;
    }
    if (end) {
      end_point(k);
      return status;
    }
  }
}

/* --- the totals */

/* Adds a meter to the total of its kind. */
static void add_meter(struct dl_log_summary *s, enum dl_meter_kind kind,
                      const struct dl_power_meter *m,
                      const struct dl_meter_summary *sum) {
  dl_kind_add(&s->kind[kind], &sum->total);
  if (s->samples == 0 || m->first_ns < s->span.start_ns)
    s->span.start_ns = m->first_ns;
  if (s->samples == 0 || m->last_ns > s->span.end_ns)
    s->span.end_ns = m->last_ns;
  if (m->n > s->samples) {
    s->samples = m->n;
    s->interval_s = sum->interval_s;
    s->missing = sum->missing;
  }
}

/* Sums the meters of a kind, and joins the names of the GPUs, each once. A
 * meter with a single reading comes from a line with a corrupt device name: it
 * must not make the total unknown. */
static void add_kind(struct reader *k, enum dl_meter_kind kind,
                     struct dl_text *names) {
  const struct dl_meter_info *info = k->log->meter;
  size_t most = 0;
  for (size_t i = 0; i < k->n_meters; i++)
    if (info[i].kind == kind && k->meter[i].n > most)
      most = k->meter[i].n;
  for (size_t i = 0; i < k->n_meters; i++) {
    const struct dl_power_meter *m = &k->meter[i];
    if (info[i].kind != kind)
      continue;
    bool named = kind != DL_METER_GPU || !info[i].name;
    for (size_t j = 0; !named && j < i; j++)
      named = info[j].kind == kind && info[j].name &&
              strcmp(info[j].name, info[i].name) == 0;
    if (!named)
      dl_text_printf(names, "%s%s", names->len > 0 ? " + " : "", info[i].name);
    if (m->n == 1 && most > 1) {
      dl_warn_at(k->d, k->log->path, 0, "meter '%s' skipped: one reading only",
                 info[i].id ? info[i].id : "without a name");
    } else if (m->n > 0) {
      struct dl_meter_summary sum =
          dl_power_meter_summarise(m, info[i].limit_w);
      if (dl_measure_is_dead(k->log, &info[i], &sum, k->d))
        continue;
      dl_measure_warn_counter(k->log, &sum, k->d);
      if (sum.no_counter)
        k->s->curve.n = 0;
      add_meter(k->s, kind, m, &sum);
      if (kind == DL_METER_GPU)
        dl_measure_gpu(k->s, k->log, &info[i], m, &sum, k->d);
    }
  }
}

/* Shifts the marks of a log without readings to the clock of the trace. */
static void shift_marks(struct reader *k) {
  struct dl_log_summary *s = k->s;
  const struct dl_log_span *trace = &k->o->trace;
  s->span.clock = k->log->clock;
  int64_t shift =
      dl_clock_shift_marks(s->mark, s->n_marks, s->span.clock, trace);
  dl_clock_shift_warn(k->log, shift, trace->clock, k->d);
  for (size_t i = 0; i < s->n_marks; i++)
    s->mark[i] = dl_gaps_removed(k->o->hole, k->o->n_holes, s->mark[i] + shift);
}

/* Warns about meters without values in a part of the run. */
static void warn_unmetered(const struct reader *k) {
  const struct dl_log_span *span = &k->s->span;
  double run_s = (double)(span->end_ns - span->start_ns) / 1e9;
  for (size_t i = 0; i < k->n_meters; i++) {
    const struct dl_meter_info *info = &k->log->meter[i];
    const struct dl_power_meter *m = &k->meter[i];
    struct dl_meter_summary sum = dl_power_meter_summarise(m, NAN);
    double metered_s = (double)(m->valued_ns - m->first_valued_ns) / 1e9;
    double without_s = run_s - metered_s;
    if (isnan(sum.total.energy_j) || m->n < 2 ||
        without_s <= fmax(UNMETERED_SHARE * run_s, UNMETERED_MIN_S) ||
        without_s <= 2 * sum.interval_s)
      continue;
    dl_warn_at(k->d, k->log->path, 0,
               "meter '%s' has values for %.6g s of %.6g s only: its energy is "
               "that of this time",
               info->id ? info->id : "without a name", metered_s, run_s);
  }
}

/* Adds the joined memory log, which has as many samples as the GPU log. */
static enum dl_status add_memory(struct reader *k) {
  struct dl_log_summary *s = k->s;
  size_t samples = s->samples;
  struct dl_meter_summary ram = dl_power_meter_summarise(&k->ram, NAN);
  if (k->ram.n > 0)
    add_meter(s, DL_METER_RAM, &k->ram, &ram);
  s->samples = samples > 0 ? samples : s->samples;
  bool matched;
  enum dl_status status =
      dl_memory_join_end(k->join, &s->kind[DL_METER_CPU].util, &matched, k->d);
  if (!matched)
    s->kind[DL_METER_RAM] = s->kind[DL_METER_CPU] = dl_kind_unknown;
  return status;
}

static enum dl_status sum_up(struct reader *k) {
  char x[DL_NUMBER_SIZE], y[DL_NUMBER_SIZE];
  struct dl_log_summary *s = k->s;
  const struct dl_kind_total *gpu = &s->kind[DL_METER_GPU];
  struct dl_text names = {0};
  enum dl_status status = DL_OK;
  if (s->n_marks > 0 && !k->any && k->o->is_companion)
    shift_marks(k);
  for (int kind = 0; kind < DL_N_METER_KINDS; kind++) {
    add_kind(k, (enum dl_meter_kind)kind, &names);
    size_t nodes = dl_log_nodes(k->log, (enum dl_meter_kind)kind);
    s->n_nodes = nodes > s->n_nodes ? nodes : s->n_nodes;
  }
  s->gpu = names.s;
  if (s->curve.n > 0) /* what other meters added after the last point */
    for (int i = 0; i < DL_N_METER_KINDS; i++)
      s->curve.point[s->curve.n - 1].energy_j[i] =
          dl_energy_curve_round(energy_of(k, (enum dl_meter_kind)i));
  if (!isnan(k->gpu_peak_w))
    s->kind[DL_METER_GPU].peak_w = k->gpu_peak_w;
  if (k->n_gaps > 3)
    dl_warn_at(k->d, k->log->path, 0, "%zu gaps, %s together, the longest %s",
               k->n_gaps, dl_format_duration(x, k->gap_s),
               dl_format_duration(y, k->longest_s));
  if (k->n_dead > 0)
    dl_skip_at(k->d, k->log->path, k->dead_line,
               "power of 0 W of a GPU in use, in %zu sample%s: not used",
               k->n_dead, k->n_dead == 1 ? "" : "s");
  warn_unmetered(k);
  dl_measure_doubt_sums(k->log, k->meter, k->n_meters, k->d);
  if (k->join)
    status = add_memory(k);
  s->duration_s = (double)(s->span.end_ns - s->span.start_ns) / 1e9;
  s->span.end_ns += k->holes_ns;
  double deviation = gpu->integral_j / gpu->counter_j - 1;
  if (status == DL_OK && fabs(deviation) > DEVIATION_MAX &&
      k->log->assumed_time)
    dl_warn_at(k->d, k->log->path, 0,
               "by the energy counter, which is taken, samples are %.3g times "
               "as far apart as assumed: give --interval",
               1 / (1 + deviation));
  else if (status == DL_OK && fabs(deviation) > DEVIATION_MAX)
    dl_warn_at(k->d, k->log->path, 0,
               "the power integrates to %.3g J, %+.1f %% of the energy "
               "counter's %.3g J, which is taken",
               gpu->integral_j, deviation * 100, gpu->counter_j);
  return status;
}

enum dl_status dl_log_summarise(struct dl_log_summary *s, struct dl_log *log,
                                const struct dl_summary_options *o,
                                struct dl_diag *d) {
  struct reader k = {.s = s, .o = o, .d = d, .log = log, .in = {.log = log}};
  k.gpu_peak_w = NAN;
  *s = (struct dl_log_summary){.interval_s = NAN, .missing = NAN};
  for (size_t i = 0; i < DL_N_METER_KINDS; i++)
    s->kind[i] = dl_kind_unknown;
  enum dl_status status = read_all(&k);
  if (status == DL_OK)
    status = sum_up(&k);
  s->run = k.in.run;
  s->n_runs = k.in.n_runs;
  free(k.in.groups);
  free(k.meter);
  if (k.join)
    dl_memory_join_free(k.join);
  else if (!k.any)
    dl_log_free(o->ram);
  dl_log_free(log);
  return status;
}

void dl_log_summary_free(struct dl_log_summary *s) {
  for (size_t i = 0; i < s->n_runs; i++)
    dl_run_clear(&s->run[i]);
  free(s->run);
  for (size_t i = 0; i < s->n_devices; i++)
    dl_run_clear(&s->device[i]);
  free(s->device);
  free(s->gpu);
  free(s->mark);
  free(s->hole);
  if (s->curve.point)
    dl_energy_curve_free(&s->curve);
}
