/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/xml.h"

#include <errno.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

struct dl_xml {
  xmlDoc *doc;
  char *path; /* owned */
  bool unfit; /* a text holds what XML cannot */
};

/* Gives libxml2 allocations that never fail: version 2.9 crashes where one
 * does. Must be called before its other functions. */
static void use_own_memory(void) {
  xmlMemSetup(free, dl_malloc, dl_realloc, dl_strdup);
}

/* The state of reading a document: libxml2's first message, and the visitor. */
struct xml_reading {
  bool dtd; /* there is a document type declaration */
  struct dl_xml *x;
  const struct dl_xml_visitor *visitor; /* or NULL */
  size_t line, len;                     /* of the document */
  char text[256];
};

static void note_complaint(void *ctx, const xmlError *e) {
  struct xml_reading *c = ctx;
  if (c->text[0] || !e->message)
    return;
  c->line = e->line > 0 ? (size_t)e->line : 0;
  snprintf(c->text, sizeof c->text, "%s", e->message);
  char *end = c->text + strlen(c->text);
  while (end > c->text && (end[-1] == '\n' || end[-1] == ' '))
    *--end = '\0';
}

/* libxml2 declares the error as mutable up to 2.11, const from 2.12 on. */
#if LIBXML_VERSION >= 21200
#define AS_HANDLER(f) (f)
#else
#define AS_HANDLER(f) ((xmlStructuredErrorFunc)(f))
#endif

enum dl_status dl_xml_validate(const struct dl_xml *x, const char *schema,
                               struct dl_diag *d) {
  struct xml_reading c = {0};
  enum dl_status status = DL_OK;
  xmlRelaxNGValidCtxt *valid = NULL;
  xmlRelaxNG *rng = NULL;
  xmlRelaxNGParserCtxt *parser = xmlRelaxNGNewParserCtxt(schema);
  if (parser) {
    xmlRelaxNGSetParserStructuredErrors(parser, AS_HANDLER(note_complaint), &c);
    /* Errors of reading the file go this way; else they are printed. */
    xmlSetStructuredErrorFunc(&c, AS_HANDLER(note_complaint));
    rng = xmlRelaxNGParse(parser);
    xmlSetStructuredErrorFunc(NULL, NULL);
  }
  if (rng)
    valid = xmlRelaxNGNewValidCtxt(rng);
  if (!valid) {
    status =
        dl_fail_at(d, DL_EFAILED, schema, 0, "cannot read schema: %s", c.text);
  } else {
    xmlRelaxNGSetValidStructuredErrors(valid, AS_HANDLER(note_complaint), &c);
    if (xmlRelaxNGValidateDoc(valid, x->doc) != 0)
      status =
          dl_fail_at(d, DL_EINPUT, x->path, c.line, "not valid: %s", c.text);
  }
  xmlRelaxNGFreeValidCtxt(valid);
  xmlRelaxNGFree(rng);
  xmlRelaxNGFreeParserCtxt(parser);
  return status;
}

/* A document type declaration ends the parsing before its entities are
 * read. */
static void refuse_dtd(void *ctx, const xmlChar *name, const xmlChar *external,
                       const xmlChar *system) {
  xmlParserCtxt *ctxt = ctx;
  struct xml_reading *c = ctxt->_private;
  (void)name, (void)external, (void)system;
  c->dtd = true;
  c->line = (size_t)xmlSAX2GetLineNumber(ctxt);
  xmlStopParser(ctxt);
}

static void end_element(void *ctx, const xmlChar *name, const xmlChar *prefix,
                        const xmlChar *uri) {
  xmlParserCtxt *ctxt = ctx;
  struct xml_reading *c = ctxt->_private;
  xmlNode *node = ctxt->node;
  xmlSAX2EndElementNs(ctx, name, prefix, uri);
  if (!c->visitor || !node || !node->parent ||
      node->parent != xmlDocGetRootElement(ctxt->myDoc))
    return;
  c->x->doc = ctxt->myDoc; /* libxml2 still owns it */
  bool keep = c->visitor->visit(c->x, node, c->visitor->ctx);
  dl_progress_step(c->visitor->progress,
                   (double)(ctxt->input->cur - ctxt->input->base) /
                       (double)c->len);
  /* libxml2 would append text behind it to text before it, of which it has
   * forgotten the size. */
  if (!keep && !(node->prev && node->prev->type != XML_ELEMENT_NODE)) {
    xmlUnlinkNode(node);
    xmlFreeNode(node);
  }
  c->x->doc = NULL;
}

