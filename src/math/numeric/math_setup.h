/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One-time setup of the numerical libraries. */

#ifndef DL_MATH_NUMERIC_MATH_SETUP_H
#define DL_MATH_NUMERIC_MATH_SETUP_H

#include "base/text.h"

/* Turns off GSL's error handler, which aborts: every status is looked at; and
 * the threads of OpenBLAS, for dlest spreads the work itself. Programs that
 * call it use OpenBLAS for products of matrices where it is installed, others
 * GSL's own BLAS. */
void dl_math_setup(void);

/* Appends "GSL 2.7.1, OpenBLAS 0.3.21" (without OpenBLAS: GSL alone), of the
 * libraries that are running. Loads OpenBLAS. */
void dl_math_versions(struct dl_text *t);

#endif
