/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads tables of configurations that could be measured. */

#include "estimate/suggestion/suggestion_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/assumptions.h"
#include "estimate/node/peak_memory.h"

struct suggestion_reader {
  struct dl_suggestion_rows *rows;
  bool measured;
  const struct dl_csv *csv;
  struct dl_engine *engine;
};

static void end_reader(struct suggestion_reader *r) {
  dl_engine_free(r->engine);
}

void dl_suggestion_rows_free(struct dl_suggestion_rows *rows) {
  free(rows->kept.row);
  free(rows->runs.row);
  for (size_t k = 0; k < DL_SUGGEST_KINDS; k++)
    dl_physics_rows_free(&rows->inputs[k]);
  dl_intern_free(&rows->texts);
  *rows = (struct dl_suggestion_rows){0};
}

/* The fit of a kind: of its time, as it is estimated. */
static const struct dl_bound_fit *fit_of(const struct dl_engine *s,
                                         size_t kind) {
  if (kind == DL_SUGGEST_LANGUAGE)
    return &s->fit[DL_LANGUAGE_RATE];
  return s->fit[DL_PHYSICAL_EPOCH].fit ? &s->fit[DL_PHYSICAL_EPOCH]
                                       : &s->fit[DL_PHYSICAL_TIME];
}

static const char *keep_text(struct dl_suggestion_rows *rows, const char *s) {
  long at = s ? dl_intern(&rows->texts, s) : -1;
  return at < 0 ? NULL : rows->texts.s[at];
}

/* Half of an interval of a logarithm; NaN without one. */
static double half_width(double low, double high) {
  return low > 0 && high > 0 ? log(high / low) / 2 : (double)NAN;
}

/* Takes the half-widths of a training; a language model has the rate's alone:
 * the widths of whole trainings have what no run says of, such as software that
 * is not named. */
static void take_widths(struct dl_suggestion_row *to,
                        const struct dl_job_predictions *p,
                        const struct dl_estimate *est) {
  const struct dl_prediction *rate = &p->of[DL_LANGUAGE_RATE];
  to->half_width[DL_SUGGEST_TIME] =
      p->language ? half_width(rate->low, rate->high)
                  : half_width(est->duration_s.low, est->duration_s.high);
  to->half_width[DL_SUGGEST_ENERGY] =
      p->language ? (double)NAN
                  : half_width(est->energy_j.low, est->energy_j.high);
}

static double lacking_memory(const struct dl_job *job) {
  struct dl_memory_need m;
  dl_memory_of(job, &m);
  return m.over ? m.need_gb - m.has_gb : 0;
}

/* The targets that columns of a row have. */
static unsigned measured_of(const struct dl_physics *physics,
                            const struct dl_run *run) {
  double value[DL_MAX_TARGETS];
  unsigned set = 0;
  physics->measured(run, value);
  for (size_t t = 0; t < physics->n_targets; t++)
    set |= isnan(value[t]) ? 0 : 1u << t;
  return set;
}

/* Keeps a row whose inputs are complete. */
static void keep_row(struct suggestion_reader *r, struct dl_suggestion_row *to,
                     const struct dl_predictor_row *at) {
  const struct dl_run *run = &at->row->run;
  struct dl_suggestion_rows *rows = r->rows;
  struct dl_physics_rows *inputs = &rows->inputs[to->kind];
  inputs->physics = rows->fit[to->kind]->method->physics;
  dl_physics_rows_room(inputs, 1);
  memcpy(dl_physics_rows_inputs(inputs, 0), at->inputs.bytes,
         inputs->physics->input_size);
  dl_physics_rows_take(inputs, 0);
  to->input = inputs->input[inputs->n - 1];
  if (r->measured)
    to->measured = measured_of(inputs->physics, run);
  to->arch = keep_text(rows, run->arch);
  to->gpu = keep_text(rows, run->gpu);
  to->precision = dl_precision_words[run->precision];
  to->n_gpus = run->n_gpus;
  to->batch_size = run->batch_size;
  to->image_px = run->image_px;
  to->seq_len = run->seq_len;
  struct dl_suggestion_table *table = r->measured ? &rows->kept : &rows->runs;
  DL_GROW(table->row, table->cap, table->n + 1);
  table->row[table->n++] = *to;
}

/* Takes a row that has estimates, or skips it. */
static enum dl_status take_row(struct suggestion_reader *r,
                               struct dl_suggestion_row *to,
                               const struct dl_row *row, struct dl_diag *d) {
  const struct dl_bound_fit *of = fit_of(r->engine, to->kind);
  const char *path = dl_csv_path(r->csv);
  struct dl_predictor_row at;
  if (dl_run_is_inference(&row->run)) {
    dl_skip_at(d, path, to->line,
               "a row of inference, where trainings are fitted");
    return DL_OK;
  }
  if (!of->fit)
    return dl_fail_at(d, DL_EINPUT, path, to->line,
                      "the model has no fit that this run could calibrate");
  dl_predictor_take(of->p, row, &at);
  const char *why =
      at.lacks ? NULL : of->fit->method->physics->check(at.inputs.bytes);
  if (at.lacks)
    dl_skip_at(d, path, to->line, "column '%s': no value", at.lacks);
  else if (why)
    dl_skip_at(d, path, to->line, "%s", why);
  if (at.lacks || why)
    return DL_OK;
  r->rows->fit[to->kind] = of->fit;
  keep_row(r, to, &at);
  return DL_OK;
}

static enum dl_status read_row(void *ctx, size_t part,
                               const struct dl_result *row, struct dl_diag *d) {
  struct suggestion_reader *r = ctx;
  struct dl_suggestion_row to = {.line = row->line};
  (void)part;
  to.kind = row->predictions.language ? DL_SUGGEST_LANGUAGE : DL_SUGGEST_OTHERS;
  to.memory_gb = lacking_memory(&row->job);
  take_widths(&to, &row->predictions, &row->est[0]);
  return take_row(r, &to, row->job.row, d);
}

enum dl_status dl_suggestion_rows_read(struct dl_suggestion_rows *rows,
                                       bool measured, const struct dl_model *m,
                                       const struct dl_rows *from,
                                       struct dl_diag *d) {
  DL_SCOPED(end_reader)
  struct suggestion_reader r = {
      .rows = rows, .measured = measured, .csv = from->csv};
  const struct dl_row_sink sink = {.ctx = &r, .row = read_row};
  DL_TRY(dl_engine_new(&r.engine, from->f, m, "physical", 0.5, d));
  r.engine->fields.known = 0;
  /* A calibration reads rows like this. */
  dl_plan_assume(from->f, dl_assume_language_setup, true);
  dl_plan_warn_unused(from->f, d);
  DL_TRY(dl_rows_each(from, r.engine, &sink, d));
  dl_plan_warn_aliases(from->f, d);
  return DL_OK;
}
