/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk through a report that all formats for people share. */

#include "config.h"

#include "output/formats/document.h"

#include <string.h>

#include "base/timestamp.h"
#include "output/formats/table_fit.h"
#include "output/units.h"
#include "output/screen.h"

/* Rows that decide the widths of a stream; on a terminal, of as many rows:
 * later ones may be wider. */
#define STREAM_HEAD 1000
#define LABEL_SHARE 0.0125 /* of a page's width, by a letter of a label */
#define REMARK_GAP 2       /* blanks in front of remarks */
#define WRITE_SIZE ((size_t)64 * 1024)

struct report_walk {
  struct dl_printer p;
  FILE *f;
  const struct dl_document *m;
  const char *group; /* title of the report that is printed, or NULL */
  size_t level;      /* of nested reports */
  bool gap;          /* a blank line is due before the next part */
  /* Columns of the run of lines that is printed; range: of remarks in front of
   * their tab. */
  size_t label, value, range;
};

/* Writes what the printer has put together, and empties it. */
static void write_text(FILE *f, struct dl_text *t) {
  fwrite(dl_text_str(t), 1, t->len, f);
  dl_text_clear(t);
}

static void begin_part(struct report_walk *w) {
  if (w->gap)
    dl_print(&w->p, "\n", NULL);
  w->gap = true;
}

/* Replaces what `out` holds by the text as the format writes it. */
static void escape(struct report_walk *w, struct dl_text *out,
                   const char *text) {
  DL_TEXT(clean);
  dl_text_clear(out);
  dl_utf8_clean(&clean, text ? text : "", false);
  w->m->escape(out, dl_text_str(&clean), clean.len);
}

/* A title with room for what follows, unless it is NULL or empty. */
static void print_title(struct report_walk *w, const char *title) {
  DL_TEXT(t);
  size_t level = w->level < DL_TITLE_LEVELS ? w->level : DL_TITLE_LEVELS - 1;
  if (!title || !title[0])
    return;
  while (level > 0 && !w->m->title[level][0])
    level--;
  escape(w, &t, title);
  begin_part(w);
  dl_print(&w->p, w->m->title[level][0], NULL);
  dl_print_wrapped(&w->p, dl_text_str(&t), 0, DL_BOLD);
  w->p.indent += w->m->indent;
  dl_print(&w->p, w->m->title[level][1], NULL);
  w->gap = !w->m->compact;
}

/* Whether a node is not shown to people, so that it does not end a run of lines
 * or of sentences. */
static bool is_hidden(const struct dl_document *m,
                      const struct dl_report_node *node) {
  if (node->hint && !m->wraps)
    return true;
  switch (node->type) {
  case DL_REPORT_VALUE:
    return !node->label;
  case DL_REPORT_GROUP:
  case DL_REPORT_LIST:
    for (size_t i = 0; i < node->n_reports; i++)
      if (node->reports[i]->title)
        return false;
    return true;
  case DL_REPORT_TABLE:
    for (size_t i = 0; i < node->table->n_cols; i++)
      if (node->table->columns[i].heading)
        return false;
    return true;
  case DL_REPORT_CHART:
    return true;
  case DL_REPORT_SAY:
    break;
  }
  return false;
}

static void show_node(struct dl_text *t, const struct dl_report_node *node) {
  dl_text_clear(t);
  dl_show(t, node->style, node->unit, &node->value,
          node->join_next ? &node[1].value : NULL);
}

/* Appends blanks up to `width` columns and the gap to what follows. */
static void fill(struct dl_text *t, size_t from, size_t width) {
  size_t own = dl_utf8_width(dl_text_str(t) + from, t->len - from);
  dl_text_printf(t, "%*s", (int)((width > own ? width - own : 0) + REMARK_GAP),
                 "");
}

/* The value of a line and its remark, aligned in columns. */
static void print_value(struct report_walk *w,
                        const struct dl_report_node *node) {
  DL_TEXT(shown);
  DL_TEXT(text);
  const char *remark = node->remark,
             *tab = remark ? strchr(remark, '\t') : NULL;
  show_node(&shown, node);
  if (remark && !w->m->remark) {
    fill(&shown, 0, w->value);
    size_t from = shown.len;
    if (tab) {
      dl_text_add_n(&shown, remark, (size_t)(tab - remark));
      fill(&shown, from, w->range);
    }
    dl_text_add(&shown, tab ? tab + 1 : remark);
  }
  escape(w, &text, dl_text_str(&shown));
  dl_print_wrapped(&w->p, dl_text_str(&text), w->label + w->m->label_gap, NULL);
  if (remark && w->m->remark) {
    dl_text_clear(&shown);
    dl_text_add_n(&shown, remark,
                  tab ? (size_t)(tab - remark) : strlen(remark));
    if (tab)
      dl_text_printf(&shown, ", %s", tab + 1);
    escape(w, &text, dl_text_str(&shown));
    dl_print(&w->p, w->m->remark, NULL);
    dl_print(&w->p, dl_text_str(&text), NULL);
  }
}

