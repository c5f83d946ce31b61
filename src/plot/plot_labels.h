/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/plot: labels beside points, so that they do not lie on each
 * other. Greedy (the first label has the first choice), among eight places
 * around each point, as in Christensen, Marks, Shieber, "An empirical study of
 * algorithms for point-feature label placement", ACM ToG 14 (1995) 203. */

#ifndef DL_PLOT_PLOT_LABELS_H
#define DL_PLOT_PLOT_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/* All in the same unit, y upwards. */
struct dl_label {
  double x, y;  /* of the point */
  double width; /* of the text */
  int dx, dy;   /* found: -1, 0, 1; the side of the point where it stands */
  bool placed;  /* false: there is no room */
};

struct dl_label_area {
  double width, height; /* of what can be drawn on, from 0, 0 */
  double line;          /* height of a line of text */
  double gap;           /* between point and text */
};

/* Places n labels; the m points (x, y) are not to be covered either, the last
 * `soft` of them unless there is no other place. False: out of memory. */
bool dl_labels_place(struct dl_label *label, size_t n, const double (*point)[2],
                     size_t m, size_t soft, const struct dl_label_area *area);

#endif
