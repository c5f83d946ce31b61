/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/same_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Devices that are read in turn: their times differ by less than this share of
 * the pause between the rounds. */
enum { NEAR = 10 };

/* Groups are an accident below one in FEW, and in fewer than FEW_MIN. */
enum { FEW = 20, FEW_MIN = 2 };

/* Groups of several devices have one size, at least in ONE_SIZE of them. */
#define ONE_SIZE 0.9
#define SOME_SIZES 0.7

/* These ratios of mean squares decide whether readings resemble the readings at
 * their place in the last group, or their neighbours. Devices differ by more
 * than APART if the size of groups changes, and by STEP at the borders if all
 * of them change at once. */
#define SAME_PLACE 0.7
#define NEIGHBOURS 1.2
#define APART 0.2
#define STEP 3.0

/* Rounds have this share of the groups, and ups and downs that are no accident
 * at so many standard errors. */
#define WHOLE 0.7
#define SURELY 6.0
enum { CYCLE_MIN = 4 };

/* A device is in a log twice if it comes twice so often: where another one is
 * lost or late now and then, that is rare. */
enum { TWICE_MIN = 3, TWICE_FEW = 4 };

static double square(double x) {
  return x * x;
}

/* Notes the difference of a reading to the one before; at: its place in the
 * group. */
static void follow_cycles(struct dl_time_groups *g, size_t at, double value) {
  double difference = value - g->previous;
  for (size_t k = 2; k <= DL_CYCLE_MAX; k++) {
    size_t place = at % k;
    g->cycle_sum[k][place] += difference;
    g->cycle_squares[k] += square(difference);
    g->cycle_n[k][place]++;
  }
}

/* Whether the power goes up and down with the place in rounds of k devices. */
static bool is_cycle(const struct dl_time_groups *g, size_t k) {
  const double *sums = g->cycle_sum[k];
  const size_t *counts = g->cycle_n[k];
  double up = 0, down = 0, sum = 0, places = 0;
  size_t n = 0;
  for (size_t i = 0; i < k; i++) {
    if (counts[i] < CYCLE_MIN)
      return false;
    double mean = sums[i] / (double)counts[i];
    *(mean > 0 ? &up : &down) += fabs(mean);
    places += mean * sums[i];
    sum += sums[i];
    n += counts[i];
  }
  places -= sum * sum / (double)n;
  double rest = (g->cycle_squares[k] - places) / (double)(n - k);
  return (double)g->n_whole[k] >= WHOLE * (double)g->n_groups &&
         fmin(up, down) * 2 > fmax(up, down) &&
         places > square(SURELY) * (double)(k - 1) * rest;
}

/* Compares a finished group with the one before. */
static void end_group(struct dl_time_groups *g) {
  bool several = g->size > 1, same = g->size == g->before;
  g->n_groups++;
  if (g->differs) {
    g->n_several++;
    g->n_near += g->near;
  }
  if (g->before > 0 && (several || g->before > 1)) {
    g->n_compared++;
    g->n_equal += same;
  }
  for (size_t i = 0; same && several && i < g->size && i < DL_GROUP_MAX; i++) {
    g->place += square(g->value[i] - g->last[i]);
    g->n_place++;
  }
  for (size_t k = 2; several && k <= DL_CYCLE_MAX; k++)
    g->n_whole[k] += g->size % k == 0;
  if (same && several && g->size <= DL_GROUP_MAX) {
    g->border += square(g->value[0] - g->last[g->size - 1]);
    g->n_border++;
  }
  g->before = g->size;
  size_t n = g->size < DL_GROUP_MAX ? g->size : DL_GROUP_MAX;
  memcpy(g->last, g->value, n * sizeof *g->last);
}

