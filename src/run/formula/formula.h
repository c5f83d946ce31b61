/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text formulas over named quantities: "log(macs_g*batch_size)".
 *
 *   logic        a || b, a && b, !a, which bind as in C: !a < b is (!a) < b
 *   comparison   of sums: a < b, <=, >, >=, ==, != give 1 or 0
 *   arithmetic   + - * / ^ (right-associative), unary -, parentheses
 *   functions    log log2 log10 log1p exp sqrt abs min max; coalesce(a, b)
 *                is a, or b where a is unknown
 *   names        column or descriptor fields: batch_size, gpu.tdp_w; a name
 *                that is no identifier in backquotes: `GPU power (W)`
 *   text         name == 'literal' or != compares text, exactly; binds like a
 *                name: !name == 'a' is !(name == 'a')
 *
 * A formula has its variables by name; who evaluates it says where a row holds
 * them, in the same order. NaN in gives NaN out,
 * but for coalesce, for && beside a 0 and for || beside what is not 0. */

#ifndef DL_RUN_FORMULA_FORMULA_H
#define DL_RUN_FORMULA_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "run/row.h"

struct dl_formula;

/* Errors (DL_EUSAGE) say where: "formula 'log(x': column 6: expected ')'". */
enum dl_status dl_formula_parse(struct dl_formula **f, const char *text,
                                struct dl_diag *d);
void dl_formula_free(struct dl_formula *f); /* accepts NULL */

const char *dl_formula_text(const struct dl_formula *f);
size_t dl_formula_n_vars(const struct dl_formula *f);
const char *dl_formula_var(const struct dl_formula *f, size_t i);
bool dl_formula_var_is_text(const struct dl_formula *f, size_t i);

/* Whether the formula has no value without the variable: false where it
 * stands only in the first argument of coalesce. */
bool dl_formula_var_is_needed(const struct dl_formula *f, size_t i);

/* The formula is one plain name. */
bool dl_formula_is_name(const struct dl_formula *f);

/* The value for a row; vars[i] is where rows hold variable i. */
double dl_formula_eval(const struct dl_formula *f,
                       const struct dl_row_ref *vars, const struct dl_row *row);

#endif
