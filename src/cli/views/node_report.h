/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node in the report of dlest predict: its energy, its cost, and its
 * embodied carbon. */

#ifndef DL_CLI_VIEWS_NODE_REPORT_H
#define DL_CLI_VIEWS_NODE_REPORT_H

#include "cli/options/node_options.h"
#include "estimate/methods/estimator.h"

struct dl_predict_answer;

/* The share of an accelerator and, with a node, its energy by part and at
 * every boundary, its emissions and cost: "node" in JSON, absent without one.
 * Warns of parts without a known power. Sets what is known of the node
 * in s. Errors: as dl_node_resolve. */
enum dl_status dl_node_report(struct dl_report *r, struct dl_predict_answer *s,
                              struct dl_diag *d);

#endif
