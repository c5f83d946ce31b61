/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Warnings about the estimates of one job. */

#ifndef DL_CLI_PASSES_PREDICT_WARNINGS_H
#define DL_CLI_PASSES_PREDICT_WARNINGS_H

#include "cli/passes/write_results.h"
#include "cli/views/summary/predict_summary.h"

/* Warns of what methods lack, of rules that the job breaks, and of settings
 * without an effect. Errors: no method has an estimate. */
enum dl_status dl_predict_warn(struct dl_cli *cli,
                               const struct dl_predict_answer *s,
                               const struct dl_predict_options *o,
                               struct dl_row_plan *f);

#endif
