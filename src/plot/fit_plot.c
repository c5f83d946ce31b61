/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture `fit`: predicted against measured values from the table of dlest
 * fit --predictions, in which each row was predicted while its fold was held
 * out. Both axes are logarithmic, with the line of equality and lines at a
 * factor of two. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "plot/plot_kinds.h"
#include "plot/plot_scale.h"
#include "plot/plot_table.h"

enum {
  COL_MEASURED,
  COL_PREDICTED,
  COL_LOW,
  COL_HIGH,
  COL_TARGET,
  COL_UNIT,
  COL_BY,
  COL_SHAPE,
  COL_PER,
  N_COLS
};
enum { MOST_GROUPS = 16 };

/* Stands for the logarithm of a bound that is not above 0. */
#define LOG_NOTHING (-300.0)

/* A marker: a row of the table, or the geometric mean of several. */
struct mark {
  double measured, predicted, low, high;
  size_t group, shape, n;
};

struct fit_drawing {
  struct dl_plot_table t;
  bool *use;   /* rows of the target; owned */
  size_t rows; /* of them */
  struct mark *mark;
  size_t n;
  struct dl_intern groups, shapes;
  bool shaped; /* markers show `shapes`; else they repeat the group */
  struct dl_axis_unit unit;
  struct dl_span span; /* of both axes, in that unit */
  const char *target, *si;
};

static void free_drawing(struct fit_drawing *w) {
  dl_plot_table_free(&w->t);
  dl_intern_free(&w->groups);
  dl_intern_free(&w->shapes);
  free(w->use);
  free(w->mark);
}

/* Selects the rows of the requested target, or of the only one. */
static enum dl_status choose_target(struct fit_drawing *w,
                                    const char *requested, struct dl_diag *d) {
  w->use = dl_calloc(w->t.n, sizeof *w->use);
  w->target = requested ? requested : dl_plot_text(&w->t, 0, COL_TARGET);
  for (size_t i = 0; i < w->t.n; i++) {
    const char *of = dl_plot_text(&w->t, i, COL_TARGET);
    w->use[i] = strcmp(of, w->target) == 0;
    w->rows += w->use[i];
    if (w->use[i])
      w->si = dl_plot_text(&w->t, i, COL_UNIT);
    else if (!requested)
      return dl_fail_at(d, DL_EINPUT, w->t.path, w->t.line[i],
                        "several targets ('%s', '%s'): choose with --target",
                        w->target, of);
  }
  if (w->rows == 0)
    return dl_fail_at(d, DL_EINPUT, w->t.path, 0, "no row of target '%s'",
                      w->target);
  return DL_OK;
}

static void add_row(const struct dl_plot_table *t, size_t row, struct mark *m) {
  m->measured += log(dl_plot_number(t, row, COL_MEASURED));
  m->predicted += log(dl_plot_number(t, row, COL_PREDICTED));
  double low = dl_plot_number(t, row, COL_LOW);
  m->low += low > 0 || isnan(low) ? log(low) : LOG_NOTHING;
  m->high += log(dl_plot_number(t, row, COL_HIGH));
  m->n++;
}

/* Adds a row to its marker. The rows of a marker have one colour, and one shape
 * where markers show one. */
static enum dl_status take_row(struct fit_drawing *w, size_t row, long key,
                               const char *name, struct dl_diag *d) {
  long group = dl_intern(&w->groups, dl_plot_text(&w->t, row, COL_BY));
  long shape = dl_intern(&w->shapes, dl_plot_text(&w->t, row, COL_SHAPE));
  struct mark *m = &w->mark[key];
  if (m->n > 0 && m->group != (size_t)group)
    return dl_fail_at(d, DL_EINPUT, w->t.path, w->t.line[row],
                      "'%s' is in two groups, '%s' and '%s'", name,
                      w->groups.s[m->group], w->groups.s[group]);
  w->shaped &= m->n == 0 || m->shape == (size_t)shape;
  m->group = (size_t)group;
  m->shape = (size_t)shape;
  add_row(&w->t, row, m);
  if ((size_t)key == w->n)
    w->n++;
  return DL_OK;
}

