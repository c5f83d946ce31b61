/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/plot: writing a script for gnuplot.
 *
 * Data appear in the script only as numbers in data blocks and as texts in
 * single quotes, in which gnuplot substitutes nothing. */

#ifndef DL_PLOT_GNUPLOT_SCRIPT_H
#define DL_PLOT_GNUPLOT_SCRIPT_H

#include "base/text.h"
#include "plot/plot.h"

struct dl_script {
  struct dl_text *t; /* borrowed */
  enum dl_picture as;
  double width, height; /* pixels or characters */
  double scale;         /* of fonts and lines, 1 at the default size */
};

/* Colours of Okabe and Ito, ordered so that neighbours also differ in grey; all
 * but the last are dark enough for lines. */
#define DL_COLOURS 8
extern const char *const dl_colour[DL_COLOURS];

/* Colours that differ in lightness, so that they are distinct in grey when
 * markers show something else. */
#define DL_SHADES 4
extern const char *const dl_shade[DL_SHADES];

/* Number of different markers. */
#define DL_SHAPES 8

/* Terminal, fonts, borders. */
void dl_script_begin(struct dl_script *s, bool colour);

/* Appends `text` as a gnuplot string, with control characters replaced and
 * apostrophes as typographic ones. */
void dl_script_quote(struct dl_script *s, const char *text);

/* " title 'TEXT'" */
void dl_script_key(struct dl_script *s, const char *text);

/* "set label 'TEXT' at X,Y HOW" */
void dl_script_text(struct dl_script *s, const char *text, double x, double y,
                    const char *how);

/* "set ytics": n names at place[i] each (NULL: the first on top). gnuplot takes
 * % in them for a format, so that each is doubled. */
void dl_script_names(struct dl_script *s, char *const *name,
                     const size_t *place, size_t n);

/* A number that gnuplot reads back; NaN is "NaN". */
void dl_script_number(struct dl_script *s, double x);

/* A row of a data block: n numbers. */
void dl_script_row(struct dl_script *s, size_t n, const double *x);

/* "set title" with the user's title, or `own` where there is none. */
void dl_script_title(struct dl_script *s, const struct dl_plot_options *o,
                     const char *own);

/* "set xlabel" and the like: the text and its unit in parentheses. `axis` is
 * "x", "y" or "x2". */
void dl_script_label(struct dl_script *s, const char *axis, const char *text,
                     const char *unit);

/* Colour and marker of the i-th group: " lc rgb '...' pt N ps X". */
void dl_script_marker(struct dl_script *s, size_t i, double size);

/* Style of points with the i-th marker, for any colour. */
void dl_script_point(struct dl_script *s, const char *colour, size_t shape,
                     double size);

/* Approximate width and height of a text, in pixels (or characters). */
double dl_script_text_width(const struct dl_script *s, const char *text);
double dl_script_text_height(const struct dl_script *s);

#endif
