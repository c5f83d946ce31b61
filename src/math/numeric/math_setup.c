/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Setup of the numerical libraries, and the BLAS behind GSL.
 *
 * dlest is linked with GSL's own BLAS. OpenBLAS, where it is installed, takes
 * the place of its matrix products when the first one is needed: loading it
 * costs a start 3 to 40 ms, and most commands multiply no matrices. The
 * functions below stand before their namesakes in libgslcblas. */

#include "math/numeric/math_setup.h"

#include <dlfcn.h>
#include <gsl/gsl_cblas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/portable.h"

static char blas_version[64]; /* "0.3.21"; "" without OpenBLAS */

#define OPENBLAS "libopenblas.so.0"
enum { SERIAL = 0 }; /* openblas_get_parallel() */

/* GSL's own handler aborts. Every status is looked at, but few results of its
 * allocations are. */
static void on_error(const char *reason, const char *file, int line,
                     int gsl_errno) {
  (void)reason, (void)file, (void)line;
  if (gsl_errno == GSL_ENOMEM)
    dl_end_without_memory();
}

void dl_math_setup(void) {
  gsl_set_error_handler(on_error);
  /* Read when OpenBLAS is loaded: it then starts no threads. */
  setenv("OPENBLAS_NUM_THREADS", "1", true);
}

#ifndef DL_OWN_BLAS
/* The functions of level 3 behind Cholesky factorisations and triangular
 * products; GSL's where OpenBLAS is not at hand. */
static void (*blas_dgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE,
                          enum CBLAS_TRANSPOSE, int, int, int, double,
                          const double *, int, const double *, int, double,
                          double *, int);
static void (*blas_dsyrk)(enum CBLAS_ORDER, enum CBLAS_UPLO,
                          enum CBLAS_TRANSPOSE, int, int, double,
                          const double *, int, double, double *, int);
static void (*blas_dtrmm)(enum CBLAS_ORDER, enum CBLAS_SIDE, enum CBLAS_UPLO,
                          enum CBLAS_TRANSPOSE, enum CBLAS_DIAG, int, int,
                          double, const double *, int, double *, int);
static void (*blas_dtrsm)(enum CBLAS_ORDER, enum CBLAS_SIDE, enum CBLAS_UPLO,
                          enum CBLAS_TRANSPOSE, enum CBLAS_DIAG, int, int,
                          double, const double *, int, double *, int);

static void find(void *library, const char *name, void *to) {
  void *f = library ? dlsym(library, name) : NULL;
  if (!f)
    f = dl_next_symbol(name);
  memcpy(to, &f, sizeof f); /* C has no conversion to a function */
}

/* OpenBLAS tries for ever to get memory that a limit denies. */
static bool memory_is_limited(void) {
  struct rlimit limit;
  return (getrlimit(RLIMIT_AS, &limit) == 0 &&
          limit.rlim_cur != RLIM_INFINITY) ||
         (getrlimit(RLIMIT_DATA, &limit) == 0 &&
          limit.rlim_cur != RLIM_INFINITY);
}

static void load(void) {
  int (*parallel)(void) = NULL;
  char *(*config)(void) = NULL;
  void *library = memory_is_limited() ? NULL : dl_load_library(OPENBLAS);
  if (library) {
    find(library, "openblas_get_parallel", &parallel);
    find(library, "openblas_get_config", &config);
  }
  /* A serial OpenBLAS takes no locks: folds that are worked on at once would
   * break each other's factorisations. */
  if (!parallel || parallel() == SERIAL)
    library = NULL;
  find(library, "cblas_dgemm", &blas_dgemm);
  find(library, "cblas_dsyrk", &blas_dsyrk);
  find(library, "cblas_dtrmm", &blas_dtrmm);
  find(library, "cblas_dtrsm", &blas_dtrsm);
  /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
  const char *says = library && config ? config() : "";
  if (strncmp(says, "OpenBLAS ", 9) == 0)
    snprintf(blas_version, sizeof blas_version, "%.*s",
             (int)strcspn(says + 9, " "), says + 9);
}

static void need_blas(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
}

void cblas_dgemm(const enum CBLAS_ORDER order,
                 const enum CBLAS_TRANSPOSE trans_a,
                 const enum CBLAS_TRANSPOSE trans_b, const int m, const int n,
                 const int k, const double alpha, const double *A,
                 const int lda, const double *B, const int ldb,
                 const double beta, double *C, const int ldc) {
  need_blas();
  blas_dgemm(order, trans_a, trans_b, m, n, k, alpha, A, lda, B, ldb, beta, C,
             ldc);
}

void cblas_dsyrk(const enum CBLAS_ORDER order, const enum CBLAS_UPLO uplo,
                 const enum CBLAS_TRANSPOSE trans, const int n, const int k,
                 const double alpha, const double *A, const int lda,
                 const double beta, double *C, const int ldc) {
  need_blas();
  blas_dsyrk(order, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}

void cblas_dtrmm(const enum CBLAS_ORDER order, const enum CBLAS_SIDE side,
                 const enum CBLAS_UPLO uplo, const enum CBLAS_TRANSPOSE trans,
                 const enum CBLAS_DIAG diag, const int m, const int n,
                 const double alpha, const double *A, const int lda, double *B,
                 const int ldb) {
  need_blas();
  blas_dtrmm(order, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);
}

void cblas_dtrsm(const enum CBLAS_ORDER order, const enum CBLAS_SIDE side,
                 const enum CBLAS_UPLO uplo, const enum CBLAS_TRANSPOSE trans,
                 const enum CBLAS_DIAG diag, const int m, const int n,
                 const double alpha, const double *A, const int lda, double *B,
                 const int ldb) {
  need_blas();
  blas_dtrsm(order, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);
}

#else
static void need_blas(void) {
}
#endif

void dl_math_versions(struct dl_text *t) {
  need_blas();
  dl_text_printf(t, "GSL %s", gsl_version);
  if (*blas_version)
    dl_text_printf(t, ", OpenBLAS %s", blas_version);
  else
    dl_text_add(t, ", BLAS of GSL (no threaded " OPENBLAS ": fits are slow)");
}
