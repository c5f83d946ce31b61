/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/catalog.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "catalog/architecture/file_name.h"
#include "catalog/architecture/config/from_config.h"
#include "catalog/architecture/from_onnx.h"
#include "catalog/architecture/layer_shapes.h"
#include "catalog/catalog_file.h"
#include "catalog/catalog_scan.h"
#include "catalog/datadir.h"
#include "catalog/names/arch_name.h"
#include "catalog/names/entry_names.h"
#include "catalog/names/gpu_match.h"
#include "catalog/user_files.h"

/* Entries and the file that they come from: a shipped catalogue, whose entries
 * are parsed once a command needs more than a few of them; an entry that a scan
 * found in one (path NULL); or a file that the user named by its path. */
struct catalog_source {
  char *path;
  char *text; /* of a shipped catalogue */
  size_t len;
  bool whole; /* `file` has all entries of `text` */
  struct dl_catalog_file file;
  struct dl_recount *recount; /* of an ONNX model */
};

/* After FEW scans, parsing all entries is faster than scanning for each. */
enum { MOST_FILES = 4, FEW = 64 };

/* A command shows no more warnings than this (base/diag.c), and a table may
 * hold any number of unknown names: later ones get no suggestions. */
enum { MOST_SUGGESTIONS = 20 };

/* The entries of a kind. */
struct catalog_kind {
  struct catalog_source file[MOST_FILES]; /* shipped */
  size_t n_files;
  struct catalog_source **single; /* scanned for, or named by a path */
  size_t n_single, cap_single;
  size_t n_missed; /* names that scans did not find */
};

struct dl_catalog {
  char *datadir;
  struct catalog_kind kind[DL_N_KINDS];
  struct dl_user_files user;
  struct dl_shapes shapes;
  struct dl_gpu_match *gpus; /* once a name is in none of the lists */
  size_t n_unknown;          /* names that were refused */
};

struct dl_catalog *dl_catalog_new(const char *datadir) {
  DL_TEXT(shipped);
  struct dl_catalog *c = dl_calloc(1, sizeof *c);
  if (!datadir)
    dl_datadir(&shipped);
  c->datadir = dl_strdup(datadir ? datadir : dl_text_str(&shipped));
  return c;
}

static void clear_source(struct catalog_source *s) {
  dl_catalog_file_free(&s->file);
  dl_recount_free(s->recount);
  free(s->text);
  free(s->path);
}

static void free_single(struct catalog_source *s) {
  clear_source(s);
  free(s);
}

void dl_catalog_free(struct dl_catalog *c) {
  if (!c)
    return;
  for (struct catalog_kind *k = c->kind; k < c->kind + DL_N_KINDS; k++) {
    for (size_t i = 0; i < k->n_files; i++)
      clear_source(&k->file[i]);
    for (size_t i = 0; i < k->n_single; i++)
      free_single(k->single[i]);
    free(k->single);
  }
  dl_user_files_free(&c->user);
  dl_shapes_free(&c->shapes);
  if (c->gpus)
    dl_gpu_match_free(c->gpus);
  free(c->gpus);
  free(c->datadir);
  free(c);
}

/* Adds a single entry at the end of the list, which n_single does not count
 * yet. */
static struct catalog_source *new_single(struct catalog_kind *k) {
  struct catalog_source *s = dl_calloc(1, sizeof *s);
  DL_GROW(k->single, k->cap_single, k->n_single + 1);
  return k->single[k->n_single] = s;
}

