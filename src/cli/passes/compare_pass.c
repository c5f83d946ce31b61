/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores the runs of a table, also with refitted models. */

#include "cli/passes/compare_pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "estimate/assumptions.h"
#include "estimate/rows.h"
#include "model/fitting/refit.h"
#include "model/training/training_columns.h"
#include "run/config_key.h"

/* The table that is read. */
static const char *path_of(const struct dl_comparing *w) {
  return w->cli->argument[w->table];
}

/* One pass over a table. */
struct pass {
  struct dl_comparing *w;
  /* The rows that are scored, and of the table, in file order; NULL: all. */
  const bool *wanted;
  const struct dl_training *t;
  struct dl_row_plan *f;
  struct dl_csv *csv;
  struct dl_engine *engine[DL_MOST_MODELS]; /* one a model */
  size_t n_methods;                         /* of each */
  struct dl_row_ref energy, gpu_energy, boundary, by;
  struct dl_key_maker *key;  /* of configurations */
  struct dl_row_ref cluster; /* what is drawn, where it is a column */
  bool has_cluster;
  struct dl_text label;
  const struct dl_row *row;
  struct dl_estimate *est;
  double *measured;
  size_t next; /* row of the training table */
  struct dl_repeated_rows repeated;
};

static void free_pass(struct pass *p) {
  for (size_t k = 0; k < DL_MOST_MODELS; k++)
    dl_engine_free(p->engine[k]);
  free(p->key);
  dl_text_free(&p->label);
  dl_plan_free(p->f);
  dl_csv_free(p->csv);
  free(p->est);
  free(p->measured);
  dl_repeated_rows_free(&p->repeated);
}

/* The unit that the bootstrap draws: the configuration, whose key is made from
 * the settings if the table has no such column; a column; or the run. */
static enum dl_status open_cluster(struct dl_comparing *w, struct pass *p) {
  struct dl_diag *d = &w->cli->diag;
  const char *by = w->o->bootstrap_by;
  bool config = strcmp(by, "config") == 0;
  if (strcmp(by, "run") == 0 || w->o->how.resamples == 0)
    return DL_OK;
  p->has_cluster = !config || dl_plan_has(p->f, by);
  if (p->has_cluster)
    DL_TRY(dl_plan_text(p->f, by, !config, &p->cluster, d));
  if (config)
    DL_TRY(dl_key_maker_new(&p->key, p->f, d));
  return dl_plan_want_descriptors(p->f, d);
}

static enum dl_status open_quantities(struct dl_comparing *w, struct pass *p) {
  struct dl_diag *d = &w->cli->diag;
  DL_TRY(dl_plan_quantity(p->f, "energy_j", true, &p->energy, d));
  DL_TRY(dl_plan_quantity(p->f, "gpu_energy_j", false, &p->gpu_energy, d));
  DL_TRY(dl_plan_quantity(p->f, "boundary", false, &p->boundary, d));
  if (w->o->by)
    DL_TRY(dl_plan_text(p->f, w->o->by, true, &p->by, d));
  return open_cluster(w, p);
}

static enum dl_status open_pass(struct dl_comparing *w, struct pass *p,
                                struct dl_model *const *model) {
  struct dl_diag *d = &w->cli->diag;
  p->f = dl_plan_new(dl_cli_catalog(w->cli));
  DL_TRY(dl_csv_open(&p->csv, path_of(w), 0, d));
  DL_TRY(dl_csv_drop_empty(p->csv, d));
  DL_TRY(dl_job_options_check_table(w->cli, &w->o->job, p->csv));
  dl_plan_columns(p->f, p->csv);
  DL_TRY(
      dl_job_options_apply(&w->o->job, p->f, dl_cli_catalog(w->cli), false, d));
  for (size_t k = 0; k < w->n_models; k++)
    DL_TRY(dl_engine_new(&p->engine[k], p->f, model[k], w->o->methods,
                         w->o->coverage, d));
  for (size_t k = 0; k < w->n_models; k++) {
    p->engine[k]->fields.known = w->o->known;
    DL_TRY(dl_engine_learn_families(p->engine[k], NULL, dl_cli_catalog(w->cli),
                                    d));
  }
  DL_TRY(open_quantities(w, p));
  dl_plan_warn_unused(p->f, d);
  p->n_methods = p->engine[0]->n;
  for (size_t i = w->methods.n; i < p->n_methods; i++)
    dl_strlist_add(&w->methods, p->engine[0]->method[i]->name);
  size_t n = p->n_methods * w->n_models;
  p->est = dl_calloc(n, sizeof *p->est);
  p->measured = dl_calloc(n, sizeof *p->measured);
  return DL_OK;
}

