/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan says how the rows of a table, the combinations of a sweep or the one
 * run of a command line get their values.
 *
 * It is made once: what all rows begin with (options and defaults), columns,
 * overrides and definitions first, then a step for each quantity that is
 * needed. A step sets a member of the typed run (run.h) or, for other names, a
 * cell (row.h) from the first of these sources that has a value:
 *
 *   override     --set NAME=VALUE
 *   definition   --define NAME=FORMULA
 *   column       of the table, or axis of the sweep
 *
 * else rows keep what an option gave. Where none did:
 *
 *   data set     the size of the row's, or the usual one's
 *   derived      from other quantities: epoch_energy_j = energy_j / epochs
 *   usual        of a job that does not say it, by what is run
 *   descriptor   gpu.tdp_w, arch.params_m
 *
 * else rows keep the default that they begin with, if any. A quantity without
 * any source needs no work by row.
 *
 * Steps stand in the order of their dependences; two of them look the
 * descriptors up. dl_plan_next runs them for each row of a block; a sweep
 * (sweep_cursor.h) repeats those that depend on what changed. */

#ifndef DL_RUN_PLAN_H
#define DL_RUN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "io/csv.h"
#include "run/formula/formula.h"
#include "run/row.h"
#include "run/sweep_axis.h"

/* The field of such a number, and its kind; NULL: it is none. */
const struct dl_field *dl_name_field(size_t name, enum dl_kind *kind);

struct dl_row_plan;

/* `c` is borrowed. */
struct dl_row_plan *dl_plan_new(struct dl_catalog *c);
void dl_plan_free(struct dl_row_plan *f); /* accepts NULL */
void dl_plan_free_local(struct dl_row_plan **at);

/* Takes the columns of a table; `csv` must outlive the plan. A column whose
 * name states another unit ("energy_kwh") defines the quantity in its own. */
void dl_plan_columns(struct dl_row_plan *f, const struct dl_csv *csv);

/* Takes the columns of a sweep, whose rows a cursor visits (sweep_cursor.h);
 * `axes` must outlive the plan. Opens the user's own descriptor files among
 * the values. Comes before the first step. */
enum dl_status dl_plan_axes(struct dl_row_plan *f, const struct dl_axes *axes,
                            struct dl_diag *d);

/* Has rows begin with what is known in a run: what the user gave by options, or
 * defaults; a later one replaces an earlier. Texts are copied; opens the user's
 * own descriptor files. Comes before the first step. */
enum dl_status dl_plan_begin(struct dl_row_plan *f, const struct dl_run *run,
                             bool given, struct dl_diag *d);

/* Rows are jobs: those that do not say their epochs, batch size or requests
 * have usual ones by what is run, and those that say neither data set nor
 * training samples have the sizes of `dataset` (NULL: none). To be called once.
 */
void dl_plan_take_usual(struct dl_row_plan *f, const char *dataset);

/* "NAME=VALUE": an override, before anything a row says. NAME is a column or
 * a field of a descriptor (gpu.tdp_w, arch.macs_g). */
enum dl_status dl_plan_override(struct dl_row_plan *f, const char *assignment,
                                struct dl_diag *d);

/* "NAME=FORMULA": a quantity computed from others. A plain name renames a
 * column, texts too. The formula is checked, whether a row needs it or not. */
enum dl_status dl_plan_define(struct dl_row_plan *f, const char *assignment,
                              struct dl_diag *d);

/* "NAME=ID": rows that call an architecture or a GPU NAME mean the
 * catalogue's ID. */
enum dl_status dl_plan_alias(struct dl_row_plan *f, const char *assignment,
                             struct dl_diag *d);

/* Whether a quantity has any source, by its name or number. */
bool dl_plan_has(const struct dl_row_plan *f, const char *name);
bool dl_plan_has_source(const struct dl_row_plan *f, size_t name);

/* Whether the user gave a quantity in this way or another: by an override, a
 * definition, a column or an axis, or all rows have a value or a usual one. */
bool dl_plan_is_given(const struct dl_row_plan *f, const char *name);
bool dl_plan_gives(const struct dl_row_plan *f, size_t name);

/* Adds the step for a name, if there is none, and says where rows hold its
 * value: a column of the runs table in the member of the run, another name in
 * a cell. `required`: an unknown name is an error (DL_EUSAGE) that names the
 * nearest, and a row without a value for it is at fault; otherwise its value is
 * then NaN or NULL. */
