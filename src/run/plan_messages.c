/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Warnings about names and words of a plan that are probably misspelt. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/names/nearest_names.h"
#include "run/column_names.h"
#include "run/plan_private.h"

bool dl_plan_uses(const struct dl_row_plan *f, size_t name, bool wanted) {
  bool used = false;
  for (size_t k = 0; name < f->n_names && k < 2 * N_SCOPES; k++) {
    size_t step = f->name[name].step[k / 2][k % 2];
    used |= step > 0 && (f->step[step - 1].wanted || !wanted);
  }
  return used;
}

enum { SHORT_NAME = 5, LONG_NAME = 9 };

/* The column of the runs table that a column of another name probably is, or
 * NULL; *factor is the factor of the unit which the name states, or 1. */
static const char *meant_column(const char *name, double *factor) {
  char folded[DL_MOST_NAME], known[DL_MOST_NAME];
  const char *in_unit = dl_column_in_unit(name, factor);
  if (in_unit)
    return in_unit;
  const char *nearest = NULL;
  if (!dl_fold_column(name, folded) || !*folded)
    return NULL;
  nearest = dl_column_called(folded);
  if (nearest)
    return nearest;
  size_t n = strlen(folded);
  size_t least = n < LONG_NAME ? 2 : 3; /* edits below it */
  if (n < SHORT_NAME)
    least = 1;
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    dl_fold_column(dl_run_columns[i].name, known);
    size_t edits = dl_edit_distance(folded, known);
    if (edits < least) {
      least = edits;
      nearest = dl_run_columns[i].name;
    }
  }
  return nearest;
}

/* The length of a name without a unit behind it: "energy_kwh". */
static size_t stem_length(const char *name) {
  const char *last = strrchr(name, '_');
  bool unit = last && dl_word_among("j|kj|mj|wh|kwh|mwh|s|ms|min|h|w|kw|mw|gb|"
                                    "gib|mb|mib|pct|g|m|px",
                                    last + 1, strlen(last + 1)) >= 0;
  return unit ? (size_t)(last - name) : strlen(name);
}

/* Whether a column states the quantity of a name. */
static bool states(const char *column, const char *name) {
  double factor;
  const char *meant = meant_column(column, &factor);
  size_t n = stem_length(name);
  return (meant && strcmp(meant, name) == 0) ||
         (n == stem_length(column) && strncasecmp(column, name, n) == 0);
}

void dl_plan_suggest_columns(const struct dl_row_plan *f, const char *name,
                             struct dl_text *to) {
  size_t n = f->csv ? dl_csv_n_cols(f->csv) : DL_N_RUN_COLUMNS;
  DL_FREED struct dl_name_candidate *c = dl_calloc(n, sizeof *c);
  for (size_t i = 0; i < n; i++) {
    const char *own = f->csv ? dl_csv_name(f->csv, i) : dl_run_columns[i].name;
    c[i] = (struct dl_name_candidate){states(own, name) ? name : own, own, i};
  }
  dl_suggest(name, c, n, 3, false, to);
}

/* Writes a name as a formula has it, in the unit of the column it stands for;
 * the shell takes it as it is. */
static void put_formula(struct dl_text *to, const char *name, const char *meant,
                        double unit) {
  char factor[32] = "";
  bool plain = !isdigit((unsigned char)*name);
  for (const char *p = name; *p; p++)
    plain = plain && (isalnum((unsigned char)*p) || *p == '_' || *p == '.');
  if (strcmp(meant, "duration_s") == 0 && strcasestr(name, "hour"))
    unit = DL_S_PER_HOUR;
  else if (strcmp(meant, "duration_s") == 0 && strcasestr(name, "minute"))
    unit = 60;
  if (unit < 1 || unit > 1)
    snprintf(factor, sizeof factor, "*%.10g", unit);
  if (plain)
    dl_text_printf(to, *factor ? "'%s%s'" : "%s", name, factor);
  else
    dl_text_printf(to, "'`%s`%s'", name, factor);
}

/* Defines the quantities of which the table has a column in another unit that
 * its name states ("energy_kwh"), and none in their own. */
static void define_units(struct dl_row_plan *f) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  char stem[DL_MOST_NAME];
  double factor;
  for (size_t i = 0; f->csv && i < dl_csv_n_cols(f->csv); i++) {
    const char *own = dl_csv_name(f->csv, i);
    const struct dl_named_unit *unit = dl_stated_unit(own, stem);
    const char *meant = unit ? meant_column(own, &factor) : NULL;
    const struct dl_run_column *c = meant ? dl_run_column_find(meant) : NULL;
    DL_TEXT(formula);
    if (!c || !dl_same_text(c->unit, unit->unit) || strchr(own, '`') ||
        !(unit->factor < 1 || unit->factor > 1) ||
        dl_plan_find(f, own) != NO_NAME || dl_csv_find(f->csv, meant) >= 0 ||
        f->name[c->id].definition > 0)
      continue;
    dl_text_printf(&formula, "%s=`%s`*%.10g", meant, own, unit->factor);
    dl_plan_define(f, dl_text_str(&formula), &quiet);
  }
}

void dl_plan_columns(struct dl_row_plan *f, const struct dl_csv *csv) {
  f->csv = csv;
  for (size_t name = DL_OF_GPU_id; name < DL_N_PLAN_NAMES; name++)
    dl_name_text(f, name); /* by which columns are found */
  define_units(f);
}

/* A column that nothing reads, where a quantity that it probably is has no
 * value of the table's. */
