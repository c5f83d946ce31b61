/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The problem that a physics has with the rows of a table. All targets, the
 * choice of methods, the scores and the intervals share it: its configurations,
 * the solution for all rows, and what was predicted of rows held out. */

#ifndef DL_PHYSICS_ROWS_TABLE_PROBLEM_H
#define DL_PHYSICS_ROWS_TABLE_PROBLEM_H

#include "physics/hierarchical_problem.h"
#include "physics/rows/physics_rows.h"

/* The problem of own rows and auxiliary ones (or NULL) with weights w of the
 * own rows (or NULL), which are for target `weighted` (DL_MAX_TARGETS: for
 * all). It belongs to the list of a table, whose weights are equal for all
 * fits, and is taken from there where it was made before. */
struct dl_hierarchical_problem *dl_table_problem(
    struct dl_hierarchical_problem **list, const struct dl_physics_rows *own,
    const struct dl_physics_rows *more, const gsl_vector *w, size_t weighted);

/* Sets up the configurations of the problem, once. Error (DL_EINPUT): a row
 * that lacks what the physics cannot do without. */
enum dl_status dl_table_problem_make(struct dl_hierarchical_problem *q,
                                     struct dl_diag *d);

/* Frees a list (or NULL) and its problems. */
void dl_table_problems_free(struct dl_hierarchical_problem **list);

#endif