/* Makes a marker for each row, or for each value of the column --per. */
static enum dl_status make_marks(struct fit_drawing *w, bool per,
                                 struct dl_diag *d) {
  DL_SCOPED(dl_intern_free) struct dl_intern keys = {0};
  w->mark = dl_calloc(w->rows, sizeof *w->mark);
  for (size_t i = 0; i < w->t.n; i++) {
    if (!w->use[i])
      continue;
    const char *name = dl_plot_text(&w->t, i, COL_PER);
    long key = per ? dl_intern(&keys, name) : (long)w->n;
    DL_TRY(take_row(w, i, key, name, d));
  }
  return DL_OK;
}

/* Turns sums of logarithms into means, and sets the axes from them. */
static void set_axes(struct fit_drawing *w) {
  struct dl_span span = DL_SPAN_NONE;
  for (size_t i = 0; i < w->n; i++) {
    struct mark *m = &w->mark[i];
    double n = (double)m->n;
    m->measured = exp(m->measured / n);
    m->predicted = exp(m->predicted / n);
    m->low = exp(m->low / n);
    m->high = exp(m->high / n);
    dl_plot_span_take(&span, m->measured);
    dl_plot_span_take(&span, m->predicted);
  }
  w->unit = dl_axis_unit(*w->si ? w->si : NULL, sqrt(span.low * span.high));
  w->span = dl_plot_span_widen_log(
      (struct dl_span){span.low / w->unit.factor, span.high / w->unit.factor},
      0.06);
}

/* --- texts */

/* A target's name without its unit: "GPU power". */
static const char *words_of(const char *target) {
  static const char *const targets[] = {"gpu_power_w", "epoch_energy_j",
                                        "energy_j", "epoch_s", "duration_s"};
  static const char *const words[] = {"GPU power", "epoch energy", "energy",
                                      "epoch time", "duration"};
  int at = dl_text_index(targets, DL_LENGTH(targets), target);
  if (at >= 0)
    return words[at];
  return *target ? target : "value";
}

/* The title: error and coverage, of the rows rather than of the markers. */
static void describe_scores(const struct fit_drawing *w, struct dl_text *t) {
  double error = 0, inside = 0, with = 0;
  for (size_t i = 0; i < w->t.n; i++) {
    if (!w->use[i])
      continue;
    double y = dl_plot_number(&w->t, i, COL_MEASURED);
    double low = dl_plot_number(&w->t, i, COL_LOW);
    double high = dl_plot_number(&w->t, i, COL_HIGH);
    error += fabs(dl_plot_number(&w->t, i, COL_PREDICTED) - y) / y;
    if (isnan(low) || isnan(high))
      continue;
    with++;
    inside += y >= low && y <= high;
  }
  dl_text_printf(t, "Held-out %s: MAPE %.3g %%", words_of(w->target),
                 100 * error / (double)w->rows);
  if (with > 0)
    dl_text_printf(t, ", coverage %.3g %%", 100 * inside / with);
}

/* Above the legend: what the points are. */
static void add_count(struct dl_script *s, const struct fit_drawing *w) {
  DL_TEXT(t);
  dl_text_printf(&t, "%zu rows", w->rows);
  if (w->n < w->rows)
    dl_text_printf(&t, " in %zu points", w->n);
  dl_text_add(s->t, "set key title ");
  dl_script_quote(s, dl_text_str(&t));
  dl_text_add(s->t, "\n");
}

/* --- the script */

static void add_lines(struct dl_script *s, const struct fit_drawing *w) {
  double low = w->span.low, high = w->span.high;
  const double segment[][4] = {{low, low, high, high},
                               {low, 2 * low, high / 2, high},
                               {2 * low, low, high, high / 2}};
  for (size_t i = 0; i < 3; i++) {
    if (i == 0 || i == 1)
      dl_text_printf(s->t, "$%s << EOD\n", i == 0 ? "equal" : "double");
    else
      dl_text_add(s->t, "\n");
    dl_script_row(s, 2, segment[i]);
    dl_script_row(s, 2, segment[i] + 2);
    if (i != 1)
      dl_text_add(s->t, "EOD\n");
  }
}

