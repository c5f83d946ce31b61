/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture `parts`: energy by part of the node, one bar per estimate with
 * its parts stacked in the order of the table. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "plot/plot_kinds.h"
#include "plot/plot_scale.h"
#include "plot/plot_table.h"

enum { COL_ESTIMATE, COL_PART, COL_ENERGY, N_COLS };
enum { MOST_ESTIMATES = 40 };

/* Approximate share of the picture that the axes span, and share of the axes
 * that the longest bar leaves for its total. */
#define PLOT_WIDTH 0.45
#define ROOM 1.28

/* Fills of different lightness, dark and light by turns so that neighbours
 * differ in grey, and a legible text colour for each. */
enum { MOST_PARTS = 8 };
static const char *const fill_colour[MOST_PARTS] = {
    "#00507D", "#E69F00", "#B84A00", "#F0E442",
    "#000000", "#56B4E9", "#009E73", "#CC79A7"};
static const char *const text_colour[MOST_PARTS] = {
    "#ffffff", "#000000", "#ffffff", "#000000",
    "#ffffff", "#000000", "#ffffff", "#000000"};

/* Names for the parts of dlest predict. */
static const char *words_of(const char *part) {
  static const char *const codes[] = {"gpu_busy", "cpu_busy", "gpu_idle",
                                      "cpu",      "rest",     "supply"};
  static const char *const words[] = {
      "GPUs busy", "CPUs busy",           "GPUs idle",
      "CPUs",      "board, fans, drives", "power supply losses"};
  int at = dl_text_index(codes, DL_LENGTH(codes), part);
  return at >= 0 ? words[at] : part;
}

struct parts_drawing {
  struct dl_plot_table t;
  struct dl_intern estimates, parts;
  double *energy; /* estimates x parts, J; owned */
  double *total;  /* of each estimate; owned */
  double top;
  struct dl_axis_unit unit;
};

static void free_drawing(struct parts_drawing *w) {
  dl_plot_table_free(&w->t);
  dl_intern_free(&w->estimates);
  dl_intern_free(&w->parts);
  free(w->energy);
  free(w->total);
}

static enum dl_status name_all(struct parts_drawing *w, struct dl_diag *d) {
  for (size_t i = 0; i < w->t.n; i++) {
    double j = dl_plot_number(&w->t, i, COL_ENERGY);
    if (isnan(j))
      continue; /* unknown: cooling without a PUE */
    if (j < 0)
      return dl_fail_at(d, DL_EINPUT, w->t.path, w->t.line[i],
                        "column 'energy_j': a part of less than 0 J cannot be "
                        "stacked");
    dl_intern(&w->estimates, dl_plot_text(&w->t, i, COL_ESTIMATE));
    if (j > 0)
      dl_intern(&w->parts, dl_plot_text(&w->t, i, COL_PART));
  }
  if (w->estimates.n > MOST_ESTIMATES || w->parts.n > MOST_PARTS)
    return dl_fail_at(d, DL_EINPUT, w->t.path, 0,
                      "%zu estimates of %zu parts are too many for a plot "
                      "(at most %d of %d)",
                      w->estimates.n, w->parts.n, MOST_ESTIMATES, MOST_PARTS);
  if (w->estimates.n == 0)
    return dl_fail_at(d, DL_EINPUT, w->t.path, 0, "no energy to draw");
  w->energy = dl_calloc(w->estimates.n * w->parts.n + 1, sizeof *w->energy);
  w->total = dl_calloc(w->estimates.n, sizeof *w->total);
  return DL_OK;
}

static enum dl_status add_up(struct parts_drawing *w, struct dl_diag *d) {
  for (size_t i = 0; i < w->t.n; i++) {
    if (!(dl_plot_number(&w->t, i, COL_ENERGY) > 0))
      continue;
    size_t e = (size_t)dl_intern_find(&w->estimates,
                                      dl_plot_text(&w->t, i, COL_ESTIMATE));
    size_t p =
        (size_t)dl_intern_find(&w->parts, dl_plot_text(&w->t, i, COL_PART));
    double j = dl_plot_number(&w->t, i, COL_ENERGY);
    w->energy[e * w->parts.n + p] += j;
    w->total[e] += j;
    w->top = fmax(w->top, w->total[e]);
  }
  if (!(w->top > 0) || !isfinite(w->top))
    return dl_fail_at(d, DL_EINPUT, w->t.path, 0, "no energy to draw");
  w->unit = dl_axis_unit("J", w->top);
  return DL_OK;
}

/* The first estimate is on top. */
static double height_of(const struct parts_drawing *w, size_t estimate) {
  return (double)(w->estimates.n - estimate);
}

