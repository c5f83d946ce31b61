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

static void head(struct dl_printer *p, const struct dl_layout *l) {
  dl_print(p, l->mark > 0 ? "|    |" : "|", NULL);
  for (size_t i = 0; i < l->n; i++) {
    dl_print(p, " ", NULL);
    dl_layout_print_heading(p, &l->column[i],
                            dl_text_str(&l->column[i].heading), NULL);
    dl_print(p, " |", NULL);
  }
  dl_print(p, "\n", NULL);
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

static void row(struct dl_printer *p, const struct dl_layout *l,
                const struct dl_value *values, const char *mark) {
  dl_print(p, "|", NULL);
  if (l->mark > 0) {
    struct dl_text escaped = {0};
    escape(&escaped, mark ? mark : "", mark ? strlen(mark) : 0);
    dl_text_printf(p->to, " %-2s |", dl_text_str(&escaped));
    p->failed = p->failed || escaped.failed;
    dl_text_free(&escaped);
  }
  for (size_t i = 0; i < l->n; i++) {
    dl_print(p, " ", NULL);
    dl_layout_print_cell(l, p, i, values);
    dl_print(p, " |", NULL);
  }
  dl_print(p, "\n", NULL);
}

static const struct dl_document markdown = {
    .style = {escape, true},
    .title = title,
    .say = say,
    .line = {"- ", ": ", "\n"},
    .head = head,
    .row = row,
};

const struct dl_format dl_format_markdown = {
    .name = "markdown",
    .summary = "pipe tables, for web pages and notebooks",
    .document = &markdown,
    .begin = dl_document_begin,
    .row = dl_document_row,
    .add = dl_document_add,
    .end = dl_document_end,
};
