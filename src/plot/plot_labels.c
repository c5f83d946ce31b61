/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placing labels beside points. */

#include "plot/plot_labels.h"

#include <stdlib.h>

#include "base/memory.h"

struct box {
  double x0, y0, x1, y1;
};

/* Right first, left last: text is read from the point onwards. */
static const struct {
  int dx, dy;
} sides[] = {{1, 0},  {1, 1},  {1, -1}, {0, 1},
             {0, -1}, {-1, 0}, {-1, 1}, {-1, -1}};
enum { SIDES = sizeof sides / sizeof *sides };

static struct box box_at(const struct dl_label *l,
                         const struct dl_label_area *a, int dx, int dy) {
  double x = dx > 0   ? l->x + a->gap
             : dx < 0 ? l->x - a->gap - l->width
                      : l->x - l->width / 2;
  double y = l->y + dy * (a->gap + a->line / 2) - a->line / 2;
  return (struct box){x, y, x + l->width, y + a->line};
}

static bool overlap(const struct box *a, const struct box *b) {
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

static bool is_free(const struct box *b, const struct box *taken,
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
  DL_FREED struct box *taken = dl_calloc(n, sizeof *taken);
  for (size_t i = 0; i < n; i++) {
    label[i].placed = false;
    for (size_t k = 0; k < 2 * SIDES; k++) {
      size_t side = k % SIDES, kept = k < SIDES ? m : m - soft;
      struct box b = box_at(&label[i], area, sides[side].dx, sides[side].dy);
      if (!is_free(&b, taken, n_taken, point, kept, area))
        continue;
      label[i].dx = sides[side].dx;
      label[i].dy = sides[side].dy;
      label[i].placed = true;
      taken[n_taken++] = b;
      break;
    }
  }
}
