/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a catalogue file into descriptors. */

#ifndef DL_CATALOG_CATALOG_FILE_H
#define DL_CATALOG_CATALOG_FILE_H

#include "base/intern.h"
#include "catalog/descriptor_kinds.h"
#include "catalog/validate/findings.h"
#include "io/xml.h"

/* The descriptors of one file. Start from {0}. Their texts belong to `xml`. */
struct dl_catalog_file {
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

/* The same from a text; `path` is its name in messages. */
enum dl_status dl_catalog_file_parse(struct dl_catalog_file *c,
                                     enum dl_kind kind, const char *text,
                                     size_t len, const char *path,
                                     struct dl_diag *d);

/* Reads the entries of a document of any kind, which is stored in *kind; takes
 * the document over. DL_OK with c->n 0 where it is no catalogue. With a list l
 * (else NULL), which must outlive c, invalid values are listed there and left
 * unknown. */
enum dl_status dl_catalog_file_take(struct dl_catalog_file *c,
                                    struct dl_xml *xml, enum dl_kind *kind,
                                    struct dl_findings *l, struct dl_diag *d);

void dl_catalog_file_free(struct dl_catalog_file *c);

/* The entry with a folded name (dl_fold_name), or NULL. */
const struct dl_descriptor *
dl_catalog_file_find(const struct dl_catalog_file *c, const char *folded);

#endif
