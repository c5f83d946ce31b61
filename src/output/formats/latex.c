/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LaTeX: tables with the rules of the package booktabs, a caption and a label,
 * nothing around them, so that \input takes them into a document. Columns that
 * find no room in \textwidth at 10 pt are named below the table. Numbers stand
 * in two columns that touch at the decimal point, which aligns them without
 * another package. */

#include <ctype.h>
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
/* Characters in a line of a table at \\small, with the room between columns. */
enum { LINE = 84 };
enum { N_SPECIAL = sizeof SPECIAL / sizeof *SPECIAL };

void dl_latex_escape(struct dl_text *out, const char *text, size_t n) {
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

static void caption(struct dl_printer *p, const char *title) {
  DL_TEXT(t);
  dl_text_printf(&t,
                 "\\begin{table}[htbp]\n\\centering\\small\n\\caption{%c%s}\n"
                 "\\label{tab:dlest",
                 toupper((unsigned char)title[0]), title[0] ? title + 1 : "");
  for (const char *s = title; *s; s++) /* letters and digits, and - between */
    if (isalnum((unsigned char)*s))
      dl_text_printf(&t, "%s%c",
                     s == title || !isalnum((unsigned char)s[-1]) ? "-" : "",
                     tolower((unsigned char)*s));
  dl_text_add(&t, "}\n");
  dl_print(p, dl_text_str(&t), NULL);
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
    .escape = dl_latex_escape,
    .typeset = true,
    .title = {{"\\subsection*{", "}\n"}, {"\\subsubsection*{", "}\n"}},
    .line = {"  ", " & ", " \\\\\n"},
    .remark = ", ",
    .begin_lines = "\\noindent\\begin{tabular}{lp{.75\\textwidth}}\n",
    .end_lines = "\\end{tabular}\n",
    .open = open_table,
    .rule = rule,
    .head = {"  ", " \\\\\n"},
    .row = {"  ", " \\\\\n"},
    /* In braces, as "\\\\ *" would be a command of its own. */
    .mark = {{"", "& "}, {"{", "} & "}},
    .cell = cell,
    .foot = "  \\bottomrule\n\\end{tabular}\n",
    .columns = LINE,
    .caption = caption,
    .dropped = {"\\par\\footnotesize ", ""},
    .close = "\\end{table}\n",
};

const struct dl_format dl_format_latex = {
    .name = "latex",
    .summary = "tables for papers (package booktabs)",
    .extension = "tex",
    .document = &latex,
};
