/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/catalog_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/transformer.h"

void dl_shelf_free(struct dl_shelf *s) {
  for (size_t i = 0; i < s->n; i++) {
    free((void *)s->e[i]->aliases);
    if (s->e[i]->kind == DL_ARCHITECTURE) {
      free((void *)DL_AS(architecture, s->e[i])->inputs);
      free((void *)DL_AS(architecture, s->e[i])->transformer);
    }
  }
  free(s->e);
  free(s->block);
  dl_intern_free(&s->folded);
  free(s->owner);
  dl_xml_free(s->xml);
  *s = (struct dl_shelf){0};
}

static size_t count_children(dl_node *node, const char *name) {
  size_t n = 0;
  for (dl_node *c = dl_xml_first(node, name); c; c = dl_xml_next(c, name))
    n++;
  return n;
}

/* The source with that id; NULL: not declared. */
static dl_node *find_source(const struct dl_xml *xml, const char *id) {
  dl_node *list = id ? dl_xml_first(dl_xml_root(xml), "sources") : NULL;
  for (dl_node *s = list ? dl_xml_first(list, "source") : NULL; s;
       s = dl_xml_next(s, "source")) {
    const char *this_id = dl_xml_attr(s, "id");
    if (this_id && strcmp(this_id, id) == 0)
      return s;
  }
  return NULL;
}

/* Its title, the id itself if it is not declared. */
static const char *source_title(const struct dl_xml *xml, const char *id) {
  dl_node *source = find_source(xml, id);
  return source ? dl_xml_attr(source, "title") : id;
}

static const char *source_year(const struct dl_xml *xml, const char *id) {
  dl_node *source = find_source(xml, id);
  return source ? dl_xml_attr(source, "year") : NULL;
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
  const char *source = dl_xml_attr(node, "source");
  dl_field_set(e, f, x,
               (struct dl_origin){.source = source_title(xml, source),
                                  .note = dl_xml_attr(node, "note"),
                                  .year = source_year(xml, source),
                                  .line = line});
  return DL_OK;
}

/* What was refused becomes a finding, without its place in the text. */
static void collect(struct dl_findings *l, const struct dl_xml *xml,
                    dl_node *node, const struct dl_diag *d) {
  const char *id = dl_xml_attr(dl_xml_parent(node, "entry"), "id");
  struct dl_text place = {0};
  dl_text_printf(&place, "%s:%zu: ", dl_xml_path(xml), dl_xml_line(node));
  const char *text = d->error ? d->error : "out of memory";
  if (strncmp(text, dl_text_str(&place), place.len) == 0)
    text += place.len;
  dl_findings_add(l, true, dl_xml_path(xml), dl_xml_line(node), id, "%s", text);
  dl_text_free(&place);
}

/* With a list of findings in the shelf, values that are refused are left out
 * and listed. */
static enum dl_status read_values(const struct dl_shelf *s, dl_node *node,
                                  struct dl_descriptor *e, struct dl_diag *d) {
  for (dl_node *c = dl_xml_first(node, "value"); c;
       c = dl_xml_next(c, "value")) {
    struct dl_diag own;
    dl_diag_init(&own);
    enum dl_status status = read_value(s->xml, c, e, s->findings ? &own : d);
    if (status == DL_EINPUT && s->findings) {
      collect(s->findings, s->xml, c, &own);
      status = DL_OK;
    }
    dl_diag_free(&own);
    if (status != DL_OK)
      return status;
  }
  return DL_OK;
}

