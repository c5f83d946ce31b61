/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markdown: pipe tables, as GitHub Flavored Markdown has them (4.10). The
 * source is aligned too. */

#include <string.h>

#include "output/formats/document.h"

/* Characters that may begin a construct within a line. */
static void escape(struct dl_text *out, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (strchr("\\`*_[]<>|~&", text[i]))
      dl_text_add(out, "\\");
    dl_text_add_n(out, text + i, 1);
  }
}

/* Not a heading, a list or a rule where it begins like one. */
static const char *begin_say(struct dl_printer *p, const char *text) {
  size_t digits = strspn(text, "0123456789");
  if (strchr("#+-=", text[0]))
    dl_print(p, "\\", NULL);
  if (digits == 0 || (text[digits] != '.' && text[digits] != ')'))
    return text;
  dl_text_printf(p->to, "%.*s\\", (int)digits, text);
  return text + digits;
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

static void cell(struct dl_printer *p, const struct dl_text_cell *c) {
  dl_print(p, " ", NULL);
  dl_print_cell(p, c, NULL);
  dl_print(p, " |", NULL);
}

static const struct dl_document markdown = {
    .escape = escape,
    .unit_in_heading = true,
    .title = {{"## ", "\n"},
              {"### ", "\n"},
              {"#### ", "\n"},
              {"##### ", "\n"},
              {"###### ", "\n"}},
    .begin_say = begin_say,
    .line = {"- ", ": ", "\n"},
    .remark = ", ",
    .rule = rule,
    .head = {"|", "\n"},
    .row = {"|", "\n"},
    .mark = {{" ", " |"}, {" ", " |"}},
    .mark_width = 2,
    .cell = cell,
};

const struct dl_format dl_format_markdown = {
    .name = "markdown",
    .summary = "pipe tables, for web pages and notebooks",
    .extension = "md",
    .document = &markdown,
};