static void take_width(size_t *most, const char *s, size_t n) {
  const size_t width = dl_utf8_width(s, n);
  *most = width > *most ? width : *most;
}

/* Measures a line. Values without a remark may be longer than their column. */
static void measure_line(struct report_walk *w,
                         const struct dl_report_node *node) {
  DL_TEXT(t);
  if (!node->label)
    return;
  take_width(&w->label, node->label, strlen(node->label));
  if (!node->remark)
    return;
  show_node(&t, node);
  take_width(&w->value, dl_text_str(&t), t.len);
  const char *tab = strchr(node->remark, '\t');
  take_width(&w->range, node->remark, tab ? (size_t)(tab - node->remark) : 0);
}

/* The run of lines "label  value" that begins at node i; returns the node
 * behind it. */
static size_t print_lines(struct report_walk *w, const struct dl_report *r,
                          size_t i) {
  DL_TEXT(t);
  w->label = w->value = w->range = 0;
  size_t end = i;
  for (; end < r->n_nodes; end++) {
    const struct dl_report_node *node = &r->nodes[end];
    if (!node->label && !is_hidden(w->m, node))
      break;
    if (!node->hint || w->m->wraps)
      measure_line(w, node);
  }
  begin_part(w);
  const char *const *parts = w->m->line;
  if (w->m->begin_lines[0])
    dl_text_add(&t, w->m->begin_lines[0]);
  if (w->m->begin_lines[1])
    dl_text_printf(&t, "%.2f%s",
                   fmax(0.4, 0.94 - LABEL_SHARE * (double)w->label),
                   w->m->begin_lines[1]);
  dl_print(&w->p, dl_text_str(&t), NULL);
  for (; i < end; i++) {
    const struct dl_report_node *node = &r->nodes[i];
    if (!node->label || is_hidden(w->m, node))
      continue;
    escape(w, &t, node->label);
    dl_print(&w->p, parts[0], NULL);
    dl_print_field(&w->p, dl_text_str(&t),
                   w->m->label_gap ? w->label + w->m->label_gap : 0, false,
                   NULL);
    dl_print(&w->p, parts[1], NULL);
    print_value(w, node);
    dl_print(&w->p, parts[2], NULL);
  }
  if (w->m->end_lines)
    dl_print(&w->p, w->m->end_lines, NULL);
  return end;
}

/* Prints the mark of a row, or room for one; NULL: the mark of the head. */
static void print_mark(struct dl_printer *p, const struct dl_document *m,
                       const struct dl_layout *l, const char *mark) {
  DL_TEXT(t);
  const char *const *around = m->mark[mark != NULL];
  if (l->mark == 0)
    return;
  if (mark)
    m->escape(&t, mark, strlen(mark));
  dl_print(p, around[0], NULL);
  dl_print_field(p, dl_text_str(&t), m->wraps ? l->mark : m->mark_width, false,
                 NULL);
  dl_print(p, around[1], NULL);
}

/* A line of headings or of units. */
static void print_head(struct dl_printer *p, const struct dl_document *m,
                       const struct dl_layout *l, enum dl_cell_kind kind) {
  dl_print(p, m->head[0], NULL);
  print_mark(p, m, l, NULL);
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_layout_column *col = &l->column[i];
    const struct dl_text *t = kind == DL_CELL_UNIT ? &col->unit : &col->heading;
    m->cell(p, &(struct dl_text_cell){l, i, kind, dl_text_str(t), 0});
  }
  dl_print(p, m->head[1], NULL);
}

/* A row: as many lines as the cell that is broken into most. */
static void print_row(struct dl_printer *p, const struct dl_document *m,
                      const struct dl_layout *l, const struct dl_value *values,
                      const char *mark) {
  bool more = true;
  for (size_t k = 0; more; k++) {
    more = false;
    dl_print(p, m->row[0], NULL);
    print_mark(p, m, l, mark && k == 0 ? mark : "");
    for (size_t i = 0; i < l->n; i++) {
      size_t before = dl_layout_cell(l, i, values, &p->cell);
      if (l->column[i].wrapped && m->wraps)
        more |= dl_cell_line(&p->cell, l->column[i].width, k);
      else if (k > 0)
        dl_text_clear(&p->cell);
      before = before < p->cell.len ? before : p->cell.len;
      m->cell(p, &(struct dl_text_cell){l, i, DL_CELL_VALUE,
                                        dl_text_str(&p->cell), before});
    }
    dl_print(p, m->row[1], NULL);
  }
}

