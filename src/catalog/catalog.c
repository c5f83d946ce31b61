/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/catalog.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/nearest_names.h"
#include "catalog/architecture/from_onnx.h"
#include "catalog/architecture/layer_shapes.h"
#include "catalog/catalog_file.h"
#include "catalog/catalog_scan.h"
#include "catalog/user_files.h"

/* A descriptor file that the user named by its path. */
struct opened {
  char *name;
  struct dl_catalog_file file;
  struct dl_recount *recount; /* of an ONNX model */
};

/* A shipped catalogue: its text, and all of its entries once a command needs
 * more than a few of them. */
struct shipped {
  char *path, *text;
  size_t len;
  struct dl_catalog_file file;
  bool whole;
};

/* FEW: from so many entries on, parsing all is faster than looking for each. */
enum { MOST_FILES = 4, FEW = 64 };

/* The shipped entries of a kind. */
struct kind {
  struct shipped file[MOST_FILES];
  size_t n_files;
  struct dl_catalog_file *
      *single; /* of one entry each, which was scanned for */
  size_t n_single, cap_single;
};

struct dl_catalog {
  char *datadir;
  struct kind kind[DL_N_KINDS];
  struct dl_user_files user;
  struct dl_shapes shapes;
  struct opened **opened;
  size_t n_opened, cap_opened;
};

struct dl_catalog *dl_catalog_new(const char *datadir) {
  struct dl_catalog *c = dl_calloc(1, sizeof *c);
  if (c && !(c->datadir = dl_strdup(datadir))) {
    free(c);
    return NULL;
  }
  return c;
}

static void free_kind(struct kind *k) {
  for (size_t i = 0; i < k->n_files; i++) {
    free(k->file[i].path);
    free(k->file[i].text);
    dl_catalog_file_free(&k->file[i].file);
  }
  for (size_t i = 0; i < k->n_single; i++) {
    dl_catalog_file_free(k->single[i]);
    free(k->single[i]);
  }
  free(k->single);
}

void dl_catalog_free(struct dl_catalog *c) {
  if (!c)
    return;
  for (size_t i = 0; i < DL_N_KINDS; i++)
    free_kind(&c->kind[i]);
  for (size_t i = 0; i < c->n_opened; i++) {
    dl_catalog_file_free(&c->opened[i]->file);
    dl_recount_free(c->opened[i]->recount);
    free(c->opened[i]->name);
    free(c->opened[i]);
  }
  free(c->opened);
  dl_user_files_free(&c->user);
  dl_shapes_free(&c->shapes);
  free(c->datadir);
  free(c);
}

/* Reads the texts of a kind's files, once. */
static enum dl_status read_texts(struct dl_catalog *c, enum dl_kind kind,
                                 struct dl_diag *d) {
  struct kind *k = &c->kind[kind];
  const char *const *files = dl_kind_info(kind)->files;
  while (files[k->n_files]) {
    struct shipped *f = &k->file[k->n_files];
    struct dl_text path = {0};
    enum dl_status status =
        dl_data_path(c->datadir, files[k->n_files], &path, d);
    if (status == DL_OK)
      status = dl_read_file(path.s, DL_XML_MOST_BYTES, &f->text, &f->len, d);
    if (status != DL_OK) {
      dl_text_free(&path);
      return status;
    }
    f->path = path.s;
    k->n_files++;
  }
  return DL_OK;
}

static enum dl_status read_whole(struct dl_catalog *c, enum dl_kind kind,
                                 struct dl_diag *d) {
  struct kind *k = &c->kind[kind];
  enum dl_status status = read_texts(c, kind, d);
  for (size_t i = 0; i < k->n_files && status == DL_OK; i++) {
    struct shipped *f = &k->file[i];
    if (f->whole)
      continue;
    status = dl_catalog_file_parse(&f->file, kind, f->text, f->len, f->path, d);
    f->whole = status == DL_OK;
  }
  return status;
}

/* Scans a file for one entry and keeps it; *e stays NULL where there is none.
 */
static enum dl_status scan_file(struct kind *k, enum dl_kind kind,
                                const struct shipped *f, const char *folded,
                                const struct dl_descriptor **e,
                                struct dl_diag *d) {
  struct dl_text text = {0};
  struct dl_catalog_file *one = NULL;
  enum dl_status status = DL_OK;
  if (dl_scan_entry(kind, f->text, folded, &text)) {
    void *list = k->single;
    one = dl_calloc(1, sizeof *one);
    bool room = dl_grow(&list, &k->cap_single, k->n_single + 1, sizeof(void *));
    k->single = list;
    status = one && room ? dl_catalog_file_parse(one, kind, text.s, text.len,
                                                 f->path, d)
                         : dl_fail_memory(d);
    if (status == DL_OK) {
      k->single[k->n_single++] = one;
      *e = one->e[0];
    } else {
      free(one);
    }
  } else if (text.failed) {
    status = dl_fail_memory(d);
  }
  dl_text_free(&text);
  return status;
}

