/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures: each kind writes a script, which gnuplot draws.
 *
 * Okabe and Ito ("Color Universal Design", 2008) chose the colours, which
 * people with any colour vision can distinguish; markers, dashes or labels
 * repeat the distinction for print in grey. */

#ifndef DL_PLOT_PLOT_H
#define DL_PLOT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "logs/extract.h"

enum dl_picture {
  DL_PICTURE_SVG,
  DL_PICTURE_PNG,
  DL_PICTURE_PDF,
  DL_PICTURE_DUMB /* characters, for a terminal */
};

struct dl_plot_kind;

struct dl_plot_options {
  const struct dl_plot_kind *kind;
  bool script; /* is printed in place of the picture */
  enum dl_picture as;
  /* Pixels (of 1/96 inch for PDF), characters for DL_PICTURE_DUMB; 0: the
   * default of the kind, twice that for PNG. */
  double width, height;
  bool colour;                    /* DL_PICTURE_DUMB: escape sequences */
  const char *title;              /* NULL: the kind's own; "": none */
  const char *by;                 /* column of the colours, or NULL */
  const char *shape;              /* column of the markers, or NULL */
  const char *per;                /* column: one point per value, or NULL */
  const char *score;              /* column of the error, or NULL */
  const char *target;             /* rows with that target only, or NULL */
  char *const *path;              /* n_paths; "-": stdin */
  size_t n_paths;                 /* > 0 */
  struct dl_extract_options logs; /* how logs are read */
};

struct dl_script;
struct dl_report;

/* Options that a kind takes, as bits. */
enum {
  DL_PLOT_BY = 1,
  DL_PLOT_PER = 2,
  DL_PLOT_SCORE = 4,
  DL_PLOT_TARGET = 8,
  DL_PLOT_LOGS = 16 /* reads logs, several of one run; else one table */
};

struct dl_plot_kind {
  const char *name;
  const char *summary;
  const char *input;    /* what it reads, for people */
  unsigned takes;       /* DL_PLOT_... */
  double width, height; /* default, pixels */
  enum dl_status (*draw)(struct dl_script *s, const struct dl_plot_options *o,
                         struct dl_diag *d);
  /* Makes a report of the data that the picture shows; NULL: they are the
   * table that it reads. Owned by the caller. */
  enum dl_status (*report)(struct dl_report **r,
                           const struct dl_plot_options *o, struct dl_diag *d);
};

/* All kinds, ending with NULL. */
extern const struct dl_plot_kind *const dl_plot_kinds[];
const struct dl_plot_kind *dl_plot_kind_find(const char *name);

/* "svg", "png", "pdf", "dumb"; false for another name. */
bool dl_picture_find(const char *name, enum dl_picture *as);

/* The picture type by the suffix of a file name: .svg, .png, .pdf, .txt. */
bool dl_picture_of_file(const char *path, enum dl_picture *as);

/* Appends the script of a picture, with its data, to `script`; gnuplot prints
 * the picture on its standard output. No data can make the script do anything
 * but draw. DL_EINPUT: the data cannot be drawn. */
enum dl_status dl_plot_script(struct dl_text *script,
                              const struct dl_plot_kind *kind,
                              const struct dl_plot_options *o,
                              struct dl_diag *d);

/* Runs gnuplot, found by PATH, on a script and writes the picture to `path`
 * (NULL or "-": standard output), whole or not at all. DL_EFAILED: there is no
 * gnuplot, or it failed. */
enum dl_status dl_plot_draw(const char *script, const char *path,
                            struct dl_diag *d);

#endif
