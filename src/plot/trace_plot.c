/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture `trace`: a power log with its epochs, as dlest step finds them.
 *
 * Power over time; with more readings than pixels, the mean and the range of
 * the readings in some hundred bins. The axis above numbers the epochs, a line
 * shows the mean power of each, and a grey area the epochs that a projection is
 * based on. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "estimate/projection/epoch_series.h"
#include "estimate/projection/projection.h"
#include "output/report.h"
#include "plot/plot_kinds.h"
#include "plot/plot_scale.h"

enum {
  MOST_READINGS = 1500, /* drawn one by one */
  N_BINS = 700,
  LEAST_STABLE = 3, /* epochs of a region that is shown */
  MOST_LABELS = 11,
  MOST_TICS = 160 /* of epochs */
};

#define GAP 10 /* median intervals: no line across longer gaps */

/* A log, its epochs and the units of the axes. */
struct trace_drawing {
  double *t, *w; /* s from the beginning, W; owned */
  size_t n;      /* readings */
  bool gpu;      /* GPUs were metered */
  struct dl_epoch_series seen;
  struct dl_projection p;
  double *start; /* n + 1: of each epoch, s */
  struct dl_axis_unit time, watt;
  double end, top; /* of the axes, s and W */
  double gap_s;
};

/* Mean power of everything but GPUs since the previous point, W. */
static double other_power(const struct dl_energy_point *before,
                          const struct dl_energy_point *at) {
  double j = 0, s = (double)(at->ns - before->ns) * 1e-9;
  for (size_t kind = 0; kind < DL_N_METER_KINDS; kind++) {
    double more = at->energy_j[kind] - before->energy_j[kind];
    j += isnan(more) ? 0 : more;
  }
  return s > 0 ? j / s : NAN;
}

static enum dl_status take_curve(void *ctx, const struct dl_log_summary *track,
                                 struct dl_diag *d) {
  (void)d;
  struct trace_drawing *w = ctx;
  const struct dl_energy_curve *c = &track->curve;
  free(w->t);
  free(w->w);
  w->t = dl_calloc(c->n, sizeof *w->t);
  w->w = dl_calloc(c->n, sizeof *w->w);
  w->n = c->n;
  w->gpu = track->kind[DL_METER_GPU].n_meters > 0;
  for (size_t i = 0; i < c->n; i++) {
    const struct dl_energy_point *at = &c->point[i];
    w->t[i] = (double)(at->ns - c->point[0].ns) * 1e-9;
    if (w->gpu)
      w->w[i] = (double)at->power_w;
    else
      w->w[i] = i == 0 ? NAN : other_power(at - 1, at);
  }
  return DL_OK;
}

/* --- the drawing */

static void measure(struct trace_drawing *w) {
  DL_FREED double *step = dl_calloc(w->n, sizeof *step);
  for (size_t i = 0; i < w->n; i++) {
    w->top = fmax(w->top, isnan(w->w[i]) ? 0 : w->w[i]);
    if (i > 0)
      step[i - 1] = w->t[i] - w->t[i - 1];
  }
  qsort(step, w->n - 1, sizeof *step, dl_order_numbers);
  w->gap_s = fmax(10, GAP * step[(w->n - 1) / 2]);
  w->end = w->t[w->n - 1];
  w->time = dl_axis_unit("s", w->end);
  w->watt = dl_axis_unit("W", w->top);
}

/* Where the points of a trace go: a mean with the range of its readings, which
 * is empty for a single one. NULL in place of a point: a gap. */
struct trace_point {
  double t, mean;
  struct dl_span range;
};
typedef void take_point(void *to, const struct trace_drawing *w,
                        const struct trace_point *p);

/* Readings one by one, with a break at each gap. */
static void each_reading(const struct trace_drawing *w, take_point *take,
                         void *to) {
  for (size_t i = 0; i < w->n; i++) {
    if (i > 0 && w->t[i] - w->t[i - 1] > w->gap_s)
      take(to, w, NULL);
    if (!isnan(w->w[i]))
      take(to, w, &(struct trace_point){w->t[i], w->w[i], DL_SPAN_NONE});
  }
}

