/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptors: the properties of an accelerator, an architecture, a data
 * set, a grid, a site or a node.
 *
 * Each kind has a struct with one member per field (descriptor_kinds.h) that
 * begins with a struct dl_descriptor, so that a pointer to one is a pointer to
 * the other. Its fields are listed once, in the table of its kind: XML
 * files, `show`, `list`, `--set` and formulas read and write members through
 * that table. Sources of values are kept separately, in `origin`. */

#ifndef DL_CATALOG_DESCRIPTOR_H
#define DL_CATALOG_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

enum dl_kind {
  DL_ACCELERATOR,
  DL_ARCHITECTURE,
  DL_DATASET,
  DL_GRID,
  DL_SITE,
  DL_NODE
};
enum { DL_N_KINDS = DL_NODE + 1, DL_MOST_FIELDS = 46 };

/* One field of a kind: a text (const char *) or a number (double). */
struct dl_field {
  const char *name; /* of the member, also in files and formulas: "tdp_w" */
  bool is_text;
  const char *unit; /* "W"; NULL for texts and plain numbers */
  double low, high; /* allowed range of a number */
  size_t offset;    /* of the member in the struct of the kind */
  const char *help;
};

struct dl_kind_info {
  const char *name;         /* root attribute in files: "accelerator" */
  const char *word;         /* in commands and messages: "gpu" */
  const char *words;        /* its plural: "gpus" */
  const char *const *files; /* under the data directory, NULL-terminated:
                               "data/accelerators.xml" */
  const char *schema;
  const struct dl_field *fields; /* texts first, of these id and name first */
  size_t n_fields;
  size_t size;              /* of the struct, bytes */
  const char *const *noise; /* words that do not count in a name */
};

/* The origin of a value. The texts belong to the catalogue. */
struct dl_origin {
  const char *source; /* its title; "given": by the user; NULL: none */
  const char *note;   /* "derived: ...", "assumed: ...", or NULL */
  const char *year;   /* of the source, or NULL */
  size_t line;        /* of the file; 0: unknown */
};

/* The head that descriptors of all kinds begin with. Texts are NULL where
 * unknown and belong to the catalogue. */
struct dl_descriptor {
  enum dl_kind kind;
  const char *id;
  const char *name;
  const char *file; /* where it was read */
  size_t line;
  const char *const *aliases;
  size_t n_aliases;
  struct dl_origin origin[DL_MOST_FIELDS]; /* parallel to the kind's fields */
};

/* The kinds, indexed by enum dl_kind. */
extern const struct dl_kind_info dl_kinds[DL_N_KINDS];

/* Finds a kind by its word or name, in the singular or the plural: "gpu",
 * "gpus", "accelerator", "accelerators". False: there is none. */
bool dl_kind_find(const char *word, enum dl_kind *kind);

/* Makes e, which has the size of its kind, a descriptor in which nothing is
 * known: numbers are NaN, texts NULL. */
void dl_descriptor_init(struct dl_descriptor *e, enum dl_kind kind);

/* Returns the field of "gpu.NAME" or "arch.NAME" and stores its kind, or NULL.
 */
const struct dl_field *dl_field_of(const char *name, enum dl_kind *kind);

/* Returns a field by name, or NULL. */
const struct dl_field *dl_field_find(enum dl_kind kind, const char *name);

/* Finds a field for an option, whose name (`what`: "--sort") begins the
 * message: an unknown field is DL_EUSAGE, with the nearest names. */
enum dl_status dl_field_get(enum dl_kind kind, const char *what,
                            const char *name, const struct dl_field **f,
                            struct dl_diag *d);

/* Return the value of a field: NaN or NULL if it is unknown or of the other
 * type. */
double dl_field_number(const struct dl_descriptor *e, const struct dl_field *f);
const char *dl_field_text(const struct dl_descriptor *e,
                          const struct dl_field *f);

/* Returns the index in `origin` of the field that is stored in a member of the
 * struct that e begins. */
size_t dl_field_index(const struct dl_descriptor *e, const double *member);

/* Sets a number of e and where it comes from. */
void dl_field_set(struct dl_descriptor *e, const struct dl_field *f, double x,
                  struct dl_origin origin);

/* Reads a number that the user gives for a field, "tdp_w" and "300". Errors:
 * the kind has no such number (DL_EUSAGE, with the nearest names), `text` is
 * no number (DL_EUSAGE) or out of range (DL_EINPUT). */
enum dl_status dl_field_parse(enum dl_kind kind, const char *name,
                              const char *text, const struct dl_field **f,
                              double *x, struct dl_diag *d);

/* Reads a number as dl_field_parse does and sets it; the source becomes
 * "given". */
enum dl_status dl_descriptor_set(struct dl_descriptor *e, const char *name,
                                 const char *text, struct dl_diag *d);

/* Folds a name for comparison: lower case, letters, digits and decimal
 * points alone, without the words of the kind's noise list. Appends to *to. */
void dl_fold_name(enum dl_kind kind, const char *name, struct dl_text *to);

#endif
