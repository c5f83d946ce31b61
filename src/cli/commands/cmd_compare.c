/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest compare: estimators side by side on measured runs. */

#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "cli/calibration/calibration_table.h"
#include "cli/options/known_options.h"
#include "cli/passes/compare_pass.h"
#include "cli/views/compare_report.h"
#include "cli/views/result_columns.h"

/* A resample of a million groups takes seconds: a larger number is a mistake.
 */
#define MOST_RESAMPLES 1000000
#define LEAST_RESAMPLES 100

static enum dl_status read_resamples(const struct dl_option *row, char *arg,
                                     void *at, struct dl_diag *d) {
  size_t *n = at;
  (void)row, (void)d;
  return dl_parse_count(arg, n) && *n <= MOST_RESAMPLES &&
                 (*n == 0 || *n >= LEAST_RESAMPLES)
             ? DL_OK
             : DL_EUSAGE;
}

/* Power times time is the energy that is scored. */
static enum dl_status read_known(const struct dl_option *row, char *arg,
                                 void *at, struct dl_diag *d) {
  unsigned *known = at;
  enum dl_status status = dl_read_known_columns(row, arg, at, d);
  return status == DL_OK && (*known & DL_KNOW_POWER) ? DL_EUSAGE : status;
}

#define AT(kind, member) DL_STORE(kind, struct dl_compare_options, member)

static const struct dl_option options[] = {
    DL_HEADING("How it is scored:", 5),
    {"methods", 0, "LIST", "all (default) or names separated by commas",
     AT(TEXT, methods)},
    {"boundary", 0, "WHAT",
     "score energies of this boundary alone: gpu, gpu+ram, node-dc, node or "
     "facility (column boundary; gpu_energy_j is of gpu)",
     AT(CHOICE, boundary), .words = DL_BOUNDARY_WORDS},
    {"by", 0, "COLUMN", "scores for each value of a column", AT(TEXT, by)},
    {"cv", 0, "group:COLUMN",
     "refit the models on each table without the group they predict",
     AT(TEXT, cv), .methods = DL_FITTED_METHODS},
    {"model", 0, "FILE",
     "model file of dlest fit (default: the installed ones); several are "
     "compared with each other",
     AT(LIST, model), .reads = true, .methods = DL_FITTED_METHODS},
    {"coverage", 0, "PERCENT",
     "coverage of the estimates' intervals (default 90)", AT(PERCENT, coverage),
     .methods = DL_FITTED_METHODS},
    {"known", 0, "LIST",
     "measured columns that the estimates know: time (default: durations, "
     "epoch and step times, throughputs), gpu_util; duration alone, whatever "
     "was done in it; or none",
     DL_READ(read_known, struct dl_compare_options, known),
     .expected = "time, duration and gpu_util separated by commas, or none",
     .methods = DL_TIMED_METHODS},
    {"details", 0, NULL,
     "print RMSE, MAE and R2, and how the intervals are computed",
     AT(FLAG, details)},
    DL_HEADING("Confidence of the scores:", 6),
    {"bootstrap", 0, "N",
     "resamples for the intervals of the scores (default 2000; 0: none)",
     AT(COUNT, how.resamples), .read = read_resamples,
     .expected = "0, or a whole number from 100 to 1000000"},
    {"bootstrap-by", 0, "COLUMN",
     "unit that is drawn: config, run, or all runs with the same value of a "
     "column (default: GPUs and architectures, or else configurations)",
     AT(TEXT, bootstrap_by)},
    {"confidence", 0, "PERCENT",
     "confidence of the scores' intervals and ranks (default 95)",
     AT(PERCENT, how.confidence)},
    {"seed", 0, "N", "seed of the draws (default 1)", AT(COUNT, how.seed),
     .high = UINT32_MAX},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    {dl_job_options_rows, offsetof(struct dl_compare_options, job)},
    {dl_table_options_rows, offsetof(struct dl_compare_options, job)},
    {0},
};

static void init(void *options_at) {
  struct dl_compare_options *o = options_at;
  o->methods = "all";
  o->bootstrap_by = "config";
  o->coverage = 0.9;
  o->known = DL_KNOW_TIME;
  o->how.resamples = 2000;
  o->how.confidence = 0.95;
  o->how.seed = 1;
  o->boundary = DL_N_BOUNDS;
  dl_job_options_init(&o->job);
}

static bool scores_fitted(const struct dl_compare_options *o) {
  return strcmp(o->methods, "all") == 0 || strstr(o->methods, "pre-") ||
         strstr(o->methods, "physical");
}

