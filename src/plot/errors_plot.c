/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture `errors`: the error of each estimator from the table of dlest
 * compare, lowest on top. One group: a bar per estimator with its interval;
 * several groups: a marker per group. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "plot/plot_kinds.h"
#include "plot/plot_scale.h"
#include "plot/plot_table.h"

enum {
  COL_METHOD,
  COL_GROUP, /* this and the next two identify the group */
  COL_TABLE,
  COL_MODEL,
  COL_SCORE,
  COL_LOW,
  COL_HIGH,
  N_COLS
};
enum { MOST_GROUPS = 16, MOST_METHODS = 40 };

/* Ratio of the highest to the lowest error above which the axis is
 * logarithmic. */
#define FAR_APART 25

/* Scores by name; fractions are shown in percent. `label` is the label of the
 * axis, `title` its long form. */
static const struct score {
  const char *name, *low, *high, *label, *title, *si;
  bool log_never; /* may be negative */
} scores[] = {{"mape", "mape_low", "mape_high", "MAPE",
               "Mean absolute percentage error (MAPE)", "%", false},
              {"median_ape", "median_ape_low", "median_ape_high", "median APE",
               "Median absolute percentage error (APE)", "%", false},
              {"rmse_j", "rmse_low_j", "rmse_high_j", "RMSE",
               "Root mean square error (RMSE)", "J", false},
              {"mae_j", "mae_low_j", "mae_high_j", "MAE",
               "Mean absolute error (MAE)", "J", false},
              {"bias_j", "bias_low_j", "bias_high_j", "bias",
               "Bias (mean of estimate - measurement)", "J", true}};

struct errors_drawing {
  struct dl_plot_table t;
  const struct score *score;
  struct dl_intern methods, groups;
  size_t *group; /* of each row, owned */
  double *mean;  /* of each method over its groups, owned */
  size_t *place; /* y position of each method, from 1; owned */
  struct dl_axis_unit unit;
  struct dl_span span;
  bool log, bars;
};

static void free_drawing(struct errors_drawing *w) {
  dl_plot_table_free(&w->t);
  dl_intern_free(&w->methods);
  dl_intern_free(&w->groups);
  free(w->group);
  free(w->mean);
  free(w->place);
}

static double score_at(const struct errors_drawing *w, size_t row, size_t col) {
  return dl_plot_number(&w->t, row, col) / w->unit.factor;
}

static size_t method_at(const struct errors_drawing *w, size_t row) {
  return (size_t)dl_intern_find(&w->methods,
                                dl_plot_text(&w->t, row, COL_METHOD));
}

/* Names the group of a row by the columns that differ between rows; an empty
 * cell means that all rows were scored together. */
static void name_group(struct errors_drawing *w, size_t row,
                       const bool differs[N_COLS]) {
  DL_TEXT(t);
  for (size_t c = COL_GROUP; c <= COL_MODEL; c++) {
    const char *cell = dl_plot_text(&w->t, row, c);
    if (c != COL_GROUP)
      cell = dl_path_name(cell);
    if (!differs[c])
      continue;
    dl_text_add(&t, t.len > 0 ? ", " : "");
    dl_text_add(&t, *cell ? cell : "all");
  }
  w->group[row] = (size_t)dl_intern(&w->groups, dl_text_str(&t));
}

static enum dl_status group_rows(struct errors_drawing *w, struct dl_diag *d) {
  bool differs[N_COLS] = {false};
  w->group = dl_calloc(w->t.n, sizeof *w->group);
  for (size_t i = 1; i < w->t.n; i++)
    for (size_t c = COL_GROUP; c <= COL_MODEL; c++)
      differs[c] |=
          strcmp(dl_plot_text(&w->t, i, c), dl_plot_text(&w->t, 0, c)) != 0;
  for (size_t i = 0; i < w->t.n; i++) {
    const char *method = dl_plot_text(&w->t, i, COL_METHOD);
    if (isnan(dl_plot_number(&w->t, i, COL_SCORE))) {
      dl_warn_at(d, w->t.path, w->t.line[i], "'%s' has no '%s': skipped",
                 method, w->score->name);
      continue;
    }
    dl_intern(&w->methods, method);
    name_group(w, i, differs);
  }
  if (w->methods.n == 0)
    return dl_fail_at(d, DL_EINPUT, w->t.path, 0, "no row that can be drawn");
  if (w->methods.n > MOST_METHODS || w->groups.n > MOST_GROUPS)
    return dl_fail_at(d, DL_EINPUT, w->t.path, 0,
                      "%zu methods in %zu groups are too many for a plot",
                      w->methods.n, w->groups.n);
  w->mean = dl_calloc(w->methods.n, sizeof *w->mean);
  w->place = dl_calloc(w->methods.n, sizeof *w->place);
  return DL_OK;
}

