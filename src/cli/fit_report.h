/* What dlest fit prints about a fit. */

#ifndef DL_CLI_FIT_REPORT_H
#define DL_CLI_FIT_REPORT_H

#include "model/train.h"
#include "output/report.h"

/* Adds one item to the list "fits" of r. `tried` names the candidates of an
 * automatic choice, best first; empty without one. */
void dl_report_fit(struct dl_report *r, const struct dl_fit *fit,
                   const struct dl_cv *cv, const struct dl_cv_spec *spec,
                   const struct dl_strlist *tried);

#endif