static enum dl_status open_models(struct dl_comparing *w) {
  const struct dl_strlist *l = &w->o->model;
  if (l->n > DL_MOST_MODELS)
    return dl_fail(&w->cli->diag, DL_EUSAGE,
                   "--model: %zu models; compare at most %d at a time", l->n,
                   DL_MOST_MODELS);
  w->n_models = l->n > 0 ? l->n : 1;
  for (size_t k = 0; k < w->n_models; k++)
    DL_TRY(dl_open_model(w->cli, l->n > 0 ? l->s[k] : NULL, DL_ANY_JOB,
                         &w->model[k]));
  return DL_OK;
}

/* All tables; each must have a run that can be scored. */
static enum dl_status score_tables(struct dl_comparing *w) {
  struct dl_diag *d = &w->cli->diag;
  for (w->table = 0; w->table < w->cli->n_arguments; w->table++) {
    size_t before = w->scores.n;
    struct dl_progress_span outer =
        dl_progress_enter(d->progress, w->table, w->cli->n_arguments);
    enum dl_status status = dl_compare_table(w);
    dl_progress_leave(d->progress, outer);
    DL_TRY(status);
    if (w->scores.n == before && w->elsewhere > 0)
      return dl_fail_at(d, DL_EINPUT, w->cli->argument[w->table], 0,
                        "no run has an energy of boundary %s; see column "
                        "boundary",
                        dl_boundary_name(w->o->boundary));
    if (w->scores.n == before)
      return dl_fail_at(d, DL_EINPUT, w->cli->argument[w->table], 0,
                        "no run that could be scored");
  }
  dl_compare_warn(w);
  if (!w->o->cv && scores_fitted(w->o))
    dl_warn(d, "fitted methods may be scored on runs that their models were "
               "fitted on; --cv group:COLUMN refits them without these runs");
  return DL_OK;
}

static void free_comparing(struct dl_comparing *w) {
  dl_scoring_free(&w->scores);
  dl_same_tables_free(&w->same);
  dl_intern_free(&w->lacks);
  dl_intern_free(&w->crossed);
  for (size_t k = 0; k < w->n_models; k++)
    dl_model_free(w->model[k]);
  dl_strlist_free(&w->methods);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct dl_compare_options *o = options_at;
  DL_SCOPED(free_comparing)
  struct dl_comparing w = {.cli = cli, .o = o, .same = {.path = cli->argument}};
  size_t n_pipes = 0;
  for (size_t i = 0; i < cli->n_arguments; i++)
    n_pipes += dl_is_stdio(cli->argument[i]);
  if (n_pipes > 1)
    return dl_fail(&cli->diag, DL_EUSAGE, "standard input can be read once");
  for (size_t i = 0; i < cli->n_arguments; i++)
    DL_TRY(dl_table_check(cli->argument[i], &cli->diag));
  o->job.has_table = true;
  if (o->how.resamples == 0)
    DL_TRY(dl_cli_refuse(cli, "bootstrap-by|confidence|seed",
                         "with --bootstrap 0"));
  DL_TRY(dl_job_options_check(cli, &o->job, o->methods));
  DL_TRY(dl_cli_refuse(cli, "cores", "here: it is for predict"));
  DL_TRY(dl_cli_refuse(cli, "gpu-power",
                       "here: power times time is the energy scored"));
  if (dl_run_has(&o->job.run, DL_RUN_gpu_util))
    o->known |= DL_KNOW_UTIL;
  DL_TRY(open_models(&w));
  struct dl_progress *progress = cli->diag.progress;
  struct dl_progress_span whole = dl_progress_enter(progress, 0, 2);
  DL_TRY(score_tables(&w));
  dl_progress_leave(progress, whole);
  dl_progress_enter(progress, 1, 2);
  struct dl_comparison c = {.scores = &w.scores,
                            .tables = {cli->argument, cli->n_arguments, 0},
                            .methods = w.methods,
                            .models = o->model,
                            .by = o->by,
                            .how = o->how,
                            .details = o->details || cli->format->whole,
                            .held_out = o->cv ? strchr(o->cv, ':') + 1 : NULL,
                            .resampled = o->bootstrap_by};
  return dl_print_comparison(cli, &c);
}

const struct dl_command dl_cmd_compare = {
    .name = "compare",
    .summary = "score estimators side by side on measured runs",
    .arguments = "RUNS.csv...",
    .doc = "Estimate every measured run from its own settings and score each "
           "method against the measured energy: gpu_energy_j for the boundary "
           "gpu where the table has it, else energy_j."
           "\vExamples:\n"
           "  dlest compare runs.csv --cv group:gpu\n"
           "  dlest compare runs.csv --methods tdp,pre-power --by arch\n"
           "  dlest compare runs.csv --bootstrap-by gpu --format latex\n",
    .tables = tables,
    .options_size = sizeof(struct dl_compare_options),
    .init = init,
    .free = dl_job_options_free,
    .rereads = true,
    .run = run,
};
