/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest calibrate --suggest. */

#ifndef DL_CLI_CALIBRATION_SUGGEST_REPORT_H
#define DL_CLI_CALIBRATION_SUGGEST_REPORT_H

#include "cli/calibration/suggest.h"
#include "estimate/suggestion/suggestion.h"

enum dl_status dl_suggest_report(struct dl_cli *cli,
                                 const struct dl_calibrate_options *o,
                                 const struct dl_suggestion_rows *rows,
                                 const struct dl_suggestion *s);

#endif