/* Mean and range in each bin, with a break at each gap longer than a bin. */
static void each_bin(const struct trace_drawing *w, take_point *take,
                     void *to) {
  double width = w->end / N_BINS, last = 0;
  for (size_t i = 0; i < w->n;) {
    size_t bin = (size_t)(w->t[i] / width), n = 0;
    double sum = 0, t = 0;
    struct dl_span range = DL_SPAN_NONE;
    if (i > 0 && w->t[i] - last > fmax(w->gap_s, 2 * width))
      take(to, w, NULL);
    for (; i < w->n && (size_t)(w->t[i] / width) == bin; i++) {
      last = w->t[i];
      if (isnan(w->w[i]))
        continue;
      dl_plot_span_take(&range, w->w[i]);
      sum += w->w[i];
      t += w->t[i];
      n++;
    }
    if (n > 0)
      take(to, w, &(struct trace_point){t / (double)n, sum / (double)n, range});
  }
}

static void each_point(const struct trace_drawing *w, take_point *take,
                       void *to) {
  if (w->n > MOST_READINGS)
    each_bin(w, take, to);
  else
    each_reading(w, take, to);
}

static void add_point(void *to, const struct trace_drawing *w,
                      const struct trace_point *p) {
  struct dl_script *s = to;
  if (!p) {
    dl_text_add(s->t, "\n");
    return;
  }
  double high = fmax(p->range.high, p->range.low + 1e-6);
  double row[] = {p->t / w->time.factor, p->mean / w->watt.factor,
                  p->range.low / w->watt.factor, high / w->watt.factor};
  dl_script_row(s, w->n > MOST_READINGS ? 4 : 2, row);
}

/* Mean power of each epoch, as steps. */
static void add_means(struct dl_script *s, const struct trace_drawing *w) {
  size_t i = 0;
  dl_text_add(s->t, "$epochs << EOD\n");
  for (size_t e = 0; e < w->seen.n; e++) {
    double sum = 0, n = 0;
    while (i < w->n && w->t[i] <= w->start[e])
      i++;
    for (; i < w->n && w->t[i] <= w->start[e + 1]; i++)
      if (!isnan(w->w[i])) {
        sum += w->w[i];
        n++;
      }
    if (n == 0)
      continue;
    for (size_t k = 0; k < 2; k++) {
      double row[] = {w->start[e + k] / w->time.factor,
                      sum / n / w->watt.factor};
      dl_script_row(s, 2, row);
    }
  }
  dl_text_add(s->t, "EOD\n");
}

/* The axis above: the number of each epoch at its beginning. */
static void add_epoch_axis(struct dl_script *s, const struct trace_drawing *w) {
  static const size_t steps[] = {1, 2, 5};
  size_t n = w->seen.n, step = 1;
  for (size_t i = 0; n / step > MOST_LABELS; i++) {
    size_t decade = 1;
    for (size_t k = 0; k < (i + 1) / 3; k++)
      decade *= 10;
    step = steps[(i + 1) % 3] * decade;
  }
  dl_script_label(s, "x2", "epoch", NULL);
  if (s->as != DL_PICTURE_DUMB) /* nearer to its tics than to the title */
    dl_text_add(s->t, "set x2label offset 0,-0.4\n");
  dl_text_add(s->t, "set x2tics (");
  bool any = false;
  for (size_t e = 0; e < n; e++) {
    if (e % step != 0 && n > MOST_TICS)
      continue;
    dl_text_add(s->t, any ? ", " : "");
    if (e % step == 0)
      dl_text_printf(s->t, "'%zu' ", e);
    else
      dl_text_add(s->t, "'' ");
    dl_script_number(s, w->start[e] / w->time.factor);
    dl_text_add(s->t, e % step == 0 ? "" : " 1");
    any = true;
  }
  dl_text_add(s->t, ")\n");
}

static bool has_region(const struct trace_drawing *w) {
  return w->p.n_stable >= LEAST_STABLE &&
         w->p.stable_from + w->p.n_stable <= w->seen.n;
}

static const char *verdict(const struct trace_drawing *w) {
  switch (w->p.verdict) {
  case DL_PROJECTION_STABLE:
    return "stable";
  case DL_PROJECTION_DRIFTING:
    return "drifting";
  default:
    return "one regime";
  }
}

/* The title: epochs found, and their energy in the steady state. */
static void caption(const struct trace_drawing *w, struct dl_text *t) {
  const struct dl_epoch_series *e = &w->seen;
  if (e->n == 0) {
    dl_text_add(t, "Power log: no epochs detected");
    return;
  }
  dl_text_printf(t, "Power log: %zu epochs", e->n);
  if (e->verdict[0])
    dl_text_printf(t, "%s (%s)",
                   dl_is_word(e->verdict, "given") ? "" : " detected",
                   e->verdict);
  if (has_region(w)) {
    struct dl_axis_unit u = dl_axis_unit("J", w->p.level_j);
    dl_text_printf(t, ", %s from epoch %zu", verdict(w), w->p.stable_from);
    if (isnan(w->p.level_j))
      return;
    dl_text_printf(t, ", %.3g %s per epoch", w->p.level_j / u.factor, u.name);
    if (e->boundary[0])
      dl_text_printf(t, " (%s)", e->boundary);
  }
}

