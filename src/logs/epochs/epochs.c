/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/epochs/epochs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "logs/readings/measure.h"
#include "logs/readings/clock_shift.h"

/* Energy of one kind of meter between two times, J. */
static double energy_between(const struct dl_log_summary *t,
                             enum dl_meter_kind kind, int64_t from,
                             int64_t to) {
  const struct dl_energy_curve *c = &t->curve;
  if (c->n == 0 || isnan(t->kind[kind].energy_j))
    return NAN;
  return c->point[dl_energy_curve_at(c, to)].energy_j[kind] -
         c->point[dl_energy_curve_at(c, from)].energy_j[kind];
}

/* Means over the samples after `from` up to `to`. */
static void mean_between(const struct dl_log_summary *t, int64_t from,
                         int64_t to, struct dl_epoch *e) {
  const struct dl_energy_curve *c = &t->curve;
  size_t first = dl_energy_curve_at(c, from) + 1,
         last = dl_energy_curve_at(c, to);
  double power = 0, util = 0, n = 0, n_util = 0;
  for (size_t i = first; i <= last; i++, n++) {
    power += (double)c->point[i].power_w;
    if (isnan(c->point[i].util)) /* no value yet */
      continue;
    util += (double)c->point[i].util;
    n_util++;
  }
  if (n > 0 && !isnan(t->kind[DL_METER_GPU].power_w))
    e->gpu_power_w = power / n;
  if (n_util > 0)
    e->gpu_util = util / n_util;
}

static double sum_of_parts(const struct dl_epoch *e) {
  const double part[] = {e->gpu_energy_j, e->cpu_energy_j, e->ram_energy_j};
  double sum = NAN;
  if (!isnan(e->node_energy_j))
    return e->node_energy_j;
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (!isnan(part[i]))
      sum = isnan(sum) ? part[i] : sum + part[i];
  return sum;
}

static void add_part(struct dl_run *run, const struct dl_log_summary *log,
                     size_t n, enum dl_run_part part, int64_t from,
                     int64_t to) {
  double *energy[DL_N_METER_KINDS];
  struct dl_epoch *e = dl_run_add_epoch(run, part);
  energy[DL_METER_GPU] = &e->gpu_energy_j;
  energy[DL_METER_CPU] = &e->cpu_energy_j;
  energy[DL_METER_RAM] = &e->ram_energy_j;
  energy[DL_METER_NODE] = &e->node_energy_j;
  const struct dl_energy_curve *c = &log->curve;
  int64_t start = c->point[dl_energy_curve_at(c, from)].ns;
  e->start_s = (double)(start - c->point[0].ns) / 1e9;
  e->duration_s =
      (double)(c->point[dl_energy_curve_at(c, to)].ns - start) / 1e9;
  for (int kind = 0; kind < DL_N_METER_KINDS; kind++) {
    const struct dl_log_summary *t =
        dl_measure_find(log, n, (enum dl_meter_kind)kind);
    if (t)
      *energy[kind] = energy_between(t, (enum dl_meter_kind)kind, from, to);
  }
  mean_between(log, from, to, e);
  e->energy_j = sum_of_parts(e);
}

/* Adds the parts of a run: before the epochs, the epochs, after them. The
 * epochs are between the n_epochs + 1 times of `bound`. */
static void add_parts(struct dl_run *run, const struct dl_log_summary *log,
                      size_t n, const int64_t *bound, size_t n_epochs) {
  const struct dl_energy_curve *c = &log->curve;
  int64_t first = c->point[0].ns, last = c->point[c->n - 1].ns;
  int64_t begin = bound[0], end = bound[n_epochs];
  if (dl_energy_curve_at(c, begin) > 0)
    add_part(run, log, n, DL_PART_START, first, begin);
  for (size_t i = 0; i < n_epochs; i++)
    add_part(run, log, n, DL_PART_EPOCH, bound[i], bound[i + 1]);
  if (dl_energy_curve_at(c, end) + 1 < c->n)
    add_part(run, log, n, DL_PART_END, end, last);
}

/* --- epochs from a log of their end times */

/* Whether the trace ends too early to contain an epoch. */
static bool is_behind(const struct dl_energy_curve *c, int64_t begin,
                      int64_t end) {
  int64_t late = end - c->point[c->n - 1].ns;
  return late > DL_MARK_LATE_NS || late > (end - begin) / 2;
}

