/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates all combinations of a sweep, by all threads. */

#include "cli/passes/predict_batch.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/views/job_limits.h"
#include "cli/views/predict_report.h"
#include "estimate/sweep.h"

/* Columns of the settings come first. */
enum {
  SETTINGS = 6,
  COLUMNS = SETTINGS + DL_ESTIMATE_COLUMNS + DL_ROW_COLUMNS
};
static const char *const settings[SETTINGS] = {
    "arch", "gpu", "n_gpus", "image_px", "seq_len", "batch_size"};

/* A combination without an estimate by any method. */
struct silent {
  char name[160];
  char why[320];
};

/* The results of one thread in a round. */
struct part {
  struct dl_value values[COLUMNS];
  struct dl_text rows;
  struct silent *silent; /* owned */
  size_t n_silent, cap_silent;
  struct dl_limits limits;
  double over_j; /* highest recommended estimate so far */
};

struct sweep {
  struct dl_cli *cli;
  const struct dl_predict_options *o;
  size_t n_methods, parts;
  struct part *part;
  struct dl_stream *stream;
};

static void fill_settings(const struct dl_job *job,
                          struct dl_value v[SETTINGS]) {
  const struct dl_row_descriptors *found = &job->found;
  v[0] = dl_string(found->arch ? found->arch->head.id : job->run->arch);
  v[1] = dl_string(found->gpu ? found->gpu->head.id : job->run->gpu);
  v[2] = dl_number(job->run->n_gpus);
  v[3] = dl_number(job->run->image_px);
  v[4] = dl_number(job->seq_len);
  v[5] = dl_number(job->run->batch_size);
}

static bool says_nothing(const struct sweep *w,
                         const struct dl_sweep_row *row) {
  for (size_t i = 0; i < w->n_methods; i++)
    if (!isnan(row->est[i].energy_j.x))
      return false;
  return true;
}

/* The text of a combination does not outlive the row. */
static void note_silent(struct part *p, const struct dl_sweep_row *row) {
  DL_GROW(p->silent, p->cap_silent, p->n_silent + 1);
  struct silent *s = &p->silent[p->n_silent++];
  const struct dl_run *run = row->job->run;
  char batch[40] = "";
  if (!isnan(run->batch_size))
    snprintf(batch, sizeof batch, ", batch size %g", run->batch_size);
  snprintf(s->name, sizeof s->name, "%.55s, %.55s%s",
           run->arch ? run->arch : "no architecture",
           run->gpu ? run->gpu : "no GPU", batch);
  DL_TEXT(lacks);
  dl_add_setting(&lacks, row->est[0].lacks ? row->est[0].lacks : "more");
  if (row->broken)
    snprintf(s->why, sizeof s->why, "%s", row->broken);
  else
    snprintf(s->why, sizeof s->why, "no estimate: %s needs %s",
             row->est[0].method, lacks.s);
}

static enum dl_status take_row(void *ctx, size_t i,
                               const struct dl_sweep_row *row,
                               struct dl_diag *d) {
  struct sweep *w = ctx;
  struct part *p = &w->part[i];
  const struct dl_format *format = w->cli->format;
  if (says_nothing(w, row)) {
    note_silent(p, row);
    return DL_OK;
  }
  long best =
      dl_recommended(row->est, w->n_methods, !isnan(row->job->known.run_s));
  if (best >= 0)
    p->over_j = fmax(p->over_j, row->est[best].energy_j.x);
  dl_limits_count(&p->limits, row->job, best >= 0 ? &row->est[best] : NULL);
  struct dl_taken taken;
  fill_settings(row->job, p->values);
  for (size_t m = 0; m < w->n_methods; m++) {
    if (!w->o->all && best >= 0 && (long)m != best)
      continue;
    dl_estimate_values(&row->est[m], &w->o->job.foot, w->o->coverage,
                       p->values + SETTINGS);
    dl_row_values(&w->o->job.foot, (long)m == best, row->job, &taken,
                  p->values + SETTINGS + DL_ESTIMATE_COLUMNS);
    DL_TRY(dl_stream_row(w->stream, p->values,
                         dl_format_adds(format) ? &p->rows : NULL, d));
  }
  return DL_OK;
}

