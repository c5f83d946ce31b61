/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest compare: estimators side by side on measured runs. */

#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "cli/passes/compare_pass.h"
#include "cli/views/compare_report.h"
#include "cli/views/estimate_rows.h"

enum {
  KEY_METHODS = 0x500,
  KEY_BY,
  KEY_CV,
  KEY_MODEL,
  KEY_COVERAGE,
  KEY_BOOTSTRAP,
  KEY_BOOTSTRAP_BY,
  KEY_CONFIDENCE,
  KEY_SEED
};

/* A resample of a million groups takes seconds: more of them is a mistake. */
#define MOST_RESAMPLES 1000000
#define LEAST_RESAMPLES 100

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "How it is scored:", 5},
    {"methods", KEY_METHODS, "LIST", 0,
     "all (default) or names separated by commas", 5},
    {"by", KEY_BY, "COLUMN", 0, "scores for each value of a column", 5},
    {"cv", KEY_CV, "group:COLUMN", 0,
     "refit the models on each table without the group they predict", 5},
    {"model", KEY_MODEL, "FILE", 0,
     "model made by dlest fit, in place of those that ship; several are "
     "compared with each other",
     5},
    {"coverage", KEY_COVERAGE, "PERCENT", 0,
     "coverage of the estimates' intervals (default 90)", 5},
    {NULL, 0, NULL, 0, "How sure the scores are:", 6},
    {"bootstrap", KEY_BOOTSTRAP, "N", 0,
     "resamples for the intervals of the scores (default 2000; 0: none)", 6},
    {"bootstrap-by", KEY_BOOTSTRAP_BY, "COLUMN", 0,
     "what is drawn: config (default), run, or all runs that share a value of "
     "a column",
     6},
    {"confidence", KEY_CONFIDENCE, "PERCENT", 0,
     "of the scores' intervals and of the ranks (default 95)", 6},
    {"seed", KEY_SEED, "N", 0, "seed of the draws (default 1)", 6},
    {0},
};

static void take(struct dl_strlist *l, const char *arg,
                 struct argp_state *state) {
  if (!dl_strlist_add(l, arg))
    argp_failure(state, DL_EFAILED, 0, "out of memory");
}

static void take_resamples(struct dl_compare_options *o, const char *arg,
                           struct argp_state *state) {
  size_t n;
  if (!dl_parse_count(arg, &n) || n > MOST_RESAMPLES ||
      (n > 0 && n < LEAST_RESAMPLES))
    argp_error(state, "--bootstrap: invalid number '%s': 0, or %d to %d", arg,
               LEAST_RESAMPLES, MOST_RESAMPLES);
  o->how.resamples = n;
}

static error_t parse_bootstrap(struct dl_compare_options *o, int key, char *arg,
                               struct argp_state *state) {
  size_t seed;
  switch (key) {
  case KEY_BOOTSTRAP:
    take_resamples(o, arg, state);
    return 0;
  case KEY_BOOTSTRAP_BY:
    o->bootstrap_by = arg;
    return 0;
  case KEY_CONFIDENCE:
    o->how.confidence = dl_arg_percent(state, "confidence", arg);
    return 0;
  case KEY_SEED:
    if (!dl_parse_count(arg, &seed) || seed > UINT32_MAX)
      argp_error(state, "--seed: invalid number '%s'", arg);
    o->how.seed = seed;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct dl_compare_options *o = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &o->job;
    return 0;
  case KEY_METHODS:
    o->methods = arg;
    return 0;
  case KEY_BY:
    o->by = arg;
    return 0;
  case KEY_CV:
    o->cv = arg;
    return 0;
  case KEY_MODEL:
    take(&o->model, arg, state);
    return 0;
  case KEY_COVERAGE:
    o->coverage = dl_arg_percent(state, "coverage", arg);
    return 0;
  case ARGP_KEY_ARG:
    if (strcmp(arg, "-") == 0 && dl_strlist_find(&o->input, arg) >= 0)
      argp_error(state, "standard input can be read once");
    take(&o->input, arg, state);
    return 0;
  case ARGP_KEY_END:
    if (o->input.n == 0)
      argp_error(state, "which table of runs?");
    return 0;
  default:
    return parse_bootstrap(o, key, arg, state);
  }
}

