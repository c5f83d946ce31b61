/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy of a node follows from the energy of the accelerators that a job
 * uses: all else in the computer draws power as long as the job runs. Caspart
 * et al. 2022 (arXiv 2212.01698) measured that this composition decides, not
 * the runtime:
 *
 *   E_dc       = E_busy + E_idle + E_cpu + E_memory + E_rest
 *   E_node     = E_dc / efficiency of the supply
 *   E_facility = E_node x PUE
 *
 *   E_busy     the estimate's, without memory that it counts itself
 *   E_idle     T x idle power x (accelerators of the node - those in use)
 *   E_cpu      T x sockets x (idle + load x (TDP - idle))
 *   E_memory   T x GB x W/GB
 *   E_rest     T x power of board, fans, network and drives
 *
 * A job that runs on the CPUs has E_busy for these and no E_cpu; all
 * accelerators idle. A job that is charged its share of a node that others
 * use too bears that part of E_cpu, E_memory and E_rest, and no E_idle.
 *
 * Intervals: an error of the duration is one relative error of all parts. Where
 * the duration is not given, the estimate's whole relative error counts as an
 * error of the duration. The ranges assumed for the other parts are added as
 * independent errors, separately below and above:
 *
 *   E - low = hypot(error of the estimate, E_i - low_i, ...)
 *
 * Energies in J, powers in W, times in s; NaN where unknown. */

#ifndef DL_ESTIMATE_NODE_NODE_H
#define DL_ESTIMATE_NODE_NODE_H

#include "catalog/mig.h"
#include "estimate/methods/estimator.h"

/* Assumed where neither the node nor the user gives a value. Idle power as a
 * share of the TDP: values in the catalogue range from 0.05 to 0.36. */
#define DL_NODE_CPU_IDLE 0.2
#define DL_NODE_GPU_IDLE 0.12
#define DL_NODE_SUPPLY 0.9
/* Load of the CPUs while accelerators work, and its range. */
#define DL_NODE_LOAD_TRAINING 0.25
#define DL_NODE_LOAD_INFERENCE 0.1
#define DL_NODE_LOAD_LEAST 0
#define DL_NODE_LOAD_MOST 0.6
/* Relative half-widths of the other parts. */
#define DL_NODE_SPREAD_IDLE 0.25
#define DL_NODE_SPREAD_MEMORY 0.5
#define DL_NODE_SPREAD_REST 0.5

enum dl_part {
  DL_PART_BUSY,
  DL_PART_IDLE,
  DL_PART_CPU,
  DL_PART_MEMORY,
  DL_PART_REST,
  DL_PART_SUPPLY,  /* lost in the power supply */
  DL_PART_COOLING, /* what the facility adds */
  DL_N_PARTS
};

enum dl_boundary {
  DL_BOUND_GPU,     /* accelerators in use: E_busy */
  DL_BOUND_GPU_RAM, /* and the node's memory */
  DL_BOUND_NODE,    /* at the plug: E_node */
  DL_BOUND_FACILITY,
  DL_N_BOUNDS
};

/* "gpu", "gpu+ram", "node", "facility" */
const char *dl_boundary_name(enum dl_boundary b);

/* How a job uses a node. */
struct dl_node_use {
  bool on_cpu;
  double used;           /* accelerators in use (sockets on CPUs) */
  struct dl_share share; /* of each of them */
  bool whole;            /* the node is charged as a whole, else by share */
  bool inference;
  double pue; /* NaN: unknown */
};

/* A power and where it comes from: "published", or what its note begins with
 * ("derived", "assumed", "disputed"), "given" by the user. */
struct dl_figure {
  double x;
  const char *from;
};

/* A node ready to be added up. */
struct dl_node_power {
  struct dl_node_use use;
  double gpus, sockets, memory_gb;
  double charged;             /* part of CPUs, memory and the rest, 0 .. 1 */
  double idle_gpus;           /* accelerators charged as idle */
  struct dl_figure gpu_tdp_w; /* of a whole accelerator; NaN without one */
  struct dl_figure gpu_idle_w;
  struct dl_figure cpu_tdp_w, cpu_idle_w; /* of one */
  struct dl_figure memory_w_gb, rest_w, efficiency;
  double load; /* of the CPUs while accelerators work */
};

/* The numbers of a node, missing ones assumed as above (rest_w: 0). `cpu` and
 * `gpu` are the entries that it names, NULL without; `gpu` is the whole board.
 * Errors (DL_EINPUT): an idle power above the TDP, a number of CPUs, of memory
 * or a TDP that nothing gives. */
enum dl_status dl_node_resolve(struct dl_node_power *n, const struct dl_node *e,
                               const struct dl_accelerator *cpu,
                               const struct dl_accelerator *gpu,
                               const struct dl_node_use *use,
                               struct dl_diag *d);

/* Energy of the accelerators. */
struct dl_node_load {
  struct dl_interval energy_j; /* bounds NaN without an interval */
  double memory_w;             /* memory that it counts itself */
  double duration_s;
  bool time_given;
};

struct dl_node_load dl_node_load_of(const struct dl_estimate *est);

struct dl_node_energy {
  struct dl_interval part[DL_N_PARTS]; /* bounds are the assumed ranges */
  struct dl_interval bound[DL_N_BOUNDS];
};

void dl_node_compose(const struct dl_node_power *n,
                     const struct dl_node_load *load,
                     struct dl_node_energy *out);

/* Energy within a boundary by runtime alone: the TDP of all accelerators and
 * CPUs, memory and the rest, times T; NaN below the node. */
double dl_node_rated(const struct dl_node_power *n, double duration_s,
                     enum dl_boundary b);

/* TDP of the accelerators in use times T: E_busy as the method tdp has it. */
double dl_node_busy_tdp(const struct dl_node_power *n, double duration_s);

/* Carbon of making the hardware, kg CO2e, as a job is charged for it: by its
 * time of all the time that the hardware is in use over its life. */
struct dl_embodied {
  double server_kg; /* without accelerators; NaN: unknown */
  double gpu_kg;    /* of one */
  double gpus;      /* charged */
  double server_g, gpus_g;
};

struct dl_embodied dl_node_embodied(const struct dl_node_power *n,
                                    double server_kg, double gpu_kg,
                                    double duration_s, double lifetime_years,
                                    double in_use);

#endif
