/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an optimizer step of a language model consists of. */

#ifndef DL_PHYSICS_LANGUAGE_LANGUAGE_PARTS_H
#define DL_PHYSICS_LANGUAGE_LANGUAGE_PARTS_H

#include "physics/fit_row.h"
#include "physics/language/language_cost.h"

struct dl_language_parts {
  struct dl_language_cost cost;
  double static_w;   /* power of a GPU that waits */
  const char *bound; /* which part takes longest: "compute", "attention",
                        "memory", "launch" or "exchange" */
};

/* Of a row, whose inputs are struct dl_language_inputs. */
void dl_language_parts_of(const struct dl_fit_row *row,
                          struct dl_language_parts *parts);

#endif
