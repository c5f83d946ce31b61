/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/plot: the kinds of pictures, one file each. */

#ifndef DL_PLOT_PLOT_KINDS_H
#define DL_PLOT_PLOT_KINDS_H

#include "plot/plot.h"

extern const struct dl_plot_kind dl_plot_trace, dl_plot_fit, dl_plot_errors,
    dl_plot_parts, dl_plot_pareto;

#endif
