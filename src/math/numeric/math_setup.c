/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/numeric/math_setup.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <string.h>

#include "config.h"

#ifdef HAVE_OPENBLAS
/* Its cblas.h may be another's. */
void openblas_set_num_threads(int n);
int openblas_get_parallel(void);
char *openblas_get_config(void);
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

#define OPENBLAS_SERIAL 0

void dl_math_setup(void) {
  gsl_set_error_handler_off();
#ifdef HAVE_OPENBLAS
  openblas_set_num_threads(1);
#ifdef _OPENMP
  /* A serial OpenBLAS takes no locks: it may not be called by two threads at
   * the same time. Results are the same for any number of them. */
  if (openblas_get_parallel() == OPENBLAS_SERIAL)
    omp_set_num_threads(1);
#endif
#endif
}

void dl_math_versions(struct dl_text *t) {
  dl_text_printf(t, "GSL %s", gsl_version);
#ifdef HAVE_OPENBLAS
  /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
  const char *config = openblas_get_config();
  if (strncmp(config, "OpenBLAS ", 9) == 0)
    dl_text_printf(t, ", OpenBLAS %.*s", (int)strcspn(config + 9, " "),
                   config + 9);
#endif
}
