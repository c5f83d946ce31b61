/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The catalogue: descriptors by name, read from XML files when first needed. */

#ifndef DL_CATALOG_CATALOG_H
#define DL_CATALOG_CATALOG_H

#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "catalog/descriptor_kinds.h"

/* The descriptors of all kinds. Files are read once, when the first name is
 * looked up. */
struct dl_catalog;

/* Makes a catalogue. `datadir` holds data/ and models/ and is copied; NULL
 * stands for the folder of dl_datadir(). */
struct dl_catalog *dl_catalog_new(const char *datadir);
void dl_catalog_free(struct dl_catalog *c); /* accepts NULL */

/* Opens a user's own file if `name` is the path of one (it ends in .xml, or in
 * .onnx or .json for an architecture, or contains '/' and begins with that or
 * '.', or there is such a file); its path is then a name for lookups. A shape
 * with a mistake in it ("transformer:...") is refused here.
 * Call it for names on the command line, never for names in a table: a table
 * must not make dlest read files. */
enum dl_status dl_catalog_open(struct dl_catalog *c, enum dl_kind kind,
                               const char *name, struct dl_diag *d);

/* Finds a descriptor by identifier, name or alias, in any spelling (case,
 * blanks, hyphens and vendor words do not count), by the path of a file that
 * was opened, or by a shape (shapes.h). An accelerator also by the parts of its
 * name (names/gpu_match.h). Owned by the catalogue. An unknown name is refused
 * (DL_EINPUT) with the nearest names. */
enum dl_status dl_catalog_get(struct dl_catalog *c, enum dl_kind kind,
                              const char *name, const struct dl_descriptor **e,
                              struct dl_diag *d);

/* Finds a descriptor as dl_catalog_get does, but *e is NULL for an unknown
 * name. */
enum dl_status dl_catalog_look(struct dl_catalog *c, enum dl_kind kind,
                               const char *name, const struct dl_descriptor **e,
                               struct dl_diag *d);

/* Finds a descriptor by identifier, name or alias only, or NULL; if `own` is
 * set, in the user's own catalogues alone. */
enum dl_status dl_catalog_look_listed(struct dl_catalog *c, enum dl_kind kind,
                                      const char *name, bool own,
                                      const struct dl_descriptor **e,
                                      struct dl_diag *d);

/* Lists all descriptors of a kind, in file order. The list is owned by the
 * caller (free), the descriptors by the catalogue. */
enum dl_status dl_catalog_all(struct dl_catalog *c, enum dl_kind kind,
                              const struct dl_descriptor ***list, size_t *n,
                              struct dl_diag *d);

#endif
