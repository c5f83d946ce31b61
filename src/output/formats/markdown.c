/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markdown: pipe tables, as GitHub Flavored Markdown has them (4.10). The
 * source is aligned too. */

#include <string.h>

#include "output/formats/document.h"

/* What may begin a construct within a line. */
static void escape(struct dl_text *out, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (strchr("\\`*_[]<>|~&", text[i]))
      dl_text_add(out, "\\");
    dl_text_add_n(out, text + i, 1);
  }
}

static void title(struct dl_printer *p, const char *text, size_t level) {
  static const char hashes[] = "###### ";
  size_t most = sizeof hashes - 2, n = level + 2 < most ? level + 2 : most;
  dl_print(p, hashes + most - n, NULL);
  dl_print(p, text, NULL);
  dl_print(p, "\n", NULL);
}

/* Not a heading, a list or a rule where it begins like one. */
static void say(struct dl_printer *p, const char *text) {
  size_t digits = strspn(text, "0123456789");
  if (strchr("#+-=", text[0]))
    dl_print(p, "\\", NULL);
  if (digits > 0 && (text[digits] == '.' || text[digits] == ')')) {
    dl_text_printf(p->to, "%.*s\\", (int)digits, text);
    text += digits;
  }
  dl_print(p, text, NULL);
}

/* The line below the headings, which aligns the columns. */
static void rule(struct dl_printer *p, const struct dl_layout *l) {
  dl_print(p, l->mark > 0 ? "| -- |" : "|", NULL);
  for (size_t i = 0; i < l->n; i++) {
    bool text = l->column[i].text;
    dl_print(p, text ? " --" : " -", NULL);
    for (size_t w = l->column[i].width; w > 2; w--)
      dl_print(p, "-", NULL);
    dl_print(p, text ? " |" : ": |", NULL);
  }
  dl_print(p, "\n", NULL);
}

static void mark(struct dl_printer *p, const struct dl_layout *l,
                 const char *s) {
  (void)l;
  dl_print(p, " ", NULL);
  dl_print_field(p, s ? s : "", 2, false, NULL);
  dl_print(p, " |", NULL);
}

static void cell(struct dl_printer *p, const struct dl_cell *c) {
  dl_print(p, " ", NULL);
  dl_print_cell(p, c, NULL);
  dl_print(p, " |", NULL);
}

static const struct dl_document markdown = {
    .style = {escape, true},
    .title = title,
    .say = say,
    .line = {"- ", ": ", "\n"},
    .remark = ", ",
    .rule = rule,
    .head = {"|", "\n"},
    .row = {"|", "\n"},
    .mark = mark,
    .cell = cell,
};

const struct dl_format dl_format_markdown = {
    .name = "markdown",
    .summary = "pipe tables, for web pages and notebooks",
    .extension = "md",
    .document = &markdown,
    .begin = dl_document_begin,
    .row = dl_document_row,
    .add = dl_document_add,
    .end = dl_document_end,
};