/* The boundary of a run's energy_j, as its row says; or NULL. */
static const char *boundary_of(const struct pass *p) {
  return dl_row_text(p->row, &p->boundary);
}

/* Tells whether a run has an energy of the requested boundary. */
static bool is_asked(const struct dl_comparing *w, const struct pass *p) {
  enum dl_boundary asked = w->o->boundary;
  return asked == DL_N_BOUNDS ||
         dl_is_word(boundary_of(p), dl_boundary_name(asked)) ||
         (asked == DL_BOUND_GPU &&
          !isnan(dl_row_number(p->row, &p->gpu_energy)));
}

/* The measured energy that a method's boundary calls for, or that was asked
 * for. */
static double measured_for(struct dl_comparing *w, struct pass *p,
                           const struct dl_estimate *est) {
  double gpu = dl_row_number(p->row, &p->gpu_energy);
  bool asked = w->o->boundary != DL_N_BOUNDS;
  const char *boundary =
      asked ? dl_boundary_name(w->o->boundary) : boundary_of(p);
  bool of_boards = w->o->boundary == DL_BOUND_GPU && !isnan(gpu);
  double measured = of_boards ? gpu : dl_row_number(p->row, &p->energy);
  bool same =
      !boundary || !est->boundary || strcmp(boundary, est->boundary) == 0;
  bool of_gpu = dl_is_word(est->boundary, "gpu");
  if (!asked && of_gpu && !isnan(gpu) && !(boundary && same))
    return gpu;
  if (same)
    return measured;
  if (!isnan(est->energy_j.x)) {
    dl_text_clear(&p->label);
    dl_text_printf(&p->label, "%s\t%s\t%s", boundary, est->boundary,
                   est->method);
    dl_intern(&w->crossed, dl_text_str(&p->label));
  }
  return measured;
}

/* Whether the row on that line is scored; rows come in order. */
static bool part_has(void *ctx, size_t line) {
  struct pass *p = ctx;
  const struct dl_training *t = p->t;
  while (p->next < t->n && t->line[p->next] < line)
    p->next++;
  return p->next < t->n && t->line[p->next] == line && p->wanted[p->next];
}

/* The identifier where a column names a descriptor that was looked up, else
 * its text; "" where there is none. */
static const char *label_of(const char *column, const struct dl_row_ref *q,
                            const struct dl_row *row) {
  static const char *const names[] = {"arch", "gpu", "dataset"};
  const struct dl_row_descriptors *found = &row->found;
  const char *text = dl_row_text(row, q);
  const struct dl_descriptor *named = NULL;
  switch (dl_text_index(names, DL_LENGTH(names), column)) {
  case 0:
    named = found->arch ? &found->arch->head : NULL;
    break;
  case 1:
    named = found->gpu ? &found->gpu->head : NULL;
    break;
  case 2:
    named = text && found->dataset ? &found->dataset->head : NULL;
    break;
  default:
    break;
  }
  return named ? named->id : dl_text_or(text, "");
}

/* The label of the group that the bootstrap draws a run with. Names of
 * configurations are local to a table; settings and other columns are not. */
