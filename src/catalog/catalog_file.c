/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/catalog_file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/transformer.h"

const char *const dl_scaling_names[] = {[DL_SCALING_NONE] = "none",
                                        [DL_SCALING_AREA] = "area",
                                        [DL_SCALING_DOWN] = "area-down",
                                        [DL_SCALING_TOKENS] = "tokens",
                                        [DL_SCALING_SEQUENCE] = "sequence"};

static void free_lists(const struct dl_descriptor *e) {
  free((void *)e->aliases);
  if (e->kind == DL_ARCHITECTURE) {
    free((void *)DL_AS(architecture, e)->inputs);
    free((void *)DL_AS(architecture, e)->transformer);
  }
}

void dl_catalog_file_free(struct dl_catalog_file *c) {
  for (size_t i = 0; i < c->n; i++)
    free_lists(c->e[i]);
  free(c->e);
  free(c->block);
  dl_intern_free(&c->folded);
  free(c->owner);
  dl_xml_free(c->xml);
  *c = (struct dl_catalog_file){0};
}

static size_t count_children(dl_node *node, const char *name) {
  size_t n = 0;
  for (dl_node *c = dl_xml_first(node, name); c; c = dl_xml_next(c, name))
    n++;
  return n;
}

/* Returns title and year of the source with that id; an undeclared one goes by
 * its id. */
static struct dl_origin find_source(const struct dl_xml *xml, const char *id) {
  dl_node *list = id ? dl_xml_first(dl_xml_root(xml), "sources") : NULL;
  for (dl_node *s = list ? dl_xml_first(list, "source") : NULL; s;
       s = dl_xml_next(s, "source")) {
    const char *this_id = dl_xml_attr(s, "id");
    if (this_id && strcmp(this_id, id) == 0)
      return (struct dl_origin){.source = dl_xml_attr(s, "title"),
                                .year = dl_xml_attr(s, "year")};
  }
  return (struct dl_origin){.source = id};
}

/* Reads one value into e. */
static enum dl_status read_value(const struct dl_xml *xml, dl_node *node,
                                 struct dl_descriptor *e, struct dl_diag *d) {
  const char *path = dl_xml_path(xml);
  size_t line = dl_xml_line(node);
  const char *name = dl_xml_attr(node, "name");
  const struct dl_field *f = name ? dl_field_find(e->kind, name) : NULL;
  double x;
  if (!f || f->is_text)
    return dl_fail_at(d, DL_EINPUT, path, line, "unknown value '%s'",
                      name ? name : "");
  const char *text = dl_xml_text(node);
  if (!dl_parse_double(text, &x))
    return dl_fail_at(d, DL_EINPUT, path, line,
                      "value '%s': invalid number '%s'", name, text);
  if (x < f->low || x > f->high)
    return dl_fail_at(d, DL_EINPUT, path, line,
                      "value '%s': %s is not between %g and %g", name, text,
                      f->low, f->high);
  if (!isnan(dl_field_number(e, f)))
    return dl_fail_at(d, DL_EINPUT, path, line, "value '%s' is given twice",
                      name);
  struct dl_origin origin = find_source(xml, dl_xml_attr(node, "source"));
  origin.note = dl_xml_attr(node, "note");
  origin.line = line;
  dl_field_set(e, f, x, origin);
  return DL_OK;
}

/* Turns the error in d into a finding, without its place in the text. */
static void collect(struct dl_findings *l, const struct dl_xml *xml,
                    dl_node *node, const struct dl_diag *d) {
  const char *file = dl_xml_path(xml), *text = d->error;
  const char *id = dl_xml_attr(dl_xml_parent(node, "entry"), "id");
  size_t line = dl_xml_line(node);
  DL_TEXT(place);
  dl_text_printf(&place, "%s:%zu: ", file, line);
  if (strncmp(text, dl_text_str(&place), place.len) == 0)
    text += place.len;
  dl_findings_add(l, true, file, line, id, "%s", text);
}

/* Reads the values of an entry or input into e. If the file collects findings
 * an invalid value is listed there and left unknown. */
