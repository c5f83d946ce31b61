/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture `pareto`: energy against time of many settings, both axes
 * logarithmic, with the Pareto front: the settings for which no other is both
 * faster and lower in energy. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plot/pareto_plot.h"
#include "plot/plot_kinds.h"
#include "plot/plot_labels.h"

/* Points along a line that labels may not cover. */
enum { SAMPLES = 32 };

/* A longer front has no labels. */
enum { MOST_LABELS = 60 };

/* If there are more settings than these, only the front shows its intervals. */
enum { MOST_BARS = 12 };

/* Edges of the area within the axes, as shares of the picture. */
#define LEFT 0.11
#define BOTTOM 0.14
#define TOP 0.96
#define TOP_WITH_TITLE 0.90

static void free_drawing(struct dl_pareto_drawing *w) {
  dl_plot_table_free(&w->t);
  dl_intern_free(&w->groups);
  dl_intern_free(&w->shapes);
  free(w->shape);
  dl_text_free(&w->shared);
  free(w->group);
  free(w->coloured);
  free(w->front);
  free(w->on_front);
}

/* The interval of a setting, cut to the range of the axis; false if it has
 * none or it is not drawn. */
static bool has_bar(const struct dl_pareto_drawing *w, size_t row,
                    struct dl_span *p) {
  double e = dl_pareto_energy(w, row);
  double low = dl_plot_number(&w->t, row, COL_LOW) / w->energy.factor;
  double high = dl_plot_number(&w->t, row, COL_HIGH) / w->energy.factor;
  *p = (struct dl_span){fmax(low, e / 100), fmin(high, e * 100)};
  bool shown = w->t.n <= MOST_BARS || w->on_front[row];
  return shown && !isnan(low) && !isnan(high) && p->low <= p->high;
}

static void measure(struct dl_pareto_drawing *w, bool bars) {
  struct dl_span x = DL_SPAN_NONE, y = DL_SPAN_NONE, bar;
  for (size_t i = 0; i < w->t.n; i++) {
    dl_plot_span_take(&x, dl_plot_number(&w->t, i, COL_TIME));
    dl_plot_span_take(&y, dl_plot_number(&w->t, i, COL_ENERGY));
    for (size_t c = 0; c < N_COLS; c++)
      w->differs[c] |=
          strcmp(dl_plot_text(&w->t, i, c), dl_plot_text(&w->t, 0, c)) != 0;
  }
  w->time = dl_axis_unit("s", sqrt(x.low * x.high));
  w->energy = dl_axis_unit("J", sqrt(y.low * y.high));
  y = (struct dl_span){y.low / w->energy.factor, y.high / w->energy.factor};
  for (size_t i = 0; i < w->t.n && bars; i++)
    if (has_bar(w, i, &bar)) {
      dl_plot_span_take(&y, bar.low);
      dl_plot_span_take(&y, bar.high);
    }
  w->x = dl_plot_span_widen_log(
      (struct dl_span){x.low / w->time.factor, x.high / w->time.factor}, 0.06);
  w->y = dl_plot_span_widen_log(y, 0.08);
}

/* The label of a row: the settings that vary and that neither its colour nor
 * its marker shows. */
static void describe_row(const struct dl_pareto_drawing *w, size_t row,
                         struct dl_text *t) {
  static const size_t columns[] = {COL_ARCH, COL_NODE, COL_GPU, COL_BATCH,
                                   COL_SIZE};
  for (size_t i = 0; i < DL_LENGTH(columns); i++) {
    size_t col = columns[i];
    const char *cell = dl_plot_text(&w->t, row, col);
    const char *column = w->t.column[col].name;
    bool coloured = strcmp(column, w->t.column[w->by].name) == 0 &&
                    w->group[row] < w->n_coloured;
    bool shaped = w->shaped && strcmp(column, w->t.column[COL_SHAPE].name) == 0;
    /* the node implies the GPU */
    bool said = col == COL_GPU && w->differs[COL_NODE];
    if (!w->differs[col] || coloured || shaped || said || !*cell)
      continue;
    dl_text_add(t, t->len > 0 ? ", " : "");
    dl_text_add(t, col == COL_BATCH ? "batch " : "");
    dl_text_add(t, cell);
    dl_text_add(t, col == COL_SIZE ? " px" : "");
  }
}