static const struct argp_child children[] = {{&dl_job_argp, 0, NULL, 0}, {0}};
static const struct argp compare_argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "RUNS.csv...",
    .doc = "Estimate every measured run from its own settings and score each "
           "method against the measured energy: gpu_energy_j for the boundary "
           "gpu where the table has it, else energy_j."
           "\vExamples:\n"
           "  dlest compare runs.csv --cv group:gpu\n"
           "  dlest compare runs.csv --methods tdp,pre-power --by arch\n"
           "  dlest compare runs.csv --bootstrap-by gpu --format latex\n",
};

static bool scores_pre(const struct dl_compare_options *o) {
  return strcmp(o->methods, "all") == 0 || strstr(o->methods, "pre-");
}

static enum dl_status open_models(struct dl_comparing *w) {
  const struct dl_strlist *l = &w->o->model;
  if (l->n > DL_MOST_MODELS)
    return dl_fail(&w->cli->diag, DL_EUSAGE,
                   "--model: %zu models; compare at most %d at a time", l->n,
                   DL_MOST_MODELS);
  w->n_models = l->n > 0 ? l->n : 1;
  enum dl_status status = DL_OK;
  for (size_t k = 0; k < w->n_models && status == DL_OK; k++)
    status = dl_open_model(w->cli, l->n > 0 ? l->s[k] : NULL, &w->model[k]);
  return status;
}

/* All tables; each must have a run that can be scored. */
static enum dl_status score_tables(struct dl_comparing *w) {
  struct dl_diag *d = &w->cli->diag;
  enum dl_status status = DL_OK;
  for (w->table = 0; w->table < w->o->input.n && status == DL_OK; w->table++) {
    size_t before = w->scores.n;
    status = dl_compare_table(w);
    if (status == DL_OK && w->scores.n == before)
      status = dl_fail_at(d, DL_EINPUT, w->o->input.s[w->table], 0,
                          "no run that could be scored");
  }
  if (status == DL_OK && !w->o->cv && scores_pre(w->o))
    dl_warn(d, "PRE may be scored on runs that its model was fitted on; --cv "
               "group:COLUMN refits it without them");
  return status;
}

static enum dl_status run(struct dl_cli *cli, int argc, char **argv) {
  struct dl_compare_options o = {
      .methods = "all",
      .bootstrap_by = "config",
      .coverage = 0.9,
      .how = {.resamples = 2000, .confidence = 0.95, .seed = 1}};
  dl_cli_parse(cli, &compare_argp, argc, argv, &o);
  struct dl_comparing w = {.cli = cli, .o = &o};
  enum dl_status status = open_models(&w);
  if (status == DL_OK)
    status = score_tables(&w);
  if (status == DL_OK) {
    struct dl_comparison c = {.scores = &w.scores,
                              .tables = o.input,
                              .methods = w.methods,
                              .models = o.model,
                              .by = o.by,
                              .how = o.how,
                              .resampled = o.bootstrap_by};
    status = dl_print_comparison(cli, &c);
  }
  dl_scoring_free(&w.scores);
  for (size_t k = 0; k < w.n_models; k++)
    dl_model_free(w.model[k]);
  dl_strlist_free(&w.methods);
  dl_strlist_free(&o.input);
  dl_strlist_free(&o.model);
  dl_job_options_free(&o.job);
  return dl_cli_end(cli, status);
}

const struct dl_command dl_cmd_compare = {
    .name = "compare",
    .summary = "score estimators side by side on measured runs",
    .argp = &compare_argp,
    .run = run,
};
