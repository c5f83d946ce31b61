/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest predict with lists: every combination, as a stream. */

#ifndef DL_CLI_PASSES_PREDICT_SWEEP_H
#define DL_CLI_PASSES_PREDICT_SWEEP_H

#include "cli/passes/predict_batch.h"

/* One row a combination of o->job.axes and method, the last axis running
 * fastest. Memory does not grow with the number of rows, and they are the same
 * for any number of threads. */
enum dl_status dl_predict_sweep(struct dl_cli *cli,
                                const struct dl_predict_options *o,
                                const struct dl_model *m, struct dl_frame *f);

#endif