/* If all labels of the front are equal, the legend shows the label instead. */
static void find_shared(struct dl_pareto_drawing *w) {
  if (w->n_front < 2)
    return;
  describe_row(w, w->front[0], &w->shared);
  bool all = true;
  for (size_t i = 1; i < w->n_front && all; i++) {
    DL_TEXT(t);
    describe_row(w, w->front[i], &t);
    all = strcmp(dl_text_str(&t), dl_text_str(&w->shared)) == 0;
  }
  if (!all)
    dl_text_clear(&w->shared);
}

/* Whether energy falls along the front as time grows. With a third objective,
 * such as accuracy, it need not. */
static bool is_staircase(const struct dl_pareto_drawing *w) {
  for (size_t i = 1; i < w->n_front; i++)
    if (dl_pareto_energy(w, w->front[i]) > dl_pareto_energy(w, w->front[i - 1]))
      return false;
  return w->n_front > 1;
}

/* Position in pixels from the lower left corner of the area. */
static void at_of(const struct dl_script *s, const struct dl_pareto_drawing *w,
                  double time, double energy, double at[2]) {
  at[0] = log(time / w->x.low) / log(w->x.high / w->x.low) * (w->right - LEFT) *
          s->width;
  at[1] = log(energy / w->y.low) / log(w->y.high / w->y.low) *
          (w->top - BOTTOM) * s->height;
}

/* Adds the lines of the front and its intervals to the points that no label
 * may cover; returns how many there are then. */
static size_t add_lines(const struct dl_script *s,
                        const struct dl_pareto_drawing *w, double (*point)[2],
                        size_t n) {
  struct dl_span bar;
  bool stairs = is_staircase(w);
  for (size_t i = 0; i < w->n_front; i++) {
    size_t row = w->front[i];
    double t = dl_pareto_time(w, row), e = dl_pareto_energy(w, row), next = t,
           below = e;
    bool has = has_bar(w, row, &bar);
    if (stairs && i + 1 < w->n_front) {
      next = dl_pareto_time(w, w->front[i + 1]);
      below = dl_pareto_energy(w, w->front[i + 1]);
    }
    for (size_t k = 1; k <= SAMPLES; k++) {
      double x = (double)k / SAMPLES;
      at_of(s, w, t * pow(next / t, x), e, point[n++]);
      at_of(s, w, next, e * pow(below / e, x), point[n++]);
      if (has)
        at_of(s, w, t, bar.low * pow(bar.high / bar.low, x), point[n++]);
    }
  }
  return n;
}

static void add_labels(struct dl_script *s, const struct dl_pareto_drawing *w) {
  static const char *const sides[] = {"right", "center", "left"};
  size_t n = w->n_front;
  DL_FREED struct dl_text *text = dl_calloc(n, sizeof *text);
  DL_FREED struct dl_label *label = dl_calloc(n, sizeof *label);
  double(*point)[2] = dl_calloc(w->t.n + n * 3 * SAMPLES, sizeof *point);
  double line = dl_script_text_height(s);
  const struct dl_label_area area = {(w->right - LEFT) * s->width,
                                     (w->top - BOTTOM) * s->height, line,
                                     0.7 * line};
  for (size_t i = 0; i < w->t.n; i++)
    at_of(s, w, dl_pareto_time(w, i), dl_pareto_energy(w, i), point[i]);
  size_t n_points = add_lines(s, w, point, w->t.n);
  for (size_t i = 0; i < n; i++) {
    describe_row(w, w->front[i], &text[i]);
    label[i] = (struct dl_label){
        .x = point[w->front[i]][0],
        .y = point[w->front[i]][1],
        .width = dl_script_text_width(s, dl_text_str(&text[i]))};
  }
  dl_labels_place(label, n, point, n_points, n_points - w->t.n, &area);
  for (size_t i = 0; i < n; i++)
    if (label[i].placed && text[i].len > 0 && w->shared.len == 0) {
      char how[64];
      snprintf(how, sizeof how, "%s front offset character %g,%d",
               sides[label[i].dx + 1], 1.2 * label[i].dx, label[i].dy);
      dl_script_text(s, text[i].s, dl_pareto_time(w, w->front[i]),
                     dl_pareto_energy(w, w->front[i]), how);
    }
  for (size_t i = 0; i < n; i++)
    dl_text_free(&text[i]);
  free(point);
}

