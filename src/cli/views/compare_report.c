/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/compare_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* For programs: all of it, in one table. */
static const struct dl_column columns[] = {
    {"method", NULL, NULL, DL_CODE, false},
    {"group", NULL, NULL, DL_CODE, false},
    {"n", NULL, NULL, DL_CODE, false},
    {"rmse_j", NULL, NULL, DL_ENERGY, false},
    {"mae_j", NULL, NULL, DL_ENERGY, false},
    {"mape", NULL, NULL, DL_PERCENT, false},
    {"median_ape", NULL, NULL, DL_PERCENT, false},
    {"r2", NULL, NULL, DL_PLAIN, false},
    {"bias_j", NULL, NULL, DL_ENERGY, false},
    {"covered", NULL, NULL, DL_PERCENT, false},
    {"rank", NULL, NULL, DL_CODE, false},
    {"table", NULL, NULL, DL_CODE, false},
    {"model", NULL, NULL, DL_CODE, false},
    {"clusters", NULL, NULL, DL_CODE, false},
    {"rmse_low_j", NULL, NULL, DL_ENERGY, false},
    {"rmse_high_j", NULL, NULL, DL_ENERGY, false},
    {"mae_low_j", NULL, NULL, DL_ENERGY, false},
    {"mae_high_j", NULL, NULL, DL_ENERGY, false},
    {"mape_low", NULL, NULL, DL_PERCENT, false},
    {"mape_high", NULL, NULL, DL_PERCENT, false},
    {"median_ape_low", NULL, NULL, DL_PERCENT, false},
    {"median_ape_high", NULL, NULL, DL_PERCENT, false},
    {"r2_low", NULL, NULL, DL_PLAIN, false},
    {"r2_high", NULL, NULL, DL_PLAIN, false},
    {"bias_low_j", NULL, NULL, DL_ENERGY, false},
    {"bias_high_j", NULL, NULL, DL_ENERGY, false},
};

/* For people: one table for each that was read. */
enum { SHOW_METHOD, SHOW_MODEL, SHOW_GROUP, SHOW_MAPE_LOW = 8, N_SHOWN = 14 };
static const struct dl_column shown[N_SHOWN] = {
    {NULL, "method", NULL, DL_CODE, false},
    {NULL, "model", NULL, DL_CODE, false},
    {NULL, "group", NULL, DL_CODE, false},
    {NULL, "rank", NULL, DL_CODE, false},
    {NULL, "runs", NULL, DL_CODE, false},
    {NULL, "RMSE", "J", DL_ENERGY, false},
    {NULL, "MAE", "J", DL_ENERGY, false},
    {NULL, "MAPE", "%", DL_PERCENT, false},
    {NULL, "interval", "%", DL_PERCENT, true},
    {NULL, "", "%", DL_PERCENT, false},
    {NULL, "median APE", "%", DL_PERCENT, false},
    {NULL, "R2", NULL, DL_PLAIN, false},
    {NULL, "bias", "J", DL_ENERGY, false},
    {NULL, "inside interval", "%", DL_PERCENT, false},
};

#define FEW 10 /* groups, by which intervals are too narrow */

/* The candidates that are told of. */
struct candidates {
  size_t *which;      /* in the scores */
  const char **name;  /* of the method */
  const char **model; /* NULL: the same with every model */
  size_t n;
  size_t *order; /* by MAPE, for one scope */
  struct dl_method_score *score;
};

struct making {
  const struct dl_comparison *c;
  struct candidates k;
  struct dl_report *r;
  struct dl_table *all;
  struct dl_column shown[N_SHOWN];
  char interval[48];   /* heading */
  size_t fewest, most; /* clusters of a group that is shown */
};

static bool says_anything(const struct dl_scoring *s, size_t candidate) {
  for (size_t r = 0; r < s->n; r++)
    if (!isnan(s->estimated[r * s->n_methods + candidate]))
      return true;
  return false;
}

static void add_candidate(struct candidates *k, size_t which, const char *name,
                          const char *model) {
  k->which[k->n] = which;
  k->name[k->n] = name;
  k->model[k->n++] = model;
}

/* A method that says the same with every model is there once; with several
 * models, one without an answer from a model is not there for it. */
