/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The status line of dlest record: energy so far, and the projection of the
 * whole training (dlest step) where its epochs are known. */

#include "cli/record/record_live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/constants.h"
#include "output/screen.h"
#include "output/units.h"

static const int64_t look_every_ns = INT64_C(10000000000);
static const int64_t line_every_ns = INT64_C(60000000000);
/* A look reads the whole recording: it may take this share of the time. */
enum { LOOK_SHARE = 200 };

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void dl_live_init(struct dl_live *l, double epochs, const char *trace,
                  const char *marks) {
  struct dl_step_options *o = &l->step;
  l->terminal = isatty(STDERR_FILENO) && dl_terminal_is_able();
  l->wrote_ns = l->looked_ns = now_ns();
  dl_projection_defaults(&o->projection);
  o->seen = SIZE_MAX;
  o->name = trace;
  o->method[0] = dl_projector_at(0);
  o->n_methods = 1;
  o->projection.n_low = o->projection.n_high = epochs;
  o->extract.epochs.n_total = epochs;
  dl_strlist_add(&o->paths, trace);
  dl_strlist_add(&o->paths, marks);
}

static void show(struct dl_text *t, enum dl_style style, const char *unit,
                 double x) {
  struct dl_value v = dl_number(x);
  dl_show(t, style, unit, &v, NULL);
}

/* "3 of 90 epochs, in total 4.56 MJ (4.40 .. 4.70 MJ), 2 h 03 min left, 450 g
 * CO2e, 0.35 EUR" */
static void describe(struct dl_live *l, const struct dl_step *s,
                     double duration_s) {
  const struct dl_projection *p = &s->p[0];
  struct dl_text *t = &l->projected;
  l->whole = *p;
  l->n_whole = s->n_high;
  l->n_seen = s->seen.n;
  dl_text_clear(t);
  dl_text_printf(t, ", %zu of %g epochs", s->seen.n, s->n_high);
  if (isnan(p->energy_j))
    return;
  dl_text_add(t, ", in total ");
  show(t, DL_ENERGY, "J", p->energy_j);
  if (!isnan(p->low_j)) {
    struct dl_value low = dl_number(p->low_j), high = dl_number(p->high_j);
    dl_text_add(t, " (");
    dl_show(t, DL_ENERGY, "J", &low, &high);
    dl_text_add(t, ")");
  }
  if (p->duration_s > duration_s) {
    dl_text_add(t, ", ");
    show(t, DL_TIME, "s", p->duration_s - duration_s);
    dl_text_add(t, " left");
  }
  struct dl_costs costs = dl_footprint_costs(&l->step.foot, p->energy_j);
  if (!isnan(costs.co2e_g)) {
    dl_text_add(t, ", ");
    show(t, DL_MASS, "g CO2e", costs.co2e_g);
  }
  if (!isnan(costs.price)) {
    dl_text_add(t, ", ");
    show(t, DL_PLAIN, l->step.foot.currency, costs.price);
  }
  l->over |= p->low_j > l->budget_kwh * DL_J_PER_KWH;
}

/* Projects from what has been recorded. A recording in which nothing can be
 * found yet is no error. */
static void look(struct dl_live *l, const struct dl_record_result *so_far) {
  struct dl_step s;
  DL_SCOPED(dl_diag_free) struct dl_diag d = {0};
  int64_t before = now_ns();
  /* Without marks the epochs are looked for in the power. */
  struct dl_strlist all = l->step.paths;
  if (so_far->n_epochs == 0)
    l->step.paths.n = 1;
  l->step.extract.meter.cut_gaps = so_far->suspended_s > 0;
  if (dl_step_look(&l->step, &s, &d) == DL_OK) {
    describe(l, &s, so_far->duration_s);
    dl_epoch_series_free(&s.seen);
  }
  l->step.paths = all;
  l->n_epochs = so_far->n_epochs;
  l->looked_ns = now_ns();
  l->look_cost_ns = l->looked_ns - before;
}

static void write_line(struct dl_live *l,
                       const struct dl_record_result *so_far) {
  DL_TEXT(t);
  show(&t, DL_TIME, "s", so_far->duration_s);
  dl_text_add(&t, ", ");
  if (l->measures) {
    show(&t, DL_ENERGY, "J", so_far->energy_j);
    dl_text_printf(&t, ", %.0f W%s", so_far->power_w,
                   dl_text_str(&l->projected));
  } else {
    show(&t, DL_ENERGY, "J", so_far->assumed_j);
    dl_text_add(&t, " assumed, by the CPUs' load and TDP");
  }
  if (l->terminal)
    fprintf(stderr, DL_CLEAR_LINE "%s", dl_text_str(&t));
  else
    fprintf(stderr, "dlest: %s\n", dl_text_str(&t));
  l->drawn = l->terminal;
}

bool dl_live_tick(void *ctx, const struct dl_record_result *so_far) {
  struct dl_live *l = ctx;
  int64_t now = now_ns();
  int64_t pause = l->look_cost_ns * LOOK_SHARE;
  bool due =
      now - l->looked_ns > pause &&
      (now - l->looked_ns > look_every_ns || so_far->n_epochs > l->n_epochs);
  if (!isnan(l->step.projection.n_high) && due)
    look(l, so_far);
  if (!l->quiet && (l->terminal || now - l->wrote_ns >= line_every_ns)) {
    write_line(l, so_far);
    l->wrote_ns = now;
  }
  return l->over && l->stop;
}

void dl_live_free(struct dl_live *l) {
  if (l->drawn)
    fputs(DL_CLEAR_LINE, stderr);
  dl_strlist_free(&l->step.paths);
  dl_text_free(&l->projected);
}
