/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture `fit`: predicted against measured values from the table of dlest
 * fit --predictions, in which each row was predicted while its fold was held
 * out. Both axes are logarithmic, with the line of equality and lines at a
 * factor of two. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
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
  COL_PER,
  N_COLS
};
enum { MOST_GROUPS = 16 };

/* Stands for the logarithm of a bound that is not above 0. */
#define LOG_NOTHING (-300.0)

/* A marker: a row of the table, or the geometric mean of several. */
struct mark {
  double measured, predicted, low, high;
  size_t group, n;
};

struct drawing {
  struct dl_plot_table t;
  bool *use;   /* rows of the target; owned */
  size_t rows; /* of them */
  struct mark *mark;
  size_t n;
  struct dl_intern groups;
  struct dl_axis_unit unit;
  struct dl_plot_span span; /* of both axes, in that unit */
  const char *target, *si;
};

static void free_drawing(struct drawing *w) {
  dl_plot_table_free(&w->t);
  dl_intern_free(&w->groups);
  free(w->use);
  free(w->mark);
}

/* Selects the rows of the requested target, or of the only one. */
static enum dl_status choose_target(struct drawing *w, const char *requested,
                                    struct dl_diag *d) {
  w->use = dl_calloc(w->t.n, sizeof *w->use);
  if (!w->use)
    return dl_fail_memory(d);
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

/* Makes a marker for each row, or for each value of the column --per. */
static enum dl_status make_marks(struct drawing *w, bool per,
                                 struct dl_diag *d) {
  struct dl_intern keys = {0};
  enum dl_status status = DL_OK;
  w->mark = dl_calloc(w->rows, sizeof *w->mark);
  if (!w->mark)
    return dl_fail_memory(d);
  for (size_t i = 0; i < w->t.n && status == DL_OK; i++) {
    if (!w->use[i])
      continue;
    long group = dl_intern(&w->groups, dl_plot_text(&w->t, i, COL_BY));
    long key =
        per ? dl_intern(&keys, dl_plot_text(&w->t, i, COL_PER)) : (long)w->n;
    if (group < 0 || key < 0) {
      status = dl_fail_memory(d);
      break;
    }
    struct mark *m = &w->mark[key];
    if (m->n > 0 && m->group != (size_t)group)
      status = dl_fail_at(d, DL_EINPUT, w->t.path, w->t.line[i],
                          "'%s' is in two groups, '%s' and '%s'", keys.s[key],
                          w->groups.s[m->group], w->groups.s[group]);
    m->group = (size_t)group;
    add_row(&w->t, i, m);
    if ((size_t)key == w->n)
      w->n++;
  }
  dl_intern_free(&keys);
  return status;
}

/* Turns sums of logarithms into means, and sets the axes from them. */
static void set_axes(struct drawing *w) {
  struct dl_plot_span span = DL_SPAN_NONE;
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
  w->span =
      dl_plot_span_widen_log((struct dl_plot_span){span.low / w->unit.factor,
                                                   span.high / w->unit.factor},
                             0.06);
}

/* --- texts */

/* A target's name without its unit, for an axis: "GPU power". */
static void describe_target(const struct drawing *w, const char *before,
                            struct dl_text *t) {
  static const struct {
    const char *target, *words;
  } known[] = {{"gpu_power_w", "GPU power"},
               {"epoch_energy_j", "energy of an epoch"},
               {"energy_j", "energy"},
               {"epoch_s", "duration of an epoch"},
               {"duration_s", "duration"}};
  dl_text_printf(t, "%s ", before);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(w->target, known[i].target) == 0) {
      dl_text_add(t, known[i].words);
      return;
    }
  dl_text_add(t, *w->target ? w->target : "value");
}

/* Mean error and coverage, of the rows rather than of the markers. */
static void describe_scores(const struct drawing *w, struct dl_text *t) {
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
  dl_text_printf(t, "%zu rows", w->rows);
  if (w->n < w->rows)
    dl_text_printf(t, " in %zu points", w->n);
  dl_text_printf(t, ", mean error %.3g %%", 100 * error / (double)w->rows);
  if (with > 0)
    dl_text_printf(t, ", %.3g %% inside their interval", 100 * inside / with);
}

/* --- the script */

