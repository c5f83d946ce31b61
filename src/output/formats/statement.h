/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The facts of a statement to paste (statement.c), and its words. */

#ifndef DL_OUTPUT_FORMATS_STATEMENT_H
#define DL_OUTPUT_FORMATS_STATEMENT_H

#include <stdio.h>

#include "base/text.h"
#include "output/formats/task.h"

/* The parts of a statement. */
struct dl_facts {
  struct dl_task t;          /* settings; in front of them the estimate */
  const struct dl_report *r; /* the whole report; or NULL */
  struct dl_task place;      /* grid, intensity and PUE */
  const char *method;        /* NULL: measured */
  const char *boundary;
  double energy_j[3], co2e_g[3]; /* with their intervals, or NaN */
  double coverage, duration_s;
  double jobs; /* NaN: a training, or requests */
};

/* The value of a key of the statement's task; NULL and NaN: unknown. */
const char *dl_fact_text(const struct dl_facts *x, const char *key);
double dl_fact_number(const struct dl_facts *x, const char *key);

/* A text that is being made, and how words from outside are escaped. */
struct dl_writer {
  struct dl_text t;
  bool latex;
};

/* Appends words from outside, a figure with its unit, or its interval: x with
 * low and high, or NaN. */
void dl_write_words(struct dl_writer *w, const char *s);
void dl_write_estimate(struct dl_writer *w, enum dl_style style,
                       const char *unit, const double x[3]);
void dl_write_interval(struct dl_writer *w, enum dl_style style,
                       const char *unit, const double x[3]);

/* Appends "4 x NVIDIA A100-SXM4-40GB", if it is known. */
void dl_write_hardware(struct dl_writer *w, const struct dl_facts *x);

/* Writes a paragraph and its citation. */
void dl_write_paper(FILE *f, const struct dl_facts *x, bool latex);

#endif
