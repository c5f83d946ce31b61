/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placing labels beside points. */

#include "plot/plot_labels.h"

/* Sides of a point, as dx and dy: right first, left last, since text is read
 * from the point onwards. */
static const int sides[][2] = {{1, 0},  {1, 1},  {1, -1}, {0, 1},
                               {0, -1}, {-1, 0}, {-1, 1}, {-1, -1}};
enum { SIDES = sizeof sides / sizeof *sides };

/* Puts a label on a side of its point. */
static void put_at(struct dl_label *l, const struct dl_label_area *a, int dx,
                   int dy) {
  double x = l->x - l->width / 2;
  if (dx != 0)
    x = dx > 0 ? l->x + a->gap : l->x - a->gap - l->width;
  double y = l->y + dy * (a->gap + a->line / 2) - a->line / 2;
  l->dx = dx;
  l->dy = dy;
  l->x0 = x;
  l->y0 = y;
  l->x1 = x + l->width;
  l->y1 = y + a->line;
}

static bool overlap(const struct dl_label *a, const struct dl_label *b) {
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

/* Whether label i lies in the area, and covers neither a label before it that
 * was placed nor one of m points. */
static bool is_free(const struct dl_label *label, size_t i,
                    const double (*point)[2], size_t m,
                    const struct dl_label_area *a) {
  const struct dl_label *l = &label[i];
  if (l->x0 < 0 || l->y0 < 0 || l->x1 > a->width || l->y1 > a->height)
    return false;
  for (size_t k = 0; k < i; k++)
    if (label[k].placed && overlap(l, &label[k]))
      return false;
  for (size_t k = 0; k < m; k++)
    if (point[k][0] > l->x0 && point[k][0] < l->x1 && point[k][1] > l->y0 &&
        point[k][1] < l->y1)
      return false;
  return true;
}

void dl_labels_place(struct dl_label *label, size_t n, const double (*point)[2],
                     size_t m, size_t soft, const struct dl_label_area *area) {
  for (size_t i = 0; i < n; i++) {
    label[i].placed = false;
    for (size_t k = 0; k < 2 * SIDES && !label[i].placed; k++) {
      size_t side = k % SIDES, kept = k < SIDES ? m : m - soft;
      put_at(&label[i], area, sides[side][0], sides[side][1]);
      label[i].placed = is_free(label, i, point, kept, area);
    }
  }
}