/* The path is not handed to libxml2, which would take it for a URL. Comments
 * and processing instructions are dropped, so that text is one node. */
static enum dl_status parse(struct xml_reading *c, const char *data, size_t len,
                            struct dl_diag *d) {
  struct dl_xml *x = c->x;
  use_own_memory();
  xmlParserCtxt *ctxt = xmlNewParserCtxt();
  ctxt->_private = c;
  ctxt->sax->internalSubset = refuse_dtd;
  ctxt->sax->endElementNs = end_element;
  ctxt->sax->comment = NULL;
  ctxt->sax->processingInstruction = NULL;
  xmlSetStructuredErrorFunc(c, AS_HANDLER(note_complaint));
  x->doc = xmlCtxtReadMemory(ctxt, data, (int)len, NULL, NULL,
                             XML_PARSE_NONET | XML_PARSE_NOBLANKS |
                                 XML_PARSE_NOCDATA | XML_PARSE_COMPACT |
                                 XML_PARSE_BIG_LINES);
  xmlSetStructuredErrorFunc(NULL, NULL);
  xmlFreeParserCtxt(ctxt);
  if (c->dtd)
    return dl_fail_at(d, DL_EINPUT, x->path, c->line,
                      "a document type declaration is not allowed");
  if (!x->doc)
    return dl_fail_at(d, DL_EINPUT, x->path, c->line, "not well-formed XML: %s",
                      c->text[0] ? c->text : "empty document");
  if (!xmlDocGetRootElement(x->doc))
    return dl_fail_at(d, DL_EINPUT, x->path, 0, "no root element");
  return DL_OK;
}

enum dl_status dl_xml_parse(struct dl_xml **out, const char *data, size_t len,
                            const char *path,
                            const struct dl_xml_visitor *visitor,
                            struct dl_diag *d) {
  *out = NULL;
  struct dl_xml *x = dl_calloc(1, sizeof *x);
  x->path = dl_strdup(dl_input_name(path));
  struct xml_reading c = {.x = x, .visitor = visitor, .len = len};
  enum dl_status status = parse(&c, data, len, d);
  if (status != DL_OK) {
    dl_xml_free(x);
    return status;
  }
  *out = x;
  return DL_OK;
}

enum dl_status dl_xml_read(struct dl_xml **out, const char *path,
                           const struct dl_xml_visitor *visitor,
                           struct dl_diag *d) {
  *out = NULL;
  char *data;
  size_t len;
  enum dl_status status = dl_read_file(path, DL_XML_MOST_BYTES, &data, &len, d);
  if (status == DL_OK) {
    status = dl_xml_parse(out, data, len, path, visitor, d);
    free(data);
  }
  return status;
}

struct dl_xml *dl_xml_new(const char *root) {
  struct dl_xml *x = dl_calloc(1, sizeof *x);
  use_own_memory();
  x->doc = xmlNewDoc((const xmlChar *)"1.0");
  xmlNode *node = xmlNewNode(NULL, (const xmlChar *)root);
  xmlDocSetRootElement(x->doc, node);
  return x;
}

void dl_xml_free(struct dl_xml *x) {
  if (!x)
    return;
  xmlFreeDoc(x->doc);
  free(x->path);
  free(x);
}

const char *dl_xml_path(const struct dl_xml *x) {
  return x->path;
}

void dl_xml_set_path(struct dl_xml *x, const char *path) {
  char *copy = dl_strdup(path);
  free(x->path);
  x->path = copy;
}

dl_node *dl_xml_root(const struct dl_xml *x) {
  return xmlDocGetRootElement(x->doc);
}

bool dl_xml_is(const dl_node *node, const char *name) {
  return strcmp((const char *)node->name, name) == 0;
}

static dl_node *skip_to(dl_node *node, const char *name) {
  for (; node; node = node->next)
    if (node->type == XML_ELEMENT_NODE && (!name || dl_xml_is(node, name)))
      return node;
  return NULL;
}

dl_node *dl_xml_first(dl_node *parent, const char *name) {
  return skip_to(parent->children, name);
}

dl_node *dl_xml_next(dl_node *node, const char *name) {
  return skip_to(node->next, name);
}

const char *dl_xml_name(const dl_node *node) {
  return (const char *)node->name;
}

