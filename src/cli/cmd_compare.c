/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest compare: estimators side by side on measured runs. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/estimate_rows.h"
#include "estimate/scoring.h"
#include "model/refit.h"

enum { KEY_METHODS = 0x500, KEY_BY, KEY_CV, KEY_MODEL, KEY_COVERAGE };

struct compare_options {
  struct dl_job_options job;
  const char *input, *methods, *by, *cv, *model;
  double coverage;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "How it is scored:", 5},
    {"methods", KEY_METHODS, "LIST", 0,
     "all (default) or names separated by commas", 5},
    {"by", KEY_BY, "COLUMN", 0, "scores for each value of a column", 5},
    {"cv", KEY_CV, "group:COLUMN", 0,
     "refit PRE on this table without the group it predicts", 5},
    {"model", KEY_MODEL, "FILE", 0,
     "model made by dlest fit, in place of the one that ships", 5},
    {"coverage", KEY_COVERAGE, "PERCENT", 0,
     "coverage of the intervals (default 90)", 5},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct compare_options *o = state->input;
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
    o->model = arg;
    return 0;
  case KEY_COVERAGE:
    if (!dl_parse_double(arg, &o->coverage) || o->coverage <= 0 ||
        o->coverage >= 100)
      argp_error(state, "--coverage: invalid value '%s'", arg);
    o->coverage /= 100;
    return 0;
  default:
    return dl_cli_table(&o->input, key, arg, state);
  }
}

static const struct argp_child children[] = {{&dl_job_argp, 0, NULL, 0}, {0}};
static const struct argp compare_argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "RUNS.csv",
    .doc = "Estimate every measured run from its own settings and score each "
           "method against the measured energy: gpu_energy_j for the boundary "
           "gpu where the table has it, else energy_j."
           "\vExamples:\n"
           "  dlest compare runs.csv --cv group:gpu\n"
           "  dlest compare runs.csv --methods tdp,pre-power --by arch\n",
};

/* One pass over the table; with --cv one for each group left out. */
struct comparing {
  struct dl_cli *cli;
  struct compare_options *o;
  struct dl_scoring scores;
};

/* What a pass needs of a frame. */
struct pass {
  struct dl_frame *f;
  struct dl_csv *csv;
  struct dl_session *session;
  size_t energy, gpu_energy, boundary, by;
  struct dl_cell *cells;
  struct dl_estimate *est;
  double *measured;
  size_t row; /* of the training table that comes next */
};

static void free_pass(struct pass *p) {
  dl_session_free(p->session);
  dl_frame_free(p->f);
  dl_csv_free(p->csv);
  free(p->cells);
  free(p->est);
  free(p->measured);
}

static enum dl_status open_pass(struct comparing *w, struct pass *p,
                                const struct dl_model *m) {
  struct dl_diag *d = &w->cli->diag;
  p->f = dl_frame_new(w->cli->catalog);
  if (!p->f)
    return dl_fail_memory(d);
  enum dl_status status = dl_csv_open(&p->csv, w->o->input, 0, d);
  if (status == DL_OK) {
    dl_frame_columns(p->f, p->csv);
    status = dl_job_options_apply(&w->o->job, p->f, w->cli->catalog, false, d);
  }
  if (status == DL_OK)
    status =
        dl_session_new(&p->session, p->f, m, w->o->methods, w->o->coverage, d);
  if (status == DL_OK)
    status = dl_frame_slot(p->f, "energy_j", true, &p->energy, d);
  if (status == DL_OK)
    status = dl_frame_slot(p->f, "gpu_energy_j", false, &p->gpu_energy, d);
  if (status == DL_OK)
    status = dl_frame_slot(p->f, "boundary", false, &p->boundary, d);
  if (status == DL_OK && w->o->by)
    status = dl_frame_slot(p->f, w->o->by, true, &p->by, d);
  if (status != DL_OK)
    return status;
  size_t n = dl_session_n_methods(p->session);
  p->cells = dl_calloc(dl_frame_n_slots(p->f), sizeof *p->cells);
  p->est = dl_calloc(n, sizeof *p->est);
  p->measured = dl_calloc(n, sizeof *p->measured);
  return p->cells && p->est && p->measured ? DL_OK : dl_fail_memory(d);
}

