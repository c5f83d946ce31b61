/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LaTeX: tables with the rules of the package booktabs, nothing around them,
 * so that \input takes them into a document. Numbers stand in two columns that
 * touch at the decimal point, which aligns them without another package. */

#include <string.h>

#include "output/formats/markup.h"

/* Characters that mean something to TeX. */
static const char *command_for(char c) {
  switch (c) {
  case '\\':
    return "\\textbackslash{}";
  case '~':
    return "\\textasciitilde{}";
  case '^':
    return "\\textasciicircum{}";
  case '<':
    return "\\textless{}";
  case '>':
    return "\\textgreater{}";
  case '|':
    return "\\textbar{}";
  case '"':
    return "\\textquotedbl{}";
  default:
    return NULL;
  }
}

static void escape(struct dl_text *out, const char *text) {
  static const char unknown[] = "\xEF\xBF\xBD"; /* U+FFFD: not in fonts */
  for (; *text; text++) {
    const char *command = command_for(*text);
    if (command) {
      dl_text_add(out, command);
    } else if (strncmp(text, unknown, sizeof unknown - 1) == 0) {
      dl_text_add(out, "?");
      text += sizeof unknown - 2;
    } else {
      if (strchr("&%$#_{}", *text))
        dl_text_add(out, "\\");
      dl_text_add_n(out, text, 1);
    }
  }
}

static void put_line(struct dl_printer *p, const char *text) {
  dl_print(p, text, NULL);
  dl_print_newline(p);
}

static void title(struct dl_printer *p, const char *text, size_t level) {
  dl_print(p, level == 0 ? "\\subsection*{" : "\\subsubsection*{", NULL);
  dl_print(p, text, NULL);
  put_line(p, "}");
}

static void begin_lines(struct dl_printer *p) {
  put_line(p, "\\begin{tabular}{ll}");
}

static void line(struct dl_printer *p, const char *label, const char *value) {
  dl_print(p, "  ", NULL);
  dl_print(p, label, NULL);
  dl_print(p, " & ", NULL);
  dl_print(p, value, NULL);
  put_line(p, " \\\\");
}

static void end_lines(struct dl_printer *p) {
  put_line(p, "\\end{tabular}");
}

/* A row of headings, or of units. */
static void head_row(struct dl_printer *p, const struct dl_layout *l,
                     void (*part)(const struct dl_layout *, size_t,
                                  struct dl_text *)) {
  struct dl_text t = {0};
  dl_print(p, dl_layout_has_marks(l) ? "  & " : "  ", NULL);
  for (size_t i = 0; i < dl_layout_columns(l); i++) {
    dl_text_clear(&t);
    part(l, i, &t);
    bool text = dl_layout_is_text(l, i);
    dl_print(p, i > 0 ? " & " : "", NULL);
    dl_print(p, text ? "" : "\\multicolumn{2}{r}{", NULL);
    dl_print(p, dl_text_str(&t), NULL);
    dl_print(p, text ? "" : "}", NULL);
  }
  put_line(p, " \\\\");
  p->failed = p->failed || t.failed;
  dl_text_free(&t);
}

static void head(struct dl_printer *p, const struct dl_layout *l) {
  put_line(p, "% needs \\usepackage{booktabs}");
  dl_print(p, "\\begin{tabular}{", NULL);
  dl_print(p, dl_layout_has_marks(l) ? "l" : "", NULL);
  for (size_t i = 0; i < dl_layout_columns(l); i++)
    dl_print(p, dl_layout_is_text(l, i) ? "l" : "r@{}l", NULL);
  put_line(p, "}");
  put_line(p, "  \\toprule");
  head_row(p, l, dl_layout_heading);
  if (dl_layout_has_units(l))
    head_row(p, l, dl_layout_unit);
  put_line(p, "  \\midrule");
}

/* Part of a number; its minus is not a hyphen, its blanks and dots those of a
 * range. */
static void put_number(struct dl_printer *p, const char *s) {
  for (; *s; s++) {
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

static void cell(struct dl_printer *p, const struct dl_layout *l, size_t i,
                 const char *before, const char *after) {
  bool absent = strcmp(before, "-") == 0 && !after[0];
  if (absent) {
    dl_print(p, dl_layout_is_text(l, i) ? "--" : "-- &", NULL);
  } else if (dl_layout_is_text(l, i)) {
    dl_print(p, before[0] == '[' || before[0] == '*' ? "{}" : "", NULL);
    dl_print(p, before, NULL);
  } else {
    put_number(p, before);
    dl_print(p, " & ", NULL);
    put_number(p, after);
  }
}

static void row(struct dl_printer *p, const struct dl_layout *l,
                const struct dl_value *values, const char *mark) {
  struct dl_text before = {0}, after = {0};
  dl_print(p, "  ", NULL);
  if (dl_layout_has_marks(l)) {
    escape(&before, mark ? mark : "");
    dl_print(p, "{", NULL); /* "\\\\ *" would be a command of its own */
    dl_print(p, dl_text_str(&before), NULL);
    dl_print(p, "} & ", NULL);
  }
  for (size_t i = 0; i < dl_layout_columns(l); i++) {
    dl_text_clear(&before);
    dl_text_clear(&after);
    dl_layout_parts(l, i, values, &before, &after);
    dl_print(p, i > 0 ? " & " : "", NULL);
    cell(p, l, i, dl_text_str(&before), dl_text_str(&after));
  }
  put_line(p, " \\\\");
  p->failed = p->failed || before.failed || after.failed;
  dl_text_free(&before);
  dl_text_free(&after);
}

static void foot(struct dl_printer *p, const struct dl_layout *l) {
  (void)l;
  put_line(p, "  \\bottomrule");
  put_line(p, "\\end{tabular}");
}

static const struct dl_markup latex = {
    .table = {.style = {escape, false}, .head = head, .row = row, .foot = foot},
    .title = title,
    .say = put_line,
    .begin_lines = begin_lines,
    .line = line,
    .end_lines = end_lines,
};

static enum dl_status report(const struct dl_report *r, FILE *f, bool colour,
                             struct dl_diag *d) {
  (void)colour;
  return dl_markup_report(&latex, r, f, d);
}

static enum dl_status begin(struct dl_stream **s, FILE *f, const char *key,
                            const struct dl_column *columns, size_t n,
                            struct dl_diag *d) {
  (void)key;
  return dl_held_begin(s, f, &latex.table, columns, n, d);
}

const struct dl_format dl_format_latex = {
    "latex",     "tables for papers (package booktabs)",
    report,      begin,
    dl_held_row, dl_held_end,
    NULL,
};
