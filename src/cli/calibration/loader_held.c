/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/calibration/loader_held.h"

#include <math.h>

#include "base/memory.h"
#include "estimate/session.h"

/* A run that takes less of the time of the loader was not held up. */
static const double least_share = 0.8;

static bool may_wait(const struct dl_session *s, const struct dl_row *row,
                     struct dl_diag *d) {
  struct dl_job_predictions p;
  struct dl_estimate est;
  struct dl_job job;
  return row->fault.kind == DL_FAULT_NONE && isnan(row->run.gpu_util) &&
         dl_session_row(s, row, &job, &p, &est, d) == DL_OK &&
         est.loader_assumed &&
         !(row->run.epoch_s < least_share * p.parts.input_s);
}

enum dl_status dl_loader_held_find(size_t *n, size_t *line,
                                   const struct dl_model *m, struct dl_frame *f,
                                   struct dl_csv *csv, struct dl_diag *d) {
  DL_SCOPED(dl_session_free_local) struct dl_session *s = NULL;
  const struct dl_csv_block *block;
  *n = *line = 0;
  DL_TRY(dl_session_new(&s, f, m, "physical", 0.9, d));
  s->fields.known = 0;
  do {
    DL_TRY(dl_frame_next(f, csv, &block, d));
    for (size_t i = 0; block && i < block->n_rows; i++) {
      if (!may_wait(s, dl_frame_row(f, i), d))
        continue;
      if ((*n)++ == 0)
        *line = block->line[i];
    }
  } while (block);
  return DL_OK;
}