enum dl_status dl_plan_quantity(struct dl_row_plan *f, const char *name,
                                bool required, struct dl_row_ref *q,
                                struct dl_diag *d);
enum dl_status dl_plan_member(struct dl_row_plan *f, size_t name, bool required,
                              struct dl_row_ref *q, struct dl_diag *d);

/* Does what dl_plan_quantity does, for the text of a name; a column of numbers
 * has a text, too. */
enum dl_status dl_plan_text(struct dl_row_plan *f, const char *name,
                            bool required, struct dl_row_ref *q,
                            struct dl_diag *d);

/* Does what dl_plan_quantity does, for all variables of a formula; *vars (one
 * per variable) is owned by the caller. */
enum dl_status dl_plan_bind(struct dl_row_plan *f, const struct dl_formula *g,
                            bool required, struct dl_row_ref **vars,
                            struct dl_diag *d);

/* A step for the value of a formula, in a cell; its variables need no value.
 * `on_demand`: the step does not run, and dl_plan_value computes the value when
 * it is wanted. */
enum dl_status dl_plan_formula(struct dl_row_plan *f, const char *text,
                               bool on_demand, struct dl_row_ref *q,
                               struct dl_diag *d);

/* The value of a quantity by dl_plan_formula. */
double dl_plan_value(const struct dl_row_plan *f, const struct dl_row_ref *q,
                     const struct dl_row *row);

/* Returns the first variable that the formula of a quantity (by
 * dl_plan_formula) needs and the row lacks, or NULL. */
const char *dl_plan_lacks(const struct dl_row_plan *f,
                          const struct dl_row_ref *q, const struct dl_row *row);

/* Has descriptors looked up for each row, though no step needs them. */
enum dl_status dl_plan_want_descriptors(struct dl_row_plan *f,
                                        struct dl_diag *d);

/* Has a function fill in members of a row that are still unknown when its
 * steps have run, by dl_assume_word and dl_assume_number. It must be
 * thread-safe. `estimates`: the rows are jobs to estimate, not measured runs to
 * learn from: powers and throughputs that they give are conditions of the
 * estimate, which checks them itself. To be called before the first row. */
void dl_plan_assume(struct dl_row_plan *f, void (*assume)(struct dl_row *row),
                    bool estimates);

/* Says that the rows are estimates: a speed may be that of a method which takes
 * no notice of a time that is given, and is not compared with it. To be called
 * before the first row. */
void dl_plan_take_estimates(struct dl_row_plan *f);

/* Warns of overrides and definitions that nothing uses: a misspelt name. To
 * be called when all steps have been added. */
void dl_plan_warn_unused(const struct dl_row_plan *f, struct dl_diag *d);

/* Warns of aliases that stand in no row, once all rows of a table were read. */
void dl_plan_warn_aliases(const struct dl_row_plan *f, struct dl_diag *d);

/* Name of the quantity that a step sets. */
const char *dl_plan_step_name(const struct dl_row_plan *f, size_t step);
size_t dl_plan_n_steps(const struct dl_row_plan *f);

/* The one row of a plan without columns, which lives until the next call;
 * row->fault is what is wrong with it. Errors: of looking descriptors up. */
enum dl_status dl_plan_single(struct dl_row_plan *f, const struct dl_row **row,
                              struct dl_diag *d);

/* The next block of the table, NULL at its end, and all its rows. Warns at the
 * end of rows whose measurements contradict each other or the hardware. Not
 * thread-safe. */
enum dl_status dl_plan_next(struct dl_row_plan *f, struct dl_csv *csv,
                            const struct dl_csv_block **block,
                            struct dl_diag *d);

/* Row i of the block. row->fault.kind says whether it can be used. Texts belong
 * to the block, the row and its descriptors to the plan. */
const struct dl_row *dl_plan_row(const struct dl_row_plan *f, size_t i);

/* Puts the fault of a row into words, as a skipped row (line > 0) or, for a
 * plan without columns, as an error. */
enum dl_status dl_plan_complain(const struct dl_row_plan *f,
                                const struct dl_row *row, const char *path,
                                size_t line, struct dl_diag *d);

#endif
