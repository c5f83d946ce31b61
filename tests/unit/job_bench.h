/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job of one GPU, for tests of what follows from it. */

#ifndef DL_TESTS_JOB_BENCH_H
#define DL_TESTS_JOB_BENCH_H

#include "catalog/architecture/layer_shapes.h"
#include "catalog/architecture/scaling.h"
#include "estimate/job.h"
#include "unit.h"

struct bench {
  struct dl_diag d;
  struct dl_shapes shapes;
  struct dl_architecture arch;
  struct dl_accelerator gpu;
  struct dl_run run;
  struct dl_job job; /* to be set */
};

/* Descriptors without values. */
static UNUSED struct bench *new_bench(void) {
  struct bench *x = calloc(1, sizeof *x);

  assert_non_null(x);
  dl_descriptor_init(&x->gpu.head, DL_ACCELERATOR);
  dl_descriptor_init(&x->arch.head, DL_ARCHITECTURE);
  x->run = dl_run_unknown;
  x->run.n_gpus = 1;
  return x;
}

static UNUSED int finish(void **state) {
  struct bench *x = *state;

  dl_shapes_free(&x->shapes);
  dl_diag_free(&x->d);
  free(x);
  return 0;
}

/* The architecture of a shape of a transformer. */
static UNUSED void take_shape(struct bench *x, const char *text) {
  const struct dl_descriptor *e;
  bool scaled;

  assert_ok(dl_shapes_get(&x->shapes, text, &e, &x->d), &x->d);
  x->arch =
      dl_architecture_at(DL_AS(architecture, e), &dl_use_reference, &scaled);
}

#endif
