/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a catalogue file into descriptors. */

#ifndef DL_CATALOG_CATALOG_FILE_H
#define DL_CATALOG_CATALOG_FILE_H

#include "base/intern.h"
#include "catalog/descriptor_kinds.h"
#include "catalog/validate/findings.h"
#include "io/xml.h"

/* The descriptors of one file. Start from {0}. Their texts belong to `xml`. */
struct dl_shelf {
  struct dl_xml *xml;
  struct dl_descriptor **e; /* each of its kind's struct, in `block` */
  size_t n;
  void *block;
  struct dl_intern folded; /* names folded for lookup */
  size_t *owner;           /* by number in `folded`: index into e */
  size_t cap;
  struct dl_findings *findings; /* where refused values are listed, or NULL */
};

/* Values are checked against the ranges of their fields. `schema` is NULL
 * for files that ship: those are validated when dlest is built. */
enum dl_status dl_shelf_load(struct dl_shelf *s, enum dl_kind kind,
                             const char *path, const char *schema,
                             struct dl_diag *d);
/* The same from a text (see scan.h); `path` is what messages call it. */
enum dl_status dl_shelf_parse(struct dl_shelf *s, enum dl_kind kind,
                              const char *text, size_t len, const char *path,
                              struct dl_diag *d);

/* The entries of a document that was read, whatever its kind; takes it over.
 * *kind is set. DL_OK with s->n 0 when it is no catalogue. */
enum dl_status dl_shelf_any(struct dl_shelf *s, struct dl_xml *xml,
                            enum dl_kind *kind, struct dl_diag *d);

/* The same for a check: values that cannot be used are left out and listed in
 * `l`, which must outlive the shelf. */
enum dl_status dl_shelf_collect(struct dl_shelf *s, struct dl_xml *xml,
                                enum dl_kind *kind, struct dl_findings *l,
                                struct dl_diag *d);

void dl_shelf_free(struct dl_shelf *s);

/* By folded name, or NULL. */
const struct dl_descriptor *dl_shelf_find(const struct dl_shelf *s,
                                          const char *folded);

#endif