static void warn_column(const struct dl_row_plan *f, const char *name,
                        struct dl_diag *d) {
  double factor;
  size_t own = dl_plan_find(f, name);
  bool known = own < DL_N_RUN_COLUMNS || dl_plan_uses(f, own, false);
  const char *meant = known ? NULL : meant_column(name, &factor);
  size_t id = meant ? dl_plan_find(f, meant) : NO_NAME;
  if (!meant || !dl_plan_uses(f, id, true) || dl_csv_find(f->csv, meant) >= 0 ||
      f->name[id].definition > 0 || f->name[id].override > 0)
    return;
  DL_TEXT(formula);
  put_formula(&formula, name, meant, factor);
  dl_warn_at(d, dl_csv_path(f->csv), 0,
             "column '%s' is not used; if it holds '%s', give --define %s=%s",
             name, meant, meant, dl_text_str(&formula));
}

/* Warns of names that nothing uses. A column of the runs table is known, if not
 * needed this time. */
static void warn_entries(const struct dl_row_plan *f, const struct entries *of,
                         const char *option, struct dl_diag *d) {
  for (size_t i = 0; i < of->n; i++) {
    size_t id = dl_plan_find(f, of->e[i].name);
    if (id >= DL_N_RUN_COLUMNS && !dl_plan_uses(f, id, false))
      dl_warn(d, "%s %s: nothing uses this name", option, of->e[i].name);
  }
}

void dl_plan_warn_unused(const struct dl_row_plan *f, struct dl_diag *d) {
  warn_entries(f, &f->overrides, "--set", d);
  warn_entries(f, &f->definitions, "--define", d);
  enum { MOST_COLUMNS = 256 }; /* a wider table has names of its own */
  size_t n = f->csv ? dl_csv_n_cols(f->csv) : 0;
  for (size_t i = 0; i < n && n <= MOST_COLUMNS; i++)
    warn_column(f, dl_csv_name(f->csv, i), d);
}

void dl_plan_warn_aliases(const struct dl_row_plan *f, struct dl_diag *d) {
  for (size_t i = 0; i < f->aliases.n; i++) {
    bool used = false;
    for (size_t k = 0; k < N_LOOK_UPS; k++)
      used |= dl_intern_find(&f->lookup.names[k], f->aliases.e[i].name) >= 0;
    if (!used)
      dl_warn(d, "--alias %s: nothing uses this name", f->aliases.e[i].name);
  }
}

/* Warns of a text once; a list of all that were seen is kept. */
static bool is_new(struct dl_intern *seen, const char *column, const char *text,
                   struct dl_text *key) {
  size_t before = seen->n;
  dl_text_clear(key);
  dl_text_printf(key, "%s\n%s", column, text);
  dl_intern(seen, key->s);
  return seen->n > before;
}

/* A word that is unknown to its column, though it is accepted. */
static void warn_word(struct dl_row_plan *f, const struct dl_run_column *c,
                      const char *text, size_t line, struct dl_diag *d) {
  DL_TEXT(near);
  size_t n = 0;
  if (dl_run_word(c, text) || !dl_plan_takes_others(f, c) ||
      !is_new(&f->words, c->name, text, &f->lookup.key))
    return;
  while (c->words[n])
    n++;
  dl_nearest_names(text, c->words, n, n, &near);
  dl_warn_at(d, dl_csv_path(f->csv), line,
             "column '%s': unknown value '%.*s'; expected %s", c->name,
             DL_MOST_NAME, text, dl_text_str(&near));
}

static void warn_dataset(struct dl_row_plan *f, const char *name, size_t line,
                         struct dl_diag *d) {
  const struct dl_descriptor *e;
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  if (!is_new(&f->words, "dataset", name, &f->lookup.key))
    return;
  if (dl_catalog_get(f->catalog, DL_DATASET, dl_plan_meant(f, name), &e,
                     &inner) != DL_OK)
    dl_warn_at(d, dl_csv_path(f->csv), line,
               "%s; its size is unknown unless column 'train_samples' gives it",
               inner.error ? inner.error : name);
}

void dl_plan_warn_words(struct dl_row_plan *f, const struct dl_csv_block *block,
                        size_t i, const struct dl_row *row, struct dl_diag *d) {
  const char *const *cell = block->cell + i * block->n_cols;
  for (size_t k = 0; k < DL_N_RUN_COLUMNS && !f->words_at_known; k++)
    if (dl_run_columns[k].others && dl_plan_uses(f, k, false) &&
        f->n_words_at < MOST_WORD_COLUMNS) {
      f->words_at[f->n_words_at] = dl_csv_find(f->csv, dl_run_columns[k].name);
      f->word_column[f->n_words_at++] = &dl_run_columns[k];
    }
  f->words_at_known = true;
  for (size_t k = 0; k < f->n_words_at; k++)
    if (f->words_at[k] >= 0 && *cell[f->words_at[k]])
      warn_word(f, f->word_column[k], cell[f->words_at[k]], block->line[i], d);
  if (!f->looks_up[STEP_DATASET] || !dl_plan_gives(f, DL_RUN_dataset))
    return;
  const char *dataset = dl_row_text(row, &f->look_up_by[DATASET_NAME]);
  if (dataset && row->found.dataset)
    return;
  if (dataset)
    warn_dataset(f, dataset, block->line[i], d);
  else if (dl_csv_find(f->csv, "train_samples") < 0 &&
           is_new(&f->words, "dataset", "", &f->lookup.key))
    dl_warn_at(d, dl_csv_path(f->csv), block->line[i],
               "column 'dataset': no value: %s is taken",
               f->usual_dataset ? f->usual_dataset : "none");
}
