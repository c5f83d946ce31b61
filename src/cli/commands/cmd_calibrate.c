/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest calibrate: a model brought to one's own GPU by measured runs. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/calibration/calibration_table.h"
#include "cli/calibration/suggest.h"
#include "cli/calibration/loader_held.h"
#include "cli/passes/calibrated_model.h"
#include "cli/views/summary/answer.h"
#include "estimate/assumptions.h"
#include "model/fitting/calibrate.h"
#include "physics/rows/physics_regression.h"

#define AT(kind, member) DL_STORE(kind, struct dl_calibrate_options, member)

static const struct dl_option options[] = {
    DL_HEADING("Calibration:", 1),
    {"model", 0, "FILE", "model file of dlest fit (default: the installed one)",
     AT(TEXT, model), .reads = true},
    DL_HEADING("Before a run is measured:", 2),
    {"suggest", 0, NULL,
     "print which configuration of FILE to measure, so that a calibration with "
     "it helps most",
     AT(FLAG, suggest)},
    {"all", 0, NULL, "print all runs and configurations", AT(FLAG, all),
     .with = "suggest"},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    {dl_table_options_rows, offsetof(struct dl_calibrate_options, job)},
    {0},
};

static const struct dl_column columns[] = {
    {"target", "target", NULL, DL_CODE, false},
    {"runs", "runs", NULL, DL_CODE, false},
    {"configurations", "configurations", NULL, DL_CODE, false},
    {"mape_before", "before", "%", DL_PERCENT, DL_MAIN},
    {"mape_left_out", "after", "%", DL_PERCENT, DL_MAIN},
    {.key = "mape_after"}};

/* --- reading */

struct calibrating {
  struct dl_cli *cli;
  struct dl_calibrate_options *o;
  const char *input;
  struct dl_calibration_table
      table_of;   /* the new runs, then all that the model keeps */
  unsigned kinds; /* of the new runs, then of all */
  const struct dl_model *m;
  struct dl_table *table;
  struct dl_calibration last; /* of the fit calibrated last */
  size_t done;
  size_t n_waited;         /* runs of which the work alone counts */
  struct dl_intern waited; /* lines of runs that were skipped */
  bool again;              /* the model was calibrated, and keeps no runs */
};

static void end(struct calibrating *w) {
  dl_calibration_table_close(&w->table_of);
  dl_intern_free(&w->waited);
}

/* Whether a fit can learn from another quantity than its target, by constants
 * that targets share; energies of language models say nothing. */
static bool has_a_measurement(const struct dl_row_plan *f,
                              const struct dl_fit *fit) {
  static const char *const others[] = {
      "epoch_energy_j", "gpu_power_w",  "epoch_s",   "samples_per_s",
      "step_s",         "tokens_per_s", "duration_s"};
  bool any = false;
  for (size_t i = dl_is_language_fit(fit) ? 1 : 0; i < DL_LENGTH(others); i++)
    any |= dl_plan_has(f, others[i]);
  return any && dl_can_be_calibrated(fit);
}

/* A quantity, DL_NOT_MEASURED where a row lacks it. */
static void add_formula(struct dl_strlist *to, const char *quantity,
                        bool there) {
  DL_TEXT(formula);
  if (there)
    dl_text_printf(&formula, "coalesce(%s, %d)", quantity, DL_NOT_MEASURED);
  else
    dl_text_printf(&formula, "%d", DL_NOT_MEASURED);
  dl_strlist_add(to, dl_text_str(&formula));
}

/* Requests the columns that the calibration of a fit needs in each row. */
static void want_columns(struct dl_training *t, struct dl_strlist *groups,
                         const struct dl_row_plan *f,
                         const struct dl_fit *fit) {
  if (fit->method->physics)
    dl_training_want_physics(t, fit->method->physics, false);
  add_formula(&t->formula, fit->target, dl_plan_has(f, fit->target));
  add_formula(&t->formula, "gpu_util", dl_plan_has(f, "gpu_util"));
  dl_strlist_add(groups, "config");
  dl_strlist_add(groups, "arch");
  dl_strlist_add(groups, "gpu");
}

