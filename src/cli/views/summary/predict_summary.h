/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest predict prints this by default: one answer on one screen. */

#ifndef DL_CLI_VIEWS_SUMMARY_PREDICT_SUMMARY_H
#define DL_CLI_VIEWS_SUMMARY_PREDICT_SUMMARY_H

#include "cli/options/hours_options.h"
#include "cli/views/node_report.h"
#include "estimate/result.h"
#include "output/report.h"

/* The results that dlest predict reports for one job. */
struct dl_predict_answer {
  struct dl_result result;
  const struct dl_job_options *o;
  const struct dl_node_options *node;
  double coverage;    /* 0 .. 1 */
  double budget_kwh;  /* INFINITY: none */
  const char *better; /* a set-up that takes less energy; NULL: none */
  char interval[32];  /* "90 % interval" */
  /* A node's energy and power at the boundary of the answer, the factor from it
   * to the energy that is paid for, and the embodied carbon that the job is
   * charged. Numbers are NaN without a node. */
  struct dl_interval node_j, node_power_w;
  double node_paid;
  const char *node_boundary;
  double embodied_g;
  struct dl_hours_used hours; /* with --intensity-hours */
};

/* The share of the interval of the answer's energy that lies above the budget,
 * by logarithms: NaN without an interval. */
double dl_predict_over_budget(const struct dl_predict_answer *s);

/* Adds energy, time, power, emissions and cost of the recommended estimate for
 * people, each with its interval if there is one; then what is assumed, what
 * the estimate is based on, and a better set-up. The report is a group with the
 * title of dl_predict_title. */
void dl_predict_summary(struct dl_report *r, const struct dl_predict_answer *s,
                        const char *assumed);

/* Adds when the run starts, for programs. */
void dl_predict_start(struct dl_report *r, const struct dl_predict_answer *s);

/* Names of the columns whose values are assumed: neither given nor from what is
 * given. */
struct dl_assumed_names {
  const char *name[40];
  size_t n;
};

/* Appends "ResNet-50 on 4 x NVIDIA A100-SXM4-40GB: 90 epochs", the network, the
 * machine and the settings that were given, and to `assumed` the settings that
 * were not: "ImageNet, batch size 256, TF32", all of which *names has. */
void dl_predict_title(struct dl_text *t, struct dl_text *assumed,
                      struct dl_assumed_names *names, const struct dl_job *job,
                      const struct dl_node_options *node);

/* Adds the columns that are known of a training, the share of the time in which
 * the GPUs work, and the power of GPUs that wait; nothing if there are none. */
void dl_predict_known(struct dl_report *r, const struct dl_job *job,
                      const struct dl_conditioned *known);

/* A table: the figures of the accelerator and the network that
 * methods use, each with its source. */
void dl_predict_sources(struct dl_report *r, const struct dl_job *job);

#endif
