/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/passes/write_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/views/row_notes.h"
#include "output/format.h"

/* Columns in front of the results of a sweep. */
static const enum dl_run_id settings[] = {DL_RUN_arch,    DL_RUN_gpu,
                                          DL_RUN_n_gpus,  DL_RUN_image_px,
                                          DL_RUN_seq_len, DL_RUN_batch_size};

/* The work of one thread. */
struct writer_part {
  struct dl_value *values; /* of a row */
  struct dl_text text;     /* rows of this round */
  struct dl_assumed_texts assumed;
  struct dl_row_notes notes;
};

struct results_writer {
  struct dl_cli *cli;
  const struct dl_predict_options *o;
  const struct dl_rows *rows;
  struct dl_stream *stream;
  struct dl_column *columns;
  size_t n_columns, n_first; /* first: of the table or the settings */
  struct dl_intern names;    /* of the table's columns in the output */
  bool *is_number;           /* of each of them */
  struct writer_part *part;
  size_t parts;
};

static void free_writer(struct results_writer *w) {
  for (size_t i = 0; i < w->parts; i++) {
    free(w->part[i].values);
    dl_text_free(&w->part[i].notes.assumed);
    dl_text_free(&w->part[i].text);
  }
  free(w->part);
  dl_intern_free(&w->names);
  free(w->is_number);
  free(w->columns);
}

/* Names a column of the table in the output: as it is, or "measured_NAME" where
 * results have it too, repeated until no other column has that name. */
static const char *output_name(struct results_writer *w, size_t column) {
  const struct dl_csv *csv = w->rows->csv;
  DL_TEXT(t);
  DL_TEXT(longer);
  dl_text_add(&t, dl_csv_name(csv, column));
  while (
      dl_is_result_column(t.s) || dl_intern_find(&w->names, t.s) >= 0 ||
      (dl_csv_find(csv, t.s) >= 0 && dl_csv_find(csv, t.s) != (long)column)) {
    dl_text_clear(&longer);
    dl_text_printf(&longer, "measured_%s", t.s);
    dl_text_clear(&t);
    dl_text_add(&t, dl_text_str(&longer));
  }
  long i = dl_intern(&w->names, t.s);
  return w->names.s[i];
}

/* The heading of a column, also where --define gives it the name of a setting:
 * arch=Model. */
static struct dl_column heading_of(const struct results_writer *w,
                                   const char *name) {
  const struct dl_strlist *defines = &w->o->job.defines;
  struct dl_column c = dl_setting_column(name);
  for (size_t i = 0; i < defines->n && !c.heading; i++) {
    const char *equals = strchr(defines->s[i], '=');
    DL_TEXT(setting);
    if (!equals || strcmp(equals + 1, name) != 0)
      continue;
    dl_text_add_n(&setting, defines->s[i], (size_t)(equals - defines->s[i]));
    c = dl_setting_column(dl_text_str(&setting));
  }
  return c;
}

static void make_table_columns(struct results_writer *w) {
  w->is_number = dl_calloc(w->n_first, sizeof *w->is_number);
  for (size_t i = 0; i < w->n_first; i++) {
    const char *name = dl_csv_name(w->rows->csv, i);
    const struct dl_run_column *column = dl_run_column_find(name);
    w->is_number[i] = column && !column->is_text;
    w->columns[i] = heading_of(w, name);
    w->columns[i].key = output_name(w, i);
    w->columns[i].style = DL_CODE;
  }
}

/* Makes the columns of a sweep's settings. People see the architecture, the GPU
 * and what varies. */
static void make_setting_columns(struct results_writer *w) {
  for (size_t i = 0; i < w->n_first; i++) {
    enum dl_run_id id = settings[i];
    const char *name = dl_run_columns[id].name;
    const struct dl_axis *a = dl_axes_find(w->rows->axes, name);
    w->columns[i] = dl_setting_column(name);
    if (id != DL_RUN_arch && id != DL_RUN_gpu && (!a || a->n < 2))
      w->columns[i].heading = NULL;
  }
}

static void make_columns(struct results_writer *w) {
  w->n_first = w->rows->csv ? dl_csv_n_cols(w->rows->csv) : DL_LENGTH(settings);
  w->columns =
      dl_calloc(w->n_first + DL_MOST_RESULT_COLUMNS, sizeof *w->columns);
  if (w->rows->csv)
    make_table_columns(w);
  else
    make_setting_columns(w);
  w->n_columns = w->n_first + dl_result_columns(w->columns + w->n_first,
                                                DL_COLUMNS_OF_ROWS,
                                                &w->o->job.foot, w->o->all);
}

static void make_parts(struct results_writer *w) {
  w->parts = dl_rows_parts();
  w->part = dl_calloc(w->parts, sizeof *w->part);
  for (size_t i = 0; i < w->parts; i++) {
    w->part[i].values = dl_calloc(w->n_columns, sizeof *w->part[i].values);
    w->part[i].notes = (struct dl_row_notes){
        .rows = w->rows,
        .dataset = w->o->job.dataset,
        .node = w->cli->format->document ? &w->o->node : NULL,
        .most_j = -INFINITY};
  }
}

