/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest calibrate: a model brought to one's own GPU by measured runs. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/passes/extract_rows.h"
#include "cli/views/estimate_rows.h"
#include "estimate/assumptions.h"
#include "logs/extract.h"
#include "logs/importers/importers.h"
#include "logs/log.h"
#include "model/fitting/calibrate.h"
#include "output/format.h"
#include "physics/rows/physics_regression.h"

struct calibrate_options {
  struct dl_job_options job; /* --set, --define, --alias */
  const char *model;
};

static const struct dl_option options[] = {
    DL_HEADING("Calibration:", 1),
    {"model", 0, "FILE", "model file of dlest fit (default: the installed one)",
     DL_STORE(TEXT, struct calibrate_options, model), .reads = true},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    {dl_table_options_rows, offsetof(struct calibrate_options, job)},
    {0},
};

static const struct dl_column columns[] = {
    {"target", "target", NULL, DL_CODE, false},
    {"runs", "runs", NULL, DL_CODE, false},
    {"configurations", "configurations", NULL, DL_CODE, false},
    {"mape_before", "MAPE before", "%", DL_PERCENT, DL_MAIN},
    {"mape_left_out", "left out", "%", DL_PERCENT, DL_MAIN},
    {.key = "mape_after"}};

/* --- the runs */

/* A runs table that can be read several times. Zeros at first. */
struct table {
  const char *path; /* of the file, borrowed */
  FILE *runs;       /* what dlest extract makes of a log, owned; NULL: the file
                       is a table itself */
};

/* Whether a file is a log, not a runs table. A file that no importer recognises
 * is a table with columns of its own. */
static bool is_log(const char *path) {
  const struct dl_log_options o = {.interval_s = 0};
  struct dl_diag quiet = {0};
  struct dl_log *log = NULL;
  bool is = dl_log_open(&log, path, &o, &quiet) == DL_OK &&
            log->importer != &dl_import_table && !log->importer->has_jobs;
  dl_log_free(log);
  dl_diag_free(&quiet);
  return is;
}

static enum dl_status extract(struct table *t, struct dl_diag *d) {
  static const struct dl_intern none = {0};
  struct dl_progress_bar no_bar = {0};
  struct dl_extract_context ctx = {
      dl_extract_rows_new(&dl_format_csv, t->runs, false, &none), &no_bar};
  char *path = (char *)t->path;
  struct dl_extract_options o = {.sink = dl_extract_rows_add, .ctx = &ctx};
  enum dl_status status = dl_extract(&path, 1, &o, d);
  enum dl_status ended = dl_extract_rows_end(ctx.rows, status == DL_OK, d);
  if (status == DL_OK)
    status = ended;
  if (status == DL_OK && (ferror(t->runs) || fflush(t->runs) != 0))
    status = dl_fail_errno(d, "temporary file", "cannot write", errno);
  return status;
}

/* Recognises a power log by its content and makes its runs. `path` is borrowed.
 * Anything else is left to the reader of tables. */
static enum dl_status make_table(struct table *t, const char *path,
                                 struct dl_diag *d) {
  *t = (struct table){.path = path};
  if (!is_log(path))
    return DL_OK;
  t->runs = tmpfile();
  return t->runs ? extract(t, d)
                 : dl_fail_errno(d, "temporary file", "cannot create", errno);
}

/* The file's own offset stays where it is. */
static FILE *reopen(FILE *f) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
  return fopen(path, "r");
}

/* Opens the table from its beginning; messages name the file. */
static enum dl_status open_table(const struct table *t, struct dl_csv **csv,
                                 struct dl_diag *d) {
  if (!t->runs)
    return dl_csv_open(csv, t->path, 0, d);
  FILE *f = reopen(t->runs);
  return f ? dl_csv_open_stream(csv, f, t->path, 0, 0, d)
           : dl_fail_errno(d, "temporary file", "cannot open", errno);
}

/* --- calibration */

struct calibrating {
  struct dl_cli *cli;
  struct calibrate_options *o;
  const char *input;
  struct table table_of;
  struct dl_table *table;
  size_t done;
  bool again; /* the model had been calibrated before */
};

