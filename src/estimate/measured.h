/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physical method was fitted on some generations of accelerators: a
 * generation is known if some source measured at least one of it, with the
 * software whose constants apply. An estimate of any other generation is an
 * extrapolation, whatever its bandwidth and TDP are. */

#ifndef DL_ESTIMATE_MEASURED_H
#define DL_ESTIMATE_MEASURED_H

#include "base/text.h"
#include "estimate/predictions.h"

/* The parts of the physical method that have fits, or rows, of their own. */
enum dl_measured_part {
  DL_MEASURED_EAGER, /* training, kernel by kernel */
  DL_MEASURED_TUNED, /* training by containers and MLPerf entries */
  DL_MEASURED_LANGUAGE,
  DL_MEASURED_SERVING,
  DL_N_MEASURED_PARTS
};

/* Start from {0}. Families of accelerators, or the id of one without. */
struct dl_measured {
  struct dl_strlist family[DL_N_MEASURED_PARTS];
};

/* The families of the accelerators that a fit has effects of, whatever the
 * software; an accelerator that the catalogue lacks counts by its name. */
enum dl_status dl_measured_families(struct dl_strlist *to,
                                    const struct dl_fit *fit,
                                    struct dl_catalog *c, struct dl_diag *d);

/* Returns the family by which an accelerator counts. */
const char *dl_measured_family(const struct dl_accelerator *gpu);

/* Finds the families of all fits of a model, by software. */
enum dl_status dl_measured_find(struct dl_measured *to,
                                const struct dl_model *m, struct dl_catalog *c,
                                struct dl_diag *d);
void dl_measured_free(struct dl_measured *m);

/* Whether the accelerator of a job is among them. */
bool dl_measured_has(const struct dl_measured *m, const struct dl_job *job,
                     const struct dl_job_predictions *p);

#endif
