/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run from the tracks of its logs. */

#ifndef DL_LOGS_READINGS_MEASURE_H
#define DL_LOGS_READINGS_MEASURE_H

#include "logs/readings/log_summary.h"
#include "run/run.h"

/* Fills in what the n tracks of one run measured; the first is the trace. Of
 * each kind of meter the first track that has it counts. energy_j is that of
 * the node where it was metered, else the sum of the parts; `boundary` says of
 * which. */
void dl_measure(struct dl_run *run, const struct dl_track *track, size_t n);

/* Sets energy_j, rest_energy_j and boundary from the energies of the parts. */
void dl_measure_boundary(struct dl_run *run);

/* The track with meters of that kind, or NULL. */
const struct dl_track *dl_measure_track(const struct dl_track *track, size_t n,
                                        enum dl_meter_kind kind);

#endif
