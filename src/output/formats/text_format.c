/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text for people: parts with a blank line between them. A part is a run of
 * "label  value unit" lines, a run of lines that were said, a table, a group,
 * or an item of a list. What stands under a title is indented. */

#include <string.h>

#include "base/text.h"
#include "output/buffered_rows.h"
#include "output/units.h"
#include "output/utf8.h"

#define INDENT 2
#define BEHIND_LABEL 2

struct state {
  struct dl_printer p;
  size_t indent;
  bool gap; /* a blank line is due before the next part */
};

static void begin_part(struct state *s) {
  if (s->gap)
    dl_print_newline(&s->p);
  s->gap = true;
}

/* A title with room for what follows; returns the indent to go back to. */
static size_t begin_titled(struct state *s, const char *title) {
  size_t indent = s->indent;
  if (!title || !title[0])
    return indent;
  struct dl_text clean = {0};
  dl_utf8_clean(&clean, title, false);
  begin_part(s);
  dl_print_blanks(&s->p, indent);
  dl_print(&s->p, dl_text_str(&clean), DL_BOLD);
  dl_print_newline(&s->p);
  s->p.failed = s->p.failed || clean.failed;
  dl_text_free(&clean);
  s->gap = false;
  s->indent += INDENT;
  return indent;
}

/* Scalars */

static size_t label_width(const struct dl_node *node) {
  return dl_utf8_width(node->label, strlen(node->label));
}

static void print_line(struct state *s, const struct dl_node *node,
                       size_t width) {
  struct dl_text t = {0};
  dl_show(&t, node->style, node->unit, &node->value,
          node->join_next ? &node[1].value : NULL);
  dl_print_blanks(&s->p, s->indent);
  dl_print(&s->p, node->label, NULL);
  dl_print_blanks(&s->p, width - label_width(node) + BEHIND_LABEL);
  dl_print(&s->p, dl_text_str(&t), NULL);
  dl_print_newline(&s->p);
  s->p.failed = s->p.failed || t.failed;
  dl_text_free(&t);
}

/* The run of lines that begins at node i; returns the node behind it. */
static size_t print_lines(struct state *s, const struct dl_report *r,
                          size_t i) {
  size_t width = 0;
  size_t end = i;
  for (; end < r->n_nodes; end++) {
    const struct dl_node *node = &r->nodes[end];
    if (dl_node_is_line(node) && label_width(node) > width)
      width = label_width(node);
    else if (!dl_node_is_line(node) && !dl_node_hidden(node))
      break;
  }
  begin_part(s);
  for (; i < end; i++)
    if (dl_node_is_line(&r->nodes[i]))
      print_line(s, &r->nodes[i], width);
  return end;
}

static size_t print_said(struct state *s, const struct dl_report *r, size_t i) {
  begin_part(s);
  for (; i < r->n_nodes; i++) {
    const struct dl_node *node = &r->nodes[i];
    if (dl_node_hidden(node))
      continue;
    if (node->type != DL_NODE_SAY)
      break;
    struct dl_text t = {0};
    if (node->value.string)
      dl_utf8_clean(&t, node->value.string, false);
    dl_print_blanks(&s->p, s->indent);
    dl_print(&s->p, dl_text_str(&t), NULL);
    dl_print_newline(&s->p);
    s->p.failed = s->p.failed || t.failed;
    dl_text_free(&t);
  }
  return i;
}

/* Parts */

static void print_rows(struct state *s, const struct dl_layout *l,
                       const struct dl_table *t) {
  if (t->n_rows == 0) {
    dl_print_blanks(&s->p, s->indent);
    dl_print(&s->p, "(none)", DL_DIM);
    dl_print_newline(&s->p);
    return;
  }
  dl_layout_head(l, &s->p, s->indent);
  for (size_t i = 0; i < t->n_rows; i++)
    dl_layout_row(l, &s->p, s->indent, t->values + i * t->n_cols, t->marks[i]);
}

static void print_table(struct state *s, const struct dl_table *t) {
  struct dl_layout *l = dl_layout_new(t, NULL);
  if (!l) {
    s->p.failed = true;
    return;
  }
  if (dl_layout_columns(l) > 0) {
    size_t indent = begin_titled(s, t->title);
    begin_part(s);
    print_rows(s, l, t);
    s->indent = indent;
  }
  dl_layout_free(l);
}

static void print_report(struct state *s, const struct dl_report *r);

static void print_groups(struct state *s, const struct dl_node *node) {
  for (size_t i = 0; i < node->n_reports; i++) {
    const struct dl_report *r = node->reports[i];
    if (!r->title)
      continue;
    size_t indent = begin_titled(s, r->title);
    print_report(s, r);
    s->indent = indent;
    s->gap = s->gap || r->title[0];
  }
}

/* Node i and those of its run; returns the node behind. */
static size_t print_node(struct state *s, const struct dl_report *r, size_t i) {
  const struct dl_node *node = &r->nodes[i];
  if (dl_node_hidden(node))
    return i + 1;
  switch (node->type) {
  case DL_NODE_VALUE:
    return print_lines(s, r, i);
  case DL_NODE_SAY:
    return print_said(s, r, i);
  case DL_NODE_GROUP:
  case DL_NODE_LIST:
    print_groups(s, node);
    break;
  case DL_NODE_TABLE:
    print_table(s, node->table);
    break;
  }
  return i + 1;
}

static void print_report(struct state *s, const struct dl_report *r) {
  for (size_t i = 0; i < r->n_nodes;)
    i = print_node(s, r, i);
}

static enum dl_status text_report(const struct dl_report *r, FILE *f,
                                  bool colour, struct dl_diag *d) {
  if (dl_report_failed(r))
    return dl_fail_memory(d);
  struct state s = {.p = {.f = f, .colour = colour}};
  print_report(&s, r);
  return dl_written(f, true, !s.p.failed, d);
}

/* Streams */

static void stream_head(struct dl_printer *p, const struct dl_layout *l) {
  dl_layout_head(l, p, 0);
}

static void stream_row(struct dl_printer *p, const struct dl_layout *l,
                       const struct dl_value *values, const char *mark) {
  dl_layout_row(l, p, 0, values, mark);
}

static void stream_none(struct dl_printer *p) {
  dl_print(p, "(none)", NULL);
  dl_print_newline(p);
}

static enum dl_status text_begin(struct dl_stream **s, FILE *f, const char *key,
                                 const struct dl_column *columns, size_t n,
                                 struct dl_diag *d) {
  static const struct dl_row_writer writer = {
      .head = stream_head, .row = stream_row, .none = stream_none};
  (void)key;
  return dl_held_begin(s, f, &writer, columns, n, d);
}

const struct dl_format dl_format_text = {
    "text",      "tables and lines for people",
    text_report, text_begin,
    dl_held_row, dl_held_end,
    NULL,
};