static bool choose_candidates(struct candidates *k,
                              const struct dl_comparison *c) {
  const struct dl_scoring *s = c->scores;
  size_t M = c->methods.n, models = s->n_methods / M;
  k->which = dl_calloc(s->n_methods, sizeof *k->which);
  k->name = dl_calloc(s->n_methods, sizeof *k->name);
  k->model = dl_calloc(s->n_methods, sizeof *k->model);
  k->order = dl_calloc(s->n_methods, sizeof *k->order);
  k->score = dl_calloc(s->n_methods, sizeof *k->score);
  if (!k->which || !k->name || !k->model || !k->order || !k->score)
    return false;
  for (size_t m = 0; m < M; m++) {
    bool same = true;
    for (size_t i = 1; i < models && same; i++)
      same = dl_scoring_same(s, m, i * M + m);
    if (same)
      add_candidate(k, m, c->methods.s[m], NULL);
    for (size_t i = 0; i < models && !same; i++)
      if (says_anything(s, i * M + m))
        add_candidate(k, i * M + m, c->methods.s[m], c->models.s[i]);
  }
  return true;
}

static void free_candidates(struct candidates *k) {
  free(k->which);
  free((void *)k->name);
  free((void *)k->model);
  free(k->order);
  free(k->score);
}

/* By MAPE, unknown ones last; equal ones stay as they are. */
static void put_in_order(struct candidates *k) {
  for (size_t i = 0; i < k->n; i++) {
    double x = k->score[i].of.mape;
    size_t j = i;
    for (; j > 0; j--) {
      double before = k->score[k->order[j - 1]].of.mape;
      if (isnan(x) || x >= before)
        break;
      k->order[j] = k->order[j - 1];
    }
    k->order[j] = i;
  }
}

static struct dl_value rank_of(const struct dl_method_score *s) {
  return s->boot.rank > 0 ? dl_count(s->boot.rank) : dl_number(NAN);
}

static void add_to_all(struct making *w, const char *table, const char *group,
                       size_t i) {
  const struct candidates *k = &w->k;
  const struct dl_method_score *s = &k->score[i];
  const struct dl_scores *of = &s->of;
  const struct dl_boot_scores *b = &s->boot;
  struct dl_value v[] = {dl_string(k->name[i]),
                         dl_string(group),
                         dl_count(of->n),
                         dl_number(of->rmse),
                         dl_number(of->mae),
                         dl_number(of->mape),
                         dl_number(of->median_ape),
                         dl_number(of->r2),
                         dl_number(of->bias),
                         dl_number(s->covered),
                         rank_of(s),
                         dl_string(table),
                         dl_string(k->model[i]),
                         dl_count(s->clusters),
                         dl_number(b->rmse.low),
                         dl_number(b->rmse.high),
                         dl_number(b->mae.low),
                         dl_number(b->mae.high),
                         dl_number(b->mape.low),
                         dl_number(b->mape.high),
                         dl_number(b->median_ape.low),
                         dl_number(b->median_ape.high),
                         dl_number(b->r2.low),
                         dl_number(b->r2.high),
                         dl_number(b->bias.low),
                         dl_number(b->bias.high)};
  dl_table_row(w->all, v, NULL);
}

static void add_to_shown(struct making *w, struct dl_table *t,
                         const char *group, size_t i) {
  const struct dl_method_score *s = &w->k.score[i];
  const struct dl_scores *of = &s->of;
  struct dl_value v[N_SHOWN] = {dl_string(w->k.name[i]),
                                dl_string(w->k.model[i]),
                                dl_string(group),
                                rank_of(s),
                                dl_count(of->n),
                                dl_number(of->rmse),
                                dl_number(of->mae),
                                dl_number(of->mape),
                                dl_number(s->boot.mape.low),
                                dl_number(s->boot.mape.high),
                                dl_number(of->median_ape),
                                dl_number(of->r2),
                                dl_number(of->bias),
                                dl_number(s->covered)};
  dl_table_row(t, v, NULL);
}

static bool has_runs(const struct dl_scoring *s,
                     const struct dl_scoring_scope *scope) {
  for (size_t r = 0; r < s->n; r++)
    if ((scope->table == DL_ALL || scope->table == s->run[r].table) &&
        scope->group == s->run[r].group)
      return true;
  return false;
}

static void note_clusters(struct making *w, size_t n) {
  w->fewest = w->most == 0 || n < w->fewest ? n : w->fewest;
  w->most = n > w->most ? n : w->most;
}

