/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/names/entry_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest_names.h"
#include "catalog/names/arch_name.h"

enum { MOST_TYPED = 64, SUGGESTIONS = 3 };

/* The names of all entries, as they are compared. */
struct names {
  enum dl_kind kind;
  bool folded;             /* accelerators, nodes and data sets */
  struct dl_strlist folds; /* their folded names */
  struct dl_candidate *c;
  size_t n, cap;
};

/* Regions of a country (us-ca) are compared by their identifiers; those of
 * countries are too short to resemble anything. */
static bool by_name(enum dl_kind kind, const char *name) {
  return kind == DL_GRID && strlen(name) > 3 && name[2] != '-';
}

static void add(struct names *l, const char *name, const char *shown,
                size_t of) {
  DL_TEXT(fold);
  if (!name)
    return;
  if (l->folded)
    dl_fold_name(l->kind, name, &fold);
  if (fold.s)
    dl_strlist_add(&l->folds, fold.s);
  DL_GROW(l->c, l->cap, l->n + 1);
  l->c[l->n++] = (struct dl_candidate){
      fold.s ? l->folds.s[l->folds.n - 1] : name, shown, of};
}

static void add_entry(struct names *l, const struct dl_descriptor *e, size_t of,
                      bool countries) {
  if (countries) {
    add(l, e->name, e->name, of);
    return;
  }
  add(l, e->id, e->id, of);
  for (size_t k = 0; k < e->n_aliases; k++)
    add(l, e->aliases[k], e->aliases[k], of);
  add(l, e->name, e->id, of);
}

/* The length of a checkpoint's name without the words of a format of its
 * weights ("-AWQ", "-bnb-4bit"): another format is no other network, but not
 * the same estimate either. */
static size_t without_format(const char *name, size_t n) {
  static const char *const formats[] = {
      "-awq",  "-gptq", "-gguf", "-fp8",  "-nvfp4",     "-mxfp4", "-int4",
      "-int8", "-bnb",  "-4bit", "-8bit", "-quantized", "-w4a16", "-w8a8"};
  for (size_t i = 0; i < DL_LENGTH(formats); i++) {
    const char *at = strcasestr(name, formats[i]);
    if (at && at > name && (size_t)(at - name) < n)
      n = (size_t)(at - name);
  }
  return n;
}

/* What was typed, as it is compared. */
static void fold_typed(const struct names *l, const char *name,
                       struct dl_text *to) {
  DL_TEXT(cut);
  size_t n = strnlen(name, MOST_TYPED);
  dl_text_add_n(&cut, name,
                l->kind == DL_ARCHITECTURE ? without_format(name, n) : n);
  const char *typed = dl_text_str(&cut);
  if (l->folded)
    dl_fold_name(l->kind, typed, to);
  else if (l->kind == DL_ARCHITECTURE)
    dl_arch_name_reduce(typed, to);
  if (!to->s)
    dl_text_add(to, typed);
}

void dl_suggest_entries(enum dl_kind kind, const char *name,
                        const struct dl_descriptor *const *all, size_t n,
                        struct dl_text *to) {
  struct names l = {.kind = kind,
                    .folded = kind == DL_ACCELERATOR || kind == DL_NODE ||
                              kind == DL_DATASET};
  DL_TEXT(typed);
  bool countries = by_name(kind, name);
  for (size_t i = 0; i < n; i++)
    add_entry(&l, all[i], i, countries);
  fold_typed(&l, name, &typed);
  /* Networks are many: one of them is always near. */
  dl_suggest(dl_text_str(&typed), l.c, l.n, SUGGESTIONS,
             kind == DL_ARCHITECTURE, to);
  dl_strlist_free(&l.folds);
  free(l.c);
}
