/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stack machine that runs formulas. */

#include <math.h>
#include <string.h>

#include "run/formula/formula_private.h"

/* Comparisons with NaN are NaN, not false: unknown stays unknown. */
static double truth(double a, double b, bool holds) {
  return isnan(a) || isnan(b) ? NAN : (double)holds;
}

/* Three-valued, as in SQL: a side that decides does so beside an unknown. */
static double both(double a, double b) {
  if (a == 0 || b == 0)
    return 0;
  return isnan(a) || isnan(b) ? NAN : 1;
}

static double either(double a, double b) {
  if ((!isnan(a) && a != 0) || (!isnan(b) && b != 0))
    return 1;
  return isnan(a) || isnan(b) ? NAN : 0;
}

static double unary_op(enum op op, double a) {
  switch (op) {
  case OP_NEG:
    return -a;
  case OP_LOG:
    return log(a);
  case OP_LOG2:
    return log2(a);
  case OP_LOG10:
    return log10(a);
  case OP_LOG1P:
    return log1p(a);
  case OP_EXP:
    return exp(a);
  case OP_SQRT:
    return sqrt(a);
  case OP_NOT:
    return isnan(a) ? NAN : a == 0;
  default:
    return fabs(a);
  }
}

static double binary_op(enum op op, double a, double b) {
  switch (op) {
  case OP_ADD:
    return a + b;
  case OP_SUB:
    return a - b;
  case OP_MUL:
    return a * b;
  case OP_DIV:
    return a / b;
  case OP_POW:
    return pow(a, b);
  case OP_MIN:
    return isnan(a) || isnan(b) ? NAN : fmin(a, b);
  case OP_MAX:
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
  case OP_COALESCE:
    return isnan(a) ? b : a;
  case OP_LT:
    return truth(a, b, a < b);
  case OP_LE:
    return truth(a, b, a <= b);
  case OP_GT:
    return truth(a, b, a > b);
  case OP_GE:
    return truth(a, b, a >= b);
  case OP_EQ:
    return truth(a, b, !(a < b) && !(a > b));
  case OP_AND:
    return both(a, b);
  case OP_OR:
    return either(a, b);
  default:
    return truth(a, b, a < b || a > b);
  }
}

static double text_op(const struct dl_instruction *in, const char *s) {
  if (!s)
    return NAN;
  return in->op == OP_TEXT_EQ ? strcmp(s, in->literal) == 0
                              : strcasestr(s, in->literal) != NULL;
}

double dl_formula_eval(const struct dl_formula *f,
                       const struct dl_row_ref *vars,
                       const struct dl_row *row) {
  double stack[MOST_DEPTH + 1];
  stack[0] = NAN;
  size_t top = 0;
  for (size_t i = 0; i < f->n_code; i++) {
    const struct dl_instruction *in = &f->code[i];
    switch (in->op) {
    case OP_NUMBER:
      stack[top++] = in->number;
      break;
    case OP_VAR:
      stack[top++] = dl_row_number(row, &vars[in->index]);
      break;
    case OP_TEXT_EQ:
    case OP_TEXT_HAS:
      stack[top++] = text_op(in, dl_row_text(row, &vars[in->index]));
      break;
    default:
      if (arguments_of(in->op) == 1) {
        /* The parser sees to it that the stack is deep enough.
         * NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        stack[top - 1] = unary_op(in->op, stack[top - 1]);
      } else {
        top--;
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        stack[top - 1] = binary_op(in->op, stack[top - 1], stack[top]);
      }
    }
  }
  return stack[0];
}
