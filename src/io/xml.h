/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading, validating and writing XML, on libxml2.
 *
 * Documents are read with entity substitution, external DTDs and the network
 * off; a document with a DOCTYPE is refused, and so is one over 64 MiB.
 * Nodes belong to their document. */

#ifndef DL_IO_XML_H
#define DL_IO_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

enum { DL_XML_MOST_BYTES = 64 << 20 };

struct dl_xml;                   /* a document */
typedef struct _xmlNode dl_node; /* an element (libxml2's own type) */

/* A visitor is called with each child element of the root once it has been
 * read; the document so far holds the children before it. If it returns false
 * the child is freed, unless there is text before it. */
struct dl_xml_visitor {
  bool (*visit)(const struct dl_xml *x, dl_node *child, void *ctx);
  void *ctx;
  struct dl_progress *progress; /* through the document; NULL: not shown */
};

/* Reads a file ("-": stdin). The root may have any number of children: the
 * document ends up with those that the visitor (NULL: all) keeps. */
enum dl_status dl_xml_read(struct dl_xml **x, const char *path,
                           const struct dl_xml_visitor *visitor,
                           struct dl_diag *d);

/* Reads a document from memory; `path` is its name in messages. */
enum dl_status dl_xml_parse(struct dl_xml **x, const char *data, size_t len,
                            const char *path,
                            const struct dl_xml_visitor *visitor,
                            struct dl_diag *d);

/* Checks a document that was read against a RELAX NG schema, the path of a file
 * in XML syntax. */
enum dl_status dl_xml_validate(const struct dl_xml *x, const char *schema,
                               struct dl_diag *d);

/* A new document with a root element. */
struct dl_xml *dl_xml_new(const char *root);
void dl_xml_free(struct dl_xml *x); /* accepts NULL */

const char *dl_xml_path(const struct dl_xml *x);
/* The name of a new document in messages; copied. */
void dl_xml_set_path(struct dl_xml *x, const char *path);
dl_node *dl_xml_root(const struct dl_xml *x);

/* Return the first child element, and the next sibling element, of a name
 * (NULL: any), or NULL. */
dl_node *dl_xml_first(dl_node *parent, const char *name);
dl_node *dl_xml_next(dl_node *node, const char *name);
const char *dl_xml_name(const dl_node *node);
bool dl_xml_is(const dl_node *node, const char *name); /* by its name */

/* Returns the nearest element of that name around a node, or its root. */
dl_node *dl_xml_parent(dl_node *node, const char *name);
size_t dl_xml_line(const dl_node *node);

/* Returns the value of an attribute, or NULL. The document owns it. */
const char *dl_xml_attr(const dl_node *node, const char *name);

/* Returns the text of an element that holds text alone, "" when empty. The
 * document owns it. */
const char *dl_xml_text(const dl_node *node);

/* Returns the text that stands for all values of an attribute, or all texts of
 * an element (`attribute` NULL), that are alike in dl_xml_form. */
typedef const char *dl_xml_alike(const char *element, const char *attribute,
                                 const char *value);

/* Appends a text by which two elements are equal only if they differ in values
 * that are alike. Returns false for an element with a namespace or with more
 * than elements and text. */
bool dl_xml_form(const dl_node *node, dl_xml_alike *alike, struct dl_text *to);

/* These add a child, set an attribute and set the text of a new document. */
dl_node *dl_xml_add(struct dl_xml *x, dl_node *parent, const char *name);
void dl_xml_set(struct dl_xml *x, dl_node *node, const char *name,
                const char *value);
void dl_xml_set_text(struct dl_xml *x, dl_node *node, const char *text);

/* Writes indented UTF-8 ("-": stdout); the file appears whole or not at all. A
 * text that XML cannot hold (not UTF-8, control characters) is an error here
 * (DL_EINPUT). */
enum dl_status dl_xml_write(const struct dl_xml *x, const char *path,
                            struct dl_diag *d);

/* Appends "libxml2 2.9.14", the version of the library that is running. */
void dl_xml_version(struct dl_text *t);

#endif