static void add_data(struct dl_script *s, const struct dl_pareto_drawing *w) {
  struct dl_span bar;
  for (size_t g = 0; g <= w->n_coloured; g++) {
    dl_text_printf(s->t, "$g%zu << EOD\n", g);
    for (size_t i = 0; i < w->t.n; i++) {
      if (w->group[i] != g)
        continue;
      bool has = has_bar(w, i, &bar);
      double row[] = {dl_pareto_time(w, i), dl_pareto_energy(w, i), bar.low,
                      bar.high};
      dl_script_row(s, has ? 4 : 2, row);
    }
    dl_text_add(s->t, "EOD\n");
  }
  for (size_t m = 0; m < w->n_coloured * w->shapes.n && w->shaped; m++) {
    dl_text_printf(s->t, "$m%zu << EOD\n", m);
    for (size_t i = 0; i < w->t.n; i++) {
      if (w->group[i] * w->shapes.n + w->shape[i] != m)
        continue;
      double row[] = {dl_pareto_time(w, i), dl_pareto_energy(w, i)};
      dl_script_row(s, 2, row);
    }
    dl_text_add(s->t, "EOD\n");
  }
  dl_text_add(s->t, "$front << EOD\n");
  for (size_t i = 0; i < w->n_front; i++) {
    double row[] = {dl_pareto_time(w, w->front[i]),
                    dl_pareto_energy(w, w->front[i])};
    dl_script_row(s, 2, row);
  }
  dl_text_add(s->t, "EOD\n");
}

/* Reserves the width of the longest entry for the legend, at most half of the
 * picture. */
static void reserve_legend(const struct dl_script *s,
                           struct dl_pareto_drawing *w) {
  double widest = dl_script_text_width(s, "Pareto front");
  for (size_t g = 0; g < w->n_coloured; g++)
    widest = fmax(widest, dl_script_text_width(s, w->groups.s[w->coloured[g]]));
  for (size_t i = 0; i < w->shapes.n && w->shaped; i++)
    widest = fmax(widest, dl_script_text_width(s, w->shapes.s[i]));
  widest = fmax(widest, dl_script_text_width(s, dl_text_str(&w->shared)));
  double em = dl_script_text_height(s);
  w->right = fmax(0.5, 1 - (widest + 5.5 * em) / s->width);
}

static void add_title(struct dl_script *s, const struct dl_plot_options *o,
                      const struct dl_pareto_drawing *w) {
  DL_TEXT(t);
  dl_text_printf(&t,
                 "Energy against time: %zu settings, %zu on the Pareto front",
                 w->t.n, w->n_front);
  dl_script_title(s, o, dl_text_str(&t));
}

