/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of dlest recommend, its settings, and notes on them. */

#ifndef DL_CLI_VIEWS_SUMMARY_RECOMMEND_SUMMARY_H
#define DL_CLI_VIEWS_SUMMARY_RECOMMEND_SUMMARY_H

#include "cli/passes/recommend.h"
#include "output/report.h"

/* The choices; the first is the answer. Names of settings are for people, who
 * find those that vary in the tables. */
struct dl_recommended_choices {
  const struct dl_recommend_options *o;
  const struct dl_choices *l;
  size_t n;                          /* that meet the limits: the first ones */
  const struct dl_alternative *next; /* lowest energy elsewhere, or NULL */
  const char *interval;              /* "90 % interval" */
  size_t archs;                      /* networks among these */
  const struct dl_alternative *const *best; /* of each network, in order */
  bool brief; /* text without the tables of --all */
  bool varies_px, varies_gpus, varies_batch, varies_precision;
};

/* Adds the answer for people: the best choice by each objective, and what it
 * depends on. */
void dl_recommend_answer(struct dl_report *r,
                         const struct dl_recommended_choices *c);

/* Says which data the choices come from, and how many were excluded. */
void dl_recommend_settings(struct dl_report *r,
                           const struct dl_recommended_choices *c);

/* Says which choices were excluded, what the marks that are shown mean (* ~ !),
 * and which options print more. */
void dl_recommend_notes(struct dl_report *r,
                        const struct dl_recommended_choices *c,
                        const bool marked[3]);

#endif
