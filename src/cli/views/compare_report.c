/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest compare. */

#include "cli/views/compare_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/views/summary/answer.h"
#include "output/units.h"

/* For programs: all scores, in one table. */
#define OF(name, member)                                                       \
  { {.key = (name)}, DL_MEMBER(dl_method_score, member) }
static const struct dl_member_column columns[] = {
    {.column = {.key = "method"}},
    {.column = {.key = "group"}},
    OF("n", of.n),
    OF("rmse_j", of.rmse),
    OF("mae_j", of.mae),
    OF("mape", of.mape),
    OF("median_ape", of.median_ape),
    OF("r2", of.r2),
    OF("bias_j", of.bias),
    OF("covered", covered),
    {.column = {.key = "rank"}},
    {.column = {.key = "table"}},
    {.column = {.key = "model"}},
    OF("clusters", groups[DL_CLUSTER_OWN]),
    OF("rmse_low_j", boot.rmse.low),
    OF("rmse_high_j", boot.rmse.high),
    OF("mae_low_j", boot.mae.low),
    OF("mae_high_j", boot.mae.high),
    OF("mape_low", boot.mape.low),
    OF("mape_high", boot.mape.high),
    OF("median_ape_low", boot.median_ape.low),
    OF("median_ape_high", boot.median_ape.high),
    OF("r2_low", boot.r2.low),
    OF("r2_high", boot.r2.high),
    OF("bias_low_j", boot.bias.low),
    OF("bias_high_j", boot.bias.high),
};
enum { METHOD = 0, GROUP = 1, RANK = 10, TABLE = 11, MODEL = 12 };

/* For people: one table for each runs table, with some of these columns. */
/* N_NAMES of them say what is scored. */
enum shown_column {
  SHOW_METHOD,
  SHOW_MODEL,
  SHOW_GROUP,
  N_NAMES,
  SHOW_RANK = N_NAMES,
  SHOW_RUNS,
  SHOW_MAPE,
  SHOW_INTERVAL,
  SHOW_MEDIAN,
  SHOW_COVERED,
  N_SCORES, /* what follows is a table of its own, with --details */
  SHOW_RMSE = N_SCORES,
  SHOW_MAE,
  SHOW_BIAS,
  SHOW_R2,
  N_SHOWN
};
static const struct {
  size_t from; /* index in `columns` */
  struct dl_column column;
} shown[N_SHOWN] = {
    [SHOW_METHOD] = {METHOD, {NULL, "method", NULL, DL_CODE, DL_MAIN}},
    [SHOW_MODEL] = {MODEL, {NULL, "model", NULL, DL_CODE, 0}},
    [SHOW_GROUP] = {GROUP, {NULL, "group", NULL, DL_CODE, DL_MAIN}},
    [SHOW_RANK] = {RANK, {NULL, "rank", NULL, DL_CODE, 0}},
    [SHOW_RUNS] = {2, {NULL, "runs", NULL, DL_CODE, DL_SPARE}},
    [SHOW_MAPE] = {5, {NULL, "MAPE", NULL, DL_CODE, DL_MAIN}},
    [SHOW_INTERVAL] = {18, {NULL, "interval", NULL, DL_CODE, DL_MAIN}},
    [SHOW_MEDIAN] = {6, {NULL, "median APE", NULL, DL_CODE, 0}},
    [SHOW_BIAS] = {8, {NULL, "bias", "J", DL_KWH, 0}},
    [SHOW_COVERED] = {9, {NULL, "coverage", NULL, DL_CODE, 0}},
    [SHOW_RMSE] = {3, {NULL, "RMSE", "J", DL_KWH, 0}},
    [SHOW_MAE] = {4, {NULL, "MAE", "J", DL_KWH, 0}},
    [SHOW_R2] = {7, {NULL, "R2", NULL, DL_PLAIN, 0}},
};

struct compare_view {
  const struct dl_comparison *c;
  /* Of each candidate, a method with one of the models; owned, as the three
   * arrays below. NULL: equal with every model. */
  const char **model;
  size_t n;
  size_t *which; /* of each candidate, for dl_scoring_of */
  struct dl_method_score *score;
  size_t *order;                 /* by MAPE, for one scope */
  struct dl_report *r, *overall; /* the second comes first */
  struct dl_table *all;
  struct dl_column shown[N_SHOWN];
  struct dl_table *scores, *energies; /* the tables being filled */
  char interval[48];                  /* heading */
  bool any;                           /* a score is known */
  /* Clusters of the scopes that are shown. */
  size_t fewest[DL_N_CLUSTERINGS], most[DL_N_CLUSTERINGS];
  double fewest_effective, most_effective;
};

