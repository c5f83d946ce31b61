/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to the picture `pareto`: its settings, grouped for drawing. */

#ifndef DL_PLOT_PARETO_PLOT_H
#define DL_PLOT_PARETO_PLOT_H

#include "base/names/intern.h"
#include "base/text.h"
#include "plot/plot_scale.h"
#include "plot/plot_table.h"

enum {
  COL_ENERGY,
  COL_LOW,
  COL_HIGH,
  COL_TIME,
  COL_FRONT,
  COL_BY,
  COL_SHAPE,
  COL_ARCH,
  COL_GPU,
  COL_BATCH,
  COL_SIZE,
  COL_NODE,
  COL_BOUNDARY,
  COL_EXCLUDED,
  N_COLS
};

struct dl_pareto_drawing {
  struct dl_plot_table t;
  struct dl_intern groups; /* by the column `by` */
  size_t by;
  size_t *group;           /* colour of each row; owned */
  size_t *coloured;        /* n_coloured indices of groups, in order; owned */
  size_t n_coloured;       /* rows of other groups have colour n_coloured */
  struct dl_intern shapes; /* by the column `shape` */
  size_t *shape;           /* of each row; owned */
  bool shaped;    /* markers show `shapes`; else they repeat the group */
  size_t *front;  /* n_front rows, by time; owned */
  bool *on_front; /* of each row; owned */
  size_t n_front;
  struct dl_axis_unit time, energy;
  struct dl_span x, y;
  double top, right;     /* edges of the area */
  struct dl_text shared; /* label of the whole front, if all of it has one */
  bool differs[N_COLS];
};

static inline double dl_pareto_time(const struct dl_pareto_drawing *w,
                                    size_t row) {
  return dl_plot_number(&w->t, row, COL_TIME) / w->time.factor;
}

static inline double dl_pareto_energy(const struct dl_pareto_drawing *w,
                                      size_t row) {
  return dl_plot_number(&w->t, row, COL_ENERGY) / w->energy.factor;
}

/* Finds the rows on the front: from the column `pareto` if there is one. */
void dl_pareto_front(struct dl_pareto_drawing *w);

/* Groups the rows: by the chosen column, else by node if there are nodes, else
 * by GPU. To be called after dl_pareto_front. */
void dl_pareto_groups(struct dl_pareto_drawing *w, bool chosen);

#endif