static enum dl_status read_values(const struct dl_catalog_file *c,
                                  dl_node *node, struct dl_descriptor *e,
                                  struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (dl_node *v = dl_xml_first(node, "value"); v && status == DL_OK;
       v = dl_xml_next(v, "value")) {
    if (!c->findings) {
      status = read_value(c->xml, v, e, d);
      continue;
    }
    DL_SCOPED(dl_diag_free) struct dl_diag own = {0};
    status = read_value(c->xml, v, e, &own);
    if (status == DL_EINPUT) {
      collect(c->findings, c->xml, v, &own);
      status = DL_OK;
    }
  }
  return status;
}

/* Reads the figures of an architecture at its input sizes. */
static enum dl_status read_inputs(const struct dl_catalog_file *c,
                                  dl_node *node, struct dl_architecture *e,
                                  struct dl_diag *d) {
  struct dl_input_size *in =
      dl_calloc(count_children(node, "input"), sizeof *in);
  e->inputs = in;
  for (dl_node *v = dl_xml_first(node, "input"); v;
       v = dl_xml_next(v, "input")) {
    struct dl_architecture at;
    const char *px = dl_xml_attr(v, "image_px");
    const char *head = dl_xml_attr(v, "head");
    if (!px || !dl_parse_double(px, &in->image_px) || in->image_px < 1)
      return dl_fail_at(d, DL_EINPUT, dl_xml_path(c->xml), dl_xml_line(v),
                        "input: invalid image_px '%s'", px ? px : "");
    dl_descriptor_init(&at.head, DL_ARCHITECTURE);
    DL_TRY(read_values(c, v, &at.head, d));
    in->headless = dl_same_text(head, "none");
    in->macs_g = at.macs_g;
    in->acts_m = at.acts_m;
    in->macs_origin = at.head.origin[dl_field_index(&at.head, &at.macs_g)];
    in->acts_origin = at.head.origin[dl_field_index(&at.head, &at.acts_m)];
    in++;
    e->n_inputs++;
  }
  return DL_OK;
}

static const char *attribute(const void *node, const char *name) {
  return dl_xml_attr(node, name);
}

/* Reads the shape of a transformer. */
static enum dl_status read_shape(const struct dl_xml *xml, dl_node *shape,
                                 struct dl_architecture *e, struct dl_diag *d) {
  struct dl_transformer *t = dl_calloc(1, sizeof *t);
  e->transformer = t;
  e->shape_source = find_source(xml, dl_xml_attr(shape, "source")).source;
  return dl_transformer_read(t, attribute, shape, dl_xml_path(xml),
                             dl_xml_line(shape), d);
}

/* Reads the parts that only architectures have. */
static enum dl_status read_architecture(const struct dl_catalog_file *c,
                                        dl_node *node,
                                        struct dl_architecture *e,
                                        struct dl_diag *d) {
  const char *scaling = dl_xml_attr(node, "scaling");
  dl_node *shape = dl_xml_first(node, "transformer");
  for (size_t i = 0; scaling && i <= DL_SCALING_SEQUENCE; i++)
    if (strcmp(scaling, dl_scaling_names[i]) == 0)
      e->scaling = (enum dl_scaling)i;
  DL_TRY(read_inputs(c, node, e, d));
  if (shape)
    return read_shape(c->xml, shape, e, d);
  if (e->scaling == DL_SCALING_SEQUENCE)
    return dl_fail_at(d, DL_EINPUT, e->head.file, e->head.line,
                      "scaling \"sequence\" without a transformer");
  return DL_OK;
}

static enum dl_status read_entry(const struct dl_catalog_file *c, dl_node *node,
                                 enum dl_kind kind, struct dl_descriptor *e,
                                 struct dl_diag *d) {
  const struct dl_kind_info *k = &dl_kinds[kind];
  const char **aliases =
      dl_calloc(count_children(node, "alias"), sizeof *aliases);
  dl_descriptor_init(e, kind);
  e->file = dl_xml_path(c->xml);
  e->line = dl_xml_line(node);
  e->aliases = aliases;
  for (dl_node *a = dl_xml_first(node, "alias"); a; a = dl_xml_next(a, "alias"))
    aliases[e->n_aliases++] = dl_xml_text(a);
  for (size_t i = 0; i < k->n_fields && k->fields[i].is_text; i++) {
    const char *text = dl_xml_attr(node, k->fields[i].name);
    memcpy((char *)e + k->fields[i].offset, &text, sizeof text);
  }
  if (!e->id)
    return dl_fail_at(d, DL_EINPUT, e->file, e->line, "entry without an id");
  if (!e->name)
    e->name = e->id;
  DL_TRY(read_values(c, node, e, d));
  if (kind == DL_ARCHITECTURE)
    DL_TRY(read_architecture(c, node, (struct dl_architecture *)e, d));
  return DL_OK;
}

