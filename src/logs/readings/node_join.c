/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/node_join.h"

#include "logs/readings/gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Share of the run that each node must cover, or there is a warning. */
static const double least_share = 0.9;

/* --- energy curves */

static int64_t first_ns(const struct dl_energy_curve *c) {
  return c->point[0].ns;
}

static int64_t last_ns(const struct dl_energy_curve *c) {
  return c->point[c->n - 1].ns;
}

/* Energy up to a time: linear between points, constant outside of them. */
static double energy_at(const struct dl_energy_curve *c, size_t kind,
                        int64_t ns) {
  if (c->n == 0)
    return 0;
  size_t i = dl_energy_curve_at(c, ns);
  const struct dl_energy_point *a = &c->point[i], *b = a + 1;
  if (ns <= a->ns || i + 1 == c->n)
    return a->energy_j[kind];
  double share = (double)(ns - a->ns) / (double)(b->ns - a->ns);
  return a->energy_j[kind] + share * (b->energy_j[kind] - a->energy_j[kind]);
}

/* The point before which a time lies; NULL outside of the curve. */
static const struct dl_energy_point *point_at(const struct dl_energy_curve *c,
                                              int64_t ns) {
  if (c->n == 0 || ns < first_ns(c) || ns > last_ns(c))
    return NULL;
  return &c->point[dl_energy_curve_at(c, ns)];
}

/* Adds the power and utilization of m GPUs to a point of n GPUs. */
static void add_power(struct dl_energy_point *p,
                      const struct dl_energy_point *other, size_t n, size_t m) {
  if (!other || m == 0)
    return;
  float share = (float)m / (float)(n + m);
  p->power_w += other->power_w;
  p->util += (other->util - p->util) * share;
  p->memory_util += (other->memory_util - p->memory_util) * share;
}

/* Joins the times of two curves: all points of `a`, and the shifted times of b
 * before and after them. */
static size_t join_times(const struct dl_energy_curve *a,
                         const struct dl_energy_curve *b, int64_t shift_ns,
                         struct dl_energy_point *to) {
  size_t n = 0, i = 0;
  for (; i < b->n && (a->n == 0 || b->point[i].ns + shift_ns < first_ns(a));
       i++)
    to[n++].ns = b->point[i].ns + shift_ns;
  for (size_t k = 0; k < a->n; k++)
    to[n++] = a->point[k];
  for (; i < b->n; i++)
    if (b->point[i].ns + shift_ns > last_ns(a))
      to[n++].ns = b->point[i].ns + shift_ns;
  return n;
}

/* Adds b's energies of some kinds (bits) to a; with `power` its power, too. */
static void add_curve(struct dl_energy_curve *a,
                      const struct dl_energy_curve *b, int64_t shift_ns,
                      unsigned kinds, const size_t n_gpus[2]) {
  if (b->n == 0)
    return;
  struct dl_energy_point *to = dl_calloc(a->n + b->n, sizeof *to);
  size_t n = join_times(a, b, shift_ns, to);
  for (size_t i = 0; i < n; i++) {
    int64_t ns = to[i].ns;
    for (size_t k = 0; k < DL_N_METER_KINDS; k++)
      to[i].energy_j[k] = dl_energy_curve_round(
          energy_at(a, k, ns) +
          (kinds >> k & 1 ? energy_at(b, k, ns - shift_ns) : 0));
    if (n_gpus)
      add_power(&to[i], point_at(b, ns - shift_ns),
                point_at(a, ns) ? n_gpus[0] : 0, n_gpus[1]);
  }
  free(a->point);
  size_t stride = a->stride > b->stride ? a->stride : b->stride;
  *a =
      (struct dl_energy_curve){.point = to, .n = n, .cap = n, .stride = stride};
}

/* --- kinds of meters */

/* Rounds energies to multiples of 2^-20 J, so that the energies of epochs add
 * up. */
static void add_kind(struct dl_kind_total *to,
                     const struct dl_kind_total *from) {
  struct dl_kind_total rounded = *from;
  rounded.energy_j = dl_energy_curve_round(from->energy_j);
  to->energy_j = dl_energy_curve_round(to->energy_j);
  dl_kind_add(to, &rounded); /* for the peak see find_peak */
}

static void take_marks(struct dl_log_summary *to,
                       const struct dl_log_summary *from, int64_t shift_ns) {
  if (to->n_marks > 0 || from->n_marks == 0)
    return;
  to->mark = dl_calloc(from->n_marks, sizeof *to->mark);
  to->n_marks = to->marks_cap = from->n_marks;
  for (size_t i = 0; i < from->n_marks; i++)
    to->mark[i] = from->mark[i] + shift_ns;
}

void dl_node_flatten(struct dl_log_summary *log, size_t n) {
  for (size_t i = 1; i < n; i++) {
    unsigned kinds = 0;
    for (size_t k = 0; k < DL_N_METER_KINDS; k++)
      if (log->kind[k].n_meters == 0 && log[i].kind[k].n_meters > 0) {
        add_kind(&log->kind[k], &log[i].kind[k]);
        kinds |= 1U << k;
      }
    if (kinds && log->curve.n > 0)
      add_curve(&log->curve, &log[i].curve, 0, kinds, NULL);
    take_marks(log, &log[i], 0);
    dl_log_summary_free(&log[i]);
    log[i] = (struct dl_log_summary){0};
  }
}

