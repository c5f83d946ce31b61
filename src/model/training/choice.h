/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to fit one target: its features, the method and its hyper-parameters, the
 * search for these and the cross-validation. */

#ifndef DL_MODEL_TRAINING_CHOICE_H
#define DL_MODEL_TRAINING_CHOICE_H

#include "base/text.h"
#include "math/cross_validation/cross_validate.h"

/* How to cross-validate. */
struct dl_cv_spec {
  bool none;
  enum dl_scheme scheme;
  size_t k;
  char column[64]; /* DL_GROUP */
};

/* "none", "kfold:5", "kfold-shuffled:5", "group:COLUMN". Error: DL_EUSAGE. */
enum dl_status dl_cv_parse(struct dl_cv_spec *spec, const char *text,
                           struct dl_diag *d);

/* Writes that text to buf, cut off at size bytes. */
void dl_cv_name(const struct dl_cv_spec *spec, char *buf, size_t size);

/* A fit to make. Texts are formulas that the training table holds. */
struct dl_choice {
  const char *target;
  struct dl_strlist features;
  const char *offset; /* or NULL */
  const char *weight; /* or NULL */
  bool log_target;
  bool scale;
  const struct dl_regression *method;
  double hyper[DL_MAX_HYPER]; /* NaN: to be found */
  bool search;                /* by cross-validation rather than by method */
  enum dl_search_kind search_kind;
  size_t search_count;
  unsigned long seed;
  struct dl_cv_spec cv;
};

/* "grid", "grid:N" or "random:N" into the search of c; NULL: none. Error:
 * DL_EUSAGE. */
enum dl_status dl_search_parse(struct dl_choice *c, const char *text,
                               struct dl_diag *d);

#endif