/* Scores of one table, or of all (DL_ALL), group by group. */
static enum dl_status add_table(struct making *w, size_t table,
                                struct dl_diag *d) {
  const struct dl_comparison *c = w->c;
  const struct dl_scoring *s = c->scores;
  const char *path = table == DL_ALL ? NULL : c->tables.s[table];
  const char *title = path ? path : "All tables";
  struct dl_table *t = dl_report_table(
      w->r, NULL, c->tables.n > 1 ? title : NULL, w->shown, N_SHOWN, false);
  for (size_t g = 0; g < s->groups.n; g++) {
    struct dl_scoring_scope scope = {table, g, w->k.which, w->k.n};
    if (!has_runs(s, &scope))
      continue;
    enum dl_status status = dl_scoring_of(s, &scope, &c->how, w->k.score, d);
    if (status != DL_OK)
      return status;
    put_in_order(&w->k);
    const char *group = c->by ? s->groups.s[g] : NULL;
    for (size_t i = 0; i < w->k.n; i++) {
      add_to_all(w, path, group, w->k.order[i]);
      add_to_shown(w, t, group, w->k.order[i]);
    }
    note_clusters(w, w->k.n > 0 ? w->k.score[0].clusters : 0);
  }
  return DL_OK;
}

static void choose_shown(struct making *w) {
  const struct dl_comparison *c = w->c;
  for (size_t i = 0; i < N_SHOWN; i++)
    w->shown[i] = shown[i];
  bool models = false;
  for (size_t i = 0; i < w->k.n; i++)
    models = models || w->k.model[i];
  if (!models)
    w->shown[SHOW_MODEL].heading = NULL;
  w->shown[SHOW_GROUP].heading = c->by;
  snprintf(w->interval, sizeof w->interval, "%.4g %% interval",
           100 * c->how.confidence);
  w->shown[SHOW_MAPE_LOW].heading = c->how.resamples > 0 ? w->interval : NULL;
}

/* What the intervals and the ranks are. */
static void explain(struct making *w) {
  const struct dl_comparison *c = w->c;
  struct dl_text t = {0};
  if (c->how.resamples == 0)
    return;
  dl_text_printf(&t, "Interval of the MAPE: bootstrap of %zu", w->fewest);
  if (w->most > w->fewest)
    dl_text_printf(&t, " to %zu", w->most);
  if (strcmp(c->resampled, "config") == 0)
    dl_text_add(&t, " configurations");
  else if (strcmp(c->resampled, "run") == 0)
    dl_text_add(&t, " runs");
  else
    dl_text_printf(&t, " values of %s", c->resampled);
  dl_text_printf(&t, ", %zu times%s.", c->how.resamples,
                 w->fewest < FEW ? "; too narrow by less than ten" : "");
  dl_report_say(w->r, dl_text_str(&t));
  dl_report_say(w->r, "Rank: 1 + the methods whose MAPE is lower beyond what "
                      "the paired bootstrap leaves open.");
  dl_text_free(&t);
}

static void add_how(struct making *w) {
  const struct dl_comparison *c = w->c;
  struct dl_report *g = dl_report_group(w->r, "bootstrap", NULL);
  dl_report_add(g, "resamples", NULL, NULL, DL_CODE,
                dl_count(c->how.resamples));
  dl_report_add(g, "by", NULL, NULL, DL_CODE, dl_string(c->resampled));
  dl_report_add(g, "confidence", NULL, NULL, DL_CODE,
                dl_number(c->how.confidence));
}

enum dl_status dl_print_comparison(struct dl_cli *cli,
                                   const struct dl_comparison *c) {
  struct dl_diag *d = &cli->diag;
  struct making w = {.c = c, .r = dl_report_new()};
  enum dl_status status = DL_OK;
  if (!w.r || !choose_candidates(&w.k, c))
    status = dl_fail_memory(d);
  if (status == DL_OK) {
    choose_shown(&w);
    w.all = dl_report_table(w.r, "scores", NULL, columns,
                            sizeof columns / sizeof *columns, true);
  }
  for (size_t i = 0; i < c->tables.n && status == DL_OK; i++)
    status = add_table(&w, i, d);
  if (status == DL_OK && c->tables.n > 1)
    status = add_table(&w, DL_ALL, d);
  if (status == DL_OK) {
    explain(&w);
    add_how(&w);
    status = dl_cli_print(cli, w.r);
    w.r = NULL;
  }
  dl_report_free(w.r);
  free_candidates(&w.k);
  return status;
}
