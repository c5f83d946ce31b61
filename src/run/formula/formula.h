/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text formulas over named quantities: "log(macs_g*batch_size)".
 *
 *   logic        a || b, a && b, !a, which bind as in C: !a < b is (!a) < b
 *   comparison   of sums: a < b, <=, >, >=, == (or =), != give 1 or 0
 *   arithmetic   + - * / ^ (right-associative), unary -, parentheses
 *   functions    log log2 log10 log1p exp sqrt abs min max; coalesce(a, b)
 *                is a, or b where a is unknown
 *   names        column or descriptor fields: batch_size, gpu.tdp_w; a name
 *                that is no identifier in backquotes: `GPU power (W)`
 *   text         name == 'literal', = or != compares text, exactly;
 *                name ~ 'literal', !~ finds it in the text, in any case; binds
 *                like a name: !name == 'a' is !(name == 'a')
 *
 * A formula has its variables by name; the caller of dl_formula_eval says in
 * this order where a row holds them. A NaN makes the result NaN, except in
 * coalesce, in && beside a 0 and in || beside a number other than 0. */

#ifndef DL_RUN_FORMULA_FORMULA_H
#define DL_RUN_FORMULA_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "run/row.h"

/* A variable, and how the formula uses it. */
struct dl_formula_variable {
  char *name;
  bool as_text; /* compared with a literal */
  bool needed;  /* the formula has no value without it: it stands outside the
                   first argument of coalesce */
};

/* A parsed formula, to be read only. */
struct dl_formula {
  char *text;
  struct dl_formula_variable *var;
  size_t n_vars, cap_vars;
  bool is_name; /* one plain name */
  struct dl_instruction *code;
  size_t n_code, cap_code;
};

/* Parses a formula. Errors (DL_EUSAGE) name the place: "formula 'log(x': column
 * 6: expected ')'". *f is NULL then. */
enum dl_status dl_formula_parse(struct dl_formula **f, const char *text,
                                struct dl_diag *d);
void dl_formula_free(struct dl_formula *f); /* accepts NULL */
void dl_formula_free_local(struct dl_formula **at);

/* Computes the value for a row; vars[i] is where rows hold variable i. */
double dl_formula_eval(const struct dl_formula *f,
                       const struct dl_row_ref *vars, const struct dl_row *row);

#endif