/* Whether a fit can learn from another quantity than its target: constants of
 * the physics are shared between targets. */
static bool has_a_measurement(const struct dl_frame *f,
                              const struct dl_fit *fit) {
  static const char *const others[] = {"gpu_power_w", "epoch_energy_j",
                                       "epoch_s", "samples_per_s", "step_s"};
  bool any = false;
  for (size_t i = 0; i < DL_LENGTH(others); i++)
    any |= dl_frame_has(f, others[i]);
  return fit->method->adapt && any;
}

/* A quantity, DL_NOT_MEASURED where a row lacks it. */
static void add_formula(struct dl_strlist *to, const char *quantity,
                        bool there) {
  struct dl_text formula = {0};
  if (there)
    dl_text_printf(&formula, "coalesce(%s, %d)", quantity, DL_NOT_MEASURED);
  else
    dl_text_printf(&formula, "%d", DL_NOT_MEASURED);
  dl_strlist_add(to, dl_text_str(&formula));
  dl_text_free(&formula);
}

/* What the calibration of a fit takes from a row. */
static void want_columns(struct dl_training *t, struct dl_strlist *groups,
                         const struct dl_frame *f, const struct dl_fit *fit) {
  if (fit->method->physics)
    dl_training_want_physics(t, fit->method->physics, false);
  add_formula(&t->formula, fit->target, dl_frame_has(f, fit->target));
  add_formula(&t->formula, "gpu_util", dl_frame_has(f, "gpu_util"));
  dl_strlist_add(groups, "config");
  dl_strlist_add(groups, "arch");
  dl_strlist_add(groups, "gpu");
}

/* Reads the rows that a fit can learn from. */
static enum dl_status read_runs(struct calibrating *w, const struct dl_fit *fit,
                                struct dl_training *t, bool *there) {
  struct dl_diag *d = &w->cli->diag;
  struct dl_frame *f = dl_frame_new(dl_cli_catalog(w->cli));
  struct dl_csv *csv = NULL;
  struct dl_strlist groups = {0};
  size_t skipped = d->n_skipped;
  enum dl_status status = open_table(&w->table_of, &csv, d);
  *there = false;
  if (status == DL_OK)
    status = dl_csv_drop_empty(csv, d);
  if (status == DL_OK) {
    dl_frame_columns(f, csv);
    dl_frame_assume(f, dl_assume_language_setup, false);
    status = dl_job_options_apply_table(&w->o->job, f, d);
  }
  if (status == DL_OK)
    *there = dl_frame_has(f, fit->target) || has_a_measurement(f, fit);
  if (status == DL_OK && *there) {
    want_columns(t, &groups, f, fit);
    status = dl_training_read(t, csv, f, &groups, NULL, d);
  }
  /* Every fit reads the same rows; each counts once. */
  d->n_skipped =
      d->n_skipped - skipped > skipped ? d->n_skipped - skipped : skipped;
  if (status == DL_OK && *there && w->done == 0) {
    dl_frame_warn_unused(f, d);
    dl_frame_warn_aliases(f, d);
  }
  dl_strlist_free(&groups);
  dl_csv_free(csv);
  dl_frame_free(f);
  return status;
}

/* Estimates several times what was measured: as of runs faster than their GPU
 * can be. */
static void check_errors(const struct calibrating *w, const struct dl_fit *fit,
                         const struct dl_calibration *c) {
  const double most = 4;
  char percent[DL_NUMBER_SIZE];
  if (c->before > most)
    dl_warn_at(&w->cli->diag, w->input, 0,
               "estimates of %s are %s %% off before the calibration: check "
               "the units, data set and epochs of the runs",
               fit->target, dl_format_digits(percent, 100 * c->before, 3));
}

