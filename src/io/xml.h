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

/* Called with each child element of the root once it has been read, of a
 * document that so far holds what is before it. False: the child is freed
 * when this returns, and the document goes on without it, unless there is text
 * before it. */
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

/* The same from memory; `path` is its name in messages. */
enum dl_status dl_xml_parse(struct dl_xml **x, const char *data, size_t len,
                            const char *path,
                            const struct dl_xml_visitor *visitor,
                            struct dl_diag *d);

/* Whether a document that was read is valid against a RELAX NG schema, the
 * path of a file in XML syntax. */
enum dl_status dl_xml_validate(const struct dl_xml *x, const char *schema,
                               struct dl_diag *d);

/* A new document with a root element. */
struct dl_xml *dl_xml_new(const char *root);
void dl_xml_free(struct dl_xml *x); /* accepts NULL */

const char *dl_xml_path(const struct dl_xml *x);
/* The name of a new document in messages; copied. */
void dl_xml_set_path(struct dl_xml *x, const char *path);
dl_node *dl_xml_root(const struct dl_xml *x);

/* First child element, next sibling element; `name` NULL takes any. NULL
 * when there is none. */
dl_node *dl_xml_first(dl_node *parent, const char *name);
dl_node *dl_xml_next(dl_node *node, const char *name);
const char *dl_xml_name(const dl_node *node);

/* The nearest element of that name around a node, or its root. */
dl_node *dl_xml_parent(dl_node *node, const char *name);
size_t dl_xml_line(const dl_node *node);

/* Value of an attribute, or NULL. The text is owned by the document. */
const char *dl_xml_attr(const dl_node *node, const char *name);

/* Text of an element that holds text alone, "" when empty; owned by the
 * document. */
const char *dl_xml_text(const dl_node *node);

/* The text that stands for the value of an attribute, or for the text of an
 * element (`attribute` NULL), in dl_xml_form: of all values that are alike. */
typedef const char *dl_xml_alike(const char *element, const char *attribute,
                                 const char *value);

/* Appends a text that is the same for two elements only if they differ in
 * values that are alike. False: an element with a namespace or with more than
 * elements and text. */
bool dl_xml_form(const dl_node *node, dl_xml_alike *alike, struct dl_text *to);

/* Writing: add a child, set an attribute or the text. If memory runs out they
 * do nothing and dl_xml_write fails. */
dl_node *dl_xml_add(struct dl_xml *x, dl_node *parent, const char *name);
void dl_xml_set(struct dl_xml *x, dl_node *node, const char *name,
                const char *value);
void dl_xml_set_text(struct dl_xml *x, dl_node *node, const char *text);

/* Indented UTF-8; the file appears whole or not at all. "-": stdout. A text
 * that XML cannot hold (not UTF-8, control characters) is an error here
 * (DL_EINPUT). */
enum dl_status dl_xml_write(const struct dl_xml *x, const char *path,
                            struct dl_diag *d);

/* Appends "libxml2 2.9.14", of the library that is running. */
void dl_xml_version(struct dl_text *t);

#endif