/* `job`: options of the table, or NULL. A run is of one GPU by default. */
static enum dl_status begin_table(const struct calibrating *w,
                                  const struct dl_job_options *job,
                                  struct dl_row_plan *f, struct dl_csv **csv,
                                  struct dl_diag *d) {
  struct dl_run one = dl_run_unknown;
  dl_run_set_number(&one, DL_RUN_n_gpus, 1);
  DL_TRY(dl_calibration_table_open(&w->table_of, csv, d));
  DL_TRY(dl_csv_drop_empty(*csv, d));
  dl_plan_columns(f, *csv);
  dl_plan_assume(f, dl_assume_language_setup, false);
  DL_TRY(dl_plan_begin(f, &one, false, d));
  return job ? dl_job_options_apply_table(job, f, d) : DL_OK;
}

/* Finds the kinds of the table's rows, without warnings: the rows are read
 * again. */
static enum dl_status find_kinds(struct calibrating *w,
                                 const struct dl_job_options *job) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  DL_SCOPED(dl_plan_free_local)
  struct dl_row_plan *f = dl_plan_new(dl_cli_catalog(w->cli));
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  enum dl_status status = begin_table(w, job, f, &csv, &quiet);
  if (status == DL_OK)
    status = dl_find_kinds(&w->kinds, f, csv, &quiet);
  if (status != DL_OK)
    dl_diag_take(&w->cli->diag, &quiet);
  return status;
}

/* Reads the rows that a fit can learn from. `job`: as above. */
static enum dl_status read_rows(struct calibrating *w, const struct dl_fit *fit,
                                const struct dl_job_options *job,
                                struct dl_training *t, bool *there,
                                struct dl_diag *d) {
  DL_SCOPED(dl_plan_free_local)
  struct dl_row_plan *f = dl_plan_new(dl_cli_catalog(w->cli));
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  DL_SCOPED(dl_strlist_free) struct dl_strlist groups = {0};
  *there = false;
  DL_TRY(begin_table(w, job, f, &csv, d));
  t->only = dl_rows_of(w->m, w->kinds, fit);
  *there = t->only != DL_ROWS_NONE &&
           (dl_plan_has(f, fit->target) || has_a_measurement(f, fit));
  if (!*there)
    return DL_OK;
  want_columns(t, &groups, f, fit);
  t->of_gpus = !fit->boundary || strncmp(fit->boundary, "gpu", 3) == 0;
  DL_TRY(dl_training_read(t, csv, f, &groups, NULL, d));
  if (job && t->n > 0 && dl_is_language_fit(fit) &&
      dl_csv_find(csv, "energy_j") >= 0 &&
      dl_csv_find(csv, "gpu_energy_j") < 0 &&
      dl_csv_find(csv, "gpu_power_w") < 0)
    dl_warn_at(d, w->input, 0,
               "column 'energy_j': of language models times alone are learnt; "
               "give that of the GPUs as gpu_energy_j, or gpu_power_w");
  if (job && w->done == 0) {
    dl_plan_warn_unused(f, d);
    dl_plan_warn_aliases(f, d);
  }
  return DL_OK;
}

/* Sets the catalogue's name for a row's name that --alias replaces. */
static void replace_name(struct dl_calibration_run *run, const char *column,
                         const struct dl_strlist *aliases) {
  const char *name = dl_calibration_run_value(run, column);
  dl_calibration_run_set(run, column, name ? dl_value_in(aliases, name) : NULL);
}

/* Whether the GPUs of a run waited for a loader for an unknown time: its
 * measurements then include more than its work. */
static bool waited_for_input(struct calibrating *w,
                             const struct dl_calibration_run *run) {
  const char *loader = dl_calibration_run_value(run, "loader");
  bool described = loader || dl_calibration_run_value(run, "loader_workers");
  char line[DL_NUMBER_SIZE];
  size_t known = w->waited.n;
  if (!described || dl_is_word(loader, "synthetic") ||
      dl_calibration_run_value(run, "gpu_util"))
    return false;
  dl_intern(&w->waited, dl_format_short(line, (double)run->line));
  if (w->waited.n > known) /* each fit reads it */
    dl_skip_at(&w->cli->diag, w->input, run->line,
               "its GPUs wait for a loader; give gpu_util, or the loader "
               "synthetic if the input keeps up");
  return true;
}

/* Moves the rows that a fit can use to the new runs; one that occurs twice in
 * the table is named. */
