/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integrates the readings of one meter, in constant memory.
 *
 *   E = sum over i of (P_i + P_(i-1)) / 2 * (t_i - t_(i-1))
 *
 * A gap is either bridged (this formula applies: the power is assumed to change
 * linearly from one sample to the next) or cut (it adds no energy). If the
 * device has an energy counter, the energy is the sum of the counter's
 * differences, gaps included; where it was reset or wrapped around, the power
 * before is carried on. Where it stands still or is missing for longer than ten
 * of its usual steps (and 10 s), while the device takes power, the power is
 * integrated. So are the parts of steps at both ends of a coarse
 * counter, which stands still between most of its readings. */

#ifndef DL_LOGS_READINGS_POWER_METER_H
#define DL_LOGS_READINGS_POWER_METER_H

#include "logs/importers/importer.h"
#include "logs/readings/gaps.h"

struct dl_meter_options {
  double max_gap_s;    /* a longer interval is a gap; 0: ten usual intervals,
                          at least 10 s */
  bool cut_gaps;       /* otherwise they are bridged, */
  bool bridge_gaps;    /* those between two parts of a log (gaps.h), too */
  bool truncate_watts; /* use whole watts only, as the parser of del Rey et al.
                          2024 does */
  bool assumed_times;  /* the log has no times */
  double usual_ns;     /* usual interval of the readings that follow, by which
                          the first interval is judged; 0: unknown */
};

/* Histogram of the intervals between samples: 32 bins per octave, starting at
 * 1 us. */
enum { DL_METER_BINS = 32 * 48 };

/* Fields are set by power_meter.c alone. */
struct dl_power_meter {
  struct dl_meter_options o;
  size_t n, n_power, n_util, n_gaps, n_resets, n_repeats;
  double power_sum_w, util_sum;
  size_t n_idle, n_busy, n_pause; /* samples before the first and after the last
                                     use, in use, since the last use */
  double idle_sum_w, busy_sum_w, pause_sum_w;
  int64_t first_ns, last_ns;
  int64_t first_valued_ns, valued_ns; /* first and last reading with a value */
  size_t n_valued;                    /* readings with a value */
  double integral_j, peak_w, gap_s;
  double power_w; /* last power (NaN: none yet), and its time */
  int64_t power_ns;
  double last_util;               /* last utilization; NaN: none yet */
  double counter_j, counter_last; /* counter_last is NaN without a counter */
  double counter_first;
  double counter_w;      /* its power before counter_ns */
  bool counter_restarts; /* its next reading adds nothing */
  int64_t counter_ns;
  /* The time when the counter moved last, its usual step (0: unknown), and the
   * integrals of the power up to then and up to the counter's last reading. */
  int64_t moved_ns;
  size_t moved_n_power;
  double step_ns, moved_integral_j, read_integral_j;
  size_t n_moves, n_still; /* readings of the counter that differ from those
                              before, and those that do not, at a later time */
  double first_step_j; /* the power's energy up to the first, less its step */
  double least_move_j;
  double stand_in_j, stand_in_s; /* of the power, in place of the counter */
  size_t n_steps, n_like_power;  /* readings of the counter, and those that are
                                    the energy of the interval before */
  double usual_ns;               /* running estimate of the median interval */
  uint64_t bin_n[DL_METER_BINS]; /* the histogram: intervals, their sum */
  double bin_sum_ns[DL_METER_BINS];
};

void dl_power_meter_init(struct dl_power_meter *m,
                         const struct dl_meter_options *o);

/* Adds the next reading; times must not decrease. Returns the length of the gap
 * before the reading, s; 0: there is none. A reset of the energy counter
 * increases m->n_resets. */
double dl_power_meter_add(struct dl_power_meter *m, const struct dl_reading *r);

/* Ignores the energy that the counter counts until its next reading, since it
 * does not belong to the run. */
void dl_power_meter_restart(struct dl_power_meter *m);

/* Energy so far, J: from the counter if there is one, and from the power where
 * it fails; otherwise from the power; 0 before the second reading. */
double dl_power_meter_energy(const struct dl_power_meter *m);

/* One meter, or all of one kind together. NaN: unknown. */
struct dl_kind_total {
  size_t n_meters;
  double energy_j;       /* of the counter, else of the power; NaN with neither,
                            or one reading */
  double integral_j;     /* of the power */
  double counter_j;      /* of the counter, and of the power where it fails */
  double power_w;        /* mean over the samples; sum of the meters */
  double util;           /* mean over samples and meters */
  double idle_w, peak_w; /* idle (gpu_idle_w of dlest(1)), and the most; of all
                            together */
  double limit_w;        /* sum */
};

/* A kind without meters. */
extern const struct dl_kind_total dl_kind_unknown;

/* Adds meters of one kind. Their common peak power becomes unknown. */
void dl_kind_add(struct dl_kind_total *to, const struct dl_kind_total *from);

struct dl_meter_summary {
  struct dl_kind_total total;
  double interval_s;    /* median; NaN with one reading */
  double missing;       /* share of samples missing, given that interval */
  double stand_in_s;    /* time in which the power stands in for the counter */
  double coarse_step_j; /* of a coarse counter without a power that divides its
                           steps, if it is large; 0 */
  bool seldom_read; /* a counter without a power, so seldom that its readings
                       may be the energies of runs */
  const char *no_counter; /* why the energies of the readings, which are none
                             of a counter, were not used; NULL: they were */
};

struct dl_meter_summary dl_power_meter_summarise(const struct dl_power_meter *m,
                                                 double limit_w);

/* Whether the counter of a GPU, without a power beside it, rises by so little
 * from where it begins that its numbers are rather the energies of intervals:
 * read as those, the GPU takes a usual power, and else next to none. */
bool dl_power_meter_hardly_rises(const struct dl_power_meter *m,
                                 const struct dl_meter_summary *sum);

#define DL_FAULT_SIZE 64

/* Whether a reading is impossible for a working sensor; `text` then describes
 * the fault: "power of -150 W". */
bool dl_reading_fault(char text[DL_FAULT_SIZE], enum dl_meter_kind kind,
                      const struct dl_reading *r);

#endif