/* The share of a part as a label inside it, if it fits. */
static void add_share(struct dl_script *s, const struct parts_drawing *w,
                      size_t e, size_t part, double from, double to) {
  DL_TEXT(share);
  DL_TEXT(how);
  dl_text_printf(&share, "%.0f %%", 100 * (to - from) / w->total[e]);
  double room = PLOT_WIDTH * s->width * (to - from) / (ROOM * w->top);
  if (s->as != DL_PICTURE_DUMB &&
      room > dl_script_text_width(s, dl_text_str(&share)) * 1.1) {
    dl_text_printf(&how, "center front textcolor rgb '%s'", text_colour[part]);
    dl_script_text(s, dl_text_str(&share), (from + to) / 2 / w->unit.factor,
                   height_of(w, e), dl_text_str(&how));
  }
}

static void add_totals(struct dl_script *s, const struct parts_drawing *w) {
  for (size_t e = 0; e < w->estimates.n; e++) {
    DL_TEXT(t);
    struct dl_axis_unit u = w->unit;
    char digits[DL_NUMBER_SIZE];
    dl_text_printf(&t, "%s %s",
                   dl_format_digits(digits, w->total[e] / u.factor, 3), u.name);
    dl_script_text(s, dl_text_str(&t), w->total[e] / u.factor, height_of(w, e),
                   s->as == DL_PICTURE_DUMB ? "left offset character 2,0"
                                            : "left offset character 0.6,0");
  }
}

static void add_data(struct dl_script *s, const struct parts_drawing *w) {
  double *from = w->total; /* no longer needed: reused for the sums so far */
  memset(from, 0, w->estimates.n * sizeof *from);
  for (size_t p = 0; p < w->parts.n; p++) {
    dl_text_printf(s->t, "$p%zu << EOD\n", p);
    for (size_t e = 0; e < w->estimates.n; e++) {
      double j = w->energy[e * w->parts.n + p], y = height_of(w, e);
      if (!(j > 0))
        continue;
      double row[] = {
          from[e] / w->unit.factor,       y,        from[e] / w->unit.factor,
          (from[e] + j) / w->unit.factor, y - 0.32, y + 0.32};
      dl_script_row(s, 6, row);
      from[e] += j;
    }
    dl_text_add(s->t, "EOD\n");
  }
}

static void add_shares(struct dl_script *s, const struct parts_drawing *w) {
  for (size_t e = 0; e < w->estimates.n; e++) {
    double from = 0;
    for (size_t p = 0; p < w->parts.n; p++) {
      double j = w->energy[e * w->parts.n + p];
      if (j > 0)
        add_share(s, w, e, p, from, from + j);
      from += j;
    }
  }
}

static void add_axes(struct dl_script *s, const struct parts_drawing *w) {
  double n = (double)w->estimates.n;
  dl_script_label(s, "x", "energy", w->unit.name);
  dl_axis_range(s, "x", (struct dl_span){0, ROOM * w->top / w->unit.factor});
  dl_axis_range(s, "y", (struct dl_span){0.4, n + 0.6});
  dl_script_names(s, w->estimates.s, NULL, w->estimates.n);
  dl_text_add(s->t, s->as == DL_PICTURE_DUMB
                        ? "set key bmargin center horizontal width 2\n"
                        : "set grid xtics noytics\nset ytics scale 0\n"
                          "set style fill solid 1 border lc rgb '#000000'\n"
                          "set key outside right top Left reverse "
                          "samplen 1 spacing 1.2\n");
}

static void add_plots(struct dl_script *s, const struct parts_drawing *w) {
  for (size_t p = 0; p < w->parts.n; p++) {
    dl_text_printf(s->t,
                   "%s $p%zu using 1:2:3:4:5:6 with boxxyerror fc rgb '%s' "
                   "lw 0.7",
                   p > 0 ? "," : "plot", p, fill_colour[p]);
    dl_script_key(s, words_of(w->parts.s[p]));
  }
  dl_text_add(s->t, "\n");
}

static enum dl_status draw(struct dl_script *s, const struct dl_plot_options *o,
                           struct dl_diag *d) {
  static const struct dl_plot_column columns[N_COLS] = {
      [COL_ESTIMATE] = {"estimate", DL_CELL_TEXT, false},
      [COL_PART] = {"part", DL_CELL_TEXT, false},
      [COL_ENERGY] = {"energy_j", DL_CELL_NUMBER, false}};
  DL_SCOPED(free_drawing) struct parts_drawing w = {0};
  DL_TRY(dl_plot_table_read(&w.t, o->path[0], columns, N_COLS,
                            "dlest predict --node NAME --parts --format csv",
                            d));
  DL_TRY(name_all(&w, d));
  DL_TRY(add_up(&w, d));
  dl_script_title(s, o, "Energy by part of the node");
  add_axes(s, &w);
  add_totals(s, &w);
  add_shares(s, &w);
  add_data(s, &w);
  add_plots(s, &w);
  return DL_OK;
}

const struct dl_plot_kind dl_plot_parts = {
    .name = "parts",
    .summary = "energy by part of the node, stacked",
    .input = "PARTS.csv",
    .takes = 0,
    .width = 680,
    .height = 320,
    .draw = draw,
};
