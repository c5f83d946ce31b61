/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formula of language_cost.h without a fit. */

#ifndef DL_PHYSICS_LANGUAGE_LANGUAGE_PRIOR_H
#define DL_PHYSICS_LANGUAGE_LANGUAGE_PRIOR_H

#include "physics/physics.h"

/* Seconds that an optimizer step takes for each of its tokens, by the medians
 * of the priors; NaN where the row does not say what that depends on. */
double dl_language_prior_s_per_token(const struct dl_physics_row *row);

#endif
