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

static void mark(struct dl_printer *p, const struct dl_layout *l,
                 const char *s) {
  dl_print_field(p, s ? s : "", l->mark, false, NULL);
}

static void cell(struct dl_printer *p, const struct dl_cell *c) {
  p->blanks += c->i > 0 ? BETWEEN : 0;
  dl_print_cell(p, c, c->kind == DL_CELL_UNIT ? DL_DIM : NULL);
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
    .head = {"", "\n"},
    .row = {"", "\n"},
    .mark = mark,
    .cell = cell,
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
