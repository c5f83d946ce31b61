/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest fit: regression models from measured runs. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/calibration/calibration_table.h"
#include "cli/command.h"
#include "cli/options/job_options.h"
#include "cli/passes/fit_auxiliary.h"
#include "cli/passes/fit_predictions.h"
#include "cli/views/result_columns.h"
#include "cli/views/fit_report.h"
#include "cli/views/summary/fit_summary.h"
#include "cli/views/summary/fit_summary.h"
#include "estimate/assumptions.h"
#include "model/replicates/replicates.h"
#include "model/fitting/model_selection.h"
#include "model/fitting/train.h"
#include "model/training/training_columns.h"
#include "model/replicates/means_input.h"
#include "physics/training/training_cost.h"

enum { MOST_LEFT_OUT_ONE = 300 /* rows for which each may be a fold */ };

struct fit_options {
  struct dl_job_options job; /* --set, --define, --alias */
  struct dl_predictions predictions;
  struct dl_strlist targets;
  const char *method, *features, *offset, *weight, *cv, *search, *citation;
  const char *means;
  const char *with; /* table to learn from; NULL: the one that ships */
  bool log, no_log, no_scale, no_model, details;
  size_t seed;
  double alpha, gamma, lambda; /* NaN: open */
};

#define AT(kind, member) DL_STORE(kind, struct fit_options, member)

static const struct dl_option options[] = {
    DL_HEADING("What is fitted:", 1),
    {"target", 0, "COLUMN",
     "quantity to fit; may be given several times (default: gpu_power_w, "
     "epoch_energy_j and epoch_s, as far as the table has them)",
     AT(LIST, targets)},
    {"features", 0, "LIST",
     "formulas over columns and descriptors, separated by commas: "
     "'log(macs_g), gpu.tdp_w' (default: chosen)",
     AT(TEXT, features)},
    {"offset", 0, "FORMULA",
     "known factor of the target (known addend with --no-log)",
     AT(TEXT, offset), .with = "features"},
    {"weight", 0, "COLUMN", "weight of each row (a table of means: n)",
     AT(TEXT, weight)},
    {"log", 0, NULL, "fit the target's logarithm", AT(FLAG, log),
     .without = "no-log", .with = "features"},
    {"no-log", 0, NULL, "fit the target itself (default with --features)",
     AT(FLAG, no_log), .with = "features"},
    DL_HEADING("How:", 2),
    {"method", 'm', "NAME",
     "ols, ridge, krr, physical, serving or language (default: chosen)",
     AT(TEXT, method)},
    {"cv", 0, "SCHEME",
     "kfold:K, kfold-shuffled:K, group:COLUMN or none (default group:config, "
     "kfold-shuffled:5 without groups)",
     AT(TEXT, cv)},
    {"search", 0, "HOW",
     "hyper-parameters by cross-validation: grid, grid:N or random:N",
     AT(TEXT, search)},
    {"lambda", 0, "X", "penalty of ridge", AT(ABOVE, lambda),
     .with = "features|method"},
    {"alpha", 0, "X", "penalty of krr", AT(ABOVE, alpha),
     .with = "features|method"},
    {"gamma", 0, "X", "inverse width of krr's kernel", AT(ABOVE, gamma),
     .with = "features|method"},
    {"with", 0, "FILE",
     "auxiliary training data for physical, without the GPU or architecture "
     "that a fold holds out (default: the table that ships; none)",
     AT(TEXT, with), .reads = true, .without = "features"},
    {"no-scale", 0, NULL, "do not scale the features", AT(FLAG, no_scale)},
    {"seed", 0, "N", "seed of shuffled folds and searches (default 1)",
     AT(COUNT, seed)},
    DL_HEADING("The model file:", 4),
    {"no-model", 0, NULL, "do not write a model file", AT(FLAG, no_model),
     .without = "output"},
    {"cite", 0, "TEXT", "source of the runs, stored in the model file",
     AT(TEXT, citation), .without = "no-model"},
    {"means", 0, "FILE",
     "write the table of configurations (means, standard deviations, n) to "
     "FILE and stop; of tables of means: join them",
     AT(TEXT, means),
     .without = "target|features|offset|weight|log|no-log|method|cv|search|"
                "lambda|alpha|gamma|with|no-scale|seed|no-model|cite|"
                "predictions|output|format|details"},
    {"predictions", 0, "FILE",
     "write the table with the out-of-fold prediction of each row to FILE "
     "(see dlest plot fit)",
     AT(TEXT, predictions.path), .output = true},
    {"details", 0, NULL,
     "print hyper-parameters, constants, folds and residuals by group",
     AT(FLAG, details)},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    {dl_table_options_rows, offsetof(struct fit_options, job)},
    {0},
};

