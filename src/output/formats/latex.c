/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LaTeX: tables with the rules of the package booktabs, a caption and a label,
 * nothing around them, so that \input takes them into a document. Long texts
 * are broken, and columns that find no room in \textwidth at 10 pt are named
 * below the table. Numbers stand in two columns that touch at the decimal
 * point, which aligns them without another package. */

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "output/formats/document.h"
#include "output/screen.h"

/* Replacements of characters with a meaning in TeX. */
static const char *const SPECIAL[][2] = {
    {"\\", "\\textbackslash{}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "\\symbol{34}"}, /* OT1 has no \textquotedbl */
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
enum { LINE = 72 };
#define EM_PER_CHARACTER 0.5
enum { N_SPECIAL = sizeof SPECIAL / sizeof *SPECIAL };

/* Whether pdflatex has a letter by default: Latin ones and usual punctuation.
 */
static bool is_known(unsigned point) {
  return point < 0x180 || (point >= 0x2013 && point <= 0x2026) ||
         point == 0x20AC || point == 0xFFFD;
}

/* Other letters are for lualatex and xelatex; pdflatex prints their numbers. */
static void add_letter(struct dl_text *out, const char *text, size_t len,
                       unsigned point) {
  if (is_known(point))
    dl_text_add_n(out, text, len);
  else
    dl_text_printf(out, "{\\ifdefined\\Umathcode %.*s\\else U+%04X\\fi}",
                   (int)len, text, point);
}

void dl_latex_escape(struct dl_text *out, const char *text, size_t n) {
  for (const char *end = text + n; text < end;) {
    size_t i = 0, len = 1;
    for (; i < N_SPECIAL; i++) {
      len = strlen(SPECIAL[i][0]);
      if (strncmp(text, SPECIAL[i][0], len) == 0)
        break;
    }
    if (i < N_SPECIAL) {
      dl_text_add(out, SPECIAL[i][1]);
    } else {
      unsigned point;
      len = dl_utf8_next(text, &point);
      add_letter(out, text, len, point);
    }
    text += len;
  }
}

/* The caption of a table over several pages stands in its first row. */
static void caption(struct dl_printer *p, const struct dl_layout *l,
                    const char *title) {
  DL_TEXT(t);
  dl_text_printf(&t, "%s\\caption{%c%s}%s\\label{tab:dlest",
                 l->pages ? "{\\small\n\\def\\dlestcaption{"
                          : "\\begin{table}[htbp]\n\\centering\\small\n",
                 toupper((unsigned char)title[0]), title[0] ? title + 1 : "",
                 l->pages ? "" : "\n");
  for (const char *s = title; *s; s++) /* letters and digits, and - between */
    if (isalnum((unsigned char)*s))
      dl_text_printf(&t, "%s%c",
                     s == title || !isalnum((unsigned char)s[-1]) ? "-" : "",
                     tolower((unsigned char)*s));
  dl_text_add(&t, l->pages ? "}}\n" : "}\n");
  dl_print(p, dl_text_str(&t), NULL);
}

static void open_table(struct dl_printer *p, const struct dl_layout *l) {
  DL_TEXT(t);
  bool wrapped = false;
  dl_text_printf(&t, "\\begin{%s}{@{}%s", l->pages ? "longtable" : "tabular",
                 l->mark > 0 ? "l" : "");
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_layout_column *c = &l->column[i];
    wrapped |= c->wrapped;
    if (c->wrapped)
      dl_text_printf(&t, "p{%.1fem}", EM_PER_CHARACTER * (double)c->width);
    else
      dl_text_add(&t, c->text ? "l" : "r@{}l");
  }
  dl_text_add(&t, "@{}}\n");
  dl_print(p,
           l->pages ? "% needs \\usepackage{booktabs,longtable}\n"
                    : "% needs \\usepackage{booktabs}\n",
           NULL);
  dl_print(p, "\\setlength{\\tabcolsep}{4pt}\n", NULL);
  if (wrapped)
    dl_print(p, "\\renewcommand{\\_}{\\textunderscore\\allowbreak}\n", NULL);
  dl_print(p, dl_text_str(&t), NULL);
  dl_print(p, l->pages ? "  \\dlestcaption\\\\\n" : "", NULL);
  dl_print(p, "  \\toprule\n", NULL);
}

static void rule(struct dl_printer *p, const struct dl_layout *l) {
  dl_print(p, "  \\midrule\n", NULL);
  dl_print(p, l->pages ? "  \\endhead\n" : "", NULL);
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
  const bool text = c->l->column[c->i].text,
             wrapped = c->l->column[c->i].wrapped;
  dl_print(p, c->i > 0 ? " & " : "", NULL);
  if (c->kind == DL_CELL_VALUE) {
    dl_print(p, wrapped ? "\\raggedright\\let\\\\\\tabularnewline " : "", NULL);
    value(p, text, c);
    return;
  }
  dl_print(p, text ? "" : "\\multicolumn{2}{r}{", NULL);
  dl_print(p, c->text, NULL);
  dl_print(p, text ? "" : "}", NULL);
}

static const struct dl_document latex = {
    .style = {dl_latex_escape, false, true},
    .title = {{"\\subsection*{", "}\n"}, {"\\subsubsection*{", "}\n"}},
    .line = {"  ", " & ", " \\\\\n"},
    .remark = ", ",
    .begin_lines = {"\\noindent{\\small\\begin{tabular}{@{}lp{",
                    "\\textwidth}@{}}\n"},
    .end_lines = "\\end{tabular}}\n",
    .open = open_table,
    .rule = rule,
    .head = {"  ", " \\\\\n"},
    .row = {"  ", " \\\\\n"},
    /* In braces, as "\\\\ *" would be a command of its own. */
    .mark = {{"", "& "}, {"{", "} & "}},
    .cell = cell,
    .foot = {"  \\bottomrule\n\\end{tabular}\n",
             "  \\bottomrule\n\\end{longtable}\n"},
    .columns = LINE,
    .caption = caption,
    .dropped = {"\\par\\footnotesize ", ""},
    .close = {"\\end{table}\n", "}\n"},
};

const struct dl_format dl_format_latex = {
    .name = "latex",
    .summary = "tables for papers (package booktabs)",
    .extension = "tex",
    .document = &latex,
};
