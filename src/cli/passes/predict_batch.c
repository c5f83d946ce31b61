/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates each row of a table, in chunks and by all threads. */

#include "cli/passes/predict_batch.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/views/job_limits.h"
#include "cli/views/predict_report.h"
#include "estimate/methods/work.h"
#include "output/format.h"
#include "quantities/quantities.h"

/* Rows estimated at a time: enough to keep threads busy, few enough that
 * their estimates stay small. A thread formats PIECE of them at a time. */
enum { CHUNK = 1024, PIECE = 64 };

/* What becomes of a row. */
struct outcome {
  bool shown; /* no fault: there are estimates */
  long best;  /* index of the recommended one, or -1 */
};

/* Quantities that size a run and have defaults. */
static const enum dl_run_id sizes[] = {DL_RUN_train_samples, DL_RUN_epochs,
                                       DL_RUN_batch_size};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* Rows whose cell of a size is empty, and what is taken in its place. */
struct defaulted {
  bool column; /* the table has one */
  size_t n;
  double low, high;
};

struct batch {
  struct dl_cli *cli;
  const struct dl_predict_options *o;
  struct dl_frame *f;
  struct dl_csv *csv;              /* borrowed */
  const struct dl_batch_taker *to; /* or NULL: a stream */
  struct dl_session *session;
  size_t n_methods, n_own; /* own: columns of the table */
  struct dl_column *columns;
  struct dl_intern names; /* of the own columns in the output */
  bool *is_number;        /* one an own column */
  bool default_samples;   /* rows do not say how much they train on */
  struct dl_stream *stream;
  size_t n_columns;
  struct dl_value *values; /* n_columns for each thread */
  /* A chunk: */
  size_t first; /* of its rows in the block */
  struct dl_job *job;
  struct dl_estimate *est;
  struct outcome *outcome;
  struct dl_text text[CHUNK / PIECE]; /* formatted rows */
  struct dl_limits limits;            /* rows over them so far */
  struct defaulted defaulted[N_SIZES];
  double over_j; /* highest recommended estimate so far */
};

static void free_batch(struct batch *b) {
  dl_session_free(b->session);
  dl_intern_free(&b->names);
  free(b->is_number);
  free(b->columns);
  free(b->values);
  free(b->job);
  free(b->est);
  free(b->outcome);
  for (size_t i = 0; i < CHUNK / PIECE; i++)
    dl_text_free(&b->text[i]);
}

/* Whether a name is taken by an estimate's column. */
static bool is_ours(const char *name) {
  for (size_t i = 0; i < DL_ESTIMATE_COLUMNS; i++)
    if (strcmp(dl_estimate_columns[i].key, name) == 0)
      return true;
  for (size_t i = 0; i < DL_ROW_COLUMNS; i++)
    if (strcmp(dl_row_columns[i].key, name) == 0)
      return true;
  return false;
}

/* The name of an own column in the output: its own, or "measured_NAME" where
 * an estimate has it too, repeated until it is the only one. */
static void own_name(struct batch *b, size_t column) {
  DL_TEXT(t);
  DL_TEXT(longer);
  dl_text_add(&t, dl_csv_name(b->csv, column));
  while (is_ours(t.s) || dl_intern_find(&b->names, t.s) >= 0 ||
         (dl_csv_find(b->csv, t.s) >= 0 &&
          dl_csv_find(b->csv, t.s) != (long)column)) {
    dl_text_clear(&longer);
    dl_text_printf(&longer, "measured_%s", t.s);
    dl_text_clear(&t);
    dl_text_add(&t, dl_text_str(&longer));
  }
  dl_intern(&b->names, t.s);
}

static void make_columns(struct batch *b) {
  b->n_own = dl_csv_n_cols(b->csv);
  const struct dl_footprint *foot = &b->o->job.foot;
  size_t n = b->n_own + DL_ESTIMATE_COLUMNS + DL_ROW_COLUMNS;
  b->columns = dl_calloc(n, sizeof *b->columns);
  b->n_columns = n;
  b->values = dl_calloc(n * (size_t)omp_get_max_threads(), sizeof *b->values);
  b->is_number = dl_calloc(b->n_own, sizeof *b->is_number);
  for (size_t i = 0; i < b->n_own; i++) {
    const char *name = dl_csv_name(b->csv, i);
    const struct dl_run_column *column = dl_run_column_find(name);
    b->is_number[i] = column && !column->is_text;
    own_name(b, i);
    b->columns[i] = dl_setting_column(name);
    b->columns[i].key = b->names.s[i];
    b->columns[i].style = DL_CODE;
  }
  dl_estimate_row_headings(b->columns + b->n_own, foot, b->o->all);
  dl_row_headings(b->columns + b->n_own + DL_ESTIMATE_COLUMNS, foot, b->o->all);
}

