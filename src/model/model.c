/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models in memory. */

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *dl_held_out_group_name(enum dl_held_out_group left) {
  static const char *const names[] = {"config", "arch", "gpu",
                                      "rows",   "pair", "setting"};
  return names[left];
}

void dl_residuals_free(struct dl_residuals *r) {
  for (size_t i = 0; i < r->n; i++)
    free(r->g[i].name);
  free(r->g);
}

void dl_fit_free(struct dl_fit *f) {
  free(f->target);
  free(f->unit);
  free(f->boundary);
  free(f->offset);
  dl_strlist_free(&f->features);
  for (size_t i = 0; i < f->n_ranges; i++) {
    free(f->range[i].name);
    dl_residuals_free(&f->range[i].held_out);
  }
  free(f->range);
  dl_scale_free(&f->scale);
  if (f->method) {
    f->method->free(f->state);
    f->method->free(f->state_before);
  }
  for (size_t i = 0; i < DL_N_HELD_OUT; i++)
    dl_residuals_free(&f->held_out_residuals[i]);
  for (size_t k = 0; k < f->n_times; k++) {
    free(f->times[k].software);
    for (size_t i = 0; i < DL_N_HELD_OUT; i++)
      dl_residuals_free(&f->times[k].held_out[i]);
  }
  free(f->times);
  dl_strlist_free(&f->archs);
  dl_strlist_free(&f->gpus);
  *f = (struct dl_fit){0};
}

const struct dl_time_residuals *dl_fit_times(const struct dl_fit *f,
                                             const char *software) {
  for (size_t k = 0; k < f->n_times; k++)
    if (strcmp(f->times[k].software, software) == 0)
      return &f->times[k];
  return NULL;
}

struct dl_time_residuals *dl_fit_add_times(struct dl_fit *f,
                                           const char *software) {
  const struct dl_time_residuals *there = dl_fit_times(f, software);
  if (there)
    return &f->times[there - f->times];
  f->times = dl_reallocarray(f->times, f->n_times + 1, sizeof *f->times);
  struct dl_time_residuals *new = &f->times[f->n_times++];
  *new = (struct dl_time_residuals){.software = dl_strdup(software)};
  return new;
}

void dl_model_free(struct dl_model *m) {
  if (!m)
    return;
  dl_model_free(m->next);
  for (size_t i = 0; i < m->n_fits; i++)
    dl_fit_free(&m->fit[i]);
  free(m->fit);
  dl_calibration_runs_free(&m->runs);
  free(m->path);
  free(m->source);
  free(m->digest);
  free(m->citation);
  free(m->options);
  free(m->version);
  free(m);
}

DL_FREES(dl_model_free, struct dl_model)

const struct dl_fit *dl_model_search(const struct dl_model *m,
                                     const char *target, const char *physics,
                                     const struct dl_model **owner) {
  for (; m; m = m->next)
    for (size_t i = 0; i < m->n_fits; i++) {
      const struct dl_regression *method = m->fit[i].method;
      bool wanted = physics ? strcmp(method->name, physics) == 0
                            : method->physics == NULL;
      if (wanted && strcmp(m->fit[i].target, target) == 0) {
        *owner = m;
        return &m->fit[i];
      }
    }
  return NULL;
}

double dl_fit_feature_mean(const struct dl_fit *f, size_t i) {
  return f->scaled ? gsl_vector_get(f->scale.mean, i) : NAN;
}

double dl_fit_feature_sd(const struct dl_fit *f, size_t i) {
  return f->scaled ? gsl_vector_get(f->scale.sd, i) : NAN;
}