static enum dl_status read_inputs(const struct dl_shelf *s, dl_node *node,
                                  struct dl_architecture *e,
                                  struct dl_diag *d) {
  size_t n = count_children(node, "input");
  struct dl_input_size *in = dl_calloc(n, sizeof *in);
  if (!in)
    return dl_fail_memory(d);
  e->inputs = in;
  for (dl_node *c = dl_xml_first(node, "input"); c;
       c = dl_xml_next(c, "input")) {
    struct dl_architecture at;
    const char *px = dl_xml_attr(c, "image_px");
    const char *head = dl_xml_attr(c, "head");
    if (!px || !dl_parse_double(px, &in->image_px) || in->image_px < 1)
      return dl_fail_at(d, DL_EINPUT, dl_xml_path(s->xml), dl_xml_line(c),
                        "input: invalid image_px '%s'", px ? px : "");
    dl_descriptor_init(&at.head, DL_ARCHITECTURE);
    enum dl_status status = read_values(s, c, &at.head, d);
    if (status != DL_OK)
      return status;
    in->headless = head && strcmp(head, "none") == 0;
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

/* The shape of an entry that has one. */
static enum dl_status read_shape(const struct dl_xml *xml, dl_node *node,
                                 struct dl_architecture *e, struct dl_diag *d) {
  dl_node *shape = dl_xml_first(node, "transformer");
  if (!shape && e->scaling == DL_SCALING_SEQUENCE)
    return dl_fail_at(d, DL_EINPUT, e->head.file, e->head.line,
                      "scaling \"sequence\" without a transformer");
  if (!shape)
    return DL_OK;
  struct dl_transformer *t = dl_calloc(1, sizeof *t);
  if (!t)
    return dl_fail_memory(d);
  e->transformer = t;
  e->shape_source = source_title(xml, dl_xml_attr(shape, "source"));
  return dl_transformer_read(t, attribute, shape, dl_xml_path(xml),
                             dl_xml_line(shape), d);
}

static enum dl_scaling scaling_of(const char *word) {
  if (word && strcmp(word, "area") == 0)
    return DL_SCALING_AREA;
  if (word && strcmp(word, "area-down") == 0)
    return DL_SCALING_DOWN;
  if (word && strcmp(word, "tokens") == 0)
    return DL_SCALING_TOKENS;
  if (word && strcmp(word, "sequence") == 0)
    return DL_SCALING_SEQUENCE;
  return DL_SCALING_NONE;
}

static enum dl_status read_architecture(const struct dl_shelf *s, dl_node *node,
                                        struct dl_architecture *e,
                                        struct dl_diag *d) {
  e->scaling = scaling_of(dl_xml_attr(node, "scaling"));
  enum dl_status status = read_inputs(s, node, e, d);
  return status == DL_OK ? read_shape(s->xml, node, e, d) : status;
}

static enum dl_status read_aliases(dl_node *node, struct dl_descriptor *e,
                                   struct dl_diag *d) {
  const char **aliases =
      dl_calloc(count_children(node, "alias"), sizeof *aliases);
  if (!aliases)
    return dl_fail_memory(d);
  e->aliases = aliases;
  for (dl_node *c = dl_xml_first(node, "alias"); c; c = dl_xml_next(c, "alias"))
    aliases[e->n_aliases++] = dl_xml_text(c);
  return DL_OK;
}

static enum dl_status read_entry(const struct dl_shelf *s, dl_node *node,
                                 enum dl_kind kind, struct dl_descriptor *e,
                                 struct dl_diag *d) {
  const struct dl_kind_info *k = dl_kind_info(kind);
  dl_descriptor_init(e, kind);
  e->file = dl_xml_path(s->xml);
  e->line = dl_xml_line(node);
  for (size_t i = 0; i < k->n_fields && k->fields[i].is_text; i++) {
    const char *text = dl_xml_attr(node, k->fields[i].name);
    memcpy((char *)e + k->fields[i].offset, &text, sizeof text);
  }
  if (!e->id)
    return dl_fail_at(d, DL_EINPUT, e->file, e->line, "entry without an id");
  if (!e->name)
    e->name = e->id;
  enum dl_status status = read_values(s, node, e, d);
  if (status == DL_OK && kind == DL_ARCHITECTURE)
    status = read_architecture(s, node, (struct dl_architecture *)e, d);
  return status == DL_OK ? read_aliases(node, e, d) : status;
}

/* Enters a name of entry i for lookup; its spelling may be there already. */
static bool index_name(struct dl_shelf *s, size_t i, const char *name) {
  struct dl_text folded = {0};
  void *owner = s->owner;
  dl_fold_name(s->e[i]->kind, name, &folded);
  size_t before = s->folded.n;
  bool ok = !folded.failed;
  if (ok && folded.s) {
    ok = dl_intern(&s->folded, folded.s) >= 0 &&
         dl_grow(&owner, &s->cap, s->folded.n, sizeof *s->owner);
    s->owner = owner;
    if (ok && s->folded.n > before)
      s->owner[before] = i;
  }
  dl_text_free(&folded);
  return ok;
}

static bool index_entry(struct dl_shelf *s, size_t i) {
  const struct dl_descriptor *e = s->e[i];
  bool ok = index_name(s, i, e->id) && index_name(s, i, e->name);
  for (size_t a = 0; ok && a < e->n_aliases; a++)
    ok = index_name(s, i, e->aliases[a]);
  return ok;
}

/* Kind of a catalogue by its root, or -1. */
static long kind_of(const struct dl_xml *xml) {
  dl_node *root = dl_xml_root(xml);
  const char *word = dl_xml_attr(root, "kind");
  for (size_t k = 0; k < DL_N_KINDS; k++)
    if (word && strcmp(dl_xml_name(root), "catalog") == 0 &&
        strcmp(word, dl_kind_info((enum dl_kind)k)->name) == 0)
      return (long)k;
  return -1;
}

static enum dl_status read_entries(struct dl_shelf *s, enum dl_kind kind,
                                   struct dl_diag *d) {
  dl_node *root = dl_xml_root(s->xml);
  size_t n = count_children(root, "entry"), size = dl_kind_info(kind)->size;
  s->e = dl_calloc(n, sizeof *s->e);
  s->block = dl_calloc(n, size);
  if (!s->e || !s->block)
    return dl_fail_memory(d);
  for (dl_node *c = dl_xml_first(root, "entry"); c;
       c = dl_xml_next(c, "entry")) {
    size_t i = s->n++;
    s->e[i] = (struct dl_descriptor *)(void *)((char *)s->block + i * size);
    enum dl_status status = read_entry(s, c, kind, s->e[i], d);
    if (status == DL_OK && !index_entry(s, i))
      status = dl_fail_memory(d);
    if (status != DL_OK)
      return status;
  }
  if (s->n == 0)
    return dl_fail_at(d, DL_EINPUT, dl_xml_path(s->xml), 0,
                      "no entry in this file");
  return DL_OK;
}

/* Takes over xml. */
static enum dl_status fill(struct dl_shelf *s, enum dl_kind kind,
                           struct dl_xml *xml, struct dl_diag *d) {
  s->xml = xml;
  if (kind_of(xml) != (long)kind)
    return dl_fail_at(d, DL_EINPUT, dl_xml_path(xml),
                      dl_xml_line(dl_xml_root(xml)),
                      "not a catalogue of kind '%s'", dl_kind_info(kind)->name);
  return read_entries(s, kind, d);
}

enum dl_status dl_shelf_load(struct dl_shelf *s, enum dl_kind kind,
                             const char *path, const char *schema,
                             struct dl_diag *d) {
  *s = (struct dl_shelf){0};
  struct dl_xml *xml;
  enum dl_status status = dl_xml_read(&xml, path, NULL, d);
  if (status == DL_OK)
    status = fill(s, kind, xml, d);
  /* Validated last: the schema's own complaints name no value. */
  if (status == DL_OK && schema)
    status = dl_xml_validate(s->xml, schema, d);
  if (status != DL_OK)
    dl_shelf_free(s);
  return status;
}

enum dl_status dl_shelf_parse(struct dl_shelf *s, enum dl_kind kind,
                              const char *text, size_t len, const char *path,
                              struct dl_diag *d) {
  *s = (struct dl_shelf){0};
  struct dl_xml *xml;
  enum dl_status status = dl_xml_parse(&xml, text, len, path, d);
  if (status == DL_OK)
    status = fill(s, kind, xml, d);
  if (status != DL_OK)
    dl_shelf_free(s);
  return status;
}

enum dl_status dl_shelf_collect(struct dl_shelf *s, struct dl_xml *xml,
                                enum dl_kind *kind, struct dl_findings *l,
                                struct dl_diag *d) {
  *s = (struct dl_shelf){.xml = xml, .findings = l};
  long k = kind_of(xml);
  if (k < 0) {
    dl_shelf_free(s);
    return DL_OK;
  }
  *kind = (enum dl_kind)k;
  enum dl_status status = read_entries(s, *kind, d);
  if (status != DL_OK)
    dl_shelf_free(s);
  return status;
}

enum dl_status dl_shelf_any(struct dl_shelf *s, struct dl_xml *xml,
                            enum dl_kind *kind, struct dl_diag *d) {
  *s = (struct dl_shelf){0};
  long k = kind_of(xml);
  if (k < 0) {
    dl_xml_free(xml);
    return DL_OK;
  }
  *kind = (enum dl_kind)k;
  enum dl_status status = fill(s, *kind, xml, d);
  if (status != DL_OK)
    dl_shelf_free(s);
  return status;
}

const struct dl_descriptor *dl_shelf_find(const struct dl_shelf *s,
                                          const char *folded) {
  long i = dl_intern_find(&s->folded, folded);
  return i < 0 ? NULL : s->e[s->owner[i]];
}
