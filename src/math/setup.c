/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/setup.h"

#include <gsl/gsl_errno.h>

#include "config.h"

#ifdef HAVE_OPENBLAS
void openblas_set_num_threads(int n); /* its cblas.h may be another's */
#endif

void dl_math_setup(void) {
  gsl_set_error_handler_off();
#ifdef HAVE_OPENBLAS
  openblas_set_num_threads(1);
#endif
}
