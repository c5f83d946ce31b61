/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HTML: one page that needs nothing else, neither a network nor a script. It
 * fits a telephone, prints, and follows the reader's choice of a dark screen;
 * all texts have a contrast of at least 4.5 to 1 (WCAG 2.2, AA). Tables that
 * are wider than the page scroll within it. */

#include <math.h>
#include <string.h>

#include "output/formats/document.h"

/* Intervals that reach further than so many times the largest value are cut:
 * they would leave no room for the bars. */
#define MOST_REACH 3

static const char page[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n"
    "<title>dlest: energy of deep learning</title>\n<style>\n"
    ":root{color-scheme:light dark;--text:#1a1a1a;--page:#fff;--soft:#555;"
    "--line:#c8c8c8;--bar:#2f6690;--mark:#111}\n"
    "@media (prefers-color-scheme:dark){:root{--text:#e8e8e8;--page:#17191c;"
    "--soft:#b4b8bd;--line:#4a4e54;--bar:#6fa8d6;--mark:#fff}}\n"
    "body{margin:0 auto;padding:1rem;max-width:72rem;color:var(--text);"
    "background:var(--page);font:1rem/1.5 system-ui,sans-serif;"
    "overflow-wrap:anywhere}\n"
    "h1{font-size:1.1rem;color:var(--soft);margin:0}\n"
    "h2{font-size:1.3rem;line-height:1.3;margin:1.5rem 0 .5rem}\n"
    "h3{font-size:1.05rem;margin:1.2rem 0 .4rem}\n"
    "p{margin:.3rem 0}\n"
    "dl{margin:.5rem 0}\n"
    "dl div{display:grid;grid-template-columns:16rem 8rem 1fr;"
    "gap:0 1rem;border-bottom:1px solid var(--line);padding:.15rem 0}\n"
    "dt{color:var(--soft)}dd{margin:0;white-space:pre-wrap}\n"
    "dt+dd:last-child{grid-column:2/-1}\n"
    /* A shadow at the right edge where a table can be scrolled. */
    ".table{overflow-x:auto;margin:.5rem 0;background:"
    "linear-gradient(to left,var(--page) 50%,transparent) right/2rem 100% "
    "no-repeat local,linear-gradient(to left,var(--soft),transparent) "
    "right/.8rem 100% no-repeat scroll}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem .6rem;text-align:left;white-space:nowrap;"
    "border-bottom:1px solid var(--line)}\n"
    "th{color:var(--soft);font-weight:600;white-space:normal;"
    "vertical-align:bottom;overflow-wrap:normal}.n{text-align:right}\n"
    "figure{margin:.8rem 0}figcaption{color:var(--soft)}\n"
    ".bar{display:grid;grid-template-columns:16rem 1fr;"
    "gap:0 1rem;align-items:center;margin:.3rem 0}\n"
    ".bar svg{width:100%;height:1.4rem;display:block}\n"
    ".bar span{grid-column:2;color:var(--soft);font-size:.9rem}\n"
    "rect{fill:var(--bar)}path{stroke:var(--mark);stroke-width:2;fill:none;"
    "vector-effect:non-scaling-stroke}\n"
    "@media (max-width:40rem){dl div{grid-template-columns:9rem 1fr}"
    "dd+dd{grid-column:1/-1}.bar{grid-template-columns:1fr}"
    ".bar span{grid-column:1}th,td{padding:.15rem .35rem;font-size:.9rem}}\n"
    "@media print{:root{--text:#000;--page:#fff;--soft:#444;--line:#bbb;"
    "--bar:#2f6690;--mark:#000}.table{overflow:visible;background:none}"
    "figure,tr,dl div{break-inside:avoid}"
    "th,td{white-space:normal;padding:.1rem .4rem}}\n"
    "</style>\n</head>\n<body>\n<main>\n<h1>dlest: energy of deep "
    "learning</h1>\n";

static void escape(struct dl_text *out, const char *text, size_t n) {
  static const char special[] = "&<>\"'";
  static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;",
                                       "&#39;"};
  for (size_t i = 0; i < n; i++) {
    const char *at = text[i] ? strchr(special, text[i]) : NULL;
    if (at)
      dl_text_add(out, entity[at - special]);
    else
      dl_text_add_n(out, text + i, 1);
  }
}

static void cell(struct dl_printer *p, const struct dl_text_cell *c) {
  bool value = c->kind == DL_CELL_VALUE;
  dl_print(p, value ? "<td" : "<th scope=\"col\"", NULL);
  dl_print(p, c->l->column[c->i].text ? ">" : " class=\"n\">", NULL);
  dl_print(p, c->text, NULL);
  dl_print(p, value ? "</td>" : "</th>", NULL);
}

