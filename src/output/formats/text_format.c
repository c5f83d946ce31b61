/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text for people: parts with a blank line between them. A part is a run of
 * "label  value unit" lines, a run of statements, a table, a group, or an item
 * of a list. What stands under a title is indented. */

#include "output/formats/document.h"
#include "output/formats/table_fit.h"

#define INDENT 2
#define BETWEEN DL_TABLE_GAP /* also behind a label */

static void title(struct dl_printer *p, const char *text, size_t level) {
  (void)level;
  dl_print_wrapped(p, text, 0, DL_BOLD);
  p->indent += INDENT;
  dl_print(p, "\n", NULL);
}

static void head(struct dl_printer *p, const struct dl_layout *l) {
  for (int units = 0; units <= (l->units ? 1 : 0); units++) {
    p->blanks += l->mark;
    for (size_t i = 0; i < l->n; i++) {
      const struct dl_layout_column *col = &l->column[i];
      p->blanks += i > 0 ? BETWEEN : 0;
      dl_layout_print_heading(p, col,
                              dl_text_str(units ? &col->unit : &col->heading),
                              units ? DL_DIM : NULL);
    }
    dl_print(p, "\n", NULL);
  }
}

/* As many lines as the cell that is broken into most. */
static void row(struct dl_printer *p, const struct dl_layout *l,
                const struct dl_value *values, const char *mark) {
  bool more = true;
  for (size_t line = 0; more; line++) {
    more = false;
    dl_print_field(p, mark && line == 0 ? mark : "", l->mark, false, NULL);
    for (size_t i = 0; i < l->n; i++) {
      p->blanks += i > 0 ? BETWEEN : 0;
      if (l->column[i].wrapped)
        more |= dl_print_cell_line(l, p, i, values, line);
      else if (line == 0)
        dl_layout_print_cell(l, p, i, values);
      else
        p->blanks += l->column[i].width;
    }
    dl_print(p, "\n", NULL);
  }
}

static void say(struct dl_printer *p, const char *text) {
  dl_print_wrapped(p, text, 0, NULL);
}

static const struct dl_document text = {
    .style = {dl_text_add_n, false},
    .compact = true,
    .wraps = true,
    .title = title,
    .say = say,
    .line = {"", "", "\n"},
    .label_gap = BETWEEN,
    .head = head,
    .row = row,
    .none = "(none)\n",
};

const struct dl_format dl_format_text = {
    .name = "text",
    .summary = "tables and lines for people",
    .on_screen = true,
    .document = &text,
    .begin = dl_document_begin,
    .row = dl_document_row,
    .add = dl_document_add,
    .end = dl_document_end,
};
