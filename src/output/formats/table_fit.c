/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats/table_fit.h"

#include <string.h>

#include "output/screen.h"

bool dl_cell_line(struct dl_text *cell, size_t width, size_t k) {
  const char *s = dl_text_str(cell);
  size_t n = dl_wrapped_line(s, width, true);
  for (; k > 0; k--) {
    s += n + strspn(s + n, " ");
    n = dl_wrapped_line(s, width, true);
  }
  bool more = s[n + strspn(s + n, " ")] != '\0';
  DL_TEXT(line);
  dl_text_add_n(&line, s, n);
  dl_text_clear(cell);
  dl_text_add(cell, dl_text_str(&line));
  return more;
}

static size_t total_width(const struct dl_layout *l) {
  size_t total = l->mark;
  for (size_t i = 0; i < l->n; i++)
    total += l->column[i].width + (i > 0 ? DL_TABLE_GAP : 0);
  return total;
}

/* Whether all cells of a column have one text, which is returned in *text. */
static bool is_constant(const struct dl_layout *l, const struct dl_table *t,
                        size_t i, struct dl_text *text) {
  DL_TEXT(cell);
  dl_text_clear(text);
  dl_layout_cell(l, i, t->values, text);
  bool same = t->n_rows > 1 || dl_is_word(dl_text_str(text), "-");
  for (size_t r = 1; r < t->n_rows && same; r++) {
    dl_layout_cell(l, i, t->values + r * t->n_cols, &cell);
    same = strcmp(dl_text_str(&cell), dl_text_str(text)) == 0;
  }
  return same;
}

/* Notes a column that is dropped, and its value in all rows (NULL: several). */
static void note_dropped(struct dl_layout *l, const struct dl_layout_column *c,
                         const char *value) {
  dl_text_printf(&l->dropped, "%s%s", l->dropped.len > 0 ? ", " : "",
                 dl_text_str(&c->heading));
  if (value && c->unit.len > 0)
    dl_text_printf(&l->dropped, " (%s %s in all rows)", value,
                   dl_text_str(&c->unit));
  else if (value)
    dl_text_printf(&l->dropped, " (%s in all rows)", value);
}

/* Drops column i, with a note of it, unless it has no value ("-"). */
static void drop(struct dl_layout *l, size_t i, const char *value) {
  struct dl_layout_column *c = &l->column[i];
  if (!(value && dl_is_word(value, "-")))
    note_dropped(l, c, value);
  dl_text_free(&c->heading);
  dl_text_free(&c->unit);
  memmove(c, c + 1, (l->n - i - 1) * sizeof *c);
  l->n--;
}
/* The widest text that can be broken; l->n: none. */
static size_t widest_text(const struct dl_layout *l) {
  size_t widest = l->n;
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_layout_column *c = &l->column[i];
    size_t heading = dl_utf8_width(dl_text_str(&c->heading), c->heading.len);
    if (c->text && c->width > DL_LEAST_TEXT && c->width > heading &&
        (widest == l->n || c->width > l->column[widest].width))
      widest = i;
  }
  return widest;
}

/* Breaks texts as far as that helps. */
static void break_texts(struct dl_layout *l, size_t width) {
  for (size_t total = total_width(l); total > width; total = total_width(l)) {
    size_t i = widest_text(l), least = DL_LEAST_TEXT;
    if (i == l->n)
      return;
    struct dl_layout_column *c = &l->column[i];
    size_t heading = dl_utf8_width(dl_text_str(&c->heading), c->heading.len);
    least = heading > least ? heading : least;
    size_t over = total - width;
    c->whole = c->wrapped ? c->whole : c->width;
    c->width = c->width > least + over ? c->width - over : least;
    c->wrapped = true;
  }
}

/* Drops columns of a use from the right. */
static void drop_from_right(struct dl_layout *l, size_t width, int use) {
  for (size_t i = l->n; i-- > 1 && total_width(l) > width && l->n > 2;)
    if ((l->column[i].c.use & (DL_SPARE | DL_MAIN)) == use)
      drop(l, i, NULL);
}

/* Gives broken texts the room that dropped columns have left. */
static void widen_texts(struct dl_layout *l, size_t width) {
  for (size_t i = 0; i < l->n; i++) {
    struct dl_layout_column *c = &l->column[i];
    const size_t total = total_width(l),
                 room = width > total ? width - total : 0;
    if (!c->wrapped)
      continue;
    c->width = c->whole - c->width > room ? c->width + room : c->whole;
    c->wrapped = c->width < c->whole;
  }
}

void dl_layout_fit(struct dl_layout *l, const struct dl_table *t,
                   size_t width) {
  DL_TEXT(value);
  for (size_t i = l->n; i-- > 1 && total_width(l) > width && l->n > 2;)
    if (!(l->column[i].c.use & DL_MAIN) && is_constant(l, t, i, &value))
      drop(l, i, dl_text_str(&value));
  break_texts(l, width);
  drop_from_right(l, width, DL_SPARE);
  drop_from_right(l, width, 0);
  drop_from_right(l, width, DL_MAIN);
  widen_texts(l, width);
  l->units = false;
  for (size_t i = 0; i < l->n; i++)
    l->units = l->units || l->column[i].unit.len > 0;
}