/* --- charts */

/* The value at the right end. */
static double reach_of(const struct dl_table *t) {
  double most = 0, high = 0;
  for (size_t r = 0; r < t->n_rows; r++) {
    const struct dl_value *v = t->values + r * t->n_cols;
    most = fmax(most, dl_value_quantity(&v[DL_CHART_VALUE]));
    high = fmax(high, dl_value_quantity(&v[DL_CHART_HIGH]));
  }
  return fmax(most, fmin(high, MOST_REACH * most));
}

static double per_mille(double x, double reach) {
  return reach > 0 && x > 0 ? fmin(1000 * x / reach, 1000) : 0;
}

/* A bar, and its interval with ends where these are in sight. */
static void draw(struct dl_printer *p, double x, double low, double high,
                 double reach) {
  dl_text_printf(p->to,
                 "<svg viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" "
                 "aria-hidden=\"true\"><rect x=\"0\" y=\"3\" width=\"%.1f\" "
                 "height=\"14\"/>",
                 per_mille(x, reach));
  if (!isnan(low) && !isnan(high)) {
    double from = per_mille(low, reach), to = per_mille(high, reach);
    dl_text_printf(p->to, "<path d=\"M%.1f 5V15M%.1f 10H%.1f", from, from, to);
    if (high <= reach)
      dl_text_printf(p->to, "M%.1f 5V15", to);
    dl_text_add(p->to, "\"/>");
  }
  dl_text_add(p->to, "</svg>");
}

static void bar(struct dl_printer *p, const struct dl_table *t, size_t r,
                double reach) {
  const struct dl_value *v = t->values + r * t->n_cols;
  const struct dl_column *c = &t->columns[DL_CHART_VALUE];
  const struct dl_value *x = &v[DL_CHART_VALUE];
  const struct dl_value *low = &v[DL_CHART_LOW], *high = &v[DL_CHART_HIGH];
  DL_TEXT(text);
  dl_show(&text, DL_CODE, NULL, &v[DL_CHART_LABEL], NULL);
  dl_print(p, "<div class=\"bar\"><div>", NULL);
  escape(p->to, dl_text_str(&text), text.len);
  dl_print(p, "</div>", NULL);
  draw(p, dl_value_quantity(x), dl_value_quantity(low), dl_value_quantity(high),
       reach);
  dl_text_clear(&text);
  dl_show(&text, c->style, c->unit, x, NULL);
  if (!dl_value_absent(low) && !dl_value_absent(high)) {
    dl_text_add(&text, ", interval ");
    dl_show(&text, c->style, c->unit, low, high);
  }
  dl_print(p, "<span>", NULL);
  escape(p->to, dl_text_str(&text), text.len);
  dl_print(p, "</span></div>\n", NULL);
}

static void chart(struct dl_printer *p, const struct dl_table *t) {
  const double reach = reach_of(t);
  if (t->n_rows == 0 || !(reach > 0))
    return;
  dl_print(p, "<figure>\n<figcaption>", NULL);
  const char *title = dl_text_or(t->title, "");
  escape(p->to, title, strlen(title));
  dl_print(p, "</figcaption>\n", NULL);
  for (size_t r = 0; r < t->n_rows; r++)
    bar(p, t, r, reach);
  dl_print(p, "</figure>\n", NULL);
}

static const struct dl_document html = {
    .style = {escape, true, false},
    .made = "<p>Made on",
    .page = {page, "</p>\n</main>\n</body>\n</html>\n"},
    .title = {{"<h2>", "</h2>\n"}, {"<h3>", "</h3>\n"}},
    .say = {"<p>", "</p>"},
    .line = {"<div><dt>", "</dt><dd>", "</dd></div>\n"},
    .remark = "</dd><dd>",
    .begin_lines = {"<dl>\n"},
    .end_lines = "</dl>\n",
    .head = {"<div class=\"table\" role=\"region\" aria-label=\"table\" "
             "tabindex=\"0\">\n<table>\n<thead><tr>",
             "</tr></thead>\n<tbody>\n"},
    .row = {"<tr>", "</tr>\n"},
    .mark = {{"<td>", "</td>"}, {"<td>", "</td>"}},
    .cell = cell,
    .foot = {"</tbody>\n</table>\n</div>\n"},
    .chart = chart,
};

const struct dl_format dl_format_html = {
    .name = "html",
    .summary = "one page to look at, print or send",
    .extension = "html",
    .whole = true,
    .document = &html,
};