static void add_lines(struct dl_script *s, const struct drawing *w) {
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

static void add_data(struct dl_script *s, const struct drawing *w) {
  double f = w->unit.factor;
  for (size_t g = 0; g < w->groups.n; g++) {
    dl_text_printf(s->t, "$g%zu << EOD\n", g);
    for (size_t i = 0; i < w->n; i++) {
      const struct mark *m = &w->mark[i];
      if (m->group != g)
        continue;
      double row[] = {m->measured / f, m->predicted / f,
                      fmax(m->low / f, w->span.low / 10),
                      fmin(m->high / f, w->span.high * 10)};
      dl_script_row(s, has_bar(m) ? 4 : 2, row);
    }
    dl_text_add(s->t, "EOD\n");
  }
}

static bool any_bar(const struct drawing *w, size_t group) {
  for (size_t i = 0; i < w->n; i++)
    if (w->mark[i].group == group && has_bar(&w->mark[i]))
      return true;
  return false;
}

static void add_plots(struct dl_script *s, const struct drawing *w) {
  bool dumb = s->as == DL_PICTURE_DUMB, many = w->n > 200;
  dl_text_add(s->t, "plot $equal with lines lc rgb '#000000' lw 1.2 "
                    "title 'predicted = measured', $double with lines "
                    "lc rgb '#808080' lw 1 dt 2 title 'factor of two'");
  for (size_t g = 0; g < w->groups.n && !dumb; g++)
    if (any_bar(w, g))
      dl_text_printf(s->t,
                     ", $g%zu using 1:2:3:4 with yerrorbars lc rgb '%s%s' "
                     "lw %s pt 0 ps 0 notitle",
                     g, many ? "#D0" : "#A0", dl_colour[g % DL_COLOURS] + 1,
                     many ? "0.5" : "0.9");
  for (size_t g = 0; g < w->groups.n; g++) {
    dl_text_printf(s->t, ", $g%zu using 1:2 with points", g);
    dl_script_marker(s, g, many ? 0.5 : 0.8);
    dl_script_key(s, *w->groups.s[g] ? w->groups.s[g] : "row");
  }
  dl_text_add(s->t, "\n");
}

static void add_axes(struct dl_script *s, const struct drawing *w) {
  struct dl_text t = {0};
  const char *axis[] = {"x", "y"}, *before[] = {"measured", "predicted"};
  for (size_t i = 0; i < 2; i++) {
    dl_text_clear(&t);
    describe_target(w, before[i], &t);
    dl_script_label(s, axis[i], dl_text_str(&t), w->unit.name);
    dl_axis_log(s, axis[i], w->span);
  }
  dl_text_free(&t);
  dl_text_add(s->t, s->as == DL_PICTURE_DUMB
                        ? "set key outside right top\n"
                        : "set size ratio 1\nset bars 0\n"
                          "set key outside right top Left reverse samplen 2 "
                          "spacing 1.2\n");
}

static void write_script(struct dl_script *s, const struct dl_plot_options *o,
                         const struct drawing *w) {
  struct dl_text t = {0};
  describe_scores(w, &t);
  dl_script_title(s, o, dl_text_str(&t));
  dl_text_free(&t);
  add_axes(s, w);
  add_lines(s, w);
  add_data(s, w);
  add_plots(s, w);
}

static enum dl_status draw(struct dl_script *s, const struct dl_plot_options *o,
                           struct dl_diag *d) {
  struct drawing w = {0};
  const struct dl_plot_column columns[N_COLS] = {
      [COL_MEASURED] = {"measured", DL_CELL_POSITIVE, false},
      [COL_PREDICTED] = {"predicted", DL_CELL_POSITIVE, false},
      [COL_LOW] = {"low", DL_CELL_NUMBER, true},
      [COL_HIGH] = {"high", DL_CELL_NUMBER, true},
      [COL_TARGET] = {"target", DL_CELL_TEXT, true},
      [COL_UNIT] = {"unit", DL_CELL_TEXT, true},
      [COL_BY] = {o->by ? o->by : "gpu", DL_CELL_TEXT, !o->by},
      [COL_PER] = {o->per, DL_CELL_TEXT, !o->per}};
  enum dl_status status =
      dl_plot_table_read(&w.t, o->path[0], columns, N_COLS,
                         "dlest fit --cv SCHEME --predictions FILE", d);
  if (status == DL_OK)
    status = choose_target(&w, o->target, d);
  if (status == DL_OK)
    status = make_marks(&w, o->per != NULL, d);
  if (status == DL_OK && w.groups.n > MOST_GROUPS)
    status = dl_fail_at(d, DL_EINPUT, w.t.path, 0,
                        "%zu groups in column '%s' are too many to tell "
                        "apart; choose another with --by",
                        w.groups.n, columns[COL_BY].name);
  if (status == DL_OK) {
    set_axes(&w);
    write_script(s, o, &w);
  }
  free_drawing(&w);
  return status;
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
