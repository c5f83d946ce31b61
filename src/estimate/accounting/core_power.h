/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The power of the cores that a scheduler allocated: their share of a CPU.
 *
 *   P = TDP / cores / threads * (.15 + .7 u)     u: share of the time in use
 *
 * SPECpower_ssj2008 (261 servers since 2013): without memory, board and losses
 * a package draws .05, .20, .42 and .86 of its TDP idle, at 10, 50 and 100 %
 * load; 90 % of them lie within 1.4 of the line from 30 % on. Where u is not
 * known it is .7, from .1 to 1. Where the threads of a core are not known the
 * scheduler's processors are cores, and two threads lower the lower bound. */

#ifndef DL_ESTIMATE_ACCOUNTING_CORE_POWER_H
#define DL_ESTIMATE_ACCOUNTING_CORE_POWER_H

#include "base/number.h"
#include "catalog/catalog.h"
#include "catalog/descriptor_kinds.h"

/* Memory takes at least this share of DL_MEMORY_W_PER_GB: .15 W/GB. */
#define DL_LEAST_MEMORY 0.4

#define DL_CORE_SOURCE "catalogue: median of its server CPUs"

/* The power of one processor of a CPU that a job was allocated; use and threads
 * NaN: unknown. Bounds are those of 90 % intervals. */
void dl_core_power(const struct dl_accelerator *cpu, double use, double threads,
                   struct dl_interval *w);

/* Finds W a core at the TDP of the server CPUs in the catalogue: their median,
 * and the range of 90 % of them. */
enum dl_status dl_server_core_power(struct dl_catalog *catalog, double w[3],
                                    struct dl_diag *d);

/* The power of one processor of a CPU of which that alone is known. */
void dl_core_power_range(const double core_w[3], double use, double threads,
                         struct dl_interval *w);

/* Fails where an accelerator is no CPU. */
enum dl_status dl_cpu_check(const struct dl_accelerator *cpu, const char *name,
                            struct dl_diag *d);

#endif