/* The unit, the span, each method's mean and place. */
static void measure(struct errors_drawing *w) {
  struct dl_span all = DL_SPAN_NONE;
  for (size_t i = 0; i < w->t.n; i++)
    for (size_t c = COL_SCORE; c <= COL_HIGH; c++)
      dl_plot_span_take(&all, dl_plot_number(&w->t, i, c));
  bool percent = *w->score->si == '%';
  w->unit = percent ? (struct dl_axis_unit){.factor = 0.01, .name = "%"}
                    : dl_axis_unit(w->score->si,
                                   fmax(fabs(all.low), fabs(all.high)) / 3);
  w->span =
      (struct dl_span){all.low / w->unit.factor, all.high / w->unit.factor};
  w->log = !w->score->log_never && w->span.low > 0 &&
           w->span.high > FAR_APART * w->span.low;
  w->bars = w->groups.n == 1 && !w->log;
  for (size_t m = 0; m < w->methods.n; m++) {
    double sum = 0, n = 0;
    for (size_t i = 0; i < w->t.n; i++)
      if (method_at(w, i) == m && !isnan(score_at(w, i, COL_SCORE))) {
        sum += fabs(score_at(w, i, COL_SCORE));
        n++;
      }
    w->mean[m] = sum / n;
  }
  for (size_t m = 0; m < w->methods.n; m++) {
    w->place[m] = 1;
    for (size_t k = 0; k < w->methods.n; k++)
      w->place[m] +=
          w->mean[k] > w->mean[m] || (!(w->mean[k] < w->mean[m]) && k > m);
  }
}

/* y of a group within its method's row. */
static double height_of(const struct errors_drawing *w, size_t method,
                        size_t group) {
  double n = (double)w->groups.n;
  return (double)w->place[method] +
         (n > 1 ? 0.6 * (0.5 - ((double)group + 0.5) / n) : 0);
}

static void add_data(struct dl_script *s, const struct errors_drawing *w) {
  for (size_t g = 0; g < w->groups.n; g++) {
    dl_text_printf(s->t, "$g%zu << EOD\n", g);
    for (size_t i = 0; i < w->t.n; i++) {
      double x = score_at(w, i, COL_SCORE), low = score_at(w, i, COL_LOW);
      double high = score_at(w, i, COL_HIGH);
      if (isnan(x) || w->group[i] != g)
        continue;
      double y = height_of(w, method_at(w, i), g);
      double row[] = {x, y, 0, x, y - 0.32, y + 0.32, low, high};
      dl_script_row(s, isnan(low) || isnan(high) ? 6 : 8, row);
    }
    dl_text_add(s->t, "EOD\n");
  }
}

static void add_title(struct dl_script *s, const struct dl_plot_options *o,
                      const struct errors_drawing *w) {
  DL_TEXT(t);
  bool intervals = false;
  for (size_t i = 0; i < w->t.n; i++)
    intervals |= !isnan(score_at(w, i, COL_LOW));
  dl_text_printf(&t, "%s by method%s", w->score->title,
                 intervals ? ", with bootstrap intervals" : "");
  dl_script_title(s, o, dl_text_str(&t));
}

static void add_axes(struct dl_script *s, const struct errors_drawing *w) {
  struct dl_span x = w->span;
  dl_script_label(s, "x", w->score->label, w->unit.name);
  if (w->log) {
    x = dl_plot_span_widen_log(x, 0.08);
    if (w->groups.n == 1) /* room for the value beside the last marker */
      x.high *= pow(x.high / x.low, 0.08);
    dl_axis_log(s, "x", x);
  } else {
    double room = (fmax(x.high, 0) - fmin(x.low, 0)) *
                  (s->as == DL_PICTURE_DUMB ? 0.26 : 0.14);
    dl_axis_range(s, "x",
                  (struct dl_span){x.low < 0 ? x.low - room : 0,
                                   x.high > 0 ? x.high + room : room});
  }
  dl_axis_range(s, "y", (struct dl_span){0.4, (double)w->methods.n + 0.6});
  dl_script_names(s, w->methods.s, w->place, w->methods.n);
  if (s->as != DL_PICTURE_DUMB)
    dl_text_add(s->t, "set grid xtics noytics\nset ytics scale 0\n"
                      "set bars 0.6\nset style fill solid 1 noborder\n");
  if (w->groups.n == 1)
    dl_text_add(s->t, "unset key\n");
  else if (s->as == DL_PICTURE_DUMB)
    dl_text_add(s->t, "set key outside right top\n");
  else
    dl_text_add(s->t, "set key outside right top Left reverse samplen 1 "
                      "spacing 1.2\n");
}