static void collect(struct calibrating *w, struct dl_training *t,
                    struct dl_calibration_runs *new) {
  for (size_t i = 0; i < t->n; i++) {
    struct dl_calibration_run *kept = &t->kept[i];
    kept->file = dl_strdup(dl_path_name(w->input));
    replace_name(kept, "arch", &w->o->job.aliases);
    replace_name(kept, "gpu", &w->o->job.aliases);
    size_t line = kept->line;
    if (waited_for_input(w, kept))
      continue;
    const struct dl_calibration_run *there = dl_calibration_runs_add(new, kept);
    if (there && there->line != line)
      dl_warn_at(&w->cli->diag, w->input, line,
                 "the same run as in line %zu: it counts once", there->line);
  }
}

/* The runs of the table that fits of the model can use. */
static enum dl_status read_new(struct calibrating *w, const struct dl_model *m,
                               struct dl_calibration_runs *new) {
  struct dl_diag *d = &w->cli->diag;
  for (size_t i = 0; i < m->n_fits; i++) {
    DL_SCOPED(dl_training_free)
    struct dl_training t = {.keeps = m->fit[i].method->physics};
    size_t skipped = d->n_skipped;
    bool there;
    enum dl_status status = read_rows(w, &m->fit[i], &w->o->job, &t, &there, d);
    /* Every fit reads all rows; each row counts once. */
    d->n_skipped =
        d->n_skipped - skipped > skipped ? d->n_skipped - skipped : skipped;
    DL_TRY(status);
    if (!there)
      continue;
    DL_TRY(dl_calibrate_check(&m->fit[i], &t, d));
    collect(w, &t, new);
    w->done++;
  }
  if (w->done > 0 && new->n == 0)
    return dl_fail_at(d, DL_EINPUT, w->input, 0, "no run that could be used");
  return w->done > 0 ? DL_OK
                     : dl_fail_at(d, DL_EINPUT, w->input, 0,
                                  "none of the model's targets is measured "
                                  "here (gpu_power_w, a time or speed, or "
                                  "energy_j with epochs)");
}

/* Warns of runs that may have waited for a loader of which nothing is said.
 * What fails has failed before. */
static void warn_of_loaders(const struct calibrating *w,
                            const struct dl_model *m) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  DL_SCOPED(dl_plan_free_local)
  struct dl_row_plan *f = dl_plan_new(dl_cli_catalog(w->cli));
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  size_t n = 0, line;
  if (begin_table(w, &w->o->job, f, &csv, &quiet) != DL_OK)
    return;
  const struct dl_rows rows = {
      .f = f, .catalog = dl_cli_catalog(w->cli), .csv = csv};
  if (dl_loader_held_find(&n, &line, m, &rows, &quiet) == DL_OK && n > 0)
    dl_warn_at(
        &w->cli->diag, w->input, line,
        "%zu run%s may have waited for a loader: 8 processes, which are "
        "assumed, are slower than the GPUs; give gpu_util, or the loader "
        "synthetic if the input keeps up",
        n, n == 1 ? "" : "s");
}

/* Adds the new runs to the runs of the model. */
static void add_runs(struct calibrating *w, struct dl_model *m,
                     struct dl_calibration_runs *new) {
  for (size_t i = 0; i < new->n; i++) {
    size_t line = new->run[i].line;
    const struct dl_calibration_run *there =
        dl_calibration_runs_add(&m->runs, &new->run[i]);
    if (there)
      dl_warn_at(&w->cli->diag, w->input, line,
                 "the model was calibrated with this run before (%s:%zu): it "
                 "counts once",
                 there->file, there->line);
  }
}

/* --- calibration */

static void add_errors(const struct calibrating *w, const char *target,
                       const struct dl_calibration *c,
                       const struct dl_calibration_errors *errors) {
  DL_ROW(w->table, NULL, dl_string(target), dl_count(c->runs),
         dl_count(c->configurations), dl_number(errors->before),
         dl_number(errors->left_out), dl_number(errors->after));
}

/* Calibrates a fit with the runs that its model keeps. used: of each, whether a
 * fit learnt from it. */
