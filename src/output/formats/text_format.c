/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text for people: parts with a blank line between them. A part is a run of
 * "label  value unit" lines, a run of statements, a table, a group, or an item
 * of a list. What stands under a title is indented. */

#include "output/formats/document.h"
#include "output/formats/table_fit.h"

#define BETWEEN DL_TABLE_GAP /* also behind a label */

static void cell(struct dl_printer *p, const struct dl_text_cell *c) {
  p->blanks += c->i > 0 ? BETWEEN : 0;
  dl_print_cell(p, c, c->kind == DL_CELL_UNIT ? DL_DIM : NULL);
}

static const struct dl_document text = {
    .escape = dl_text_add_n,
    .compact = true,
    .wraps = true,
    .title = {{"", "\n"}},
    .indent = 2,
    .line = {"", "", "\n"},
    .label_gap = BETWEEN,
    .head = {"", "\n"},
    .row = {"", "\n"},
    .mark = {{"", ""}, {"", ""}},
    .cell = cell,
    .none = "(none)\n",
};

const struct dl_format dl_format_text = {
    .name = "text",
    .summary = "tables and lines for people",
    .on_screen = true,
    .document = &text,
};
