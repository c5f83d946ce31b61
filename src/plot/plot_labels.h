/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/plot: labels beside points without overlaps. Greedy (the first
 * label has the first choice), among eight positions
 * around each point, as in Christensen, Marks, Shieber, "An empirical study of
 * algorithms for point-feature label placement", ACM ToG 14 (1995) 203. */

#ifndef DL_PLOT_PLOT_LABELS_H
#define DL_PLOT_PLOT_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/* All have one unit; y grows upwards. */
struct dl_label {
  double x, y;           /* of the point */
  double width;          /* of the text */
  int dx, dy;            /* result: -1, 0 or 1, the side of the point */
  bool placed;           /* false: there is no room */
  double x0, y0, x1, y1; /* result: the edges of the text */
};

struct dl_label_area {
  double width, height; /* of the drawing, from 0, 0 */
  double line;          /* height of a line of text */
  double gap;           /* between point and text */
};

/* Places n labels such that they cover none of the m points (x, y); the last
 * `soft` points may be covered if there is no other position. */
void dl_labels_place(struct dl_label *label, size_t n, const double (*point)[2],
                     size_t m, size_t soft, const struct dl_label_area *area);

#endif
