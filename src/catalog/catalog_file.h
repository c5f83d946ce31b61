/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a catalogue file into descriptors. */

#ifndef DL_CATALOG_CATALOG_FILE_H
#define DL_CATALOG_CATALOG_FILE_H

#include "base/names/intern.h"
#include "catalog/descriptor_kinds.h"
#include "catalog/validate/findings.h"
#include "io/xml.h"

/* The descriptors of one file. Starts as {0}. Their texts belong to `xml`. */
struct dl_catalog_file {
  enum dl_kind kind;
  struct dl_xml *xml;
  struct dl_descriptor **e; /* each of its kind's struct, in `block` */
  size_t n;
  void *block;
  struct dl_intern folded; /* names folded for lookup */
  size_t *owner;           /* by number in `folded`: index into e */
  size_t cap;
  struct dl_findings *findings; /* where invalid values are listed, or NULL */
};

/* The attribute `scaling` of an architecture, by enum dl_scaling. */
extern const char *const dl_scaling_names[];

/* Reads a file of a kind. Values are checked against the ranges of their
 * fields, and the file against `schema` unless that is NULL. Errors
 * (DL_EINPUT) name path and line; c is then empty. */
enum dl_status dl_catalog_file_read(struct dl_catalog_file *c,
                                    enum dl_kind kind, const char *path,
                                    const char *schema, struct dl_diag *d);

/* Reads a catalogue from a text; `path` is its name in messages. */
enum dl_status dl_catalog_file_parse(struct dl_catalog_file *c,
                                     enum dl_kind kind, const char *text,
                                     size_t len, const char *path,
                                     struct dl_diag *d);

/* Reads the entries of a document of any kind, and takes it over. A document
 * that is no catalogue gives DL_OK with c->n 0. Invalid values are listed in l
 * and left unknown; l must outlive c. If l is NULL they are errors. */
enum dl_status dl_catalog_file_take(struct dl_catalog_file *c,
                                    struct dl_xml *xml, struct dl_findings *l,
                                    struct dl_diag *d);

void dl_catalog_file_free(struct dl_catalog_file *c);

/* A file of any number of entries, which are read one by one. */
struct dl_catalog_walk {
  struct dl_findings *findings; /* where invalid values are listed */
  /* Is called with each entry, which is freed when this returns. */
  void (*entry)(const struct dl_descriptor *e, void *ctx);
  void *ctx;
  /* Results: the kind; the number of entries, 0 if the file is no catalogue;
   * the document, owned. It is valid against the schema if the file is: of
   * entries that differ in plain names and numbers alone it has the first. */
  enum dl_kind kind;
  size_t n;
  struct dl_xml *xml;

  /* Private. */
  struct dl_descriptor *e; /* room for an entry */
  struct dl_intern forms;
  struct dl_text form; /* of the entry at hand */
  struct dl_diag *d;
  enum dl_status status;
};

/* Walks over the file. Starts with the first three members set, the rest 0. If
 * it fails w->xml is NULL. */
enum dl_status dl_catalog_file_walk(struct dl_catalog_walk *w, const char *path,
                                    struct dl_diag *d);

/* Returns the entry with a folded name (dl_fold_name), or NULL. */
const struct dl_descriptor *
dl_catalog_file_find(const struct dl_catalog_file *c, const char *folded);

#endif