/* Head and rows of t; its foot comes when all rows are there. */
static void print_rows(struct dl_printer *p, const struct dl_document *m,
                       const struct dl_layout *l, const struct dl_table *t,
                       FILE *f) {
  if (t->n_rows == 0 && m->none) {
    dl_print(p, m->none, DL_DIM);
    return;
  }
  if (m->open)
    m->open(p, l);
  print_head(p, m, l, DL_CELL_HEADING);
  if (l->units && !m->unit_in_heading)
    print_head(p, m, l, DL_CELL_UNIT);
  if (m->rule)
    m->rule(p, l);
  for (size_t i = 0; i < t->n_rows; i++) {
    print_row(p, m, l, t->values + i * t->n_cols, t->marks[i]);
    if (p->to->len > WRITE_SIZE)
      write_text(f, p->to);
  }
}

/* Makes a table fit the screen. */
static void fit(struct dl_layout *l, const struct dl_document *m,
                const struct dl_table *t, const struct dl_printer *p) {
  size_t width = m->columns > 0 ? m->columns : p->screen.width;
  if ((m->wraps || m->columns > 0) && width > p->indent && t->n_rows > 0)
    dl_layout_fit(l, t, width - p->indent);
}

/* Ends a table after its rows. */
static void print_foot(struct dl_printer *p, const struct dl_document *m,
                       const struct dl_layout *l) {
  DL_TEXT(t);
  const bool pages = l->pages && m->foot[1];
  dl_print(p, m->foot[0] ? m->foot[pages] : "", NULL);
  if (l->dropped.len > 0) {
    dl_text_printf(&t, "not shown: %s", dl_text_str(&l->dropped));
    dl_print(p, m->dropped[0] ? m->dropped[0] : "", NULL);
    dl_print_wrapped(p, dl_text_str(&t), 0, DL_DIM);
    dl_print(p, m->dropped[1] ? m->dropped[1] : "", NULL);
    dl_print(p, "\n", NULL);
  }
  dl_print(p, m->close[0] ? m->close[pages] : "", NULL);
}

/* Prints the caption of a table: its title, or its group's. */
static void print_caption(const struct dl_document *m, struct dl_printer *p,
                          const struct dl_layout *l, const char *title) {
  DL_TEXT(clean);
  DL_TEXT(t);
  dl_utf8_clean(&clean, dl_text_or(title, "Estimates by dlest"), false);
  m->escape(&t, dl_text_str(&clean), clean.len);
  m->caption(p, l, dl_text_str(&t));
}

static void print_table(struct report_walk *w, const struct dl_table *t) {
  struct dl_layout *l = dl_layout_new(t, w->m);
  if (!w->m->caption)
    print_title(w, t->title);
  begin_part(w);
  fit(l, w->m, t, &w->p);
  if (w->m->caption && l->n > 0)
    print_caption(w->m, &w->p, l, t->title ? t->title : w->group);
  if (l->n > 0) {
    print_rows(&w->p, w->m, l, t, w->f);
    print_foot(&w->p, w->m, l);
  }
  dl_layout_free(l);
}

/* Ends a page: when it was made, by which version. */
static void end_page(struct dl_printer *p, const struct dl_document *m) {
  DL_TEXT(t);
  char date[32];
  if (m->made) {
    dl_document_date(date, "%Y-%m-%d");
    dl_text_printf(&t, "%s %s, dlest " PACKAGE_VERSION "\n", m->made, date);
    dl_print(p, dl_text_str(&t), NULL);
  }
  if (m->page[1])
    dl_print(p, m->page[1], NULL);
}

static void print_report(struct report_walk *w, const struct dl_report *r);

/* The reports of a group or a list that have a title. */
static void print_groups(struct report_walk *w,
                         const struct dl_report_node *node) {
  for (size_t i = 0; i < node->n_reports; i++) {
    const struct dl_report *r = node->reports[i];
    size_t indent = w->p.indent;
    if (!r->title)
      continue;
    print_title(w, r->title);
    const char *outer = w->group;
    w->group = r->title[0] ? r->title : outer;
    w->level++;
    print_report(w, r);
    w->level--;
    w->group = outer;
    w->p.indent = w->p.blanks = indent;
    w->gap = w->gap || r->title[0];
  }
}

static void print_sentence(struct report_walk *w, const char *sentence) {
  const struct dl_document *m = w->m;
  DL_TEXT(t);
  escape(w, &t, sentence);
  const char *text = dl_text_str(&t);
  if (m->say[0])
    dl_print(&w->p, m->say[0], NULL);
  if (m->begin_say)
    text = m->begin_say(&w->p, text);
  dl_print_wrapped(&w->p, text, 0, NULL);
  if (m->say[1])
    dl_print(&w->p, m->say[1], NULL);
  dl_print(&w->p, "\n", NULL);
}