static enum dl_status calibrate_fit(struct calibrating *w, struct dl_fit *fit) {
  struct dl_training t = {0};
  struct dl_calibration c;
  bool there;
  enum dl_status status = read_runs(w, fit, &t, &there);
  if (status == DL_OK && there)
    status = dl_calibrate(fit, &t, &c, &w->cli->diag);
  if (status == DL_OK && there) {
    check_errors(w, fit, &c);
    struct dl_value v[] = {dl_string(fit->target),     dl_count(c.runs),
                           dl_count(c.configurations), dl_number(c.before),
                           dl_number(c.left_out),      dl_number(c.after)};
    dl_table_row(w->table, v, NULL);
    w->done++;
    w->again |= c.again;
  }
  dl_training_free(&t);
  return status;
}

static void describe(struct calibrating *w, struct dl_model *m) {
  struct dl_text t = {0};
  char *line = dl_cli_command_line(w->cli, w->input);
  const char *slash = strrchr(w->input, '/');
  dl_text_printf(&t, "%s, calibrated on %s", m->source ? m->source : "a model",
                 slash ? slash + 1 : w->input);
  free(m->source);
  free(m->options);
  m->source = t.s;
  m->options = line;
}

static enum dl_status calibrate_all(struct calibrating *w, struct dl_model *m) {
  enum dl_status status = DL_OK;
  struct dl_progress *progress = w->cli->diag.progress;
  for (size_t i = 0; i < m->n_fits && status == DL_OK; i++) {
    struct dl_progress_span outer = dl_progress_enter(progress, i, m->n_fits);
    status = calibrate_fit(w, &m->fit[i]);
    dl_progress_leave(progress, outer);
  }
  if (status == DL_OK && w->done == 0)
    status = dl_fail_at(&w->cli->diag, DL_EINPUT, w->input, 0,
                        "none of the model's targets is measured here "
                        "(gpu_power_w, a time or speed, or energy_j with "
                        "epochs)");
  return status;
}

static enum dl_status write_all(struct calibrating *w, struct dl_model *m,
                                struct dl_report *r) {
  bool printed = false;
  enum dl_status status = dl_cli_strict(w->cli);
  if (status == DL_OK)
    status = dl_save_model(w->cli, m, ".calibrated.xml", r, &printed);
  dl_report_say(r, "Mean absolute percentage errors (MAPE) on these runs: "
                   "before the calibration, and of each configuration by a "
                   "calibration without it.");
  if (w->again)
    dl_report_say(r, "The model was calibrated before, and keeps what it "
                     "learnt but not those runs: one calibration on a table of "
                     "all runs gives better estimates.");
  if (status == DL_OK && !printed)
    return dl_cli_print(w->cli, r);
  dl_report_free(r);
  return status;
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct calibrating w = {.cli = cli, .o = options_at};
  struct dl_model *m = NULL;
  struct dl_report *r = dl_report_new();
  w.input = cli->argument[0];
  enum dl_status status = dl_open_model(cli, w.o->model, &m);
  if (status == DL_OK && strcmp(w.input, "-") == 0)
    status = dl_fail(&cli->diag, DL_EUSAGE,
                     "the table is read several times: give a file, not "
                     "standard input");
  if (status == DL_OK)
    status = make_table(&w.table_of, w.input, &cli->diag);
  if (status == DL_OK) {
    w.table = dl_report_table(r, "calibrations", "Calibration", columns,
                              sizeof columns / sizeof *columns, true);
    status = calibrate_all(&w, m);
  }
  if (status == DL_OK) {
    describe(&w, m);
    status = write_all(&w, m, r);
    r = NULL;
  }
  if (w.table_of.runs)
    fclose(w.table_of.runs);
  dl_report_free(r);
  dl_model_free(m);
  return status;
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
           "gives."
           "\vExamples:\n"
           "  dlest calibrate runs.csv\n"
           "  dlest calibrate runs.csv -o mine.xml\n"
           "  dlest calibrate gpu-7.csv -s arch=resnet50 -s batch_size=64 \\\n"
           "      -s train_samples=50000 -s epochs=12\n",
    .tables = tables,
    .options_size = sizeof(struct calibrate_options),
    .rereads = true,
    .run = run,
};
