/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key that repeated runs of a configuration share, made from the
 * settings of a run where its table has no column 'config'. */

#ifndef DL_RUN_CONFIG_KEY_H
#define DL_RUN_CONFIG_KEY_H

#include "run/plan.h"

struct dl_key_maker;

/* Adds a step for each setting that the table holds. *m, to be freed by free(),
 * is NULL when it holds none. */
enum dl_status dl_key_maker_new(struct dl_key_maker **m, struct dl_row_plan *f,
                                struct dl_diag *d);

/* Appends the key of a row: "resnet50|rtx-3090|32|128". Numbers of samples
 * count to two digits, so that splits that differ by one image agree. */
void dl_key_make(const struct dl_key_maker *m, const struct dl_row *row,
                 struct dl_text *key);

#endif