static bool has_bar(const struct mark *m) {
  return isfinite(m->low) && isfinite(m->high);
}

/* Number of data blocks: one per group, or per group and shape. */
static size_t blocks_of(const struct fit_drawing *w) {
  return w->groups.n * (w->shaped ? w->shapes.n : 1);
}

static bool is_in(const struct fit_drawing *w, const struct mark *m,
                  size_t block) {
  size_t n = w->shaped ? w->shapes.n : 1;
  return m->group == block / n && (!w->shaped || m->shape == block % n);
}

static const char *colour_of(const struct fit_drawing *w, size_t group) {
  return w->shaped ? dl_shade[group % DL_SHADES]
                   : dl_colour[group % DL_COLOURS];
}

static void add_data(struct dl_script *s, const struct fit_drawing *w) {
  double f = w->unit.factor;
  for (size_t g = 0; g < blocks_of(w); g++) {
    dl_text_printf(s->t, "$g%zu << EOD\n", g);
    for (size_t i = 0; i < w->n; i++) {
      const struct mark *m = &w->mark[i];
      if (!is_in(w, m, g))
        continue;
      double row[] = {m->measured / f, m->predicted / f,
                      fmax(m->low / f, w->span.low / 10),
                      fmin(m->high / f, w->span.high * 10)};
      dl_script_row(s, has_bar(m) ? 4 : 2, row);
    }
    dl_text_add(s->t, "EOD\n");
  }
}

/* Whether a block has a marker, or one with an interval. */
static bool has_mark(const struct fit_drawing *w, size_t block, bool bar) {
  for (size_t i = 0; i < w->n; i++)
    if (is_in(w, &w->mark[i], block) && (!bar || has_bar(&w->mark[i])))
      return true;
  return false;
}

/* Draws the markers of a block. Markers of groups without colours have their
 * own legend. */
static void add_points(struct dl_script *s, const struct fit_drawing *w,
                       size_t block, double size) {
  dl_text_printf(s->t, ", $g%zu using 1:2 with points", block);
  if (w->shaped) {
    dl_script_point(s, colour_of(w, block / w->shapes.n), block % w->shapes.n,
                    size);
    dl_text_add(s->t, " notitle");
    return;
  }
  dl_script_marker(s, block, size);
  dl_script_key(s, *w->groups.s[block] ? w->groups.s[block] : "row");
}

/* Draws the legend of colours, then the legend of shapes. */
static void add_legend(struct dl_script *s, const struct fit_drawing *w) {
  for (size_t g = 0; g < w->groups.n; g++) {
    dl_text_printf(s->t, ", NaN with lines lc rgb '%s' lw 7", colour_of(w, g));
    dl_script_key(s, w->groups.s[g]);
  }
  for (size_t i = 0; i < w->shapes.n; i++) {
    dl_text_add(s->t, ", NaN with points");
    dl_script_point(s, "#606060", i, 0.9);
    dl_script_key(s, w->shapes.s[i]);
  }
}

static void add_plots(struct dl_script *s, const struct fit_drawing *w) {
  bool dumb = s->as == DL_PICTURE_DUMB, many = w->n > 200;
  const char *transparency = many ? "D0" : "A0";
  const char *width = many ? "0.5" : "0.9";
  dl_text_add(s->t, "plot $equal with lines lc rgb '#000000' lw 1.2 "
                    "title 'predicted = measured', $double with lines "
                    "lc rgb '#808080' lw 1 dt 2 title 'factor of two'");
  for (size_t g = 0; g < blocks_of(w) && !dumb; g++) {
    size_t group = w->shaped ? g / w->shapes.n : g;
    if (has_mark(w, g, true))
      dl_text_printf(s->t,
                     ", $g%zu using 1:2:3:4 with yerrorbars lc rgb '#%s%s' "
                     "lw %s pt 0 ps 0 notitle",
                     g, transparency, colour_of(w, group) + 1, width);
  }
  for (size_t g = 0; g < blocks_of(w); g++)
    if (has_mark(w, g, false))
      add_points(s, w, g, many ? 0.6 : 0.8);
  if (w->shaped)
    add_legend(s, w);
  dl_text_add(s->t, "\n");
}

