/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest fit. */

#ifndef DL_CLI_VIEWS_FIT_REPORT_H
#define DL_CLI_VIEWS_FIT_REPORT_H

#include "model/fitting/train.h"
#include "output/report.h"

/* The table of the fits that CSV shows, one row per fit with pooled scores;
 * owned by r. */
struct dl_table *dl_report_fits(struct dl_report *r);

/* Where fits are reported. Programs get everything; people get constants,
 * hyper-parameters, folds and residuals only with `details`. */
struct dl_fit_view {
  struct dl_report *r;
  struct dl_table *fits; /* of r */
  bool details;
};

/* Adds one item to the list "fits" and its row to the table. `tried` names the
 * candidates of an automatic choice, best first; empty without one. */
void dl_report_fit(const struct dl_fit_view *view, const struct dl_fit *fit,
                   const struct dl_cv *cv, const struct dl_cv_spec *spec,
                   const struct dl_strlist *tried);

#endif
