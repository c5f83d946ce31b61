/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spans of a log in which its devices work, between idle times. */

#ifndef DL_LOGS_EPOCHS_BUSY_SPANS_H
#define DL_LOGS_EPOCHS_BUSY_SPANS_H

#include "logs/readings/energy_curve.h"
#include "logs/readings/gaps.h"

/* Finds the spans between times of `idle_s` or longer in which the power stays
 * in the lowest quarter of its range. Returns their number, and the owned spans
 * in *spans, each from its first to its last point. One span where the power
 * hardly varies. A time without samples is idle, too. */
size_t dl_busy_spans(const struct dl_energy_curve *c, double idle_s,
                     struct dl_time_span **spans);

#endif
