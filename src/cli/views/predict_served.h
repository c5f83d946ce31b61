/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What dlest predict says of inference by the physical method. */

#ifndef DL_CLI_VIEWS_PREDICT_SERVED_H
#define DL_CLI_VIEWS_PREDICT_SERVED_H

#include "estimate/predictions.h"
#include "output/report.h"

/* Prefill, decode and idling apart, by request and by token; how many requests
 * can be served and what binds, with `explain` where the time goes. Nothing
 * where the method says nothing. */
void dl_predict_served(struct dl_report *r, const struct dl_job *job,
                       const struct dl_served *s, bool explain);

#endif
