/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LaTeX: tables with the rules of the package booktabs, nothing around them,
 * so that \input takes them into a document. Numbers stand in two columns that
 * touch at the decimal point, which aligns them without another package. */

#include <string.h>

#include "base/file.h"
#include "output/formats/document.h"

/* Replacements of characters with a meaning in TeX. */
static const char *const SPECIAL[][2] = {
    {"\\", "\\textbackslash{}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "\\textquotedbl{}"},
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"\xEF\xBF\xBD", "?"}, /* U+FFFD: not in fonts */
};
enum { N_SPECIAL = sizeof SPECIAL / sizeof *SPECIAL };

static void escape(struct dl_text *out, const char *text, size_t n) {
  for (const char *end = text + n; text < end;) {
    size_t i = 0, len = 1;
    for (; i < N_SPECIAL; i++) {
      len = strlen(SPECIAL[i][0]);
      if (strncmp(text, SPECIAL[i][0], len) == 0)
        break;
    }
    if (i < N_SPECIAL)
      dl_text_add(out, SPECIAL[i][1]);
    else
      dl_text_add_n(out, text, len = 1);
    text += len;
  }
}

static void open_table(struct dl_printer *p, const struct dl_layout *l) {
  dl_print(p, "% needs \\usepackage{booktabs}\n", NULL);
  dl_print(p, "\\begin{tabular}{", NULL);
  dl_print(p, l->mark > 0 ? "l" : "", NULL);
  for (size_t i = 0; i < l->n; i++)
    dl_print(p, l->column[i].text ? "l" : "r@{}l", NULL);
  dl_print(p, "}\n", NULL);
  dl_print(p, "  \\toprule\n", NULL);
}

static void rule(struct dl_printer *p, const struct dl_layout *l) {
  (void)l;
  dl_print(p, "  \\midrule\n", NULL);
}

/* Prints a part of a number: its minus is not a hyphen, and blanks and dots
 * form a range. */
static void put_number(struct dl_printer *p, const char *s, size_t n) {
  for (const char *end = s + n; s < end; s++) {
    char c[] = {*s, 0};
    if (strncmp(s, " .. ", 4) == 0) {
      dl_print(p, "~--~", NULL);
      s += 3;
    } else if (*s == '-') {
      dl_print(p, "$-$", NULL);
    } else {
      dl_print(p, *s == ' ' ? "~" : c, NULL);
    }
  }
}

/* A number's bytes in front of its decimal point stand in a column of their
 * own. */
static void value(struct dl_printer *p, bool text,
                  const struct dl_text_cell *c) {
  const char *s = c->text;
  if (dl_is_stdio(s)) {
    dl_print(p, text ? "--" : "-- &", NULL);
  } else if (text) {
    dl_print(p, s[0] == '[' || s[0] == '*' ? "{}" : "", NULL);
    dl_print(p, s, NULL);
  } else {
    put_number(p, s, c->before);
    dl_print(p, " & ", NULL);
    put_number(p, s + c->before, strlen(s) - c->before);
  }
}

static void cell(struct dl_printer *p, const struct dl_text_cell *c) {
  bool text = c->l->column[c->i].text;
  dl_print(p, c->i > 0 ? " & " : "", NULL);
  if (c->kind == DL_CELL_VALUE) {
    value(p, text, c);
    return;
  }
  dl_print(p, text ? "" : "\\multicolumn{2}{r}{", NULL);
  dl_print(p, c->text, NULL);
  dl_print(p, text ? "" : "}", NULL);
}

static const struct dl_document latex = {
    .style = {escape, false},
    .title = {{"\\subsection*{", "}\n"}, {"\\subsubsection*{", "}\n"}},
    .line = {"  ", " & ", " \\\\\n"},
    .remark = ", ",
    .begin_lines = "\\begin{tabular}{ll}\n",
    .end_lines = "\\end{tabular}\n",
    .open = open_table,
    .rule = rule,
    .head = {"  ", " \\\\\n"},
    .row = {"  ", " \\\\\n"},
    /* In braces, as "\\\\ *" would be a command of its own. */
    .mark = {{"", "& "}, {"{", "} & "}},
    .cell = cell,
    .foot = "  \\bottomrule\n\\end{tabular}\n",
};

const struct dl_format dl_format_latex = {
    .name = "latex",
    .summary = "tables for papers (package booktabs)",
    .extension = "tex",
    .document = &latex,
};