static void init(void *options_at) {
  struct fit_options *o = options_at;
  o->seed = 1;
  o->alpha = o->gamma = o->lambda = NAN;
}

static enum dl_status read_method(struct dl_choice *c,
                                  const struct fit_options *o,
                                  struct dl_diag *d) {
  c->method = dl_regression_find(o->method ? o->method : "ridge");
  if (!c->method)
    return dl_fail(d, DL_EUSAGE,
                   "unknown method '%s'; use ols, ridge, krr, "
                   "physical, serving, language or tuned",
                   o->method);
  static const char *const name[] = {"alpha", "gamma", "lambda"};
  const double given[] = {o->alpha, o->gamma, o->lambda};
  for (size_t i = 0; i < DL_MAX_HYPER; i++)
    c->hyper[i] = NAN;
  for (size_t g = 0; g < DL_LENGTH(given); g++) {
    bool used = isnan(given[g]);
    for (size_t i = 0; i < c->method->n_hyper; i++)
      if (strcmp(c->method->hyper[i].name, name[g]) == 0) {
        c->hyper[i] = given[g];
        used = true;
      }
    if (!used)
      return dl_fail(d, DL_EUSAGE, "%s has no hyper-parameter '%s'",
                     c->method->name, name[g]);
  }
  return DL_OK;
}

/* Options that have no effect on the method. */
static enum dl_status refuse_idle(const struct dl_choice *c,
                                  const struct fit_options *o,
                                  struct dl_diag *d) {
  bool searched = o->search && (o->method || o->features);
  if (searched && c->method->n_hyper == 0)
    return dl_fail(d, DL_EUSAGE, "--search: %s has no hyper-parameters",
                   c->method->name);
  if (o->no_scale && c->method->physics)
    return dl_fail(d, DL_EUSAGE, "--no-scale: %s has no features to scale",
                   c->method->name);
  return DL_OK;
}

/* One table read, and the fits made from it. */
struct fitting {
  struct dl_cli *cli;
  struct fit_options *o;
  struct dl_row_plan *f;
  struct dl_csv *csv;
  struct dl_training t, more;
  struct dl_cv_spec cv;
  bool automatic; /* recipes are tried */
  bool means;     /* rows are means of n runs */
  struct dl_model *m;
  struct dl_fit_view view;
};

static void add_once(struct dl_strlist *l, const char *text) {
  if (text && dl_strlist_find(l, text) < 0)
    dl_strlist_add(l, text);
}

/* Formulas given by hand. */
static enum dl_status manual_formulas(struct fitting *w) {
  const struct fit_options *o = w->o;
  struct dl_diag *d = &w->cli->diag;
  DL_SCOPED(dl_strlist_free) struct dl_strlist features = {0};
  if (o->targets.n == 0)
    return dl_fail(d, DL_EUSAGE, "--features needs a --target");
  dl_strlist_split(&features, o->features, ',');
  for (size_t i = 0; i < features.n; i++)
    add_once(&w->t.formula, features.s[i]);
  for (size_t i = 0; i < o->targets.n; i++)
    add_once(&w->t.formula, o->targets.s[i]);
  add_once(&w->t.formula, o->offset);
  return DL_OK;
}

/* No recipe for a target, or not with the columns of the table: which ones are
 * missing. */
static enum dl_status refuse_target(struct fitting *w, const char *target) {
  static const char *const all[][2] = {{"gpu_power_w", "gpu_power_w"},
                                       {"epoch_energy_j", "energy_j"},
                                       {"epoch_s", "duration_s"}};
  struct dl_diag *d = &w->cli->diag;
  const char *path = dl_csv_path(w->csv), *measured = NULL;
  for (size_t i = 0; i < DL_LENGTH(all); i++)
    if (strcmp(all[i][0], target) == 0)
      measured = all[i][1];
  struct dl_row_ref q;
  if (measured)
    DL_TRY(dl_plan_quantity(w->f, measured, true, &q, d));
  if (measured && strcmp(target, measured) != 0)
    DL_TRY(dl_plan_quantity(w->f, "epochs", true, &q, d));
  return dl_fail_at(d, DL_EUSAGE, path, 0,
                    "no recipe fits target '%s' with the columns of this "
                    "table; choose with --features",
                    target);
}

