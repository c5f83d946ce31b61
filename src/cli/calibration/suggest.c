/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/calibration/suggest.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/number.h"
#include "cli/calibration/suggest_report.h"
#include "model/fitting/calibrate.h"

static void end(struct dl_suggesting *w) {
  dl_model_free(w->m);
  dl_calibration_table_close(&w->kept);
  dl_suggestion_rows_free(&w->rows);
  dl_suggestion_free(&w->s);
}

/* Reads a table whose rows are of one GPU and one epoch by default. `job`: the
 * options of rows, or NULL: they were measured. */
static enum dl_status read_table(struct dl_suggesting *w, struct dl_csv *csv,
                                 const struct dl_job_options *job) {
  struct dl_diag *d = &w->cli->diag;
  struct dl_run one = dl_run_unknown;
  DL_SCOPED(dl_plan_free_local)
  struct dl_row_plan *f = dl_plan_new(dl_cli_catalog(w->cli));
  dl_run_set_number(&one, DL_RUN_n_gpus, 1);
  /* A calibration says nothing of loaders, whose widths are left out. */
  dl_run_lend_text(&one, DL_RUN_loader, "synthetic");
  if (job)
    dl_run_set_number(&one, DL_RUN_epochs, 1);
  dl_plan_columns(f, csv);
  DL_TRY(dl_plan_begin(f, &one, false, d));
  if (job)
    DL_TRY(dl_job_options_apply_table(job, f, d));
  const struct dl_rows from = {
      .f = f, .catalog = dl_cli_catalog(w->cli), .csv = csv};
  return dl_suggestion_rows_read(&w->rows, !job, w->m, &from, d);
}

/* Reads the configurations, of which one at least must be usable. */
static enum dl_status read_configurations(struct dl_suggesting *w) {
  const char *path = w->cli->argument[0];
  struct dl_diag *d = &w->cli->diag;
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  if (!dl_is_stdio(path) && dl_calibration_is_log(path))
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "a log of a run; --suggest chooses among the runs of a "
                      "table, one a row");
  DL_TRY(dl_csv_open(&csv, path, 0, d));
  DL_TRY(dl_csv_drop_empty(csv, d));
  DL_TRY(read_table(w, csv, &w->o->job));
  return w->rows.runs.n > 0
             ? DL_OK
             : dl_fail_at(d, DL_EINPUT, path, 0, "no run that could be used");
}

/* Reads the runs that calibrated the model, which becomes what it was before.
 */
static enum dl_status read_kept(struct dl_suggesting *w) {
  struct dl_diag *d = &w->cli->diag;
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  for (size_t i = 0; i < w->m->n_fits; i++)
    dl_uncalibrate(&w->m->fit[i]);
  if (w->m->runs.n == 0)
    return DL_OK;
  DL_TRY(dl_calibration_table_keep(&w->kept, w->m, d));
  DL_TRY(dl_calibration_table_open(&w->kept, &csv, d));
  return read_table(w, csv, NULL);
}

/* Warns if the suggested run may end without memory. */
static void warn_memory(const struct dl_suggesting *w) {
  const struct dl_suggestion_row *row = &w->rows.runs.row[w->s.run[0].run];
  if (row->memory_gb > 0) {
    char text[DL_NUMBER_SIZE];
    dl_warn_at(&w->cli->diag, w->cli->argument[0], row->line,
               "the run may not fit: it needs about %s GB more than its GPU "
               "has; leave out what cannot be measured",
               dl_format_digits(text, row->memory_gb, 3));
  }
}

enum dl_status dl_suggest_runs(struct dl_cli *cli,
                               const struct dl_calibrate_options *o) {
  DL_SCOPED(end) struct dl_suggesting w = {.cli = cli, .o = o};
  const char *suffix = cli->output ? strrchr(cli->output, '.') : NULL;
  if (suffix && strcasecmp(suffix, ".xml") == 0)
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--suggest makes no model for '%s'; leave out -o, or give "
                   "the file of a report",
                   cli->output);
  DL_TRY(dl_open_model(cli, o->model, DL_ANY_JOB, &w.m));
  DL_TRY(read_kept(&w));
  DL_TRY(read_configurations(&w));
  DL_TRY(dl_suggestion_make(&w.s, &w.rows, &cli->diag));
  warn_memory(&w);
  return dl_suggest_report(&w);
}
