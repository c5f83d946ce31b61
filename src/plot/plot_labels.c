/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placing labels beside points. */

#include "plot/plot_labels.h"

#include <stdlib.h>

#include "base/memory.h"

struct label_box {
  double x0, y0, x1, y1;
};

/* Sides of a point, as dx and dy: right first, left last, since text is read
 * from the point onwards. */
static const int sides[][2] = {{1, 0},  {1, 1},  {1, -1}, {0, 1},
                               {0, -1}, {-1, 0}, {-1, 1}, {-1, -1}};
enum { SIDES = sizeof sides / sizeof *sides };

static struct label_box box_at(const struct dl_label *l,
                               const struct dl_label_area *a, int dx, int dy) {
  double x = l->x - l->width / 2;
  if (dx != 0)
    x = dx > 0 ? l->x + a->gap : l->x - a->gap - l->width;
  double y = l->y + dy * (a->gap + a->line / 2) - a->line / 2;
  return (struct label_box){x, y, x + l->width, y + a->line};
}

static bool overlap(const struct label_box *a, const struct label_box *b) {
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

static bool is_free(const struct label_box *b, const struct label_box *taken,
                    size_t n_taken, const double (*point)[2], size_t m,
                    const struct dl_label_area *a) {
  if (b->x0 < 0 || b->y0 < 0 || b->x1 > a->width || b->y1 > a->height)
    return false;
  for (size_t i = 0; i < n_taken; i++)
    if (overlap(b, &taken[i]))
      return false;
  for (size_t i = 0; i < m; i++)
    if (point[i][0] > b->x0 && point[i][0] < b->x1 && point[i][1] > b->y0 &&
        point[i][1] < b->y1)
      return false;
  return true;
}

void dl_labels_place(struct dl_label *label, size_t n, const double (*point)[2],
                     size_t m, size_t soft, const struct dl_label_area *area) {
  size_t n_taken = 0;
  DL_FREED struct label_box *taken = dl_calloc(n, sizeof *taken);
  for (size_t i = 0; i < n; i++) {
    label[i].placed = false;
    for (size_t k = 0; k < 2 * SIDES; k++) {
      size_t side = k % SIDES, kept = k < SIDES ? m : m - soft;
      struct label_box b =
          box_at(&label[i], area, sides[side][0], sides[side][1]);
      if (!is_free(&b, taken, n_taken, point, kept, area))
        continue;
      label[i].dx = sides[side][0];
      label[i].dy = sides[side][1];
      label[i].placed = true;
      taken[n_taken++] = b;
      break;
    }
  }
}
