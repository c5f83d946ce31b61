/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices of a GPU by NVIDIA's Multi-Instance GPU (MIG).
 *
 * The shares follow the tables of supported profiles in NVIDIA's MIG User Guide
 * (https://docs.nvidia.com/datacenter/tesla/mig-user-guide): one of the
 * multiprocessors, and one of memory and its bandwidth, which are divided
 * together. The names contain the memory in GB and differ by board. */

#ifndef DL_CATALOG_MIG_H
#define DL_CATALOG_MIG_H

#include "base/text.h"
#include "catalog/descriptor_kinds.h"

/* The share of an accelerator that a job uses, 0 .. 1 each. */
struct dl_share {
  double compute; /* of rates, lanes and power */
  double memory;  /* of its size, bandwidth and cache */
};

/* Computes the share of an accelerator that a profile has ("2g.10gb"; "+me" at
 * the end adds nothing to it). Errors: DL_EINPUT, the accelerator has no MIG;
 * DL_EUSAGE, it has no such profile (all of its own are named). */
enum dl_status dl_mig_share(const struct dl_accelerator *gpu,
                            const char *profile, struct dl_share *share,
                            struct dl_diag *d);

/* Returns the name of profile i of all boards, each name once; NULL past the
 * last. */
const char *dl_mig_profile_at(size_t i);

/* Scales the fields of an accelerator to a share of it: rates, lanes,
 * multiprocessors and power (TDP, limit, idle) by `compute`, memory, bandwidth
 * and cache by `memory`. Clocks and the link stay. */
void dl_share_cut(struct dl_accelerator *gpu, const struct dl_share *share);

#endif