static enum dl_status calibrate_fit(struct calibrating *w, struct dl_fit *fit,
                                    const struct dl_calibration_runs *runs,
                                    bool *used, struct dl_diag *quiet) {
  DL_SCOPED(dl_training_free) struct dl_training t = {0};
  struct dl_diag *d = &w->cli->diag;
  struct dl_calibration c;
  bool there;
  DL_TRY(read_rows(w, fit, NULL, &t, &there, quiet));
  if (!there || t.n == 0)
    return DL_OK;
  DL_TRY(dl_calibrate(fit, &t, &c, d));
  if (c.over_line > 0)
    return dl_fail_at(
        d, DL_EINPUT, runs->run[c.over_line - 2].file,
        runs->run[c.over_line - 2].line,
        "by its power and gpu_util %.3g a GPU draws %.0f W while it works, "
        "but its limit is %.4g W; check both",
        c.over_util, c.over_power_w, c.over_limit_w);
  const struct dl_physics *physics = fit->method->physics;
  dl_calibration_warn(&c.of_target, fit->target, runs, w->input, d);
  w->last = c;
  add_errors(w, fit->target, &c, &c.of_target);
  if (!isnan(c.of_time.before)) {
    const char *time = physics->target[physics->time];
    dl_calibration_warn(&c.of_time, time, runs, w->input, d);
    add_errors(w, time, &c, &c.of_time);
  }
  w->again |= c.again;
  w->n_waited = c.waited > w->n_waited ? c.waited : w->n_waited;
  for (size_t i = 0; i < t.n; i++)
    used[t.line[i] - 2] = true;
  return DL_OK;
}

/* Fails where no fit could read a run that an earlier calibration had read. */
static enum dl_status check_used(const struct calibrating *w,
                                 const struct dl_calibration_runs *runs,
                                 const bool *used, const struct dl_diag *why) {
  size_t i = 0;
  while (i < runs->n && used[i])
    i++;
  const char *reason =
      why->n_warnings > 0 ? why->warnings[0] : "a value is missing";
  return i == runs->n ? DL_OK
                      : dl_fail(&w->cli->diag, DL_EINPUT,
                                "a run that the model was calibrated with "
                                "(%s:%zu) cannot be read again: %s",
                                runs->run[i].file, runs->run[i].line, reason);
}

/* Learns from all runs that the model keeps. */
static enum dl_status calibrate_all(struct calibrating *w, struct dl_model *m) {
  struct dl_progress *progress = w->cli->diag.progress;
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {.progress = progress};
  DL_FREED bool *used = dl_calloc(m->runs.n, sizeof *used);
  enum dl_status status =
      dl_calibration_table_keep(&w->table_of, m, &w->cli->diag);
  if (status == DL_OK)
    status = find_kinds(w, NULL);
  for (size_t i = 0; i < m->n_fits && status == DL_OK; i++) {
    struct dl_progress_span outer = dl_progress_enter(progress, i, m->n_fits);
    status = calibrate_fit(w, &m->fit[i], &m->runs, used, &quiet);
    dl_progress_leave(progress, outer);
  }
  if (status == DL_OK)
    status = check_used(w, &m->runs, used, &quiet);
  else if (quiet.error)
    dl_diag_take(&w->cli->diag, &quiet);
  return status;
}

static const char calibrated_on[] = ", calibrated on ";

/* The files of the runs, each once. */
static void name_files(const struct dl_calibration_runs *runs,
                       struct dl_text *to) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist files = {0};
  for (size_t i = 0; i < runs->n; i++)
    if (dl_strlist_find(&files, runs->run[i].file) < 0)
      dl_strlist_add(&files, runs->run[i].file);
  for (size_t i = 0; i < files.n; i++)
    dl_text_printf(to, "%s%s", i > 0 ? ", " : "", files.s[i]);
}

static void describe(struct calibrating *w, struct dl_model *m) {
  struct dl_text t = {0};
  char *line = dl_cli_command_line(w->cli, w->input);
  const char *source = m->source ? m->source : "a model";
  const char *tail = strstr(source, calibrated_on);
  dl_text_add_n(&t, source, tail ? (size_t)(tail - source) : strlen(source));
  dl_text_add(&t, calibrated_on);
  name_files(&m->runs, &t);
  free(m->source);
  free(m->options);
  m->source = t.s;
  m->options = line;
}

/* Appends "36 runs": a number of things. */
static void add_count(struct dl_text *t, const char *before, size_t n,
                      const char *thing) {
  dl_text_printf(t, "%s%zu %s%s", before, n, thing, n == 1 ? "" : "s");
}

