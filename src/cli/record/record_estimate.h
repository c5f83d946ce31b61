/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What dlest predict says of a run that was recorded. */

#ifndef DL_CLI_RECORD_RECORD_ESTIMATE_H
#define DL_CLI_RECORD_RECORD_ESTIMATE_H

#include "base/interval.h"
#include "cli/command.h"
#include "run/run.h"

/* Of the GPUs alone; NaN where unknown. */
struct dl_record_estimate {
  const char *method; /* the recommended one; NULL: none */
  struct dl_interval energy_j;
  double duration_s;
  const char *lacks; /* why there is none: a quantity of the run; or NULL */
};

/* Estimates a run by its settings, without what was measured. Nothing where
 * architecture, GPU, epochs or samples are unknown. */
enum dl_status dl_record_estimate(struct dl_cli *cli, const struct dl_run *run,
                                  struct dl_record_estimate *e);

#endif