/* Formulas of the recipes that the table allows; the targets that it does. */
static enum dl_status recipe_formulas(struct fitting *w) {
  static const char *const usual[] = {"gpu_power_w", "epoch_energy_j",
                                      "epoch_s"};
  struct dl_strlist *targets = &w->o->targets;
  struct dl_diag *d = &w->cli->diag;
  bool given = targets->n > 0;
  size_t n = given ? targets->n : sizeof usual / sizeof *usual;
  for (size_t i = 0; i < n; i++) {
    bool any;
    const char *want = given ? targets->s[i] : usual[i];
    DL_TRY(dl_recipe_formulas(&w->t, w->f, want, w->o->method, &any, d));
    if (given && !any)
      return refuse_target(w, want);
    if (!given && any)
      dl_strlist_add(targets, want);
  }
  if (targets->n == 0)
    return dl_fail_at(d, DL_EINPUT, dl_csv_path(w->csv), 0,
                      "nothing to fit: found neither gpu_power_w nor "
                      "energy_j with epochs, or too few settings beside them; "
                      "choose with --target and --features");
  return DL_OK;
}

static enum dl_status read_table(struct fitting *w) {
  struct dl_diag *d = &w->cli->diag;
  const struct fit_options *o = w->o;
  DL_SCOPED(dl_strlist_free) struct dl_strlist groups = {0};
  DL_TRY(w->automatic ? recipe_formulas(w) : manual_formulas(w));
  if (w->means)
    DL_TRY(dl_means_formulas(&w->t, &w->o->targets, w->csv, d));
  add_once(&w->t.formula, o->weight);
  if (w->automatic || !(w->cv.none && o->cv)) {
    dl_strlist_add(&groups, "config");
    dl_strlist_add(&groups, "arch");
    dl_strlist_add(&groups, "gpu");
  }
  const char *must =
      w->cv.scheme == DL_GROUP && o->cv && !w->cv.none ? w->cv.column : NULL;
  DL_TRY(dl_training_read(&w->t, w->csv, w->f, &groups, must, d));
  dl_plan_warn_unused(w->f, d);
  dl_plan_warn_aliases(w->f, d);
  return DL_OK;
}

/* Without a scheme given: by configuration where there are some. */
static void default_cv(struct fitting *w) {
  if (w->o->cv)
    return;
  const struct dl_labels *l = dl_training_labels(&w->t, "config");
  bool repeated = l && (l->names.n < w->t.n || w->means);
  if (l && l->names.n >= 3 && (repeated || w->t.n <= MOST_LEFT_OUT_ONE)) {
    w->cv = (struct dl_cv_spec){.scheme = DL_GROUP};
    strcpy(w->cv.column, "config");
  } else {
    w->cv = (struct dl_cv_spec){.scheme = DL_KFOLD_SHUFFLED,
                                .k = w->t.n < 5 ? w->t.n : 5};
  }
}

/* Options that have no effect on this choice. */
static enum dl_status check_choice(struct fitting *w,
                                   const struct dl_choice *c) {
  bool open = false;
  char why[64];
  for (size_t i = 0; i < c->method->n_hyper; i++)
    open |= isnan(c->hyper[i]);
  bool drawn = (!c->cv.none && c->cv.scheme == DL_KFOLD_SHUFFLED) ||
               (c->search && c->search_kind == DL_SEARCH_RANDOM);
  if (dl_cli_given(w->cli, "seed") && !drawn)
    dl_warn(&w->cli->diag, "--seed has no effect: neither the folds nor the "
                           "search are drawn at random");
  snprintf(why, sizeof why, "on %s: no hyper-parameter is open",
           c->method->name);
  return open ? DL_OK : dl_cli_refuse(w->cli, "search", why);
}

static void free_features(struct dl_choice *c) {
  dl_strlist_free(&c->features);
}

