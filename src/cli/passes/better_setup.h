/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set-up of a job that takes less energy than the one that was given. */

#ifndef DL_CLI_PASSES_BETTER_SETUP_H
#define DL_CLI_PASSES_BETTER_SETUP_H

#include "cli/passes/write_results.h"

/* Appends "AMP in place of TF32: 6.9 kWh, 20 h": other set-ups of the job of
 * the options, estimated by the same method, whose energy is lower by a tenth
 * or more than that of `r`. Appends nothing for a job whose time is known, on
 * CPUs, or in a node. */
void dl_better_setups(struct dl_text *t, const struct dl_predict_options *o,
                      struct dl_catalog *catalog, const struct dl_model *m,
                      const struct dl_result *r);

#endif