/* Adds the runs that the calibration is based on, and those that would help. */
static void add_notes(struct dl_report *r, const struct dl_calibration *c) {
  enum { BASIS, BETTER, N_LINES };
  struct dl_answer_line line[N_LINES] = {{.label = "Basis"},
                                         {.label = "Better"}};
  struct dl_text *basis = &line[BASIS].figure, *better = &line[BETTER].figure;
  add_count(basis, "", c->runs, "run");
  add_count(basis, " of ", c->configurations, "configuration");
  add_count(basis, " on ", c->gpus, "GPU");
  dl_text_add(basis, c->configurations > 1 ? ", each held out for 'after'"
                                           : ": the error after is unknown");
  if (c->unseen_gpu[0]) {
    add_count(better, "", DL_CALIBRATED_CONFIGS - c->unseen_configurations,
              "more configuration");
    dl_text_printf(better, " on %s: %d narrow its intervals", c->unseen_gpu,
                   DL_CALIBRATED_CONFIGS);
  } else {
    dl_text_add(better, "dlest calibrate PLAN.csv --suggest prints the run to "
                        "measure next");
  }
  dl_answer_lines(r, line, N_LINES);
}

/* Takes over the report that it prints. */
static enum dl_status write_all(struct calibrating *w, struct dl_model *m,
                                struct dl_report **report) {
  struct dl_report *r = *report;
  bool printed = false;
  DL_TRY(dl_cli_strict(w->cli));
  add_notes(r, &w->last);
  DL_TRY(dl_save_model(w->cli, m, ".calibrated.xml", r, &printed));
  if (w->n_waited > 0)
    dl_report_say(r,
                  "The GPUs of %zu run%s waited, by gpu_util: the model has "
                  "the time and power of the work alone.",
                  w->n_waited, w->n_waited == 1 ? "" : "s");
  if (w->again)
    dl_report_say(r, "An earlier version of dlest calibrated the model, which "
                     "keeps what it learnt but not those runs: calibrate the "
                     "model of before on a table of all runs.");
  if (printed)
    return DL_OK;
  *report = NULL;
  return dl_cli_print(w->cli, r);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  DL_SCOPED(end)
  struct calibrating w = {
      .cli = cli, .o = options_at, .input = cli->argument[0]};
  DL_SCOPED(dl_model_free_local) struct dl_model *m = NULL;
  DL_SCOPED(dl_report_free_local) struct dl_report *r = dl_report_new();
  DL_SCOPED(dl_calibration_runs_free) struct dl_calibration_runs new = {0};
  if (w.o->suggest)
    return dl_suggest_runs(cli, w.o);
  if (dl_is_stdio(w.input))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "the table is read several times: give a file, not "
                   "standard input");
  DL_TRY(dl_calibration_table_make(&w.table_of, w.input, &cli->diag));
  DL_TRY(find_kinds(&w, &w.o->job));
  DL_TRY(dl_open_calibrated(cli, w.o->model, w.kinds, &m));
  w.m = m;
  DL_TRY(read_new(&w, m, &new));
  warn_of_loaders(&w, m);
  add_runs(&w, m, &new);
  w.table = DL_TABLE(r, "calibrations",
                     "Errors (MAPE) of estimates for these runs, before and "
                     "after the calibration",
                     columns, true);
  DL_TRY(calibrate_all(&w, m));
  describe(&w, m);
  return write_all(&w, m, &r);
}

const struct dl_command dl_cmd_calibrate = {
    .name = "calibrate",
    .summary = "adapt a model to your own GPU by measured runs",
    .arguments = "FILE",
    .doc = "Adapt the physical model to your own machine by one or a few "
           "measured runs: they update its constants as far as these are "
           "uncertain, and the effects of the GPU and the host. Writes a model "
           "for dlest predict --model (RUNS.calibrated.xml; -o names another). "
           "FILE is a table of runs, or a power log whose settings --set "
           "gives. With --suggest nothing is measured yet: FILE is a table of "
           "configurations, and the best of them to measure is printed."
           "\vExamples:\n"
           "  dlest calibrate runs.csv\n"
           "  dlest calibrate runs.csv -o mine.xml\n"
           "  dlest calibrate gpu-7.csv -s arch=resnet50 -s batch_size=64 \\\n"
           "      -s dataset=imagenette -s epochs=12\n"
           "  dlest calibrate plan.csv --suggest\n",
    .reads_words = true,
    .tables = tables,
    .options_size = sizeof(struct dl_calibrate_options),
    .rereads = true,
    .writes_model = true,
    .prints = "suggest",
    .run = run,
};
