/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats/text_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/units.h"
#include "output/utf8.h"

#define BETWEEN 2 /* blanks between columns */

/* A column as people see it: one of the table, or two as "low .. high". */
struct column {
  struct dl_column c;
  size_t i;                 /* of the (first) value in a row */
  bool text;                /* aligned to the left */
  bool own_units;           /* each cell has its own unit */
  struct dl_multiple scale; /* of all cells, otherwise */
  size_t before;            /* widest part before the point that is aligned */
  size_t after;             /* widest part from there on */
  size_t width;             /* of all, heading and unit included */
};

struct dl_layout {
  struct column *column;
  size_t n;
  size_t mark; /* width of the marks with the blank behind, 0: none */
  bool units;  /* whether any column has a unit */
  struct dl_cell_style style;
};

void dl_print_blanks(struct dl_printer *p, size_t n) {
  p->blanks += n;
}

void dl_print(struct dl_printer *p, const char *text, const char *effect) {
  if (!text[0])
    return;
  for (; p->blanks > 0; p->blanks--)
    fputc(' ', p->f);
  if (p->colour && effect)
    fprintf(p->f, "\033[%sm%s\033[0m", effect, text);
  else
    fputs(text, p->f);
}

void dl_print_newline(struct dl_printer *p) {
  p->blanks = 0;
  fputc('\n', p->f);
}

