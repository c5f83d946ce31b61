/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/names/entry_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/names/nearest_names.h"
#include "base/number.h"
#include "catalog/architecture/transformer.h"
#include "catalog/descriptor_kinds.h"
#include "catalog/names/arch_name.h"

enum { MOST_TYPED = 64, SUGGESTIONS = 3 };

/* The names of all entries, as they are compared. */
struct entry_names {
  enum dl_kind kind;
  bool folded;             /* accelerators, nodes and data sets */
  struct dl_strlist folds; /* their folded names */
  struct dl_name_candidate *c;
  size_t n, cap;
};

/* Whether grids are compared by their names. Regions of a country (us-ca) are
 * compared by their identifiers; a country's identifier is too short to
 * resemble anything. */
static bool by_name(enum dl_kind kind, const char *name) {
  return kind == DL_GRID && strlen(name) > 3 && name[2] != '-';
}

static void add(struct entry_names *l, const char *name, const char *shown,
                size_t of) {
  DL_TEXT(fold);
  if (!name)
    return;
  if (l->folded)
    dl_fold_name(l->kind, name, &fold);
  if (fold.s)
    dl_strlist_add(&l->folds, fold.s);
  DL_GROW(l->c, l->cap, l->n + 1);
  l->c[l->n++] = (struct dl_name_candidate){
      fold.s ? l->folds.s[l->folds.n - 1] : name, shown, of};
}

static void add_entry(struct entry_names *l, const struct dl_descriptor *e,
                      size_t of, bool countries) {
  if (countries) {
    add(l, e->name, e->name, of);
    return;
  }
  add(l, e->id, e->id, of);
  for (size_t k = 0; k < e->n_aliases; k++)
    add(l, e->aliases[k], e->aliases[k], of);
  add(l, e->name, e->id, of);
}

/* Returns the length of a checkpoint's name without the words of a format of
 * its weights ("-AWQ", "-bnb-4bit"): it is another checkpoint of the network,
 * with another estimate. */
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

/* Appends the typed name in the form in which it is compared. */
static void fold_typed(const struct entry_names *l, const char *name,
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
  struct entry_names l = {.kind = kind,
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

static bool is_size(double x, double wanted, double share) {
  return isnan(wanted) || fabs(x - wanted) <= share * x;
}

/* Whether a network has these sizes, its vocabulary within a share. The
 * feed-forward size of a config may mean an expert. */
static bool has_sizes(const struct dl_transformer *t, const double size[],
                      double share) {
  return t && is_size(t->hidden, size[0], 0) &&
         is_size(t->layers, size[1], 0) && is_size(t->vocab, size[2], share) &&
         is_size(t->heads, size[3], 0) &&
         (is_size(t->ffn, size[4], 0) || is_size(t->moe_ffn, size[4], 0) ||
          is_size(t->shared_ffn, size[4], 0));
}

void dl_suggest_networks(const struct dl_descriptor *const *all, size_t n,
                         const double size[DL_NETWORK_SIZES],
                         struct dl_text *to) {
  static const double shares[] = {0, 0.01}; /* vocabularies are padded */
  DL_TEXT(names);
  if (n > 1 && isnan(size[0] + size[1] + dl_or(size[2], size[4])))
    return;
  for (size_t k = 0; k < DL_LENGTH(shares) && names.len == 0; k++)
    for (size_t i = 0; i < n; i++)
      if (has_sizes(DL_AS(architecture, all[i])->transformer, size, shares[k]))
        dl_text_printf(&names, "%s--arch %s", names.len > 0 ? " or " : "",
                       all[i]->id);
  if (names.len > 0)
    dl_text_printf(to,
                   "; the catalogue has a network of this size (did you mean "
                   "%s?)",
                   names.s);
}
