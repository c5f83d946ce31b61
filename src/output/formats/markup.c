/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats/markup.h"

#include "output/units.h"
#include "output/utf8.h"

struct state {
  struct dl_printer p;
  const struct dl_markup *m;
  size_t level;
  bool gap; /* a blank line is due before the next part */
};

static void begin_part(struct state *s) {
  if (s->gap)
    dl_print_newline(&s->p);
  s->gap = true;
}

static void escape(struct state *s, struct dl_text *out, const char *text) {
  struct dl_text clean = {0};
  dl_utf8_clean(&clean, text ? text : "", false);
  s->m->table.style.escape(out, dl_text_str(&clean));
  s->p.failed = s->p.failed || clean.failed || out->failed;
  dl_text_free(&clean);
}

static void print_title(struct state *s, const char *title) {
  struct dl_text t = {0};
  if (!title || !title[0])
    return;
  escape(s, &t, title);
  begin_part(s);
  s->m->title(&s->p, dl_text_str(&t), s->level);
  dl_text_free(&t);
}

static void print_line(struct state *s, const struct dl_node *node) {
  struct dl_text shown = {0}, label = {0}, value = {0};
  dl_show(&shown, node->style, node->unit, &node->value,
          node->join_next ? &node[1].value : NULL);
  escape(s, &label, node->label);
  escape(s, &value, dl_text_str(&shown));
  s->m->line(&s->p, dl_text_str(&label), dl_text_str(&value));
  s->p.failed = s->p.failed || shown.failed;
  dl_text_free(&shown);
  dl_text_free(&label);
  dl_text_free(&value);
}

/* The run of lines that begins at node i; returns the node behind it. */
static size_t print_lines(struct state *s, const struct dl_report *r,
                          size_t i) {
  begin_part(s);
  if (s->m->begin_lines)
    s->m->begin_lines(&s->p);
  for (; i < r->n_nodes; i++)
    if (dl_node_is_line(&r->nodes[i]))
      print_line(s, &r->nodes[i]);
    else if (!dl_node_hidden(&r->nodes[i]))
      break;
  if (s->m->end_lines)
    s->m->end_lines(&s->p);
  return i;
}

static void print_said(struct state *s, const struct dl_node *node) {
  struct dl_text t = {0};
  escape(s, &t, node->value.string);
  begin_part(s);
  s->m->say(&s->p, dl_text_str(&t));
  dl_text_free(&t);
}

static void print_report(struct state *s, const struct dl_report *r);

static void print_groups(struct state *s, const struct dl_node *node) {
  for (size_t i = 0; i < node->n_reports; i++) {
    const struct dl_report *r = node->reports[i];
    if (!r->title)
      continue;
    print_title(s, r->title);
    s->level++;
    print_report(s, r);
    s->level--;
  }
}

static void print_table(struct state *s, const struct dl_table *t) {
  print_title(s, t->title);
  begin_part(s);
  dl_held_table(&s->p, &s->m->table, t);
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
    print_said(s, node);
    break;
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

enum dl_status dl_markup_report(const struct dl_markup *m,
                                const struct dl_report *r, FILE *f,
                                struct dl_diag *d) {
  if (dl_report_failed(r))
    return dl_fail_memory(d);
  struct state s = {.p = {.f = f}, .m = m};
  print_report(&s, r);
  return dl_written(f, true, !s.p.failed, d);
}