/* Completes a choice; `tried` gets the candidates of an automatic one. */
static enum dl_status choose(struct fitting *w, struct dl_choice *c,
                             struct dl_trials *tried) {
  const struct fit_options *o = w->o;
  struct dl_diag *d = &w->cli->diag;
  DL_TRY(read_method(c, o, d));
  DL_TRY(refuse_idle(c, o, d));
  DL_TRY(dl_search_parse(c, o->search, d));
  DL_TRY(check_choice(w, c));
  if (w->automatic)
    return dl_choose(c, &w->t, o->method ? c->method : NULL, tried, d);
  dl_strlist_split(&c->features, o->features, ',');
  return DL_OK;
}

static enum dl_status fit_target(struct fitting *w, const char *target) {
  const struct fit_options *o = w->o;
  struct dl_diag *d = &w->cli->diag;
  DL_SCOPED(free_features)
  struct dl_choice chosen = {.target = target,
                             .offset = o->offset,
                             .weight = w->means ? "n" : o->weight,
                             .log_target = o->log,
                             .scale = !o->no_scale,
                             .seed = o->seed,
                             .cv = w->cv};
  DL_SCOPED(dl_trials_free) struct dl_trials tried = {0};
  DL_SCOPED(dl_cv_free) struct dl_cv cv = {0};
  struct dl_fit *fit = &w->m->fit[w->m->n_fits];
  struct dl_progress_span whole = dl_progress_enter(d->progress, 0, 2);
  DL_TRY(choose(w, &chosen, &tried));
  dl_progress_leave(d->progress, whole);
  dl_progress_enter(d->progress, w->automatic, w->automatic + 1);
  DL_TRY(dl_train(fit, &cv, &w->t, &chosen, d));
  dl_progress_leave(d->progress, whole);
  w->m->n_fits++;
  DL_TRY(dl_predictions_add(&w->o->predictions, &w->t, fit, &cv, &chosen, d));
  dl_report_fit(&w->view, fit, &cv, &w->cv, &tried);
  return DL_OK;
}

static void describe_model(struct fitting *w) {
  struct dl_model *m = w->m;
  m->source = dl_strdup(dl_path_name(w->t.source));
  m->digest = dl_strdup(w->t.digest);
  m->rows = w->t.rows;
  m->options = dl_cli_command_line(w->cli, w->cli->argument[0]);
  if (w->o->citation)
    m->citation = dl_strdup(w->o->citation);
}

/* The model goes to -o, the report to standard output. */
static enum dl_status write_results(struct fitting *w) {
  struct dl_report *r = w->view.r;
  bool printed = false;
  describe_model(w);
  DL_TRY(dl_cli_strict(w->cli));
  if (w->o->predictions.out.f)
    DL_TRY(dl_output_commit(&w->o->predictions.out, &w->cli->diag));
  dl_fit_notes(r, w->m->fit, w->m->n_fits,
               w->o->targets.n == 1 ? dl_text_str(&w->view.choice) : "");
  if (w->o->no_model)
    dl_report_add(r, "model", NULL, NULL, DL_CODE, dl_string(NULL));
  else
    DL_TRY(dl_save_model(w->cli, w->m, ".dlest.xml", r, &printed));
  if (!w->o->details)
    dl_report_hint(r, "Recipes, scores and constants: --details.");
  if (w->means)
    dl_report_say(r, "Scores and intervals are those of the means over the "
                     "runs of a configuration, not of single runs.");
  if (printed)
    return DL_OK;
  w->view.r = NULL;
  return dl_cli_print(w->cli, r);
}

/* --means: the table of means of runs, or of tables of means, and no fit. */
static enum dl_status write_means(struct fitting *w) {
  struct dl_cli *cli = w->cli;
  DL_SCOPED(dl_means_free) struct dl_means m = {0};
  DL_TRY(w->means
             ? dl_means_read(&m, cli->argument, cli->n_arguments, &cli->diag)
             : dl_means_of_runs(&m, w->csv, w->f, &cli->diag));
  DL_TRY(dl_cli_strict(cli));
  return dl_means_save(&m, w->o->means, &cli->diag);
}

static enum dl_status open_table(struct fitting *w) {
  struct dl_cli *cli = w->cli;
  for (size_t i = 0; i < cli->n_arguments; i++)
    DL_TRY(dl_table_check(cli->argument[i], &cli->diag));
  DL_TRY(dl_means_open(cli->argument, cli->n_arguments,
                       w->automatic || w->o->log, &w->csv, &w->means,
                       &cli->diag));
  if (!w->means)
    return dl_csv_drop_empty(w->csv, &cli->diag);
  return dl_cli_refuse(
      cli, w->o->means ? "alias|define|set" : "define|weight|predictions",
      "on a table of means");
}