/* Enters a name of entry i for lookup. A spelling that is there already stays
 * with the entry that came first. */
static void index_name(struct dl_catalog_file *c, size_t i, const char *name) {
  DL_TEXT(folded);
  size_t before = c->folded.n;
  dl_fold_name(c->e[i]->kind, name, &folded);
  if (folded.len == 0)
    return;
  dl_intern(&c->folded, folded.s);
  DL_GROW(c->owner, c->cap, c->folded.n);
  if (c->folded.n > before)
    c->owner[before] = i;
}

/* The kind of a catalogue by its root element, or -1. */
static long kind_of(const struct dl_xml *xml) {
  dl_node *root = dl_xml_root(xml);
  const char *word = dl_xml_attr(root, "kind");
  for (size_t k = 0; k < DL_N_KINDS; k++)
    if (word && dl_xml_is(root, "catalog") &&
        strcmp(word, dl_kinds[(enum dl_kind)k].name) == 0)
      return (long)k;
  return -1;
}

static enum dl_status no_entry(const struct dl_xml *xml, struct dl_diag *d) {
  return dl_fail_at(d, DL_EINPUT, dl_xml_path(xml), 0, "no entry in this file");
}

static enum dl_status read_entries(struct dl_catalog_file *c, enum dl_kind kind,
                                   struct dl_diag *d) {
  dl_node *root = dl_xml_root(c->xml);
  c->kind = kind;
  size_t n = count_children(root, "entry"), size = dl_kinds[kind].size;
  c->e = dl_calloc(n, sizeof *c->e);
  c->block = dl_calloc(n, size);
  for (dl_node *entry = dl_xml_first(root, "entry"); entry;
       entry = dl_xml_next(entry, "entry")) {
    size_t i = c->n++;
    c->e[i] = (struct dl_descriptor *)(void *)((char *)c->block + i * size);
    DL_TRY(read_entry(c, entry, kind, c->e[i], d));
    index_name(c, i, c->e[i]->id);
    index_name(c, i, c->e[i]->name);
    for (size_t k = 0; k < c->e[i]->n_aliases; k++)
      index_name(c, i, c->e[i]->aliases[k]);
  }
  return c->n == 0 ? no_entry(c->xml, d) : DL_OK;
}

/* Reads the entries of a document, which must be of a kind, and takes it over.
 * The schema comes last because its messages name no value. */
static enum dl_status read_kind(struct dl_catalog_file *c, enum dl_kind kind,
                                struct dl_xml *xml, const char *schema,
                                struct dl_diag *d) {
  c->xml = xml;
  enum dl_status status =
      kind_of(xml) == (long)kind
          ? read_entries(c, kind, d)
          : dl_fail_at(d, DL_EINPUT, dl_xml_path(xml),
                       dl_xml_line(dl_xml_root(xml)),
                       "not a catalogue of kind '%s'", dl_kinds[kind].name);
  if (status == DL_OK && schema)
    status = dl_xml_validate(xml, schema, d);
  if (status != DL_OK)
    dl_catalog_file_free(c);
  return status;
}

enum dl_status dl_catalog_file_read(struct dl_catalog_file *c,
                                    enum dl_kind kind, const char *path,
                                    const char *schema, struct dl_diag *d) {
  *c = (struct dl_catalog_file){0};
  struct dl_xml *xml;
  DL_TRY(dl_xml_read(&xml, path, NULL, d));
  return read_kind(c, kind, xml, schema, d);
}

enum dl_status dl_catalog_file_parse(struct dl_catalog_file *c,
                                     enum dl_kind kind, const char *text,
                                     size_t len, const char *path,
                                     struct dl_diag *d) {
  *c = (struct dl_catalog_file){0};
  struct dl_xml *xml;
  DL_TRY(dl_xml_parse(&xml, text, len, path, NULL, d));
  return read_kind(c, kind, xml, NULL, d);
}

