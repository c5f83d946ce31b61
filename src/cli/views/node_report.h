/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node in the report of dlest predict: its energy, its cost, and its
 * embodied carbon. */

#ifndef DL_CLI_VIEWS_NODE_REPORT_H
#define DL_CLI_VIEWS_NODE_REPORT_H

#include "cli/options/node_options.h"
#include "estimate/methods/estimator.h"

/* The node, the job and its estimates. */
struct dl_node_subject {
  const struct dl_node_options *o;
  const struct dl_footprint *foot;
  const struct dl_job *job;
  const struct dl_estimate *est;
  size_t n;
  long best;            /* or -1 */
  const char *interval; /* heading of intervals; outlives the report */
};

/* The answer of a node: energy at its widest boundary, and the embodied carbon
 * that the job is charged. Numbers are NaN without. */
struct dl_node_answer {
  struct dl_span_j j;
  const char *boundary;
  double embodied_g;
};

/* The share of an accelerator and, with a node, its energy by part and at
 * every boundary, its emissions and cost: "node" in JSON, absent without one.
 * Warns of parts without a known power. Sets what is known of *answer. Errors:
 * as dl_node_resolve. */
enum dl_status dl_node_report(struct dl_report *r,
                              const struct dl_node_subject *s,
                              struct dl_node_answer *answer, struct dl_diag *d);

#endif