dl_node *dl_xml_parent(dl_node *node, const char *name) {
  while (node->parent && node->parent->type == XML_ELEMENT_NODE &&
         !dl_xml_is(node, name))
    node = node->parent;
  return node;
}

/* libxml2 counts in 16 bits, and beyond by the text in an element. */
size_t dl_xml_line(const dl_node *node) {
  long line = xmlGetLineNo(node);
  return line > 0 ? (size_t)line : 0;
}

/* Returns the text of a node list that is one text node. The parser makes one
 * of plain content, since CDATA is merged and entities are not allowed. */
static const char *only_text(const xmlNode *children) {
  if (children && children->type == XML_TEXT_NODE && children->content)
    return (const char *)children->content;
  return "";
}

const char *dl_xml_attr(const dl_node *node, const char *name) {
  for (const xmlAttr *a = node->properties; a; a = a->next)
    if (strcmp((const char *)a->name, name) == 0)
      return only_text(a->children);
  return NULL;
}

const char *dl_xml_text(const dl_node *node) {
  return only_text(node->children);
}

/* Characters that XML cannot hold begin an attribute, an element, a text and
 * end an element. */
bool dl_xml_form(const dl_node *node, dl_xml_alike *alike, struct dl_text *to) {
  const char *name = (const char *)node->name;
  bool plain = !node->ns && !node->nsDef;
  dl_text_add(to, "\2");
  dl_text_add(to, name);
  for (const xmlAttr *a = node->properties; a && plain; a = a->next) {
    const char *own = (const char *)a->name;
    plain = !a->ns;
    dl_text_add(to, "\1");
    dl_text_add(to, own);
    dl_text_add(to, "=");
    dl_text_add(to, alike(name, own, only_text(a->children)));
  }
  for (const xmlNode *c = node->children; c && plain; c = c->next) {
    plain = c->type == XML_TEXT_NODE;
    if (c->type == XML_ELEMENT_NODE) {
      plain = dl_xml_form(c, alike, to);
    } else if (plain) {
      dl_text_add(to, "\3");
      dl_text_add(to, alike(name, NULL, only_text(c)));
    }
  }
  dl_text_add(to, "\4");
  return plain;
}

dl_node *dl_xml_add(struct dl_xml *x, dl_node *parent, const char *name) {
  (void)x;
  return xmlNewChild(parent, NULL, (const xmlChar *)name, NULL);
}

/* Whether XML can hold a text: UTF-8 without control characters. */
static bool fits(struct dl_xml *x, const char *text) {
  const char *p = text;
  while (*p && ((unsigned char)*p >= ' ' || strchr("\t\n\r", *p)))
    p++;
  bool fit = !*p && xmlCheckUTF8((const xmlChar *)text);
  x->unfit |= !fit;
  return fit;
}

void dl_xml_set(struct dl_xml *x, dl_node *node, const char *name,
                const char *value) {
  if (fits(x, value))
    xmlNewProp(node, (const xmlChar *)name, (const xmlChar *)value);
}

void dl_xml_set_text(struct dl_xml *x, dl_node *node, const char *text) {
  if (fits(x, text))
    xmlAddChild(node, xmlNewText((const xmlChar *)text));
}

enum dl_status dl_xml_write(const struct dl_xml *x, const char *path,
                            struct dl_diag *d) {
  xmlChar *data = NULL;
  int len = 0;
  if (x->unfit)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "not writable as XML: a text is not UTF-8 or has control "
                      "characters");
  xmlDocDumpFormatMemoryEnc(x->doc, &data, &len, "UTF-8", 1);
  if (!data) /* libxml2 has none above 2 GiB either */
    dl_end_without_memory();
  struct dl_output out;
  enum dl_status status = dl_output_open(&out, path, false, d);
  if (status == DL_OK) {
    errno = 0;
    if (fwrite(data, 1, (size_t)len, out.f) != (size_t)len) {
      status = dl_fail_errno(d, path, "cannot write", errno ? errno : EIO);
      dl_output_discard(&out);
    } else {
      status = dl_output_commit(&out, d);
    }
  }
  xmlFree(data);
  return status;
}

/* libxml2 gives its version as one number. */
void dl_xml_version(struct dl_text *t) {
  long v = strtol(xmlParserVersion, NULL, 10);
  dl_text_printf(t, "libxml2 %ld.%ld.%ld", v / 10000, v / 100 % 100, v % 100);
}