static void add_axes(struct dl_script *s, const struct dl_pareto_drawing *w) {
  dl_script_label(s, "x", "time", w->time.name);
  const char *boundary = dl_plot_text(&w->t, 0, COL_BOUNDARY);
  struct dl_text y = {0};
  dl_text_add(&y, "energy");
  if (*boundary && !w->differs[COL_BOUNDARY])
    dl_text_printf(&y, ", boundary %s", boundary);
  dl_script_label(s, "y", dl_text_str(&y), w->energy.name);
  dl_text_free(&y);
  dl_axis_log(s, "x", w->x);
  dl_axis_log(s, "y", w->y);
  if (s->as == DL_PICTURE_DUMB) {
    dl_text_add(s->t, "set key bmargin center horizontal invert\n");
    return;
  }
  dl_text_printf(
      s->t,
      "set lmargin at screen %g\nset rmargin at screen %g\n"
      "set bmargin at screen %g\nset tmargin at screen %g\n"
      "set bars 0\nset key at screen %g,%g left top Left reverse invert "
      "samplen 2 spacing 1.2\n",
      LEFT, w->right, BOTTOM, w->top, w->right + 0.015, w->top);
}

static bool has_rows(const struct dl_pareto_drawing *w, size_t group,
                     bool bars) {
  struct dl_span bar;
  for (size_t i = 0; i < w->t.n; i++)
    if (w->group[i] == group && (!bars || has_bar(w, i, &bar)))
      return true;
  return false;
}

static const char *colour_of(const struct dl_pareto_drawing *w, size_t group) {
  if (group >= w->n_coloured)
    return "#999999";
  return w->shaped ? dl_shade[group % DL_SHADES]
                   : dl_colour[group % DL_COLOURS];
}

/* The markers of a group, one kind for each shape; then their legend. */
static void add_shaped(struct dl_script *s, const struct dl_pareto_drawing *w,
                       size_t group) {
  for (size_t k = 0; k < w->shapes.n; k++) {
    dl_text_printf(s->t, " $m%zu using 1:2 with points",
                   group * w->shapes.n + k);
    dl_script_point(s, colour_of(w, group), k, 0.9);
    dl_text_add(s->t, " notitle,");
  }
  dl_text_printf(s->t, " NaN with lines lc rgb '%s' lw 7", colour_of(w, group));
}

static void add_shape_legend(struct dl_script *s,
                             const struct dl_pareto_drawing *w) {
  for (size_t k = w->shapes.n; k-- > 0;) {
    dl_text_add(s->t, " NaN with points");
    dl_script_point(s, "#606060", k, 0.9);
    dl_script_key(s, w->shapes.s[k]);
    dl_text_add(s->t, ",");
  }
}

/* The line of the front; its rings (add_rings) are for pictures only. */
static void add_front(struct dl_script *s, const struct dl_pareto_drawing *w) {
  if (!is_staircase(w))
    return;
  if (s->as == DL_PICTURE_DUMB)
    dl_text_add(s->t, " $front with lines lc rgb '#000000' lw 1.4 "
                      "title 'Pareto front',");
  else
    dl_text_add(s->t, " $front with steps lc rgb '#000000' lw 1.4 notitle,");
}

static void add_rings(struct dl_script *s, const struct dl_pareto_drawing *w) {
  if (w->shared.len > 0 && s->as != DL_PICTURE_DUMB) {
    dl_text_add(s->t, ", NaN with points pt 0 lc rgb '#ffffff'");
    dl_script_key(s, w->shared.s);
  }
  if (w->n_front > 0 && s->as != DL_PICTURE_DUMB)
    dl_text_printf(s->t,
                   ", $front using 1:2 with points pt 6 ps %.4g lw 1.4 lc rgb "
                   "'#000000' title 'Pareto front'",
                   s->as == DL_PICTURE_SVG ? 1.7 * s->scale : 1.7);
}