static const char *cluster_of(struct dl_comparing *w, struct pass *p) {
  const char *text = "";
  if (!p->has_cluster && !p->key)
    return NULL;
  if (p->has_cluster)
    text = label_of(w->o->bootstrap_by, &p->cluster, p->row);
  dl_text_clear(&p->label);
  if (p->key && !*text) {
    dl_text_add(&p->label, "settings ");
    dl_key_make(p->key, p->row, &p->label);
  } else if (p->key) {
    dl_text_printf(&p->label, "%zu %s", w->table, text);
  } else {
    dl_text_printf(&p->label, "value %s", text);
  }
  return dl_text_str(&p->label);
}

/* Estimates a row by all models; *bad where it cannot be used. */
static enum dl_status estimate_row(struct dl_comparing *w, struct pass *p,
                                   size_t line, bool *bad, struct dl_diag *d) {
  struct dl_result r = {.n = p->n_methods};
  for (size_t k = 0; k < w->n_models; k++) {
    r.est = p->est + k * p->n_methods;
    DL_TRY(dl_engine_row(p->engine[k], p->row, &r, d));
  }
  *bad = w->n_models > 0 && dl_engine_refuses(dl_cli_catalog(w->cli), &r.job,
                                              dl_csv_path(p->csv), line, d);
  return DL_OK;
}

/* Counts the runs of which a method gives no estimate by any model. */
static void count_silent(struct dl_comparing *w, const struct pass *p) {
  for (size_t m = 0; m < p->n_methods && m < DL_MOST_METHODS; m++) {
    const char *lacks = NULL;
    bool any = false;
    for (size_t k = 0; k < w->n_models; k++) {
      const struct dl_estimate *est = &p->est[k * p->n_methods + m];
      any |= !isnan(est->energy_j.x);
      lacks = lacks ? lacks : est->lacks;
    }
    if (!any && lacks && w->silent[m]++ == 0)
      w->lacking[m] = dl_intern(&w->lacks, lacks);
  }
}

static void warn_silent(const struct dl_comparing *w, const char *methods,
                        size_t m) {
  const char *lacks = w->lacks.s[w->lacking[m]];
  if (dl_run_column_find(lacks))
    dl_warn(&w->cli->diag,
            "%s: no estimate without %s (%zu of %zu runs); add the column, or "
            "give --set %s=VALUE",
            methods, lacks, w->silent[m], w->scores.n, lacks);
  else
    dl_warn(&w->cli->diag, "%s: no estimate without %s (%zu of %zu runs)",
            methods, lacks, w->silent[m], w->scores.n);
}

/* Appends the method of an entry of w->crossed if its boundaries equal the
 * boundaries of `first`; returns whether it is. */
static bool add_crossed(struct dl_text *names, const char *first,
                        const char *entry) {
  size_t n = (size_t)(strrchr(first, '\t') + 1 - first);
  bool same = strncmp(first, entry, n) == 0 && !strchr(entry + n, '\t');
  if (same)
    dl_text_printf(names, "%s%s", names->len > 0 ? ", " : "", entry + n);
  return same;
}

/* Methods with equal boundaries share a line. */
static void warn_crossed(const struct dl_comparing *w) {
  const struct dl_intern *t = &w->crossed;
  for (size_t i = 0; i < t->n; i++) {
    DL_TEXT(names);
    DL_TEXT(before);
    size_t n = 0, own = strcspn(t->s[i], "\t") + 1;
    for (size_t k = 0; k < i; k++)
      n += add_crossed(&before, t->s[i], t->s[k]);
    for (size_t k = i; k < t->n && n == 0; k++)
      add_crossed(&names, t->s[i], t->s[k]);
    if (names.len > 0)
      dl_warn(&w->cli->diag,
              "%s (boundary %.*s) scored against energy_j of boundary %.*s",
              dl_text_str(&names), (int)strcspn(t->s[i] + own, "\t"),
              t->s[i] + own, (int)own - 1, t->s[i]);
  }
}