/* The measured energy that a method's boundary calls for. */
static double measured_for(struct comparing *w, const struct pass *p,
                           const struct dl_estimate *est) {
  const char *boundary = p->cells[p->boundary].s;
  double gpu = p->cells[p->gpu_energy].x;
  bool same =
      !boundary || !est->boundary || strcmp(boundary, est->boundary) == 0;
  if (same)
    return p->cells[p->energy].x;
  if (strcmp(est->boundary, "gpu") == 0 && !isnan(gpu))
    return gpu;
  if (!isnan(est->energy_j))
    dl_warn(&w->cli->diag,
            "%s (boundary %s) is scored against energy_j of boundary %s",
            est->method, est->boundary, boundary);
  return p->cells[p->energy].x;
}

/* The rows of a training table that are scored, both in file order. */
struct part {
  const struct dl_training *t;
  const bool *wanted;
};

/* Whether the row on that line is scored; *next runs along. */
static bool part_has(const struct part *part, size_t *next, size_t line) {
  while (*next < part->t->n && part->t->line[*next] < line)
    ++*next;
  return *next < part->t->n && part->t->line[*next] == line &&
         part->wanted[*next];
}

/* A run's duration must come from its settings, never from its energy. */
static enum dl_status score_row(struct comparing *w, struct pass *p,
                                const struct dl_csv_block *block, size_t i,
                                const struct part *part) {
  struct dl_diag *d = &w->cli->diag;
  struct dl_fault fault;
  struct dl_job job;
  bool bad = false;
  size_t n = dl_session_n_methods(p->session);
  if (part && !part_has(part, &p->row, block->line[i]))
    return DL_OK;
  dl_frame_row(p->f, block, i, p->cells, &fault);
  if (fault.kind != DL_FAULT_NONE)
    return dl_frame_complain(p->f, &fault, p->cells, dl_csv_path(p->csv),
                             block->line[i], d);
  enum dl_status status =
      dl_session_row(p->session, NULL, p->cells, dl_frame_descriptors(p->f, i),
                     &job, p->est, d);
  if (status == DL_OK)
    status = dl_session_check(w->cli->catalog, &job, dl_csv_path(p->csv),
                              block->line[i], &bad, d);
  if (status != DL_OK || bad)
    return status;
  for (size_t m = 0; m < n; m++)
    p->measured[m] = measured_for(w, p, &p->est[m]);
  const char *group = w->o->by ? p->cells[p->by].s : "";
  return dl_scoring_add(&w->scores, group ? group : "", p->est, n, p->measured,
                        d);
}

static enum dl_status run_pass(struct comparing *w, const struct dl_model *m,
                               const struct part *part) {
  struct pass p = {0};
  const struct dl_csv_block *block;
  struct dl_diag *d = &w->cli->diag;
  enum dl_status status = open_pass(w, &p, m);
  while (status == DL_OK && (status = dl_csv_next(p.csv, &block, d)) == DL_OK &&
         block) {
    status = dl_frame_block(p.f, block, d);
    for (size_t i = 0; i < block->n_rows && status == DL_OK; i++)
      status = score_row(w, &p, block, i, part);
  }
  free_pass(&p);
  return status;
}

