/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of a calibration that may have waited for their input. */

#ifndef DL_CLI_CALIBRATION_WAITS_H
#define DL_CLI_CALIBRATION_WAITS_H

#include "estimate/rows.h"

struct dl_waits {
  size_t n, line; /* runs, and the line of the first */
};

/* Reads a table of runs to its end and counts those without a utilization that
 * the loader which predict assumes may have held up: by the estimate it is
 * slower than the GPUs, and the run was hardly faster than it. Rows with faults
 * are left out. */
enum dl_status dl_find_waits(struct dl_waits *to, const struct dl_model *m,
                             const struct dl_rows *rows, struct dl_diag *d);

#endif