/* Cells of a column of numbers are numbers, in JSON as well. */
static void put_cells(const struct results_writer *w, const char *const *cell,
                      struct dl_value *to) {
  double x;
  for (size_t i = 0; i < w->n_first; i++)
    if (w->is_number[i] && dl_parse_double(cell[i], &x))
      to[i] = dl_number(x);
    else
      to[i] = dl_string(*cell[i] ? cell[i] : NULL);
}

static struct dl_value setting_of(const struct dl_job *job, enum dl_run_id id) {
  const struct dl_row_descriptors *found = &job->found;
  if (id == DL_RUN_arch)
    return dl_string(found->arch ? found->arch->head.id : job->run->arch);
  if (id == DL_RUN_gpu)
    return dl_string(found->gpu ? found->gpu->head.id : job->run->gpu);
  return dl_number(id == DL_RUN_seq_len ? job->seq_len
                                        : dl_run_number(job->run, id));
}

/* Writes the recommended estimate, or all of them where there is none or the
 * user wants all. */
static enum dl_status write_result(struct results_writer *w,
                                   struct writer_part *p,
                                   const struct dl_result *r,
                                   struct dl_diag *d) {
  bool adds = dl_stream_adds(w->stream);
  if (r->cell)
    put_cells(w, r->cell, p->values);
  for (size_t i = 0; !r->cell && i < w->n_first; i++)
    p->values[i] = setting_of(&r->job, settings[i]);
  for (size_t m = 0; m < r->n; m++) {
    bool best = (long)m == r->best;
    const struct dl_result_view v = {&r->est[m], &r->job, best, &w->o->job.foot,
                                     w->o->coverage};
    if (!w->o->all && r->best >= 0 && !best)
      continue;
    dl_result_values(p->values + w->n_first, DL_COLUMNS_OF_ROWS, &v,
                     &p->assumed);
    DL_TRY(dl_stream_row(w->stream, p->values, adds ? &p->text : NULL, d));
  }
  return DL_OK;
}

static enum dl_status take_row(void *ctx, size_t part,
                               const struct dl_result *r, struct dl_diag *d) {
  struct results_writer *w = ctx;
  struct writer_part *p = &w->part[part];
  return dl_row_notes_add(&p->notes, r, d) ? write_result(w, p, r, d) : DL_OK;
}

static enum dl_status end_round(void *ctx, struct dl_diag *d) {
  struct results_writer *w = ctx;
  for (size_t i = 0; i < w->parts; i++)
    if (w->part[i].text.len > 0)
      DL_TRY(dl_stream_write(w->stream, &w->part[i].text, d));
  return DL_OK;
}

/* Rows go to the stream one by one as long as their layout depends on those
 * before them. */
static bool is_parallel(void *ctx) {
  const struct results_writer *w = ctx;
  return dl_stream_adds(w->stream);
}

static enum dl_status write_rows(struct results_writer *w, struct dl_engine *e,
                                 struct dl_row_notes *all) {
  struct dl_cli *cli = w->cli;
  struct dl_output out;
  DL_SCOPED(dl_report_free_local) struct dl_report *tail = dl_report_new();
  const struct dl_table_form form = {"estimates", w->columns, w->n_columns};
  const struct dl_row_sink sink = {w, take_row, end_round, is_parallel};
  dl_cli_rows_follow(cli);
  DL_TRY(dl_output_open(&out, cli->output, cli->strict, &cli->diag));
  enum dl_status status =
      dl_stream_begin(&w->stream, cli->format, out.f, &form, &cli->diag);
  if (status == DL_OK)
    status = dl_rows_each(w->rows, e, &sink, &cli->diag);
  for (size_t i = 0; i < w->parts; i++)
    dl_row_notes_merge(all, &w->part[i].notes);
  dl_row_notes_warn(all, &cli->diag);
  dl_row_notes_say(all, tail);
  dl_text_free(&all->assumed);
  if (w->stream)
    dl_stream_tail(w->stream, tail);
  return dl_cli_commit(cli, &out, w->stream, status);
}

/* Reports unknown names before anything is written. */
static enum dl_status check_names(const struct dl_rows *rows,
                                  struct dl_diag *d) {
  DL_SCOPED(dl_cursor_free_local) struct dl_cursor *cursor = NULL;
  return rows->csv ? DL_OK : dl_cursor_new(&cursor, rows->f, d);
}

enum dl_status dl_write_results(struct dl_cli *cli,
                                const struct dl_predict_options *o,
                                const struct dl_rows *rows,
                                struct dl_engine *e) {
  DL_SCOPED(free_writer)
  struct results_writer w = {.cli = cli, .o = o, .rows = rows};
  struct dl_row_notes all = {.rows = rows, .most_j = -INFINITY};
  dl_plan_warn_unused(rows->f, &cli->diag);
  DL_TRY(check_names(rows, &cli->diag));
  make_columns(&w);
  make_parts(&w);
  DL_TRY(write_rows(&w, e, &all));
  if (rows->csv)
    dl_plan_warn_aliases(rows->f, &cli->diag);
  return dl_check_budget("a run takes", all.most_j, o->budget_kwh, &cli->diag);
}
