/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What values options and arguments have: names of the catalogues and the
 * registries, columns, a few words, or paths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "catalog/mig.h"
#include "cli/completion/complete.h"
#include "estimate/methods/estimator.h"
#include "estimate/projection/projection.h"
#include "io/csv.h"
#include "logs/importers/importers.h"
#include "math/regression/regression.h"
#include "plot/plot.h"
#include "run/run_columns.h"

typedef struct dl_completion completion;
typedef enum dl_status offer(completion *c, struct dl_diag *d);

/* Words separated by blanks. */
static void offer_words(completion *c, const char *words, char separator) {
  for (const char *s = words; *s;) {
    const char *end = strchrnul(s, separator);
    char word[64];
    if ((size_t)(end - s) < sizeof word) {
      memcpy(word, s, (size_t)(end - s));
      word[end - s] = '\0';
      dl_offer(c, word, NULL);
    }
    s = end + (*end != '\0');
  }
}

/* --- catalogues */

static enum dl_status offer_kind(completion *c, enum dl_kind kind,
                                 const char *holding, struct dl_diag *d) {
  const struct dl_descriptor **all;
  size_t n;
  enum dl_status status = dl_catalog_all(c->catalog, kind, &all, &n, d);
  if (status != DL_OK)
    return status;
  c->any_case = true;
  for (size_t i = 0; i < n; i++)
    if (!holding || strstr(all[i]->id, holding))
      dl_offer(c, all[i]->id, all[i]->name);
  free(all);
  return DL_OK;
}

static enum dl_status gpus(completion *c, struct dl_diag *d) {
  c->files = true;
  return offer_kind(c, DL_ACCELERATOR, NULL, d);
}

static enum dl_status archs(completion *c, struct dl_diag *d) {
  c->files = true;
  enum dl_status status = offer_kind(c, DL_ARCHITECTURE, NULL, d);
  dl_offer(c, "transformer:", "the shape of a transformer");
  return status;
}

static enum dl_status datasets(completion *c, struct dl_diag *d) {
  return offer_kind(c, DL_DATASET, NULL, d);
}

static enum dl_status grids(completion *c, struct dl_diag *d) {
  c->files = true;
  return offer_kind(c, DL_GRID, NULL, d);
}

static enum dl_status clouds(completion *c, struct dl_diag *d) {
  return offer_kind(c, DL_SITE, ":", d);
}

static enum dl_status sites(completion *c, struct dl_diag *d) {
  c->files = true;
  return offer_kind(c, DL_SITE, NULL, d);
}

static enum dl_status nodes(completion *c, struct dl_diag *d) {
  c->files = true;
  return offer_kind(c, DL_NODE, NULL, d);
}

static enum dl_status shares(completion *c, struct dl_diag *d) {
  (void)d;
  const char *profile;
  char text[80];
  for (size_t i = 0; (profile = dl_mig_profile_at(i)); i++) {
    snprintf(text, sizeof text, "mig:%s", profile);
    dl_offer(c, text, NULL);
  }
  return DL_OK;
}

/* --- registries */

static enum dl_status formats(completion *c, struct dl_diag *d) {
  (void)d;
  for (size_t i = 0; i < dl_format_count(); i++)
    dl_offer(c, dl_format_at(i)->name, dl_format_at(i)->summary);
  return DL_OK;
}

static enum dl_status importers(completion *c, struct dl_diag *d) {
  (void)d;
  for (size_t i = 0; i < dl_importer_count(); i++)
    dl_offer(c, dl_importers[i]->name, dl_importers[i]->summary);
  return DL_OK;
}

static enum dl_status estimators(completion *c, struct dl_diag *d) {
  (void)d;
  bool first = c->head_len == 0 || c->head[c->head_len - 1] != ',';
  if (first && strcmp(c->command->name, "recommend") != 0)
    dl_offer(c, "all", "every method");
  for (size_t i = 0; i < dl_estimator_count(); i++)
    dl_offer(c, dl_estimator_at(i)->name, dl_estimator_at(i)->summary);
  return DL_OK;
}

static enum dl_status regressions(completion *c, struct dl_diag *d) {
  (void)d;
  for (size_t i = 0; i < dl_regression_count(); i++)
    dl_offer(c, dl_regression_at(i)->name, NULL);
  return DL_OK;
}

static enum dl_status projectors(completion *c, struct dl_diag *d) {
  (void)d;
  const struct dl_projector *p;
  for (size_t i = 0; (p = dl_projector_at(i)); i++)
    dl_offer(c, p->name, p->summary);
  return DL_OK;
}

static enum dl_status plot_kinds(completion *c, struct dl_diag *d) {
  (void)d;
  const struct dl_plot_kind *k;
  for (size_t i = 0; (k = dl_plot_kind_at(i)); i++)
    dl_offer(c, k->name, NULL);
  return DL_OK;
}

/* --- columns and fields */

