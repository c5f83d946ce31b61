/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completing the values of options and arguments: names of catalogues and
 * registries, columns, words, or paths. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/mig.h"
#include "cli/completion/complete.h"
#include "estimate/methods/estimator.h"
#include "estimate/projection/projection.h"
#include "io/csv.h"
#include "logs/importers/importers.h"
#include "math/regression/regression.h"
#include "plot/plot.h"
#include "quantities/quantities.h"

typedef struct dl_completion completion;
typedef void offer(completion *c);

/* Offers each of the words, "node|share". */
static void offer_words(completion *c, const char *words) {
  for (const char *s = words; *s;) {
    const char *end = s + strcspn(s, "|");
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

/* Names of a kind, those that hold a text; an architecture may also be the
 * shape of a transformer. */
static void offer_names(completion *c, enum dl_kind kind, const char *holding) {
  const struct dl_descriptor **all;
  size_t n;
  c->status = dl_catalog_all(c->catalog, kind, &all, &n, &c->diag);
  if (c->status != DL_OK)
    return;
  c->any_case = true;
  for (size_t i = 0; i < n; i++)
    if (!holding || strstr(all[i]->id, holding))
      dl_offer(c, all[i]->id, all[i]->name);
  free(all);
  if (kind == DL_ARCHITECTURE)
    dl_offer(c, "transformer:", "the shape of a transformer");
}

static void shares(completion *c) {
  const char *profile;
  char text[80];
  for (size_t i = 0; (profile = dl_mig_profile_at(i)); i++) {
    snprintf(text, sizeof text, "mig:%s", profile);
    dl_offer(c, text, NULL);
  }
}

/* --- registries */

static void formats(completion *c) {
  for (size_t i = 0; dl_formats[i]; i++)
    dl_offer(c, dl_formats[i]->name, dl_formats[i]->summary);
}

static void importers(completion *c) {
  for (size_t i = 0; dl_importers[i]; i++)
    dl_offer(c, dl_importers[i]->name, dl_importers[i]->summary);
}

static void estimators(completion *c) {
  bool first = c->head_len == 0 || c->head[c->head_len - 1] != ',';
  if (first && c->command != &dl_cmd_recommend)
    dl_offer(c, "all", "every method");
  for (size_t i = 0; dl_estimators[i]; i++)
    dl_offer(c, dl_estimators[i]->name, dl_estimators[i]->summary);
}

static void regressions(completion *c) {
  for (size_t i = 0; i < DL_N_REGRESSIONS; i++)
    dl_offer(c, dl_regressions[i]->name, NULL);
}

static void projectors(completion *c) {
  const struct dl_projector *p;
  for (size_t i = 0; (p = dl_projector_at(i)); i++)
    dl_offer(c, p->name, p->summary);
}

static void plot_kinds(completion *c) {
  for (size_t i = 0; dl_plot_kinds[i]; i++)
    dl_offer(c, dl_plot_kinds[i]->name, NULL);
}

/* --- columns and fields */

/* Offers a column, unless it is among the words, which come first. */
static void offer_column(completion *c, const char *name, const char *words) {
  const struct dl_run_column *known = dl_run_column_find(name);
  size_t n = strlen(name);
  const char *in = strstr(words, name);
  bool offered =
      in && (in == words || in[-1] == '|') && (in[n] == '\0' || in[n] == '|');
  if (!offered)
    dl_offer(c, name, known ? known->summary : NULL);
}

/* Offers words, then the columns of the table on the command line, or of a runs
 * table if there is none. */
static void words_and_columns(completion *c, const char *words) {
  struct dl_csv *csv = NULL;
  offer_words(c, words);
  if (!c->table || dl_csv_open(&csv, c->table, 0, &c->diag) != DL_OK) {
    for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++)
      offer_column(c, dl_run_columns[i].name, words);
    return;
  }
  for (size_t i = 0; i < dl_csv_n_cols(csv); i++)
    offer_column(c, dl_csv_name(csv, i), words);
  dl_csv_free(csv);
}

static void columns(completion *c) {
  words_and_columns(c, "");
}

static void units_drawn(completion *c) {
  words_and_columns(c, "config|run");
}

/* Offers the fields of a run's accelerator and architecture: "gpu.tdp_w". */
static void offer_fields(completion *c, const char *suffix) {
  static const enum dl_kind kinds[] = {DL_ACCELERATOR, DL_ARCHITECTURE};
  char text[128];
  for (size_t i = 0; i < DL_LENGTH(kinds); i++) {
    const struct dl_kind_info *k = &dl_kinds[kinds[i]];
    for (size_t j = 0; j < k->n_fields; j++) {
      if (k->fields[j].is_text)
        continue;
      snprintf(text, sizeof text, "%s.%s%s", k->word, k->fields[j].name,
               suffix);
      dl_offer(c, text, k->fields[j].help);
    }
  }
}

/* Skips to the last name of a formula or a list. */
static void skip_to_name(completion *c) {
  size_t n = strlen(c->word);
  while (n > 0 && (isalnum((unsigned char)c->word[n - 1]) ||
                   strchr("_.", c->word[n - 1])))
    n--;
  dl_completion_skip(c, n);
}

static void formula(completion *c) {
  printf(":open\n");
  skip_to_name(c);
  offer_fields(c, "");
  columns(c);
}

static void settings(completion *c) {
  char text[128];
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *k = &dl_run_columns[i];
    snprintf(text, sizeof text, "%s=", k->name);
    dl_offer(c, text, k->summary);
  }
  if (c->command != &dl_cmd_extract)
    offer_fields(c, "=");
}

