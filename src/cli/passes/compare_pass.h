/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scoring the runs of a table by all methods and models. */

#ifndef DL_CLI_PASSES_COMPARE_PASS_H
#define DL_CLI_PASSES_COMPARE_PASS_H

#include "base/names/intern.h"
#include "cli/command.h"
#include "cli/options/job_options.h"
#include "estimate/node/node.h"
#include "estimate/scoring.h"
#include "io/same_tables.h"

struct dl_compare_options {
  struct dl_job_options job;
  struct dl_strlist model; /* files */
  const char *methods, *by, *cv;
  const char *bootstrap_by; /* "config", "run", or a column */
  double coverage;
  unsigned known; /* columns of a run that the estimates use */
  struct dl_resampling how;
  bool details;
  enum dl_boundary boundary; /* of the energies; DL_N_BOUNDS: any */
};

enum { DL_MOST_MODELS = 16, DL_MOST_METHODS = 32 };

/* One pass over each table; with --cv one for each group held out. */
struct dl_comparing {
  struct dl_cli *cli;
  struct dl_compare_options *o;
  struct dl_model *model[DL_MOST_MODELS];
  size_t n_models;
  size_t table; /* that is read */
  struct dl_same_tables same;
  size_t elsewhere; /* runs whose energies are of another boundary */
  struct dl_strlist methods;
  struct dl_scoring scores;
  /* Runs without an estimate by each method, and what the first of them lacks:
   * its number in `lacks`. */
  size_t silent[DL_MOST_METHODS];
  long lacking[DL_MOST_METHODS];
  struct dl_intern lacks; /* names of quantities */
  struct dl_intern
      crossed; /* "boundary measured\tboundary estimated\tmethod" */
};

/* Warns of methods that have no estimate for some of the runs, with the
 * quantity that they lack, and of those that are scored against an energy of
 * another boundary than theirs. */
void dl_compare_warn(const struct dl_comparing *w);

/* Adds the runs of the table number w->table to the scores, estimated by the
 * models as they are, or (--cv) refitted without each group in turn. */
enum dl_status dl_compare_table(struct dl_comparing *w);

#endif