/* A column, unless it is one of the `words` that were offered before. */
static void offer_column(completion *c, const char *name, const char *words) {
  const struct dl_run_column *known = dl_run_column_find(name);
  size_t n = strlen(name);
  const char *in = strstr(words, name);
  bool offered =
      in && (in == words || in[-1] == ' ') && (in[n] == '\0' || in[n] == ' ');
  if (!offered)
    dl_offer(c, name, known ? known->summary : NULL);
}

/* Words, then the columns of the table on the command line, else those that
 * every table of runs may have. */
static enum dl_status words_and_columns(completion *c, const char *words,
                                        struct dl_diag *d) {
  struct dl_csv *csv = NULL;
  offer_words(c, words, ' ');
  if (!c->table || dl_csv_open(&csv, c->table, 0, d) != DL_OK) {
    for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++)
      offer_column(c, dl_run_columns[i].name, words);
    return DL_OK;
  }
  for (size_t i = 0; i < dl_csv_n_cols(csv); i++)
    offer_column(c, dl_csv_name(csv, i), words);
  dl_csv_free(csv);
  return DL_OK;
}

static enum dl_status columns(completion *c, struct dl_diag *d) {
  return words_and_columns(c, "", d);
}

static enum dl_status units_drawn(completion *c, struct dl_diag *d) {
  return words_and_columns(c, "config run", d);
}

/* "gpu.tdp_w", of what a run has. */
static void offer_fields(completion *c, const char *suffix) {
  static const enum dl_kind kinds[] = {DL_ACCELERATOR, DL_ARCHITECTURE};
  char text[128];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const struct dl_kind_info *k = dl_kind_info(kinds[i]);
    for (size_t j = 0; j < k->n_fields; j++) {
      if (k->fields[j].is_text)
        continue;
      snprintf(text, sizeof text, "%s.%s%s", k->word, k->fields[j].name,
               suffix);
      dl_offer(c, text, k->fields[j].help);
    }
  }
}

/* What stands before the last name of a formula or a list stays. */
static void skip_to_name(completion *c) {
  size_t n = strlen(c->word);
  while (n > 0 && (dl_is_alnum(c->word[n - 1]) || strchr("_.", c->word[n - 1])))
    n--;
  dl_completion_skip(c, n);
}

static enum dl_status formula(completion *c, struct dl_diag *d) {
  printf(":open\n");
  skip_to_name(c);
  offer_fields(c, "");
  return columns(c, d);
}

static enum dl_status settings(completion *c, struct dl_diag *d) {
  (void)d;
  char text[128];
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *k = &dl_run_columns[i];
    snprintf(text, sizeof text, "%s=", k->name);
    dl_offer(c, text, k->summary);
  }
  if (strcmp(c->command->name, "extract") != 0)
    offer_fields(c, "=");
  return DL_OK;
}

static enum dl_status aliases(completion *c, struct dl_diag *d) {
  const char *eq = strchr(c->word, '=');
  if (!eq)
    return DL_OK;
  dl_completion_skip(c, (size_t)(eq - c->word) + 1);
  enum dl_status status = gpus(c, d);
  if (status == DL_OK)
    status = archs(c, d);
  c->files = false;
  return status;
}

/* Fields of the kind that dlest list prints. */
static enum dl_status fields(completion *c, struct dl_diag *d) {
  (void)d;
  skip_to_name(c);
  for (size_t k = 0; c->argument && k < DL_N_KINDS; k++) {
    const struct dl_kind_info *kind = dl_kind_info((enum dl_kind)k);
    if (strcmp(c->argument, kind->words) != 0)
      continue;
    for (size_t i = 0; i < kind->n_fields; i++)
      dl_offer(c, kind->fields[i].name, kind->fields[i].unit);
  }
  return DL_OK;
}

static enum dl_status condition(completion *c, struct dl_diag *d) {
  printf(":open\n");
  return fields(c, d);
}

/* The ways to leave out, and behind "group:" by what. */
static enum dl_status folds(completion *c, struct dl_diag *d) {
  if (strncmp(c->word, "group:", 6) == 0) {
    dl_completion_skip(c, 6);
    return words_and_columns(c, "config", d);
  }
  dl_offer(c, "group:", "by the values of a column");
  if (strcmp(c->command->name, "fit") == 0)
    offer_words(c, "kfold: kfold-shuffled: none", ' ');
  return DL_OK;
}

static enum dl_status column_value(completion *c, struct dl_diag *d) {
  return strchr(c->word, '=') ? DL_OK : columns(c, d);
}

/* --- options */

