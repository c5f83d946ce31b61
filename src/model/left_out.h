/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of configurations, architectures and GPUs when they are left out:
 * what the intervals rest on. */

#ifndef DL_MODEL_LEFT_OUT_H
#define DL_MODEL_LEFT_OUT_H

#include "model/train.h"

/* Fills fit->left_out for every column of groups that the table has, or by
 * random rows where it has none. p is the design of c, whose
 * hyper-parameters are settled. */
enum dl_status dl_leave_all_out(struct dl_fit *fit, const struct dl_training *t,
                                const struct dl_choice *c,
                                const struct dl_problem *p, struct dl_diag *d);

/* Distinct labels in a column; 0 without it. */
size_t dl_label_count(const struct dl_training *t, const char *column);

#endif
