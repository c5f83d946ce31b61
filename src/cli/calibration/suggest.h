/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest calibrate --suggest: which run to measure. */

#ifndef DL_CLI_CALIBRATION_SUGGEST_H
#define DL_CLI_CALIBRATION_SUGGEST_H

#include "cli/command.h"
#include "cli/options/job_options.h"

struct dl_calibrate_options {
  struct dl_job_options job; /* --set, --define, --alias */
  const char *model;
  bool suggest;
  bool all;
};

/* Reads the command's table of configurations, and prints which to measure. */
enum dl_status dl_suggest_runs(struct dl_cli *cli,
                               const struct dl_calibrate_options *o);

#endif