static void print_report(struct report_walk *w, const struct dl_report *r) {
  enum dl_report_node_type last = DL_REPORT_VALUE;
  for (size_t i = 0; i < r->n_nodes; i++) {
    const struct dl_report_node *node = &r->nodes[i];
    size_t indent = w->p.indent;
    if (node->type == DL_REPORT_CHART && w->m->chart)
      w->m->chart(&w->p, node->table);
    if (is_hidden(w->m, node))
      continue;
    switch (node->type) {
    case DL_REPORT_VALUE:
      i = print_lines(w, r, i) - 1;
      break;
    case DL_REPORT_SAY:
      /* Consecutive statements are one, where compact; a hint belongs to the
       * lines above. */
      if (!w->m->compact ||
          !(last == DL_REPORT_SAY || (node->hint && last == DL_REPORT_VALUE)))
        begin_part(w);
      print_sentence(w, node->value.string);
      break;
    case DL_REPORT_GROUP:
    case DL_REPORT_LIST:
      print_groups(w, node);
      break;
    case DL_REPORT_TABLE:
      print_table(w, node->table);
      w->p.indent = w->p.blanks = indent;
      break;
    case DL_REPORT_CHART: /* drawn above, or hidden */
      break;
    }
    last = node->type;
  }
}

void dl_document_report(const struct dl_document *m, const struct dl_report *r,
                        FILE *f, const struct dl_screen *screen, bool follows) {
  DL_TEXT(text);
  struct report_walk w = {.p = {.to = &text}, .f = f, .m = m};
  if (screen && m->wraps)
    w.p.screen = *screen;
  if (m->page[0] && !follows)
    dl_print(&w.p, m->page[0], NULL);
  print_report(&w, r);
  end_page(&w.p, m);
  write_text(f, &text);
  dl_text_free(&w.p.cell);
}

/* Streams */

/* Writes the rows held back; from then on each is written as it comes. */
static void release_head(struct dl_stream *s) {
  const struct dl_document *m = s->format->document;
  s->layout = dl_layout_new(s->head, m);
  struct dl_printer p = {.to = &s->line};
  p.screen.width = dl_screen_of(s->f).width;
  if (m->page[0])
    dl_print(&p, m->page[0], NULL);
  if (m->page[0] && !m->caption)
    dl_print_heading(&p, m->title[0], s->key);
  fit(s->layout, m, s->head, &p);
  if (m->caption && s->layout->n > 0)
    print_caption(m, &p, s->layout, s->key);
  if (s->layout->n > 0)
    print_rows(&p, m, s->layout, s->head, s->f);
  write_text(s->f, &s->line);
  s->n_rows += s->head->n_rows;
  dl_table_free(s->head);
  s->head = NULL;
  dl_text_free(&p.cell);
}

void dl_document_add(const struct dl_stream *s, const struct dl_value *values,
                     struct dl_text *to) {
  struct dl_printer p = {.to = to};
  if (s->layout->n > 0)
    print_row(&p, s->format->document, s->layout, values, NULL);
  dl_text_free(&p.cell);
}

/* Ends the table; the rows that follow are one of their own. */
static void begin_block(struct dl_stream *s) {
  struct dl_printer p = {.to = &s->line, .screen = dl_screen_of(s->f)};
  if (s->layout && s->layout->n > 0)
    print_foot(&p, s->format->document, s->layout);
  dl_print(&p, "\n", NULL);
  write_text(s->f, &s->line);
  dl_layout_free(s->layout);
  s->layout = NULL;
  s->head = dl_table_new(NULL, s->columns, s->n_cols);
}

void dl_document_row(struct dl_stream *s, const struct dl_value *values) {
  if (!s->head) {
    dl_document_add(s, values, &s->line);
    write_text(s->f, &s->line);
    return;
  }
  dl_table_row(s->head, values, NULL);
  if (s->head->n_rows < STREAM_HEAD)
    return;
  release_head(s);
  if (s->format->document->wraps && dl_screen_of(s->f).width > 0)
    begin_block(s);
}

void dl_document_end(struct dl_stream *s) {
  struct dl_printer p = {.to = &s->line, .screen = dl_screen_of(s->f)};
  const struct dl_document *m = s->format->document;
  if (s->head && (s->head->n_rows > 0 || s->n_rows == 0))
    release_head(s);
  if (s->layout && s->layout->n > 0)
    print_foot(&p, m, s->layout);
  if (s->tail)
    dl_print(&p, "\n", NULL);
  else
    end_page(&p, m);
  write_text(s->f, &s->line);
  if (s->tail)
    dl_document_report(m, s->tail, s->f, &p.screen, true);
}