/* The method of candidate i. */
static const char *name_of(const struct compare_view *w, size_t i) {
  return w->c->methods.s[w->which[i] % w->c->methods.n];
}

static bool has_estimate(const struct dl_scoring *s, size_t candidate) {
  for (size_t r = 0; r < s->n; r++)
    if (!isnan(s->estimated[candidate][r]))
      return true;
  return false;
}

/* A method whose estimates are equal with every model is one candidate;
 * otherwise it is one for each model with which it has an estimate. */
static void choose_candidates(struct compare_view *w) {
  const struct dl_comparison *c = w->c;
  const struct dl_scoring *s = c->scores;
  size_t M = c->methods.n, models = s->n_methods / M;
  w->model = dl_calloc(s->n_methods, sizeof *w->model);
  w->which = dl_calloc(s->n_methods, sizeof *w->which);
  w->order = dl_calloc(s->n_methods, sizeof *w->order);
  w->score = dl_calloc(s->n_methods, sizeof *w->score);
  for (size_t m = 0; m < M; m++) {
    bool same = true;
    for (size_t i = 1; i < models && same; i++)
      same = dl_scoring_same(s, m, i * M + m);
    for (size_t i = 0; i < (same ? 1 : models); i++)
      if (same || has_estimate(s, i * M + m)) {
        w->which[w->n] = i * M + m;
        w->model[w->n++] = same ? NULL : c->models.s[i];
      }
  }
}