static void aliases(completion *c) {
  const char *eq = strchr(c->word, '=');
  if (!eq)
    return;
  dl_completion_skip(c, (size_t)(eq - c->word) + 1);
  offer_names(c, DL_ACCELERATOR, NULL);
  if (c->status == DL_OK)
    offer_names(c, DL_ARCHITECTURE, NULL);
}

/* Fields of the kind that dlest list prints; of accelerators for recommend. */
static void fields(completion *c) {
  bool list = c->command == &dl_cmd_list;
  const char *what = list ? c->argument : "gpus";
  skip_to_name(c);
  for (size_t k = 0; what && k < DL_N_KINDS; k++) {
    const struct dl_kind_info *kind = &dl_kinds[(enum dl_kind)k];
    if (strcmp(what, kind->words) != 0)
      continue;
    for (size_t i = 0; i < kind->n_fields; i++)
      dl_offer(c, kind->fields[i].name, kind->fields[i].unit);
  }
}

static void condition(completion *c) {
  printf(":open\n");
  fields(c);
}

/* Folds of cross-validation; after "group:" the columns. */
static void folds(completion *c) {
  if (strncmp(c->word, "group:", 6) == 0) {
    dl_completion_skip(c, 6);
    words_and_columns(c, "config");
    return;
  }
  dl_offer(c, "group:", "by the values of a column");
  if (c->command == &dl_cmd_fit)
    offer_words(c, "kfold:|kfold-shuffled:|none");
}

static void column_value(completion *c) {
  if (!strchr(c->word, '='))
    columns(c);
}

/* --- options */

/* Values by command (NULL: all) and option: names of a kind, and paths where it
 * has files of its own, what a function offers, or words. A list goes on behind
 * its last comma. */
static const struct {
  const char *command, *option;
  bool list, names;
  enum dl_kind kind;
  const char *holding; /* "cloud:region" */
  offer *offer;
  const char *words;
} values[] = {
    {NULL, "arch", .names = true, .kind = DL_ARCHITECTURE},
    {NULL, "cloud", .list = true, .names = true, .kind = DL_SITE,
     .holding = ":"},
    {NULL, "cpu", .names = true, .kind = DL_ACCELERATOR},
    {NULL, "country", .list = true, .names = true, .kind = DL_GRID},
    {NULL, "dataset", .names = true, .kind = DL_DATASET},
    {NULL, "gpu", .list = true, .names = true, .kind = DL_ACCELERATOR},
    {NULL, "node", .list = true, .names = true, .kind = DL_NODE},
    {NULL, "site", .names = true, .kind = DL_SITE},
    {NULL, "alias", .offer = aliases},
    {NULL, "bootstrap-by", .offer = units_drawn},
    {NULL, "cv", .offer = folds},
    {NULL, "features", .offer = formula},
    {NULL, "format", .offer = formats},
    {NULL, "from", .offer = importers},
    {NULL, "offset", .offer = formula},
    {NULL, "set", .offer = settings},
    {NULL, "share", .offer = shares},
    {"compare", "methods", .list = true, .offer = estimators},
    {"fit", "method", .offer = regressions},
    {"list", "columns", .list = true, .offer = fields},
    {"list", "sort", .list = true, .offer = fields},
    {"list", "where", .offer = condition},
    {"recommend", "where", .offer = condition},
    {"predict", "method", .list = true, .offer = estimators},
    {"recommend", "method", .offer = estimators},
    {"recommend", "by", .list = true, .words = "energy|time|co2e|cost"},
    {"step", "method", .list = true, .offer = projectors},
    {NULL, "as", .words = "svg|png|pdf|dumb"},
    {NULL, "known", .list = true,
     .words = "time|duration|gpu_util|gpu_power|none"},
    {NULL, "score", .words = "mape|median_ape|rmse_j|mae_j|bias_j"},
    {NULL, "search", .words = "grid|grid:|random:"},
    {"record", "gpus", .words = "all"},
    {"report", "by", .list = true,
     .words = "job|user|account|partition|state|gpu|month"},
};

