/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds meters that stand for several devices: again and again they have two
 * readings at one time, which no device has.
 *
 * The readings of one time are a group. One device sampled faster than its
 * clock shows (ten times per second, with times of whole seconds) has groups
 * too. Then the power continues smoothly within a group and from one group to
 * the next, whereas each of several devices continues at its place in the next
 * group. Compared are the mean squares of the differences between neighbours
 * within groups, between the neighbours at a border of groups, and between
 * readings at equal places of two groups. A group may have several rounds of k
 * devices: then the power goes up and down with the place in the round, alike
 * in each round. */

#ifndef DL_LOGS_READINGS_SAME_TIMES_H
#define DL_LOGS_READINGS_SAME_TIMES_H

#include "logs/log.h"

/* Places in a group that are compared. */
enum { DL_GROUP_MAX = 32 };

/* Devices in a round at most, if a group has several rounds. */
enum { DL_CYCLE_MAX = 8 };

/* Groups of one meter; starts as zero bytes. */
struct dl_time_groups {
  int64_t ns, step_ns; /* of the group, between the last two */
  size_t size, before; /* readings of the group and of the last one */
  double value[DL_GROUP_MAX], last[DL_GROUP_MAX];
  bool any, differs, near; /* differs: its values do; near: its times too */
  size_t line, first_line, second_line; /* of the first two that differ */
  size_t n_groups, n_several; /* groups, and groups with different values */
  size_t n_near;              /* of them, whose times differ a little */
  size_t n_compared,
      n_equal; /* pairs of consecutive groups, and pairs of equal size */
  double within, border, place; /* sums of squares */
  size_t n_within, n_border, n_place;
  double previous; /* reading */
  /* Differences to the reading before, by the length k of a round and the
   * place in it: their sums and numbers; by k alone, the sums of their squares,
   * and the number of groups of whole rounds. */
  double cycle_sum[DL_CYCLE_MAX + 1][DL_CYCLE_MAX];
  size_t cycle_n[DL_CYCLE_MAX + 1][DL_CYCLE_MAX];
  double cycle_squares[DL_CYCLE_MAX + 1];
  size_t n_whole[DL_CYCLE_MAX + 1];
};

enum dl_devices { DL_ONE_DEVICE, DL_SEVERAL_DEVICES, DL_UNCLEAR_DEVICES };

/* Adds a reading, by its time in the log. */
void dl_time_groups_add(struct dl_time_groups *g, int64_t ns, double value,
                        size_t line);

/* Judges the groups after the last reading. */
enum dl_devices dl_time_groups_judge(const struct dl_time_groups *g);

/* Adds a reading to the groups of its meter. */
void dl_time_groups_add_reading(struct dl_time_groups *g,
                                const struct dl_reading *r);

/* After the last reading: DL_EINPUT if one of the first n meters of a log, with
 * these groups, stands for several devices. */
enum dl_status dl_time_groups_check(const struct dl_time_groups *g, size_t n,
                                    const struct dl_log *log,
                                    struct dl_diag *d);

#endif