static void add_axes(struct dl_script *s, const struct fit_drawing *w) {
  struct dl_text t = {0};
  const char *axis[] = {"x", "y"}, *before[] = {"measured", "predicted"};
  for (size_t i = 0; i < 2; i++) {
    dl_text_clear(&t);
    dl_text_printf(&t, "%s %s", before[i], words_of(w->target));
    dl_script_label(s, axis[i], dl_text_str(&t), w->unit.name);
    dl_axis_log(s, axis[i], w->span);
  }
  dl_text_free(&t);
  dl_text_add(s->t, s->as == DL_PICTURE_DUMB
                        ? "set key outside right top\n"
                        : "set size ratio 1\nset bars 0\n"
                          "set key outside right top Left reverse samplen 2 "
                          "spacing 1.2\n");
  add_count(s, w);
}

static void write_script(struct dl_script *s, const struct dl_plot_options *o,
                         const struct fit_drawing *w) {
  DL_TEXT(t);
  describe_scores(w, &t);
  dl_script_title(s, o, dl_text_str(&t));
  add_axes(s, w);
  add_lines(s, w);
  add_data(s, w);
  add_plots(s, w);
}

static enum dl_status draw(struct dl_script *s, const struct dl_plot_options *o,
                           struct dl_diag *d) {
  DL_SCOPED(free_drawing)
  struct fit_drawing w = {.shaped = s->as != DL_PICTURE_DUMB};
  const char *shape = dl_text_or(o->shape, o->by ? NULL : "arch");
  const struct dl_plot_column columns[N_COLS] = {
      [COL_MEASURED] = {"measured", DL_CELL_POSITIVE, false},
      [COL_PREDICTED] = {"predicted", DL_CELL_POSITIVE, false},
      [COL_LOW] = {"low", DL_CELL_NUMBER, true},
      [COL_HIGH] = {"high", DL_CELL_NUMBER, true},
      [COL_TARGET] = {"target", DL_CELL_TEXT, true},
      [COL_UNIT] = {"unit", DL_CELL_TEXT, true},
      [COL_BY] = {o->by ? o->by : "gpu", DL_CELL_TEXT, !o->by},
      [COL_SHAPE] = {shape, DL_CELL_TEXT, !o->shape},
      [COL_PER] = {o->per, DL_CELL_TEXT, !o->per}};
  DL_TRY(dl_plot_table_read(&w.t, o->path[0], columns, N_COLS,
                            "dlest fit --cv SCHEME --predictions FILE", d));
  DL_TRY(choose_target(&w, o->target, d));
  DL_TRY(make_marks(&w, o->per != NULL, d));
  if (w.groups.n > MOST_GROUPS)
    return dl_fail_at(d, DL_EINPUT, w.t.path, 0,
                      "%zu groups in column '%s' are too many to "
                      "distinguish; choose another with --by",
                      w.groups.n, columns[COL_BY].name);
  w.shaped &=
      w.shapes.n > 1 && w.shapes.n <= DL_SHAPES && w.groups.n <= DL_SHADES;
  set_axes(&w);
  write_script(s, o, &w);
  return DL_OK;
}

const struct dl_plot_kind dl_plot_fit = {
    .name = "fit",
    .summary = "predicted against measured, with intervals",
    .input = "PREDICTIONS.csv",
    .takes = DL_PLOT_BY | DL_PLOT_PER | DL_PLOT_TARGET,
    .width = 680,
    .height = 500,
    .draw = draw,
};