static void add_region(struct dl_script *s, const struct trace_drawing *w) {
  double from = w->start[w->p.stable_from] / w->time.factor;
  double to = w->start[w->p.stable_from + w->p.n_stable] / w->time.factor;
  double top = w->top / w->watt.factor;
  const double row[][2] = {{from, top}, {to, top}};
  dl_text_add(s->t, "$stable << EOD\n");
  for (size_t i = 0; i < 2; i++)
    dl_script_row(s, 2, row[i]);
  dl_text_add(s->t, "EOD\n");
}

static void add_axes(struct dl_script *s, struct trace_drawing *w) {
  bool dumb = s->as == DL_PICTURE_DUMB;
  w->top *= 1.05;
  dl_script_label(s, "x", "time", w->time.name);
  dl_script_label(s, "y", w->gpu ? "GPU power" : "power", w->watt.name);
  struct dl_span x = {0, w->end / w->time.factor};
  dl_axis_range(s, "x", x);
  dl_axis_range(s, "x2", x);
  dl_axis_range(s, "y", (struct dl_span){0, w->top / w->watt.factor});
  if (w->seen.n > 0)
    add_epoch_axis(s, w);
  dl_text_add(
      s->t, dumb ? "set key bmargin center horizontal width 2\n"
                 : "set border 7\nset grid ytics noxtics\n"
                   "set bmargin 6.8\nset key at screen 0.5,0.02 center bottom "
                   "horizontal Left reverse samplen 2 spacing 1.2\n");
}

static void add_plots(struct dl_script *s, const struct trace_drawing *w,
                      bool bins) {
  bool dumb = s->as == DL_PICTURE_DUMB;
  const char *between = "plot";
  if (has_region(w) && !dumb) {
    dl_text_printf(s->t,
                   "%s $stable with filledcurves y1=0 fc rgb '#c8c8c8' "
                   "fs transparent solid 0.45 noborder title '%s'",
                   between, verdict(w));
    between = ",";
  }
  if (bins && !dumb) {
    dl_text_printf(s->t,
                   "%s $power using 1:3:4 with filledcurves fc rgb '#a9d3ee' "
                   "fs noborder title 'range of readings'",
                   between);
    between = ",";
  }
  dl_text_printf(s->t, "%s $power using 1:2 with lines lc rgb '%s' lw %s ",
                 between, dl_colour[0], bins ? "1" : "0.8");
  dl_text_add(s->t, bins ? "title 'mean of readings'" : "title 'power'");
  if (w->seen.n > 0)
    dl_text_printf(s->t,
                   ", $epochs using 1:2 with lines lc rgb '%s' lw 2.2 "
                   "title 'mean per epoch'",
                   dl_colour[1]);
  dl_text_add(s->t, "\n");
}

static void write_script(struct dl_script *s, const struct dl_plot_options *o,
                         struct trace_drawing *w) {
  DL_TEXT(t);
  caption(w, &t);
  dl_script_title(s, o, dl_text_str(&t));
  add_axes(s, w);
  if (has_region(w))
    add_region(s, w);
  dl_text_add(s->t, "$power << EOD\n");
  each_point(w, add_point, s);
  dl_text_add(s->t, "EOD\n");
  if (w->seen.n > 0)
    add_means(s, w);
  add_plots(s, w, w->n > MOST_READINGS);
}

/* --- the data of the picture */

static void add_row(void *to, const struct trace_drawing *w,
                    const struct trace_point *p) {
  static const struct trace_point gap = {NAN, NAN, {NAN, NAN}};
  (void)w;
  p = p ? p : &gap;
  struct dl_span range = p->range;
  if (!(range.low < range.high))
    range.low = range.high = NAN;
  DL_ROW(to, NULL, dl_number(p->t), dl_number(p->mean), dl_number(range.low),
         dl_number(range.high));
}

