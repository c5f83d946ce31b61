/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people: layout and printing. */

#include "output/formats/document.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "output/screen.h"

#define ROWS_PER_PAGE 40

/* Printing */

static void add_blanks(struct dl_text *t, size_t n) {
  static const char blanks[] = "                                ";
  for (size_t most = sizeof blanks - 1; n > 0;) {
    size_t some = n < most ? n : most;
    dl_text_add_n(t, blanks, some);
    n -= some;
  }
}

void dl_print(struct dl_printer *p, const char *text, const char *effect) {
  size_t n = strlen(text);
  bool ends_line = n > 0 && text[n - 1] == '\n';
  if (ends_line)
    n--;
  if (n > 0) {
    add_blanks(p->to, p->blanks);
    p->blanks = 0;
    dl_screen_add(p->to, &p->screen, effect, text, n);
  }
  if (ends_line) {
    dl_text_add_n(p->to, "\n", 1);
    p->blanks = p->indent;
  }
}

void dl_print_field(struct dl_printer *p, const char *text, size_t width,
                    bool right, const char *effect) {
  size_t own = dl_utf8_width(text, strlen(text));
  size_t rest = width > own ? width - own : 0;
  p->blanks += right ? rest : 0;
  dl_print(p, text, effect);
  p->blanks += right ? 0 : rest;
}

void dl_print_wrapped(struct dl_printer *p, const char *text, size_t hang,
                      const char *effect) {
  size_t indent = p->indent + hang, width = p->screen.width;
  if (width < indent + DL_LEAST_TEXT) {
    dl_print(p, text, effect);
    return;
  }
  while (*text) {
    size_t n = dl_wrapped_line(text, width - indent, false);
    DL_TEXT(line);
    dl_text_add_n(&line, text, n);
    dl_print(p, dl_text_str(&line), effect);
    text += n + strspn(text + n, " ");
    if (*text) {
      dl_print(p, "\n", NULL);
      p->blanks += hang;
    }
  }
}

void dl_print_cell(struct dl_printer *p, const struct dl_text_cell *c,
                   const char *effect) {
  const struct dl_layout_column *col = &c->l->column[c->i];
  size_t left = 0;
  if (c->kind != DL_CELL_VALUE) {
    dl_print_field(p, c->text, col->width, !col->text, effect);
    return;
  }
  size_t before = dl_utf8_width(c->text, c->before);
  if (!col->text && col->width - col->after > before)
    left = col->width - col->after - before;
  p->blanks += left;
  dl_print_field(p, c->text, col->width - left, false, effect);
}

/* Cells */

/* The alignment of a cell. */
static size_t point_of(const struct dl_layout_column *col, const char *s,
                       size_t len) {
  const char *dots = strchr(s, '.') ? strstr(s, " .. ") : NULL;
  if (!col->text && dots)
    return (size_t)(dots - s);
  if (!col->text && !col->own_units && col->c.style != DL_TIME)
    return strcspn(s, ".e");
  return len;
}

static void show(const struct dl_layout_column *col, const struct dl_value *row,
                 struct dl_text *to) {
  const struct dl_value *low = &row[col->i];
  const struct dl_value *high = (col->c.use & DL_RANGE) ? low + 1 : NULL;
  dl_text_clear(to);
  if (col->own_units)
    dl_show(to, col->c.style, col->c.unit, low, high);
  else
    dl_show_range(to, col->c.style, low, high, &col->scale);
}

size_t dl_layout_cell(const struct dl_layout *l, size_t i,
                      const struct dl_value *row, struct dl_text *cell) {
  const struct dl_layout_column *col = &l->column[i];
  DL_TEXT(shown);
  if (l->document->escape == dl_text_add_n) { /* as it is */
    show(col, row, cell);
    return point_of(col, dl_text_str(cell), cell->len);
  }
  show(col, row, &shown);
  const char *s = dl_text_str(&shown);
  size_t at = point_of(col, s, shown.len);
  dl_text_clear(cell);
  l->document->escape(cell, s, at);
  size_t before = cell->len;
  l->document->escape(cell, s + at, shown.len - at);
  return before;
}

/* Laying out */

/* Whether interval b belongs to estimate a, so that both have one multiple. */
static bool shares_scale(const struct dl_column *a, const struct dl_column *b) {
  return (b->use & DL_RANGE) && a->style == b->style &&
         strcmp(dl_text_or(a->unit, ""), dl_text_or(b->unit, "")) == 0;
}

/* Chooses one multiple for all cells of a column, or lets each have its own.
 * An interval shares the multiple of the estimate before it, if style and unit
 * are equal. */
