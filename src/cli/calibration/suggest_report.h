/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest calibrate --suggest. */

#ifndef DL_CLI_CALIBRATION_SUGGEST_REPORT_H
#define DL_CLI_CALIBRATION_SUGGEST_REPORT_H

#include "cli/calibration/calibration_table.h"
#include "cli/calibration/suggest.h"
#include "estimate/suggestion/suggestion.h"

/* Starts as zero bytes but for `cli` and `o`. */
struct dl_suggesting {
  struct dl_cli *cli;
  const struct dl_calibrate_options *o;
  struct dl_model *m; /* owned */
  struct dl_calibration_table kept;
  struct dl_suggestion_rows rows;
  struct dl_suggestion s;
};

enum dl_status dl_suggest_report(const struct dl_suggesting *w);

#endif