static void make_room(struct batch *b) {
  for (size_t k = 0; k < N_SIZES; k++)
    b->defaulted[k].column =
        dl_csv_find(b->csv, dl_run_columns[sizes[k]].name) >= 0;
  b->job = dl_calloc(CHUNK, sizeof *b->job);
  b->est = dl_calloc(CHUNK * b->n_methods, sizeof *b->est);
  b->outcome = dl_calloc(CHUNK, sizeof *b->outcome);
}

/* Row i of the chunk. */
static const struct dl_row *row_of(const struct batch *b, size_t i) {
  return dl_frame_row(b->f, b->first + i);
}

/* Rows are independent. Faults of a row are in the row. */
static enum dl_status estimate_chunk(struct batch *b, size_t n) {
  enum dl_status status = DL_OK;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; i++) {
    DL_SCOPED(dl_diag_free) struct dl_diag d = {0};
    struct dl_job_predictions predictions;
    const struct dl_row *row = row_of(b, i);
    if (row->fault.kind == DL_FAULT_NONE &&
        dl_session_row(b->session, row, &b->job[i], &predictions,
                       b->est + i * b->n_methods, &d) != DL_OK)
#pragma omp critical(dl_batch_failure)
    {
      status = d.status;
      dl_diag_take(&b->cli->diag, &d);
    }
  }
  return status;
}

/* A cell of a canonical column of numbers is one, in JSON as well. */
static struct dl_value own_value(const struct batch *b, size_t column,
                                 const char *cell) {
  double x;
  if (b->is_number[column] && dl_parse_double(cell, &x))
    return dl_number(x);
  return dl_string(*cell ? cell : NULL);
}

/* Row i of the chunk: the table's own cells, then the estimates that are shown
 * of it. By any thread where it goes into a text. */
static enum dl_status put_row(const struct batch *b, const char *const *cell,
                              size_t i, struct dl_text *to, struct dl_diag *d) {
  struct dl_value *v = b->values + b->n_columns * (size_t)omp_get_thread_num();
  const struct dl_footprint *foot = &b->o->job.foot;
  long best = b->outcome[i].best;
  struct dl_taken taken;
  for (size_t c = 0; c < b->n_own; c++)
    v[c] = own_value(b, c, cell[c]);
  for (size_t m = 0; m < b->n_methods; m++) {
    if (!b->o->all && best >= 0 && (long)m != best)
      continue;
    dl_estimate_values(&b->est[i * b->n_methods + m], foot, b->o->coverage,
                       v + b->n_own);
    dl_row_values(foot, (long)m == best, &b->job[i], &taken,
                  v + b->n_own + DL_ESTIMATE_COLUMNS);
    DL_TRY(dl_stream_row(b->stream, v, to, d));
  }
  return DL_OK;
}

/* Rows [from, n) of a chunk whose cells begin at `cell`: formatted by all
 * threads, written in their order. */