static void add_plots(struct dl_script *s, const struct dl_pareto_drawing *w) {
  const char *between = "";
  double size = s->as == DL_PICTURE_SVG ? 0.5 * s->scale : 0.5;
  dl_text_add(s->t, "plot");
  for (size_t g = 0; g <= w->n_coloured && s->as != DL_PICTURE_DUMB; g++)
    if (has_rows(w, g, true))
      dl_text_printf(s->t,
                     " $g%zu using 1:2:3:4 with yerrorbars lc rgb '%s' "
                     "lw 1.2 pt 0 ps 0 notitle,",
                     g, colour_of(w, g));
  add_front(s, w);
  if (has_rows(w, w->n_coloured, false)) {
    dl_text_printf(s->t,
                   " $g%zu using 1:2 with points pt %d ps %.4g lc rgb "
                   "'#bbbbbb' title 'others'",
                   w->n_coloured, s->as == DL_PICTURE_DUMB ? 0 : 7, size);
    between = ",";
  }
  if (w->shaped)
    add_shape_legend(s, w);
  for (size_t g = w->n_coloured; g-- > 0;) { /* the first on top */
    const char *name = w->groups.s[w->coloured[g]];
    dl_text_add(s->t, between);
    if (w->shaped) {
      add_shaped(s, w, g);
    } else {
      dl_text_printf(s->t, " $g%zu using 1:2 with points", g);
      dl_script_marker(s, g, 0.9);
    }
    dl_script_key(s, *name ? name : "setting");
    between = ",";
  }
  add_rings(s, w);
  dl_text_add(s->t, "\n");
}

static enum dl_status draw(struct dl_script *s, const struct dl_plot_options *o,
                           struct dl_diag *d) {
  DL_SCOPED(free_drawing)
  struct dl_pareto_drawing w = {.time = {.factor = 1, .name = "s"},
                                .energy = {.factor = 1, .name = "J"},
                                .top = o->title && !*o->title ? TOP
                                                              : TOP_WITH_TITLE,
                                .shaped = s->as != DL_PICTURE_DUMB};
  const char *shape = dl_text_or(o->shape, o->by ? NULL : "arch");
  const struct dl_plot_column columns[N_COLS] = {
      [COL_ENERGY] = {"energy_j", DL_CELL_POSITIVE, false},
      [COL_LOW] = {"energy_low_j", DL_CELL_NUMBER, true},
      [COL_HIGH] = {"energy_high_j", DL_CELL_NUMBER, true},
      [COL_TIME] = {"duration_s", DL_CELL_POSITIVE, false},
      [COL_FRONT] = {"pareto", DL_CELL_NUMBER, true},
      [COL_BY] = {o->by ? o->by : "gpu", DL_CELL_TEXT, !o->by},
      [COL_SHAPE] = {shape, DL_CELL_TEXT, !o->shape},
      [COL_ARCH] = {"arch", DL_CELL_TEXT, true},
      [COL_GPU] = {"gpu", DL_CELL_TEXT, true},
      [COL_BATCH] = {"batch_size", DL_CELL_TEXT, true},
      [COL_SIZE] = {"image_px", DL_CELL_TEXT, true},
      [COL_NODE] = {"node", DL_CELL_TEXT, true},
      [COL_BOUNDARY] = {"boundary", DL_CELL_TEXT, true},
      [COL_EXCLUDED] = {"excluded", DL_CELL_LEAVES, true}};
  DL_TRY(dl_plot_table_read(&w.t, o->path[0], columns, N_COLS,
                            "dlest recommend --format csv", d));
  dl_pareto_front(&w);
  dl_pareto_groups(&w, o->by);
  measure(&w, s->as != DL_PICTURE_DUMB);
  find_shared(&w);
  reserve_legend(s, &w);
  add_title(s, o, &w);
  add_axes(s, &w);
  if (s->as != DL_PICTURE_DUMB && w.n_front <= MOST_LABELS)
    add_labels(s, &w);
  add_data(s, &w);
  add_plots(s, &w);
  return DL_OK;
}

const struct dl_plot_kind dl_plot_pareto = {
    .name = "pareto",
    .summary = "energy against time, and the Pareto front",
    .input = "SETTINGS.csv",
    .takes = DL_PLOT_BY,
    .width = 720,
    .height = 480,
    .draw = draw,
};