/* Methods that lack one quantity share a line. */
static void warn_silent_methods(const struct dl_comparing *w) {
  bool done[DL_MOST_METHODS] = {false};
  size_t n = w->methods.n < DL_MOST_METHODS ? w->methods.n : DL_MOST_METHODS;
  for (size_t m = 0; m < n; m++) {
    DL_TEXT(names);
    for (size_t i = m; w->silent[m] > 0 && i < n; i++) {
      if (done[i] || w->silent[i] != w->silent[m] ||
          w->lacking[i] != w->lacking[m])
        continue;
      dl_text_printf(&names, "%s%s", names.len > 0 ? ", " : "",
                     w->methods.s[i]);
      done[i] = true;
    }
    if (names.len > 0)
      warn_silent(w, dl_text_str(&names), m);
  }
}

void dl_compare_warn(const struct dl_comparing *w) {
  if (w->elsewhere > 0)
    dl_warn(&w->cli->diag, "%zu run%s left out: no energy of boundary %s",
            w->elsewhere, w->elsewhere > 1 ? "s" : "",
            dl_boundary_name(w->o->boundary));
  warn_silent_methods(w);
  warn_crossed(w);
}

/* A run's duration must come from its settings, never from its energy. */
static enum dl_status score_row(void *ctx, size_t thread,
                                const struct dl_result *r, struct dl_diag *d) {
  struct pass *p = ctx;
  struct dl_comparing *w = p->w;
  bool bad = false;
  size_t n = p->n_methods * w->n_models;
  (void)thread;
  p->row = r->job.row;
  if (!is_asked(w, p)) {
    w->elsewhere++;
    return DL_OK;
  }
  DL_TRY(estimate_row(w, p, r->line, &bad, d));
  if (bad)
    return DL_OK;
  for (size_t m = 0; m < n; m++) {
    p->measured[m] = measured_for(w, p, &p->est[m]);
    bad |= p->measured[m] == 0; /* a meter that was not read */
  }
  if (bad) {
    dl_skip_at(d, dl_csv_path(p->csv), r->line,
               "column '%s': %s is not above 0", "energy_j", "0");
    return DL_OK;
  }
  count_silent(w, p);
  const char *group = w->o->by ? label_of(w->o->by, &p->by, p->row) : "";
  const struct dl_row_descriptors *found = &p->row->found;
  bool config = strcmp(w->o->bootstrap_by, "config") == 0;
  const char *gpu = config && found->gpu ? found->gpu->head.id : NULL;
  const char *arch = config && found->arch ? found->arch->head.id : NULL;
  const char *cluster = cluster_of(w, p);
  const struct dl_scored run = {.table = w->table,
                                .group = group,
                                .cluster = {cluster, gpu, arch},
                                .est = p->est,
                                .measured = p->measured,
                                .n = n};
  dl_scoring_add(&w->scores, &run);
  return DL_OK;
}

/* Scores the wanted rows of a training table; NULL: all of the file. */
static enum dl_status run_pass(struct dl_comparing *w,
                               struct dl_model *const *model,
                               const struct dl_training *t,
                               const bool *wanted) {
  DL_SCOPED(free_pass) struct pass p = {.w = w, .t = t, .wanted = wanted};
  struct dl_diag *d = &w->cli->diag;
  const struct dl_row_sink sink = {.ctx = &p, .row = score_row};
  DL_TRY(open_pass(w, &p, model));
  const struct dl_rows rows = {.f = p.f,
                               .csv = p.csv,
                               .wants = t ? part_has : NULL,
                               .ctx = &p,
                               .repeated = t ? NULL : &p.repeated};
  /* Refitting takes the time. */
  struct dl_progress *progress = d->progress;
  d->progress = t ? NULL : progress;
  enum dl_status status = dl_rows_each(&rows, NULL, &sink, d);
  d->progress = progress;
  if (status != DL_OK || t)
    return status;
  dl_repeated_rows_warn(&p.repeated, dl_csv_path(p.csv), d);
  dl_same_tables_add(&w->same, p.csv, d);
  if (w->cli->n_arguments == 1)
    dl_plan_warn_aliases(p.f, d);
  return DL_OK;
}