static void choose_scales(struct dl_layout *l, const struct dl_table *t) {
  size_t next = 0;
  DL_FREED double *x = dl_calloc(2 * l->n * t->n_rows, sizeof *x);
  for (size_t i = 0; i < l->n; i = next) {
    const struct dl_column *a = &l->column[i].c;
    size_t used = 0;
    for (next = i; next < l->n; next++) {
      const struct dl_layout_column *col = &l->column[next];
      const struct dl_column *b = &col->c;
      if (next > i && !shares_scale(a, b))
        break;
      for (size_t r = 0; r < t->n_rows; r++) {
        const struct dl_value *v = &t->values[r * t->n_cols + col->i];
        x[used++] = dl_value_quantity(v);
        if (b->use & DL_RANGE)
          x[used++] = dl_value_quantity(v + 1);
      }
    }
    struct dl_multiple scale;
    bool shared = dl_multiple_shared(a->style, x, used, &scale);
    for (size_t k = i; k < next; k++) {
      l->column[k].scale = scale;
      l->column[k].own_units = scale.name && !shared;
    }
  }
}

static void widen(size_t *width, const char *s, size_t n) {
  size_t own = dl_utf8_width(s, n);
  if (own > *width)
    *width = own;
}

/* Alignment, heading, unit and widths of column i. Strings are aligned to the
 * left; a column without any value as its style says. */
static void measure(struct dl_layout *l, size_t i, const struct dl_table *t) {
  struct dl_layout_column *col = &l->column[i];
  DL_TEXT(cell);
  DL_TEXT(safe);
  bool numbers = false, named = !col->c.unit && !(col->c.use & DL_RANGE);
  for (size_t r = 0; r < t->n_rows; r++) {
    const struct dl_value *v = &t->values[r * t->n_cols + col->i];
    bool number = v->type == DL_NUMBER || v->type == DL_COUNT;
    bool absent = dl_value_absent(v);
    numbers = numbers || (number && !absent);
    col->text = col->text || (!number && !absent);
  }
  if (!numbers && named &&
      (col->c.style == DL_PLAIN || col->c.style == DL_CODE))
    col->text = true;
  for (size_t r = 0; r < t->n_rows; r++) {
    size_t n = dl_layout_cell(l, i, t->values + r * t->n_cols, &cell);
    if (l->document->typeset) {
      show(col, t->values + r * t->n_cols, &cell);
      n = cell.len;
    }
    widen(&col->before, dl_text_str(&cell), n);
    widen(&col->after, dl_text_str(&cell) + n, cell.len - n);
  }
  dl_text_clear(&cell);
  if (!col->own_units)
    dl_show_unit(&cell, "", col->c.style, col->c.unit, &col->scale);
  l->units = l->units || cell.len > 0;
  dl_utf8_clean(&safe, dl_text_str(&cell), false);
  l->document->escape(&col->unit, dl_text_str(&safe), safe.len);
  dl_text_clear(&safe);
  dl_utf8_clean(&safe, col->c.heading, false);
  l->document->escape(&col->heading, dl_text_str(&safe), safe.len);
  if (!l->document->unit_in_heading)
    widen(&col->width, dl_text_str(&col->unit), col->unit.len);
  else if (cell.len > 0 && col->c.heading[0])
    dl_text_printf(&col->heading, " (%s)", dl_text_str(&col->unit));
  widen(&col->width, dl_text_str(&col->heading), col->heading.len);
  if (col->before + col->after > col->width)
    col->width = col->before + col->after;
}

struct dl_layout *dl_layout_new(const struct dl_table *t,
                                const struct dl_document *document) {
  struct dl_layout *l = dl_calloc(1, sizeof *l);
  l->document = document;
  l->pages = t->n_rows > ROWS_PER_PAGE;
  l->column = dl_calloc(t->n_cols, sizeof *l->column);
  for (size_t i = 0; i < t->n_cols; i++) {
    struct dl_column c = t->columns[i];
    bool range = (c.use & DL_RANGE) && i + 1 < t->n_cols;
    c.use = (unsigned char)(range ? c.use : c.use & ~DL_RANGE);
    if (c.heading)
      l->column[l->n++] = (struct dl_layout_column){.c = c, .i = i};
    i += range;
  }
  choose_scales(l, t);
  for (size_t i = 0; i < l->n; i++)
    measure(l, i, t);
  size_t mark = 0;
  for (size_t r = 0; r < t->n_rows; r++)
    if (t->marks[r]) {
      widen(&mark, t->marks[r], strlen(t->marks[r]));
      l->mark = mark + 1;
    }
  return l;
}

void dl_layout_free(struct dl_layout *l) {
  if (!l)
    return;
  for (size_t i = 0; i < l->n; i++) {
    dl_text_free(&l->column[i].heading);
    dl_text_free(&l->column[i].unit);
  }
  dl_text_free(&l->dropped);
  free(l->column);
  free(l);
}

void dl_print_heading(struct dl_printer *p, const char *const around[2],
                      const char *key) {
  DL_TEXT(title);
  dl_text_printf(&title, "%c%s", toupper((unsigned char)key[0]), key + 1);
  dl_print(p, around[0], NULL);
  dl_print(p, title.s, NULL);
  dl_print(p, around[1], NULL);
}
