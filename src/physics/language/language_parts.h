/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an optimizer step of a language model consists of. */

#ifndef DL_PHYSICS_LANGUAGE_LANGUAGE_PARTS_H
#define DL_PHYSICS_LANGUAGE_LANGUAGE_PARTS_H

#include "physics/hierarchical_fit.h"
#include "physics/language/language_cost.h"

struct dl_language_parts {
  struct dl_language_cost cost;
  double static_w;   /* power of a GPU that waits */
  const char *bound; /* which part takes longest: "compute", "attention",
                        "memory", "launch" or "exchange" */
};

/* By a fit. */
void dl_language_parts_of(const struct dl_hierarchical_fit *fit,
                          const struct dl_language_inputs *inputs,
                          struct dl_language_parts *parts);

#endif
