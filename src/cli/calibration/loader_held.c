/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/calibration/loader_held.h"

#include <math.h>

#include "base/memory.h"

/* A run that takes less of the time of the loader was not held up. */
static const double least_share = 0.8;

/* The runs that were found. */
struct held_runs {
  size_t n, line; /* line: of the first */
};

static enum dl_status count_held(void *ctx, size_t part,
                                 const struct dl_result *r, struct dl_diag *d) {
  struct held_runs *to = ctx;
  const struct dl_run *run = r->job.run;
  (void)part, (void)d;
  if (!isnan(run->gpu_util) || !r->est[0].loader_assumed ||
      run->epoch_s < least_share * r->predictions.parts.input_s)
    return DL_OK;
  if (to->n++ == 0)
    to->line = r->line;
  return DL_OK;
}

enum dl_status dl_loader_held_find(size_t *n, size_t *line,
                                   const struct dl_model *m,
                                   const struct dl_rows *rows,
                                   struct dl_diag *d) {
  DL_SCOPED(dl_engine_free_local) struct dl_engine *e = NULL;
  struct held_runs to = {0, 0};
  const struct dl_row_sink sink = {.ctx = &to, .row = count_held};
  DL_TRY(dl_engine_new(&e, rows->f, m, "physical", 0.9, d));
  e->fields.known = 0;
  enum dl_status status = dl_rows_each(rows, e, &sink, d);
  *n = to.n;
  *line = to.line;
  return status;
}