static void add_given_epochs(struct dl_run *run,
                             const struct dl_log_summary *log, size_t n,
                             const struct dl_log_summary *marked,
                             struct dl_diag *d) {
  const struct dl_energy_curve *c = &log->curve;
  DL_FREED int64_t *bound = dl_calloc(marked->n_marks + 1, sizeof *bound);
  size_t n_epochs = 0;
  char buf[DL_NUMBER_SIZE];
  bound[0] = c->point[0].ns;
  size_t n_before = 0, n_behind = 0;
  for (size_t i = 0; i < marked->n_marks; i++) {
    int64_t begin = bound[n_epochs], end = marked->mark[i];
    if (end <= begin)
      n_before++;
    else if (is_behind(c, begin, end))
      n_behind++;
    else
      bound[++n_epochs] = end;
  }
  if (n_epochs > 0)
    add_parts(run, log, n, bound, n_epochs);
  if (n_before > 0)
    dl_warn(d, "%zu of %zu ends of epochs lie before the trace", n_before,
            marked->n_marks);
  if (n_behind > 0)
    dl_warn(d, "%zu of %zu ends of epochs lie behind the trace", n_behind,
            marked->n_marks);
  if (n_epochs > 0 && bound[n_epochs] > c->point[c->n - 1].ns)
    dl_warn(d, "the trace ends %s before the last epoch does",
            dl_format_duration(
                buf, (double)(bound[n_epochs] - c->point[c->n - 1].ns) * 1e-9));
  dl_run_set_number(run, DL_RUN_epochs, n_epochs > 0 ? (double)n_epochs : NAN);
  dl_run_lend_text(run, DL_RUN_epochs_verdict, n_epochs > 0 ? "given" : NULL);
}

/* --- epochs detected in the signals */

/* GPUs are taken to train separately if there are at least LEAST_TURNS cycles,
 * if the levels at their ends have a negative correlation of at least
 * `turns_apart` (and two standard errors), and if these levels spread by at
 * least `turns_spread` of their mean. */
enum { LEAST_TURNS = 4 };
static const double turns_apart = 0.5, turns_spread = 0.35;

/* Times, powers, utilizations of the GPUs and of their memory, each with room
 * for all points of the curve. Returns how many there are. */
static size_t make_signals(double *signal[4], const struct dl_energy_curve *c) {
  size_t n = 0;
  for (size_t k = 0; k < 4; k++)
    signal[k] = signal[0] + k * c->n;
  for (size_t i = 0; i < c->n; i++) {
    if (i > 0 && c->point[i].ns <= c->point[i - 1].ns)
      continue;
    signal[0][n] = (double)(c->point[i].ns - c->point[0].ns) * 1e-9;
    signal[1][n] = (double)c->point[i].power_w;
    signal[2][n] = (double)c->point[i].util;
    signal[3][n++] = (double)c->point[i].memory_util;
  }
  return n;
}

static void set_cycles(struct dl_run *run, const struct dl_log_summary *log,
                       size_t n, const struct dl_cycles *c) {
  static const char *const verdicts[] = {[DL_CYCLES_NONE] = "none",
                                         [DL_CYCLES_UNSURE] = "unsure",
                                         [DL_CYCLES_SURE] = "sure"};
  dl_run_lend_text(run, DL_RUN_epochs_verdict, verdicts[c->verdict]);
  if (c->n == 0)
    return;
  DL_FREED int64_t *bound = dl_calloc(c->n + 1, sizeof *bound);
  for (size_t i = 0; i <= c->n; i++)
    bound[i] = log->curve.point[0].ns + llround(c->boundary[i] * 1e9);
  add_parts(run, log, n, bound, c->n);
  if (!dl_run_has(run, DL_RUN_epochs))
    dl_run_set_number(run, DL_RUN_epochs, (double)c->n);
  dl_run_set_number(run, DL_RUN_epochs_low, c->n_low);
  dl_run_set_number(run, DL_RUN_epochs_high, c->n_high);
}

/* Mean power of the first GPU (others = 0) or of the other GPUs (1) around the
 * end of a cycle, in a tenth of its length, minus the mean of the whole cycle.
 */
static double end_level(const struct dl_energy_curve *c, const double *bound,
                        int others) {
  double length = bound[1] - bound[0], at = 0, all = 0;
  size_t n_at = 0, n = 0;
  int64_t start = c->point[0].ns;
  size_t i = dl_energy_curve_at(c, start + llround(bound[0] * 1e9));
  for (; i < c->n; i++) {
    double t = (double)(c->point[i].ns - start) * 1e-9 - bound[1];
    double first = (double)c->point[i].first_w;
    double w = others ? (double)c->point[i].power_w - first : first;
    if (t > length / 20)
      break;
    all += w;
    n++;
    if (t > -length / 20) {
      at += w;
      n_at++;
    }
  }
  return n_at > 0 ? at / (double)n_at - all / (double)n : 0;
}