enum dl_status dl_catalog_file_take(struct dl_catalog_file *c,
                                    struct dl_xml *xml, struct dl_findings *l,
                                    struct dl_diag *d) {
  *c = (struct dl_catalog_file){.xml = xml, .findings = l};
  long k = kind_of(xml);
  enum dl_status status = k >= 0 ? read_entries(c, (enum dl_kind)k, d) : DL_OK;
  if (k < 0 || status != DL_OK)
    dl_catalog_file_free(c);
  return status;
}

const struct dl_descriptor *
dl_catalog_file_find(const struct dl_catalog_file *c, const char *folded) {
  long i = dl_intern_find(&c->folded, folded);
  return i < 0 ? NULL : c->e[c->owner[i]];
}

/* Below, entries are read one by one. The types in data/catalog.rng have these
 * limits; libxml2 takes a few more digits. */
enum { MOST_WORD = 80, MOST_TEXT = 500, MOST_DIGITS = 18 };

static bool is_word(const char *s) {
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789._+-");
  return n > 0 && n <= MOST_WORD && !s[n] && (isalnum((unsigned char)*s)) &&
         (isalnum((unsigned char)s[n - 1]) || s[n - 1] == '+');
}

/* Whether a text is a decimal number without sign and exponent. */
static bool is_decimal(const char *s) {
  size_t n = strspn(s, "0123456789"), m = 0;
  if (s[n] == '.')
    m = 1 + strspn(s + n + 1, "0123456789");
  return n > 0 && m != 1 && n + m <= MOST_DIGITS && !s[n + m];
}

static bool is_text(const char *s) {
  return s[strspn(s, " \t\r\n")] && strnlen(s, MOST_TEXT + 1) <= MOST_TEXT;
}

/* Gives values that a schema takes in any entry, if it takes one of them, a
 * common text: its types `word`, `text` and `number` (data/catalog.rng). */
static const char *alike(const char *element, const char *attribute,
                         const char *value) {
  const char *own = attribute ? attribute : "";
  static const char word[] = "w", text[] = "t", number[] = "0";
  static const char *const types[][3] = {
      {"value", "", number},   {"alias", "", text},
      {"entry", "id", word},   {"value", "source", word},
      {"entry", "name", text}, {"value", "note", text}};
  for (size_t i = 0; i < DL_LENGTH(types); i++) {
    const char *type = types[i][2];
    if (strcmp(types[i][0], element) != 0 || strcmp(types[i][1], own) != 0)
      continue;
    if ((type == word && is_word(value)) || (type == text && is_text(value)) ||
        (type == number && is_decimal(value)))
      return type;
    return value;
  }
  return value;
}

/* Whether an element of the root stays in the document. */
static bool keep_first(struct dl_catalog_walk *w, const dl_node *node) {
  size_t before = w->forms.n;
  dl_text_clear(&w->form);
  if (!dl_xml_form(node, alike, &w->form))
    return true;
  dl_intern(&w->forms, dl_text_str(&w->form));
  return w->forms.n > before;
}

static bool walk_child(const struct dl_xml *x, dl_node *node, void *ctx) {
  struct dl_catalog_walk *w = ctx;
  long kind = kind_of(x);
  if (kind < 0 || w->status != DL_OK || !dl_xml_is(node, "entry"))
    return true;
  if (!w->e) {
    w->kind = (enum dl_kind)kind;
    w->e = dl_calloc(1, dl_kinds[w->kind].size);
  }
  const struct dl_catalog_file c = {.xml = (struct dl_xml *)x,
                                    .findings = w->findings};
  w->status = read_entry(&c, node, w->kind, w->e, w->d);
  if (w->status == DL_OK) {
    w->entry(w->e, w->ctx);
    w->n++;
  }
  free_lists(w->e);
  return keep_first(w, node);
}

enum dl_status dl_catalog_file_walk(struct dl_catalog_walk *w, const char *path,
                                    struct dl_diag *d) {
  const struct dl_xml_visitor visitor = {walk_child, w, d->progress};
  w->d = d;
  enum dl_status status = dl_xml_read(&w->xml, path, &visitor, d);
  if (status == DL_OK)
    status = w->status;
  if (status == DL_OK && w->n == 0 && kind_of(w->xml) >= 0)
    status = no_entry(w->xml, d);
  if (status != DL_OK) {
    dl_xml_free(w->xml);
    w->xml = NULL;
  }
  free(w->e);
  w->e = NULL;
  dl_intern_free(&w->forms);
  dl_text_free(&w->form);
  return status;
}