/* The placeholder of the value in --help decides: a path, a column, or the
 * words themselves. */
static void by_argument(completion *c, const char *text) {
  if (strncmp(text, "FILE", 4) == 0 || strncmp(text, "LOG", 3) == 0 ||
      strstr(text, ".csv") || strstr(text, ".onnx"))
    c->files = true;
  else if (dl_is_word(text, "COLUMN"))
    columns(c);
  else if (dl_is_word(text, "COLUMN=VALUE"))
    column_value(c);
  else if (islower((unsigned char)*text) && strchr(text, '|'))
    offer_words(c, text);
}

/* Offers the words of the quantity that an option sets, if it has any. */
static bool offer_words_of(completion *c, const struct dl_option *o) {
  const struct dl_run_column *of = dl_run_columns;
  const struct dl_run_column *end = of + DL_N_RUN_MEMBERS;
  while (of < end && !(of->option && strcmp(of->option, o->name) == 0))
    of++;
  if (of == end || !of->words)
    return false;
  if (of->offers)
    offer_words(c, of->offers);
  for (size_t i = 0; !of->offers && of->words[i]; i++)
    dl_offer(c, of->words[i], NULL);
  return true;
}

/* Skips to behind a character of the word. */
static void skip_behind(completion *c, const char *at) {
  if (at)
    dl_completion_skip(c, (size_t)(at - c->word) + 1);
}

void dl_offer_values(completion *c, const struct dl_option *o) {
  size_t i = 0;
  while (i < DL_LENGTH(values) &&
         ((values[i].command &&
           strcmp(values[i].command, c->command->name) != 0) ||
          strcmp(values[i].option, o->name) != 0))
    i++;
  if (i == DL_LENGTH(values) && offer_words_of(c, o))
    return;
  if (i == DL_LENGTH(values)) {
    by_argument(c, o->words ? o->words : o->argument);
    return;
  }
  if (*o->argument == '[') /* "[WHERE=]NAME" */
    skip_behind(c, strchr(c->word, '='));
  if (values[i].list)
    skip_behind(c, strrchr(c->word, ','));
  if (values[i].words)
    offer_words(c, values[i].words);
  if (values[i].offer)
    values[i].offer(c);
  if (!values[i].names)
    return;
  c->files = values[i].kind != DL_DATASET && !values[i].holding;
  offer_names(c, values[i].kind, values[i].holding);
}

/* --- arguments */

static void offer_kinds(completion *c) {
  if (c->command == &dl_cmd_plot) {
    plot_kinds(c);
    return;
  }
  for (size_t k = 0; k < DL_N_KINDS; k++)
    dl_offer(c, dl_kinds[(enum dl_kind)k].words, NULL);
  offer_words(c, "models|methods|formats|importers");
}

/* A descriptor of the kind that is the first argument; a model is a file. */
static void offer_descriptors(completion *c) {
  c->files |= dl_is_word(c->argument, "model");
  for (int k = 0; c->argument && k < DL_N_KINDS; k++)
    if (strcmp(c->argument, dl_kinds[(enum dl_kind)k].word) == 0) {
      c->files = k != DL_DATASET;
      offer_names(c, (enum dl_kind)k, NULL);
    }
}

void dl_offer_argument(completion *c, size_t i) {
  const char *arguments = c->command->arguments;
  DL_SCOPED(dl_strlist_free) struct dl_strlist words = {0};
  if (!arguments)
    return;
  dl_strlist_split(&words, arguments, ' ');
  bool repeats = words.n > 0 && strstr(words.s[words.n - 1], "...");
  if (i >= words.n && repeats)
    i = words.n - 1;
  if (i < words.n) {
    const char *word = words.s[i] + (words.s[i][0] == '[');
    if (dl_is_word(word, "KIND"))
      offer_kinds(c);
    else if (dl_is_word(word, "NAME"))
      offer_descriptors(c);
    else
      by_argument(c, word);
  }
}