/* Reads what the model needs, and the labels to leave out by. */
static enum dl_status read_training(struct comparing *w,
                                    const struct dl_model *m,
                                    const char *column, struct dl_training *t) {
  struct dl_diag *d = &w->cli->diag;
  struct dl_strlist groups = {0};
  struct dl_csv *csv = NULL;
  struct dl_frame *f = dl_frame_new(w->cli->catalog);
  bool ok = f && dl_strlist_add(&groups, "config") &&
            dl_strlist_add(&groups, "arch") && dl_strlist_add(&groups, "gpu");
  enum dl_status status = ok ? DL_OK : dl_fail_memory(d);
  if (status == DL_OK)
    status = dl_csv_open(&csv, w->o->input, 0, d);
  if (status == DL_OK) {
    dl_frame_columns(f, csv);
    status = dl_job_options_apply(&w->o->job, f, w->cli->catalog, false, d);
  }
  if (status == DL_OK)
    status = dl_refit_formulas(&t->formula, m, d);
  if (status == DL_OK && dl_strlist_find(&t->formula, "energy_j") < 0 &&
      !dl_strlist_add(&t->formula, "energy_j"))
    status = dl_fail_memory(d);
  if (status == DL_OK)
    status = dl_training_read(t, csv, f, &groups, column, d);
  dl_strlist_free(&groups);
  dl_frame_free(f);
  dl_csv_free(csv);
  return status;
}

static enum dl_status leave_groups_out(struct comparing *w,
                                       const struct dl_model *m,
                                       const struct dl_training *t,
                                       const struct dl_labels *l) {
  struct dl_diag *d = &w->cli->diag;
  bool *keep = dl_calloc(t->n, sizeof *keep);
  bool *wanted = dl_calloc(t->n, sizeof *wanted);
  if (!keep || !wanted) {
    free(keep);
    free(wanted);
    return dl_fail_memory(d);
  }
  enum dl_status status = DL_OK;
  for (size_t g = 0; g < l->names.n && status == DL_OK; g++) {
    struct dl_model *without;
    struct part part = {t, wanted};
    for (size_t i = 0; i < t->n; i++)
      keep[i] = !(wanted[i] = l->id[i] == g);
    status = dl_refit(&without, m, t, keep, d);
    if (status == DL_OK)
      status = run_pass(w, without, &part);
    dl_model_free(without);
  }
  free(keep);
  free(wanted);
  return status;
}

static enum dl_status cross_validated(struct comparing *w,
                                      const struct dl_model *m) {
  struct dl_diag *d = &w->cli->diag;
  struct dl_cv_spec spec;
  struct dl_training t = {0};
  enum dl_status status = DL_OK;
  if (strncmp(w->o->cv, "group:", 6) != 0 || !w->o->cv[6])
    status =
        dl_fail(d, DL_EUSAGE, "--cv '%s': expected group:COLUMN", w->o->cv);
  if (status == DL_OK)
    status = dl_cv_parse(&spec, w->o->cv, d);
  if (status == DL_OK && strcmp(w->o->input, "-") == 0)
    status = dl_fail(d, DL_EUSAGE,
                     "--cv reads the table several times: "
                     "give a file, not standard input");
  if (status == DL_OK)
    status = read_training(w, m, spec.column, &t);
  const struct dl_labels *l =
      status == DL_OK ? dl_training_labels(&t, spec.column) : NULL;
  if (status == DL_OK && (!l || l->names.n < 2)) {
    dl_fail_at(d, DL_EINPUT, w->o->input, 0,
               "column '%s' has fewer than two values to leave out",
               spec.column);
    status = DL_EINPUT;
  }
  if (status == DL_OK)
    status = leave_groups_out(w, m, &t, l);
  dl_training_free(&t);
  return status;
}

static const struct dl_column columns[] = {
    {"method", "method", NULL, DL_CODE, false},
    {"group", "group", NULL, DL_CODE, false},
    {"n", "runs", NULL, DL_CODE, false},
    {"rmse_j", "RMSE", "J", DL_ENERGY, false},
    {"mae_j", "MAE", "J", DL_ENERGY, false},
    {"mape", "MAPE", "%", DL_PERCENT, false},
    {"median_ape", "median APE", "%", DL_PERCENT, false},
    {"r2", "R2", NULL, DL_PLAIN, false},
    {"bias_j", "bias", "J", DL_ENERGY, false},
    {"covered", "inside interval", "%", DL_PERCENT, false}};

