/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a run of the summaries of its logs. */

#ifndef DL_LOGS_READINGS_MEASURE_H
#define DL_LOGS_READINGS_MEASURE_H

#include "logs/readings/log_summary.h"
#include "run/run.h"

/* The columns of the energy and of the mean power of each kind of meter. */
extern const enum dl_run_id dl_energy_column[DL_N_METER_KINDS];
extern const enum dl_run_id dl_power_column[DL_N_METER_KINDS];

/* Sets the measured columns of a run from its n logs, of which the first is the
 * trace. For each kind of meter the first log that has one counts. energy_j is
 * the energy of the node if it was metered, otherwise the sum of the parts;
 * `boundary` states which parts. */
void dl_measure(struct dl_run *run, const struct dl_log_summary *log, size_t n);

/* Sets energy_j, rest_energy_j and boundary from the energies of the parts. */
void dl_measure_boundary(struct dl_run *run);

/* The first log with meters of that kind, or NULL. */
const struct dl_log_summary *dl_measure_find(const struct dl_log_summary *log,
                                             size_t n, enum dl_meter_kind kind);

/* Warns of a meter with the energy of all others of its kind, two or more. */
void dl_measure_doubt_sums(const struct dl_log *log,
                           const struct dl_power_meter *meter, size_t n,
                           struct dl_diag *d);

/* Warns of a meter whose power is always 0, as no device's is. Whether it does
 * not count: a GPU may be a die whose energy another one reports. */
bool dl_measure_is_dead(const struct dl_log *log,
                        const struct dl_meter_info *info,
                        const struct dl_meter_summary *sum, struct dl_diag *d);

/* Warns about what became of the energy counter of a meter. */
void dl_measure_warn_counter(const struct dl_log *log,
                             const struct dl_meter_summary *sum,
                             struct dl_diag *d);

/* Adds a GPU of a log that has a UUID to the devices of the summary. Warns if
 * its energies seem to be those of intervals rather than a counter. */
void dl_measure_gpu(struct dl_log_summary *s, const struct dl_log *log,
                    const struct dl_meter_info *info,
                    const struct dl_power_meter *m,
                    const struct dl_meter_summary *sum, struct dl_diag *d);

#endif
