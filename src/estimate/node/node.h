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
 *   E_rest     T x power of board, fans, network and drives:
 *              rest - fans x (1 - x^3), x the accelerators' power by their TDP
 *
 * Fans move air in proportion to the heat, which takes the cube of the flow
 * (affinity laws). Nodes whose accelerators' power is known (a power limit in
 * force, or none at work) have it so: docs/lab/nodes.md.
 *
 * The supply loses next to the same at any load: of supplies of P watts with
 * the efficiency e at half load, L = P / 2 (1 / e - 1) there, and
 * L (0.77 + 0.23 x load / half) otherwise, by paired readings of both sides of
 * the supplies of a node of eight H100 (MLPerf Training v4.0). Without P the
 * efficiency is e at any load.
 *
 * A job that runs on the CPUs has E_busy for these, and E_cpu for those alone
 * that idle beside them; all accelerators idle. A job that is charged its share
 * of a node that others use too bears that part of E_cpu, E_memory and E_rest,
 * and no E_idle.
 *
 * Intervals: an error of the duration T is one relative error of all parts, an
 * error of the accelerators' power P one of their part w alone (with the fans
 * that follow it). The estimate gives the relative errors e of its energy, t of
 * T and p of P, hence their covariance, and with the ranges r assumed for the
 * other parts, separately below and above,
 *
 *   energy  sqrt((1 - w) t^2 + w e^2 - w (1 - w) p^2 + r^2)
 *   power   sqrt(w^2 p^2 + r^2)
 *
 * The limits of accelerators that serve may be lowered: unless one is given, p
 * of the power has room for it below. If the duration is given, t is 0 and p is
 * e; if t or p are unknown, e counts as t.
 *
 * Energies in J, powers in W, times in s; NaN where unknown. */

#ifndef DL_ESTIMATE_NODE_NODE_H
#define DL_ESTIMATE_NODE_NODE_H

#include "catalog/mig.h"
#include "estimate/methods/estimator.h"

/* Assumed where neither the node nor the user gives a value; the idle power of
 * CPUs is in physics/cpu/package_power.h. */
#define DL_NODE_GPU_IDLE 0.12
#define DL_NODE_SUPPLY 0.9
/* Load of the CPUs while accelerators work, as a share of the power between
 * idle and TDP, and its range. Loader processes that are known add the share of
 * the cores that they keep busy. Language models and inference: 0.07 in
 * trainings of Llama 2 and Stable Diffusion on nodes of four H100, at most 0.13
 * (National Laboratory of the Rockies, doi 10.7799/3025227). Other trainings
 * have loaders that decode images: assumed where they are not known. */
#define DL_NODE_LOAD 0.1
#define DL_NODE_LOAD_LOADER 0.25
#define DL_NODE_LOAD_LEAST 0
#define DL_NODE_LOAD_MOST 0.5
/* Relative half-widths of the other parts. The rest is by the node's readings
 * at the wall or by systems like it (docs/lab/nodes.md), or assumed. */
#define DL_NODE_SPREAD_IDLE 0.25
#define DL_NODE_SPREAD_MEMORY 0.5
#define DL_NODE_SPREAD_REST 0.25
#define DL_NODE_SPREAD_REST_ASSUMED 0.5
/* Losses of a supply at no load, by those at half load. */
#define DL_NODE_SUPPLY_FIXED 0.77

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
  DL_BOUND_DC,      /* the node behind its power supplies: E_dc */
  DL_BOUND_NODE,    /* at the plug: E_node */
  DL_BOUND_FACILITY,
  DL_N_BOUNDS
};

#define DL_BOUNDARY_WORDS "gpu|gpu+ram|node-dc|node|facility"

/* One of these words. */
const char *dl_boundary_name(enum dl_boundary b);

/* How a job uses a node. */
struct dl_node_use {
  bool on_cpu;
  double nodes;             /* equal ones; 0: one */
  double used;              /* accelerators in use (sockets on CPUs), of all */
  struct dl_share share;    /* of each of them */
  bool whole;               /* the node is charged as a whole, else by share */
  bool inference, language; /* the job's phase; a language model */
  double pue;               /* NaN: unknown */
};

/* A power and where it comes from: "published", or what its note begins with
 * ("derived", "assumed", "disputed"), "given" by the user. */
struct dl_figure {
  double x;
  const char *from;
};

/* A node, or several equal ones together, ready to be added up. */
struct dl_node_power {
  struct dl_node_use use;
  double nodes;
  double gpus, sockets, memory_gb;
  double charged;             /* part of CPUs, memory and the rest, 0 .. 1 */
  double idle_gpus;           /* accelerators charged as idle */
  double idle_sockets;        /* beside those that do the work */
  struct dl_figure gpu_tdp_w; /* of a whole accelerator; NaN without one */
  struct dl_figure gpu_idle_w;
  struct dl_figure cpu_tdp_w, cpu_idle_w;           /* of one */
  struct dl_figure memory_w_gb, rest_w, efficiency; /* at half load */
  double fans_w;   /* part of rest_w that grows with the power of accelerators,
                      at their TDP */
  double supply_w; /* rated power of the supplies in use; NaN */
  double cores;    /* of all CPUs; NaN */
  double load;     /* of the CPUs while accelerators work, without loaders */
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

/* Energy of the accelerators. Of the intervals of time and power the relative
 * bounds count; x 0: none. */
struct dl_node_load {
  struct dl_interval energy_j; /* bounds NaN without an interval */
  double memory_w;             /* memory that it counts itself */
  double duration_s;
  bool time_given;
  struct dl_interval time_s, power_w;
  double capped; /* share by which the power of a node's may be lower */
  /* Time of the cores for loading, 0: not known; and the 90 % half-width of its
   * logarithm. */
  double loader_core_s, loader_doubt;
};

/* The load of the CPUs while accelerators work, with its range; true: a known
 * loader makes it. */
bool dl_node_cpu_load(const struct dl_node_power *n,
                      const struct dl_node_load *load, struct dl_interval *of);

struct dl_node_load dl_node_load_of(const struct dl_estimate *est);

struct dl_node_energy {
  struct dl_interval part[DL_N_PARTS]; /* bounds are the assumed ranges */
  struct dl_interval bound[DL_N_BOUNDS];
  struct dl_interval power_w[DL_N_BOUNDS]; /* mean */
  double efficiency;                       /* of the supply at its load */
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

/* Accelerators that the job is charged for. */
double dl_node_charged_gpus(const struct dl_node_power *n);

/* Carbon of making the hardware, g CO2e, as a job is charged for it: by its
 * time (dl_life_share) of all the time that the hardware is in use over its
 * life. Of servers without accelerators, and of accelerators (0: none); `kg`:
 * of one, NaN: unknown. */
double dl_life_share(double duration_s, double lifetime_years, double in_use);
double dl_embodied_servers_g(const struct dl_node_power *n, double kg,
                             double life_share);
double dl_embodied_gpus_g(const struct dl_node_power *n, double kg,
                          double life_share);

#endif
