/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options for the computer that a job runs on. */

#ifndef DL_CLI_OPTIONS_NODE_OPTIONS_H
#define DL_CLI_OPTIONS_NODE_OPTIONS_H

#include "catalog/mig.h"
#include "cli/options/job_options.h"
#include "estimate/node/node.h"

enum dl_device { DL_DEVICE_CPU, DL_DEVICE_GPU, DL_DEVICE_AUTO };

enum dl_charge { DL_CHARGE_NODE, DL_CHARGE_SHARE, DL_CHARGE_AUTO };

enum dl_cooling { DL_COOLING_AIR, DL_COOLING_LIQUID };

/* Start from dl_node_options_none. Texts are borrowed. */
struct dl_node_options {
  const char *node; /* or NULL */
  double use_gpus;  /* NaN: all; one where a share is given */
  enum dl_device device;
  const char *profile; /* of MIG, or NULL */
  double gpu_share;    /* NaN */
  enum dl_charge charge;
  enum dl_cooling cooling;
  enum dl_boundary boundary; /* of the answer; DL_N_BOUNDS: the widest */
  bool embodied;
  double lifetime_years, in_use;
  bool parts; /* CSV has the energy by part */
  /* Filled in by dl_node_options_apply: */
  bool found;
  struct dl_node entry; /* of the node, with the user's values */
  const struct dl_accelerator *cpu, *gpu; /* whole boards; NULL without */
  struct dl_accelerator board;            /* what gpu points to */
  struct dl_node_use use;
};

extern const struct dl_node_options dl_node_options_none;

#define DL_NEEDS_PUE "--boundary facility needs a PUE: add --pue"

/* Options with a member in struct dl_node_options. */
extern const struct dl_option dl_node_options_rows[];

/* Looks the node up and sets what follows for the job: the accelerator (or
 * CPU), how many, memory, the site. Values of the form node.FIELD=X are taken
 * out of `job->overrides`; values of a shared accelerator are put there. Call
 * it before dl_job_options_apply. Errors: options that do not go together
 * (DL_EUSAGE), unknown names (DL_EINPUT). */
enum dl_status dl_node_options_apply(struct dl_node_options *o,
                                     struct dl_job_options *job,
                                     struct dl_catalog *catalog,
                                     struct dl_diag *d);

/* Sets the PUE of a node that was found if no option gave one. Call it after
 * dl_job_options_apply. */
void dl_node_footprint(const struct dl_node_options *o,
                       struct dl_footprint *foot);

#endif