static enum dl_status add_rows(struct batch *b, const char *const *cell,
                               size_t from, size_t n) {
  struct dl_diag *d = &b->cli->diag;
  size_t pieces = (n - from + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(dynamic)
  for (size_t p = 0; p < pieces; p++)
    for (size_t i = from + p * PIECE; i < n && i < from + (p + 1) * PIECE; i++)
      if (b->outcome[i].shown)
        put_row(b, cell + i * b->n_own, i, &b->text[p], NULL);
  for (size_t p = 0; p < pieces; p++)
    if (b->text[p].len > 0)
      DL_TRY(dl_stream_write(b->stream, &b->text[p], d));
  return DL_OK;
}

/* A row that no method can estimate is skipped. */
static bool says_nothing(struct batch *b, size_t i, size_t line) {
  const struct dl_estimate *est = b->est + i * b->n_methods;
  for (size_t m = 0; m < b->n_methods; m++)
    if (!isnan(est[m].energy_j))
      return false;
  dl_skip_at(&b->cli->diag, dl_csv_path(b->csv), line,
             "no estimate: %s needs %s", est[0].method,
             est[0].lacks ? est[0].lacks : "more");
  return true;
}

/* Only networks that are usually trained on ImageNet have a default size. No
 * training is one of no samples, as the option says too. */
static bool says_no_size(struct batch *b, size_t i, size_t line) {
  const struct dl_job *job = &b->job[i];
  if (!dl_run_is_inference(job->run) && isnan(job->run->tokens) &&
      job->run->train_samples == 0) {
    dl_skip_at(&b->cli->diag, dl_csv_path(b->csv), line,
               "column '%s': %s is not above 0", "train_samples", "0");
    return true;
  }
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_dataset *own = job->run->dataset ? job->found.dataset : NULL;
  if (!b->default_samples || !arch || !isnan(job->run->tokens) ||
      dl_run_is_inference(job->run) ||
      dl_run_set_has(&row_of(b, i)->given, DL_RUN_train_samples) ||
      (own && !isnan(own->train_samples)))
    return false;
  const char *usual = dl_usual_dataset(arch);
  if (dl_is_language_model(arch))
    dl_skip_at(&b->cli->diag, dl_csv_path(b->csv), line,
               "'%.64s' is a language model; give a column tokens or "
               "train_samples",
               job->run->arch);
  else if (!usual || strcmp(usual, "imagenet") != 0)
    dl_skip_at(&b->cli->diag, dl_csv_path(b->csv), line,
               "'%.64s' is usually not trained on ImageNet; give a column "
               "dataset or train_samples",
               job->run->arch);
  else
    return false;
  return true;
}

/* Notes which sizes a row takes by default. */
static void note_defaults(struct batch *b, size_t i) {
  const struct dl_run *r = b->job[i].run;
  const struct dl_run_set *given = &row_of(b, i)->given;
  const bool follows[N_SIZES] = {dl_run_is_inference(r) || r->dataset ||
                                     !isnan(r->tokens) ||
                                     !isnan(r->train_tokens),
                                 dl_run_is_inference(r) || !isnan(r->tokens) ||
                                     dl_lasts_so_long(&b->job[i]),
                                 dl_run_set_has(given, DL_RUN_global_batch)};
  for (size_t k = 0; k < N_SIZES; k++) {
    struct defaulted *to = &b->defaulted[k];
    double x = dl_run_number(r, sizes[k]);
    if (follows[k] || isnan(x) || dl_run_set_has(given, sizes[k]))
      continue;
    to->low = to->n > 0 ? fmin(to->low, x) : x;
    to->high = to->n > 0 ? fmax(to->high, x) : x;
    to->n++;
  }
}

static void warn_defaulted(const struct batch *b) {
  bool names = dl_csv_find(b->csv, "dataset") >= 0; /* the frame warns */
  for (size_t k = 0; k < N_SIZES; k++) {
    const struct defaulted *of = &b->defaulted[k];
    const char *name = dl_run_columns[sizes[k]].name;
    const char *path = dl_csv_path(b->csv);
    char low[DL_NUMBER_SIZE], high[DL_NUMBER_SIZE], taken[100];
    snprintf(taken, sizeof taken, of->low < of->high ? "%s to %s" : "%s",
             dl_format_short(low, of->low), dl_format_short(high, of->high));
    if (of->n > 0 && of->column)
      dl_warn_at(&b->cli->diag, path, 0,
                 "column '%s' is empty in %zu row%s: %s is taken", name, of->n,
                 of->n == 1 ? "" : "s", taken);
    else if (of->n > 0 && !(names && sizes[k] == DL_RUN_train_samples))
      dl_warn_at(&b->cli->diag, path, 0, "no column '%s': %s is taken", name,
                 taken);
  }
}

/* Reports the faults of a row, and notes what it adds to the whole. */
static enum dl_status judge_row(struct batch *b, size_t i, size_t line) {
  struct dl_diag *d = &b->cli->diag;
  const struct dl_estimate *est = b->est + i * b->n_methods;
  const char *path = dl_csv_path(b->csv);
  bool bad = false;
  b->outcome[i].shown = false;
  if (row_of(b, i)->fault.kind != DL_FAULT_NONE)
    return dl_frame_complain(b->f, row_of(b, i), path, line, d);
  enum dl_status status =
      dl_session_check(dl_cli_catalog(b->cli), &b->job[i], path, line, &bad, d);
  if (status != DL_OK || bad || says_no_size(b, i, line) ||
      says_nothing(b, i, line))
    return status;
  long best = dl_recommended(est, b->n_methods, !isnan(b->job[i].known.run_s));
  b->outcome[i] = (struct outcome){true, best};
  if (best >= 0)
    b->over_j = fmax(b->over_j, est[best].energy_j);
  dl_limits_count(&b->limits, &b->job[i], best >= 0 ? &est[best] : NULL);
  note_defaults(b, i);
  return DL_OK;
}

/* Rows are written one by one as long as their layout depends on those before
 * them. */
static enum dl_status print_chunk(struct batch *b,
                                  const struct dl_csv_block *block, size_t n) {
  const char *const *cell = block->cell + b->first * block->n_cols;
  size_t i = 0;
  for (; i < n && !dl_stream_adds(b->stream); i++)
    if (b->outcome[i].shown)
      DL_TRY(put_row(b, cell + i * b->n_own, i, NULL, &b->cli->diag));
  return add_rows(b, cell, i, n);
}

static void hand_on(struct batch *b, const struct dl_csv_block *block,
                    size_t n) {
  for (size_t i = 0; i < n; i++) {
    const struct outcome *of = &b->outcome[i];
    if (of->shown && of->best >= 0)
      b->to->row(b->to->ctx, &b->job[i],
                 &b->est[i * b->n_methods + (size_t)of->best],
                 block->line[b->first + i], &b->cli->diag);
  }
}

static enum dl_status take_chunk(struct batch *b,
                                 const struct dl_csv_block *block, size_t n) {
  for (size_t k = 0; k < n; k++)
    DL_TRY(judge_row(b, k, block->line[b->first + k]));
  if (!b->to)
    return print_chunk(b, block, n);
  hand_on(b, block, n);
  return DL_OK;
}

static enum dl_status stream_rows(struct batch *b) {
  struct dl_diag *d = &b->cli->diag;
  const struct dl_csv_block *block;
  while (true) {
    DL_TRY(dl_frame_next(b->f, b->csv, &block, d));
    if (!block)
      return DL_OK;
    for (b->first = 0; b->first < block->n_rows; b->first += CHUNK) {
      size_t left = block->n_rows - b->first;
      size_t n = left < CHUNK ? left : CHUNK;
      DL_TRY(estimate_chunk(b, n));
      DL_TRY(take_chunk(b, block, n));
    }
    dl_progress_step(d->progress, dl_csv_share(b->csv));
  }
}

static enum dl_status write_batch(struct batch *b) {
  DL_SCOPED(dl_report_free_local) struct dl_report *tail = dl_report_new();
  struct dl_cli *cli = b->cli;
  struct dl_output out;
  dl_cli_rows_follow(cli);
  enum dl_status status =
      dl_output_open(&out, cli->output, cli->strict, &cli->diag);
  if (status != DL_OK)
    return status;
  status = dl_stream_begin(
      &b->stream, cli->format, out.f,
      &(struct dl_table_form){"estimates", b->columns, b->n_columns},
      &cli->diag);
  if (status == DL_OK)
    status = stream_rows(b);
  warn_defaulted(b);
  dl_limits_warn(&b->limits, dl_csv_path(b->csv), &cli->diag);
  dl_limits_say(&b->limits, tail);
  if (b->stream)
    dl_stream_tail(b->stream, tail);
  return dl_cli_commit(cli, &out, b->stream, status);
}

/* What all batches begin with. */
static enum dl_status begin(struct batch *b, const struct dl_model *m) {
  struct dl_cli *cli = b->cli;
  const struct dl_predict_options *o = b->o;
  b->over_j = -INFINITY;
  DL_TRY(dl_session_new(&b->session, b->f, m, o->methods, o->coverage,
                        &cli->diag));
  DL_TRY(dl_session_find_families(b->session, NULL, dl_cli_catalog(cli),
                                  &cli->diag));
  b->session->fields.known = o->known;
  b->n_methods = b->session->n;
  const char *dataset = o->job.dataset; /* cells may be empty */
  b->default_samples = !dataset || strcmp(dataset, "imagenet") == 0;
  if (b->to)
    DL_TRY(b->to->begin(b->to->ctx, b->f, &cli->diag));
  dl_frame_warn_unused(b->f, &cli->diag);
  make_room(b);
  return DL_OK;
}

enum dl_status dl_predict_batch(struct dl_cli *cli,
                                const struct dl_predict_options *o,
                                const struct dl_model *m, struct dl_frame *f,
                                struct dl_csv *csv) {
  DL_SCOPED(free_batch)
  struct batch b = {.cli = cli, .o = o, .f = f, .csv = csv};
  DL_TRY(dl_csv_take_shard(csv, &o->shard, &cli->diag));
  DL_TRY(dl_job_options_check_table(cli, &o->job, csv));
  dl_frame_columns(f, csv);
  DL_TRY(begin(&b, m));
  make_columns(&b);
  DL_TRY(write_batch(&b));
  dl_frame_warn_aliases(f, &cli->diag);
  DL_TRY(dl_check_budget("a run takes", b.over_j, o->budget_kwh, &cli->diag));
  return DL_OK;
}

enum dl_status dl_predict_rows(struct dl_cli *cli,
                               const struct dl_predict_options *o,
                               const struct dl_model *m, struct dl_frame *f,
                               struct dl_csv *csv,
                               const struct dl_batch_taker *to) {
  DL_SCOPED(free_batch)
  struct batch b = {.cli = cli, .o = o, .f = f, .csv = csv, .to = to};
  DL_TRY(begin(&b, m));
  enum dl_status status = stream_rows(&b);
  warn_defaulted(&b);
  dl_limits_warn(&b.limits, dl_csv_path(csv), &cli->diag);
  dl_frame_warn_aliases(f, &cli->diag);
  return status;
}
