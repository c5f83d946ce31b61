/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of a calibration that may have waited for their input. */

#ifndef DL_CLI_CALIBRATION_LOADER_HELD_H
#define DL_CLI_CALIBRATION_LOADER_HELD_H

#include "model/model.h"
#include "run/frame.h"

/* Reads a table of runs to its end through a frame, whose columns it is, and
 * counts those without a utilization that the loader which predict assumes may
 * have held up: by the estimate it is slower than the GPUs, and the run was
 * hardly faster than it. Rows with faults are left out. *line: of the first. */
enum dl_status dl_loader_held_find(size_t *n, size_t *line,
                                   const struct dl_model *m, struct dl_frame *f,
                                   struct dl_csv *csv, struct dl_diag *d);

#endif
