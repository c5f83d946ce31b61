/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Software Carbon Intensity by ISO/IEC 21031: SCI = (E I + M) / R. */

#ifndef DL_CLI_VIEWS_SUMMARY_SOFTWARE_CARBON_H
#define DL_CLI_VIEWS_SUMMARY_SOFTWARE_CARBON_H

#include "cli/views/summary/predict_summary.h"

/* A functional unit, and how many of them the job is. */
struct dl_functional_unit {
  const char *name; /* "training", "request", "1,000 tokens"; NULL: none */
  double r;
};

enum { DL_MOST_UNITS = 2 };

/* The functional units of a job; how many. */
size_t dl_functional_units(struct dl_functional_unit unit[DL_MOST_UNITS],
                           const struct dl_predict_answer *s);

/* The energy of the answer, of the node where there is one. */
struct dl_interval dl_predict_energy(const struct dl_predict_answer *s);

/* The energy that is paid for, and emits, by J of the answer: of the facility
 * where its PUE is known; of a node at the widest boundary. */
double dl_predict_paid(const struct dl_predict_answer *s);

/* The energy E of a job, J: of the facility where its PUE is known. */
double dl_sci_energy(const struct dl_predict_answer *s);

/* Adds a table of E, I, M, R and the SCI for each functional unit, if the
 * carbon intensity is known. Without M (--node and --embodied) the SCI is
 * unknown. */
void dl_report_sci(struct dl_report *r, const struct dl_predict_answer *s);

#endif
