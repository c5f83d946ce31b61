/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "model/file_walk_private.h"

enum dl_status dl_walk_refuse(const struct model_walk *w, const dl_node *node,
                              const char *what) {
  return dl_fail_at(w->d, DL_EINPUT, dl_xml_path(w->x), dl_xml_line(node),
                    "<%s>: %s", dl_xml_name(node), what);
}

static void write_attribute(const struct model_walk *w, dl_node *node,
                            const char *name, enum kind kind,
                            const void *member) {
  char buf[DL_NUMBER_SIZE];
  const char *text = NULL;
  if (kind == TEXT)
    text = *(char *const *)member;
  else if (kind == FLAG)
    text = *(const bool *)member ? "true" : "false";
  else if (kind == METHOD)
    text = (*(const struct dl_regression *const *)member)->name;
  else if (kind == NUMBER && !isnan(*(const double *)member))
    text = dl_format_short(buf, *(const double *)member);
  if (kind == COUNT)
    snprintf(buf, sizeof buf, "%zu", *(const size_t *)member);
  if (text || kind == COUNT)
    dl_xml_set(w->x, node, name, text ? text : buf);
}

enum dl_status dl_walk_attribute(const struct model_walk *w, dl_node *node,
                                 const char *name, enum kind kind,
                                 void *member) {
  if (w->writing) {
    write_attribute(w, node, name, kind, member);
    return DL_OK;
  }
  const char *text = dl_xml_attr(node, name);
  switch (kind) {
  case TEXT:
    *(char **)member = text ? dl_strdup(text) : NULL;
    return DL_OK;
  case COUNT:
    return text && dl_parse_count(text, member)
               ? DL_OK
               : dl_walk_refuse(w, node, "a count is missing or invalid");
  case NUMBER:
    *(double *)member = NAN;
    return !text || dl_parse_double(text, member)
               ? DL_OK
               : dl_walk_refuse(w, node, "invalid number");
  case FLAG:
    *(bool *)member = text && strcmp(text, "true") == 0;
    return DL_OK;
  default:
    *(const struct dl_regression **)member =
        text ? dl_regression_find(text) : NULL;
    return DL_OK;
  }
}

enum dl_status dl_walk_fields(const struct model_walk *w, dl_node *node,
                              const struct model_field *f, void *of) {
  for (; f->name; f++)
    DL_TRY(
        dl_walk_attribute(w, node, f->name, f->kind, (char *)of + f->offset));
  return DL_OK;
}

dl_node *dl_walk_child(const struct model_walk *w, dl_node *parent,
                       const char *name, dl_node *c) {
  if (w->writing)
    return dl_xml_add(w->x, parent, name);
  return c ? dl_xml_next(c, name) : dl_xml_first(parent, name);
}

enum dl_status dl_walk_list(const struct model_walk *w, dl_node *parent,
                            const struct model_list *of, void *array,
                            size_t *n) {
  size_t count = *n;
  char *items;
  if (!w->writing) {
    for (dl_node *c = dl_xml_first(parent, of->name); c;
         c = dl_xml_next(c, of->name))
      count++;
    items = dl_calloc(count, of->size);
    memcpy(array, &items, sizeof items);
  }
  memcpy(&items, array, sizeof items);
  enum dl_status status = DL_OK;
  dl_node *c = NULL;
  for (size_t i = 0; i < count && status == DL_OK; i++) {
    c = dl_walk_child(w, parent, of->name, c);
    *n = w->writing ? count : i + 1;
    if (of->fields)
      status = dl_walk_fields(w, c, of->fields, items + i * of->size);
    if (of->each && status == DL_OK)
      status = of->each(w, c, items + i * of->size);
  }
  return status;
}

#define BLANKS " \t\r\n"

static bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p) {
  while (is_blank(*p))
    p++;
  return p;
}

enum dl_status dl_walk_numbers(const struct model_walk *w, dl_node *node,
                               double *x, size_t n) {
  if (w->writing) {
    DL_TEXT(t);
    char buf[DL_NUMBER_SIZE];
    for (size_t i = 0; i < n; i++) {
      dl_text_add(&t, i > 0 ? " " : "");
      dl_text_add(&t, dl_format_short(buf, x[i]));
    }
    dl_xml_set_text(w->x, node, dl_text_str(&t));
    return DL_OK;
  }
  size_t found = 0;
  const char *p = dl_xml_text(node), *end = strchr(p, '\0');
  for (p = skip_blanks(p); p < end; p = skip_blanks(p)) {
    const char *behind = found < n ? dl_take_decimal(p, end, &x[found]) : NULL;
    if (!behind || !(behind == end || is_blank(*behind))) {
      size_t len = strcspn(p, BLANKS);
      if (found == n || dl_parse_number(p, len, &x[found]) != DL_NUMBER_OK)
        return dl_walk_refuse(w, node, "invalid or too many numbers");
      behind = p + len;
    }
    found++;
    p = behind;
  }
  return found == n ? DL_OK : dl_walk_refuse(w, node, "too few numbers");
}

void dl_walk_texts(const struct model_walk *w, dl_node *parent,
                   const char *name, const char *what, struct dl_strlist *l) {
  dl_node *c = NULL;
  for (size_t i = 0; w->writing && i < l->n; i++) {
    c = dl_xml_add(w->x, parent, name);
    if (what)
      dl_xml_set(w->x, c, "what", what);
    dl_xml_set_text(w->x, c, l->s[i]);
  }
  while (!w->writing && (c = dl_walk_child(w, parent, name, c))) {
    const char *its = dl_xml_attr(c, "what");
    if (!what || (its && strcmp(its, what) == 0))
      dl_strlist_add(l, dl_xml_text(c));
  }
}
