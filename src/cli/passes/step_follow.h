/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking at a training once, or again and again while it runs. */

#ifndef DL_CLI_PASSES_STEP_FOLLOW_H
#define DL_CLI_PASSES_STEP_FOLLOW_H

#include "cli/views/step_report.h"

enum { DL_STEP_PHASES_MAX = 32 };

struct dl_step_options {
  struct dl_extract_options extract;
  struct dl_projection_options projection;
  double phase[DL_STEP_PHASES_MAX];
  const struct dl_projector *method[DL_STEP_METHODS_MAX];
  size_t n_methods; /* 0: all */
  struct dl_strlist paths, where;
  const char *name; /* of the first log, for people */
  const char *energy_column;
  size_t seen; /* epochs to take; SIZE_MAX: all */
  /* How the stable epoch is found: by --stable, by FLUSS, or as step does. */
  enum { DL_STABLE_EPOCH, DL_STABLE_FLUSS, DL_STABLE_REGIME } stabilise;
  bool follow, details;
  bool log_options; /* options were given that are for power logs */
  double every_s, budget_kwh;
  struct dl_footprint foot; /* looked up before the first look */
};

/* Reads the logs as they are now, and projects. s->seen is the caller's to free
 * after DL_OK. */
enum dl_status dl_step_look(struct dl_step_options *o, struct dl_step *s,
                            struct dl_diag *d);

/* The last look: once without --follow; else until all epochs are over, the
 * log no longer grows, a pipe has ended, or an interrupt. */
enum dl_status dl_step_follow(struct dl_cli *cli, struct dl_step_options *o,
                              struct dl_step *s);

#endif