/* Reads what the models need, and the labels to hold out by. */
static enum dl_status read_training(struct dl_comparing *w, const char *column,
                                    struct dl_training *t) {
  struct dl_diag *d = &w->cli->diag;
  DL_SCOPED(dl_strlist_free) struct dl_strlist groups = {0};
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  DL_SCOPED(dl_plan_free_local)
  struct dl_row_plan *f = dl_plan_new(dl_cli_catalog(w->cli));
  dl_strlist_add(&groups, "config");
  dl_strlist_add(&groups, "arch");
  dl_strlist_add(&groups, "gpu");
  DL_TRY(dl_csv_open(&csv, path_of(w), 0, d));
  DL_TRY(dl_csv_drop_empty(csv, d));
  dl_plan_columns(f, csv);
  dl_plan_assume(f, dl_assume_language_setup, false);
  DL_TRY(dl_job_options_apply(&w->o->job, f, dl_cli_catalog(w->cli), false, d));
  for (size_t k = 0; k < w->n_models; k++)
    dl_refit_formulas(t, w->model[k], f);
  if (dl_strlist_find(&t->formula, "energy_j") < 0)
    dl_strlist_add(&t->formula, "energy_j");
  DL_TRY(dl_training_read(t, csv, f, &groups, column, d));
  dl_same_tables_add(&w->same, csv, d);
  return DL_OK;
}

static enum dl_status leave_groups_out(struct dl_comparing *w,
                                       const struct dl_training *t,
                                       const struct dl_labels *l) {
  struct dl_diag *d = &w->cli->diag;
  DL_FREED bool *keep = dl_calloc(t->n, sizeof *keep);
  DL_FREED bool *wanted = dl_calloc(t->n, sizeof *wanted);
  enum dl_status status = DL_OK;
  for (size_t g = 0; g < l->names.n && status == DL_OK; g++) {
    struct dl_model *without[DL_MOST_MODELS] = {0};
    for (size_t i = 0; i < t->n; i++)
      keep[i] = !(wanted[i] = l->id[i] == g);
    struct dl_progress_span whole =
        dl_progress_enter(d->progress, g, l->names.n);
    for (size_t k = 0; k < w->n_models && status == DL_OK; k++) {
      struct dl_progress_span outer =
          dl_progress_enter(d->progress, k, w->n_models);
      status = dl_refit(&without[k], w->model[k], t, keep, d);
      dl_progress_leave(d->progress, outer);
    }
    dl_progress_step(d->progress, 1);
    dl_progress_leave(d->progress, whole);
    if (status == DL_OK)
      status = run_pass(w, without, t, wanted);
    for (size_t k = 0; k < w->n_models; k++)
      dl_model_free(without[k]);
  }
  return status;
}

static enum dl_status cross_validated(struct dl_comparing *w) {
  struct dl_diag *d = &w->cli->diag;
  struct dl_cv_spec spec;
  DL_SCOPED(dl_training_free) struct dl_training t = {0};
  if (strncmp(w->o->cv, "group:", 6) != 0 || !w->o->cv[6])
    return dl_fail(d, DL_EUSAGE, "--cv '%s': expected group:COLUMN", w->o->cv);
  DL_TRY(dl_cv_parse(&spec, w->o->cv, d));
  if (dl_is_stdio(path_of(w)))
    return dl_fail(d, DL_EUSAGE,
                   "--cv reads the table several times: give a file, not "
                   "standard input");
  DL_TRY(read_training(w, spec.column, &t));
  const struct dl_labels *l = dl_training_labels(&t, spec.column);
  if (!l || l->names.n < 2)
    return dl_fail_at(d, DL_EINPUT, path_of(w), 0,
                      "column '%s' has fewer than two values to hold out",
                      spec.column);
  return leave_groups_out(w, &t, l);
}

enum dl_status dl_compare_table(struct dl_comparing *w) {
  return w->o->cv ? cross_validated(w) : run_pass(w, w->model, NULL, NULL);
}
