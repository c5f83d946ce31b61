/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One meter's readings summed up, in constant memory.
 *
 *   E = sum over i of (P_i + P_(i-1)) / 2 * (t_i - t_(i-1))
 *
 * Over a gap the same is done (bridged: the power is taken to have gone
 * straight from one sample to the other) or nothing is added (cut). Where the
 * device counts its energy itself, the counter's differences are the energy,
 * gaps included; a reset of the counter starts it anew. */

#ifndef DL_LOGS_READINGS_POWER_METER_H
#define DL_LOGS_READINGS_POWER_METER_H

#include "logs/log.h"

struct dl_meter_options {
  double max_gap_s;    /* longer is a gap; 0: ten usual intervals, 10 s at
                          least */
  bool cut_gaps;       /* else they are bridged */
  bool truncate_watts; /* count whole watts only, as paper A's parser does */
};

struct dl_meter;

enum dl_status dl_meter_new(struct dl_meter **m,
                            const struct dl_meter_options *o,
                            struct dl_diag *d);
void dl_meter_free(struct dl_meter *m);

/* What adding a reading found. */
struct dl_meter_event {
  double gap_s; /* > 0: a gap of that length before it */
  bool reset;   /* the energy counter started anew */
};

/* Adds the next reading; times must not decrease. */
struct dl_meter_event dl_meter_add(struct dl_meter *m,
                                   const struct dl_reading *r);

/* J so far: of the counter where there is one, else of the power; 0 before the
 * second reading. */
double dl_meter_energy(const struct dl_meter *m);

struct dl_meter_summary {
  size_t n;       /* readings */
  size_t n_power; /* of them with a power */
  int64_t first_ns, last_ns;
  double energy_j;   /* NaN: neither power nor counter, or one reading only */
  double integral_j; /* of the power; NaN without */
  double counter_j;  /* of the counter; NaN without */
  double power_w;    /* mean over the samples; NaN without */
  double util;       /* mean over the samples; NaN without */
  double idle_w;     /* mean of the samples with utilisation 0; NaN without */
  double peak_w;
  double interval_s; /* median; NaN with one reading */
  double missing;    /* share of the samples, by that interval */
  size_t n_gaps, n_resets, n_repeats;
  double gap_s; /* length of all gaps */
};

void dl_meter_summarise(const struct dl_meter *m, struct dl_meter_summary *s);

#define DL_FAULT_SIZE 64

/* Whether a reading shows what no sensor that works does, and what: "power of
 * -150 W". */
bool dl_meter_fault(char text[DL_FAULT_SIZE], enum dl_meter_kind kind,
                    const struct dl_reading *r);

#endif
