/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest fit. */

#ifndef DL_CLI_VIEWS_FIT_REPORT_H
#define DL_CLI_VIEWS_FIT_REPORT_H

#include "model/fitting/model_selection.h"
#include "base/text.h"
#include "output/report.h"

/* The table of the fits that CSV shows, one row per fit with pooled scores;
 * owned by r. */
struct dl_table *dl_report_fits(struct dl_report *r);

/* The reports that fits are added to. Programs get everything; people get a
 * table of errors, coefficients of linear fits and, with `details`, all scores,
 * constants, hyper-parameters, folds and residuals. */
struct dl_fit_view {
  struct dl_report *r;
  struct dl_table *fits, *answers; /* of r */
  bool details;
  struct dl_text choice; /* of the last fit, dl_fit_choice(); owned */
};

/* Adds one item to the list "fits" and its rows to the tables. `tried`: the
 * candidates of an automatic choice; none without one. */
void dl_report_fit(struct dl_fit_view *view, const struct dl_fit *fit,
                   const struct dl_cv *cv, const struct dl_cv_spec *spec,
                   const struct dl_trials *tried);

#endif