/* Reads the texts of a kind's first n files, once. */
static enum dl_status read_texts(struct dl_catalog *c, enum dl_kind kind,
                                 size_t n, struct dl_diag *d) {
  struct catalog_kind *k = &c->kind[kind];
  const char *const *files = dl_kinds[kind].files;
  while (k->n_files < n && files[k->n_files]) {
    struct catalog_source *f = &k->file[k->n_files];
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
  struct catalog_kind *k = &c->kind[kind];
  enum dl_status status = read_texts(c, kind, SIZE_MAX, d);
  for (size_t i = 0; i < k->n_files && status == DL_OK; i++) {
    struct catalog_source *f = &k->file[i];
    if (f->whole)
      continue;
    status = dl_catalog_file_parse(&f->file, kind, f->text, f->len, f->path, d);
    f->whole = status == DL_OK;
  }
  return status;
}

/* Scans a file for one entry and keeps it; *e stays NULL where there is none.
 */
static enum dl_status scan_file(struct catalog_kind *k, enum dl_kind kind,
                                const struct catalog_source *f,
                                const char *folded,
                                const struct dl_descriptor **e,
                                struct dl_diag *d) {
  DL_TEXT(text);
  if (!dl_scan_entry(kind, f->text, folded, &text)) {
    return DL_OK;
  }
  struct catalog_source *one = new_single(k);
  enum dl_status status =
      dl_catalog_file_parse(&one->file, kind, text.s, text.len, f->path, d);
  if (status == DL_OK) {
    k->n_single++;
    *e = one->file.e[0];
  } else {
    free_single(one);
  }
  return status;
}

static enum dl_status find_shipped(struct dl_catalog *c, enum dl_kind kind,
                                   const char *folded,
                                   const struct dl_descriptor **e,
                                   struct dl_diag *d) {
  struct catalog_kind *k = &c->kind[kind];
  for (size_t i = 0; i < k->n_single && !*e; i++)
    if (!k->single[i]->path)
      *e = dl_catalog_file_find(&k->single[i]->file, folded);
  if (*e)
    return DL_OK;
  const char *const *files = dl_kinds[kind].files;
  enum dl_status status = k->n_single + k->n_missed < FEW
                              ? DL_OK
                              : read_whole(c, kind, d);
  for (size_t i = 0; status == DL_OK && !*e && files[i]; i++) {
    status = read_texts(c, kind, i + 1, d);
    if (status == DL_OK && k->file[i].whole)
      *e = dl_catalog_file_find(&k->file[i].file, folded);
    else if (status == DL_OK)
      status = scan_file(k, kind, &k->file[i], folded, e, d);
  }
  k->n_missed += !*e;
  return status;
}

/* The entry of the file that the user named by a path, or NULL. */
static const struct dl_descriptor *
find_opened(const struct dl_catalog *c, enum dl_kind kind, const char *path) {
  const struct catalog_kind *k = &c->kind[kind];
  for (size_t i = 0; i < k->n_single; i++)
    if (k->single[i]->path && strcmp(k->single[i]->path, path) == 0)
      return k->single[i]->file.e[0];
  return NULL;
}

static enum dl_status read_own(struct dl_catalog *c, enum dl_kind kind,
                               const char *path, struct dl_catalog_file *file,
                               struct dl_diag *d) {
  DL_TEXT(schema);
  enum dl_status status =
      dl_data_path(c->datadir, dl_kinds[kind].schema, &schema, d);
  if (status == DL_OK)
    status = dl_catalog_file_read(file, kind, path, schema.s, d);
  if (status == DL_OK && file->n > 1)
    dl_warn_at(d, path, 0, "holds %zu entries; the first, '%s', is taken",
               file->n, file->e[0]->id);
  return status;
}

/* Suggests the network of a config.json for which there is no reader: the one
 * of its name if the size agrees, else the networks of its size. */
static void add_alike(void *catalog, const char *name,
                      const double size[DL_NETWORK_SIZES], struct dl_text *to) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  const struct dl_descriptor *e = NULL, **all = NULL;
  size_t n = 0;
  if (name && *name)
    dl_catalog_look(catalog, DL_ARCHITECTURE, name, &e, &quiet);
  if (e)
    dl_suggest_networks(&e, 1, size, to);
  if (to->len == 0 &&
      dl_catalog_all(catalog, DL_ARCHITECTURE, &all, &n, &quiet) == DL_OK)
    dl_suggest_networks(all, n, size, to);
  free(all);
}

/* Reads an ONNX model, a config.json or a catalogue, by its name or by its
 * content: JSON begins with '{', XML with blanks, a byte order mark or '<'. A
 * file that cannot be read twice is copied first. */
static enum dl_status read_architecture(struct dl_catalog *c, const char *path,
                                        struct catalog_source *own,
                                        struct dl_diag *d) {
  FILE *f;
  struct stat st;
  char again[64];
  DL_TRY(dl_open_seekable(&f, path, d));
  int first = getc(f);
  bool json = dl_file_ends(path, ".json") || first == '{';
  bool onnx = !json && (dl_file_ends(path, ".onnx") ||
                        (first != EOF && !strchr(" \t\r\n<\xef", first)));
  if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) { /* it was copied */
    snprintf(again, sizeof again, "/proc/self/fd/%d", fileno(f));
    path = again;
  }
  enum dl_status status;
  if (json)
    status = dl_config_load(&own->file, path, add_alike, c, d);
  else if (onnx)
    status = dl_onnx_load(&own->file, path, &own->recount, d);
  else
    status = read_own(c, DL_ARCHITECTURE, path, &own->file, d);
  dl_close_input(f);
  return status;
}

