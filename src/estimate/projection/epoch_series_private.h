/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What seen.c and seen_table.c share. */

#ifndef DL_ESTIMATE_PROJECTION_EPOCH_SERIES_PRIVATE_H
#define DL_ESTIMATE_PROJECTION_EPOCH_SERIES_PRIVATE_H

#include "estimate/projection/epoch_series.h"

/* Appends an epoch; false: out of memory. */
bool dl_seen_add(struct dl_seen *s, double duration_s, double energy_j,
                 double power_w);

#endif