/* Sorts by MAPE, unknown ones last; equal ones stay as they are. */
static void sort_candidates(struct compare_view *k) {
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

/* Errors in percent, with as many digits as their intervals leave. */
static void show_errors(const struct dl_method_score *s,
                        struct dl_text cell[N_SHOWN]) {
  const struct dl_span *a = &s->boot.mape, *b = &s->boot.median_ape;
  dl_show_estimate(&cell[SHOW_MAPE], DL_PERCENT, "%",
                   (const double[3]){s->of.mape, a->low, a->high});
  if (!isnan(a->low))
    dl_show_interval(&cell[SHOW_INTERVAL], DL_PERCENT, "%", s->of.mape, a->low,
                     a->high);
  dl_show_estimate(&cell[SHOW_MEDIAN], DL_PERCENT, "%",
                   (const double[3]){s->of.median_ape, b->low, b->high});
  dl_show_estimate(&cell[SHOW_COVERED], DL_PERCENT, "%",
                   (const double[3]){s->covered, NAN, NAN});
}

/* The scores of candidate i, in the table of all and in the one shown. */
static void add_scores(struct compare_view *w, const char *table,
                       const char *group, size_t i) {
  const struct dl_method_score *s = &w->score[i];
  struct dl_value v[DL_LENGTH(columns)], row[N_SHOWN];
  dl_member_values(columns, DL_LENGTH(columns), s, v);
  v[METHOD] = dl_string(name_of(w, i));
  v[GROUP] = dl_string(group);
  v[RANK] = s->boot.rank > 0 ? dl_count(s->boot.rank) : dl_number(NAN);
  v[TABLE] = dl_string(table);
  v[MODEL] = dl_string(w->model[i]);
  struct dl_text cell[N_SHOWN] = {0};
  show_errors(s, cell);
  for (size_t c = 0; c < N_SHOWN; c++)
    row[c] =
        cell[c].len > 0 ? dl_string(dl_text_str(&cell[c])) : v[shown[c].from];
  dl_table_row(w->all, v, NULL);
  dl_table_row(w->scores, row, s->boot.rank == 1 && w->n > 1 ? "*" : NULL);
  w->any = w->any || !isnan(s->of.mape);
  for (size_t c = N_SCORES; c < N_SHOWN; c++)
    row[c - N_SCORES + N_NAMES] = row[c];
  if (w->energies)
    dl_table_row(w->energies, row, NULL);
  for (size_t c = 0; c < N_SHOWN; c++)
    dl_text_free(&cell[c]);
}

/* Tables for people. Programs have one with all. */
static void add_tables(struct compare_view *w, struct dl_report *r,
                       const char *title) {
  struct dl_column c[N_NAMES + N_SHOWN - N_SCORES];
  for (size_t i = 0; i < DL_LENGTH(c); i++)
    c[i] = w->shown[i < N_NAMES ? i : i - N_NAMES + N_SCORES];
  w->scores = dl_report_table(r, NULL, title, w->shown, N_SCORES, false);
  if (w->c->details)
    w->energies = DL_TABLE(r, NULL, "Errors of the energy", c, false);
}

static bool has_runs(const struct dl_scoring *s,
                     const struct dl_scoring_scope *scope) {
  for (size_t r = 0; r < s->n; r++)
    if ((scope->table == DL_ALL || scope->table == s->table[r]) &&
        scope->group == s->group[r])
      return true;
  return false;
}

/* MAPE by method, in the order of the table. */
static void add_chart(struct compare_view *w, const char *group) {
  DL_TEXT(title);
  dl_text_add(&title, "Mean absolute percentage error by method");
  if (group)
    dl_text_printf(&title, ", %s", group);
  struct dl_table *t =
      dl_report_chart(w->r, dl_text_str(&title), DL_PERCENT, "%");
  for (size_t i = 0; i < w->n; i++) {
    size_t k = w->order[i];
    const struct dl_method_score *s = &w->score[k];
    dl_chart_bar(t, name_of(w, k), s->of.mape, s->boot.mape.low,
                 s->boot.mape.high);
  }
}

/* "36 runs, each GPU held out; * lowest MAPE, or not significantly higher" */
static void add_title(struct dl_text *t, const struct compare_view *w,
                      size_t table) {
  static const struct dl_named_text groups[] = {
      {"gpu", "GPU"}, {"arch", "architecture"}, {"config", "configuration"}};
  const struct dl_comparison *c = w->c;
  size_t n = 0;
  for (size_t r = 0; r < c->scores->n; r++)
    n += table == DL_ALL || c->scores->table[r] == table;
  if (c->tables.n > 1)
    dl_text_printf(t,
                   "%s: ", table == DL_ALL ? "All tables" : c->tables.s[table]);
  dl_text_printf(t, "%zu run%s", n, n == 1 ? "" : "s");
  if (c->held_out)
    dl_text_printf(
        t, ", each %s held out",
        dl_text_of_name(groups, DL_LENGTH(groups), c->held_out, c->held_out));
  if (c->how.resamples > 0 && w->n > 1 && (table == DL_ALL || c->tables.n == 1))
    dl_text_add(t, "; * lowest MAPE, or not significantly higher");
}

static void count_groups(struct compare_view *w, size_t k) {
  size_t n = w->score[0].groups[k], before = w->most[k];
  w->fewest[k] = before == 0 || n < w->fewest[k] ? n : w->fewest[k];
  w->most[k] = n > before ? n : before;
}

/* Scores of one table, or of all (DL_ALL), group by group. */
static enum dl_status add_table(struct compare_view *w, size_t table,
                                struct dl_diag *d) {
  const struct dl_comparison *c = w->c;
  const struct dl_scoring *s = c->scores;
  const char *path = table == DL_ALL ? NULL : c->tables.s[table];
  DL_TEXT(title);
  add_title(&title, w, table);
  add_tables(w, table == DL_ALL ? w->overall : w->r, dl_text_str(&title));
  for (size_t g = 0; g < s->groups.n; g++) {
    struct dl_scoring_scope scope = {table, g, w->which, w->n};
    if (!has_runs(s, &scope))
      continue;
    struct dl_progress_span outer =
        dl_progress_enter(d->progress, g, s->groups.n);
    enum dl_status status = dl_scoring_of(s, &scope, &c->how, w->score, d);
    dl_progress_leave(d->progress, outer);
    if (status != DL_OK)
      return status;
    sort_candidates(w);
    const char *group = c->by ? s->groups.s[g] : NULL;
    for (size_t i = 0; i < w->n; i++)
      add_scores(w, path, group, w->order[i]);
    add_chart(w, group);
    for (size_t k = 0; k < DL_N_CLUSTERINGS && w->n > 0; k++)
      count_groups(w, k);
    if (w->n > 0) {
      double groups = w->score[0].effective_groups;
      w->fewest_effective = fmin(w->fewest_effective, groups);
      w->most_effective = fmax(w->most_effective, groups);
    }
  }
  return DL_OK;
}

static void choose_shown(struct compare_view *w) {
  const struct dl_comparison *c = w->c;
  for (size_t i = 0; i < N_SHOWN; i++)
    w->shown[i] = shown[i].column;
  bool models = false;
  for (size_t i = 0; i < w->n; i++)
    models = models || w->model[i];
  if (!models)
    w->shown[SHOW_MODEL].heading = NULL;
  w->shown[SHOW_GROUP].heading = c->by;
  if (!c->details)
    w->shown[SHOW_RANK].heading = NULL;
  snprintf(w->interval, sizeof w->interval, "%.4g %% interval",
           100 * c->how.confidence);
  w->shown[SHOW_INTERVAL].heading = c->how.resamples > 0 ? w->interval : NULL;
}

/* "3 GPUs", "3 to 5 GPUs" */
static void add_drawn(struct dl_text *t, const struct compare_view *w,
                      enum dl_clustering k) {
  const char *by = w->c->resampled;
  dl_text_printf(t, "%s%zu", t->len > 0 ? " and " : "", w->fewest[k]);
  if (w->most[k] > w->fewest[k])
    dl_text_printf(t, " to %zu", w->most[k]);
  if (k == DL_CLUSTER_GPU)
    dl_text_add(t, " GPUs");
  else if (k == DL_CLUSTER_ARCH)
    dl_text_add(t, " architectures");
  else if (strcmp(by, "config") == 0)
    dl_text_add(t, " configurations");
  else if (strcmp(by, "run") == 0)
    dl_text_add(t, " runs");
  else
    dl_text_printf(t, " values of %s", by);
}

/* Lists the units that were drawn (choose_ways of scoring.c). */
static void list_drawn(struct dl_text *t, const struct compare_view *w) {
  for (size_t k = DL_CLUSTER_GPU; k < DL_N_CLUSTERINGS; k++)
    if (w->most[k] > 1)
      add_drawn(t, w, (enum dl_clustering)k);
  if (t->len == 0)
    add_drawn(t, w, DL_CLUSTER_OWN);
}

/* Explains the intervals and the ranks. */
static void explain(struct compare_view *w) {
  const struct dl_comparison *c = w->c;
  DL_TEXT(drawn);
  if (c->how.resamples == 0) {
    if (!c->details)
      dl_report_hint(w->r, "Details: --details.");
    return;
  }
  list_drawn(&drawn, w);
  if (!c->details)
    dl_report_hint(w->r, "Details: --details.");
  else
    dl_report_say(w->r,
                  "Interval of the MAPE: bootstrap of %s, %zu times; * by "
                  "paired bootstrap.",
                  dl_text_str(&drawn), c->how.resamples);
  if (w->fewest_effective < DL_BOOT_LEAST)
    dl_report_say(w->r,
                  "%s: too few for an interval of %sscores (3 of equal "
                  "size, or more).",
                  dl_text_str(&drawn),
                  w->most_effective < DL_BOOT_LEAST ? "" : "all ");
}

static void add_bootstrap(struct compare_view *w) {
  const struct dl_comparison *c = w->c;
  DL_LINES(dl_report_group(w->r, "bootstrap", NULL),
           {.key = "resamples", .value = dl_count(c->how.resamples)},
           {.key = "by", .value = dl_string(c->resampled)},
           {.key = "confidence", .value = dl_number(c->how.confidence)});
}

enum dl_status dl_print_comparison(struct dl_cli *cli,
                                   const struct dl_comparison *c) {
  struct dl_diag *d = &cli->diag;
  struct compare_view w = {
      .c = c, .r = dl_report_new(), .fewest_effective = INFINITY};
  enum dl_status status = DL_OK;
  choose_candidates(&w);
  choose_shown(&w);
  w.overall = dl_report_group(w.r, NULL, "");
  struct dl_column all[DL_LENGTH(columns)];
  dl_member_headings(all, columns, DL_LENGTH(all));
  w.all = DL_TABLE(w.r, "scores", NULL, all, true);
  size_t n_parts = c->tables.n + (c->tables.n > 1);
  for (size_t i = 0; i < n_parts && status == DL_OK; i++) {
    struct dl_progress_span outer = dl_progress_enter(d->progress, i, n_parts);
    status = add_table(&w, i < c->tables.n ? i : DL_ALL, d);
    dl_progress_leave(d->progress, outer);
  }
  if (status == DL_OK && !w.any)
    status = dl_fail(d, DL_EINPUT,
                     "no method has an estimate of any run; 'dlest predict "
                     "--input' says what they lack");
  if (status == DL_OK) {
    explain(&w);
    add_bootstrap(&w);
    status = dl_cli_print(cli, w.r);
    w.r = NULL;
  }
  dl_report_free(w.r);
  free(w.model);
  free(w.which);
  free(w.order);
  free(w.score);
  return status;
}