/* Opens the file at a path. */
static enum dl_status open_path(struct dl_catalog *c, enum dl_kind kind,
                                const char *path, struct dl_diag *d) {
  struct catalog_kind *k = &c->kind[kind];
  struct catalog_source *own = new_single(k);
  own->path = dl_strdup(path);
  enum dl_status status = kind == DL_ARCHITECTURE
                              ? read_architecture(c, path, own, d)
                              : read_own(c, kind, path, &own->file, d);
  if (status == DL_OK)
    k->n_single++;
  else
    free_single(own);
  return status;
}

enum dl_status dl_catalog_open(struct dl_catalog *c, enum dl_kind kind,
                               const char *name, struct dl_diag *d) {
  const struct dl_descriptor *e;
  bool shape = dl_is_shape(name);
  if (kind == DL_ARCHITECTURE && shape)
    return dl_shapes_get(&c->shapes, name, &e, d);
  /* Names of the catalogue may have a slash in them too
   * (meta-llama/Llama-2-7b-hf): such a text is a path only where it is written
   * like one, or a file has that name. */
  bool file = dl_file_ends(name, ".onnx") || dl_file_ends(name, ".json") ||
              dl_is_xml_name(name);
  bool path = strchr(name, '/') &&
              (*name == '.' || *name == '/' || access(name, F_OK) == 0);
  if (shape || (!file && !path) || find_opened(c, kind, name))
    return DL_OK;
  return open_path(c, kind, name, d);
}

/* Finds an accelerator whose name no entry lists by the name's parts. */
static enum dl_status match_gpu(struct dl_catalog *c, const char *name,
                                const struct dl_descriptor **e,
                                struct dl_diag *d) {
  if (!c->gpus) {
    const struct dl_descriptor **all = NULL;
    size_t n = 0;
    DL_TRY(dl_catalog_all(c, DL_ACCELERATOR, &all, &n, d));
    c->gpus = dl_calloc(1, sizeof *c->gpus);
    dl_gpu_match_read(c->gpus, all, n);
    free(all);
  }
  dl_gpu_match_find(c->gpus, name, e);
  return DL_OK;
}

enum dl_status dl_catalog_look_listed(struct dl_catalog *c, enum dl_kind kind,
                                      const char *name, bool own,
                                      const struct dl_descriptor **e,
                                      struct dl_diag *d) {
  DL_TEXT(folded);
  *e = NULL;
  dl_fold_name(kind, name, &folded);
  if (folded.s) {
    DL_TRY(dl_user_files_read(&c->user, d));
    *e = dl_user_files_find(&c->user, kind, folded.s);
    if (!*e && !own)
      DL_TRY(find_shipped(c, kind, folded.s, e, d));
  }
  return DL_OK;
}

/* Finds a network by the name of a checkpoint that the catalogue does not list.
 */
static enum dl_status look_checkpoint(struct dl_catalog *c, const char *name,
                                      const struct dl_descriptor **e,
                                      struct dl_diag *d) {
  DL_TEXT(own);
  if (dl_arch_name_reduce(name, &own))
    DL_TRY(dl_catalog_look_listed(c, DL_ARCHITECTURE, own.s, false, e, d));
  return DL_OK;
}

/* Looks for a shape ("transformer:..."), which is an unknown name if it is
 * invalid. */
static void look_shape(struct dl_catalog *c, const char *name,
                       const struct dl_descriptor **e) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  dl_shapes_get(&c->shapes, name, e, &quiet);
}

enum dl_status dl_catalog_look(struct dl_catalog *c, enum dl_kind kind,
                               const char *name, const struct dl_descriptor **e,
                               struct dl_diag *d) {
  *e = find_opened(c, kind, name);
  if (*e)
    return DL_OK;
  if (kind == DL_ARCHITECTURE && dl_is_shape(name)) {
    look_shape(c, name, e);
    return DL_OK;
  }
  enum dl_status status = dl_catalog_look_listed(c, kind, name, false, e, d);
  if (status != DL_OK || *e)
    return status;
  if (kind == DL_ACCELERATOR)
    return match_gpu(c, name, e, d);
  return kind == DL_ARCHITECTURE ? look_checkpoint(c, name, e, d) : DL_OK;
}

