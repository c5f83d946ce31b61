/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest step. */

#ifndef DL_CLI_VIEWS_STEP_REPORT_H
#define DL_CLI_VIEWS_STEP_REPORT_H

#include "cli/command.h"
#include "cli/options/site_options.h"
#include "estimate/projection/epoch_series.h"
#include "estimate/projection/projection.h"

enum { DL_STEP_METHODS_MAX = 8 };

/* The projections at one point of a training. */
struct dl_step {
  const char *input;
  struct dl_epoch_series seen;
  size_t stable; /* first epoch of the window of the published methods */
  double n_low, n_high, coverage;
  bool details; /* people get the evidence too */
  struct dl_footprint foot;
  size_t n;
  const struct dl_projector *by[DL_STEP_METHODS_MAX];
  struct dl_projection p[DL_STEP_METHODS_MAX];
};

/* Index of the recommended projection: dlest's own if it is among them. */
size_t dl_step_best(const struct dl_step *s);

/* The whole report. Its texts point into s. */
struct dl_report *dl_step_report(const struct dl_step *s);

/* A line of progress: "12 of 90 epochs, 34.5 MJ (33.9 .. 35.2)". */
void dl_step_line(const struct dl_step *s, struct dl_text *t);

#endif
