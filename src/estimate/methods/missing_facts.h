/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of a network that the physical method asks for and a descriptor may
 * lack. They are taken from its FLOPs and layers instead
 * (physics/training/physical.c), and the interval grows by what that cost
 * when the networks of del Rey et al. were described so and held out in turn:
 * the mean error of the energy rose from 20 % to 26 % without the traffic of
 * the layers, and to 29 to 32 % without their activations or kernels
 * (docs/estimation.md). */

#ifndef DL_ESTIMATE_METHODS_MISSING_FACTS_H
#define DL_ESTIMATE_METHODS_MISSING_FACTS_H

#include "estimate/job.h"

/* What was not known of a training or forward pass, in words ("activations and
 * kernels"); NULL where all was. *doubt, if not NULL, is the half-width by
 * which the logarithm of a 90 % interval of energy grows, in squares; 0 where
 * all was known. */
const char *dl_facts_assumed(const struct dl_job *job, double *doubt);

#endif