enum { MOST_SHOWN = 64 /* bytes of a name in a message */ };

/* Suggests the option of another kind that has the name: a computer is no
 * accelerator. */
static void suggest_option(struct dl_catalog *c, enum dl_kind kind,
                           const char *name, struct dl_text *text) {
  static const enum dl_kind kinds[] = {DL_NODE, DL_ACCELERATOR, DL_ARCHITECTURE,
                                       DL_DATASET};
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  const struct dl_descriptor *e = NULL;
  for (size_t i = 0; i < DL_LENGTH(kinds) && !e; i++)
    if (kinds[i] != kind &&
        dl_catalog_look(c, kinds[i], name, &e, &quiet) == DL_OK && e)
      dl_text_printf(text, " (did you mean --%s %s?)", dl_kinds[kinds[i]].word,
                     e->id);
}

static void suggest(struct dl_catalog *c, enum dl_kind kind, const char *name,
                    struct dl_text *text) {
  const struct dl_descriptor **all = NULL;
  size_t n = 0;
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  if (dl_catalog_all(c, kind, &all, &n, &quiet) == DL_OK)
    dl_suggest_entries(kind, name, all, n, text);
  free(all);
  if (text->len == 0)
    suggest_option(c, kind, name, text);
}

/* Refuses the name that drivers give a slice by MIG: "NVIDIA A100-SXM4-40GB MIG
 * 1g.5gb". Other names give DL_OK. */
static enum dl_status refuse_slice(struct dl_catalog *c, const char *name,
                                   struct dl_diag *d) {
  static const char between[] = " MIG ";
  const char *at = strcasestr(name, between);
  const struct dl_descriptor *board = NULL;
  DL_FREED char *whole = at ? dl_strndup(name, (size_t)(at - name)) : NULL;
  enum dl_status status =
      at ? dl_catalog_look(c, DL_ACCELERATOR, whole, &board, d) : DL_OK;
  if (status != DL_OK || !board)
    return status;
  return dl_fail(d, DL_EINPUT,
                 "'%.*s' is a slice of an accelerator; give --gpu %s --share "
                 "mig:%.*s",
                 MOST_SHOWN, name, board->id, MOST_SHOWN, at + strlen(between));
}

enum dl_status dl_catalog_get(struct dl_catalog *c, enum dl_kind kind,
                              const char *name, const struct dl_descriptor **e,
                              struct dl_diag *d) {
  enum dl_status status = dl_catalog_look(c, kind, name, e, d);
  if (status != DL_OK || *e)
    return status;
  if (kind == DL_ARCHITECTURE && dl_is_shape(name))
    return dl_shapes_get(&c->shapes, name, e, d);
  if (kind == DL_ACCELERATOR)
    status = refuse_slice(c, name, d);
  if (status != DL_OK)
    return status;
  DL_TEXT(near);
  if (c->n_unknown++ < MOST_SUGGESTIONS)
    suggest(c, kind, name, &near);
  const struct dl_kind_info *k = &dl_kinds[kind];
  const char *cut = strlen(name) > MOST_SHOWN ? "..." : "";
  return dl_fail(d, DL_EINPUT, "unknown %s '%.*s%s'%s; see 'dlest list %s'%s",
                 k->word, MOST_SHOWN, name, cut, dl_text_str(&near), k->words,
                 kind == DL_ARCHITECTURE
                     ? ", or export the network to ONNX: --arch model.onnx"
                     : "");
}

enum dl_status dl_catalog_all(struct dl_catalog *c, enum dl_kind kind,
                              const struct dl_descriptor ***list, size_t *n,
                              struct dl_diag *d) {
  struct catalog_kind *k = &c->kind[kind];
  *list = NULL;
  *n = 0;
  DL_TRY(dl_user_files_read(&c->user, d));
  DL_TRY(read_whole(c, kind, d));
  size_t most = dl_user_files_count(&c->user, kind);
  for (size_t i = 0; i < k->n_files; i++)
    most += k->file[i].file.n;
  const struct dl_descriptor **all = dl_calloc(most, sizeof *all);
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
