/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads auxiliary training data for dlest fit. */

#include "cli/passes/fit_auxiliary.h"

#include <string.h>

#include "catalog/datadir.h"
#include "model/training/auxiliary_rows.h"
#include "physics/training/training_cost.h"

static enum dl_status read_more(struct dl_cli *cli, struct dl_training *more,
                                const char *path) {
  struct dl_diag *d = &cli->diag;
  DL_SCOPED(dl_plan_free_local)
  struct dl_row_plan *f = dl_plan_new(dl_cli_catalog(cli));
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  DL_SCOPED(dl_strlist_free) struct dl_strlist groups = {0};
  dl_strlist_add(&groups, "arch");
  dl_strlist_add(&groups, "gpu");
  dl_training_want_physics(more, &dl_training_physics, false);
  DL_TRY(dl_csv_open(&csv, path, 0, d));
  dl_plan_columns(f, csv);
  return dl_training_read(more, csv, f, &groups, NULL, d);
}

enum dl_status dl_fit_learn_from(struct dl_cli *cli, struct dl_training *t,
                                 struct dl_training *more, const char *path) {
  DL_TEXT(shipped);
  if (path && strcmp(path, "none") == 0)
    return DL_OK;
  if (!path)
    DL_TRY(dl_shipped_path("data/training-means.csv", &shipped, &cli->diag));
  DL_TRY(read_more(cli, more, path ? path : shipped.s));
  dl_training_use_auxiliary(t, more);
  return DL_OK;
}
