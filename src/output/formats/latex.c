/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LaTeX: tables with the rules of the package booktabs, nothing around them,
 * so that \input takes them into a document. Numbers stand in two columns that
 * touch at the decimal point, which aligns them without another package. */

#include <string.h>

#include "output/formats/document.h"

/* What stands for a character that means something to TeX. */
static const struct {
  const char *text, *command;
} SPECIAL[] = {
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
      len = strlen(SPECIAL[i].text);
      if (strncmp(text, SPECIAL[i].text, len) == 0)
        break;
    }
    if (i < N_SPECIAL)
      dl_text_add(out, SPECIAL[i].command);
    else
      dl_text_add_n(out, text, len = 1);
    text += len;
  }
}

static void title(struct dl_printer *p, const char *text, size_t level) {
  dl_print(p, level == 0 ? "\\subsection*{" : "\\subsubsection*{", NULL);
  dl_print(p, text, NULL);
  dl_print(p, "}\n", NULL);
}

/* A row of headings, or of units. */
static void head_row(struct dl_printer *p, const struct dl_layout *l,
                     bool units) {
  dl_print(p, l->mark > 0 ? "  & " : "  ", NULL);
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_layout_column *col = &l->column[i];
    dl_print(p, i > 0 ? " & " : "", NULL);
    dl_print(p, col->text ? "" : "\\multicolumn{2}{r}{", NULL);
    dl_print(p, dl_text_str(units ? &col->unit : &col->heading), NULL);
    dl_print(p, col->text ? "" : "}", NULL);
  }
  dl_print(p, " \\\\\n", NULL);
}

static void head(struct dl_printer *p, const struct dl_layout *l) {
  dl_print(p, "% needs \\usepackage{booktabs}\n", NULL);
  dl_print(p, "\\begin{tabular}{", NULL);
  dl_print(p, l->mark > 0 ? "l" : "", NULL);
  for (size_t i = 0; i < l->n; i++)
    dl_print(p, l->column[i].text ? "l" : "r@{}l", NULL);
  dl_print(p, "}\n", NULL);
  dl_print(p, "  \\toprule\n", NULL);
  head_row(p, l, false);
  if (l->units)
    head_row(p, l, true);
  dl_print(p, "  \\midrule\n", NULL);
}

/* Part of a number; its minus is not a hyphen, its blanks and dots those of a
 * range. */
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

/* `before` bytes of a number stand in front of its decimal point. */
static void put_cell(struct dl_printer *p, bool text, const char *s,
                     size_t before) {
  if (strcmp(s, "-") == 0) {
    dl_print(p, text ? "--" : "-- &", NULL);
  } else if (text) {
    dl_print(p, s[0] == '[' || s[0] == '*' ? "{}" : "", NULL);
    dl_print(p, s, NULL);
  } else {
    put_number(p, s, before);
    dl_print(p, " & ", NULL);
    put_number(p, s + before, strlen(s) - before);
  }
}

static void row(struct dl_printer *p, const struct dl_layout *l,
                const struct dl_value *values, const char *mark) {
  struct dl_text cell = {0};
  dl_print(p, "  ", NULL);
  if (l->mark > 0) {
    escape(&cell, mark ? mark : "", mark ? strlen(mark) : 0);
    dl_print(p, "{", NULL); /* "\\\\ *" would be a command of its own */
    dl_print(p, dl_text_str(&cell), NULL);
    dl_print(p, "} & ", NULL);
  }
  for (size_t i = 0; i < l->n; i++) {
    size_t before = dl_layout_cell(l, i, values, &cell);
    dl_print(p, i > 0 ? " & " : "", NULL);
    put_cell(p, l->column[i].text, dl_text_str(&cell), before);
  }
  dl_print(p, " \\\\\n", NULL);
  p->failed = p->failed || cell.failed;
  dl_text_free(&cell);
}

static const struct dl_document latex = {
    .style = {escape, false},
    .title = title,
    .line = {"  ", " & ", " \\\\\n"},
    .begin_lines = "\\begin{tabular}{ll}\n",
    .end_lines = "\\end{tabular}\n",
    .head = head,
    .row = row,
    .foot = "  \\bottomrule\n\\end{tabular}\n",
};

const struct dl_format dl_format_latex = {
    .name = "latex",
    .summary = "tables for papers (package booktabs)",
    .document = &latex,
    .begin = dl_document_begin,
    .row = dl_document_row,
    .add = dl_document_add,
    .end = dl_document_end,
};