static enum dl_status find_shipped(struct dl_catalog *c, enum dl_kind kind,
                                   const char *folded,
                                   const struct dl_descriptor **e,
                                   struct dl_diag *d) {
  struct kind *k = &c->kind[kind];
  for (size_t i = 0; i < k->n_single && !*e; i++)
    *e = dl_catalog_file_find(k->single[i], folded);
  if (*e)
    return DL_OK;
  enum dl_status status =
      k->n_single < FEW ? read_texts(c, kind, d) : read_whole(c, kind, d);
  for (size_t i = 0; i < k->n_files && status == DL_OK && !*e; i++) {
    if (k->file[i].whole)
      *e = dl_catalog_file_find(&k->file[i].file, folded);
    else
      status = scan_file(k, kind, &k->file[i], folded, e, d);
  }
  return status;
}

/* The entry that was opened under a name, or NULL. */
static const struct dl_descriptor *
find_opened(const struct dl_catalog *c, enum dl_kind kind, const char *name) {
  for (size_t i = 0; i < c->n_opened; i++)
    if (strcmp(c->opened[i]->name, name) == 0 &&
        c->opened[i]->file.e[0]->kind == kind)
      return c->opened[i]->file.e[0];
  return NULL;
}

static enum dl_status read_own(struct dl_catalog *c, enum dl_kind kind,
                               const char *path, struct dl_catalog_file *file,
                               struct dl_diag *d) {
  struct dl_text schema = {0};
  enum dl_status status =
      dl_data_path(c->datadir, dl_kind_info(kind)->schema, &schema, d);
  if (status == DL_OK)
    status = dl_catalog_file_read(file, kind, path, schema.s, d);
  if (status == DL_OK && file->n > 1)
    dl_warn_at(d, path, 0, "holds %zu entries; the first, '%s', is taken",
               file->n, file->e[0]->id);
  dl_text_free(&schema);
  return status;
}

/* Opens the file at a path. */
static enum dl_status open_path(struct dl_catalog *c, enum dl_kind kind,
                                const char *path, struct dl_diag *d) {
  struct opened *own = dl_calloc(1, sizeof *own);
  void *list = c->opened;
  if (!own ||
      !dl_grow(&list, &c->cap_opened, c->n_opened + 1, sizeof *c->opened)) {
    free(own);
    return dl_fail_memory(d);
  }
  c->opened = list;
  own->name = dl_strdup(path);
  enum dl_status status = own->name ? DL_OK : dl_fail_memory(d);
  if (status == DL_OK && kind == DL_ARCHITECTURE && dl_is_onnx(path))
    status = dl_onnx_load(&own->file, path, &own->recount, d);
  else if (status == DL_OK)
    status = read_own(c, kind, path, &own->file, d);
  if (status != DL_OK) {
    free(own->name);
    free(own);
    return status;
  }
  c->opened[c->n_opened++] = own;
  return DL_OK;
}

enum dl_status dl_catalog_open(struct dl_catalog *c, enum dl_kind kind,
                               const char *name, struct dl_diag *d) {
  const struct dl_descriptor *e;
  size_t n = strlen(name);
  bool shape = dl_is_shape(name);
  if (kind == DL_ARCHITECTURE && shape)
    return dl_shapes_get(&c->shapes, name, &e, d);
  /* Names of the catalogue may have a slash in them too
   * (meta-llama/Llama-2-7b-hf): such a text is a path only where it is written
   * like one, or a file has that name. */
  bool file = dl_is_onnx(name) || (n > 4 && strcmp(name + n - 4, ".xml") == 0);
  bool path = strchr(name, '/') &&
              (*name == '.' || *name == '/' || access(name, F_OK) == 0);
  if (shape || (!file && !path) || find_opened(c, kind, name))
    return DL_OK;
  return open_path(c, kind, name, d);
}

/* An invalid shape is an unknown name. */
static enum dl_status look_shape(struct dl_catalog *c, const char *name,
                                 const struct dl_descriptor **e,
                                 struct dl_diag *d) {
  struct dl_diag quiet;
  dl_diag_init(&quiet);
  enum dl_status status = dl_shapes_get(&c->shapes, name, e, &quiet);
  dl_diag_free(&quiet);
  return status == DL_EFAILED ? dl_fail_memory(d) : DL_OK;
}