/* Whether the detected cycles end alternately on the first GPU and on the
 * others. If the GPUs train separately, the sum of their powers shows the ends
 * of all their epochs. The first cycle is left out, since it may contain the
 * start. */
static bool take_turns(const struct dl_energy_curve *curve,
                       const struct dl_cycles *c) {
  if (c->n < LEAST_TURNS)
    return false;
  double mean[2] = {0, 0}, square[2] = {0, 0};
  double product = 0, n = (double)c->n - 1;
  for (size_t i = 1; i < c->n; i++)
    for (int k = 0; k < 2; k++)
      mean[k] += end_level(curve, c->boundary + i, k) / n;
  for (size_t i = 1; i < c->n; i++) {
    double off[2];
    for (int k = 0; k < 2; k++) {
      off[k] = end_level(curve, c->boundary + i, k) - mean[k];
      square[k] += off[k] * off[k] / n;
    }
    product += off[0] * off[1] / n;
  }
  double spread = sqrt(square[0]) + sqrt(square[1]);
  return spread > turns_spread * fabs(mean[0] + mean[1]) &&
         product <
             -fmax(turns_apart, 2 / sqrt(n)) * sqrt(square[0] * square[1]);
}

/* Warns about idle times in a training that, according to the user, still runs.
 */
static void warn_of_rests(const char *file, const struct dl_cycles *c,
                          double n_total, struct dl_diag *d) {
  char x[DL_NUMBER_SIZE], y[DL_NUMBER_SIZE];
  if (c->idle_within_s > 0)
    dl_warn_at(
        d, file, 0,
        "no work for %s, %s after the start: if the training began again "
        "from a checkpoint, repeated epochs count twice",
        dl_format_duration(x, c->idle_within_s),
        dl_format_duration(y, c->idle_from_s));
  if (c->idle_after_s > 0 && (double)c->n < n_total)
    dl_warn_at(d, file, 0,
               "no work in the last %s: if the training has ended, give "
               "--epochs its number of epochs",
               dl_format_duration(x, c->idle_after_s));
}

static enum dl_status
add_found_epochs(struct dl_run *run, const struct dl_log_summary *log, size_t n,
                 const struct dl_cycles_options *o, struct dl_diag *d) {
  DL_SCOPED(dl_cycles_free) struct dl_cycles c = {0};
  DL_FREED double *all = dl_calloc(4 * log->curve.n, sizeof *all);
  double *s[4] = {all};
  const struct dl_signals signals = {all, make_signals(s, &log->curve),
                                     (const double *const *)s + 1, 3};
  enum dl_status status = dl_cycles_find(&signals, o, &c, d);
  if (status == DL_OK && log->kind[DL_METER_GPU].n_meters > 1 &&
      take_turns(&log->curve, &c)) {
    c.verdict = DL_CYCLES_UNSURE;
    c.reason =
        "the GPUs take turns: if they train apart, give each its own log";
  }
  if (status == DL_OK)
    set_cycles(run, log, n, &c);
  if (status == DL_OK && c.parts > 1)
    dl_warn_at(d, run->file, 0,
               "number of epochs unsure: each of %zu may be %zu, one of which "
               "takes longer; --epoch-length %.3gs (or %.3gs) decides",
               c.n, c.parts, c.part_s, c.whole_s);
  else if (status == DL_OK && c.verdict != DL_CYCLES_SURE)
    dl_warn_at(d, run->file, 0, "%s: %s",
               c.verdict == DL_CYCLES_NONE ? "no epochs found"
                                           : "number of epochs unsure",
               dl_text_or(c.reason, "weak evidence"));
  if (status == DL_OK && o->n_total > 0)
    warn_of_rests(run->file, &c, o->n_total, d);
  return status;
}

enum dl_status dl_epochs_add(struct dl_run *run,
                             const struct dl_log_summary *log, size_t n,
                             const struct dl_cycles_options *o,
                             struct dl_diag *d) {
  for (size_t i = 0; i < n; i++)
    if (log[i].n_marks > 0) {
      add_given_epochs(run, log, n, &log[i], d);
      return DL_OK;
    }
  return o ? add_found_epochs(run, log, n, o, d) : DL_OK;
}
