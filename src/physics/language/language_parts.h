/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of an optimizer step of a language model. */

#ifndef DL_PHYSICS_LANGUAGE_LANGUAGE_PARTS_H
#define DL_PHYSICS_LANGUAGE_LANGUAGE_PARTS_H

#include "physics/fit_row.h"
#include "physics/language/language_cost.h"

struct dl_language_parts {
  struct dl_language_cost cost;
  double static_w;  /* power of a GPU that waits */
  double gpu_share; /* of the time in which it has a kernel while it works, one
                       of a collective too: its utilization */
  /* Logarithms of the time in tuned and in plain software, relative to the
   * estimate, where the software is not known; else 0. */
  double if_tuned, if_plain;
  double untuned;    /* share of plain software */
  const char *bound; /* which part takes longest: "compute", "attention",
                        "memory", "launch" or "exchange"; or "input" */
};

/* Finds the parts of a row, whose inputs are struct dl_language_inputs. */
void dl_language_parts_of(const struct dl_fit_row *row,
                          struct dl_language_parts *parts);

/* The shares of time of its parts (struct dl_physics), by which runs of a
 * calibration are one configuration or not. */
void dl_language_bound(const double *c, const void *inputs,
                       struct dl_place *to);

/* Turns the logarithms measured of a run whose GPUs waited into logarithms of
 * its work, as dl_training_without_waiting does. util: a share. */
void dl_language_without_waiting(const struct dl_hierarchical_fit *fit,
                                 double util, struct dl_language_inputs *inputs,
                                 double value[DL_N_LANGUAGE_TARGETS]);

#endif
