/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy of a scheduler's job: measured, otherwise estimated.
 *
 * The estimate is the power P of what was allocated to the job, times its
 * duration T:
 *
 *   the mean power of the node, if given:   E = P_node * nodes * T
 *   otherwise, of the parts that are known:  E = (P_gpu + P_cpu + P_ram) * T
 *     P_gpu = GPUs * (idle + (TDP - idle) * u)   u: share of the time in use;
 *             idle counts 0 where it is unknown (Green Algorithms has TDP * u)
 *     P_gpu = GPUs * TDP                         u unknown: an upper bound
 *             slices by MIG count by their share of a GPU's compute
 *     P_cpu = cores * W a core * u               given; u unknown: 1
 *     P_cpu = cores * share of the TDP of their CPU (core_power.h)
 *     P_ram = 0.3725 W/GB                        Green Algorithms (Lannelongue
 *             et al. 2021, doi 10.1002/advs.202100707)
 *
 * Memory alone is no estimate: it goes with GPUs or cores. */

#ifndef DL_ESTIMATE_ACCOUNTING_ACCOUNTING_H
#define DL_ESTIMATE_ACCOUNTING_ACCOUNTING_H

#include "base/text.h"
#include "catalog/catalog.h"
#include "logs/slurm/cluster_job.h"

enum dl_energy_from {
  DL_ENERGY_UNKNOWN,
  DL_ENERGY_MEASURED,
  DL_ENERGY_NODE_POWER,
  DL_ENERGY_GPU_USE, /* TDP by the share in use */
  DL_ENERGY_GPU_TDP, /* TDP, use unknown */
  DL_ENERGY_CORES    /* no GPUs: cores by their power */
};

/* "measured", "node-power", "gpu-use", "gpu-tdp", "cores"; NULL: unknown. */
const char *dl_energy_from_name(enum dl_energy_from from);

/* Options about the cluster. */
struct dl_cluster {
  struct dl_strlist node_power; /* "W" or "PARTITION=W" */
  struct dl_strlist gpus; /* "NAME", "TYPE=NAME" or "PARTITION=NAME": what the
                             GPUs of that type, there or elsewhere are */
  struct dl_strlist cpus; /* "NAME" or "PARTITION=NAME": the CPUs of nodes */
  double core_power_w;    /* NaN */
  double threads;         /* of a core that the scheduler allocates; NaN */
};

/* A job's figures. NaN: unknown. */
struct dl_accounted {
  const struct dl_cluster_job *job;
  enum dl_energy_from from;
  const char *boundary; /* of energy_j; lives as long as the job, or longer */
  double duration_s;
  double energy_j;
  double low_j, high_j; /* 90 % interval of an estimate by cores */
  double gpu_s;         /* GPUs x duration, by their share where they are slices
                           of a GPU; 0 without GPUs */
  double idle_gpu_s;    /* of it not in use */
  double g_kwh;         /* mean carbon intensity of its time; NaN: unknown */
};

struct dl_accounting;

/* Looks up the accelerators of the cluster. Errors: an invalid power
 * (DL_EUSAGE), an unknown accelerator (DL_EINPUT). `o` and `catalog` must
 * outlive it. */
enum dl_status dl_accounting_new(struct dl_accounting **a,
                                 const struct dl_cluster *o,
                                 struct dl_catalog *catalog, struct dl_diag *d);
void dl_accounting_free(struct dl_accounting *a); /* accepts NULL */

/* The figures of a job. */
enum dl_status dl_account(struct dl_accounting *a,
                          const struct dl_cluster_job *job,
                          struct dl_accounted *out, struct dl_diag *d);

/* Warns of what could not be estimated: GPUs that are in no catalogue, cores
 * without a power, each with the number of jobs. */
void dl_accounting_warn(const struct dl_accounting *a, struct dl_diag *d);

/* A constant behind estimates. */
struct dl_constant {
  const char *name; /* "tdp_w" */
  const char *unit;
  double x;
  const char *of;     /* what it belongs to */
  const char *source; /* NULL: none */
  const char *year;   /* of the source; NULL: unknown */
};

/* A constant of estimates that were made elsewhere, once. The texts are
 * copied. */
void dl_accounting_add_constant(struct dl_accounting *a,
                                const struct dl_constant *c);

/* The constants that estimates have used so far, *n of them; to be freed by
 * free(). The accounting owns their texts. */
struct dl_constant *dl_accounting_constants(const struct dl_accounting *a,
                                            size_t *n);

#endif
