/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/measured.h"

#include <string.h>

#include "base/memory.h"
#include "estimate/methods/work.h"

/* The fits, by their targets; a physics without levels of its own for tuned
 * software has one part. */
static const struct {
  const char *target, *physics;
  enum dl_measured_part part, tuned;
} fits[] = {
    {"epoch_energy_j", "physical", DL_MEASURED_EAGER, DL_MEASURED_TUNED},
    {"tokens_per_s", "language", DL_MEASURED_LANGUAGE, DL_MEASURED_LANGUAGE},
    {"request_energy_j", "serving", DL_MEASURED_SERVING, DL_MEASURED_SERVING}};

const char *dl_measured_family(const struct dl_accelerator *gpu) {
  return gpu->family ? gpu->family : gpu->head.id;
}

static enum dl_status add(struct dl_strlist *to, struct dl_catalog *c,
                          const char *name, struct dl_diag *d) {
  const struct dl_descriptor *e = NULL;
  DL_TRY(dl_catalog_look(c, DL_ACCELERATOR, name, &e, d));
  const char *family = e ? dl_measured_family(DL_AS(accelerator, e)) : name;
  if (dl_strlist_find(to, family) < 0)
    dl_strlist_add(to, family);
  return DL_OK;
}

enum dl_status dl_measured_families(struct dl_strlist *to,
                                    const struct dl_fit *fit,
                                    struct dl_catalog *c, struct dl_diag *d) {
  const char *name, *within;
  for (size_t i = 0;
       dl_hierarchical_level(fit->state, "gpu", i, &name, &within); i++)
    DL_TRY(add(to, c, name, d));
  return DL_OK;
}

enum dl_status dl_measured_find(struct dl_measured *to,
                                const struct dl_model *m, struct dl_catalog *c,
                                struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t k = 0; k < DL_LENGTH(fits); k++) {
    const struct dl_model *owner;
    const struct dl_fit *fit =
        dl_model_search(m, fits[k].target, fits[k].physics, &owner);
    const char *name, *within;
    for (size_t i = 0;
         fit && status == DL_OK &&
         dl_hierarchical_level(fit->state, "gpu", i, &name, &within);
         i++)
      status =
          add(&to->family[within ? fits[k].tuned : fits[k].part], c, name, d);
  }
  return status;
}

void dl_measured_free(struct dl_measured *m) {
  for (size_t i = 0; i < DL_N_MEASURED_PARTS; i++)
    dl_strlist_free(&m->family[i]);
}

/* The part of a fit that estimates a job. */
static enum dl_measured_part part_of(const struct dl_job *job,
                                     const struct dl_job_predictions *p) {
  const char *software = p->parts.software;
  if (p->language)
    return DL_MEASURED_LANGUAGE;
  if (dl_run_is_inference(job->run) && p->served.tokens)
    return DL_MEASURED_SERVING;
  if (software && strcmp(software, "eager") != 0)
    return DL_MEASURED_TUNED;
  return DL_MEASURED_EAGER;
}

bool dl_measured_has(const struct dl_measured *m, const struct dl_job *job,
                     const struct dl_job_predictions *p) {
  const struct dl_accelerator *gpu = job->found.gpu;
  enum dl_measured_part part = part_of(job, p);
  return gpu && dl_strlist_find(&m->family[part], dl_measured_family(gpu)) >= 0;
}