static enum dl_status end_round(void *ctx, struct dl_diag *d) {
  struct sweep *w = ctx;
  for (size_t i = 0; i < w->parts; i++) {
    struct part *p = &w->part[i];
    for (size_t k = 0; k < p->n_silent; k++)
      dl_skip_at(d, p->silent[k].name, 0, "%s", p->silent[k].why);
    p->n_silent = 0;
    if (dl_format_adds(w->cli->format))
      DL_TRY(dl_stream_write(w->stream, &p->rows, d));
  }
  return DL_OK;
}

/* People see the architecture, the GPU and what varies. */
static void make_columns(const struct sweep *w,
                         struct dl_column columns[COLUMNS]) {
  const struct dl_footprint *foot = &w->o->job.foot;
  for (size_t i = 0; i < SETTINGS; i++) {
    const struct dl_axis *a = dl_axes_find(&w->o->job.axes, settings[i]);
    columns[i] = dl_setting_column(settings[i]);
    if (i > 1 && (!a || a->n < 2))
      columns[i].heading = NULL;
  }
  dl_estimate_row_headings(columns + SETTINGS, foot, w->o->all);
  dl_row_headings(columns + SETTINGS + DL_ESTIMATE_COLUMNS, foot, w->o->all);
}

static enum dl_status write_sweep(struct sweep *w, struct dl_frame *f,
                                  const struct dl_session *session) {
  struct dl_cli *cli = w->cli;
  struct dl_output out;
  struct dl_column columns[COLUMNS];
  struct dl_limits limits = {0};
  DL_SCOPED(dl_report_free_local) struct dl_report *tail = dl_report_new();
  const struct dl_sweep_taker taker = {w, take_row, end_round};
  make_columns(w, columns);
  dl_cli_rows_follow(cli);
  enum dl_status status =
      dl_output_open(&out, cli->output, cli->strict, &cli->diag);
  if (status != DL_OK)
    return status;
  status = dl_stream_begin(
      &w->stream, cli->format, out.f,
      &(struct dl_table_form){"estimates", columns, COLUMNS}, &cli->diag);
  if (status == DL_OK)
    status =
        dl_sweep(f, &w->o->job.axes, session, w->parts, &taker, &cli->diag);
  for (size_t i = 0; i < w->parts; i++)
    dl_limits_add(&limits, &w->part[i].limits);
  dl_limits_warn(&limits, "the sweep", &cli->diag);
  dl_limits_say(&limits, tail);
  if (w->stream)
    dl_stream_tail(w->stream, tail);
  return dl_cli_commit(cli, &out, w->stream, status);
}

/* Reports unknown names before anything is written. */
static enum dl_status check_names(struct dl_frame *f, struct dl_diag *d) {
  DL_SCOPED(dl_cursor_free_local) struct dl_cursor *cursor = NULL;
  return dl_cursor_new(&cursor, f, d);
}

static enum dl_status check_budget(const struct sweep *w) {
  double most = -INFINITY;
  for (size_t i = 0; i < w->parts; i++)
    most = fmax(most, w->part[i].over_j);
  return dl_check_budget("a run takes", most, w->o->budget_kwh, &w->cli->diag);
}

static void free_parts(struct sweep *w) {
  for (size_t i = 0; i < w->parts; i++) {
    dl_text_free(&w->part[i].rows);
    free(w->part[i].silent);
  }
  free(w->part);
}

enum dl_status dl_predict_sweep(struct dl_cli *cli,
                                const struct dl_predict_options *o,
                                const struct dl_model *m, struct dl_frame *f) {
  DL_SCOPED(dl_session_free_local) struct dl_session *session = NULL;
  DL_SCOPED(free_parts) struct sweep w = {.cli = cli, .o = o};
  w.parts = dl_format_adds(cli->format) ? dl_sweep_parts() : 1;
  w.part = dl_calloc(w.parts, sizeof *w.part);
  DL_TRY(dl_session_new(&session, f, m, o->methods, o->coverage, &cli->diag));
  DL_TRY(
      dl_session_find_families(session, NULL, dl_cli_catalog(cli), &cli->diag));
  for (size_t i = 0; i < w.parts; i++)
    w.part[i].over_j = -INFINITY;
  w.n_methods = session->n;
  dl_frame_warn_unused(f, &cli->diag);
  DL_TRY(check_names(f, &cli->diag));
  DL_TRY(write_sweep(&w, f, session));
  return check_budget(&w);
}