static size_t text_width(const char *s) {
  return s ? dl_utf8_width(s, strlen(s)) : 0;
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

/* Cells */

static void escape(const struct dl_layout *l, struct dl_text *out,
                   const char *text) {
  if (l->style.escape)
    l->style.escape(out, text);
  else
    dl_text_add(out, text);
}

/* Bytes of a cell in front of what is aligned: the point of a number, the
 * dots of a range, the end where units differ, the start of a string. */
static size_t split(const struct column *col, const char *cell) {
  if (col->text)
    return 0;
  const char *dots = strstr(cell, " .. ");
  if (dots)
    return (size_t)(dots - cell);
  if (col->own_units || col->c.style == DL_TIME)
    return strlen(cell);
  return strcspn(cell, ".e");
}

static void show_cell(const struct column *col, const struct dl_value *row,
                      struct dl_text *cell) {
  const struct dl_value *low = &row[col->i];
  const struct dl_value *high = col->c.join_next ? low + 1 : NULL;
  dl_text_clear(cell);
  if (col->own_units)
    dl_show(cell, col->c.style, col->c.unit, low, high);
  else
    dl_show_range(cell, col->c.style, low, high, &col->scale);
}

/* Both parts of a cell, escaped, go to *before and *after. */
static void show_parts(const struct dl_layout *l, const struct column *col,
                       const struct dl_value *row, struct dl_text *before,
                       struct dl_text *after) {
  struct dl_text cell = {0}, head = {0};
  show_cell(col, row, &cell);
  const char *s = dl_text_str(&cell);
  size_t at = col->text ? strlen(s) : split(col, s);
  dl_text_add_n(&head, s, at);
  escape(l, before, dl_text_str(&head));
  escape(l, after, s + at);
  before->failed = before->failed || cell.failed || head.failed;
  dl_text_free(&cell);
  dl_text_free(&head);
}

static void show_unit(const struct column *col, struct dl_text *t) {
  dl_text_clear(t);
  if (!col->own_units)
    dl_show_unit(t, col->c.style, col->c.unit, &col->scale);
}

/* Choosing the columns */

static void choose_columns(struct dl_layout *l, const struct dl_table *t) {
  for (size_t i = 0; i < t->n_cols; i++) {
    struct dl_column c = t->columns[i];
    c.join_next = c.join_next && i + 1 < t->n_cols;
    if (c.heading)
      l->column[l->n++] = (struct column){.c = c, .i = i};
    i += c.join_next;
  }
}

/* Strings stand on the left; one without any value as its style says. */
static bool is_text(const struct column *col, const struct dl_table *t) {
  bool numbers = false;
  for (size_t r = 0; r < t->n_rows; r++) {
    const struct dl_value *v = &t->values[r * t->n_cols + col->i];
    if (dl_value_absent(v))
      continue;
    if (v->type != DL_NUMBER && v->type != DL_COUNT)
      return true;
    numbers = true;
  }
  bool named = col->c.style == DL_PLAIN || col->c.style == DL_CODE;
  return !numbers && named && !col->c.unit && !col->c.join_next;
}

/* Whether an interval stands beside its estimate: they share a unit. */
static bool belongs(const struct column *a, const struct column *b) {
  const char *ua = a->c.unit ? a->c.unit : "";
  const char *ub = b->c.unit ? b->c.unit : "";
  return b->c.join_next && a->c.style == b->c.style && !strcmp(ua, ub);
}

/* One multiple for n columns, or own ones in each cell. */
static bool choose_scale(struct column *col, size_t n,
                         const struct dl_table *t) {
  double *x = dl_calloc(2 * n * t->n_rows, sizeof *x);
  if (!x)
    return false;
  size_t used = 0;
  for (size_t k = 0; k < n; k++)
    for (size_t r = 0; r < t->n_rows; r++) {
      const struct dl_value *v = &t->values[r * t->n_cols + col[k].i];
      x[used++] = dl_value_quantity(v);
      if (col[k].c.join_next)
        x[used++] = dl_value_quantity(v + 1);
    }
  struct dl_multiple scale;
  bool shared = dl_multiple_shared(col->c.style, x, used, &scale);
  for (size_t k = 0; k < n; k++) {
    col[k].scale = scale;
    col[k].own_units = scale.name && !shared;
  }
  free(x);
  return true;
}

static bool choose_scales(struct dl_layout *l, const struct dl_table *t) {
  size_t next;
  for (size_t i = 0; i < l->n; i = next) {
    next = i + 1;
    while (next < l->n && belongs(&l->column[next - 1], &l->column[next]))
      next++;
    if (!choose_scale(&l->column[i], next - i, t))
      return false;
  }
  return true;
}

/* The heading; with the unit where it has no row of its own. */
static void show_heading(const struct dl_layout *l, const struct column *col,
                         struct dl_text *t) {
  dl_text_clear(t);
  escape(l, t, col->c.heading);
  if (!l->style.unit_in_heading)
    return;
  struct dl_text unit = {0}, escaped = {0};
  show_unit(col, &unit);
  escape(l, &escaped, dl_text_str(&unit));
  if (unit.len > 0 && col->c.heading[0])
    dl_text_printf(t, " (%s)", dl_text_str(&escaped));
  t->failed = t->failed || unit.failed || escaped.failed;
  dl_text_free(&unit);
  dl_text_free(&escaped);
}

/* False when memory is out. */
static bool measure(const struct dl_layout *l, struct column *col,
                    const struct dl_table *t) {
  struct dl_text before = {0}, after = {0};
  for (size_t r = 0; r < t->n_rows; r++) {
    dl_text_clear(&before);
    dl_text_clear(&after);
    show_parts(l, col, t->values + r * t->n_cols, &before, &after);
    col->before = larger(col->before, text_width(dl_text_str(&before)));
    col->after = larger(col->after, text_width(dl_text_str(&after)));
  }
  show_heading(l, col, &before);
  show_unit(col, &after);
  size_t head = text_width(dl_text_str(&before));
  if (!l->style.unit_in_heading)
    head = larger(head, after.len);
  col->width = larger(col->before + col->after, head);
  bool ok = !before.failed && !after.failed;
  dl_text_free(&before);
  dl_text_free(&after);
  return ok;
}

struct dl_layout *dl_layout_new(const struct dl_table *t,
                                const struct dl_cell_style *style) {
  struct dl_layout *l = dl_calloc(1, sizeof *l);
  if (!l)
    return NULL;
  if (style)
    l->style = *style;
  struct dl_text cell = {0};
  l->column = dl_calloc(t->n_cols, sizeof *l->column);
  bool ok = l->column != NULL;
  if (ok) {
    choose_columns(l, t);
    ok = choose_scales(l, t);
  }
  for (size_t i = 0; ok && i < l->n; i++) {
    l->column[i].text = is_text(&l->column[i], t);
    ok = measure(l, &l->column[i], t);
    show_unit(&l->column[i], &cell);
    l->units = l->units || cell.len > 0;
  }
  for (size_t r = 0; r < t->n_rows; r++)
    if (t->marks[r])
      l->mark = larger(l->mark, text_width(t->marks[r]) + 1);
  if (!ok || cell.failed) {
    dl_layout_free(l);
    l = NULL;
  }
  dl_text_free(&cell);
  return l;
}

void dl_layout_free(struct dl_layout *l) {
  if (!l)
    return;
  free(l->column);
  free(l);
}

size_t dl_layout_columns(const struct dl_layout *l) {
  return l->n;
}

/* Printing */

/* Text in a field, `left` blanks in front. */
static void print_field(struct dl_printer *p, const char *s, size_t left,
                        size_t width, const char *effect) {
  size_t used = left + text_width(s);
  dl_print_blanks(p, left);
  dl_print(p, s, effect);
  dl_print_blanks(p, width > used ? width - used : 0);
}

/* Headings and units stand on the side of their column. */
static void print_title(struct dl_printer *p, const struct column *col,
                        const char *s, const char *effect) {
  size_t width = text_width(s);
  size_t left = col->text || width > col->width ? 0 : col->width - width;
  print_field(p, s, left, col->width, effect);
}

void dl_layout_print_cell(const struct dl_layout *l, struct dl_printer *p,
                          size_t i, const struct dl_value *values) {
  const struct column *col = &l->column[i];
  struct dl_text cell = {0}, after = {0};
  show_parts(l, col, values, &cell, &after);
  size_t before = text_width(dl_text_str(&cell));
  size_t room = col->width - col->before - col->after;
  size_t left = col->text ? 0 : room + col->before;
  dl_text_add(&cell, dl_text_str(&after));
  print_field(p, dl_text_str(&cell), left > before ? left - before : 0,
              col->width, NULL);
  p->failed = p->failed || cell.failed || after.failed;
  dl_text_free(&cell);
  dl_text_free(&after);
}

void dl_layout_print_heading(const struct dl_layout *l, struct dl_printer *p,
                             size_t i) {
  struct dl_text heading = {0};
  show_heading(l, &l->column[i], &heading);
  print_title(p, &l->column[i], dl_text_str(&heading), NULL);
  p->failed = p->failed || heading.failed;
  dl_text_free(&heading);
}

void dl_layout_head(const struct dl_layout *l, struct dl_printer *p,
                    size_t indent) {
  struct dl_text unit = {0};
  dl_print_blanks(p, indent + l->mark);
  for (size_t i = 0; i < l->n; i++) {
    dl_print_blanks(p, i > 0 ? BETWEEN : 0);
    dl_layout_print_heading(l, p, i);
  }
  dl_print_newline(p);
  if (!l->units)
    return;
  dl_print_blanks(p, indent + l->mark);
  for (size_t i = 0; i < l->n; i++) {
    dl_print_blanks(p, i > 0 ? BETWEEN : 0);
    show_unit(&l->column[i], &unit);
    print_title(p, &l->column[i], dl_text_str(&unit), DL_DIM);
  }
  dl_print_newline(p);
  p->failed = p->failed || unit.failed;
  dl_text_free(&unit);
}

void dl_layout_row(const struct dl_layout *l, struct dl_printer *p,
                   size_t indent, const struct dl_value *values,
                   const char *mark) {
  if (l->n == 0)
    return;
  dl_print_blanks(p, indent);
  print_field(p, mark ? mark : "", 0, l->mark, NULL);
  for (size_t i = 0; i < l->n; i++) {
    dl_print_blanks(p, i > 0 ? BETWEEN : 0);
    dl_layout_print_cell(l, p, i, values);
  }
  dl_print_newline(p);
}

/* Markup */

bool dl_layout_is_text(const struct dl_layout *l, size_t i) {
  return l->column[i].text;
}

bool dl_layout_has_marks(const struct dl_layout *l) {
  return l->mark > 0;
}

bool dl_layout_has_units(const struct dl_layout *l) {
  return l->units;
}

size_t dl_layout_width(const struct dl_layout *l, size_t i) {
  return l->column[i].width;
}

void dl_layout_heading(const struct dl_layout *l, size_t i, struct dl_text *t) {
  escape(l, t, l->column[i].c.heading);
}

void dl_layout_unit(const struct dl_layout *l, size_t i, struct dl_text *t) {
  struct dl_text unit = {0};
  show_unit(&l->column[i], &unit);
  escape(l, t, dl_text_str(&unit));
  t->failed = t->failed || unit.failed;
  dl_text_free(&unit);
}

void dl_layout_parts(const struct dl_layout *l, size_t i,
                     const struct dl_value *values, struct dl_text *before,
                     struct dl_text *after) {
  show_parts(l, &l->column[i], values, before, after);
}
