/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of a calibration that may have waited for their input. */

#ifndef DL_CLI_CALIBRATION_LOADER_HELD_H
#define DL_CLI_CALIBRATION_LOADER_HELD_H

#include "estimate/rows.h"

/* Reads a table of runs to its end and counts those without a utilization that
 * the loader which predict assumes may have held up: by the estimate it is
 * slower than the GPUs, and the run was hardly faster than it. Rows with faults
 * are left out. *line: of the first. */
enum dl_status dl_loader_held_find(size_t *n, size_t *line,
                                   const struct dl_model *m,
                                   const struct dl_rows *rows,
                                   struct dl_diag *d);

#endif