/* The values as text, to the right of the bars. */
static void add_values(struct dl_script *s, const struct errors_drawing *w) {
  const char *how = s->as == DL_PICTURE_DUMB ? "left offset character 2,0"
                                             : "left offset character 0.6,0";
  for (size_t i = 0; i < w->t.n; i++) {
    double x = score_at(w, i, COL_SCORE), high = score_at(w, i, COL_HIGH);
    if (isnan(x))
      continue;
    char digits[DL_NUMBER_SIZE], text[DL_NUMBER_SIZE + 16];
    snprintf(text, sizeof text, "%s %s", dl_format_digits(digits, x, 3),
             w->unit.name);
    dl_script_text(s, text, fmax(fmax(x, 0), dl_or(high, 0)),
                   (double)w->place[method_at(w, i)], how);
  }
}

static void add_plots(struct dl_script *s, const struct errors_drawing *w) {
  const char *between = "plot";
  for (size_t g = 0; g < w->groups.n; g++) {
    if (w->bars) {
      dl_text_printf(s->t,
                     "%s $g%zu using 1:2:3:4:5:6 with boxxyerror "
                     "fc rgb '#7fb8d8' notitle",
                     between, g);
      between = ",";
    }
    dl_text_printf(s->t,
                   "%s $g%zu using 1:2:7:8 with xerrorbars lc rgb '%s' "
                   "lw 1.2 pt 0 ps 0 notitle, $g%zu using 1:2 with points",
                   between, g, w->bars ? "#000000" : dl_colour[g % DL_COLOURS],
                   g);
    dl_script_marker(s, g, 1);
    dl_script_key(s, w->groups.s[g]);
    between = ",";
  }
  dl_text_add(s->t, "\n");
}

static enum dl_status find_score(struct errors_drawing *w,
                                 const struct dl_plot_options *o,
                                 struct dl_diag *d) {
  const char *name = dl_text_or(o->score, "mape");
  for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
    if (strcmp(scores[i].name, name) == 0)
      w->score = &scores[i];
  return w->score ? DL_OK
                  : dl_fail(d, DL_EUSAGE,
                            "unknown score '%s'; use mape, median_ape, "
                            "rmse_j, mae_j or bias_j",
                            name);
}

static enum dl_status draw(struct dl_script *s, const struct dl_plot_options *o,
                           struct dl_diag *d) {
  struct errors_drawing w = {0};
  enum dl_status status = find_score(&w, o, d);
  if (status != DL_OK)
    return status;
  const struct dl_plot_column columns[N_COLS] = {
      [COL_METHOD] = {"method", DL_CELL_TEXT, false},
      [COL_GROUP] = {"group", DL_CELL_TEXT, true},
      [COL_TABLE] = {"table", DL_CELL_TEXT, true},
      [COL_MODEL] = {"model", DL_CELL_TEXT, true},
      [COL_SCORE] = {w.score->name, DL_CELL_NUMBER, false},
      [COL_LOW] = {w.score->low, DL_CELL_NUMBER, true},
      [COL_HIGH] = {w.score->high, DL_CELL_NUMBER, true}};
  status = dl_plot_table_read(&w.t, o->path[0], columns, N_COLS,
                              "dlest compare --format csv", d);
  if (status == DL_OK)
    status = group_rows(&w, d);
  if (status == DL_OK) {
    measure(&w);
    add_title(s, o, &w);
    add_axes(s, &w);
    if (w.groups.n == 1)
      add_values(s, &w);
    add_data(s, &w);
    add_plots(s, &w);
  }
  free_drawing(&w);
  return status;
}

const struct dl_plot_kind dl_plot_errors = {
    .name = "errors",
    .summary = "error by method, best first",
    .input = "SCORES.csv",
    .takes = DL_PLOT_SCORE,
    .width = 640,
    .height = 340,
    .draw = draw,
};