static enum dl_status add_score(struct dl_table *t, const char *method,
                                const char *group,
                                const struct dl_score_cell *c,
                                struct dl_diag *d) {
  struct dl_scores s;
  if (dl_score(&s, c->measured, c->estimated, NULL, c->n) != 0)
    return dl_fail_memory(d);
  struct dl_value v[] = {
      dl_string(method),
      dl_string(group),
      dl_count(c->n),
      dl_number(s.rmse),
      dl_number(s.mae),
      dl_number(s.mape),
      dl_number(s.median_ape),
      dl_number(s.r2),
      dl_number(s.bias),
      dl_number(c->with_interval ? (double)c->inside / (double)c->with_interval
                                 : NAN)};
  dl_table_row(t, v, NULL);
  return DL_OK;
}

/* Names of the methods as the session took them. */
static const char *method_name(const char *methods, size_t i, char buf[64]) {
  struct dl_strlist names = {0};
  if (strcmp(methods, "all") == 0)
    return dl_estimator_at(i)->name;
  if (dl_strlist_split(&names, methods, ',') && i < names.n)
    snprintf(buf, 64, "%s", names.s[i]);
  dl_strlist_free(&names);
  return buf;
}

static enum dl_status report(struct comparing *w) {
  struct dl_diag *d = &w->cli->diag;
  struct dl_report *r = dl_report_new();
  if (!r)
    return dl_fail_memory(d);
  struct dl_column shown[sizeof columns / sizeof *columns];
  memcpy(shown, columns, sizeof columns);
  shown[1].heading = w->o->by;
  struct dl_table *t = dl_report_table(r, "scores", NULL, shown,
                                       sizeof columns / sizeof *columns, true);
  enum dl_status status = DL_OK;
  const struct dl_scoring *s = &w->scores;
  char buf[64];
  for (size_t g = 0; g < s->groups.n; g++)
    for (size_t m = 0; m < s->n_methods && status == DL_OK; m++)
      status = add_score(t, method_name(w->o->methods, m, buf),
                         w->o->by ? s->groups.s[g] : NULL,
                         &s->cell[g * s->n_methods + m], d);
  if (status != DL_OK) {
    dl_report_free(r);
    return status;
  }
  return dl_cli_print(w->cli, r);
}

static bool scores_pre(const struct compare_options *o) {
  return strcmp(o->methods, "all") == 0 || strstr(o->methods, "pre-");
}

static enum dl_status run(struct dl_cli *cli, int argc, char **argv) {
  struct compare_options o = {.methods = "all", .coverage = 0.9};
  dl_cli_parse(cli, &compare_argp, argc, argv, &o);
  struct comparing w = {.cli = cli, .o = &o};
  struct dl_model *m = NULL;
  enum dl_status status = dl_open_model(cli, o.model, &m);
  if (status == DL_OK && o.cv) {
    status = cross_validated(&w, m);
  } else if (status == DL_OK) {
    status = run_pass(&w, m, NULL);
    if (status == DL_OK && w.scores.groups.n > 0 && scores_pre(&o))
      dl_warn(&cli->diag, "PRE may be scored on runs that its model was fitted "
                          "on; --cv group:COLUMN refits it without them");
  }
  if (status == DL_OK && w.scores.groups.n == 0)
    status = dl_fail_at(&cli->diag, DL_EINPUT, o.input, 0,
                        "no run that could be scored");
  if (status == DL_OK)
    status = report(&w);
  dl_scoring_free(&w.scores);
  dl_model_free(m);
  dl_job_options_free(&o.job);
  return dl_cli_end(cli, status);
}

const struct dl_command dl_cmd_compare = {
    .name = "compare",
    .summary = "score estimators side by side on measured runs",
    .run = run,
};
