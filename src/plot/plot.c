/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry of pictures and of picture formats. */

#include "plot/plot.h"

#include <string.h>

#include "base/memory.h"
#include "plot/gnuplot_script.h"
#include "plot/plot_kinds.h"

const struct dl_plot_kind *const dl_plot_kinds[] = {
    &dl_plot_trace, &dl_plot_fit,    &dl_plot_errors,
    &dl_plot_parts, &dl_plot_pareto, NULL};

const struct dl_plot_kind *dl_plot_kind_find(const char *name) {
  for (size_t i = 0; dl_plot_kinds[i]; i++)
    if (strcmp(dl_plot_kinds[i]->name, name) == 0)
      return dl_plot_kinds[i];
  return NULL;
}

bool dl_picture_find(const char *name, enum dl_picture *as) {
  static const char *const names[] = {[DL_PICTURE_SVG] = "svg",
                                      [DL_PICTURE_PNG] = "png",
                                      [DL_PICTURE_PDF] = "pdf",
                                      [DL_PICTURE_DUMB] = "dumb"};
  int at = dl_text_index(names, DL_LENGTH(names), name);
  if (at >= 0)
    *as = (enum dl_picture)at;
  return at >= 0;
}

bool dl_picture_of_file(const char *path, enum dl_picture *as) {
  size_t n = strlen(path);
  int at = n > 4 ? dl_word_among(".svg|.png|.pdf|.txt", path + n - 4, 4) : -1;
  if (at >= 0)
    *as = (enum dl_picture)at; /* in the order of the enum */
  return at >= 0;
}

enum dl_status dl_plot_script(struct dl_text *script,
                              const struct dl_plot_kind *kind,
                              const struct dl_plot_options *o,
                              struct dl_diag *d) {
  struct dl_script s = {.t = script, .as = o->as};
  bool text = o->as == DL_PICTURE_DUMB;
  /* PNG has twice the pixels, for screens of high density. */
  double usual = o->as == DL_PICTURE_PNG ? 2 * kind->width : kind->width;
  s.width = o->width;
  if (!(s.width > 0))
    s.width = text ? 79 : usual;
  s.height = o->height;
  if (!(s.height > 0))
    s.height = text ? 24 : s.width * kind->height / kind->width;
  s.scale = text ? 1 : s.width / kind->width;
  dl_script_begin(&s, o->colour);
  return kind->draw(&s, o, d);
}
