/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walking a model file: descriptions of elements and attributes that serve to
 * read a file and to write one. */

#ifndef DL_MODEL_FILE_WALK_PRIVATE_H
#define DL_MODEL_FILE_WALK_PRIVATE_H

#include "io/xml.h"
#include "model/model.h"

enum kind {
  TEXT,   /* char *; absent: NULL */
  COUNT,  /* size_t; required */
  NUMBER, /* double; absent: NaN */
  FLAG,   /* bool: "true" or "false" */
  METHOD  /* const struct dl_regression *, by its name */
};

/* An attribute and the member of a struct that holds it. */
struct model_field {
  const char *name;
  enum kind kind;
  size_t offset;
};

/* The document that is read or written. */
struct model_walk {
  struct dl_xml *x;
  struct dl_diag *d;
  bool writing;
  struct dl_arrays *before; /* of the last state that was read or written */
};

/* Reads or writes the content of an element; `of`: the struct that it stands
 * for. */
typedef enum dl_status element(const struct model_walk *w, dl_node *node,
                               void *of);

/* How the elements of an array are named and read or written. */
struct model_list {
  const char *name;
  size_t size;                      /* of a struct */
  const struct model_field *fields; /* attributes that come first, or NULL */
  element *each;                    /* what else there is, or NULL */
};

/* Fails at that element. */
enum dl_status dl_walk_refuse(const struct model_walk *w, const dl_node *node,
                              const char *what);

/* Reads or writes an attribute. */
enum dl_status dl_walk_attribute(const struct model_walk *w, dl_node *node,
                                 const char *name, enum kind kind,
                                 void *member);

/* The attributes of a table that ends with a name of NULL. */
enum dl_status dl_walk_fields(const struct model_walk *w, dl_node *node,
                              const struct model_field *f, void *of);

/* The child of that name behind c, or the first: added when a file is written,
 * found when it is read; NULL: there is none. */
dl_node *dl_walk_child(const struct model_walk *w, dl_node *parent,
                       const char *name, dl_node *c);

/* An array of structs, an element each. array: address of the pointer to it. */
enum dl_status dl_walk_list(const struct model_walk *w, dl_node *parent,
                            const struct model_list *of, void *array,
                            size_t *n);

/* Exactly n numbers separated by blanks. */
enum dl_status dl_walk_numbers(const struct model_walk *w, dl_node *node,
                               double *x, size_t n);

/* Texts, an element each; `what`: their attribute of that name, or NULL. */
void dl_walk_texts(const struct model_walk *w, dl_node *parent,
                   const char *name, const char *what, struct dl_strlist *l);

#endif
