/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power of the packages of CPUs: idle, and with all cores in use.
 *
 *   P = idle + u (full - idle)
 *
 * u: the share of the cores in use. full is a share of the TDP by the kind of
 * processor, since server boards hold the TDP or less, boards of desktops and
 * notebooks set limits above it (PL2, PPT). Tables of servers at the wall and
 * of inference on desktops have no difference between instruction sets beyond
 * their scatter: docs/lab/cpus.md. */

#ifndef DL_PHYSICS_CPU_PACKAGE_POWER_H
#define DL_PHYSICS_CPU_PACKAGE_POWER_H

#include "catalog/descriptor_kinds.h"

/* A package without work, as a share of its TDP, where its entry has no idle_w:
 * .03 to .13 in SPECpower's servers, which are set up for it, .1 to .3 in
 * reviews and .17 in nodes of four H100. */
#define DL_PACKAGE_IDLE 0.15

/* A kind of processor: power of all its cores by the TDP, the half-width of
 * its logarithm at 90 %, and the highest limit that boards set, by the TDP. */
struct dl_package_kind {
  double full, doubt, most;
};

const struct dl_package_kind *
dl_package_kind_of(const struct dl_accelerator *cpu);

#endif
