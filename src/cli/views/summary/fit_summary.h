/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `fit`: the errors of each target for what was held out, and
 * what an automatic choice was made of. */

#ifndef DL_CLI_VIEWS_SUMMARY_FIT_SUMMARY_H
#define DL_CLI_VIEWS_SUMMARY_FIT_SUMMARY_H

#include "model/fitting/model_selection.h"
#include "output/report.h"

/* The table for the answers, for people only; owned by r. `other`: with the
 * cross-validation that was requested. */
struct dl_table *dl_fit_answers(struct dl_report *r, bool other);

/* Adds the row of a fit: its errors by what was held out. `scheme` names the
 * cross-validation that was requested. */
void dl_fit_answer(struct dl_table *t, const struct dl_fit *fit,
                   const struct dl_cv *cv, const char *scheme);

/* Sets the text to "physical, best of 7 by held-out error: 5.8 %, next krr
 * 16 %"; clears it where there was no choice. */
void dl_fit_choice(struct dl_text *to, const struct dl_trials *tried);

/* Adds, for people, what the fits of a table are based on, that text ("":
 * none), and which runs would help the first. */
void dl_fit_notes(struct dl_report *r, const struct dl_fit *fit, size_t n_fits,
                  const char *choice);

/* Adds what an automatic choice tried, best first, for people; nothing where
 * there was no choice. */
void dl_fit_trials(struct dl_report *item, const struct dl_trials *tried);

#endif
