/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markdown: pipe tables, as GitHub Flavored Markdown has them (4.10). The
 * source is aligned too. */

#include <string.h>

#include "output/formats/markup.h"

/* What may begin a construct within a line. */
static void escape(struct dl_text *out, const char *text) {
  for (; *text; text++) {
    if (strchr("\\`*_[]<>|~&", *text))
      dl_text_add(out, "\\");
    dl_text_add_n(out, text, 1);
  }
}

static void title(struct dl_printer *p, const char *text, size_t level) {
  static const char hashes[] = "######";
  size_t n = level + 2 < sizeof hashes - 1 ? level + 2 : sizeof hashes - 1;
  dl_print(p, hashes + sizeof hashes - 1 - n, NULL);
  dl_print_blanks(p, 1);
  dl_print(p, text, NULL);
  dl_print_newline(p);
}

/* Not a heading, a list or a rule where it begins like one. */
static void say(struct dl_printer *p, const char *text) {
  size_t digits = strspn(text, "0123456789");
  if (strchr("#+-=", text[0]))
    dl_print(p, "\\", NULL);
  if (digits > 0 && (text[digits] == '.' || text[digits] == ')')) {
    fprintf(p->f, "%.*s\\", (int)digits, text);
    text += digits;
  }
  dl_print(p, text, NULL);
  dl_print_newline(p);
}

static void line(struct dl_printer *p, const char *label, const char *value) {
  dl_print(p, "- ", NULL);
  dl_print(p, label, NULL);
  dl_print(p, ": ", NULL);
  dl_print(p, value, NULL);
  dl_print_newline(p);
}

static void head(struct dl_printer *p, const struct dl_layout *l) {
  bool marks = dl_layout_has_marks(l);
  dl_print(p, marks ? "|    |" : "|", NULL);
  for (size_t i = 0; i < dl_layout_columns(l); i++) {
    dl_print_blanks(p, 1);
    dl_layout_print_heading(l, p, i);
    dl_print(p, " |", NULL);
  }
  dl_print_newline(p);
  dl_print(p, marks ? "| -- |" : "|", NULL);
  for (size_t i = 0; i < dl_layout_columns(l); i++) {
    bool text = dl_layout_is_text(l, i);
    dl_print_blanks(p, 1);
    dl_print(p, text ? "--" : "-", NULL);
    for (size_t w = dl_layout_width(l, i); w > 2; w--)
      dl_print(p, "-", NULL);
    dl_print(p, text ? " |" : ": |", NULL);
  }
  dl_print_newline(p);
}

static void row(struct dl_printer *p, const struct dl_layout *l,
                const struct dl_value *values, const char *mark) {
  dl_print(p, "|", NULL);
  if (dl_layout_has_marks(l)) {
    struct dl_text escaped = {0};
    escape(&escaped, mark ? mark : "");
    fprintf(p->f, " %-2s |", dl_text_str(&escaped));
    p->failed = p->failed || escaped.failed;
    dl_text_free(&escaped);
  }
  for (size_t i = 0; i < dl_layout_columns(l); i++) {
    dl_print_blanks(p, 1);
    dl_layout_print_cell(l, p, i, values);
    dl_print(p, " |", NULL);
  }
  dl_print_newline(p);
}

static const struct dl_markup markdown = {
    .table = {.style = {escape, true}, .head = head, .row = row},
    .title = title,
    .say = say,
    .line = line,
};

static enum dl_status report(const struct dl_report *r, FILE *f, bool colour,
                             struct dl_diag *d) {
  (void)colour;
  return dl_markup_report(&markdown, r, f, d);
}

static enum dl_status begin(struct dl_stream **s, FILE *f, const char *key,
                            const struct dl_column *columns, size_t n,
                            struct dl_diag *d) {
  (void)key;
  return dl_held_begin(s, f, &markdown.table, columns, n, d);
}

const struct dl_format dl_format_markdown = {
    "markdown",  "pipe tables, for web pages and notebooks",
    report,      begin,
    dl_held_row, dl_held_end,
    NULL,
};