void dl_time_groups_add(struct dl_time_groups *g, int64_t ns, double value,
                        size_t line) {
  int64_t since = ns - g->ns;
  bool near = g->any && since >= 0 && since < g->step_ns / NEAR;
  if (g->any && (since == 0 || near)) {
    bool differs = value != g->value[0];
    if (differs && !g->differs && g->second_line == 0) {
      g->first_line = g->line;
      g->second_line = line;
    }
    g->differs |= differs;
    g->near |= since != 0;
    if (g->size < DL_GROUP_MAX) {
      g->within += square(value - g->value[g->size - 1]);
      g->n_within++;
      g->value[g->size] = value;
    }
    follow_cycles(g, g->size++, value);
    g->previous = value;
    return;
  }
  if (g->any)
    end_group(g);
  if (g->any && g->size > 1 && since < 2 * g->step_ns)
    follow_cycles(g, 0, value);
  if (g->any && since > 0 && (g->step_ns == 0 || since < 2 * g->step_ns))
    g->step_ns = since; /* a gap changes nothing */
  g->any = true;
  g->differs = g->near = false;
  g->ns = ns;
  g->size = 1;
  g->value[0] = g->previous = value;
  g->line = line;
}

enum dl_devices dl_time_groups_judge(const struct dl_time_groups *at) {
  struct dl_time_groups g = *at;
  if (g.any)
    end_group(&g);
  if (g.n_several < FEW_MIN || g.n_several * FEW < g.n_groups || g.within == 0)
    return DL_ONE_DEVICE;
  for (size_t k = 2; k <= DL_CYCLE_MAX; k++)
    if (is_cycle(&g, k))
      return DL_SEVERAL_DEVICES;
  if (g.n_border * 2 < g.n_several || g.n_border == 0)
    return DL_ONE_DEVICE;
  double within = g.within / (double)g.n_within;
  double border = g.border / (double)g.n_border;
  double place = g.place / (double)g.n_place;
  double same = (double)g.n_equal / (double)g.n_compared;
  double doubt = 1 + sqrt(2 / (double)g.n_border); /* of a mean square */
  if (place < (same < SOME_SIZES ? APART : SAME_PLACE) * within ||
      (border > STEP * within && border > SAME_PLACE * place))
    return DL_SEVERAL_DEVICES;
  bool smooth =
      place > NEIGHBOURS * within && border < sqrt(within * place) * doubt;
  /* at times that differ, a sampling of one device may be so uneven */
  return smooth || same < ONE_SIZE || g.n_near > 0 ? DL_ONE_DEVICE
                                                   : DL_UNCLEAR_DEVICES;
}

void dl_time_groups_add_reading(struct dl_time_groups *g,
                                const struct dl_reading *r) {
  double value = isnan(r->power_w) ? r->energy_j : r->power_w;
  if (!isnan(value))
    dl_time_groups_add(g, r->ns, value, r->line);
}

/* Checks a log without times. */
static enum dl_status check_rounds(const struct dl_log *log,
                                   struct dl_diag *d) {
  const struct dl_rounds *r = &log->rounds;
  return r->n_twice < TWICE_MIN || r->n_twice * TWICE_FEW < r->round
             ? DL_OK
             : dl_fail_at(d, DL_EINPUT, log->path, 0,
                          "device %zu comes twice in one round, again and "
                          "again: several devices under one name; make one "
                          "log of each node",
                          r->twice);
}

enum dl_status dl_time_groups_check(const struct dl_time_groups *all, size_t n,
                                    const struct dl_log *log,
                                    struct dl_diag *d) {
  static const char *const kinds[] = {[DL_METER_GPU] = "GPU",
                                      [DL_METER_CPU] = "CPU",
                                      [DL_METER_RAM] = "memory",
                                      [DL_METER_NODE] = "node",
                                      [DL_METER_EPOCH] = "epoch"};
  DL_TRY(check_rounds(log, d));
  for (size_t i = 0; i < n && !log->taken_for_one; i++) {
    const struct dl_time_groups *g = &all[i];
    const struct dl_meter_info *m = &log->meter[i];
    if (dl_time_groups_judge(g) != DL_ONE_DEVICE)
      return dl_fail_at(
          d, DL_EINPUT, log->path, g->second_line,
          "two readings of %s '%s' at one time, this one and that of line "
          "%zu, again and again: several devices under one name; log a column "
          "that distinguishes them, such as a hostname, index or uuid, or, if "
          "it is one device, times with fractions of a second",
          kinds[m->kind], dl_text_or(m->id, ""), g->first_line);
  }
  return DL_OK;
}