static enum dl_status fit_targets(struct fitting *w) {
  struct dl_diag *d = &w->cli->diag;
  const struct fit_options *o = w->o;
  const struct dl_regression *method =
      o->method ? dl_regression_find(o->method) : NULL;
  /* A physics predicts all targets by the fits of the first. */
  size_t n = method && method->physics ? 1 : o->targets.n;
  w->m->fit = dl_calloc(o->targets.n, sizeof *w->m->fit);
  for (size_t i = 0; i < o->targets.n; i++) {
    struct dl_progress_span whole =
        dl_progress_enter(d->progress, i < n ? i : 0, n);
    DL_TRY(fit_target(w, o->targets.s[i]));
    dl_progress_leave(d->progress, whole);
  }
  return DL_OK;
}

static enum dl_status fit_table(struct fitting *w) {
  struct dl_diag *d = &w->cli->diag;
  const struct fit_options *o = w->o;
  w->automatic = !o->features;
  if (o->method && strcmp(o->method, "physical") != 0 && o->with &&
      strcmp(o->with, "none") != 0)
    DL_TRY(dl_cli_refuse(w->cli, "with", "without --method physical"));
  if (o->cv)
    DL_TRY(dl_cv_parse(&w->cv, o->cv, d));
  DL_TRY(dl_predictions_check(&o->predictions, w->cli->argument[0], w->cv.none,
                              d));
  DL_TRY(open_table(w));
  if (o->means && w->means)
    return write_means(w);
  dl_plan_columns(w->f, w->csv);
  dl_plan_assume(w->f, dl_assume_language_setup, false);
  DL_TRY(dl_job_options_apply_table(&w->o->job, w->f, d));
  if (o->means)
    return write_means(w);
  DL_TRY(read_table(w));
  bool learns = dl_training_physics_rows(&w->t, &dl_training_physics);
  if (w->automatic && (o->with || learns))
    DL_TRY(dl_fit_learn_from(w->cli, &w->t, &w->more, o->with));
  if (!learns && o->with && strcmp(o->with, "none") != 0)
    dl_warn(d, "--with has no effect without a physical fit of this table");
  default_cv(w);
  DL_TRY(fit_targets(w));
  return write_results(w);
}

static void free_fitting(struct fitting *w) {
  dl_report_free(w->view.r);
  dl_text_free(&w->view.choice);
  dl_model_free(w->m);
  dl_plan_free(w->f);
  dl_training_free(&w->t);
  dl_training_free(&w->more);
  dl_csv_free(w->csv);
  dl_output_discard(&w->o->predictions.out);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct fit_options *o = options_at;
  DL_SCOPED(free_fitting)
  struct fitting w = {.cli = cli,
                      .o = o,
                      .f = dl_plan_new(dl_cli_catalog(cli)),
                      .m = dl_calloc(1, sizeof *w.m)};
  w.view = (struct dl_fit_view){
      .r = dl_report_new(), .details = o->details || !cli->format->document};
  w.view.answers = dl_fit_answers(w.view.r, dl_cli_given(cli, "cv"));
  w.view.fits = dl_report_fits(w.view.r);
  return fit_table(&w);
}

const struct dl_command dl_cmd_fit = {
    .name = "fit",
    .summary = "fit models on measured runs, cross-validated by group",
    .arguments = "RUNS.csv...",
    .doc = "Fit regression models on a table of measured runs, cross-validate "
           "them by group and write a model file for dlest predict "
           "(RUNS.dlest.xml; -o names another; -o - prints the model in place "
           "of the report). Several tables are tables of means, which --means "
           "wrote."
           "\vExamples:\n"
           "  dlest fit runs.csv\n"
           "  dlest fit runs.csv --target gpu_power_w --cv group:gpu\n"
           "  dlest fit runs.csv --target epoch_s --features 'log(macs_g)'\n"
           "  dlest fit means-1.csv means-2.csv --method ridge\n",
    .tables = tables,
    .options_size = sizeof(struct fit_options),
    .init = init,
    .rereads = true,
    .writes_model = true,
    .run = run,
};