/* By command (NULL: all) and option. A list goes on behind its last comma. */
static const struct {
  const char *command, *option;
  offer *offer;
  const char *words;
  bool list;
} values[] = {
    {NULL, "alias", aliases, NULL, false},
    {NULL, "arch", archs, NULL, false},
    {NULL, "as", NULL, "svg png pdf dumb", false},
    {NULL, "bootstrap-by", units_drawn, NULL, false},
    {NULL, "charge", NULL, "node share", false},
    {NULL, "cloud", clouds, NULL, false},
    {NULL, "country", grids, NULL, false},
    {NULL, "cv", folds, NULL, false},
    {NULL, "dataset", datasets, NULL, false},
    {NULL, "features", formula, NULL, false},
    {NULL, "format", formats, NULL, false},
    {NULL, "framework", NULL, "pytorch tensorflow", false},
    {NULL, "from", importers, NULL, false},
    {NULL, "gpu", gpus, NULL, true},
    {NULL, "node", nodes, NULL, true},
    {NULL, "offset", formula, NULL, false},
    {NULL, "phase", NULL, "training inference", false},
    {NULL, "precision", NULL, "fp64 fp32 tf32 fp16 bf16 amp fp8 int8", false},
    {NULL, "scaling", NULL, "weak strong", false},
    {NULL, "score", NULL, "mape median_ape rmse_j mae_j bias_j", false},
    {NULL, "search", NULL, "grid grid: random:", false},
    {NULL, "set", settings, NULL, false},
    {NULL, "share", shares, NULL, false},
    {NULL, "site", sites, NULL, false},
    {"compare", "methods", estimators, NULL, true},
    {"fit", "method", regressions, NULL, false},
    {"list", "columns", fields, NULL, true},
    {"list", "sort", fields, NULL, true},
    {"list", "where", condition, NULL, false},
    {"predict", "method", estimators, NULL, true},
    {"recommend", "method", estimators, NULL, false},
    {"report", "by", NULL, "job user account partition month", true},
    {"step", "method", projectors, NULL, true},
};

/* Those that are told by what stands for the value: paths, columns, or the
 * words themselves. */
static enum dl_status by_metavariable(completion *c, const char *text,
                                      struct dl_diag *d) {
  if (strncmp(text, "FILE", 4) == 0 || strncmp(text, "LOG", 3) == 0 ||
      strstr(text, ".csv") || strstr(text, ".onnx"))
    c->files = true;
  else if (strcmp(text, "COLUMN") == 0)
    return columns(c, d);
  else if (strcmp(text, "COLUMN=VALUE") == 0)
    return column_value(c, d);
  else if (dl_is_lower(*text) && strchr(text, '|'))
    offer_words(c, text, '|');
  return DL_OK;
}

enum dl_status dl_offer_values(completion *c, const char *option,
                               const char *metavariable, struct dl_diag *d) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    const char *command = values[i].command;
    if ((command && strcmp(command, c->command->name) != 0) ||
        strcmp(values[i].option, option) != 0)
      continue;
    const char *eq = *metavariable == '[' ? strchr(c->word, '=') : NULL;
    if (eq) /* "[WHERE=]NAME" */
      dl_completion_skip(c, (size_t)(eq - c->word) + 1);
    const char *comma = values[i].list ? strrchr(c->word, ',') : NULL;
    if (comma)
      dl_completion_skip(c, (size_t)(comma - c->word) + 1);
    if (values[i].words)
      offer_words(c, values[i].words, ' ');
    return values[i].offer ? values[i].offer(c, d) : DL_OK;
  }
  return by_metavariable(c, metavariable, d);
}

/* --- arguments */

static enum dl_status offer_kinds(completion *c, struct dl_diag *d) {
  if (strcmp(c->command->name, "plot") == 0)
    return plot_kinds(c, d);
  for (size_t k = 0; k < DL_N_KINDS; k++)
    dl_offer(c, dl_kind_info((enum dl_kind)k)->words, NULL);
  offer_words(c, "models methods formats importers", ' ');
  return DL_OK;
}

static enum dl_status offer_names(completion *c, struct dl_diag *d) {
  static offer *const offers[DL_N_KINDS] = {
      [DL_ACCELERATOR] = gpus, [DL_ARCHITECTURE] = archs,
      [DL_DATASET] = datasets, [DL_GRID] = grids,
      [DL_SITE] = sites,       [DL_NODE] = nodes};
  for (size_t k = 0; c->argument && k < DL_N_KINDS; k++)
    if (strcmp(c->argument, dl_kind_info((enum dl_kind)k)->word) == 0)
      return offers[k](c, d);
  return DL_OK;
}

enum dl_status dl_offer_argument(completion *c, size_t i, struct dl_diag *d) {
  const char *arguments = c->command->arguments;
  struct dl_strlist words = {0};
  if (!arguments)
    return DL_OK;
  if (!dl_strlist_split(&words, arguments, ' '))
    return dl_fail_memory(d);
  bool repeats = words.n > 0 && strstr(words.s[words.n - 1], "...");
  if (i >= words.n && repeats)
    i = words.n - 1;
  enum dl_status status = DL_OK;
  if (i < words.n) {
    const char *word = words.s[i] + (words.s[i][0] == '[');
    if (strcmp(word, "KIND") == 0)
      status = offer_kinds(c, d);
    else if (strcmp(word, "NAME") == 0)
      status = offer_names(c, d);
    else
      status = by_metavariable(c, word, d);
  }
  dl_strlist_free(&words);
  return status;
}