/* Looks a name up in the user's catalogues, and in the shipped ones where
 * `all` is set. */
static enum dl_status look(struct dl_catalog *c, enum dl_kind kind,
                           const char *name, bool all,
                           const struct dl_descriptor **e, struct dl_diag *d) {
  struct dl_text folded = {0};
  dl_fold_name(kind, name, &folded);
  if (folded.failed)
    return dl_fail_memory(d);
  enum dl_status status = DL_OK;
  if (folded.s) {
    status = dl_user_files_read(&c->user, d);
    if (status == DL_OK)
      *e = dl_user_files_find(&c->user, kind, folded.s);
    if (status == DL_OK && !*e && all)
      status = find_shipped(c, kind, folded.s, e, d);
  }
  dl_text_free(&folded);
  return status;
}

enum dl_status dl_catalog_look(struct dl_catalog *c, enum dl_kind kind,
                               const char *name, const struct dl_descriptor **e,
                               struct dl_diag *d) {
  *e = find_opened(c, kind, name);
  if (*e)
    return DL_OK;
  if (kind == DL_ARCHITECTURE && dl_is_shape(name))
    return look_shape(c, name, e, d);
  return look(c, kind, name, true, e, d);
}

enum dl_status dl_catalog_look_own(struct dl_catalog *c, enum dl_kind kind,
                                   const char *name,
                                   const struct dl_descriptor **e,
                                   struct dl_diag *d) {
  *e = NULL;
  return look(c, kind, name, false, e, d);
}

enum { MOST_SHOWN = 64 /* bytes of a name in a message */ };

/* Names are compared folded. Grids are compared by the name of the country:
 * their identifiers are too short to resemble anything. Regions of a country
 * (us-ca) and sites are compared by their identifiers as they are written. */
static bool by_name(enum dl_kind kind, const char *name) {
  return kind == DL_GRID && strlen(name) > 3 && name[2] != '-';
}

static void name_nearest(struct dl_catalog *c, enum dl_kind kind,
                         const char *name, struct dl_text *text) {
  const struct dl_descriptor **all = NULL;
  size_t n = 0;
  struct dl_diag quiet;
  dl_diag_init(&quiet);
  if (dl_catalog_all(c, kind, &all, &n, &quiet) == DL_OK) {
    const char **names = dl_calloc(n, sizeof *names);
    for (size_t i = 0; names && i < n; i++)
      names[i] = by_name(kind, name) ? all[i]->name : all[i]->id;
    struct dl_text folded = {0}, cut = {0};
    dl_text_add_n(&cut, name, strnlen(name, MOST_SHOWN));
    if (kind == DL_SITE || (kind == DL_GRID && !by_name(kind, name)))
      dl_text_add(&folded, dl_text_str(&cut));
    else
      dl_fold_name(kind, dl_text_str(&cut), &folded);
    if (names)
      dl_nearest_names(dl_text_str(&folded), names, n, 3, text);
    dl_text_free(&folded);
    dl_text_free(&cut);
    free(names);
  }
  free(all);
  dl_diag_free(&quiet);
}

enum dl_status dl_catalog_get(struct dl_catalog *c, enum dl_kind kind,
                              const char *name, const struct dl_descriptor **e,
                              struct dl_diag *d) {
  enum dl_status status = dl_catalog_look(c, kind, name, e, d);
  if (status != DL_OK || *e)
    return status;
  if (kind == DL_ARCHITECTURE && dl_is_shape(name))
    return dl_shapes_get(&c->shapes, name, e, d);
  struct dl_text near = {0};
  name_nearest(c, kind, name, &near);
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
  struct kind *k = &c->kind[kind];
  *list = NULL;
  *n = 0;
  enum dl_status status = dl_user_files_read(&c->user, d);
  if (status == DL_OK)
    status = read_whole(c, kind, d);
  if (status != DL_OK)
    return status;
  size_t most = dl_user_files_count(&c->user, kind);
  for (size_t i = 0; i < k->n_files; i++)
    most += k->file[i].file.n;
  const struct dl_descriptor **all = dl_calloc(most, sizeof *all);
  if (!all)
    return dl_fail_memory(d);
  /* The user's entries, then the shipped ones that these do not replace. */
  size_t m = dl_user_files_list(&c->user, kind, all);
  for (size_t i = 0; i < k->n_files; i++)
    for (size_t j = 0; j < k->file[i].file.n; j++) {
      const struct dl_descriptor *e = k->file[i].file.e[j];
      if (!dl_user_files_replace(&c->user, e))
        all[m++] = e;
    }
  *list = all;
  *n = m;
  return DL_OK;
}