static void report_epochs(struct dl_report *r, const struct trace_drawing *w) {
  static const struct dl_column columns[] = {{.key = "start_s"},
                                             {.key = "duration_s"},
                                             {.key = "power_w"},
                                             {.key = "energy_j"}};
  struct dl_table *t = DL_TABLE(r, "epochs", NULL, columns, false);
  for (size_t e = 0; e < w->seen.n; e++) {
    double s = w->seen.duration_s[e], j = w->seen.energy_j[e];
    DL_ROW(t, NULL, dl_number(w->start[e]), dl_number(s),
           dl_number(dl_or(w->seen.power_w[e], j / s)), dl_number(j));
  }
}

static struct dl_value unless_empty(const char *text) {
  return dl_string(text[0] ? text : NULL);
}

static struct dl_report *report_trace(const struct trace_drawing *w) {
  static const struct dl_column columns[] = {
      {.key = "t_s"}, {.key = "power_w"}, {.key = "low_w"}, {.key = "high_w"}};
  struct dl_report *r = dl_report_new();
  struct dl_value from = dl_number(NAN), n = dl_number(NAN);
  DL_TEXT(t);
  caption(w, &t);
  if (has_region(w)) {
    from = dl_count(w->p.stable_from);
    n = dl_count(w->p.n_stable);
  }
  DL_LINES(r, {.key = "title", .value = dl_string(dl_text_str(&t))},
           {.key = "boundary", .value = unless_empty(w->seen.boundary)},
           {.key = "epochs_verdict", .value = unless_empty(w->seen.verdict)},
           {.key = "stable_from", .value = from},
           {.key = "n_stable", .value = n});
  report_epochs(r, w);
  each_point(w, add_row, DL_TABLE(r, "trace", NULL, columns, true));
  return r;
}

/* The epochs from which dlest's own projector would project the rest. */
static enum dl_status find_region(struct trace_drawing *w, struct dl_diag *d) {
  struct dl_projection_options p;
  struct dl_measured_epochs seen = dl_epoch_series_get(&w->seen);
  if (w->seen.n == 0)
    return DL_OK;
  dl_projection_defaults(&p);
  p.n_low = p.n_high = (double)w->seen.n;
  return dl_project(&w->p, dl_projector_at(0), &seen, &p, d);
}

static void free_drawing(struct trace_drawing *w) {
  dl_epoch_series_free(&w->seen);
  free(w->t);
  free(w->w);
  free(w->start);
}

/* Reads logs, or a table with one row per epoch, which has no readings. */
static enum dl_status load(struct trace_drawing *w,
                           const struct dl_plot_options *o, struct dl_diag *d) {
  struct dl_extract_options logs = o->logs;
  logs.inspect = take_curve;
  logs.ctx = w;
  bool table = o->n_paths == 1 && !o->logs.log.from &&
               dl_epoch_series_is_table(o->path[0], NULL);
  if (table && o->logs.epochs.hint_s > 0)
    return dl_fail(d, DL_EUSAGE, "--epoch-length is for power logs");
  if (table)
    DL_TRY(dl_epoch_series_from_table(&w->seen, o->path[0], NULL,
                                      &(struct dl_strlist){0}, d));
  else
    DL_TRY(dl_epoch_series_from_logs(&w->seen, o->path, o->n_paths, &logs,
                                     false, d));
  w->start = dl_calloc(w->seen.n + 1, sizeof *w->start);
  w->start[0] = w->seen.head_s;
  for (size_t i = 0; i < w->seen.n; i++)
    w->start[i + 1] = w->start[i] + w->seen.duration_s[i];
  return find_region(w, d);
}

static enum dl_status draw(struct dl_script *s, const struct dl_plot_options *o,
                           struct dl_diag *d) {
  DL_SCOPED(free_drawing) struct trace_drawing w = {0};
  DL_TRY(load(&w, o, d));
  if (w.n < 2)
    return dl_fail_at(d, DL_EINPUT, o->path[0], 0,
                      "no power over time in it to draw");
  measure(&w);
  write_script(s, o, &w);
  return DL_OK;
}

static enum dl_status report(struct dl_report **r,
                             const struct dl_plot_options *o,
                             struct dl_diag *d) {
  DL_SCOPED(free_drawing) struct trace_drawing w = {0};
  DL_TRY(load(&w, o, d));
  if (w.n > 1)
    measure(&w);
  *r = report_trace(&w);
  return DL_OK;
}

const struct dl_plot_kind dl_plot_trace = {
    .name = "trace",
    .summary = "a power log with its epochs and their stable region",
    .input = "LOG...",
    .takes = DL_PLOT_LOGS,
    .width = 760,
    .height = 420,
    .draw = draw,
    .report = report,
};