/* --- nodes */

/* Finds the shift between the clocks of two nodes: the median difference
 * between the ends of their epochs; without epochs, the difference of time
 * zones. */
static int64_t find_shift(const struct dl_log_summary *to,
                          const struct dl_log_summary *from) {
  size_t n = from->n_marks;
  if (n == 0 || n != to->n_marks)
    return dl_clock_shift(from->span.start_ns, from->span.clock, &to->span);
  DL_FREED int64_t *apart = dl_calloc(n, sizeof *apart);
  for (size_t i = 0; i < n; i++)
    apart[i] = to->mark[i] - from->mark[i];
  qsort(apart, n, sizeof *apart, dl_order_times);
  return llabs(apart[n / 2]) > DL_SECOND ? apart[n / 2] : 0;
}

/* The names of the GPUs of both, each once. */
static void join_names(struct dl_log_summary *to, const char *name) {
  struct dl_text both = {0};
  if (!name || (to->gpu && strcmp(to->gpu, name) == 0))
    return;
  if (to->gpu)
    dl_text_printf(&both, "%s + ", to->gpu);
  dl_text_add(&both, name);
  free(to->gpu);
  to->gpu = both.s;
}

/* Widens the time of the run so that it contains the node's time. */
static enum dl_status join_span(struct dl_log_summary *to,
                                const struct dl_log_summary *from,
                                int64_t shift_ns, const char *path,
                                struct dl_diag *d) {
  int64_t start = from->span.start_ns + shift_ns;
  int64_t end = from->span.end_ns + shift_ns;
  struct dl_log_span *s = &to->span;
  if (end <= s->start_ns || start >= s->end_ns)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "has no time in common with the logs of other nodes; "
                      "join logs of one run only");
  s->start_ns = start < s->start_ns ? start : s->start_ns;
  s->end_ns = end > s->end_ns ? end : s->end_ns;
  to->duration_s = (double)(dl_gaps_removed(to->hole, to->n_holes, s->end_ns) -
                            s->start_ns) /
                   1e9;
  if (from->duration_s < least_share * to->duration_s)
    dl_warn_at(d, path, 0, "covers %.6g s of the run's %.6g s",
               from->duration_s, to->duration_s);
  return DL_OK;
}

static void count_kinds(struct dl_log_summary *to,
                        const struct dl_log_summary *log) {
  to->n_joined++;
  for (size_t k = 0; k < DL_N_METER_KINDS; k++)
    to->n_joined_with[k] += log->kind[k].n_meters > 0;
}

enum dl_status dl_node_add(struct dl_log_summary *to,
                           const struct dl_log_summary *from, const char *path,
                           struct dl_diag *d) {
  const size_t n_gpus[2] = {to->kind[DL_METER_GPU].n_meters,
                            from->kind[DL_METER_GPU].n_meters};
  int64_t shift = find_shift(to, from);
  if (to->n_joined == 0)
    count_kinds(to, to);
  DL_TRY(join_span(to, from, shift, path, d));
  if (llabs(shift) > 0)
    dl_warn_at(d, path, 0,
               "times moved by %+.3f s to the clock of the first "
               "node",
               (double)shift / 1e9);
  count_kinds(to, from);
  for (size_t k = 0; k < DL_N_METER_KINDS; k++)
    if (from->kind[k].n_meters > 0)
      add_kind(&to->kind[k], &from->kind[k]);
  to->samples = to->samples > from->samples ? to->samples : from->samples;
  to->missing = fmax(to->missing, from->missing);
  if (to->curve.n > 0)
    add_curve(&to->curve, &from->curve, shift, (1U << DL_N_METER_KINDS) - 1,
              n_gpus);
  take_marks(to, from, shift);
  join_names(to, from->gpu);
  return DL_OK;
}

/* Finds the largest power that all GPUs drew at one time. It is unknown if
 * points of the curve are means of several samples. */
static void find_peak(struct dl_log_summary *log) {
  const struct dl_energy_curve *c = &log->curve;
  struct dl_kind_total *gpus = &log->kind[DL_METER_GPU];
  if (gpus->n_meters == 0 || isnan(gpus->power_w) || c->stride > 1)
    return;
  for (size_t i = 0; i < c->n; i++)
    if (!((double)c->point[i].power_w <= gpus->peak_w))
      gpus->peak_w = (double)c->point[i].power_w;
}

void dl_node_end(struct dl_log_summary *to, const char *path,
                 struct dl_diag *d) {
  static const char *const names[DL_N_METER_KINDS] = {[DL_METER_GPU] = "GPUs",
                                                      [DL_METER_CPU] = "CPUs",
                                                      [DL_METER_RAM] = "memory",
                                                      [DL_METER_NODE] =
                                                          "whole node"};
  to->n_nodes = to->n_joined;
  for (size_t k = 0; k < DL_N_METER_KINDS; k++)
    if (to->n_joined_with[k] > 0 && to->n_joined_with[k] < to->n_joined) {
      to->kind[k] = dl_kind_unknown;
      dl_warn_at(
          d, path, 0,
          "energy of the %s is known for %zu of %zu nodes only: not included",
          names[k], to->n_joined_with[k], to->n_joined);
    }
  find_peak(to);
}
