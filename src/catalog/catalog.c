/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "catalog/load.h"

/* A user's own file, kept by its path. */
struct own_file {
  char *path;
  struct dl_shelf shelf;
};

struct dl_catalog {
  char *datadir;
  struct dl_shelf shipped[DL_N_KINDS];
  bool loaded[DL_N_KINDS];
  struct own_file **own;
  size_t n_own;
  size_t cap_own;
};

struct dl_catalog *dl_catalog_new(const char *datadir) {
  struct dl_catalog *c = dl_calloc(1, sizeof *c);
  if (c && !(c->datadir = dl_strdup(datadir))) {
    free(c);
    return NULL;
  }
  return c;
}

void dl_catalog_free(struct dl_catalog *c) {
  if (!c)
    return;
  for (size_t i = 0; i < DL_N_KINDS; i++)
    dl_shelf_free(&c->shipped[i]);
  for (size_t i = 0; i < c->n_own; i++) {
    dl_shelf_free(&c->own[i]->shelf);
    free(c->own[i]->path);
    free(c->own[i]);
  }
  free(c->own);
  free(c->datadir);
  free(c);
}

static enum dl_status load(struct dl_catalog *c, enum dl_kind kind,
                           struct dl_diag *d) {
  if (c->loaded[kind])
    return DL_OK;
  struct dl_text path = {0};
  enum dl_status status =
      dl_data_path(c->datadir, dl_kind_info(kind)->file, &path, d);
  if (status == DL_OK)
    status = dl_shelf_load(&c->shipped[kind], kind, path.s, NULL, d);
  dl_text_free(&path);
  c->loaded[kind] = status == DL_OK;
  return status;
}

static bool is_path(const char *name) {
  size_t n = strlen(name);
  return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".xml") == 0);
}

/* A user's file that has been opened, or NULL. */
static const struct dl_descriptor *
find_own(const struct dl_catalog *c, enum dl_kind kind, const char *path) {
  for (size_t i = 0; i < c->n_own; i++)
    if (strcmp(c->own[i]->path, path) == 0 &&
        c->own[i]->shelf.e[0].kind == kind)
      return &c->own[i]->shelf.e[0];
  return NULL;
}

enum dl_status dl_catalog_open(struct dl_catalog *c, enum dl_kind kind,
                               const char *path, struct dl_diag *d) {
  if (!is_path(path) || find_own(c, kind, path))
    return DL_OK;
  struct own_file *own = dl_calloc(1, sizeof *own);
  void *list = c->own;
  if (!own || !dl_grow(&list, &c->cap_own, c->n_own + 1, sizeof *c->own)) {
    free(own);
    return dl_fail_memory(d);
  }
  c->own = list;
  struct dl_text schema = {0};
  enum dl_status status =
      dl_data_path(c->datadir, dl_kind_info(kind)->schema, &schema, d);
  own->path = dl_strdup(path);
  if (status == DL_OK && !own->path)
    status = dl_fail_memory(d);
  if (status == DL_OK)
    status = dl_shelf_load(&own->shelf, kind, path, schema.s, d);
  dl_text_free(&schema);
  if (status != DL_OK) {
    free(own->path);
    free(own);
    return status;
  }
  if (own->shelf.n > 1)
    dl_warn_at(d, path, 0, "holds %zu entries; the first, '%s', is taken",
               own->shelf.n, own->shelf.e[0].id);
  c->own[c->n_own++] = own;
  return DL_OK;
}

enum dl_status dl_catalog_look(struct dl_catalog *c, enum dl_kind kind,
                               const char *name, const struct dl_descriptor **e,
                               struct dl_diag *d) {
  *e = find_own(c, kind, name);
  if (*e)
    return DL_OK;
  enum dl_status status = load(c, kind, d);
  if (status != DL_OK)
    return status;
  struct dl_text folded = {0};
  dl_fold_name(kind, name, &folded);
  if (folded.failed)
    return dl_fail_memory(d);
  if (folded.s)
    *e = dl_shelf_find(&c->shipped[kind], folded.s);
  dl_text_free(&folded);
  return DL_OK;
}

enum { MOST_SHOWN = 64 /* bytes of a name in a message */ };

/* Nearness is judged on folded names. Grids are asked for by the name of a
 * country, and their identifiers are too short to be near to anything. */
static void name_nearest(const struct dl_shelf *s, enum dl_kind kind,
                         const char *name, struct dl_text *text) {
  const char **names = dl_calloc(s->n, sizeof *names);
  if (!names)
    return;
  for (size_t i = 0; i < s->n; i++)
    names[i] = kind == DL_GRID && strlen(name) > 3 ? s->e[i].name : s->e[i].id;
  struct dl_text folded = {0}, cut = {0};
  dl_text_add_n(&cut, name, strnlen(name, MOST_SHOWN));
  dl_fold_name(kind, dl_text_str(&cut), &folded);
  dl_nearest_names(dl_text_str(&folded), names, s->n, 3, text);
  dl_text_free(&folded);
  dl_text_free(&cut);
  free(names);
}

enum dl_status dl_catalog_get(struct dl_catalog *c, enum dl_kind kind,
                              const char *name, const struct dl_descriptor **e,
                              struct dl_diag *d) {
  enum dl_status status = dl_catalog_look(c, kind, name, e, d);
  if (status != DL_OK || *e)
    return status;
  struct dl_text near = {0};
  name_nearest(&c->shipped[kind], kind, name, &near);
  const struct dl_kind_info *k = dl_kind_info(kind);
  dl_fail(d, DL_EINPUT,
          "unknown %s '%.*s%s'; nearest: %s (see 'dlest list %s')", k->word,
          MOST_SHOWN, name, strlen(name) > MOST_SHOWN ? "..." : "",
          dl_text_str(&near), k->words);
  dl_text_free(&near);
  return DL_EINPUT;
}

enum dl_status dl_catalog_all(struct dl_catalog *c, enum dl_kind kind,
                              const struct dl_descriptor ***list, size_t *n,
                              struct dl_diag *d) {
  *list = NULL;
  *n = 0;
  enum dl_status status = load(c, kind, d);
  if (status != DL_OK)
    return status;
  const struct dl_shelf *s = &c->shipped[kind];
  const struct dl_descriptor **all = dl_calloc(s->n, sizeof *all);
  if (!all)
    return dl_fail_memory(d);
  for (size_t i = 0; i < s->n; i++)
    all[i] = &s->e[i];
  *list = all;
  *n = s->n;
  return DL_OK;
}
