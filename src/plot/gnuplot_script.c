/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing a script for gnuplot. */

#include "plot/gnuplot_script.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/screen.h"

#define FONT 13.0       /* height in pixels at the default size */
#define FONT_WIDTH 0.55 /* of an average letter, as a share of the height */

const char *const dl_colour[DL_COLOURS] = {"#0072B2", "#D55E00", "#009E73",
                                           "#CC79A7", "#E69F00", "#000000",
                                           "#56B4E9", "#F0E442"};

const char *const dl_shade[DL_SHADES] = {"#0072B2", "#E69F00", "#000000",
                                         "#CC79A7"};

/* Filled shapes first: disc, square, triangle, diamond, inverted triangle,
 * then open ones. */
static const int shapes[DL_SHAPES] = {7, 5, 9, 13, 11, 6, 4, 8};

static void begin_terminal(struct dl_script *s, bool colour) {
  double w = s->width, h = s->height, f = s->scale;
  switch (s->as) {
  case DL_PICTURE_SVG:
    dl_text_printf(s->t,
                   "set terminal svg size %.0f,%.0f noenhanced "
                   "font 'Arial,%.4g' linewidth %.4g background '#ffffff'\n",
                   w, h, FONT * f, f);
    break;
  case DL_PICTURE_PNG:
    dl_text_printf(s->t,
                   "set terminal pngcairo size %.0f,%.0f noenhanced "
                   "font 'Arial,%.4g' linewidth %.4g pointscale %.4g "
                   "background '#ffffff'\n",
                   w, h, FONT * f * 0.75, f, f);
    break;
  case DL_PICTURE_PDF:
    dl_text_printf(s->t,
                   "set terminal pdfcairo size %.4gin,%.4gin noenhanced "
                   "font 'Arial,%.4g' linewidth %.4g pointscale %.4g "
                   "background '#ffffff'\n",
                   w / 96, h / 96, FONT * f * 0.75, f, f * 0.6);
    break;
  case DL_PICTURE_DUMB:
    dl_text_printf(s->t, "set terminal dumb size %.0f,%.0f noenhanced %s\n", w,
                   h, colour ? "ansi" : "mono");
    break;
  }
}

void dl_script_begin(struct dl_script *s, bool colour) {
  dl_text_add(s->t, "# Drawn by: gnuplot -d SCRIPT >PICTURE\n"
                    "set encoding utf8\n");
  begin_terminal(s, colour);
  if (s->as == DL_PICTURE_DUMB)
    return;
  dl_text_add(s->t, "set border 3 lc rgb '#404040'\n"
                    "set tics nomirror out scale 0.7,0.4 textcolor rgb "
                    "'#202020'\n"
                    "set grid back lt 1 lw 0.6 lc rgb '#e4e4e4'\n"
                    "set clip two\n");
}

/* An apostrophe becomes a typographic one: gnuplot reads '' inside a string as
 * an apostrophe, but at its beginning as the end of the string. */
static void add_quoted(struct dl_script *s, const char *text, bool tic) {
  DL_TEXT(clean);
  dl_utf8_clean(&clean, text, false);
  dl_text_add(s->t, "'");
  for (const char *c = dl_text_str(&clean); *c; c++) {
    if (*c == '\'')
      dl_text_add(s->t, "\u2019");
    else
      dl_text_add_n(s->t, c, 1);
    if (tic && *c == '%')
      dl_text_add(s->t, "%");
  }
  dl_text_add(s->t, "'");
}

void dl_script_quote(struct dl_script *s, const char *text) {
  add_quoted(s, text, false);
}

void dl_script_key(struct dl_script *s, const char *text) {
  dl_text_add(s->t, " title ");
  dl_script_quote(s, text);
}

void dl_script_text(struct dl_script *s, const char *text, double x, double y,
                    const char *how) {
  dl_text_add(s->t, "set label ");
  dl_script_quote(s, text);
  dl_text_add(s->t, " at ");
  dl_script_number(s, x);
  dl_text_add(s->t, ",");
  dl_script_number(s, y);
  dl_text_printf(s->t, " %s\n", how);
}

void dl_script_names(struct dl_script *s, char *const *name,
                     const size_t *place, size_t n) {
  dl_text_add(s->t, "set ytics (");
  for (size_t i = 0; i < n; i++) {
    dl_text_add(s->t, i > 0 ? ", " : "");
    add_quoted(s, name[i], true);
    dl_text_printf(s->t, " %zu", place ? place[i] : n - i);
  }
  dl_text_add(s->t, ")\n");
}

void dl_script_number(struct dl_script *s, double x) {
  if (isfinite(x))
    dl_text_printf(s->t, "%.9g", x);
  else
    dl_text_add(s->t, "NaN");
}

void dl_script_row(struct dl_script *s, size_t n, const double *x) {
  for (size_t i = 0; i < n; i++) {
    dl_text_add(s->t, i > 0 ? " " : "");
    dl_script_number(s, x[i]);
  }
  dl_text_add(s->t, "\n");
}

/* Bytes of a title that fit the picture's width; all where a blank is missing.
 */
static size_t first_line(const struct dl_script *s, const char *title) {
  size_t all = strlen(title);
  double per_letter =
      dl_script_text_width(s, title) / (double)dl_utf8_width(title, all);
  return dl_wrapped_line(title, (size_t)(s->width / per_letter), false);
}

void dl_script_title(struct dl_script *s, const struct dl_plot_options *o,
                     const char *own) {
  const char *title = o->title ? o->title : own;
  DL_TEXT(first);
  if (!title || !*title)
    return;
  size_t n = first_line(s, title);
  dl_text_add_n(&first, title, n);
  dl_text_add(s->t, "set title ");
  dl_script_quote(s, dl_text_str(&first));
  title += n + strspn(title + n, " ");
  if (*title) {
    dl_text_add(s->t, ".\"\\n\".");
    dl_script_quote(s, title);
  }
  dl_text_add(s->t, "\n");
}

void dl_script_label(struct dl_script *s, const char *axis, const char *text,
                     const char *unit) {
  DL_TEXT(t);
  dl_text_add(&t, text);
  if (unit && *unit)
    dl_text_printf(&t, " (%s)", unit);
  /* Characters cannot be turned: what is vertical stands in the corner. */
  bool corner = s->as == DL_PICTURE_DUMB && *axis == 'y';
  dl_text_printf(s->t, "set %slabel ", corner ? "" : axis);
  dl_script_quote(s, dl_text_str(&t));
  dl_text_add(s->t,
              corner ? " at screen 0, screen 1 left offset 0,-1\n" : "\n");
}

void dl_script_point(struct dl_script *s, const char *colour, size_t shape,
                     double size) {
  dl_text_printf(s->t, " lc rgb '%s' pt %d ps %.4g", colour,
                 shapes[shape % DL_SHAPES],
                 s->as == DL_PICTURE_SVG ? size * s->scale : size);
}

void dl_script_marker(struct dl_script *s, size_t i, double size) {
  dl_script_point(s, dl_colour[i % DL_COLOURS], i + i / DL_COLOURS, size);
}

double dl_script_text_width(const struct dl_script *s, const char *text) {
  double n = (double)dl_utf8_width(text, strlen(text));
  return s->as == DL_PICTURE_DUMB ? n : n * FONT * FONT_WIDTH * s->scale;
}

double dl_script_text_height(const struct dl_script *s) {
  return s->as == DL_PICTURE_DUMB ? 1 : FONT * 1.2 * s->scale;
}
