/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest compare: scores of estimators. */

#ifndef DL_CLI_VIEWS_COMPARE_REPORT_H
#define DL_CLI_VIEWS_COMPARE_REPORT_H

#include "cli/command.h"
#include "estimate/scoring.h"

/* The scores and their settings; all borrowed. Candidate m of model k is at
 * k x methods.n + m of `scores`. */
struct dl_comparison {
  const struct dl_scoring *scores;
  struct dl_strlist tables;
  struct dl_strlist methods;
  struct dl_strlist models; /* files; none: those that ship */
  const char *by;           /* column, or NULL */
  struct dl_resampling how;
  bool details;          /* text shows RMSE, MAE and R2 too */
  const char *held_out;  /* column whose groups were held out, or NULL */
  const char *resampled; /* unit of resampling: "config", "run", a column */
};

/* Makes the report and prints it. */
enum dl_status dl_print_comparison(struct dl_cli *cli,
                                   const struct dl_comparison *c);

#endif
