/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest recommend: its options, and the sources of its choices. */

#ifndef DL_CLI_PASSES_RECOMMEND_H
#define DL_CLI_PASSES_RECOMMEND_H

#include "cli/options/hours_options.h"
#include "cli/options/node_options.h"
#include "cli/views/result_columns.h"
#include "estimate/choices.h"
#include "model/replicates/replicates.h"

/* Prices of an hour on accelerators of one kind, or (name NULL) of all. A name
 * is as it was typed, an identifier from dl_recommend_regions on. */
struct dl_hour_prices {
  struct dl_named_number of[64];
  size_t n;
  const char *currency; /* NULL: none given */
};

/* Reads "2.5USD/h", or "h100=2.5USD/h,a100=1.3USD/h". */
enum dl_status dl_read_hour_prices(const struct dl_option *row, char *arg,
                                   void *at, struct dl_diag *d);

struct dl_recommend_options {
  struct dl_job_options job;
  struct dl_hours_options hours;
  const char *method;        /* NULL: by the energies of a table */
  const char *model;         /* file, or NULL for those that ship */
  const char *accuracy;      /* table, or NULL */
  const char *table;         /* runs, or NULL */
  const char *nodes;         /* list of nodes, "all", or NULL */
  const char *where;         /* formula that accelerators meet, or NULL */
  enum dl_boundary boundary; /* of the energies; DL_N_BOUNDS: the widest */
  double coverage;           /* 0 .. 1 */
  struct dl_choice_limits limits;
  double budget_kwh;    /* limits.budget_j in kWh; INFINITY without one */
  struct dl_strlist by; /* names of the objectives */
  struct dl_hour_prices gpu_price;
  bool all, explain; /* text prints every choice, the settings */
  bool extrapolate;  /* accelerators of generations that were not measured
                        are choices too */
  bool searched;     /* accelerators or nodes of the catalogue, not a list */
};

/* A node and how many of its accelerators are used. */
struct dl_recommend_node {
  struct dl_job_options job; /* axes borrowed */
  struct dl_node_options o;
  struct dl_choice_node at;
  struct dl_row_plan *f;
  struct dl_engine *engine;
};

/* Owns what the choices point to. Start from {0}. */
struct dl_recommend_data {
  struct dl_choices choices;
  struct dl_row_plan *f;
  struct dl_model *m;
  struct dl_engine *engine;
  struct dl_repeats repeats;
  struct dl_measured measured;
  struct dl_recommend_node *node; /* owned, as what they point to */
  size_t n_nodes, cap_nodes;
  struct dl_strlist names;     /* of regions */
  struct dl_footprint *region; /* countries, cloud regions or what else the
                                  options say of the place; owned; one at
                                  least */
  size_t n_regions;
};
void dl_recommend_free(struct dl_recommend_data *r);

/* Name of a region; NULL: it is the only one. */
const char *dl_recommend_region_name(const struct dl_recommend_data *r,
                                     size_t i);

/* Finds the regions that --country or --cloud list; o->job.foot is the first.
 * Errors: names that are unknown, and objectives that nothing gives. */
enum dl_status dl_recommend_regions(struct dl_cli *cli,
                                    struct dl_recommend_options *o,
                                    struct dl_recommend_data *r);

/* Whether a node is one of the provider of a cloud region (NULL: of any). */
bool dl_is_of_provider(const char *node, const char *cloud);

/* Sets emissions and cost of a choice. By the hour all accelerators of a node
 * are billed; node_price: of an hour of all its nodes, or NaN. */
void dl_recommend_cost(const struct dl_recommend_options *o,
                       const struct dl_footprint *foot, double node_price,
                       struct dl_alternative *c);

/* Repeats choices that have no node for each region, and sets their emissions
 * and costs. */
enum dl_status dl_recommend_costs(struct dl_cli *cli,
                                  const struct dl_recommend_options *o,
                                  struct dl_recommend_data *r);

/* Choices by estimates of all combinations of o->job.axes, by r->m. */
enum dl_status dl_recommend_estimate(struct dl_cli *cli,
                                     struct dl_recommend_options *o,
                                     struct dl_recommend_data *r);

/* Estimates the choices on each of o->nodes by the energy of the whole node: of
 * the facility, if the PUE of all is known. The axes are the axes of a run
 * without the accelerator, which the node has, and with the number of them
 * (default: all). */
enum dl_status dl_recommend_nodes(struct dl_cli *cli,
                                  struct dl_recommend_options *o,
                                  struct dl_recommend_data *r);
void dl_recommend_free_nodes(struct dl_recommend_data *r);

/* Choices by a table of runs, those that the axes name: by their energies or,
 * where it has no column of these, by estimates of r->m under the condition of
 * the times, speeds, utilization and power in the table. */
enum dl_status dl_recommend_table(struct dl_cli *cli,
                                  struct dl_recommend_options *o,
                                  struct dl_recommend_data *r);

/* Gives the choices the accuracy that a table has for their architecture. */
enum dl_status dl_recommend_accuracy(struct dl_cli *cli, const char *path,
                                     struct dl_choices *l);

enum dl_status dl_recommend_report(struct dl_cli *cli,
                                   const struct dl_recommend_options *o,
                                   const struct dl_recommend_data *r);

#endif
